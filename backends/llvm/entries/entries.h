// The entries of a kernel (STREW_ENTRIES of include/strew/abi.h). Each emit_ function adds one entry, an LLVM function called `name`, to a
// module; entries_of() (schedules/entries.h) says which of them a kernel needs. Tested by tests/differential.
#pragma once

#include <string>

#include "backends/backend.h"
#include "backends/halide/can_build/body_signature.h"

namespace llvm {
class Module;
}

namespace strew::inline v0 {

/// `signature`: the window of a position is done by a call of an external body with this signature (external_body.h); null: by loops emitted
/// here.
void emit_range(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);
/// As range, with the schedule's knob nontemporal set.
void emit_stream(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);
/// As range, but does only the part of each window that lies in iterations [w0, w1) of the first window loop and in coordinates [k0, k1) of the
/// operand dim whose index moves that loop (fields of strew_args).
void emit_clip(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);
void emit_check(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_init(llvm::Module& module, const BuildRequest& request, const std::string& name);

void emit_keys(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_merge(llvm::Module& module, const BuildRequest& request, const std::string& name);
void emit_list(llvm::Module& module, const BuildRequest& request, const std::string& name, const BodySignature* signature);

/// Adds the descriptor as a constant. The entries and parts that it points to must be in the module already.
void emit_descriptor(llvm::Module& module, const DescriptorImage& image, const std::string& name);

}  // namespace strew::inline v0
