// See spread.h. Every core checks all indices and keeps the result in its own buffer, so all cores get the same result and none
// waits for another; all of them store the same words to `fault`. A result of any shape is copied or filled as one line of
// memory, a tile of up to 16 KiB at a time. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>
#include <optional>

#include "backends/pto/combine.h"
#include "backends/pto/scalars.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"
#include "compiler/rewrite/split_wide.h"
#include "strew/expr_builder.h"

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
  const DType result = frame.stored(pair).dtype;
  const PlanTensor& operand = frame.plan.tensors[static_cast<size_t>(frame.plan.operand(pair))];
  if (frame.plan.init_kind == InitKind::copy) {
    if (result == operand.dtype || frame.one_by_one() || frame.attempt.rounded != nullptr) return {};
    return unsupported("the result is " + std::string(name(result)) + " and the operand " + std::string(name(operand.dtype)) +
                       ", expected one dtype: the copy would convert");
  }
  if (can_fill(frame, frame.stored(pair).words, frame.plan.init_fill[static_cast<size_t>(pair)])) return {};
  return unsupported("init fills elements of " + std::string(name(result)) + " that are computed with, which ptoas has no way " +
                     "to, expected init copy or in_place, a signed type, or output pto-cpp");
}

/// Computes elements [from, to) of `into` from those of tensors at the same places, which the graph reads as `current` and `update`.
void map_lines(Frame& frame, const lowered::Graph& graph, const std::vector<Stored>& inputs, const Stored& into,
               const Number& from, const Number& to) {
  ProgramBuilder& b = frame.build;
  const Number elements = frame.elements(frame.table(0)), end = frame.guarded(to);
  const auto view_of = [&](const Stored& line) {
    const Number all = b.mul(elements, b.number(line.words.count), "extent");
    return b.view(line.pointer + "_elements", line.pointer, b.number(1), all, all);
  };
  std::vector<Named> views;
  for (const Stored& input : inputs) views.push_back(view_of(input));
  const bool in_place = inputs[0].pointer == into.pointer;
  const Named to_view = in_place ? views[0] : view_of(into);
  int64_t most = kScalarTileBytes / 8;
  if (from.value && end.value && *end.value > *from.value) most = std::min(most, *end.value - *from.value);
  const bool even = from.value && end.value && *end.value >= *from.value && (*end.value - *from.value) % most == 0;
  b.loop("mapped", from, end, b.number(most), [&](const Number& at) {
    const Number n = b.left(at, end, b.number(most), even);
    const auto part = [&](const Named& view, const Words& words) {
      const Number count = b.number(words.count), first = b.mul(at, count, "word"), wide = b.mul(n, count, "words");
      return b.part("line", view, b.number(0), first, b.number(1), wide);
    };
    const auto tile = [&](const Words& words) {
      return b.tile("line", words.element, 1, most * words.count, b.number(1), b.mul(n, b.number(words.count), "words"));
    };
    ElementTiles tiles{{}, {}, {}, 1, most, b.number(1), n};
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Named memory = part(views[i], inputs[i].words);
      (i == 0 ? tiles.currents : tiles.updates).push_back(tile(inputs[i].words));
      b.load(memory, (i == 0 ? tiles.currents : tiles.updates).back());
    }
    const Named out = in_place ? tiles.currents[0] : tile(into.words);
    write_scalars(b, graph, tiles, {out});
    b.moves_data(out);
    b.store(out, part(to_view, into.words));
  });
}

Stored operand_of(const Frame& frame, int pair) {
  const int operand = frame.plan.operand(pair);
  return {frame.pointer(operand), frame.plan.tensors[static_cast<size_t>(operand)].dtype, frame.words(operand)};
}
/// The plan's result, which may be an accumulator.
Stored table_of_pair(const Frame& frame, int pair) {
  const int result = frame.plan.result(pair);
  return {frame.pointer(result), frame.plan.tensors[static_cast<size_t>(result)].dtype, frame.words(result)};
}

