// Blueprint: everything that the generator decided about an op. It is kept apart from the Op, so that ops with other
// extents can be made of it, and so that it can be shrunk.
//
// Every dim of every tensor refers to a variable (an operand extent, a number of positions, a window extent), so a
// dynamic op can be called with several consistent sets of extents. Static strides are computed from the variables'
// maxima, so elements have different addresses for smaller extents, too.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/op.h"

namespace strew::test {

struct Variable {
  int64_t most = 1;       ///< value in the static op; an instance in which all its dims are dynamic may have less
  int at_most = -1;       ///< number of the variable that this one must not exceed (for a window: its operand dim), or -1
  bool position = false;  ///< the variable counts index positions
};

/// A dim: a variable or, if `variable` is negative, the constant.
struct DimRef {
  int variable = -1;
  int64_t constant = 0;
  bool dynamic = false;  ///< written `?` in the op
};

struct Layout {
  bool contiguous = true;
  std::vector<int> order;       ///< dims from the innermost outwards
  std::vector<int64_t> gap;     ///< per dim: extra elements between its steps, beyond what the inner dims span
  std::vector<bool> reversed;   ///< per dim: negative stride
  std::vector<bool> broadcast;  ///< per dim: stride 0 (inputs only)
  std::vector<bool> dynamic;    ///< per dim: written `?`
  std::vector<int64_t> given;   ///< if not empty: the strides, kDynamic where open; the fields above are then not used
};

struct TensorPlan {
  DType dtype = DType::f32;
  std::vector<DimRef> dims;
  Layout layout;
};

/// A look-up, beside its entry in Scatter::lookups, which has no types and slice sizes. What it makes is one of the blueprint's updates or extras.
struct LookupPlan {
  TensorPlan table, indices;
  std::vector<TensorPlan> more_indices;
  std::vector<DimRef> window;  ///< per dim of the table: extent of the window in it; `dynamic`: the slice size is `?`
};

enum class Shape : uint8_t { slice_update, row, element, general };  ///< the plan kind that the generator aims at

struct Blueprint {
  Shape shape = Shape::general;
  std::vector<Variable> variables;
  Op frame;  ///< the op without tensor types and slice sizes: dimension numbers, combiner, policy, hints, extra kinds
  std::vector<TensorPlan> operands, updates, results, extras;  ///< gather: one operand, one result, no updates
  TensorPlan indices;
  std::vector<TensorPlan> more_indices;
  std::vector<LookupPlan> lookups;  ///< one per look-up of the frame
  std::vector<DimRef> window;       ///< per operand dim: extent of the window in it (1 where inserted, collapsed or batching)
  std::vector<bool> dynamic_slice;  ///< gather: slice_sizes[d] is `?`
};

/// The op as it is compiled, with `?` where the blueprint says dynamic.
Op make_op(const Blueprint& blueprint);
/// The same op with all extents and strides known. `values`: one per variable, each at most its maximum.
Op instantiate(const Blueprint& blueprint, const std::vector<int64_t>& values);
std::vector<int64_t> maxima(const Blueprint& blueprint);
/// Is every dim that uses variable v dynamic? Then its value may change from call to call.
bool is_free(const Blueprint& blueprint, int v);
/// Binds what look-ups would make.
void drop_lookups(Blueprint& blueprint);
/// All tensors of the blueprint.
std::vector<TensorPlan*> tensors_of(Blueprint& blueprint);
std::vector<const TensorPlan*> tensors_of(const Blueprint& blueprint);

std::vector<int64_t> strides_for(const Layout& layout, const std::vector<int64_t>& dims);

}  // namespace strew::test
