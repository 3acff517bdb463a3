// Runtime: compiles ops to kernels and remembers what it compiled.
//
//   strew::Runtime& runtime = strew::Runtime::process();
//   auto kernel = runtime.get(op);         // compiled by the first request, found by later ones
//   strew::Status s = kernel->run(views);  // binds, checks, runs
//
// All member functions are thread-safe. A runtime owns its cache; kernels may outlive it. Runtimes share the process's threads unless they are given others.
#pragma once

#include <cstdint>
#include <memory>

#include "strew/executor.h"
#include "strew/export.h"
#include "strew/kernel.h"
#include "strew/kernel_options.h"
#include "strew/op.h"
#include "strew/status.h"
#include "strew/text.h"

namespace strew::inline v0 {

/// What Runtime::get was asked for: the text of the op as given, and the options. Cheap to make, for Runtime::find; kernels are shared beyond
/// it, by symbol.
struct KernelKey {
  Hash128 hash;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};
STREW_API KernelKey kernel_key(const Op& op, const KernelOptions& options = {});

struct ExecutionSettings;

class Runtime {
 public:
  /// Its calls run on `executor`; null stands for process_executor().
  STREW_API explicit Runtime(std::shared_ptr<Executor> executor = nullptr);
  /// The same with the limits from which on calls use threads (runtime/call/executor/limits.h): for strew's own tests.
  explicit Runtime(const ExecutionSettings& settings);
  STREW_API ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The process-wide one. Tests construct their own.
  STREW_API static Runtime& process();

  /// Verifies, plans, compiles and links, or finds the kernel in memory. Built once however many threads ask at the same time, and
  /// however the op is spelled or many threads a call may use (docs/architecture.md, "Identity"); failures are not remembered.
  STREW_API Expected<Kernel> get(const Op& op, const KernelOptions& options = {});
  /// Only looks for what get() was asked for with these words: an empty handle when absent. Tens of nanoseconds, no lock held while others compile.
  STREW_API Kernel find(const KernelKey& key) const;

  struct Stats {
    uint64_t hits = 0, misses = 0;  ///< of requests; one that finds a kernel built for another request is a miss
    uint64_t built = 0;             ///< kernels
    uint64_t failed = 0;            ///< requests
  };
  STREW_API Stats stats() const;
  STREW_API void clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strew::inline v0
