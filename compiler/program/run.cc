// Runs an imported file: marks the kernels that the outputs need, evaluates values in order, gives each kernel its tensors in the order of
// tensor_slots(op), and collects the outputs. One kernel runs at a time.
//
// Operations around the kernels are evaluated when something needs their results: large ones as kernels of their own, each of which does a region of
// operations or writes a part of its result (compiler/program/pieces), small ones by compiler/program/interpret. Both give the same bits.
//
// The memory of a tensor that nobody reads any more is used again: an update is written over it, or the pool that a program's runs share gives it to others.
//
// A result whose dims the op leaves open gets them from the operand (scatter), or from indices and slice sizes (gather;
// a slice size that nothing gives is the operand's whole dim). An op with static strides gets copies of its tensors in
// that layout (compiler/program/strided). Tested by tests/unit/compiler/program/program_test.cc and tests/oracle/*.
#include "compiler/program/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "base/fault_text.h"
#include "base/fp_environment.h"
#include "base/number.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "compiler/op/fault.h"
#include "compiler/op/message.h"
#include "compiler/program/interpret/interpret.h"
#include "compiler/program/pieces/cache.h"
#include "compiler/program/program_input.h"
#include "compiler/program/strided.h"

namespace strew::inline v0 {
namespace {

/// A copy of the tensor; it owns its strings.
Expected<Tensor> copy_of(const Tensor& tensor) {
  STREW_ASSIGN(Tensor copy, make_tensor(tensor.dtype, tensor.dims));
  if (tensor.dtype == DType::string) {
    std::vector<std::string> strings;
    for (int64_t i = 0, n = tensor.elements(); i < n; ++i) strings.emplace_back(string_at(tensor, i));
    set_strings(copy, std::move(strings));
  } else if (copy.data.size() > 0) {
    std::memcpy(copy.data.data(), tensor.data.data(), static_cast<size_t>(copy.data.size()));
  }
  return copy;
}

class Runner {
 public:
  Runner(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs, ProgramMemory& memory, const ProgramCalls& calls,
         const ProgramBuffers& buffers)
      : imported_(imported),
        inputs_(std::move(inputs)),
        memory_(memory),
        calls_(calls),
        buffers_(buffers),
        uses_(memory.uses_of(imported)),
        left_(uses_.readers),
        values_(imported.values().size()) {}

  Expected<std::vector<Tensor>> run() {
    STREW_TRY(mark_needed());
    STREW_TRY(check_symbols(imported_, inputs_));
    for (size_t k = 0; k < imported_.kernels().size(); ++k) {
      if (!needed_[k]) continue;
      Status status = run_kernel(static_cast<int>(k));
      if (!status.ok()) return status.with_prefix(imported_.kernel(k).location);
    }
    return collect();
  }

 private:
  /// Why a program that needs what the operation computes cannot run, and what can be done.
  Status not_run(const Opaque& opaque) const {
    constexpr size_t kMostNames = 10;
    std::string names;
    for (size_t k = 0; k < imported_.kernels().size() && k < kMostNames; ++k)
      names += (names.empty() ? "" : ", ") + imported_.kernel(k).name;
    if (imported_.kernels().size() > kMostNames) names += ", …";
    return unsupported("{}: {}, and an output of the file needs it; expected one kernel of the file (--kernel NAME), of: {}",
                       opaque.location,
                       opaque.reason.empty() ? "strew does not run this operation" : "it is not run: " + opaque.reason, names);
  }

  /// Marks the kernels that the outputs need.
  Status mark_needed() {
    ProgramNeeds needs = needs_of(imported_);
    for (size_t v = 0; v < imported_.values().size(); ++v)
      if (const Value& value = imported_.value(static_cast<int>(v)); needs.values[v] && value.kind == ValueKind::opaque)
        return not_run(imported_.opaque(value.index));
    needed_ = std::move(needs.kernels);
    return {};
  }

