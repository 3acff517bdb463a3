// See registry.h. The registry's image holds, one after another: the strew_library, the kernels, the distances to their variants, the names.
#include "library/registry.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "runtime/call/packed_kernel.h"
#include "strew/library.h"

namespace strew::inline v0 {
namespace {

class RegistryWriter {
 public:
  uint32_t reserve(size_t bytes) {
    while (image_.bytes.size() % alignof(std::max_align_t) != 0) image_.bytes.push_back(0);
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    image_.bytes.resize(at + bytes);
    return at;
  }
  template <class T>
  void put(size_t at, const T& value) {
    std::memcpy(image_.bytes.data() + at, &value, sizeof value);
  }
  template <class T>
  uint32_t append(const T& value) {
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    image_.bytes.resize(at + sizeof value);
    put(at, value);
    return at;
  }
  int32_t text(std::string_view text) {
    const uint32_t at = append('\0');
    image_.bytes.insert(image_.bytes.begin() + at, text.begin(), text.end());
    return static_cast<int32_t>(at);
  }
  void bytes(const std::vector<char>& bytes) { image_.bytes.insert(image_.bytes.end(), bytes.begin(), bytes.end()); }
  void distance(size_t field, std::string symbol) {
    image_.distances.push_back({static_cast<uint32_t>(field), std::move(symbol)});
  }
  DescriptorImage finish() { return std::move(image_); }

 private:
  DescriptorImage image_;
};

}  // namespace

DescriptorImage make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels) {
  RegistryWriter out;
  const uint32_t root = out.reserve(sizeof(strew_library));
  const uint32_t list = out.reserve(kernels.size() * sizeof(LibraryKernel));
  std::vector<LibraryKernel> written;
  for (const RegistryKernel& kernel : kernels) {
    const uint32_t variants = out.reserve(kernel.variants.size() * sizeof(int32_t));
    for (size_t v = 0; v < kernel.variants.size(); ++v)
      out.distance(variants + v * sizeof(int32_t), kernel.variants[v] + kPackedSuffix);
    written.push_back({0, static_cast<uint32_t>(kernel.variants.size()), static_cast<int32_t>(variants)});
  }
  for (size_t k = 0; k < kernels.size(); ++k) {
    written[k].name = out.text(kernels[k].name);
    out.put(list + k * sizeof(LibraryKernel), written[k]);
  }
  const int32_t name = out.text(library);
  out.put(root, strew_library{STREW_LIBRARY_MAGIC, STREW_LIBRARY_VERSION, STREW_ABI_VERSION,
                              static_cast<uint32_t>(kernels.size()), name, static_cast<int32_t>(list)});
  return out.finish();
}

DescriptorImage pack(const DescriptorImage& descriptor, const std::vector<std::string>& parts) {
  RegistryWriter out;
  out.append(PackedKernel{static_cast<uint32_t>(descriptor.bytes.size()), static_cast<uint32_t>(descriptor.pointers.size()),
                          static_cast<uint32_t>(descriptor.externals.size())});
  for (const DescriptorImage::Pointer& pointer : descriptor.pointers) out.append(PackedKernel::Pointer{pointer.at, pointer.to});
  for (const DescriptorImage::External& external : descriptor.externals) {
    const bool is_part = std::find(parts.begin(), parts.end(), external.symbol) != parts.end();
    const uint32_t at = out.append(PackedKernel::External{external.at, is_part ? 1U : 0U, 0});
    out.distance(at + offsetof(PackedKernel::External, distance), external.symbol + (is_part ? kPackedSuffix : ""));
  }
  out.bytes(descriptor.bytes);
  return out.finish();
}

}  // namespace strew::inline v0
