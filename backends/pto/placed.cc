// write_placed(): programs in PTO-AS for ops whose windows other forms place by numbers that the scalar unit reads. The grammar has no
// statement that reads a number, so every index is an element of a tile here: the iterations of the inner loops lie side by side in the lanes of
// a tile (lanes.h), mgather reads the index of each lane from memory, tile instructions apply the policy, and mgather and mscatter move single
// elements by the places that result. What a policy drops gets a place out of bounds, which mode `skip` ignores.
//
// Updates of one mscatter go in the order of lanes, which is that of positions. So all loops may be lanes where updates replace elements, do not
// meet or may be combined in any order; otherwise each position is a tile of its own, because no two elements of a window meet.
//
// Policy error: the positions are checked first. Where one is bad, mscatter puts a 1 into the word `fault`, and mgather reads this word into all
// lanes afterwards: whatever the program stores then goes to a place out of bounds if the word is 1.
//
// Policy wrap: memory of the program's own holds the numbers below the extent, from which mode `wrap` of mgather reads a remainder. Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>
#include <bit>
#include <optional>

#include "backends/pto/combine.h"
#include "backends/pto/lanes.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"
#include "backends/pto/walk.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kLineElements = 4096;
constexpr int64_t kMostSquare = 46340;  ///< the largest number whose square is an i32

/// A nest of loops, of which the inner ones are lanes.
struct Nest {
  std::vector<Loop> outer;
  std::vector<int64_t> steps;  ///< for each of `outer`: coordinates of a window's dim per iteration
  std::vector<Loop> inner;
};

/// Makes as many of the inner loops lanes as fit, and none before number `first`.
Nest nest_of(std::vector<Loop> loops, size_t first, int64_t words) {
  const int64_t most = Lanes::kMost / words;
  Nest out;
  int64_t lanes = 1;
  while (loops.size() > first && lanes * loops.back().extent.factor <= most) {
    lanes *= loops.back().extent.factor;
    out.inner.insert(out.inner.begin(), std::move(loops.back()));
    loops.pop_back();
  }
  out.outer = std::move(loops);
  out.steps.assign(out.outer.size(), 1);
  if (out.outer.size() <= first) return out;
  // The next loop is too long: it is cut into equal parts, of which one takes part.
  Loop part = out.outer.back();
  int64_t each = most / lanes;
  while (part.extent.factor % each != 0) --each;
  if (each == 1) return out;
  Loop& rest = out.outer.back();
  rest.extent = constant(part.extent.factor / each);
  for (Term& stride : rest.strides) stride = stride * constant(each);
  out.steps.back() = each;
  part.extent = constant(each);
  out.inner.insert(out.inner.begin(), std::move(part));
  return out;
}

class PlacedWriter {
 public:
  PlacedWriter(Frame& frame, Combine combine, bool moves_nothing)
      : frame_(frame),
        plan_(frame.plan),
        b_(frame.build),
        combine_(std::move(combine)),
        moves_nothing_(moves_nothing),
        window_(frame.plan.window) {
    split_scales(window_);
  }

  Status run() {
    const auto is_narrow = [](const IndexSource& source) {
      return std::ranges::any_of(source.components, [](const Component& c) { return bits(c.dtype) < 32; });
    };
    // Conversions are between tiles of one physical shape.
    if (std::ranges::any_of(plan_.sources, is_narrow)) b_.align_tiles(1);
    STREW_TRY(check());
    for (size_t s = 0; s < plan_.sources.size(); ++s)
      for (size_t k = 0; k < plan_.sources[s].components.size(); ++k) STREW_TRY(prepare_remainder(s, k));
    if (frame_.checks_first()) STREW_TRY(check_indices());
    for (int pair = 0; pair < plan_.pairs; ++pair) {
      if (initialises_results(frame_)) STREW_TRY(initialise(pair));
      if (!moves_nothing_) STREW_TRY(write_pair(pair));
    }
    return {};
  }

 private:
  /// The lanes of one tile, and where the loops around them are.
  struct At {
    Lanes& lanes;
    const Nest& nest;
    int64_t words;
    std::vector<Number> outer;
    Named away, keep;  ///< policy error: in every lane 1 where an index was bad, and 1 minus that; no name: nothing is checked
  };
  static Status cannot(const std::string& what) { return unsupported("pto-as: " + what + "; pto-ir would work"); }