  /// Makes values_[v] point to the tensor of value `v`.
  Expected<const Tensor*> evaluate(int v) {
    if (values_[v] != nullptr) return values_[v];
    const Value& value = imported_.value(v);
    switch (value.kind) {
      case ValueKind::input:
        STREW_TRY(evaluate_input(v, value));
        break;
      case ValueKind::constant:
        STREW_TRY(evaluate_constant(v, imported_.constant(value.index)));
        break;
      case ValueKind::zeros:
        STREW_TRY(evaluate_zeros(v, value));
        break;
      case ValueKind::stack:
        STREW_TRY(evaluate_stack(v, value));
        break;
      case ValueKind::result:
        if (results_.size() <= static_cast<size_t>(value.index) || results_[value.index].empty())
          return internal_error(fmt::format("value {} is read before kernel {} has run", v, value.index));
        values_[v] = &results_[value.index][value.result];
        break;
      case ValueKind::compute:
        STREW_TRY(evaluate_computes(value.index));
        values_[v] = &computed_[value.index][value.result];
        break;
      case ValueKind::extent:
        STREW_TRY(evaluate_extent(v, value, DType::i64));
        break;
      case ValueKind::opaque:
        return not_run(imported_.opaque(value.index));
      case ValueKind::none:
        return internal_error("value " + std::to_string(v) + " is none");
    }
    return values_[v];
  }

  /// Evaluates computes[c] after the Computes that it reads. It does not recurse, because a file may contain a chain of
  /// any length.
  Status evaluate_computes(int c) {
    computed_.resize(imported_.computes().size());
    std::vector<int> open{c};
    while (!open.empty()) {
      const int current = open.back();
      if (!computed_[current].empty()) {
        open.pop_back();
        continue;
      }
      const std::shared_ptr<const Region> region = memory_.pieces.region(imported_, current);
      const size_t depth = open.size();
      for (const int v : region->leaves) {
        const Value& value = imported_.value(v);
        if (value.kind == ValueKind::compute && computed_[value.index].empty()) open.push_back(value.index);
      }
      if (open.size() > depth) continue;
      for (const int v : region->leaves) STREW_TRY(evaluate(v).status());
      STREW_TRY(evaluate_region(*region));
    }
    return {};
  }

  /// Evaluates the region's last operation, unless the region turns out to be another one. Its leaves are evaluated.
  Status evaluate_region(const Region& region) {
    const auto tensor = [this](int value) -> const Tensor& { return *values_[value]; };
    std::shared_ptr<const PieceCache::Choice> choice = PieceCache::none();
    if (calls_.run_piece) choice = memory_.pieces.find(imported_, region, tensor, calls_.interpreted_elements);
    if (choice == nullptr) return {};
    bool is_done = false;
    if (const auto* const piece = std::get_if<Piece>(choice.get())) {
      STREW_ASSIGN(is_done, run_piece(region, *piece));
    } else if (const auto* const assembly = std::get_if<Assembly>(choice.get())) {
      STREW_ASSIGN(is_done, put_together(region, *assembly));
    } else if (const auto* const alias = std::get_if<Alias>(choice.get())) {
      computed_[region.last()].push_back(make_alias(imported_.result_of(region.last()), *alias));
      is_done = true;
    }
    if (!is_done) {
      for (const int member : region.members) STREW_TRY(interpret_one(member));
      for (const int member : region.members)
        if (member != region.last()) computed_[member].clear();
    }
    for (const int member : region.members)
      for (const int v : imported_.compute(member).arguments) has_read(v);
    return {};
  }

  /// Elements of another value. What nobody else reads may be written over, as that value might have been.
  Tensor make_alias(int v, const Alias& alias) {
    const Tensor& from = *values_[alias.value];
    const int64_t bytes = storage_bytes(from.dtype, 1);
    Tensor out{from.dtype, alias.dims, {}, {}};
    if (Tensor* const taken = writable_whole(alias)) {
      out.data = take(v, *taken);
    } else {
      out.data = from.data.share(alias.first * bytes, alias.elements() * bytes);
      lent_.erase(alias.value);  // memory of the caller's does not count who shares it
    }
    return out;
  }
  /// The tensor that the alias is all of, if its elements may be written over; else null.
  Tensor* writable_whole(const Alias& alias) {
    const Tensor& from = *values_[alias.value];
    return alias.elements() * storage_bytes(from.dtype, 1) == from.data.size() ? writable(alias.value) : nullptr;
  }
  /// The memory of a tensor that may be written over becomes that of value `v`.
  Buffer take(int v, Tensor& taken) {
    if (!taken.data.owns()) lent_.insert(v);
    return std::move(taken.data);
  }

