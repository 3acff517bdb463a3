// write_rows(). The loops of a program, from the outermost to the innermost: the position loops around the axis; the
// tiles along the axis, with one row per position; the window loops outside a row.
//
// spread.h decides how the cores share these loops. A core that owns a range of the table's rows processes all updates
// in order, and the mode `skip` drops those of other ranges. Ranges are multiples of 64 bytes, because a3 writes
// elements through a cache with such lines.
//
// The order within one mscatter: a3 processes the rows one after another. a5 keeps the order for assignments only
// (scatterConflict last), so tiles of float sums whose order matters have one row there. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "backends/pto/indices.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"
#include "backends/pto/walk.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMaxRows = int64_t{1} << 30;
constexpr int64_t kSortedUnit = 64, kMostSorted = 2048;  ///< the positions of a block that is sorted
constexpr int64_t kCheckedRows = 64;  ///< the least height of the tiles of a check, if there are so many positions

TileForm form_of(const RowWalk& walk) {
  if (walk.fractals > 0) return TileForm::fractals;
  return walk.elements ? TileForm::elements : TileForm::rows;
}

/// Reads and writes rows of the table by mgather and mscatter, with index tiles.
class RowWriter final : public TileMover {
 public:
  RowWriter(Frame& frame, const RowWalk& walk, Combine combine)
      : TileMover(frame, std::move(combine),
                  {frame, form_of(walk), frame.attempt.rows, walk.width * std::max<int64_t>(walk.fractals, 1)}),
        walk_(walk),
        code_(frame, walk) {
    for (size_t s = 1; s < plan_.sources.size(); ++s) {
      lookups_.push_back({{frame, walk, s}, {}, {}});
      drops_ |= drops(plan_.sources[s]);
    }
  }

  Status run() {
    spread_ = spread_rows(frame_, walk_, combine_);
    frame_.pitch = constant(walk_.width);
    if (frame_.options.index_column) STREW_TRY(code_.check_column(owns()));
    make_grids();
    STREW_ASSIGN(total_, table_rows(frame_.table(0)));
    if (frame_.scatter()) has_place_ = frame_.reached();
    if (frame_.scatter() && !owns()) find_place(plan_.primary());
    for (Lookup& lookup : lookups_) {
      STREW_ASSIGN(lookup.total, table_rows(lookup.code.table()));
      find_place(lookup.code.source());
    }
    if (frame_.checks_first()) write_check(frame_, [&](const Named& cell) { check_indices(cell); });
    for (IndexCode* const code : checked()) code->set_checked();
    if (sorts()) return in_buckets();
    if (owns() || frame_.launches()) own_range(b_.cores());
    if (owns()) STREW_TRY(initialise_rows());
    TilePlace place;
    const PositionLoops loops{walk_.outer, spread_, "slab", "around"};
    const auto all = [&] {
      if (spread_ == Spread::items) return items();
      return write_positions(frame_, loops, place.outer, [&] { return axis(place); });
    };
    STREW_TRY(frame_.launches() ? in_launches(all) : write_spread(frame_, spread_, all));
    if (owns()) STREW_TRY(write_rounding(frame_, first_, last_));
    frame_.program.tiles = tiles_.describe(coalesce(), split_of(spread_));
    return {};
  }

 private:
  bool current_first() const override { return false; }

  Named current(int pair) override {
    const Named current = tiles_.tile("current", frame_.table(pair), part_);
    const std::string mode = this->mode();
    b_.run(Opcode::mgather, {rows_.name, indices_.name, current.name},
           {{"coalesce", coalesce()}, {"gatherOob", mode == "skip" ? "zero" : mode}});
    return current;
  }

  Named update(int pair) override { return read("update", slices_of(plan_, pair)); }

  Named extra(int tensor) override {
    if (plan_.tensors[static_cast<size_t>(tensor)].extra != ExtraKind::scalar) return read("extra", tensor);
    // A scalar in memory is broadcast to a tile.
    const Named number = frame_.load_word(frame_.pointer(tensor) + "_number", tensor, b_.number(0));
    const Named tile = tiles_.tile("extra", tensor, part_);
    b_.run(Opcode::texpands, {number.name, tile.name});
    return tile;
  }

