// run_program() and RunnableProgram: compiler/program with the kernels of a Runtime. Tested by tests/unit/compiler/program/program_test.cc and tests/oracle/*.
#include <chrono>

#include "compiler/program/run.h"
#include "runtime/program_steps.h"
#include "strew/run_program.h"

namespace strew::inline v0 {

/// What the runs of a RunnableProgram share.
struct ProgramState {
  ProgramMemory memory;
  StepCache steps;
};

namespace {

int64_t elapsed_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

Expected<std::vector<Tensor>> run(Runtime& runtime, const Program& imported, ProgramMemory& memory,
                                  std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                  ProgramOutputs* outputs) {
  ProgramCalls calls;
  calls.run_kernel = [&](const ProgramKernel& kernel, std::span<const TensorView> views, BadIndex* bad_index) -> Status {
    STREW_ASSIGN(const Kernel compiled, runtime.get(kernel.op, options.kernel));
    const auto start = std::chrono::steady_clock::now();
    STREW_TRY(compiled.run(views, bad_index));
    if (options.times != nullptr) options.times->kernel_nanoseconds += elapsed_since(start);
    return options.after_kernel ? options.after_kernel(kernel, compiled, views) : Status();
  };
  // What is interpreted need not flush subnormals as generated code does.
  const bool has_host_fp = (options.kernel.target ? *options.kernel.target : runtime.target()).host_fp;
  calls.keeps_environment = has_host_fp;
  calls.interpreted_elements = has_host_fp ? 0 : options.interpreted_elements;
  if (options.interpreted_elements != ProgramOptions::kInterpreted)
    calls.run_piece = [&, has_host_fp](const Compute& last, const VerifiedOp& op,
                                       std::span<const TensorView> views) -> Expected<bool> {
      const Expected<Kernel> compiled = runtime.get(op, options.kernel);
      if (!compiled.ok() && (has_host_fp || compiled.status().code() == Code::internal)) return compiled.status();
      if (!compiled.ok()) return false;  // the backend does not build it, or the request must not compile
      const auto start = std::chrono::steady_clock::now();
      STREW_TRY(compiled->run(views));
      if (options.times != nullptr) options.times->compiled.emplace_back(&last, elapsed_since(start));
      return true;
    };
  if (options.times != nullptr)
    calls.observe = [&](const Compute& compute, int64_t nanoseconds) {
      options.times->interpreted.emplace_back(&compute, nanoseconds);
    };
  return run_imported(imported, std::move(inputs), memory, calls, {!options.after_kernel, outputs});
}

/// `steps` null: the program runs once.
Expected<std::vector<Tensor>> run_or_step(Runtime& runtime, const Program& imported, ProgramMemory& memory, StepCache* steps,
                                          std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                          ProgramOutputs* outputs) {
  int64_t waits = StepCache::kNobody;
  if (steps != nullptr)
    if (auto results = steps->run(runtime, imported, inputs, options, outputs, memory.buffers, waits)) return *std::move(results);
  if (waits == StepCache::kNobody) return run(runtime, imported, memory, std::move(inputs), options, outputs);
  const auto start = std::chrono::steady_clock::now();
  Expected<std::vector<Tensor>> results = run(runtime, imported, memory, std::move(inputs), options, outputs);
  steps->spent(waits, elapsed_since(start));
  return results;
}

Status run_into(Runtime& runtime, const Program& imported, ProgramMemory& memory, StepCache* steps,
                std::vector<std::unique_ptr<Tensor>> inputs, std::span<const TensorView> outputs, const ProgramOptions& options) {
  STREW_ASSIGN(ProgramOutputs given, ProgramOutputs::of(imported, outputs));
  return run_or_step(runtime, imported, memory, steps, std::move(inputs), options, &given).status();
}

}  // namespace

RunnableProgram::RunnableProgram(Program program)
    : program_(std::make_unique<const Program>(std::move(program))), state_(std::make_unique<ProgramState>()) {}
RunnableProgram::RunnableProgram(RunnableProgram&&) noexcept = default;
RunnableProgram& RunnableProgram::operator=(RunnableProgram&&) noexcept = default;
RunnableProgram::~RunnableProgram() = default;

Expected<std::vector<Tensor>> RunnableProgram::run(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs,
                                                   const ProgramOptions& options) const {
  return run_or_step(runtime, *program_, state_->memory, &state_->steps, std::move(inputs), options, nullptr);
}
Status RunnableProgram::run_into(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs,
                                 std::span<const TensorView> outputs, const ProgramOptions& options) const {
  return strew::run_into(runtime, *program_, state_->memory, &state_->steps, std::move(inputs), outputs, options);
}

Status RunnableProgram::run_with(Runtime& runtime, std::vector<std::unique_ptr<Tensor>> inputs, const OutputMaker& make_output,
                                 const ProgramOptions& options) const {
  ProgramOutputs outputs(*program_, make_output);
  return run_or_step(runtime, *program_, state_->memory, &state_->steps, std::move(inputs), options, &outputs).status();
}

Expected<std::vector<Tensor>> run_program(Runtime& runtime, const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                          const ProgramOptions& options) {
  ProgramMemory memory;
  return run(runtime, imported, memory, std::move(inputs), options, nullptr);
}

Status run_program_into(Runtime& runtime, const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                        std::span<const TensorView> outputs, const ProgramOptions& options) {
  ProgramMemory memory;
  return run_into(runtime, imported, memory, nullptr, std::move(inputs), outputs, options);
}

}  // namespace strew::inline v0
