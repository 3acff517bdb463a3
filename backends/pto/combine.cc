// See combine.h. The combiner is an atomic of mscatter if the chip, and ptoas where it reads the text, have one for the
// element type; where the order of updates matters, rows.cc keeps it. All other combiners read the current values,
// compute, and write back. That is correct only if no two updates of a tile share a destination: they are unique, or
// the tile has one row on the core that owns it (plan_program.cc, row_limit). The expression graph is evaluated node by
// node on tiles, and each node is rounded to its own type, as docs/semantics.md requires. A node whose tile instruction
// computes something else (integer division) is refused. Tested by tests/golden/pto_program_test.cc,
// tests/error/pto_program_error_test.cc and tests/differential/npu.
//
// Scalars: combine_scalars() combines integers for which there are no tile instructions: 64-bit integers, bools, conversions
// between integers, and whatever the chip's tiles or ptoas lack. Each element is read from its tile, the scalar unit
// evaluates the combiner's expression graph for it, and the result is written back to the tile. This is slow, and
// available on every chip. Unsigned numbers are moved as signed ones of the same width; operators that depend on the
// sign have different instructions for the two. Bools are bytes of 0 and 1.
#include "backends/pto/combine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

/// Does the graph convert a computed value (and not only inputs)?
bool converts_computed(const Expr& graph) {
  std::vector<bool> computed(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const ExprNode& node = graph.nodes[i];
    const auto is_computed = [&](int32_t arg) { return computed[static_cast<size_t>(arg)]; };
    const bool from_computed = std::any_of(node.args.begin(), node.args.end(), is_computed);
    if (node.op == ExprOp::convert && from_computed) return true;
    computed[i] = node.args.size() == 2 || from_computed;
  }
  return false;
}

class ScalarGraph {
 public:
  ScalarGraph(Frame& frame, const CombineTiles& tiles, const Number& row, const Number& col)
      : frame_(frame),
        tiles_(tiles),
        row_(row),
        col_(col),
        wide_(converts_computed(frame.plan.combine)),
        values_(frame.plan.combine.nodes.size()) {}

  /// Writes the evaluation of `root`; the result has the element type of its tile.
  Named run(int32_t root) {
    const Expr& graph = frame_.plan.combine;
    for (const int32_t node : evaluation_order(graph, root))
      values_[static_cast<size_t>(node)] = make(graph.nodes[static_cast<size_t>(node)]);
    const DType dtype = graph.nodes[static_cast<size_t>(root)].dtype;
    return wide_ ? narrowed(value(root), dtype) : value(root);
  }

  /// The element's number in a tile, which depends on the length of the tile's physical rows.
  std::string place(const Named& tile) {
    const auto [found, fresh] = places_.try_emplace(tile.type.dims[1]);
    if (fresh) {
      ProgramBuilder& b = frame_.build;
      found->second = b.add(b.mul(row_, b.number(tile.type.dims[1]), "row_start"), col_, "place");
    }
    return frame_.build.use(found->second);
  }

 private:
  const Named& value(int32_t node) const { return values_[static_cast<size_t>(node)]; }
  Type type(DType dtype) const { return make_scalar(wide_ ? DType::i64 : frame_.carrier_type(dtype)); }

  /// The value of a narrower type as an i64.
  Named widened(const Named& from, DType dtype) {
    if (!wide_ || bits(dtype) == 64) return from;
    return frame_.build.give(is_signed_integer(dtype) ? Opcode::extsi : Opcode::extui, "wide", make_scalar(DType::i64),
                             {from.name});
  }
  /// The low bits of an i64 as the element type of its tile.
  Named narrowed(const Named& from, DType dtype) {
    if (bits(dtype) == 64) return from;
    return frame_.build.give(Opcode::trunci, "as_" + std::string(name(dtype)), make_scalar(frame_.carrier_type(dtype)),
                             {from.name});
  }

  /// The element of a tile, or the scalar that holds for all elements.
  Named element(const char* hint, const Named& from, DType dtype) {
    if (from.type.kind != TypeKind::tile) return widened(from, dtype);
    Type number = make_scalar(from.type.element.dtype);
    return widened(frame_.build.give(Opcode::tgetval, hint, std::move(number), {from.name, place(from)}), dtype);
  }

