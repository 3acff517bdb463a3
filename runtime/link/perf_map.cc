// A JITLink pass that runs once addresses are final. perf reads the file after the process, so code that was unmapped keeps its line; where
// another kernel came to lie there, perf shows the later name. Tested by tests/unit/perf_map_test.cc.
#include "runtime/link/perf_map.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <unistd.h>

#include <fstream>
#include <mutex>
#include <string>

namespace strew {
namespace {

namespace orc = llvm::orc;
namespace jitlink = llvm::jitlink;

llvm::Error write_map(jitlink::LinkGraph& graph) {
  static std::mutex mutex;  // two lines are not mixed
  const std::lock_guard lock(mutex);
  // The first of a process empties the file: process numbers come round again.
  static std::ofstream file("/tmp/perf-" + std::to_string(getpid()) + ".map", std::ios::trunc);
  for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
    if (symbol->hasName() && symbol->isCallable())
      file << std::hex << symbol->getAddress().getValue() << ' ' << symbol->getSize() << ' ' << (*symbol->getName()).str()
           << '\n';
  }
  file.flush();
  return llvm::Error::success();
}

class PerfMap final : public orc::LinkGraphLinkingLayer::Plugin {
 public:
  void modifyPassConfig(orc::MaterializationResponsibility&, jitlink::LinkGraph&, jitlink::PassConfiguration& config) override {
    config.PostFixupPasses.push_back(write_map);
  }
  llvm::Error notifyFailed(orc::MaterializationResponsibility&) override { return llvm::Error::success(); }
  llvm::Error notifyRemovingResources(orc::JITDylib&, orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(orc::JITDylib&, orc::ResourceKey, orc::ResourceKey) override {}
};

}  // namespace

std::shared_ptr<orc::LinkGraphLinkingLayer::Plugin> perf_map_plugin() { return std::make_shared<PerfMap>(); }

}  // namespace strew
