// Operators whose index has one dim, for rows along a dim: index_add, index_copy, index_fill and index_reduce.
#include <ATen/ops/maximum.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/elements.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// The dims of a tensor with one of them in front.
struct InFront {
  InFront(const at::Tensor& tensor, int64_t dim) : rank(tensor.dim()) {
    dims[0] = tensor.size(dim);
    strides[0] = tensor.stride(dim);
    size_t at = 1;
    for (int64_t d = 0; d < rank; ++d) {
      if (d == dim) continue;
      dims[at] = tensor.size(d);
      strides[at++] = tensor.stride(d);
    }
  }
  std::array<int64_t, kMostDims> dims, strides;
  int64_t rank;
};

/// Whether the extents are the same but for one dim.
bool same_but(const at::Tensor& one, const at::Tensor& other, int64_t dim) {
  if (one.dim() != other.dim()) return false;
  for (int64_t d = 0; d < one.dim(); ++d)
    if (d != dim && one.size(d) != other.size(d)) return false;
  return true;
}

/// What all of them ask of their arguments but dtypes. `source`: null for a value.
Reason accepted(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor* source,
                int64_t& axis, Written& written) {
  if (const Reason reason = source != nullptr ? plain_all(self, index, *source) : plain_all(self, index); reason != Reason::none)
    return reason;
  if (source != nullptr && source->scalar_type() != self.scalar_type()) return Reason::dtype;
  const std::optional<int64_t> found = dim_of(self, dim);
  if (!found || index.dim() != 1 || static_cast<size_t>(self.dim()) > kMostDims) return Reason::shape;
  axis = *found;
  if (source == nullptr) return written_by(target, self, written, index);
  if (!same_but(self, *source, axis) || source->size(axis) != index.numel()) return Reason::shape;
  return written_by(target, self, written, index, *source);
}

/// `scale`: the factor of `what`, or null.
Reason scatter_rows(const Written& written, const at::Tensor& self, int64_t axis, const at::Tensor& index,
                    const at::Tensor& source, Definition what, RaiseBounds raise, const at::Tensor* scale = nullptr) {
  const InFront result(*written.tensor, axis), operand(self, axis);
  Tensors tensors;
  tensors.add_result_view(*written.tensor, result.dims.data(), result.strides.data(), result.rank);
  if (written.init == Init::copy) tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  tensors.add_input(index);
  what.form = Form::scatter_rows;
  what.init = written.init;
  // One value for all has strides of 0.
  const bool is_value = source.dim() == 0;
  InFront updates = is_value ? result : InFront(source, axis);
  if (is_value) updates.dims[0] = index.numel();
  if (is_value) updates.strides.fill(0);
  tensors.add_view(source, updates.dims.data(), updates.strides.data(), updates.rank);
  if (scale != nullptr) tensors.add_input(*scale);
  return run(what, tensors, {raise, axis, self.sizes()[static_cast<size_t>(axis)]});
}

/// PyTorch makes a scatter_add of these, which rounds sums of 16 bits once and has other words for a bad index. In other calls every addition is rounded.
bool is_scatter_add(const at::Tensor& self, int64_t axis, const at::Tensor& index) {
  return self.dim() > 1 && (axis == 0 || axis == self.dim() - 1) && index.scalar_type() == c10::ScalarType::Long;
}

void raise_index_copy(int64_t value, int64_t dim, int64_t size, const std::string& strew) {
  TORCH_CHECK_INDEX(false, "index_copy_(): index ", value, " is out of bounds for dimension ", dim, " with size ", size, strew);
}

/// Whether PyTorch's maximum takes the second one of two zeros in vectors of 64 bytes, and keeps the first one elsewhere.
bool has_vectors_of_64_bytes() {
  static const bool has = [] {
    constexpr int64_t kFloats = 16;
    const auto takes_second = [](int64_t count) {
      const at::Tensor first = value_of(c10::ScalarType::Float, -0.0).expand({count}).contiguous();
      return at::maximum(first, first.abs()).signbit().logical_not();
    };
    return takes_second(kFloats).all().item<bool>() && !takes_second(kFloats - 1).any().item<bool>();
  }();
  return has;
}

/// Which of two zeros is the larger one: it depends on where PyTorch's loops over vectors, row by row, begin and end. Nothing where they end within a row.
std::optional<bool> takes_update_of_zeros(const at::Tensor& result, int64_t axis, const at::Tensor& source) {
  constexpr int64_t kVector = 64, kLeastOfThreads = 32768;
  const int64_t row = result.numel() / result.size(axis), bytes = row * static_cast<int64_t>(result.element_size());
  bool has_neighbours = false;  // elements of a row that are neighbours in memory
  for (int64_t d = 0; d < result.dim(); ++d)
    has_neighbours = has_neighbours || (d != axis && result.size(d) > 1 && result.stride(d) == 1);
  if (!has_neighbours) return false;
  if (!has_vectors_of_64_bytes()) return std::nullopt;
  if (bytes < kVector) return false;
  if (axis == 0 && result.is_contiguous() && source.is_contiguous() && bytes % kVector == 0 && row < kLeastOfThreads) return true;
  return std::nullopt;
}

