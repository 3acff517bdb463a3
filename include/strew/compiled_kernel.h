// CompiledKernel: runs a kernel that `strew compile --emit obj` wrote into an object file. Its program links the object
// and libstrew_rt, the library without the compiler.
//
//   extern "C" const strew_kernel embedding_grad;                // the symbol that the object exports
//   auto kernel = strew::CompiledKernel::make(embedding_grad);   // once; checks the version of the interface and the CPU
//   strew::Status s = kernel->run(views);                        // binds, checks, runs; from any thread
//
// tests/runtime_only/main.cc is a whole program. A program with the compiler can also load such objects while it runs
// (Runtime::load).
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "strew/abi.h"
#include "strew/call_options.h"
#include "strew/executor.h"
#include "strew/export.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class Callable;
class Runtime;

/// A handle: a copy is cheap, and shares what was prepared.
class CompiledKernel {
 public:
  /// Prepares calls of `kernel`, which must outlive the result. `threads`: the most threads that a call may use,
  /// 1..1024; 0: all of the executor's. `executor`: null stands for process_executor(). Fails if the object has another
  /// version of the binary interface, or if this machine lacks a CPU feature that the code uses; the message names what
  /// differs.
  STREW_API static Expected<CompiledKernel> make(const strew_kernel& kernel, int threads = 0,
                                                 std::shared_ptr<Executor> executor = nullptr);

  /// Runs the kernel on the tensors of descriptor().tensors, in that order: results, operands, indices, updates,
  /// extras. First checks rank, dtype, dims, null pointers and overlap (docs/semantics.md section 6) and, under policy
  /// `error`, the indices; if a check fails, nothing is written. With code out_of_bounds, `bad_index`, if given, is filled.
  /// Thread-safe; the calling thread takes part in the work.
  STREW_API Status run(std::span<const TensorView> tensors, BadIndex* bad_index = nullptr) const;
  /// run() with other threads, or on another executor, than the kernel's.
  STREW_API Status run(std::span<const TensorView> tensors, const CallOptions& options) const;
  /// run() with the tensors in any order, each with the name of its slot, as in Kernel::run_by_name.
  STREW_API Status run_by_name(std::span<const NamedTensor> tensors, BadIndex* bad_index = nullptr) const;

  /// Many calls at once that differ in their buffers only, as in Kernel::run_many.
  STREW_API Status run_many(std::span<const TensorView> shapes, std::span<void* const> data,
                            const CallOptions& options = {}) const;

  STREW_API const strew_kernel& descriptor() const;
  const std::shared_ptr<const Callable>& callable() const { return callable_; }  ///< for strew itself: the type is internal

 private:
  friend class Runtime;
  explicit CompiledKernel(std::shared_ptr<const Callable> callable) : callable_(std::move(callable)) {}
  std::shared_ptr<const Callable> callable_;  ///< never null
};

}  // namespace strew::inline v0