/// Makes elements [from, to) of `into` those of `source`, converted.
Status convert_line(Frame& frame, const Stored& source, const Stored& into, const Number& from, const Number& to) {
  ExprBuilder e;
  STREW_ASSIGN(const lowered::Graph graph, scalar_graph(e.returns({e.convert(e.current(0, source.dtype), into.dtype)})));
  map_lines(frame, graph, {source}, into, from, to);
  return {};
}

/// Packed elements: initialises those of the last byte of the result, if they do not fill it. `value`: none copies the operand.
void make_last_byte(Frame& frame, int pair, const Number& elements, const std::optional<Scalar>& value) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.result(pair);
  const Number each = b.number(frame.per_word(result)), all = frame.words_in(result), one = b.number(1);
  const Number rest = b.remainder(elements, each, "rest"), at = b.divide(elements, each, "last_byte");
  const int width = static_cast<int>(8 / frame.per_word(result));
  const Stored& stored = frame.stored(pair);
  const auto byte_of = [&](const std::string& pointer) {
    const Named view = b.view(pointer + "_bytes", pointer, one, all, all);
    return b.part("last", view, b.number(0), at, one, one);
  };
  if (rest.is(0)) return;
  b.loop("last", b.number(0), frame.guarded(b.min(rest, one, "any")), one, [&](const Number&) {
    const Named place = byte_of(stored.pointer), byte = b.tile("byte", stored.words.element, 1, 1, one, one);
    b.load(place, byte);
    Named source = byte;
    if (!value) {
      source = b.tile("source", stored.words.element, 1, 1, one, one);
      b.load(byte_of(frame.pointer(frame.plan.operand(pair))), source);
    }
    b.loop("beside", b.number(0), rest, one, [&](const Number& element) {
      const Number shift = b.mul(element, b.number(width), "shift");
      const Type scalar = make_scalar(DType::i8);
      Named made = value ? b.constant({DType::i8, false}, word_of(*value, DType::i8)) : Named();
      if (!value) {
        const Named from = b.give(Opcode::tgetval, "from", scalar, {source.name, b.use(b.number(0))});
        made = b.give(Opcode::trunci, "made", scalar, {packed_element(b, from, shift, width).name});
      }
      b.run(Opcode::tsetval, {byte.name, b.use(b.number(0)), packed_byte(b, byte, made, shift, width)});
    });
    b.store(byte, place);
  });
}

/// Packed elements: zeros in all bytes of the result that its elements fill. One element is written at a time, which reads the others of its byte.
void clear_bytes(Frame& frame, int pair) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.result(pair);
  const Stored& stored = frame.stored(pair);
  const Number each = b.number(frame.per_word(result)), zero = b.number(0), one = b.number(1), all = frame.words_in(result);
  const Number end = frame.guarded(b.divide(frame.number(frame.extent(result)), each, "whole_bytes"));
  if (end.is(0)) return;
  const int64_t most = std::clamp<int64_t>(end.value.value_or(kScalarTileBytes), 1, kScalarTileBytes);
  const Named view = b.view(stored.pointer + "_bytes", stored.pointer, one, all, all);
  b.note("zeros first, because elements share bytes");
  b.loop("cleared", zero, end, b.number(most), [&](const Number& at) {
    const Number n = b.left(at, end, b.number(most), end.value && *end.value % most == 0);
    const Named bytes = b.tile("zeros", stored.words.element, 1, most, one, n);
    write_fill(frame, stored.words, bytes, one, n, {DType::u8, {0, 0}});
    b.store(bytes, b.part("bytes", view, zero, at, one, n));
  });
}