std::optional<Combiner> combiner_of(std::string_view reduce, const at::Tensor& result, int64_t axis, const at::Tensor& source) {
  if (reduce == "prod") return Combiner::mul;
  if (reduce == "mean") return Combiner::add;
  if (reduce != "amax" && reduce != "amin") return std::nullopt;
  const bool is_max = reduce == "amax";
  if (!result.is_floating_point()) return is_max ? Combiner::max : Combiner::min;
  const std::optional<bool> takes_update = takes_update_of_zeros(result, axis, source);
  if (!takes_update) return std::nullopt;
  if (*takes_update) return is_max ? Combiner::max_or_update : Combiner::min_or_update;
  return is_max ? Combiner::max_or_kept : Combiner::min_or_kept;
}

bool is_one(const c10::Scalar& alpha) {
  return alpha.isIntegral(false) ? alpha.toLong() == 1 : alpha.isFloatingPoint() && alpha.toDouble() == 1;
}

}  // namespace

Reason index_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                 const c10::Scalar& alpha) {
  // Complex numbers are multiplied by alpha even if that is 1, which changes infinities and the signs of zeros.
  if (!adds_alike(self.scalar_type()) || self.is_complex()) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  const bool is_float = self.is_floating_point(), is_narrow = is_narrow_float(self.scalar_type());
  if (alpha.isComplex() || alpha.isBoolean() || (!is_float && !alpha.isIntegral(false))) return Reason::argument;
  if (is_narrow && !fits_narrow(self.scalar_type(), alpha)) return Reason::argument;
  int64_t axis = 0;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, &source, axis, written); reason != Reason::none) return reason;
  Definition what;
  what.combiner = Combiner::add;
  if (!is_one(alpha)) {
    // PyTorch's sums of rows use fused multiply-adds, those of single elements do not. Of rows of 16 bits only its loop over vectors does.
    if (is_narrow && self.dim() > 1) return Reason::dtype;
    what.factor = Factor::scalar;
    what.is_fused = is_float && self.dim() > 1;
    const at::Tensor scale = value_of(self.scalar_type(), alpha);
    return scatter_rows(written, self, axis, index, source, what, raise_in_self, &scale);
  }
  const bool is_scatter = is_scatter_add(self, axis, index);
  what.accumulates_wide = is_scatter && is_narrow;
  return scatter_rows(written, self, axis, index, source, what, is_scatter ? raise_runtime_error : raise_in_self);
}

Reason index_copy(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source) {
  if (!moves_alike(self.scalar_type())) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  int64_t axis = 0;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, &source, axis, written); reason != Reason::none) return reason;
  return scatter_rows(written, self, axis, index, source, {}, raise_index_copy);
}

Reason index_fill(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const c10::Scalar& value) {
  if (!moves_alike(self.scalar_type()) || (value.isComplex() && !self.is_complex())) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  int64_t axis = 0;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, nullptr, axis, written); reason != Reason::none) return reason;
  Definition what;
  what.takes_negative = true;
  return scatter_rows(written, self, axis, index, value_of(self.scalar_type(), value), what, raise_index_error);
}

Reason index_reduce(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& source,
                    std::string_view reduce, bool include_self) {
  if (!adds_alike(self.scalar_type()) || self.is_complex()) return Reason::dtype;
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (!include_self && index.scalar_type() != c10::ScalarType::Long) return Reason::index_dtype;
  const bool is_mean = reduce == "mean";
  // PyTorch counts in the dtype, and not all of its sums of 16 bits can count to more.
  constexpr int64_t kMostCounted = 255;
  if (is_mean && is_narrow_float(self.scalar_type()) && index.numel() > kMostCounted) return Reason::dtype;
  int64_t axis = 0;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, &source, axis, written); reason != Reason::none) return reason;
  const std::optional<Combiner> combiner = combiner_of(reduce, *written.tensor, axis, source);
  if (!combiner) return Reason::layout;
  if (!include_self) {  // PyTorch fills the rows first, by index_fill_, which has another error
    const int64_t size = self.size(axis);
    if (const std::optional<int64_t> bad = first_outside(index, -size, size))
      raise_index_error(index[*bad].item<int64_t>(), axis, size,
                        " (strew: index " + std::to_string(*bad) + "; nothing was written)");
    const at::Tensor first = value_of(self.scalar_type(), neutral(*combiner, self));
    if (const Reason reason = scatter_rows(written, self, axis, index, first, {}, raise_in_self); reason != Reason::none)
      return reason;
    written.init = Init::in_place;
  }
  Definition what;
  what.combiner = *combiner;
  if (const Reason reason = scatter_rows(written, self, axis, index, source, what, raise_in_self); reason != Reason::none)
    return reason;
  if (is_mean) divide_by_counts(*written.tensor, axis, index, true, include_self);
  return Reason::none;
}

}  // namespace strew::aten
