// stablehlo.reduce as a Compute: over N operands, with `applies stablehlo.OP` or a region of elementwise operations. XLA may reduce in any
// order; the interpreter uses row-major order. Tested by tests/unit/stablehlo_module_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/region.h"
#include "compiler/op/combiner.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// The graph of `current OP update`, for the form `applies stablehlo.OP`.
Expected<Expr> applied(llvm::StringRef name, DType dtype) {
  name.consume_front("stablehlo.");
  for (const CombinerTraits& row : combiner_traits()) {
    if (!row.commutes || name != llvm::StringRef(strew::name(row.op))) continue;
    Expr expr;
    for (const ExprOp op : {ExprOp::current, ExprOp::update, row.op}) {
      ExprNode node;
      node.op = op;
      node.dtype = dtype;
      expr.nodes.push_back(std::move(node));
    }
    expr.nodes[2].args = {0, 1};
    expr.results = {2};
    return expr;
  }
  return invalid_argument(fmt::format("applies '{}', expected add, multiply, minimum, maximum, and, or, xor", name.str()));
}

/// Reads the dtypes of the operands (`inputs`) and of the reduction (`elements`), which are those of the results.
Status read_types(mlir::Operation* op, Compute& compute, std::vector<DType>& elements, std::vector<DType>& inputs) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"applies", "dimensions"}));
  const unsigned n = op->getNumResults();
  if (n == 0 || op->getNumOperands() != 2 * n)
    return invalid_argument(
        fmt::format("{} operands and {} results, expected N inputs, N initial values and N results", op->getNumOperands(), n));
  STREW_ASSIGN(compute.dims, attributes.integers("dimensions"));
  TensorType shape;
  for (unsigned i = 0; i < n; ++i) {
    if (is_quantized(op->getOperand(i).getType()))
      return invalid_argument(fmt::format("operand {} is quantized, expected plain numbers", i));
    STREW_ASSIGN(TensorType input, operand_type(op, i));
    STREW_ASSIGN(const TensorType initial, operand_type(op, n + i));
    STREW_ASSIGN(TensorType result, result_type(op, i));
    if (!initial.dims.empty())
      return invalid_argument(fmt::format("initial value {} has rank {}, expected 0", i, initial.rank()));
    if (i == 0) shape = input;
    STREW_TRY(unify_dims({&shape, &input}, fmt::format("shape of operand {}", i)));
    TensorType kept{result.dtype, {}, {}};
    for (int64_t d = 0; d < input.rank(); ++d)
      if (std::find(compute.dims.begin(), compute.dims.end(), d) == compute.dims.end())
        kept.dims.push_back(input.dims[static_cast<size_t>(d)]);
    STREW_TRY(unify_dims({&kept, &result}, fmt::format("shape of result {}", i)));
    if (initial.dtype != input.dtype)
      return invalid_argument(fmt::format("initial value {} is {}, expected {}", i, name(initial.dtype), name(input.dtype)));
    elements.push_back(result.dtype);
    inputs.push_back(input.dtype);
    compute.results.push_back(std::move(result));
  }
  std::vector<int64_t> sorted = compute.dims;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (twice || (!sorted.empty() && (sorted.front() < 0 || sorted.back() >= shape.rank())))
    return invalid_argument(fmt::format("dimensions, expected each of 0 to {} once at most", shape.rank() - 1));
  compute.op = ComputeOp::reduce;
  return {};
}

Status check_region(mlir::Operation* op, const std::vector<DType>& elements) {
  if (op->getNumRegions() != 1 || !llvm::hasSingleElement(op->getRegion(0)))
    return invalid_argument("body, expected one region of one block");
  mlir::Block& block = op->getRegion(0).front();
  if (block.getNumArguments() != 2 * elements.size())
    return invalid_argument(fmt::format("body has {} arguments, expected {}", block.getNumArguments(), 2 * elements.size()));
  for (size_t i = 0; i < 2 * elements.size(); ++i) {
    STREW_ASSIGN(const TensorType type, tensor_type(block.getArgument(static_cast<unsigned>(i)).getType()));
    const DType expected = elements[i % elements.size()];
    if (type.rank() != 0 || type.dtype != expected)
      return invalid_argument(fmt::format("body argument {} is {}, expected rank 0 of {}", i,
                                          text_of(block.getArgument(static_cast<unsigned>(i)).getType()), name(expected)));
  }
  return {};
}

/// Checks the graph, and that it returns the dtypes of the results.
Status check_function(const Compute& compute) {
  const Expr& function = compute.function;
  if (function.results.size() != compute.results.size())
    return invalid_argument(fmt::format("body returns {} values, expected {}", function.results.size(), compute.results.size()));
  const int n = static_cast<int>(compute.results.size());
  STREW_TRY(verify(function, n, n, 0));
  for (size_t i = 0; i < function.results.size(); ++i) {
    const DType got = function.nodes[static_cast<size_t>(function.results[i])].dtype;
    if (got != compute.results[i].dtype)
      return invalid_argument(
          fmt::format("body returns {} as value {}, expected {}", name(got), i, name(compute.results[i].dtype)));
  }
  return {};
}

}  // namespace

Status import_reduce(Translation& t, mlir::Operation* op) {
  Compute compute;
  std::vector<DType> elements, inputs;
  STREW_TRY(t.parsed.at(op, read_types(op, compute, elements, inputs)));
  if (const auto name = llvm::dyn_cast_or_null<mlir::StringAttr>(Attributes(op).get("applies"))) {
    if (elements.size() != 1 || elements != inputs)
      return t.parsed.fail(op, "applies one operation, expected one input of the result's type");
    auto function = applied(name.getValue(), elements[0]);
    if (!function.ok()) return t.parsed.at(op, function.status());
    compute.function = std::move(*function);
  } else {
    STREW_TRY(t.parsed.at(op, check_region(op, elements)));
    STREW_ASSIGN(compute.function, region_to_expr(t, op->getRegion(0), elements, inputs));
  }
  STREW_TRY(t.parsed.at(op, check_function(compute)));
  return t.add_compute(op, std::move(compute));
}

}  // namespace strew::inline v0
