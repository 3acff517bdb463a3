// ElfObject: writes small relocatable objects for x86-64, so that tests can hand the linker what no kernel contains.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <vector>

namespace strew::test {

class ElfObject {
 public:
  /// A section; the result is its number. `flags`: SHF_ALLOC and others.
  int add_section(const std::string& name, const std::string& bytes, uint64_t flags, uint64_t alignment = 16);
  /// A global symbol; section 0: undefined. The result is its number.
  int add_symbol(const std::string& name, int section, uint64_t at = 0, uint64_t size = 0, int type = STT_FUNC);
  void add_relocation(int section, uint64_t at, int symbol, uint32_t type, int64_t addend);

  /// The bytes of the object.
  std::string bytes() const;

  /// A function SYMBOL that returns `value`.
  static std::string returning(const std::string& symbol, int32_t value);
  /// A function SYMBOL that tail-calls CALLEE, an undefined symbol.
  static std::string calling(const std::string& symbol, const std::string& callee);

 private:
  struct Section {
    std::string name, bytes;
    uint64_t flags, alignment;
    std::vector<Elf64_Rela> relocations;
  };
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_ = {Elf64_Sym{}};
  std::string names_ = std::string(1, '\0');
};

}  // namespace strew::test
