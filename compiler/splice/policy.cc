// Tested by tests/unit/compiler/splice/splice_test.cc.
#include "compiler/splice/policy.h"

#include <algorithm>

#include "strew/forms.h"

namespace strew::inline v0 {
namespace {

/// Where the number stands in the list; -1: it does not.
int place_of(const std::vector<int>& list, int number) {
  const auto found = std::find(list.begin(), list.end(), number);
  return found == list.end() ? -1 : static_cast<int>(found - list.begin());
}

std::vector<std::pair<int, int>> in_place(const Program& program, const Part& part) {
  std::vector<std::pair<int, int>> out;
  std::vector<int> taken;
  for (size_t o = 0; o < part.outputs.size(); ++o) {
    const Value& value = program.value(part.outputs[o]);
    const ProgramKernel* const kernel = program.kernel_of(part.outputs[o]);
    if (kernel == nullptr || !is_scatter(kernel->op) || static_cast<size_t>(value.result) >= kernel->tensors().size()) continue;
    const int operand = kernel->tensor(static_cast<size_t>(value.result));
    const int input = place_of(part.inputs, operand);
    if (input < 0 || place_of(taken, input) >= 0 || !(program.type(operand) == value.type)) continue;
    taken.push_back(input);
    out.emplace_back(static_cast<int>(o), input);
  }
  return out;
}

}  // namespace

Expected<Chosen> choose_parts(const Program& program, const SpliceOptions& options) {
  PartitionOptions partition;
  partition.needs_kernel = true;
  partition.kernels_only = options.level == SpliceLevel::operators;
  STREW_ASSIGN(std::vector<Part> parts, partitions(program, partition));
  Chosen out;
  for (Part& part : parts) {
    std::vector<std::pair<int, int>> pairs = in_place(program, part);
    out.parts.push_back({std::move(part), std::move(pairs)});
  }
  for (const Opaque& opaque : program.opaques())
    if (opaque.indexed) out.kept.push_back({opaque.operation, opaque.location, opaque.reason});
  return out;
}

}  // namespace strew::inline v0
