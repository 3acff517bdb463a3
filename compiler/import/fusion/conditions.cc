// Which extents a kernel compares (ArgumentUse::equal_extents) says where they come from, not what computes them: an elementwise result is as
// large as its arguments, a transpose has their extents in another order, and a gather's result has the dims of its indices. The same holds of
// the extents that a program computes with (ValueKind::extent). Each extent is therefore taken of the value that it comes from, before anything
// is fused. Otherwise the condition would be a reader of the updates, and would keep the operations that compute them, and the
// gather before those, out of the kernel. A condition between an extent and itself holds, and is dropped. Tested by
// tests/unit/compiler/import/fusion/fusion_update_test.cc.
#include "compiler/import/fusion/steps.h"
#include "compiler/op/access_dims.h"

namespace strew::inline v0::fusion {
namespace {

/// Does the value's type come from a chain that `step_back` follows to its end?
bool is_followed(const Program& program, int value) {
  const Compute* const compute = program.compute_of(value);
  return compute == nullptr || compute->as<MapOp>() != nullptr;
}

/// Moves dim `dim` of `value` to the equal dim of the argument of a transpose that gives it. Returns whether there is one.
bool step_over_transpose(const Program& program, int& value, int& dim) {
  const Compute* const transpose = program.compute_of<TransposeOp>(value);
  if (transpose == nullptr) return false;
  dim = static_cast<int>(transpose->as<TransposeOp>()->permutation[dim]);
  value = transpose->arguments[0];
  return true;
}

/// Moves dim `dim` of `value` to the equal dim of a value that it is made of. Returns whether there is one.
bool step_back(const Program& program, int& value, int& dim) {
  if (step_over_transpose(program, value, dim)) return true;
  const size_t rank = program.type(value).dims.size();
  if (const Compute* const map = program.compute_of<MapOp>(value)) {
    int best = -1;
    for (const int argument : map->arguments) {
      if (program.type(argument).dims.size() != rank) continue;
      if (best < 0 || (!is_followed(program, best) && is_followed(program, argument))) best = argument;
    }
    if (best >= 0) value = best;
    return best >= 0;
  }
  const ProgramKernel* const kernel = program.kernel_of(value);
  const Gather* const gather = kernel == nullptr ? nullptr : std::get_if<Gather>(&*kernel->op);
  if (gather == nullptr) return false;
  const AccessDims& access = kernel->op.access();
  if (static_cast<size_t>(dim) >= access.slices.size()) return false;
  const AccessDims::SlicesDim& from = access.slices[dim];
  if (from.indices_dim < 0) return false;
  const int indices = kernel->tensor(indices_slot(kernel->op));
  if (program.type(indices).dims.size() != gather->indices.dims.size()) return false;
  value = indices;
  dim = static_cast<int>(from.indices_dim);
  return true;
}

void follow(const Program& program, int& value, int& dim) {
  while (step_back(program, value, dim)) {
  }
}

}  // namespace

void follow_extents(Program& program) {
  for (int v = 0; v < static_cast<int>(program.values().size()); ++v) {
    if (program.value(v).kind != ValueKind::extent) continue;
    int like = program.value(v).like, dim = program.value(v).like_dim;
    follow(program, like, dim);
    const auto value = program.edit_value(v);
    value->like = like;
    value->like_dim = dim;
  }
  program.find_last_kernels();
  for (int k = 0; k < static_cast<int>(program.kernels().size()); ++k) {
    const auto kernel = program.edit_kernel(k);
    std::erase_if(kernel->arguments, [&](KernelArgument& argument) {
      if (argument.use != ArgumentUse::equal_extents) return false;
      follow(program, argument.value, argument.dim);
      follow(program, argument.other, argument.other_dim);
      return argument.value == argument.other && argument.dim == argument.other_dim;
    });
  }
}

}  // namespace strew::inline v0::fusion
