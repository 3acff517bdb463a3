// See elf_file.h. Records are copied out of the file before they are looked at, because nothing says that they are aligned.
#include "backends/loader/elf_file.h"

#include <elf.h>

#include <bit>
#include <cstring>
#include <string>

namespace strew::inline v0 {
namespace {

/// Are bytes [at, at + size) in a file of `bytes` bytes?
bool is_inside(uint64_t at, uint64_t size, uint64_t bytes) { return at <= bytes && size <= bytes - at; }

/// The record at `at`, which is_inside().
template <class Record>
Record record_at(std::string_view bytes, uint64_t at) {
  Record out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

/// The text at `at` of a table of texts, each of which ends in a zero.
Expected<std::string_view> text_at(std::string_view table, uint64_t at) {
  if (at >= table.size()) return damaged_object("a name lies behind its table");
  const std::string_view rest = table.substr(at);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return damaged_object("a name has no end");
  return rest.substr(0, end);
}

Expected<Elf64_Ehdr> read_header(std::string_view bytes) {
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return invalid_argument("the object is no ELF file");
  const auto header = record_at<Elf64_Ehdr>(bytes, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_ident[EI_VERSION] != EV_CURRENT)
    return unsupported("the object is no 64-bit little-endian ELF file");
  if (header.e_type != ET_REL) return unsupported("the object is not relocatable");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return damaged_object("headers of sections have a wrong size");
  // Ours have a dozen. The limit bounds what sections that share bytes of a damaged file can ask for.
  constexpr uint16_t kMostSections = 256;
  if (header.e_shnum == 0 || header.e_shnum > kMostSections || header.e_shstrndx == SHN_XINDEX)
    return unsupported("the object has too many sections, or none");
  if (!is_inside(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr), bytes.size()))
    return damaged_object("the headers of sections lie behind its end");
  if (header.e_shstrndx >= header.e_shnum) return damaged_object("the section of section names is not there");
  return header;
}

Expected<ElfSection> read_section(std::string_view bytes, const Elf64_Shdr& header) {
  ElfSection out;
  out.type = header.sh_type;
  out.link = header.sh_link;
  out.info = header.sh_info;
  out.flags = header.sh_flags;
  out.size = header.sh_size;
  out.alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
  out.entry_bytes = header.sh_entsize;
  if (!std::has_single_bit(out.alignment)) return damaged_object("a section's alignment is no power of two");
  if (header.sh_type == SHT_NULL || header.sh_type == SHT_NOBITS) return out;
  if (!is_inside(header.sh_offset, header.sh_size, bytes.size())) return damaged_object("a section lies behind its end");
  out.bytes = bytes.substr(header.sh_offset, header.sh_size);
  return out;
}

Status read_symbols(const ElfSection& table, ElfFile& file) {
  if (table.entry_bytes != sizeof(Elf64_Sym) || table.bytes.size() % sizeof(Elf64_Sym) != 0)
    return damaged_object("the table of symbols has a wrong size");
  if (table.link >= file.sections.size() || file.sections[table.link].type != SHT_STRTAB)
    return damaged_object("the names of symbols are not there");
  const std::string_view names = file.sections[table.link].bytes;
  const size_t count = table.bytes.size() / sizeof(Elf64_Sym);
  file.symbols.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto symbol = record_at<Elf64_Sym>(table.bytes, i * sizeof(Elf64_Sym));
    ElfSymbol out;
    STREW_ASSIGN(out.name, text_at(names, symbol.st_name));
    out.binding = ELF64_ST_BIND(symbol.st_info);
    out.section = symbol.st_shndx;
    out.at = symbol.st_value;
    out.size = symbol.st_size;
    if (out.section == SHN_XINDEX) return unsupported("a symbol's section is in a table of its own");
    if (out.section != SHN_UNDEF && out.section < SHN_LORESERVE) {
      if (out.section >= file.sections.size()) return damaged_object("a symbol's section is not there");
      if (!is_inside(out.at, out.size, file.sections[out.section].size))
        return damaged_object("a symbol lies behind its section");
    }
    file.symbols.push_back(out);
  }
  return {};
}

}  // namespace

Expected<ElfFile> ElfFile::read(std::string_view bytes) {
  STREW_ASSIGN(const Elf64_Ehdr header, read_header(bytes));
  ElfFile out;
  out.machine = header.e_machine;
  std::vector<uint32_t> names;
  const ElfSection* symbols = nullptr;
  out.sections.reserve(header.e_shnum);
  names.reserve(header.e_shnum);
  for (uint32_t i = 0; i < header.e_shnum; ++i) {
    const auto section = record_at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    STREW_ASSIGN(const ElfSection read, read_section(bytes, section));
    out.sections.push_back(read);
    names.push_back(section.sh_name);
    if (read.type != SHT_SYMTAB) continue;
    if (symbols != nullptr) return damaged_object("it has two tables of symbols");
    symbols = &out.sections.back();
  }
  const std::string_view table = out.sections[header.e_shstrndx].bytes;
  for (size_t i = 1; i < out.sections.size(); ++i) {
    STREW_ASSIGN(out.sections[i].name, text_at(table, names[i]));
  }
  if (symbols != nullptr) STREW_TRY(read_symbols(*symbols, out));
  return out;
}

Expected<std::vector<ElfRelocation>> ElfFile::relocations(const ElfSection& section) const {
  if (section.entry_bytes != sizeof(Elf64_Rela) || section.bytes.size() % sizeof(Elf64_Rela) != 0)
    return damaged_object("a table of relocations has a wrong size");
  if (section.link >= sections.size() || sections[section.link].type != SHT_SYMTAB)
    return damaged_object("relocations have no table of symbols");
  std::vector<ElfRelocation> out;
  const size_t count = section.bytes.size() / sizeof(Elf64_Rela);
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto entry = record_at<Elf64_Rela>(section.bytes, i * sizeof(Elf64_Rela));
    const auto symbol = static_cast<uint32_t>(ELF64_R_SYM(entry.r_info));
    if (symbol >= symbols.size()) return damaged_object("a relocation's symbol is not there");
    out.push_back({entry.r_offset, symbol, static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)), entry.r_addend});
  }
  return out;
}

Status damaged_object(const std::string& what) { return invalid_argument("the object is damaged: " + what); }

}  // namespace strew::inline v0
