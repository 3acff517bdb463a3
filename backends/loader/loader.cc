// See loader.h. The relocations, with S the symbol's address, A the addend and P the address of the field:
//
//   R_X86_64_64     8 bytes: S + A, in descriptors
//   R_X86_64_PC32   4 bytes: S + A - P, of constants
//   R_X86_64_PLT32  4 bytes: S + A - P, of calls; for a function of the process that is too far away, S is the jump to it
#include "backends/loader/loader.h"

#include <elf.h>

#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <unordered_map>

#include "backends/loader/elf_file.h"
#include "backends/loader/externals.h"
#include "backends/loader/slabs.h"

namespace strew::inline v0 {
namespace {

std::atomic<LoadCheck> load_check{nullptr};

constexpr size_t kJumpBytes = 16;               // jmp [rip + distance], and filling
constexpr size_t kPointerBytes = 8;             // what the jump reads
constexpr size_t kMostAlignment = 4096;         // of code: a page
constexpr size_t kMostBytes = size_t{1} << 30;  // Slabs::place() has the same limit

/// The code or the constants of an object: the bytes that are worked on, and where they will run.
struct Part {
  std::vector<char> bytes;
  char* address = nullptr;
};

/// A place in a part.
struct Place {
  Part* part = nullptr;
  size_t at = 0;

  char* bytes() const { return part->bytes.data() + at; }
  uint64_t address() const { return reinterpret_cast<uint64_t>(part->address) + at; }
};

class LoadedCode final : public LinkedObject {
 public:
  explicit LoadedCode(CodeRun run) : run_(std::move(run)) { code_bytes = run_.bytes(); }

 private:
  CodeRun run_;
};

/// One load, from the file to the code.
class Load {
 public:
  explicit Load(const ElfFile& file) : file_(file) {}

  Status place();
  Status relocate();
  Expected<std::shared_ptr<LinkedObject>> finish(std::string_view object, const std::vector<std::string>& symbols);

 private:
  struct External {
    std::string_view name;
    uint64_t address = 0;
    Place jump, pointer;
  };

  static Status check(const ElfSection& section);
  static Expected<Place> take(Part& part, size_t bytes, size_t alignment);
  Status place_externals();
  Status write_jumps();
  Status relocate(const ElfSection& table);
  Status relocate(const ElfSection& section, const Place& target, const ElfRelocation& relocation);
  LoadedLayout layout() const;

