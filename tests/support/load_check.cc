// See load_check.h.
#include "tests/support/load_check.h"

#include "backends/loader/loader.h"
#include "backends/modules.h"

namespace strew::test {

void check_loads() {
  set_load_check([](std::string_view object, const LoadedLayout& layout) -> Status {
    STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
    return module->compare_load(object, layout);
  });
}

}  // namespace strew::test
