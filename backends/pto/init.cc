// See spread.h. Every core checks all indices and keeps the result in its own buffer, so all cores get the same result and none
// waits for another; all of them store the same words to `fault`. A result of any shape is copied or filled as one line of
// memory, a tile of up to 16 KiB at a time. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>
#include <optional>

#include "backends/pto/combine.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kTileBytes = 16 << 10;
constexpr int64_t kScalarTileBytes = 1 << 10;  ///< of tiles that are filled element by element

/// Can one instruction fill a tile with the value? If not, its elements are written one by one.
bool fills_at_once(const Frame& frame, const Words& words, const Scalar& value) {
  for (int64_t w = 1; w < words.count; ++w)
    if (word_of(value, words.element.dtype, w) != word_of(value, words.element.dtype, 0)) return false;
  return frame.has(Opcode::texpands, words.element.dtype);
}

Status check(const Frame& frame, int pair) {
  const PlanTensor& result = frame.plan.tensors[static_cast<size_t>(frame.plan.result(pair))];
  const PlanTensor& operand = frame.plan.tensors[static_cast<size_t>(frame.plan.operand(pair))];
  if (frame.plan.init_kind == InitKind::copy) {
    if (result.dtype == operand.dtype) return {};
    return unsupported("the result is " + std::string(name(result.dtype)) + " and the operand " +
                       std::string(name(operand.dtype)) + ", expected one dtype: the copy would convert");
  }
  if (can_fill(frame, frame.plan.result(pair), frame.plan.init_fill[static_cast<size_t>(pair)])) return {};
  return unsupported("init fills elements of " + std::string(name(result.dtype)) +
                     " that are computed with, which ptoas has no way " +
                     "to, expected init copy or in_place, a signed type, or output pto-cpp");
}

/// Initialises elements [from, to) of the result of a pair, as one line. PTO-AS: the whole result, in the rows as which
/// updates view it (Frame::pitch), because a memref has one shape there.
Status write_pair(Frame& frame, int pair, const Number& from, const Number& to) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.result(pair), operand = frame.plan.operand(pair);
  const Words& words = frame.words(result);
  const bool copies = frame.plan.init_kind == InitKind::copy;
  const Scalar* const value = copies ? nullptr : &frame.plan.init_fill[static_cast<size_t>(pair)];
  const bool in_rows = frame.options.output == Output::pto_as && !frame.pitch.is(0);
  const int64_t row = frame.pitch.factor * words.count, width = bits(words.element.dtype);
  Number begin = b.number(0), end;
  int64_t most = 0;
  double trips = 1;
  if (in_rows) {
    const std::optional<Term> rows = quotient(frame.extent(result), frame.pitch);
    if (!rows || !rows->is_static() || !frame.pitch.is_static())
      return unsupported("pto-as: the result is no whole number of rows of " + std::to_string(frame.pitch.factor) +
                         " elements; pto-ir would work");
    const int64_t row_bytes = row * width / 8;
    if (row_bytes > 2 * kTileBytes)
      return unsupported("pto-as: rows of " + std::to_string(row_bytes) + " bytes, expected at most " +
                         std::to_string(2 * kTileBytes) + " where results are made first; pto-ir would work");
    end = b.number(rows->factor);
    most = std::min(rows->factor, std::max<int64_t>(1, kTileBytes / row_bytes));
  } else {
    const Number count = b.number(words.count);
    begin = b.mul(from, count, "word");
    end = frame.guarded(b.mul(to, count, "word"));
    most = (copies || fills_at_once(frame, words, *value) ? kTileBytes : kScalarTileBytes) * 8 / width;
    if (begin.value && end.value && *end.value > *begin.value) most = std::min(most, *end.value - *begin.value);
    trips = std::max(1.0, static_cast<double>(kAssumedExtent) / static_cast<double>(most));
  }
  const bool even = begin.value && end.value && *end.value >= *begin.value && (*end.value - *begin.value) % most == 0;
  const char* const suffix = in_rows ? "_rows" : "_line";
  const Term pitch = in_rows ? frame.pitch : constant(0);
  const Grid into(frame, result, frame.pointer(result) + suffix, pitch);
  std::optional<Grid> source;
  if (copies) source.emplace(frame, operand, frame.pointer(operand) + suffix, pitch);
  b.loop(in_rows  ? "made"
         : copies ? "copied"
                  : "filled",
         begin, end, b.number(most), trips, [&](const Number& at) {
           const Number n = b.left(at, end, b.number(most), even);
           const Number lines = in_rows ? n : b.number(1), cols = in_rows ? b.number(row) : n;
           const auto part = [&](const Grid& grid, const char* hint) {
             return in_rows ? grid.part(hint, at, {}, b.number(0), n, frame.number(pitch)) : grid.line(hint, at, {}, n);
           };
           const Named tile = b.tile("line", words.element, in_rows ? most : 1, in_rows ? row : most, lines, cols);
           if (copies) {
             b.load(part(*source, "line_from"), tile);
           } else {
             write_fill(frame, result, tile, lines, cols, *value);
           }
           b.store(tile, part(into, "line_to"));
         });
  return {};
}

