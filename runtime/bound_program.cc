// See bound_program.h: the steps of a program (compiler/program/steps) with their kernels, compiled, and with everything in its views but the addresses that calls give. A
// call of a program that is one kernel costs little more than a call of the kernel. Tested by tests/unit/runtime/bound_program_test.cc.
#include "runtime/bound_program.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/reference/reference.h"
#include "base/fault_text.h"
#include "base/step.h"
#include "compiler/program/steps/steps.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kAlignment = 64;
/// Steps of more tensors are bound in memory from the heap.
constexpr size_t kFewTensors = 12;

/// The memory that runs need besides the caller's tensors. One block is kept for the next run; runs at the same time have blocks of their own.
class Arena {
 public:
  explicit Arena(size_t bytes) : bytes_(bytes) {}
  ~Arena() { delete[] spare_.load(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  class Block {
   public:
    explicit Block(Arena& of) : of_(of) {
      if (of.bytes_ == 0) return;
      memory_.reset(of.spare_.exchange(nullptr, std::memory_order_acquire));
      if (memory_ == nullptr) memory_.reset(new std::byte[of.bytes_ + kAlignment]);
      const auto address = reinterpret_cast<uintptr_t>(memory_.get());
      first_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
    }
    ~Block() {
      if (memory_ == nullptr) return;
      std::byte* none = nullptr;
      if (of_.spare_.compare_exchange_strong(none, memory_.get(), std::memory_order_acq_rel))
        static_cast<void>(memory_.release());
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    std::byte* first() const { return first_; }

   private:
    Arena& of_;
    std::unique_ptr<std::byte[]> memory_;  // NOLINT(modernize-avoid-c-arrays): one pointer, which the arena keeps
    std::byte* first_ = nullptr;
  };

 private:
  const size_t bytes_;
  std::atomic<std::byte*> spare_{nullptr};
};

/// Where a view of a step lies in a call.
struct Place {
  static constexpr int kArena = -1, kKnown = -2;  ///< kKnown: the address is in the view
  int number = kKnown;                            ///< of the caller's tensor
  int64_t first = 0;                              ///< byte of element [0, ..., 0]
};

struct BoundStep {
  StepKind kind;
  Kernel kernel;
  std::string location, what, where;
  std::vector<TensorView> views;
  std::vector<Place> places;  ///< of the views
};

Status run_step(const BoundStep& step, std::span<const TensorView> views) {
  switch (step.kind) {
    case StepKind::kernel: {
      Status status = step.kernel.run(views);
      return status.ok() ? status : status.with_prefix(step.location);
    }
    case StepKind::copy:
      std::memcpy(views[1].data, views[0].data, static_cast<size_t>(views[0].dims[0]));
      return {};
    case StepKind::non_negative:
      return check_non_negative(views[0]);
    case StepKind::equal:
      return check_equal(views[0], views[1], step.what, step.where);
  }
  return internal_error("a program has a step of kind " + std::to_string(static_cast<uint32_t>(step.kind)));
}

bool overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && first < second + static_cast<uintptr_t>(b_bytes) &&
         second < first + static_cast<uintptr_t>(a_bytes);
}

}  // namespace

struct BoundProgram::State {
  State(ProgramSteps found, size_t count)
      : steps(std::move(found)), input_count(count), arena(static_cast<size_t>(steps.arena_bytes)) {}

  struct Given {
    std::string name;
    int64_t bytes;
    int lies_in;  ///< of an output: the input in whose buffer it lies; -1: it has its own
  };

  const ProgramSteps steps;  ///< what the views refer to
  const size_t input_count;
  std::vector<Given> tensors;  ///< inputs, then outputs
  std::vector<BoundStep> bound;
  mutable Arena arena;

  Status check(std::span<void* const> data) const {
    if (data.size() != tensors.size())
      return invalid_argument("data: " + std::to_string(data.size()) + " addresses, expected " + std::to_string(tensors.size()) +
                              ", one per input and output of the program");
    for (size_t t = 0; t < data.size(); ++t)
      if (data[t] == nullptr && tensors[t].bytes != 0)
        return invalid_argument("data: '" + tensors[t].name + "' is null, expected an address");
    for (size_t o = input_count; o < data.size(); ++o) {
      const int lies_in = tensors[o].lies_in;
      if (lies_in >= 0 && data[o] != data[static_cast<size_t>(lies_in)] && tensors[o].bytes != 0)
        return invalid_argument("data: '" + tensors[o].name + "' has an address of its own, expected that of '" +
                                tensors[static_cast<size_t>(lies_in)].name + "', in whose buffer it lies");
      for (size_t t = 0; t < o; ++t)
        if (static_cast<int>(t) != lies_in && overlap(data[o], tensors[o].bytes, data[t], tensors[t].bytes))
          return invalid_argument("data: '" + tensors[o].name + "' overlaps '" + tensors[t].name +
                                  "', expected buffers of their own");
    }
    return {};
  }

