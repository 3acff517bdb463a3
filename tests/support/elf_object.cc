// See elf_object.h. The object has its sections in the order in which they were added, then relocations, symbols and names. Used by
// tests/unit/backends/link_test.cc.
#include "tests/support/elf_object.h"

#include <cstring>

namespace strew::test {
namespace {

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

int ElfObject::add_section(const std::string& name, const std::string& bytes, uint64_t flags, uint64_t alignment) {
  sections_.push_back({name, bytes, flags | SHF_ALLOC, alignment, {}});
  return static_cast<int>(sections_.size());
}

int ElfObject::add_symbol(const std::string& name, int section, uint64_t at, uint64_t size, int type) {
  Elf64_Sym symbol{};
  symbol.st_name = static_cast<Elf64_Word>(names_.size());
  symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, section == 0 ? STT_NOTYPE : type));
  symbol.st_shndx = static_cast<Elf64_Section>(section);
  symbol.st_value = at;
  symbol.st_size = size;
  symbols_.push_back(symbol);
  names_ += name + '\0';
  return static_cast<int>(symbols_.size() - 1);
}

void ElfObject::add_relocation(int section, uint64_t at, int symbol, uint32_t type, int64_t addend) {
  sections_[static_cast<size_t>(section - 1)].relocations.push_back(
      {at, ELF64_R_INFO(static_cast<Elf64_Xword>(symbol), type), addend});
}

std::string ElfObject::bytes() const {
  std::string out(sizeof(Elf64_Ehdr), '\0');
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const std::string& name, uint32_t type, const std::string& contents) -> Elf64_Shdr& {
    out.resize((out.size() + 63) / 64 * 64);
    Elf64_Shdr header{};
    header.sh_name = static_cast<Elf64_Word>(names.size());
    header.sh_type = type;
    header.sh_offset = out.size();
    header.sh_size = contents.size();
    header.sh_addralign = 8;
    names += name + '\0';
    out += contents;
    headers.push_back(header);
    return headers.back();
  };
  for (const Section& section : sections_) {
    Elf64_Shdr& header = add(section.name, SHT_PROGBITS, section.bytes);
    header.sh_flags = section.flags;
    header.sh_addralign = section.alignment;
  }
  size_t tables = 0;
  for (const Section& section : sections_) tables += !section.relocations.empty();
  const size_t symbol_table = sections_.size() + tables + 1;
  for (size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].relocations.empty()) continue;
    std::string contents;
    for (const Elf64_Rela& relocation : sections_[i].relocations) append(contents, relocation);
    Elf64_Shdr& header = add(".rela" + sections_[i].name, SHT_RELA, contents);
    header.sh_link = static_cast<Elf64_Word>(symbol_table);
    header.sh_info = static_cast<Elf64_Word>(i + 1);
    header.sh_entsize = sizeof(Elf64_Rela);
  }
  std::string symbols;
  for (const Elf64_Sym& symbol : symbols_) append(symbols, symbol);
  Elf64_Shdr& table = add(".symtab", SHT_SYMTAB, symbols);
  table.sh_link = static_cast<Elf64_Word>(symbol_table + 1);
  table.sh_info = 1;
  table.sh_entsize = sizeof(Elf64_Sym);
  add(".strtab", SHT_STRTAB, names_);
  const std::string name = ".shstrtab";
  add(name, SHT_STRTAB, names + name + '\0');

  out.resize((out.size() + 63) / 64 * 64);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_shoff = out.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::memcpy(out.data(), &header, sizeof header);
  for (const Elf64_Shdr& each : headers) append(out, each);
  return out;
}

std::string ElfObject::returning(const std::string& symbol, int32_t value) {
  std::string code = "\xb8";  // mov eax, value; ret
  append(code, value);
  code += "\xc3";
  ElfObject object;
  object.add_symbol(symbol, object.add_section(".text", code, SHF_EXECINSTR), 0, code.size());
  return object.bytes();
}

std::string ElfObject::calling(const std::string& symbol, const std::string& callee) {
  const std::string code("\xe9\0\0\0\0", 5);  // jmp callee
  ElfObject object;
  const int text = object.add_section(".text", code, SHF_EXECINSTR);
  object.add_symbol(symbol, text, 0, code.size());
  object.add_relocation(text, 1, object.add_symbol(callee, 0), R_X86_64_PLT32, -4);
  return object.bytes();
}

}  // namespace strew::test
