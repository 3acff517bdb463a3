// See strew/program.h. Readers are counted by reference: a value that gets its first reader reads what it is made of, and one that loses its
// last reader lets go of that. Both walk without recursion, because a file may contain a chain of any length, and visit each part once, so
// that a file of 100,000 operations and 50,000 kernels stays linear. Tested by tests/unit/compiler/program/graph_test.cc.
#include "strew/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/program/verify_program.h"

namespace strew::inline v0 {
namespace {

template <class List>
int last_of(const List& list) {
  return static_cast<int>(list.size()) - 1;
}

/// The parts and `like` of a value. What else it is made of is the arguments of its Compute.
template <class Use>
void each_part(const Value& value, const Use& use) {
  for (const int part : value.parts) use(part);
  if (value.like >= 0) use(value.like);
}

}  // namespace

Expected<Program> Program::of(ProgramParts parts) {
  STREW_TRY(strew::verify(parts));
  Program out;
  out.parts_ = std::move(parts);
  out.count();
  return out;
}

/// Counts the readers of all values, and says of each Compute that is read that it is interpreted.
void Program::count() {
  value_states_.clear();
  compute_states_.assign(parts_.computes.size(), {});
  for (size_t v = 0; v < parts_.values.size(); ++v) {
    const Value& value = parts_.values[v];
    value_states_.push_back({0, last_kernel_of(value)});
    if (value.kind == ValueKind::compute && value.result == 0) compute_states_[value.index].first_value = static_cast<int>(v);
  }
  for (const ProgramOutput& output : parts_.outputs) acquire(output.value);
  for (size_t o = 0; o < parts_.opaques.size(); ++o)
    for (const int value : uses_of(static_cast<int>(o), parts_.opaques[o])) acquire(value);
  for (const ProgramKernel& kernel : parts_.kernels) each_use(kernel, [&](int value) { acquire(value); });
}

/// Relies on the order of values. `like` of an input may be a later input, and needs no kernel.
int Program::last_kernel_of(const Value& value) const {
  int last = value.kind == ValueKind::result ? value.index : -1;
  const auto take = [&](int v) {
    if (static_cast<size_t>(v) < value_states_.size()) last = std::max(last, last_kernel(v));
  };
  each_source(parts_, value, take);
  if (value.kind == ValueKind::opaque)
    for (const int argument : opaque(value.index).arguments) take(argument);
  return last;
}

void Program::find_last_kernels() {
  for (size_t v = 0; v < parts_.values.size(); ++v) value_states_[v].last_kernel = last_kernel_of(parts_.values[v]);
}

/// A result of the Compute is read that was not (`by` is 1), or is not read any more (-1). Calls change(value) with what the Compute reads if it is
/// the first or the last such result.
template <class Change>
void Program::change_results(int number, int by, Fate fate, const Change& change) {
  if (const int now = compute_states_[number].read_results += by; now != (by > 0 ? 1 : 0)) return;
  Compute& compute = parts_.computes[number];
  compute.disposition = fate.how;
  compute.kernel = fate.kernel;
  for (const int argument : compute.arguments) change(argument);
}

void Program::change_readers(int first, int by, Fate fate) {
  std::vector<int> open{first};
  const auto change = [&](int v) { open.push_back(v); };
  while (!open.empty()) {
    const int current = open.back();
    open.pop_back();
    // What a value is made of is read as long as the value is.
    if (const int now = value_states_[current].readers += by; now != (by > 0 ? 1 : 0)) continue;
    const Value& v = value(current);
    each_part(v, change);
    if (v.kind == ValueKind::compute) change_results(v.index, by, fate, change);
  }
}

void Program::replace_uses(const std::vector<int>& before, const std::vector<int>& now, Fate fate) {
  if (before == now) return;
  for (const int value : now) acquire(value);
  for (const int value : before) release(value, fate);
}

int Program::add_value(Value value) {
  value_states_.push_back({0, last_kernel_of(value)});
  parts_.values.push_back(std::move(value));
  return last_of(parts_.values);
}

int Program::add_input(ProgramInput input, std::vector<std::string> symbols) {
  parts_.inputs.push_back(std::move(input));
  return add_value({.kind = ValueKind::input,
                    .type = parts_.inputs.back().type,
                    .index = last_of(parts_.inputs),
                    .symbols = std::move(symbols)});
}

int Program::add_constant(Constant constant) {
  parts_.constants.push_back(std::move(constant));
  return add_value({.kind = ValueKind::constant, .type = parts_.constants.back().type, .index = last_of(parts_.constants)});
}

int Program::add_compute(Compute compute) {
  const auto first = static_cast<int>(parts_.values.size());
  const std::vector<TensorType> results = compute.results;
  parts_.computes.push_back(std::move(compute));
  compute_states_.push_back({0, first});
  for (size_t i = 0; i < results.size(); ++i)
    add_value({.kind = ValueKind::compute, .type = results[i], .index = last_of(parts_.computes), .result = static_cast<int>(i)});
  return first;
}

int Program::add_kernel(ProgramKernel kernel) {
  const auto first = static_cast<int>(parts_.values.size());
  parts_.kernels.push_back(std::move(kernel));
  const ProgramKernel& added = parts_.kernels.back();
  each_use(added, [&](int value) { acquire(value); });
  int result = 0;
  for (const TensorSlot& slot : tensor_slots(added.op)) {
    if (slot.role != Role::result) continue;
    add_value({.kind = ValueKind::result,
               .type = {slot.type->dtype, slot.type->dims, {}},
               .index = last_of(parts_.kernels),
               .result = result++});
  }
  return first;
}

int Program::add_opaque(Opaque opaque) {
  parts_.opaques.push_back(std::move(opaque));
  const int number = last_of(parts_.opaques);
  replace_uses({}, uses_of(number, parts_.opaques.back()), {});
  return number;
}

void Program::add_output(ProgramOutput output) {
  acquire(output.value);
  parts_.outputs.push_back(std::move(output));
}

void Program::set_dims(int value, std::vector<int64_t> dims) {
  Value& v = parts_.values[value];
  parts_.computes[v.index].results[v.result].dims = dims;
  v.type.dims = std::move(dims);
}

void Program::release_result(int compute, Fate fate) {
  change_results(compute, -1, fate, [&](int value) { release(value, fate); });
}

void Program::become_input(int number, ProgramInput input) {
  Value& v = parts_.values[number];
  parts_.inputs.push_back(std::move(input));
  if (v.kind != ValueKind::input) {
    for (const int part : uses_of(number, v)) release(part, {});
    if (v.kind == ValueKind::compute && readers(number) > 0) release_result(v.index, {});
    v.parts.clear();
    v.like = -1;
    value_states_[number].last_kernel = -1;
  }
  v.kind = ValueKind::input;
  v.index = last_of(parts_.inputs);
  v.result = 0;
}

void Program::become_result(int number, int kernel, ComputeDisposition how) {
  Value& v = parts_.values[number];
  const int compute = std::exchange(v.index, kernel);
  v.kind = ValueKind::result;
  v.result = 0;
  value_states_[number].last_kernel = kernel;
  release_result(compute, {how, kernel});
}

void Program::erase_merged(const std::vector<int>& into) {
  std::vector<int> renumbered(into.size());
  std::vector<ProgramKernel> kept;
  for (size_t k = 0; k < into.size(); ++k) {
    if (into[k] >= 0) {
      for (const int value : uses_of(static_cast<int>(k), parts_.kernels[k])) release(value, {});
      continue;
    }
    renumbered[k] = static_cast<int>(kept.size());
    kept.push_back(std::move(parts_.kernels[k]));
  }
  parts_.kernels = std::move(kept);
  for (size_t k = 0; k < into.size(); ++k)
    if (into[k] >= 0) renumbered[k] = renumbered[into[k]];
  for (size_t v = 0; v < parts_.values.size(); ++v) {
    Value& value = parts_.values[v];
    int& last = value_states_[v].last_kernel;
    if (last >= 0) last = renumbered[last];
    const auto is_none = [&](int source) { return parts_.values[source].kind == ValueKind::none; };
    // What nobody reads may still be made of the results: the extent of one, in the shape of an operation whose result nobody reads.
    const bool is_left = value.kind != ValueKind::input && ((value.like >= 0 && is_none(value.like)) ||
                                                            std::any_of(value.parts.begin(), value.parts.end(), is_none));
    if (value.kind != ValueKind::result && !is_left) continue;
    const auto kernel = static_cast<size_t>(value.index);
    if (value.kind == ValueKind::result) {
      value.index = renumbered[kernel];
      if (into[kernel] < 0) continue;
    }
    value = Value();
    value.kind = ValueKind::none;
    value.is_typed = false;
    last = -1;
  }
  for (Compute& compute : parts_.computes)
    if (compute.kernel >= 0) compute.kernel = renumbered[compute.kernel];
}

void Program::mark_unused() {
  for (size_t c = 0; c < parts_.computes.size(); ++c) {
    ComputeDisposition& disposition = parts_.computes[c].disposition;
    if (disposition == ComputeDisposition::interpreted && !is_needed(static_cast<int>(c)))
      disposition = ComputeDisposition::unused;
  }
}

void Program::rollback(const Checkpoint& to) {
  const Fate as_before{ComputeDisposition::interpreted, -1};
  for (size_t i = to.outputs; i < parts_.outputs.size(); ++i) release(parts_.outputs[i].value, as_before);
  for (size_t k = to.kernels; k < parts_.kernels.size(); ++k)
    replace_uses(uses_of(static_cast<int>(k), parts_.kernels[k]), {}, as_before);
  for (size_t o = to.opaques; o < parts_.opaques.size(); ++o)
    replace_uses(uses_of(static_cast<int>(o), parts_.opaques[o]), {}, as_before);
  const auto take_back = [](auto& list, size_t size) { list.erase(list.begin() + static_cast<ptrdiff_t>(size), list.end()); };
  take_back(parts_.inputs, to.inputs);
  take_back(parts_.constants, to.constants);
  take_back(parts_.values, to.values);
  take_back(parts_.computes, to.computes);
  take_back(parts_.opaques, to.opaques);
  take_back(parts_.kernels, to.kernels);
  take_back(parts_.outputs, to.outputs);
  take_back(parts_.nodes, to.nodes);
  take_back(value_states_, to.values);
  take_back(compute_states_, to.computes);
}

Status Program::verify() const {
  STREW_TRY(strew::verify(parts_));
  std::vector<int> readers(parts_.values.size()), open;
  std::vector<bool> is_counted(parts_.computes.size());
  const auto need = [&](int value) { open.push_back(value); };
  for (const ProgramOutput& output : parts_.outputs) need(output.value);
  for (size_t o = 0; o < parts_.opaques.size(); ++o)
    for (const int value : uses_of(static_cast<int>(o), parts_.opaques[o])) need(value);
  for (const ProgramKernel& kernel : parts_.kernels) each_use(kernel, need);
  while (!open.empty()) {
    const int current = open.back();
    open.pop_back();
    if (readers[current]++ > 0) continue;
    const Value& v = value(current);
    each_part(v, need);
    if (v.kind != ValueKind::compute || is_counted[v.index]) continue;
    is_counted[v.index] = true;
    for (const int argument : compute(v.index).arguments) need(argument);
  }
  for (size_t v = 0; v < readers.size(); ++v)
    if (readers[v] != value_states_[v].readers)
      return internal_error(fmt::format("the imported program is wrong: value {} has {} readers, expected {}, as counted", v,
                                        readers[v], value_states_[v].readers));
  return {};
}

}  // namespace strew::inline v0
