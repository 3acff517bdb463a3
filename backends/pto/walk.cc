// See walk.h. A row is the longest run of elements that is contiguous in all tensors, cut into equal parts where
// windows may start inside it. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backends/pto/combine.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

/// The most parts into which a row is cut if windows may start inside it.
constexpr int64_t kMostParts = 64;
/// The least elements of a part of a row; shorter parts are not worth an instruction each.
constexpr int64_t kShortestPart = 8;

/// Is it other than a 0 whose bits are all 0?
bool has_value(const Scalar& fill) { return fill.bits[0] != 0 || fill.bits[1] != 0; }

/// A loop of one iteration with strides of 0.
Loop unit_loop(const Plan& plan) {
  Loop loop;
  loop.extent = constant(1);
  loop.strides.assign(plan.tensors.size(), constant(0));
  loop.moves.assign(plan.sources.size(), {.scale = constant(1)});
  return loop;
}

/// Cuts rows into parts of `each` elements, over which a loop goes.
void cut(const Plan& plan, const std::vector<int>& tensors, int64_t each, RowWalk& walk) {
  Loop part = unit_loop(plan);
  part.extent = constant(walk.width / each);
  for (const int t : tensors) part.strides[static_cast<size_t>(t)] = constant(each);
  walk.width = each;
  walk.window.push_back(std::move(part));
}

/// The strides of all that moves rows: in the table, and in the tables of look-ups whose rows are moved.
std::vector<Term> table_steps(const Plan& plan, const std::vector<int>& tensors, const RowWalk& walk) {
  std::vector<Term> out;
  for (const int tensor : tensors) {
    const int source = plan.tensors[static_cast<size_t>(tensor)].source;
    if (tensor != plan.indexed() && source <= 0) continue;
    const auto table = static_cast<size_t>(tensor);
    out.push_back(walk.axis.strides[table]);
    for (const Component& c : plan.sources[static_cast<size_t>(source)].components) out.push_back(c.strides[table]);
    for (const std::vector<Loop>* loops : {&walk.window, &walk.outer})
      for (const Loop& loop : *loops) out.push_back(loop.strides[table]);
  }
  return out;
}

/// Cuts rows into equal parts such that no stride of the table leads into the middle of one.
void cut_rows(const Plan& plan, const std::vector<int>& tensors, RowWalk& walk) {
  int64_t unit = walk.width;
  for (const Term& step : table_steps(plan, tensors, walk)) unit = std::gcd(unit, step.factor);
  if (unit != walk.width && unit != 0 && walk.width / unit <= kMostParts) cut(plan, tensors, unit, walk);
}

/// Cuts rows into the longest equal parts of at most `most` elements.
Status cut_to_fit(const Plan& plan, const std::vector<int>& tensors, int64_t most, RowWalk& walk) {
  if (walk.width <= most) return {};
  int64_t each = most;
  while (each >= kShortestPart && walk.width % each != 0) --each;
  if (each < kShortestPart) return unsupported("rows of " + std::to_string(walk.width) + " elements, which no equal parts fit");
  cut(plan, tensors, each, walk);
  return {};
}

/// The tensors whose rows are moved: tables, updates or the result, and extra inputs per element.
std::vector<int> row_tensors(const Plan& plan) {
  std::vector<int> out;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlanTensor& tensor = plan.tensors[t];
    const bool moves = tensor.role == Role::updates || tensor.role == Role::result ||
                       (plan.gather && tensor.role == Role::operand) ||
                       (tensor.role == Role::extra && tensor.extra == ExtraKind::per_element);
    if (moves && tensor.bound) out.push_back(static_cast<int>(t));
  }
  return out;
}

