// STREW_GDB=1: debuggers find generated code by its symbols. The environment is read once, so the test takes another process.
#include <dlfcn.h>
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "tests/support/again.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

/// As in GDB's manual, "JIT Compilation Interface".
struct CodeEntry {
  CodeEntry *next, *previous;
  const char* symfile;
  uint64_t bytes;
};
struct Descriptor {
  uint32_t version, action;
  CodeEntry *relevant, *first;
};

/// libLLVM's list.
const Descriptor* debugger_list() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* out) {
        const std::string name = library->dlpi_name;
        if (name.find("/libLLVM") == std::string::npos) return 0;
        *static_cast<std::string*>(out) = name;
        return 1;
      },
      &path);
  void* const library = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  return library == nullptr ? nullptr : static_cast<const Descriptor*>(dlsym(library, "__jit_debug_descriptor"));
}

template <class T>
const T& at(const CodeEntry& entry, size_t offset) {
  EXPECT_LE(offset + sizeof(T), entry.bytes);
  return *reinterpret_cast<const T*>(entry.symfile + offset);
}

/// Where the debugger takes that function to be; 0: it has no such symbol.
uintptr_t address_of(const CodeEntry& entry, const std::string& function) {
  const auto& header = at<Elf64_Ehdr>(entry, 0);
  const auto section = [&](size_t i) -> const Elf64_Shdr& {
    return at<Elf64_Shdr>(entry, header.e_shoff + i * sizeof(Elf64_Shdr));
  };
  for (size_t i = 0; i < header.e_shnum; ++i) {
    if (section(i).sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr& names = section(section(i).sh_link);
    for (size_t offset = 0; offset < section(i).sh_size; offset += sizeof(Elf64_Sym)) {
      const auto& symbol = at<Elf64_Sym>(entry, section(i).sh_offset + offset);
      if (function == entry.symfile + names.sh_offset + symbol.st_name) return section(symbol.st_shndx).sh_addr + symbol.st_value;
    }
  }
  return 0;
}

TEST(Gdb, KernelsAreListedWhileTheyLive) {
  if (!test::is_again()) {
    EXPECT_EQ(test::run_again("STREW_GDB=1"), 0);
    return;
  }
  std::vector<Kernel> kernels;
  const Descriptor* list = nullptr;
  {
    Runtime runtime;
    for (const int rows : {10, 11, 12}) {
      KernelOptions options;
      options.backend = BackendChoice::llvm;
      const auto kernel =
          runtime.get(test::op_of("strew1.scatter(operand=f32[" + std::to_string(rows) +
                                  ",8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
                                  "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
                      options);
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      kernels.push_back(*kernel);
    }
    list = debugger_list();
    ASSERT_NE(list, nullptr);
    size_t found = 0, listed = 0;
    for (const CodeEntry* entry = list->first; entry != nullptr; entry = entry->next) {
      ++listed;
      for (const Kernel& kernel : kernels) {
        const uintptr_t address = address_of(*entry, kernel.symbol() + "_range");
        if (address == 0) continue;
        ++found;
        EXPECT_EQ(address, reinterpret_cast<uintptr_t>(kernel.entry(STREW_ENTRY_range)));
      }
    }
    EXPECT_EQ(found, 3u);
    EXPECT_EQ(listed, 3u);
    // The one in the middle of the list goes first.
    kernels.erase(kernels.begin() + 1);
    runtime.clear();
  }
  size_t left = 0;
  for (const CodeEntry* entry = list->first; entry != nullptr; entry = entry->next) ++left;
  EXPECT_EQ(left, 2u);
  kernels.clear();
  EXPECT_EQ(list->first, nullptr);
  EXPECT_EQ(list->relevant, nullptr);
}

}  // namespace
}  // namespace strew
