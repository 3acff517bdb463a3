// See program_steps.h. A step that fails makes the whole run fail, which the caller then does again in the other way: that has the messages, with the places of
// the file. Inputs are never written by steps, so they can be read again.
#include "runtime/program_steps.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/reference/reference.h"
#include "runtime/call/run_steps.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {
namespace {

/// Of inputs, outputs and the arena. For larger ones the time to find out what to call does not count.
constexpr int64_t kMostBytes = int64_t{1} << 18;
constexpr size_t kMostEntries = 8;
/// When runs have taken so long, steps are made; so much longer for each operation that is interpreted until then, because it has to be compiled, which takes
/// some ten times as long.
constexpr int64_t kNanoseconds = 50'000, kNanosecondsPerOperation = 1'000'000;

int64_t nanoseconds_before(const Program& program) {
  int64_t nanoseconds = kNanoseconds;
  for (const Compute& compute : program.computes())
    if (compute.disposition == ComputeDisposition::interpreted) nanoseconds += kNanosecondsPerOperation;
  return nanoseconds;
}

}  // namespace

/// Steps with what their kernels are asked for.
class ReadySteps {
 public:
  static Expected<std::shared_ptr<const ReadySteps>> make(const Program& program, std::span<const std::unique_ptr<Tensor>> inputs,
                                                          const KernelOptions& options) {
    StepOptions how;
    how.run_known = run_reference;
    for (const Value& value : program.values()) {
      if (value.kind != ValueKind::input) continue;
      const std::vector<int64_t>& dims = inputs[static_cast<size_t>(value.index)]->dims;
      for (size_t d = 0; d < dims.size(); ++d)
        if (program.input(value.index).type.dims[d] == kDynamic) how.extents[extent_name(program, value, d)] = dims[d];
    }
    STREW_ASSIGN(ProgramSteps steps, steps_of(program, how));
    for (size_t i = 0; i < inputs.size(); ++i)
      if (steps.tensors[i].type.dims != inputs[i]->dims)
        return invalid_argument("input " + std::to_string(i) + " does not fit its type");
    auto out = std::make_shared<ReadySteps>();
    out->input_count_ = inputs.size();
    int64_t bytes = steps.arena_bytes;
    for (const CallerTensor& tensor : steps.tensors) {
      bytes += tensor.bytes();
    }
    if (bytes > kMostBytes) return unsupported("the program's tensors are " + std::to_string(bytes) + " bytes");
    for (const Step& step : steps.steps) {
      std::optional<PreparedOp> op;
      if (step.op) {
        STREW_ASSIGN(PreparedOp prepared, PreparedOp::of(**step.op, options));
        op = std::move(prepared);
      }
      out->ops_.push_back(std::move(op));
    }
    out->steps_ = std::move(steps);
    return std::shared_ptr<const ReadySteps>(std::move(out));
  }

  size_t output_count() const { return steps_.tensors.size() - input_count_; }
  const TensorType& output(size_t number) const { return steps_.tensors[input_count_ + number].type; }

  Status run(Runtime& runtime, std::span<const std::unique_ptr<Tensor>> inputs, std::span<const Tensor* const> outputs,
             std::byte* arena) const {
    Run all{*this, runtime, inputs, outputs, arena};
    return run_steps(all);
  }

  int64_t arena_bytes() const { return steps_.arena_bytes; }

 private:
  /// For run_steps().
  struct Run {
    const ReadySteps& of;
    Runtime& runtime;
    std::span<const std::unique_ptr<Tensor>> inputs;
    std::span<const Tensor* const> outputs;
    std::byte* arena;

    size_t size() const { return of.steps_.steps.size(); }
    const Step& step(size_t s) const { return of.steps_.steps[s]; }
    StepKind kind(size_t s) const { return step(s).kind; }
    const std::string& what(size_t s) const { return step(s).what; }
    const std::string& where(size_t s) const { return step(s).where; }
    void bind(size_t s, std::vector<TensorView>& views) const {
      for (const StepOperand& operand : step(s).operands) {
        const TensorType& type = operand.type;
        views.push_back({place_of(operand) + operand.first, type.dtype, type.rank(), type.dims.data(),
                         type.strides.empty() ? nullptr : type.strides.data()});
      }
    }
    Status run_kernel(size_t s, std::span<const TensorView> views) const {
      const Expected<Kernel> kernel = runtime.get(*of.ops_[s]);
      // Options that do not fit the op, such as a schedule of the caller's, never will.
      if (kernel.status().code() == Code::invalid_argument) return unsupported(kernel.status().message());
      STREW_TRY(kernel.status());
      return kernel->run(views);
    }
    std::byte* place_of(const StepOperand& operand) const {
      const auto number = static_cast<size_t>(operand.number);
      switch (operand.place) {
        case StepPlace::tensor:
          return number < inputs.size() ? inputs[number]->data.data() : outputs[number - inputs.size()]->data.data();
        case StepPlace::constant:
          return reinterpret_cast<std::byte*>(const_cast<char*>(of.steps_.constants[number].data()));
        case StepPlace::arena:
          break;
      }
      return arena;
    }
  };

