// LibraryProgram: a whole program of a kernel library, as calls of the library's kernels one after another. compiler/program/steps finds them, library/registry.cc
// writes it, and run_program_of() runs it without a compiler. Like the registry it is a constant without addresses: offsets count from the strew_library.
// Tested by tests/library and strew_program_differential.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/step.h"
#include "strew/call_options.h"
#include "strew/library.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

/// A tensor with known dims: of the caller's, or of a step.
struct LibraryShape {
  int32_t dims;     ///< offset of `rank` extents (int64_t)
  int32_t strides;  ///< offset of `rank` strides; 0: row-major
  uint16_t rank;
  uint8_t dtype;
  uint8_t unused;
};

/// What a caller gives.
struct LibraryTensor {
  int32_t name;  ///< offset of its name
  TensorUse use;
  LibraryShape shape;
  uint32_t unused;
  int64_t bytes;  ///< of its elements
};

struct LibraryOperand {
  StepPlace place;
  uint32_t number;  ///< of the caller's tensor
  int64_t first;    ///< byte of element [0, ..., 0] in the caller's tensor or in the arena; offset of a constant's
  LibraryShape shape;
  uint32_t unused;
};

struct LibraryStep {
  StepKind kind;
  uint32_t kernel;  ///< of kind kernel: its number in the library
  uint32_t operand_count;
  int32_t operands;     ///< offset of an array of LibraryOperand
  int32_t what, where;  ///< of kind equal: offsets of texts
};

/// strew_library.programs is the offset of an array of these.
struct LibraryProgram {
  int32_t name;
  uint32_t tensor_count;
  int32_t tensors;  ///< offset of an array of LibraryTensor
  uint32_t step_count;
  int32_t steps;  ///< offset of an array of LibraryStep
  uint32_t unused;
  int64_t arena_bytes;
};

// Without padding, whose bytes could differ from run to run.
static_assert(std::has_unique_object_representations_v<LibraryTensor> &&
              std::has_unique_object_representations_v<LibraryOperand> && std::has_unique_object_representations_v<LibraryStep> &&
              std::has_unique_object_representations_v<LibraryProgram>);

/// The array of `T` at `offset` of the registry.
template <class T>
const T* at_offset(const strew_library& library, int64_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<const char*>(&library) + offset);
}

inline const LibraryProgram& program_of(const strew_library& library, uint32_t number) {
  return at_offset<LibraryProgram>(library, library.programs)[number];
}

/// Calls the kernels of a library.
class LibraryKernels {
 public:
  virtual Status run(uint32_t number, std::span<const TensorView> tensors, const CallOptions& options) = 0;

 protected:
  ~LibraryKernels() = default;
};

/// Fails unless the caller's tensors are row-major, have the dtypes and dims of the program's, and lie apart from each other where one of them is written.
Status check_program_tensors(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors);
/// Runs the steps. `arena`: program.arena_bytes, aligned to 64. The tensors have been checked.
Status run_program_of(const strew_library& library, const LibraryProgram& program, std::span<const TensorView> tensors,
                      std::byte* arena, LibraryKernels& kernels, const CallOptions& options);

}  // namespace strew::inline v0
