// strew::kv_append_ and kv_append: new keys and values are written into caches of language models, at slots of a paged cache, or from a position of each
// sequence on. All indices are checked before anything is written. Tested by tests/torch/kv_append_test.py.
#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/torch/call.h"
#include "bindings/torch/own/gradient.h"
#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

/// What a slot is that stands for no token, in batches that are filled up.
constexpr int64_t kPaddingSlot = -1;

void kv_append_in_place(at::TensorList caches, const at::Tensor& index, at::TensorList values, std::optional<int64_t> dim) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("strew::kv_append_", "").typed<decltype(kv_append_in_place)>();
  op.call(caches, index, values, dim);
}
std::vector<at::Tensor> kv_append(at::TensorList caches, const at::Tensor& index, at::TensorList values,
                                  std::optional<int64_t> dim) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("strew::kv_append", "").typed<decltype(kv_append)>();
  return op.call(caches, index, values, dim);
}

/// The arguments of both operators. `name`: that of the operator, for messages.
struct Append {
  const char* name;
  at::TensorList caches;
  const at::Tensor& index;
  at::TensorList values;
  std::optional<int64_t> dim;

  /// The dim of the positions, from the front.
  int64_t axis() const { return *dim < 0 ? *dim + caches[0].dim() : *dim; }
  /// Whether slots of a cache lie in blocks, [blocks, block size, ...].
  bool has_blocks(size_t i) const { return caches[i].dim() == values[i].dim() + 1; }
  c10::SymInt slots(size_t i) const {
    return has_blocks(i) ? caches[i].sym_size(0) * caches[i].sym_size(1) : caches[i].sym_size(0);
  }
};

void check_slots(const Append& given, size_t i) {
  const at::Tensor &cache = given.caches[i], &value = given.values[i];
  const auto first = static_cast<size_t>(cache.dim() - value.dim()) + 1;
  TORCH_CHECK(value.dim() >= 1 && (first == 1 || first == 2) && cache.sym_sizes().slice(first) == value.sym_sizes().slice(1),
              given.name,
              "(): expected values of shape [tokens, ...] for a cache [slots, ...] or [blocks, block size, ...], but got ",
              value.sym_sizes(), " for ", cache.sym_sizes());
  TORCH_CHECK(value.sym_size(0) == given.index.sym_numel(), given.name, "(): expected one slot per token, but got ",
              given.index.sym_numel(), " slots for values of shape ", value.sym_sizes());
  TORCH_CHECK(given.slots(i) == given.slots(0), given.name, "(): expected caches with the same number of slots, but got ",
              given.slots(0), " and ", given.slots(i));
}

void check_positions(const Append& given, size_t i) {
  const at::Tensor &cache = given.caches[i], &value = given.values[i];
  const int64_t rank = cache.dim(), axis = given.axis();
  TORCH_CHECK(axis > 0 && axis < rank, given.name,
              "(): expected dim to be one of the dims of the cache but the first, which has the sequences, but got ", *given.dim,
              " for ", rank, " dims");
  bool fits = value.dim() == rank;
  for (int64_t d = 1; fits && d < rank; ++d)
    fits = d == axis ? value.sym_size(d) <= cache.sym_size(d) : value.sym_size(d) == cache.sym_size(d);
  TORCH_CHECK(fits, given.name, "(): expected values with the dims of the cache, ", cache.sym_sizes(),
              ", of which dim 0 and dim ", axis, " may be less, but got ", value.sym_sizes());
  TORCH_CHECK(value.sym_size(0) == given.index.sym_numel() && value.sym_size(0) <= cache.sym_size(0), given.name,
              "(): expected one position per sequence of the values, for at most ", cache.sym_size(0), " sequences, but got ",
              given.index.sym_numel(), " positions for values of shape ", value.sym_sizes());
  TORCH_CHECK(cache.sym_size(axis) == given.caches[0].sym_size(axis) && value.sym_size(axis) == given.values[0].sym_size(axis),
              given.name, "(): expected the same extents of dim ", axis, " for all caches and values");
}

void check(const Append& given) {
  TORCH_CHECK(!given.caches.empty() && given.caches.size() == given.values.size(), given.name,
              "(): expected values for each cache, but got ", given.values.size(), " for ", given.caches.size());
  check_index(given.name, given.dim ? "positions" : "slots", given.index);
  for (size_t i = 0; i < given.caches.size(); ++i) {
    check_device(given.name, given.caches[i], given.index);
    check_device(given.name, given.caches[i], given.values[i]);
    TORCH_CHECK(given.caches[i].scalar_type() == given.values[i].scalar_type(), given.name,
                "(): expected values of the dtype of their cache, ", given.caches[i].scalar_type(), ", but got ",
                given.values[i].scalar_type());
    TORCH_CHECK(given.caches[i].dim() == given.caches[0].dim(), given.name,
                "(): expected caches with the same number of dims, but got ", given.caches[0].dim(), " and ",
                given.caches[i].dim());
    if (given.dim)
      check_positions(given, i);
    else
      check_slots(given, i);
  }
}

