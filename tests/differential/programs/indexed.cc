// See grower.h: gathers and scatters, and the index arithmetic that front ends find before them.
#include <algorithm>

#include "base/number.h"
#include "compiler/import/importer.h"
#include "strew/forms.h"
#include "tests/differential/programs/grower.h"
#include "tests/differential/random_combiner.h"
#include "tests/differential/random_data.h"
#include "tests/differential/random_expr.h"

namespace strew::test {
namespace {

ExtentIds joined(const ExtentIds& a, const ExtentIds& b) {
  ExtentIds out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

ExtentIds from(const ExtentIds& dims, size_t first) { return {dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end()}; }
ExtentIds before(const ExtentIds& dims, size_t end) { return {dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(end)}; }

}  // namespace

Grower::Policy Grower::random_policy(bool scatter) {
  using P = OobPolicy;
  static const std::vector<P> of_scatters{P::error,       P::error, P::error, P::skip_element,
                                          P::skip_window, P::clamp, P::wrap,  P::undefined};
  static const std::vector<P> of_gathers{P::error,       P::error, P::error, P::fill_element,
                                         P::fill_window, P::clamp, P::wrap,  P::undefined};
  return {rng_.pick(scatter ? of_scatters : of_gathers), rng_.chance(40)};
}

DrawnInput::Outside Grower::outside(const Policy& policy) const {
  if (policy.oob == OobPolicy::undefined) return DrawnInput::Outside::never;
  return policy.oob == OobPolicy::error ? DrawnInput::Outside::fails : DrawnInput::Outside::allowed;
}

DType Grower::index_dtype(const ExtentIds& bounds) {
  static const std::vector<DType> wide{DType::i64, DType::i64, DType::i32, DType::i32,
                                       DType::u32, DType::u64, DType::i16, DType::u16};
  static const std::vector<DType> narrow{DType::i8, DType::u8};
  const bool is_small = std::all_of(bounds.begin(), bounds.end(), [&](ExtentId id) { return out_.extents.most(id) < 100; });
  return is_small && rng_.chance(8) ? rng_.pick(narrow) : rng_.pick(wide);
}

Expected<Drawn> Grower::plain_indices(const ExtentIds& dims, const ExtentIds& bounds, const Policy& policy) {
  const DType dtype = index_dtype(bounds);
  const int64_t most = bounds.empty() ? 0 : out_.extents.most(bounds[0]);
  if (is_static(dims) && bounds.size() == 1 && !out_.extents.is_open(bounds[0]) && most > 0 && rng_.chance(15))
    return constant(dtype, dims, [&] { return Scalar{dtype, {encode_i64(dtype, rng_.below(most)), 0}}; });
  const bool counts_from_end = policy.normalize && is_signed_integer(dtype);
  const Drawn out{input({DrawnInput::Kind::index, dtype, dims, bounds, counts_from_end, outside(policy)}), dtype, dims, true};
  drawn_.push_back(out);
  return out;
}

/// Inputs or constants as they are, or with the arithmetic of exporters around them.
Expected<Drawn> Grower::indices(const ExtentIds& dims, const ExtentIds& bounds, const Policy& policy, bool vectors) {
  if (policy.oob == OobPolicy::undefined && std::any_of(bounds.begin(), bounds.end(), [&](ExtentId id) {
        return out_.extents.is_open(id) || out_.extents.most(id) == 0;
      }))
    return nothing("an extent that may be 0 has no index");
  const bool is_free = policy.oob != OobPolicy::undefined;
  if (is_free && rng_.chance(10))
    if (const auto found =
            find([&](const Drawn& each) { return is_integer(each.dtype) && bits(each.dtype) >= 8 && each.dims == dims; }))
      return *found;
  if (vectors && rng_.chance(50)) {  // components that are put together
    std::vector<int> parts;
    const ExtentIds one = joined(before(dims, dims.size() - 1), {out_.extents.constant(1)});
    DType dtype = DType::i64;
    for (const ExtentId bound : bounds) {
      const Expected<Drawn> part = indices(one, {bound}, {policy.oob, false});
      if (!part.ok()) return part;
      const Expected<int> same = builder().convert(part->value, dtype);
      if (!same.ok()) return same.status();
      parts.push_back(*same);
    }
    return made(builder().concatenate(parts, static_cast<int64_t>(dims.size()) - 1), dtype, dims, true);
  }
  const bool is_repeated = !vectors && dims.size() > 1 && is_static(dims) && rng_.chance(35);
  const auto own_rank = is_repeated ? static_cast<size_t>(rng_.between(1, static_cast<int64_t>(dims.size()) - 1)) : dims.size();
  Expected<Drawn> plain = plain_indices(before(dims, own_rank), bounds, policy);
  if (!plain.ok()) return plain;
  Drawn out = *plain;
  ProgramBuilder& b = builder();
  if (bounds.size() == 1 && !out_.extents.is_open(bounds[0]) && is_signed_integer(out.dtype) &&
      rng_.chance(20)) {  // x < 0 ? x + n : x
    const int zero = b.integer(0, out.dtype), n = b.integer(out_.extents.most(bounds[0]), out.dtype);
    const Expected<int> wrapped =
        b.apply(ExprOp::select, {b.apply(ExprOp::lt, {out.value, zero}), b.apply(ExprOp::add, {out.value, n}), out.value});
    if (!wrapped.ok()) return wrapped.status();
    out.value = *wrapped;
  } else if (bounds.size() == 1 && !out_.extents.is_open(bounds[0]) && rng_.chance(10)) {  // min(max(x, 0), n - 1)
    const int zero = b.integer(0, out.dtype), last = b.integer(std::max<int64_t>(out_.extents.most(bounds[0]) - 1, 0), out.dtype);
    const Expected<int> clamped = b.apply(ExprOp::min, {b.apply(ExprOp::max, {out.value, zero}), last});
    if (!clamped.ok()) return clamped.status();
    out.value = *clamped;
  }
  if (rng_.chance(15) && !(policy.normalize && is_signed_integer(out.dtype))) {
    const Expected<int> wide = b.convert(out.value, DType::i64);
    if (!wide.ok()) return wide.status();
    out.value = *wide;
    out.dtype = DType::i64;
  }
  if (is_repeated) {
    std::vector<int64_t> targets;
    for (size_t d = 0; d < own_rank; ++d) targets.push_back(static_cast<int64_t>(d));
    const Expected<int> repeated = b.broadcast(out.value, type_dims(dims), targets);
    if (!repeated.ok()) return repeated.status();
    out.value = *repeated;
  }
  out.dims = dims;
  return out;
}

Expected<int> Grower::kernel(Op op, const std::vector<Drawn>& operands, const std::vector<Drawn>& indices,
                             const std::vector<Drawn>& updates) {
  Expected<ProgramKernel> kernel = verified_kernel(std::move(op), location_);
  if (!kernel.ok()) return kernel.status();
  std::vector<int> values;
  for (const TensorSlot& slot : input_slots(kernel->op)) {
    const auto n = static_cast<size_t>(slot.index);
    values.push_back(slot.role == Role::operand   ? operands[n].value
                     : slot.role == Role::indices ? indices[n].value
                                                  : updates[n].value);
  }
  kernel->set_tensors(values);
  kernel->name = "kernel" + std::to_string(out_.program.kernels().size());
  return builder().kernel(std::move(*kernel))[0];
}

Expected<Drawn> Grower::finish_gather(GatherBuilder op, const Policy& policy, const Drawn& operand,
                                      const std::vector<Drawn>& indices, ExtentIds dims) {
  op.oob(policy.oob).normalize_negative(policy.normalize);
  if (policy.oob == OobPolicy::fill_element || policy.oob == OobPolicy::fill_window)
    op.fill(policy.oob, random_value(rng_, operand.dtype, DataMode::ordinary));
  const Expected<Gather> built = op.build();
  if (!built.ok()) return built.status();
  return made(kernel(*built, {operand}, indices, {}), operand.dtype, std::move(dims), operand.is_moved);
}

void Grower::random_combiner(ScatterBuilder& op, DType dtype, bool& is_moved) {
  static const std::vector<CombinerKind> kinds{
      CombinerKind::assign, CombinerKind::assign, CombinerKind::add,     CombinerKind::add, CombinerKind::mul,
      CombinerKind::min,    CombinerKind::max,    CombinerKind::bit_xor, CombinerKind::sub, CombinerKind::expr};
  CombinerKind kind = rng_.pick(kinds);
  if (!combines(kind, dtype)) kind = CombinerKind::assign;
  if (kind == CombinerKind::expr)
    op.combine(random_expr(rng_, {{ExprOp::current, 0, dtype}, {ExprOp::update, 0, dtype}}, {dtype}, {2, false}));
  else
    op.combine(kind);
  is_moved = is_moved && kind == CombinerKind::assign;
}

Expected<Drawn> Grower::finish_scatter(ScatterBuilder op, const Policy& policy, const Drawn& operand,
                                       const std::vector<Drawn>& indices, const Drawn& updates) {
  op.oob(policy.oob).normalize_negative(policy.normalize);
  bool is_moved = operand.is_moved && updates.is_moved;
  random_combiner(op, operand.dtype, is_moved);
  if (rng_.chance(15))
    op.fill({random_value(rng_, operand.dtype, DataMode::small)});
  else if (rng_.chance(30))
    op.in_place();
  const Expected<Scatter> built = op.build();
  if (!built.ok()) return built.status();
  return made(kernel(*built, {operand}, indices, {updates}), operand.dtype, operand.dims, is_moved);
}

Drawn Grower::table(DType dtype, const ExtentIds& dims) {
  if (is_static(dims) && info(dtype).arithmetic && rng_.chance(30)) {  // zeros, as frameworks write them
    const Expected<int> zeros = builder().broadcast(builder().number(0, dtype), type_dims(dims));
    if (zeros.ok()) return {*zeros, dtype, dims, true};
  }
  return like(dtype, dims);
}

/// ONNX's Gather.
Expected<Drawn> Grower::gather() {
  const Drawn operand = any(1);
  const auto axis = static_cast<size_t>(rng_.below(static_cast<int64_t>(operand.rank())));
  const Policy policy = random_policy(false);
  const Expected<Drawn> at = indices(random_dims(static_cast<size_t>(rng_.between(0, 2))), {operand.dims[axis]}, policy);
  if (!at.ok()) return at;
  const ExtentIds dims = joined(joined(before(operand.dims, axis), at->dims), from(operand.dims, axis + 1));
  return finish_gather(strew::gather(type(operand), type(*at), static_cast<int64_t>(axis)), policy, operand, {*at}, dims);
}

Expected<Drawn> Grower::gather_rows() {
  const Drawn operand = any(1);
  const Policy policy = random_policy(false);
  const Expected<Drawn> at = indices(random_dims(static_cast<size_t>(rng_.between(1, 2))), {operand.dims[0]}, policy);
  if (!at.ok()) return at;
  return finish_gather(strew::gather_rows(type(operand), type(*at)), policy, operand, {*at},
                       joined(at->dims, from(operand.dims, 1)));
}

Expected<Drawn> Grower::gather_elements() {
  const Drawn operand = any(1);
  const auto axis = static_cast<size_t>(rng_.below(static_cast<int64_t>(operand.rank())));
  ExtentIds dims = operand.dims;
  dims[axis] = random_extent();
  const Policy policy = random_policy(false);
  const Expected<Drawn> at = indices(dims, {operand.dims[axis]}, policy);
  if (!at.ok()) return at;
  return finish_gather(strew::gather_elements(type(operand), type(*at), static_cast<int64_t>(axis)), policy, operand, {*at},
                       dims);
}

Expected<Drawn> Grower::gather_nd() {
  const Drawn operand = any(1);
  const auto components = static_cast<size_t>(rng_.between(1, static_cast<int64_t>(operand.rank())));
  const ExtentIds positions = random_dims(static_cast<size_t>(rng_.between(0, 2)));
  const Policy policy = random_policy(false);
  const Expected<Drawn> at = indices(joined(positions, {out_.extents.constant(static_cast<int64_t>(components))}),
                                     before(operand.dims, components), policy, true);
  if (!at.ok()) return at;
  return finish_gather(strew::gather_nd(type(operand), type(*at)), policy, operand, {*at},
                       joined(positions, from(operand.dims, components)));
}

Expected<Drawn> Grower::dynamic_slice() {
  const Drawn operand = any(1);
  if (!is_static(operand.dims)) return nothing("open dims");
  ExtentIds dims, bounds;
  for (const ExtentId id : operand.dims) {
    dims.push_back(out_.extents.constant(rng_.between(0, out_.extents.most(id))));
    bounds.push_back(out_.extents.constant(out_.extents.most(id) - out_.extents.most(dims.back()) + 1));
  }
  const Policy policy{OobPolicy::clamp, false};
  const Expected<Drawn> at = indices({out_.extents.constant(static_cast<int64_t>(operand.rank()))}, bounds, policy, true);
  if (!at.ok()) return at;
  return finish_gather(strew::dynamic_slice(type(operand), type(*at), type_dims(dims)), policy, operand, {*at}, dims);
}

Expected<Drawn> Grower::scatter_rows() {
  const Drawn updates = any(1);
  const auto positions = static_cast<size_t>(rng_.between(1, static_cast<int64_t>(updates.rank())));
  const ExtentId rows = random_extent();
  const Drawn operand = table(updates.dtype, joined({rows}, from(updates.dims, positions)));
  const Policy policy = random_policy(true);
  const Expected<Drawn> at = indices(before(updates.dims, positions), {rows}, policy);
  if (!at.ok()) return at;
  return finish_scatter(strew::scatter_rows(type(operand), type(*at), type(updates)), policy, operand, {*at}, updates);
}

Expected<Drawn> Grower::scatter_elements() {
  const Drawn updates = any(1);
  const auto axis = static_cast<size_t>(rng_.below(static_cast<int64_t>(updates.rank())));
  ExtentIds dims = updates.dims;
  dims[axis] = random_extent();
  const Drawn operand = table(updates.dtype, dims);
  const Policy policy = random_policy(true);
  const Expected<Drawn> at = indices(updates.dims, {dims[axis]}, policy);
  if (!at.ok()) return at;
  return finish_scatter(strew::scatter_elements(type(operand), type(*at), type(updates), static_cast<int64_t>(axis)), policy,
                        operand, {*at}, updates);
}

Expected<Drawn> Grower::scatter_nd() {
  const Drawn operand = any(1);
  const auto components = static_cast<size_t>(rng_.between(1, static_cast<int64_t>(operand.rank())));
  const ExtentIds positions = random_dims(static_cast<size_t>(rng_.between(0, 2)));
  const Drawn updates = like(operand.dtype, joined(positions, from(operand.dims, components)));
  const Policy policy = random_policy(true);
  const Expected<Drawn> at = indices(joined(positions, {out_.extents.constant(static_cast<int64_t>(components))}),
                                     before(operand.dims, components), policy, true);
  if (!at.ok()) return at;
  return finish_scatter(strew::scatter_nd(type(operand), type(*at), type(updates)), policy, operand, {*at}, updates);
}

Expected<Drawn> Grower::dynamic_update_slice() {
  const Drawn operand = any(1);
  if (!is_static(operand.dims)) return nothing("open dims");
  ExtentIds dims, bounds;
  for (const ExtentId id : operand.dims) {
    dims.push_back(out_.extents.constant(rng_.between(0, out_.extents.most(id))));
    bounds.push_back(out_.extents.constant(out_.extents.most(id) - out_.extents.most(dims.back()) + 1));
  }
  const Drawn updates = like(operand.dtype, dims);
  const Policy policy{OobPolicy::clamp, false};
  const Expected<Drawn> at = indices({out_.extents.constant(static_cast<int64_t>(operand.rank()))}, bounds, policy, true);
  if (!at.ok()) return at;
  return finish_scatter(strew::dynamic_update_slice(type(operand), type(*at), type(updates)), policy, operand, {*at}, updates);
}

/// A KV cache: a sequence per batch element, and where to write into it.
Expected<Drawn> Grower::tensor_scatter() {
  const Drawn operand = any(2);
  const auto axis = static_cast<size_t>(rng_.between(1, static_cast<int64_t>(operand.rank()) - 1));
  if (out_.extents.is_open(operand.dims[axis])) return nothing("an open axis");
  const int64_t length = out_.extents.most(operand.dims[axis]), size = rng_.between(0, std::min<int64_t>(length, 3));
  ExtentIds dims = operand.dims;
  dims[axis] = out_.extents.constant(size);
  const Drawn updates = like(operand.dtype, dims);
  const bool circular = rng_.chance(40);
  const Policy policy{circular ? OobPolicy::wrap : OobPolicy::error, false};
  const Expected<Drawn> at = indices({operand.dims[0]}, {out_.extents.constant(length - size + 1)}, policy);
  if (!at.ok()) return at;
  return finish_scatter(strew::tensor_scatter(type(operand), type(*at), type(updates), static_cast<int64_t>(axis), circular),
                        policy, operand, {*at}, updates);
}

}  // namespace strew::test
