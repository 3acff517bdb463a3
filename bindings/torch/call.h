// One call of a kernel on PyTorch's tensors: the op in a few words, the tensors, and the failure as PyTorch's exceptions say it. Threads are those of PyTorch's own
// pool. Tested by tests/torch.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bindings/torch/report.h"
#include "strew/strew.h"

namespace strew::aten {

/// Of strew/forms.h.
enum class Form : uint8_t {
  scatter_rows,
  scatter_elements,
  scatter_at,
  gather,
  gather_elements,
  gather_at,
  sddmm,
  tensor_scatter
};
/// What the result's elements hold before the updates: what they held before the call, the operand's, or zeros.
enum class Init : uint8_t { in_place, copy, zeros };
/// `max` and `min` are strew's (docs/semantics.md), which are PyTorch's for integers. Of floats PyTorch keeps NaNs, and where both are zeros it keeps the element,
/// or takes the update where its loop is over vectors: x86's maximum of equal operands is the second one.
enum class Combiner : uint8_t { assign, add, mul, max, min, max_or_kept, min_or_kept, max_or_update, min_or_update };

/// What updates are multiplied by before they are combined: nothing, a number for each position or each element, or one for all.
enum class Factor : uint8_t { none, per_position, per_element, scalar };

/// All that makes an op but its tensors.
struct Definition {
  Form form = Form::scatter_rows;
  int64_t axis = 0;
  Init init = Init::in_place;
  Combiner combiner = Combiner::assign;
  bool accumulates_wide = false;
  bool takes_negative = false;  ///< negative indices count from the end
  bool skips_bad = false;       ///< an index out of bounds is left out, in place of an error
  /// Updates are rows of a table, whose numbers a further index has (docs/fusion.md).
  bool looks_up = false;
  /// Products are rounded to the updates' dtype, or to that of the factors if this is another one; then they are combined in the result's.
  Factor factor = Factor::none;
  bool is_fused = false;   ///< of one dtype: the product is not rounded before the sum is
  bool is_sorted = false;  ///< the numbers of the result's rows do not fall
  bool is_batched =
      false;  ///< of form gather: the index has the operand's dims before the axis, too, and names elements of each of these
  bool is_checked = false;   ///< the caller found all indices in bounds
  bool returns_arg = false;  ///< of a max or min that looks up: a second result has the numbers of the updates that win
};

constexpr size_t kMostTensors = 16;
constexpr size_t kMostDims = 16;

/// The tensors of a call: the result, the operand unless the result is updated in place, the indices, the updates or the table, the factors; of a form `_at`
/// further indices come last, and so do the numbers of rows that are looked up. With `returns_arg` the second result comes second, and the numbers of the
/// updates come behind the table. Of form sddmm: the result with strides of 0 along rows, no index, both tables, and the
/// numbers of their rows.
class Tensors {
 public:
  /// One that is written.
  void add_result(const at::Tensor& tensor) {
    add(tensor.mutable_data_ptr(), tensor, tensor.sizes().data(), tensor.strides().data(), tensor.dim());
  }
  void add_input(const at::Tensor& tensor) { add_view(tensor, tensor.sizes().data(), tensor.strides().data(), tensor.dim()); }
  /// Other dims and strides of the tensor's memory. They are not copied.
  void add_view(const at::Tensor& tensor, const int64_t* dims, const int64_t* strides, int64_t rank) {
    add(const_cast<void*>(tensor.const_data_ptr()), tensor, dims, strides, rank);
  }
  void add_result_view(const at::Tensor& tensor, const int64_t* dims, const int64_t* strides, int64_t rank) {
    add(tensor.mutable_data_ptr(), tensor, dims, strides, rank);
  }

  /// Index vectors without entries, of which form sddmm has one per result. `dims`: {results, 0}, which are not copied.
  void add_no_index(const at::Tensor& result, const int64_t* dims) {
    add(result.mutable_data_ptr(), result, dims, nullptr, 2);
    if (fit_) all_[count_ - 1].dtype = STREW_I32;
  }

  bool fit() const { return fit_; }
  size_t count() const { return count_; }
  const strew_tensor* data() const { return all_.data(); }

 private:
  void add(void* data, const at::Tensor& tensor, const int64_t* dims, const int64_t* strides, int64_t rank);

  std::array<strew_tensor, kMostTensors> all_;
  size_t count_ = 0;
  bool fit_ = true;  ///< there were not more of them, and strew has their dtypes
};

/// How PyTorch says that an index is out of bounds: it throws. `strew`: what strew says, in parentheses.
using RaiseBounds = void (*)(int64_t value, int64_t dim, int64_t size, const std::string& strew);
/// The dims that the indices are for: one, of the forms `_at` one per index tensor, and with a look-up that of the result and that of the table.
struct Bounds {
  RaiseBounds raise;
  c10::ArrayRef<int64_t> dims, sizes;
};

/// Runs the op. An index out of bounds is an exception of PyTorch's, and then nothing was written. Whatever else strew does not accept is a reason to hand the
/// call over, and nothing was written either.
Reason run(const Definition& what, const Tensors& tensors, const Bounds& bounds);

/// The same of any op, which follows from the tensors and from `variant`: a number of 63 bits with the highest of these set, for those that are no Definition. Of a
/// bad index, `bad` says where it is.
strew_status run_at_site(const Tensors& tensors, strew_make_op make_op, void* context, uint64_t variant, int threads,
                         strew_bad_index* bad);
/// The number of threads that a call of this thread may use.
int threads_of_calls();

/// "index 9 is out of bounds for dimension 0 with size 4", as RuntimeError and as IndexError, and "index out of range in self".
void raise_runtime_error(int64_t value, int64_t dim, int64_t size, const std::string& strew);
void raise_index_error(int64_t value, int64_t dim, int64_t size, const std::string& strew);
void raise_in_self(int64_t value, int64_t dim, int64_t size, const std::string& strew);

}  // namespace strew::aten
