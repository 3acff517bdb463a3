// See window.h. Where the policy cuts a window, the bounds of its loops are clipped; there are no masks. A dim that wraps is walked in two
// segments, by a loop of two iterations around one copy of the nest, and a dim of a table outside of which a look-up fills in three. The first window
// loop may be cut in addition (WindowCut). Such a cut may leave an empty range, which must not have a negative length, so its end is set to its begin.
// The same is done where look-ups cut what the results' policy or another look-up has left. Windows that the policy drops or fills are
// skipped by a branch; single elements use a sink slot instead (redirect_to_sink()). What a look-up fills is another body (Kernel::filled): for whole
// windows, a branch around the loops chooses it; for parts of windows, one around the innermost loop.
// Tested by tests/differential; wrapping also by tests/unit and the TensorScatter oracle.
#include "backends/llvm/address/window.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "backends/llvm/compute/tile.h"
#include "backends/lower/tiles.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

/// The update where the look-ups in `filling`, a bit for each of Kernel::fills, fill.
const lowered::Body& update_of(const Frame& f, size_t filling) {
  return filling == 0 ? f.kernel.update : f.kernel.filled[filling - 1];
}

/// May the table of Kernel::fills[i] have some elements of a window and not others? Then what the look-up gives is decided inside the loops.
bool fills_parts(const Frame& f, size_t i) { return f.kernel.placings[f.kernel.fills[i]].cuts_windows(); }

/// Calls `emit` with the set of look-ups that fill: where none does, and for each set of them that may. Only those are asked whether they do that fill
/// parts of windows, or whole ones; `filling`: the others, and those of the first i.
void by_found(Frame& f, const Found& found, bool parts, llvm::function_ref<void(size_t filling)> emit, size_t filling = 0,
              size_t i = 0) {
  while (i < found.size() && fills_parts(f, i) != parts) ++i;
  if (i >= found.size()) return emit(filling);
  f.e.when_likely(
      found[i], [&] { by_found(f, found, parts, emit, filling, i + 1); },
      [&] { by_found(f, found, parts, emit, filling | size_t{1} << i, i + 1); });
}

class WindowEmitter {
 public:
  /// `body`: what is done where `placements` is null; else the update, where the look-ups in `filling` fill, and those that `placements` says.
  WindowEmitter(Frame& frame, const lowered::Body& body, const Placements* placements, WindowCut cut, size_t filling = 0)
      : f_(frame), e_(frame.e), body_(body), placements_(placements), cut_(cut), filling_(filling), loops_(frame.plan.window) {}

  void emit(const Pointers& p) {
    const Found found = placements_ == nullptr ? Found() : placements_->found;
    if (loops_.empty()) return emit_lane_loop(f_, body_, p, nullptr, e_.i64(0), e_.i64(1));
    nest(p, found, 0);
  }

 private:
  struct Range {
    Value *lo, *hi;
  };

  void nest(const Pointers& p, const Found& found, size_t level) {
    for_segments(f_, placements_, p, found, level, cut_, [&](const Pointers& from, const Found& there, Value* lo, Value* hi) {
      if (has_register_tiles() && level == tile().rows) return across(from, there, level + 1, lo, hi);
      if (level + 2 != loops_.size() || !transposes()) return walk(from, there, level, lo, hi);
      tiles(from, there, level, {lo, hi}, {e_.i64(0), f_.term(loops_.back().extent)});
    });
  }

  /// Does the innermost loop step over lines of a tensor whose elements the loop around it reads one after the other?
  bool transposes() const {
    const size_t inner = loops_.size() - 1, outer = inner - 1;
    const auto is_cut = [&](size_t level) {
      return std::ranges::any_of(f_.kernel.placings, [&](const lowered::Placing& each) {
        return level < each.bounds.size() && each.bounds[level] != lowered::Bounds::whole;
      });
    };
    if (is_cut(outer) || is_cut(inner) || !body_.locals.empty() || has_row_values(f_.plan)) return false;
    return std::ranges::any_of(lowered::tensors_of(f_.plan, body_), [&](int tensor) {
      const Term &step = loops_[inner].strides[static_cast<size_t>(tensor)],
                 &step_around = loops_[outer].strides[static_cast<size_t>(tensor)];
      return step_around.is(1) && !step.is(0) && !step.is(1);
    });
  }

