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

void BodyRunner::fill(const Body& body, int32_t out, uint8_t bytes, const void* value, int64_t from, int64_t to) const {
  f_.loops.move[static_cast<size_t>(__builtin_ctz(bytes))](
      {{nullptr, reinterpret_cast<intptr_t>(column(body, out) + from * bytes), 0, bytes},
       {nullptr, reinterpret_cast<intptr_t>(value), 0, 0},
       1,
       to - from});
}

/// Fills the columns of literals and row-local values as far as they are not filled yet.
void BodyRunner::fill_constants(const Body& body, int64_t lanes) {
  if (lanes <= filled_) return;
  for (const Literal& literal : body.literals) fill(body, literal.out, literal.bytes, literal.value.bits.data(), filled_, lanes);
  for (const LocalColumn& local : body.locals)
    fill(body, local.out, local.bytes, locals_[static_cast<size_t>(local.number)].data(), filled_, lanes);
  filled_ = lanes;
}

void BodyRunner::evaluate(const Body& body, const int64_t* places, int64_t pitch, const Part& part) {
  const int64_t lanes = part.rows * part.elements;
  fill_constants(body, lanes);
  for (const Step& step : body.steps) {
    char* const out = column(body, step.out);
    if (step.load != nullptr) {
      Side from = side(places, pitch, step.slot, part);
      from.base += step.offset;
      const bool is_gathered = ahead_ < 0 && body.slots[static_cast<size_t>(step.slot)].tensor == f_.p.pairs;
      step.load({{nullptr, reinterpret_cast<intptr_t>(out), part.elements * step.bytes, step.bytes},
                 from,
                 part.rows,
                 part.elements,
                 is_gathered ? ahead_ : 0,
                 nullptr,
                 lines_of(part.elements * step.bytes)});
      continue;
    }
    step.loop(out, column(body, step.a), step.b < 0 ? nullptr : column(body, step.b), step.c < 0 ? nullptr : column(body, step.c),
              lanes, step.extra);
  }
}

void BodyRunner::store(const int64_t* places, int64_t pitch, const Part& part) const {
  for (const Output& output : body_.outputs) {
    Side to = side(places, pitch, output.to, part);
    to.base += output.offset;
    Side from;
    if (output.column >= 0)
      from = {nullptr, reinterpret_cast<intptr_t>(column(body_, output.column)), part.elements * output.bytes, output.bytes};
    else if (output.from >= 0)
      from = side(places, pitch, output.from, part);
    else
      from = {nullptr, reinterpret_cast<intptr_t>(output.value.bits.data()), 0, 0};
    const int64_t ahead = ahead_ > 0 || output.from >= 0 ? ahead_ : 0;
    const int32_t lines = ahead != 0 ? lines_of(part.elements * output.bytes) : 1;
    output.loop({to, from, part.rows, part.elements, ahead, output.format, lines, f_.streams});
  }
}

int64_t BodyRunner::distinct_rows(const int64_t* places, int64_t most) {
  // An element of the table holds the generation and, in its low byte, the number of a row of this block.
  constexpr uint32_t kRowBits = 8, kGenerations = 1U << (32 - kRowBits);
  uint32_t* const seen = f_(&body_ == &f_.p.fill ? f_.p.memory.fill_seen : f_.p.memory.seen);
  if (generation_ == 0 || generation_ + 1 == kGenerations) {
    std::memset(seen, 0, kSeen * sizeof(uint32_t));
    generation_ = 0;
  }
  ++generation_;
  for (int64_t r = 0; r < most; ++r) {
    uint64_t hash = static_cast<uint64_t>(places[r]) * 0x9e3779b97f4a7c15U >> 54;
    for (;; hash = (hash + 1) % kSeen) {
      uint32_t& entry = seen[hash];
      if (entry >> kRowBits != generation_) {
        entry = generation_ << kRowBits | static_cast<uint32_t>(r);
        break;
      }
      if (places[entry & ((1U << kRowBits) - 1)] == places[r]) return r;
    }
  }
  return most;
}

