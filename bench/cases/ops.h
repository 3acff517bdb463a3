// A case as strew sees it: the op, and the buffers of each call in the order Kernel::run takes them.
#pragma once

#include <span>
#include <vector>

#include "bench/cases/data.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::bench {

Expected<Op> suite_op(const Case& c);

/// The tensors of calls. KV caches take 64-bit positions, as ONNX has them; everything else 32-bit ones.
class Calls {
 public:
  /// `result`: what the calls write (a scatter in place: the table; copied: another buffer; a gather: its output).
  Calls(const Op& op, const Data& data, char* result);
  /// Those of a call with index set j. As a caller in a loop has them: the views stay, the address of the indices changes.
  std::span<const TensorView> set(int64_t j) {
    views_[indices_at_].data = indices_[static_cast<size_t>(j)];
    return views_;
  }

 private:
  std::vector<int64_t> wide_;
  std::vector<TensorView> views_;
  size_t indices_at_ = 0;
  std::vector<void*> indices_;  ///< per set
};

}  // namespace strew::bench
