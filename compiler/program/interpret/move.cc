// iota, and the operations that only move elements. Each of these is one walk over the result, in which the source
// address is a sum of one stride per dim. Dims that lie one behind the other in both tensors are one row, which is copied at once. In other rows an
// element, copied by its width, costs a load and a store; elements below 8 bits go through load_element. Tested by tests/unit/compiler/program/interpret/interpret_test.cc.
#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/number.h"
#include "base/strides.h"
#include "compiler/op/message.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

/// Merges dims along which the elements of both tensors lie one behind the other, and leaves out dims of 1, so that rows are as long as they can be.
void merge_dims(Dims& extents, Dims& from_strides, Dims& to_strides) {
  Dims merged, from, to;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    if (!merged.empty() && from.back() == extents[d] * from_strides[d] && to.back() == extents[d] * to_strides[d]) {
      merged.back() *= extents[d];
      from.back() = from_strides[d];
      to.back() = to_strides[d];
      continue;
    }
    merged.push_back(extents[d]);
    from.push_back(from_strides[d]);
    to.push_back(to_strides[d]);
  }
  extents = std::move(merged);
  from_strides = std::move(from);
  to_strides = std::move(to);
}

/// Copies a box of `extents` elements. Addresses and strides count elements.
void copy_box(Dims extents, const Tensor& from, int64_t from_at, Dims from_strides, Tensor& to, int64_t to_at, Dims to_strides) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return;
  merge_dims(extents, from_strides, to_strides);
  const bool is_scalar = extents.empty();
  const Dims outer(extents.begin(), extents.end() - (is_scalar ? 0 : 1));
  const int64_t count = is_scalar ? 1 : extents.back(), from_stride = is_scalar ? 1 : from_strides.back(),
                to_stride = is_scalar ? 1 : to_strides.back();
  Walk reads(outer, from_strides), writes(outer, to_strides);
  for (int64_t row = 0, rows = *element_count(outer); row < rows; ++row, reads.next(), writes.next()) {
    const int64_t read = from_at + reads.offset(), write = to_at + writes.offset();
    const bool is_done = with_width(bits(to.dtype), [&](auto zero) {
      constexpr auto kBytes = static_cast<int64_t>(sizeof zero);
      const std::byte* const source = from.data.data() + read * kBytes;
      std::byte* const target = to.data.data() + write * kBytes;
      if (from_stride == 1 && to_stride == 1) {
        std::memcpy(target, source, static_cast<size_t>(count * kBytes));
        return true;
      }
      for (int64_t i = 0; i < count; ++i) std::memcpy(target + i * to_stride * kBytes, source + i * from_stride * kBytes, kBytes);
      return true;
    });
    for (int64_t i = 0; i < count && !is_done; ++i)
      store_element(to.dtype, to.data.data(), write + i * to_stride,
                    load_element(to.dtype, from.data.data(), read + i * from_stride));
  }
}

Expected<Tensor> make_result(const TensorType& type, Dims dims) {
  STREW_TRY(check_extents(dims, type, "result"));
  return make_tensor(type.dtype, std::move(dims));
}

/// A tensor of the type and `dims`, whose elements lie in `from`, from element `first` on, at `strides`.
Expected<Tensor> moved(const TensorType& type, Dims dims, const Tensor& from, int64_t first, const Dims& strides) {
  STREW_ASSIGN(Tensor to, make_result(type, std::move(dims)));
  copy_box(to.dims, from, first, strides, to, 0, contiguous_strides(to.dims));
  return to;
}

/// The elements of the last argument, which gives the result's dims (takes_shape).
Dims given_shape(const Tensor& shape) {
  Dims dims;
  for (int64_t i = 0; i < shape.elements(); ++i) dims.push_back(integer_at(shape, i));
  return dims;
}

Status check_shape(const Dims& dims, size_t rank) {
  if (dims.size() != rank) return invalid_argument("the shape has {} elements, expected {}", dims.size(), rank);
  for (size_t d = 0; d < rank; ++d)
    if (dims[d] < 0) return invalid_argument("the shape's dim {} is {}, expected 0 or more", d, dims[d]);
  return element_count(dims).status();
}

/// `shape`: the last argument, if the operation takes it; else null.
Expected<Dims> dims_of(const BroadcastOp& op, const TensorType& type, const Dims& from, const Tensor* shape) {
  if (shape == nullptr) return type.dims;
  Dims dims = given_shape(*shape);
  STREW_TRY(check_shape(dims, type.dims.size()));
  for (size_t d = 0; d < from.size(); ++d) {
    int64_t& extent = dims[op.dims[d]];
    if (extent == 1) extent = from[d];
  }
  return dims;
}