/// Finds matrices in fractals: a table [columns, rows, 32 bytes] indexed in its rows, and updates of the same form.
/// a3's headers have instructions that move whole rows of such a matrix; ptoas does not.
void find_fractals(const Frame& frame, RowWalk& walk) {
  const Plan& plan = frame.plan;
  if (frame.chip != Chip::a3 || frame.options.output != Output::pto_cpp || frame.has_strides() || plan.pairs != 1 ||
      plan.sources.size() != 1 || plan.primary().components.size() != 1)
    return;
  const Component& c = plan.primary().components[0];
  const auto table = static_cast<size_t>(frame.table(0)), other = static_cast<size_t>(slices_of(plan, 0));
  const Expected<Combine> combine = choose_combine(frame);
  const bool moves = combine.ok() && (plan.gather ? plan.pure_move : combine->way != CombineWay::compute && same_types(plan));
  const Words& words = frame.words(static_cast<int>(table));
  const bool wide = walk.width * words.count * bits(words.element.dtype) == kFractalBytes * 8;
  if (!moves || !wide || frame.checks_first() || !c.window.is(1) || !walk.outer.empty() || walk.window.size() != 1) return;
  const Term &rows = c.dim, &count = walk.axis.extent;
  const Loop& across = walk.window[0];
  const auto whole = [](const Term& t) { return t.is_static() && t.factor > 0 && t.factor % kFractalRows == 0; };
  const bool shaped = whole(rows) && whole(count) && !across.move().is_bounded && across.extent.is_static() &&
                      c.strides[table].is(walk.width) && walk.axis.strides[table].is(0) &&
                      walk.axis.strides[other].is(walk.width) && across.strides[table].is(rows.factor * walk.width) &&
                      across.strides[other].is(count.factor * walk.width) &&
                      frame.extent(static_cast<int>(table)).is(rows.factor * walk.width * across.extent.factor) &&
                      frame.options.tile_rows % kFractalRows == 0;
  if (!shaped) return;
  walk.fractals = across.extent.factor;
  walk.window.clear();
  walk.slab = true;
}

/// Fails at a tensor whose strides the rows of tiles cannot have. A core initialises a range of the table's memory, and mscatter and mgather
/// count its rows, so tables are contiguous. Rows of the others are side by side in a tile, and must not overlap in memory.
Status check_strides(const Frame& frame, const RowWalk& walk, const std::vector<int>& tensors) {
  const Plan& plan = frame.plan;
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const PlanTensor& tensor = plan.tensors[t];
    const int number = static_cast<int>(t);
    if (!tensor.bound || !frame.has_strides(number)) continue;
    const Term& step = walk.axis.strides[t];
    const bool apart = walk.elements || (step.is_static() && step.factor >= walk.width);
    const bool is_table = plan.is_indexed(number) || tensor.role == Role::operand;
    if (is_table || (std::ranges::count(tensors, number) > 0 && !apart))
      return unsupported(std::string(name(tensor.role)) + " " + std::to_string(tensor.index) + " with strides");
  }
  return {};
}

/// Fails unless the extra input can be a tile of the shape of the updates: tiles have no broadcast along rows.
Status check_extra(const Frame& frame, const RowWalk& walk, int tensor) {
  const PlanTensor& extra = frame.plan.tensors[static_cast<size_t>(tensor)];
  const DType dtype = frame.words(tensor).element.dtype;
  if (extra.extra == ExtraKind::per_element) return {};
  const bool adjacent = extra.source > 0 || walk.axis.strides[static_cast<size_t>(tensor)].is(1);
  if (extra.extra == ExtraKind::per_position && walk.elements && adjacent) return {};
  if (extra.extra == ExtraKind::scalar && frame.has(Opcode::texpands, dtype) && frame.has(Opcode::load_scalar, dtype) &&
      !(is_unsigned_integer(dtype) && frame.options.output != Output::pto_cpp))
    return {};
  return unsupported(
      fmt::format("an extra input is {} of {}, expected per_element: tiles have no broadcast; give it the shape of the updates",
                  name(extra.extra), name(extra.dtype)));
}

