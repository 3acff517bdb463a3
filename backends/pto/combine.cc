// See combine.h. The combiner is an atomic of mscatter if the chip, and ptoas where it reads the text, have one for the
// element type; updates of another float type are converted on tiles before. Where the order of updates matters, rows.cc keeps it. All other combiners read the current values,
// compute, and write back. That is correct only if no two updates of a tile share a destination: they are unique, or
// the tile has one row on the core that owns it (plan_program.cc, row_limit). The expression graph is evaluated node by
// node on tiles, and each node is rounded to its own type, as docs/semantics.md requires. A node whose tile instruction
// computes something else (integer division) is refused. Tested by tests/golden/pto_program_test.cc,
// tests/error/pto_program_error_test.cc and tests/differential/npu.
//
// Scalars: where tiles have no arithmetic for an op, or move its elements only as words of another type, the scalar unit evaluates the
// combiner's expression graph for one element after the other, in integers (scalars.h). This is slow, and available on every chip.
#include "backends/pto/combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/pto/scalars.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

bool is_bitwise(ExprOp op) { return op == ExprOp::bit_and || op == ExprOp::bit_or || op == ExprOp::bit_xor; }

/// Must the node's bf16 arithmetic be done in f32, because the chip has the instruction for f32 only?
bool through_f32(const Frame& frame, const ExprNode& node) {
  const Operator* const row = find_operator(node.op);
  return row != nullptr && node.dtype == DType::bf16 && !frame.has(row->tile, DType::bf16) && frame.has(row->tile, DType::f32);
}

/// The operator of a node on tiles. Sums and maxima of truth values are disjunctions, products and minima conjunctions.
const Operator* tile_operator(const ExprNode& node) {
  if (node.dtype != DType::boolean) return find_operator(node.op);
  if (node.op == ExprOp::add || node.op == ExprOp::max) return find_operator(ExprOp::bit_or);
  if (node.op == ExprOp::mul || node.op == ExprOp::min) return find_operator(ExprOp::bit_and);
  return is_bitwise(node.op) ? find_operator(node.op) : nullptr;
}

/// Must the node's arithmetic on bytes be done in i16, because the chip lacks the instruction for bytes?
bool through_i16(const Frame& frame, const ExprNode& node) {
  if (node.dtype != DType::i8 && node.dtype != DType::u8) return false;
  const Operator* const row = find_operator(node.op);
  if (row == nullptr || node.op == ExprOp::div) return false;
  // PTO-AS has a difference in the place of txor.
  const Opcode opcode = row->tile == Opcode::txor && frame.options.output == Output::pto_as ? Opcode::tsub : row->tile;
  return !frame.has(opcode, frame.carrier_type(node.dtype)) && frame.has(opcode, DType::i16);
}

/// Evaluates the expression graph with tile instructions.
class Graph {
 public:
  Graph(Frame& frame, const CombineTiles& tiles) : frame_(frame), tiles_(tiles), values_(frame.plan.combine.nodes.size()) {}

  Expected<Named> run(int32_t root) {
    const Expr& graph = frame_.plan.combine;
    for (const int32_t node : evaluation_order(graph, root)) {
      STREW_ASSIGN(values_[static_cast<size_t>(node)], make(graph.nodes[static_cast<size_t>(node)]));
    }
    return value(root);
  }

 private:
  const Named& value(int32_t node) const { return values_[static_cast<size_t>(node)]; }

  Named tile(const std::string& hint, DType dtype) {
    const DType carrier = frame_.carrier_type(dtype);
    const int64_t words = std::max(1, bits(dtype) / bits(carrier));
    const Number wide = frame_.build.mul(tiles_.valid_cols, frame_.build.number(words), "words");
    return frame_.build.tile(hint, {carrier, false}, tiles_.rows, tiles_.cols * words, tiles_.valid_rows, wide);
  }

  /// Ok if the chip and the reader of the text allow the instruction on this type.
  Status check_allowed(Opcode opcode, DType dtype) const {
    if (frame_.has(opcode, frame_.carrier_type(dtype))) return {};
    return unsupported(fmt::format("the combiner needs {} on {}, which {}{} does not have, expected f32 or i32", name(opcode),
                                   name(dtype), name(frame_.chip),
                                   frame_.options.output == Output::pto_ir ? " through ptoas" : ""));
  }