  Status interpret_one(int number) {
    const Compute& compute = imported_.compute(number);
    std::vector<const Tensor*> arguments;
    for (const int v : compute.arguments) {
      const Value& value = imported_.value(v);
      const bool is_computed = value.kind == ValueKind::compute && !computed_[value.index].empty();
      arguments.push_back(is_computed ? &computed_[value.index][value.result] : values_[v]);
    }
    const auto start = calls_.observe ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    Expected<std::vector<Tensor>> results = interpret(compute, arguments);
    if (calls_.observe) calls_.observe(compute, std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    if (!results.ok()) return results.status().with_prefix(compute.location);
    computed_[number] = std::move(*results);
    return {};
  }

  Expected<bool> run_piece(const Region& region, const Piece& piece) {
    std::vector<Tensor> results;
    std::vector<std::byte*> places;
    for (const TensorSlot& slot : tensor_slots(piece.op)) {
      if (slot.role != Role::result) continue;
      STREW_ASSIGN(Tensor result, make_computed(region.last(), slot.index, *slot.type));
      places.push_back(result.data.data());
      results.push_back(std::move(result));
    }
    STREW_ASSIGN(const bool is_done, call_piece(imported_.compute(region.last()), piece, places));
    if (is_done) computed_[region.last()] = std::move(results);
    return is_done;
  }

  /// Runs the kernel of a piece of what ends with `last`; its results begin at `results`. False: nothing is written.
  Expected<bool> call_piece(const Compute& last, const Piece& piece, const std::vector<std::byte*>& results) {
    const bool has_components = std::visit([](const auto& op) { return !op.dims.index_map.empty(); }, *piece.op);
    std::vector<TensorView> views;
    auto read = piece.reads.begin();
    const std::vector<TensorSlot> slots = tensor_slots(piece.op);
    for (const TensorSlot& slot : slots) {
      const TensorType& type = *slot.type;
      const int64_t* const strides = type.strides.empty() ? nullptr : type.strides.data();
      std::byte* data = nullptr;
      if (slot.role == Role::result) {
        data = results[static_cast<size_t>(slot.index)];
      } else if (slot.role != Role::indices || has_components) {
        const Tensor& from = read->value >= 0 ? *values_[read->value] : piece.constants[static_cast<size_t>(read->constant)];
        data = from.data.data() + storage_bytes(type.dtype, 1) * read->first;
        ++read;
      }
      views.push_back({static_cast<void*>(data), type.dtype, type.rank(), type.dims.data(), strides});
    }
    const Expected<bool> is_done = calls_.run_piece(last, piece.op, views);
    if (is_done.ok()) return is_done;
    if (has_components && is_done.status().code() == Code::out_of_bounds) return false;  // the interpreter has the message
    return is_done.status().with_prefix(last.location);
  }

  /// Makes the result of the region's last operation from its parts. What it changes and nobody else reads is written over.
  Expected<bool> put_together(const Region& region, const Assembly& assembly) {
    const Compute& last = imported_.compute(region.last());
    const TensorType type{last.results[0].dtype, assembly.dims, {}};
    const int64_t bytes = storage_bytes(type.dtype, 1);
    const auto* const changed = assembly.writes.empty() ? nullptr : std::get_if<Alias>(&assembly.writes[0].what);
    Tensor* const taken = changed != nullptr && changed->dims == assembly.dims ? writable_whole(*changed) : nullptr;
    STREW_ASSIGN(const Tensor* const given, given_output(ValueKind::compute, region.last(), 0, type.dtype, assembly.dims));
    const bool is_over = taken != nullptr && (given == nullptr || taken->data.data() == given->data.data());
    Tensor result = is_over ? borrowed(taken->data, type.dtype, type.dims) : Tensor{};
    if (!is_over) {
      STREW_ASSIGN(result, make_computed(region.last(), 0, type));
    }
    for (size_t w = is_over ? 1 : 0; w < assembly.writes.size(); ++w) {
      const Assembly::Write& write = assembly.writes[w];
      std::byte* const to = result.data.data() + write.first * bytes;
      if (const auto* const alias = std::get_if<Alias>(&write.what)) {
        const std::byte* const from = values_[alias->value]->data.data() + alias->first * bytes;
        STREW_TRY(copy_by(calls_, to, from, alias->elements() * bytes));
        continue;
      }
      STREW_ASSIGN(const bool is_done, call_piece(last, std::get<Piece>(write.what), {to}));
      if (!is_done) return false;
    }
    if (is_over) result.data = take(imported_.result_of(region.last()), *taken);
    computed_[region.last()].push_back(std::move(result));
    return true;
  }

  /// Memory for a result of an operation: the caller's for the output, or new one.
  Expected<Tensor> make_computed(int compute, int index, const TensorType& type) {
    STREW_ASSIGN(const Tensor* const given, given_output(ValueKind::compute, compute, index, type.dtype, type.dims));
    if (given != nullptr && is_apart(*given)) return borrowed(given->data, type.dtype, type.dims);
    return memory_.buffers.make(type.dtype, type.dims);
  }

  /// The value has been read once more. After the last time its memory goes back to the pool.
  void has_read(int v) {
    if (--left_[uses_.first[v]] > 0) return;
    const Value& value = imported_.value(v);
    auto* const all = value.kind == ValueKind::result ? &results_ : value.kind == ValueKind::compute ? &computed_ : nullptr;
    if (all == nullptr || static_cast<size_t>(value.index) >= all->size() || (*all)[value.index].empty()) return;
    (*all)[value.index][value.result].data = {};
  }

  Status keep(int v, Tensor tensor) {
    owned_.push_back(std::make_unique<Tensor>(std::move(tensor)));
    values_[v] = owned_.back().get();
    return {};
  }

  Status evaluate_input(int v, const Value& value) {
    const ProgramInput& input = imported_.input(value.index);
    Tensor* tensor = static_cast<size_t>(value.index) < inputs_.size() ? inputs_[value.index].get() : nullptr;
    if (tensor == nullptr) {
      if (input.optional && value.like >= 0 && value.type.dims.empty()) return evaluate_extent(v, value, value.type.dtype);
      if (input.optional) return evaluate_zeros(v, value);
      return invalid_argument("input {} ({}) is missing, expected {}", value.index, input.name,
                              type_text(input.type, value.symbols));
    }
    STREW_TRY(fit_input(*tensor, input, static_cast<size_t>(value.index), value.symbols));
    values_[v] = tensor;
    return {};
  }

  Status evaluate_extent(int v, const Value& value, DType dtype) {
    STREW_ASSIGN(const Tensor* like, evaluate(value.like));
    STREW_ASSIGN(Tensor tensor, make_tensor(dtype, {}));
    store_element(dtype, tensor.data.data(), 0, {dtype, {encode_i64(dtype, like->dims[value.like_dim]), 0}});
    return keep(v, std::move(tensor));
  }

  Status evaluate_constant(int v, const Constant& constant) {
    if (!constant.mapped.empty()) {
      Tensor tensor;
      tensor.dtype = constant.type.dtype;
      tensor.dims = constant.type.dims;
      tensor.data = Buffer::share(constant.mapped, constant.file);
      return keep(v, std::move(tensor));
    }
    if (constant.type.dtype != DType::string) {
      Tensor tensor{constant.type.dtype, constant.type.dims, {}, {}};
      tensor.data = Buffer::share(constant.data, nullptr);
      return keep(v, std::move(tensor));
    }
    STREW_ASSIGN(Tensor tensor, make_tensor(constant.type.dtype, constant.type.dims));
    set_strings(tensor, constant.strings);
    return keep(v, std::move(tensor));
  }

  Status evaluate_zeros(int v, const Value& value) {
    std::vector<int64_t> dims = value.type.dims;
    for (int64_t& d : dims) {
      if (d != kDynamic) continue;
      if (value.like < 0 && value.kind == ValueKind::input)
        return invalid_argument("input {} is left out, and no other input has the extent of its open dim; expected the tensor",
                                value_name(imported_, v));
      if (value.like < 0) return internal_error("value " + std::to_string(v) + " has an open dim and nothing to take it from");
      STREW_ASSIGN(const Tensor* like, evaluate(value.like));
      d = like->dims[value.like_dim];
    }
    STREW_ASSIGN(Tensor tensor, make_tensor(value.type.dtype, std::move(dims)));
    return keep(v, std::move(tensor));
  }

  Status evaluate_stack(int v, const Value& value) {
    STREW_ASSIGN(Tensor tensor, memory_.buffers.make(value.type.dtype, {static_cast<int64_t>(value.parts.size())}));
    for (size_t i = 0; i < value.parts.size(); ++i) {
      STREW_ASSIGN(const Tensor* part, evaluate(value.parts[i]));
      const int64_t bytes = storage_bytes(tensor.dtype, 1);
      if (bits(tensor.dtype) < 8)
        copy_elements(tensor.dtype, 1, part->data.data(), 0, tensor.data.data(), static_cast<int64_t>(i));
      else
        STREW_TRY(copy_by(calls_, tensor.data.data() + static_cast<int64_t>(i) * bytes, part->data.data(), bytes));
    }
    return keep(v, std::move(tensor));
  }

  Status check_sign(const KernelArgument& argument) {
    STREW_ASSIGN(const Tensor* tensor, evaluate(argument.value));
    if (!is_signed_integer(tensor->dtype)) return {};
    return calls_.check_non_negative ? calls_.check_non_negative(tensor->view()) : check_non_negative(tensor->view());
  }

  Status check_equal(const KernelArgument& argument) {
    STREW_ASSIGN(const Tensor* tensor, evaluate(argument.value));
    STREW_ASSIGN(const Tensor* other, evaluate(argument.other));
    if (argument.use == ArgumentUse::equal_scalars)
      return calls_.check_equal ? calls_.check_equal(argument, tensor->view(), other->view())
                                : strew::check_equal(tensor->view(), other->view(), argument.a, argument.b);
    const int64_t have = tensor->dims[argument.dim], want = other->dims[argument.other_dim];
    return have == want ? Status() : invalid_argument("{} is {}, expected {}, {}", argument.a, have, want, argument.b);
  }

  Status run_kernel(int k) {
    const ProgramKernel& kernel = imported_.kernel(k);
    for (const int v : kernel.tensors()) STREW_TRY(evaluate(v).status());
    for (const ArgumentUse use : {ArgumentUse::equal_extents, ArgumentUse::equal_scalars, ArgumentUse::non_negative})
      for (const KernelArgument& argument : kernel.arguments)
        if (argument.use == use) STREW_TRY(use == ArgumentUse::non_negative ? check_sign(argument) : check_equal(argument));
    const std::vector<TensorSlot> slots = tensor_slots(kernel.op);
    std::vector<Tensor> results;
    std::vector<StridedTensor> bound;
    bound.reserve(slots.size());
    size_t argument = is_in_place(kernel.op) ? std::get<Scatter>(*kernel.op).operands.size() : 0;
    for (const TensorSlot& slot : slots) {
      if (slot.role != Role::result) {
        STREW_ASSIGN(StridedTensor tensor, lay_out(*values_[kernel.tensor(argument++)], *slot.type));
        bound.push_back(std::move(tensor));
        continue;
      }
      STREW_ASSIGN(std::vector<int64_t> dims, result_dims(kernel, *slot.type));
      STREW_ASSIGN(Tensor result, make_result(k, slot.index, *slot.type, std::move(dims)));
      STREW_TRY(fill_in_place(kernel, slot.index, result));
      results.push_back(std::move(result));
      STREW_ASSIGN(StridedTensor tensor, lay_out(results.back(), *slot.type));
      bound.push_back(std::move(tensor));
    }
    std::vector<TensorView> views;
    for (const StridedTensor& tensor : bound) views.push_back(tensor.view());
    BadIndex bad;
    if (const Status status = calls_.run_kernel(kernel, views, &bad); !status.ok())
      return kernel.file_positions && is_of_destinations(slots, bad) ? file_fault(kernel, views, bad) : status;

    for (size_t i = 0, r = 0; i < slots.size(); ++i) {
      if (slots[i].role == Role::result) collect_layout(bound[i], results[r++]);
    }
    take_over(results);
    if (results_.size() <= static_cast<size_t>(k)) results_.resize(imported_.kernels().size());
    results_[k] = std::move(results);
    for (const KernelArgument& read : kernel.arguments) {
      if (read.use == ArgumentUse::equal_extents) continue;
      has_read(read.value);
      if (read.other >= 0) has_read(read.other);
    }
    return {};
  }

  /// Did the op's own indices hold the bad index, and not those of a look-up?
  static bool is_of_destinations(const std::vector<TensorSlot>& slots, const BadIndex& bad) {
    if (bad.source < 0) return false;
    const TensorSlot& slot = slots[static_cast<size_t>(bad.source)];
    return slot.role == Role::indices && slot.index == 0;
  }

  /// The error for a bad index of a kernel whose positions are not the file's, with the position and the component of the file.
  static Status file_fault(const ProgramKernel& kernel, std::span<const TensorView> views, const BadIndex& bad) {
    const AccessDims& dims = kernel.op.access();
    const std::vector<TensorSlot> slots = tensor_slots(kernel.op);
    const auto find = [&](Role role) -> const TensorView& {
      return views[std::find_if(slots.begin(), slots.end(), [&](const TensorSlot& s) { return s.role == role; }) - slots.begin()];
    };
    const TensorView &indices = find(Role::indices), &table = find(is_scatter(kernel.op) ? Role::result : Role::operand);
    const std::vector<int64_t> extents = dims.position_extents({indices.dims, indices.dims + indices.rank});
    std::vector<int64_t> file = kernel.file_positions->repeats;
    uint64_t repeated = 0;
    size_t own = 0;
    for (size_t d = 0; d < file.size(); ++d)
      if (file[d] != 0)
        repeated |= uint64_t{1} << d;
      else
        file[d] = extents[own++];
    const int64_t position = full_position(bad.position, file, repeated);
    const auto component = static_cast<size_t>(bad.component);
    return fault_status(fault_rule(kernel.op, 0, bad.component),
                        {position, kernel.file_positions->components[component], bad.value, bad.bound}, file,
                        table.dims[dims.components[component]]);
  }

  /// For an op with init in_place: copies the operand into the result's buffer.
  Status fill_in_place(const ProgramKernel& kernel, int index, Tensor& result) {
    if (!is_in_place(kernel.op)) return {};
    const Tensor& operand = *values_[kernel.tensor(index)];
    if (operand.dtype != result.dtype || operand.dims != result.dims)
      return invalid_argument("operand is {}{}, expected {}{}", operand.dtype, operand.dims, result.dtype, result.dims);
    if (result.data.data() == operand.data.data()) return {};
    return copy_by(calls_, result.data.data(), operand.data.data(), result.data.size());
  }

  /// The tensor that result number `index` of the kernel may be written over: its operand, if nothing else reads that.
  Tensor* reusable_operand(const ProgramKernel& kernel, int index, const TensorType& type, const std::vector<int64_t>& dims) {
    const Scatter* scatter = std::get_if<Scatter>(&*kernel.op);
    if (scatter == nullptr || scatter->init == InitKind::fill || !type.strides.empty()) return nullptr;
    const int v = kernel.tensor(static_cast<size_t>(index));
    const Tensor& operand = *values_[v];
    const bool fits = operand.dtype == type.dtype && operand.dims == dims && operand.dtype != DType::string;
    return fits ? writable(v) : nullptr;
  }
  /// The tensor of the value if its elements may be written over, because they are read for the last time; else null.
  Tensor* writable(int v) {
    const Tensor& tensor = *values_[v];
    const Value& value = imported_.value(v);
    if (!buffers_.reuses_inputs || tensor.data.read_only()) return nullptr;
    if (value.kind == ValueKind::result || value.kind == ValueKind::compute) {
      auto& all = value.kind == ValueKind::result ? results_ : computed_;
      if (!lent_.contains(v) && !memory_.buffers.may_pass_on(tensor.data)) return nullptr;
      return left_[uses_.first[v]] == 1 && (tensor.data.is_only_owner() || lent_.contains(v)) ? &all[value.index][value.result]
                                                                                              : nullptr;
    }
    if (value.kind != ValueKind::input || uses_.readers[uses_.first[v]] != 1) return nullptr;
    Tensor* found = nullptr;
    for (const std::unique_ptr<Tensor>& input : inputs_) {
      if (input.get() == &tensor)
        found = input.get();
      else if (input != nullptr && overlap(input->data, tensor.data))
        return nullptr;  // what lies in the same memory is read, too
    }
    return found;
  }
  /// Results that were written over their operands take over the memory, if the operands own it.
  void take_over(std::vector<Tensor>& results) {
    for (Tensor& result : results)
      for (Tensor* const operand : reused_)
        if (operand->data.owns() && result.data.size() > 0 && operand->data.data() == result.data.data())
          result.data = std::move(operand->data);
    reused_.clear();
  }

  /// Memory for a result: the caller's for the output, that of the operand that it updates, or new one.
  Expected<Tensor> make_result(int k, int index, const TensorType& type, std::vector<int64_t> dims) {
    Tensor* const operand = reusable_operand(imported_.kernel(k), index, type, dims);
    STREW_ASSIGN(const Tensor* const given, given_output(ValueKind::result, k, index, type.dtype, dims));
    if (given != nullptr && (is_apart(*given) || (operand != nullptr && operand->data.data() == given->data.data())))
      return borrowed(given->data, type.dtype, std::move(dims));
    if (operand == nullptr) return memory_.buffers.make(type.dtype, std::move(dims));
    reused_.push_back(operand);
    return borrowed(operand->data, type.dtype, std::move(dims));
  }
  static Tensor borrowed(const Buffer& buffer, DType dtype, std::vector<int64_t> dims) {
    return {dtype, std::move(dims), Buffer::borrow({buffer.data(), static_cast<size_t>(buffer.size())}), {}};
  }
  bool is_apart(const Tensor& given) const {
    return std::none_of(inputs_.begin(), inputs_.end(), [&](const std::unique_ptr<Tensor>& input) {
      return input != nullptr && overlap(input->data, given.data);
    });
  }

  /// The output that is result number `index` of the kernel (ValueKind::result) or of the operation (ValueKind::compute); -1: none is.
  int output_of(ValueKind kind, int number, int index) const {
    for (size_t i = 0; i < imported_.outputs().size(); ++i) {
      const Value& value = imported_.value(imported_.outputs()[i].value);
      if (value.kind == kind && value.index == number && value.result == index) return static_cast<int>(i);
    }
    return -1;
  }
  /// The caller's buffer for what is such a result; null: it is no output, or the caller gives none.
  Expected<const Tensor*> given_output(ValueKind kind, int number, int index, DType dtype, const std::vector<int64_t>& dims) {
    const int output = buffers_.outputs != nullptr ? output_of(kind, number, index) : -1;
    if (output < 0) return nullptr;
    return buffers_.outputs->at(imported_, static_cast<size_t>(output), dtype, dims);
  }

  Expected<std::vector<int64_t>> result_dims(const ProgramKernel& kernel, const TensorType& type) {
    std::vector<int64_t> dims = type.dims;
    if (is_static(dims)) return dims;
    if (const Gather* gather = std::get_if<Gather>(&*kernel.op)) return gather_dims(kernel, *gather, std::move(dims));
    const Scatter& scatter = std::get<Scatter>(*kernel.op);
    if (scatter.init == InitKind::fill) return filled_dims(kernel, std::move(dims));
    const std::vector<int64_t>& operand = values_[kernel.tensor(0)]->dims;
    if (operand.size() != dims.size()) {
      return invalid_argument("operand has rank {}, expected {}", operand.size(), dims.size());
    }
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = dims[d] == kDynamic ? operand[d] : dims[d];
    return dims;
  }

  /// The dims of a filled result: no operand gives them, so a value does.
  Expected<std::vector<int64_t>> filled_dims(const ProgramKernel& kernel, std::vector<int64_t> dims) {
    const KernelArgument* const shape = kernel.find(ArgumentUse::result_shape);
    if (shape == nullptr) {
      return unsupported("the result is " + dims_text(dims) + " and filled, so no input gives its dims; expected static dims");
    }
    STREW_ASSIGN(const Tensor* given, evaluate(shape->value));
    if (given->elements() != static_cast<int64_t>(dims.size())) {
      return invalid_argument("the result's shape has {} elements, expected {}", given->elements(), dims.size());
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t extent = integer_at(*given, static_cast<int64_t>(d));
      if (extent < 0 || (dims[d] != kDynamic && dims[d] != extent)) {
        return invalid_argument("the result's shape has {} in dim {}, expected {}", extent, d,
                                dims[d] == kDynamic ? "0 or more" : std::to_string(dims[d]));
      }
      dims[d] = extent;
    }
    STREW_TRY(element_count(dims).status());
    return dims;
  }

  /// The dims of a gather's result: offset dims from the slice sizes, the others from the dims of indices without the
  /// index vector, in order.
  Expected<std::vector<int64_t>> gather_dims(const ProgramKernel& kernel, const Gather& gather, std::vector<int64_t> dims) {
    std::vector<int64_t> sizes = gather.slice_sizes;
    if (const KernelArgument* const argument = kernel.find(ArgumentUse::slice_sizes)) {
      STREW_ASSIGN(const Tensor* given, evaluate(argument->value));
      for (int64_t i = 0; i < given->elements() && i < static_cast<int64_t>(sizes.size()); ++i) {
        sizes[i] = integer_at(*given, i);
        if (sizes[i] < 0) return invalid_argument("slice_sizes[{}] is {}, expected 0 or more", i, sizes[i]);
      }
    }
    // A size that no value gives is that of the operand's whole dim (GATHER of a table with open dims).
    const std::vector<int64_t>& operand = values_[kernel.tensor(0)]->dims;
    for (size_t d = 0; d < sizes.size() && d < operand.size(); ++d) sizes[d] = sizes[d] == kDynamic ? operand[d] : sizes[d];
    const AccessDims& access = kernel.op.access();
    std::vector<int64_t> window;
    for (const int64_t d : access.window) window.push_back(sizes[d]);
    const std::vector<int64_t> extents = access.slices_extents(access.position_extents(values_[kernel.tensor(1)]->dims), window);
    if (extents.size() != dims.size()) return internal_error("the gather's dimension numbers do not cover its result");
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == kDynamic) dims[d] = extents[d];
      if (dims[d] == kDynamic) return invalid_argument("nothing gives the extent of result dim " + std::to_string(d));
    }
    return dims;
  }

