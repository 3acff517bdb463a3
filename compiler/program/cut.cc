// kernel_inputs() and cut_kernel() (strew/import.h): one kernel of a file as a program of its own.
//
// Both walk back from the kernel's arguments through stacks, extents and the operations around the kernel, and stop at the values that become
// inputs. Whatever the walk does not reach is left out, so nothing else in the file has to be one that strew can run. Tested by
// tests/unit/compiler/program/program_test.cc and tests/error/model_test.cc.
#include <algorithm>

#include "strew/program.h"

namespace strew::inline v0 {
namespace {

/// The values that a kernel needs, and which of them are its inputs.
struct Needs {
  std::vector<bool> needed, is_input;  ///< per value
};

Needs needs_of(const ProgramParts& imported, int kernel, std::span<const std::string> named) {
  Needs out{std::vector<bool>(imported.values.size()), std::vector<bool>(imported.values.size())};
  std::vector<int> open;
  each_use(imported.kernels[static_cast<size_t>(kernel)], [&](int v) { open.push_back(v); });
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (out.needed[static_cast<size_t>(v)]) continue;
    out.needed[static_cast<size_t>(v)] = true;
    const Value& value = imported.values[static_cast<size_t>(v)];
    const bool is_named = !value.name.empty() && std::find(named.begin(), named.end(), value.name) != named.end();
    const bool is_made_elsewhere = value.kind == ValueKind::result || value.kind == ValueKind::opaque;
    if (value.kind == ValueKind::input || is_made_elsewhere || is_named) out.is_input[static_cast<size_t>(v)] = true;
    if (is_made_elsewhere || (is_named && value.kind != ValueKind::input)) continue;
    each_source(imported, value, [&](int source) { open.push_back(source); });
  }
  return out;
}

/// Copies a program's parts to another one, and keeps track of their new numbers.
class Cutter {
 public:
  Cutter(ProgramParts from, int kernel, std::span<const std::string> named)
      : from_(std::move(from)),
        number_(kernel),
        needs_(needs_of(from_, kernel, named)),
        new_value_(from_.values.size(), -1),
        new_constant_(from_.constants.size(), -1),
        new_compute_(from_.computes.size(), -1) {}

  ProgramParts cut() {
    out_.format = from_.format;
    for (size_t v = 0; v < from_.values.size(); ++v)
      if (needs_.needed[v]) new_value_[v] = next_++;
    for (size_t v = 0; v < from_.values.size(); ++v)
      if (needs_.needed[v]) out_.values.push_back(moved(static_cast<int>(v)));
    add_outputs();
    ProgramKernel kernel = std::move(from_.kernels[static_cast<size_t>(number_)]);
    each_use(kernel, [&](int& value) { value = renumbered(value); });
    out_.kernels.push_back(std::move(kernel));
    return std::move(out_);
  }

 private:
  int renumbered(int value) const { return value < 0 ? -1 : new_value_[static_cast<size_t>(value)]; }
  void renumber(std::vector<int>& values) const {
    for (int& value : values) value = renumbered(value);
  }

  Value moved(int number) {
    Value value = from_.values[static_cast<size_t>(number)];
    renumber(value.parts);
    value.like = renumbered(value.like);
    if (needs_.is_input[static_cast<size_t>(number)]) {
      ProgramInput input{value_name(value, number), value.type, false, false};
      if (value.kind == ValueKind::input) input = from_.inputs[static_cast<size_t>(value.index)];
      if (value.kind != ValueKind::input) value.like = -1, value.parts.clear();
      value.kind = ValueKind::input;
      value.index = static_cast<int>(out_.inputs.size());
      value.result = 0;
      out_.inputs.push_back(std::move(input));
    } else if (value.kind == ValueKind::constant) {
      value.index = constant(value.index);
    } else if (value.kind == ValueKind::compute) {
      value.index = compute(value.index);
    }
    return value;
  }

  int constant(int number) {
    int& out = new_constant_[static_cast<size_t>(number)];
    if (out >= 0) return out;
    out = static_cast<int>(out_.constants.size());
    out_.constants.push_back(std::move(from_.constants[static_cast<size_t>(number)]));
    return out;
  }

  /// The new number of a Compute, which is copied when its first result is.
  int compute(int number) {
    int& out = new_compute_[static_cast<size_t>(number)];
    if (out >= 0) return out;
    Compute copy = std::move(from_.computes[static_cast<size_t>(number)]);
    renumber(copy.arguments);
    copy.kernel = copy.kernel == number_ ? 0 : -1;
    out = static_cast<int>(out_.computes.size());
    out_.computes.push_back(std::move(copy));
    return out;
  }

  /// Of several values that are the same result, the last is what the operations that were merged into the kernel made of it.
  void add_outputs() {
    const ProgramKernel& kernel = from_.kernels[static_cast<size_t>(number_)];
    int result = 0;
    for (const TensorSlot& slot : tensor_slots(kernel.op)) {
      if (slot.role != Role::result) continue;
      std::string name = kernel.name + (result == 0 ? "" : "_" + std::to_string(result));
      for (const Value& value : from_.values)
        if (value.kind == ValueKind::result && value.index == number_ && value.result == result && !value.name.empty())
          name = value.name;
      out_.outputs.push_back({name, static_cast<int>(out_.values.size())});
      out_.values.push_back({.kind = ValueKind::result, .type = *slot.type, .name = name, .result = result++});
    }
  }

  ProgramParts from_, out_;
  int number_, next_ = 0;
  Needs needs_;
  std::vector<int> new_value_, new_constant_, new_compute_;
};

}  // namespace

std::vector<int> kernel_inputs(const Program& program, int kernel, std::span<const std::string> named) {
  const Needs needs = needs_of(program.parts(), kernel, named);
  std::vector<int> out;
  for (size_t v = 0; v < program.values().size(); ++v)
    if (needs.is_input[v]) out.push_back(static_cast<int>(v));
  return out;
}

Program cut_kernel(Program program, int kernel, std::span<const std::string> named) {
  return Program::of(Cutter(std::move(program).parts(), kernel, named).cut()).value();
}

}  // namespace strew::inline v0
