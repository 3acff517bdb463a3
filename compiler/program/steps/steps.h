// ProgramSteps: a program for inputs of known dims, as calls of kernels one after another on memory that is laid out before. Nothing is decided when it runs,
// so kernel libraries can hold it (library/) and run it without a compiler. Tested by tests/unit/compiler/program/steps_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/step.h"
#include "strew/bad_index.h"
#include "strew/program.h"
#include "strew/tensor_view.h"
#include "strew/verified.h"

namespace strew::inline v0 {

struct StepOperand {
  StepPlace place = StepPlace::arena;
  int number = 0;     ///< in ProgramSteps::tensors or constants
  int64_t first = 0;  ///< byte of the place at which element [0, ..., 0] lies
  TensorType type;    ///< of known dims; its strides are empty: row-major
};

struct Step {
  StepKind kind = StepKind::kernel;
  std::optional<VerifiedOp> op;  ///< of kind kernel
  std::string location;          ///< of the file
  std::vector<StepOperand> operands;
  std::string what, where;  ///< of kind equal: check_equal's (base/fault_text.h)
};

/// What the caller gives and gets.
struct CallerTensor {
  std::string name;  ///< of the input or output
  TensorType type;   ///< of known dims
  TensorUse use = TensorUse::input;
  std::string updated;  ///< use updated: the name of the output that it becomes
  int64_t bytes() const {
    int64_t elements = 1;
    for (const int64_t extent : type.dims) elements *= extent;
    return storage_bytes(type.dtype, elements);
  }
};

struct ProgramSteps {
  std::vector<CallerTensor> tensors;  ///< the inputs, in the order of the program, then the outputs that are no input's memory
  std::vector<std::string> constants;
  std::vector<Step> steps;
  int64_t arena_bytes = 0;
};

struct StepOptions {
  std::map<std::string, int64_t> extents;  ///< of the file's names for open extents
  /// Inputs that are updated in place: name of an input, name of the output that lies in its memory.
  std::vector<std::pair<std::string, std::string>> in_place;
  /// Null, or runs the op on tensors in the order of tensor_slots(op), as run_reference() does. Then small kernels whose tensors are all known, such as those that put
  /// a shape together, are run when the steps are found, and what follows from them is known, too.
  std::function<Status(const VerifiedOp& op, std::span<const TensorView>, BadIndex*)> run_known;
};

/// The names that StepOptions::extents must have: of each extent that an input leaves open, the file's, or INPUT.DIM where it has none; once each.
std::vector<std::string> open_extents(const Program& program);

/// The name of dim `dim`, which is open, of the value of an input.
std::string extent_name(const Program& program, const Value& input, size_t dim);

/// Fails if the extents of a tensor follow from elements of an input, and where an operation of a kind that is only interpreted reads what a kernel or a caller gives:
/// names it.
Expected<ProgramSteps> steps_of(const Program& program, const StepOptions& options);

}  // namespace strew::inline v0
