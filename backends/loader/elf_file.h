// ElfFile: the sections and the symbols of a 64-bit little-endian relocatable ELF file, read without trust: every offset, size, index and string is
// checked against the bytes there are, so that what comes out can be used without further checks. It holds views into the file.
// Tested by tests/unit/backends/loader/loader_test.cc and tests/fuzz/targets/object.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strew/status.h"

namespace strew::inline v0 {

struct ElfSection {
  std::string_view name;
  std::string_view bytes;  ///< empty for a section without bytes in the file (SHT_NOBITS)
  uint32_t type = 0;
  uint32_t link = 0;  ///< number of a section
  uint32_t info = 0;
  uint64_t flags = 0;
  uint64_t size = 0;
  uint64_t alignment = 1;  ///< a power of two
  uint64_t entry_bytes = 0;
};

struct ElfSymbol {
  std::string_view name;
  uint8_t binding = 0;
  uint32_t section = 0;  ///< number of a section of the file, or one of the special numbers: SHN_UNDEF, SHN_ABS, …
  uint64_t at = 0;       ///< of a symbol in a section: at most the section's size
  uint64_t size = 0;     ///< of a symbol in a section: ends in the section
};

struct ElfRelocation {
  uint64_t at = 0;
  uint32_t symbol = 0;  ///< less than the number of symbols
  uint32_t type = 0;
  int64_t addend = 0;
};

struct ElfFile {
  uint16_t machine = 0;
  std::vector<ElfSection> sections;  ///< by number; the first is none
  std::vector<ElfSymbol> symbols;    ///< by number; the first is none

  /// invalid_argument: a damaged file, or none at all. unsupported: an ELF file of another kind.
  static Expected<ElfFile> read(std::string_view bytes);
  /// The entries of a section of type SHT_RELA.
  Expected<std::vector<ElfRelocation>> relocations(const ElfSection& section) const;
};

/// What reading a damaged object fails with.
Status damaged_object(const std::string& what);

}  // namespace strew::inline v0
