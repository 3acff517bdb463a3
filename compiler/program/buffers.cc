// See buffers.h. Small tensors are left to malloc, which keeps their memory itself.
#include "compiler/program/buffers.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace strew::inline v0 {
namespace {

constexpr int64_t kLeastBytes = int64_t{1} << 16, kMostBytes = int64_t{1} << 28;
constexpr size_t kBlockAlignment = 64;

}  // namespace

/// The memory that no tensor has.
class BufferPool::Blocks {
 public:
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (const auto& [bytes, blocks] : free_)
      for (void* const block : blocks) std::free(block);
  }

  /// Null: there is none of this size.
  void* take(int64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find(bytes);
    if (found == free_.end() || found->second.empty()) return nullptr;
    void* const block = found->second.back();
    found->second.pop_back();
    bytes_ -= bytes;
    return block;
  }
  /// False: there is no room for it.
  bool give(void* block, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + bytes > kMostBytes) return false;
    free_[bytes].push_back(block);
    bytes_ += bytes;
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, std::vector<void*>> free_;  ///< by size in bytes
  int64_t bytes_ = 0;                           ///< of all
};

BufferPool::BufferPool() : blocks_(std::make_shared<Blocks>()) {}

Expected<Tensor> BufferPool::make(DType dtype, std::vector<int64_t> dims) {
  STREW_ASSIGN(const int64_t count, element_count(dims));
  const int64_t bytes = storage_bytes(dtype, count);
  // Bits behind the last element of less than a byte are zero.
  if (bytes < kLeastBytes || bits(dtype) < 8 || dtype == DType::string) return make_tensor(dtype, std::move(dims));
  STREW_TRY(check_memory(bytes));
  void* block = blocks_->take(bytes);
  const size_t padded = (static_cast<size_t>(bytes) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (block == nullptr) block = std::aligned_alloc(kBlockAlignment, padded);
  if (block == nullptr) return resource_exhausted("out of memory: a tensor needs " + std::to_string(bytes) + " bytes");
  std::shared_ptr<const void> owner(block, [block, bytes, from = std::weak_ptr<Blocks>(blocks_)](const void*) {
    const std::shared_ptr<Blocks> blocks = from.lock();
    if (blocks == nullptr || !blocks->give(block, bytes)) std::free(block);
  });
  return Tensor{
      dtype, std::move(dims), Buffer::keep({static_cast<std::byte*>(block), static_cast<size_t>(bytes)}, std::move(owner)), {}};
}

}  // namespace strew::inline v0
