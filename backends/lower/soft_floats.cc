// See soft_floats.h. A float is taken apart into its sign, its exponent as it is stored, and an integer significand of 64 bits; what an operation
// computes from these is exact, or has a lowest bit that is set if anything below it was lost. One function, round(), makes a float of that, with
// one rounding. Tested by tests/unit/backends/lower, against the reference's evaluation of the unlowered graph.
#include "backends/lower/soft_floats.h"

#include <fmt/format.h>

#include "backends/lower/builder.h"

namespace strew::inline v0::lowered {
namespace {
using enum Primitive;

/// The fields of f32 or f64.
struct Format {
  Machine type;
  int mantissa, bias;
  int bits() const { return width(type); }
  uint64_t infinity() const { return static_cast<uint64_t>(2 * bias + 1) << mantissa; }
  uint64_t nan() const { return infinity() | uint64_t{1} << (mantissa - 1); }
};
constexpr Format kSingle{Machine::f32, 23, 127}, kDouble{Machine::f64, 52, 1023};
constexpr const Format& format_of(Machine type) { return type == Machine::f32 ? kSingle : kDouble; }

/// A significand's highest bit once it is normalised.
constexpr int kTop = 62;

/// What a float is made of, in integers of 64 bits. Its magnitude is significand * 2^(exponent - bias - mantissa).
struct Taken {
  Value sign;       ///< 0 or 1
  Value magnitude;  ///< the bits without the sign
  Value exponent, significand;
};

class Soft {
 public:
  Soft(const Graph& graph, Natives natives) : graph_(graph), e_(natives), values_(graph.nodes.size()) {}

  Expected<Graph> run() {
    e_.graph.inputs = graph_.inputs;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      STREW_ASSIGN(values_[i], make(graph_.nodes[i]));
    }
    e_.graph.results = graph_.results;
    for (Graph::Result& result : e_.graph.results)
      for (int32_t& part : result.parts)
        if (part >= 0) {
          const Machine type = graph_.nodes[static_cast<size_t>(part)].type;
          const Value bits = values_[static_cast<size_t>(part)];
          part = is_float(type) ? e_.to(type, bitcast, bits).node : bits.node;
        }
    return std::move(e_.graph);
  }

 private:
  Value word(uint64_t v) { return e_.constant(Machine::i64, v); }
  Value number(int64_t v) { return word(static_cast<uint64_t>(v)); }
  Value wide(Value a) { return e_.resize(Machine::i64, a, false); }
  /// 1 or 0, of a truth value.
  Value one_if(Value truth) { return e_.to(Machine::i64, zext, truth); }
  Value is_zero(Value a) { return e_(eq, a, e_.same(a, 0)); }
  Value not_zero(Value a) { return e_.negate(is_zero(a)); }
  Value shift_left(Value a, int by) { return by == 0 ? a : e_(shl, a, number(by)); }
  Value shift_right(Value a, int by) { return by == 0 ? a : e_(lshr, a, number(by)); }
  /// Shifted right; the lowest bit is also set if a bit was lost. `by` is at most 63.
  Value sticky_shift(Value a, Value by) {
    const Value kept = e_(lshr, a, by), lost = e_(bit_xor, e_(shl, kept, by), a);
    return e_(bit_or, kept, one_if(not_zero(lost)));
  }
  /// At least `low` and at most `high`, as signed numbers.
  Value clamped(Value a, int64_t low, int64_t high) { return e_(smin, e_(smax, a, number(low)), number(high)); }

  Taken take(const Format& f, Value bits) {
    const Value all = wide(bits), sign = shift_right(all, f.bits() - 1);
    const Value magnitude = e_(bit_and, all, word((uint64_t{1} << (f.bits() - 1)) - 1));
    const Value stored = shift_right(magnitude, f.mantissa), is_small = one_if(is_zero(stored));
    const Value fraction = e_(bit_and, magnitude, word((uint64_t{1} << f.mantissa) - 1));
    const Value leading = shift_left(e_(sub, number(1), is_small), f.mantissa);
    return {sign, magnitude, e_(add, stored, is_small), e_(bit_or, fraction, leading)};
  }
  Value is_nan(const Format& f, const Taken& a) { return e_(ult, word(f.infinity()), a.magnitude); }
  Value is_infinite(const Format& f, const Taken& a) { return e_(eq, a.magnitude, word(f.infinity())); }

