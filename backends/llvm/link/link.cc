// The implementation of backends/link.h with LLVM's JITLink: the layer below ORC, without ORC's session, whose tables of libraries and symbols
// would stay for every kernel that was ever linked. A link has a string pool of its own and shares nothing with other links but the process's slabs
// (backends/loader/code_memory.h), so links run at the same time.
//
// Each object goes through JITLink in two steps. The first ends when JITLink has placed the object and asks where its external symbols are; the
// second begins when all objects of the link are placed. JITLink's errors arrive in LinkContext::notifyFailed().
//
// An exception that passes through LLVM's frames (failures.h) leaks what they own: the graph of one object. The memory of the code is owned by
// PlacedObject, which lies outside of these frames. Tested by tests/unit/backends/link_test.cc and tests/unit/base/headroom_test.cc.
#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "backends/llvm/codegen/failures.h"
#include "backends/llvm/link/functions.h"
#include "backends/llvm/link/gdb.h"
#include "backends/llvm/link/jitdump.h"
#include "backends/llvm/link/linker.h"
#include "backends/llvm/link/memory_manager.h"
#include "backends/llvm/link/object_file.h"
#include "backends/llvm/link/perf_map.h"
#include "backends/llvm/link/services.h"
#include "base/fork_hooks.h"
#include "base/headroom.h"
#include "base/options.h"

namespace strew::inline v0 {
namespace {

namespace jitlink = llvm::jitlink;

/// Held while a profiler's or a debugger's files and lists are written. Never destroyed: kernels may be dropped until the process ends.
std::mutex& tools() {
  static std::mutex& mutex = []() -> std::mutex& {
    static std::mutex* const made = new std::mutex;
    set_fork_hooks(ForkStage::linker, {[] { made->lock(); }, [] { made->unlock(); }, [] { made->unlock(); }});
    return *made;
  }();
  return mutex;
}

/// Do profilers or a debugger want to know the names of functions?
bool wants_names() {
  const Options& options = process_options();
  return options.perf_map || options.jitdump || options.gdb;
}

/// The symbols of the objects of one link that other objects may refer to. Hidden ones stay within the link.
struct Exported {
  const void* address;
  size_t bytes;
  bool is_function, is_hidden;
};
using Symbols = std::unordered_map<std::string, Exported>;

/// One object of a link, from JITLink's first step on.
struct PlacedObject {
  /// The names of the object's symbols. The first member, because the others refer to names when JITLink's graph is gone.
  std::shared_ptr<llvm::orc::SymbolStringPool> names = std::make_shared<llvm::orc::SymbolStringPool>();
  MemoryManager memory;
  jitlink::JITLinkContext::LookupMap wanted;                           ///< external symbols
  std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next_step;  ///< null: there are none, or the object failed
  bool is_linked = false;
  std::string failure;
  // If wants_names():
  std::vector<LinkedFunction> functions;
  SectionAddresses sections;

  Status status() const {
    if (!memory.failure.ok()) return memory.failure;
    return is_linked ? Status() : internal_error(failure);
  }
};

/// Keeps what the object exports and what that uses, and the names of functions if somebody wants them: entries are local symbols to which
/// relocations do not refer by name.
llvm::Error keep_exported(jitlink::LinkGraph& graph) {
  for (jitlink::Symbol* symbol : graph.defined_symbols())
    if (symbol->getScope() != jitlink::Scope::Local || (wants_names() && symbol->hasName() && symbol->isCallable()))
      symbol->setLive(true);
  return llvm::Error::success();
}

/// JITLink's side of a PlacedObject. JITLink owns it.
class LinkContext final : public jitlink::JITLinkContext {
 public:
  LinkContext(PlacedObject& object, Symbols& symbols) : JITLinkContext(nullptr), object_(object), symbols_(symbols) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return object_.memory; }
  jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple& /*triple*/) const override { return keep_exported; }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() == jitlink::Scope::Local) continue;
      const Exported exported{symbol->getAddress().toPtr<const void*>(), symbol->getSize(), symbol->isCallable(),
                              symbol->getScope() == jitlink::Scope::Hidden};
      if (!symbols_.emplace((*symbol->getName()).str(), exported).second)
        return llvm::createStringError("symbol " + (*symbol->getName()).str() + " is defined twice");
    }
    if (wants_names()) note_names(graph);
    return llvm::Error::success();
  }
  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next_step) override {
    object_.wanted = symbols;
    object_.next_step = std::move(next_step);
  }
  void notifyFailed(llvm::Error error) override { object_.failure = llvm::toString(std::move(error)); }
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override {
    allocation.release();  // the memory belongs to object_.memory.run
    object_.is_linked = true;
  }

 private:
  void note_names(jitlink::LinkGraph& graph) {
    for (const jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (symbol->hasName() && symbol->isCallable())
        object_.functions.push_back({(*symbol->getName()).str(), symbol->getAddress().toPtr<const char*>(), symbol->getSize()});
    }
    for (const jitlink::Section& section : graph.sections())
      if (!section.blocks().empty() && section.getMemLifetime() != llvm::orc::MemLifetime::NoAlloc)
        object_.sections[section.getName().str()] = jitlink::SectionRange(section).getStart().toPtr<const void*>();
  }

  PlacedObject& object_;
  Symbols& symbols_;
};

