// Indexing by tensors, self[i, :, j]: index and index_put.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/masks.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/operators/written.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// The indices of self[i, :, j]: which dims they index, and what they are broadcast to.
struct Indices {
  std::array<at::Tensor, kMostDims> tensors;
  std::array<int64_t, kMostDims> indexed;  ///< dims of what is indexed, ascending
  std::array<int64_t, kMostDims> named;    ///< what PyTorch calls each in an error: how many dims of self the ones before index
  size_t count = 0;
  std::array<int64_t, kMostDims> dims;  ///< of the indices, broadcast
  int64_t rank = 0;
  bool are_adjacent = true;

  bool is_indexed(int64_t d) const { return std::find(indexed.begin(), end(), d) != end(); }
  const int64_t* end() const { return indexed.begin() + count; }
};

/// Merges the dims of one more index. False if they do not broadcast.
bool broadcast(Indices& all, const at::Tensor& index) {
  const int64_t rank = std::max(all.rank, index.dim());
  std::array<int64_t, kMostDims> merged;
  for (int64_t back = 1; back <= rank; ++back) {
    const int64_t own = back <= index.dim() ? index.size(index.dim() - back) : 1;
    const int64_t before = back <= all.rank ? all.dims[static_cast<size_t>(all.rank - back)] : 1;
    if (own != before && own != 1 && before != 1) return false;
    merged[static_cast<size_t>(rank - back)] = own == 1 ? before : own;
  }
  all.dims = merged;
  all.rank = rank;
  return true;
}

/// One more index, of the dim `indexed` of what is indexed.
Reason add(Indices& all, const at::Tensor& index, int64_t indexed, int64_t named) {
  if (index.scalar_type() != c10::ScalarType::Long && index.scalar_type() != c10::ScalarType::Int) return Reason::index_dtype;
  if (static_cast<size_t>(index.dim()) > kMostDims) return Reason::shape;
  all.are_adjacent = all.are_adjacent && (all.count == 0 || all.indexed[all.count - 1] == indexed - 1);
  all.tensors[all.count] = index;
  all.indexed[all.count] = indexed;
  all.named[all.count++] = named;
  return broadcast(all, index) ? Reason::none : Reason::shape;
}

/// Reads the indices. `written`: what none of them may share memory with, or null. A mask becomes the places where it is true, and the dims that it is for become one: `indexed` is then other dims of self's memory.
Reason read(const at::Tensor& self, const c10::List<std::optional<at::Tensor>>& given, const at::Tensor* written,
            at::Tensor& indexed, Indices& out) {
  indexed = self;
  int64_t at = 0;     // the dim of self
  int64_t named = 0;  // how many dims were indexed before
  for (size_t d = 0; d < given.size(); ++d) {
    if (at >= self.dim()) return Reason::shape;
    const std::optional<at::Tensor> each = given.get(d);
    if (!each || !each->defined()) {
      ++at;
      continue;
    }
    const int64_t number = static_cast<int64_t>(d);
    const bool is_mask = each->scalar_type() == c10::ScalarType::Bool;
    if (const Reason reason = plain(*each, !is_mask); reason != Reason::none) return reason;
    if (written != nullptr && !apart(*written, *each)) return Reason::overlap;
    if (!is_mask) {
      if (const Reason reason = add(out, *each, number, named++); reason != Reason::none) return reason;
      ++at;
      continue;
    }
    const int64_t masked = each->dim();
    if (at + masked > self.dim() || self.sizes().slice(static_cast<size_t>(at), static_cast<size_t>(masked)) != each->sizes())
      return Reason::shape;
    const std::optional<at::Tensor> merged = merge_dims(indexed, number, masked);
    if (!merged) return Reason::layout;
    indexed = *merged;
    const at::Tensor places = places_of(*each);
    if (places.numel() == 0) return Reason::empty;
    if (const Reason reason = add(out, places, number, named); reason != Reason::none) return reason;
    at += masked;
    named += masked;
  }
  return out.count == 0 ? Reason::argument : Reason::none;
}

struct View {
  std::array<int64_t, 2 * kMostDims> dims, strides;
  int64_t rank = 0;
  void add(int64_t extent, int64_t stride) {
    dims[static_cast<size_t>(rank)] = extent;
    strides[static_cast<size_t>(rank++)] = stride;
  }
};

