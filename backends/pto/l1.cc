// write_l1(). Tiles in L1 are in fractals (layout NZ): block columns of 32 bytes one after another, each with as many
// rows as the tile. So the result in memory is a tensor [C, R, 32 bytes], gathered from a table of rows [C, 32 bytes];
// the cube core reorders them while it loads. A matrix of one block column is an ordinary matrix of rows of 32 bytes,
// so gathers of elements produce such rows, by way of scratch memory.
//
// The cube core reads indices directly from memory and cannot compute with them, so only the modes of the chip's
// instruction are available. On a3 the cube core stores its tile to memory itself; on a5 it hands each tile to the
// vector core beside it. The output is C++ only, because ptoas takes memory in fractals for memory in rows. Tested by
// tests/unit/backends/pto/pto_l1_test.cc and tests/golden/pto_program_test.cc.
#include "backends/pto/walk.h"
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

Expected<bool> write_l1(Frame& frame, const RowWalk& walk) {
  const Plan& plan = frame.plan;
  ProgramBuilder& b = frame.build;
  const Element element = frame.words(frame.table(0)).element;
  const int64_t each = kFractalBytes / word_bytes(frame),
                cols = each * walk.l1;  // how many words 32 bytes have, and a tile's row
  const int64_t count = walk.axis.extent.factor, rows = walk.elements ? count / each : count, tall = frame.attempt.rows;
  if (walk.elements) frame.add_scratch("scratch", element, count);
  // The instruction needs scratch memory for the whole tile even if only a part of the tile is valid.
  if (walk.elements && rows % tall != 0) return false;

  const std::string& table = frame.pointer(frame.table(0));
  const Number zero = b.number(0), one = b.number(1), all_rows = b.number(rows), words = b.number(each);
  const Number places = walk.elements ? one : frame.number(plan.primary().components[0].dim);
  const Number wide = walk.elements ? frame.elements(frame.table(0)) : b.number(cols);
  const Named table_rows = b.part("table_rows", b.view(table + "_view", table, places, wide, wide), zero, zero, places, wide);
  const Number lines = walk.elements ? all_rows : one, along = walk.elements ? words : all_rows;
  const Named indices = b.view("indices_view", frame.pointer(index_of(plan).tensor), lines, along, along);
  const Named result = b.fractal_view("result_view", frame.pointer(plan.result(0)), all_rows, cols, each);
  const Named scratch = walk.elements ? b.view("scratch_view", "scratch", all_rows, words, words) : Named();
  const char* const coalesce = walk.elements ? "elem" : "row";

  const Number step = b.number(tall);
  const Number stride = b.mul(b.cores(), step, "stride"), from = b.mul(b.core(), step, "first_tile");
  b.loop("first", from, all_rows, stride, [&](const Number& first) {
    const Number valid = b.left(first, all_rows, step, rows % tall == 0);
    const Named index = walk.elements ? b.part("index_part", indices, first, zero, valid, words)
                                      : b.part("index_part", indices, zero, first, one, valid);
    const Named tile = b.fractal_tile("rows", element, tall, cols, valid, "mat");
    std::vector<std::string> operands = {table_rows.name, index.name, tile.name};
    if (walk.elements) operands.push_back(b.part("scratch_part", scratch, first, zero, valid, words).name);
    b.run(walk.elements ? Opcode::gather_l1_elem : Opcode::gather_l1, operands,
          {{"coalesce", coalesce}, {"gatherOob", *own_mode(plan)}});
    Named stored = tile;
    if (frame.chip == Chip::a5) {
      b.note("the vector core beside this cube core stores it");
      stored = b.fractal_tile("handed", element, tall, cols, valid);
      b.run(Opcode::move_l1, {tile.name, stored.name});
    }
    b.moves_data(stored);
    b.store(stored, b.fractal_part("result_part", result, first, valid));
  });
  frame.program.tiles = {coalesce, CoreSplit::updates, tall, cols, "l1", 1};
  return true;
}

}  // namespace strew::inline v0::pto
