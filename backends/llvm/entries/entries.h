// The entries of a kernel (include/strew/abi.h), each one function added to a module.
#pragma once

#include <string>

#include "backends/backend.h"
#include "backends/halide/can_build/body_signature.h"

namespace llvm {
class Module;
}

namespace strew {

/// `signature`: windows are done by loops of that signature, made by another compiler; null: here.
void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);
/// As range, but of each window only what falls into [w0, w1) of the first loop and [k0, k1) of the operand dim that moves it.
void emit_clip(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);
void emit_check(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_init(llvm::Module& module, const BuildRequest& request, const std::string& name);

void emit_keys(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_merge(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_list(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);

/// The descriptor as a constant of the module, after the entries and parts that it points to.
void emit_descriptor(llvm::Module& module, const DescriptorImage& image, const std::string& name);

}  // namespace strew
