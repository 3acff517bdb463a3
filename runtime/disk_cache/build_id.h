// build_id: which strew and which LLVM this is, as far as code that they generate goes. It is a hash of two things:
//
//  - what strew was built from: the sources that decide about code, the versions of LLVM and Halide, and the build's settings. cmake/strew_build_id.cmake
//    makes that part whenever one of them changes, so that no object of an older strew is ever taken for one of this.
//  - which libLLVM this process would open, or has opened: the id that its linker wrote into it (library_id.h). A distribution may replace libLLVM by
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

}  // namespace strew::inline v0
