// segment_reduce and its gradient. The numbers of the segments of rows make it a scatter, or a gather.
#include <ATen/EmptyTensor.h>
#include <ATen/core/DimVector.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// Rows one after the other, of `outer` blocks, each of which has as many segments.
struct Segments {
  int64_t outer = 1, per_block = 0, rows_per_block = 0, inner = 1;
  int64_t first = 0, rows = 0;  ///< of all rows, those that are in a segment; of several blocks these are all
  at::Tensor lengths;           ///< of each segment, int64
  at::Tensor of_row;            ///< of each of these rows, the number of its segment

  int64_t count() const { return outer * per_block; }
};

/// Copies what lengths or offsets say into `out.lengths`. False if the segments are not one after the other within each block.
template <class T>
bool read_lengths(const T* given, bool are_offsets, bool is_complete, Segments& out) {
  auto* const lengths = static_cast<int64_t*>(out.lengths.mutable_data_ptr());
  out.first = are_offsets ? given[0] : 0;
  for (int64_t block = 0; block < out.outer; ++block) {
    const T* const own = given + block * (out.per_block + (are_offsets ? 1 : 0));
    const int64_t begin = are_offsets ? own[0] : 0;
    int64_t at = begin;
    for (int64_t k = 0; k < out.per_block; ++k) {
      if (at < 0 || (are_offsets && own[k + 1] < own[k])) return false;
      const int64_t length = are_offsets ? int64_t{own[k + 1]} - own[k] : own[k];
      if (length < 0 || length > out.rows_per_block - at) return false;
      lengths[block * out.per_block + k] = length;
      at += length;
    }
    const bool is_whole = begin == 0 && at == out.rows_per_block;
    if (!is_whole && (is_complete || out.outer > 1)) return false;
    out.rows += at - begin;
  }
  return true;
}

/// `is_complete`: every row has to be in a segment.
Reason read(const at::Tensor& data, const std::optional<at::Tensor>& lengths, const std::optional<at::Tensor>& offsets,
            int64_t axis, bool is_complete, Segments& out) {
  const bool are_offsets = offsets && offsets->defined(), are_lengths = lengths && lengths->defined();
  if (are_offsets == are_lengths) return Reason::argument;
  const at::Tensor& given = are_offsets ? *offsets : *lengths;
  if (const Reason reason = plain_all(data, given); reason != Reason::none) return reason;
  if (!data.is_floating_point() || !adds_alike(data.scalar_type())) return Reason::dtype;
  if (given.scalar_type() != c10::ScalarType::Long && given.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (!data.is_contiguous() || !given.is_contiguous()) return Reason::layout;
  const int64_t at = given.dim() - 1;
  if (dim_of(data, axis) != at) return Reason::shape;
  const auto outer = static_cast<size_t>(at);
  if (data.sizes().slice(0, outer) != given.sizes().slice(0, outer)) return Reason::shape;
  out.outer = c10::multiply_integers(data.sizes().slice(0, outer));
  out.inner = c10::multiply_integers(data.sizes().slice(outer + 1));
  out.rows_per_block = data.size(at);
  out.per_block = given.size(at) - (are_offsets ? 1 : 0);
  if (out.per_block <= 0) return Reason::empty;
  out.lengths = at::Tensor(at::detail::empty_cpu({out.count()}, c10::ScalarType::Long));
  const bool is_read = given.scalar_type() == c10::ScalarType::Long
                           ? read_lengths(static_cast<const int64_t*>(given.const_data_ptr()), are_offsets, is_complete, out)
                           : read_lengths(static_cast<const int32_t*>(given.const_data_ptr()), are_offsets, is_complete, out);
  if (!is_read) return Reason::shape;
  if (out.rows == 0) return Reason::empty;
  out.of_row = at::Tensor(at::detail::empty_cpu({out.rows}, c10::ScalarType::Long));
  const auto* const each = static_cast<const int64_t*>(out.lengths.const_data_ptr());
  auto* numbers = static_cast<int64_t*>(out.of_row.mutable_data_ptr());
  for (int64_t k = 0; k < out.count(); ++k) numbers = std::fill_n(numbers, each[k], k);
  return Reason::none;
}

/// The result's dims: those of the data, with a segment in the place of its rows.
at::DimVector reduced_dims(const at::Tensor& data, int64_t axis, const Segments& segments) {
  at::DimVector dims(data.sizes().begin(), data.sizes().end());
  dims[static_cast<size_t>(*dim_of(data, axis))] = segments.per_block;
  return dims;
}

struct Reduction {
  Combiner combiner;
  double first;  ///< what a segment without rows holds
};
std::optional<Reduction> reduction_of(std::string_view reduce) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (reduce == "sum" || reduce == "mean") return Reduction{Combiner::add, 0};
  if (reduce == "prod") return Reduction{Combiner::mul, 1};
  if (reduce == "max" || reduce == "amax") return Reduction{Combiner::max_or_kept, -kInfinity};
  if (reduce == "min" || reduce == "amin") return Reduction{Combiner::min_or_kept, kInfinity};
  return std::nullopt;
}

