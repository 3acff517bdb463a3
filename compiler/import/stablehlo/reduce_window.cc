// stablehlo.reduce_window that is a scan: along one dim the window of each element holds it and all elements before it (padding [n-1, 0]) or
// after it ([0, n-1]). What else a window sees are copies of the initial value in front of the first element, so it must not matter how often
// that is used: `init op init` is init. Windows are reduced from their first element on, so a scan from the end has the same bits only where
// the order does not matter. Tested by tests/unit/compiler/import/stablehlo/stablehlo_dynamic_test.cc.
#include <mlir/IR/BuiltinAttributes.h>

#include "base/number.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/region.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// A list of `rank` numbers, or ones if the attribute is absent.
Expected<std::vector<int64_t>> list_or_ones(const Attributes& attributes, llvm::StringRef name, int rank) {
  if (!attributes.get(name)) return std::vector<int64_t>(static_cast<size_t>(rank), 1);
  return attributes.integers(name);
}

/// The numbers of `padding`: low and high of each dim.
Expected<std::vector<int64_t>> padding_of(const Attributes& attributes, int rank) {
  std::vector<int64_t> out(2 * static_cast<size_t>(rank), 0);
  const mlir::Attribute found = attributes.get("padding");
  if (!found) return out;
  const auto dense = llvm::dyn_cast<mlir::DenseIntElementsAttr>(found);
  if (!dense || !dense.getElementType().isInteger(64) || dense.getNumElements() != static_cast<int64_t>(out.size()))
    return invalid_argument("attribute 'padding', expected dense<...> : tensor<{}x2xi64>", rank);
  size_t i = 0;
  for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) out[i++] = value.getSExtValue();
  return out;
}

constexpr std::string_view kExpected = "expected a window of an element and all before it, or all after it, along one dim";

struct Window {
  int64_t dim = 0;  ///< the only one along which it has more than one element
  bool reverse = false;
};

Expected<Window> read_window(const Attributes& attributes, const TensorType& operand) {
  STREW_TRY(attributes.only({"window_dimensions", "window_strides", "base_dilations", "window_dilations", "padding"}));
  const int rank = operand.rank();
  STREW_ASSIGN(const std::vector<int64_t> window, attributes.integers("window_dimensions"));
  STREW_ASSIGN(const std::vector<int64_t> padding, padding_of(attributes, rank));
  for (const llvm::StringRef name : {"window_strides", "base_dilations", "window_dilations"}) {
    STREW_ASSIGN(const std::vector<int64_t> list, list_or_ones(attributes, name, rank));
    if (list != std::vector<int64_t>(static_cast<size_t>(rank), 1))
      return invalid_argument("{} other than 1, {}", name.str(), kExpected);
  }
  if (window.size() != operand.dims.size()) return invalid_argument("window_dimensions, expected {} entries", rank);
  int64_t along = -1, low = 0;
  for (size_t d = 0; d < window.size(); ++d) {
    const int64_t before = padding[2 * d], after = padding[2 * d + 1];
    if (window[d] == 1 && before == 0 && after == 0) continue;
    const bool is_scan = operand.dims[d] != kDynamic && window[d] == operand.dims[d] &&
                         ((before == window[d] - 1 && after == 0) || (before == 0 && after == window[d] - 1));
    if (!is_scan || along >= 0)
      return invalid_argument("dim {} has a window of {} and padding [{}, {}], {}", d, window[d], before, after, kExpected);
    along = static_cast<int64_t>(d);
    low = before;
  }
  if (along < 0) return invalid_argument("a window of one element, {}", kExpected);
  return Window{along, low == 0};
}

/// May the initial value be used any number of times?
Status check_initial(const Program& program, int initial, ExprOp function) {
  if (function == ExprOp::max || function == ExprOp::min || function == ExprOp::bit_and || function == ExprOp::bit_or) return {};
  const DType dtype = program.type(initial).dtype;
  const Constant* const value = program.constant_of(initial);
  const bool is_sum = function == ExprOp::add;
  if (value != nullptr && !is_complex(dtype) && (is_sum || function == ExprOp::mul) &&
      load_element(dtype, value->data.data(), 0) == Scalar::of(dtype, is_sum ? 0 : 1))
    return {};
  return invalid_argument("the initial value of {}, expected the one that changes nothing, as a constant", name(dtype));
}

}  // namespace

Expected<int> read_reduce_window(OpReader& r) {
  mlir::Operation* const op = r.op();
  if (op->getNumOperands() != 2 || op->getNumResults() != 1)
    return invalid_argument("{} operands and {} results, expected 2 and 1", op->getNumOperands(), op->getNumResults());
  STREW_ASSIGN(mlir::Block * block, only_block(op, "body", 2));
  for (const mlir::Type type : op->getOperandTypes()) STREW_TRY(same_element(type, r.result_type(), "result"));
  STREW_ASSIGN(TensorType operand, operand_type(op, 0));
  STREW_ASSIGN(const TensorType initial, operand_type(op, 1));
  STREW_ASSIGN(const TensorType result, result_type(op, 0));
  STREW_TRY(unify_dims(operand.dims, result.dims, "shape of the result"));
  if (initial.rank() != 0) return invalid_argument("initial value of rank {}, expected 0", initial.rank());
  if (is_quantized(r.operand_type(0))) return invalid_argument("the operand is quantized, expected plain numbers");
  STREW_ASSIGN(const Window window, read_window(r.attributes, operand));
  for (const mlir::Type type : block->getArgumentTypes())
    if (type != r.operand_type(1))
      return invalid_argument("body argument {}, expected {}", text_of(type), text_of(r.operand_type(1)));
  STREW_ASSIGN(Expr function, region_to_expr(r.translation(), op->getRegion(0), {operand.dtype}, {operand.dtype}));
  STREW_TRY(verify(function, 1, 1, 0));
  const std::vector<ExprNode>& nodes = function.nodes;
  const bool is_plain = nodes.size() == 3 && nodes[0].op == ExprOp::current && nodes[1].op == ExprOp::update &&
                        nodes[2].args.size() == 2 && nodes[2].args[0] != nodes[2].args[1] &&
                        function.results == std::vector<int32_t>{2} && nodes[2].dtype == operand.dtype;
  if (!is_plain) return invalid_argument("a body of several operations, expected one");
  STREW_TRY(check_initial(r.translation().out, r.operand(1), nodes[2].op));
  if (window.reverse && nodes[2].op != ExprOp::max && nodes[2].op != ExprOp::min && !is_integer(operand.dtype))
    return invalid_argument("a window of all after an element of {}, whose order matters", name(operand.dtype));
  return r.build.scan(std::move(function), r.operand(0), r.operand(1), window.dim, {.reverse = window.reverse});
}

}  // namespace strew::inline v0
