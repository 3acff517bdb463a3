// Memory for benchmarks: aligned, in huge pages where the system has them. Rows that cross lines, in pages of 4 KiB, take up to twice the time.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace strew::bench {

/// Page-aligned, written before use.
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

/// The memory of a Tensor: from 4 MiB on in huge pages, as NumPy's.
template <class T>
struct Lines {
  using value_type = T;
  static constexpr size_t kLine = 64, kHugePage = 2 << 20;

  Lines() = default;
  template <class U>
  explicit Lines(const Lines<U>& /*other*/) {}

  T* allocate(size_t count) {
    const size_t least = count * sizeof(T), unit = least < 2 * kHugePage ? kLine : kHugePage,
                 bytes = (least + unit - 1) / unit * unit;
    void* const p = std::aligned_alloc(unit, bytes);
    if (p == nullptr) throw std::bad_alloc();
    if (unit == kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t /*count*/) { std::free(p); }
  template <class U>
  bool operator==(const Lines<U>& /*other*/) const {
    return true;
  }
};

/// The elements of a tensor; a vector that begins with a cache line.
template <class T>
using Tensor = std::vector<T, Lines<T>>;

}  // namespace strew::bench
