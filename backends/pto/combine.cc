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

/// Must the node's bf16 arithmetic be done in f32, because the chip has the instruction for f32 only?
bool through_f32(const Frame& frame, const ExprNode& node) {
  const Operator* const row = find_operator(node.op);
  return row != nullptr && node.dtype == DType::bf16 && !frame.has(row->tile, DType::bf16) && frame.has(row->tile, DType::f32);
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
    return frame_.build.tile(hint, {frame_.carrier_type(dtype), false}, tiles_.rows, tiles_.cols, tiles_.valid_rows,
                             tiles_.valid_cols);
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
    if (!converts(frame_.chip, source, node.dtype) || !is_float(source) || !is_float(node.dtype))
      return unsupported(
          fmt::format("the combiner converts {} to {}, which {} has no tile instruction for that rounds as strew "
                      "does; updates of the result's type need none",
                      name(source), name(node.dtype), name(frame_.chip)));
    return converted(from, node.dtype);
  }

  Named converted(const Named& from, DType dtype) {
    Named out = tile("converted", dtype);
    frame_.build.run(Opcode::tcvt, {from.name, out.name}, {{"rmode", "RINT"}});
    return out;
  }

  Expected<Named> binary(const ExprNode& node) {
    const Operator* const row = find_operator(node.op);
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
    STREW_TRY(check_allowed(opcode, node.dtype));
    const Named out = tile("combined", node.dtype);
    std::vector<std::string> operands = {a.name, c.name};
    if (opcode == Opcode::txor) operands.push_back(tile("room", node.dtype).name);
    operands.push_back(out.name);
    frame_.build.run(opcode, operands);
    return out;
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
    any_order &= combiner->reorders(dtype);
    const DType moved = frame.carrier_type(dtype);
    if (!allows(atomic_legality(atomic), frame.chip, reader_of(frame.options.output), moved)) return out;
  }
  out.way = CombineWay::atomic;
  out.atomic = atomic;
  out.any_order = plan.unique.holds || plan.order == Order::relaxed || any_order;
  return out;
}

Expected<Combine> start_combine(Frame& frame, bool atomics) {
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  if (combine.way == CombineWay::assign || frame.one_by_one()) return combine;
  if (!atomics) combine.way = CombineWay::compute;
  for (size_t t = 0; t < frame.plan.tensors.size(); ++t) {
    const PlanTensor& tensor = frame.plan.tensors[t];
    const Words& words = frame.words(static_cast<int>(t));
    if (tensor.role == Role::indices || !tensor.bound ||
        (words.count == 1 && words.element.dtype == frame.carrier_type(tensor.dtype)))
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
    converts |= node.op == ExprOp::convert || through_f32(frame, node);
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
