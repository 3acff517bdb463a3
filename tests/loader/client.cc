// Client: what strew_loader calls in C after it has opened libstrew by a path of the test's choosing. It needs libstrew.so by name, and the
// loader gives it the one that is open already.
#include <cstdio>
#include <string>

#include "strew/export.h"
#include "strew/runtime.h"
#include "strew/text.h"

/// Asks backend llvm for a kernel; prints "compiled" or the message of the failure.
extern "C" STREW_API int strew_loader_client() {
  const auto op = strew::parse_op(
      "strew1.gather(operand=f32[4] indices=i32[2] result=f32[2] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 "
      "slice_sizes=[1])");
  strew::KernelOptions options;
  options.backend = strew::BackendChoice::llvm;
  strew::Runtime runtime;
  const auto kernel = op.ok() ? runtime.get(*op, options) : strew::Expected<strew::Kernel>(op.status());
  std::puts(kernel.ok() ? "compiled" : kernel.status().message().c_str());
  return kernel.ok() ? 0 : 1;
}
