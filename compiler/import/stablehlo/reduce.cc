// stablehlo.reduce as a Compute: over N operands, with `applies stablehlo.OP` or a region of elementwise operations. XLA may reduce in any
// order; the interpreter uses row-major order. Tested by tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc.
#include <mlir/IR/BuiltinAttributes.h>

#include <algorithm>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/region.h"
#include "compiler/op/combiner.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The graph of `current OP update`, for the form `applies stablehlo.OP`.
Expected<Expr> applied(llvm::StringRef name, DType dtype) {
  name.consume_front("stablehlo.");
  for (const CombinerTraits& row : combiner_traits())
    if (row.commutes && name == llvm::StringRef(strew::name(row.op))) return reducer(row.op, dtype);
  return invalid_argument("applies '{}', expected add, multiply, minimum, maximum, and, or, xor", name.str());
}

/// Reads the dtypes of the operands (`inputs`) and of the reduction (`elements`), which are those of the results.
Status read_types(mlir::Operation* op, std::vector<DType>& elements, std::vector<DType>& inputs) {
  STREW_TRY(Attributes(op).only({"applies", "dimensions"}));
  const unsigned n = op->getNumResults();
  if (n == 0 || op->getNumOperands() != 2 * n)
    return invalid_argument("{} operands and {} results, expected N inputs, N initial values and N results", op->getNumOperands(),
                            n);
  for (unsigned i = 0; i < n; ++i) {
    if (is_quantized(op->getOperand(i).getType())) return invalid_argument("operand {} is quantized, expected plain numbers", i);
    STREW_ASSIGN(const TensorType input, operand_type(op, i));
    STREW_TRY(operand_type(op, n + i).status());
    STREW_ASSIGN(const TensorType result, result_type(op, i));
    elements.push_back(result.dtype);
    inputs.push_back(input.dtype);
  }
  return {};
}

Status check_region(mlir::Operation* op, const std::vector<DType>& elements) {
  STREW_ASSIGN(mlir::Block * block, only_block(op, "body", 2 * elements.size()));
  for (unsigned i = 0; i < block->getNumArguments(); ++i) {
    const mlir::Type argument = block->getArgument(i).getType();
    STREW_ASSIGN(const TensorType type, tensor_type(argument));
    const DType expected = elements[i % elements.size()];
    if (type.rank() != 0 || type.dtype != expected)
      return invalid_argument("body argument {} is {}, expected rank 0 of {}", i, text_of(argument), name(expected));
  }
  return {};
}

Expected<Expr> read_function(Translation& t, mlir::Operation* op) {
  std::vector<DType> elements, inputs;
  STREW_TRY(read_types(op, elements, inputs));
  if (const auto name = llvm::dyn_cast_or_null<mlir::StringAttr>(Attributes(op).get("applies"))) {
    if (elements.size() != 1 || elements != inputs)
      return invalid_argument("applies one operation, expected one input of the result's type");
    return applied(name.getValue(), elements[0]);
  }
  STREW_TRY(check_region(op, elements));
  return region_to_expr(t, op->getRegion(0), elements, inputs);
}

}  // namespace

Status import_reduce(Translation& t, mlir::Operation* op) {
  STREW_ASSIGN(Expr function, read_function(t, op));
  OpReader reader(t, op);
  STREW_ASSIGN(std::vector<int64_t> dims, reader.attributes.integers("dimensions"));
  std::vector<int> inputs = reader.operands();
  const std::vector<int> initials(inputs.begin() + static_cast<std::ptrdiff_t>(inputs.size() / 2), inputs.end());
  inputs.resize(initials.size());
  STREW_ASSIGN(const std::vector<int> results, reader.build.reduce(std::move(function), inputs, initials, std::move(dims)));
  return bind_results(t, reader.build, op, results);
}

}  // namespace strew::inline v0
