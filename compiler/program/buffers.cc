// See buffers.h. Small tensors are left to malloc, which keeps their memory itself.
#include "compiler/program/buffers.h"

#include <utility>

namespace strew::inline v0 {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 16, kMostBytes = int64_t{1} << 28;

}  // namespace

Expected<Tensor> BufferPool::make(DType dtype, std::vector<int64_t> dims) {
  STREW_ASSIGN(const int64_t count, element_count(dims));
  const int64_t bytes = storage_bytes(dtype, count);
  // Bits behind the last element of less than a byte are zero.
  if (bytes < kLeastBytes || bits(dtype) < 8 || dtype == DType::string) return make_tensor(dtype, std::move(dims));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = free_.find(bytes); found != free_.end() && !found->second.empty()) {
      Tensor tensor{dtype, std::move(dims), std::move(found->second.back()), {}};
      found->second.pop_back();
      bytes_ -= bytes;
      return tensor;
    }
  }
  return make_tensor(dtype, std::move(dims));
}

void BufferPool::give(Tensor& tensor) {
  const int64_t bytes = tensor.data.size();
  if (bytes < kLeastBytes || tensor.data.read_only() || !tensor.data.is_only_owner()) return;
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kMostBytes) return;
  bytes_ += bytes;
  free_[bytes].push_back(std::move(tensor.data));
  tensor.data = {};
}

}  // namespace strew::inline v0
