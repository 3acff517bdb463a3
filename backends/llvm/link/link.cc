// See link.h. JITLink is the layer below ORC, without ORC's session, whose tables of libraries and symbols would stay for every kernel that was
// ever linked. A link has a string pool of its own and shares nothing with other links but the process's slabs (backends/loader/slabs.h), so links
// run at the same time.
//
// Each object goes through JITLink in two steps. The first ends when JITLink has placed the object and asks where its external symbols are; the
// second begins when all objects of the link are placed. JITLink's errors arrive in LinkContext::notifyFailed().
//
// An exception that passes through LLVM's frames (failures.h) leaks what they own: the graph of one object. The memory of the code is owned by
// PlacedObject, which lies outside of these frames. Tested by tests/unit/backends/link_test.cc and tests/unit/base/headroom_test.cc.
#include "backends/llvm/link/link.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "backends/llvm/codegen/failures.h"
#include "backends/llvm/link/gdb.h"
#include "backends/llvm/link/object_file.h"
#include "backends/llvm/link/profilers.h"
#include "backends/loader/externals.h"
#include "backends/loader/slabs.h"
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

bool has(llvm::orc::MemProt set, llvm::orc::MemProt one) {
  using llvm::operator&;
  return (set & one) != llvm::orc::MemProt::None;
}

/// Gives JITLink memory of the process's slabs, for one object. Sections of code become the run's code; all others become its constants, and an
/// object with data to write to is refused. JITLink writes to a buffer, which is copied to the run at the end: no code is writable where it runs.
/// A failure is kept as a Status besides the llvm::Error that JITLink passes on, because its code says whose fault it is.
class MemoryManager final : public jitlink::JITLinkMemoryManager {
 public:
  void allocate(const jitlink::JITLinkDylib* /*dylib*/, jitlink::LinkGraph& graph, OnAllocatedFunction then) override {
    failure = check_sections(graph);
    if (!failure.ok()) return then(failure_as_error());
    jitlink::BasicLayout layout(graph);
    failure = plan(layout);
    if (!failure.ok()) return then(failure_as_error());
    if (auto error = layout.apply()) return then(std::move(error));
    then(std::make_unique<Working>(*this));
  }
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction then) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();  // the memory belongs to the run
    then(llvm::Error::success());
  }

  CodeRun run;     ///< what the object got; given back with the MemoryManager unless somebody takes it
  Status failure;  ///< why the slabs gave no memory, or could not make it executable

 private:
  /// The allocation while JITLink works on it.
  class Working final : public InFlightAlloc {
   public:
    explicit Working(MemoryManager& manager) : manager_(manager) {}

    void finalize(OnFinalizedFunction then) override {
      manager_.failure = manager_.run.write(manager_.code_, manager_.constants_);
      if (!manager_.failure.ok()) return then(manager_.failure_as_error());
      then(FinalizedAlloc(llvm::orc::ExecutorAddr::fromPtr(&manager_)));
    }
    void abandon(OnAbandonedFunction then) override { then(llvm::Error::success()); }

   private:
    MemoryManager& manager_;
  };

  llvm::Error failure_as_error() const { return llvm::createStringError(failure.message()); }

  static Status check_sections(jitlink::LinkGraph& graph) {
    for (jitlink::Section& section : graph.sections()) {
      // Constants that hold addresses are writable until they are relocated, says ELF; here the buffer is what is written.
      if (section.getName().starts_with(".data.rel.ro")) section.setMemProt(llvm::orc::MemProt::Read);
      if (has(section.getMemProt(), llvm::orc::MemProt::Write) && !section.blocks().empty() &&
          section.getMemLifetime() != llvm::orc::MemLifetime::NoAlloc)
        return internal_error("section " + section.getName().str() + " is writable; a kernel has code and constants only");
    }
    return graph.allocActions().empty() ? Status() : internal_error("the object asks for actions when it is linked");
  }

  /// Places the segments in the run and in the buffers.
  Status plan(jitlink::BasicLayout& layout) {
    size_t sizes[2] = {};  // of constants, of code
    std::vector<size_t> offsets;
    for (auto& [group, segment] : layout.segments()) {
      const bool is_code = has(group.getMemProt(), llvm::orc::MemProt::Exec);
      const size_t alignment = segment.Alignment.value(), most = is_code ? 4096 : Slabs::kPiece;
      if (alignment > most) {
        return internal_error("a section is aligned to " + std::to_string(alignment) + " bytes, expected at most " +
                              std::to_string(most));
      }
      size_t& size = sizes[is_code];
      offsets.push_back(llvm::alignTo(size, segment.Alignment));
      size = offsets.back() + segment.ContentSize + segment.ZeroFillSize;
    }
    STREW_ASSIGN(run, process_slabs().place(sizes[1], sizes[0]));
    constants_.resize(sizes[0]);
    code_.resize(sizes[1]);
    size_t next = 0;
    for (auto& [group, segment] : layout.segments()) {
      const bool is_code = has(group.getMemProt(), llvm::orc::MemProt::Exec);
      const size_t offset = offsets[next++];
      segment.Addr = llvm::orc::ExecutorAddr::fromPtr((is_code ? run.code() : run.constants()) + offset);
      segment.WorkingMem = (is_code ? code_ : constants_).data() + offset;
    }
    return {};
  }

  std::vector<char> code_, constants_;  // the contents while JITLink works on them
};

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
    const void* const address = own != symbols.end() ? own->second.address : find_external(*name);
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
    code_bytes += runs_.back().bytes();
    const Options& options = process_options();
    if (!wants_names()) return;
    const std::lock_guard lock(tools());
    if (options.perf_map) write_perf_map(object.functions);
    if (options.jitdump) write_jitdump(object.functions);
    if (options.gdb) images_.push_back(std::make_unique<GdbImage>(bytes, object.sections));
  }

 private:
  std::vector<CodeRun> runs_;
  std::vector<std::unique_ptr<GdbImage>> images_;
};

