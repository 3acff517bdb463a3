// Tensor: an owned tensor, for callers that have no memory of their own (the command line, tests, tools).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace strew {

/// Bytes that are released with their owner: 64-byte aligned memory, zero at first, or the contents of a mapped file.
class Buffer {
 public:
  Buffer() = default;
  /// Fails when the memory is not there.
  static Expected<Buffer> allocate(int64_t bytes);
  /// `bytes`, which `owner` keeps: nothing is copied, and nobody may write them.
  static Buffer share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// Another Buffer of the same bytes.
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

/// An owned tensor, contiguous and row-major, packed as its dtype says. Strings: `data` holds 16-byte views of `strings`, or of
/// the strings of a tensor that lives as long.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  Buffer data;
  std::vector<std::string> strings;
  TensorView view() const;
  int64_t elements() const;
};

/// May the `bytes` bytes at `offset` of a file be mapped as elements of `dtype`, rather than read? Not integers: a file can change under the
/// process, and an index must not change between its check and its use. Not small ones, and none that lie unaligned.
bool can_map(DType dtype, int64_t offset, int64_t bytes);
/// Zeroed (strings: empty). Fails when an extent is negative, the size does not fit 63 bits or the memory is not there.
Expected<Tensor> make_tensor(DType dtype, std::vector<int64_t> dims);
/// Fails when this machine has less memory than `bytes`.
Status check_memory(int64_t bytes);
/// The element of a string tensor.
std::string_view string_at(const Tensor& tensor, int64_t element);
/// Makes `strings` (one per element) the contents of a string tensor.
void set_strings(Tensor& tensor, std::vector<std::string> strings);

/// Row-major extent product, or an error when an extent is negative or the elements of the widest dtype would not fit 63 bits.
Expected<int64_t> element_count(const std::vector<int64_t>& dims);

}  // namespace strew
