// stablehlo.dot_general is opaque, but for a product by a one-hot tensor that is a look-up (compiler/import/fusion/one_hot.h). Tested by
// tests/unit/compiler/import/fusion/one_hot_test.cc.
#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/import/fusion/one_hot.h"
#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"

namespace strew::inline v0 {

Status import_dot_general(Translation& t, mlir::Operation* op) {
  STREW_TRY(check_counts(op, 2));
  STREW_ASSIGN(const TensorType result, result_type(op, 0));
  fusion::Product product{.lhs = t.operand(op, 0), .rhs = t.operand(op, 1), .result = result.dtype};
  // The generic form has one attribute with all lists, the pretty one an attribute for each side of `[1] x [0]`.
  const Attributes attributes(op);
  const auto whole = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attributes.get("dot_dimension_numbers"));
  const auto numbers = whole ? whole.getAs<mlir::DictionaryAttr>("dot") : mlir::DictionaryAttr();
  const auto read = [&](llvm::StringRef name, std::vector<int64_t>& list) {
    const mlir::Attribute given = numbers ? numbers.get(name) : attributes.get(name);
    if (const auto dims = llvm::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(given)) list = dims.asArrayRef().vec();
  };
  read("lhs_contracting_dimensions", product.lhs_contracting);
  read("rhs_contracting_dimensions", product.rhs_contracting);
  read("lhs_batching_dimensions", product.lhs_batching);
  read("rhs_batching_dimensions", product.rhs_batching);
  STREW_ASSIGN(auto lookup, fusion::lookup_of_product(t.out, t.location(op), product));
  if (!lookup) return unsupported("");  // as an operation that no row names
  return t.add_kernel(op, std::move(lookup->gather), {lookup->table, lookup->indices}, /*fixed_policy=*/true);
}

}  // namespace strew::inline v0
