// MemoryManager: gives JITLink memory of the process's slabs (backends/loader/slabs.h), for one object. Sections of code become the run's code; all others become its
// constants, and an object with data to write to is refused. JITLink writes to a buffer, which is copied to the run at the end: no code is
// writable where it runs. Tested by tests/unit/backends/link_test.cc.
#pragma once

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>

#include <memory>
#include <vector>

#include "backends/loader/code_memory.h"
#include "strew/status.h"

namespace strew::inline v0 {

class MemoryManager final : public llvm::jitlink::JITLinkMemoryManager {
 public:
  void allocate(const llvm::jitlink::JITLinkDylib* dylib, llvm::jitlink::LinkGraph& graph, OnAllocatedFunction then) override;
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction then) override;

  std::unique_ptr<CodeMemory> run;  ///< what the object got; given back with the MemoryManager unless somebody takes it
  Status failure;                   ///< why the slabs gave no memory, or could not make it executable

 private:
  class Working;
  Status plan(llvm::jitlink::BasicLayout& layout);

  std::vector<char> code_, constants_;  ///< the contents while JITLink works on them
};

}  // namespace strew::inline v0
