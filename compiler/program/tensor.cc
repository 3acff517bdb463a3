// Tensors that own their memory. The memory is a mapped file, or comes from calloc and is aligned to 64 bytes (a cache
// line, and the widest vector register). calloc returns zero pages of the system, so a large result is not written
// before a kernel fills it.
//
// Sizes come from files, so every product is checked, and an allocation larger than the machine's memory is refused:
// where the system overcommits, it would succeed, and the process would be killed later. Tested by
// tests/unit/compiler/program/program_test.cc and tests/error/cli_test.cc.
#include "strew/tensor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/number.h"
#include "compiler/op/message.h"
#include "strew/dtype.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kAlignment = 64;
// The size in bits of so many elements fits 63 bits for every dtype (complex128 and string are 128 bits wide).
constexpr int64_t kMaxElements = std::numeric_limits<int64_t>::max() / 256;

/// An element of a string tensor, 16 bytes (docs/semantics.md section 4).
struct StringView {
  const char* data;
  int64_t size;
};

int64_t physical_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? pages * size : std::numeric_limits<int64_t>::max();
}

}  // namespace

Status check_memory(int64_t bytes) {
  static const int64_t most = physical_memory();
  if (bytes >= 0 && bytes <= most) return {};
  return invalid_argument("a tensor of {} bytes does not fit this machine's memory of {} bytes", bytes, most);
}

Expected<Buffer> Buffer::allocate(int64_t bytes) {
  STREW_TRY(check_memory(bytes));
  Buffer out;
  void* base = std::calloc(1, static_cast<size_t>(bytes + kAlignment));
  if (base == nullptr) return resource_exhausted("out of memory: a tensor needs " + std::to_string(bytes) + " bytes");
  out.owner_ = std::shared_ptr<const void>(base, [](const void* p) { std::free(const_cast<void*>(p)); });
  out.data_ = static_cast<std::byte*>(base) + (kAlignment - reinterpret_cast<uintptr_t>(base) % kAlignment) % kAlignment;
  out.size_ = bytes;
  return out;
}

Buffer Buffer::share(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Buffer out;
  out.owner_ = std::move(owner);
  out.data_ = const_cast<std::byte*>(bytes.data());  // Buffer has one kind of pointer; these pages are read-only
  out.size_ = static_cast<int64_t>(bytes.size());
  out.read_only_ = true;
  return out;
}

Buffer Buffer::keep(std::span<std::byte> bytes, std::shared_ptr<const void> owner) {
  Buffer out = borrow(bytes);
  out.owner_ = std::move(owner);
  return out;
}

Buffer Buffer::borrow(std::span<std::byte> bytes) {
  Buffer out;
  out.data_ = bytes.data();
  out.size_ = static_cast<int64_t>(bytes.size());
  return out;
}

bool can_map(DType dtype, int64_t offset, int64_t bytes) {
  constexpr int64_t kWorthwhile = int64_t{1} << 20;
  if (bytes < kWorthwhile || bits(dtype) < 8 || !(is_float(dtype) || is_complex(dtype))) return false;
  return offset % std::max(1, bits(part_dtype(dtype)) / 8) == 0;
}

Expected<int64_t> element_count(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  bool empty = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return invalid_argument("dim {} is {}, expected at least 0", i, dims[i]);
    }
    if (dims[i] == 0) {
      empty = true;
    } else if (n > kMaxElements / dims[i]) {
      return invalid_argument("dim {} is {}: the number of elements does not fit 63 bits", i, dims[i]);
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

}  // namespace strew::inline v0
