// The headers of a kernel library. C: one documented function per kernel that takes tensors, and one that takes pointers and extents. C++: one
// function per kernel that takes views with its dtypes and ranks.
// Tested by tests/library.
#pragma once

#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "compiler/program/steps/steps.h"

namespace strew::inline v0 {

struct HeaderKernel {
  std::string name;
  const Compiled* baseline;           ///< its descriptor has the tensors
  std::vector<std::string> variants;  ///< texts of targets
  bool variants_agree = true;         ///< same_arguments() of all variants
  bool is_step = false;               ///< of a program: there is no function for it
};
struct HeaderProgram {
  std::string name;
  const ProgramSteps* steps;
};

/// Do the entries of the two kernels, which are variants of one, take the same addresses and symbols in the same places?
bool same_arguments(const Compiled& a, const Compiled& b);

/// `kernels` and `programs` in the order of the registry.
std::string make_header(const std::string& library, const std::vector<HeaderKernel>& kernels,
                        const std::vector<HeaderProgram>& programs);
std::string make_cpp_header(const std::string& library, const std::vector<HeaderKernel>& kernels,
                            const std::vector<HeaderProgram>& programs);

}  // namespace strew::inline v0