  /// Fails at what tiles cannot place.
  Status check() const {
    for (const ProgramArgument& a : frame_.program.arguments)
      if (a.role == ArgumentRole::scalar)
        return cannot(
            "extents are known at the call only, expected numbers: the frozen grammar has no loops, and tiles of one shape");
    for (size_t s = 0; s < plan_.sources.size(); ++s) {
      const IndexSource& source = plan_.sources[s];
      const bool has_value = source.fill.bits[0] != 0 || source.fill.bits[1] != 0;
      if (is_fill(source.oob) && has_value && (s > 0 || !plan_.pure_move))
        return cannot("a fill value other than 0 is computed with: the chip's mode is zero");
    }
    return {};
  }

  Number base(int tensor, const At& at) {
    Number out = frame_.origin(tensor);
    for (size_t i = 0; i < at.outer.size(); ++i)
      out =
          b_.add(out, b_.mul(at.outer[i], frame_.number(at.nest.outer[i].strides[static_cast<size_t>(tensor)]), "moved"), "base");
    return out;
  }

  /// A tensor's memory as one line of words, or of bytes where several elements share one.
  Named memory(int tensor) {
    const int width = bits(plan_.tensors[static_cast<size_t>(tensor)].dtype);
    const Number words = b_.mul(frame_.words_in(tensor), b_.number(frame_.words(tensor).count));
    return line_of(frame_.pointer(tensor), b_.ceil_div(words, b_.number(width < 8 ? 8 / width : 1)));
  }
  Named line_of(const std::string& pointer, const Number& all) {
    const auto [known, fresh] = lines_.try_emplace(pointer);
    if (fresh) {
      const Named view = b_.view(pointer + "_view", pointer, b_.number(1), all, all);
      known->second = {view, b_.part(pointer + "_all", view, b_.number(0), b_.number(0), b_.number(1), all)};
    }
    return known->second.second;
  }
  Named part_of(const std::string& pointer, const Number& first, const Number& count) {
    return b_.part(pointer + "_part", lines_.at(pointer).first, b_.number(0), first, b_.number(1), count);
  }
  void gather(const Named& from, const Named& places, const Named& into, const char* mode) {
    b_.run(Opcode::mgather, {from.name, places.name, into.name}, {{"coalesce", "elem"}, {"gatherOob", mode}});
  }
  void scatter(const Named& data, const Named& places, const Named& into, const char* mode, const std::string& atomic = "none") {
    b_.run(Opcode::mscatter, {data.name, places.name, into.name},
           {{"coalesce", "elem"}, {"scatterAtomicOp", atomic}, {"scatterOob", mode}});
  }

  // --- indices ---

  /// The numbers at the places, of which each has `words` words of memory, as i32; `high`: receives the second words.
  Named read_indices(const Component& c, const Named& places, At& at, std::optional<Named>& high) {
    const Words& words = frame_.words(c.tensor);
    const Named from = memory(c.tensor);
    IndexMath& math = at.lanes.math();
    if (words.count == 2) {
      math.scale(places, Opcode::tmuls, b_.number(2));
      const Named low = at.lanes.line("low");
      gather(from, places, low, "undefined");
      math.scale(places, Opcode::tadds, b_.number(1));
      high = at.lanes.line("high");
      gather(from, places, *high, "undefined");
      return low;
    }
    if (bits(c.dtype) >= 8) {
      const Named out = at.lanes.line("index", words.element.dtype);
      gather(from, places, out, "undefined");
      return bits(c.dtype) < 32 ? widened(c, out, at) : out;
    }
    // Several share a byte, the first in the lowest bits.
    const int width = bits(c.dtype), shift = std::countr_zero(static_cast<unsigned>(8 / width));
    const Named byte_at = at.lanes.line("byte_at"), place = at.lanes.line("place"), byte = at.lanes.line("byte", DType::i8);
    b_.run(Opcode::tshrs, {places.name, b_.i32(shift).name, byte_at.name});
    b_.run(Opcode::tmuls, {byte_at.name, b_.i32(-(8 / width)).name, place.name});
    b_.run(Opcode::tadd, {places.name, place.name, place.name});
    math.scale(place, Opcode::tmuls, b_.number(width));
    gather(from, byte_at, byte, "undefined");
    const Named all = converted(byte, at), out = at.lanes.line("index");
    b_.run(Opcode::tshr, {all.name, place.name, out.name});
    mask(out, width, at);
    return is_signed_integer(c.dtype) ? with_sign(out, width, at) : out;
  }
  /// i8 and i16 become i32 by way of floats, which hold them.
  Named converted(const Named& narrow, At& at) {
    const Named wide = at.lanes.line("wide", bits(narrow.type.element.dtype) == 8 ? DType::f16 : DType::f32),
                out = at.lanes.line("index");
    b_.run(Opcode::tcvt, {narrow.name, wide.name}, {{"rmode", "RINT"}});
    b_.run(Opcode::tcvt, {wide.name, out.name}, {{"rmode", "RINT"}});
    return out;
  }
  Named widened(const Component& c, const Named& narrow, At& at) {
    Named out = converted(narrow, at);
    if (!is_signed_integer(c.dtype)) mask(out, bits(c.dtype), at);
    return out;
  }
  void mask(const Named& tile, int width, At& at) {
    const Named ones = at.lanes.line("ones");
    b_.run(Opcode::texpands, {b_.i32((int64_t{1} << width) - 1).name, ones.name});
    b_.run(Opcode::tand, {tile.name, ones.name, tile.name});
  }
  Named with_sign(const Named& tile, int width, At& at) {
    const Named sign = at.lanes.line("sign");
    b_.run(Opcode::tshrs, {tile.name, b_.i32(width - 1).name, sign.name});
    at.lanes.math().scale(sign, Opcode::tmuls, b_.number(-(int64_t{1} << width)));
    b_.run(Opcode::tadd, {tile.name, sign.name, tile.name});
    return tile;
  }

