// BufferPool: memory of large tensors, which is used again for tensors of the same size when their last buffer is gone. Fresh memory costs a page fault for
// each page of it, which is more than most operations take. Threads may use a pool at the same time. Tested by tests/unit/compiler/program/pieces_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "strew/tensor.h"

namespace strew::inline v0 {

/// Do the two share a byte?
inline bool overlap(const Buffer& a, const Buffer& b) { return a.data() < b.data() + b.size() && b.data() < a.data() + a.size(); }

class BufferPool {
 public:
  /// What becomes of memory whose last buffer is gone.
  enum class Freed : uint8_t {
    reused,  ///< large tensors get it
    kept,    ///< nobody: no two tensors have the same address. All memory of the pool's tensors is in blocks()
  };
  explicit BufferPool(Freed freed = Freed::reused);
  /// The memory of the tensors that were made, with Freed::kept. It lives as long as the pool or a tensor.
  std::vector<std::span<std::byte>> blocks() const;
  /// May the memory be given to another tensor? With Freed::kept, only that of the pool's own.
  bool may_pass_on(const Buffer& buffer) const;
  /// A tensor whose elements may be anything. It may outlive the pool.
  Expected<Tensor> make(DType dtype, std::vector<int64_t> dims);

 private:
  class Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace strew::inline v0
