// GdbImage: tells a debugger the symbols of generated code, by the interface that GDB and LLDB have for JIT compilers: a list of object files in
// memory, and a function in which the debugger stops to read it. The list is the one of libLLVM, so that debuggers find one only.
// Tested by tests/unit/backends/llvm/link/gdb_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

extern "C" struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

namespace strew::inline v0 {

/// Where the sections of an object lie.
using SectionAddresses = std::map<std::string, const void*, std::less<>>;

/// One object in the debugger's list, from construction to destruction. One thread at a time may construct or destroy.
class GdbImage {
 public:
  GdbImage(std::string_view object, const SectionAddresses& sections);
  ~GdbImage();
  GdbImage(const GdbImage&) = delete;
  GdbImage& operator=(const GdbImage&) = delete;

 private:
  std::string image_;  ///< the object with the addresses of its sections
  jit_code_entry entry_{};
};

}  // namespace strew::inline v0