  Expected<Named> make(const ExprNode& node) {
    if (node.op == ExprOp::current) return tiles_.current;
    if (node.op == ExprOp::update) return tiles_.update;
    if (node.op == ExprOp::extra) return filled("everywhere", tiles_.extras[static_cast<size_t>(node.index)], node.dtype);
    if (node.op == ExprOp::literal) {
      const DType dtype = frame_.carrier_type(node.dtype);
      STREW_TRY(check_allowed(Opcode::texpands, node.dtype));
      return filled("literal", frame_.build.constant({dtype, false}, word_of(node.value, dtype)), node.dtype);
    }
    return node.op == ExprOp::convert ? convert(node) : binary(node);
  }

  /// A scalar, broadcast to a tile. Of a tile: itself.
  Expected<Named> filled(const char* hint, const Named& value, DType dtype) {
    if (value.type.kind == TypeKind::tile) return value;
    STREW_TRY(check_allowed(Opcode::texpands, dtype));
    const Named out = tile(hint, dtype);
    frame_.build.run(Opcode::texpands, {value.name, out.name});
    return out;
  }

  Expected<Named> convert(const ExprNode& node) {
    const Named& from = value(node.args[0]);
    const DType source = from.type.element.dtype;
    if (source == node.dtype) return from;
    const DType written = frame_.plan.combine.nodes[static_cast<size_t>(node.args[0])].dtype;
    if (source != written && written != DType::boolean) return no_conversion(written, node.dtype);
    if (node.dtype == DType::boolean) return no_conversion(written, node.dtype);
    if (const std::optional<std::vector<DType>> steps = widening(source, node.dtype)) {
      Named out = from;
      for (const DType step : *steps) out = converted(out, step);
      return out;
    }
    if (!converts(frame_.chip, source, node.dtype) || !is_float(source) || !is_float(node.dtype))
      return no_conversion(source, node.dtype);
    return converted(from, node.dtype);
  }
  Status no_conversion(DType source, DType into) const {
    return unsupported(
        fmt::format("the combiner converts {} to {}, which {} has no tile instruction for that rounds as strew "
                    "does; updates of the result's type need none",
                    name(source), name(into), name(frame_.chip)));
  }
  /// The conversions that lead from an integer to a type that holds all its values, each to one that holds them, too; none if there are none.
  std::optional<std::vector<DType>> widening(DType source, DType into) const {
    const bool is_byte = source == DType::i8 || source == DType::u8;
    if (!is_byte && source != DType::i16) return std::nullopt;
    const DType by = is_byte ? DType::f16 : DType::f32;
    if (into == by) return std::vector{by};
    if (into == DType::u32 && source == DType::u8 && frame_.chip == Chip::a5 && frame_.carrier_type(into) == into)
      return std::vector{by, DType::i16, into};
    const bool holds = into == DType::f32 || into == DType::i32 || (is_byte && into == DType::i16);
    return holds ? std::optional(std::vector{by, into}) : std::nullopt;
  }

  Named converted(const Named& from, DType dtype) {
    Named out = tile("converted", dtype);
    frame_.build.run(Opcode::tcvt, {from.name, out.name}, {{"rmode", "RINT"}});
    return out;
  }

  Expected<Named> binary(const ExprNode& node) {
    const Operator* const row = tile_operator(node);
    if (row == nullptr || (node.op == ExprOp::div && !is_float(node.dtype)))
      return unsupported(fmt::format("the combiner has {} on {}, expected add, sub, mul, div of floats, max, min, and, or, xor",
                                     name(node.op), name(node.dtype)));
    const Opcode opcode = row->tile;
    const Named &a = value(node.args[0]), &c = value(node.args[1]);
    if (through_f32(frame_, node)) {
      // Rounding to f32 and then to bf16 gives the bits of rounding once, because f32 has more than twice as many
      // significant bits as bf16.
      const Named left = converted(a, DType::f32), right = converted(c, DType::f32), wide = tile("combined", DType::f32);
      frame_.build.run(opcode, {left.name, right.name, wide.name});
      return converted(wide, node.dtype);
    }
    if (opcode == Opcode::txor && frame_.options.output == Output::pto_as) {
      // The instruction works in a scratch tile, which PTO-AS has not: a ^ b is (a | b) - (a & b).
      const Named both = tile("both", node.dtype), either = tile("either", node.dtype);
      frame_.build.run(Opcode::tand, {a.name, c.name, both.name});
      frame_.build.run(Opcode::tor, {a.name, c.name, either.name});
      return arithmetic(Opcode::tsub, either, both, node.dtype);
    }
    return arithmetic(opcode, a, c, node.dtype);
  }

