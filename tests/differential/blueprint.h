// Blueprint: everything the generator decided about an op, kept apart so that it can be made concrete more than once and shrunk.
//
// Every dim of every tensor refers to a variable (an operand extent, a number of positions, a window extent), so dynamic ops can be
// called with several consistent sets of extents. Static strides are computed from the variables' maxima and therefore stay
// injective for smaller extents.
#pragma once

#include <cstdint>
#include <vector>

#include "strew/op.h"

namespace strew::test {

struct Variable {
  int64_t most = 1;       ///< value in the static op; an instance with everything dynamic may take less
  int at_most = -1;       ///< variable this one must not exceed (a window its operand dim), or -1
  bool position = false;  ///< counts index positions
};

/// One dim: a variable or, with variable < 0, the constant.
struct DimRef {
  int variable = -1;
  int64_t constant = 0;
  bool dynamic = false;  ///< written `?` in the op
};

struct Layout {
  bool contiguous = true;
  std::vector<int> order;       ///< dims from the innermost outwards
  std::vector<int64_t> gap;     ///< per dim: extra elements between its steps, on top of what is inside
  std::vector<bool> reversed;   ///< per dim: negative stride
  std::vector<bool> broadcast;  ///< per dim: stride 0 (inputs only)
  std::vector<bool> dynamic;    ///< per dim: written `?`
  std::vector<int64_t> given;   ///< if not empty: the strides themselves, kDynamic where open; order, gap, … are then not used
};

struct TensorPlan {
  DType dtype = DType::f32;
  std::vector<DimRef> dims;
  Layout layout;
};

enum class Shape : uint8_t { slice_update, row, element, general };  ///< which plan kind the generator aims at

struct Blueprint {
  Shape shape = Shape::general;
  std::vector<Variable> variables;
  Op frame;  ///< the op without tensor types and slice sizes: dimension numbers, combiner, policy, hints, extra kinds
  std::vector<TensorPlan> operands, updates, results, extras;  ///< gather: one operand, one result, no updates
  TensorPlan indices;
  std::vector<DimRef> window;       ///< per operand dim: extent of the window in it (1 where inserted, collapsed or batching)
  std::vector<bool> dynamic_slice;  ///< gather: slice_sizes[d] is `?`
};

/// The op as compiled, with `?` where the blueprint says dynamic.
Op make_op(const Blueprint& blueprint);
/// The same op with all extents and strides known. `values`: one per variable, each <= its maximum.
Op instantiate(const Blueprint& blueprint, const std::vector<int64_t>& values);
std::vector<int64_t> maxima(const Blueprint& blueprint);
/// Is every dim that uses variable v dynamic, so that its value may change from call to call?
bool is_free(const Blueprint& blueprint, int v);
/// All tensors, for walks.
std::vector<TensorPlan*> tensors_of(Blueprint& blueprint);
std::vector<const TensorPlan*> tensors_of(const Blueprint& blueprint);

std::vector<int64_t> strides_for(const Layout& layout, const std::vector<int64_t>& dims);

}  // namespace strew::test
