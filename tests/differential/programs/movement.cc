// See grower.h: operations that move elements, and that make coordinates.
#include <algorithm>
#include <numeric>

#include "compiler/import/builder/forms.h"
#include "tests/differential/programs/grower.h"
#include "tests/differential/random_data.h"

namespace strew::test {

Expected<Drawn> Grower::transpose() {
  const Drawn from = any(2);
  std::vector<int64_t> permutation(from.rank());
  std::iota(permutation.begin(), permutation.end(), 0);
  rng_.shuffle(permutation);
  ExtentIds dims;
  for (const int64_t d : permutation) dims.push_back(from.dims[static_cast<size_t>(d)]);
  return made(builder().transpose(from.value, permutation), from.dtype, dims, from.is_moved);
}

/// New dims, and dims of 1 that are repeated.
Expected<Drawn> Grower::broadcast() {
  const Drawn from = any();
  ExtentIds dims;
  std::vector<int64_t> targets;
  const auto may_add = [&] {
    if (!rng_.chance(40)) return;
    dims.push_back(random_extent());
    if (!fits(dims)) dims.back() = out_.extents.constant(rng_.between(0, 3));
  };
  for (const ExtentId id : from.dims) {
    may_add();
    targets.push_back(static_cast<int64_t>(dims.size()));
    const bool is_one = !out_.extents.is_open(id) && out_.extents.most(id) == 1;
    dims.push_back(is_one && rng_.chance(60) ? random_extent() : id);
  }
  may_add();
  if (is_static(dims)) return made(builder().broadcast(from.value, type_dims(dims), targets), from.dtype, dims, from.is_moved);
  const Expected<int> to = shape(dims);
  if (!to.ok()) return to.status();
  return made(builder().broadcast_to(from.value, *to, targets), from.dtype, dims, from.is_moved);
}

Expected<Drawn> Grower::reshape_units() {
  const Drawn from = any();
  ExtentIds dims;
  std::vector<int64_t> types;
  const std::vector<int64_t> own = type(from).dims;
  for (size_t d = 0; d <= from.rank(); ++d) {
    if (rng_.chance(30)) {
      dims.push_back(out_.extents.constant(1));
      types.push_back(1);
    }
    if (d == from.rank() || (own[d] == 1 && rng_.chance(60))) continue;
    dims.push_back(from.dims[d]);
    types.push_back(own[d]);
  }
  if (types == own) return nothing("no dim of 1");
  const bool is_open = std::count(types.begin(), types.end(), kDynamic) > 1;
  if (!is_open) return made(builder().reshape(from.value, types), from.dtype, dims, from.is_moved);
  const Expected<int> to = shape(dims);
  if (!to.ok()) return to.status();
  return made(builder().reshape_to(from.value, *to, true), from.dtype, dims, from.is_moved);
}

/// Dims that are joined, or one that is split.
Expected<Drawn> Grower::reshape() {
  const Drawn from = any(1);
  ExtentIds dims = from.dims;
  const auto at = static_cast<size_t>(rng_.below(static_cast<int64_t>(dims.size())));
  const int64_t most = out_.extents.most(dims[at]);
  if (dims.size() > 1 && rng_.chance(60)) {
    const size_t first = std::min(at, dims.size() - 2);
    dims[first] = out_.extents.product({dims[first], dims[first + 1]});
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    if (rng_.chance(30)) dims = {out_.extents.product(dims)};
  } else if (!out_.extents.is_open(dims[at]) && most > 1) {
    std::vector<int64_t> divisors;
    for (int64_t n = 1; n <= most; ++n)
      if (most % n == 0) divisors.push_back(n);
    const int64_t inner = rng_.pick(divisors);
    dims[at] = out_.extents.constant(most / inner);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, out_.extents.constant(inner));
  } else {
    return nothing("nothing to join or split");
  }
  return made(builder().reshape(from.value, type_dims(dims)), from.dtype, dims, from.is_moved);
}

Expected<Drawn> Grower::slice() {
  const Drawn from = any(1);
  std::vector<int64_t> starts, sizes, strides;
  ExtentIds dims;
  for (const ExtentId id : from.dims) {
    const int64_t most = out_.extents.most(id);
    if (out_.extents.is_open(id) || most == 0 || rng_.chance(35)) {
      starts.push_back(0);
      strides.push_back(1);
      sizes.push_back(out_.extents.is_open(id) ? kDynamic : most);
      dims.push_back(id);
      continue;
    }
    starts.push_back(rng_.below(most));
    strides.push_back(rng_.chance(60) ? 1 : rng_.between(1, 3));
    const int64_t all = (most - starts.back() + strides.back() - 1) / strides.back();
    sizes.push_back(rng_.chance(50) ? all : rng_.between(0, all));
    dims.push_back(out_.extents.constant(sizes.back()));
  }
  return made(builder().slice(from.value, starts, sizes, strides), from.dtype, dims, from.is_moved);
}

/// From starts that are known when the program runs.
Expected<Drawn> Grower::slice_from() {
  const Drawn from = any(1);
  if (!is_static(from.dims)) return nothing("open dims");
  std::vector<int> starts;
  std::vector<int64_t> sizes;
  ExtentIds dims;
  for (const ExtentId id : from.dims) {
    starts.push_back(input({DrawnInput::Kind::few, rng_.chance(50) ? DType::i64 : DType::i32, {}}));
    sizes.push_back(rng_.between(0, out_.extents.most(id)));
    dims.push_back(out_.extents.constant(sizes.back()));
  }
  return made(builder().slice_from(from.value, starts, sizes), from.dtype, dims, from.is_moved);
}