  Expected<Named> arithmetic(Opcode opcode, const Named& a, const Named& c, DType dtype) {
    const bool is_byte = dtype == DType::i8 || dtype == DType::u8;
    if (is_byte && !frame_.has(opcode, frame_.carrier_type(dtype)) && frame_.has(opcode, DType::i16))
      return in_i16(opcode, a, c, dtype);
    STREW_TRY(check_allowed(opcode, dtype));
    const Named out = tile("combined", dtype);
    // Numbers without sign are ordered as those with sign are that are 2^(width - 1) less.
    const bool is_biased =
        (opcode == Opcode::tmax || opcode == Opcode::tmin) && is_unsigned_integer(dtype) && frame_.carrier_type(dtype) != dtype;
    const Named left = is_biased ? biased(a, dtype) : a, right = is_biased ? biased(c, dtype) : c;
    std::vector<std::string> operands = {left.name, right.name};
    if (opcode == Opcode::txor) operands.push_back(tile("room", dtype).name);
    operands.push_back(out.name);
    frame_.build.run(opcode, operands);
    return is_biased ? biased(out, dtype) : out;
  }
  Named biased(const Named& number, DType dtype) {
    const Named out = tile("biased", dtype);
    const int64_t least = -(int64_t{1} << (bits(dtype) - 1));
    frame_.build.run(Opcode::tadds, {number.name, frame_.build.constant(out.type.element, least).name, out.name});
    return out;
  }

  /// Bytes are computed in i16, of which the low 8 bits are those of the result. f16 holds all bytes, and both chips convert by way of it.
  Named in_i16(Opcode opcode, const Named& a, const Named& c, DType dtype) {
    ProgramBuilder& b = frame_.build;
    const DType carrier = frame_.carrier_type(dtype);
    const Named left = converted(converted(a, DType::f16), DType::i16), right = converted(converted(c, DType::f16), DType::i16);
    const Named out = tile("combined", DType::i16);
    b.run(opcode, {left.name, right.name, out.name});
    if (opcode != Opcode::tmax && opcode != Opcode::tmin) {
      const Named ones = tile("ones", DType::i16);
      b.run(Opcode::texpands, {b.constant({DType::i16, false}, 255).name, ones.name});
      b.run(Opcode::tand, {out.name, ones.name, out.name});
      if (carrier == DType::i8) {
        // Of a byte of 128 or more, the sign is the top bit: x - 256 * (1 + min(max(x - 128, -1), 0)).
        const Named sign = tile("sign", DType::i16);
        const auto scalar = [&](int64_t value) { return b.constant({DType::i16, false}, value).name; };
        b.run(Opcode::tadds, {out.name, scalar(-128), sign.name});
        b.run(Opcode::tmaxs, {sign.name, scalar(-1), sign.name});
        b.run(Opcode::tmins, {sign.name, scalar(0), sign.name});
        b.run(Opcode::tadds, {sign.name, scalar(1), sign.name});
        b.run(Opcode::tmuls, {sign.name, scalar(-256), sign.name});
        b.run(Opcode::tadd, {out.name, sign.name, out.name});
      }
    }
    return converted(converted(out, DType::f16), carrier);
  }

  Frame& frame_;
  const CombineTiles& tiles_;
  std::vector<Named> values_;
};

}  // namespace

int64_t word_of(const Scalar& value, DType dtype, int64_t w) {
  const int width = bits(dtype), above = 64 - width;
  const uint64_t word = value.bits[static_cast<size_t>(w * width / 64)] >> (w * width % 64) << above;
  return is_signed_integer(dtype) ? static_cast<int64_t>(word) >> above : static_cast<int64_t>(word >> above);
}