/// What only the numbers themselves show.
void check_bounds(const Append& given) {
  const at::Tensor& cache = given.caches[0];
  const int64_t least = given.dim ? 0 : kPaddingSlot;
  const int64_t end = given.dim ? cache.size(given.axis()) - given.values[0].size(given.axis()) + 1 : given.slots(0).expect_int();
  const std::optional<int64_t> bad = first_outside(given.index, least, end);
  if (!bad) return;
  const auto value = given.index[*bad].item<int64_t>();
  if (given.dim)
    TORCH_CHECK_INDEX(false, given.name, "(): index ", value, " is out of bounds for dimension ", given.axis(), " with size ",
                      cache.size(given.axis()), " (strew: position ", *bad, ", where ", given.values[0].size(given.axis()),
                      " tokens have to fit; nothing was written)");
  TORCH_CHECK_INDEX(false, given.name, "(): index ", value, " is out of bounds for dimension 0 with size ", end, " (strew: slot ",
                    *bad, ", where only -1 stands for padding; nothing was written)");
}

/// Of slots in blocks: the number of the block, and the place in it.
std::array<at::Tensor, 2> places_of(const at::Tensor& slots, int64_t block_size) {
  return {slots.div(block_size, "floor"), slots.remainder(block_size)};
}

/// By PyTorch's own operators, for what strew has no kernel for.
void append_in_steps(const Append& given, size_t i) {
  const at::Tensor cache = given.caches[i], value = given.values[i], index = given.index.to(c10::ScalarType::Long);
  if (given.dim) {
    const int64_t axis = given.axis();
    at::DimVector dims(static_cast<size_t>(cache.dim()), 1), tokens = dims;
    dims[0] = index.numel();
    tokens[static_cast<size_t>(axis)] = value.size(axis);
    const at::Tensor along = index.view(dims).add(at::arange(value.size(axis), index.options()).view(tokens));
    at::Tensor(cache).scatter_(axis, along.expand_as(value), value);
    return;
  }
  const at::Tensor kept = index.ne(kPaddingSlot).nonzero().squeeze(1);
  const at::Tensor slots = index.index_select(0, kept), rows = value.index_select(0, kept);
  if (!given.has_blocks(i)) {
    at::Tensor(cache).index_copy_(0, slots, rows);
    return;
  }
  const std::array<at::Tensor, 2> places = places_of(slots, cache.size(1));
  at::Tensor(cache).index_put_({places[0], places[1]}, rows);
}

/// Whether the blocks follow one another as the slots in them do, so that they can be numbered through.
bool is_flat(const at::Tensor& cache) { return cache.size(0) == 1 || cache.stride(0) == cache.size(1) * cache.stride(1); }

/// One cache whose shapes and indices are right. False: strew has no kernel for it, and nothing was written.
bool append_by_strew(const Append& given, size_t i) {
  const at::Tensor &cache = given.caches[i], &value = given.values[i];
  if (plain_all(cache, value, given.index) != Reason::none || cache.dim() > static_cast<int64_t>(kMostDims)) return false;
  Definition what;
  Tensors tensors;
  std::array<int64_t, kMostDims> dims, strides;
  std::array<at::Tensor, 2> places;
  if (given.dim) {
    what.form = Form::tensor_scatter;
    what.axis = given.axis();
    tensors.add_result(cache);
    tensors.add_input(given.index);
    tensors.add_input(value);
  } else if (given.has_blocks(i) && !is_flat(cache)) {
    what.form = Form::scatter_at;
    what.skips_bad = true;
    places = places_of(given.index, cache.size(1));
    tensors.add_result(cache);
    tensors.add_input(places[0]);
    tensors.add_input(value);
    tensors.add_input(places[1]);
  } else {
    what.skips_bad = true;
    dims[0] = given.slots(i).expect_int();
    strides[0] = cache.stride(given.has_blocks(i) ? 1 : 0);
    for (int64_t d = 1; d < value.dim(); ++d) {
      dims[static_cast<size_t>(d)] = value.size(d);
      strides[static_cast<size_t>(d)] = cache.stride(d + cache.dim() - value.dim());
    }
    tensors.add_result_view(cache, dims.data(), strides.data(), value.dim());
    tensors.add_input(given.index);
    tensors.add_input(value);
  }
  const int64_t axis = given.dim ? given.axis() : 0;
  return run(what, tensors, {raise_index_error, axis, cache.sizes()[static_cast<size_t>(axis)]}) == Reason::none;
}

