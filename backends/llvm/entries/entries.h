// The entries of a kernel (STREW_ENTRIES of include/strew/abi.h), as the lowered kernel (backends/lower/kernel.h) describes them. Tested by
// tests/differential.
#pragma once

#include <string>

#include "backends/halide/can_build/body_signature.h"
#include "backends/lower/kernel.h"

namespace llvm {
class Module;
}

namespace strew::inline v0 {

struct DescriptorImage;

/// An external body (external_body.h) that does the windows of the entries range, stream and list, and of clip where no owners share a window.
struct ExternalCode {
  const BodySignature& signature;
  const std::string& symbol;  ///< of the kernel; the body's function is named after it
};

struct EntryRequest {
  const lowered::Kernel& kernel;
  const lowered::Entry& entry;
  const Target& target;
  std::string symbol;                      ///< of the entry's function
  const ExternalCode* external = nullptr;  ///< null: windows are done by loops emitted here
};

/// Adds the entry, an LLVM function, to the module.
void emit_entry(llvm::Module& module, const EntryRequest& request);

// Called by emit_entry().
void emit_positions(llvm::Module& module, const EntryRequest& request);  ///< range, stream and clip
void emit_check(llvm::Module& module, const EntryRequest& request);
void emit_init(llvm::Module& module, const EntryRequest& request);
void emit_keys(llvm::Module& module, const EntryRequest& request);
void emit_list(llvm::Module& module, const EntryRequest& request);
void emit_merge(llvm::Module& module, const EntryRequest& request);

/// Adds the descriptor as a constant. The entries and parts that it points to must be in the module already.
void emit_descriptor(llvm::Module& module, const DescriptorImage& image, const std::string& name);

}  // namespace strew::inline v0