  void put(int pair, const Named& data) override {
    if (!frame_.scatter()) return b_.store(data, tiles_.part("result_part", slices_of(plan_, pair), part_));
    const bool assigns = combine_.way != CombineWay::atomic;
    std::vector<Attribute> modes = {
        {"coalesce", coalesce()}, {"scatterAtomicOp", assigns ? "none" : combine_.atomic}, {"scatterOob", mode()}};
    // If no two rows share a destination, mode `default` saves a5 the search for the last writer.
    const bool apart = plan_.unique.holds || frame_.attempt.rows == 1;
    if (assigns && frame_.chip == Chip::a5) modes.push_back({"scatterConflict", apart ? "default" : "last"});
    b_.run(Opcode::mscatter, {data.name, indices_.name, rows_.name}, modes);
  }

  const char* coalesce() const { return walk_.elements ? "elem" : "row"; }
  bool owns() const { return spread_ == Spread::ranges; }
  bool sorts() const { return frame_.attempt.sharing == Sharing::buckets; }

  /// What mscatter does with rows out of bounds. Where a look-up drops positions, index code has sent these away.
  const char* mode() const { return drops_ ? "skip" : code_.mode(owns()); }

  /// A look-up: the number of its table's rows, and its index tile for the tile at `part_`.
  struct Lookup {
    IndexCode code;
    Number total;
    Named indices;
  };

  /// Loads the rows of a tensor for the tile at `part_`, or gathers them from the table where they are looked up.
  Named read(const char* hint, int tensor) {
    const int source = lookup_source(plan_, tensor);
    if (sorts()) {
      const Named rows = tiles_.table(frame_.pointer(tensor) + "_rows", tensor, b_.number(0), frame_.number(walk_.axis.extent));
      const Named tile = tiles_.tile(hint, tensor, part_);
      b_.run(Opcode::mgather, {rows.name, chosen_.name, tile.name}, {{"coalesce", coalesce()}, {"gatherOob", "undefined"}});
      return tile;
    }
    if (source == 0) return tiles_.load(hint, tensor, part_);
    const Lookup& lookup = lookups_[static_cast<size_t>(source) - 1];
    const Named rows = tiles_.table(frame_.pointer(tensor) + "_rows", tensor, b_.number(0), lookup.total);
    const Named tile = tiles_.tile(hint, tensor, part_);
    b_.run(Opcode::mgather, {rows.name, lookup.indices.name, tile.name},
           {{"coalesce", coalesce()}, {"gatherOob", lookup_mode(lookup.code.source())}});
    return tile;
  }

  /// What mgather does with rows out of bounds of a look-up's table. A position whose destination is dropped is not read, so what its index
  /// is does not matter.
  const char* lookup_mode(const IndexSource& lookup) const {
    const PlaceRule to = rule_of(plan_.primary(), 0);
    const bool may_drop = to == PlaceRule::fits || to == PlaceRule::inside || to == PlaceRule::cut;
    return is_fill(lookup.oob) || drops(lookup) || (lookup.oob == OobPolicy::undefined && may_drop) ? "zero" : "undefined";
  }

  /// The index codes of the sources whose indices are checked before anything is written.
  std::vector<IndexCode*> checked() {
    std::vector<IndexCode*> out;
    if (plan_.primary().checks_first || frame_.judges_signs()) out.push_back(&code_);
    for (Lookup& lookup : lookups_)
      if (lookup.code.source().checks_first) out.push_back(&lookup.code);
    return out;
  }

  /// Where a table has no row, no position is applied, unless a look-up fills. Of the op's own table this matters to modes other than skip.
  void find_place(const IndexSource& source) {
    const bool is_own = &source == &plan_.primary();
    for (size_t k = 0; k < source.components.size(); ++k) {
      const PlaceRule rule = rule_of(source, k);
      const bool gives_place = rule == PlaceRule::clamped || rule == PlaceRule::wrapped;
      if (rule == PlaceRule::trusted || is_fill(source.oob) || (is_own && !gives_place)) continue;
      const Number places = b_.add(frame_.last_start(source.components[k]), b_.number(1), "places");
      if (places.value.value_or(0) <= 0) has_place_ = b_.mul(has_place_, frame_.any(places), "has_place");
    }
  }

