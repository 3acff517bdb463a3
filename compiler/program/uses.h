// What a program's outputs need, and who reads its tensors. Tested by tests/unit/compiler/program/program_test.cc.
#pragma once

#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

/// Who reads the tensors of a program.
struct ProgramUses {
  std::vector<int> first;    ///< per value: the first value that is the same input or result
  std::vector<int> readers;  ///< per first value: how often its elements are read
};
/// Reads count whether what reads is needed or not, unless it became part of a kernel: then it is never evaluated. The extents of a value may be read as
/// often as one likes.
ProgramUses uses_of(const Program& program);

/// The values and kernels that the outputs need.
struct ProgramNeeds {
  std::vector<bool> values, kernels;
};
ProgramNeeds needs_of(const Program& program);

}  // namespace strew::inline v0
