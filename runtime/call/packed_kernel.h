// PackedKernel: the descriptor of a kernel (strew/abi.h) as a kernel library holds it, and the layout of a library's registry. Both are read-only
// constants without addresses: what they refer to is found by offsets and distances, which the linker computes. So the loader has nothing to
// relocate when a program starts, however many kernels are linked into it (3 ms for a thousand descriptors with addresses), and
// unpack() makes the descriptor when its kernel is first used.
//
// Written by library/registry.cc. Tested by tests/library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "strew/abi.h"
#include "strew/library.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The constant SYMBOL_packed. Its arrays follow it: the pointers, the externals and the image, which begins with a strew_kernel.
struct PackedKernel {
  uint32_t image_bytes, pointer_count, external_count;

  /// The address at offset `at` of the image is that of offset `to`.
  struct Pointer {
    uint32_t at, to;
  };
  /// The address at offset `at` of the image is that of a function or, if `is_part` is not 0, of the unpacked form of a PackedKernel, which lies
  /// `distance` bytes from the field `distance`.
  struct External {
    uint32_t at, is_part;
    int32_t distance;
  };

  const Pointer* pointers() const { return reinterpret_cast<const Pointer*>(this + 1); }
  const External* externals() const { return reinterpret_cast<const External*>(pointers() + pointer_count); }
  const char* image() const { return reinterpret_cast<const char*>(externals() + external_count); }
  /// The text that the field at this offset of the strew_kernel points to.
  const char* text(size_t field) const;
};

/// The descriptor in memory of its own. Nothing in it is checked (runtime/call/descriptor.h).
std::shared_ptr<const strew_kernel> unpack(const PackedKernel& kernel);

/// A kernel of a registry: strew_library.kernels is the offset of an array of these.
struct LibraryKernel {
  int32_t name;  ///< offset of its name from the strew_library
  uint32_t
      variant_count;  ///< the first variant runs on every CPU of its architecture; each later one needs CPU features that none before needs
  int32_t variants;  ///< offset of an array of the distances from its elements to the PackedKernels
};

inline const LibraryKernel& kernel_of(const strew_library& library, uint32_t number) {
  return reinterpret_cast<const LibraryKernel*>(reinterpret_cast<const char*>(&library) + library.kernels)[number];
}
inline const char* name_of(const strew_library& library, const LibraryKernel& kernel) {
  return reinterpret_cast<const char*>(&library) + kernel.name;
}
inline const PackedKernel& variant_of(const strew_library& library, const LibraryKernel& kernel, uint32_t variant) {
  const auto* const distance =
      reinterpret_cast<const int32_t*>(reinterpret_cast<const char*>(&library) + kernel.variants) + variant;
  return *reinterpret_cast<const PackedKernel*>(reinterpret_cast<const char*>(distance) + *distance);
}

/// Fails if the registry of a kernel library belongs to another version.
Status check_library(const strew_library& library);

}  // namespace strew::inline v0