  /// The number of rows of a table.
  Expected<Number> table_rows(int table) {
    if (walk_.fractals > 0) return frame_.number(plan_.primary().components[0].dim);
    const Number elements = frame_.elements(table);
    const Term all = frame_.extent(table);
    const Number rows =
        divides(all, walk_.width) ? frame_.number(all, walk_.width) : b_.ceil_div(elements, b_.number(walk_.width), "table_rows");
    if (rows.value.value_or(0) > kMaxRows)
      return unsupported("the table has " + std::to_string(*rows.value) + " rows, expected at most 2^30: row numbers are i32");
    return rows;
  }

  /// Divides the table's rows among `cores`.
  void own_range(const Number& cores) {
    const Words& words = frame_.stored(0).words;
    const int64_t bytes = walk_.width * words.count * bits(words.element.dtype) / 8;
    const int64_t unit = walk_.fractals > 0 ? kFractalRows : kCacheLine / std::gcd(kCacheLine, bytes);
    b_.note("each core owns a range of the table's rows");
    const Number units = b_.ceil_div(total_, b_.number(unit), "units");
    const Number each = share_ = b_.mul(b_.ceil_div(units, cores, "share"), b_.number(unit), "share_rows");
    begin_ = b_.min(b_.mul(b_.core(), each, "core_row"), total_, "begin");
    end_ = b_.min(b_.add(begin_, each, "next_row"), total_, "end");
    owned_ = b_.sub(end_, begin_, "owned_rows");
  }

