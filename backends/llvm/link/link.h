// LlvmModule::link and load (backends/modules.h), with LLVM's JITLink. Tested by tests/unit/backends/link_test.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/link.h"

namespace strew::inline v0 {

Expected<std::shared_ptr<LinkedObject>> link_symbols(const std::vector<std::string>& objects,
                                                     const std::vector<std::string>& symbols);
Expected<std::shared_ptr<LinkedObject>> link_file(std::string_view file);

}  // namespace strew::inline v0
