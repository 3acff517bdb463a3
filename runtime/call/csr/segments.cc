// See strew/segments.h. The bounds are read twice, to be checked and to write ids; they are fewer than the ids as a rule.
#include "strew/segments.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "runtime/call/csr/vectors.h"

namespace strew::inline v0 {
namespace {

/// A call that was checked but for the values of its bounds.
struct Segments {
  SegmentBounds kind;
  std::string name;  ///< of the bounds in messages
  Integers bounds, ids;
  std::vector<int64_t> dims;  ///< of the bounds
  bool is_u64 = false;
  int64_t batches = 1, rows = 0;  ///< leading dims, and rows of each

  int64_t entries() const { return dims.back(); }
  int64_t segments() const { return kind == SegmentBounds::offsets ? entries() - 1 : entries(); }
};

/// "offsets[1, 4]: 3"
std::string text_of(const Segments& of, int64_t number) {
  std::string at;
  int64_t rest = number;
  for (size_t d = of.dims.size(); d-- > 0; rest /= of.dims[d])
    at = std::to_string(rest % of.dims[d]) + (at.empty() ? "" : ", ") + at;
  const int64_t value = value_at(of.bounds, number);
  return of.name + "[" + at + "]: " + (of.is_u64 ? std::to_string(static_cast<uint64_t>(value)) : std::to_string(value));
}

std::string extent_of(const Segments& of) { return std::to_string(of.rows) + ", the rows that there are"; }

Status check_lengths(const Segments& of, int64_t first) {
  int64_t sum = 0;
  for (int64_t s = 0; s < of.entries(); ++s) {
    const int64_t length = value_at(of.bounds, first + s);
    if (length < 0 || length > of.rows) return invalid_argument(text_of(of, first + s) + ", expected 0 to " + extent_of(of));
    // Of lengths that are checked, the sum may still not fit 64 bits.
    if (__builtin_add_overflow(sum, length, &sum)) sum = std::numeric_limits<int64_t>::max();
  }
  if (sum == of.rows) return {};
  return invalid_argument(of.name + ": " + std::to_string(sum) + " rows in all, expected " + extent_of(of));
}

Status check_offsets(const Segments& of, int64_t first) {
  int64_t before = 0;
  for (int64_t s = 0; s < of.entries(); ++s) {
    const int64_t offset = value_at(of.bounds, first + s);
    if (s == 0 && offset != 0) return invalid_argument(text_of(of, first) + ", expected 0, where the first segment begins");
    if (offset < 0 || offset > of.rows) return invalid_argument(text_of(of, first + s) + ", expected 0 to " + extent_of(of));
    if (offset < before)
      return invalid_argument(text_of(of, first + s) + ", expected at least the one before, " + std::to_string(before));
    before = offset;
  }
  if (of.kind == SegmentBounds::starts || before == of.rows) return {};
  return invalid_argument(text_of(of, first + of.entries() - 1) + ", expected " + extent_of(of));
}

Status check_values(const Segments& of) {
  const bool may_be_empty = of.kind == SegmentBounds::lengths || (of.kind == SegmentBounds::starts && of.rows == 0);
  if (of.entries() == 0 && !may_be_empty)
    return invalid_argument(of.name + ": no elements, expected where each segment begins" +
                            (of.kind == SegmentBounds::offsets ? " and the last one ends" : ""));
  for (int64_t b = 0; b < of.batches; ++b)
    STREW_TRY(of.kind == SegmentBounds::lengths ? check_lengths(of, b * of.entries()) : check_offsets(of, b * of.entries()));
  return {};
}

/// `step`: bytes from an id to the next, which may be a constant.
template <class Id, class Step>
void write(const Segments& of, Step step) {
  char* to = of.ids.data;
  for (int64_t b = 0; b < of.batches; ++b) {
    const int64_t first = b * of.entries();
    int64_t row = 0;
    for (int64_t s = 0; s < of.segments(); ++s) {
      const auto id = static_cast<Id>(b * of.segments() + s);
      int64_t end = of.rows;
      if (of.kind == SegmentBounds::lengths)
        end = row + value_at(of.bounds, first + s);
      else if (s + 1 < of.entries())
        end = value_at(of.bounds, first + s + 1);
      for (; row < end; ++row, to += step) std::memcpy(to, &id, sizeof id);
    }
  }
}

template <class Id>
void write(const Segments& of) {
  constexpr int64_t kStep = sizeof(Id);
  of.ids.step == kStep ? write<Id>(of, std::integral_constant<int64_t, kStep>()) : write<Id>(of, of.ids.step);
}

/// The view as one with one dim: `extent` is set to what its only dim has. Checks its rank, its dims, and that more dims than one are contiguous.
Expected<TensorView> as_vector(const TensorView& view, const std::string& name, int64_t& extent) {
  TensorView flat = view;
  if (view.rank <= 1) return flat;
  if (view.dims == nullptr) return invalid_argument(name + ": dims is null, expected " + std::to_string(view.rank) + " extents");
  for (int32_t d = 0; d < view.rank; ++d)
    if (view.dims[d] < 0)
      return invalid_argument(name + ": dim " + std::to_string(d) + " is " + std::to_string(view.dims[d]) + ", expected >= 0");
  const bool is_empty = std::find(view.dims, view.dims + view.rank, 0) != view.dims + view.rank;
  extent = is_empty ? 0 : 1;
  for (int32_t d = view.rank - 1; d >= 0 && !is_empty; --d) {
    if (view.strides != nullptr && view.dims[d] > 1 && view.strides[d] != extent)
      return invalid_argument(name + ": stride " + std::to_string(view.strides[d]) + " of dim " + std::to_string(d) +
                              ", expected " + std::to_string(extent) + ": of several dims they are contiguous");
    if (__builtin_mul_overflow(extent, view.dims[d], &extent))
      return invalid_argument(name + ": its byte extent does not fit 63 bits");
  }
  flat.rank = 1;
  flat.dims = &extent;
  flat.strides = nullptr;
  return flat;
}

Status check_leading(const TensorView& bounds, const TensorView& ids, const std::string& name) {
  if (bounds.rank != ids.rank)
    return invalid_argument("ids: rank " + std::to_string(ids.rank) + ", expected " + std::to_string(bounds.rank) +
                            ", the rank of " + name);
  for (int32_t d = 0; d + 1 < ids.rank; ++d)
    if (bounds.dims[d] != ids.dims[d])
      return invalid_argument("ids: dim " + std::to_string(d) + " is " + std::to_string(ids.dims[d]) + ", expected " +
                              std::to_string(bounds.dims[d]) + ", as in " + name);
  return {};
}

}  // namespace

Status segment_ids(const TensorView& bounds, SegmentBounds kind, const TensorView& ids) {
  if (kind != SegmentBounds::lengths && kind != SegmentBounds::starts && kind != SegmentBounds::offsets)
    return invalid_argument("kind: number " + std::to_string(static_cast<int>(kind)) + ", expected lengths, starts or offsets");
  const std::string name = kind == SegmentBounds::lengths ? "lengths" : "offsets";
  int64_t extent = 0, of_ids = 0;
  STREW_ASSIGN(const TensorView flat, as_vector(bounds, name, extent));
  STREW_ASSIGN(const TensorView flat_ids, as_vector(ids, "ids", of_ids));
  NamedView in{name, flat, false}, out{"ids", flat_ids, true};
  STREW_TRY(check_vector(in));
  STREW_TRY(check_vector(out));
  STREW_TRY(check_leading(bounds, ids, name));
  Segments of{kind, name, {}, {}, {bounds.dims, bounds.dims + bounds.rank}};
  of.is_u64 = bounds.dtype == DType::u64;
  for (int32_t d = 0; d + 1 < ids.rank; ++d) of.batches *= ids.dims[d];
  of.rows = ids.dims[ids.rank - 1];
  const int64_t last = of.batches * of.segments() - 1;
  if (ids.dtype == DType::i32 && last > std::numeric_limits<int32_t>::max())
    return invalid_argument("ids: dtype i32, expected i64: there are " + std::to_string(last + 1) + " segments");
  STREW_TRY(check_address(in));
  STREW_TRY(check_address(out));
  STREW_TRY(check_apart(out, in));
  of.bounds = integers_of(in);
  of.ids = integers_of(out);
  STREW_TRY(check_values(of));
  ids.dtype == DType::i32 ? write<int32_t>(of) : write<int64_t>(of);
  return {};
}

}  // namespace strew::inline v0
