// write_l1(). Tiles in L1 are in fractals (layout NZ): block columns of 32 bytes one after another, each with as many
// rows as the tile. So the result in memory is a tensor [C, R, 32 bytes], gathered from a table of rows [C, 32 bytes];
// the cube core reorders them while it loads. A matrix of one block column is an ordinary matrix of rows of 32 bytes,
// so gathers of elements produce such rows, by way of scratch memory.
//
// The cube core reads indices directly from memory and cannot compute with them, so only the modes of the chip's
// instruction are available. On a3 the cube core stores its tile to memory itself; on a5 it hands each tile to the
// vector core beside it. The output is C++ only, because ptoas takes memory in fractals for memory in rows. Tested by
// tests/unit/backends/pto/pto_l1_test.cc and tests/golden/pto_program_test.cc.
#include "backends/pto/forms.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kMostTileRows = 2048;

Status refuse(const std::string& why) { return unsupported("gather-to l1: " + why); }

int64_t word_bytes(const Frame& frame) { return bits(frame.words(frame.table(0)).element.dtype) / 8; }

Status check_indices(const Frame& frame, const RowWalk& walk) {
  const Plan& plan = frame.plan;
  if (bits(index_of(plan).dtype) != 32 || index_of(plan).normalize_negative ||
      !walk.axis.strides[static_cast<size_t>(index_of(plan).tensor)].is(1))
    return refuse("indices are " + std::string(name(index_of(plan).dtype)) +
                  (index_of(plan).normalize_negative ? " that may count from the end" : "") +
                  ", expected i32 or u32 side by side as they are: the cube core computes nothing with them");
  if (own_mode(plan)) return {};
  return refuse("policy " + std::string(name(plan.primary().oob)) + " of " + std::string(name(index_of(plan).dtype)) +
                " indices needs index code, which the cube core has none of, expected u32 indices, undefined or a fill of 0");
}

}  // namespace

Status check_l1(const ProgramOptions& options) {
  if (options.output == Output::pto_cpp) return {};
  if (options.output == Output::pto_as) return refuse("pto-as has tiles of the vector buffer only; pto-cpp would work");
  return refuse("ptoas takes a view in fractals for one in rows, and what it writes then does not compile; pto-cpp would work");
}

Status find_l1(const Frame& frame, RowWalk& walk) {
  const Plan& plan = frame.plan;
  if (!plan.gather || !plan.pure_move)
    return refuse("the op is no gather that only moves, expected one: L1 is read into, and nothing is computed there");
  STREW_TRY(check_indices(frame, walk));
  const auto table = static_cast<size_t>(frame.table(0)), result = static_cast<size_t>(plan.result(0));
  const Component& c = plan.primary().components[0];
  const Term& count = walk.axis.extent;
  if (plan.primary().components.size() != 1 || !c.window.is(1) || !walk.outer.empty() || walk.window.size() > 1 ||
      !count.is_static() || !c.dim.is_static() || !walk.axis.strides[table].is(0))
    return refuse("more than one loop names rows, or extents are open, expected one index per row and numbers");
  const int64_t each = kFractalBytes / word_bytes(frame);
  if (walk.elements) {
    if (!walk.window.empty() || !c.strides[table].is(1) || !frame.extent(frame.table(0)).is(c.dim.factor))
      return refuse("elements of a table of more than one dim, expected operand [N] and one index per element");
    if (count.factor % (kFractalRows * each) != 0)
      return refuse(std::to_string(count.factor) + " elements, expected a multiple of " + std::to_string(kFractalRows * each) +
                    ": fractals are whole");
    walk.l1 = 1;
    return {};
  }
  const int64_t across = walk.window.empty() ? 1 : walk.window[0].extent.is_static() ? walk.window[0].extent.factor : 0;
  const bool shaped =
      walk.width * frame.words(frame.table(0)).count == each && across > 0 && c.strides[table].is(walk.width * across) &&
      walk.axis.strides[result].is(walk.width) && frame.extent(frame.table(0)).is(c.dim.factor * walk.width * across) &&
      (walk.window.empty() ||
       (walk.window[0].strides[table].is(walk.width) && walk.window[0].strides[result].is(count.factor * walk.width)));
  if (!shaped)
    return refuse("expected rows [C, " + std::to_string(each) + "] of 32 bytes each and a result [C, rows, " +
                  std::to_string(each) + "], which is what fractals are in memory; without gather-to l1 any rows work");
  if (count.factor % kFractalRows != 0)
    return refuse(std::to_string(count.factor) + " rows, expected a multiple of 16: fractals are whole");
  walk.l1 = across;
  walk.window.clear();
  walk.slab = true;
  return {};
}

