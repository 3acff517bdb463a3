// Callable: a kernel that can be called, made from its descriptor alone. libstrew_rt consists of this and the files it needs.
//
//   extern const strew_kernel embedding_grad;                       // from an object that `strew compile --emit obj` wrote
//   auto kernel = strew::Callable::make(embedding_grad, executor);  // once
//   strew::Status s = kernel->run(views);                           // binds, checks, runs; from any thread
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/call/bind.h"
#include "runtime/call/executor/limits.h"
#include "runtime/call/executor/thread_pool.h"
#include "runtime/call/scratch.h"
#include "strew/abi.h"
#include "strew/call_options.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class Learner;

class alignas(64) Callable {
 public:
  /// `kernel` must outlive the callable, which shares ownership of `executor` and `limits`. `threads`: the most threads that a call may
  /// use, 1..1024; 0: all of the executor's. Fails if the descriptor belongs to another version of strew.
  static Expected<std::unique_ptr<Callable>> make(const strew_kernel& kernel, std::shared_ptr<Executor> executor, int threads = 0,
                                                  std::shared_ptr<const ExecutionLimits> limits = default_limits());

  /// Runs the kernel on the tensors of kernel.tensors, in that order. First checks rank, dtype, dims, null pointers and overlap
  /// (semantics.md section 6); on any error nothing is written. For out_of_bounds `bad_index`, if given, gets the details. Thread-safe.
  Status run(std::span<const TensorView> tensors, BadIndex* bad_index = nullptr) const;
  Status run(std::span<const TensorView> tensors, const CallOptions& options) const;

  ~Callable();
  Callable(const Callable&) = delete;
  Callable& operator=(const Callable&) = delete;

  /// run(), if the binder's fast path accepts the tensors: then returns true, and sets `status`, which was ok, if the call failed.
  /// Otherwise does nothing.
  bool run_if_it_fits(std::span<const TensorView> tensors, BadIndex* bad_index, Status& status) const;

  /// Runs a small call whose tensors the caller knows to fit: their addresses and the symbols, as strew_args has them. Returns false, and has
  /// done nothing, if run() must be called instead: for another call, or to find out what is wrong.
  bool run_addresses(void* const* data, const int64_t* dyn) const;

  // The steps of run(), for batches of calls (runtime/call/run_many).

  /// Decides by which stores a bound call writes, if that is left to calls.
  void choose_stores(std::span<const TensorView> tensors, Call& call) const {
    if (stream == nullptr) return;
    call.streams = is_open ? streams_past_caches(tensors, call) : streams;
    keep_off_new_pages(call);
  }
  /// A gather's result that nobody has touched yet is written through the caches (runtime/call/new_pages.h). What a scatter writes is in memory already.
  void keep_off_new_pages(Call& call) const {
    if (call.streams && kernel.is_gather != 0) call.streams = !writes_new_pages(call);
  }
  /// The entry that applies whole windows.
  strew_entry applies(const Call& call) const { return call.streams ? stream : range; }

  /// Sets the executor and the threads of a bound call whose phases will run.
  void use(Call& call, const CallOptions& options) const {
    call.executor = options.executor != nullptr ? options.executor : executor.get();
    call.threads = options.threads != 0 ? options.threads : threads;
  }
  /// Does the thread that calls run this call alone, by the entries check, if there is one, and range? So it is if there is no init to do, the check
  /// is too small for several threads, and the strategy lets one thread apply the updates.
  bool runs_alone(const Call& call) const;
  /// Does what run_phases() does for such calls, in less time.
  Status run_alone(std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) const;
  /// Runs a bound call whose stores, executor and threads are set.
  Status run_bound(std::span<const TensorView> tensors, const Call& call, BadIndex* bad_index) const;

  // The members are set by make() and do not change. The first ones are those that every call reads: they lie side by side, because between
  // two calls other data pushes them out of the first-level cache.
  Binder binder;
  strew_entry range = nullptr;
  strew_entry stream = nullptr;    ///< range with stores that bypass the caches; null: calls do not choose
  strew_entry check = nullptr;     ///< the check entry, if the kernel must check indices first
  const void* program = nullptr;   ///< strew_kernel.program
  bool computes_floats = false;    ///< in the default environment
  bool always_runs_alone = false;  ///< there is no other strategy: after checking and init the range entry does everything
  /// Calls that are not worth a second thread run alone too, because the strategy does not decide the bits.
  bool small_runs_alone = false;
  bool takes_addresses = false;  ///< run_addresses() can run calls
  bool streams = false;          ///< what calls take whose extents are all known
  bool is_open = false;          ///< some extents are known only at the call
  // Here the second cache line ends.
  int32_t checked_alone = 0;  ///< a call that has to check more positions may use several threads
  /// A call of at most so many positions and elements is worth one thread, whatever level of memory holds its table: calls of a few
  /// nanoseconds are not to estimate, which takes floats and their environment.
  int32_t small_positions = -1;
  int64_t small_elements = 0;
  std::unique_ptr<Learner> learner;  ///< null: calls do not learn
  int64_t result_bytes = 1;          ///< bytes of an element of result 0
  Bytes table_bytes;                 ///< of the indexed tensor; the most that there can be if its shape is known only at the call
  double alone_nanoseconds = 0;      ///< of work from which on a call is worth two threads
  CallCosts costs;
  bool computes_host_floats = false;  ///< in the environment of the thread that calls
  std::shared_ptr<const ExecutionLimits> limits;

  const strew_kernel& kernel;
  int threads = 1;
  Bytes last_level_cache;  ///< of the machine that runs the call, or of `limits`
  std::shared_ptr<Executor> executor;
  /// The stages of wide accumulation: STREW_FOLD, STREW_NARROW and, for some kernels, STREW_START.
  std::vector<std::unique_ptr<const Callable>> parts;
  mutable Scratch scratch;

 private:
  Callable(const strew_kernel& descriptor, Binder made);
  bool streams_past_caches(std::span<const TensorView> tensors, const Call& call) const;
  bool writes_new_pages(const Call& call) const;
};

}  // namespace strew::inline v0
