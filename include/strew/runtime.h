// Runtime: compiles ops to kernels and remembers what it compiled.
//
//   strew::Runtime& runtime = strew::Runtime::process();
//   auto kernel = runtime.get(op);         // compiled by the first request, found by later ones
//   strew::Status s = kernel->run(views);  // binds, checks, runs
//
// All member functions are thread-safe. A runtime owns its cache; kernels may outlive the runtime. Runtimes share the
// process's threads (executor.h) unless they are given others. Tested by tests/unit/kernel_test.cc and tests/unit/cache_test.cc.
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

/// Identifies a request to Runtime::get for Runtime::find: a hash of the op's text and of the options. Requests with
/// different keys may share code (docs/architecture.md, "Identity").
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

  /// The runtime of the process, which is never destroyed.
  STREW_API static Runtime& process();

  /// The kernel of the op: verifies, plans, compiles and links the op, or finds the kernel in the cache. Threads that
  /// ask for one kernel at the same time wait for one build. Spellings of one op, and handles with different numbers of
  /// threads, share the code (docs/architecture.md, "Identity"). Fails if the op does not verify, the options are
  /// wrong, or no backend can build the op; failures are not remembered.
  STREW_API Expected<Kernel> get(const Op& op, const KernelOptions& options = {});
  /// The kernel that get() returned for the request with this key; an empty handle if there is none. Takes tens of
  /// nanoseconds and no lock, also while other threads compile.
  STREW_API Kernel find(const KernelKey& key) const;

  struct Stats {
    uint64_t hits = 0, misses = 0;  ///< requests; a request that finds a kernel built for another request is a miss
    uint64_t built = 0;             ///< kernels
    uint64_t failed = 0;            ///< requests
  };
  STREW_API Stats stats() const;
  /// Empties the cache. Kernels that handles refer to stay.
  STREW_API void clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strew::inline v0