  Status run(const BoundStep& step, std::span<void* const> data, std::byte* first_of_arena, TensorView* views) const {
    for (size_t v = 0; v < step.views.size(); ++v) {
      const Place& place = step.places[v];
      views[v] = step.views[v];
      if (place.number == Place::kKnown) continue;
      auto* const start =
          place.number == Place::kArena ? first_of_arena : static_cast<std::byte*>(data[static_cast<size_t>(place.number)]);
      views[v].data = start + place.first;
    }
    return run_step(step, {views, step.views.size()});
  }

  Status bind(Runtime& runtime, const KernelOptions& options, std::span<const size_t> data_of) {
    for (const Step& step : steps.steps) {
      BoundStep made{step.kind, {}, step.location, step.what, step.where, {}, {}};
      if (step.op) {
        STREW_ASSIGN(made.kernel, runtime.get(*step.op, options));
      }
      for (const StepOperand& operand : step.operands) {
        const TensorType& type = operand.type;
        void* address = nullptr;
        Place place;
        switch (operand.place) {
          case StepPlace::tensor:
            place = {static_cast<int>(data_of[static_cast<size_t>(operand.number)]), operand.first};
            break;
          case StepPlace::constant:
            address = const_cast<char*>(steps.constants[static_cast<size_t>(operand.number)].data()) + operand.first;
            break;
          case StepPlace::arena:
            place = {Place::kArena, operand.first};
            break;
        }
        made.views.emplace_back(address, type.dtype, type.rank(), type.dims.data(),
                                type.strides.empty() ? nullptr : type.strides.data());
        made.places.push_back(place);
      }
      bound.push_back(std::move(made));
    }
    return {};
  }
};

BoundProgram::BoundProgram(std::unique_ptr<const State> state) : state_(std::move(state)) {}
BoundProgram::BoundProgram(BoundProgram&&) noexcept = default;
BoundProgram& BoundProgram::operator=(BoundProgram&&) noexcept = default;
BoundProgram::~BoundProgram() = default;

Expected<BoundProgram> BoundProgram::make(const Program& program, Runtime& runtime, const KernelOptions& options,
                                          std::span<const int> in_place) {
  const size_t inputs = program.inputs().size(), outputs = program.outputs().size();
  if (!in_place.empty() && in_place.size() != outputs)
    return invalid_argument("in_place: " + std::to_string(in_place.size()) + " numbers, expected " + std::to_string(outputs) +
                            ", one per output");
  StepOptions how;
  how.run_known = run_reference;
  for (size_t o = 0; o < in_place.size(); ++o) {
    if (in_place[o] < -1 || in_place[o] >= static_cast<int>(inputs))
      return invalid_argument("in_place: output " + std::to_string(o) + " has input " + std::to_string(in_place[o]) +
                              ", expected -1 or the number of one of " + std::to_string(inputs) + " inputs");
    if (in_place[o] >= 0) how.in_place.emplace_back(program.input(in_place[o]).name, program.outputs()[o].name);
  }
  STREW_ASSIGN(ProgramSteps found, steps_of(program, how));
  auto state = std::make_unique<State>(std::move(found), inputs);
  // The steps' tensors are the inputs and the outputs that have buffers of their own.
  std::vector<size_t> data_of;
  const std::vector<CallerTensor>& given = state->steps.tensors;
  for (size_t i = 0; i < inputs; ++i) {
    data_of.push_back(i);
    state->tensors.push_back({given[i].name, given[i].bytes(), -1});
  }
  for (size_t o = 0; o < outputs; ++o) {
    const int lies_in = in_place.empty() ? -1 : in_place[o];
    const CallerTensor& tensor = given[lies_in >= 0 ? static_cast<size_t>(lies_in) : data_of.size()];
    if (lies_in < 0) data_of.push_back(inputs + o);
    state->tensors.push_back({program.outputs()[o].name, tensor.bytes(), lies_in});
  }
  STREW_TRY(state->bind(runtime, options, data_of));
  return BoundProgram(std::move(state));
}

Status BoundProgram::run(std::span<void* const> data) const {
  const State& state = *state_;
  STREW_TRY(state.check(data));
  const Arena::Block memory(state.arena);
  std::array<TensorView, kFewTensors> few;
  std::vector<TensorView> many;
  for (const BoundStep& step : state.bound) {
    TensorView* views = few.data();
    if (step.views.size() > few.size()) {
      many.resize(step.views.size());
      views = many.data();
    }
    STREW_TRY(state.run(step, data, memory.first(), views));
  }
  return {};
}

}  // namespace strew::inline v0
