// link_bitcode: makes functions that another compiler generated, given as LLVM bitcode, part of a module that LLVM emits here, and inlines
// them. The Halide backend's loop bodies arrive this way (backends/llvm/entries/external_body.h). Tested by
// tests/unit/backends/halide/halide_test.cc and tests/differential.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace llvm {
class Module;
}

namespace strew::inline v0 {

/// The attribute of functions whose inlined vector stores become non-temporal stores.
inline constexpr const char* kStreamAttribute = "strew-stream";

/// Links `bitcode` into `module`, inlines the functions of the bitcode into all their callers, and then inlines the module's functions that
/// have the attribute AlwaysInline. No function of either group is left.
///
/// `unroll`: factor by which the bitcode's innermost vector loops are unrolled; 1 leaves them alone. In callers marked with kStreamAttribute,
/// vector stores become non-temporal stores; the caller guarantees that each of them is aligned to its own size.
Status link_bitcode(llvm::Module& module, std::string_view bitcode, int unroll);

}  // namespace strew::inline v0
