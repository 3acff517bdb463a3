// BufferPool: memory of large tensors, which is used again for tensors of the same size when their last buffer is gone. Fresh memory costs a page fault for
// each page of it, which is more than most operations take. Threads may use a pool at the same time. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "strew/tensor.h"

namespace strew::inline v0 {

class BufferPool {
 public:
  BufferPool();
  /// A tensor whose elements may be anything. It may outlive the pool.
  Expected<Tensor> make(DType dtype, std::vector<int64_t> dims);

 private:
  class Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace strew::inline v0