/// The elements as integers where neither strew nor PyTorch moves them as what they are.
at::Tensor as_moved(const char* name, const at::Tensor& tensor) {
  const c10::ScalarType dtype = tensor.scalar_type();
  const bool has_kernel = dtype_of(dtype) && tensor.dim() <= static_cast<int64_t>(kMostDims);
  if (moves_alike(dtype) || has_kernel) return tensor;
  switch (tensor.element_size()) {
    case 1:
      return tensor.view(c10::ScalarType::Byte);
    case 2:
      return tensor.view(c10::ScalarType::Short);
    case 4:
      return tensor.view(c10::ScalarType::Int);
    case 8:
      return tensor.view(c10::ScalarType::Long);
    default:  // PyTorch adds dtypes from release to release
      TORCH_CHECK_NOT_IMPLEMENTED(false, "strew::", name, "(): expected elements of 1, 2, 4 or 8 bytes, but got ", dtype);
  }
}
std::vector<at::Tensor> all_as_moved(const char* name, at::TensorList tensors) {
  std::vector<at::Tensor> moved;
  for (const at::Tensor& each : tensors) moved.push_back(as_moved(name, each));
  return moved;
}

void append(const Append& of_any_dtype) {
  check(of_any_dtype);
  const std::vector<at::Tensor> caches = all_as_moved(of_any_dtype.name, of_any_dtype.caches),
                                values = all_as_moved(of_any_dtype.name, of_any_dtype.values);
  const Append given{of_any_dtype.name, caches, of_any_dtype.index, values, of_any_dtype.dim};
  for (size_t i = 0; i < given.caches.size(); ++i) {
    at::assert_no_internal_overlap(given.caches[i]);
    at::assert_no_overlap(given.caches[i], given.index);
    for (const at::Tensor& value : given.values) at::assert_no_overlap(given.caches[i], value);
  }
  check_bounds(given);
  for (size_t i = 0; i < given.caches.size(); ++i)
    if (given.values[i].numel() != 0 && !append_by_strew(given, i)) append_in_steps(given, i);
}

void in_place_on_cpu(at::TensorList caches, const at::Tensor& index, at::TensorList values, std::optional<int64_t> dim) {
  append({"kv_append_", caches, index, values, dim});
}
void in_place_of_meta(at::TensorList caches, const at::Tensor& index, at::TensorList values, std::optional<int64_t> dim) {
  check({"kv_append_", caches, index, values, dim});
}

std::vector<at::Tensor> new_on_cpu(at::TensorList caches, const at::Tensor& index, at::TensorList values,
                                   std::optional<int64_t> dim) {
  check({"kv_append", caches, index, values, dim});
  check_bounds({"kv_append", caches, index, values, dim});
  std::vector<at::Tensor> copies;
  for (const at::Tensor& each : caches) {
    const at::Tensor copy = as_moved("kv_append", each).clone(at::MemoryFormat::Contiguous);
    copies.push_back(copy.scalar_type() == each.scalar_type() ? copy : copy.view(each.scalar_type()));
  }
  append({"kv_append", copies, index, values, dim});
  return copies;
}
std::vector<at::Tensor> new_of_meta(at::TensorList caches, const at::Tensor& index, at::TensorList values,
                                    std::optional<int64_t> dim) {
  check({"kv_append", caches, index, values, dim});
  std::vector<at::Tensor> made;
  for (const at::Tensor& each : caches) made.push_back(at::empty_symint(each.sym_sizes(), each.options()));
  return made;
}

/// The gradient of one cache afterwards goes to the cache before, but for what was written, and to the values. Of equal slots each gets it, as PyTorch's
/// index_put has it. Sizes are those of the values, the constant is the dim of positions.
struct KvAppendBackward {
  static constexpr const char* kName = "strew::KvAppendBackward";

  static Gradients gradients(const Gradients& of_results, const Kept& kept) {
    Gradients result(2);
    const at::Tensor& gradient = of_results[0];
    if (!gradient.defined()) return result;
    const at::Tensor index = kept.tensors[0];
    if (kept.needed[0]) {
      const at::Tensor zeros = at::zeros({}, gradient.options()).expand_symint(kept.sizes);
      result[0] = kv_append(gradient, index, zeros, kept.constant)[0];
    }
    if (kept.needed[1])
      result[1] =
          kept.constant ? at_positions(gradient, index, kept.sizes, *kept.constant) : at_slots(gradient, index, kept.sizes);
    return result;
  }