  /// Component `k` of a source in each lane, before its policy: with `by_remainder`, the remainder by its extent.
  Named index(size_t s, size_t k, At& at, bool by_remainder) {
    const Component& c = plan_.sources[s].components[k];
    const Lanes::Steps steps = Lanes::strides_in(c.tensor);
    const Number first = b_.add(base(c.tensor, at), frame_.number(c.index_offset), "index_at");
    Named tile;
    std::optional<Named> high;
    if (at.lanes.is_line(steps) && at.words == 1 && frame_.words(c.tensor).count == 1 && bits(c.dtype) >= 8) {
      memory(c.tensor);
      const Named loaded = at.lanes.line("index", frame_.words(c.tensor).element.dtype);
      b_.load(part_of(frame_.pointer(c.tensor), first, b_.number(at.lanes.count())), loaded);
      tile = bits(c.dtype) < 32 ? widened(c, loaded, at) : loaded;
    } else {
      const Named places = at.lanes.sums("place", steps, false);
      at.lanes.math().scale(places, Opcode::tadds, first);
      tile = read_indices(c, places, at, high);
    }
    if (by_remainder) return remainder(c, tile, high, at);
    if (high) tile = at.lanes.math().narrow(tile, *high, is_signed_integer(c.dtype));
    if (c.normalize_negative) at.lanes.math().from_end(tile, frame_.number(c.dim));
    if (c.dtype == DType::u32) at.lanes.math().saturate(tile);
    return tile;
  }

  static bool wraps(PlaceRule rule) { return rule == PlaceRule::wrapped || rule == PlaceRule::split; }
  static std::string numbers_of(const Component& c) { return "below" + std::to_string(c.dim.factor); }

  /// Policy wrap: stores the numbers below the extent.
  Status prepare_remainder(size_t s, size_t k) {
    const Component& c = plan_.sources[s].components[k];
    if (!wraps(rule_of(plan_.sources[s], k)) || moves_nothing_ || lines_.contains(numbers_of(c))) return {};
    if (bits(c.dtype) == 64 && c.dim.factor > kMostSquare)
      return cannot("policy wrap of 64-bit indices by more than " + std::to_string(kMostSquare) +
                    ", the square of which is no i32");
    const Number dim = b_.number(c.dim.factor), step = b_.number(std::min(c.dim.factor, kLineElements));
    frame_.add_scratch(numbers_of(c), {DType::i32, false}, c.dim.factor);
    b_.note("the numbers below an extent, for remainders");
    line_of(numbers_of(c), dim);
    b_.loop("number", b_.number(0), dim, step, [&](const Number& first) {
      const Number count = b_.left(first, dim, step, *dim.value % *step.value == 0);
      const Named tile = b_.tile("numbers", {DType::i32, false}, 1, *step.value, b_.number(1), count);
      b_.count_up(tile, first);
      b_.store(tile, part_of(numbers_of(c), first, count));
    });
    return {};
  }
  Named remainder_of(const Component& c, const Named& tile, At& at) {
    const Named out = at.lanes.line("rest");
    gather(lines_.at(numbers_of(c)).second, tile, out, "wrap");
    return out;
  }
  Named remainder(const Component& c, const Named& tile, const std::optional<Named>& high, At& at) {
    const Number dim = frame_.number(c.dim);
    const bool is_signed = is_signed_integer(c.dtype);
    if (!high) {
      if (is_signed) at.lanes.math().lift(tile, dim);
      return remainder_of(c, tile, at);
    }
    // The low word plus 2^32 times the high word.
    if (is_signed) at.lanes.math().lift(*high, dim);
    const Named low_rest = remainder_of(c, tile, at), high_rest = remainder_of(c, *high, at);
    at.lanes.math().scale(high_rest, Opcode::tmuls, b_.number((int64_t{1} << 32) % c.dim.factor));
    b_.run(Opcode::tadd, {low_rest.name, high_rest.name, low_rest.name});
    return remainder_of(c, low_rest, at);
  }