  Named make(const ExprNode& node) {
    if (node.op == ExprOp::current) return element("now", tiles_.current, node.dtype);
    if (node.op == ExprOp::update) return element("by", tiles_.update, node.dtype);
    if (node.op == ExprOp::extra) return element("extra", tiles_.extras[static_cast<size_t>(node.index)], node.dtype);
    if (node.op == ExprOp::literal) {
      const DType carrier = frame_.carrier_type(node.dtype);
      return frame_.build.constant({wide_ ? DType::i64 : carrier, false}, word_of(node.value, wide_ ? node.dtype : carrier));
    }
    if (node.op == ExprOp::convert) return convert(node);
    const ExprOp op = node.dtype == DType::boolean ? of_truth(node.op) : node.op;
    const Operator& row = *find_operator(op);
    const Named &a = value(node.args[0]), &c = value(node.args[1]);
    const bool is_signed = is_signed_integer(node.dtype);
    const Named out =
        frame_.build.give(is_signed ? *row.number : *row.unsigned_number, "then", type(node.dtype), {a.name, c.name});
    // In 64 bits, sums, differences and products may exceed the type: they are cut to its width.
    const bool carries = op == ExprOp::add || op == ExprOp::sub || op == ExprOp::mul;
    return wide_ && carries && bits(node.dtype) < 64 ? widened(narrowed(out, node.dtype), node.dtype) : out;
  }

  /// For bools, sums and maxima are `or`, products and minima are `and`.
  static ExprOp of_truth(ExprOp op) {
    if (op == ExprOp::add || op == ExprOp::max) return ExprOp::bit_or;
    return op == ExprOp::mul || op == ExprOp::min ? ExprOp::bit_and : op;
  }

  Named convert(const ExprNode& node) {
    const DType from = frame_.plan.combine.nodes[static_cast<size_t>(node.args[0])].dtype;
    const Named& a = value(node.args[0]);
    const int change = bits(node.dtype) - bits(from);
    if (wide_) {
      const bool kept = change > 0 ? !is_signed_integer(from) || is_signed_integer(node.dtype)
                                   : change == 0 && is_signed_integer(from) == is_signed_integer(node.dtype);
      return kept || bits(node.dtype) == 64 ? a : widened(narrowed(a, node.dtype), node.dtype);
    }
    if (change == 0) return a;
    const Opcode opcode = change < 0 ? Opcode::trunci : is_signed_integer(from) ? Opcode::extsi : Opcode::extui;
    return frame_.build.give(opcode, "as_" + std::string(name(node.dtype)), type(node.dtype), {a.name});
  }

  Frame& frame_;
  const CombineTiles& tiles_;
  const Number &row_, &col_;
  /// All arithmetic is in i64. Otherwise ptoas 0.60 would drop the parentheses that cut a narrow sum to its width
  /// before a wider type reads it (guard.cc).
  const bool wide_;
  std::vector<Named> values_;
  std::map<int64_t, Number> places_;
};

}  // namespace

int64_t word_of(const Scalar& value, DType dtype, int64_t w) {
  const int width = bits(dtype), above = 64 - width;
  const uint64_t word = value.bits[static_cast<size_t>(w * width / 64)] >> (w * width % 64) << above;
  return is_signed_integer(dtype) ? static_cast<int64_t>(word) >> above : static_cast<int64_t>(word >> above);
}

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