/// The dims of a reshape. Open dims are the elements of the shape; without one, a single open dim follows from the number of elements.
Expected<Dims> dims_of(const ReshapeOp& op, const TensorType& type, const Dims& from, const Tensor* shape_tensor) {
  Dims dims = type.dims;
  const Dims shape = shape_tensor != nullptr ? given_shape(*shape_tensor) : Dims();
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d < shape.size() && dims[d] == kDynamic) {
      dims[d] = shape[d] < 0 ? kDynamic : shape[d];
      if (shape[d] == 0 && !op.allows_zero && d < from.size()) dims[d] = from[d];
    }
  }
  Dims others = dims;
  std::erase(others, kDynamic);
  STREW_ASSIGN(const int64_t known, element_count(others));
  STREW_ASSIGN(const int64_t elements, element_count(from));
  for (int64_t& dim : dims)
    if (dim == kDynamic) dim = known == 0 ? 0 : elements / known;
  return dims;
}

Expected<Dims> dims_of(const IotaOp& /*op*/, const TensorType& type, const Dims& /*from*/, const Tensor* shape) {
  Dims dims = shape != nullptr ? given_shape(*shape) : type.dims;
  STREW_TRY(check_shape(dims, type.dims.size()));
  return dims;
}

/// Where a slice or an update begins: `known` plus the rank-0 arguments from `first` on.
Expected<Dims> starts_of(const Dims& known, const Arguments& arguments, size_t first) {
  Dims starts = known;
  for (size_t d = 0; first + d < arguments.size() && d < starts.size(); ++d) {
    const int64_t more = integer_at(*arguments[first + d], 0);
    const std::optional<int64_t> start = checked::add(starts[d], more);
    starts[d] = start.value_or(-1);
    if (starts[d] < 0)
      return invalid_argument("the start in dim {} is {} more than {}, expected 0 or more in all", d, more, known[d]);
  }
  return starts;
}

}  // namespace

Expected<Dims> taken_dims(const Compute& compute, const Dims& from, const Tensor& shape) {
  return std::visit(
      [&](const auto& op) -> Expected<Dims> {
        if constexpr (requires { dims_of(op, compute.results[0], from, &shape); })
          return dims_of(op, compute.results[0], from, &shape);
        else
          return internal_error("an operation that takes no shape has one");
      },
      compute.op);
}

Expected<Tensor> evaluate(const BroadcastOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  STREW_ASSIGN(Dims dims, dims_of(op, type, from.dims, op.takes_shape ? arguments.back() : nullptr));
  STREW_TRY(check_extents(dims, type, "result"));
  const Dims own = contiguous_strides(from.dims);
  Dims strides(dims.size(), 0);
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const auto target = static_cast<size_t>(op.dims[d]);
    if (from.dims[d] == 1) continue;
    if (from.dims[d] != dims[target])
      return invalid_argument("operand dim {} is {}, expected 1 or {}", d, from.dims[d], dims[target]);
    strides[target] = own[d];
  }
  return moved(type, std::move(dims), from, 0, strides);
}

Expected<Tensor> evaluate(const ReshapeOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  STREW_ASSIGN(Dims dims, dims_of(op, type, from.dims, op.takes_shape ? arguments.back() : nullptr));
  STREW_ASSIGN(Tensor to, make_result(type, std::move(dims)));
  if (to.elements() != from.elements())
    return invalid_argument("operand has {} elements, expected {}", from.elements(), to.elements());
  if (to.data.size() > 0) std::memcpy(to.data.data(), from.data.data(), static_cast<size_t>(to.data.size()));
  return to;
}

Expected<Tensor> evaluate(const TransposeOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  const Dims own = contiguous_strides(from.dims);
  Dims dims, strides;
  for (int64_t d : op.permutation) {
    dims.push_back(from.dims[d]);
    strides.push_back(own[d]);
  }
  return moved(type, std::move(dims), from, 0, strides);
}