  void make_grids() {
    if (walk_.fractals > 0) {
      const Number rows = frame_.number(plan_.primary().components[0].dim);
      tiles_.add_matrix(frame_.table(0), rows);
      tiles_.add_matrix(slices_of(plan_, 0), frame_.number(walk_.axis.extent));
      return;
    }
    const auto pitch = [&](int tensor) {
      if (lookup_source(plan_, tensor) > 0 || sorts()) return constant(walk_.width);
      return walk_.elements ? constant(0) : walk_.axis.strides[static_cast<size_t>(tensor)];
    };
    for (int pair = 0; pair < plan_.pairs; ++pair) {
      tiles_.add(frame_.table(pair), constant(walk_.width));
      tiles_.add(slices_of(plan_, pair), pitch(slices_of(plan_, pair)));
    }
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].role == Role::extra && plan_.tensors[t].extra != ExtraKind::scalar)
        tiles_.add(static_cast<int>(t), pitch(static_cast<int>(t)));
  }

  /// Initialises the rows that this core owns. A row of a matrix in fractals has a part in every block column.
  Status initialise_rows() {
    if (!initialises_results(frame_)) return {};
    const Number width = b_.number(walk_.width), first = first_ = b_.mul(begin_, width, "first_element"),
                 last = last_ = b_.mul(end_, width, "last_element");
    if (walk_.fractals == 0) return write_init(frame_, first, last);
    const Number column = b_.mul(total_, width, "block_col");
    Status made;
    b_.loop("block", b_.number(0), b_.number(walk_.fractals), b_.number(1), [&](const Number& at) {
      const Number start = b_.mul(at, column, "block_start");
      const Number to = b_.add(start, last, "to_element"), from = b_.add(start, first, "from_element");
      made = write_init(frame_, from, to);
    });
    return made;
  }

  /// Policy error: checks all indices, tile by tile. If all tiles are full, the tiles of faults are combined by maximum,
  /// and one loop over the result follows at the end. Otherwise a loop follows each tile. These tiles have indices only, so they may be taller
  /// than those of data.
  void check_indices(const Named& cell) {
    const int64_t most = std::min<int64_t>(frame_.assumed(walk_.axis.extent), kCheckedRows);
    const int64_t tall = std::exchange(frame_.attempt.rows, std::max(frame_.attempt.rows, most));
    check_tiles(cell);
    frame_.attempt.rows = tall;
  }

  void check_tiles(const Named& cell) {
    const Number extent = frame_.number(walk_.axis.extent), rows = b_.number(frame_.attempt.rows);
    const bool whole = extent.value && *extent.value % frame_.attempt.rows == 0;
    const auto look_through = [&](const Named& tile, const Number& count) {
      b_.loop("seen", b_.number(0), count, b_.number(1), [&](const Number& at) {
        add_fault(frame_, cell, b_.give(Opcode::tgetval, "bad", make_scalar(DType::i32), {tile.name, b_.use(at)}));
      });
    };
    Named all;
    if (whole) {
      all = b_.tile("any_fault", {DType::i32, false}, 1, frame_.attempt.rows, b_.number(1), rows);
      b_.run(Opcode::texpands, {b_.i32(0).name, all.name});
    }
    TilePlace place;
    write_nest(frame_, walk_.outer, "around", place.outer, [&] {
      b_.loop("first", b_.number(0), extent, rows, [&](const Number& first) {
        place.first = first;
        place.count = b_.left(first, extent, rows, whole);
        Named bad;
        for (IndexCode* const code : checked()) code->add_faults(place, bad);
        if (whole) {
          b_.run(Opcode::tmax, {all.name, bad.name, all.name});
        } else {
          look_through(bad, place.count);
        }
      });
    });
    if (whole) look_through(all, rows);
  }

  Status axis(TilePlace& place) {
    const Number extent = frame_.number(walk_.axis.extent), rows = b_.number(frame_.attempt.rows);
    const bool is_split = spread_ == Spread::tiles;
    const LoopTurns turns = turns_of(frame_, is_split, {b_.number(0), rows}, {"first_tile", "first_tile", "stride"});
    const Number bound = b_.mul(frame_.guarded(extent), has_place_, "bound");
    in_turns("first", turns, bound, [&](const Number& first) { tile(first, extent, place); });
    return failed_;
  }

  /// Writes a program of several launches: initial values, updates in any order, and the rounding of accumulators if there are any. In the
  /// first and the last one, each core works on the rows that it owns.
  Status in_launches(const std::function<Status()>& updates) {
    const bool rounds = frame_.attempt.rounded != nullptr;
    const Number launch = frame_.add_launch(rounds ? 3 : 2);
    Status failed;
    const auto step = [&](int64_t number, const char* what, const std::function<Status()>& write) {
      const Named is_now = b_.equal(launch, b_.number(number));
      b_.note(what);
      b_.when(is_now, [&] {
        if (failed.ok()) failed = write();
      });
    };
    step(0, "the first launch makes what is there before updates", [&] { return initialise_rows(); });
    step(1, "the second launch applies the updates, in any order", updates);
    if (rounds) step(2, "the third launch rounds", [&] { return write_rounding(frame_, first_, last_); });
    return failed;
  }

  /// Sharing::buckets. The positions are sorted in blocks: what a core sorts at a time is in the buffer. A block's positions, and the rows of
  /// the table that they go to, are stored where the block begins; `starts` has a line per block, with the place in the block at which
  /// the positions of each core begin, and behind these the place where those begin that no core owns.
  struct Blocks {
    Number cores, works;  ///< how many cores work, at most as many as are planned for; 1 if this core is one of them, else 0
    int64_t size = 0, count = 0, line = 0;
    Named positions, rows, starts;  ///< views of one line
  };

  Status in_buckets() {
    Blocks blocks;
    const int64_t positions = walk_.axis.extent.factor, planned = b_.planned_cores();
    const int64_t share = (positions + planned - 1) / planned;
    blocks.size = std::clamp<int64_t>((share + kSortedUnit - 1) / kSortedUnit * kSortedUnit, kSortedUnit, kMostSorted);
    blocks.count = (positions + blocks.size - 1) / blocks.size;
    blocks.line = (planned + 2 + 7) / 8 * 8;
    const auto scratch = [&](const char* name, int64_t elements) {
      frame_.add_scratch(name, {DType::i32, false}, elements);
      const Number all = b_.number(elements);
      return b_.view(std::string(name) + "_view", name, b_.number(1), all, all);
    };
    blocks.positions = scratch("sorted_positions", positions);
    blocks.rows = scratch("sorted_rows", positions);
    blocks.starts = scratch("starts", blocks.count * blocks.line);
    const Number launch = frame_.add_launch(2), none = b_.number(0), one = b_.number(1);
    blocks.cores = b_.min(b_.cores(), b_.number(planned), "working");
    blocks.works = b_.min(b_.max(b_.sub(blocks.cores, b_.core(), "after"), none, "after"), one, "works");
    own_range(blocks.cores);
    const Named sorts = b_.equal(launch, none), applies = b_.equal(launch, one);
    b_.note("the first launch sorts positions by the core that owns the row that they go to");
    b_.when(sorts, [&] { sort_positions(blocks); });
    b_.note("in the second launch each core applies the updates of its own rows, in order");
    Status made, rounded;
    b_.when(applies, [&] {
      made = initialise_rows();
      apply_sorted(blocks);
      rounded = write_rounding(frame_, first_, last_);
    });
    STREW_TRY(made);
    STREW_TRY(rounded);
    frame_.program.tiles = tiles_.describe(coalesce(), split_of(spread_));
    return failed_;
  }

  /// Reads element `at` of a tile of i32.
  Named cell(const char* hint, const Named& tile, const Number& at) {
    return b_.give(Opcode::tgetval, hint, make_scalar(DType::i32), {tile.name, b_.use(at)});
  }
  void set_cell(const Named& tile, const Number& at, const Named& value) {
    b_.run(Opcode::tsetval, {tile.name, b_.use(at), value.name});
  }
  Named plus(const Named& a, const Named& c) { return b_.give(Opcode::addi, "sum", make_scalar(DType::i32), {a.name, c.name}); }

  /// Sorts blocks core, core + cores, …: counts the positions of each owner, sums the counts to places, and puts each position in the next
  /// place of its owner, so that positions of one owner keep their order.
  void sort_positions(const Blocks& blocks) {
    const int64_t tall = std::exchange(frame_.attempt.rows, blocks.size);
    const Number none = b_.number(0), one = b_.number(1), size = b_.number(blocks.size),
                 extent = frame_.number(walk_.axis.extent);
    const Number from = b_.mul(b_.core(), size, "first_block"), step = b_.mul(blocks.cores, size, "block_stride");
    const Number bound = b_.mul(frame_.guarded(extent), blocks.works, "sorted_bound");
    const Number all_owned = b_.mul(blocks.cores, share_, "all_owned"), line = b_.number(blocks.line);
    b_.loop("block", from, bound, step, [&](const Number& first) {
      const Number count = b_.left(first, extent, size, *extent.value % blocks.size == 0);
      Named dropped;
      const Named rows = code_.rows({first, count, {}, {}}, none, total_, dropped);
      const auto tile = [&](const char* hint) { return b_.tile(hint, {DType::i32, false}, 1, blocks.size, one, count); };
      const Named places = b_.tile("places", {DType::i32, false}, 1, blocks.line, one, line);
      const Named by_owner = tile("by_owner"), their_rows = tile("their_rows");
      b_.run(Opcode::texpands, {b_.i32(0).name, places.name});
      // A row that is negative, because its position is dropped, is large without its sign, and so it has no owner.
      const auto owner_of = [&](const Named& row) {
        const Number near = b_.min(b_.as_index("row_at", row.name, true), all_owned, "near");
        return b_.divide(near, share_, "owner");
      };
      b_.loop("counted", none, count, one, [&](const Number& at) {
        const Number next = b_.add(owner_of(cell("row", rows, at)), one, "next_owner");
        set_cell(places, next, plus(cell("so_far", places, next), b_.i32(1)));
      });
      const Number owners = b_.add(blocks.cores, one, "owners");
      b_.loop("owner", none, owners, one, [&](const Number& owner) {
        const Number next = b_.add(owner, one, "next_owner");
        const Named before = cell("before", places, owner), own = cell("own", places, next);
        set_cell(places, next, plus(before, own));
      });
      const Number start = b_.mul(b_.divide(first, size, "block_number"), line, "line_start");
      b_.store(places, b_.part("starts_part", blocks.starts, none, start, one, line));
      b_.loop("sorted", none, count, one, [&](const Number& at) {
        const Named row = cell("row", rows, at);
        const Number owner = owner_of(row);
        const Named slot = cell("slot", places, owner);
        set_cell(places, owner, plus(slot, b_.i32(1)));
        const Number place = b_.as_index("slot_at", slot.name);
        set_cell(by_owner, place, b_.i32(b_.add(first, at, "position")));
        set_cell(their_rows, place, row);
      });
      b_.moves_data(by_owner);
      b_.store(by_owner, b_.part("positions_part", blocks.positions, none, first, one, count));
      b_.store(their_rows, b_.part("rows_part", blocks.rows, none, first, one, count));
    });
    frame_.attempt.rows = tall;
  }

  /// Applies the updates of this core's rows, block by block.
  void apply_sorted(const Blocks& blocks) {
    const int64_t tall = frame_.attempt.rows;
    const Number none = b_.number(0), one = b_.number(1), height = b_.number(tall);
    const Number bound = b_.mul(frame_.guarded(b_.number(blocks.count)), blocks.works, "blocks_bound");
    b_.loop("block", none, bound, one, [&](const Number& block) {
      const Number at = b_.add(b_.mul(block, b_.number(blocks.line), "line_start"), b_.core(), "own_start");
      const auto load = [&](const char* hint, const Number& from) {
        return b_.give(Opcode::load_scalar, hint, make_scalar(DType::i32), {"starts", b_.use(from)});
      };
      const Named from = load("own_first", at), to = load("own_end", b_.add(at, one, "own_stop"));
      b_.reads_about(to.name, std::max<int64_t>(1, blocks.size / b_.planned_cores()));
      const Number first = b_.as_index("first_of_own", from.name), end = b_.as_index("end_of_own", to.name);
      const Number base = b_.mul(block, b_.number(blocks.size), "block_start");
      in_turns("first", {first, height}, end, [&](const Number& turn) {
        const Number count = tall == 1 ? one : b_.left(turn, end, height, false);
        const auto part_of = [&](const char* hint, const Named& view) {
          const Named part = b_.part(std::string(hint) + "_part", view, none, b_.add(base, turn, "own_at"), one, count);
          const Named tile = b_.tile(hint, {DType::i32, false}, 1, tall, one, count);
          b_.load(part, tile);
          return tile;
        };
        chosen_ = part_of("chosen", blocks.positions);
        indices_ = part_of("index", blocks.rows);
        const Number minus = b_.sub(none, begin_, "from_base");
        b_.run(Opcode::tadds, {indices_.name, b_.i32(minus).name, indices_.name});
        part_ = {none, count, none, b_.number(walk_.width), {}};
        for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) {
          const int table = frame_.table(pair);
          rows_ = tiles_.table(frame_.pointer(table) + "_rows", table, begin_, owned_);
          failed_ = move_tile(pair);
        }
      });
    });
  }

  /// Writes a loop over what one core does: `body` gets the loop's variable. With two buffers, two of its values per turn.
  void in_turns(const char* hint, const LoopTurns& turns, const Number& bound, const std::function<void(const Number&)>& body) {
    if (!frame_.attempt.buffered) return b_.loop(hint, turns.from, bound, turns.step, body);
    b_.note("two tiles a turn, each with buffers of its own");
    const Number both = b_.mul(turns.step, b_.number(2), "two_strides");
    b_.loop(hint, turns.from, bound, both, [&](const Number& at) {
      frame_.tile_loop = at.name;
      body(at);
      const Number second = b_.add(at, turns.step, "second");
      if (second.value && bound.value && *second.value >= *bound.value) return;
      b_.when(b_.less(second, bound), [&] { body(second); });
    });
  }

  /// Spread::items: the cores share the tiles in iterations of all loops. An item's number has the place in the innermost loop as its last
  /// digit.
  Status items() {
    const Number extent = frame_.number(walk_.axis.extent), rows = b_.number(frame_.attempt.rows);
    const Number tiles = b_.ceil_div(extent, rows, "tiles");
    Number all = b_.mul(frame_.guarded(tiles), has_place_, "bound");
    for (const std::vector<Loop>* loops : {&walk_.outer, &walk_.window})
      for (const Loop& loop : *loops) all = b_.mul(all, frame_.number(loop.extent), "items");
    const auto digits = [&](Number& rest, const std::vector<Loop>& loops) {
      std::vector<Number> out(loops.size());
      for (size_t i = loops.size(); i-- > 0;) {
        const Number base = frame_.number(loops[i].extent);
        out[i] = b_.remainder(rest, base, "digit");
        rest = b_.divide(rest, base, "rest");
      }
      return out;
    };
    in_turns("item", {b_.core(), b_.cores()}, all, [&](const Number& item) {
      Number rest = item;
      TilePlace place;
      place.window = digits(rest, walk_.window);
      const Number number = walk_.outer.empty() ? rest : b_.remainder(rest, tiles, "tile_number");
      if (!walk_.outer.empty()) rest = b_.divide(rest, tiles, "rest");
      place.outer = digits(rest, walk_.outer);
      place.first = b_.mul(number, rows, "first");
      place.count = b_.left(place.first, extent, rows, extent.value && *extent.value % frame_.attempt.rows == 0);
      move(place);
    });
    return failed_;
  }

  void tile(const Number& first, const Number& last, TilePlace& place) {
    place.first = first;
    place.count = b_.left(first, last, b_.number(frame_.attempt.rows), last.value && *last.value % frame_.attempt.rows == 0);
    write_nest(frame_, walk_.window, "part", place.window, [&] { move(place); });
  }

  /// Moves one tile: of one range of positions, at one iteration of the window loops.
  void move(TilePlace& place) {
    Number base = b_.number(0), rows = total_, first = b_.number(0);  // `first`: the row of the slab at which `base` is
    if (walk_.slab) {
      const auto table = static_cast<size_t>(frame_.table(0));
      for (size_t i = 0; i < walk_.outer.size(); ++i) {
        const Number each = frame_.number(walk_.outer[i].strides[table], walk_.width);
        base = b_.add(base, b_.mul(place.outer[i], each, "slab"), "slab_row");
      }
      rows = frame_.number(plan_.primary().components[0].dim);
    }
    if (owns()) {
      // With several slabs: the part of this slab that the core owns. With one slab, or row numbers of the whole table:
      // everything that it owns.
      const bool part = walk_.slab && !(rows.value == total_.value && rows.name == total_.name);
      const Number until = part ? b_.min(b_.add(base, rows, "slab_end"), end_, "until") : end_;
      const Number from = part ? b_.max(base, begin_, "from") : begin_;
      first = part ? b_.sub(from, base, "from_in_slab") : from;
      rows = part ? b_.max(b_.sub(until, from, "own"), b_.number(0), "own_rows") : owned_;
      base = from;
    }
    Named dropped;
    for (Lookup& lookup : lookups_) lookup.indices = lookup.code.lookup_rows(place, lookup.total, dropped);
    indices_ = walk_.slab ? code_.slab_rows(place, first, owns()) : code_.rows(place, first, total_, dropped);
    part_ = {place.first, place.count, b_.number(0), b_.number(walk_.width), {}};
    for (size_t i = 0; i < walk_.outer.size(); ++i) part_.movers.push_back({place.outer[i], walk_.outer[i].strides});
    for (size_t w = 0; w < place.window.size(); ++w) part_.movers.push_back({place.window[w], walk_.window[w].strides});
    for (int pair = 0; pair < plan_.pairs && failed_.ok(); ++pair) {
      const int table = frame_.table(pair);
      rows_ = tiles_.table(frame_.pointer(table) + "_rows", table, base, rows);
      failed_ = move_tile(pair);
    }
  }

  const RowWalk& walk_;
  IndexCode code_;
  std::vector<Lookup> lookups_;  ///< by source, which begin with number 1
  bool drops_ = false;           ///< some look-up drops positions
  Number has_place_ = ProgramBuilder::number(1);
  Spread spread_ = Spread::tiles;
  Number total_;                ///< the number of rows of the table
  Number begin_, end_, owned_;  ///< Spread::ranges: this core owns the `owned_` rows [begin_, end_)
  Number first_, last_;         ///< and initialises their elements [first_, last_)
  Number share_;                ///< the most rows that a core owns
  Named chosen_;                ///< Sharing::buckets: the positions of the updates of the tile at `part_`
  Named indices_, rows_;        ///< of the tile at `part_`: its index tile, and the rows of the table from which this selects
};

}  // namespace

Status write_rows(Frame& frame, const RowWalk& walk) {
  STREW_ASSIGN(Combine combine, start_combine(frame, true));
  return RowWriter(frame, walk, std::move(combine)).run();
}

}  // namespace strew::inline v0::pto
