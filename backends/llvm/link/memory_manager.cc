// See memory_manager.h. A failure is kept as a Status besides the llvm::Error that JITLink passes on, because its code says whose fault it is.
#include "backends/llvm/link/memory_manager.h"

#include <llvm/ExecutionEngine/JITLink/JITLink.h>

#include <string>
#include <utility>

#include "backends/llvm/link/services.h"

namespace strew::inline v0 {
namespace {

namespace jitlink = llvm::jitlink;
using llvm::orc::MemProt;

llvm::Error error_of(const Status& status) { return llvm::createStringError(status.message()); }

bool has(MemProt set, MemProt one) {
  using llvm::operator&;
  return (set & one) != MemProt::None;
}

/// Constants that hold addresses are writable until they are relocated, says ELF; here the buffer is what is written.
void make_relocated_constants_readable(jitlink::LinkGraph& graph) {
  for (jitlink::Section& section : graph.sections())
    if (section.getName().starts_with(".data.rel.ro")) section.setMemProt(MemProt::Read);
}

Status refuse_writable_data(jitlink::LinkGraph& graph) {
  for (const jitlink::Section& section : graph.sections()) {
    if (has(section.getMemProt(), MemProt::Write) && !section.blocks().empty() &&
        section.getMemLifetime() != llvm::orc::MemLifetime::NoAlloc)
      return internal_error("section " + section.getName().str() + " is writable; a kernel has code and constants only");
  }
  return {};
}

}  // namespace

/// The allocation while JITLink works on it.
class MemoryManager::Working final : public InFlightAlloc {
 public:
  explicit Working(MemoryManager& manager) : manager_(manager) {}

  void finalize(OnFinalizedFunction then) override {
    manager_.failure = manager_.run->write(manager_.code_, manager_.constants_);
    if (!manager_.failure.ok()) return then(error_of(manager_.failure));
    then(FinalizedAlloc(llvm::orc::ExecutorAddr::fromPtr(&manager_)));
  }
  void abandon(OnAbandonedFunction then) override { then(llvm::Error::success()); }

 private:
  MemoryManager& manager_;
};

/// Places the segments in the run and in the buffers.
Status MemoryManager::plan(jitlink::BasicLayout& layout) {
  size_t sizes[2] = {};  // of constants, of code
  std::vector<size_t> offsets;
  for (auto& [group, segment] : layout.segments()) {
    const bool is_code = has(group.getMemProt(), MemProt::Exec);
    const size_t alignment = segment.Alignment.value(), most = is_code ? 4096 : link_services().constant_alignment;
    if (alignment > most) {
      return internal_error("a section is aligned to " + std::to_string(alignment) + " bytes, expected at most " +
                            std::to_string(most));
    }
    size_t& size = sizes[is_code];
    offsets.push_back(llvm::alignTo(size, segment.Alignment));
    size = offsets.back() + segment.ContentSize + segment.ZeroFillSize;
  }
  STREW_ASSIGN(run, link_services().place(sizes[1], sizes[0]));
  constants_.resize(sizes[0]);
  code_.resize(sizes[1]);
  size_t next = 0;
  for (auto& [group, segment] : layout.segments()) {
    const bool is_code = has(group.getMemProt(), MemProt::Exec);
    const size_t offset = offsets[next++];
    segment.Addr = llvm::orc::ExecutorAddr::fromPtr((is_code ? run->code() : run->constants()) + offset);
    segment.WorkingMem = (is_code ? code_ : constants_).data() + offset;
  }
  return {};
}

void MemoryManager::allocate(const jitlink::JITLinkDylib* /*dylib*/, jitlink::LinkGraph& graph, OnAllocatedFunction then) {
  make_relocated_constants_readable(graph);
  failure = refuse_writable_data(graph);
  if (failure.ok() && !graph.allocActions().empty()) failure = internal_error("the object asks for actions when it is linked");
  if (!failure.ok()) return then(error_of(failure));
  jitlink::BasicLayout layout(graph);
  failure = plan(layout);
  if (!failure.ok()) return then(error_of(failure));
  if (auto error = layout.apply()) return then(std::move(error));
  then(std::make_unique<Working>(*this));
}

void MemoryManager::deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction then) {
  for (FinalizedAlloc& allocation : allocations) allocation.release();  // the memory belongs to the run
  then(llvm::Error::success());
}

}  // namespace strew::inline v0
