// Owned tensors. Memory comes from calloc, so that a large result costs no pass over its pages before a kernel fills them, and is
// aligned by hand to 64 bytes (the widest vector register and a cache line).
//
// Sizes come from files, so every product is checked and nothing larger than the machine's memory is asked for: with overcommit the
// allocation would succeed and the process die later. Tested by tests/unit/program_test.cc and tests/error/cli_test.cc.
#include "runtime/tensor.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "compiler/op/dtype.h"

namespace strew {
namespace {

constexpr int64_t kAlignment = 64;
// Elements of any dtype below this fit 63 bits when counted in bits (complex128 and string are 128 bits wide).
constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 256;

/// 16-byte element of a string tensor (semantics.md section 4).
struct StringView {
  const char* data;
  int64_t size;
};

int64_t physical_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? pages * size : std::numeric_limits<int64_t>::max();
}

}  // namespace

void Buffer::Free::operator()(void* p) const { std::free(p); }

Status check_memory(int64_t bytes) {
  static const int64_t most = physical_memory();
  if (bytes >= 0 && bytes <= most) return {};
  return invalid_argument("a tensor of " + std::to_string(bytes) + " bytes does not fit this machine's memory of " +
                          std::to_string(most) + " bytes");
}

Expected<Buffer> Buffer::allocate(int64_t bytes) {
  STREW_TRY(check_memory(bytes));
  Buffer out;
  out.base_.reset(std::calloc(1, static_cast<size_t>(bytes + kAlignment)));
  if (!out.base_) return invalid_argument("out of memory: a tensor needs " + std::to_string(bytes) + " bytes");
  const auto address = reinterpret_cast<uintptr_t>(out.base_.get());
  out.data_ = static_cast<std::byte*>(out.base_.get()) + (kAlignment - address % kAlignment) % kAlignment;
  out.size_ = bytes;
  return out;
}

TensorView Tensor::view() const { return {data.data(), dtype, static_cast<int32_t>(dims.size()), dims.data(), nullptr}; }

int64_t Tensor::elements() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Expected<int64_t> element_count(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  bool empty = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return invalid_argument("dim " + std::to_string(i) + " is " + std::to_string(dims[i]) + ", expected at least 0");
    }
    if (dims[i] == 0) {
      empty = true;
    } else if (n > kMaxElements / dims[i]) {
      return invalid_argument("dim " + std::to_string(i) + " is " + std::to_string(dims[i]) +
                              ": the number of elements does not fit 63 bits");
    } else {
      n *= dims[i];
    }
  }
  return empty ? 0 : n;
}

Expected<Tensor> make_tensor(DType dtype, std::vector<int64_t> dims) {
  STREW_ASSIGN(const int64_t count, element_count(dims));
  Tensor out;
  out.dtype = dtype;
  out.dims = std::move(dims);
  STREW_ASSIGN(out.data, Buffer::allocate(storage_bytes(dtype, count)));
  return out;
}

std::string_view string_at(const Tensor& tensor, int64_t element) {
  StringView view;
  std::memcpy(&view, tensor.data.data() + element * sizeof view, sizeof view);
  return {view.data, static_cast<size_t>(view.size)};
}

void set_strings(Tensor& tensor, std::vector<std::string> strings) {
  tensor.strings = std::move(strings);
  for (size_t i = 0; i < tensor.strings.size(); ++i) {
    const StringView view{tensor.strings[i].data(), static_cast<int64_t>(tensor.strings[i].size())};
    std::memcpy(tensor.data.data() + i * sizeof view, &view, sizeof view);
  }
}

}  // namespace strew