Expected<Combine> choose_combine(const Frame& frame) {
  Combine out;
  const Plan& plan = frame.plan;
  STREW_TRY(check_pairs(plan));
  out.any_order = plan.unique.holds;
  if (plan.pure_move) return out;
  out.way = CombineWay::compute;
  out.any_order |= plan.gather;
  if (plan.gather) return out;
  if (plan.accumulate != Accumulate::native && !plan.unique.holds)
    return unsupported("accumulate is " + std::string(name(plan.accumulate)) +
                       " and updates may meet, which would round in between; unique_indices or accumulate native would allow it");
  // Here every destination has one update at most. Wide accumulation then rounds once, as native accumulation does, if
  // all types are the same.
  const auto dtype_of = [&](int tensor) { return plan.tensors[static_cast<size_t>(tensor)].dtype; };
  if (plan.accumulate != Accumulate::native && !same_types(plan))
    return unsupported(
        fmt::format("accumulate is {} over updates of {}, expected {} as the result has; accumulate native would work",
                    name(plan.accumulate), name(dtype_of(plan.update(0))), name(dtype_of(plan.result(0)))));
  // Scalar arithmetic needs the types of Frame::carrier_type(). An atomic on them would be wrong: a bool travels as i8,
  // and a sum of i8 is not a sum of bools.
  if (frame.one_by_one()) return out;
  const Operator* const combiner = combiner_operator(plan);
  if (combiner == nullptr || combiner->atomic.empty() || !same_types(plan) || has_extras(plan)) return out;
  // All pairs combine in the same way, because they share the index tiles and the loops.
  const std::string atomic(combiner->atomic);
  bool any_order = true;
  for (int pair = 0; pair < plan.pairs; ++pair) {
    const DType dtype = dtype_of(plan.result(pair));
    any_order &= combiner->reorders(dtype);
    const DType moved = frame.carrier_type(dtype);
    if (allows(atomic_legality(atomic), frame.chip, reader_of(frame.options.output), moved)) continue;
    if (allows(atomic_legality(atomic), frame.chip, Reader::headers, moved) && !plan.unique.holds)
      return unsupported(
          fmt::format("atomic {} of {}: {}'s headers have it and ptoas does not let it through; --emit pto-cpp "
                      "would work, or unique_indices",
                      atomic, name(dtype), name(frame.chip)));
    return out;
  }
  out.way = CombineWay::atomic;
  out.atomic = atomic;
  out.any_order = plan.unique.holds || plan.order == Order::relaxed || any_order;
  return out;
}

Expected<Combine> start_combine(Frame& frame, bool atomics) {
  STREW_ASSIGN(Combine combine, choose_combine(frame));
  if (combine.way == CombineWay::assign) return combine;
  if (!atomics) combine.way = CombineWay::compute;
  for (size_t t = 0; t < frame.plan.tensors.size(); ++t) {
    const PlanTensor& tensor = frame.plan.tensors[t];
    const Words& words = frame.words(static_cast<int>(t));
    if (tensor.role == Role::indices || !tensor.bound ||
        (words.count == 1 && words.element.dtype == frame.carrier_type(tensor.dtype)))
      continue;
    const bool by_element = bits(tensor.dtype) == 64 && frame.options.output == Output::pto_as;
    return unsupported(
        fmt::format("arithmetic on {}, which {} only moves; {}f32 would work{}", name(tensor.dtype), name(frame.chip),
                    is_integer(tensor.dtype) ? "i32 or " : "",
                    is_integer(tensor.dtype) && by_element ? ", or another output than pto-as, element by element" : ""));
  }
  if (combine.way != CombineWay::compute) return combine;
  int narrowest = 32;
  bool converts = false;
  for (const ExprNode& node : frame.plan.combine.nodes) {
    narrowest = std::min(narrowest, bits(node.dtype));
    converts |= node.op == ExprOp::convert || through_f32(frame, node);
  }
  if (converts) frame.build.align_tiles(std::max(8, narrowest) / 8);
  return combine;
}

/// The same with scalar instructions, element by element, for combiners that Frame::one_by_one() names.
static Named combine_scalars(Frame& frame, int pair, const CombineTiles& tiles) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.combine.results[static_cast<size_t>(pair)];
  const DType dtype = frame.plan.combine.nodes[static_cast<size_t>(result)].dtype;
  Named into = tiles.current;
  if (into.type.element.dtype != frame.carrier_type(dtype))
    into = b.tile("combined", {frame.carrier_type(dtype), false}, tiles.rows, tiles.cols, tiles.valid_rows, tiles.valid_cols);
  b.note(std::string(name(dtype)) + ": tiles have no arithmetic for this here, scalars have");
  b.loop("each_row", b.number(0), tiles.valid_rows, b.number(1), static_cast<double>(tiles.rows), [&](const Number& row) {
    b.loop("each", b.number(0), tiles.valid_cols, b.number(1), static_cast<double>(tiles.cols), [&](const Number& col) {
      ScalarGraph graph(frame, tiles, row, col);
      const std::string then = graph.run(result).name;
      b.run(Opcode::tsetval, {into.name, graph.place(into), then});
    });
  });
  return into;
}

Expected<Named> write_combine(Frame& frame, int pair, const CombineTiles& tiles) {
  if (frame.one_by_one()) return combine_scalars(frame, pair, tiles);
  return Graph(frame, tiles).run(frame.plan.combine.results[static_cast<size_t>(pair)]);
}

}  // namespace strew::inline v0::pto