/// Of a tensor that is broadcast to `rank` dims: the stride of one of these. `extent` is that of the result; false if the tensor has another.
bool stride_of(const at::Tensor& tensor, int64_t rank, int64_t dim, int64_t extent, int64_t& stride) {
  const int64_t own = dim - (rank - tensor.dim());
  stride = own < 0 || tensor.size(own) == 1 ? 0 : tensor.stride(own);
  return own < 0 || tensor.size(own) == 1 || tensor.size(own) == extent;
}

/// The values, the dims of the indices first, then those of self that are not indexed. False if they do not broadcast to self[indices].
bool view_values(const at::Tensor& self, const Indices& indices, const at::Tensor& values, View& out) {
  const int64_t free = self.dim() - static_cast<int64_t>(indices.count), rank = indices.rank + free;
  if (values.dim() > rank) return false;
  const int64_t first = indices.are_adjacent ? indices.indexed[0] : 0;  // where the dims of the indices are in self[indices]
  bool fits = true;
  int64_t stride = 0;
  for (int64_t d = 0; d < indices.rank; ++d) {
    const int64_t extent = indices.dims[static_cast<size_t>(d)];
    fits = fits && stride_of(values, rank, first + d, extent, stride);
    out.add(extent, stride);
  }
  for (int64_t d = 0, seen = 0; d < self.dim(); ++d) {
    if (indices.is_indexed(d)) continue;
    fits = fits && stride_of(values, rank, seen < first ? seen : seen + indices.rank, self.size(d), stride);
    out.add(self.size(d), stride);
    ++seen;
  }
  return fits;
}

View view_operand(const at::Tensor& self, const Indices& indices) {
  View view;
  for (size_t k = 0; k < indices.count; ++k) view.add(self.size(indices.indexed[k]), self.stride(indices.indexed[k]));
  for (int64_t d = 0; d < self.dim(); ++d)
    if (!indices.is_indexed(d)) view.add(self.size(d), self.stride(d));
  return view;
}

View view_index(const Indices& indices, size_t number) {
  View view;
  for (int64_t d = 0; d < indices.rank; ++d) {
    int64_t stride = 0;
    stride_of(indices.tensors[number], indices.rank, d, indices.dims[static_cast<size_t>(d)], stride);
    view.add(indices.dims[static_cast<size_t>(d)], stride);
  }
  return view;
}

/// Whether the strides of dims that have more than one element become smaller.
bool descend(const int64_t* dims, const int64_t* strides, int64_t rank) {
  int64_t before = std::numeric_limits<int64_t>::max();
  for (int64_t d = 0; d < rank; ++d) {
    if (dims[d] == 1) continue;
    if (strides[d] >= before || strides[d] == 0) return false;
    before = strides[d];
  }
  return true;
}

/// Whether PyTorch goes over the indices in the order of their dims. It goes as the values lie, or where all have the same one as the indices do; the order decides the bits of
/// sums, and which of equal indices is the last.
bool in_order(const Indices& indices, const View& updates) {
  const int64_t* const dims = indices.dims.data();
  if (std::count_if(dims, dims + indices.rank, [](int64_t extent) { return extent != 1; }) <= 1) return true;
  if (descend(dims, updates.strides.data(), indices.rank)) return true;
  const bool is_one_value =
      std::all_of(updates.strides.begin(), updates.strides.begin() + indices.rank, [](int64_t stride) { return stride == 0; });
  if (!is_one_value) return false;
  for (size_t k = 0; k < indices.count; ++k) {
    const View index = view_index(indices, k);
    if (!descend(index.dims.data(), index.strides.data(), index.rank)) return false;
  }
  return true;
}

/// The dims of self[indices].
size_t dims_of_indexed(const at::Tensor& self, const Indices& indices, std::array<int64_t, 2 * kMostDims>& dims) {
  size_t rank = 0;
  const auto add_indices = [&] {
    for (int64_t d = 0; d < indices.rank; ++d) dims[rank++] = indices.dims[static_cast<size_t>(d)];
  };
  if (!indices.are_adjacent) add_indices();
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (indices.are_adjacent && d == indices.indexed[0]) add_indices();
    if (!indices.is_indexed(d)) dims[rank++] = self.size(d);
  }
  return rank;
}

