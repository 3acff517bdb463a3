// See load_check.h.
#include "tests/support/load_check.h"

#include <atomic>

#include "base/module.h"

namespace strew::test {

Status compare_load(std::string_view object, const LoadedLayout& layout) {
  static std::atomic<LoadCheck> opened{nullptr};
  if (opened.load() == nullptr) {
    const Expected<void*> symbol = open_module_symbol("libstrew_compare_load.so", "strew_compare_load", "the check of loads");
    // Not as `unsupported`, for which JITLink would link the object in the loader's place.
    if (!symbol.ok()) return internal_error(symbol.status().message());
    opened = reinterpret_cast<LoadCheck (*)()>(*symbol)();
  }
  return opened.load()(object, layout);
}

void check_loads() { set_load_check(compare_load); }

}  // namespace strew::test