/// A result that does not move along the row is read anew for every element.
bool BodyRunner::reduces() const {
  return body_.reads_results && steps_ != nullptr &&
         std::ranges::any_of(body_.outputs, [&](const Output& output) { return steps_[output.to] == 0; });
}

/// Lanes are folded by rows of as many elements as there are lanes, which is the order that RowLocal names.
void BodyRunner::fold(size_t local, const int64_t* places, int64_t pitch, int64_t row, int64_t length) {
  const RowFold& fold = body_.folds[local];
  const Output& value = fold.value.outputs[0];
  const int64_t bytes = value.bytes, lanes = fold.lanes;
  constexpr int64_t kMostBytes = 16;
  alignas(kMostBytes) std::array<char, kMostBytes * kMostFoldLanes> sums;
  for (int64_t lane = 0; lane < lanes; ++lane)
    std::memcpy(sums.data() + lane * bytes, fold.initial.bits.data(), static_cast<size_t>(bytes));
  const auto place = [&](int64_t lane) { return reinterpret_cast<intptr_t>(sums.data() + lane * bytes); };
  const auto add = [&](const Side& to, const Side& from, int64_t count, int64_t each) {
    Rows rows;
    rows.to = to;
    rows.from = from;
    rows.count = count;
    rows.length = each;
    rows.format = fold.format;
    fold.loop(rows);
  };
  filled_ = 0;
  for (int64_t c = 0; c < length; c += fold.value.lanes) {
    const int64_t some = std::min(fold.value.lanes, length - c), whole = some / lanes;
    evaluate(fold.value, places, pitch, {row, 1, c, some});
    const auto from = reinterpret_cast<intptr_t>(column(fold.value, value.column));
    add({nullptr, place(0), 0, bytes}, {nullptr, from, lanes * bytes, bytes}, whole, lanes);
    add({nullptr, place(0), 0, bytes}, {nullptr, from + whole * lanes * bytes, 0, bytes}, 1, some - whole * lanes);
  }
  for (int64_t apart = 1; apart < lanes; apart *= 2)
    add({nullptr, place(0), 0, 2 * apart * bytes}, {nullptr, place(apart), 0, 2 * apart * bytes}, 1, lanes / (2 * apart));
  std::memcpy(locals_[local].data(), sums.data(), static_cast<size_t>(bytes));
  filled_ = 0;
}

void BodyRunner::run_with_locals(const int64_t* places, int64_t pitch, int64_t rows, int64_t length) {
  for (int64_t r = 0; r < rows; ++r) {
    for (size_t local = 0; local < body_.folds.size(); ++local) fold(local, places, pitch, r, length);
    const int64_t elements = body_.once ? 1 : length, most = body_.lanes == 0 ? elements : body_.lanes;
    for (int64_t c = 0; c < elements; c += most) {
      const Part part{r, 1, c, std::min(most, elements - c)};
      evaluate(body_, places, pitch, part);
      store(places, pitch, part);
    }
  }
}

void BodyRunner::run(const int64_t* places, int64_t pitch, int64_t rows, int64_t length) {
  if (rows <= 0 || length <= 0) return;
  if (!body_.folds.empty() || body_.once) return run_with_locals(places, pitch, rows, length);
  if (body_.lanes == 0) return store(places, pitch, {0, rows, 0, length});
  if (const bool one_by_one = length > 1 && reduces(); one_by_one || length >= body_.lanes) {
    const int64_t most = one_by_one ? 1 : body_.lanes;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < length; c += most) {
        const Part part{r, 1, c, std::min(most, length - c)};
        evaluate(body_, places, pitch, part);
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
    evaluate(body_, places, pitch, part);
    store(places, pitch, part);
    r += some;
  }
}

}  // namespace strew::inline v0::portable