  const lowered::Walk::Tile& tile() const { return f_.entry.walk.tile; }
  bool has_register_tiles() const { return tile().size > 0 && &body_ == &f_.kernel.update; }
  const Loop& rows() const { return loops_[tile().rows]; }
  const Loop& columns() const { return loops_.back(); }

  /// The loops from `level` on, and in tiles of the innermost the iterations [lo, hi) of the loop of rows, which is outside of them.
  void across(const Pointers& p, const Found& found, size_t level, Value* lo, Value* hi) {
    if (level + 1 == loops_.size()) return register_tiles(p, found, lo, hi);
    for_segments(
        f_, placements_, p, found, level, cut_, [&](const Pointers& from, const Found& there, Value* first, Value* last) {
          e_.loop(first, last, [&](Value* i) { across(f_.step(from, loops_[level].strides, i), there, level + 1, lo, hi); });
        });
  }

  /// Where results are not read, the last tiles begin where they end with the loops, and compute some elements again; else what is left over is done element by
  /// element, as loops shorter than a tile are.
  void register_tiles(const Pointers& p, const Found& found, Value* lo, Value* hi) {
    Value *const end = f_.term(columns().extent), *const size = e_.i64(tile().size);
    TileEmitter emitter(f_, body_, rows(), columns(), tile().size);
    if (reads_results()) {
      const auto whole = [&](Value* length) { return e_.b.CreateAnd(length, e_.i64(-tile().size)); };
      Value *const rows_end = e_.add(lo, whole(e_.b.CreateSub(hi, lo))), *const columns_end = whole(end);
      tile_loops({lo, rows_end}, {e_.i64(0), columns_end}, [&](Value* i, Value* j) { emitter.emit(p, i, j); });
      tiles(p, found, tile().rows, {lo, rows_end}, {columns_end, end});
      return tiles(p, found, tile().rows, {rows_end, hi}, {e_.i64(0), end});
    }
    Value* const has_rows = e_.b.CreateICmpSGE(e_.b.CreateSub(hi, lo), size);
    Value* const has_columns = e_.b.CreateICmpSGE(end, size);
    e_.when(
        e_.b.CreateAnd(has_rows, has_columns),
        [&] {
          Value *const last_row = e_.b.CreateSub(hi, size), *const last_column = e_.b.CreateSub(end, size);
          tile_loops({lo, hi}, {e_.i64(0), end}, [&](Value* i, Value* j) {
            Value *const row = e_.smin(i, last_row), *const column = e_.smin(j, last_column);
            emitter.emit(p, row, column);
          });
        },
        [&] {
          tiles(p, found, tile().rows, {lo, hi}, {e_.i64(0), end});
        });
  }

  /// Calls `emit` with the first row and column of tiles. What lies side by side in a line is done together, so that lines are used up while they are in the
  /// first-level cache.
  void tile_loops(const Range& of_rows, const Range& of_columns, llvm::function_ref<void(Value* row, Value* column)> emit) {
    constexpr int64_t kLine = 64;
    const int64_t size = tile().size;
    const bool swap = tile().rows_inside;
    const auto [outer, inner] = swap ? std::pair(of_columns, of_rows) : std::pair(of_rows, of_columns);
    int64_t bytes = kLine;
    for (const int tensor : lowered::tensors_of(f_.plan, body_))
      if (lowered::is_transposed(tensor, rows(), columns()) != swap) bytes = std::min(bytes, f_.element_bytes(tensor));
    const int64_t together = std::max(size, kLine / bytes);
    const auto tile_at = [&](Value* i, Value* j) { swap ? emit(j, i) : emit(i, j); };
    e_.loop(outer.lo, outer.hi, {together, 1}, [&](Value* i0) {
      e_.loop(inner.lo, inner.hi, {size, 1}, [&](Value* j) {
        if (together == size) return tile_at(i0, j);
        Value* const i1 = e_.smin(e_.add(i0, e_.i64(together)), outer.hi);
        e_.loop(i0, i1, {size, 1}, [&](Value* i) { tile_at(i, j); });
      });
    });
  }

  bool reads_results() const {
    bool reads = false;
    lowered::for_inputs(body_, [&](const ExprNode&, const lowered::Operand& operand) {
      reads |= operand.in_memory() && std::ranges::find(body_.results, operand.number) != body_.results.end();
    });
    return reads;
  }

