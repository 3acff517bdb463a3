// Verifies the look-ups of a scatter (op.h). A look-up's gather is verified as any gather is; what is left are the rules that make it stand for a
// tensor of the scatter, whose positions are the scatter's. Labels: lookup_tensor, lookup_gather, lookup_dims; docs/op_text.md lists them.
//
// The tensor itself is not bound, so a call could not check its extents. Therefore they follow from other tensors: those of positions from the indices,
// and those of the window from the table, where they are open, or from the op. Tested by tests/unit/compiler/op/verify_lookups_test.cc, one test per
// label.
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"

namespace strew::inline v0 {
namespace {

/// "lookups[0]", the look-up that messages are about.
Field field_of(size_t number) { return {"lookups[", number, "]"}; }

/// The look-ups stand for different tensors of the op, and in the order that gives equal ops equal texts.
Status check_tensor_of(const Scatter& s, size_t number) {
  const Lookup& lookup = s.lookups[number];
  STREW_TRY(check_enum(Field("role of lookups[", number, "]"), lookup.of));
  if (lookup.of != Role::updates && lookup.of != Role::extra)
    return violated("lookup_tensor", "{} stands for {}; expected updates or extra", field_of(number), lookup.of);
  const size_t count = lookup.of == Role::updates ? s.updates.size() : s.extras.size();
  if (lookup.index < 0 || static_cast<size_t>(lookup.index) >= count)
    return violated("lookup_tensor", "{} stands for {} {}; expected a number from 0 to below {}", field_of(number), lookup.of,
                    lookup.index, count);
  if (number > 0) {
    const Lookup& before = s.lookups[number - 1];
    if (std::pair(before.of, before.index) >= std::pair(lookup.of, lookup.index))
      return violated("lookup_tensor",
                      "{} stands for {} {}, and the one before for {} {}; expected updates before extras, each "
                      "once and in the order of their numbers",
                      field_of(number), lookup.of, lookup.index, before.of, before.index);
  }
  if (lookup.of == Role::updates) return {};
  const ExtraKind kind = s.extras[static_cast<size_t>(lookup.index)].kind;
  if (kind == ExtraKind::per_element || kind == ExtraKind::per_position) return {};
  return violated("lookup_tensor",
                  "{} stands for an extra of kind {}; expected per_element or per_position, which have positions",
                  field_of(number), kind);
}

const TensorType& made(const Scatter& s, const Lookup& lookup) {
  const auto at = static_cast<size_t>(lookup.index);
  return lookup.of == Role::updates ? s.updates[at] : s.extras[at].type;
}

Status check_gather(const Scatter& s, size_t number) {
  const Gather& g = s.lookups[number].gather;
  if (!g.extras.empty() || g.expr != Expr{})
    return violated("lookup_gather",
                    "{} has extras or an expression; expected none: the scatter's expression reads what it gathers",
                    field_of(number));
  if (!g.result.strides.empty() || g.result != made(s, s.lookups[number]))
    return violated("lookup_gather", "{} has the result {}; expected that of {} {}, {}, without strides", field_of(number),
                    g.result, s.lookups[number].of, s.lookups[number].index, made(s, s.lookups[number]));
  if (g.operand.dtype != g.result.dtype)
    return violated("lookup_gather", "{} converts {} to {}; expected one dtype: the scatter's expression converts",
                    field_of(number), g.operand.dtype, g.result.dtype);
  const Status verified = verified_access(g, {}, /*is_lookup=*/true).status();
  if (verified.ok()) return {};
  return invalid_argument("{}: {}", field_of(number), verified.message());
}

/// Is the scatter's updates tensor bound that the call reads extents of windows from?
bool binds_updates(const Scatter& s) {
  size_t made_updates = 0;
  for (const Lookup& lookup : s.lookups) made_updates += lookup.of == Role::updates ? 1 : 0;
  return made_updates < s.updates.size();
}

/// The extents of what a look-up makes are those of the scatter, open where these are: a call reads them from tensors that it binds.
Status check_made(const Scatter& s, size_t number, const AccessDims& scatter, const AccessDims& gather, bool has_window) {
  const TensorType& made = s.lookups[number].gather.result;
  std::vector<int64_t> positions;
  for (const AccessDims::Position& position : gather.positions)
    positions.push_back(made.dims[static_cast<size_t>(position.slices_dim)]);
  if (const std::vector<int64_t> want = scatter.position_extents(s.indices.dims); positions != want)
    return violated("lookup_dims", "{} makes {}, of positions {}; expected {}, as the scatter's indices {} say", field_of(number),
                    made, positions, want, s.indices);
  for (size_t w = 0; has_window && w < scatter.window.size(); ++w) {
    const auto d = static_cast<size_t>(scatter.slices_dim(w));
    if (made.dims[d] != s.updates[0].dims[d])
      return violated("lookup_dims", "{} makes {}; expected dim {} to be {}, as it is of updates[0], {}", field_of(number), made,
                      d, extent_text(s.updates[0].dims[d]), s.updates[0]);
  }
  return {};
}

Status check_window(const Scatter& s, size_t number, const AccessDims& scatter, const AccessDims& gather) {
  const Lookup& lookup = s.lookups[number];
  const TensorType& table = lookup.gather.operand;
  for (size_t w = 0; w < gather.window.size(); ++w) {
    const auto d = static_cast<size_t>(gather.window[w]);
    const AccessDims::OperandDim& dim = gather.operand[d];
    const int64_t slice = dim.window, extent = lookup.gather.result.dims[static_cast<size_t>(dim.slices_dim)],
                  whole = table.dims[d];
    if (slice != extent)
      return violated("lookup_dims", "{} has slice_sizes {}; expected entry {} to be {}, the extent of what it makes, {}",
                      field_of(number), lookup.gather.slice_sizes, d, extent_text(extent), lookup.gather.result);
    if (slice == kDynamic && whole != kDynamic)
      return violated("lookup_dims",
                      "{} has slice_sizes {} of table {}; expected entry {} to be static: an open one is the whole dim",
                      field_of(number), lookup.gather.slice_sizes, table, d);
    if (slice != kDynamic && whole == kDynamic && (dim.component < 0 || slice > 1))
      return violated("lookup_dims",
                      "{} has slice_sizes {} of table {}; expected dim {} of the table to be static, or entry {} to be "
                      "?, the whole dim",
                      field_of(number), lookup.gather.slice_sizes, table, d, d);
    // Where no updates are bound, only a table can tell a call that windows are larger than the result.
    const auto of_result = static_cast<size_t>(scatter.window[w]);
    const bool is_open = s.results[0].dims[of_result] == kDynamic && s.operands[0].dims[of_result] == kDynamic;
    if (slice != kDynamic && whole != slice && is_open && !binds_updates(s))
      return violated("lookup_dims",
                      "{} has slice_sizes {} of table {}; expected entry {} to be the whole dim, or the result's dim {} to "
                      "be static: it is {}",
                      field_of(number), lookup.gather.slice_sizes, table, d, of_result, s.results[0]);
  }
  return {};
}

/// Dims of the table that have no window: one coordinate of each is read.
Status check_removed(const Scatter& s, size_t number, const AccessDims& gather) {
  const Gather& g = s.lookups[number].gather;
  for (size_t d = 0; d < g.operand.dims.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (gather.in_window(dim)) continue;
    if (g.slice_sizes[d] != 1)
      return violated("lookup_dims", "{} has slice_sizes {}; expected entry {} to be 1: dim {} has no window", field_of(number),
                      g.slice_sizes, d, d);
    if (gather.is_fixed(dim) && g.operand.dims[d] == kDynamic)
      return violated("lookup_dims", "{} has table {}; expected a static extent of dim {}, of which coordinate 0 is read",
                      field_of(number), g.operand, d);
  }
  return {};
}

Status check_dims_of(const Scatter& s, size_t number, const AccessDims& scatter) {
  const Lookup& lookup = s.lookups[number];
  const AccessDims gather(lookup.gather);
  const bool has_window =
      lookup.of == Role::updates || s.extras[static_cast<size_t>(lookup.index)].kind == ExtraKind::per_element;
  const std::vector<int64_t> window_dims = has_window ? s.dims.window_dims : std::vector<int64_t>();
  if (lookup.gather.dims.window_dims != window_dims)
    return violated("lookup_dims", "{} has offset_dims {}; expected {}, {}", field_of(number), lookup.gather.dims.window_dims,
                    window_dims, has_window ? "the scatter's update_window_dims" : "since an extra per position has no window");
  STREW_TRY(check_made(s, number, scatter, gather, has_window));
  STREW_TRY(check_removed(s, number, gather));
  return has_window ? check_window(s, number, scatter, gather) : Status();
}

}  // namespace

Status check_lookups(const Scatter& s, const AccessDims& dims) {
  if (s.lookups.size() > kMaxExtras)
    return violated("op_limits", "{} lookups; expected at most {}", s.lookups.size(), kMaxExtras);
  for (size_t i = 0; i < s.lookups.size(); ++i) {
    STREW_TRY(check_tensor_of(s, i));
    STREW_TRY(check_gather(s, i));
    STREW_TRY(check_dims_of(s, i, dims));
  }
  return {};
}

}  // namespace strew::inline v0
