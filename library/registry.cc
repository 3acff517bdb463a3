// See registry.h. The image holds, one after another: the strew_library, the kernels, the pointers to their variants, the texts.
#include "library/registry.h"

#include <cstddef>
#include <cstring>
#include <string_view>

#include "strew/library.h"

namespace strew::inline v0 {
namespace {

class Writer {
 public:
  uint32_t reserve(size_t bytes) {
    while (image_.bytes.size() % alignof(std::max_align_t) != 0) image_.bytes.push_back(0);
    const auto at = static_cast<uint32_t>(image_.bytes.size());
    image_.bytes.resize(at + bytes);
    return at;
  }
  template <class T>
  void put(uint32_t at, const T& value) {
    std::memcpy(image_.bytes.data() + at, &value, sizeof value);
  }
  void text(size_t field, std::string_view text) {
    const uint32_t to = reserve(text.size() + 1);
    std::memcpy(image_.bytes.data() + to, text.data(), text.size());
    point(field, to);
  }
  void point(size_t field, uint32_t to) { image_.pointers.push_back({static_cast<uint32_t>(field), to}); }
  void external(size_t field, const std::string& symbol) { image_.externals.push_back({static_cast<uint32_t>(field), symbol}); }
  DescriptorImage finish() { return std::move(image_); }

 private:
  DescriptorImage image_;
};

}  // namespace

DescriptorImage make_registry(const std::string& library, const std::vector<RegistryKernel>& kernels) {
  Writer out;
  const uint32_t root = out.reserve(sizeof(strew_library));
  const uint32_t list = out.reserve(kernels.size() * sizeof(strew_library_kernel));
  out.put(root, strew_library{STREW_LIBRARY_VERSION, sizeof(strew_library), nullptr, static_cast<uint32_t>(kernels.size()), 0,
                              nullptr});
  out.text(root + offsetof(strew_library, name), library);
  out.point(root + offsetof(strew_library, kernels), list);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto at = static_cast<uint32_t>(list + k * sizeof(strew_library_kernel));
    const std::vector<std::string>& variants = kernels[k].variants;
    out.put(at, strew_library_kernel{nullptr, static_cast<uint32_t>(variants.size()), 0, nullptr});
    out.text(at + offsetof(strew_library_kernel, name), kernels[k].name);
    const uint32_t pointers = out.reserve(variants.size() * sizeof(void*));
    out.point(at + offsetof(strew_library_kernel, variants), pointers);
    for (size_t v = 0; v < variants.size(); ++v) out.external(pointers + v * sizeof(void*), variants[v]);
  }
  return out.finish();
}

}  // namespace strew::inline v0
