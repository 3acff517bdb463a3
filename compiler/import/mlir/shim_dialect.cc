// A shim is an empty dialect that accepts unknown operations and types, keeps attributes as text, and gives the parser one hook per
// operation name (shim_forms.h). ParseOpHook is a function_ref, which does not own the function it refers to. So hooks are plain functions,
// and they read the operation's name from its OperationState. Tested by tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc.
#include "compiler/import/mlir/shim_dialect.h"

#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/DialectImplementation.h>
#include <mlir/IR/OpImplementation.h>

#include <memory>

#include "compiler/import/mlir/boundary_form.h"
#include "compiler/import/mlir/shim_forms.h"
#include "compiler/import/tensor/forms.h"

namespace strew::inline v0 {
namespace {

class ShimDialect : public mlir::Dialect {
 public:
  ShimDialect(llvm::StringRef name, mlir::MLIRContext* context, mlir::TypeID id) : mlir::Dialect(name, context, id) {
    allowUnknownOperations();
    allowUnknownTypes();
  }

  mlir::Attribute parseAttribute(mlir::DialectAsmParser& parser, mlir::Type) const override {
    return mlir::OpaqueAttr::get(mlir::StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec(),
                                 mlir::NoneType::get(getContext()));
  }

  mlir::Type parseType(mlir::DialectAsmParser& parser) const override {
    return mlir::OpaqueType::get(mlir::StringAttr::get(getContext(), getNamespace()), parser.getFullSymbolSpec());
  }

  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef name) const override { return pretty_form(name); }
};

class StablehloShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StablehloShim)
  static llvm::StringRef getDialectNamespace() { return "stablehlo"; }
  explicit StablehloShim(mlir::MLIRContext* c) : ShimDialect(getDialectNamespace(), c, mlir::TypeID::get<StablehloShim>()) {}
};

class ChloShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloShim)
  static llvm::StringRef getDialectNamespace() { return "chlo"; }
  explicit ChloShim(mlir::MLIRContext* c) : ShimDialect(getDialectNamespace(), c, mlir::TypeID::get<ChloShim>()) {}
};

class MhloShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MhloShim)
  static llvm::StringRef getDialectNamespace() { return "mhlo"; }
  explicit MhloShim(mlir::MLIRContext* c) : ShimDialect(getDialectNamespace(), c, mlir::TypeID::get<MhloShim>()) {}
};

class SdyShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SdyShim)
  static llvm::StringRef getDialectNamespace() { return "sdy"; }
  explicit SdyShim(mlir::MLIRContext* c) : ShimDialect(getDialectNamespace(), c, mlir::TypeID::get<SdyShim>()) {}
};

class TensorShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TensorShim)
  static llvm::StringRef getDialectNamespace() { return "tensor"; }
  explicit TensorShim(mlir::MLIRContext* c) : ShimDialect(getDialectNamespace(), c, mlir::TypeID::get<TensorShim>()) {}
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef name) const override { return tensor_form(name); }
};

/// A dialect none of whose operations is read, but for linalg.fill: all have the boundary form.
class BoundaryShim final : public ShimDialect {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BoundaryShim)
  BoundaryShim(llvm::StringRef name, mlir::MLIRContext* c) : ShimDialect(name, c, mlir::TypeID::get<BoundaryShim>()) {}
  std::optional<ParseOpHook> getParseOperationHook(llvm::StringRef) const override { return ParseOpHook(boundary_form); }
};

/// The context looks dialects up by name, so shims of several names may be of one class.
mlir::Dialect* load_boundary(mlir::MLIRContext* context, llvm::StringRef name) {
  const llvm::StringRef kept = mlir::StringAttr::get(context, name).getValue();  // as long as the context
  return context->getOrLoadDialect(kept, mlir::TypeID::get<BoundaryShim>(),
                                   [&] { return std::make_unique<BoundaryShim>(kept, context); });
}

}  // namespace

void load_shim_dialects(mlir::MLIRContext& context) {
  context.loadDialect<StablehloShim, ChloShim, MhloShim, SdyShim, TensorShim>();
}

void register_boundary_dialects(const std::set<std::string>& dialects, mlir::MLIRContext& context,
                                mlir::DialectRegistry& registry) {
  for (const std::string& name : dialects) {
    if (context.getLoadedDialect(name) != nullptr || registry.getDialectAllocator(name)) continue;
    registry.insert(mlir::TypeID::get<BoundaryShim>(), name,
                    [name](mlir::MLIRContext* loader) { return load_boundary(loader, name); });
  }
}

}  // namespace strew::inline v0
