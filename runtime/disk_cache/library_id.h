// The identity of a shared library that may not be loaded yet: where the dynamic loader would find it, and the build id that its linker wrote into it.
// The disk cache asks for that of libLLVM: its entries are code that LLVM generated, and a process that takes kernels from the cache does not open LLVM,
// which takes up to 20 ms. Reading the id takes some tens of microseconds. Tested by tests/unit/runtime/disk_cache/library_id_test.cc.
#pragma once

#include <string>

namespace strew::inline v0 {

/// The file that the loader would open for a library of ours that needs `name` ("libLLVM.so.22.1"): the one that the process has loaded already; else
/// the first of this machine's kind in the folders of LD_LIBRARY_PATH, in `own_folder` (RUNPATH $ORIGIN of our libraries; it ends with a slash),
/// in the loader's cache and in the system's folders. Empty if there is none.
std::string find_shared_library(const std::string& name, const std::string& own_folder);

/// The GNU build id of an ELF file for this machine, in hex digits. Empty if the file is none, cannot be read, or has no build id.
std::string elf_build_id(const std::string& path);

}  // namespace strew::inline v0
