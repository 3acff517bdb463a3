// See steps.h. The steps are found by a run that writes down what it would do: compiler/program/run goes through the program with tensors of the right dims, and the functions
// that it calls for kernels and copies note the addresses. No two tensors of that run have the same memory, so an address says which tensor it is. What
// follows from constants and extents alone is computed by the interpreter on the way and becomes constants; everything else is a step. At the end
// the tensors that only the run needs are laid out in one arena by their first and last step.
#include "compiler/program/steps/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>

#include "base/fault_text.h"
#include "base/nearest.h"
#include "compiler/op/dims.h"
#include "compiler/op/message.h"
#include "compiler/program/run.h"
#include "compiler/program/uses.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

/// What follows from constants alone, and has no more elements, is a constant of the steps.
constexpr int64_t kMostFolded = 16'384;
constexpr int64_t kArenaAlignment = 64;

/// What the program's outputs need, and which of it depends on elements of inputs.
class Dependence {
 public:
  /// `runs_known`: StepOptions::run_known is there.
  Dependence(const Program& program, bool runs_known) : program_(program), runs_known_(runs_known), needs_(needs_of(program)) {
    // Fusion makes kernels read values with larger numbers than their results.
    depends_.assign(program.values().size(), false);
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (size_t v = 0; v < depends_.size(); ++v) {
        if (depends_[v] || !depends(program.value(static_cast<int>(v)))) continue;
        depends_[v] = true;
        is_new = true;
      }
    }
  }

  bool depends(const ProgramKernel& kernel) const {
    if (!runs_known_) return true;
    for (const TensorSlot& slot : tensor_slots(kernel.op)) {
      if (!is_static(slot.type->dims)) return true;
      int64_t elements = 1;
      for (const int64_t extent : slot.type->dims) elements *= extent;
      if (elements > kMostFolded) return true;
    }
    bool does = false;
    each_use(kernel, [&](int v) { does = does || depends_[v]; });
    return does;
  }

  bool depends(const Compute& compute) const {
    return std::ranges::any_of(compute.arguments, [this](int v) { return depends_[v]; });
  }

  /// Fails if the extents of a tensor, or what a kernel's code is made for, would follow from elements of an input.
  Status check() const {
    for (size_t v = 0; v < program_.values().size(); ++v) {
      const Value& value = program_.value(static_cast<int>(v));
      if (!needs_.values[v]) continue;
      if (value.type.dtype == DType::string)
        return unsupported("{}: its elements are strings, which no kernel moves", name_of(v));
      if (value.kind != ValueKind::compute) continue;
      const Compute& compute = program_.compute(value.index);
      if (compute.takes_shape() && depends_[compute.arguments.back()])
        return unsupported("{}: its extents follow from elements of an input, expected extents that are known before",
                           compute.location);
      for (size_t i = compute.results.size(); compute.as<ReduceOp>() != nullptr && i < compute.arguments.size(); ++i)
        if (depends_[compute.arguments[i]])
          return unsupported("{}: its initial value follows from elements of an input, expected one that is known before",
                             compute.location);
    }
    for (size_t k = 0; k < program_.kernels().size(); ++k) {
      const ProgramKernel& kernel = program_.kernel(static_cast<int>(k));
      for (const KernelArgument& argument : kernel.arguments) {
        const bool is_extent = argument.use == ArgumentUse::slice_sizes || argument.use == ArgumentUse::result_shape;
        if (needs_.kernels[k] && is_extent && depends_[argument.value])
          return unsupported("{}: its extents follow from elements of an input, expected extents that are known before",
                             kernel.location);
      }
    }
    return {};
  }

 private:
  std::string name_of(size_t value) const { return value_name(program_, static_cast<int>(value)); }
  bool depends(const Value& value) const {
    switch (value.kind) {
      case ValueKind::input:
      case ValueKind::opaque:
        return true;
      case ValueKind::result:
        return depends(program_.kernel(value.index));
      case ValueKind::constant:
      case ValueKind::zeros:
      case ValueKind::extent:
      case ValueKind::none:
        return false;
      case ValueKind::stack:
        return std::ranges::any_of(value.parts, [this](int v) { return depends_[v]; });
      case ValueKind::compute:
        return depends(program_.compute(value.index));
    }
    return true;
  }

  const Program& program_;
  const bool runs_known_;
  const ProgramNeeds needs_;
  std::vector<bool> depends_;  ///< per value
};

