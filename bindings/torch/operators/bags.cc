// embedding_bag: of each bag of indices, the sum, mean or maximum of the rows of a table that they name.
#include <ATen/EmptyTensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "bindings/torch/call.h"
#include "bindings/torch/operators/operators.h"
#include "bindings/torch/own/messages.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {
namespace {

constexpr int64_t kSum = 0, kMean = 1, kMax = 2;  // modes of embedding_bag

struct Arguments {
  const at::Tensor& table;
  at::Tensor indices, offsets;  ///< of one dtype
  int64_t mode;
  std::optional<at::Tensor> weights;
  int64_t bags;
  int64_t padding;  ///< negative: there is none
};

/// The indices of the bags, one bag after the other.
struct Bags {
  at::Tensor of_index;       ///< of each index, the number of its bag
  at::Tensor sizes;          ///< of each bag, without the padding
  at::Tensor indices, bags;  ///< those that are not padding, and their bags
  at::Tensor places;         ///< where these are; undefined if they are all
};

at::Tensor numbers_like(const at::Tensor& like, int64_t count) {
  return at::Tensor(at::detail::empty_cpu({count}, like.scalar_type()));
}

void raise_bag(int64_t value, int64_t place, int64_t rows) {
  TORCH_CHECK(false, "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ", value, " (strew: indices[",
              place, "] is not in [0, ", rows, "); nothing was written)");
}

/// False if the offsets do not ascend from 0 to at most the number of indices.
template <class Number>
bool read(const Arguments& given, Bags& out) {
  const auto* const indices = static_cast<const Number*>(given.indices.const_data_ptr());
  const auto* const offsets = static_cast<const Number*>(given.offsets.const_data_ptr());
  const int64_t count = given.indices.numel(), rows = given.table.size(0);
  auto* const bag = static_cast<Number*>(out.of_index.mutable_data_ptr());
  auto* const size = static_cast<Number*>(out.sizes.mutable_data_ptr());
  if (offsets[0] != 0) return false;
  for (int64_t b = 0; b < given.bags; ++b) {
    const int64_t begin = offsets[b], end = b + 1 < given.bags ? offsets[b + 1] : count;
    if (begin > end || end > count) return false;
    std::fill(bag + begin, bag + end, static_cast<Number>(b));
    const auto is_padding = [&](Number number) { return number == given.padding; };
    size[b] = static_cast<Number>(end - begin - std::count_if(indices + begin, indices + end, is_padding));
  }
  const auto is_bad = [&](Number number) { return number < 0 || number >= rows; };
  const Number* const bad = std::find_if(indices, indices + count, is_bad);
  if (bad != indices + count) raise_bag(*bad, bad - indices, rows);
  return true;
}

/// Leaves out the padding.
template <class Number>
void pick(const Arguments& given, Bags& out) {
  const auto* const indices = static_cast<const Number*>(given.indices.const_data_ptr());
  const auto* const bag = static_cast<const Number*>(out.of_index.const_data_ptr());
  const auto* const size = static_cast<const Number*>(out.sizes.const_data_ptr());
  int64_t kept = 0;
  for (int64_t b = 0; b < given.bags; ++b) kept += size[b];
  out.indices = given.indices;
  out.bags = out.of_index;
  if (kept == given.indices.numel()) return;
  out.indices = numbers_like(given.indices, kept);
  out.bags = numbers_like(given.indices, kept);
  out.places = at::Tensor(at::detail::empty_cpu({kept}, c10::ScalarType::Long));
  auto* const picked = static_cast<Number*>(out.indices.mutable_data_ptr());
  auto* const picked_bag = static_cast<Number*>(out.bags.mutable_data_ptr());
  auto* const place = static_cast<int64_t*>(out.places.mutable_data_ptr());
  for (int64_t i = 0, at = 0; at < kept; ++i) {
    if (indices[i] == given.padding) continue;
    picked[at] = indices[i];
    picked_bag[at] = bag[i];
    place[at++] = i;
  }
}

Reason sums(const Arguments& given, const Bags& bags, at::Tensor& result) {
  std::optional<at::Tensor> weights;
  // Products of 16 bits are float32.
  if (given.weights)
    weights = is_narrow_float(given.table.scalar_type()) ? given.weights->to(c10::ScalarType::Float) : *given.weights;
  if (weights && bags.places.defined()) weights = weights->index_select(0, bags.places);
  const Messages rows{"embedding_bag", bags.bags, bags.indices, given.table, weights, given.bags};
  result = at::Tensor(at::detail::empty_cpu({given.bags, given.table.size(1)}, combined_dtype(rows)));
  if (const Reason reason = combine(rows, Combiner::add, result, nullptr); reason != Reason::none) return reason;
  result = result.to(given.table.scalar_type());
  if (given.mode == kMean) result.div_(bags.sizes.clamp_min(1).to(result.scalar_type()).unsqueeze(1));
  return Reason::none;
}

/// Gives each maximum the index that it is from: `places` has those among the indices that are not padding, and less than 0 for none. PyTorch takes the first row as it is, and a
/// later one's element only where it is larger, so that a NaN stays where it is the first and is passed over elsewhere, and of two zeros the first one stays. In strew NaNs are the
/// largest and -0 < +0 (docs/semantics.md): these elements are looked for again.
template <class Value, class Number>
void name_winners(const Arguments& given, const Bags& bags, const at::Tensor& places, const at::Tensor& result,
                  const at::Tensor& winners) {
  const auto* const table = static_cast<const Value*>(given.table.const_data_ptr());
  const auto* const indices = static_cast<const Number*>(bags.indices.const_data_ptr());
  const auto* const size = static_cast<const Number*>(bags.sizes.const_data_ptr());
  const auto* place = static_cast<const int64_t*>(places.const_data_ptr());
  auto* best = static_cast<Value*>(result.mutable_data_ptr());
  auto* winner = static_cast<Number*>(winners.mutable_data_ptr());
  int64_t begin = 0;
  for (int64_t b = 0; b < given.bags; ++b) {
    const int64_t end = begin + size[b];
    for (int64_t k = 0; k < given.table.size(1); ++k, ++place, ++best, ++winner) {
      if (begin == end) {
        *best = Value(0);
        *winner = 0;
        continue;
      }
      const bool is_plain = *place >= 0 && (*best < Value(0) || *best > Value(0));
      *winner = indices[is_plain ? *place : begin];
      if (is_plain) continue;
      const auto element = [&](Number row) { return table[row * given.table.stride(0) + k * given.table.stride(1)]; };
      *best = element(*winner);
      for (int64_t i = begin + 1; i < end; ++i) {
        const Value value = element(indices[i]);
        if (!(value > *best)) continue;
        *best = value;
        *winner = indices[i];
      }
    }
    begin = end;
  }
}

template <class Number>
void name_winners_of(const Arguments& given, const Bags& bags, const at::Tensor& places, const at::Tensor& result,
                     const at::Tensor& winners) {
  switch (given.table.scalar_type()) {
    case c10::ScalarType::Float:
      return name_winners<float, Number>(given, bags, places, result, winners);
    case c10::ScalarType::Double:
      return name_winners<double, Number>(given, bags, places, result, winners);
    case c10::ScalarType::Half:
      return name_winners<c10::Half, Number>(given, bags, places, result, winners);
    case c10::ScalarType::BFloat16:
      return name_winners<c10::BFloat16, Number>(given, bags, places, result, winners);
    default:  // PyTorch adds dtypes from release to release
      TORCH_INTERNAL_ASSERT(false, "embedding_bag() of ", given.table.scalar_type());
  }
}

Reason maxima(const Arguments& given, const Bags& bags, at::Tensor& result, at::Tensor& winners) {
  const std::optional<at::Tensor> no_weights;
  const Messages rows{"embedding_bag", bags.bags, bags.indices, given.table, no_weights, given.bags};
  result = at::Tensor(at::detail::empty_cpu({given.bags, given.table.size(1)}, given.table.scalar_type()));
  const at::Tensor places(at::detail::empty_cpu(result.sizes(), c10::ScalarType::Long));
  if (const Reason reason = combine(rows, Combiner::max, result, &places); reason != Reason::none) return reason;
  winners = at::Tensor(at::detail::empty_cpu(result.sizes(), bags.indices.scalar_type()));
  const auto name = bags.indices.scalar_type() == c10::ScalarType::Long ? name_winners_of<int64_t> : name_winners_of<int32_t>;
  name(given, bags, places, result, winners);
  return Reason::none;
}

/// PyTorch's kernel for these has bits of its own, and is as fast.
bool has_fast_kernel(const Arguments& given) {
  return given.mode != kMax && given.table.scalar_type() != c10::ScalarType::Double && given.table.stride(1) == 1 &&
         given.padding < 0 && (!given.weights || given.weights->stride(0) == 1);
}

Reason acceptable(const Arguments& given) {
  if (given.indices.dim() != 1 || given.offsets.dim() != 1 || given.table.dim() != 2 || given.bags <= 0) return Reason::shape;
  if (!given.indices.is_contiguous() || !given.offsets.is_contiguous()) return Reason::layout;
  if (!given.table.is_floating_point() || !adds_alike(given.table.scalar_type())) return Reason::dtype;
  if ((given.mode != kSum && given.mode != kMean && given.mode != kMax) || (given.mode != kSum && given.weights) ||
      given.padding >= given.table.size(0))
    return Reason::argument;
  if (given.weights) {
    const at::Tensor& weights = *given.weights;
    if (const Reason reason = plain(weights); reason != Reason::none) return reason;
    if (weights.scalar_type() != given.table.scalar_type()) return Reason::dtype;
    if (weights.dim() != 1 || weights.numel() != given.indices.numel()) return Reason::shape;
  }
  return has_fast_kernel(given) ? Reason::slower : Reason::none;
}

bool is_index(const at::Tensor& tensor) {
  return tensor.scalar_type() == c10::ScalarType::Long || tensor.scalar_type() == c10::ScalarType::Int;
}

/// `for_gradient`: sizes of bags are given in every mode.
Reason run_bags(FourTensors& made, const at::Tensor& table, const at::Tensor& indices, const at::Tensor& offsets, int64_t mode,
                const std::optional<at::Tensor>& weights, bool include_last_offset, int64_t padding, bool for_gradient) {
  if (const Reason reason = plain_all(table, indices, offsets); reason != Reason::none) return reason;
  if (!is_index(indices) || !is_index(offsets)) return Reason::index_dtype;
  const c10::ScalarType kind = c10::promoteTypes(indices.scalar_type(), offsets.scalar_type());
  const Arguments given{table,
                        indices.to(kind),
                        offsets.to(kind),
                        mode,
                        weights && weights->defined() ? weights : std::nullopt,
                        offsets.numel() - (include_last_offset ? 1 : 0),
                        padding};
  if (const Reason reason = acceptable(given); reason != Reason::none) return reason;
  const bool is_long = kind == c10::ScalarType::Long;
  Bags bags{numbers_like(given.indices, indices.numel()), numbers_like(given.indices, given.bags), {}, {}, {}};
  if (!(is_long ? read<int64_t>(given, bags) : read<int32_t>(given, bags))) return Reason::shape;
  is_long ? pick<int64_t>(given, bags) : pick<int32_t>(given, bags);
  if (bags.indices.numel() == 0) return Reason::empty;
  at::Tensor result, last;
  if (const Reason reason = mode == kMax ? maxima(given, bags, result, last) : sums(given, bags, result); reason != Reason::none)
    return reason;
  at::Tensor sizes = bags.sizes;
  if (mode == kSum) sizes = numbers_like(sizes, for_gradient ? given.bags : offsets.numel()).zero_();
  if (mode != kMax) last = sizes.clone();
  made = {std::move(result), bags.of_index, std::move(sizes), std::move(last)};
  return Reason::none;
}

}  // namespace

Reason embedding_bag(FourTensors& made, const at::Tensor& table, const at::Tensor& indices, const at::Tensor& offsets, bool,
                     int64_t mode, bool, const std::optional<at::Tensor>& weights, bool include_last_offset, int64_t padding) {
  return run_bags(made, table, indices, offsets, mode, weights, include_last_offset, padding, true);
}
Reason embedding_bag_forward_only(FourTensors& made, const at::Tensor& table, const at::Tensor& indices,
                                  const at::Tensor& offsets, bool, int64_t mode, bool, const std::optional<at::Tensor>& weights,
                                  bool include_last_offset, int64_t padding) {
  return run_bags(made, table, indices, offsets, mode, weights, include_last_offset, padding, false);
}

}  // namespace strew::aten
