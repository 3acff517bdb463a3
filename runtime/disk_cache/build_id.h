// build_id: which strew and which LLVM this is, as far as code that they generate goes. It is a hash of two things:
//
//  - what strew was built from: the sources that decide about code, the versions of LLVM and Halide, and the build's settings. cmake/strew_build_id.cmake
//    makes that part whenever one of them changes, so that no object of an older strew is ever taken for one of this.
//  - which libLLVM this process would open, or has opened: the id that its linker wrote into it (elf_build_id). A distribution may replace libLLVM by
//    another of the same release without building strew anew. Where there is no libLLVM, it is the one that strew was built with.
//
// Tested by tests/unit/runtime/disk_cache/disk_cache_test.cc and library_id_test.cc.
#pragma once

#include <string>
#include <string_view>

namespace strew::inline v0 {

/// 32 hex digits.
std::string_view build_id();
/// build_id() for a process whose libLLVM has this id; empty: there is none.
std::string build_id_with(std::string_view llvm);
/// The name of libLLVM, by which libstrew_llvm needs it: "libLLVM.so.22.1".
std::string_view llvm_library();

// The identity of a shared library that may not be loaded yet: where the dynamic loader would find it, and the build id that its
// linker wrote into it. The disk cache asks for that of libLLVM: its entries are code that LLVM generated, and a process that takes kernels from
// the cache does not open LLVM, which takes up to 20 ms. Reading the id takes some tens of microseconds.

/// The file that the loader would open for a library of ours that needs `name` ("libLLVM.so.22.1"): the one that the process has loaded already; else
/// the first of this machine's kind in the folders of LD_LIBRARY_PATH, in `own_folder` (RUNPATH $ORIGIN of our libraries; it ends with a slash),
/// in the loader's cache and in the system's folders. Empty if there is none.
std::string find_shared_library(const std::string& name, const std::string& own_folder);

/// The GNU build id of an ELF file for this machine, in hex digits. Empty if the file is none, cannot be read, or has no build id.
std::string elf_build_id(const std::string& path);

}  // namespace strew::inline v0
