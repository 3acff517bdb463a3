// Call: the buffers and views of one call of an op. Every tensor gets a buffer between guard pages
// (tests/support/guarded.h), which is filled with data.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "strew/op.h"
#include "strew/tensor_view.h"
#include "tests/differential/random_data.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

namespace strew::test {

class Call {
 public:
  /// Makes a buffer for every bound tensor of `concrete`, whose extents and strides are known, and fills it: first
  /// with canary bytes, then with data. The caller fills in the indices.
  Call(GuardedPool& pool, Rng& rng, Op concrete, DataMode mode);
  Call(const Call&) = delete;

  const Op& op() const { return concrete_; }
  const std::vector<TensorSlot>& slots() const { return slots_; }
  /// The tensors of the call. Inputs are bound by their read-only mapping.
  const std::vector<TensorView>& views() const { return views_; }
  /// Elements 0 of the index tensors of a source: 0 is the op's own, the others are those of its look-ups.
  std::vector<std::byte*> index_origins(size_t source = 0) const;
  int result_count() const { return results_; }

  /// The bytes of the results' buffers, one vector per result; bytes outside the elements are included.
  using Image = std::vector<std::vector<std::byte>>;
  Image results() const;
  void restore(const Image& image) const;
  /// The offset of element 0 in the image of result `i`.
  int64_t origin_offset(int i) const;

 private:
  std::byte* origin(size_t slot) const { return buffers_[slot]->writable() - first_[slot]; }

  Op concrete_;
  std::vector<TensorSlot> slots_;
  std::vector<GuardedBuffer*> buffers_;
  std::vector<int64_t> first_;  // byte_extent().first per slot
  std::vector<std::vector<int64_t>> spelled_strides_;
  std::vector<TensorView> views_;
  std::vector<size_t> index_slots_;
  int results_ = 0;
};

}  // namespace strew::test
