// Functions on descriptors (strew/abi.h): whether this program can run the kernel, the values of terms in a call, whether a constraint between
// extents holds, and how much work there is. Tested by
// tests/unit/runtime/call/descriptor_test.cc.
#pragma once

#include <cstdint>
#include <limits>

#include "base/strides.h"
#include "base/units.h"
#include "runtime/call/call.h"
#include "runtime/call/extent.h"
#include "strew/abi.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Fails if this program cannot run the kernel or one of its parts: another version of the binary interface, a CPU
/// feature that this machine lacks, or a tensor of too high a rank.
Status check_descriptor(const strew_kernel& kernel);

/// The term's value, saturated to the largest int64_t. `dyn`: the values of the kernel's symbols. Extents among them
/// must not be negative.
inline int64_t evaluate(const strew_kernel& kernel, const strew_term& term, const int64_t* dyn) {
  int64_t value = term.factor;
  for (uint32_t i = 0; i < term.count; ++i)
    if (__builtin_mul_overflow(value, dyn[kernel.factors[term.first + i]], &value)) return std::numeric_limits<int64_t>::max();
  return value;
}

/// The number in strew_kernel.tensors of the tensor that index vectors point into; of a kernel with wide accumulation, whose parts have the
/// index sources, result 0.
inline uint32_t table_of(const strew_kernel& kernel) { return kernel.source_count == 0 ? 0 : kernel.sources[0].table; }
/// Must the check entry run over the source before anything is written?
inline bool checks_first(const strew_kernel& kernel, uint32_t source) { return kernel.sources[source].checks_first != 0; }

/// Bytes of an element of a result; 1 if the element is smaller than a byte.
inline int64_t result_bytes(const strew_kernel& kernel, uint32_t result = 0) {
  const int64_t bytes = kernel.tensors[result].bits / 8;
  return bytes == 0 ? 1 : bytes;
}

/// For a loop that moves by `stride` elements of result 0 per iteration: the smallest number of iterations that moves
/// by a multiple of `line_bytes` bytes. Chunks that are cut at multiples of this number share no cache line. 1 if an
/// iteration moves by a line or more, or not at all.
int64_t line_unit(const strew_kernel& kernel, const strew_term& stride, const int64_t* dyn, int64_t line_bytes);

/// Elements of result 0 from one destination to the next, at least 1, and their bytes, saturated.
int64_t key_elements(const strew_kernel& kernel, const int64_t* dyn);
Bytes key_bytes(const strew_kernel& kernel, const int64_t* dyn);
/// The largest key that a destination of this call can have, saturated.
int64_t last_key(const strew_kernel& kernel, const int64_t* dyn);
/// Do the keys of this call's destinations fit 32 bits? The key with all bits set is reserved for dropped updates.
inline bool keys_fit(const strew_kernel& kernel, const int64_t* dyn) {
  return last_key(kernel, dyn) < std::numeric_limits<uint32_t>::max();
}

// Rules over the shapes of a call. They are templates because the descriptor and its packed form (packed_rules.cc) both evaluate them.

/// Does `constraint`, a strew_constraint or its packed form, hold? The tensors must have the ranks that the descriptor requires.
template <typename Constraint>
bool holds(const Constraint& constraint, const TensorView* tensors) {
  const TensorView& view = tensors[constraint.tensor];
  const TensorView& other = tensors[constraint.other];
  switch (constraint.kind) {
    case STREW_EQUAL:
      return view.dims[constraint.dim] == other.dims[constraint.other_dim];
    case STREW_AT_MOST:
      return view.dims[constraint.dim] <= other.dims[constraint.other_dim];
    case STREW_NOT_EMPTY:
      // Of a scatter whose updates are all looked up, no tensor has the updates' dims, and `other` is the result itself.
      return view.dims[constraint.dim] != 0 || (constraint.other != constraint.tensor && is_empty(other.dims, other.rank));
    case STREW_EMPTY:
      return view.dims[constraint.dim] == 0 || is_empty(other.dims, other.rank);
    case STREW_NOTHING:
      return is_empty(view.dims, view.rank);
    case STREW_DISTINCT: {
      const auto rank = static_cast<size_t>(view.rank);
      StrideBuffer buffer;  // NOLINT: filled by strides_of
      return distinct_offsets({view.dims, rank}, {strides_of(view, buffer), rank}) == Distinct::yes;
    }
    case STREW_DISTINCT_ROWS: {
      const auto rank = static_cast<size_t>(view.rank);
      StrideBuffer dims;  // NOLINT: filled below
      for (size_t d = 0; d < rank; ++d) {
        const bool repeats = view.strides != nullptr && view.strides[d] == 0;
        dims[d] = repeats ? std::min<int64_t>(view.dims[d], 1) : view.dims[d];
      }
      StrideBuffer buffer;  // NOLINT: filled by strides_of
      return distinct_offsets({dims.data(), rank}, {strides_of(view, buffer), rank}) == Distinct::yes;
    }
  }
  return false;  // no kind of constraint
}

/// The counts that describe a call's work. From kCovers on, each cover has two: its window and its dim (strew_cover).
enum WorkTerm : uint32_t { kPositions, kSplits, kWindow, kInit, kCovers };
inline size_t work_terms(const strew_kernel& kernel) { return kCovers + size_t{2} * kernel.cover_count; }
inline const strew_term& work_term(const strew_kernel& kernel, size_t i) {
  if (i == kPositions) return kernel.positions;
  if (i == kSplits) return kernel.splits;
  if (i == kWindow) return kernel.window;
  if (i == kInit) return kernel.init;
  const strew_cover& cover = kernel.covers[(i - kCovers) / 2];
  return (i - kCovers) % 2 == 0 ? cover.window : cover.dim;
}

/// Fills the counts of `call`. `value(i)` returns the count WorkTerm i. `makes_result`: init is copy or fill. `may_overwrite` and `covers`
/// are the descriptor's: if the updates overwrite the whole result, it need not be initialised.
template <typename Value>
void count_work(bool makes_result, bool may_overwrite, uint32_t covers, const Value& value, Call& call) {
  call.positions = value(kPositions);
  call.splits = value(kSplits);
  call.window = value(kWindow);
  call.init = 0;
  if (!makes_result) return;
  call.init = value(kInit);
  int64_t written = 0;
  if (!may_overwrite || __builtin_mul_overflow(call.positions, call.window, &written) || written != call.init) return;
  for (uint32_t i = 0; i < covers; ++i)
    if (value(kCovers + 2 * i) != value(kCovers + 2 * i + 1)) return;
  call.init = 0;
}

}  // namespace strew::inline v0
