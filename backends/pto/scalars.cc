// See scalars.h. All numbers have 64 bits, because ptoas 0.60 may leave out the parentheses that cut a narrower sum to its width
// (guard.cc). A number of a narrower type has zeros above its width, so operations that carry are cut to it. Truth values are 0 and 1, and
// comparisons are differences whose sign is shifted down: a comparison that is used as a number cannot be protected from ptoas either.
#include "backends/pto/scalars.h"

#include <algorithm>

#include "backends/lower/lower_numeric.h"
#include "backends/lower/soft_floats.h"
#include "backends/pto/arithmetic.h"

namespace strew::inline v0::pto {
namespace {

/// The scalar unit has maxima and minima, and divides numbers with signs.
constexpr lowered::Natives kNatives{lowered::Primitive::smin, lowered::Primitive::smax, lowered::Primitive::umin,
                                    lowered::Primitive::umax};

/// The statements that compute a primitive on two numbers. Those of fewer than 64 bits have no sign bit, and are divided and compared as
/// positive ones.
struct Arithmetic {
  lowered::Primitive op;
  Opcode narrow, wide;
  bool cut = false;                                   ///< the result may have bits above the width
  enum : uint8_t { none, first, both } signs = none;  ///< which arguments are numbers with signs
};
constexpr Arithmetic kArithmetic[] = {
    {lowered::Primitive::add, Opcode::addi, Opcode::addi, true},
    {lowered::Primitive::sub, Opcode::subi, Opcode::subi, true},
    {lowered::Primitive::mul, Opcode::muli, Opcode::muli, true},
    {lowered::Primitive::udiv, Opcode::divsi, Opcode::divui},
    {lowered::Primitive::urem, Opcode::remsi, Opcode::remui},
    {lowered::Primitive::bit_and, Opcode::andi, Opcode::andi},
    {lowered::Primitive::bit_or, Opcode::ori, Opcode::ori},
    {lowered::Primitive::bit_xor, Opcode::xori, Opcode::xori},
    {lowered::Primitive::shl, Opcode::shli, Opcode::shli, true},
    {lowered::Primitive::lshr, Opcode::shrui, Opcode::shrui},
    {lowered::Primitive::smin, Opcode::minsi, Opcode::minsi, true, Arithmetic::both},
    {lowered::Primitive::smax, Opcode::maxsi, Opcode::maxsi, true, Arithmetic::both},
    {lowered::Primitive::ashr, Opcode::shrsi, Opcode::shrsi, true, Arithmetic::first},
    {lowered::Primitive::umin, Opcode::minsi, Opcode::minui},
    {lowered::Primitive::umax, Opcode::maxsi, Opcode::maxui},
};

/// The primitives that ScalarCode::make() writes itself.
constexpr lowered::Primitive kOthers[] = {lowered::Primitive::input, lowered::Primitive::constant, lowered::Primitive::bitcast,
                                          lowered::Primitive::zext,  lowered::Primitive::itrunc,   lowered::Primitive::sext,
                                          lowered::Primitive::eq,    lowered::Primitive::slt,      lowered::Primitive::ult,
                                          lowered::Primitive::select};

uint64_t ones(int width) { return ~uint64_t{0} >> (64 - width); }

}  // namespace

Expected<lowered::Graph> scalar_graph(const Expr& expr) {
  constexpr int64_t kMostFloats = 400;  // each is up to some hundred operations on integers
  const lowered::Graph graph = lower_numeric(expr, kNatives);
  const auto is_float_node = [](const lowered::Node& node) { return lowered::is_float(node.type); };
  const int64_t floats = std::ranges::count_if(graph.nodes, is_float_node);
  if (floats > kMostFloats)
    return unsupported("the expression takes " + std::to_string(floats) + " operations on floats, expected at most " +
                       std::to_string(kMostFloats) + " where they are computed in integers");
  STREW_ASSIGN(lowered::Graph out, lowered::without_floats(graph, kNatives));
  for (const lowered::Node& node : out.nodes)
    if (!std::ranges::count(kArithmetic, node.op, &Arithmetic::op) && !std::ranges::count(kOthers, node.op))
      return unsupported("the scalar unit lacks an operation on integers that the expression takes");
  return out;
}

ScalarWords scalar_words(DType dtype) {
  const int64_t count = lowered::part_count(dtype);
  if (bits(dtype) < 8) return {DType::i8, 1};
  for (const DType word : {DType::i8, DType::i16, DType::i32})
    if (bits(word) * count == bits(dtype)) return {word, count};
  return {DType::i64, count};
}

Named packed_element(ProgramBuilder& b, const Named& byte, const Number& shift, int width) {
  const Type wide = make_scalar(DType::i64);
  const Named all = b.give(Opcode::extui, "byte", wide, {byte.name});
  const Named by = b.i64(shift), mask = b.constant({DType::i64, false}, (int64_t{1} << width) - 1);
  const Named low = b.give(Opcode::shrui, "shifted", wide, {all.name, by.name});
  return b.give(Opcode::andi, "packed", wide, {low.name, mask.name});
}

std::string packed_byte(ProgramBuilder& b, const Named& tile, const Named& element, const Number& shift, int width) {
  const Type wide = make_scalar(DType::i64);
  const Named by = b.i64(shift), mask = b.constant({DType::i64, false}, (int64_t{1} << width) - 1);
  const Named old = b.give(Opcode::tgetval, "byte", make_scalar(DType::i8), {tile.name, b.use(b.number(0))});
  const Named all = b.give(Opcode::extui, "byte", wide, {old.name}), bits = b.give(Opcode::extui, "wide", wide, {element.name});
  // old ^ ((old ^ new) & mask), where new and mask are shifted to the place.
  const Named raised = b.give(Opcode::shli, "raised", wide, {bits.name, by.name});
  const Named place = b.give(Opcode::shli, "place_bits", wide, {mask.name, by.name});
  const Named differ = b.give(Opcode::xori, "differ", wide, {all.name, raised.name});
  const Named changed = b.give(Opcode::andi, "changed", wide, {differ.name, place.name});
  const Named made = b.give(Opcode::xori, "made", wide, {all.name, changed.name});
  return b.give(Opcode::trunci, "as_byte", make_scalar(DType::i8), {made.name}).name;
}

std::string ScalarCode::use(const Word& word) {
  return word.known ? b_.constant({DType::i64, false}, static_cast<int64_t>(*word.known)).name : word.name;
}

ScalarCode::Word ScalarCode::operator()(Opcode opcode, const Word& a, const Word& b) {
  const Type type = make_scalar(DType::i64);
  if (a.known && b.known) {
    const Statement s{.opcode = opcode, .type = type};
    const Bits operands[] = {{&type, *a.known}, {&type, *b.known}};
    if (const Expected<uint64_t> folded = evaluate(s, operands); folded.ok()) return known(*folded);
  }
  const Computation what = info(opcode).compute;
  const bool shifts = what == Computation::shift_left || what == Computation::shift_right;
  const bool sums = what == Computation::add || what == Computation::bit_or || what == Computation::bit_xor;
  if (b.known == 0 && (sums || shifts || what == Computation::sub)) return a;
  if (a.known == 0 && sums) return b;
  const bool multiplies = what == Computation::mul;
  if ((b.known == 1 && (multiplies || what == Computation::div)) || (b.known == ones(64) && what == Computation::bit_and))
    return a;
  if ((a.known == 1 && multiplies) || (a.known == ones(64) && what == Computation::bit_and)) return b;
  if ((a.known == 0 || b.known == 0) && (multiplies || what == Computation::bit_and)) return known(0);
  const std::string left = use(a), right = use(b);
  const auto [found, fresh] = computed_.try_emplace({opcode, left, right});
  if (fresh) found->second.name = b_.give(opcode, "bits", type, {left, right}).name;
  return found->second;
}

ScalarCode::Word ScalarCode::cut(lowered::Machine type, const Word& a) {
  return (*this)(Opcode::andi, a, known(lowered::all_ones(type)));
}

ScalarCode::Word ScalarCode::extended(int width, const Word& a) {
  if (width == 64) return a;
  const Word top = known(uint64_t{1} << (width - 1));
  return (*this)(Opcode::subi, (*this)(Opcode::xori, a, top), top);
}

/// 1 if the number is 0, else 0.
ScalarCode::Word ScalarCode::is_zero(int width, const Word& a) {
  const Word minus = (*this)(Opcode::subi, known(0), a);
  // Of a number that is not 0, itself or its negative has the top bit.
  const Word top = (*this)(Opcode::shrui, width == 64 ? (*this)(Opcode::ori, a, minus) : minus, known(63));
  return (*this)(Opcode::xori, top, known(1));
}

/// 1 if a < b, else 0.
ScalarCode::Word ScalarCode::is_less(int width, bool is_signed, Word a, Word b) {
  const Word top = known(uint64_t{1} << (width - 1));
  if (is_signed) {
    a = (*this)(Opcode::xori, a, top);
    b = (*this)(Opcode::xori, b, top);
  }
  const Word difference = (*this)(Opcode::subi, a, b);
  if (width < 64) return (*this)(Opcode::shrui, difference, known(63));
  // The borrow of a - b.
  const Word not_a = (*this)(Opcode::xori, a, known(ones(64)));
  const Word either = (*this)(Opcode::ori, not_a, b), both = (*this)(Opcode::andi, not_a, b);
  const Word borrow = (*this)(Opcode::ori, both, (*this)(Opcode::andi, either, difference));
  return (*this)(Opcode::shrui, borrow, known(63));
}

ScalarCode::Word ScalarCode::read_input(const lowered::Node& node) {
  const Named word = read_(graph_.inputs[static_cast<size_t>(node.input)], node.part);
  if (bits(word.type.element.dtype) == 64) return {{}, word.name};
  return {{}, b_.give(Opcode::extui, "wide", make_scalar(DType::i64), {word.name}).name};
}

ScalarCode::Word ScalarCode::arithmetic(const lowered::Node& node, const Word& a, const Word& b) {
  const int width = lowered::width(node.type);
  const Arithmetic& row = *std::ranges::find(kArithmetic, node.op, &Arithmetic::op);
  const Word left = row.signs == Arithmetic::none ? a : extended(width, a);
  const Word right = row.signs == Arithmetic::both ? extended(width, b) : b;
  const Word out = (*this)(width == 64 ? row.wide : row.narrow, left, right);
  return row.cut ? cut(node.type, out) : out;
}

ScalarCode::Word ScalarCode::make(const lowered::Node& node) {
  const auto arg = [&](size_t i) { return node.args[i] < 0 ? Word() : value(node.args[i]); };
  const auto width_of = [&](size_t i) { return lowered::width(graph_.nodes[static_cast<size_t>(node.args[i])].type); };
  if (node.op == lowered::Primitive::input) return read_input(node);
  if (node.op == lowered::Primitive::constant) return known(node.bits);
  if (node.op == lowered::Primitive::bitcast || node.op == lowered::Primitive::zext) return arg(0);
  if (node.op == lowered::Primitive::itrunc) return cut(node.type, arg(0));
  if (node.op == lowered::Primitive::sext) return cut(node.type, extended(width_of(0), arg(0)));
  if (node.op == lowered::Primitive::eq) return is_zero(width_of(0), (*this)(Opcode::xori, arg(0), arg(1)));
  if (node.op == lowered::Primitive::slt || node.op == lowered::Primitive::ult)
    return is_less(width_of(0), node.op == lowered::Primitive::slt, arg(0), arg(1));
  if (node.op != lowered::Primitive::select) return arithmetic(node, arg(0), arg(1));
  // b ^ ((a ^ b) & -truth)
  const Word mask = (*this)(Opcode::subi, known(0), arg(0)), differ = (*this)(Opcode::xori, arg(1), arg(2));
  return (*this)(Opcode::xori, arg(2), (*this)(Opcode::andi, differ, mask));
}

std::vector<Named> ScalarCode::result(size_t number) {
  const lowered::Graph::Result& wanted = graph_.results[number];
  const ScalarWords words = scalar_words(wanted.dtype);
  std::vector<Named> out;
  for (int64_t w = 0; w < words.count; ++w) {
    if (wanted.moved >= 0) {
      const Named moved = read_(graph_.inputs[static_cast<size_t>(wanted.moved)], w);
      const bool same = moved.type.element.dtype == words.word;
      out.push_back(same ? moved : b_.give(Opcode::trunci, "moved", make_scalar(words.word), {moved.name}));
      continue;
    }
    const int32_t root = wanted.parts[static_cast<size_t>(w)];
    std::vector<bool> needed(graph_.nodes.size());
    needed[static_cast<size_t>(root)] = true;
    for (auto n = static_cast<size_t>(root) + 1; n-- > 0;)
      for (const int32_t arg : graph_.nodes[n].args)
        if (needed[n] && arg >= 0) needed[static_cast<size_t>(arg)] = true;
    for (size_t n = 0; n <= static_cast<size_t>(root); ++n)
      if (needed[n] && !done_[n]) {
        values_[n] = make(graph_.nodes[n]);
        done_[n] = true;
      }
    const std::string bits_of = use(value(root));
    const Type type = make_scalar(words.word);
    out.push_back(words.word == DType::i64 ? Named{bits_of, type}
                                           : b_.give(Opcode::trunci, "as_" + std::string(name(wanted.dtype)), type, {bits_of}));
  }
  return out;
}

}  // namespace strew::inline v0::pto
