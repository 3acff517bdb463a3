// A JITLink pass that runs once addresses are final. perf reads the file after the process, so code that was unmapped keeps its line; where
// another kernel came to lie there, perf shows the later name.
//
// perf wants a name in /tmp that anybody can foresee, so whatever lies there already is suspect: the file is made with O_EXCL and
// O_NOFOLLOW. One that exists is taken (process numbers come round again) only if it is a regular file of ours without another link; else
// there is no map. Tested by tests/unit/perf_map_test.cc.
#include "backends/llvm/link/perf_map.h"

#include <fcntl.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <sstream>
#include <string>

namespace strew {
namespace {

namespace orc = llvm::orc;
namespace jitlink = llvm::jitlink;

/// The map file, empty, or -1.
int open_map() {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  constexpr int kFlags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const int made = open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  if (made >= 0 || errno != EEXIST) return made;
  const int found = open(path.c_str(), kFlags);
  struct stat info;
  const bool ours =
      found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 1;
  if (ours && ftruncate(found, 0) == 0) return found;
  if (found >= 0) close(found);
  return -1;
}

llvm::Error write_map(jitlink::LinkGraph& graph) {
  static std::mutex mutex;  // two lines are not mixed
  const std::lock_guard lock(mutex);
  static const int file = open_map();
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
    if (n <= 0) break;  // nothing depends on the file
    at += static_cast<size_t>(n);
  }
  return llvm::Error::success();
}

/// Entries are local symbols, which relocations name by their section: without this, nothing would keep their names.
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

}  // namespace strew
