// See build_id.h. The library's id is asked for once per process, when the disk cache is first used.
//
// The loader's search order is that of ld.so(8). LD_LIBRARY_PATH and the system's folders are asked of the loader itself
// (RTLD_DI_SERINFO), which knows whether the process may use the variable. The loader's cache is read as glibc writes it (dl-cache.h): a header, entries
// of offsets, strings. Not followed: folders for special hardware (glibc-hwcaps), and RUNPATHs of other libraries than ours. A library that is not
// found has no id, and then the disk cache takes that of the one strew was built with (build_id.h). Whatever is read from files is checked against
// their sizes.
#include "runtime/disk_cache/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/module.h"
#include "base/printable.h"
#include "strew/text.h"
#include "strew_build_id.h"

namespace strew::inline v0 {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#else
constexpr uint16_t kMachine = EM_AARCH64;
#endif

/// Reads all of `bytes` from `at` on; false: they are not there.
bool read_at(const Expected<InputFile>& file, uint64_t at, void* to, size_t bytes) {
  return file.ok() && at <= INT64_MAX && file->read(static_cast<int64_t>(at), {static_cast<std::byte*>(to), bytes}).ok();
}

/// The header, if the file is a 64-bit little-endian ELF file for this machine.
bool read_header(const Expected<InputFile>& file, Elf64_Ehdr& header) {
  return read_at(file, 0, &header, sizeof header) && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == kMachine &&
         header.e_phentsize == sizeof(Elf64_Phdr);
}

bool is_library(const std::string& path) {
  Elf64_Ehdr header;
  return read_header(InputFile::open(path), header) && header.e_type == ET_DYN;
}

/// The build id among the notes of a segment.
std::string build_id_among(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  const auto padded = [](uint64_t bytes) { return (bytes + 3) / 4 * 4; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t at = sizeof note + padded(note.n_namesz), end = at + padded(note.n_descsz);
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note, note.n_namesz) == kOwner)
      return hex_digits(notes.substr(at, note.n_descsz));
    notes.remove_prefix(end);
  }
  return "";
}

/// The path of the library where the process has loaded it, by whatever folder.
std::string loaded_library(const std::string& name) {
  std::pair<const std::string*, std::string> search(&name, "");
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& [wanted, found] = *static_cast<std::pair<const std::string*, std::string>*>(data);
        const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (!path.ends_with("/" + *wanted)) return 0;
        found = path;
        return 1;
      },
      &search);
  return search.second;
}

/// The folders of one kind that the loader searches, each with a slash at its end: those of LD_LIBRARY_PATH (LA_SER_LIBPATH), or the system's
/// (LA_SER_DEFAULT).
std::vector<std::string> loader_folders(unsigned kind) {
  std::vector<std::string> out;
  void* const program = dlopen(nullptr, RTLD_LAZY);
  Dl_serinfo sizes = {};
  if (program == nullptr || dlinfo(program, RTLD_DI_SERINFOSIZE, &sizes) != 0) return out;
  std::vector<std::max_align_t> memory(sizes.dls_size / sizeof(std::max_align_t) + 1);
  auto* const info = reinterpret_cast<Dl_serinfo*>(memory.data());
  info->dls_size = sizes.dls_size;
  info->dls_cnt = sizes.dls_cnt;
  if (dlinfo(program, RTLD_DI_SERINFO, info) != 0) return out;
  for (unsigned i = 0; i < info->dls_cnt; ++i) {
    const Dl_serpath& path = info->dls_serpath[i];
    if ((path.dls_flags & kind) != 0) out.push_back(std::string(path.dls_name) + "/");
  }
  dlclose(program);
  return out;
}

/// The paths of the library in the loader's cache.
std::vector<std::string> cached_paths(const std::string& name) {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr size_t kHeader = 48, kEntry = 24;
  constexpr int64_t kMostBytes = int64_t{16} << 20;
  std::vector<std::string> out;
  const Expected<std::string> read = read_file("/etc/ld.so.cache", kMostBytes);
  if (!read.ok() || !read->starts_with(kMagic) || read->size() < kHeader) return out;
  const std::string_view bytes = *read;
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  };
  const auto text = [&](uint32_t at) {
    const size_t end = at < bytes.size() ? bytes.find('\0', at) : std::string_view::npos;
    return end == std::string_view::npos ? std::string_view() : bytes.substr(at, end - at);
  };
  const size_t count = std::min<size_t>(number(kMagic.size()), (bytes.size() - kHeader) / kEntry);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = kHeader + i * kEntry + sizeof(uint32_t);  // behind the flags
    if (text(number(at)) == name) out.emplace_back(text(number(at + sizeof(uint32_t))));
  }
  return out;
}

}  // namespace

std::string build_id_with(std::string_view llvm) {
  return to_hex(hash_text(std::string(STREW_BUILD_ID) + "\n" + std::string(llvm.empty() ? STREW_LLVM_BUILD_ID : llvm)));
}

std::string_view llvm_library() { return STREW_LLVM_FILE; }

std::string_view build_id() {
  // Never destroyed: compile threads ask for it until the process ends.
  static const std::string& id =
      *new std::string(build_id_with(elf_build_id(find_shared_library(std::string(llvm_library()), module_folder()))));
  return id;
}

std::string elf_build_id(const std::string& path) {
  constexpr uint64_t kMostNotes = 1 << 16;
  const Expected<InputFile> file = InputFile::open(path);
  Elf64_Ehdr header;
  if (!read_header(file, header)) return "";
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return "";
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNotes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) continue;
    if (std::string id = build_id_among(notes); !id.empty()) return id;
  }
  return "";
}

std::string find_shared_library(const std::string& name, const std::string& own_folder) {
  if (name.empty()) return "";
  if (std::string loaded = loaded_library(name); !loaded.empty()) return loaded;
  std::vector<std::string> paths;
  for (const std::string& folder : loader_folders(LA_SER_LIBPATH)) paths.push_back(folder + name);
  if (!own_folder.empty()) paths.push_back(own_folder + name);
  for (std::string& path : cached_paths(name)) paths.push_back(std::move(path));
  for (const std::string& folder : loader_folders(LA_SER_DEFAULT)) paths.push_back(folder + name);
  for (std::string& path : paths)
    if (is_library(path)) return std::move(path);
  return "";
}

}  // namespace strew::inline v0