  /// The innermost loop and one around it in tiles, so that a line is used up while it is in the first-level cache. On Zen 4, a copy of 1,024 x 1,024 f32 in another
  /// order of dims, whose lines compete for one place in the cache, takes 0.14 of the time so, one of 300,000 x 64 0.28, one of 1,000 x 1,000 about as long.
  void tiles(const Pointers& p, const Found& found, size_t outer, const Range& rows, const Range& columns) {
    constexpr int64_t kOuter = 16, kInner = 8;  // elements of a line; lines
    const size_t inner = loops_.size() - 1;
    e_.loop(rows.lo, rows.hi, {kOuter, 1}, [&](Value* i0) {
      Value* const i1 = e_.smin(e_.add(i0, e_.i64(kOuter)), rows.hi);
      e_.loop(columns.lo, columns.hi, {kInner, 1}, [&](Value* j0) {
        Value* const j1 = e_.smin(e_.add(j0, e_.i64(kInner)), columns.hi);
        e_.loop(i0, i1, [&](Value* i) { walk(f_.step(p, loops_[outer].strides, i), found, inner, j0, j1); });
      });
    });
  }

  void walk(const Pointers& p, const Found& found, size_t level, Value* lo, Value* hi) {
    const Loop& loop = loops_[level];
    if (level + 1 < loops_.size()) return e_.loop(lo, hi, [&](Value* i) { nest(f_.step(p, loop.strides, i), found, level + 1); });
    if (placements_ == nullptr) return emit_lane_loop(f_, body_, p, &loop, lo, hi);
    by_found(
        f_, found, /*parts=*/true, [&](size_t filling) { emit_lane_loop(f_, update_of(f_, filling), p, &loop, lo, hi); },
        filling_);
  }

  Frame& f_;
  Emitter& e_;
  const lowered::Body& body_;
  const Placements* placements_;  // null: every window loop runs in full
  WindowCut cut_;
  size_t filling_;
  const std::vector<Loop>& loops_;
};

constexpr int64_t kWidestSink = 16;  // bytes of the widest element

/// Elements on the call's stack for dropped stores, kWidestSink bytes apart. They are zero at first, and no result depends on them.
Value* sink_elements(Frame& f, int count) {
  llvm::AllocaInst* memory = f.e.slot(llvm::ArrayType::get(f.e.b.getInt8Ty(), static_cast<uint64_t>(kWidestSink * count)));
  memory->setAlignment(llvm::Align(kWidestSink));
  return memory;
}

/// A copy of the gather's fill value, as a constant of the object. A stack slot would not do: LLVM knows what it holds, and would turn the load
/// from the selected address into a branch.
Value* fill_element(Frame& f) {
  auto* value = llvm::cast<llvm::Constant>(f.numeric.literal_storage(f.plan.primary().fill, 1));
  auto* global = new llvm::GlobalVariable(*f.e.function.getParent(), value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, "fill");
  global->setAlignment(llvm::Align(kWidestSink));
  return global;
}

/// Replaces the pointers of the indexed tensors by those of their sinks (Walk::sinks), unless the i1 `inside` holds. Cost (bench/policies): one select
/// per position. A combiner that reads the sink waits for the previous store to it; so the positions of an iteration of the loop have a sink each.
void redirect_to_sink(Frame& f, Value* inside, Pointers& p) {
  const auto redirect = [&](int tensor, Value* sink) {
    Value*& at = p[static_cast<size_t>(tensor)];
    at = f.e.b.CreateSelect(inside, at, sink);
  };
  if (f.plan.gather) return redirect(f.plan.operand(0), fill_element(f));
  for (int i = 0; i < f.plan.pairs; ++i) redirect(f.plan.result(i), sink_elements(f, 1));
}

/// The iteration of `loop` that stands at the operand coordinate in field `argument` of strew_args. `shift` is added to the start of the
/// component that moves the loop; null: nothing is.
Value* iteration_at(Frame& f, const Placement& placement, const Loop& loop, size_t argument, Value* shift) {
  Value* start = placement.components[static_cast<size_t>(loop.move().component)].start;
  if (shift != nullptr) start = f.e.add(start, shift);
  Value* scale = f.term(loop.move().scale);
  return f.e.times(f.e.b.CreateSub(f.argument(argument), start), scale);
}

/// One window loop at a position, of which the strategy and the sources take parts one after the other.
class Segments {
 public:
  using Body = llvm::function_ref<void(const Pointers& p, const Found& found, Value* lo, Value* hi)>;

  Segments(Frame& frame, const Placements* placements, size_t level, WindowCut window_cut, Body body)
      : f_(frame),
        e_(frame.e),
        placements_(placements),
        level_(level),
        window_cut_(window_cut),
        loop_(frame.plan.window[level]),
        cut_(level == 0 && window_cut != WindowCut::none),
        body_(body) {}

