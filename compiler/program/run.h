// run_imported(): runs an imported file on tensors. It evaluates the operations around the kernels and calls a function
// of the caller for each kernel, so this folder does not depend on a Runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "compiler/program/buffers.h"
#include "compiler/program/outputs.h"
#include "compiler/program/pieces/cache.h"
#include "compiler/program/uses.h"
#include "strew/bad_index.h"
#include "strew/program.h"
#include "strew/tensor.h"

namespace strew::inline v0 {

/// What a run calls. An error ends the program.
struct ProgramCalls {
  /// Runs one kernel on tensors in the order of tensor_slots(kernel.op). With code out_of_bounds, the index that caused it is in the last argument.
  std::function<Status(const ProgramKernel&, std::span<const TensorView>, BadIndex*)> run_kernel;
  /// Runs the op, which does the operation and others that only it reads, on tensors in the order of tensor_slots(op). False: there is no kernel for it,
  /// and nothing is written. Null: all operations are interpreted.
  std::function<Expected<bool>(const Compute&, const VerifiedOp& op, std::span<const TensorView>)> run_piece;
  int64_t interpreted_elements = 0;  ///< so many elements of a region are interpreted before it is worth a kernel
  /// Null, or told after each operation that was interpreted: the operation and its nanoseconds.
  std::function<void(const Compute&, int64_t)> observe;
  /// Null: memmove. Copies elements of values that are not known before the run; sizes and constants are not copied by this.
  std::function<Status(std::byte* to, const std::byte* from, int64_t bytes)> copy;
  /// Null: the run looks itself whether an element is negative, which is an error. The tensor's elements are signed integers.
  std::function<Status(const TensorView&)> check_non_negative;
  /// Null: the run compares two integers, which are checked before a kernel runs, by check_equal (base/fault_text.h) itself.
  std::function<Status(const KernelArgument&, const TensorView&, const TensorView& other)> check_equal;
  /// Operations are interpreted in the floating-point environment of the thread that calls, instead of the default one.
  bool keeps_environment = false;
};

/// Copies by calls.copy, or by memmove.
Status copy_by(const ProgramCalls& calls, std::byte* to, const std::byte* from, int64_t bytes);

/// What the runs of one program share. Threads may use it at the same time.
struct ProgramMemory {
  explicit ProgramMemory(BufferPool::Freed freed = BufferPool::Freed::reused) : buffers(freed) {}

  /// The same program in every call.
  const ProgramUses& uses_of(const Program& program);

  PieceCache pieces;
  BufferPool buffers;

 private:
  std::once_flag once_;
  ProgramUses uses_;
};

struct ProgramBuffers {
  /// Kernels that update an input may write to its buffer, if it is not read-only and nothing else reads the input.
  bool reuses_inputs = false;
  /// Null, or where each output is to lie, as run_program_into (strew/run_program.h) documents. run_imported() then returns no tensors.
  ProgramOutputs* outputs = nullptr;
};

/// Does what run_program (strew/run_program.h) documents: runs everything that the outputs need.
Expected<std::vector<Tensor>> run_imported(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                           ProgramMemory& memory, const ProgramCalls& calls, const ProgramBuffers& buffers = {});

}  // namespace strew::inline v0
