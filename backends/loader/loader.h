// The loader: puts an object that our backends made into this process's memory, and does not need LLVM for it. It is as strict as it is small: it
// knows the sections and the three relocations that generated code for x86-64 has, and says `unsupported` to everything else, which JITLink
// (backends/llvm/link) then links. Besides that difference it keeps the contract of LlvmModule::link (backends/modules.h), for one object.
//
// The bytes of an object are not trusted to be well formed: a damaged object is a Status. What they mean is trusted: code is run.
//
//  1. ElfFile (elf_file.h) reads the file.
//  2. Sections that the process needs get places: those with code in the pages of a CodeRun (slabs.h), all others among its constants. A function
//     of the process that the code calls gets a jump to it beside the code, because it may lie more than 2 GiB away.
//  3. Both parts are copied into buffers, the relocations are applied there, and the buffers are written to their places.
//
// Tests run every object through JITLink too and compare (set_load_check, tests/compare_load). Tested by
// tests/unit/backends/loader/loader_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/link.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Links the object and looks up `symbols` in it. Thread-safe. unsupported: JITLink may be able to; or the system has no memory for code.
/// invalid_argument: the object is damaged.
Expected<std::shared_ptr<LinkedObject>> load_object(std::string_view object, const std::vector<std::string>& symbols);

/// Where things of a loaded object lie, for those who compare it with what another linker makes of it.
struct LoadedLayout {
  struct Section {
    std::string_view name;
    const char* address = nullptr;
    size_t bytes = 0;
  };
  struct Jump {
    std::string_view symbol;  ///< of the process
    const char* address = nullptr;
  };
  struct Export {
    std::string_view symbol;
    const char* address = nullptr;
    size_t bytes = 0;
  };
  std::vector<Section> sections;
  std::vector<Jump> jumps;
  std::vector<Export> exports;
};
using LoadCheck = Status (*)(std::string_view object, const LoadedLayout& layout);
/// From now on, a load for which `check` fails fails with its message. For tests; null: no check.
void set_load_check(LoadCheck check);

}  // namespace strew::inline v0