  /// Shifts a significand below 2^63 up until its highest bit is bit kTop, and takes the shift off the exponent. 0 stays.
  void normalise(Value& exponent, Value& significand) {
    for (const int by : {32, 16, 8, 4, 2, 1}) {
      const Value amount = e_(mul, one_if(e_(ult, significand, word(uint64_t{1} << (kTop + 1 - by)))), number(by));
      significand = e_(shl, significand, amount);
      exponent = e_(sub, exponent, amount);
    }
  }

  Value with_sign(const Format& f, Value sign, Value magnitude) {
    const Value bits = e_(bit_or, magnitude, shift_left(sign, f.bits() - 1));
    return e_.resize(integer_of(f.bits()), bits, false);
  }

  /// The float nearest to significand * 2^(exponent - bias - kTop); significand < 2^63.
  Value round(const Format& f, Value sign, Value exponent, Value significand) {
    const Value is_none = is_zero(significand);
    normalise(exponent, significand);
    // Of a subnormal result fewer bits are kept. Where not even the highest is half of the last place, the result is 0.
    const int spare = kTop - f.mantissa;
    const Value beneath = e_(smax, e_(sub, number(1), exponent), number(0));
    const Value by = e_(smin, e_(add, beneath, number(spare)), number(63));
    significand = e_(select, e_(slt, number(63 - spare), beneath), number(1), significand);
    const Value kept = e_(lshr, significand, by), rest = e_(sub, significand, e_(shl, kept, by));
    const Value below_half = e_(sub, e_(shl, number(1), e_(sub, by, number(1))), number(1));
    const Value up = e_(lshr, e_(add, e_(add, rest, below_half), e_(bit_and, kept, number(1))), by);
    const Value steps = shift_left(e_(sub, e_(smax, exponent, number(1)), number(1)), f.mantissa);
    const Value magnitude = e_(umin, e_(add, e_(add, kept, up), steps), word(f.infinity()));
    return with_sign(f, sign, e_(select, is_none, number(0), magnitude));
  }

  /// `otherwise`, or a NaN where `truth` holds.
  Value nan_where(const Format& f, Value truth, Value otherwise) {
    return e_(select, truth, e_.same(otherwise, f.nan()), otherwise);
  }
  Value either(Value a, Value b) { return e_(bit_or, a, b); }
  Value both(Value a, Value b) { return e_(bit_and, a, b); }

  Value sum(const Format& f, Value left, Value right) {
    const Taken x = take(f, left), y = take(f, right);
    const Value swaps = e_(ult, x.magnitude, y.magnitude);
    const auto bigger = [&](Value a, Value b) { return e_(select, swaps, b, a); };
    const Value sign = bigger(x.sign, y.sign), exponent = bigger(x.exponent, y.exponent);
    // Two bits are left free above: one for the carry, and one because round() takes significands below 2^63.
    const int up = kTop - 2 - f.mantissa;
    const Value big = shift_left(bigger(x.significand, y.significand), up);
    const Value small = shift_left(bigger(y.significand, x.significand), up);
    const Value distance = e_(umin, e_(sub, exponent, bigger(y.exponent, x.exponent)), number(63));
    const Value shifted = sticky_shift(small, distance), differ = e_(bit_xor, x.sign, y.sign);
    const Value minus = e_(sub, number(0), differ);
    const Value total = e_(add, big, e_(add, e_(bit_xor, shifted, minus), differ));
    const Value zero_sign = e_(select, is_zero(total), e_(bit_and, x.sign, y.sign), sign);
    const Value finite = round(f, zero_sign, e_(add, exponent, number(2)), total);
    const Value infinite = either(is_infinite(f, x), is_infinite(f, y));
    const Value result = e_(select, infinite, with_sign(f, sign, word(f.infinity())), finite);
    const Value cancels = both(both(is_infinite(f, x), is_infinite(f, y)), not_zero(differ));
    return nan_where(f, either(cancels, either(is_nan(f, x), is_nan(f, y))), result);
  }

  /// The product of two significands of 53 bits without its lowest 44 bits, of which the last that is left is set if one of them was.
  Value wide_product(Value a, Value b) {
    const auto high = [&](Value v) { return shift_right(v, 27); };
    const auto low = [&](Value v) { return e_(bit_and, v, word((uint64_t{1} << 27) - 1)); };
    const Value bottom = e_(mul, low(a), low(b));
    const Value middle = e_(add, e_(add, e_(mul, high(a), low(b)), e_(mul, low(a), high(b))), high(bottom));
    const Value lost = either(low(bottom), e_(bit_and, middle, word((uint64_t{1} << 17) - 1)));
    const Value kept = e_(add, shift_left(e_(mul, high(a), high(b)), 10), shift_right(middle, 17));
    return e_(bit_or, kept, one_if(not_zero(lost)));
  }