  /// Does the loop move the window in the dim of component `k` of the op's own indices, such that each of its coordinates is judged by itself?
  bool is_judged(const Loop& loop, size_t s, size_t k) const {
    const LoopMove& move = loop.moves[s];
    return move.is_bounded && move.component == static_cast<int>(k);
  }
  bool is_judged(const Loop& loop, size_t s) const { return loop.moves[s].is_bounded; }

  /// The word of the table that each lane names. Lanes that the policy drops become 1 in `bad`.
  Named places(size_t s, int table, At& at, Named& bad) {
    const IndexSource& source = plan_.sources[s];
    const auto t = static_cast<size_t>(table);
    IndexMath& math = at.lanes.math();
    const Lanes::Steps steps = table_steps(s, table);
    Named sum = at.lanes.sums("at", steps, true);
    const Number words = b_.number(at.words);
    Number moved = frame_.origin(table);
    for (size_t i = 0; i < at.outer.size(); ++i)
      moved = b_.add(moved, b_.mul(at.outer[i], frame_.number(steps(at.nest.outer[i])), "moved"), "base");
    math.scale(sum, Opcode::tadds, b_.mul(moved, words, "base"));
    for (size_t k = 0; k < source.components.size(); ++k) {
      const Component& c = source.components[k];
      const PlaceRule rule = rule_of(source, k);
      const Named tile = index(s, k, at, wraps(rule));
      const Number last = frame_.last_start(c);
      if (rule == PlaceRule::clamped) {
        math.scale(tile, Opcode::tmaxs, b_.number(0));
        math.scale(tile, Opcode::tmins, last);
      } else if (rule == PlaceRule::fits || rule == PlaceRule::inside) {
        math.bound(tile, last, bad);
      }
      const Named coordinate = rule == PlaceRule::cut || rule == PlaceRule::split ? judged(s, k, tile, at, bad) : tile;
      math.scale(coordinate, Opcode::tmuls, b_.mul(frame_.number(c.strides[t]), words, "step"));
      b_.run(Opcode::tadd, {sum.name, coordinate.name, sum.name});
    }
    return sum;
  }
  Lanes::Steps table_steps(size_t s, int table) const {
    return [this, s, table](const Loop& loop) {
      return is_judged(loop, s) ? constant(0) : loop.strides[static_cast<size_t>(table)];
    };
  }
  Lanes::Steps coordinate_steps(size_t s, size_t k) const {
    return [this, s, k](const Loop& loop) { return constant(is_judged(loop, s, k) ? 1 : 0); };
  }

  /// The coordinates of the lanes' elements in the dim of component `k`, where each is judged by itself.
  Named judged(size_t s, size_t k, const Named& start, At& at, Named& bad) {
    const Component& c = plan_.sources[s].components[k];
    IndexMath& math = at.lanes.math();
    const Lanes::Steps steps = coordinate_steps(s, k);
    Number outer = b_.number(0);
    for (size_t i = 0; i < at.outer.size(); ++i)
      if (is_judged(at.nest.outer[i], s, k))
        outer = b_.add(outer, b_.mul(at.outer[i], b_.number(at.nest.steps[i]), "coordinate"), "coordinate");
    const bool wraps = rule_of(plan_.sources[s], k) == PlaceRule::split;
    // So that the sum does not overflow.
    if (!wraps) math.scale(start, Opcode::tmins, b_.number(IndexMath::kEnd / 2));
    if (!at.lanes.stays(steps)) {
      const Named within = at.lanes.sums("within", steps, false);
      b_.run(Opcode::tadd, {start.name, within.name, start.name});
    }
    math.scale(start, Opcode::tadds, outer);
    if (wraps) return remainder_of(c, start, at);
    math.bound(start, b_.sub(frame_.number(c.dim), b_.number(1), "last_place"), bad);
    return start;
  }

