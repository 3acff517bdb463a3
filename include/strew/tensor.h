// Tensor: a tensor with its memory, for callers without memory of their own (the command line, tests, tools).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// Shared bytes: 64-byte aligned memory, zero at first, or the contents of a mapped file. Released with the last buffer that shares them.
class Buffer {
 public:
  Buffer() = default;
  /// Fails if the memory cannot be allocated.
  STREW_API static Expected<Buffer> allocate(int64_t bytes);
  /// A buffer of `bytes`, which live as long as `owner`. Nothing is copied, and the bytes must not be written.
  STREW_API static Buffer share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Another buffer of the same bytes.
  Buffer share() const { return share({data_, static_cast<size_t>(size_)}, owner_); }
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  bool read_only() const { return read_only_; }

 private:
  std::shared_ptr<const void> owner_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  bool read_only_ = false;
};

/// A tensor that owns its elements: contiguous, row-major, packed as its dtype says. The elements of a string tensor are 16-byte views of
/// `strings`, or of the strings of a tensor that lives as long.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  Buffer data;
  std::vector<std::string> strings;
  STREW_API TensorView view() const;
  STREW_API int64_t elements() const;
};

/// May the `bytes` bytes at `offset` of a file be mapped as elements of `dtype`? If not, they must be read. Integers may not: another
/// process can change a mapped file, and an index must not change between its check and its use. Nor may few bytes or unaligned ones.
STREW_API bool can_map(DType dtype, int64_t offset, int64_t bytes);
/// Makes a tensor of zeros (of empty strings). Fails if an extent is negative, the size does not fit 63 bits, or the memory cannot be
/// allocated.
STREW_API Expected<Tensor> make_tensor(DType dtype, std::vector<int64_t> dims);
/// Fails if this machine has less memory than `bytes`.
STREW_API Status check_memory(int64_t bytes);
/// The text of one element of a string tensor.
STREW_API std::string_view string_at(const Tensor& tensor, int64_t element);
/// Makes `strings`, one per element, the contents of a string tensor.
STREW_API void set_strings(Tensor& tensor, std::vector<std::string> strings);

/// The product of the extents. Fails if an extent is negative, or if as many elements of the widest dtype would not fit 63 bits.
STREW_API Expected<int64_t> element_count(const std::vector<int64_t>& dims);

}  // namespace strew::inline v0
