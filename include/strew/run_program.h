// Program: runs an imported file, its kernels and the operations around them, on tensors. Tested by
// tests/unit/compiler/program/program_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "strew/export.h"
#include "strew/program.h"
#include "strew/runtime.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// Where the time of a run goes, in nanoseconds.
struct ProgramTimes {
  int64_t kernel_nanoseconds = 0;  ///< in calls of the program's kernels; not in looking them up or compiling them
  /// Each operation around the kernels that was interpreted, in the order of evaluation.
  std::vector<std::pair<const Compute*, int64_t>> interpreted;
  /// Each call of a kernel that did operations around the kernels: the last of them, and the time of the call.
  std::vector<std::pair<const Compute*, int64_t>> compiled;
};

struct ProgramOptions {
  KernelOptions kernel;
  /// Called after each kernel with the tensors that it ran on, in the order of tensor_slots (`strew run --time`,
  /// `--verify`). The views are valid during the call. A failure that it returns ends the run.
  std::function<Status(const ProgramKernel&, const Kernel&, std::span<const TensorView>)> after_kernel;
  ProgramTimes* times = nullptr;  ///< receives the times of the run, which are added to it; null: they are not measured
  /// Operations around the program's kernels are interpreted until they have computed so many elements, in all runs, and are kernels from then on. 0: from
  /// the start; kInterpreted: never. The bits are the same.
  int64_t interpreted_elements = 16'384;
  static constexpr int64_t kInterpreted = std::numeric_limits<int64_t>::max();
};

/// Memory for output number `output`: called once for each, when its dims are known, and before it is written. The address of a row-major tensor of the caller's;
/// anything for one without elements. A failure ends the run.
using OutputMaker = std::function<Expected<void*>(size_t output, DType dtype, std::span<const int64_t> dims)>;

struct ProgramState;

/// A program with what its runs share: which operations around the kernels are done by one kernel, and up to 256 MiB of memory of large tensors that are
/// neither inputs nor outputs. Threads may run it at the same time.
class RunnableProgram {
 public:
  STREW_API explicit RunnableProgram(Program program);
  STREW_API RunnableProgram(RunnableProgram&&) noexcept;
  STREW_API RunnableProgram& operator=(RunnableProgram&&) noexcept;
  STREW_API ~RunnableProgram();

  const Program& program() const { return *program_; }
  /// Does what run_program() documents.
  STREW_API Expected<std::vector<Tensor>> run(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs,
                                              const ProgramOptions& options) const;
  /// Does what run_program_into() documents.
  STREW_API Status run_into(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs, std::span<const TensorView> outputs,
                            const ProgramOptions& options) const;
  /// run_into() with buffers that the caller gives when it is told their dims. They must not overlap each other.
  STREW_API Status run_with(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs, const OutputMaker& make_output,
                            const ProgramOptions& options) const;

 private:
  std::unique_ptr<const Program> program_;
  std::unique_ptr<ProgramState> state_;
};

/// Runs whatever the outputs need and returns one tensor per output. Fails if they need an operation that strew does not run (Opaque);
/// then cut_kernel() makes a program of one kernel. `inputs`: one per imported.inputs, in that order; null for an optional input that is left out and for an input that is not
/// needed. A kernel that updates an input writes to its buffer, unless the buffer is read-only (Buffer::share), something else reads the
/// input, or options.after_kernel is set: then the input is copied first. Fails if dtype, rank or a static dim of an input differs from its imported type. The results own their
/// elements and, of string tensors, the strings. A program that runs more than once is faster as a RunnableProgram.
STREW_API Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Program& imported,
                                                    std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options);

/// run_program() into buffers of the caller's: `outputs` has one per imported.outputs, row-major, with the dtype and the dims of the result;
/// others are refused, and so are strings and buffers that overlap each other. What a kernel makes is written to that buffer; what is
/// interpreted is copied there at the end. A buffer may be that of an input whose memory may be
/// written (Buffer::borrow): it is then updated in place, if nothing else reads the input. After a failure, what the outputs hold is not specified.
STREW_API Status run_program_into(Runtime& runtime, const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                  std::span<const TensorView> outputs, const ProgramOptions& options);

}  // namespace strew::inline v0