Expected<Drawn> Grower::update() {
  const Drawn into = any(1);
  if (!is_static(into.dims)) return nothing("open dims");
  std::vector<int64_t> starts;
  std::vector<int> given;
  ExtentIds dims;
  const bool is_known = rng_.chance(50);
  for (const ExtentId id : into.dims) {
    const int64_t most = out_.extents.most(id), size = rng_.between(0, most);
    starts.push_back(rng_.between(0, most - size));
    dims.push_back(out_.extents.constant(size));
    if (!is_known) given.push_back(input({DrawnInput::Kind::few, DType::i64, {}}));
  }
  const Drawn part = like(into.dtype, dims);
  return made(is_known ? builder().update(into.value, part.value, starts) : builder().update_from(into.value, part.value, given),
              into.dtype, into.dims, into.is_moved && part.is_moved);
}

Expected<Drawn> Grower::concatenate() {
  const Drawn first = any(1);
  const auto dim = static_cast<size_t>(rng_.below(static_cast<int64_t>(first.rank())));
  std::vector<Drawn> parts{first};
  for (int64_t n = rng_.between(1, 2); n > 0; --n) {
    ExtentIds dims = first.dims;
    if (rng_.chance(60)) dims[dim] = random_extent();
    parts.push_back(rng_.chance(20) ? first : like(first.dtype, dims));
  }
  rng_.shuffle(parts);
  std::vector<int> values;
  ExtentIds along;
  bool is_moved = true;
  for (const Drawn& part : parts) {
    values.push_back(part.value);
    along.push_back(part.dims[dim]);
    is_moved = is_moved && part.is_moved;
  }
  ExtentIds dims = first.dims;
  dims[dim] = out_.extents.sum(along);
  return made(builder().concatenate(values, static_cast<int64_t>(dim)), first.dtype, dims, is_moved);
}

Expected<Drawn> Grower::reverse() {
  const Drawn from = any(1);
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.rank(); ++d)
    if (rng_.chance(60)) dims.push_back(static_cast<int64_t>(d));
  if (dims.empty()) return nothing("no dims to reverse");
  return made(builder().reverse(from.value, dims), from.dtype, from.dims, from.is_moved);
}

Expected<Drawn> Grower::pad() {
  const Drawn from = any(1);
  if (!is_static(from.dims)) return nothing("open dims");
  std::vector<int64_t> low, high, interior;
  ExtentIds dims;
  for (const ExtentId id : from.dims) {
    const int64_t most = out_.extents.most(id);
    low.push_back(rng_.chance(40) ? 0 : rng_.between(-1, 3));
    high.push_back(rng_.chance(40) ? 0 : rng_.between(-1, 3));
    interior.push_back(rng_.chance(70) ? 0 : rng_.between(1, 2));
    const int64_t spread = most == 0 ? 0 : (most - 1) * interior.back() + most;
    dims.push_back(out_.extents.constant(std::max<int64_t>(spread + low.back() + high.back(), 0)));
  }
  const int with = scalar(from.dtype);
  return made(strew::pad(builder(), from.value, low, high, interior, with), from.dtype, dims, from.is_moved);
}

Expected<Drawn> Grower::iota() {
  static const std::vector<DType> dtypes{DType::i32, DType::i64, DType::f32, DType::i8, DType::f16};
  const DType dtype = rng_.pick(dtypes);
  const ExtentIds dims = rng_.chance(50) ? any(1).dims : random_dims(static_cast<size_t>(rng_.between(1, 3)));
  const int64_t dim = rng_.below(static_cast<int64_t>(dims.size()));
  if (is_static(dims)) return made(builder().iota({dtype, type_dims(dims), {}}, dim), dtype, dims, true);
  const Expected<int> to = shape(dims);
  if (!to.ok()) return to.status();
  return made(builder().iota_to(dtype, *to, dim), dtype, dims, true);
}

Expected<Drawn> Grower::one_hot() {
  const int64_t depth = rng_.between(0, 6);
  const Drawn indices =
      rng_.chance(50) ? any(1) : Drawn{input({DrawnInput::Kind::few, DType::i32, random_dims(1)}), DType::i32, {}, true};
  if (!is_integer(indices.dtype)) return nothing("no indices");
  const ExtentIds own = indices.dims.empty() ? out_.inputs.back().dims : indices.dims;
  if (!is_static(own)) return nothing("open dims");
  const DType dtype = random_dtype();
  if (!info(dtype).arithmetic) return nothing("another dtype");
  ExtentIds dims = own;
  const int64_t axis = rng_.between(0, static_cast<int64_t>(dims.size()));
  dims.insert(dims.begin() + axis, out_.extents.constant(depth));
  const int on = scalar(dtype), off = scalar(dtype);
  return made(strew::one_hot(builder(), indices.value, depth, axis, on, off), dtype, dims, false);
}

/// An extent of a value as a number.
Expected<Drawn> Grower::extent() {
  const Drawn from = any(1);
  const int value = builder().extent(from.value, rng_.below(static_cast<int64_t>(from.rank())));
  const DType to = rng_.chance(50) ? DType::i64 : DType::f32;
  return made(builder().convert(value, to), to, {}, false);
}

}  // namespace strew::test