  // --- policy error ---

  Status check_indices() {
    b_.note("the word fault becomes 1 if an index is bad");
    const Named zeros = b_.tile("faults", {DType::i32, false}, 1, 8, b_.number(1), b_.number(8));
    b_.run(Opcode::texpands, {b_.i32(0).name, zeros.name});
    line_of("fault", b_.number(8));
    b_.store(zeros, part_of("fault", b_.number(0), b_.number(8)));
    if (has_zero(plan_.positions)) return {};
    const Nest nest = nest_of(plan_.positions, 0, 1);
    Lanes lanes(frame_, nest.inner, 1);
    At at{lanes, nest, 1, {}, {}, {}};
    const Named ones = lanes.line("one");
    b_.run(Opcode::texpands, {b_.i32(1).name, ones.name});
    for (const IndexSource& source : plan_.sources)
      for (const Component& c : source.components) lanes.prepare(Lanes::strides_in(c.tensor), false);
    write_nest(frame_, nest.outer, "checked", at.outer, [&] {
      Named bad;
      for (size_t s = 0; s < plan_.sources.size(); ++s)
        for (size_t k = 0; k < plan_.sources[s].components.size(); ++k) add_fault(s, k, at, bad);
      if (bad.name.empty()) return;
      // Word 0 for a bad position; for others a word out of bounds, which mode skip ignores.
      lanes.math().scale(bad, Opcode::tadds, b_.number(-1));
      scatter(ones, bad, line_of("fault", b_.number(8)), "skip");
    });
    return {};
  }
  void add_fault(size_t s, size_t k, At& at, Named& bad) {
    const IndexSource& source = plan_.sources[s];
    const Component& c = source.components[k];
    const bool judges_sign = s == 0 && frame_.judges_signs() && is_signed_integer(c.dtype);
    if (!source.checks_first && !judges_sign) return;
    const Named tile = index(s, k, at, false);
    if (source.checks_first) return at.lanes.math().bound(tile, frame_.last_start(c), bad);
    const Named negative = at.lanes.math().sign(tile, "negative");
    at.lanes.math().scale(negative, Opcode::tmuls, b_.number(-1));
    at.lanes.math().add_bad(negative, bad);
  }
  /// Reads the word fault into every lane.
  void find_away(IndexMath& math, Named& away, Named& keep) {
    if (!frame_.checks_first()) return;
    const Named zeros = math.line("zero");
    b_.run(Opcode::texpands, {b_.i32(0).name, zeros.name});
    away = math.line("away");
    gather(line_of("fault", b_.number(8)), zeros, away, "undefined");
    keep = math.line("keep");
    b_.run(Opcode::tmuls, {away.name, b_.i32(-1).name, keep.name});
    math.scale(keep, Opcode::tadds, b_.number(1));
  }
  /// Makes all places -1 if an index was bad.
  void stop(const Named& places, const Named& away, const Named& keep) {
    if (away.name.empty()) return;
    b_.run(Opcode::tmul, {places.name, keep.name, places.name});
    b_.run(Opcode::tsub, {places.name, away.name, places.name});
  }

  // --- values ---

  /// Fills a tile of one row with copies of an element. `word`: of a tile of words of 64-bit elements, the number of each word in its element.
  Status fill(const Words& words, const Named& tile, const Scalar& value, IndexMath& math, const Named& word) {
    const DType dtype = words.element.dtype;
    const int64_t low = word_of(value, dtype, 0), high = words.count > 1 ? word_of(value, dtype, 1) : low;
    if (low != high && words.count == 2 && dtype == DType::i32) {
      b_.run(Opcode::tmuls, {word.name, b_.constant(words.element, static_cast<int32_t>(high - low)).name, tile.name});
      b_.run(Opcode::tadds, {tile.name, b_.constant(words.element, low).name, tile.name});
      return {};
    }
    if (low == high && words.count <= 2 && frame_.has(Opcode::texpands, dtype)) {
      b_.run(Opcode::texpands, {b_.constant(words.element, low).name, tile.name});
      return {};
    }
    if (words.count > 1 || (dtype != DType::i8 && dtype != DType::u8))
      return cannot("elements of " + std::string(name(dtype)) + " are filled, which " + std::string(name(frame_.chip)) +
                    " has no instruction for");
    // Every such number is an f16.
    b_.align_tiles(1);
    const Named half = math.line("half", DType::f16);
    b_.run(Opcode::texpands, {b_.constant({DType::f16, false}, half_bits(low)).name, half.name});
    b_.run(Opcode::tcvt, {half.name, tile.name}, {{"rmode", "RINT"}});
    return {};
  }
  static int64_t half_bits(int64_t value) {
    if (value == 0) return 0;
    const auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
    const int exponent = std::bit_width(magnitude) - 1;
    const auto mantissa = static_cast<int64_t>((magnitude << (10 - exponent)) & 0x3FF);
    return (value < 0 ? 0x8000 : 0) | int64_t{exponent + 15} << 10 | mantissa;
  }

