// The exported function of libstrew_llvm, strew_llvm_module(), and the builds behind it: a request becomes LLVM IR, the IR an object. This file
// is the folder's table of contents: emit() shows which entry is emitted where. Each build has its own LLVMContext, so builds on several threads
// share nothing. Tested by tests/unit/backends/kernel_test.cc and tests/differential.
#include "base/module.h"

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <optional>

#include "backends/descriptor.h"
#include "backends/llvm/codegen/codegen.h"
#include "backends/llvm/codegen/failures.h"
#include "backends/llvm/codegen/link_bitcode.h"
#include "backends/llvm/entries/entries.h"
#include "backends/llvm/link/link.h"
#include "backends/llvm/link/object_file.h"
#include "backends/lower/walk.h"
#include "backends/modules.h"
#include "backends/object_checksum.h"
#include "base/headroom.h"
#include "base/own_stack.h"
#include "strew/export.h"

namespace strew::inline v0 {

namespace {

/// Emits the entries of a request into `module` and optimises them. `body`: the entries range, list and clip call this external body; null:
/// they have loops of their own.
Status emit(llvm::Module& module, const BuildRequest& request, const ExternalBodyCode* body) {
  STREW_TRY(prepare(module, request.target));
  std::optional<ExternalCode> external;
  if (body != nullptr) external.emplace(ExternalCode{body->signature, request.symbol});
  lowered::Kernel kernel = lowered::lower_kernel(request.plan, request.schedule);
  lowered::run_passes(kernel, request.target);
  for (const lowered::Entry& entry : kernel.entries) {
    // With the strategies that divide destinations among owners, clip runs only for rows that many updates share, so it may use the loops emitted
    // by LLVM. The external body then never gets a cut window, and may have the window's length as a constant.
    const bool has_body = external && !(entry.kind == EntryKind::clip && traits_of(request.schedule.strategy).has_owners());
    emit_entry(module, {kernel, entry, request.target, request.symbol + "_" + std::string(name(entry.kind)),
                        has_body ? &*external : nullptr});
  }
  if (body != nullptr) {
    // A run whose length is not a constant of the body is unrolled here. Halide could unroll it, but would guard
    // every vector by a condition.
    const bool known = body->signature.fixed.empty() || body->signature.fixed.back();
    STREW_TRY(link_bitcode(module, body->bitcode, known ? 1 : request.schedule.unroll));
  }
  return optimise(module, request.target, /*has_bitcode=*/body != nullptr);
}

/// The IR of one build. If an exception leaves LLVM in the midst of a build, the IR is leaked (Leaked, leak_machine).
struct Build {
  explicit Build(const std::string& symbol) : module(symbol, context) { throw_errors_of(context); }
  llvm::LLVMContext context;
  llvm::Module module;
};

/// Returns function(module) for a new module. Exceptions of LLVM, and too little memory for a build, become a Status.
template <class Function>
auto with_module(const std::string& name, const Function& function) -> decltype(function(std::declval<llvm::Module&>())) {
  constexpr std::string_view kWhat = "backend llvm";
  STREW_TRY(check_headroom(kWhat, kBuildBytes, kBuildMappings));
  bool finished = false;
  auto answer = catching(kWhat, [&] {
    const Leaked<Build> build(name);
    auto made = function(build->module);
    finished = true;
    return made;
  });
  if (!finished) leak_machine();
  return answer;
}

/// The symbol of a request's descriptor.
std::string descriptor_symbol(const BuildRequest& request) { return request.symbol + (request.is_packed ? kPackedSuffix : ""); }

/// Makes every symbol internal but the descriptor's. Entries and parts keep their names, for debuggers and perf. For a kernel library the
/// descriptor and the kernel's own entries are hidden: its other objects refer to them.
void hide(llvm::Module& module, const BuildRequest& request) {
  const std::string descriptor = descriptor_symbol(request);
  const auto is_own_entry = [&](llvm::StringRef name) { return request.parts.empty() && name.starts_with(request.symbol + "_"); };
  for (llvm::GlobalValue& value : module.global_values()) {
    if (!value.hasExternalLinkage() || value.isDeclaration()) continue;
    if (request.is_packed && (value.getName() == descriptor || is_own_entry(value.getName())))
      value.setVisibility(llvm::GlobalValue::HiddenVisibility);
    else if (value.getName() != descriptor)
      value.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

/// Emits every unit, and the descriptors, into `module`. Units after the first are emitted in modules of their own, which are then linked into
/// it.
Status emit_all(llvm::Module& module, const BuildRequest& request, std::span<const ObjectUnit> units) {
  for (size_t i = 0; i < units.size(); ++i) {
    if (i == 0) {
      STREW_TRY(emit(module, units[i].request, units[i].body));
      continue;
    }
    auto other = std::make_unique<llvm::Module>(units[i].request.symbol, module.getContext());
    STREW_TRY(emit(*other, units[i].request, units[i].body));
    if (llvm::Linker::linkModules(module, std::move(other)))
      return internal_error("backend llvm: the parts of " + request.symbol + " do not link");
  }
  const auto describe = [&](const BuildRequest& each) {
    if (each.descriptor != nullptr) emit_descriptor(module, *each.descriptor, descriptor_symbol(each));
  };
  for (const BuildRequest& part : request.parts) describe(part);
  describe(request);
  if (request.descriptor != nullptr) hide(module, request);
  return {};
}

/// The bytes of the object's file.
Expected<std::string> generate_object(llvm::Module& module, const Target& target) {
  STREW_ASSIGN(std::string object, generate(module, target, CodegenOutput::object));
  return with_checksum(std::move(object));
}

/// Returns function(module) for a new module with every unit. LLVM recurses over the values of a function, as deep as the op's expression, so that
/// decides how much stack it gets.
template <class T, class Function>
Expected<T> with_units(const BuildRequest& request, std::span<const ObjectUnit> units, const Function& function) {
  size_t nodes = 0;
  for (const ObjectUnit& unit : units) nodes = std::max(nodes, node_count(unit.request.plan));
  return with_stack<T>(compiler_stack_bytes(nodes), [&] {
    return with_module(request.symbol, [&](llvm::Module& module) -> Expected<T> {
      STREW_TRY(emit_all(module, request, units));
      return function(module);
    });
  });
}

Expected<Artifact> build(const BuildRequest& request, std::span<const ObjectUnit> units) {
  return with_units<Artifact>(request, units, [&](llvm::Module& module) -> Expected<Artifact> {
    Artifact artifact;
    STREW_ASSIGN(artifact.object, generate_object(module, request.target));
    return artifact;
  });
}

Expected<std::string> emit_text(const BuildRequest& request, std::span<const ObjectUnit> units, std::string_view kind) {
  return with_units<std::string>(request, units, [&](llvm::Module& module) -> Expected<std::string> {
    if (kind == "asm") return generate(module, request.target, CodegenOutput::assembly);
    if (kind != "ll") return unsupported("--emit " + std::string(kind) + ": the llvm backend emits ll, asm and obj");
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return text;
  });
}

/// Declares the hidden symbols of a kernel library's other objects that a constant refers to, and emits the constant.
void emit_with_declarations(llvm::Module& module, const DescriptorImage& image, const std::string& name) {
  for (const auto* const list : {&image.externals, &image.distances})
    for (const DescriptorImage::External& external : *list) {
      if (module.getNamedValue(external.symbol) != nullptr) continue;
      auto* const declared = new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(module.getContext()), /*isConstant=*/true,
                                                      llvm::GlobalValue::ExternalLinkage, nullptr, external.symbol);
      declared->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
  emit_descriptor(module, image, name);
}

Expected<std::string> emit_constant(const DescriptorImage& image, const std::string& name, const Target& target) {
  return with_module(name, [&](llvm::Module& module) -> Expected<std::string> {
    STREW_TRY(prepare(module, target));
    emit_with_declarations(module, image, name);
    return generate_object(module, target);
  });
}

/// The hidden constant of the registry that is exported as `name`.
std::string registry_symbol(const std::string& name) { return name + "_registry"; }

Expected<std::string> emit_registry(const DescriptorImage& image, const std::string& name, uint32_t version,
                                    const Target& target) {
  return with_module(name, [&](llvm::Module& module) -> Expected<std::string> {
    STREW_TRY(prepare(module, target));
    const std::string constant = registry_symbol(name);
    emit_with_declarations(module, image, constant);
    llvm::GlobalValue* const registry = module.getNamedValue(constant);
    registry->setVisibility(llvm::GlobalValue::HiddenVisibility);
    llvm::Type *const number = llvm::Type::getInt32Ty(module.getContext()), *const pointer = registry->getType();
    auto* const query = llvm::Function::Create(llvm::FunctionType::get(pointer, {number}, false),
                                               llvm::GlobalValue::ExternalLinkage, name, module);
    query->setDoesNotThrow();
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", query));
    llvm::Value* const is_this = builder.CreateICmpEQ(query->getArg(0), llvm::ConstantInt::get(number, version));
    builder.CreateRet(builder.CreateSelect(is_this, registry, llvm::Constant::getNullValue(pointer)));
    return generate_object(module, target);
  });
}

/// One function for each kernel, which passes TVM-FFI's arguments on with the library's registry and the place of its context; and a destructor, which
/// frees the context when the library is unloaded.
Expected<std::string> emit_tvm_ffi(const std::vector<std::string>& kernels, const std::string& registry, const Target& target) {
  return with_module(registry + "_tvm_ffi", [&](llvm::Module& module) -> Expected<std::string> {
    STREW_TRY(prepare(module, target));
    using llvm::FunctionType, llvm::Function, llvm::GlobalValue, llvm::GlobalVariable;
    llvm::IRBuilder<> builder(module.getContext());
    llvm::Type *const number = builder.getInt32Ty(), *const pointer = builder.getPtrTy();
    auto* const library =
        new GlobalVariable(module, builder.getInt8Ty(), true, GlobalValue::ExternalLinkage, nullptr, registry_symbol(registry));
    library->setVisibility(GlobalValue::HiddenVisibility);
    auto* const context = new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage,
                                             llvm::ConstantPointerNull::get(builder.getPtrTy()), "context");
    const llvm::FunctionCallee call = module.getOrInsertFunction(
        "strew_tvm_ffi_call", FunctionType::get(number, {pointer, pointer, number, pointer, number, pointer}, false));
    // TVMFFISafeCallType: int(void* handle, const TVMFFIAny* args, int32_t count, TVMFFIAny* result)
    FunctionType* const safe_call = FunctionType::get(number, {pointer, pointer, number, pointer}, false);
    for (size_t k = 0; k < kernels.size(); ++k) {
      Function* const made = Function::Create(safe_call, GlobalValue::ExternalLinkage, "__tvm_ffi_" + kernels[k], module);
      builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", made));
      llvm::CallInst* const passed_on = builder.CreateCall(call, {context, library, builder.getInt32(static_cast<uint32_t>(k)),
                                                                  made->getArg(1), made->getArg(2), made->getArg(3)});
      passed_on->setTailCall();
      builder.CreateRet(passed_on);
    }
    Function* const unload =
        Function::Create(FunctionType::get(builder.getVoidTy(), false), GlobalValue::InternalLinkage, "unload", module);
    builder.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", unload));
    builder.CreateCall(
        module.getOrInsertFunction("strew_tvm_ffi_close", FunctionType::get(builder.getVoidTy(), {pointer}, false)), {context});
    builder.CreateRetVoid();
    // LLVM's own list of destructors becomes the section .dtors, which not every linker makes the loader call.
    auto* const destructor = new GlobalVariable(module, pointer, false, GlobalValue::InternalLinkage, unload, "destructor");
    destructor->setSection(".fini_array");
    llvm::appendToCompilerUsed(module, {destructor});
    return generate_object(module, target);
  });
}

}  // namespace
}  // namespace strew::inline v0

extern "C" STREW_API const strew::LlvmModule* strew_llvm_module() {
  strew::install_llvm_handlers();
  static const strew::LlvmModule module = {strew::kModuleVersion,    strew::build,        strew::emit_text,
                                           strew::link_symbols,      strew::link_file,    strew::emit_constant,
                                           strew::emit_registry,     strew::emit_tvm_ffi, strew::read_archive,
                                           strew::undefined_symbols, strew::write_archive};
  return &module;
}
