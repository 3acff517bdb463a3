// GdbImage: tells a debugger the symbols of generated code, by the interface that GDB and LLDB have for JIT compilers: a list of object files in
// memory, and a function in which the debugger stops to read it. The list is the one of libLLVM, so that debuggers find one only.
// Tested by tests/unit/backends/llvm/link/gdb_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace strew::inline v0 {

/// struct jit_code_entry of "JIT Compilation Interface" in GDB's manual.
struct GdbEntry {
  GdbEntry* next_entry = nullptr;
  GdbEntry* prev_entry = nullptr;
  const char* symfile_addr = nullptr;
  uint64_t symfile_size = 0;
};

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
  GdbEntry entry_;
};

}  // namespace strew::inline v0