  void emit(const Pointers& p, const Found& found) {
    Value* lo = e_.i64(0);
    Value* hi = f_.term(loop_.extent);
    if (cut_) {
      lo = f_.argument(offsetof(strew_args, w0));
      hi = f_.argument(offsetof(strew_args, w1));
    }
    const Placement* const primary = placements_ == nullptr ? nullptr : placements_->primary();
    if (primary == nullptr) return by_lookups(p, found, 0, lo, hi);
    by_primary(*primary, p, found, lo, hi);
  }

 private:
  const ComponentPlace& place(const Placement& placement, size_t source) const {
    return placement.components[static_cast<size_t>(loop_.moves[source].component)];
  }
  /// A cut range may miss the part of the window that is in bounds; it is then made empty instead of negative.
  Value* not_before(Value* from, Value* to) { return cut_ ? e_.smax(from, to) : to; }

  void by_primary(const Placement& placement, const Pointers& p, const Found& found, Value* lo, Value* hi) {
    const lowered::Bounds bounds = placement.placing.bounds[level_];
    const bool owned = cut_ && window_cut_ == WindowCut::owned && loop_.move().component >= 0;
    const auto owned_from = [&](Value* from, Value* shift) {
      return owned ? e_.smax(from, iteration_at(f_, placement, loop_, offsetof(strew_args, k0), shift)) : from;
    };
    const auto owned_to = [&](Value* to, Value* shift) {
      return owned ? e_.smin(to, iteration_at(f_, placement, loop_, offsetof(strew_args, k1), shift)) : to;
    };
    if (bounds != lowered::Bounds::split) {
      lo = owned_from(lo, nullptr);
      hi = owned_to(hi, nullptr);
    }
    if (bounds == lowered::Bounds::whole) return by_lookups(p, found, 1, lo, owned ? not_before(lo, hi) : hi);
    Value* scale = f_.term(loop_.move().scale);
    if (bounds == lowered::Bounds::cut) {
      Value* from = e_.smax(lo, e_.times(place(placement, 0).lo, scale));
      return by_lookups(p, found, 1, from, not_before(from, e_.smin(hi, e_.times(place(placement, 0).hi, scale))));
    }
    in_two(placement, 0, p, lo, hi, [&](const Pointers& at, Value* shift, Value* from, Value* to) {
      from = owned_from(from, shift);
      to = not_before(from, owned_to(to, shift));
      by_lookups(at, found, 1, from, to);
    });
  }

  /// Lets the look-ups from source number `s` on take their parts of [lo, hi), whose length is not negative; nor is theirs.
  void by_lookups(const Pointers& p, const Found& found, size_t s, Value* lo, Value* hi) {
    const size_t sources = placements_ == nullptr ? 0 : f_.plan.sources.size();
    if (placements_ != nullptr) s = std::max({s, placements_->first, size_t{1}});
    while (s < sources && f_.kernel.placings[s].bounds[level_] == lowered::Bounds::whole) ++s;
    if (s >= sources) return body_(p, found, lo, hi);
    const Placement& placement = placements_->all[s - placements_->first];
    if (placement.placing.bounds[level_] == lowered::Bounds::split)
      return in_two(placement, s, p, lo, hi, [&](const Pointers& at, Value*, Value* from, Value* to) {
        Value* end = e_.smax(from, to);
        by_lookups(at, found, s + 1, from, end);
      });
    Value* scale = f_.term(loop_.moves[s].scale);
    Value* from = e_.smin(e_.smax(lo, e_.times(place(placement, s).lo, scale)), hi);
    Value* to = e_.smin(e_.smax(from, e_.times(place(placement, s).hi, scale)), hi);
    const auto fill = std::ranges::find(f_.kernel.fills, s);
    if (fill == f_.kernel.fills.end()) return by_lookups(p, found, s + 1, from, to);
    in_three(p, found, static_cast<size_t>(fill - f_.kernel.fills.begin()), s, {lo, from, to, hi});
  }