  /// A significand with its highest bit at bit `mantissa`, where normal numbers have it.
  void make_normal(const Format& f, Taken& a) {
    normalise(a.exponent, a.significand);
    a.exponent = e_(add, a.exponent, number(kTop - f.mantissa));
    a.significand = shift_right(a.significand, kTop - f.mantissa);
  }

  Value product(const Format& f, Value left, Value right) {
    Taken x = take(f, left), y = take(f, right);
    Value significand;
    int64_t scale = kTop - f.bias - 2 * f.mantissa;
    if (f.type == Machine::f32) {
      significand = e_(mul, x.significand, y.significand);
    } else {
      make_normal(f, x);
      make_normal(f, y);
      significand = wide_product(x.significand, y.significand);
      scale += 44;
    }
    const Value sign = e_(bit_xor, x.sign, y.sign), exponent = e_(add, e_(add, x.exponent, y.exponent), number(scale));
    const Value finite = round(f, sign, exponent, significand);
    const Value infinite = either(is_infinite(f, x), is_infinite(f, y));
    const Value result = e_(select, infinite, with_sign(f, sign, word(f.infinity())), finite);
    const Value is_none = both(infinite, either(is_zero(x.magnitude), is_zero(y.magnitude)));
    return nan_where(f, either(is_none, either(is_nan(f, x), is_nan(f, y))), result);
  }

  /// The quotient of two significands with `digits` bits behind the point, of which the last is set if there is a remainder.
  Value divided(Value a, Value b, int digits) {
    constexpr int kStep = 10;  // a remainder of 53 bits has as much room above
    const Value safe = e_(select, is_zero(b), number(1), b);
    Value whole = e_(udiv, a, safe), rest = e_(sub, a, e_(mul, whole, safe));
    for (int done = 0; done < digits; done += kStep) {
      const Value more = shift_left(rest, kStep), next = e_(udiv, more, safe);
      rest = e_(sub, more, e_(mul, next, safe));
      whole = e_(bit_or, shift_left(whole, kStep), next);
    }
    return e_(bit_or, whole, one_if(not_zero(rest)));
  }

  Value quotient(const Format& f, Value left, Value right) {
    Taken x = take(f, left), y = take(f, right);
    const Value sign = e_(bit_xor, x.sign, y.sign), x_zero = is_zero(x.magnitude), y_zero = is_zero(y.magnitude);
    const Value x_infinite = is_infinite(f, x), y_infinite = is_infinite(f, y);
    make_normal(f, x);
    make_normal(f, y);
    const int digits = f.type == Machine::f32 ? 30 : 60;
    const Value significand = divided(x.significand, y.significand, digits);
    const Value exponent = e_(add, e_(sub, x.exponent, y.exponent), number(f.bias + kTop - digits));
    const Value finite = e_(select, y_infinite, with_sign(f, sign, number(0)), round(f, sign, exponent, significand));
    const Value result = e_(select, either(x_infinite, y_zero), with_sign(f, sign, word(f.infinity())), finite);
    const Value is_none = either(both(x_zero, y_zero), both(x_infinite, y_infinite));
    return nan_where(f, either(is_none, either(is_nan(f, x), is_nan(f, y))), result);
  }

  /// eq and flt: magnitudes with their signs are compared, and no NaN is equal to or less than anything.
  Value compared(Primitive op, const Format& f, Value left, Value right) {
    const Taken x = take(f, left), y = take(f, right);
    const auto signed_of = [&](const Taken& a) {
      const Value minus = e_(sub, number(0), a.sign);
      return e_(add, e_(bit_xor, a.magnitude, minus), a.sign);
    };
    const Value holds = e_(op == flt ? slt : eq, signed_of(x), signed_of(y));
    return both(holds, e_.negate(either(is_nan(f, x), is_nan(f, y))));
  }

  /// fptrunc and fpext.
  Value converted(const Format& from, const Format& to, Value a) {
    const Taken x = take(from, a);
    const int64_t scale = int64_t{to.bias} - from.bias - from.mantissa + kTop;
    const Value finite = round(to, x.sign, e_(add, x.exponent, number(scale)), x.significand);
    const Value result = e_(select, is_infinite(from, x), with_sign(to, x.sign, word(to.infinity())), finite);
    return nan_where(to, is_nan(from, x), result);
  }