  /// Results are moved out, so that a large one is in memory only once. If a tensor is more than one output, all but
  /// the last get copies.
  Expected<std::vector<Tensor>> collect() {
    std::vector<const Tensor*> from;
    for (const ProgramOutput& output : imported_.outputs()) {
      STREW_ASSIGN(const Tensor* tensor, evaluate(output.value));
      from.push_back(tensor);
    }
    if (buffers_.outputs != nullptr) return collect_into(from);
    std::vector<Tensor> out;
    for (size_t i = 0; i < from.size(); ++i) {
      const bool again = std::find(from.begin() + static_cast<ptrdiff_t>(i) + 1, from.end(), from[i]) != from.end();
      // What lies in memory that was lent has to be copied: results own their elements.
      if (!again && from[i]->dtype != DType::string && (from[i]->data.is_only_owner() || from[i]->data.size() == 0)) {
        out.push_back(std::move(const_cast<Tensor&>(*from[i])));  // values_ points only to tensors that this object owns
        continue;
      }
      STREW_ASSIGN(Tensor copy, copy_of(*from[i]));
      out.push_back(std::move(copy));
    }
    return out;
  }

  /// Copies what does not lie in the caller's buffers.
  Expected<std::vector<Tensor>> collect_into(const std::vector<const Tensor*>& from) {
    std::vector<const Tensor*> into;
    for (size_t i = 0; i < from.size(); ++i) {
      STREW_ASSIGN(const Tensor* const given, buffers_.outputs->at(imported_, i, from[i]->dtype, from[i]->dims));
      into.push_back(given);
    }
    std::vector<const Tensor*> sources = from;
    std::vector<std::unique_ptr<Tensor>> kept;  // inputs that are outputs, and lie where another output will
    for (size_t i = 0; i < from.size(); ++i)
      for (size_t j = 0; j < from.size() && sources[i] == from[i]; ++j) {
        if (i == j || !overlap(from[i]->data, into[j]->data)) continue;
        STREW_ASSIGN(Tensor copy, memory_.buffers.make(from[i]->dtype, from[i]->dims));
        STREW_TRY(copy_by(calls_, copy.data.data(), from[i]->data.data(), copy.data.size()));
        kept.push_back(std::make_unique<Tensor>(std::move(copy)));
        sources[i] = kept.back().get();
      }
    for (size_t i = 0; i < from.size(); ++i) {
      const Buffer& to = into[i]->data;
      if (to.data() != sources[i]->data.data()) STREW_TRY(copy_by(calls_, to.data(), sources[i]->data.data(), to.size()));
    }
    return std::vector<Tensor>();
  }

