// See build_id.h. The library's id is asked for once per process, when the disk cache is first used.
#include "runtime/disk_cache/build_id.h"

#include "base/module.h"
#include "strew/text.h"
#include "strew_build_id.h"

namespace strew::inline v0 {

std::string build_id_with(std::string_view llvm) {
  return to_hex(hash_text(std::string(STREW_BUILD_ID) + "\n" + std::string(llvm.empty() ? STREW_LLVM_BUILD_ID : llvm)));
}

std::string_view llvm_library() { return STREW_LLVM_FILE; }

std::string_view build_id() {
  // Never destroyed: compile threads ask for it until the process ends.
  static const std::string& id =
      *new std::string(build_id_with(elf_build_id(find_shared_library(std::string(llvm_library()), module_folder()))));
  return id;
}

}  // namespace strew::inline v0
