// Kernel: a compiled op you can call. Runtime: compiles ops and remembers what it compiled.
//
//   strew::Runtime& runtime = strew::Runtime::process();
//   auto kernel = runtime.get(op);                       // compiled once, then found again
//   strew::Status s = kernel->run(views);                // binds, checks, runs
//
// A Kernel is a reference-counted handle; copies are cheap, calls are re-entrant, and the machine code lives as long as a handle or
// the cache does.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strew/kernel_options.h"
#include "strew/status.h"
#include "strew/tensor_view.h"
#include "strew/text.h"
#include "strew/verified.h"
#include "compiler/plan/plan.h"
#include "schedules/schedule.h"
#include "strew/target.h"
#include "strew/abi.h"

namespace strew {

class Callable;

class Kernel {
 public:
  Kernel() = default;
  explicit operator bool() const { return state_ != nullptr; }

  /// Runs on the tensors of tensor_slots(op), in that order. Checks rank, dtype, dims, null pointers and overlap first (semantics.md
  /// section 6); on any error nothing is written. out_of_bounds: `fault`, if given, holds the details. Thread-safe.
  Status run(std::span<const TensorView> tensors, strew_fault* fault = nullptr) const;

  /// The op as this handle's user gave it. Handles for other spellings of it (compiler/rewrite) share code and descriptor with this one.
  const VerifiedOp& op() const;
  const std::string& op_text() const;
  const Plan& plan() const;
  const Schedule& schedule() const;
  int threads() const;  ///< most that a call of this handle uses
  const Target& target() const;
  std::string_view backend() const;
  const std::string& symbol() const;
  int64_t compile_nanoseconds() const;
  /// What a call reads, its entries included (null where absent, all of them when interpreted). Lives as long as a handle or the cache does.
  const strew_kernel& descriptor() const;
  /// descriptor().entries[kind], for callers that bind strew_args themselves.
  strew_entry entry(int kind) const { return descriptor().entries[kind]; }

  struct State;
  explicit Kernel(std::shared_ptr<const State> state);

 private:
  std::shared_ptr<const State> state_;
  const Callable* plain_ = nullptr;  ///< the state's, where it does all that a call needs: saves looking it up there
};

/// What Runtime::get was asked for: the text of the op as given, and the options. Cheap to make, for Runtime::find; kernels are shared beyond
/// it, by symbol.
struct KernelKey {
  Hash128 hash;
  friend bool operator==(const KernelKey&, const KernelKey&) = default;
};
KernelKey kernel_key(const Op& op, const KernelOptions& options = {});

struct ExecutionSettings;

class Runtime {
 public:
  Runtime();
  /// With a thread pool and limits of the caller's (runtime/call/executor/limits.h): for tests.
  explicit Runtime(const ExecutionSettings& settings);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// The process-wide one. Tests construct their own.
  static Runtime& process();

  /// Verifies, plans, compiles and links, or finds the kernel in memory. Built once however many threads ask at the same time, and
  /// however the op is spelled or many threads a call may use (docs/architecture.md, "Identity"); failures are not remembered.
  Expected<Kernel> get(const Op& op, const KernelOptions& options = {});
  /// Only looks for what get() was asked for with these words: an empty handle when absent. Tens of nanoseconds, no lock held while others compile.
  Kernel find(const KernelKey& key) const;

  struct Stats {
    uint64_t hits = 0, misses = 0;  ///< of requests; one that finds a kernel built for another request is a miss
    uint64_t built = 0;             ///< kernels
    uint64_t failed = 0;            ///< requests
  };
  Stats stats() const;
  void clear();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strew