/// Initialises elements [from, to) of the result of a pair, as one line. PTO-AS: the whole result, in the rows as which
/// updates view it (Frame::pitch), because a memref has one shape there.
Status write_pair(Frame& frame, int pair, const Number& from, const Number& to) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.result(pair), operand = frame.plan.operand(pair);
  const Words& words = frame.stored(pair).words;
  const bool copies = frame.plan.init_kind == InitKind::copy;
  const Stored& stored = frame.stored(pair);
  const bool shares = copies && stored.dtype != frame.plan.tensors[static_cast<size_t>(operand)].dtype &&
                      std::min(bits(stored.dtype), bits(frame.plan.tensors[static_cast<size_t>(operand)].dtype)) < 8;
  if (shares && frame.attempt.rounded != nullptr)
    return unsupported(
        "elements of fewer than 8 bits are converted before sums that are wider than the result, expected one dtype");
  if (shares || frame.has_strides(result) || (copies && frame.has_strides(operand))) {
    if (frame.per_word(result) > 1 && !frame.has_strides(result)) clear_bytes(frame, pair);
    return write_elements(frame, pair);
  }
  if (const Stored source = operand_of(frame, pair); copies && stored.dtype != source.dtype)
    return convert_line(frame, source, stored, from, to);
  std::optional<Scalar> value;
  if (!copies) value = whole_bytes(frame, result, frame.plan.init_fill[static_cast<size_t>(pair)]);
  const bool in_rows = frame.options.output == Output::pto_as && !frame.pitch.is(0);
  const int64_t row = frame.pitch.factor * words.count, width = bits(words.element.dtype);
  Number begin = b.number(0), end;
  int64_t most = 0;
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
    // Packed elements are initialised by one core, all of them; what is beside the last ones in their byte stays.
    end = frame.guarded(b.mul(b.divide(to, b.number(frame.per_word(result)), "packed_words"), count, "word"));
    if (frame.per_word(result) > 1) make_last_byte(frame, pair, to, value);
    most = (copies || fills_at_once(frame, words, *value) ? kTileBytes : kScalarTileBytes) * 8 / width;
    if (begin.value && end.value && *end.value > *begin.value) most = std::min(most, *end.value - *begin.value);
  }
  const bool even = begin.value && end.value && *end.value >= *begin.value && (*end.value - *begin.value) % most == 0;
  const char* const suffix = in_rows ? "_rows" : "_line";
  const Term pitch = in_rows ? frame.pitch : constant(0);
  std::optional<Grid> grid;
  Named line;
  if (in_rows) {
    grid.emplace(frame, result, stored.pointer + suffix, pitch);
  } else {
    const Number all = b.mul(frame.words_in(result), b.number(words.count), "extent");
    line = b.view(stored.pointer + suffix, stored.pointer, b.number(1), all, all);
  }
  std::optional<Grid> source;
  if (copies) source.emplace(frame, operand, frame.pointer(operand) + suffix, pitch);
  b.loop(in_rows  ? "made"
         : copies ? "copied"
                  : "filled",
         begin, end, b.number(most), [&](const Number& at) {
           const Number n = b.left(at, end, b.number(most), even);
           const Number lines = in_rows ? n : b.number(1), cols = in_rows ? b.number(row) : n;
           const auto part = [&](const Grid& of, const char* hint) {
             return in_rows ? of.part(hint, at, {}, b.number(0), n, frame.number(pitch)) : of.line(hint, at, {}, n);
           };
           const Named tile = b.tile("line", words.element, in_rows ? most : 1, in_rows ? row : most, lines, cols);
           b.moves_data(tile);
           if (copies) {
             b.load(part(*source, "line_from"), tile);
           } else {
             write_fill(frame, words, tile, lines, cols, *value);
           }
           b.store(tile, grid ? part(*grid, "line_to") : b.part("line_to", line, b.number(0), at, b.number(1), n));
         });
  return {};
}

Named element(Frame& frame, const Named& tile, const char* hint) {
  return frame.build.give(Opcode::tgetval, hint, make_scalar(DType::i32), {tile.name, frame.build.use(frame.build.number(0))});
}

}  // namespace