  const Program& imported_;
  std::vector<std::unique_ptr<Tensor>> inputs_;
  ProgramMemory& memory_;
  const ProgramCalls& calls_;
  const ProgramBuffers& buffers_;
  const ProgramUses& uses_;
  std::vector<int> left_;                       ///< per first value of a tensor: how often it will be read yet
  std::vector<Tensor*> reused_;                 ///< operands that results of the current kernel are written over
  std::set<int> lent_;                          ///< values in memory of the caller's that may be written over
  std::vector<const Tensor*> values_;           ///< null: not evaluated so far
  std::vector<std::unique_ptr<Tensor>> owned_;  ///< constants, zeros, stacks
  std::vector<std::vector<Tensor>> results_;    ///< per kernel
  std::vector<std::vector<Tensor>> computed_;   ///< per compute; empty: not evaluated so far
  std::vector<bool> needed_;                    ///< per kernel
};

}  // namespace

Status copy_by(const ProgramCalls& calls, std::byte* to, const std::byte* from, int64_t bytes) {
  if (calls.copy) return calls.copy(to, from, bytes);
  if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
  return {};
}

const ProgramUses& ProgramMemory::uses_of(const Program& program) {
  std::call_once(once_, [&] { uses_ = strew::uses_of(program); });
  return uses_;
}

Expected<std::vector<Tensor>> run_imported(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs,
                                           ProgramMemory& memory, const ProgramCalls& calls, const ProgramBuffers& buffers) {
  const FpEnvironment environment(!calls.keeps_environment);  // operations around the kernels are interpreted
  return Runner(imported, std::move(inputs), memory, calls, buffers).run();
}

}  // namespace strew::inline v0
