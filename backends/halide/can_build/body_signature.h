// BodySignature: the calling convention between a Halide pipeline and the LLVM-made entries that call it.
//
// The pipeline applies the whole window at a position and its key; or, where the kernel has an entry for lists, at each entry (position,
// key) of a list, in order. It sees one buffer per tensor whose dims are the window loops, then position or key; it knows nothing of
// indices, policies, threads or strew_args. LLVM's entries hand over resolved positions, one by one (range, clip) or as a list (list),
// and lay out the buffers (backends/llvm/entries/external_body.h). Both sides read this description and nothing else of each other.
//
//   int32_t SYMBOL_apply(int32 position, int32 key, int32 extents..., int32 packed numbers..., inputs*..., results*...)
//   int32_t SYMBOL_apply(list*, int32 count, the same...)
//
// A loop over entries costs a fifth of Halide's compile time, so it is there only where it is used. inputs* and results* are
// halide_buffer_t, extents are of the window loops that are not fixed, and packed numbers are, per packed buffer, the element number of
// its start within the first byte and the strides that are known at the call only.
#pragma once

#include <vector>

#include "compiler/plan/plan.h"
#include "schedules/schedule.h"

namespace strew {

struct SignatureDim {
  enum class Walks : uint8_t { window, position, key };
  Walks walks = Walks::window;
  int loop = 0;  ///< window: which of plan.window
  Term stride;   ///< elements of the buffer
};

/// How the pipeline sees one tensor. Elements of 16 bytes are two buffers of 8-byte halves; packed elements are a buffer of bytes whose
/// dims count elements.
struct SignatureBuffer {
  int tensor = 0;
  int half = 0;
  int bits = 32;
  bool packed = false;
  std::vector<SignatureDim> dims;  ///< innermost first
};

struct BodySignature {
  std::vector<bool> fixed;  ///< per window loop: the pipeline knows its extent
  int64_t unit = 1;         ///< elements of the indexed tensors that a key counts
  bool listed = false;      ///< takes a list of positions
  std::vector<SignatureBuffer> inputs, results;
};

BodySignature body_signature(const Plan& plan, const Schedule& schedule);

/// The largest extent, stride and coordinate that Halide's 32-bit dimensions hold.
inline constexpr int64_t kHalideLimit = 0x7fffffff;

}  // namespace strew
