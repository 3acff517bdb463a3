// Tensor: an owned tensor, for callers that have no memory of their own (the command line, tests, tools).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/op/tensor.h"
#include "runtime/status.h"

namespace strew {

/// 64-byte aligned bytes, zero at first, released with the owner.
class Buffer {
 public:
  Buffer() = default;
  /// Fails when the memory is not there.
  static Expected<Buffer> allocate(int64_t bytes);
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> base_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
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
