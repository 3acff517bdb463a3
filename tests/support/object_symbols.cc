// See object_symbols.h. Nothing in the file is believed beyond its first bytes: what lies outside of it reads as zeros. Used by
// tests/unit/backends/llvm/entries/object_test.cc.
#include "tests/support/object_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace strew::test {
namespace {

template <class T>
T at(const std::string& bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<std::string> exported_symbols(const std::string& object) {
  std::vector<std::string> names;
  if (!object.starts_with(ELFMAG)) {
    ADD_FAILURE() << "no ELF file";
    return names;
  }
  const auto header = at<Elf64_Ehdr>(object, 0);
  const auto section = [&](size_t i) { return at<Elf64_Shdr>(object, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr text = section(table.sh_link);
    for (size_t offset = 0; offset < table.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(object, table.sh_offset + offset);
      if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_UNDEF)
        names.emplace_back(object.c_str() + std::min<size_t>(text.sh_offset + symbol.st_name, object.size()));
    }
  }
  return names;
}

}  // namespace strew::test
