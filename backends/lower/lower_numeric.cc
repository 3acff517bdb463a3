// See lower_numeric.h. A node has a storage form, its element as in memory, and a compute form, in which operators take it: i1 for bool, f32 for all
// narrower floats, 8 bits for narrower integers. Each is made when it is asked for. A node of a dtype that is computed in a wider type gets its
// storage form at once, and operators read that: every node is rounded to its own dtype. Tested by tests/unit/backends/lower.
#include "backends/lower/lower_numeric.h"

#include <algorithm>
#include <utility>

#include "backends/lower/families.h"

namespace strew::inline v0 {
namespace lowered {
namespace {

/// Keeps the nodes that results need, each after its arguments: from the results down, arguments from left to right. So the order does not depend on
/// the order in which the C++ compiler evaluates the arguments of the rules' calls.
void order(Graph& graph) {
  std::vector<int32_t> numbers(graph.nodes.size(), -1);
  std::vector<Node> nodes;
  std::vector<std::pair<int32_t, size_t>> open;  // a node, and which of its arguments is next
  const auto place = [&](int32_t& root) {
    if (root < 0) return;
    open.emplace_back(root, 0);
    while (!open.empty()) {
      const auto [at, next] = open.back();
      const Node& node = graph.nodes[static_cast<size_t>(at)];
      if (numbers[static_cast<size_t>(at)] >= 0) {
        open.pop_back();
      } else if (next < node.args.size()) {
        ++open.back().second;
        if (node.args[next] >= 0) open.emplace_back(node.args[next], 0);
      } else {
        numbers[static_cast<size_t>(at)] = static_cast<int32_t>(nodes.size());
        nodes.push_back(node);
        for (int32_t& arg : nodes.back().args)
          if (arg >= 0) arg = numbers[static_cast<size_t>(arg)];
        open.pop_back();
      }
    }
    root = numbers[static_cast<size_t>(root)];
  };
  for (Graph::Result& result : graph.results)
    for (int32_t& part : result.parts) place(part);
  graph.nodes = std::move(nodes);
}

class Lowering {
 public:
  Lowering(const Expr& expr, Natives natives) : expr_(expr), e_(natives), values_(expr.nodes.size()) {}

  Graph run() {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = lower(expr_.nodes[i]);
    for (const int32_t result : expr_.results) {
      Graph::Result out{expr_.node(result).dtype, {-1, -1}, value(result).input};
      if (out.moved < 0) out.parts = {storage(result).a.node, storage(result).b.node};
      e_.graph.results.push_back(out);
    }
    order(e_.graph);
    return std::move(e_.graph);
  }

 private:
  struct Forms {
    Parts compute, storage;
    int32_t input = -1;  ///< the storage form is this input, as it is
  };

  Forms& value(int32_t n) { return values_[static_cast<size_t>(n)]; }
  DType dtype(int32_t n) const { return expr_.node(n).dtype; }
  const Parts& compute(int32_t n) {
    Forms& v = value(n);
    if (!v.compute.known()) v.compute = decode(dtype(n), v.storage);
    return v.compute;
  }
  const Parts& storage(int32_t n) {
    Forms& v = value(n);
    if (!v.storage.known()) v.storage = encode(dtype(n), v.compute);
    return v.storage;
  }
  Integer integer(int32_t n) {
    const Value value = compute(n).a;
    return {dtype(n), value, bits(dtype(n)) < 8 ? storage(n).a : value};
  }

  Parts decode(DType dtype, const Parts& storage) {
    const Value s = storage.a;
    if (dtype == DType::boolean) return {e_.negate(e_(Primitive::eq, s, e_.same(s, 0))), {}};
    if (rounds_after(dtype)) return e_.decode(dtype, s);
    if (is_signed_integer(dtype) && bits(dtype) < 8) {
      const Value spare = e_.same(s, static_cast<uint64_t>(8 - bits(dtype)));
      return e_(Primitive::ashr, e_(Primitive::shl, s, spare), spare);
    }
    return storage;
  }
  Parts encode(DType dtype, const Parts& compute) {
    const Value c = compute.a;
    if (dtype == DType::boolean) return {e_.to(Machine::i8, Primitive::zext, c), {}};
    if (rounds_after(dtype)) return e_.encode(dtype, c);
    if (is_integer(dtype) && bits(dtype) < 8) return e_(Primitive::bit_and, c, e_.same(c, (uint64_t{1} << bits(dtype)) - 1));
    return compute;
  }
  /// What an operator gives, rounded or cut to the dtype.
  Forms computed(DType dtype, const Parts& parts) {
    if (rounds_after(dtype) || bits(dtype) < 8) return {{}, encode(dtype, parts)};
    return {parts, {}};
  }

