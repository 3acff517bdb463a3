// The arguments of a kernel that it reads for one reason.
#pragma once

#include <vector>

#include "strew/program.h"

namespace strew::test {

inline KernelArguments arguments_for(const ProgramKernel& kernel, ArgumentUse use) {
  KernelArguments out = kernel.arguments;
  std::erase_if(out, [&](const KernelArgument& argument) { return argument.use != use; });
  return out;
}

}  // namespace strew::test
