// See object_file.h. LLVM's object library reads the formats.
#include "backends/llvm/link/object_file.h"

#include <llvm/Object/Archive.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

namespace strew::inline v0 {
namespace {

llvm::MemoryBufferRef buffer_of(std::string_view bytes) { return {llvm::StringRef(bytes.data(), bytes.size()), "object"}; }

Status check_object(std::string_view bytes, const std::string& what) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(buffer_of(bytes));
  if (!object) return invalid_argument(what + llvm::toString(object.takeError()) + "; expected an ELF object");
  if (!(*object)->isRelocatableObject()) return invalid_argument(what + "the ELF file is linked; expected a relocatable object");
  const llvm::Triple::ArchType process = llvm::Triple(llvm::sys::getProcessTriple()).getArch();
  if ((*object)->getArch() != process)
    return unsupported(what + "the object is for " + llvm::Triple::getArchTypeName((*object)->getArch()).str() + ", expected " +
                       llvm::Triple::getArchTypeName(process).str());
  return {};
}

Expected<std::vector<std::string>> members_of(std::string_view file) {
  auto archive = llvm::object::Archive::create(buffer_of(file));
  if (!archive) return invalid_argument("archive: " + llvm::toString(archive.takeError()));
  if ((*archive)->isThin()) return invalid_argument("archive: a thin archive, expected one that contains its members");
  std::vector<std::string> objects;
  llvm::Error error = llvm::Error::success();
  std::string problem;
  for (const llvm::object::Archive::Child& member : (*archive)->children(error)) {
    auto name = member.getName();
    auto bytes = member.getBuffer();
    if (!bytes) {
      problem = llvm::toString(bytes.takeError());
      llvm::consumeError(name.takeError());
      break;
    }
    const std::string what = "archive: member " + (name ? name->str() : "?") + ": ";
    if (!name) llvm::consumeError(name.takeError());
    if (const Status status = check_object({bytes->data(), bytes->size()}, what); !status.ok()) {
      llvm::consumeError(std::move(error));
      return status;
    }
    objects.push_back(bytes->str());
  }
  if (error) problem = llvm::toString(std::move(error));
  if (!problem.empty()) return invalid_argument("archive: " + problem);
  if (objects.empty()) return invalid_argument("archive: it has no members, expected objects");
  return objects;
}

}  // namespace

Expected<std::vector<std::string>> objects_of(std::string_view file) {
  if (file.starts_with(llvm::object::ArchiveMagic) || file.starts_with(llvm::object::ThinArchiveMagic)) return members_of(file);
  STREW_TRY(check_object(file, ""));
  return std::vector<std::string>{std::string(file)};
}

}  // namespace strew::inline v0
