// Memory for benchmarks: page-aligned, in huge pages where the system has them, written before use.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace strew::bench {

class Memory {
 public:
  /// Readable this far past the end: hand-written kernels look ahead.
  static constexpr size_t kSlack = 4096;

  Memory() = default;
  explicit Memory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    void* p = mmap(nullptr, bytes_ + kSlack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = p == MAP_FAILED ? nullptr : static_cast<char*>(p);
    if (data_ == nullptr) return;
    madvise(p, bytes_ + kSlack, MADV_HUGEPAGE);
    for (size_t i = 0; i < bytes_; i += 4096) std::memcpy(data_ + i, &i, std::min<size_t>(8, bytes_ - i));
  }
  Memory(Memory&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) munmap(data_, bytes_ + kSlack);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* data() const { return data_; }
  size_t size() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  size_t bytes_ = 0;
  char* data_ = nullptr;
};

}  // namespace strew::bench