  /// The tile of a tensor whose elements the loops name.
  Named read(const char* hint, int tensor, At& at, Named& bad) {
    const Words& words = frame_.words(tensor);
    const Named out = at.lanes.line(hint, words.element.dtype), all = memory(tensor);
    if (const int source = lookup_source(plan_, tensor); source > 0) {
      const bool fills = is_fill(plan_.sources[static_cast<size_t>(source)].oob);
      Named none;
      const Named at_table = places(static_cast<size_t>(source), tensor, at, fills ? none : bad);
      if (fills) at.lanes.math().send_away(at_table, none, b_.mul(frame_.words_in(tensor), b_.number(words.count)));
      gather(all, at_table, out, "zero");
      return out;
    }
    const Lanes::Steps steps = Lanes::strides_in(tensor);
    const Number first = b_.mul(base(tensor, at), b_.number(words.count), "first");
    if (at.lanes.is_line(steps)) {
      b_.load(part_of(frame_.pointer(tensor), first, b_.number(at.lanes.count())), out);
      return out;
    }
    const Named from = at.lanes.sums("from", steps, true);
    at.lanes.math().scale(from, Opcode::tadds, first);
    gather(all, from, out, "undefined");
    return out;
  }

  /// Stores a tile into the elements of a tensor that the loops name, but not where `bad` has 1, if it has a name.
  void store(const Named& data, int tensor, At& at, const Named& bad) {
    const Words& words = frame_.words(tensor);
    const Named all = memory(tensor);
    const Lanes::Steps steps = Lanes::strides_in(tensor);
    const Number first = b_.mul(base(tensor, at), b_.number(words.count), "first");
    if (at.lanes.is_line(steps) && bad.name.empty() && at.away.name.empty())
      return b_.store(data, part_of(frame_.pointer(tensor), first, b_.number(at.lanes.count())));
    const Named into = at.lanes.sums("into", steps, true);
    at.lanes.math().scale(into, Opcode::tadds, first);
    at.lanes.math().send_away(into, bad, b_.mul(frame_.words_in(tensor), b_.number(words.count)));
    stop(into, at.away, at.keep);
    scatter(data, into, all, bad.name.empty() && at.away.name.empty() ? "undefined" : "skip");
  }

  // --- results before updates ---

