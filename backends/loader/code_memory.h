// CodeMemory: the process's one set of slabs (slabs.h), and what else a linker of generated code needs from libstrew: the functions that the code
// may call (externals.h). The loader (loader.h) and JITLink, which lies in a library of its own, libstrew_llvm, place code in the same slabs.
// libstrew hands it a table for this when it opens the library (LlvmModule::use, backends/modules.h). Tested by
// tests/unit/backends/link_test.cc and tests/unit/base/fork_test.cc.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

class Slabs;
/// The slabs of the process. They outlive every kernel: they are never destroyed.
Slabs& process_slabs();

/// A CodeRun (slabs.h) of the process's slabs, for callers in other libraries. Its destructor gives the memory back.
class CodeMemory {
 public:
  virtual ~CodeMemory() = default;
  virtual char* code() const = 0;       ///< starts at a page
  virtual char* constants() const = 0;  ///< aligned to CodeServices::constant_alignment
  virtual size_t bytes() const = 0;     ///< memory that it takes
  /// Copies code and constants to their places and makes them executable and readable.
  virtual Status write(std::span<const char> code, std::span<const char> constants) = 0;
};

struct CodeServices {
  size_t constant_alignment;
  /// A place in the process's slabs, as Slabs::place().
  Expected<std::unique_ptr<CodeMemory>> (*place)(size_t code_bytes, size_t constant_bytes);
  const void* (*find_external)(std::string_view name);
};
const CodeServices& code_services();

}  // namespace strew::inline v0