/// Links the objects with each other and fills in `defined`.
Expected<std::shared_ptr<LinkedObject>> link_objects(const std::vector<std::string>& objects, Symbols& defined) {
  auto linked = std::make_shared<LinkedCode>();
  std::vector<std::unique_ptr<PlacedObject>> placed;
  for (const std::string& bytes : objects) {
    placed.push_back(std::make_unique<PlacedObject>());
    STREW_TRY(place(bytes, *placed.back(), defined));
  }
  for (const std::unique_ptr<PlacedObject>& object : placed) STREW_TRY(resolve(*object, defined));
  for (size_t i = 0; i < objects.size(); ++i) linked->take(*placed[i], objects[i]);
  return std::shared_ptr<LinkedObject>(std::move(linked));
}

/// Returns link(). Exceptions of LLVM, and too little memory for a link, become a Status.
template <class Link>
Expected<std::shared_ptr<LinkedObject>> guarded(const Link& link) {
  constexpr std::string_view kWhat = "linker";
  STREW_TRY(check_headroom(kWhat, kLinkBytes, kLinkMappings));
  return catching(kWhat, [&]() -> Expected<std::shared_ptr<LinkedObject>> {
    auto linked = link();
    if (!linked.ok()) return linked.status().with_prefix(kWhat);
    return linked;
  });
}

}  // namespace

Expected<std::shared_ptr<LinkedObject>> link_symbols(const std::vector<std::string>& objects,
                                                     const std::vector<std::string>& symbols) {
  return guarded([&]() -> Expected<std::shared_ptr<LinkedObject>> {
    Symbols defined;
    STREW_ASSIGN(std::shared_ptr<LinkedObject> linked, link_objects(objects, defined));
    for (const std::string& symbol : symbols) {
      const auto found = defined.find(symbol);
      if (found == defined.end()) return internal_error("no object defines symbol " + symbol);
      linked->addresses.push_back(found->second.address);
      linked->sizes.push_back(found->second.bytes);
    }
    return linked;
  });
}

Expected<std::shared_ptr<LinkedObject>> link_file(std::string_view file) {
  return guarded([&]() -> Expected<std::shared_ptr<LinkedObject>> {
    STREW_ASSIGN(const std::vector<std::string> objects, objects_of(file));
    Symbols defined;
    STREW_ASSIGN(std::shared_ptr<LinkedObject> linked, link_objects(objects, defined));
    for (const auto& [symbol, exported] : defined)
      if (!exported.is_function && !exported.is_hidden) linked->constants.push_back({symbol, exported.address, exported.bytes});
    std::ranges::sort(linked->constants, {}, &LinkedObject::Constant::symbol);
    return linked;
  });
}

}  // namespace strew::inline v0