/// JITLink's first step.
Status place(const std::string& bytes, PlacedObject& object, Symbols& symbols) {
  auto graph = jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(bytes, "kernel"), object.names);
  if (!graph) return internal_error(llvm::toString(graph.takeError()));
  jitlink::link(std::move(*graph), std::make_unique<LinkContext>(object, symbols));
  return object.next_step != nullptr ? Status() : object.status();
}

/// JITLink's second step, if there are external symbols.
Status resolve(PlacedObject& object, const Symbols& symbols) {
  if (object.next_step == nullptr) return {};
  jitlink::AsyncLookupResult found;
  for (const auto& [name, flags] : object.wanted) {
    const auto own = symbols.find((*name).str());
    const void* const address = own != symbols.end() ? own->second.address : link_services().find_external(*name);
    if (address == nullptr && flags == jitlink::SymbolLookupFlags::RequiredSymbol)
      return internal_error("the object uses symbol " + (*name).str() + ", which generated code may not use");
    found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
  }
  object.wanted.clear();
  std::exchange(object.next_step, nullptr)->run(std::move(found));
  return object.status();
}

/// Code in the slabs.
class LinkedCode final : public LinkedObject {
 public:
  ~LinkedCode() override {
    if (images_.empty()) return;
    const std::lock_guard lock(tools());
    images_.clear();
  }

  void take(PlacedObject& object, const std::string& bytes) {
    runs_.push_back(std::move(object.memory.run));
    code_bytes += runs_.back()->bytes();
    const Options& options = process_options();
    if (!wants_names()) return;
    const std::lock_guard lock(tools());
    if (options.perf_map) write_perf_map(object.functions);
    if (options.jitdump) write_jitdump(object.functions);
    if (options.gdb) images_.push_back(std::make_unique<GdbImage>(bytes, object.sections));
  }

 private:
  std::vector<std::unique_ptr<CodeMemory>> runs_;
  std::vector<std::unique_ptr<GdbImage>> images_;
};

/// Links the objects with each other and fills in `defined`.
Expected<std::shared_ptr<LinkedCode>> link_objects(const std::vector<std::string>& objects, Symbols& defined) {
  auto linked = std::make_shared<LinkedCode>();
  std::vector<std::unique_ptr<PlacedObject>> placed;
  for (const std::string& bytes : objects) {
    placed.push_back(std::make_unique<PlacedObject>());
    STREW_TRY(place(bytes, *placed.back(), defined));
  }
  for (const std::unique_ptr<PlacedObject>& object : placed) STREW_TRY(resolve(*object, defined));
  for (size_t i = 0; i < objects.size(); ++i) linked->take(*placed[i], objects[i]);
  return linked;
}

Expected<std::shared_ptr<LinkedObject>> link_symbols(const std::vector<std::string>& objects,
                                                     const std::vector<std::string>& symbols) {
  Symbols defined;
  STREW_ASSIGN(std::shared_ptr<LinkedCode> linked, link_objects(objects, defined));
  for (const std::string& symbol : symbols) {
    const auto found = defined.find(symbol);
    if (found == defined.end()) return internal_error("no object defines symbol " + symbol);
    linked->addresses.push_back(found->second.address);
    linked->sizes.push_back(found->second.bytes);
  }
  return std::shared_ptr<LinkedObject>(std::move(linked));
}

/// Links the objects of a file.
Expected<std::shared_ptr<LinkedObject>> link_file(std::string_view file) {
  STREW_ASSIGN(const std::vector<std::string> objects, objects_of(file));
  Symbols defined;
  STREW_ASSIGN(std::shared_ptr<LinkedCode> linked, link_objects(objects, defined));
  for (const auto& [symbol, exported] : defined)
    if (!exported.is_function && !exported.is_hidden) linked->constants.push_back({symbol, exported.address, exported.bytes});
  std::sort(linked->constants.begin(), linked->constants.end(), [](const auto& a, const auto& b) { return a.symbol < b.symbol; });
  return std::shared_ptr<LinkedObject>(std::move(linked));
}

class JitLinker final : public Linker {
 public:
  Expected<std::shared_ptr<LinkedObject>> link(const std::vector<std::string>& objects,
                                               const std::vector<std::string>& symbols) override {
    return guarded([&] { return link_symbols(objects, symbols); });
  }
  Expected<std::shared_ptr<LinkedObject>> load(std::string_view file) override {
    return guarded([&] { return link_file(file); });
  }

 private:
  template <class Link>
  static Expected<std::shared_ptr<LinkedObject>> guarded(const Link& link) {
    constexpr std::string_view kWhat = "linker";
    STREW_TRY(check_headroom(kWhat, kLinkBytes, kLinkMappings));
    return catching(kWhat, [&]() -> Expected<std::shared_ptr<LinkedObject>> {
      auto linked = link();
      if (!linked.ok()) return linked.status().with_prefix(kWhat);
      return linked;
    });
  }
};

}  // namespace

Linker* process_linker() {
  static Linker* const linker = new JitLinker;
  return linker;
}

}  // namespace strew::inline v0
