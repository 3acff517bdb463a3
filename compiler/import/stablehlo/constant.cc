// stablehlo.constant: its elements are copied into a constant of the imported program. Tested by
// tests/unit/stablehlo_import_test.cc.
#include <fmt/format.h>

#include "compiler/import/mlir/literals.h"
#include "compiler/import/stablehlo/attributes.h"
#include "compiler/import/stablehlo/op_list.h"
#include "compiler/import/stablehlo/shapes.h"
#include "compiler/import/stablehlo/translation.h"

namespace strew::inline v0 {
namespace {

Expected<Constant> read_constant(mlir::Operation* op) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"value"}));
  if (op->getNumOperands() != 0 || op->getNumResults() != 1 || op->getNumRegions() != 0)
    return invalid_argument(
        fmt::format("{} operands and {} results, expected none and 1", op->getNumOperands(), op->getNumResults()));
  STREW_ASSIGN(const TensorType type, result_type(op, 0));
  return constant_from(attributes.get("value"), type);
}

}  // namespace

Status import_constant(Translation& t, mlir::Operation* op) {
  auto constant = read_constant(op);
  if (!constant.ok()) return t.parsed.at(op, constant.status());
  Value value;
  value.kind = ValueKind::constant;
  value.type = constant->type;
  value.index = static_cast<int>(t.out.constants.size());
  t.out.constants.push_back(std::move(*constant));
  t.bind(op->getResult(0), t.add_value(std::move(value)));
  return {};
}

}  // namespace strew::inline v0
