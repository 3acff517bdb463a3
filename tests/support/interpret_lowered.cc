// See interpret_lowered.h. Compounds are computed by what C++ has for them, not by their rules.
#include "tests/support/interpret_lowered.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/number.h"
#include "compiler/op/expr_math.h"

namespace strew::test {
namespace {
using lowered::Domain;
using lowered::Gives;
using lowered::is_float;
using lowered::Machine;
using lowered::Node;
using lowered::Primitive;
using lowered::Takes;
using lowered::width;

using Column = std::vector<uint64_t>;

template <class T>
T as(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

class Interpreter {
 public:
  Interpreter(const lowered::Graph& graph, const std::vector<std::vector<Scalar>>& inputs, size_t count)
      : graph_(graph), inputs_(inputs), count_(count), columns_(graph.nodes.size()) {}

  Interpreted run() {
    Interpreted out;
    for (size_t i = 0; i < graph_.nodes.size() && wrong_.empty(); ++i) {
      const Node& node = graph_.nodes[i];
      check_types(node, i);
      if (!wrong_.empty()) break;
      columns_[i] = evaluate(node);
      if (!wrong_.empty()) wrong_ = "%" + std::to_string(i) + ": " + wrong_;
    }
    out.wrong = wrong_;
    if (wrong_.empty())
      for (const lowered::Graph::Result& result : graph_.results) out.results.push_back(elements(result));
    return out;
  }

 private:
  const Node& arg(const Node& node, size_t i) const { return graph_.nodes[static_cast<size_t>(node.args[i])]; }
  const Column& column(const Node& node, size_t i) const { return columns_[static_cast<size_t>(node.args[i])]; }

  void check_types(const Node& node, size_t at) {
    const lowered::PrimitiveInfo& row = info(node.op);
    const auto fail = [&](const char* why) { wrong_ = "%" + std::to_string(at) + ", " + std::string(row.name) + ": " + why; };
    for (size_t i = 0; i < node.args.size(); ++i) {
      if ((node.args[i] >= 0) != (static_cast<int>(i) < row.arity)) return fail("another number of arguments");
      if (node.args[i] >= static_cast<int32_t>(at)) return fail("an argument that is later");
    }
    if (node.op == Primitive::select) {
      if (arg(node, 0).type != Machine::i1 || arg(node, 1).type != node.type || arg(node, 2).type != node.type) fail("types");
      return;
    }
    for (int i = 0; i < row.arity; ++i) {
      const Machine type = arg(node, static_cast<size_t>(i)).type;
      if (type != arg(node, 0).type) return fail("arguments of two types");
      const bool legal = row.takes == Takes::floats    ? is_float(type)
                         : row.takes == Takes::numbers ? type != Machine::i1
                                                       : !is_float(type) && (row.takes == Takes::bits || type != Machine::i1);
      if (!legal) return fail("an argument of a type that is not taken");
    }
    if (row.gives == Gives::same && node.type != arg(node, 0).type) return fail("the result's type");
    if (row.gives == Gives::i1 && node.type != Machine::i1) return fail("the result's type");
    if (row.arity == 1 && row.gives == Gives::own && !changes(node)) return fail("the result's type");
  }
  /// Is a conversion to a type that it has?
  bool changes(const Node& node) const {
    const Machine from = arg(node, 0).type, to = node.type;
    switch (node.op) {
      case Primitive::bitcast:
        return width(from) == width(to) && from != to;
      case Primitive::itrunc:
        return !is_float(to) && width(to) < width(from);
      case Primitive::zext:
      case Primitive::sext:
        return !is_float(to) && width(to) > width(from);
      case Primitive::fptrunc:
        return from == Machine::f64 && to == Machine::f32;
      case Primitive::fpext:
        return from == Machine::f32 && to == Machine::f64;
      case Primitive::half_to_float:
      case Primitive::code_to_float:
        return from == lowered::part_type(node.dtype) && to == Machine::f32;
      case Primitive::float_to_half:
      case Primitive::float_to_code:
        return from == Machine::f32 && to == lowered::part_type(node.dtype);
      default:
        return is_float(from) != is_float(to) && to != Machine::i1;
    }
  }

  template <class Function>
  Column map(const Function& function) const {
    Column out(count_);
    for (size_t k = 0; k < count_; ++k) out[k] = function(k);
    return out;
  }

  Column evaluate(const Node& node) {
    switch (node.op) {
      case Primitive::input:
        return input(node);
      case Primitive::constant:
        return Column(count_, node.bits);
      case Primitive::select: {
        const Column &truth = column(node, 0), &then = column(node, 1), &otherwise = column(node, 2);
        return map([&](size_t k) { return truth[k] != 0 ? then[k] : otherwise[k]; });
      }
      default:
        break;
    }
    const Machine type = arg(node, 0).type;
    if (type == Machine::f32) return floats<float>(node);
    if (type == Machine::f64) return floats<double>(node);
    return integers(node);
  }

  Column input(const Node& node) const {
    const std::vector<Scalar>& from = inputs_[static_cast<size_t>(node.input)];
    const DType dtype = graph_.inputs[static_cast<size_t>(node.input)].dtype;
    return map([&](size_t k) {
      if (bits(dtype) > 64) return from[k].bits[static_cast<size_t>(node.part)];
      const uint64_t whole = from[k].bits[0] >> (node.part == 0 ? 0 : width(node.type));
      return whole & lowered::all_ones(node.type);
    });
  }

  template <class T>
  Column fused(const Node& node) const {
    const Column &a = column(node, 0), &b = column(node, 1), &c = column(node, 2);
    return map([&](size_t k) { return bits_of(std::fma(as<T>(a[k]), as<T>(b[k]), as<T>(c[k]))); });
  }
  template <class T>
  T math(const Node& node, T a, T b) const {
    const MathFunction& row = *find_math_function(node.function);
    if constexpr (sizeof(T) == 4)
      return node.op == Primitive::call1 ? row.unary_f32(a) : row.binary_f32(a, b);
    else
      return node.op == Primitive::call1 ? row.unary_f64(a) : row.binary_f64(a, b);
  }
  template <class T>
  static T extremum(bool is_max, T a, T b) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) != is_max ? a : b;
    return (a < b) != is_max ? a : b;
  }
  uint64_t saturated(bool is_signed, Machine type, double value) const {
    const int digits = is_signed ? width(type) - 1 : width(type);
    const double high = std::ldexp(1.0, digits), low = is_signed ? -high : 0;
    const uint64_t most = lowered::all_ones(type) >> (is_signed ? 1 : 0);
    if (std::isnan(value)) return 0;
    if (value >= high) return most;
    if (value <= low) return ~most & (is_signed ? lowered::all_ones(type) : 0);
    return value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value)) & lowered::all_ones(type)
                     : static_cast<uint64_t>(value);
  }

  template <class T>
  Column floats(const Node& node) {
    const Column &as_bits = column(node, 0), &bs = info(node.op).arity >= 2 ? column(node, 1) : column(node, 0);
    const auto one = [&](const auto& f) { return map([&](size_t k) { return bits_of(f(as<T>(as_bits[k]))); }); };
    const auto two = [&](const auto& f) { return map([&](size_t k) { return bits_of(f(as<T>(as_bits[k]), as<T>(bs[k]))); }); };
    const auto truth = [&](const auto& f) { return map([&](size_t k) { return uint64_t{f(as<T>(as_bits[k]), as<T>(bs[k]))}; }); };
    switch (node.op) {
      case Primitive::add:
        return two([](T a, T b) { return a + b; });
      case Primitive::sub:
        return two([](T a, T b) { return a - b; });
      case Primitive::mul:
        return two([](T a, T b) { return a * b; });
      case Primitive::fdiv:
        return two([](T a, T b) { return a / b; });
      case Primitive::eq:
        return truth([](T a, T b) { return a == b; });
      case Primitive::flt:
        return truth([](T a, T b) { return a < b; });
      case Primitive::unordered:
        return truth([](T a, T b) { return std::isnan(a) || std::isnan(b); });
      case Primitive::bitcast:
        return as_bits;
      case Primitive::fptrunc:
      case Primitive::fpext:
        return map([&](size_t k) {
          return node.type == Machine::f32 ? bits_of(static_cast<float>(as<T>(as_bits[k]))) : bits_of(double{as<T>(as_bits[k])});
        });
      case Primitive::fptoui:
        return map([&](size_t k) {
          const T a = as<T>(as_bits[k]);
          const bool inside = a >= 0 && a < std::ldexp(T{1}, width(node.type));
          if (!inside) wrong_ = "fptoui out of range";
          return inside ? static_cast<uint64_t>(a) : 0;
        });
      case Primitive::floor:
        return one([](T a) { return std::floor(a); });
      case Primitive::ceil:
        return one([](T a) { return std::ceil(a); });
      case Primitive::ftrunc:
        return one([](T a) { return std::trunc(a); });
      case Primitive::roundeven:
        return one([](T a) { return std::nearbyint(a); });
      case Primitive::round:
        return one([](T a) { return std::round(a); });
      case Primitive::sqrt:
        return one([](T a) { return std::sqrt(a); });
      case Primitive::fneg:
        return one([](T a) { return -a; });
      case Primitive::fabs:
        return one([](T a) { return std::fabs(a); });
      case Primitive::copysign:
        return two([](T a, T b) { return std::copysign(a, b); });
      case Primitive::fmin:
      case Primitive::fmax:
        return two([&](T a, T b) { return extremum(node.op == Primitive::fmax, a, b); });
      case Primitive::fma:
      case Primitive::call3:
        return fused<T>(node);
      case Primitive::call1:
      case Primitive::call2:
        return two([&](T a, T b) { return math(node, a, b); });
      case Primitive::fptosi_sat:
      case Primitive::fptoui_sat:
        return map([&](size_t k) { return saturated(node.op == Primitive::fptosi_sat, node.type, as<T>(as_bits[k])); });
      case Primitive::float_to_half:
      case Primitive::float_to_code:
        return map([&](size_t k) { return encode(node.dtype, static_cast<double>(as<T>(as_bits[k]))); });
      default:
        wrong_ = "not interpreted of floats";
        return Column(count_);
    }
  }

  Column integers(const Node& node) {
    const Machine type = arg(node, 0).type;
    const int bits = width(type);
    const uint64_t ones = lowered::all_ones(type), least = uint64_t{1} << (bits - 1);
    const Column &as = column(node, 0), &bs = info(node.op).arity == 2 ? column(node, 1) : column(node, 0);
    const auto with_sign = [&](uint64_t a) { return static_cast<int64_t>(a << (64 - bits)) >> (64 - bits); };
    const Domain domain = info(node.op).domain;
    for (size_t k = 0; k < count_; ++k) {
      if (domain == Domain::divisor || domain == Domain::quotient)
        if (bs[k] == 0) wrong_ = "division by zero";
      if (domain == Domain::quotient && as[k] == least && bs[k] == ones) wrong_ = "a quotient beyond the range";
      if (domain == Domain::amount && bs[k] >= static_cast<uint64_t>(bits)) wrong_ = "an amount beyond the width";
    }
    if (!wrong_.empty()) return Column(count_);
    const auto two = [&](const auto& f) { return map([&](size_t k) { return static_cast<uint64_t>(f(as[k], bs[k])) & ones; }); };
    const auto signs = [&](const auto& f) {
      return map([&](size_t k) { return static_cast<uint64_t>(f(with_sign(as[k]), with_sign(bs[k]))) & ones; });
    };
    using U = uint64_t;
    using S = int64_t;
    switch (node.op) {
      case Primitive::add:
        return two([](U a, U b) { return a + b; });
      case Primitive::sub:
        return two([](U a, U b) { return a - b; });
      case Primitive::mul:
        return two([](U a, U b) { return a * b; });
      case Primitive::udiv:
        return two([](U a, U b) { return a / b; });
      case Primitive::urem:
        return two([](U a, U b) { return a % b; });
      case Primitive::sdiv:
        return signs([](S a, S b) { return a / b; });
      case Primitive::srem:
        return signs([](S a, S b) { return a % b; });
      case Primitive::bit_and:
        return two([](U a, U b) { return a & b; });
      case Primitive::bit_or:
        return two([](U a, U b) { return a | b; });
      case Primitive::bit_xor:
        return two([](U a, U b) { return a ^ b; });
      case Primitive::shl:
        return two([](U a, U b) { return a << b; });
      case Primitive::lshr:
        return two([](U a, U b) { return a >> b; });
      case Primitive::ashr:
        return map([&](size_t k) { return static_cast<uint64_t>(with_sign(as[k]) >> bs[k]) & ones; });
      case Primitive::eq:
        return two([](U a, U b) { return a == b ? 1 : 0; });
      case Primitive::slt:
        return signs([](S a, S b) { return a < b ? 1 : 0; });
      case Primitive::ult:
        return two([](U a, U b) { return a < b ? 1 : 0; });
      case Primitive::smin:
        return signs([](S a, S b) { return std::min(a, b); });
      case Primitive::smax:
        return signs([](S a, S b) { return std::max(a, b); });
      case Primitive::umin:
        return two([](U a, U b) { return std::min(a, b); });
      case Primitive::umax:
        return two([](U a, U b) { return std::max(a, b); });
      case Primitive::iabs:
        return two([&](U a, U /*b*/) { return with_sign(a) < 0 ? U{0} - a : a; });
      case Primitive::popcount:
        return two([](U a, U /*b*/) { return std::popcount(a); });
      case Primitive::clz:
        return two([&](U a, U /*b*/) { return bits - std::bit_width(a); });
      default:
        return casts(node, as);
    }
  }

  /// Of integers.
  Column casts(const Node& node, const Column& as) {
    using U = uint64_t;
    const int bits = width(arg(node, 0).type);
    const auto with_sign = [&](U a) { return static_cast<int64_t>(a << (64 - bits)) >> (64 - bits); };
    const auto convert = [&](const auto& f) { return map([&](size_t k) { return f(as[k]) & lowered::all_ones(node.type); }); };
    switch (node.op) {
      case Primitive::bitcast:
        return as;
      case Primitive::itrunc:
      case Primitive::zext:
        return convert([](U a) { return a; });
      case Primitive::sext:
        return convert([&](U a) { return static_cast<U>(with_sign(a)); });
      case Primitive::sitofp:
        return convert([&](U a) {
          return node.type == Machine::f32 ? bits_of(static_cast<float>(with_sign(a)))
                                           : bits_of(static_cast<double>(with_sign(a)));
        });
      case Primitive::uitofp:
        return convert(
            [&](U a) { return node.type == Machine::f32 ? bits_of(static_cast<float>(a)) : bits_of(static_cast<double>(a)); });
      case Primitive::half_to_float:
      case Primitive::code_to_float:
        return convert([&](U a) { return bits_of(static_cast<float>(decode(node.dtype, a))); });
      default:
        wrong_ = "not interpreted of integers";
        return Column(count_);
    }
  }

  std::vector<Scalar> elements(const lowered::Graph::Result& result) const {
    if (result.moved >= 0) return inputs_[static_cast<size_t>(result.moved)];
    std::vector<Scalar> out(count_, Scalar{result.dtype, {0, 0}});
    for (size_t k = 0; k < count_; ++k) {
      out[k].bits[0] = columns_[static_cast<size_t>(result.parts[0])][k];
      if (result.parts[1] < 0) continue;
      const uint64_t second = columns_[static_cast<size_t>(result.parts[1])][k];
      if (bits(result.dtype) > 64)
        out[k].bits[1] = second;
      else
        out[k].bits[0] |= second << 32;
    }
    return out;
  }

  const lowered::Graph& graph_;
  const std::vector<std::vector<Scalar>>& inputs_;
  size_t count_;
  std::vector<Column> columns_;
  std::string wrong_;
};

}  // namespace

Interpreted interpret(const lowered::Graph& graph, const std::vector<std::vector<Scalar>>& inputs, size_t count) {
  return Interpreter(graph, inputs, count).run();
}

}  // namespace strew::test
