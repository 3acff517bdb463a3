// Most operations are found by name: rows of expr_ops.def have StableHLO's spelling and say whose it is. Only operations with another spelling or
// more than one node have code here. MLIR does not check these operations, since they are unregistered, so verify() checks the graph's dtypes. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_region_test.cc, tests/unit/compiler/import/stablehlo/stablehlo_operations_test.cc and
// tests/unit/compiler/import/stablehlo/stablehlo_module_test.cc.
#include "compiler/import/stablehlo/scalar_op.h"

#include <mlir/IR/BuiltinAttributes.h>

#include "compiler/import/mlir/attributes.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

/// The value of a keyword attribute: LT of "LT" (pretty form) and of #stablehlo<comparison_direction LT>.
llvm::StringRef keyword(mlir::Attribute attribute) {
  if (const auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(attribute)) return text.getValue();
  if (const auto opaque = llvm::dyn_cast_or_null<mlir::OpaqueAttr>(attribute))
    return opaque.getAttrData().rtrim(" >").rsplit(' ').second;
  return {};
}

Status count_is(const std::vector<int32_t>& args, size_t expected) {
  if (args.size() == expected) return {};
  return invalid_argument("{} operands, expected {}", args.size(), expected);
}

Expected<int32_t> add_compare(mlir::Operation* op, const std::vector<int32_t>& args, ExprBuilder& graph) {
  const Attributes attributes(op);
  const llvm::StringRef direction = keyword(attributes.get("comparison_direction")),
                        type = keyword(attributes.get("compare_type"));
  STREW_TRY(count_is(args, 2));
  const DType dtype = graph.dtype(args[0]);
  const bool is_real = is_float(dtype) || is_complex(dtype), is_signed = is_signed_integer(dtype);
  const llvm::StringRef own = is_real ? "FLOAT" : is_signed ? "SIGNED" : "UNSIGNED";
  if (!type.empty() && type != "NOTYPE" && type != own)
    return invalid_argument("compare_type {} on {}, expected {}", type.str(), name(dtype), own.str());
  for (const ExprOp compares : {STREW_OPS_OF(COMPARE)})
    if (direction == llvm::StringRef(info(compares).name).upper()) return graph.apply(compares, args);
  return invalid_argument("comparison_direction '{}', expected EQ, NE, LT, LE, GT or GE", direction.substr(0, 40).str());
}

/// The elementwise operations of StableHLO and CHLO, each with its operator if it is exactly one; names without a dialect are of operators that
/// neither has.
struct ScalarRow {
  llvm::StringRef dialect, name;
  std::optional<ExprOp> op = {};
};
constexpr ScalarRow kRows[] = {
#define STREW_HLO_ROW(op, name, arity, arguments, result, onnx, opset, tflite, hlo, ...) {hlo, name, ExprOp::op},
    STREW_EXPR_OPS(STREW_HLO_ROW)
#undef STREW_HLO_ROW
        {"stablehlo", "compare"},
    {"stablehlo", "clamp"},
};

const ScalarRow* find_row(llvm::StringRef name) {
  const auto [dialect, operation] = name.split('.');
  for (const ScalarRow& row : kRows)
    if (!row.dialect.empty() && row.dialect == dialect && row.name == operation) return &row;
  return nullptr;
}

}  // namespace

std::vector<std::string> scalar_operations() {
  std::vector<std::string> out;
  for (const ScalarRow& row : kRows)
    if (!row.dialect.empty()) out.push_back((row.dialect + "." + row.name).str());
  return out;
}

bool is_scalar_op(llvm::StringRef name) { return find_row(name) != nullptr; }

Expected<int32_t> add_scalar_op(mlir::Operation* op, DType dtype, std::vector<int32_t> args, ExprBuilder& graph) {
  const llvm::StringRef name = op->getName().getStringRef();
  if (op->getNumRegions() != 0) return invalid_argument("has a region, expected none");
  if (name == "stablehlo.compare") return add_compare(op, args, graph);
  if (name == "stablehlo.clamp") {  // minimum(maximum(x, low), high), as the specification defines it
    STREW_TRY(count_is(args, 3));
    const int32_t raised = graph.apply(ExprOp::max, {args[1], args[0]}, dtype);
    return graph.apply(ExprOp::min, {raised, args[2]}, dtype);
  }
  const ScalarRow* const row = find_row(name);
  if (row == nullptr) return invalid_argument("not an elementwise operation");
  STREW_TRY(count_is(args, static_cast<size_t>(info(*row->op).arity)));
  return row->op == ExprOp::convert ? graph.as(args[0], dtype) : graph.apply(*row->op, std::move(args), dtype);
}

}  // namespace strew::inline v0
