// See buffers.h. Small tensors are left to malloc, which keeps their memory itself.
#include "compiler/program/buffers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
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
  explicit Blocks(Freed freed) : freed_(freed) {}
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    for (const auto& [bytes, blocks] : free_)
      for (void* const block : blocks) std::free(block);
    for (const std::span<std::byte> block : all_) std::free(block.data());
  }

  bool keeps() const { return freed_ == Freed::kept; }
  void keep(void* block, int64_t bytes) {
    const std::lock_guard lock(mutex_);
    all_.push_back({static_cast<std::byte*>(block), static_cast<size_t>(bytes)});
  }
  std::vector<std::span<std::byte>> all() {
    const std::lock_guard lock(mutex_);
    return all_;
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
  const Freed freed_;
  std::vector<std::span<std::byte>> all_;  ///< with Freed::kept
};

BufferPool::BufferPool(Freed freed) : blocks_(std::make_shared<Blocks>(freed)) {}

std::vector<std::span<std::byte>> BufferPool::blocks() const { return blocks_->all(); }

bool BufferPool::may_pass_on(const Buffer& buffer) const {
  if (!blocks_->keeps()) return true;
  const std::vector<std::span<std::byte>> all = blocks();
  return std::ranges::any_of(all, [&](std::span<std::byte> block) { return block.data() == buffer.data(); });
}

Expected<Tensor> BufferPool::make(DType dtype, std::vector<int64_t> dims) {
  STREW_ASSIGN(const int64_t count, element_count(dims));
  const int64_t bytes = storage_bytes(dtype, count);
  // Bits behind the last element of less than a byte are zero.
  if (!blocks_->keeps() && (bytes < kLeastBytes || bits(dtype) < 8)) return make_tensor(dtype, std::move(dims));
  if (dtype == DType::string) return make_tensor(dtype, std::move(dims));
  STREW_TRY(check_memory(bytes));
  void* block = blocks_->take(bytes);
  const size_t padded =
      (static_cast<size_t>(std::max<int64_t>(bytes, 1)) + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (block == nullptr) block = std::aligned_alloc(kBlockAlignment, padded);
  if (block == nullptr) return resource_exhausted("out of memory: a tensor needs " + std::to_string(bytes) + " bytes");
  if (blocks_->keeps()) {
    if (bits(dtype) < 8) std::memset(block, 0, padded);
    blocks_->keep(block, bytes);
    return Tensor{dtype,
                  std::move(dims),
                  Buffer::keep({static_cast<std::byte*>(block), static_cast<size_t>(bytes)},
                               std::make_shared<const std::shared_ptr<Blocks>>(blocks_)),
                  {}};
  }
  std::shared_ptr<const void> owner(block, [block, bytes, from = std::weak_ptr<Blocks>(blocks_)](const void*) {
    const std::shared_ptr<Blocks> blocks = from.lock();
    if (blocks == nullptr || !blocks->give(block, bytes)) std::free(block);
  });
  return Tensor{
      dtype, std::move(dims), Buffer::keep({static_cast<std::byte*>(block), static_cast<size_t>(bytes)}, std::move(owner)), {}};
}

}  // namespace strew::inline v0
