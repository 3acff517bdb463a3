// See uses.h.
#include "compiler/program/uses.h"

#include <cstddef>
#include <map>
#include <tuple>

namespace strew::inline v0 {
namespace {

/// Of each value the first one that is the same input or the same result, whose tensor is the same.
std::vector<int> firsts_of(const Program& imported) {
  std::map<std::tuple<ValueKind, int, int>, int> first;
  std::vector<int> out;
  for (size_t v = 0; v < imported.values().size(); ++v) {
    const Value& value = imported.value(static_cast<int>(v));
    const bool has_tensor = value.kind == ValueKind::input || value.kind == ValueKind::result || value.kind == ValueKind::compute;
    const auto number = static_cast<int>(v);
    out.push_back(has_tensor ? first.try_emplace({value.kind, value.index, value.result}, number).first->second : number);
  }
  return out;
}

}  // namespace

ProgramUses uses_of(const Program& imported) {
  ProgramUses out{firsts_of(imported), std::vector<int>(imported.values().size(), 0)};
  const auto reads = [&](int v) {
    if (v >= 0) ++out.readers[out.first[v]];
  };
  for (const ProgramKernel& kernel : imported.kernels())
    for (const KernelArgument& argument : kernel.arguments) {
      if (argument.use == ArgumentUse::equal_extents) continue;
      reads(argument.value);
      reads(argument.other);
    }
  for (const Value& value : imported.values())
    for (const int v : value.parts) reads(v);
  for (const Compute& compute : imported.computes())
    for (const int v : compute.arguments)
      if (compute.disposition == ComputeDisposition::interpreted) reads(v);
  for (const ProgramOutput& output : imported.outputs()) reads(output.value);
  return out;
}

ProgramNeeds needs_of(const Program& program) {
  ProgramNeeds out{std::vector<bool>(program.values().size(), false), std::vector<bool>(program.kernels().size(), false)};
  std::vector<int> open;
  const auto need = [&](int v) {
    if (out.values[v]) return;
    out.values[v] = true;
    open.push_back(v);
  };
  for (const ProgramOutput& output : program.outputs()) need(output.value);
  while (!open.empty()) {
    const Value& value = program.value(open.back());
    open.pop_back();
    each_source(program.parts(), value, need);
    if (value.kind != ValueKind::result || out.kernels[value.index]) continue;
    out.kernels[value.index] = true;
    each_use(program.kernel(value.index), need);
  }
  return out;
}

}  // namespace strew::inline v0