  /// The iterations [lo, hi) of a loop that source number `s` splits: up to the end of its dim, and those that start over at 0.
  void in_two(const Placement& placement, size_t s, const Pointers& p, Value* lo, Value* hi,
              llvm::function_ref<void(const Pointers& p, Value* shift, Value* from, Value* to)> part) {
    const Component& component = placement.source.components[static_cast<size_t>(loop_.moves[s].component)];
    Value* scale = f_.term(loop_.moves[s].scale);
    Value* split = e_.times(place(placement, s).split, scale);
    e_.loop(e_.i64(0), e_.i64(2), {1, 1}, [&](Value* segment) {
      Value* second = e_.b.CreateICmpNE(segment, e_.i64(0));
      Value* shift = e_.b.CreateSelect(second, e_.b.CreateNeg(f_.term(component.dim)), e_.i64(0));
      Value* from = e_.b.CreateSelect(second, e_.smax(lo, split), lo);
      Value* to = e_.b.CreateSelect(second, hi, e_.smin(hi, split));
      part(f_.step(p, component.strides, shift), shift, from, to);
    });
  }

  /// The iterations before, in and after the table of Kernel::fills[fill], source number `s`: between each of the borders and the next.
  void in_three(const Pointers& p, const Found& found, size_t fill, size_t s, const std::array<Value*, 4>& borders) {
    e_.loop(e_.i64(0), e_.i64(3), {1, 1}, [&](Value* segment) {
      Value* first = e_.b.CreateICmpEQ(segment, e_.i64(0));
      Value* second = e_.b.CreateICmpEQ(segment, e_.i64(1));
      Value* from = e_.b.CreateSelect(first, borders[0], e_.b.CreateSelect(second, borders[1], borders[2]));
      Value* to = e_.b.CreateSelect(first, borders[1], e_.b.CreateSelect(second, borders[2], borders[3]));
      Found there = found;
      there[fill] = e_.b.CreateAnd(found[fill], second);
      by_lookups(p, there, s + 1, from, to);
    });
  }

  Frame& f_;
  Emitter& e_;
  const Placements* placements_;
  size_t level_;
  WindowCut window_cut_;
  const Loop& loop_;
  bool cut_;
  Body body_;
};

}  // namespace

void for_segments(Frame& f, const Placements* placements, const Pointers& p, const Found& found, size_t level, WindowCut cut,
                  llvm::function_ref<void(const Pointers& p, const Found& found, Value* lo, Value* hi)> body) {
  Segments(f, placements, level, cut, body).emit(p, found);
}

Value* sinks_of_lanes(Frame& f, int lanes) {
  const auto count = static_cast<unsigned>(lanes);
  if (f.plan.gather) return f.e.b.CreateVectorSplat(count, fill_element(f));
  llvm::SmallVector<llvm::Constant*, 8> offsets;
  for (int lane = 0; lane < lanes; ++lane) offsets.push_back(f.e.b.getInt64(static_cast<uint64_t>(kWidestSink * lane)));
  return f.e.b.CreateGEP(f.e.b.getInt8Ty(), sink_elements(f, lanes), llvm::ConstantVector::get(offsets));
}

void emit_whole_window(Frame& f, const Pointers& p) { WindowEmitter(f, f.kernel.update, nullptr, WindowCut::none).emit(p); }

Placements::Placements(Frame& f, const Pointers& p, size_t first_source) : first(first_source) {
  inside = whole = f.e.b.getTrue();
  all.reserve(f.plan.sources.size());
  for (size_t s = first; s < f.plan.sources.size(); ++s) {
    const Placement& placement = all.emplace_back(place(f, s, p));
    if (s == 0) whole = placement.whole;
    if (std::ranges::find(f.kernel.fills, s) != f.kernel.fills.end())
      found.push_back(placement.inside);
    else
      inside = inside == f.e.b.getTrue() ? placement.inside : f.e.b.CreateAnd(inside, placement.inside);
  }
}

Pointers Placements::moved(Frame& f, const Pointers& p) const {
  Pointers at = p;
  for (const Placement& placement : all) at = strew::moved(f, at, placement);
  return at;
}

namespace {

/// Emits the update of a window that no policy drops. `given`: see emit_window().
void update_window(Frame& f, const Placements& placements, const Pointers& p, WindowCut cut, WindowBody given) {
  by_found(f, placements.found, /*parts=*/false, [&](size_t filling) {
    const lowered::Body& body = update_of(f, filling);
    given ? given(body, p, placements) : WindowEmitter(f, body, &placements, cut, filling).emit(p);
  });
}

}  // namespace

void emit_listed_window(Frame& f, const Pointers& p, WindowBody given) {
  const Placements lookups(f, p, 1);
  f.e.when_likely(
      lookups.inside, [&] { update_window(f, lookups, lookups.moved(f, p), WindowCut::none, given); }, [] {});
}

