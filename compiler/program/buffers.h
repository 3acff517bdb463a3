// BufferPool: memory of large tensors that a run no longer needs, for tensors of the same size. Fresh memory costs a page fault for each page of it, which
// is more than most operations take. Threads may use a pool at the same time. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "strew/tensor.h"

namespace strew::inline v0 {

class BufferPool {
 public:
  /// A tensor whose elements may be anything.
  Expected<Tensor> make(DType dtype, std::vector<int64_t> dims);
  /// Takes the memory of a tensor that nobody reads any more, if it is the tensor's own and the pool has room.
  void give(Tensor& tensor);

 private:
  std::mutex mutex_;
  std::map<int64_t, std::vector<Buffer>> free_;  ///< by size in bytes
  int64_t bytes_ = 0;                            ///< of all
};

}  // namespace strew::inline v0