/// What the sums are divided by, one for each segment. `of_empty`: for those without rows.
at::Tensor divisors(const Segments& segments, c10::ScalarType dtype, double of_empty) {
  const at::Tensor result = segments.lengths.to(dtype);
  return result.masked_fill(segments.lengths.eq(0), of_empty).view({segments.count(), 1});
}

void raise_segment(int64_t value, int64_t, int64_t, const std::string& strew) {
  TORCH_INTERNAL_ASSERT(false, "segment_reduce has no segment ", value, strew);
}

}  // namespace

Reason segment_reduce(Target& target, const at::Tensor& data, std::string_view reduce, const std::optional<at::Tensor>& lengths,
                      const std::optional<at::Tensor>& indices, const std::optional<at::Tensor>& offsets, int64_t axis,
                      bool unsafe, const std::optional<c10::Scalar>& initial) {
  const std::optional<Reduction> reduction = reduction_of(reduce);
  if (!reduction || indices || (initial && initial->isComplex())) return Reason::argument;
  Segments segments;
  const bool is_complete = !unsafe && lengths && lengths->defined();
  if (const Reason reason = read(data, lengths, offsets, axis, is_complete, segments); reason != Reason::none) return reason;
  if (segments.first != 0 && dim_of(data, axis) != 0) return Reason::shape;
  const at::DimVector dims = reduced_dims(data, axis, segments);
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu(dims, data.scalar_type())));
  const bool begins_at_zero = reduction->combiner == Combiner::add && !initial;
  if (!begins_at_zero) result.fill_(initial ? *initial : c10::Scalar(reduction->first));
  const std::array<int64_t, 2> sums{segments.count(), segments.inner}, rows{segments.rows, segments.inner},
      strides{segments.inner, 1};
  const at::Tensor named = segments.first == 0 ? data : data.narrow(0, segments.first, segments.rows);
  Tensors tensors;
  tensors.add_result_view(result, sums.data(), strides.data(), 2);
  tensors.add_input(segments.of_row);
  tensors.add_view(named, rows.data(), strides.data(), 2);
  Definition what;
  what.combiner = reduction->combiner;
  if (begins_at_zero) what.init = Init::zeros;
  if (const Reason reason = run(what, tensors, {raise_segment, 0, segments.count()}); reason != Reason::none) return reason;
  if (reduce == "mean")
    result.view(sums).div_(divisors(segments, data.scalar_type(), initial ? 1 : std::numeric_limits<double>::quiet_NaN()));
  return Reason::none;
}

Reason segment_reduce_backward(Target& target, const at::Tensor& grad, const at::Tensor& output, const at::Tensor& data,
                               std::string_view reduce, const std::optional<at::Tensor>& lengths,
                               const std::optional<at::Tensor>& offsets, int64_t axis, const std::optional<c10::Scalar>&) {
  if (reduce != "sum" && reduce != "mean") return Reason::argument;
  if (const Reason reason = plain_all(grad, output); reason != Reason::none) return reason;
  Segments segments;
  if (const Reason reason = read(data, lengths, offsets, axis, true, segments); reason != Reason::none) return reason;
  if (grad.scalar_type() != data.scalar_type()) return Reason::dtype;
  const at::DimVector dims = reduced_dims(data, axis, segments);
  if (grad.sizes() != dims || output.sizes() != dims) return Reason::shape;
  at::Tensor of_segments = grad.contiguous().view({segments.count(), segments.inner});
  if (reduce == "mean") of_segments = of_segments.div(divisors(segments, data.scalar_type(), 1));
  const at::Tensor& result = target.keep(at::Tensor(at::detail::empty_cpu(data.sizes(), data.scalar_type())));
  const std::array<int64_t, 2> rows{segments.rows, segments.inner}, strides{segments.inner, 1};
  Tensors tensors;
  tensors.add_result_view(result, rows.data(), strides.data(), 2);
  tensors.add_input(of_segments);
  tensors.add_input(segments.of_row);
  return run({Form::gather}, tensors, {raise_segment, 0, segments.count()});
}

}  // namespace strew::aten
