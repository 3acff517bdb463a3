// See perf_map.h. The lines are written by a JITLink pass that runs when addresses are final. perf reads the file after the process has ended,
// so a kernel that was unmapped keeps its line; if another kernel was linked at the same address later, perf shows the later name.
//
// perf looks for the file under a name in /tmp that anybody can predict, so a file that exists there already may be an attack. The file is
// therefore created with O_EXCL and O_NOFOLLOW. An existing one, as an earlier process of the same number leaves it, is used only if it is a
// regular file that belongs to us and has no other hard link; otherwise no map is written. Tested by tests/unit/perf_map_test.cc.
#include "backends/llvm/link/perf_map.h"

#include <fcntl.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <sstream>
#include <string>
#include <utility>

#include "base/log.h"

namespace strew::inline v0 {
namespace {

namespace orc = llvm::orc;
namespace jitlink = llvm::jitlink;

std::string map_path() { return "/tmp/perf-" + std::to_string(getpid()) + ".map"; }

/// Opens the map file and empties it. Returns its descriptor, or -1 with errno; EEXIST: what is there is not ours.
int open_map() {
  const std::string path = map_path();
  constexpr int kFlags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const int made = open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  if (made >= 0 || errno != EEXIST) return made;
  const int found = open(path.c_str(), kFlags);
  struct stat info;
  const bool ours =
      found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 1;
  if (ours && ftruncate(found, 0) == 0) return found;
  if (found >= 0) close(found);
  errno = EEXIST;
  return -1;
}

void warn(const char* why) { log(LogLevel::warn, "STREW_PERF_MAP: " + map_path() + ": cannot write: " + why); }

int open_map_or_warn() {
  const int file = open_map();
  if (file < 0) warn(errno == EEXIST ? "a file or link that is not this process's has the name" : std::strerror(errno));
  return file;
}

llvm::Error write_map(jitlink::LinkGraph& graph) {
  static std::mutex mutex;  // threads that link at the same time must not mix their lines
  const std::lock_guard lock(mutex);
  static int file = open_map_or_warn();
  std::ostringstream lines;
  for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
    if (symbol->hasName() && symbol->isCallable())
      lines << std::hex << symbol->getAddress().getValue() << ' ' << symbol->getSize() << ' ' << (*symbol->getName()).str()
            << '\n';
  }
  const std::string text = lines.str();
  for (size_t at = 0; file >= 0 && at < text.size();) {
    const ssize_t n = write(file, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // nothing depends on the file
      warn(std::strerror(errno));
      close(std::exchange(file, -1));
      break;
    }
    at += static_cast<size_t>(n);
  }
  return llvm::Error::success();
}

/// Keeps the symbols of functions. Entries are local symbols and relocations refer to their section instead, so JITLink would drop their names
/// before write_map() runs.
llvm::Error keep_names(jitlink::LinkGraph& graph) {
  for (jitlink::Symbol* symbol : graph.defined_symbols())
    if (symbol->hasName() && symbol->isCallable()) symbol->setLive(true);
  return llvm::Error::success();
}

class PerfMap final : public orc::LinkGraphLinkingLayer::Plugin {
 public:
  void modifyPassConfig(orc::MaterializationResponsibility&, jitlink::LinkGraph&, jitlink::PassConfiguration& config) override {
    config.PrePrunePasses.push_back(keep_names);
    config.PostFixupPasses.push_back(write_map);
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}
};

}  // namespace

std::shared_ptr<orc::LinkGraphLinkingLayer::Plugin> perf_map_plugin() { return std::make_shared<PerfMap>(); }

}  // namespace strew::inline v0
