// See text_values.h. Tested by tests/unit/compiler/op/op_text_test.cc.
#include "compiler/op/text_values.h"

#include "strew/expr_builder.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

Status read_extents(Cursor& c, char close, std::vector<int64_t>& out) {
  out.clear();
  return read_items(c, close, [&] {
    int64_t& extent = out.emplace_back(kDynamic);
    return c.accept('?') ? Status() : c.integer(extent);
  });
}

Status read_dtype(Cursor& c, DType& out) {
  const std::string_view word = c.word();
  const std::optional<DType> dtype = dtype_from_name(word);
  if (!dtype) return c.fail(word, "a dtype (f32, i64, bool, ...)");
  out = *dtype;
  return {};
}

Expected<Scalar> scalar_of(const Cursor& c, std::string_view text, DType dtype) {
  Expected<Scalar> value = parse_scalar(text, dtype);
  return value.ok() ? value : c.refuse(text, value.status().message());
}

Status read_reference(Cursor& c, int32_t& out) {
  STREW_TRY(c.expect('%'));
  return c.integer(out);
}

Status read_operator(Cursor& c, ExprOp& out) {
  const std::string_view word = c.word();
  const auto row = std::find_if(expr_ops().begin(), expr_ops().end(), [&](const ExprOpInfo& each) { return each.name == word; });
  if (row == expr_ops().end()) return c.fail(word, "an expression node (add, convert, ...)");
  out = row->op;
  return {};
}

/// Reads a node: "add(%0,%1):f32".
Status read_node(Cursor& c, ExprBuilder& e) {
  ExprOp op = ExprOp::literal;
  STREW_TRY(read_operator(c, op));
  STREW_TRY(c.expect('('));
  int32_t index = 0;
  std::string_view literal;
  std::vector<int32_t> args;
  if (is_input(op)) STREW_TRY(c.integer(index));
  if (op == ExprOp::literal) literal = c.scalar();
  const bool has_args = !is_input(op) && op != ExprOp::literal;
  STREW_TRY(has_args ? read_items(c, ')', [&] { return read_reference(c, args.emplace_back()); }) : c.expect(')'));
  STREW_TRY(c.expect(':'));
  DType dtype;
  STREW_TRY(read_dtype(c, dtype));
  if (op == ExprOp::literal) {
    STREW_ASSIGN(const Scalar value, scalar_of(c, literal, dtype));
    e.literal(value);
  } else if (is_input(op)) {
    op == ExprOp::current ? e.current(index, dtype) : op == ExprOp::update ? e.update(index, dtype) : e.extra(index, dtype);
  } else {
    e.apply(op, std::move(args), dtype);
  }
  return {};
}

std::string text_of(const ExprNode& node) {
  const std::string inside = is_input(node.op) ? std::to_string(node.index)
                             : node.op == ExprOp::literal
                                 ? print(node.value)
                                 : joined(node.args, "", "", [](int32_t arg) { return "%" + std::to_string(arg); });
  return message("{}({}):{}", node.op, inside, node.dtype);
}

}  // namespace

Status Cursor::fail(std::string_view expected) {
  if (at_end()) return refuse(here(), message("the text ends; expected {}", expected));
  const size_t begin = at_;
  std::string found(word());
  at_ = begin;
  if (found.empty()) found = text_.substr(at_, text_.find(' ', at_) - at_);
  found.resize(std::min<size_t>(found.size(), 40));
  std::replace_if(
      found.begin(), found.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return refuse(here(), message("found \"{}\"; expected {}", found, expected));
}

Status read(Cursor& c, bool& out) {
  const std::string_view word = c.word();
  if (word != "true" && word != "false") return c.fail(word, "true or false");
  out = word == "true";
  return {};
}

Status read(Cursor& c, TensorType& out) {
  out = {};
  STREW_TRY(read_dtype(c, out.dtype));
  STREW_TRY(read(c, out.dims));
  return c.accept('{') ? read_extents(c, '}', out.strides) : Status();
}

Status read(Cursor& c, Scalar& out) {
  const std::string_view text = c.scalar();
  STREW_TRY(c.expect(':'));
  DType dtype;
  STREW_TRY(read_dtype(c, dtype));
  STREW_ASSIGN(out, scalar_of(c, text, dtype));
  return {};
}

Status read(Cursor& c, Extra& out) {
  STREW_TRY(read(c, out.kind));
  STREW_TRY(c.expect(':'));
  return read(c, out.type);
}

Status read(Cursor& c, RowReduction& out) {
  out = {};
  STREW_TRY(read_operator(c, out.fold));
  STREW_TRY(c.expect('('));
  STREW_TRY(c.integer(out.lanes));
  STREW_TRY(c.expect(')'));
  return read(c, out.value);
}

Status read(Cursor& c, Expr& out) {
  ExprBuilder e;
  std::vector<int32_t> results;
  STREW_TRY(c.expect('{'));
  while (c.looks_at('%')) {
    const std::string_view begin = c.here();
    int32_t number = 0;
    STREW_TRY(read_reference(c, number));
    if (number != static_cast<int32_t>(e.size()))
      return c.refuse(begin, message("found node %{}; expected %{}", number, e.size()));
    if (number >= kMaxExprNodes) return c.refuse(begin, message("expected at most {} nodes", kMaxExprNodes));
    STREW_TRY(c.expect('='));
    STREW_TRY(read_node(c, e));
    STREW_TRY(c.expect(';'));
  }
  if (const std::string_view word = c.word(); word != "return") return c.fail(word, "a node (%N=...) or return");
  STREW_TRY(read_items(c, '}', [&] { return read_reference(c, results.emplace_back()); }));
  out = e.returns(std::move(results));
  return {};
}

Status read(Cursor& c, std::vector<int64_t>& out) {
  STREW_TRY(c.expect('['));
  return read_extents(c, ']', out);
}

std::string text_of(const Scalar& scalar) { return message("{}:{}", scalar, scalar.dtype); }
std::string text_of(const Extra& extra) { return message("{}:{}", extra.kind, extra.type); }
std::string text_of(const RowReduction& reduction) {
  return message("{}({}){}", reduction.fold, reduction.lanes, print(reduction.value));
}
std::string text_of(const std::vector<int64_t>& extents) { return joined(extents, "[", "]", extent_text); }

std::string print(const TensorType& type) {
  const std::string out = std::string(name(type.dtype)) + text_of(type.dims);
  return type.strides.empty() ? out : out + joined(type.strides, "{", "}", extent_text);
}

std::string print(const Expr& expr) {
  std::string out = "{";
  for (size_t i = 0; i < expr.nodes.size(); ++i) out.append(message("%{}={}; ", i, text_of(expr.nodes[i])));
  return out + joined(expr.results, "return", "}", [](int32_t node) { return " %" + std::to_string(node); });
}

}  // namespace strew::inline v0
