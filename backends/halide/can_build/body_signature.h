// BodySignature: the calling convention between a loop body that Halide compiles and the entries, emitted by LLVM, that call it.
//
// The body applies the window of one position, at a key that says where the position's destination lies (backends/llvm/entries/list_entry.cc);
// or, in kernels with the entry `list`, the windows of all (position, key) pairs of a list, in order. The body sees one buffer per tensor. A
// buffer's dims are the window loops, followed by one for the position or, in indexed tensors, the key. The body knows nothing of indices,
// policies, threads and strew_args: the entries resolve positions and build the buffers (backends/llvm/entries/external_body.h). The two sides
// know no more of each other than this description. Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
//
//   int32_t SYMBOL_apply(int32 position, int32 key, int32 extents..., int32 packed numbers..., inputs*..., results*...)
//   int32_t SYMBOL_apply(list*, int32 count, the same...)
//
// inputs* and results* are halide_buffer_t. `extents` are those of the window loops that are not fixed. `packed numbers` are, per packed buffer,
// the number of its first element within the first byte, and the strides that are known at the call only. The loop over a list takes a fifth of
// Halide's compile time, so the body has it only if the kernel has the entry `list`.
#pragma once

#include <optional>
#include <vector>

#include "backends/lower/kernel.h"

namespace strew::inline v0 {

/// A dim of a buffer: what its coordinate is, and the stride.
struct SignatureDim {
  /// The coordinate is an iteration of a window loop, the position, or the key.
  enum class Walks : uint8_t { window, position, key };
  Walks walks = Walks::window;
  int loop = 0;  ///< Walks::window: the number of the loop in plan.window
  Term stride;   ///< in elements of the buffer
};

/// How the body sees one tensor. A tensor of 16-byte elements is two buffers, of the low and the high 8-byte halves. A packed tensor is a buffer
/// of bytes, whose dims count elements.
struct SignatureBuffer {
  int tensor = 0;
  int half = 0;
  int bits = 32;
  bool packed = false;
  std::vector<SignatureDim> dims;  ///< innermost first
};

struct BodySignature {
  lowered::Body body;                            ///< what the loop body does to an element
  std::vector<bool> fixed;                       ///< per window loop: the body has its extent and strides as constants
  int64_t unit = 1;                              ///< a key counts offsets in the indexed tensors in units of so many elements
  bool listed = false;                           ///< the body takes a list of (position, key) pairs
  std::vector<SignatureBuffer> inputs, results;  ///< results in store_order()
};

/// The pairs in the order in which Halide stores the results. It may evaluate a result after it has stored another one, so none may depend on the current
/// value of one that is stored before. None if there is no such order, or if more than two results take part: Halide does not see reads in the arguments of
/// its intrinsics, and it may then put a later store before an earlier one.
std::optional<std::vector<int>> store_order(const Plan& plan);

/// Of a plan that has a store order. It refers to the plan.
BodySignature body_signature(const Plan& plan, const Schedule& schedule);

/// The largest extent, stride or coordinate that Halide's 32-bit dimensions hold.
inline constexpr int64_t kHalideLimit = 0x7fffffff;

}  // namespace strew::inline v0
