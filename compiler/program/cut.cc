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
  each_use(imported.kernels[kernel], [&](int v) { open.push_back(v); });
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (out.needed[v]) continue;
    out.needed[v] = true;
    const Value& value = imported.values[v];
    const bool is_named = !value.name.empty() && std::find(named.begin(), named.end(), value.name) != named.end();
    const bool is_made_elsewhere = value.kind == ValueKind::result || value.kind == ValueKind::opaque;
    if (value.kind == ValueKind::input || is_made_elsewhere || is_named) out.is_input[v] = true;
    if (is_made_elsewhere || (is_named && value.kind != ValueKind::input)) continue;
    each_source(imported, value, [&](int source) { open.push_back(source); });
  }
  return out;
}

}  // namespace

std::vector<int> kernel_inputs(const Program& program, int kernel, std::span<const std::string> named) {
  const Needs needs = needs_of(program.parts(), kernel, named);
  std::vector<int> out;
  for (size_t v = 0; v < program.values().size(); ++v)
    if (needs.is_input[v]) out.push_back(static_cast<int>(v));
  return out;
}

Program cut_kernel(Program program, int kernel, std::span<const std::string> named) {
  const Needs needs = needs_of(program.parts(), kernel, named);
  ProgramParts from = std::move(program).parts();
  Program out;
  out.set_format(from.format);
  std::vector<int> made(from.values.size(), -1), first_result(from.computes.size(), -1);
  const auto move_to_made = [&](int& v) { v = v < 0 ? -1 : made[v]; };
  for (size_t v = 0; v < from.values.size(); ++v) {
    if (!needs.needed[v]) continue;
    Value value = from.values[v];
    for (int& part : value.parts) move_to_made(part);
    if (needs.is_input[v]) {
      const bool is_of_file = value.kind == ValueKind::input;
      made[v] = out.add_input(is_of_file ? from.inputs[value.index]
                                         : ProgramInput{value_name(value, static_cast<int>(v)), value.type, false, false});
      if (!is_of_file) value.like = from.values[v].like = -1;
    } else if (value.kind == ValueKind::constant) {
      made[v] = out.add_constant(std::move(from.constants[value.index]));
    } else if (value.kind == ValueKind::compute) {
      int& first = first_result[value.index];
      Compute& compute = from.computes[value.index];
      if (first < 0) {
        for (int& argument : compute.arguments) move_to_made(argument);
        compute.kernel = compute.kernel == kernel ? 0 : -1;
        first = out.add_compute(std::move(compute));
      }
      made[v] = first + value.result;
    } else {
      move_to_made(value.like);
      made[v] = out.add_value(value);
    }
    const auto edited = out.edit_value(made[v]);
    edited->type = value.type;
    edited->name = value.name;
    edited->symbols = value.symbols;
  }
  for (size_t v = 0; v < from.values.size(); ++v) {  // an input may be as large as one that comes later
    if (!needs.is_input[v]) continue;
    const auto edited = out.edit_value(made[v]);
    edited->like = from.values[v].like;
    edited->like_dim = from.values[v].like_dim;
    move_to_made(edited->like);
  }
  ProgramKernel cut = std::move(from.kernels[kernel]);
  each_use(cut, move_to_made);
  const std::string own_name = cut.name;
  const int first = out.add_kernel(std::move(cut));
  for (int result = 0; first + result < static_cast<int>(out.values().size()); ++result) {
    std::string name = own_name + (result == 0 ? "" : "_" + std::to_string(result));
    // Of several values that are the same result, the last is what the operations that were merged into the kernel made of it.
    for (const Value& value : from.values)
      if (value.kind == ValueKind::result && value.index == kernel && value.result == result && !value.name.empty())
        name = value.name;
    out.edit_value(first + result)->name = name;
    out.add_output({name, first + result});
  }
  return out;
}

}  // namespace strew::inline v0