  ProgramSteps steps_;
  std::vector<std::optional<PreparedOp>> ops_;  ///< per step
  size_t input_count_ = 0;
};

struct StepCache::Entry {
  std::vector<std::vector<int64_t>> dims;  ///< of each input
  KernelOptions options;
  int64_t number = 0;
  int64_t nanoseconds = 0;  ///< of runs so far
  int64_t needed = 0;       ///< nanoseconds that runs must have taken
  bool is_refused = false;
  std::shared_ptr<const ReadySteps> steps;
};

StepCache::StepCache() = default;
StepCache::~StepCache() = default;

std::shared_ptr<const ReadySteps> StepCache::find(const Program& program, std::span<const std::unique_ptr<Tensor>> inputs,
                                                  const ProgramOptions& options, int64_t& waits) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Entry& entry) {
    for (size_t i = 0; i < inputs.size(); ++i)
      if (entry.dims[i] != inputs[i]->dims) return false;
    return entry.options == options.kernel;
  };
  auto found = std::ranges::find_if(entries_, fits);
  if (found == entries_.end()) {
    if (entries_.size() >= kMostEntries) entries_.erase(entries_.begin());
    Entry entry;
    for (const std::unique_ptr<Tensor>& input : inputs) entry.dims.push_back(input->dims);
    entry.options = options.kernel;
    entry.number = made_++;
    entry.needed = options.interpreted_elements == 0 ? 0 : nanoseconds_before(program);
    entries_.push_back(std::move(entry));
    found = entries_.end() - 1;
  }
  if (found->steps != nullptr || found->is_refused) return found->steps;
  if (found->nanoseconds < found->needed) {
    waits = found->number;
    return nullptr;
  }
  Expected<std::shared_ptr<const ReadySteps>> made = ReadySteps::make(program, inputs, options.kernel);
  found->is_refused = !made.ok();
  if (made.ok()) found->steps = *std::move(made);
  return found->steps;
}

void StepCache::spent(int64_t waits, int64_t nanoseconds) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_)
    if (entry.number == waits) entry.nanoseconds += nanoseconds;
}

void StepCache::refuse(const ReadySteps* steps) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.steps.get() != steps) continue;
    entry.steps = nullptr;
    entry.is_refused = true;
  }
}

std::optional<std::vector<Tensor>> StepCache::run(Runtime& runtime, const Program& program,
                                                  std::span<const std::unique_ptr<Tensor>> inputs, const ProgramOptions& options,
                                                  ProgramOutputs* outputs, BufferPool& buffers, int64_t& waits) {
  waits = kNobody;
  if (options.after_kernel || options.times != nullptr || options.interpreted_elements == ProgramOptions::kInterpreted) return {};
  if (inputs.size() != program.inputs().size()) return {};
  int64_t bytes = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    // A pointer to memory may have other dims than its type, and a tensor of another dtype is an error, which the other way tells.
    if (inputs[i] == nullptr || program.inputs()[i].memory || inputs[i]->dtype != program.inputs()[i].type.dtype) return {};
    bytes += inputs[i]->data.size();
    if (outputs != nullptr && outputs->overlaps(inputs[i]->data)) return {};
  }
  if (bytes > kMostBytes) return {};
  const std::shared_ptr<const ReadySteps> steps = find(program, inputs, options, waits);
  if (steps == nullptr) return {};
  std::vector<Tensor> made;
  std::vector<const Tensor*> places;
  for (size_t o = 0; o < steps->output_count(); ++o) {
    const TensorType& type = steps->output(o);
    if (outputs != nullptr) {
      const Expected<const Tensor*> given = outputs->at(program, o, type.dtype, type.dims);
      if (!given.ok()) return {};
      places.push_back(*given);
      continue;
    }
    Expected<Tensor> tensor = buffers.make(type.dtype, type.dims);
    if (!tensor.ok()) return {};
    made.push_back(*std::move(tensor));
  }
  for (const Tensor& tensor : made) places.push_back(&tensor);
  // A buffer that the caller gives just now may be an input's: a step would write over what later steps read.
  for (const std::unique_ptr<Tensor>& input : inputs)
    if (outputs != nullptr && outputs->overlaps(input->data)) return {};
  constexpr size_t kAlignment = 64;
  const std::unique_ptr<std::byte[]> memory(new std::byte[static_cast<size_t>(steps->arena_bytes()) + kAlignment]);
  std::byte* const arena = memory.get() + (kAlignment - reinterpret_cast<uintptr_t>(memory.get()) % kAlignment) % kAlignment;
  const Status status = steps->run(runtime, inputs, places, arena);
  if (status.code() == Code::unsupported) refuse(steps.get());
  if (!status.ok()) return {};
  return made;
}

}  // namespace strew::inline v0