namespace {

/// Writes the statements for one element of the tiles.
void write_element(ProgramBuilder& b, const lowered::Graph& graph, const ElementTiles& tiles, const std::vector<Named>& into,
                   const Number& row, const Number& col) {
  std::map<std::pair<int64_t, int64_t>, Number> starts;  // by the tile's pitch, and the words of an element
  const auto place = [&](const Named& tile, int64_t count, int64_t word) {
    const int64_t pitch = tile.type.dims[1];
    const auto [found, fresh] = starts.try_emplace({pitch, count});
    if (fresh) {
      const Number start = b.mul(row, b.number(pitch), "row_start"), across = b.mul(col, b.number(count), "across");
      found->second = b.add(start, across, "place");
    }
    return b.use(b.add(found->second, b.number(word), "place"));
  };
  const auto read = [&](const lowered::Graph::Input& input, int64_t word) {
    const auto index = static_cast<size_t>(input.index);
    const bool is_current = input.op == ExprOp::current, is_update = input.op == ExprOp::update;
    const Named& from = (is_current ? tiles.currents : is_update ? tiles.updates : tiles.extras)[index];
    if (from.type.kind != TypeKind::tile) return from;
    const std::string at = place(from, scalar_words(input.dtype).count, word);
    const char* const hint = is_current ? "now" : is_update ? "by" : "extra";
    const Named element = b.give(Opcode::tgetval, hint, make_scalar(from.type.element.dtype), {from.name, at});
    if (const auto shift = tiles.shifts.find(from.name); shift != tiles.shifts.end())
      return packed_element(b, element, shift->second, bits(input.dtype));
    if (!is_float(element.type.element.dtype)) return element;
    return b.give(Opcode::bitcast, "as_bits", make_scalar(scalar_words(input.dtype).word), {element.name});
  };
  ScalarCode code(b, graph, read);
  std::vector<std::vector<Named>> results;
  for (size_t r = 0; r < graph.results.size(); ++r) results.push_back(code.result(r));
  for (size_t r = 0; r < results.size(); ++r)
    for (size_t w = 0; w < results[r].size(); ++w) {
      const std::string at = place(into[r], static_cast<int64_t>(results[r].size()), static_cast<int64_t>(w));
      std::string element = results[r][w].name;
      if (const auto shift = tiles.shifts.find(into[r].name); shift != tiles.shifts.end())
        element = packed_byte(b, into[r], results[r][w], shift->second, bits(graph.results[r].dtype));
      if (const DType dtype = into[r].type.element.dtype; is_float(dtype))
        element = b.give(Opcode::bitcast, "as_" + std::string(name(dtype)), make_scalar(dtype), {element}).name;
      b.run(Opcode::tsetval, {into[r].name, at, element});
    }
}

}  // namespace

/// Fails unless the result of each pair is computed from values of that pair: a tile has those of one.
static Status check_pairs(const Plan& plan) {
  for (int pair = 0; plan.pairs > 1 && pair < plan.pairs; ++pair)
    for (const int32_t number : evaluation_order(plan.combine, plan.combine.results[static_cast<size_t>(pair)])) {
      const ExprNode& node = plan.combine.node(number);
      if ((node.op == ExprOp::current || node.op == ExprOp::update) && node.index != pair)
        return unsupported(fmt::format("the combiner computes result {} from {}({}), expected values of its own pair only", pair,
                                       name(node.op), node.index));
    }
  return {};
}

/// Do tiles convert the updates of every pair to the type of the result, as the combiner does before it combines them?
static bool converts_updates(const Frame& frame) {
  const Plan& plan = frame.plan;
  for (int pair = 0; pair < plan.pairs; ++pair) {
    const DType from = plan.tensors[static_cast<size_t>(plan.update(pair))].dtype;
    const DType to = plan.tensors[static_cast<size_t>(plan.result(pair))].dtype;
    const Words& words = frame.words(plan.update(pair));
    const bool moves = words.count == 1 && words.element.dtype == from;
    if (!moves || (from != to && (!is_float(from) || !is_float(to) || !converts(frame.chip, from, to)))) return false;
  }
  return true;
}