Named element(Frame& frame, const Named& tile, const char* hint) {
  return frame.build.give(Opcode::tgetval, hint, make_scalar(DType::i32), {tile.name, frame.build.use(frame.build.number(0))});
}

}  // namespace

bool can_fill(const Frame& frame, int tensor, const Scalar& value) {
  const Words& words = frame.words(tensor);
  return fills_at_once(frame, words, value) || frame.has(Opcode::tsetval, words.element.dtype);
}

void add_fault(Frame& frame, const Named& cell, const Named& found) {
  ProgramBuilder& b = frame.build;
  const Named before = element(frame, cell, "before");
  const Named after = b.give(Opcode::maxsi, "after", make_scalar(DType::i32), {before.name, found.name});
  b.run(Opcode::tsetval, {cell.name, b.use(b.number(0)), after.name});
}

void write_check(Frame& frame, const std::function<void(const Named& cell)>& all) {
  ProgramBuilder& b = frame.build;
  b.note("check every index before anything is written");
  const Named cell = b.tile("faults", {DType::i32, false}, 1, 8, b.number(1), b.number(8));
  b.run(Opcode::texpands, {b.i32(0).name, cell.name});
  all(cell);
  const Named found = element(frame, cell, "found");
  const Number eight = b.number(8);
  const Named flag = b.view("fault_view", "fault", b.number(1), eight, eight);
  b.store(cell, b.part("fault_words", flag, b.number(0), b.number(0), b.number(1), eight));
  b.barrier();
  frame.allowed = b.sub(b.number(1), b.as_index("found_index", found.name), "allowed");
}

void write_fill(Frame& frame, int tensor, const Named& tile, const Number& rows, const Number& cols, const Scalar& value) {
  ProgramBuilder& b = frame.build;
  const Words& words = frame.words(tensor);
  const DType dtype = words.element.dtype;
  if (fills_at_once(frame, words, value))
    return b.run(Opcode::texpands, {b.constant(words.element, word_of(value, dtype, 0)).name, tile.name});
  const int64_t pitch = tile.type.dims[1];
  const auto trips = [](int64_t extent) { return static_cast<double>(extent); };
  b.note(std::string(name(frame.chip)) + " fills no tiles of " + std::string(name(dtype)) + " with this: element by element");
  b.loop("fill_row", b.number(0), rows, b.number(1), trips(tile.type.dims[0]), [&](const Number& row) {
    const Number start = b.mul(row, b.number(pitch), "row_start");
    b.loop("fill_col", b.number(0), cols, b.number(words.count), trips(pitch / words.count), [&](const Number& col) {
      for (int64_t w = 0; w < words.count; ++w) {
        const Number at = b.add(b.add(start, col, "fill_at"), b.number(w), "fill_at");
        b.run(Opcode::tsetval, {tile.name, b.use(at), b.constant(words.element, word_of(value, dtype, w)).name});
      }
    });
  });
}

Status write_init(Frame& frame, const Number& from, const Number& to) {
  if (!frame.scatter() || frame.plan.init_kind == InitKind::in_place) return {};
  for (int pair = 0; pair < frame.plan.pairs; ++pair) {
    STREW_TRY(check(frame, pair));
    frame.build.note(frame.plan.init_kind == InitKind::copy ? "the operand first" : "the value that is there before updates");
    STREW_TRY(write_pair(frame, pair, from, to));
  }
  frame.build.barrier();
  return {};
}

}  // namespace strew::inline v0::pto
