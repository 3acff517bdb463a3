// MemoryManager: gives JITLink memory of the slabs (slabs.h), for one object. Sections of code become the run's code; all others become its
// constants, and an object with data to write to is refused. JITLink writes to a buffer, which is copied to the run at the end: no code is
// writable where it runs. Tested by tests/unit/link_test.cc.
#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include "backends/llvm/link/slabs.h"
#include "strew/status.h"

namespace strew::inline v0 {

class MemoryManager final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  explicit MemoryManager(Slabs& slabs) : slabs_(slabs) {}

  void allocate(const llvm::jitlink::JITLinkDylib* dylib, llvm::jitlink::LinkGraph& graph, OnAllocatedFunction then) override;
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction then) override;

  CodeRun run;     ///< what the object got; given back with the MemoryManager unless somebody takes it
  Status failure;  ///< why the slabs gave no memory, or could not make it executable

 private:
  class Working;
  Status plan(llvm::jitlink::BasicLayout& layout);

  Slabs& slabs_;
  std::vector<char> code_, constants_;  ///< the contents while JITLink works on them
};

}  // namespace strew::inline v0
