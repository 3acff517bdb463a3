// What the steps of a whole program are: compiler/program/steps finds them, kernel libraries hold them (runtime/call/library_program.h), and
// runtime/call/run_steps.h runs them. The numbers are in the constants of libraries.
#pragma once

#include <cstdint>

namespace strew::inline v0 {

enum class StepKind : uint32_t {
  kernel,        ///< calls a kernel; the operands are in the order of tensor_slots(op)
  copy,          ///< copies the bytes of the first operand to the second
  non_negative,  ///< fails if an element of the operand is negative
  equal,         ///< fails if the two operands, integers of rank 0, differ
};

/// Where a tensor of a step lies.
enum class StepPlace : uint32_t {
  tensor,    ///< in a tensor of the caller's
  constant,  ///< in a constant of the program's
  arena,     ///< in the memory of the run
};

/// What a caller's tensor is to the program.
enum class TensorUse : uint32_t { input, output, updated };

}  // namespace strew::inline v0