  Value from_integer(const Format& f, bool is_signed, Value a) {
    const Value all = e_.resize(Machine::i64, a, is_signed);
    const Value sign = is_signed ? shift_right(all, 63) : number(0), minus = e_(sub, number(0), sign);
    const Value magnitude = e_(add, e_(bit_xor, all, minus), sign);
    // One of 64 bits has one more than round() takes.
    const Value top = shift_right(magnitude, 63);
    return round(f, sign, e_(add, number(f.bias + kTop), top), sticky_shift(magnitude, top));
  }

  /// Of a number that is in range: toward zero.
  Value to_integer(const Format& f, Machine type, Value a) {
    const Taken x = take(f, a);
    const Value up = e_(sub, x.exponent, number(f.bias + f.mantissa));
    const Value left = clamped(up, 0, 63), right = clamped(e_(sub, number(0), up), 0, 63);
    return e_.resize(type, e_(lshr, e_(shl, x.significand, left), right), false);
  }

  /// floor, ceil, ftrunc and roundeven.
  Value whole(Primitive op, const Format& f, Value a) {
    const Taken x = take(f, a);
    const Value fraction_bits = e_(sub, number(f.bias + f.mantissa), x.exponent), by = clamped(fraction_bits, 1, kTop);
    const Value kept = e_(lshr, x.significand, by), rest = e_(sub, x.significand, e_(shl, kept, by));
    Value up = number(0);
    if (op == roundeven) {
      const Value below_half = e_(sub, e_(shl, number(1), e_(sub, by, number(1))), number(1));
      up = e_(lshr, e_(add, e_(add, rest, below_half), e_(bit_and, kept, number(1))), by);
    } else if (op != ftrunc) {
      const Value away = op == floor ? x.sign : e_(bit_xor, x.sign, number(1));
      up = e_(bit_and, away, one_if(not_zero(rest)));
    }
    const Value rounded = round(f, x.sign, number(f.bias + kTop), e_(add, kept, up));
    return e_(select, e_(slt, fraction_bits, number(1)), a, rounded);
  }

  Expected<Value> make(const Node& node) {
    const auto arg = [&](size_t i) { return node.args[i] < 0 ? Value() : values_[static_cast<size_t>(node.args[i])]; };
    const auto type_of = [&](size_t i) { return graph_.nodes[static_cast<size_t>(node.args[i])].type; };
    const auto takes_floats = [&] { return node.args[0] >= 0 && is_float(type_of(0)); };
    const bool gives_float = is_float(node.type);
    if (node.op == input) return e_.bits_of(e_.input(node.input, node.part, node.type));
    if (node.op == constant) return e_.constant(integer_of(width(node.type)), node.bits);
    if (node.op == bitcast) return arg(0);
    if (node.op == select) return e_(select, arg(0), arg(1), arg(2));
    if (!gives_float && !takes_floats()) {
      if (info(node.op).gives == Gives::own) return e_.to(node.type, node.op, arg(0));
      return e_(node.op, arg(0), arg(1));
    }
    const Format& f = format_of(takes_floats() ? type_of(0) : node.type);
    if (node.op == add) return sum(f, arg(0), arg(1));
    if (node.op == sub) return sum(f, arg(0), e_(bit_xor, arg(1), e_.same(arg(1), uint64_t{1} << (f.bits() - 1))));
    if (node.op == mul) return product(f, arg(0), arg(1));
    if (node.op == fdiv) return quotient(f, arg(0), arg(1));
    if (node.op == eq || node.op == flt) return compared(node.op, f, arg(0), arg(1));
    if (node.op == fptrunc || node.op == fpext) return converted(f, format_of(node.type), arg(0));
    if (node.op == sitofp || node.op == uitofp) return from_integer(f, node.op == sitofp, arg(0));
    if (node.op == fptoui) return to_integer(f, node.type, arg(0));
    if (node.op == floor || node.op == ceil || node.op == ftrunc || node.op == roundeven) return whole(node.op, f, arg(0));
    const std::string_view what = node.function == ExprOp::literal ? info(node.op).name : strew::name(node.function);
    return unsupported(fmt::format("{} of {} is not computed in integers", what, name(f.type)));
  }

  const Graph& graph_;
  Builder e_;
  std::vector<Value> values_;  ///< per node of the graph; of a float, its bits
};

}  // namespace

Expected<Graph> without_floats(const Graph& graph, Natives natives) { return Soft(graph, natives).run(); }

}  // namespace strew::inline v0::lowered