/// Fails unless index tiles can say which rows of the tables the look-up reads.
Status check_lookup(const IndexSource& lookup) {
  if (lookup.components.empty()) return unsupported("a look-up without an index component");
  for (size_t k = 0; k < lookup.components.size(); ++k) {
    const DType dtype = lookup.components[k].dtype;
    if (bits(dtype) < 32) return unsupported("a look-up by indices of " + std::string(name(dtype)));
    if (rule_of(lookup, k) == PlaceRule::wrapped) return unsupported("a look-up with policy wrap");
  }
  if (is_fill(lookup.oob) && has_value(lookup.fill))
    return unsupported("a look-up with a fill value other than 0: the chip's mode is zero");
  return {};
}

}  // namespace

void split_scales(std::vector<Loop>& window) {
  for (size_t i = 0; i < window.size(); ++i) {
    const LoopMove move = window[i].move();
    const std::optional<Term> coordinates = quotient(window[i].extent, move.scale);
    if (!move.is_bounded || move.scale.is(1) || !coordinates) continue;
    Loop inner = window[i];
    inner.extent = move.scale;
    inner.move().is_bounded = false;
    inner.move().scale = constant(1);
    for (Term& stride : window[i].strides) stride = stride * move.scale;
    window[i].extent = *coordinates;
    window[i].move().scale = constant(1);
    window.insert(window.begin() + static_cast<ptrdiff_t>(i) + 1, std::move(inner));
  }
}

const char* chip_mode(const Plan& plan, PlaceRule rule) {
  switch (rule) {
    case PlaceRule::fits:
    case PlaceRule::inside:
    case PlaceRule::cut:
      return plan.gather ? "zero" : "skip";
    case PlaceRule::clamped:
      return "clamp";
    case PlaceRule::wrapped:
    case PlaceRule::split:
      return "wrap";
    case PlaceRule::trusted:
      break;
  }
  return "undefined";
}

std::optional<std::string> own_mode(const Plan& plan) {
  if (plan.primary().oob == OobPolicy::error) return std::nullopt;
  const std::string mode = chip_mode(plan, rule_of(plan.primary(), 0));
  // The chip reads indices as u32, so its modes clamp and wrap are right for unsigned indices only.
  if ((mode == "clamp" || mode == "wrap") && !is_unsigned_integer(index_of(plan).dtype)) return std::nullopt;
  return mode;
}

int slices_of(const Plan& plan, int pair) { return plan.gather ? plan.result(0) : plan.update(pair); }

bool in_tiles(const PlanTensor& tensor) {
  return tensor.role == Role::extra && (tensor.extra == ExtraKind::per_element || tensor.extra == ExtraKind::per_window);
}

