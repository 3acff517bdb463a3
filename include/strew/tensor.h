// Tensor: a tensor that owns its memory, for callers without buffers of their own. run_program (program.h) takes and
// returns Tensors.
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

/// Reference-counted bytes: allocated memory, 64-byte aligned and zero at first, or the contents of a mapped file. The
/// bytes are released with the last buffer that shares them.
class Buffer {
 public:
  Buffer() = default;
  /// Fails if the memory cannot be allocated.
  STREW_API static Expected<Buffer> allocate(int64_t bytes);
  /// A buffer of `bytes`, which must live as long as `owner`; the buffer holds a reference to `owner`. Copies nothing.
  /// The bytes must not be written.
  STREW_API static Buffer share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// A buffer of `bytes`, which may be written, and live as long as `owner`; the buffer holds a reference to `owner`. Copies nothing.
  STREW_API static Buffer keep(std::span<std::byte> bytes, std::shared_ptr<const void> owner);
  /// A buffer of `bytes`, which may be written, and must live longer than the buffer. Copies nothing.
  STREW_API static Buffer borrow(std::span<std::byte> bytes);
  /// Another buffer of the same bytes, for reading only.
  Buffer share() const { return share(0, size_); }
  /// Another buffer of `bytes` of the same bytes, from byte `first` on.
  Buffer share(int64_t first, int64_t bytes) const { return share({data_ + first, static_cast<size_t>(bytes)}, owner_); }
  Buffer(Buffer&&) = default;
  Buffer& operator=(Buffer&&) = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }
  bool read_only() const { return read_only_; }
  /// Does the buffer, or another one that shares its bytes, keep them? False of bytes that were lent: borrow(), or share() without an owner.
  bool owns() const { return owner_ != nullptr; }
  /// Is this the only buffer that keeps them?
  bool is_only_owner() const { return owner_.use_count() == 1; }

 private:
  std::shared_ptr<const void> owner_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  bool read_only_ = false;
};

/// A tensor that owns its elements: contiguous, row-major; elements of less than a byte are packed (dtype.h). The
/// elements of a string tensor are 16-byte {pointer, length} views of `strings`, or of the strings of another tensor,
/// which must then outlive this one.
struct Tensor {
  DType dtype = DType::f32;
  std::vector<int64_t> dims;
  Buffer data;
  std::vector<std::string> strings;
  TensorView view() const { return {data.data(), dtype, static_cast<int32_t>(dims.size()), dims.data(), nullptr}; }
  int64_t elements() const {
    int64_t count = 1;
    for (const int64_t extent : dims) count *= extent;
    return count;
  }
};

/// May `bytes` bytes at `offset` of a file be mapped as elements of `dtype`? Otherwise they are read. Integers are
/// never mapped, because another process can change a mapped file, and an index must not change between its check and
/// its use. Few or unaligned bytes are not mapped either.
STREW_API bool can_map(DType dtype, int64_t offset, int64_t bytes);
/// A tensor of zeros (dtype string: of empty strings). Fails if an extent is negative, the size does not fit 63 bits,
/// or the memory cannot be allocated.
STREW_API Expected<Tensor> make_tensor(DType dtype, std::vector<int64_t> dims);
/// Fails if this machine has less memory than `bytes`.
STREW_API Status check_memory(int64_t bytes);
/// The text of element number `element`, in row-major order, of a string tensor; valid as long as the strings.
STREW_API std::string_view string_at(const Tensor& tensor, int64_t element);
/// Sets the elements of a string tensor, which takes over `strings`: one per element, in row-major order.
STREW_API void set_strings(Tensor& tensor, std::vector<std::string> strings);

/// The product of the extents. Fails if an extent is negative, or if the size in bits of so many elements of the widest
/// dtype exceeds 63 bits.
STREW_API Expected<int64_t> element_count(const std::vector<int64_t>& dims);

}  // namespace strew::inline v0