  Status initialise(int pair) {
    const int result = plan_.result(pair), operand = plan_.operand(pair);
    const bool copies = plan_.init_kind == InitKind::copy;
    if (plan_.init_kind == InitKind::in_place) return {};
    if (has_zero(plan_.init)) return {};
    const DType from = plan_.tensors[static_cast<size_t>(operand)].dtype, to = frame_.stored(pair).dtype;
    // Of 64-bit integers that become 32-bit ones, the low word is left.
    const bool halves = copies && is_integer(from) && is_integer(to) && bits(from) == 64 && bits(to) == 32;
    if (copies && !halves && (from != to || frame_.words(operand).element.dtype != frame_.words(result).element.dtype))
      return cannot("the operand is converted before the updates");
    b_.note(copies ? "the operand first" : "the value that is there before updates");
    const bool lies_in_line = !halves && !frame_.has_strides(result) && !(copies && frame_.has_strides(operand));
    return lies_in_line ? make_line(pair, copies) : make_elements(pair, copies);
  }
  Status make_elements(int pair, bool copies) {
    const int result = plan_.result(pair), operand = plan_.operand(pair);
    const Words& words = frame_.words(result);
    const Nest nest = nest_of(plan_.init, 0, words.count);
    Lanes lanes(frame_, nest.inner, words.count);
    At at{lanes, nest, words.count, {}, {}, {}};
    find_away(lanes.math(), at.away, at.keep);
    const Lanes::Steps nothing = [](const Loop&) { return constant(0); };
    lanes.prepare(Lanes::strides_in(result), true);
    if (copies) lanes.prepare(Lanes::strides_in(operand), true);
    const Named word = lanes.sums("word", nothing, true);
    Status failed;
    write_nest(frame_, nest.outer, "init", at.outer, [&] {
      Named none, data;
      if (copies && frame_.words(operand).count != words.count) {
        const Named places = lanes.sums("place", Lanes::strides_in(operand), false);
        lanes.math().scale(places, Opcode::tadds, base(operand, at));
        lanes.math().scale(places, Opcode::tmuls, b_.number(frame_.words(operand).count));
        data = lanes.line("made", words.element.dtype);
        gather(memory(operand), places, data, "undefined");
      } else if (copies) {
        data = read("made", operand, at, none);
      } else {
        data = lanes.line("made", words.element.dtype);
        failed = fill(words, data, plan_.init_fill[static_cast<size_t>(pair)], lanes.math(), word);
      }
      store(data, result, at, {});
    });
    return failed;
  }
  /// The whole result, as one line of memory.
  Status make_line(int pair, bool copies) {
    const int result = plan_.result(pair), operand = plan_.operand(pair);
    const Words& words = frame_.words(result);
    const Number all = b_.mul(frame_.words_in(result), b_.number(words.count)), zero = b_.number(0);
    const Number step = b_.number(std::min<int64_t>(*all.value, kLineElements));
    memory(result);
    if (copies) memory(operand);
    Status failed;
    b_.loop("made", zero, all, step, [&](const Number& first) {
      const Number count = b_.left(first, all, step, *all.value % *step.value == 0);
      IndexMath math(b_, *step.value, count);
      const Named data = math.line("made", words.element.dtype);
      if (copies) {
        b_.load(part_of(frame_.pointer(operand), first, count), data);
      } else {
        Named word;
        if (words.count == 2) {
          // `first` is even.
          const Named number = math.line("number"), whole = math.line("element");
          word = math.line("word");
          b_.count_up(number, zero);
          b_.run(Opcode::tshrs, {number.name, b_.i32(1).name, whole.name});
          b_.run(Opcode::tmuls, {whole.name, b_.i32(-2).name, word.name});
          b_.run(Opcode::tadd, {number.name, word.name, word.name});
        }
        const Status filled = fill(words, data, plan_.init_fill[static_cast<size_t>(pair)], math, word);
        if (!filled.ok()) failed = filled;
      }
      Named away, keep;
      find_away(math, away, keep);
      if (away.name.empty()) return b_.store(data, part_of(frame_.pointer(result), first, count));
      const Named into = math.line("into");
      b_.count_up(into, first);
      stop(into, away, keep);
      scatter(data, into, memory(result), "skip");
    });
    return failed;
  }

  // --- updates ---

  Status write_pair(int pair) {
    const int table = frame_.table(pair), slices = slices_of(plan_, pair);
    const int64_t words = frame_.words(table).count;
    if (frame_.words(slices).count != words) return cannot("elements of several words are converted");
    const bool any_order = plan_.gather || combine_.way == CombineWay::assign || plan_.unique.holds ||
                           (combine_.way == CombineWay::atomic && (combine_.any_order || frame_.chip == Chip::a3));
    std::vector<Loop> loops = plan_.positions;
    loops.insert(loops.end(), window_.begin(), window_.end());
    const Nest nest = nest_of(std::move(loops), any_order ? 0 : plan_.positions.size(), words);
    Lanes lanes(frame_, nest.inner, words);
    At at{lanes, nest, words, {}, {}, {}};
    prepare(at, pair);
    Status failed;
    write_nest(frame_, nest.outer, "at", at.outer, [&] {
      const Status moved = plan_.gather ? gather_tile(pair, at) : scatter_tile(pair, at);
      if (!moved.ok()) failed = moved;
    });
    frame_.program.tiles = {"elem", CoreSplit::single, 1, lanes.count(), "nd", 1};
    return failed;
  }

