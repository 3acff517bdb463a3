// See specialise.h. Compares each buffer with the type of its slot, in binding order, and writes its extents and
// strides into a copy of the op.
//
// Tensors without a slot take their numbers from others: operands of a scatter with init in_place or fill have their
// results' extents (and with in_place the strides), and a gather's dynamic slice sizes are extents of the result. A
// stride is compared only if it matters: the tensor has elements and the extent is above 1. The slice size 1 of a
// collapsed or batching dim becomes 0 if that dynamic dim is empty, so that constraint C21 still holds and the policy
// decides what happens. Tested by tests/unit/specialise_test.cc.
#include "compiler/op/specialise.h"

#include <algorithm>
#include <string>

#include "base/strides.h"
#include "compiler/op/access_dims.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

class Binder {
 public:
  explicit Binder(std::span<const TensorView> bound) : bound_(bound) {}

  /// Writes the extents and strides of the next buffer into `type`.
  Status bind(Role role, size_t index, TensorType& type) {
    const TensorView& view = bound_[next_++];
    name_ = std::string(name(role)) + "[" + std::to_string(index) + "]";
    declared_ = print(type);
    if (view.dtype != type.dtype) {
      return fail("is bound to dtype " + std::string(name(view.dtype)) + "; expected " + std::string(name(type.dtype)));
    }
    if (view.rank != type.rank()) {
      return fail("is bound to rank " + std::to_string(view.rank) + "; expected " + std::to_string(type.rank()));
    }
    if (view.rank > 0 && view.dims == nullptr) return fail("is bound without dims; expected " + std::to_string(view.rank));
    const size_t rank = type.dims.size();
    for (size_t d = 0; d < rank; ++d) {
      if (view.dims[d] < 0) return mismatch(d, "extent", view.dims[d], "0 or more");
      if (type.dims[d] != kDynamic && type.dims[d] != view.dims[d]) {
        return mismatch(d, "extent", view.dims[d], std::to_string(type.dims[d]));
      }
      type.dims[d] = view.dims[d];
    }
    return bind_strides(view, type);
  }

 private:
  Status fail(const std::string& message) const { return invalid_argument(name_ + " (" + declared_ + ") " + message); }
  Status mismatch(size_t dim, const char* what, int64_t have, const std::string& want) const {
    return fail("is bound to " + std::string(what) + " " + std::to_string(have) + " in dim " + std::to_string(dim) +
                "; expected " + want);
  }

  Status bind_strides(const TensorView& view, TensorType& type) const {
    const bool contiguous = type.strides.empty();
    if (contiguous && view.strides == nullptr) return {};
    int64_t total = 1;
    for (int64_t dim : type.dims) {
      if (__builtin_mul_overflow(total, std::max<int64_t>(dim, 1), &total)) return fail("has more than 2^63-1 elements");
    }
    const std::vector<int64_t> packed = contiguous_strides(type.dims);
    const bool empty = std::find(type.dims.begin(), type.dims.end(), 0) != type.dims.end();
    for (size_t d = 0; d < type.dims.size(); ++d) {
      const int64_t have = view.strides == nullptr ? packed[d] : view.strides[d];
      const int64_t want = contiguous ? packed[d] : type.strides[d];
      const bool felt = !empty && type.dims[d] > 1;
      if (want == kDynamic) {
        if (have == kDynamic) return mismatch(d, "stride", have, "another number");
        type.strides[d] = have;
      } else if (felt && have != want) {
        return mismatch(d, "stride", have, std::to_string(want) + (contiguous ? ", for it is contiguous" : ""));
      }
    }
    return {};
  }

  std::span<const TensorView> bound_;
  size_t next_ = 0;
  std::string name_, declared_;
};

Status bind_all(Binder& binder, Role role, std::vector<TensorType>& types) {
  for (size_t i = 0; i < types.size(); ++i) STREW_TRY(binder.bind(role, i, types[i]));
  return {};
}

Status bind_extras(Binder& binder, std::vector<Extra>& extras) {
  for (size_t i = 0; i < extras.size(); ++i) STREW_TRY(binder.bind(Role::extra, i, extras[i].type));
  return {};
}

/// An operand without a buffer has the extents of its result.
Status follow_result(size_t index, const TensorType& result, InitKind init, TensorType& operand) {
  const std::string name = "operand[" + std::to_string(index) + "]";
  if (operand.dims.size() != result.dims.size()) {
    return invalid_argument(name + " (" + print(operand) + ") has another rank than its result, " + print(result));
  }
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (operand.dims[d] != kDynamic && operand.dims[d] != result.dims[d]) {
      return invalid_argument(name + " (" + print(operand) + ") is bound to extent " + std::to_string(result.dims[d]) +
                              " in dim " + std::to_string(d) + ", its result's; expected " + std::to_string(operand.dims[d]));
    }
    operand.dims[d] = result.dims[d];
  }
  if (init == InitKind::in_place) {
    operand.strides = result.strides;
  } else {
    operand.strides.clear();  // the operand is not read
  }
  return {};
}

Status specialise_scatter(Scatter& s, Binder& binder) {
  STREW_TRY(bind_all(binder, Role::result, s.results));
  if (s.init == InitKind::copy) {
    STREW_TRY(bind_all(binder, Role::operand, s.operands));
  } else {
    for (size_t i = 0; i < s.operands.size() && i < s.results.size(); ++i) {
      STREW_TRY(follow_result(i, s.results[i], s.init, s.operands[i]));
    }
  }
  STREW_TRY(binder.bind(Role::indices, 0, s.indices));
  STREW_TRY(bind_all(binder, Role::updates, s.updates));
  return bind_extras(binder, s.extras);
}

void specialise_slice_sizes(Gather& g, const TensorType& declared_operand) {
  const AccessDims dims(g);
  for (size_t d = 0; d < g.slice_sizes.size() && d < dims.operand.size(); ++d) {
    const AccessDims::OperandDim& dim = dims.operand[d];
    const bool is_window = dim.kind == OperandDimKind::window;
    if (!is_window && declared_operand.dims[d] == kDynamic && g.operand.dims[d] == 0) g.slice_sizes[d] = 0;
    // slices_dim < 0: the op names a wrong dim, which verify() reports.
    if (is_window && dim.slices_dim >= 0 && g.slice_sizes[d] == kDynamic)
      g.slice_sizes[d] = g.result.dims[static_cast<size_t>(dim.slices_dim)];
  }
}

Status specialise_gather(Gather& g, Binder& binder) {
  const TensorType declared_operand = g.operand;
  STREW_TRY(binder.bind(Role::result, 0, g.result));
  STREW_TRY(binder.bind(Role::operand, 0, g.operand));
  STREW_TRY(binder.bind(Role::indices, 0, g.indices));
  STREW_TRY(bind_extras(binder, g.extras));
  specialise_slice_sizes(g, declared_operand);
  return {};
}

}  // namespace

Expected<Op> specialise(const Op& op, std::span<const TensorView> bound) {
  const size_t slots = tensor_slots(op).size();
  if (bound.size() != slots) {
    return invalid_argument(std::to_string(bound.size()) + " tensors are bound; expected " + std::to_string(slots));
  }
  Op out = op;
  Binder binder(bound);
  if (Scatter* scatter = std::get_if<Scatter>(&out)) {
    STREW_TRY(specialise_scatter(*scatter, binder));
  } else {
    STREW_TRY(specialise_gather(std::get<Gather>(out), binder));
  }
  return out;
}

}  // namespace strew::inline v0