void emit_window(Frame& f, const Pointers& p, WindowBody given) {
  const Placements placements(f, p, 0);
  Value *const inside = placements.inside, *const whole = placements.whole;
  const bool sinks = f.entry.walk.sinks && !given;
  const auto update = [&] {
    Pointers at = placements.moved(f, p);
    if (sinks) redirect_to_sink(f, inside, at);
    update_window(f, placements, at, f.entry.cut, given);
  };
  if (sinks) return update();
  const auto fill_all = [&] { WindowEmitter(f, *f.kernel.fill, nullptr, f.entry.cut).emit(p); };
  switch (f.kernel.primary().dropped) {
    case Dropped::nothing:
      return f.e.when_likely(inside, update, [] {});
    case Dropped::filled:
      return f.e.when(inside, update, fill_all);
    case Dropped::parted:
      f.e.when(f.e.b.CreateNot(whole), fill_all);
      return f.e.when(inside, update);
  }
}

namespace {

// At most kMostLines lines are prefetched: the hardware's own prefetcher fetches what follows them.
constexpr int64_t kFetchedLine = 64;
constexpr size_t kMostLines = 8;

/// The bytes of a row, or of a panel of it, if its length is constant, else one line.
int64_t row_bytes(const Frame& f, int tensor) {
  if (f.plan.per_row && f.plan.tensors[static_cast<size_t>(tensor)].role == Role::result) return f.element_bytes(tensor);
  if (f.plan.window.empty() || !f.plan.window.back().extent.is_static()) return kFetchedLine;
  return f.plan.window.back().extent.factor / f.entry.walk.panels * f.element_bytes(tensor);
}

/// A byte of each line that is prefetched of a row. Tables that begin 16 bytes after a line, as NumPy's do, have rows in one line more than others. On
/// Zen 4, rows of 64 and 128 bytes take 0.87 to 0.98 of the time where that is prefetched, too; shorter rows 1.04, longer ones as long as before.
std::vector<int64_t> fetched_bytes(int64_t row) {
  std::vector<int64_t> out;
  for (int64_t byte = 0; byte < row && out.size() < kMostLines; byte += kFetchedLine) out.push_back(byte);
  if (row >= kFetchedLine && row <= 2 * kFetchedLine) out.push_back(row - 1);
  return out;
}

}  // namespace

void prefetch_placed(Frame& f, const Pointers& p, int tensor, bool write) {
  const auto t = static_cast<size_t>(tensor);
  Pointers there = p;
  if (const int source = f.plan.tensors[t].source; source >= 0)
    for (const Component& c : f.plan.sources[static_cast<size_t>(source)].components)
      there = f.step(there, c.strides, load_component(f, p, c));
  prefetch_row(f, tensor, there[t], write);
}

void prefetch_lookups(Frame& f, const Pointers& p) {
  for (size_t t = 0; t < f.plan.tensors.size(); ++t) {
    const auto tensor = static_cast<int>(t);
    const bool is_row = f.plan.window.empty() || !f.plan.window.back().strides[t].is(0);
    if (f.plan.tensors[t].source > 0 && !f.packed(tensor) && is_row) prefetch_placed(f, p, tensor, false);
  }
}

void prefetch_row(Frame& f, int tensor, Value* address, bool write) {
  Value *first = f.e.i64(0), *last = nullptr;
  if (f.entry.cut != WindowCut::none && !f.plan.window.empty()) {
    // Only the lines of this thread's part of the window: other threads write the others, and a prefetch would take those away from them.
    Value* step = f.bytes(f.plan.window.front().strides[static_cast<size_t>(tensor)], tensor);
    first = f.e.times(f.argument(offsetof(strew_args, w0)), step);
    if (f.plan.window.size() == 1) last = f.e.b.CreateSub(f.e.times(f.argument(offsetof(strew_args, w1)), step), f.e.i64(1));
  }
  for (const int64_t byte : fetched_bytes(row_bytes(f, tensor))) {
    Value* offset = f.e.add(first, f.e.i64(byte));
    if (last != nullptr) offset = f.e.smin(offset, last);
    f.e.b.CreateIntrinsic(llvm::Intrinsic::prefetch, {f.e.b.getPtrTy()},
                          {f.e.at(address, offset), f.e.b.getInt32(write ? 1 : 0), f.e.b.getInt32(3), f.e.b.getInt32(1)});
  }
}

}  // namespace strew::inline v0