Expected<RowWalk> row_walk(const Frame& frame, int64_t most) {
  const Plan& plan = frame.plan;
  if (plan.primary().components.empty()) return unsupported("no index component");
  if (plan.positions.empty()) return unsupported("one position");
  if (frame.one_by_one()) return unsupported("elements that the chip combines one by one");
  for (const Component& c : plan.primary().components)
    if (bits(c.dtype) < 32) return unsupported("indices of " + std::string(name(c.dtype)));
  RowWalk walk;
  walk.outer.assign(plan.positions.begin(), plan.positions.end() - 1);
  walk.axis = plan.positions.back();
  walk.window = plan.window;
  split_scales(walk.window);
  const std::vector<int> tensors = row_tensors(plan);
  if (!walk.window.empty() && !walk.window.back().move().is_bounded && walk.window.back().extent.is_static()) {
    const Loop& last = walk.window.back();
    if (std::ranges::all_of(tensors, [&](int t) { return last.strides[static_cast<size_t>(t)].is(1); })) {
      walk.width = last.extent.factor;
      walk.window.pop_back();
    }
  }
  cut_rows(plan, tensors, walk);
  STREW_TRY(cut_to_fit(plan, tensors, most, walk));
  if (!std::ranges::all_of(table_steps(plan, tensors, walk), [&](const Term& step) { return divides(step, walk.width); }))
    return unsupported("windows that start inside of a row of " + std::to_string(walk.width) + " elements");
  const auto table = static_cast<size_t>(frame.table(0));
  walk.elements = walk.width == 1 && std::ranges::all_of(tensors, [&](int t) {
                    return frame.words(t).count == 1 && (plan.is_indexed(t) || walk.axis.strides[static_cast<size_t>(t)].is(1));
                  });
  STREW_TRY(check_strides(frame, walk, tensors));
  const Component& c = index_of(plan);
  walk.slab = plan.primary().components.size() == 1 && c.window.is(1) && walk.window.empty() && walk.axis.strides[table].is(0) &&
              c.strides[table].is(walk.width) && std::none_of(plan.sources.begin() + 1, plan.sources.end(), drops);
  if (frame.options.through_l1) STREW_TRY(find_l1(frame, walk));
  find_fractals(frame, walk);
  const IndexSource& source = plan.primary();
  if (source.oob == OobPolicy::wrap && !walk.slab) return unsupported("policy wrap where more than one component names a row");
  if (source.oob == OobPolicy::wrap && bits(c.dtype) == 64) return unsupported("policy wrap of 64-bit indices");
  if (is_fill(source.oob) && has_value(source.fill)) return unsupported("a fill value other than 0: the chip's mode is zero");
  for (size_t s = 1; s < plan.sources.size(); ++s) STREW_TRY(check_lookup(plan.sources[s]));
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (plan.tensors[t].role == Role::extra) STREW_TRY(check_extra(frame, walk, static_cast<int>(t)));
  if (plan.kind == PlanKind::general && !walk.window.empty() && !plan.unique.holds && !plan.gather) {
    STREW_ASSIGN(const Combine combine, choose_combine(frame));
    if (!combine.any_order) return unsupported("windows that may overlap partly, in order");
  }
  return walk;
}

WindowWalk window_walk(const Frame& frame) {
  const Plan& plan = frame.plan;
  WindowWalk walk;
  walk.around = plan.window;
  walk.axis = walk.run = unit_loop(plan);
  split_scales(walk.around);
  const auto moved = [&](const Loop& loop) {
    for (int pair = 0; pair < plan.pairs; ++pair)
      if (!loop.strides[static_cast<size_t>(frame.table(pair))].is(1) ||
          !loop.strides[static_cast<size_t>(slices_of(plan, pair))].is(1))
        return false;
    for (size_t t = 0; t < plan.tensors.size(); ++t)
      if (in_tiles(plan.tensors[t]) && !loop.strides[t].is(1)) return false;
    return true;
  };
  if (frame.attempt.single) return walk;
  if (!walk.around.empty() && moved(walk.around.back())) {
    walk.run = walk.around.back();
    walk.around.pop_back();
  }
  const int64_t most = std::max<int64_t>(8, (int64_t{16} << 10) * 8 / frame.widest());
  walk.cols = std::min<int64_t>(walk.run.extent.is_static() ? std::max<int64_t>(walk.run.extent.factor, 1) : most, most);
  // Of the remaining loops, the longest runs along the rows of a tile, if these do not overlap in memory.
  if (walk.around.empty()) return walk;
  const auto extent = [&](const Loop& loop) {
    for (size_t t = 0; t < plan.tensors.size(); ++t)
      if (const Term& step = loop.strides[t];
          frame.has_strides(static_cast<int>(t)) && (!step.is_static() || step.factor < walk.cols))
        return int64_t{-1};
    return frame.assumed(loop.extent);
  };
  const auto longest = std::ranges::max_element(walk.around.rbegin(), walk.around.rend(), {}, extent);  // the last of several
  if (extent(*longest) < 0) return walk;
  walk.axis = *longest;
  walk.has_axis = true;
  walk.around.erase(std::next(longest).base());
  return walk;
}

}  // namespace strew::inline v0::pto
