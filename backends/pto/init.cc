// Results are copied or filled as one long line, a tile of up to 16 KiB at a time, whatever their shape is.
// Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/init.h"

#include <algorithm>

#include "backends/pto/combine.h"
#include "backends/pto/grid.h"

namespace strew::pto {
namespace {

constexpr int64_t kTileBytes = 16 << 10;

Status check(const Frame& frame, int pair) {
  const PlanTensor& result = frame.plan.tensors[static_cast<size_t>(frame.plan.result(pair))];
  const PlanTensor& operand = frame.plan.tensors[static_cast<size_t>(frame.plan.operand(pair))];
  if (frame.plan.init_kind == InitKind::copy) {
    if (result.dtype == operand.dtype) return {};
    return unsupported("the result is " + std::string(name(result.dtype)) + " and the operand " +
                       std::string(name(operand.dtype)) + ", expected one dtype: the copy would convert");
  }
  const Element element = frame.words(frame.plan.result(pair)).element;
  const bool zero = frame.plan.init_fill[static_cast<size_t>(pair)].bits == std::array<uint64_t, 2>{0, 0};
  if (frame.words(frame.plan.result(pair)).count > 1 && !zero)
    return unsupported("init fills with a value of " + std::string(name(result.dtype)) + ", expected 0 or elements of 32 bits");
  if (allows(*info(Opcode::texpands).legality, frame.chip, reader_of(frame.options.output), element.dtype)) return {};
  return unsupported("init fills elements of " + std::string(name(result.dtype)) + ", which " + std::string(name(frame.chip)) +
                     " has no instruction for, expected f32, f16, i32 or i16; or init copy or in_place");
}

int64_t fill_value(const Frame& frame, int pair, DType dtype) {
  const uint64_t word = frame.plan.init_fill[static_cast<size_t>(pair)].bits[0];
  if (!is_signed_integer(dtype)) return static_cast<int64_t>(word);
  const int shift = 64 - bits(dtype);
  return static_cast<int64_t>(word << shift) >> shift;
}

void write_pair(Frame& frame, int pair, const Number& from, const Number& to) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.result(pair);
  const Words& words = frame.words(result);
  const Number count = b.number(words.count);
  const Number begin = b.mul(from, count, "word"), end = frame.guarded(b.mul(to, count, "word"));
  int64_t most = kTileBytes * 8 / bits(words.element.dtype);
  const std::optional<int64_t> whole =
      begin.value && end.value ? std::optional<int64_t>(*end.value - *begin.value) : std::nullopt;
  if (whole && *whole<most&& * whole> 0) most = *whole;
  const Number size = b.number(most);
  const Grid into(frame, result, frame.pointer(result) + "_line", constant(0));
  const bool even = whole && *whole % most == 0;
  const double trips = static_cast<double>(kAssumedExtent) / static_cast<double>(most);
  if (frame.plan.init_kind == InitKind::copy) {
    const Grid source(frame, frame.plan.operand(pair), frame.pointer(frame.plan.operand(pair)) + "_line", constant(0));
    b.loop("copied", begin, end, size, std::max(trips, 1.0), [&](const Number& at) {
      const Number n = even ? size : b.min(b.sub(end, at, "left"), size, "count");
      const Named tile = b.tile("line", words.element, 1, most, b.number(1), n);
      b.load(source.line("line_from", at, {}, n), tile);
      b.store(tile, into.line("line_to", at, {}, n));
    });
    return;
  }
  const Named value = b.constant(words.element, fill_value(frame, pair, words.element.dtype));
  b.loop("filled", begin, end, size, std::max(trips, 1.0), [&](const Number& at) {
    const Number n = even ? size : b.min(b.sub(end, at, "left"), size, "count");
    const Named tile = b.tile("line", words.element, 1, most, b.number(1), n);
    b.run(Opcode::texpands, {value.name, tile.name});
    b.store(tile, into.line("line_to", at, {}, n));
  });
}

}  // namespace

Status write_init(Frame& frame, const Number& from, const Number& to) {
  if (!frame.scatter() || frame.plan.init_kind == InitKind::in_place) return {};
  for (int pair = 0; pair < frame.plan.pairs; ++pair) {
    STREW_TRY(check(frame, pair));
    frame.build.note(frame.plan.init_kind == InitKind::copy ? "the operand first" : "the value that is there before updates");
    write_pair(frame, pair, from, to);
  }
  frame.build.barrier();
  return {};
}

}  // namespace strew::pto
