// LinkedObject: running code made of relocatable objects. Objects that our backends made are linked by link_object(), which needs no LLVM for
// nearly all of them; LlvmModule::link and load (backends/modules.h) link all others with LLVM's JITLink. Limit: the only external symbols that
// an object may use are the math table (base/math), the C library's rounding functions, and memcpy, memmove and memset. Tested by
// tests/unit/backends/link_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Code in memory. It is unmapped when the last owner lets go of it.
class LinkedObject {
 public:
  virtual ~LinkedObject() = default;
  /// The addresses of the symbols that were asked for, in their order.
  std::vector<const void*> addresses;
  std::vector<size_t>
      sizes;  ///< of these symbols, in bytes, as the object's table of symbols says: the symbol ends in its section
  /// A constant that a file of LlvmModule::load exports.
  struct Constant {
    std::string symbol;
    const void* address = nullptr;
    size_t bytes = 0;
  };
  std::vector<Constant> constants;  ///< sorted by symbol
  size_t code_bytes = 0;            ///< memory that code and constants take: whole pages of code, pieces of 64 bytes of constants
};

/// Do profilers or a debugger want to know the names of functions?
inline bool wants_names() {
  const Options& options = process_options();
  return options.perf_map || options.jitdump || options.gdb;
}

/// Links an object that a backend of ours made, and looks up the symbol in it: by the loader (backends/loader/loader.h) or, if the loader does not
/// know all that is in the object, or profilers or a debugger want to know the code's names, by JITLink.
Expected<std::shared_ptr<LinkedObject>> link_object(std::string_view object, const std::string& symbol);

}  // namespace strew::inline v0