Expected<Tensor> evaluate(const SliceOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  STREW_ASSIGN(const Dims starts, starts_of(op.starts, arguments, 1));
  Dims dims = type.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == kDynamic) dims[d] = checked::ceil_div(from.dims[d] - starts[d], op.strides[d]);
  STREW_ASSIGN(Tensor to, make_result(type, std::move(dims)));
  const Dims own = contiguous_strides(from.dims);
  Dims strides(own.size());
  int64_t first = 0;
  for (size_t d = 0; d < own.size(); ++d) {
    const int64_t stride = op.strides[d];
    const std::optional<int64_t> reach = checked::mul(std::max<int64_t>(to.dims[d] - 1, 0), stride),
                                 last = reach ? checked::add(starts[d], *reach) : std::nullopt;
    if (to.dims[d] > 0 && (!last || *last >= from.dims[d]))
      return invalid_argument("operand dim {} is {}, which the slice leaves", d, from.dims[d]);
    first += to.elements() > 0 ? starts[d] * own[d] : 0;
    strides[d] = to.dims[d] > 1 ? stride * own[d] : 0;
  }
  copy_box(to.dims, from, first, strides, to, 0, contiguous_strides(to.dims));
  return to;
}

Expected<Tensor> evaluate(const UpdateOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor &into = *arguments[0], &part = *arguments[1];
  STREW_ASSIGN(const Dims starts, starts_of(op.starts, arguments, 2));
  STREW_ASSIGN(Tensor to, make_result(type, into.dims));
  if (to.data.size() > 0) std::memcpy(to.data.data(), into.data.data(), static_cast<size_t>(to.data.size()));
  const Dims own = contiguous_strides(into.dims);
  int64_t first = 0;
  for (size_t d = 0; d < own.size(); ++d) {
    if (starts[d] > into.dims[d] || part.dims[d] > into.dims[d] - starts[d])
      return invalid_argument("operand dim {} is {}, which the update leaves", d, into.dims[d]);
    first += part.elements() > 0 ? starts[d] * own[d] : 0;
  }
  copy_box(part.dims, part, 0, contiguous_strides(part.dims), to, first, own);
  return to;
}

Expected<Tensor> evaluate(const ReverseOp& op, const TensorType& type, const Arguments& arguments) {
  const Tensor& from = *arguments[0];
  Dims strides = contiguous_strides(from.dims);
  int64_t first = 0;
  for (const int64_t dim : op.dims) {
    const auto d = static_cast<size_t>(dim);
    first += (from.dims[d] - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return moved(type, from.dims, from, first, strides);
}

Expected<Tensor> evaluate(const ConcatenateOp& op, const TensorType& type, const Arguments& arguments) {
  const auto along = static_cast<size_t>(op.dim);
  Dims dims = arguments[0]->dims;
  for (size_t i = 1; i < arguments.size(); ++i) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d == along || arguments[i]->dims[d] == dims[d]) continue;
      return invalid_argument("operand {} dim {} is {}, expected {}", i, d, arguments[i]->dims[d], dims[d]);
    }
    const std::optional<int64_t> sum = checked::add(dims[along], arguments[i]->dims[along]);
    if (!sum) return invalid_argument("the sum of the extents does not fit 63 bits");
    dims[along] = *sum;
  }
  STREW_ASSIGN(Tensor to, make_result(type, std::move(dims)));
  const Dims strides = contiguous_strides(to.dims);
  int64_t at = 0;
  for (const Tensor* from : arguments) {
    copy_box(from->dims, *from, 0, contiguous_strides(from->dims), to, at, strides);
    at += from->dims[along] * strides[along];
  }
  return to;
}

Expected<Tensor> evaluate(const IotaOp& op, const TensorType& type, const Arguments& arguments) {
  STREW_ASSIGN(Dims dims, dims_of(op, type, {}, op.takes_shape ? arguments.back() : nullptr));
  STREW_ASSIGN(Tensor to, make_result(type, std::move(dims)));
  const auto along = static_cast<size_t>(op.dim);
  const int64_t run = contiguous_strides(to.dims)[along], extent = to.dims[along];
  // Writes one number after the other, each `run` times.
  for (int64_t at = 0, count = to.elements(); at < count;) {
    for (int64_t number = 0; number < extent; ++number) {
      const bool real = !is_complex(to.dtype);
      const DType part = part_dtype(to.dtype);
      const uint64_t code = encode_i64(part, number);
      const Scalar value = real ? Scalar{to.dtype, {code, 0}} : make_complex(to.dtype, code, 0);
      for (int64_t i = 0; i < run; ++i) store_element(to.dtype, to.data.data(), at++, value);
    }
  }
  return to;
}

}  // namespace strew::inline v0
