// scatter, scatter_add and scatter_reduce.
#include <optional>
#include <string_view>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/elements.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// Runs the scatter of `src`, a tensor or, without dims, one value for all.
Reason scatter_into(Written written, const at::Tensor& self, const Along& how, const at::Tensor& index, const at::Tensor& src,
                    Combiner combiner) {
  if (!how.is_whole && written.init == Init::copy) {  // an op copies no more than its operand
    written.tensor->copy_(self);
    written.init = Init::in_place;
  }
  const int64_t extent = self.size(how.axis);
  const CutView result(*written.tensor, index, how, extent), operand(self, index, how, extent);
  Tensors tensors;
  tensors.add_result_view(*written.tensor, result.dims.data(), result.strides.data(), result.rank);
  if (written.init == Init::copy) tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  add_index(tensors, index, how);
  // One value for all has strides of 0.
  const bool is_value = src.dim() == 0;
  CutView updates(is_value ? index : src, index, how, index.size(how.axis));
  if (is_value) updates.strides.fill(0);
  tensors.add_view(src, updates.dims.data(), updates.strides.data(), updates.rank);
  Definition what;
  what.form = how.of_rows ? Form::scatter_rows : Form::scatter_elements;
  what.axis = how.of_rows ? 0 : how.axis;
  what.init = written.init;
  what.combiner = combiner;
  what.accumulates_wide = (combiner == Combiner::add || combiner == Combiner::mul) && is_narrow_float(self.scalar_type());
  return run(what, tensors, {raise_runtime_error, how.axis, extent});
}

/// What every scatter of a tensor asks of its arguments.
Reason accepted(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src, Along& how,
                Written& written) {
  if (const Reason reason = plain_all(self, index, src); reason != Reason::none) return reason;
  if (src.scalar_type() != self.scalar_type()) return Reason::dtype;
  if (const Reason reason = along(self, dim, index, &src, how); reason != Reason::none) return reason;
  // PyTorch's sums of such rows reach elements that no index names.
  if (how.of_rows && !how.is_whole && how.axis == 0) return Reason::shape;
  return written_by(target, self, written, index, src);
}

/// PyTorch's loop over the vectors of rows, which it takes for such tensors; in others it goes element by element. They differ in which of two zeros is the
/// larger one.
bool is_vectorised(const at::Tensor& result, const Along& how, const at::Tensor& index, const at::Tensor& src) {
  constexpr int64_t kLeastRow = 16;
  if (how.axis != 0 || index.stride(0) != 1 || index.numel() / index.size(0) < kLeastRow) return false;
  for (int64_t d = 1; d < index.dim(); ++d)
    if (src.size(d) != index.size(d) || index.stride(d) > 1 || (index.stride(d) == 1 && index.size(d) != 1)) return false;
  return result.is_contiguous() && src.is_contiguous();
}

struct Reduction {
  Combiner combiner;
  bool is_mean = false;
};
std::optional<Reduction> reduction_of(std::string_view reduce, bool is_float, bool is_vectorised) {
  if (reduce == "sum") return Reduction{Combiner::add};
  if (reduce == "mean") return Reduction{Combiner::add, true};
  if (reduce == "prod") return Reduction{Combiner::mul};
  if (reduce == "amax")
    return Reduction{!is_float ? Combiner::max : is_vectorised ? Combiner::max_or_update : Combiner::max_or_kept};
  if (reduce == "amin")
    return Reduction{!is_float ? Combiner::min : is_vectorised ? Combiner::min_or_update : Combiner::min_or_kept};
  return std::nullopt;
}

/// A scatter of a tensor of a dtype that is acceptable.
Reason scatter_by(Combiner combiner, Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index,
                  const at::Tensor& src) {
  Along how;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, src, how, written); reason != Reason::none) return reason;
  return scatter_into(written, self, how, index, src, combiner);
}

std::optional<Combiner> combiner_of(std::string_view reduce) {
  if (reduce == "add") return Combiner::add;
  if (reduce == "multiply") return Combiner::mul;
  return std::nullopt;
}

}  // namespace

Reason scatter_add(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  if (!adds_alike(self.scalar_type())) return Reason::dtype;
  return scatter_by(Combiner::add, target, self, dim, index, src);
}

Reason scatter(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src) {
  if (!moves_alike(self.scalar_type())) return Reason::dtype;
  return scatter_by(Combiner::assign, target, self, dim, index, src);
}

Reason scatter_value(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const c10::Scalar& value) {
  if (const Reason reason = plain_all(self, index); reason != Reason::none) return reason;
  if (!moves_alike(self.scalar_type()) || (value.isComplex() && !self.is_complex())) return Reason::dtype;
  Along how;
  Written written;
  if (const Reason reason = along(self, dim, index, nullptr, how); reason != Reason::none) return reason;
  if (const Reason reason = written_by(target, self, written, index); reason != Reason::none) return reason;
  return scatter_into(written, self, how, index, value_of(self.scalar_type(), value), Combiner::assign);
}

Reason scatter_with(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src,
                    std::string_view reduce) {
  const std::optional<Combiner> combiner = combiner_of(reduce);
  if (!combiner) return Reason::argument;
  if (!adds_alike(self.scalar_type()) || (*combiner == Combiner::mul && self.is_complex())) return Reason::dtype;
  return scatter_by(*combiner, target, self, dim, index, src);
}

Reason scatter_reduce(Target& target, const at::Tensor& self, int64_t dim, const at::Tensor& index, const at::Tensor& src,
                      std::string_view reduce, bool include_self) {
  if (!adds_alike(self.scalar_type())) return Reason::dtype;
  Along how;
  Written written;
  if (const Reason reason = accepted(target, self, dim, index, src, how, written); reason != Reason::none) return reason;
  const bool is_float = self.is_floating_point();
  const bool is_rows_of_vectors = is_vectorised(*written.tensor, how, index, src);
  const std::optional<Reduction> reduction = reduction_of(reduce, is_float, is_rows_of_vectors);
  if (!reduction) return Reason::argument;
  const bool is_extremum = reduction->combiner != Combiner::add && reduction->combiner != Combiner::mul;
  if ((is_extremum || reduction->combiner == Combiner::mul) && self.is_complex()) return Reason::dtype;
  // Its loop over vectors divides sums of 16 bits before they are rounded.
  if (reduction->is_mean && (self.is_complex() || (is_narrow_float(self.scalar_type()) && is_rows_of_vectors)))
    return Reason::dtype;
  if (!include_self) {
    const at::Tensor first = value_of(self.scalar_type(), neutral(reduction->combiner, self));
    if (const Reason reason = scatter_into(written, self, how, index, first, Combiner::assign); reason != Reason::none)
      return reason;
    written.init = Init::in_place;
  }
  if (const Reason reason = scatter_into(written, self, how, index, src, reduction->combiner); reason != Reason::none)
    return reason;
  if (reduction->is_mean) {
    const bool by_row = how.of_rows && how.is_whole;
    const at::Tensor each = by_row ? index.as_strided({index.size(how.axis)}, {index.stride(how.axis)}) : index;
    divide_by_counts(*written.tensor, how.axis, each, by_row, include_self);
  }
  return Reason::none;
}

}  // namespace strew::aten
