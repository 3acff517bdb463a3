// libstrew_compare_load, a library of the tests: links an object with JITLink and compares with what the loader (backends/loader/loader.h) made of
// the same object. The two lie at different addresses, so bytes must be equal except where JITLink's graph has relocations; there, both must refer to
// the same place of a section, or to the same function of the process. JITLink reads the object on its own, so a section, a relocation or a symbol
// that the loader forgets or misreads shows as a difference. Tests open it where the first object is loaded (tests/support/load_check.h), so that
// those that load none do not wait for libLLVM. Tested by tests/unit/backends/loader/loader_test.cc.
//
// JITLink makes one block of every section that it keeps; it drops those that nothing uses. Its jumps to functions of the process lie in sections of
// its own, whose names begin with "$__": a relocation that refers to one is followed to the function.
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>

#include <cstring>
#include <string>
#include <vector>

#include "backends/loader/externals.h"
#include "backends/loader/loader.h"
#include "strew/export.h"

namespace strew::inline v0 {
namespace {

namespace jitlink = llvm::jitlink;

Status differs(const std::string& what) { return internal_error("the loader differs from JITLink: " + what); }

bool is_jitlinks_own(const jitlink::Section& section) { return section.getName().starts_with("$__"); }

/// The bytes of a field that a relocation fills in; 0: the edge fills in nothing.
size_t width_of(jitlink::Edge::Kind kind) {
  namespace x86 = jitlink::x86_64;
  if (kind < jitlink::Edge::FirstRelocation) return 0;
  if (kind == x86::Pointer64) return sizeof(uint64_t);
  if (kind == x86::Delta32 || kind == x86::PCRel32 || kind == x86::BranchPCRel32 || kind == x86::BranchPCRel32ToPtrJumpStub ||
      kind == x86::BranchPCRel32ToPtrJumpStubBypassable)
    return sizeof(int32_t);
  return ~size_t{0};
}

/// What a field refers to, seen from its place: 8 bytes are an address, 4 bytes a distance from the field.
uint64_t value_at(const char* bytes, uint64_t address, size_t width) {
  if (width == sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  int32_t distance = 0;
  std::memcpy(&distance, bytes, sizeof distance);
  return address + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

class Comparison {
 public:
  Comparison(jitlink::LinkGraph& graph, const LoadedLayout& layout) : graph_(graph), layout_(layout) {}

  Status run() const {
    for (const jitlink::Section& section : graph_.sections()) {
      if (section.blocks().empty() || is_jitlinks_own(section)) continue;
      const LoadedLayout::Section* const mine = find(section.getName());
      if (mine == nullptr) return differs("section " + section.getName().str() + " is missing");
      if (section.blocks_size() != 1) return differs("section " + section.getName().str() + " has several blocks");
      STREW_TRY(compare(**section.blocks().begin(), *mine));
    }
    for (const jitlink::Symbol* symbol : graph_.defined_symbols()) {
      if (!symbol->hasName() || symbol->getScope() == jitlink::Scope::Local || is_jitlinks_own(symbol->getSection())) continue;
      STREW_TRY(compare_export(*symbol));
    }
    return {};
  }

 private:
  const LoadedLayout::Section* find(llvm::StringRef name) const {
    const LoadedLayout::Section* found = nullptr;
    for (const LoadedLayout::Section& section : layout_.sections) {
      if (llvm::StringRef(section.name) != name) continue;
      if (found != nullptr) return nullptr;  // two sections of one name: not to be told apart
      found = &section;
    }
    return found;
  }

  Status compare(const jitlink::Block& block, const LoadedLayout::Section& mine) const {
    const llvm::StringRef name = block.getSection().getName();
    if (block.getSize() != mine.bytes) return differs("section " + name.str() + " has another size");
    if (mine.bytes == 0) return {};
    const llvm::ArrayRef<char> theirs = block.getContent();
    std::vector<bool> is_field(mine.bytes, false);
    for (const jitlink::Edge& edge : block.edges()) {
      const size_t width = width_of(edge.getKind());
      if (width == 0) continue;
      if (width > sizeof(uint64_t)) return differs(std::string("a relocation of kind ") + graph_.getEdgeKindName(edge.getKind()));
      STREW_TRY(compare(block, mine, edge, width));
      for (size_t i = 0; i < width; ++i) is_field[edge.getOffset() + i] = true;
    }
    for (size_t i = 0; i < mine.bytes; ++i)
      if (!is_field[i] && mine.address[i] != theirs[i]) return differs("byte " + std::to_string(i) + " of section " + name.str());
    return {};
  }

  Status compare(const jitlink::Block& block, const LoadedLayout::Section& mine, const jitlink::Edge& edge, size_t width) const {
    const std::string where =
        "the relocation at byte " + std::to_string(edge.getOffset()) + " of section " + block.getSection().getName().str();
    const uint64_t their_address = block.getAddress().getValue() + edge.getOffset();
    const auto my_address = reinterpret_cast<uint64_t>(mine.address) + edge.getOffset();
    const uint64_t theirs = value_at(block.getContent().data() + edge.getOffset(), their_address, width);
    const uint64_t ours = value_at(mine.address + edge.getOffset(), my_address, width);
    const jitlink::Symbol& target = edge.getTarget();
    // What the linkers add to the target's address must be equal.
    const uint64_t addend = theirs - target.getAddress().getValue();
    if (!target.isDefined() || is_jitlinks_own(target.getSection())) {
      const jitlink::Symbol* const function = function_of(target);
      if (function == nullptr) return differs(where + " refers to something of JITLink's own");
      const uint64_t address = function->getAddress().getValue();
      if (ours - addend == address || is_my_jump(ours - addend, *function->getName(), address)) return {};
      return differs(where + " does not refer to " + (*function->getName()).str());
    }
    const LoadedLayout::Section* const section = find(target.getSection().getName());
    if (section == nullptr) return differs(where + " refers to a section that is missing");
    const uint64_t expected = reinterpret_cast<uint64_t>(section->address) + target.getOffset() + addend;
    return ours == expected ? Status() : differs(where + " refers to another place");
  }

  /// The function of the process that a symbol stands for: itself, or what a jump of JITLink leads to by way of its pointer.
  static const jitlink::Symbol* function_of(const jitlink::Symbol& symbol) {
    constexpr int kSteps = 3;  // jump, pointer, function
    const jitlink::Symbol* at = &symbol;
    for (int step = 0; step < kSteps && at->isDefined(); ++step) {
      if (!is_jitlinks_own(at->getSection()) || at->getBlock().edges_size() != 1) return nullptr;
      at = &at->getBlock().edges().begin()->getTarget();
    }
    return at->isDefined() || !at->hasName() ? nullptr : at;
  }

  /// Is there a jump of ours to the function at that address?
  bool is_my_jump(uint64_t at, llvm::StringRef name, uint64_t function) const {
    for (const LoadedLayout::Jump& jump : layout_.jumps) {
      if (reinterpret_cast<uint64_t>(jump.address) != at || llvm::StringRef(jump.symbol) != name) continue;
      constexpr size_t kOpcode = 2;  // ff 25: jmp [rip + distance]
      if (jump.address[0] != static_cast<char>(0xff) || jump.address[1] != 0x25) return false;
      const uint64_t pointer = value_at(jump.address + kOpcode, at + kOpcode + sizeof(int32_t), sizeof(int32_t));
      uint64_t target = 0;
      std::memcpy(&target, reinterpret_cast<const void*>(pointer), sizeof target);
      return target == function;
    }
    return false;
  }

  Status compare_export(const jitlink::Symbol& symbol) const {
    const std::string name = (*symbol.getName()).str();
    const LoadedLayout::Section* const section = find(symbol.getSection().getName());
    for (const LoadedLayout::Export& mine : layout_.exports)
      if (mine.symbol == name)
        return section != nullptr && mine.address == section->address + symbol.getOffset() ? Status() : differs("symbol " + name);
    return differs("symbol " + name + " is missing");
  }

  jitlink::LinkGraph& graph_;
  const LoadedLayout& layout_;
};

/// JITLink's view of a comparison: it asks for memory and for symbols, and hands over the graph when everything is filled in. What it made of the
/// object is then dropped.
class CompareContext final : public jitlink::JITLinkContext {
 public:
  CompareContext(jitlink::JITLinkMemoryManager& memory, const LoadedLayout& layout, Status& result)
      : JITLinkContext(nullptr), memory_(memory), layout_(layout), result_(result) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple& /*triple*/) const override {
    return [](jitlink::LinkGraph& graph) {
      for (jitlink::Symbol* symbol : graph.defined_symbols())
        if (symbol->getScope() != jitlink::Scope::Local) symbol->setLive(true);
      return llvm::Error::success();
    };
  }
  llvm::Error modifyPassConfig(jitlink::LinkGraph& /*graph*/, jitlink::PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back([this](jitlink::LinkGraph& graph) {
      result_ = Comparison(graph, layout_).run();
      return llvm::Error::success();
    });
    return llvm::Error::success();
  }
  llvm::Error notifyResolved(jitlink::LinkGraph& /*graph*/) override { return llvm::Error::success(); }
  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> next_step) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : symbols) {
      found[name] = {llvm::orc::ExecutorAddr::fromPtr(find_external(*name)), llvm::JITSymbolFlags::Exported};
    }
    next_step->run(std::move(found));
  }
  void notifyFailed(llvm::Error error) override { fail(std::move(error)); }
  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override {
    memory_.deallocate(std::move(allocation), [this](llvm::Error error) {
      if (error) fail(std::move(error));
    });
  }

 private:
  void fail(llvm::Error error) { result_ = internal_error("JITLink: " + llvm::toString(std::move(error))); }

  jitlink::JITLinkMemoryManager& memory_;
  const LoadedLayout& layout_;
  Status& result_;
};

Status compare_load(std::string_view object, const LoadedLayout& layout) {
  const auto names = std::make_shared<llvm::orc::SymbolStringPool>();
  const std::string copy(object);
  auto graph = jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(copy, "kernel"), names);
  if (!graph) return internal_error(llvm::toString(graph.takeError()));
  auto memory = jitlink::InProcessMemoryManager::Create();
  if (!memory) return internal_error(llvm::toString(memory.takeError()));
  Status result = internal_error("JITLink did not finish");
  jitlink::link(std::move(*graph), std::make_unique<CompareContext>(**memory, layout, result));
  return result;
}

}  // namespace
}  // namespace strew::inline v0

extern "C" STREW_API strew::LoadCheck strew_compare_load() { return strew::compare_load; }
