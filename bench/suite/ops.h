// A case as strew sees it: the op, and the buffers of each call in the order Kernel::run takes them.
#pragma once

#include <span>
#include <vector>

#include "bench/suite/data.h"
#include "compiler/op/op.h"
#include "compiler/op/tensor.h"
#include "runtime/status.h"

namespace strew::bench {

Expected<Op> suite_op(const Case& c);

/// One call's tensors. KV caches take 64-bit positions, as ONNX has them; everything else 32-bit ones.
class Calls {
 public:
  /// `result`: what the calls write (a scatter in place: the table; copied: another buffer; a gather: its output).
  Calls(const Op& op, const Data& data, char* result);
  std::span<const TensorView> set(int64_t j) const { return {views_.data() + static_cast<size_t>(j) * count_, count_}; }

 private:
  std::vector<int64_t> wide_;
  size_t count_ = 0;               ///< tensors of a call
  std::vector<TensorView> views_;  ///< those of set 0, of set 1, ...
};

}  // namespace strew::bench