/// Whether PyTorch's result is contiguous for sure: it orders the dims of the result as those of self and of the indices lie.
bool gives_contiguous(const at::Tensor& self, const Indices& indices) {
  for (size_t k = 0; k < indices.count; ++k)
    if (!indices.tensors[k].is_contiguous()) return false;
  int64_t least = 0;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    if (self.size(d) == 1) continue;
    if (self.stride(d) == 0 || self.stride(d) < least) return false;
    least = self.stride(d);
  }
  return true;
}

}  // namespace

Reason index(Target& target, const at::Tensor& given_self, const c10::List<std::optional<at::Tensor>>& given) {
  if (const Reason reason = plain(given_self); reason != Reason::none) return reason;
  if (!moves_alike(given_self.scalar_type())) return Reason::dtype;
  if (static_cast<size_t>(given_self.dim()) > kMostDims) return Reason::shape;
  const at::Tensor* const out = target.is_new() ? nullptr : &target.given();
  if (out != nullptr)
    if (const Reason reason = plain(*out); reason != Reason::none) return reason;
  at::Tensor self;
  Indices indices;
  if (const Reason reason = read(given_self, given, out, self, indices); reason != Reason::none) return reason;
  if (target.is_new() && !gives_contiguous(self, indices)) return Reason::layout;
  std::array<int64_t, 2 * kMostDims> dims;
  const size_t rank = dims_of_indexed(self, indices, dims);
  const at::Tensor* result = nullptr;
  if (const Reason reason = gathered_to(target, self, {dims.data(), rank}, result); reason != Reason::none) return reason;
  View written;
  if (!view_values(self, indices, *result, written)) return Reason::shape;
  const View operand = view_operand(self, indices);
  std::array<View, kMostDims> views;
  Tensors tensors;
  tensors.add_result_view(*result, written.dims.data(), written.strides.data(), written.rank);
  tensors.add_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  for (size_t k = 0; k < indices.count; ++k) {
    views[k] = view_index(indices, k);
    tensors.add_view(indices.tensors[k], views[k].dims.data(), views[k].strides.data(), views[k].rank);
  }
  return run({Form::gather_at, 0, Init::in_place, Combiner::assign, false, true, false}, tensors,
             {raise_index_error, {indices.named.data(), indices.count}, {operand.dims.data(), indices.count}});
}

Reason index_put(Target&, const at::Tensor& given_self, const c10::List<std::optional<at::Tensor>>& given,
                 const at::Tensor& values, bool accumulate, bool) {
  if (const Reason reason = plain(given_self); reason != Reason::none) return reason;
  if (const Reason reason = plain(values, true); reason != Reason::none) return reason;
  if (values.scalar_type() != given_self.scalar_type() ||
      (accumulate ? !adds_alike(given_self.scalar_type()) : !moves_alike(given_self.scalar_type())))
    return Reason::dtype;
  if (static_cast<size_t>(given_self.dim()) > kMostDims) return Reason::shape;
  at::Tensor self;
  Indices indices;
  if (const Reason reason = read(given_self, given, &given_self, self, indices); reason != Reason::none) return reason;
  View updates;
  if (!view_values(self, indices, values, updates)) return Reason::shape;
  if (!in_order(indices, updates)) return Reason::layout;
  if (!elements_apart(self) || !apart(self, values)) return Reason::overlap;
  const View operand = view_operand(self, indices);
  std::array<View, kMostDims> views;
  for (size_t k = 0; k < indices.count; ++k) views[k] = view_index(indices, k);
  Tensors tensors;
  tensors.add_result_view(self, operand.dims.data(), operand.strides.data(), operand.rank);
  tensors.add_view(indices.tensors[0], views[0].dims.data(), views[0].strides.data(), views[0].rank);
  tensors.add_view(values, updates.dims.data(), updates.strides.data(), updates.rank);
  for (size_t k = 1; k < indices.count; ++k)
    tensors.add_view(indices.tensors[k], views[k].dims.data(), views[k].strides.data(), views[k].rank);
  const Definition what{Form::scatter_at, 0, Init::in_place, accumulate ? Combiner::add : Combiner::assign, false, true, false};
  return run(what, tensors, {raise_index_error, {indices.named.data(), indices.count}, {operand.dims.data(), indices.count}});
}

}  // namespace strew::aten
