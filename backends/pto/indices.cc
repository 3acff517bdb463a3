// See indices.h. 64-bit indices are read as two words each and narrowed to i32. A value that does not fit becomes an end of the range
// of i32, which is out of bounds too. A u32 of 2^31 or more also becomes the largest i32, unless the instruction's own
// mode handles it: the chip reads indices as u32. Tested by tests/golden/pto_program_test.cc and
// tests/differential/npu.
#include "backends/pto/indices.h"

namespace strew::inline v0::pto {
IndexCode::IndexCode(Frame& frame, const RowWalk& walk, size_t source)
    : frame_(frame),
      plan_(frame.plan),
      b_(frame.build),
      walk_(walk),
      number_(source),
      source_(frame.plan.sources[source]),
      table_(source == 0 ? frame.table(0) : table_of(frame.plan, source)),
      math_(frame.build, frame.attempt.rows) {
  for (const Component& c : source_.components) {
    const int indices = c.tensor;
    if (lines_.contains(indices)) continue;
    const Grid grid(frame, indices, frame.pointer(indices) + "_view", constant(0));
    Lines& lines = lines_.try_emplace(indices, Lines{grid, {}}).first->second;
    const int64_t words = frame.words(indices).count;
    if (words == 1 && walk.axis.strides[static_cast<size_t>(indices)].is(1)) continue;
    const Number all = b_.mul(frame.elements(indices), b_.number(words), "words");
    const Number start = b_.sub(b_.number(0), frame.origin(indices), "start");
    lines.whole = grid.line(frame.pointer(indices) + "_all", start, {}, all);
  }
  if (frame.options.index_column)
    column_ = b_.column_view("indices_column", frame.pointer(first().tensor), frame.elements(first().tensor));
}

/// The words of the indices at at + offset, at + offset + stride, …, read by an mgather. The tile of these places is
/// computed once for a tile of positions; for other offsets (components, high words) it is only shifted.
Named IndexCode::words(const char* hint, const WordPlace& from) {
  if (where_.name.empty() || where_tensor_ != from.tensor) {
    where_ = math_.line("place");
    b_.count_up(where_, b_.number(0));
    math_.scale(where_, Opcode::tmuls, from.stride);
    math_.scale(where_, Opcode::tadds, b_.add(from.at, from.offset, "word"));
  } else {
    math_.scale(where_, Opcode::tadds, b_.sub(from.offset, where_offset_, "further"));
  }
  where_offset_ = from.offset;
  where_tensor_ = from.tensor;
  const Named out = math_.line(hint);
  b_.run(Opcode::mgather, {lines_.at(from.tensor).whole.name, where_.name, out.name},
         {{"coalesce", "elem"}, {"gatherOob", "undefined"}});
  return out;
}

/// A tile of 64-bit indices, narrowed to i32.
Named IndexCode::widened(const WordPlace& from) {
  const Number two = b_.number(2);
  WordPlace word{from.tensor, b_.mul(from.at, two, "word"), b_.mul(from.offset, two, "word"),
                 b_.mul(from.stride, two, "word_step")};
  b_.note(checked_ ? "64-bit indices, checked: the low words" : "64-bit indices: low and high words, brought to i32");
  const Named low = words("low", word);
  if (checked_) return low;
  word.offset = b_.add(word.offset, b_.number(1), "high_word");
  const Named high = words("high", word);
  return math_.narrow(low, high, is_signed_integer(plan_.tensors[static_cast<size_t>(from.tensor)].dtype));
}

Named IndexCode::component(size_t k, const TilePlace& place) {
  math_.set_size(frame_.attempt.rows, place.count);
  if (k == 0) where_ = {};  // the first of the components of another tile
  const Component& c = source_.components[k];
  const auto t = static_cast<size_t>(c.tensor);
  std::vector<Mover> movers;
  for (size_t i = 0; i < walk_.outer.size(); ++i) movers.push_back({place.outer[i], walk_.outer[i].strides});
  const Number stride = frame_.number(walk_.axis.strides[t]);
  const Number offset = frame_.number(c.index_offset);
  Number at = b_.mul(place.first, stride, "index_at");
  const int64_t words_each = frame_.words(c.tensor).count;
  const std::string stem = is_lookup() ? "lookup" : "index";
  Named tile;
  if (stride.is(1) && words_each == 1) {
    const std::string hint = source_.components.size() > 1 ? stem + "_" + std::to_string(k) : stem;
    const Number first = b_.add(offset, at, "index_at");
    const bool column = frame_.options.index_column;
    const Number below = column ? b_.add(first, frame_.origin(c.tensor), "index_at") : first;
    const Named from = column ? b_.part(hint + "_part", column_, below, b_.number(0), math_.count(), b_.number(1))
                              : lines_.at(c.tensor).grid.line(hint + "_part", first, movers, math_.count());
    tile = column ? b_.column_tile(hint, {DType::i32, false}, frame_.attempt.rows, math_.count()) : math_.line(hint);
    b_.load(from, tile);
  } else {
    for (const auto& [variable, strides] : movers)
      at = b_.add(at, b_.mul(variable, frame_.number(strides[t]), "index_at"), "index_at");
    const WordPlace from{c.tensor, b_.add(at, frame_.origin(c.tensor), "index_at"), offset, stride};
    tile = words_each > 1 ? widened(from) : words(stem.c_str(), from);
  }
  if (c.normalize_negative) math_.from_end(tile, frame_.number(c.dim));
  return tile;
}

void IndexCode::add_faults(const TilePlace& place, Named& bad) {
  for (size_t k = 0; k < source_.components.size(); ++k) {
    if (!source_.checks_first && !is_signed_integer(source_.components[k].dtype)) continue;
    const Named tile = component(k, place);
    if (!source_.checks_first) {
      const Named negative = math_.sign(tile, "negative");
      math_.scale(negative, Opcode::tmuls, b_.number(-1));
      math_.add_bad(negative, bad);
      continue;
    }
    saturate(source_.components[k], tile);
    math_.bound(tile, frame_.last_start(source_.components[k]), bad);
  }
}

/// The row numbers, minus `base`, of positions that are in bounds. The others become 1 in `bad`, unless the policy gives them a place.
Named IndexCode::sum_rows(const TilePlace& place, const Number& base, Named& bad) {
  const auto table = static_cast<size_t>(table_);
  Named sum;
  Number moved = b_.sub(b_.number(0), base, "from_base");
  for (size_t k = 0; k < source_.components.size(); ++k) {
    const Component& c = source_.components[k];
    const Named tile = component(k, place);
    saturate(c, tile);
    const Number last = frame_.last_start(c);
    const PlaceRule rule = rule_of(source_, k);
    if (rule == PlaceRule::clamped) {
      math_.scale(tile, Opcode::tmaxs, b_.number(0));
      math_.scale(tile, Opcode::tmins, last);
    } else if (rule == PlaceRule::fits) {
      math_.bound(tile, last, bad);
    } else if (rule == PlaceRule::inside || rule == PlaceRule::cut) {
      // Each row of the window is dropped by itself, so the row's step in this dim is added before the check. The
      // minimum with IndexMath::kEnd / 2 keeps the sum from overflowing.
      Number step = b_.number(0);
      for (size_t w = 0; w < walk_.window.size(); ++w)
        if (const LoopMove& move = walk_.window[w].moves[number_]; move.is_bounded && move.component == static_cast<int>(k))
          step = b_.add(step, place.window[w]);
      if (!step.is(0)) {
        math_.scale(tile, Opcode::tmins, b_.number(IndexMath::kEnd / 2));
        math_.scale(tile, Opcode::tadds, step);
      }
      math_.bound(tile, b_.sub(frame_.number(c.dim), b_.number(1), "last_place"), bad);
      if (!step.is(0))
        moved = b_.sub(moved, b_.mul(step, frame_.number(c.strides[table], walk_.width), "step_rows"), "from_base");
    }
    math_.scale(tile, Opcode::tmuls, frame_.number(c.strides[table], walk_.width));
    if (k == 0) {
      sum = tile;
    } else {
      b_.run(Opcode::tadd, {sum.name, tile.name, sum.name});
    }
  }
  const Number along = frame_.number(walk_.axis.strides[table], walk_.width);
  if (!along.is(0)) {
    const Named numbers = math_.line("number");
    b_.count_up(numbers, place.first);
    math_.scale(numbers, Opcode::tmuls, along);
    b_.run(Opcode::tadd, {sum.name, numbers.name, sum.name});
  }
  for (size_t i = 0; i < walk_.outer.size(); ++i)
    moved = b_.add(moved, b_.mul(place.outer[i], frame_.number(walk_.outer[i].strides[table], walk_.width), "slab"), "moved");
  for (size_t w = 0; w < place.window.size(); ++w)
    moved =
        b_.add(moved, b_.mul(place.window[w], frame_.number(walk_.window[w].strides[table], walk_.width), "in_window"), "moved");
  math_.scale(sum, Opcode::tadds, moved);
  return sum;
}

/// u32 indices are compared as i32.
void IndexCode::saturate(const Component& component, const Named& tile) {
  if (component.dtype == DType::u32 && !checked_) math_.saturate(tile);
}

Named IndexCode::rows(const TilePlace& place, const Number& base, const Number& total, Named bad) {
  Named out = sum_rows(place, base, bad);
  math_.send_away(out, bad, total);
  return out;
}

Named IndexCode::lookup_rows(const TilePlace& place, const Number& total, Named& dropped) {
  if (is_fill(source_.oob)) return rows(place, b_.number(0), total);
  return sum_rows(place, b_.number(0), dropped);
}

Named IndexCode::slab_rows(const TilePlace& place, const Number& base, bool owned) {
  const Named tile = component(0, place);
  const Number dim = frame_.number(first().dim);
  const bool as_u32 = is_unsigned_integer(first().dtype) && frame_.words(first().tensor).count == 1;
  const PlaceRule rule = rule_of(source_, 0);
  if (rule == PlaceRule::clamped && (owned || !as_u32)) {
    saturate(first(), tile);
    math_.scale(tile, Opcode::tmaxs, b_.number(0));
    if (owned) math_.scale(tile, Opcode::tmins, b_.sub(dim, b_.number(1), "last_place"));
  }
  if (rule == PlaceRule::wrapped && !as_u32) {
    math_.lift(tile, dim);
  }
  if (owned) math_.scale(tile, Opcode::tadds, b_.sub(b_.number(0), base, "from_base"));
  return tile;
}

Status IndexCode::check_column(bool owned) const {
  const std::string what = "index layout column: ";
  if (frame_.chip != Chip::a5) return unsupported(what + "a3's header takes index tiles as rows only, expected layout row");
  if (walk_.elements)
    return unsupported(what + "elements have an index tile as wide as theirs, expected rows of more than one word");
  if (plan_.sources.size() != 1)
    return unsupported(
        what + "index code finds the rows that look-ups read, which the chip does with rows of them only; layout row works");
  const bool side_by_side = frame_.words(first().tensor).count == 1 && walk_.outer.empty() &&
                            walk_.axis.strides[static_cast<size_t>(first().tensor)].is(1);
  const bool modes_do = own_mode(plan_).has_value();
  if (walk_.slab && side_by_side && modes_do && !owned && !first().normalize_negative) return {};
  return unsupported(what + "the program computes with its indices (" +
                     (owned         ? "each core keeps its own rows; unique_indices, init in_place or --blocks 1 would do without"
                      : !walk_.slab ? "more than one component or a part of a row is named; layout row works"
                      : !side_by_side ? "they are not i32 or u32 side by side; layout row works"
                      : !modes_do
                          ? "policy " + std::string(name(plan_.primary().oob)) + " of signed indices; u32 ones would do without"
                          : std::string("negative ones count from the end; layout row works")) +
                     "), which the chip does with rows of them only");
}

const char* IndexCode::mode(bool owned) const {
  if (owned) return "skip";
  const PlaceRule rule = rule_of(source_, 0);
  // Where index code has made a row number, it has clamped the components, too.
  return chip_mode(plan_, rule == PlaceRule::clamped && !walk_.slab ? PlaceRule::trusted : rule);
}

}  // namespace strew::inline v0::pto
