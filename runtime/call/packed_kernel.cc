// See packed_kernel.h.
#include "runtime/call/packed_kernel.h"

#include <cstring>
#include <string>
#include <vector>

namespace strew::inline v0 {
namespace {

/// An image whose addresses are filled in, with the parts that it refers to.
struct Unpacked {
  explicit Unpacked(size_t bytes) : words(bytes / sizeof(std::max_align_t) + 1) {}
  std::vector<std::max_align_t> words;
  std::vector<std::shared_ptr<const strew_kernel>> parts;
};

}  // namespace

const char* PackedKernel::text(size_t field) const {
  for (uint32_t i = 0; i < pointer_count; ++i)
    if (pointers()[i].at == field) return image() + pointers()[i].to;
  return "";
}

std::shared_ptr<const strew_kernel> unpack(const PackedKernel& kernel) {
  const auto out = std::make_shared<Unpacked>(kernel.image_bytes);
  char* const bytes = reinterpret_cast<char*>(out->words.data());
  std::memcpy(bytes, kernel.image(), kernel.image_bytes);
  const auto put = [&](uint32_t at, const void* address) { std::memcpy(bytes + at, &address, sizeof address); };
  for (uint32_t i = 0; i < kernel.pointer_count; ++i) put(kernel.pointers()[i].at, bytes + kernel.pointers()[i].to);
  for (uint32_t i = 0; i < kernel.external_count; ++i) {
    const PackedKernel::External& external = kernel.externals()[i];
    const char* const address = reinterpret_cast<const char*>(&external.distance) + external.distance;
    if (external.is_part == 0) {
      put(external.at, address);
      continue;
    }
    out->parts.push_back(unpack(*reinterpret_cast<const PackedKernel*>(address)));
    put(external.at, out->parts.back().get());
  }
  return {out, reinterpret_cast<const strew_kernel*>(bytes)};
}

Status check_library(const strew_library& library) {
  const bool is_ours = library.magic == STREW_LIBRARY_MAGIC;
  if (is_ours && library.version == STREW_LIBRARY_VERSION && library.abi == STREW_ABI_VERSION) return {};
  if (!is_ours)
    return invalid_argument("library: it is no registry of a kernel library; expected the constant that its header declares");
  return invalid_argument("library: version is " + std::to_string(library.version) + " with kernels of abi " +
                          std::to_string(library.abi) + ", expected " + std::to_string(STREW_LIBRARY_VERSION) + " and " +
                          std::to_string(STREW_ABI_VERSION) + "; make it with this version of strew");
}

}  // namespace strew::inline v0
