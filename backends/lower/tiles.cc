// See tiles.h.
#include "backends/lower/tiles.h"

#include "backends/lower/vector_code.h"

namespace strew::inline v0::lowered {
namespace {

constexpr int kSmallest = 4, kLargest = 16;

/// Can vectors of such elements be shuffled?
bool has_lanes(const PlanTensor& tensor) {
  const int width = bits(tensor.dtype);
  return width >= 8 && width <= 64;
}

bool is_whole(const Kernel& kernel, size_t level) {
  return std::ranges::all_of(kernel.placings, [&](const Placing& each) { return each.bounds[level] == Bounds::whole; });
}

/// Does every iteration of the window's loops have a result of its own? Then the order of loops does not matter.
bool writes_each_once(const Kernel& kernel) {
  return std::ranges::none_of(kernel.update.results, [&](int result) {
    return std::ranges::any_of(kernel.plan.window,
                               [&](const Loop& loop) { return loop.strides[static_cast<size_t>(result)].is(0); });
  });
}

/// Are the elements of every tensor side by side along one of the loops, some along `columns` and some along `rows`, or read again for all columns?
bool suits(const Kernel& kernel, const Loop& rows, const Loop& columns) {
  const Body& body = kernel.update;
  bool has_rows = false, has_columns = false;
  for (const int tensor : tensors_of(kernel.plan, body)) {
    if (!has_lanes(kernel.plan.tensors[static_cast<size_t>(tensor)])) return false;
    const Term& step = columns.strides[static_cast<size_t>(tensor)];
    const bool is_result = std::ranges::find(body.results, tensor) != body.results.end();
    if (is_transposed(tensor, rows, columns))
      has_columns = true;
    else if (step.is(1))
      has_rows = true;
    else if (is_result || !step.is(0))
      return false;
  }
  return has_rows && has_columns;
}

/// The elements of an extent that tiles of this size do: the last tile overlaps the one before. Of one that is open or long, that hardly matters.
int64_t covered(const Term& extent, int size) {
  constexpr int64_t kLong = 1024;  // divisible by every size
  return extent.is_static() && extent.factor < kLong ? (extent.factor + size - 1) / size * size : kLong;
}

/// The size that takes the least time; 0: the loops are shorter than the smallest tiles, or these would overlap so much that they do 2.5 times the elements (on
/// Zen 4, 2,000 matrices of 5 x 5 bytes take 1.4 times as long in tiles, of 5 x 7 as long, of 5 x 9 0.65 of the time).
int best_size(const Loop& rows, const Loop& columns, int largest) {
  // Time per element in quarters of that in the largest tiles.
  const auto cost = [](int size) { return size >= 16 ? 4 : size >= 8 ? 5 : 6; };
  int best = 0;
  int64_t least = 0;
  for (int size = largest; size >= kSmallest; size /= 2) {
    const auto fits = [&](const Loop& loop) { return !loop.extent.is_static() || loop.extent.factor >= size; };
    if (!fits(rows) || !fits(columns)) continue;
    const int64_t elements = covered(rows.extent, size) * covered(columns.extent, size), time = elements * cost(size);
    if (2 * elements > 5 * covered(rows.extent, 1) * covered(columns.extent, 1) || (best != 0 && time >= least)) continue;
    best = size;
    least = time;
  }
  return best;
}

/// Shall tiles follow one another along the rows? The longer loop inside reads or writes long runs of lines, unless the rows that are written lie so that their
/// lines compete for few places of the cache. On Zen 4, ns per f32 of a copy in another order of dims, with the loop of columns inside and with that of rows:
/// 2,000 rows of 64 0.113 and 0.093, 400,000 rows of 64 1.02 and 0.60, 64 rows of 400,000 0.71 and 1.27, 1,008 of 1,008 0.13 and 0.11, 2,000 of 256 0.13 and
/// 0.15.
bool pays_rows_inside(const Kernel& kernel, const Loop& rows, const Loop& columns) {
  constexpr int64_t kCompeting = 1024;
  if (!rows.extent.is_static() || !columns.extent.is_static() || rows.extent.factor < columns.extent.factor) return false;
  return std::ranges::none_of(kernel.update.results, [&](int result) {
    const Term& step = rows.strides[static_cast<size_t>(result)];
    const int64_t bytes = bits(kernel.plan.tensors[static_cast<size_t>(result)].dtype) / 8;
    return !step.is_static() || step.factor * bytes % kCompeting == 0;
  });
}

}  // namespace

Walk::Tile tile_of(const Kernel& kernel, const Entry& entry) {
  const Plan& plan = kernel.plan;
  const Body& body = kernel.update;
  if (entry.walk.way != Walk::Way::windows || plan.window.size() < 2 || !kernel.fills.empty() || kernel.wide) return {};
  if (body.once || has_row_values(plan) || !writes_each_once(kernel)) return {};
  const size_t inner = plan.window.size() - 1;
  const Loop& columns = plan.window[inner];
  const int largest = std::min(lanes_of(plan, body, kernel.schedule.vector_bytes), kLargest);
  for (size_t level = inner; level-- > 0;) {
    const Loop& rows = plan.window[level];
    if (!is_whole(kernel, level) || !is_whole(kernel, inner) || !suits(kernel, rows, columns)) continue;
    return {level, best_size(rows, columns, largest), pays_rows_inside(kernel, rows, columns)};
  }
  return {};
}

}  // namespace strew::inline v0::lowered
