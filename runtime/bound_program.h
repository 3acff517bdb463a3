// BoundProgram: a program for calls of a host that knows all dims before (strew_program_bind). Tested by tests/unit/runtime/bound_program_test.cc.
#pragma once

#include <memory>
#include <span>

#include "strew/kernel_options.h"
#include "strew/program.h"
#include "strew/runtime.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// A program for calls that differ in their buffers only: what a run of a RunnableProgram finds out each time is found out once. Threads may run it at the
/// same time.
class BoundProgram {
 public:
  /// Compiles the kernels. `in_place`: per output the number of the input in whose buffer it lies in every call, or -1; empty: all have buffers of their own.
  /// Fails where a dim of an input is open, and with Code::unsupported where steps (compiler/program/steps) cannot do it: a RunnableProgram then runs it.
  static Expected<BoundProgram> make(const Program& program, Runtime& runtime, const KernelOptions& options = {},
                                     std::span<const int> in_place = {});
  BoundProgram(BoundProgram&&) noexcept;
  BoundProgram& operator=(BoundProgram&&) noexcept;
  ~BoundProgram();

  /// `data`: the addresses of the inputs, then of the outputs: row-major tensors with the dtypes and dims of the program, which the caller answers for. An output
  /// that lies in an input's buffer has its address; other outputs overlap nothing. After a failure, what the outputs hold is not specified.
  Status run(std::span<void* const> data) const;

 private:
  struct State;
  explicit BoundProgram(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace strew::inline v0