bool fits_l1(const RowWalk& walk, int64_t rows) {
  return rows % kFractalRows == 0 && rows <= kMostTileRows && rows <= std::max<int64_t>(walk.axis.extent.factor, kFractalRows);
}

namespace {

class L1Writer {
 public:
  L1Writer(Frame& frame, const RowWalk& walk)
      : frame_(frame), walk_(walk), b_(frame.build), each_(kFractalBytes / word_bytes(frame)), cols_(each_ * walk.l1) {}

  bool run() {
    const int64_t count = walk_.axis.extent.factor, rows = walk_.elements ? count / each_ : count, tall = frame_.attempt.rows;
    // The instruction needs scratch memory for the whole tile even if only a part of the tile is valid.
    if (walk_.elements && rows % tall != 0) return false;
    make_views(rows);
    const Number step = b_.number(tall);
    const int64_t tiles = (rows + tall - 1) / tall;
    const double turns = static_cast<double>(tiles) / b_.planned_cores();
    const Number stride = b_.mul(b_.cores(), step, "stride"), from = b_.mul(b_.core(), step, "first_tile");
    b_.loop("first", from, b_.number(rows), stride, std::max(1.0, turns),
            [&](const Number& first) { tile(first, b_.left(first, b_.number(rows), step, rows % tall == 0)); });
    frame_.program.tiles = {walk_.elements ? "elem" : "row", CoreSplit::updates, tall, cols_, "l1", 1};
    return true;
  }

 private:
  void make_views(int64_t rows) {
    const Plan& plan = frame_.plan;
    const Component& c = plan.primary().components[0];
    const std::string& table = frame_.pointer(frame_.table(0));
    const Number places = walk_.elements ? b_.number(1) : frame_.number(c.dim);
    const Number wide = walk_.elements ? frame_.elements(frame_.table(0)) : b_.number(cols_);
    table_ = b_.part("table_rows", b_.view(table + "_view", table, places, wide, wide), b_.number(0), b_.number(0), places, wide);
    const std::string& indices = frame_.pointer(index_of(plan).tensor);
    const Number lines = b_.number(walk_.elements ? rows : 1), along = b_.number(walk_.elements ? each_ : rows);
    indices_ = b_.view("indices_view", indices, lines, along, along);
    result_ = b_.fractal_view("result_view", frame_.pointer(plan.result(0)), b_.number(rows), cols_, each_);
    if (walk_.elements) scratch_ = b_.view("scratch_view", "scratch", b_.number(rows), b_.number(each_), b_.number(each_));
  }

  void tile(const Number& first, const Number& valid) {
    const Element element = frame_.words(frame_.table(0)).element;
    const int64_t tall = frame_.attempt.rows;
    const Number zero = b_.number(0), each = b_.number(each_);
    const Named index = walk_.elements ? b_.part("index_part", indices_, first, zero, valid, each)
                                       : b_.part("index_part", indices_, zero, first, b_.number(1), valid);
    const Named rows = b_.fractal_tile("rows", element, tall, cols_, valid, "mat");
    const std::vector<Attribute> modes = {{"coalesce", walk_.elements ? "elem" : "row"}, {"gatherOob", *own_mode(frame_.plan)}};
    if (walk_.elements) {
      const Named room = b_.part("scratch_part", scratch_, first, zero, valid, each);
      b_.run(Opcode::gather_l1_elem, {table_.name, index.name, rows.name, room.name}, modes);
    } else {
      b_.run(Opcode::gather_l1, {table_.name, index.name, rows.name}, modes);
    }
    Named stored = rows;
    if (frame_.chip == Chip::a5) {
      b_.note("the vector core beside this cube core stores it");
      stored = b_.fractal_tile("handed", element, tall, cols_, valid);
      b_.run(Opcode::move_l1, {rows.name, stored.name});
    }
    b_.store(stored, b_.fractal_part("result_part", result_, first, valid));
  }

  Frame& frame_;
  const RowWalk& walk_;
  ProgramBuilder& b_;
  const int64_t each_, cols_;  ///< how many words 32 bytes have, and a row of a tile
  Named table_, indices_, result_, scratch_;
};

}  // namespace

Expected<bool> write_l1(Frame& frame, const RowWalk& walk) {
  if (walk.elements) frame.add_scratch("scratch", frame.words(frame.table(0)).element, walk.axis.extent.factor);
  return L1Writer(frame, walk).run();
}

}  // namespace strew::inline v0::pto
