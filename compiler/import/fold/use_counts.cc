// Reference counting. The constructor counts the readers of every value once; rewire() and becomes_result() then update only the counts
// they change, so a file of 100,000 operations and 50,000 kernels stays linear. Every kernel and every opaque operation counts as a reader, whether
// or not its result is used, so everything that one reads is live. Tested by tests/unit/compiler/import/fold/fold_test.cc.
#include "compiler/import/fold/use_counts.h"

#include <algorithm>
#include <utility>

namespace strew::inline v0::fold {

UseCounts::UseCounts(Imported& imported)
    : imported_(imported),
      readers_(imported.values.size(), 0),
      live_(imported.computes.size(), 0),
      values_(imported.computes.size(), -1) {
  for (size_t v = 0; v < imported.values.size(); ++v) {
    const Value& value = imported.values[v];
    last_kernel_.push_back(last_kernel_of(value));
    if (value.kind == ValueKind::compute && value.result == 0) values_[static_cast<size_t>(value.index)] = static_cast<int>(v);
  }
  for (Compute& compute : imported.computes) compute.disposition = ComputeDisposition::unused;
  for (const ImportedOutput& output : imported.outputs) acquire(output.value);
  for (const Opaque& opaque : imported.opaques) {
    for (int value : opaque.arguments) acquire(value);
    for (int value : opaque.yields) acquire(value);
  }
  for (const ImportedKernel& kernel : imported.kernels) each_use(kernel, [&](int value) { acquire(value); });
}

/// Relies on the order of values: a value comes after those it is made of. The exception is an input, whose `like` may be a later input.
int UseCounts::last_kernel_of(const Value& value) const {
  int last = value.kind == ValueKind::result ? value.index : -1;
  const auto take = [&](int v) { last = std::max(last, last_kernel_[static_cast<size_t>(v)]); };
  for (int part : value.parts) take(part);
  if (value.like >= 0 && value.kind != ValueKind::input) take(value.like);
  if (value.kind == ValueKind::compute)
    for (int argument : imported_.computes[static_cast<size_t>(value.index)].arguments) take(argument);
  if (value.kind == ValueKind::opaque)
    for (int argument : imported_.opaques[static_cast<size_t>(value.index)].arguments) take(argument);
  return last;
}

template <class Use>
void UseCounts::each_source(int value, Use use) const {
  const Value& v = imported_.values[static_cast<size_t>(value)];
  for (int part : v.parts) use(part);
  if (v.like >= 0) use(v.like);
}

void UseCounts::acquire(int value) {
  std::vector<int> open{value};
  while (!open.empty()) {
    const int current = open.back();
    open.pop_back();
    if (readers_[static_cast<size_t>(current)]++ > 0) continue;
    const auto need = [&](int v) { open.push_back(v); };
    each_source(current, need);
    const Value& v = imported_.values[static_cast<size_t>(current)];
    if (v.kind != ValueKind::compute || live_[static_cast<size_t>(v.index)]++ > 0) continue;
    Compute& compute = imported_.computes[static_cast<size_t>(v.index)];
    compute.disposition = ComputeDisposition::interpreted;
    for (int argument : compute.arguments) need(argument);
  }
}

void UseCounts::release(int value, ComputeDisposition disposition, int kernel) {
  std::vector<int> open{value};
  while (!open.empty()) {
    const int current = open.back();
    open.pop_back();
    if (--readers_[static_cast<size_t>(current)] > 0) continue;
    const auto drop = [&](int v) { open.push_back(v); };
    each_source(current, drop);
    const Value& v = imported_.values[static_cast<size_t>(current)];
    if (v.kind != ValueKind::compute || --live_[static_cast<size_t>(v.index)] > 0) continue;
    Compute& compute = imported_.computes[static_cast<size_t>(v.index)];
    compute.disposition = disposition;
    compute.kernel = kernel;
    for (int argument : compute.arguments) drop(argument);
  }
}

int UseCounts::add_value(Value value) {
  last_kernel_.push_back(last_kernel_of(value));
  readers_.push_back(0);
  imported_.values.push_back(std::move(value));
  return static_cast<int>(imported_.values.size()) - 1;
}

int UseCounts::add_compute(Compute compute) {
  Value value;
  value.kind = ValueKind::compute;
  value.type = compute.results[0];
  value.index = static_cast<int>(imported_.computes.size());
  compute.disposition = ComputeDisposition::unused;
  imported_.computes.push_back(std::move(compute));
  live_.push_back(0);
  values_.push_back(static_cast<int>(imported_.values.size()));
  return add_value(std::move(value));
}

void UseCounts::rewire(int kernel, std::vector<int> arguments, ComputeDisposition disposition) {
  for (int value : arguments) acquire(value);
  const std::vector<int> before = std::exchange(imported_.kernels[static_cast<size_t>(kernel)].arguments, std::move(arguments));
  for (int value : before) release(value, disposition, kernel);
}

void UseCounts::move_use(int& use, int to, int kernel) {
  acquire(to);
  release(std::exchange(use, to), ComputeDisposition::folded, kernel);
}

void UseCounts::becomes_result(int value, int kernel, ComputeDisposition disposition) {
  Value& v = imported_.values[static_cast<size_t>(value)];
  const int number = v.index;
  v.kind = ValueKind::result;
  v.index = kernel;
  v.result = 0;
  last_kernel_[static_cast<size_t>(value)] = kernel;
  live_[static_cast<size_t>(number)] = 0;
  Compute& compute = imported_.computes[static_cast<size_t>(number)];
  compute.disposition = disposition;
  compute.kernel = kernel;
  for (int argument : compute.arguments) release(argument, disposition, kernel);
}

}  // namespace strew::inline v0::fold
