// See object_file.h. LLVM's object library reads the formats.
#include "backends/llvm/link/object_file.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <functional>

#include "backends/object_checksum.h"

namespace strew::inline v0 {
namespace {

llvm::MemoryBufferRef buffer_of(std::string_view bytes) { return {llvm::StringRef(bytes.data(), bytes.size()), "object"}; }

/// LLVM's readers and JITLink trust much of what a file says, so the checksum comes before they see it.
Status check_object(std::string_view bytes, const std::string& what, bool for_this_process) {
  if (bytes.starts_with(llvm::StringRef(llvm::ELF::ElfMagic)))
    if (const Status status = check_checksum(bytes); !status.ok()) return {status.code(), what + status.message()};
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer_of(bytes));
  if (!object) return invalid_argument(what + llvm::toString(object.takeError()) + "; expected an ELF object");
  if (!(*object)->isRelocatableObject()) return invalid_argument(what + "the ELF file is linked; expected a relocatable object");
  const llvm::Triple::ArchType process = llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  if (for_this_process && (*object)->getArch() != process)
    return unsupported(what + "the object is for " + llvm::Triple::getArchTypeName((*object)->getArch()).str() + ", expected " +
                       llvm::Triple::getArchTypeName(process).str());
  return {};
}

/// LLVM believes the size that the header of an archive's last member names.
bool is_within(std::string_view file, llvm::StringRef part) {
  const std::less_equal<const char*> is_before;
  return is_before(file.data(), part.begin()) && is_before(part.end(), file.data() + file.size());
}

/// `file`: the archive.
Expected<ArchiveMember> member_of(const llvm::object::Archive::Child& child, std::string_view file) {
  auto name = child.getName();
  if (!name) return invalid_argument("archive: " + llvm::toString(name.takeError()));
  if (!is_within(file, *name)) return invalid_argument("archive: the name of a member is cut off");
  auto bytes = child.getBuffer();
  if (!bytes) return invalid_argument("archive: member " + name->str() + ": " + llvm::toString(bytes.takeError()));
  if (!is_within(file, *bytes))
    return invalid_argument("archive: member " + name->str() + ": its " + std::to_string(bytes->size()) +
                            " bytes end behind the archive, which is cut off or damaged");
  return ArchiveMember{name->str(), bytes->str()};
}

Expected<std::vector<ArchiveMember>> members_of(std::string_view file) {
  auto archive = llvm::object::Archive::create(buffer_of(file));
  if (!archive) return invalid_argument("archive: " + llvm::toString(archive.takeError()));
  if ((*archive)->isThin()) return invalid_argument("archive: a thin archive, expected one that contains its members");
  std::vector<ArchiveMember> members;
  Status status;
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : (*archive)->children(error)) {
    Expected<ArchiveMember> member = member_of(child, file);
    status = member.status();
    if (!status.ok()) break;
    members.push_back(*std::move(member));
  }
  if (error) status = invalid_argument("archive: " + llvm::toString(std::move(error)));
  if (!status.ok()) return status;
  if (members.empty()) return invalid_argument("archive: it has no members, expected objects");
  return members;
}

Expected<std::vector<ArchiveMember>> read(std::string_view file, bool for_this_process) {
  const bool is_archive = file.starts_with(llvm::object::ArchiveMagic) || file.starts_with(llvm::object::ThinArchiveMagic);
  if (!is_archive) {
    STREW_TRY(check_object(file, "", for_this_process));
    return std::vector<ArchiveMember>{{"", std::string(file)}};
  }
  STREW_ASSIGN(std::vector<ArchiveMember> members, members_of(file));
  for (const ArchiveMember& member : members)
    STREW_TRY(check_object(member.bytes, "archive: member " + member.name + ": ", for_this_process));
  return members;
}

}  // namespace

Expected<std::vector<ArchiveMember>> read_archive(std::string_view file) { return read(file, false); }

Expected<std::vector<std::string>> objects_of(std::string_view file) {
  STREW_ASSIGN(std::vector<ArchiveMember> members, read(file, true));
  std::vector<std::string> objects;
  for (ArchiveMember& member : members) objects.push_back(std::move(member.bytes));
  return objects;
}

Expected<std::vector<std::string>> undefined_symbols(std::string_view file) {
  auto object = llvm::object::ObjectFile::createObjectFile(buffer_of(file));
  if (!object) return invalid_argument("object: " + llvm::toString(object.takeError()));
  std::vector<std::string> names;
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    if (!flags) return invalid_argument("object: " + llvm::toString(flags.takeError()));
    auto name = symbol.getName();
    if (!name) return invalid_argument("object: " + llvm::toString(name.takeError()));
    if ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 && !name->empty()) names.push_back(name->str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Expected<std::string> write_archive(const std::vector<ArchiveMember>& members) {
  std::vector<llvm::NewArchiveMember> list;
  for (const ArchiveMember& member : members) list.emplace_back(llvm::MemoryBufferRef(member.bytes, member.name));
  auto archive = llvm::writeArchiveToBuffer(list, llvm::SymtabWritingMode::NormalSymtab, llvm::object::Archive::K_GNU,
                                            /*Deterministic=*/true, /*Thin=*/false);
  if (!archive) return internal_error("archive: " + llvm::toString(archive.takeError()));
  return (*archive)->getBuffer().str();
}

}  // namespace strew::inline v0