  /// Computes what all tiles of a pair need.
  void prepare(At& at, int pair) {
    find_away(at.lanes.math(), at.away, at.keep);
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].role == Role::extra || static_cast<int>(t) == slices_of(plan_, pair)) {
        memory(static_cast<int>(t));
        if (plan_.tensors[t].source < 0) at.lanes.prepare(Lanes::strides_in(static_cast<int>(t)), true);
      }
    memory(frame_.table(pair));
    for (size_t s = 0; s < plan_.sources.size(); ++s) {
      at.lanes.prepare(table_steps(s, s == 0 ? frame_.table(pair) : table_of(plan_, s)), true);
      for (size_t k = 0; k < plan_.sources[s].components.size(); ++k) {
        memory(plan_.sources[s].components[k].tensor);
        at.lanes.prepare(Lanes::strides_in(plan_.sources[s].components[k].tensor), false);
        at.lanes.prepare(coordinate_steps(s, k), false);
      }
    }
  }

  /// The inputs of the combiner. Look-ups of extra inputs may drop lanes.
  CombineTiles inputs(const Named& current, const Named& update, At& at, Named& bad) {
    const int64_t elements = at.lanes.count() / at.words;
    CombineTiles out{current, update, {}, 1, elements, b_.number(1), b_.number(elements)};
    for (size_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].role == Role::extra) out.extras.push_back(read("extra", static_cast<int>(t), at, bad));
    return out;
  }

  Status scatter_tile(int pair, At& at) {
    const int table = frame_.table(pair);
    const Words& words = frame_.words(table);
    const Named all = memory(table);
    Named bad, data = read("update", slices_of(plan_, pair), at, bad);
    if (combine_.way != CombineWay::compute) {
      const Named into = destination(pair, at, bad);
      scatter(data, into, all, mode(bad, at), combine_.way == CombineWay::atomic ? combine_.atomic : "none");
      return {};
    }
    const Named current = at.lanes.line("current", words.element.dtype);
    const CombineTiles tiles = inputs(current, data, at, bad);
    const Named into = destination(pair, at, bad);
    gather(all, into, current, "zero");
    STREW_ASSIGN(const Named made, write_combine(frame_, pair, tiles));
    scatter(made, into, all, mode(bad, at));
    return {};
  }
  const char* mode(const Named& bad, const At& at) const {
    return bad.name.empty() && at.away.name.empty() ? "undefined" : "skip";
  }
  Named destination(int pair, At& at, Named& bad) {
    const int table = frame_.table(pair);
    const Named into = places(0, table, at, bad);
    at.lanes.math().send_away(into, bad, b_.mul(frame_.words_in(table), b_.number(frame_.words(table).count)));
    stop(into, at.away, at.keep);
    return into;
  }

  Status gather_tile(int pair, At& at) {
    const int table = frame_.table(pair), result = slices_of(plan_, pair);
    const Words& words = frame_.words(table);
    const IndexSource& source = plan_.primary();
    Named bad, none;
    const Named from = places(0, table, at, bad), data = at.lanes.line("current", words.element.dtype), all = memory(table);
    const bool fills = is_fill(source.oob) && (source.fill.bits[0] != 0 || source.fill.bits[1] != 0) && !bad.name.empty();
    Named dropped;
    if (fills) {
      const Named value = at.lanes.line("fill", words.element.dtype);
      const Named word = at.lanes.sums(
          "word", [](const Loop&) { return constant(0); }, true);
      STREW_TRY(fill(words, value, source.fill, at.lanes.math(), word));
      store(value, result, at, {});
      dropped = at.lanes.line("dropped");
      b_.run(Opcode::tadds, {bad.name, b_.i32(0).name, dropped.name});
    }
    at.lanes.math().send_away(from, bad, b_.mul(frame_.words_in(table), b_.number(words.count)));
    gather(all, from, data, bad.name.empty() && at.away.name.empty() ? "undefined" : "zero");
    if (combine_.way != CombineWay::compute) {
      store(data, result, at, dropped);
      return {};
    }
    STREW_ASSIGN(const Named made, write_combine(frame_, pair, inputs(data, {}, at, none)));
    store(made, result, at, {});
    return {};
  }

  Frame& frame_;
  const Plan& plan_;
  ProgramBuilder& b_;
  const Combine combine_;
  const bool moves_nothing_;
  std::vector<Loop> window_;
  std::map<std::string, std::pair<Named, Named>> lines_;  ///< by pointer: the view of its memory as one line, and all of it
};

}  // namespace

Status write_placed(Frame& frame, bool moves_nothing) {
  Combine combine;
  if (!moves_nothing) {
    // A result's lanes know of the look-ups of its own updates only.
    if (frame.plan.pairs > 1 && std::any_of(frame.plan.sources.begin() + 1, frame.plan.sources.end(), drops))
      return unsupported("pto-as: a look-up that drops a position drops it for several results; pto-ir would work");
    STREW_ASSIGN(combine, start_combine(frame, true));
  }
  return PlacedWriter(frame, std::move(combine), moves_nothing).run();
}

}  // namespace strew::inline v0::pto