Scalar whole_bytes(const Frame& frame, int tensor, const Scalar& value) {
  const int64_t each = frame.per_word(tensor);
  if (each == 1) return value;
  uint64_t code = 0;
  for (int64_t i = 0; i < each; ++i) code = code << (8 / each) | (value.bits[0] & ((uint64_t{1} << (8 / each)) - 1));
  return {DType::u8, {code, 0}};
}

bool can_fill(const Frame& frame, const Words& words, const Scalar& value) {
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

void write_fill(Frame& frame, const Words& words, const Named& tile, const Number& rows, const Number& cols,
                const Scalar& value) {
  ProgramBuilder& b = frame.build;
  const DType dtype = words.element.dtype;
  if (fills_at_once(frame, words, value))
    return b.run(Opcode::texpands, {b.constant(words.element, word_of(value, dtype, 0)).name, tile.name});
  const int64_t pitch = tile.type.dims[1];
  b.note(std::string(name(frame.chip)) + " fills no tiles of " + std::string(name(dtype)) + " with this: element by element");
  b.loop("fill_row", b.number(0), rows, b.number(1), [&](const Number& row) {
    const Number start = b.mul(row, b.number(pitch), "row_start");
    b.loop("fill_col", b.number(0), cols, b.number(words.count), [&](const Number& col) {
      for (int64_t w = 0; w < words.count; ++w) {
        const Number at = b.add(b.add(start, col, "fill_at"), b.number(w), "fill_at");
        b.run(Opcode::tsetval, {tile.name, b.use(at), b.constant(words.element, word_of(value, dtype, w)).name});
      }
    });
  });
}

void clear_packed_results(Frame& frame) {
  if (frame.scatter()) return;
  for (int pair = 0; pair < frame.plan.pairs; ++pair)
    if (frame.per_word(frame.plan.result(pair)) > 1 && !frame.has_strides(frame.plan.result(pair))) clear_bytes(frame, pair);
}

Status write_init(Frame& frame, const Number& from, const Number& to) {
  if (!initialises_results(frame)) return {};
  bool whole = false;
  for (int pair = 0; pair < frame.plan.pairs; ++pair)
    whole |= frame.has_strides(frame.plan.result(pair)) || frame.has_strides(frame.plan.operand(pair));
  for (int pair = 0; pair < frame.plan.pairs; ++pair) {
    if (frame.plan.init_kind != InitKind::in_place) {
      STREW_TRY(check(frame, pair));
      frame.build.note(frame.plan.init_kind == InitKind::copy ? "the operand first" : "the value that is there before updates");
      // Where a result has strides, one core makes all of each.
      const Number all = whole ? frame.number(frame.extent(frame.plan.result(pair))) : to;
      STREW_TRY(write_pair(frame, pair, from, all));
    }
    if (frame.attempt.rounded == nullptr) continue;
    if (frame.plan.init_kind != InitKind::in_place) frame.build.barrier();
    frame.build.note("accumulators are wider, and begin with the results");
    STREW_TRY(convert_line(frame, frame.stored(pair), table_of_pair(frame, pair), from, to));
  }
  frame.build.barrier();
  return {};
}

Status write_rounding(Frame& frame, const Number& from, const Number& to) {
  if (frame.attempt.rounded == nullptr) return {};
  frame.build.barrier();
  for (int pair = 0; pair < frame.plan.pairs; ++pair) {
    const Stored& result = frame.stored(pair);
    const Stored sums = table_of_pair(frame, pair);
    ExprBuilder e;
    const int32_t rounded = add_narrowing(e, 0, result.dtype, sums.dtype);
    STREW_ASSIGN(const lowered::Graph graph, scalar_graph(e.returns({rounded})));
    frame.build.note("each accumulator is rounded once; what no update changed keeps its bits");
    map_lines(frame, graph, {result, sums}, result, from, to);
  }
  return {};
}

}  // namespace strew::inline v0::pto
