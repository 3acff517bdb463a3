// Kernel: a compiled op that can be called. Runtime::get (runtime.h) makes kernels.
//
// A Kernel is a reference-counted handle: a copy is cheap and shares the code. Member functions are thread-safe. The
// machine code lives as long as a handle or the runtime's cache holds it. A default-constructed Kernel is empty: run()
// fails, and the accessors must not be called. Tested by tests/unit/backends/kernel_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strew/abi.h"
#include "strew/call_options.h"
#include "strew/export.h"
#include "strew/schedule.h"
#include "strew/status.h"
#include "strew/target.h"
#include "strew/tensor_view.h"
#include "strew/verified.h"

namespace strew::inline v0 {

class Callable;
struct Plan;

class Kernel {
 public:
  Kernel() = default;
  explicit operator bool() const { return state_ != nullptr; }

  /// Runs on the tensors of tensor_slots(op), in that order: results, operands, indices, updates, extras. First checks
  /// rank, dtype, dims, null pointers and overlap (docs/semantics.md section 6) and, under policy `error`, the indices;
  /// if a check fails, nothing is written. With code out_of_bounds, `bad_index`, if given, is filled. Thread-safe; the
  /// calling thread takes part in the work.
  STREW_API Status run(std::span<const TensorView> tensors, BadIndex* bad_index = nullptr) const;
  /// run() with other threads, or on another executor, than the kernel's.
  STREW_API Status run(std::span<const TensorView> tensors, const CallOptions& options) const;
  /// run() with the tensors in any order, each with the name of its slot: "result 0", "operand 0", "indices", "updates
  /// 0", "extra 0". A slot that is the only one of its role may leave out the number. A name that is unknown, missing
  /// or given twice is an error.
  STREW_API Status run_by_name(std::span<const NamedTensor> tensors, BadIndex* bad_index = nullptr) const;

  /// Many calls at once that differ in their buffers only: call c has the tensors `shapes`, with the addresses
  /// data[c * shapes.size() + i]; the addresses in `shapes` are not used. One dispatch
  /// to threads, and one check of an index tensor that calls in a row share. It pays from
  /// about 16 calls on: 64 appends to as many caches take 4/5 of the time of 64 calls of run(). Fewer calls that are small and whose memory is in the
  /// caches are faster in a loop of run(), by 30 ns for one and some 150 to 250 ns in all for 2 to 8 (bench/service, run_many). All calls are checked before anything is
  /// written; a message about a call begins with its number, "call 3: …". The memory that one call writes must not be read
  /// or written by another call of the batch; that is checked too.
  STREW_API Status run_many(std::span<const TensorView> shapes, std::span<void* const> data,
                            const CallOptions& options = {}) const;

  // What the functions below refer to lives as long as the code: as long as a handle or the runtime's cache holds it.

  /// The op as it was given to Runtime::get. Handles of other spellings of the op (docs/architecture.md, "Identity")
  /// share code and descriptor.
  STREW_API const VerifiedOp& op() const;
  STREW_API std::string op_text() const;
  /// What the op does to addresses: loops, strides and index components, as `strew explain` prints them. For people; the format may change.
  STREW_API std::string plan_text() const;
  STREW_API const Plan& plan() const;  ///< for tools of strew's own, since the type is internal
  STREW_API const Schedule& schedule() const;
  STREW_API int threads() const;  ///< the most threads that a call of this handle uses
  STREW_API const Target& target() const;
  STREW_API std::string_view backend() const;  ///< that made the code, "llvm"
  STREW_API const std::string& symbol() const;
  STREW_API int64_t compile_nanoseconds() const;
  /// The kernel's descriptor. An entry that the kernel does not have is null; an interpreted kernel has none.
  STREW_API const strew_kernel& descriptor() const;
  /// Does this kernel answer only until the compiled one takes its place (CompileMode::background)? From then on, the functions above
  /// describe that one; what they returned before stays valid.
  STREW_API bool is_stand_in() const;
  /// descriptor().entries[kind], for callers that fill strew_args themselves.
  strew_entry entry(int kind) const { return descriptor().entries[kind]; }

  struct State;
  explicit Kernel(std::shared_ptr<const State> state);
  const std::shared_ptr<const State>& state() const { return state_; }  ///< for strew itself: the type is internal

 private:
  std::shared_ptr<const State> state_;
  const Callable* plain_ = nullptr;  ///< the state's Callable if a call needs nothing else; else null. Saves a call one load
};

/// One call of a batch.
struct KernelCall {
  Kernel kernel;
  std::span<const TensorView> tensors;  ///< as for Kernel::run
};
/// Runs calls of different kernels as one job, with the rules of Kernel::run_many. Kernels of wide accumulation, and kernels
/// without machine code, check their indices when they run: an index out of bounds there fails the batch after other calls
/// have been run. options.executor null: the executor of the first call's kernel.
STREW_API Status run_many(std::span<const KernelCall> calls, const CallOptions& options = {});

}  // namespace strew::inline v0