  Forms input(const ExprNode& node) {
    const auto number = static_cast<int32_t>(e_.graph.inputs.size());
    e_.graph.inputs.push_back({node.op, node.index, node.dtype});
    Forms forms{{}, {e_.input(number, 0, part_type(node.dtype)), {}}, number};
    if (part_count(node.dtype) == 2) forms.storage.b = e_.input(number, 1, part_type(node.dtype));
    return forms;
  }
  Parts literal(const Scalar& scalar) {
    const Machine type = part_type(scalar.dtype);
    Parts parts{e_.constant(type, scalar.bits[0]), {}};
    if (part_count(scalar.dtype) == 2)
      parts.b = e_.constant(type, bits(scalar.dtype) > 64 ? scalar.bits[1] : scalar.bits[0] >> width(type));
    return parts;
  }
  Parts choose(Value truth, const Parts& a, const Parts& b) {
    Parts parts{e_(Primitive::select, truth, a.a, b.a), {}};
    if (a.b.node >= 0) parts.b = e_(Primitive::select, truth, a.b, b.b);
    return parts;
  }

  /// Of dtypes that differ.
  Parts convert(int32_t from, DType to) {
    const DType dtype = this->dtype(from);
    const Parts& a = compute(from);
    if (is_complex(dtype)) {  // to the other complex dtype
      const DType part = to == DType::complex64 ? DType::f32 : DType::f64;
      return {float_to_float(e_, part, a.a), float_to_float(e_, part, a.b)};
    }
    if (is_complex(to)) {
      const Value re = convert_real(from, to == DType::complex64 ? DType::f32 : DType::f64);
      return {re, e_.same(re, 0)};
    }
    return convert_real(from, to);
  }
  Value convert_real(int32_t from, DType to) {
    const DType dtype = this->dtype(from);
    const Value a = compute(from).a;
    if (to == DType::boolean) return e_.negate(e_(Primitive::eq, a, e_.same(a, 0)));
    if (dtype == DType::boolean) {
      if (!is_float(to)) return e_.to(part_type(to), Primitive::zext, a);
      const Machine type = to == DType::f64 ? Machine::f64 : Machine::f32;
      return e_(Primitive::select, a, e_.number(type, 1), e_.number(type, 0));
    }
    if (is_float(dtype)) return is_float(to) ? float_to_float(e_, to, a) : float_to_integer(e_, to, a);
    if (is_float(to)) return integer_to_float(e_, integer(from), to);
    return e_.resize(part_type(to), a, is_signed_integer(dtype));
  }

  /// An operator on arguments of one dtype.
  Parts operate(const ExprNode& node) {
    const auto at = [&](size_t i) { return node.args[std::min(i, node.args.size() - 1)]; };
    const DType dtype = this->dtype(node.args[0]);
    if (is_integer(dtype)) {
      const Integer a = integer(at(0)), b = integer(at(1));
      return lower_integer(e_, node.op, a, node.args.size() > 1 ? &b : nullptr);
    }
    const auto arg = [&](size_t i) { return i < node.args.size() ? compute(node.args[i]) : Parts(); };
    const Parts a = arg(0), b = arg(1), c = arg(2);
    if (is_complex(dtype)) return lower_complex(e_, node.op, a, b);
    return is_float(dtype) ? lower_float(e_, node.op, a.a, b.a, c.a) : lower_boolean(e_, node.op, a.a, b.a);
  }

  Forms lower(const ExprNode& node) {
    const auto arg = [&](size_t i) -> int32_t { return node.args[i]; };
    switch (node.op) {
      case ExprOp::current:
      case ExprOp::update:
      case ExprOp::extra:
        return input(node);
      case ExprOp::literal:
        return {{}, literal(node.value)};
      case ExprOp::convert:
        if (dtype(arg(0)) == node.dtype) return {{}, storage(arg(0)), value(arg(0)).input};
        return computed(node.dtype, convert(arg(0), node.dtype));
      case ExprOp::bitcast: {
        const Value from = storage(arg(0)).a;
        const Machine type = part_type(node.dtype);
        return {{}, {type == from.type ? from : e_.to(type, Primitive::bitcast, from), {}}};
      }
      case ExprOp::select: {
        // Of storage forms: select moves bits, so it must not turn a signalling NaN into a quiet one.
        const Value truth = compute(arg(0)).a;
        const Parts then = storage(arg(1));
        return {{}, choose(truth, then, storage(arg(2)))};
      }
      case ExprOp::real:
        return {{compute(arg(0)).a, {}}, {}};
      case ExprOp::imag:
        return {{compute(arg(0)).b, {}}, {}};
      case ExprOp::complex:
        return {{compute(arg(0)).a, compute(arg(1)).a}, {}};
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(TERNARY_MATH):
        return computed(node.dtype, operate(node));
    }
    return {};
  }

  const Expr& expr_;
  Builder e_;
  std::vector<Forms> values_;
};

}  // namespace
}  // namespace lowered

lowered::Graph lower_numeric(const Expr& expr, lowered::Natives natives) { return lowered::Lowering(expr, natives).run(); }

}  // namespace strew::inline v0
