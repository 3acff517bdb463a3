// See gdb.h. The declarations below are those of "JIT Compilation Interface" in GDB's manual. A relocatable object says where its sections lie in
// the field sh_addr of its section headers, which a compiler leaves at 0.
#include "backends/llvm/link/gdb.h"

#include <llvm/BinaryFormat/ELF.h>

#include <cstring>

extern "C" {
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  strew::GdbEntry* relevant_entry;
  strew::GdbEntry* first_entry;
};
extern jit_descriptor __jit_debug_descriptor;  // NOLINT(bugprone-reserved-identifier): the debugger looks for this name
void __jit_debug_register_code();              // NOLINT(bugprone-reserved-identifier)
}

namespace strew::inline v0 {
namespace {

enum Action : uint32_t { kNothing, kRegister, kUnregister };

void tell_debugger(GdbEntry& entry, Action action) {
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = kNothing;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

/// The T at that offset of the image, as a copy; all zero where the image ends before it.
template <class T>
T read(const std::string& image, size_t offset) {
  T value{};
  if (offset <= image.size() && sizeof(T) <= image.size() - offset) std::memcpy(&value, image.data() + offset, sizeof(T));
  return value;
}

void set_addresses(std::string& image, const SectionAddresses& sections) {
  const auto header = read<llvm::ELF::Elf64_Ehdr>(image, 0);
  const auto header_of = [&](size_t section) { return header.e_shoff + section * sizeof(llvm::ELF::Elf64_Shdr); };
  const auto names = read<llvm::ELF::Elf64_Shdr>(image, header_of(header.e_shstrndx));
  for (size_t i = 1; i < header.e_shnum; ++i) {
    auto section = read<llvm::ELF::Elf64_Shdr>(image, header_of(i));
    const size_t name = names.sh_offset + section.sh_name;
    if (name >= image.size() || header_of(i) + sizeof section > image.size()) return;
    const auto found = sections.find(std::string_view(image.c_str() + name));
    if (found == sections.end()) continue;
    section.sh_addr = reinterpret_cast<uintptr_t>(found->second);
    std::memcpy(image.data() + header_of(i), &section, sizeof section);
  }
}

}  // namespace

GdbImage::GdbImage(std::string_view object, const SectionAddresses& sections) : image_(object) {
  set_addresses(image_, sections);
  entry_.symfile_addr = image_.data();
  entry_.symfile_size = image_.size();
  entry_.next_entry = __jit_debug_descriptor.first_entry;
  if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = &entry_;
  __jit_debug_descriptor.first_entry = &entry_;
  tell_debugger(entry_, kRegister);
}

GdbImage::~GdbImage() {
  if (entry_.prev_entry != nullptr)
    entry_.prev_entry->next_entry = entry_.next_entry;
  else
    __jit_debug_descriptor.first_entry = entry_.next_entry;
  if (entry_.next_entry != nullptr) entry_.next_entry->prev_entry = entry_.prev_entry;
  tell_debugger(entry_, kUnregister);
}

}  // namespace strew::inline v0
