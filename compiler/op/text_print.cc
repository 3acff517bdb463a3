// Prints the canonical text of an op: one line, with the fields in the order of the structs in op.h; fields at their
// default are left out.
//
//   strew1.scatter(operand=f32[8,128] indices=i32[4] updates=f32[4,128] update_window_dims=[1] inserted_window_dims=[0]
//   scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)
//
// The text is the op's identity, so a change here changes every cache key and symbol; the version in the first token
// then changes too. docs/op_text.md has the grammar. Tested by tests/unit/compiler/op/op_text_test.cc.
#include <string>

#include "compiler/op/dimension_lists.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

std::string extent(int64_t value) { return value == kDynamic ? "?" : std::to_string(value); }

/// "open item,item close", without spaces.
template <class List, class Item>
std::string joined(const List& list, std::string_view open, std::string_view close, const Item& item) {
  std::string out(open);
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ',';
    first = false;
    out += item(element);
  }
  out += close;
  return out;
}

/// A list of one item as the item, any other list in brackets.
template <class List, class Item>
std::string one_or_list(const List& list, const Item& item) {
  return list.size() == 1 ? item(list.front()) : joined(list, "[", "]", item);
}

std::string typed(const Scalar& scalar) { return print(scalar) + ":" + std::string(name(scalar.dtype)); }

std::string print_node(const ExprNode& node) {
  std::string out(name(node.op));
  out += '(';
  switch (node.op) {
    case ExprOp::current:
    case ExprOp::update:
    case ExprOp::extra:
      out += std::to_string(node.index);
      break;
    case ExprOp::literal:
      out += print(node.value);
      break;
    case STREW_EACH_OP(CAST):
    case STREW_EACH_OP(BINARY):
    case STREW_EACH_OP(UNARY):
    case STREW_EACH_OP(COMPLEX):
    case STREW_EACH_OP(TEST):
    case STREW_EACH_OP(COMPARE):
    case STREW_EACH_OP(SELECT):
      out += joined(node.args, "", "", [](int32_t arg) { return "%" + std::to_string(arg); });
  }
  return out + "):" + std::string(name(node.dtype));
}

/// Collects " key=value" for the fields that are not at their default.
class Fields {
 public:
  void text(std::string_view key, const std::string& value) {
    if (!out_.empty()) out_ += ' ';
    out_.append(key).append("=").append(value);
  }
  void types(std::string_view key, const std::vector<TensorType>& types) {
    text(key, one_or_list(types, [](const TensorType& t) { return print(t); }));
  }
  void extras(const std::vector<Extra>& extras) {
    if (extras.empty()) return;
    const auto item = [](const Extra& e) { return std::string(name(e.kind)) + ":" + print(e.type); };
    text("extras", joined(extras, "[", "]", item));
  }
  void ints(std::string_view key, const std::vector<int64_t>& list) {
    if (!list.empty()) text(key, joined(list, "[", "]", extent));
  }
  template <class T>
  void numbers(const T& op) {
    for (const DimensionList& each : kDimensionLists) ints(each.name<T>(), op.dims.*each.list);
    if (op.dims.index_vector_dim != 0) text("index_vector_dim", std::to_string(op.dims.index_vector_dim));
  }
  void flag(std::string_view key, bool value) {
    if (value) text(key, "true");
  }
  template <class Enum>
  void choice(std::string_view key, Enum value, Enum normal) {
    if (value != normal) text(key, std::string(name(value)));
  }
  void expr(const Expr& expr) {
    if (expr != Expr{}) text("expr", print(expr));
  }
  std::string take(std::string_view head) { return std::string(head) + "(" + out_ + ")"; }

 private:
  std::string out_;
};

std::string print(const Scatter& s) {
  const Scatter normal;
  Fields f;
  f.types("operand", s.operands);
  f.text("indices", print(s.indices));
  f.types("updates", s.updates);
  f.extras(s.extras);
  if (s.results != s.operands) f.types("result", s.results);
  f.numbers(s);
  f.choice("combiner", s.combiner, normal.combiner);
  f.expr(s.expr);
  f.choice("init", s.init, normal.init);
  if (!s.fill.empty()) f.text("fill", one_or_list(s.fill, typed));
  f.choice("oob", s.oob, normal.oob);
  f.flag("normalize_negative", s.normalize_negative);
  f.choice("order", s.order, normal.order);
  f.choice("accumulate", s.accumulate, normal.accumulate);
  f.flag("indices_are_sorted", s.indices_are_sorted);
  f.flag("unique_indices", s.unique_indices);
  return f.take("strew1.scatter");
}

std::string print(const Gather& g) {
  const Gather normal;
  Fields f;
  f.text("operand", print(g.operand));
  f.text("indices", print(g.indices));
  f.extras(g.extras);
  f.text("result", print(g.result));
  f.numbers(g);
  f.ints("slice_sizes", g.slice_sizes);
  f.expr(g.expr);
  f.choice("oob", g.oob, normal.oob);
  if (g.fill.has_value() && g.fill != Scalar{DType::f32}) f.text("fill", typed(g.fill));  // the grammar's default is 0:f32
  f.flag("normalize_negative", g.normalize_negative);
  f.flag("indices_are_sorted", g.indices_are_sorted);
  return f.take("strew1.gather");
}

}  // namespace

std::string print(const TensorType& type) {
  std::string out(name(type.dtype));
  out += joined(type.dims, "[", "]", extent);
  if (!type.strides.empty()) out += joined(type.strides, "{", "}", extent);
  return out;
}

std::string print(const Expr& expr) {
  std::string out = "{";
  for (size_t i = 0; i < expr.nodes.size(); ++i) out += "%" + std::to_string(i) + "=" + print_node(expr.nodes[i]) + "; ";
  out += "return";
  const auto result = [](int32_t node) { return " %" + std::to_string(node); };
  return out + joined(expr.results, "", "", result) + "}";
}

std::string print(const Op& op) {
  return std::visit([](const auto& each) { return print(each); }, op);
}

}  // namespace strew::inline v0
