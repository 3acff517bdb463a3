// Fuzz target npy: NumPy files. The first byte picks the dtype that the reader expects, the rest is the file. What was read is written and
// read again: the same tensor.
#include "tools/npy.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/fuzz/check.h"

namespace strew::fuzz {
namespace {

bool same(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.dims != b.dims || a.data.size() != b.data.size()) return false;
  if (a.dtype == DType::string) return a.strings == b.strings;
  return a.data.size() == 0 || std::memcmp(a.data.data(), b.data.data(), static_cast<size_t>(a.data.size())) == 0;
}

void check_npy(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto dtype = static_cast<DType>(static_cast<unsigned char>(bytes[0]) % kDTypeCount);
  const Expected<Tensor> tensor = parse_npy(bytes.substr(1), dtype, "file.npy");
  if (!tensor.ok()) return check_refusal(tensor.status());
  const Expected<std::string> text = format_npy(*tensor);
  if (!text.ok()) broken("a tensor cannot be written: " + text.status().message());
  const Expected<Tensor> again = parse_npy(*text, dtype, "written.npy");
  if (!again.ok()) broken("a written tensor is refused: " + again.status().message());
  if (!same(*tensor, *again)) broken("a written tensor reads back as another one");
}

}  // namespace
}  // namespace strew::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strew::fuzz::check_npy({reinterpret_cast<const char*>(data), size});
  return 0;
}
