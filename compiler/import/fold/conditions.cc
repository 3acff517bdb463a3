// Which extents a kernel compares (ImportedKernel::equal_extents) says where they come from, not what computes them: an elementwise result is as
// large as its arguments, a transpose has their extents in another order, and a gather's result has the dims of its indices. The same holds of
// the extents that a program computes with (ValueKind::extent), of transposes. Each extent is therefore taken of the value that it comes from,
// before the folds run. Otherwise the condition would be a reader of the updates, and would keep the operations that compute them, and the
// gather before those, out of the kernel. A condition between an extent and itself holds, and is dropped. Tested by
// tests/unit/compiler/import/fold/fold_update_test.cc.
#include "compiler/import/fold/folds.h"
#include "compiler/op/access_dims.h"

namespace strew::inline v0::fold {
namespace {

const Value& at(const Imported& imported, int value) { return imported.values[static_cast<size_t>(value)]; }

/// The transpose that gives the value; null: it is none's.
const Compute* transpose_of(const Imported& imported, const Value& value) {
  if (value.kind != ValueKind::compute) return nullptr;
  const Compute& compute = imported.computes[static_cast<size_t>(value.index)];
  return compute.op == ComputeOp::transpose ? &compute : nullptr;
}

/// Does the value's type come from a chain that `origin` follows to its end?
bool is_followed(const Imported& imported, const Value& value) {
  return value.kind != ValueKind::compute || imported.computes[static_cast<size_t>(value.index)].op == ComputeOp::map;
}

/// Moves dim `dim` of `value` to the equal dim of a value that it is made of. Returns whether there is one.
bool step_back(const Imported& imported, int& value, int& dim) {
  const Value& v = at(imported, value);
  const size_t rank = v.type.dims.size();
  if (const Compute* transpose = transpose_of(imported, v)) {
    dim = static_cast<int>(transpose->dims[static_cast<size_t>(dim)]);
    value = transpose->arguments[0];
    return true;
  }
  if (v.kind == ValueKind::compute && is_followed(imported, v)) {
    int best = -1;
    for (const int argument : imported.computes[static_cast<size_t>(v.index)].arguments) {
      if (at(imported, argument).type.dims.size() != rank) continue;
      if (best < 0 || (!is_followed(imported, at(imported, best)) && is_followed(imported, at(imported, argument))))
        best = argument;
    }
    if (best >= 0) value = best;
    return best >= 0;
  }
  if (v.kind != ValueKind::result) return false;
  const ImportedKernel& kernel = imported.kernels[static_cast<size_t>(v.index)];
  const Gather* gather = std::get_if<Gather>(&*kernel.op);
  if (gather == nullptr) return false;
  const AccessDims access(*gather);
  if (static_cast<size_t>(dim) >= access.slices.size()) return false;
  const AccessDims::SlicesDim& from = access.slices[static_cast<size_t>(dim)];
  if (from.indices_dim < 0) return false;
  const int indices = kernel.arguments[indices_slot(kernel.op)];
  if (at(imported, indices).type.dims.size() != gather->indices.dims.size()) return false;
  value = indices;
  dim = static_cast<int>(from.indices_dim);
  return true;
}

}  // namespace

void follow_extents(Imported& imported) {
  for (Value& value : imported.values) {
    while (value.kind == ValueKind::extent) {
      const Compute* const transpose = transpose_of(imported, at(imported, value.like));
      if (transpose == nullptr) break;
      value.like_dim = static_cast<int>(transpose->dims[static_cast<size_t>(value.like_dim)]);
      value.like = transpose->arguments[0];
    }
  }
  for (ImportedKernel& kernel : imported.kernels) {
    for (EqualExtents& equal : kernel.equal_extents) {
      while (step_back(imported, equal.value, equal.dim)) {
      }
      while (step_back(imported, equal.other, equal.other_dim)) {
      }
    }
    std::erase_if(kernel.equal_extents, [](const EqualExtents& e) { return e.value == e.other && e.dim == e.other_dim; });
  }
}

}  // namespace strew::inline v0::fold
