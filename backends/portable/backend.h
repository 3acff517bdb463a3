// portable_backend: kernels without generated code. A kernel is a program (program.h) that entries interpret which were compiled with strew, so making
// one takes microseconds, needs neither LLVM nor executable memory, and works on CPUs for which there is no code generator. Calls run as
// those of generated code do: with every strategy and any number of threads. Tested by tests/unit/backends/portable/portable_test.cc and
// tests/differential.
#pragma once

#include "backends/backend.h"

namespace strew::inline v0 {

const Backend* portable_backend();

}  // namespace strew::inline v0