  const ElfFile& file_;
  Part code_, constants_;
  std::vector<Place> places_;  ///< of sections, by number; without a part: the process does not need the section
  std::unordered_map<uint32_t, External> externals_;  ///< by the symbol's number
  CodeRun run_;
};

/// Ok for a section that generated code has, if the process needs it at all.
Status Load::check(const ElfSection& section) {
  constexpr uint64_t kKnown = SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS;
  const std::string name = "section " + std::string(section.name);
  if (section.type != SHT_PROGBITS || (section.flags & ~kKnown) != 0)
    return unsupported(name + " is of a kind that generated code does not have");
  const bool is_code = (section.flags & SHF_EXECINSTR) != 0;
  // Constants that hold addresses are writable until they are relocated, says ELF; here the buffer is what is written.
  if ((section.flags & SHF_WRITE) != 0 && (is_code || !section.name.starts_with(".data.rel.ro")))
    return unsupported(name + " is writable; a kernel has code and constants only");
  const size_t most = is_code ? kMostAlignment : Slabs::kPiece;
  if (section.alignment > most)
    return unsupported(name + " is aligned to " + std::to_string(section.alignment) + " bytes, expected at most " +
                       std::to_string(most));
  return {};
}

/// A place for that many bytes at the end of the part.
Expected<Place> Load::take(Part& part, size_t bytes, size_t alignment) {
  const size_t at = (part.bytes.size() + alignment - 1) / alignment * alignment;
  if (bytes > kMostBytes || at > kMostBytes - bytes) return unsupported("the object needs more than a gibibyte of memory");
  part.bytes.resize(at + bytes);
  return Place{&part, at};
}

Status Load::place() {
  places_.resize(file_.sections.size());
  for (size_t i = 1; i < file_.sections.size(); ++i) {
    const ElfSection& section = file_.sections[i];
    if (section.type == SHT_REL || section.type == SHT_GROUP)
      return unsupported("the object has relocations without addends, or groups");
    if ((section.flags & SHF_ALLOC) == 0) continue;
    STREW_TRY(check(section));
    Part& part = (section.flags & SHF_EXECINSTR) != 0 ? code_ : constants_;
    STREW_ASSIGN(places_[i], take(part, section.bytes.size(), section.alignment));
    if (!section.bytes.empty()) std::memcpy(places_[i].bytes(), section.bytes.data(), section.bytes.size());
  }
  STREW_TRY(place_externals());
  STREW_ASSIGN(run_, process_slabs().place(code_.bytes.size(), constants_.bytes.size()));
  // A part without bytes has no address; nothing refers to it.
  if (!code_.bytes.empty()) code_.address = run_.code();
  if (!constants_.bytes.empty()) constants_.address = run_.constants();
  return write_jumps();
}

/// Finds the functions of the process that the object uses.
Status Load::place_externals() {
  for (uint32_t i = 1; i < file_.symbols.size(); ++i) {
    const ElfSymbol& symbol = file_.symbols[i];
    if (symbol.section != SHN_UNDEF || symbol.name.empty()) continue;
    const void* const address = find_external(symbol.name);
    if (address == nullptr) {
      if (symbol.binding == STB_WEAK) return unsupported("symbol " + std::string(symbol.name) + " is weak and not there");
      return unsupported("the object uses symbol " + std::string(symbol.name) + ", which generated code may not use");
    }
    External external{symbol.name, reinterpret_cast<uint64_t>(address), {}, {}};
    STREW_ASSIGN(external.jump, take(code_, kJumpBytes, kJumpBytes));
    STREW_ASSIGN(external.pointer, take(constants_, kPointerBytes, kPointerBytes));
    externals_.emplace(i, external);
  }
  return {};
}

Status Load::write_jumps() {
  for (const auto& [number, external] : externals_) {
    std::array<char, kJumpBytes> jump = {};
    jump.fill(static_cast<char>(0xcc));  // int3
    jump[0] = static_cast<char>(0xff);   // jmp [rip + distance]
    jump[1] = 0x25;
    constexpr size_t kJump = 6;
    // Both lie in one slab, or in one reservation of at most 2 GiB (Slabs::place).
    const auto distance = static_cast<int32_t>(external.pointer.address() - (external.jump.address() + kJump));
    std::memcpy(&jump[2], &distance, sizeof distance);
    std::memcpy(external.jump.bytes(), jump.data(), jump.size());
    std::memcpy(external.pointer.bytes(), &external.address, sizeof external.address);
  }
  return {};
}

Status Load::relocate() {
  for (const ElfSection& section : file_.sections)
    if (section.type == SHT_RELA) STREW_TRY(relocate(section));
  return {};
}

Status Load::relocate(const ElfSection& table) {
  if (table.info >= file_.sections.size()) return damaged_object("relocations are for a section that is not there");
  const Place& target = places_[table.info];
  if (target.part == nullptr) return {};  // of a debugger, for example
  STREW_ASSIGN(const std::vector<ElfRelocation> relocations, file_.relocations(table));
  for (const ElfRelocation& relocation : relocations) STREW_TRY(relocate(file_.sections[table.info], target, relocation));
  return {};
}

Status Load::relocate(const ElfSection& section, const Place& target, const ElfRelocation& relocation) {
  const uint32_t type = relocation.type;
  if (type != R_X86_64_64 && type != R_X86_64_PC32 && type != R_X86_64_PLT32)
    return unsupported("the object has a relocation of type " + std::to_string(type) + ", which generated code does not have");
  const size_t bytes = type == R_X86_64_64 ? sizeof(uint64_t) : sizeof(int32_t);
  if (relocation.at > section.bytes.size() || bytes > section.bytes.size() - relocation.at)
    return damaged_object("a relocation lies behind its section");
  const Place field{target.part, target.at + relocation.at};
  const ElfSymbol& symbol = file_.symbols[relocation.symbol];
  const auto external = externals_.find(relocation.symbol);
  uint64_t address = 0;
  if (external != externals_.end()) {
    address = external->second.address;
  } else {
    if (symbol.section == SHN_UNDEF || symbol.section >= places_.size() || places_[symbol.section].part == nullptr)
      return unsupported("a relocation refers to a symbol that is in no section of the process");
    address = places_[symbol.section].address() + symbol.at;
  }
  const auto addend = static_cast<uint64_t>(relocation.addend);
  if (type == R_X86_64_64) {
    const uint64_t value = address + addend;
    std::memcpy(field.bytes(), &value, sizeof value);
    return {};
  }
  const auto is_near = [](int64_t value) { return value == static_cast<int32_t>(value); };
  auto distance = static_cast<int64_t>(address + addend - field.address());
  if (!is_near(distance) && external != externals_.end() && type == R_X86_64_PLT32)
    distance = static_cast<int64_t>(external->second.jump.address() + addend - field.address());
  if (!is_near(distance)) return unsupported("a symbol lies too far away from its use");
  const auto value = static_cast<int32_t>(distance);
  std::memcpy(field.bytes(), &value, sizeof value);
  return {};
}

LoadedLayout Load::layout() const {
  LoadedLayout out;
  for (size_t i = 1; i < places_.size(); ++i)
    if (places_[i].part != nullptr)
      out.sections.push_back(
          {file_.sections[i].name, reinterpret_cast<const char*>(places_[i].address()), file_.sections[i].bytes.size()});
  for (const auto& [number, external] : externals_)
    out.jumps.push_back({external.name, reinterpret_cast<const char*>(external.jump.address())});
  for (const ElfSymbol& symbol : file_.symbols)
    if (symbol.binding != STB_LOCAL && symbol.section != SHN_UNDEF && symbol.section < places_.size() &&
        places_[symbol.section].part != nullptr)
      out.exports.push_back(
          {symbol.name, reinterpret_cast<const char*>(places_[symbol.section].address() + symbol.at), symbol.size});
  return out;
}

Expected<std::shared_ptr<LinkedObject>> Load::finish(std::string_view object, const std::vector<std::string>& symbols) {
  STREW_TRY(run_.write(code_.bytes, constants_.bytes));
  const LoadedLayout where = layout();
  if (const LoadCheck check = load_check.load()) STREW_TRY(check(object, where));
  auto out = std::make_shared<LoadedCode>(std::move(run_));
  for (const std::string& symbol : symbols) {
    const LoadedLayout::Export* found = nullptr;
    for (const LoadedLayout::Export& each : where.exports) {
      if (each.symbol != symbol) continue;
      if (found != nullptr) return damaged_object("symbol " + symbol + " is defined twice");
      found = &each;
    }
    if (found == nullptr) return internal_error("no object defines symbol " + symbol);
    out->addresses.push_back(found->address);
    out->sizes.push_back(found->bytes);
  }
  return std::shared_ptr<LinkedObject>(std::move(out));
}

Expected<std::shared_ptr<LinkedObject>> load(std::string_view object, const std::vector<std::string>& symbols) {
  STREW_ASSIGN(const ElfFile file, ElfFile::read(object));
#if defined(__x86_64__)
  constexpr uint16_t kMachine = EM_X86_64;
#else
  constexpr uint16_t kMachine = EM_NONE;  // other machines have other relocations
#endif
  if (file.machine != kMachine) return unsupported("the object is for another machine than the loader knows");
  Load load(file);
  STREW_TRY(load.place());
  STREW_TRY(load.relocate());
  return load.finish(object, symbols);
}

}  // namespace

Expected<std::shared_ptr<LinkedObject>> load_object(std::string_view object, const std::vector<std::string>& symbols) {
  auto loaded = load(object, symbols);
  if (!loaded.ok()) return loaded.status().with_prefix("linker");
  return loaded;
}

void set_load_check(LoadCheck check) { load_check = check; }

}  // namespace strew::inline v0
