// See run_body.h.
#include "backends/portable/run_body.h"

#include <algorithm>
#include <cstring>

namespace strew::inline v0::portable {
namespace {

/// The cache lines of a row that are prefetched; the hardware's own prefetcher fetches what follows them.
int32_t lines_of(int64_t bytes) {
  constexpr int64_t kLine = 64, kMost = 8;
  return static_cast<int32_t>(std::min(kMost, (bytes + kLine - 1) / kLine));
}

}  // namespace

Side BodyRunner::side(const int64_t* places, int64_t pitch, int32_t slot, const Part& part) const {
  const int64_t step = steps_ == nullptr ? 0 : steps_[slot];
  return {places + slot * pitch + part.row, part.column * step, 0, step};
}

void BodyRunner::fill_literals(int64_t lanes) {
  if (lanes <= filled_) return;
  for (const Literal& literal : body_.literals) {
    char* const to = column(literal.out) + filled_ * literal.bytes;
    f_.loops.move[static_cast<size_t>(__builtin_ctz(literal.bytes))](
        {{nullptr, reinterpret_cast<intptr_t>(to), 0, literal.bytes},
         {nullptr, reinterpret_cast<intptr_t>(literal.value.bits.data()), 0, 0},
         1,
         lanes - filled_});
  }
  filled_ = lanes;
}

void BodyRunner::evaluate(const int64_t* places, int64_t pitch, const Part& part) {
  const int64_t lanes = part.rows * part.elements;
  fill_literals(lanes);
  for (const Step& step : body_.steps) {
    char* const out = column(step.out);
    if (step.load != nullptr) {
      const Side from = side(places, pitch, step.slot, part);
      const bool is_gathered = ahead_ < 0 && body_.slots[static_cast<size_t>(step.slot)].tensor == f_.p.pairs;
      step.load({{nullptr, reinterpret_cast<intptr_t>(out), part.elements * step.bytes, step.bytes},
                 from,
                 part.rows,
                 part.elements,
                 is_gathered ? ahead_ : 0,
                 nullptr,
                 lines_of(part.elements * step.bytes)});
      continue;
    }
    step.loop(out, column(step.a), step.b < 0 ? nullptr : column(step.b), step.c < 0 ? nullptr : column(step.c),
              lanes * step.times, step.extra);
  }
}

void BodyRunner::store(const int64_t* places, int64_t pitch, const Part& part) const {
  for (const Output& output : body_.outputs) {
    Rows rows;
    rows.to = side(places, pitch, output.to, part);
    if (output.column >= 0)
      rows.from = {nullptr, reinterpret_cast<intptr_t>(column(output.column)), part.elements * output.bytes, output.bytes};
    else if (output.from >= 0)
      rows.from = side(places, pitch, output.from, part);
    else
      rows.from = {nullptr, reinterpret_cast<intptr_t>(output.value.bits.data()), 0, 0};
    rows.count = part.rows;
    rows.length = part.elements;
    if (ahead_ > 0 || output.from >= 0) rows.ahead = ahead_;
    if (rows.ahead != 0) rows.lines = lines_of(part.elements * output.bytes);
    rows.streams = f_.streams;
    rows.format = output.format;
    output.loop(rows);
  }
}

int64_t BodyRunner::distinct_rows(const int64_t* places, int64_t most) {
  // An element of the table holds the generation and, in its low byte, the number of a row of this block.
  constexpr uint32_t kRowBits = 8, kGenerations = 1U << (32 - kRowBits);
  if (generation_ == 0 || generation_ + 1 == kGenerations) {
    std::memset(f_(f_.p.memory.seen), 0, kSeen * sizeof(uint32_t));
    generation_ = 0;
  }
  ++generation_;
  for (int64_t r = 0; r < most; ++r) {
    uint64_t hash = static_cast<uint64_t>(places[r]) * 0x9e3779b97f4a7c15U >> 54;
    for (;; hash = (hash + 1) % kSeen) {
      uint32_t& entry = f_(f_.p.memory.seen)[hash];
      if (entry >> kRowBits != generation_) {
        entry = generation_ << kRowBits | static_cast<uint32_t>(r);
        break;
      }
      if (places[entry & ((1U << kRowBits) - 1)] == places[r]) return r;
    }
  }
  return most;
}

void BodyRunner::run(const int64_t* places, int64_t pitch, int64_t rows, int64_t length) {
  if (rows <= 0 || length <= 0) return;
  if (body_.lanes == 0) return store(places, pitch, {0, rows, 0, length});
  if (length >= body_.lanes) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < length; c += body_.lanes) {
        const Part part{r, 1, c, std::min(body_.lanes, length - c)};
        evaluate(places, pitch, part);
        store(places, pitch, part);
      }
    }
    return;
  }
  constexpr int64_t kMostRows = 128;  // a quarter of kSeen at most, and numbers that fit its elements
  const int64_t most = std::min(kMostRows, body_.lanes / length);
  for (int64_t r = 0; r < rows;) {
    int64_t some = std::min(most, rows - r);
    if (body_.reads_results && !f_.p.fences && some > 1) some = distinct_rows(places + body_.outputs[0].to * pitch + r, some);
    const Part part{r, some, 0, length};
    evaluate(places, pitch, part);
    store(places, pitch, part);
    r += some;
  }
}

}  // namespace strew::inline v0::portable
