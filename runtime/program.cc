// run_program() and RunnableProgram: compiler/program with the kernels of a Runtime. Tested by tests/unit/compiler/program/program_test.cc and tests/oracle/*.
#include <chrono>

#include "base/strides.h"
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
                                  const std::vector<Tensor>* outputs) {
  ProgramCalls calls;
  calls.run_kernel = [&](const ProgramKernel& kernel, std::span<const TensorView> views, BadIndex* bad_index) -> Status {
    STREW_ASSIGN(const Kernel compiled, runtime.get(kernel.op, options.kernel));
    const auto start = std::chrono::steady_clock::now();
    STREW_TRY(compiled.run(views, bad_index));
    if (options.times != nullptr) options.times->kernel_nanoseconds += elapsed_since(start);
    return options.after_kernel ? options.after_kernel(kernel, compiled, views) : Status();
  };
  calls.interpreted_elements = options.interpreted_elements;
  if (options.interpreted_elements != ProgramOptions::kInterpreted)
    calls.run_piece = [&](const Compute& last, const VerifiedOp& op, std::span<const TensorView> views) -> Expected<bool> {
      const Expected<Kernel> compiled = runtime.get(op, options.kernel);
      if (!compiled.ok() && compiled.status().code() == Code::internal) return compiled.status();
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

/// The caller's buffer for an output, as a tensor. What the file says of it is checked; extents that it leaves open are checked when they are known.
Expected<Tensor> output_tensor(const ProgramOutput& output, const TensorType& type, const TensorView& given) {
  const auto bad = [&](const std::string& what) { return invalid_argument("output '" + output.name + "': " + what); };
  if (type.dtype == DType::string) return unsupported("output '" + output.name + "': its dtype is string, which has no buffer");
  if (given.dtype != type.dtype)
    return bad("dtype is " + std::string(name(given.dtype)) + ", expected " + std::string(name(type.dtype)));
  if (given.read_only != 0) return bad("it is read-only, expected a tensor that may be written");
  if (given.rank != type.rank() || (given.rank > 0 && given.dims == nullptr))
    return bad("rank is " + std::to_string(given.rank) + ", expected " + std::to_string(type.rank()));
  Tensor tensor{type.dtype, {given.dims, given.dims + given.rank}, {}, {}};
  const Expected<int64_t> elements = element_count(tensor.dims);
  if (!elements.ok()) return bad(elements.status().message());
  for (int32_t d = 0; d < given.rank; ++d)
    if (const int64_t expected = type.dims[static_cast<size_t>(d)]; expected != kDynamic && given.dims[d] != expected)
      return bad("dim " + std::to_string(d) + " is " + std::to_string(given.dims[d]) + ", expected " + std::to_string(expected));
  if (*elements == 0) return tensor;
  if (given.data == nullptr) return bad("data: null, expected a pointer");
  const std::vector<int64_t> packed = contiguous_strides(tensor.dims);
  for (int32_t d = 0; d < given.rank && given.strides != nullptr; ++d)
    if (given.dims[d] != 1 && given.strides[d] != packed[static_cast<size_t>(d)])
      return bad("stride " + std::to_string(d) + " is " + std::to_string(given.strides[d]) + ", expected " +
                 std::to_string(packed[static_cast<size_t>(d)]) + ": outputs of programs are row-major");
  tensor.data = Buffer::borrow({static_cast<std::byte*>(given.data), static_cast<size_t>(storage_bytes(type.dtype, *elements))});
  return tensor;
}

Status check_apart(const Program& imported, const std::vector<Tensor>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (overlap(outputs[i].data, outputs[j].data))
        return invalid_argument("output '" + imported.outputs()[i].name + "': its buffer overlaps that of output '" +
                                imported.outputs()[j].name + "', expected buffers of their own");
    }
  return {};
}

/// `steps` null: the program runs once.
Expected<std::vector<Tensor>> run_or_step(Runtime& runtime, const Program& imported, ProgramMemory& memory, StepCache* steps,
                                          std::vector<std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                          const std::vector<Tensor>* outputs) {
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
  if (outputs.size() != imported.outputs().size())
    return invalid_argument("outputs: " + std::to_string(outputs.size()) + " are given, expected " +
                            std::to_string(imported.outputs().size()) + ", as many as the program has");
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ProgramOutput& output = imported.outputs()[i];
    STREW_ASSIGN(Tensor tensor, output_tensor(output, imported.value(output.value).type, outputs[i]));
    tensors.push_back(std::move(tensor));
  }
  STREW_TRY(check_apart(imported, tensors));
  return run_or_step(runtime, imported, memory, steps, std::move(inputs), options, &tensors).status();
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
