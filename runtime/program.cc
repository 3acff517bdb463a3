// run_program(): compiler/program with the kernels of a Runtime. Tested by tests/unit/program_test.cc and tests/oracle/*.
#include "strew/program.h"

#include "compiler/program/program.h"

namespace strew::inline v0 {

Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Imported& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                          const ProgramOptions& options) {
  const auto run = [&](const ImportedKernel& kernel, std::span<const TensorView> views) -> Status {
    STREW_ASSIGN(const Kernel compiled, runtime.get(kernel.op, options.kernel));
    STREW_TRY(compiled.run(views));
    return options.after_kernel ? options.after_kernel(kernel, compiled, views) : Status();
  };
  return run_imported(imported, std::move(inputs), run);
}

}  // namespace strew::inline v0
