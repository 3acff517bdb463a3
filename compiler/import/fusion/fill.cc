// Two steps that give a kernel a fill value.
//
// Fill masks (JAX's mode="fill") are select(inside, gather, v), where `inside` is the conjunction of 0 <= start <= dim - window over all
// index components. That is the definition of policy fill_window, so the select becomes the gather's policy, provided that the mask tests
// every component, and nothing more, and that only the select reads the gather's result.
//
// If indices are unsigned, JAX compares them converted to the signed type of the same width. Such a converted value passes both comparisons
// exactly if the unsigned value is at most the bound, so this form is accepted too.
//
// A scatter into an operand that is the same constant everywhere (jnp.zeros(...).at[], segment_sum) fills its result with that constant and
// reads no operand. Tested by tests/unit/compiler/import/fusion/fusion_test.cc.
#include <algorithm>

#include "compiler/import/fusion/match.h"
#include "compiler/import/fusion/steps.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"

namespace strew::inline v0::fusion {
namespace {

/// A window start as a mask compares it: the quantity before conversions, and whether a conversion reinterpreted an unsigned value as signed.
struct Start {
  Quantity raw;
  bool reinterpreted = false;
};

Start start_of(const Reader& reader, Quantity quantity) {
  Start out{std::move(quantity)};
  int width = 0;  // bits of the unsigned type that was reinterpreted as signed; 0: none
  for (;;) {
    if (const auto inner = widened(reader, out.raw)) {
      out.raw = *inner;
      continue;
    }
    if (width != 0 || !reader.is(out.raw, ExprOp::convert)) break;
    const Quantity inner = reader.argument(out.raw, 0);
    const DType from = reader.dtype(inner), to = reader.dtype(out.raw);
    if (!is_unsigned_integer(from) || !is_signed_integer(to) || bits(from) != bits(to)) break;
    out.raw = inner;
    width = bits(from);
  }
  out.reinterpreted =
      width != 0 && bits(reader.dtype(out.raw)) == width;  // an unsigned value of a narrower type keeps its value when converted
  return out;
}

/// Changes the frame of `element` from the indices to the result: each position dim of the indices becomes the result's dim for it.
Element in_result_frame(Element element, const AccessDims& dims) {
  for (Coord& coord : element.at)
    if (coord.dim >= 0) coord.dim = static_cast<int>(dims.slices_dim_of_indices(coord.dim));
  return element;
}

/// Do the bounds say that every window of the gather is in bounds, and nothing beyond that?
bool says_inside(const Reader& reader, const VerifiedOp& op, int indices, const std::vector<Bound>& bounds) {
  const AccessDims& dims = op.access();
  const std::vector<int64_t>& operand = std::get<Gather>(*op).operand.dims;
  std::vector<bool> used(bounds.size(), false);
  for (size_t c = 0; c < dims.components.size(); ++c) {
    const auto d = static_cast<size_t>(dims.components[c]);
    if (operand[d] == kDynamic || dims.operand[d].window == kDynamic) return false;
    const int64_t most = operand[d] - dims.operand[d].window;
    const Element column = reader.column(indices, dims.index_vector_dim, static_cast<int64_t>(c));
    const Start start = start_of(reader, reader.quantity(in_result_frame(column, dims)));
    bool low = false, high = false, low_as_signed = false, high_as_signed = false;
    for (size_t b = 0; b < bounds.size(); ++b) {
      const Start compared = start_of(reader, bounds[b].quantity);
      if (compared.raw != start.raw || (bounds[b].upper && bounds[b].most != most)) continue;
      if (compared.reinterpreted == start.reinterpreted)
        (bounds[b].upper ? high : low) = true;
      else if (compared.reinterpreted)
        (bounds[b].upper ? high_as_signed : low_as_signed) = true;
      else
        continue;
      used[b] = true;
    }
    const bool unsigned_start = is_unsigned_integer(reader.dtype(start.raw)) && !start.reinterpreted;
    if (!((high && (low || unsigned_start)) || (high_as_signed && low_as_signed))) return false;
  }
  return std::find(used.begin(), used.end(), false) == used.end();
}

}  // namespace

void fuse_fill_mask(const FusionContext& context, int compute) {
  const Reader& reader = context.reader;
  const Compute& select = context.program.compute(compute);
  if (!context.program.is_needed(compute) || select.as<MapOp>() == nullptr || select.arguments.size() != 3) return;
  const int gathered = select.arguments[1];
  const int number = context.gather_of(gathered, 1);
  if (number < 0) return;
  Gather gather = std::get<Gather>(*context.kernel(number).op);
  if (gather.oob != OobPolicy::clamp || !gather.expr.empty() || context.kernel(number).fixed_policy) return;
  if (select.results[0].dims != gather.result.dims || gather.result.dtype != gather.operand.dtype) return;

  const int result = context.program.result_of(compute);
  const Quantity quantity = reader.quantity(reader.elements_of(result));
  if (!reader.is(quantity, ExprOp::select) || reader.node(quantity)->args != std::vector<int32_t>{0, 1, 2}) return;
  const auto fill = reader.constant(reader.argument(quantity, 2));
  const auto bounds = bounds_of(reader, reader.argument(quantity, 0));
  const int indices = context.kernel(number).tensor(1);
  if (!fill || !bounds || context.program.value(indices).kind == ValueKind::stack) return;
  if (!says_inside(reader, context.kernel(number).op, indices, *bounds)) return;

  gather.oob = OobPolicy::fill_window;
  gather.fill = *fill;
  if (!replace_op(context, number, std::move(gather), context.kernel(number).tensors(), ComputeDisposition::folded,
                  "folded: a mask fills windows that are not inside, so the policy is fill_window: --oob does not apply"))
    return;
  context.program.edit_kernel(number)->fixed_policy = true;
  context.program.become_result(result, number, ComputeDisposition::folded);
}

namespace {

/// The list that has the extents of what repeats a constant; -1: there is none.
int shape_of(const FusionContext& context, int value) {
  const Compute* const repeat = context.program.compute_of(value);
  if (repeat == nullptr || repeat->as<BroadcastOp>() == nullptr || repeat->arguments.size() != 2) return -1;
  // The extents of what is repeated take the place of those in the list where they are not 1.
  const std::vector<int64_t>& repeated = context.program.type(repeat->arguments[0]).dims;
  return std::ranges::all_of(repeated, [](int64_t extent) { return extent == 1; }) ? repeat->arguments[1] : -1;
}

}  // namespace

void fuse_filled_operand(const FusionContext& context, int kernel) {
  const auto* scatter = std::get_if<Scatter>(&*context.kernel(kernel).op);
  if (scatter == nullptr || scatter->init != InitKind::copy) return;
  Scatter filled = *scatter;
  filled.init = InitKind::fill;
  std::vector<int> arguments = context.kernel(kernel).tensors();
  int shape = -1;
  for (size_t i = 0; i < filled.operands.size(); ++i) {
    if (!is_static(filled.results[i].dims)) {
      shape = filled.operands.size() == 1 ? shape_of(context, arguments[i]) : -1;
      if (shape < 0) return;
    }
    const auto value = context.reader.constant(context.reader.quantity(context.reader.elements_of(arguments[i])));
    if (!value || value->dtype != filled.results[i].dtype) return;
    filled.fill.push_back(*value);
  }
  arguments.erase(arguments.begin(), arguments.begin() + static_cast<int64_t>(filled.operands.size()));
  if (replace_op(context, kernel, std::move(filled), arguments, ComputeDisposition::folded,
                 "folded: the operand is one value everywhere, with which the result is filled") &&
      shape >= 0)
    context.program.edit_kernel(kernel)->arguments.emplace_back(ArgumentUse::result_shape, shape);
}

}  // namespace strew::inline v0::fusion
