// run_program(): compiler/program with the kernels of a Runtime. Tested by tests/unit/program_test.cc and tests/oracle/*.
#include "strew/program.h"

#include <chrono>

#include "compiler/program/program.h"

namespace strew::inline v0 {

Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Imported& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                          const ProgramOptions& options) {
  const auto run = [&](const ImportedKernel& kernel, std::span<const TensorView> views) -> Status {
    STREW_ASSIGN(const Kernel compiled, runtime.get(kernel.op, options.kernel));
    const auto start = std::chrono::steady_clock::now();
    STREW_TRY(compiled.run(views));
    if (options.times != nullptr)
      options.times->kernel_nanoseconds += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    return options.after_kernel ? options.after_kernel(kernel, compiled, views) : Status();
  };
  ComputeObserver observe;
  if (options.times != nullptr)
    observe = [&](const Compute& compute, int64_t nanoseconds) {
      options.times->interpreted.emplace_back(&compute, nanoseconds);
    };
  return run_imported(imported, std::move(inputs), run, observe);
}

}  // namespace strew::inline v0
