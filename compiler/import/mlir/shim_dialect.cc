// A shim is an empty dialect that accepts unknown operations and types, keeps attributes as text, and gives the parser one hook per
// operation name (shim_forms.h). ParseOpHook is a function_ref, which does not own the function it refers to. So hooks are plain functions,
// and they read the operation's name from its OperationState. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/shim_dialect.h"

#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/DialectImplementation.h>
#include <mlir/IR/OpImplementation.h>

#include <memory>

#include "compiler/import/mlir/shim_forms.h"
#include "compiler/import/stablehlo/dimension_numbers.h"

namespace strew::inline v0 {
namespace {

/// The context looks dialects up by name, so all shims are of one class.
class ShimDialect final : public mlir::Dialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShimDialect)

  ShimDialect(llvm::StringRef name, mlir::MLIRContext* context) : mlir::Dialect(name, context, mlir::TypeID::get<ShimDialect>()) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const override {
    if (getNamespace() == "stablehlo" && holds_dimension_numbers(parser.getFullSymbolSpec()))
      return parse_dimension_numbers(parser);
    return mlir::OpaqueAttr::get(mlir::StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
                                 mlir::NoneType::get(getContext()));
  }

  mlir::Type parseType(mlir::DialectAsmParser& parser) const override {
    return mlir::OpaqueType::get(mlir::StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec());
  }

  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef name) const override { return pretty_form(name); }
};

mlir::Dialect* load_shim(mlir::MLIRContext* context, llvm::StringRef name) {
  const llvm::StringRef kept = mlir::StringAttr::get(context, name).getValue();  // as long as the context
  return context->getOrLoadDialect(kept, mlir::TypeID::get<ShimDialect>(),
                                   [&] { return std::make_unique<ShimDialect>(kept, context); });
}

}  // namespace

void register_shim_dialects(const std::set<std::string>& dialects, mlir::DialectRegistry& registry) {
  std::set<std::string> names{"stablehlo", "chlo", "mhlo", "sdy", "Tensor", "Vector"};
  names.insert(dialects.begin(), dialects.end());
  for (const std::string& name : names)
    if (!registry.getDialectAllocator(name))
      registry.insert(mlir::TypeID::get<ShimDialect>(), name,
                      [name](mlir::MLIRContext* context) { return load_shim(context, name); });
}

}  // namespace strew::inline v0
