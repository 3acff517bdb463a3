// Integers that tiles have no arithmetic for: 64 bits, truth values, conversions, what a chip's tiles or ptoas lack. Each element is read from its
// tile, goes through the combiner's graph on the scalar unit, and is written back: slow, and right everywhere. Unsigned numbers travel as
// signed ones of their width; what depends on the sign says so by its instruction. Truth values are bytes of 0 and 1.
// Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <map>

#include "backends/pto/combine.h"
#include "backends/pto/operators.h"
#include "compiler/pto/types.h"

namespace strew::pto {
namespace {

class ScalarGraph {
 public:
  ScalarGraph(Frame& frame, const CombineTiles& tiles, const Number& row, const Number& col)
      : frame_(frame), tiles_(tiles), row_(row), col_(col), values_(frame.plan.combine.nodes.size()) {}

  Named value(int node) {
    Named& known = values_[static_cast<size_t>(node)];
    if (known.name.empty()) {
      const Named made = make(frame_.plan.combine.nodes[static_cast<size_t>(node)]);
      values_[static_cast<size_t>(node)] = made;
    }
    return values_[static_cast<size_t>(node)];
  }

  /// The element's place in a tile: rows of tiles are as long as their types make them.
  std::string place(const Named& tile) {
    const auto [found, fresh] = places_.try_emplace(tile.type.dims[1]);
    if (fresh) {
      ProgramBuilder& b = frame_.build;
      found->second = b.add(b.mul(row_, b.number(tile.type.dims[1]), "row_start"), col_, "place");
    }
    return frame_.build.use(found->second);
  }

 private:
  Type type(DType dtype) const { return make_scalar(frame_.travels(dtype)); }
  Named element(const char* hint, const Named& from) {
    if (from.type.kind != TypeKind::tile) return from;
    Type number = make_scalar(from.type.element.dtype);
    return frame_.build.give(Opcode::tgetval, hint, std::move(number), {from.name, place(from)});
  }

  Named make(const ExprNode& node) {
    ProgramBuilder& b = frame_.build;
    switch (node.op) {
      case ExprOp::current:
        return element("now", tiles_.current);
      case ExprOp::update:
        return element("by", tiles_.update);
      case ExprOp::extra:
        return element("extra", tiles_.extras[static_cast<size_t>(node.index)]);
      case ExprOp::literal:
        return b.constant({frame_.travels(node.dtype), false}, literal_value(frame_, node));
      case ExprOp::convert:
        return convert(node);
      default:
        break;
    }
    const Operator& row = *find_operator(node.dtype == DType::boolean ? of_truth(node.op) : node.op);
    const Named a = value(node.args[0]), c = value(node.args[1]);
    const bool is_signed = is_signed_integer(node.dtype);
    return b.give(is_signed ? *row.number : *row.unsigned_number, "then", type(node.dtype), {a.name, c.name});
  }

  /// Sums and maxima of truth values are `or`, products and minima `and`.
  static ExprOp of_truth(ExprOp op) {
    if (op == ExprOp::add || op == ExprOp::max) return ExprOp::bit_or;
    return op == ExprOp::mul || op == ExprOp::min ? ExprOp::bit_and : op;
  }

  Named convert(const ExprNode& node) {
    const DType from = frame_.plan.combine.nodes[static_cast<size_t>(node.args[0])].dtype;
    const Named a = value(node.args[0]);
    const int change = bits(node.dtype) - bits(from);
    if (change == 0) return a;
    const Opcode opcode = change < 0 ? Opcode::trunci : is_signed_integer(from) ? Opcode::extsi : Opcode::extui;
    return frame_.build.give(opcode, "as_" + std::string(name(node.dtype)), type(node.dtype), {a.name});
  }

  Frame& frame_;
  const CombineTiles& tiles_;
  const Number &row_, &col_;
  std::vector<Named> values_;
  std::map<int64_t, Number> places_;
};

}  // namespace

Expected<Named> combine_scalars(Frame& frame, int pair, const CombineTiles& tiles) {
  ProgramBuilder& b = frame.build;
  const int result = frame.plan.combine.results[static_cast<size_t>(pair)];
  const DType dtype = frame.plan.combine.nodes[static_cast<size_t>(result)].dtype;
  Named into = tiles.current;
  if (into.type.element.dtype != frame.travels(dtype))
    into = b.tile("combined", {frame.travels(dtype), false}, tiles.rows, tiles.cols, tiles.valid_rows, tiles.valid_cols);
  b.note(std::string(name(dtype)) + ": tiles have no arithmetic for this here, scalars have");
  b.loop("each_row", b.number(0), tiles.valid_rows, b.number(1), static_cast<double>(tiles.rows), [&](const Number& row) {
    b.loop("each", b.number(0), tiles.valid_cols, b.number(1), static_cast<double>(tiles.cols), [&](const Number& col) {
      ScalarGraph graph(frame, tiles, row, col);
      const std::string then = graph.value(result).name;
      b.run(Opcode::tsetval, {into.name, graph.place(into), then});
    });
  });
  return into;
}

}  // namespace strew::pto