 private:
  static at::Tensor at_slots(const at::Tensor& gradient, const at::Tensor& slots, const std::vector<c10::SymInt>& written) {
    const at::Tensor flat = gradient.dim() == static_cast<int64_t>(written.size()) ? gradient : gradient.flatten(0, 1);
    std::vector<c10::SymInt> column(written.size(), 1);
    column[0] = written[0];
    const at::Tensor is_token = slots.ne(kPaddingSlot).view_symint(column);
    return at::where(is_token, flat.index_select(0, slots.clamp_min(0)), at::zeros({}, gradient.options()));
  }
  static at::Tensor at_positions(const at::Tensor& gradient, const at::Tensor& positions, const std::vector<c10::SymInt>& written,
                                 int64_t dim) {
    const auto axis = static_cast<size_t>(dim < 0 ? dim + gradient.dim() : dim);
    std::vector<c10::SymInt> column(written.size(), 1), tokens = column;
    column[0] = written[0];
    tokens[axis] = written[axis];
    const at::Tensor first = positions.to(c10::ScalarType::Long).view_symint(column);
    const at::Tensor along = first.add(at::arange(written[axis], first.options()).view_symint(tokens));
    return gradient.gather(static_cast<int64_t>(axis), along.expand_symint(written));
  }
};

void refuse_forward_mode(const Append& given) {
  for (size_t i = 0; i < given.caches.size(); ++i)
    TORCH_CHECK_NOT_IMPLEMENTED(
        !torch::autograd::isFwGradDefined(given.caches[i]) && !torch::autograd::isFwGradDefined(given.values[i]),
        "Trying to use forward AD with strew::", given.name, " that does not support it");
}

OwnedNode node_of_cache(const Append& given, size_t i) {
  return node_of<KvAppendBackward>(
      [&](GradientNode<KvAppendBackward>& node) {
        node.keep({given.index});
        node.constant = given.dim;
        node.sizes = given.values[i].sym_sizes().vec();
      },
      given.caches[i], given.values[i]);
}

void in_place_with_gradient(at::TensorList caches, const at::Tensor& index, at::TensorList values, std::optional<int64_t> dim) {
  const Append given{"kv_append_", caches, index, values, dim};
  check(given);
  for (size_t i = 0; i < caches.size(); ++i)
    torch::autograd::check_inplace(caches[i], torch::autograd::compute_requires_grad(caches[i], values[i]));
  refuse_forward_mode(given);
  {
    const at::AutoDispatchBelowAutograd guard;
    kv_append_in_place(caches, index, values, dim);
  }
  // One after the other: caches may be views of one tensor, whose history the one before has changed.
  for (size_t i = 0; i < caches.size(); ++i)
    if (const OwnedNode node = node_of_cache(given, i); node) torch::autograd::rebase_history(caches[i], node);
}

std::vector<at::Tensor> new_with_gradient(at::TensorList caches, const at::Tensor& index, at::TensorList values,
                                          std::optional<int64_t> dim) {
  const Append given{"kv_append", caches, index, values, dim};
  check(given);
  refuse_forward_mode(given);
  std::vector<OwnedNode> nodes;
  for (size_t i = 0; i < caches.size(); ++i) nodes.push_back(node_of_cache(given, i));
  std::vector<at::Tensor> made = below_autograd([&] { return kv_append(caches, index, values, dim); });
  for (size_t i = 0; i < made.size(); ++i)
    if (nodes[i]) torch::autograd::set_history(made[i], nodes[i]);
  return made;
}

/// Tensors that autograd kept must not be written unnoticed.
void count_versions(at::TensorList caches, const at::Tensor& index, at::TensorList values, std::optional<int64_t> dim) {
  below_autograd([&] { kv_append_in_place(caches, index, values, dim); });
  for (const at::Tensor& each : caches) torch::autograd::increment_version(each);
}

}  // namespace
}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def("kv_append_(Tensor(a!)[] caches, Tensor index, Tensor[] values, int? dim=None) -> ()",
              {at::Tag::pt2_compliant_tag});
  library.def("kv_append(Tensor[] caches, Tensor index, Tensor[] values, int? dim=None) -> Tensor[]",
              {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) {
  library.impl("kv_append_", TORCH_FN(strew::aten::in_place_on_cpu));
  library.impl("kv_append", TORCH_FN(strew::aten::new_on_cpu));
}
TORCH_LIBRARY_IMPL(strew, Meta, library) {
  library.impl("kv_append_", TORCH_FN(strew::aten::in_place_of_meta));
  library.impl("kv_append", TORCH_FN(strew::aten::new_of_meta));
}
TORCH_LIBRARY_IMPL(strew, Autograd, library) {
  library.impl("kv_append_", TORCH_FN(strew::aten::in_place_with_gradient));
  library.impl("kv_append", TORCH_FN(strew::aten::new_with_gradient));
}
TORCH_LIBRARY_IMPL(strew, ADInplaceOrView, library) { library.impl("kv_append_", TORCH_FN(strew::aten::count_versions)); }
