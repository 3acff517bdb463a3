// See build.h. Each scalar of the program becomes one expression graph over the scalar arguments. A graph repeats the definitions of a
// polynomial's symbols; scalar.cc bounds how many there are. Tested by tests/unit/pto_import_test.cc.
#include "compiler/import/pto/build.h"

#include <algorithm>
#include <cstring>

namespace strew::inline v0::pto {

std::string Builder::location(Position at, std::string_view statement) const {
  return path_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + std::string(statement);
}

std::vector<int64_t> Builder::static_dims(const std::vector<Poly>& dims) {
  std::vector<int64_t> out;
  for (const Poly& dim : dims) out.push_back(dim.constant().value_or(kDynamic));
  return out;
}

int Builder::add_value(Value value) {
  imported_.values.push_back(std::move(value));
  return static_cast<int>(imported_.values.size()) - 1;
}

int Builder::input(TensorType type, std::vector<std::string> symbols) {
  Value value;
  value.kind = ValueKind::input;
  value.symbols = std::move(symbols);
  value.type = std::move(type);
  value.index = -1;
  return add_value(std::move(value));
}

int Builder::compute(ComputeOp op, std::vector<int> arguments, TensorType type, std::vector<int64_t> dims,
                     const std::string& where) {
  Compute c;
  c.op = op;
  c.location = where;
  c.arguments = std::move(arguments);
  c.results = {type};
  c.dims = std::move(dims);
  if (op == ComputeOp::slice) c.strides.assign(c.dims.size(), 1);
  imported_.computes.push_back(std::move(c));
  Value value;
  value.kind = ValueKind::compute;
  value.index = static_cast<int>(imported_.computes.size()) - 1;
  value.type = std::move(type);
  return add_value(std::move(value));
}

ShapedValue Builder::reshaped(const ShapedValue& from, const std::vector<Poly>& dims, const std::string& where, int like) {
  if (from.dims == dims) return from;
  const TensorType type{imported_.values[from.value].type.dtype, static_dims(dims), {}};
  const bool several = std::count(type.dims.begin(), type.dims.end(), kDynamic) > 1;
  std::vector<int> inputs{from.value};
  if (several && like >= 0) inputs.push_back(like);
  return {compute(ComputeOp::reshape, std::move(inputs), type, {}, where), dims};
}

/// The starts that are constants. If a start is not, all starts are given at run time by the values that are appended to `more`.
std::vector<int64_t> Builder::starts(const std::vector<Poly>& begin, std::vector<int>& more, const std::string& where) {
  std::vector<int64_t> out = static_dims(begin);
  if (std::find(out.begin(), out.end(), kDynamic) == out.end()) return out;
  for (size_t d = 0; d < out.size(); ++d) {
    const bool open = out[d] == kDynamic;
    more.push_back(open ? scalar(begin[d], where) : integer(0));
    if (open) out[d] = 0;
  }
  return out;
}

ShapedValue Builder::part(const ShapedValue& from, const std::vector<Poly>& begin, const std::vector<Poly>& dims,
                          const std::string& where) {
  if (from.dims == dims && std::all_of(begin.begin(), begin.end(), [](const Poly& p) { return p.is(0); })) return from;
  std::vector<int> inputs{from.value};
  std::vector<int64_t> first = starts(begin, inputs, where);
  const TensorType type{imported_.values[from.value].type.dtype, static_dims(dims), {}};
  return {compute(ComputeOp::slice, std::move(inputs), type, std::move(first), where), dims};
}

ShapedValue Builder::placed(const ShapedValue& into, const ShapedValue& part, const std::vector<Poly>& begin,
                            const std::string& where) {
  if (into.dims == part.dims) return part;
  std::vector<int> inputs{into.value, part.value};
  std::vector<int64_t> first = starts(begin, inputs, where);
  const TensorType type = imported_.values[into.value].type;
  return {compute(ComputeOp::update, std::move(inputs), type, std::move(first), where), into.dims};
}

ShapedValue Builder::as_u32(const ShapedValue& from, DType dtype, const std::string& where) {
  if (dtype == DType::u32) return from;
  const int value = compute(ComputeOp::map, {from.value}, {DType::u32, static_dims(from.dims), {}}, {}, where);
  Expr& expr = imported_.computes.back().function;
  expr.nodes = {{ExprOp::extra, dtype, {}, 0, {}}, {ExprOp::bitcast, DType::u32, {0}, 0, {}}};
  expr.results = {1};
  return {value, from.dims};
}

int Builder::integer(int64_t value) {
  const auto [place, fresh] = integers_.try_emplace(value, static_cast<int>(imported_.values.size()));
  if (!fresh) return place->second;
  Constant constant;
  constant.type = {DType::i64, {}, {}};
  constant.data.resize(sizeof value);
  std::memcpy(constant.data.data(), &value, sizeof value);
  imported_.constants.push_back(std::move(constant));
  Value out;
  out.kind = ValueKind::constant;
  out.index = static_cast<int>(imported_.constants.size()) - 1;
  out.type = {DType::i64, {}, {}};
  return add_value(std::move(out));
}

int Builder::extent_of(int value, int dim) {
  Value out;
  out.kind = ValueKind::extent;
  out.type = {DType::i64, {}, {}};
  out.like = value;
  out.like_dim = dim;
  return add_value(std::move(out));
}

namespace {

int add_node(Expr& expr, ExprNode node) {
  expr.nodes.push_back(std::move(node));
  return static_cast<int>(expr.nodes.size()) - 1;
}
int literal(Expr& expr, int64_t value) {
  return add_node(expr, {ExprOp::literal, DType::i64, {}, 0, {DType::i64, {static_cast<uint64_t>(value), 0}}});
}
int binary(Expr& expr, ExprOp op, int a, int b) { return add_node(expr, {op, DType::i64, {a, b}, 0, {}}); }

}  // namespace

int Builder::node_of_symbol(Expr& expr, SymbolId id, std::vector<int>& inputs) {
  const Symbol s = scalars_[id];
  if (s.kind == SymbolKind::argument) {
    const int value = arguments[static_cast<size_t>(s.argument)];
    const auto found = std::find(inputs.begin(), inputs.end(), value);
    const auto number = static_cast<int32_t>(found - inputs.begin());
    if (found == inputs.end()) inputs.push_back(value);
    const DType dtype = imported_.values[value].type.dtype;
    const int read = add_node(expr, {ExprOp::extra, dtype, {}, number, {}});
    return dtype == DType::i64 ? read : add_node(expr, {ExprOp::convert, DType::i64, {read}, 0, {}});
  }
  const int a = node(expr, s.a, inputs), b = node(expr, s.b, inputs);
  switch (s.kind) {
    case SymbolKind::minimum:
      return binary(expr, ExprOp::min, a, b);
    case SymbolKind::maximum:
      return binary(expr, ExprOp::max, a, b);
    case SymbolKind::remainder:
      return binary(expr, ExprOp::rem, a, b);
    case SymbolKind::ceil_quotient: {
      // Each of these calls adds a node. They are separate statements, because C++ does not define the order in which
      // arguments are evaluated.
      const int one = literal(expr, 1), sum = binary(expr, ExprOp::add, a, b);
      const int more = binary(expr, ExprOp::sub, sum, one);
      return binary(expr, ExprOp::div, more, b);
    }
    default:
      return binary(expr, ExprOp::div, a, b);
  }
}

/// Adds i64 nodes that compute `poly` and returns the last. A symbol used twice is computed twice; a graph has at most a few hundred nodes.
int Builder::node(Expr& expr, const Poly& poly, std::vector<int>& inputs) {
  int total = -1;
  for (const Term& term : poly.terms()) {
    int one = literal(expr, term.coefficient);
    for (const SymbolId id : term.factors) one = binary(expr, ExprOp::mul, one, node_of_symbol(expr, id, inputs));
    total = total < 0 ? one : binary(expr, ExprOp::add, total, one);
  }
  return total < 0 ? literal(expr, 0) : total;
}

int Builder::map(Expr expr, std::vector<int> inputs, const std::string& where) {
  const int value = compute(ComputeOp::map, std::move(inputs), {DType::i64, {}, {}}, {}, where);
  imported_.computes.back().function = std::move(expr);
  return value;
}

int Builder::scalar(const Poly& poly, const std::string& where) {
  if (poly.constant()) return integer(*poly.constant());
  Expr expr;
  std::vector<int> inputs;
  expr.results = {node(expr, poly, inputs)};
  return map(std::move(expr), std::move(inputs), where);
}

int Builder::scalar_remainder(const Poly& poly, int64_t divisor, const std::string& where) {
  Expr expr;
  std::vector<int> inputs;
  const int value = node(expr, poly, inputs);
  expr.results = {binary(expr, ExprOp::rem, value, literal(expr, divisor))};
  return map(std::move(expr), std::move(inputs), where);
}

}  // namespace strew::inline v0::pto
