// See dump.h. IR and assembly come from Backend::emit_text(), which builds the kernel twice more: an object does not contain them, and a build
// that nobody looks into should not keep them.
#include "backends/dump.h"

#include <atomic>
#include <filesystem>
#include <system_error>

#include "base/log.h"
#include "base/pending_file.h"

namespace strew::inline v0 {
namespace {

Status write_file(const std::string& path, const std::string& bytes) {
  STREW_ASSIGN(PendingFile file, PendingFile::create(path, bytes));
  STREW_TRY(file.commit());
  log(LogLevel::dump, "wrote " + path + ", " + std::to_string(bytes.size()) + " bytes");
  return {};
}

Status write_all(const std::string& folder, const Backend& backend, const BuildRequest& request, const Artifact& artifact) {
  std::error_code ignored;  // whether there is a folder shows when files are written
  std::filesystem::create_directory(folder, ignored);
  const std::string path = folder + "/" + request.symbol;
  STREW_TRY(write_file(path + ".o", artifact.object));
  STREW_ASSIGN(const std::string ir, backend.emit_text(request, "ll"));
  STREW_TRY(write_file(path + ".ll", ir));
  STREW_ASSIGN(const std::string assembly, backend.emit_text(request, "asm"));
  return write_file(path + ".s", assembly);
}

}  // namespace

void dump_kernel(const std::string& folder, const Backend& backend, const BuildRequest& request, const Artifact& artifact) {
  if (folder.empty() || artifact.interpreted || artifact.object.empty()) return;
  const Status written = write_all(folder, backend, request, artifact);
  static std::atomic<bool> has_warned{false};
  if (!written.ok() && !has_warned.exchange(true))
    log(LogLevel::warn, "environment variable STREW_DUMP: " + written.message() + "; further failures are not reported");
}

}  // namespace strew::inline v0