Expected<Combine> choose_combine(const Frame& frame) {
  Combine out;
  const Plan& plan = frame.plan;
  if (!frame.one_by_one()) STREW_TRY(check_pairs(plan));
  out.any_order = plan.unique.holds;
  if (plan.pure_move) return out;
  out.way = CombineWay::compute;
  out.any_order |= plan.gather;
  if (plan.gather) return out;
  // An atomic on the words that scalars compute with would be wrong: a bool travels as i8, and a sum of i8 is not a sum of bools.
  if (frame.one_by_one()) return out;
  const auto dtype_of = [&](int tensor) { return plan.tensors[static_cast<size_t>(tensor)].dtype; };
  const Operator* const combiner = combiner_operator(plan);
  if (combiner == nullptr || combiner->atomic.empty() || has_extras(plan)) return out;
  if (!same_types(plan) && !converts_updates(frame)) return out;
  // All pairs combine in the same way, because they share the index tiles and the loops.
  const std::string atomic(combiner->atomic);
  bool any_order = true;
  for (int pair = 0; pair < plan.pairs; ++pair) {
    const DType dtype = dtype_of(plan.result(pair));
    if (dtype == DType::boolean || bits(dtype) == 64) return out;
    any_order &= combiner->reorders(dtype);
    const DType moved = frame.carrier_type(dtype);
    if (!allows(atomic_legality(atomic), frame.chip, reader_of(frame.options.output), moved)) return out;
  }
  out.way = CombineWay::atomic;
  out.atomic = atomic;
  out.any_order = plan.unique.holds || plan.order == Order::relaxed || any_order;
  return out;
}

/// Is every 64-bit number only combined bit by bit, so that its words may be combined one by one?
static bool is_bitwise(const Expr& graph) {
  return std::ranges::all_of(graph.nodes, [&](const ExprNode& node) {
    const auto wide = [&](int32_t arg) { return bits(graph.nodes[static_cast<size_t>(arg)].dtype) == 64; };
    const bool is_input = node.op == ExprOp::current || node.op == ExprOp::update || node.op == ExprOp::extra;
    return is_input || is_bitwise(node.op) || (bits(node.dtype) != 64 && std::ranges::none_of(node.args, wide));
  });
}

Expected<Combine> start_combine(Frame& frame, bool atomics) {
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  if (combine.way == CombineWay::assign || frame.one_by_one()) return combine;
  if (!atomics) combine.way = CombineWay::compute;
  for (size_t t = 0; t < frame.plan.tensors.size(); ++t) {
    const PlanTensor& tensor = frame.plan.tensors[t];
    const Words& words = frame.words(static_cast<int>(t));
    const bool in_words = tensor.role != Role::extra || tensor.extra == ExtraKind::per_element;
    if (tensor.role == Role::indices || !tensor.bound ||
        ((words.count == 1 || (in_words && is_bitwise(frame.plan.combine))) &&
         words.element.dtype == frame.carrier_type(tensor.dtype)))
      continue;
    return unsupported(
        fmt::format("arithmetic on {}, which {} only moves; {}f32 would work{}", name(tensor.dtype), name(frame.chip),
                    is_integer(tensor.dtype) ? "i32 or " : "",
                    frame.options.output == Output::pto_as ? ", or another output than pto-as, element by element" : ""));
  }
  if (combine.way != CombineWay::compute && same_types(frame.plan)) return combine;
  int narrowest = 32;
  bool converts = false;
  for (const ExprNode& node : frame.plan.combine.nodes) {
    narrowest = std::min(narrowest, bits(node.dtype));
    converts |= node.op == ExprOp::convert || through_f32(frame, node) || through_i16(frame, node);
  }
  if (converts) frame.build.align_tiles(std::max(8, narrowest) / 8);
  return combine;
}

void write_scalars(ProgramBuilder& b, const lowered::Graph& graph, const ElementTiles& tiles, const std::vector<Named>& into) {
  b.note("the scalar unit combines the elements, one after the other");
  b.loop("each_row", b.number(0), tiles.valid_rows, b.number(1), [&](const Number& row) {
    b.loop("each", b.number(0), tiles.valid_cols, b.number(1),
           [&](const Number& col) { write_element(b, graph, tiles, into, row, col); });
  });
}

Expected<Named> write_addend(Frame& frame, int pair, const CombineTiles& tiles) {
  const Expr& graph = frame.plan.combine;
  return Graph(frame, tiles).run(graph.node(graph.results[static_cast<size_t>(pair)]).args[1]);
}

Expected<Named> write_combine(Frame& frame, int pair, const CombineTiles& tiles) {
  return Graph(frame, tiles).run(frame.plan.combine.results[static_cast<size_t>(pair)]);
}

}  // namespace strew::inline v0::pto
