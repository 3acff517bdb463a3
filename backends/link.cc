// See link.h: who links an object of ours.
#include "backends/link.h"

#include "backends/loader/loader.h"
#include "backends/modules.h"
#include "backends/object_checksum.h"

namespace strew::inline v0 {

Expected<std::shared_ptr<LinkedObject>> link_object(std::string_view object, const std::string& symbol) {
  if (!wants_names()) {
    auto loaded = load_object(object, {symbol});
    if (loaded.ok() || loaded.status().code() != Code::unsupported) return loaded;
  }
  // JITLink trusts what an object says.
  STREW_TRY(check_checksum(object));
  STREW_ASSIGN(const LlvmModule* module, open_llvm_module());
  return module->link({std::string(object)}, {symbol});
}

}  // namespace strew::inline v0
