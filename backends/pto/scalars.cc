// combine_scalars(): combines integers for which there are no tile instructions: 64-bit integers, bools, conversions
// between integers, and whatever the chip's tiles or ptoas lack. Each element is read from its tile, the scalar unit
// evaluates the combiner's expression graph for it, and the result is written back to the tile. This is slow, and
// available on every chip. Unsigned numbers are moved as signed ones of the same width; operators that depend on the
// sign have different instructions for the two. Bools are bytes of 0 and 1. Tested by tests/golden/pto_program_test.cc
// and tests/differential/npu.
#include <algorithm>
#include <map>

#include "backends/pto/combine.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

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

Expected<Named> combine_scalars(Frame& frame, int pair, const CombineTiles& tiles) {
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

}  // namespace strew::inline v0::pto
