// See view.h. Each operation means what compiler/program/interpret/move.cc does.
#include "compiler/program/pieces/view.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/strides.h"

namespace strew::inline v0 {
namespace {

using Dims = std::vector<int64_t>;

bool fits(const Dims& dims, const TensorType& type) {
  return std::equal(dims.begin(), dims.end(), type.dims.begin(), type.dims.end(),
                    [](int64_t have, int64_t want) { return want == kDynamic || have == want; });
}

std::optional<View> moved(const TransposeOp& op, const TensorType& /*type*/, const View& from) {
  View to{{}, from.first, {}};
  for (const int64_t d : op.permutation) {
    to.dims.push_back(from.dims[static_cast<size_t>(d)]);
    to.strides.push_back(from.strides[static_cast<size_t>(d)]);
  }
  return to;
}

std::optional<View> moved(const BroadcastOp& op, const TensorType& type, const View& from) {
  View to{type.dims, from.first, Dims(type.dims.size(), 0)};
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const auto target = static_cast<size_t>(op.dims[d]);
    if (from.dims[d] == 1) continue;
    if (from.dims[d] != to.dims[target]) return std::nullopt;
    to.strides[target] = from.strides[d];
  }
  return to;
}

std::optional<View> moved(const ReverseOp& op, const TensorType& /*type*/, const View& from) {
  View to = from;
  for (const int64_t dim : op.dims) {
    const auto d = static_cast<size_t>(dim);
    if (from.dims[d] < 2) continue;
    to.first += (from.dims[d] - 1) * from.strides[d];
    to.strides[d] = -from.strides[d];
  }
  return to;
}

std::optional<View> moved(const SliceOp& op, const TensorType& type, const View& from) {
  View to{type.dims, from.first, from.strides};
  for (size_t d = 0; d < to.dims.size(); ++d) {
    const int64_t start = op.starts[d], stride = op.strides[d];
    if (start < 0) return std::nullopt;
    if (to.dims[d] == kDynamic) to.dims[d] = checked::ceil_div(from.dims[d] - start, stride);
    if (to.dims[d] < 0) return std::nullopt;
    if (to.dims[d] == 0) {
      to.strides[d] = 0;
      continue;
    }
    const std::optional<int64_t> reach = checked::mul(to.dims[d] - 1, stride),
                                 last = reach ? checked::add(start, *reach) : std::nullopt;
    if (!last || *last >= from.dims[d]) return std::nullopt;
    to.first += start * from.strides[d];
    to.strides[d] = to.dims[d] > 1 ? stride * from.strides[d] : 0;
  }
  return to;
}

/// The dims without those of extent 1, and neighbours merged where the outer one steps over the whole inner one.
void squeeze(Dims& dims, Dims& strides) {
  Dims merged_dims, merged_strides;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (!merged_dims.empty() && merged_strides.back() == strides[d] * dims[d]) {
      merged_dims.back() *= dims[d];
      merged_strides.back() = strides[d];
    } else {
      merged_dims.push_back(dims[d]);
      merged_strides.push_back(strides[d]);
    }
  }
  dims = std::move(merged_dims);
  strides = std::move(merged_strides);
}

std::optional<View> moved(const ReshapeOp& /*op*/, const TensorType& type, const View& from) {
  const int64_t elements = from.elements();
  View to{type.dims, from.first, Dims(type.dims.size(), 0)};
  const auto open = std::find(to.dims.begin(), to.dims.end(), kDynamic);
  if (open != to.dims.end()) {
    int64_t known = 1;
    for (const int64_t extent : type.dims)
      if (extent != kDynamic) known *= extent;
    if (known == 0 || elements % known != 0) return std::nullopt;
    *open = elements / known;
  }
  if (std::find(to.dims.begin(), to.dims.end(), kDynamic) != to.dims.end() || to.elements() != elements) return std::nullopt;
  if (elements == 0) return to;
  Dims dims = from.dims, strides = from.strides;
  squeeze(dims, strides);
  // From the innermost dim on, each dim of the result takes its part of what is left of a dim of the argument.
  size_t left = dims.size();
  int64_t extent = 1, stride = 0;
  for (size_t d = to.dims.size(); d-- > 0;) {
    if (to.dims[d] == 1) continue;
    if (extent == 1) {
      extent = dims[--left];
      stride = strides[left];
    }
    if (extent % to.dims[d] != 0) return std::nullopt;
    to.strides[d] = stride;
    extent /= to.dims[d];
    stride *= to.dims[d];
  }
  return to;
}

}  // namespace

View View::of(std::vector<int64_t> dims) {
  Dims strides = contiguous_strides(dims);
  return {std::move(dims), 0, std::move(strides)};
}

int64_t View::elements() const {
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  return count;
}

bool View::is_contiguous() const {
  int64_t step = 1;
  for (size_t d = dims.size(); d-- > 0; step *= dims[d])
    if (dims[d] != 1 && strides[d] != step) return false;
  return true;
}

bool moves(const Compute& compute) {
  if (compute.arguments.size() != (compute.takes_shape() ? 2 : 1)) return false;
  if (compute.as<BroadcastOp>() != nullptr)
    return compute.takes_shape() ||
           std::find(compute.results[0].dims.begin(), compute.results[0].dims.end(), kDynamic) == compute.results[0].dims.end();
  return compute.as<TransposeOp>() != nullptr || compute.as<ReverseOp>() != nullptr || compute.as<ReshapeOp>() != nullptr ||
         compute.as<SliceOp>() != nullptr;
}

bool move(const Compute& compute, const TensorType& type, View& view) {
  const std::optional<View> to = std::visit(
      [&](const auto& op) -> std::optional<View> {
        if constexpr (requires { moved(op, type, view); })
          return moved(op, type, view);
        else
          return std::nullopt;
      },
      compute.op);
  if (!to || !fits(to->dims, compute.results[0])) return false;
  view = *to;
  return true;
}

}  // namespace strew::inline v0