/// The bytes that the elements of a view lie in, from that of element [0, ..., 0].
struct Span {
  int64_t low = 0, high = 0;
};
Span span_of(const TensorView& view) {
  int64_t elements = 1, low = 0, high = 0;
  for (int32_t d = 0; d < view.rank; ++d) {
    elements *= view.dims[d];
    const int64_t reach = view.strides == nullptr ? 0 : (view.dims[d] - 1) * view.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  if (elements == 0) return {};
  if (view.strides == nullptr) return {0, storage_bytes(view.dtype, elements)};
  return {storage_bytes(view.dtype, 1) * low, storage_bytes(view.dtype, 1) * (high + 1)};
}

/// Memory of the noting run that is no caller's.
struct Block {
  explicit Block(std::span<std::byte> lies_in) : memory(lies_in) {}

  std::span<std::byte> memory;
  int first = -1, last = -1;  ///< the first step that writes it, the last one that uses it; -1: none
  int64_t offset = 0;         ///< in the arena
  /// Copies of constants to it, which are steps if another step writes the rest of it.
  std::vector<Step> pending;
  bool is_known = false;  ///< a known kernel has written it: it is a constant unless a step writes over it
};

/// What the run has noted.
class Notes {
 public:
  explicit Notes(const BufferPool& pool) : pool_(pool) {}

  int add_tensor(std::span<std::byte> memory) {
    callers_.push_back(memory);
    return static_cast<int>(callers_.size()) - 1;
  }

  void kernel(const std::string& location, const VerifiedOp& op, std::span<const TensorView> views) {
    Step step{StepKind::kernel, op, location, {}, "", ""};
    const std::vector<TensorSlot> slots = tensor_slots(op);
    for (const TensorView& view : views)
      if (slots[static_cast<size_t>(&view - views.data())].role == Role::result) written(view);
    for (const TensorView& view : views)
      step.operands.push_back(slots[static_cast<size_t>(&view - views.data())].role == Role::result ? place(view) : read(view));
    add(std::move(step));
  }
  void copy(std::byte* to, const std::byte* from, int64_t bytes) {
    if (bytes == 0) return;
    const TensorView source(from, DType::u8, std::span(&bytes, 1)),
        target(static_cast<void*>(to), DType::u8, std::span(&bytes, 1));
    Step step{StepKind::copy, {}, "", {read(source)}, "", ""};
    Block* const block = block_of(to);
    const bool is_known = step.operands[0].place == StepPlace::constant && block != nullptr && block->first < 0;
    if (!is_known) written(target);
    step.operands.push_back(place(target));
    std::memmove(to, from, static_cast<size_t>(bytes));
    if (is_known)
      block->pending.push_back(std::move(step));
    else
      add(std::move(step));
  }
  /// The kernel has run, because its tensors are known. It is a step only if a result lies in a caller's tensor.
  void known_kernel(const std::string& location, const VerifiedOp& op, std::span<const TensorView> views) {
    const std::vector<TensorSlot> slots = tensor_slots(op);
    bool gives_output = false;
    for (size_t i = 0; i < views.size(); ++i) {
      if (slots[i].role != Role::result) continue;
      gives_output = gives_output || place(views[i]).place == StepPlace::tensor;
      if (Block* const block = block_of(views[i].data)) {
        block->is_known = true;
        block->pending.clear();
      }
    }
    if (gives_output) kernel(location, op, views);
  }
  void non_negative(const TensorView& tensor) { add({StepKind::non_negative, {}, "", {read(tensor)}, "", ""}); }
  /// What is known now is compared now.
  Status equal(const TensorView& tensor, const TensorView& other, const std::string& what, const std::string& where) {
    StepOperand first = read(tensor), second = read(other);
    if (first.place == StepPlace::constant && second.place == StepPlace::constant) return check_equal(tensor, other, what, where);
    add({StepKind::equal, {}, "", {std::move(first), std::move(second)}, what, where});
    return {};
  }

  /// All but the caller's tensors.
  ProgramSteps finish() && {
    ProgramSteps out;
    out.arena_bytes = lay_out();
    for (Step& step : steps_)
      for (StepOperand& operand : step.operands)
        if (operand.place == StepPlace::arena) operand.first += blocks_[static_cast<size_t>(operand.number)].offset;
    out.steps = std::move(steps_);
    out.constants = std::move(constants_);
    return out;
  }

 private:
  void add(Step step) {
    for (const StepOperand& operand : step.operands)
      if (operand.place == StepPlace::arena) blocks_[static_cast<size_t>(operand.number)].last = static_cast<int>(steps_.size());
    steps_.push_back(std::move(step));
  }

  Block* block_of(const void* address) {
    const auto* const at = static_cast<const std::byte*>(address);
    const auto find = [&]() -> Block* {
      const auto next = by_address_.upper_bound(at);
      if (next == by_address_.begin()) return nullptr;
      Block& block = blocks_[std::prev(next)->second];
      return at < block.memory.data() + std::max<size_t>(block.memory.size(), 1) ? &block : nullptr;
    };
    if (Block* const found = find()) return found;
    const std::vector<std::span<std::byte>> all = pool_.blocks();
    for (size_t b = blocks_.size(); b < all.size(); ++b) {
      blocks_.emplace_back(all[b]);
      by_address_[all[b].data()] = b;
    }
    return find();
  }

  /// A step that comes next writes there.
  void written(const TensorView& view) {
    Block* const block = block_of(view.data);
    if (block == nullptr || block->first >= 0) return;
    block->first = static_cast<int>(steps_.size());
    const auto number = static_cast<size_t>(block - blocks_.data());
    if (block->is_known) {
      const auto bytes = static_cast<int64_t>(block->memory.size());
      const TensorView all(static_cast<void*>(block->memory.data()), DType::u8, std::span(&bytes, 1));
      add({StepKind::copy, {}, "", {constant(all), place(all)}, "", ""});
    }
    std::vector<Step> pending = std::move(block->pending);
    for (Step& step : pending) add(std::move(step));
    blocks_[number].pending.clear();
  }

  static StepOperand operand(StepPlace place, size_t number, int64_t first, const TensorView& view) {
    TensorType type{view.dtype, {view.dims, view.dims + view.rank}, {}};
    if (view.strides != nullptr) type.strides.assign(view.strides, view.strides + view.rank);
    return {place, static_cast<int>(number), first, std::move(type)};
  }

  /// Where a step writes.
  StepOperand place(const TensorView& view) {
    const auto* const at = static_cast<const std::byte*>(view.data);
    for (size_t i = 0; i < callers_.size(); ++i)
      if (at >= callers_[i].data() && at < callers_[i].data() + std::max<size_t>(callers_[i].size(), 1))
        return operand(StepPlace::tensor, i, at - callers_[i].data(), view);
    if (const Block* const block = block_of(at))
      return operand(StepPlace::arena, static_cast<size_t>(block - blocks_.data()), at - block->memory.data(), view);
    return constant(view);
  }
  /// Where a step reads. What no step has written is known now.
  StepOperand read(const TensorView& view) {
    StepOperand out = place(view);
    const bool is_known = out.place == StepPlace::arena && blocks_[static_cast<size_t>(out.number)].first < 0;
    return is_known ? constant(view) : out;
  }
  StepOperand constant(const TensorView& view) {
    const Span span = span_of(view);
    std::string bytes;
    if (span.high > span.low)
      bytes.assign(static_cast<const char*>(view.data) + span.low, static_cast<size_t>(span.high - span.low));
    const auto [found, is_new] = known_.try_emplace(bytes, constants_.size());
    if (is_new) constants_.push_back(std::move(bytes));
    return operand(StepPlace::constant, found->second, -span.low, view);
  }

  /// Gives the blocks that steps write their places: the largest first, each at the lowest offset where nothing lies that is used at the same time.
  int64_t lay_out() {
    std::vector<Block*> order;
    for (Block& block : blocks_)
      if (block.first >= 0 && block.last >= block.first) order.push_back(&block);
    std::ranges::stable_sort(order, std::ranges::greater(), [](const Block* block) { return block->memory.size(); });
    int64_t end = 0;
    std::vector<const Block*> placed;  // by offset
    for (Block* const block : order) {
      const auto bytes = static_cast<int64_t>(block->memory.size());
      int64_t at = 0;
      for (const Block* const other : placed) {
        if (other->last < block->first || block->last < other->first) continue;
        if (at + bytes <= other->offset) break;
        const int64_t behind = other->offset + static_cast<int64_t>(other->memory.size());
        at = std::max(at, (behind + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
      }
      block->offset = at;
      end = std::max(end, at + bytes);
      placed.insert(std::ranges::upper_bound(placed, at, {}, [](const Block* other) { return other->offset; }), block);
    }
    return end;
  }

  const BufferPool& pool_;
  std::vector<std::span<std::byte>> callers_;
  std::vector<Block> blocks_;  ///< as in pool_.blocks()
  std::map<const std::byte*, size_t> by_address_;
  std::vector<Step> steps_;
  std::vector<std::string> constants_;
  std::unordered_map<std::string, size_t> known_;
};

class StepFinder {
 public:
  StepFinder(const Program& program, const StepOptions& options)
      : program_(program), options_(options), dependence_(program, options.run_known != nullptr) {}

  Expected<ProgramSteps> find() {
    STREW_TRY(find_updated());
    STREW_TRY(make_inputs());
    STREW_TRY(dependence_.check());
    // The first run finds the dims of the outputs, the second one writes into them.
    ProgramMemory first(BufferPool::Freed::kept), second(BufferPool::Freed::kept);
    Notes nothing(first.buffers), notes(second.buffers);
    STREW_ASSIGN(const std::vector<Tensor> results, run(first, nothing, nullptr));
    std::vector<Tensor> outputs;
    for (size_t o = 0; o < results.size(); ++o) {
      const int input = updated_[o];
      if (input >= 0 && results[o].dims != inputs_[static_cast<size_t>(input)].dims)
        return invalid_argument("in_place: output '{}' is {}, expected {}, as input '{}' is", program_.outputs()[o].name,
                                results[o].dims, inputs_[static_cast<size_t>(input)].dims, program_.input(input).name);
      STREW_ASSIGN(Tensor tensor, output(input, results[o]));
      outputs.push_back(std::move(tensor));
    }
    ProgramSteps tensors;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto at = std::ranges::find(updated_, static_cast<int>(i));
      const bool is_updated = at != updated_.end();
      tensors.tensors.push_back({program_.input(static_cast<int>(i)).name,
                                 {inputs_[i].dtype, inputs_[i].dims, {}},
                                 is_updated ? TensorUse::updated : TensorUse::input,
                                 is_updated ? program_.outputs()[static_cast<size_t>(at - updated_.begin())].name : ""});
      notes.add_tensor(memory_of(inputs_[i]));
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (updated_[o] >= 0) continue;
      tensors.tensors.push_back({program_.outputs()[o].name, {outputs[o].dtype, outputs[o].dims, {}}, TensorUse::output, ""});
      notes.add_tensor(memory_of(outputs[o]));
    }
    std::vector<TensorView> views;
    for (const Tensor& output : outputs) views.push_back(output.view());
    STREW_ASSIGN(ProgramOutputs given, ProgramOutputs::of(program_, views));
    STREW_TRY(run(second, notes, &given).status());
    ProgramSteps out = std::move(notes).finish();
    out.tensors = std::move(tensors.tensors);
    return out;
  }

 private:
  static std::span<std::byte> memory_of(const Tensor& tensor) {
    return {tensor.data.data(), static_cast<size_t>(storage_bytes(tensor.dtype, tensor.elements()))};
  }

  Status find_updated() {
    updated_.assign(program_.outputs().size(), -1);
    const auto number_in = [](const auto& list, const std::string& name, const char* what) -> Expected<int> {
      std::vector<std::string> names;
      for (const auto& each : list) names.push_back(each.name);
      const auto found = std::ranges::find(names, name);
      if (found != names.end()) return static_cast<int>(found - names.begin());
      return invalid_argument("in_place: the program has no {} '{}'{}", what, name, did_you_mean(name, names));
    };
    for (const auto& [from, to] : options_.in_place) {
      STREW_ASSIGN(const int input, number_in(program_.inputs(), from, "input"));
      STREW_ASSIGN(const int output, number_in(program_.outputs(), to, "output"));
      if (updated_[static_cast<size_t>(output)] >= 0 || std::ranges::count(updated_, input) != 0)
        return invalid_argument("in_place: '{}' or '{}' is named twice, expected one output for one input", from, to);
      updated_[static_cast<size_t>(output)] = input;
      const TensorType &a = program_.input(input).type, &b = program_.type(program_.outputs()[static_cast<size_t>(output)].value);
      if (a.dtype != b.dtype)
        return invalid_argument("in_place: output '{}' is of {}, expected {}, as input '{}' is", to, b.dtype, a.dtype, from);
    }
    return {};
  }

  /// Tensors of the right dims, whose elements nobody looks at.
  Status make_inputs() {
    for (const Value& value : program_.values()) {
      if (value.kind != ValueKind::input) continue;
      const ProgramInput& input = program_.input(value.index);
      std::vector<int64_t> dims = input.type.dims;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] != kDynamic) continue;
        const std::string name = extent_name(program_, value, d);
        const auto extent = options_.extents.find(name);
        if (extent == options_.extents.end())
          return invalid_argument("extents: dim {} of input '{}' is open, expected the extent of '{}'", d, input.name, name);
        if (extent->second < 0) return invalid_argument("extents: '{}' is {}, expected 0 or more", extent->first, extent->second);
        dims[d] = extent->second;
      }
      if (input.type.dtype == DType::string)
        return unsupported("input '{}': its elements are strings, which no kernel moves", input.name);
      STREW_ASSIGN(const int64_t elements, element_count(dims));
      STREW_ASSIGN(Buffer memory, Buffer::allocate(std::max<int64_t>(storage_bytes(input.type.dtype, elements), 1)));
      if (inputs_.size() <= static_cast<size_t>(value.index)) inputs_.resize(static_cast<size_t>(value.index) + 1);
      inputs_[static_cast<size_t>(value.index)] = {input.type.dtype, std::move(dims), std::move(memory), {}};
    }
    for (const auto& [name, extent] : options_.extents) STREW_TRY(check_extent(name));
    return {};
  }
  Status check_extent(const std::string& name) const {
    const std::vector<std::string> known = open_extents(program_);
    if (std::ranges::find(known, name) != known.end()) return {};
    return invalid_argument("extents: no input has an open extent '{}'{}", name, did_you_mean(name, known));
  }

  /// Memory for an output: the input's that it updates, or its own.
  Expected<Tensor> output(int input, const Tensor& result) {
    const Tensor* lies_in = input >= 0 ? &inputs_[static_cast<size_t>(input)] : nullptr;
    if (lies_in == nullptr) {
      STREW_ASSIGN(Buffer memory, Buffer::allocate(std::max<int64_t>(storage_bytes(result.dtype, result.elements()), 1)));
      outputs_.push_back({result.dtype, result.dims, std::move(memory), {}});
      lies_in = &outputs_.back();
    }
    return Tensor{result.dtype, result.dims, Buffer::borrow(memory_of(*lies_in)), {}};
  }

  Expected<std::vector<Tensor>> run(ProgramMemory& memory, Notes& notes, ProgramOutputs* outputs) {
    Status refused;
    ProgramCalls calls;
    calls.run_kernel = [&](const ProgramKernel& kernel, std::span<const TensorView> views, BadIndex* bad) -> Status {
      if (dependence_.depends(kernel)) {
        notes.kernel(kernel.location, kernel.op, views);
        return {};
      }
      STREW_TRY(options_.run_known(kernel.op, views, bad));
      notes.known_kernel(kernel.location, kernel.op, views);
      return {};
    };
    calls.run_piece = [&](const Compute& last, const VerifiedOp& op, std::span<const TensorView> views) -> Expected<bool> {
      int64_t elements = 1;
      for (int32_t d = 0; d < views[0].rank; ++d) elements *= views[0].dims[d];
      if (!dependence_.depends(last) && elements <= kMostFolded) return false;
      notes.kernel(last.location, op, views);
      return true;
    };
    calls.observe = [&](const Compute& compute, int64_t) {
      if (refused.ok() && dependence_.depends(compute))
        refused = unsupported("{}: no kernel does this operation, it is only interpreted", compute.location);
    };
    calls.copy = [&](std::byte* to, const std::byte* from, int64_t bytes) -> Status {
      notes.copy(to, from, bytes);
      return {};
    };
    calls.check_equal = [&](const KernelArgument& argument, const TensorView& tensor, const TensorView& other) {
      return notes.equal(tensor, other, argument.a, argument.b);
    };
    calls.check_non_negative = [&](const TensorView& tensor) -> Status {
      notes.non_negative(tensor);
      return {};
    };
    std::vector<std::unique_ptr<Tensor>> inputs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const bool is_updated = outputs != nullptr && std::ranges::count(updated_, static_cast<int>(i)) != 0;
      Buffer data = is_updated ? Buffer::borrow(memory_of(inputs_[i])) : inputs_[i].data.share();
      inputs.push_back(std::make_unique<Tensor>(Tensor{inputs_[i].dtype, inputs_[i].dims, std::move(data), {}}));
    }
    Expected<std::vector<Tensor>> results = run_imported(program_, std::move(inputs), memory, calls, {true, outputs});
    // What is interpreted may fail on elements that nobody has computed.
    if (!refused.ok()) return refused;
    return results;
  }

  const Program& program_;
  const StepOptions& options_;
  const Dependence dependence_;
  std::vector<int> updated_;     ///< per output: the number of the input that it lies in; -1: none
  std::vector<Tensor> inputs_;   ///< with their memory
  std::vector<Tensor> outputs_;  ///< those with memory of their own
};

}  // namespace

std::string extent_name(const Program& program, const Value& input, size_t dim) {
  const bool has_name = dim < input.symbols.size() && !input.symbols[dim].empty();
  return has_name ? input.symbols[dim] : fmt::format("{}.{}", program.input(input.index).name, dim);
}

std::vector<std::string> open_extents(const Program& program) {
  std::vector<std::string> out;
  for (const Value& value : program.values()) {
    for (size_t d = 0; value.kind == ValueKind::input && d < value.type.dims.size(); ++d) {
      if (program.input(value.index).type.dims[d] != kDynamic) continue;
      std::string name = extent_name(program, value, d);
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
  }
  return out;
}

Expected<ProgramSteps> steps_of(const Program& program, const StepOptions& options) {
  return StepFinder(program, options).find();
}

}  // namespace strew::inline v0
