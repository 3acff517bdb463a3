// Parses the canonical text of an op (docs/op_text.md has the grammar): whatever print() writes, with spaces between
// any two tokens and with the fields in any order. Builders read the text of one field (ScatterBuilder::set).
//
// The text may come from a hostile file, so the parser does not recurse, every list is bounded, and integers are
// checked for overflow. An error names the offset, the text found there and what was expected. The op is not verified.
// Tested by tests/unit/compiler/op/op_text_test.cc.
#include <charconv>
#include <string>
#include <system_error>

#include "compiler/op/dimension_lists.h"
#include "compiler/op/limits.h"
#include "strew/builder.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// The text and a position in it. Messages begin with `subject`, the name of the text.
class Cursor {
 public:
  explicit Cursor(std::string_view text, std::string_view subject = "op text") : text_(text), subject_(subject) {}

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  size_t offset() const { return at_; }

  Status fail_at(size_t offset, const std::string& message) const {
    return invalid_argument(std::string(subject_) + ", offset " + std::to_string(offset) + ": " + message);
  }
  Status fail(const std::string& expected) {
    skip_space();
    if (at_ == text_.size()) return fail_at(at_, "the text ends; expected " + expected);
    std::string found;
    for (char c : text_.substr(at_, 24)) {
      if (!found.empty() && c == ' ') break;
      found += c >= ' ' && c <= '~' ? c : '?';
    }
    return fail_at(at_, "found \"" + found + "\"; expected " + expected);
  }
  Status check_size() const {
    if (text_.size() <= kMaxOpText) return {};
    return fail_at(
        0, "the text has " + std::to_string(text_.size()) + " characters; expected at most " + std::to_string(kMaxOpText));
  }
  Status expect(char c) { return accept(c) ? Status() : fail(std::string("'") + c + "'"); }

  /// A run of letters, digits and underscores, perhaps empty.
  std::string_view word() {
    skip_space();
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// What parse_scalar() reads: a parenthesised pair, or a run of number and word characters.
  std::string_view scalar() {
    skip_space();
    const size_t begin = at_;
    if (accept('(')) {
      while (at_ < text_.size() && text_[at_] != ')' && at_ - begin < 512) ++at_;
      if (at_ < text_.size()) ++at_;
    } else {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '+' || text_[at_] == '-')) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  template <class Int>
  Status integer(Int& out) {
    skip_space();
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), out);
    if (error != std::errc()) return fail("an integer of " + std::to_string(sizeof(Int) * 8) + " bits");
    at_ += static_cast<size_t>(end - begin);
    return {};
  }

 private:
  std::string_view text_;
  std::string_view subject_;
  size_t at_ = 0;
};

/// Reads "item,item,…" up to and including `close`; `item` reads and appends one.
template <class Item>
Status read_items(Cursor& c, char close, int most, std::string_view what, const Item& item) {
  if (c.accept(close)) return {};
  for (int n = 1;; ++n) {
    if (n > most) return c.fail("at most " + std::to_string(most) + " " + std::string(what));
    STREW_TRY(item());
    if (c.accept(close)) return {};
    if (!c.accept(',')) return c.fail(std::string("',' or '") + close + "'");
  }
}

Status read_extent(Cursor& c, int64_t& out) {
  if (c.accept('?')) {
    out = kDynamic;
    return {};
  }
  return c.integer(out);
}

Status read_extents(Cursor& c, char close, std::vector<int64_t>& out) {
  return read_items(c, close, kMaxRank, "entries", [&] { return read_extent(c, out.emplace_back()); });
}

Status read_list(Cursor& c, std::vector<int64_t>& out) {
  out.clear();
  STREW_TRY(c.expect('['));
  return read_extents(c, ']', out);
}

Status read_dtype(Cursor& c, DType& out) {
  c.skip_space();
  const size_t begin = c.offset();
  const std::string_view word = c.word();
  const std::optional<DType> dtype = dtype_from_name(word);
  if (!dtype)
    return c.fail_at(begin, "found \"" + std::string(word.substr(0, 24)) + "\"; expected a dtype (f32, i64, bool, ...)");
  out = *dtype;
  return {};
}

Status read_type(Cursor& c, TensorType& out) {
  out = {};
  STREW_TRY(read_dtype(c, out.dtype));
  STREW_TRY(read_list(c, out.dims));
  return c.accept('{') ? read_extents(c, '}', out.strides) : Status();
}

Status read_types(Cursor& c, std::vector<TensorType>& out) {
  out.clear();
  if (!c.accept('[')) return read_type(c, out.emplace_back());
  return read_items(c, ']', kMaxPairs, "tensors", [&] { return read_type(c, out.emplace_back()); });
}

/// Reads the name of an enumerator of 0..last.
template <class Enum>
Status read_enum(Cursor& c, Enum last, Enum& out) {
  c.skip_space();
  const size_t begin = c.offset();
  const std::string_view word = c.word();
  std::string names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view each = name(static_cast<Enum>(i));
    if (each == word) {
      out = static_cast<Enum>(i);
      return {};
    }
    names.append(names.empty() ? "" : ", ").append(each);
  }
  return c.fail_at(begin, "found \"" + std::string(word.substr(0, 24)) + "\"; expected one of " + names);
}

Status read_flag(Cursor& c, bool& out) {
  const std::string_view word = c.word();
  if (word != "true" && word != "false") return c.fail("true or false");
  out = word == "true";
  return {};
}

/// value:dtype
Status read_scalar(Cursor& c, std::string_view text, size_t begin, DType dtype, Scalar& out) {
  const Expected<Scalar> value = parse_scalar(text, dtype);
  if (!value.ok()) return c.fail_at(begin, value.status().message());
  out = *value;
  return {};
}

Status read_typed(Cursor& c, Scalar& out) {
  c.skip_space();
  const size_t begin = c.offset();
  const std::string_view text = c.scalar();
  STREW_TRY(c.expect(':'));
  DType dtype;
  STREW_TRY(read_dtype(c, dtype));
  return read_scalar(c, text, begin, dtype, out);
}

Status read_fill(Cursor& c, std::vector<Scalar>& out) {
  out.clear();
  if (!c.accept('[')) return read_typed(c, out.emplace_back());
  return read_items(c, ']', kMaxPairs, "values", [&] { return read_typed(c, out.emplace_back()); });
}

Status read_extra(Cursor& c, Extra& out) {
  STREW_TRY(read_enum(c, ExtraKind::scalar, out.kind));
  STREW_TRY(c.expect(':'));
  return read_type(c, out.type);
}

Status read_extras(Cursor& c, std::vector<Extra>& out) {
  out.clear();
  STREW_TRY(c.expect('['));
  return read_items(c, ']', kMaxExtras, "extra inputs", [&] { return read_extra(c, out.emplace_back()); });
}

Status read_reference(Cursor& c, int32_t& out) {
  STREW_TRY(c.expect('%'));
  return c.integer(out);
}

/// Reads a node: "add(%0,%1):f32".
Status read_node(Cursor& c, ExprNode& node) {
  c.skip_space();
  const size_t begin = c.offset();
  const std::string_view word = c.word();
  const ExprOpInfo* found = nullptr;
  for (const ExprOpInfo& row : expr_ops()) {
    if (row.name == word) found = &row;
  }
  if (found == nullptr) {
    return c.fail_at(begin, "found \"" + std::string(word.substr(0, 24)) + "\"; expected an expression node (add, convert, ...)");
  }
  node.op = found->op;
  STREW_TRY(c.expect('('));
  std::string_view literal;
  size_t literal_at = 0;
  if (node.op == ExprOp::current || node.op == ExprOp::update || node.op == ExprOp::extra) {
    STREW_TRY(c.integer(node.index));
    STREW_TRY(c.expect(')'));
  } else if (node.op == ExprOp::literal) {
    c.skip_space();
    literal_at = c.offset();
    literal = c.scalar();
    STREW_TRY(c.expect(')'));
  } else {
    STREW_TRY(read_items(c, ')', 8, "arguments", [&] { return read_reference(c, node.args.emplace_back()); }));
  }
  STREW_TRY(c.expect(':'));
  STREW_TRY(read_dtype(c, node.dtype));
  return node.op == ExprOp::literal ? read_scalar(c, literal, literal_at, node.dtype, node.value) : Status();
}

/// Reads a graph: "{%0=current(0):f32; ...; return %0, %1}".
Status read_expr(Cursor& c, Expr& out) {
  out = {};
  STREW_TRY(c.expect('{'));
  while (c.peek() == '%') {
    const size_t begin = c.offset();
    int32_t number = 0;
    STREW_TRY(read_reference(c, number));
    if (number != static_cast<int32_t>(out.nodes.size())) {
      return c.fail_at(begin, "found node %" + std::to_string(number) + "; expected %" + std::to_string(out.nodes.size()));
    }
    if (number >= kMaxExprNodes) return c.fail_at(begin, "expected at most " + std::to_string(kMaxExprNodes) + " nodes");
    STREW_TRY(c.expect('='));
    STREW_TRY(read_node(c, out.nodes.emplace_back()));
    STREW_TRY(c.expect(';'));
  }
  if (c.word() != "return") return c.fail("a node (%N=...) or return");
  if (c.accept('}')) return {};
  return read_items(c, '}', kMaxPairs, "results", [&] { return read_reference(c, out.results.emplace_back()); });
}

/// One key of the text and how its value is read.
template <class T>
struct TextField {
  std::string_view key;
  Status (*read)(Cursor&, T&);
  bool required = false;
};

/// The field of one list of the dimension numbers.
template <class T, size_t I>
constexpr TextField<T> dim_list() {
  return {kDimensionLists[I].name<T>(), [](Cursor& c, T& op) { return read_list(c, op.dims.*kDimensionLists[I].list); }};
}

constexpr TextField<Scatter> kScatterFields[] = {
    {"operand", [](Cursor& c, Scatter& s) { return read_types(c, s.operands); }, true},
    {"indices", [](Cursor& c, Scatter& s) { return read_type(c, s.indices); }, true},
    {"updates", [](Cursor& c, Scatter& s) { return read_types(c, s.updates); }, true},
    {"extras", [](Cursor& c, Scatter& s) { return read_extras(c, s.extras); }},
    {"result", [](Cursor& c, Scatter& s) { return read_types(c, s.results); }},
    dim_list<Scatter, 0>(),
    dim_list<Scatter, 1>(),
    dim_list<Scatter, 2>(),
    dim_list<Scatter, 3>(),
    dim_list<Scatter, 4>(),
    {"index_vector_dim", [](Cursor& c, Scatter& s) { return c.integer(s.dims.index_vector_dim); }},
    {"combiner", [](Cursor& c, Scatter& s) { return read_enum(c, CombinerKind::expr, s.combiner); }},
    {"expr", [](Cursor& c, Scatter& s) { return read_expr(c, s.expr); }},
    {"init", [](Cursor& c, Scatter& s) { return read_enum(c, InitKind::fill, s.init); }},
    {"fill", [](Cursor& c, Scatter& s) { return read_fill(c, s.fill); }},
    {"oob", [](Cursor& c, Scatter& s) { return read_enum(c, OobPolicy::fill_window, s.oob); }},
    {"normalize_negative", [](Cursor& c, Scatter& s) { return read_flag(c, s.normalize_negative); }},
    {"order", [](Cursor& c, Scatter& s) { return read_enum(c, Order::relaxed, s.order); }},
    {"accumulate", [](Cursor& c, Scatter& s) { return read_enum(c, Accumulate::wide_f64, s.accumulate); }},
    {"indices_are_sorted", [](Cursor& c, Scatter& s) { return read_flag(c, s.indices_are_sorted); }},
    {"unique_indices", [](Cursor& c, Scatter& s) { return read_flag(c, s.unique_indices); }},
};
constexpr size_t kResultField = 4;
static_assert(kScatterFields[kResultField].key == "result");

constexpr TextField<Gather> kGatherFields[] = {
    {"operand", [](Cursor& c, Gather& g) { return read_type(c, g.operand); }, true},
    {"indices", [](Cursor& c, Gather& g) { return read_type(c, g.indices); }, true},
    {"extras", [](Cursor& c, Gather& g) { return read_extras(c, g.extras); }},
    {"result", [](Cursor& c, Gather& g) { return read_type(c, g.result); }, true},
    dim_list<Gather, 0>(),
    dim_list<Gather, 1>(),
    dim_list<Gather, 2>(),
    dim_list<Gather, 3>(),
    dim_list<Gather, 4>(),
    {"index_vector_dim", [](Cursor& c, Gather& g) { return c.integer(g.dims.index_vector_dim); }},
    {"slice_sizes", [](Cursor& c, Gather& g) { return read_list(c, g.slice_sizes); }},
    {"expr", [](Cursor& c, Gather& g) { return read_expr(c, g.expr); }},
    {"oob", [](Cursor& c, Gather& g) { return read_enum(c, OobPolicy::fill_window, g.oob); }},
    {"fill", [](Cursor& c, Gather& g) { return read_typed(c, g.fill); }},
    {"normalize_negative", [](Cursor& c, Gather& g) { return read_flag(c, g.normalize_negative); }},
    {"indices_are_sorted", [](Cursor& c, Gather& g) { return read_flag(c, g.indices_are_sorted); }},
};

/// The names of the fields, for messages.
template <class T, size_t N>
std::string keys_of(const TextField<T> (&fields)[N]) {
  std::string names;
  for (const TextField<T>& field : fields) names.append(names.empty() ? "" : ", ").append(field.key);
  return names;
}

/// The number of the field with this key, or N.
template <class T, size_t N>
size_t number_of(const TextField<T> (&fields)[N], std::string_view key) {
  size_t i = 0;
  while (i < N && fields[i].key != key) ++i;
  return i;
}

/// Reads the value of one field, which must be the whole text. `out` stays as it is if that fails.
template <class T, size_t N>
Status read_one(const TextField<T> (&fields)[N], std::string_view key, std::string_view text, T& out) {
  const size_t i = number_of(fields, key);
  if (i == N) return invalid_argument("field: '" + std::string(key.substr(0, 40)) + "', expected one of " + keys_of(fields));
  Cursor c(text, key);
  STREW_TRY(c.check_size());
  T read = out;
  STREW_TRY(fields[i].read(c, read));
  if (!c.at_end()) return c.fail("the end of the text");
  out = std::move(read);
  return {};
}

/// Reads the fields up to the closing parenthesis, which must end the text.
template <class T, size_t N>
Status read_fields(Cursor& c, const TextField<T> (&fields)[N], T& out, bool (&seen)[N]) {
  STREW_TRY(c.expect('('));
  while (!c.accept(')')) {
    c.skip_space();
    const size_t begin = c.offset();
    const std::string_view key = c.word();
    const size_t i = number_of(fields, key);
    if (i == N) {
      const std::string names = keys_of(fields);
      if (key.empty()) return c.fail("')' or a field (" + names + ")");
      return c.fail_at(begin, "found \"" + std::string(key.substr(0, 40)) + "\"; expected a field (" + names + ")");
    }
    if (seen[i]) return c.fail_at(begin, "field " + std::string(key) + " is given twice");
    seen[i] = true;
    STREW_TRY(c.expect('='));
    STREW_TRY(fields[i].read(c, out));
  }
  for (size_t i = 0; i < N; ++i) {
    if (fields[i].required && !seen[i]) return c.fail_at(c.offset(), "field " + std::string(fields[i].key) + " is missing");
  }
  return c.at_end() ? Status() : c.fail("the end of the text");
}

/// A graph is there if the combiner is expr.
Status check_graph(const Cursor& c, const Scatter& s) {
  const bool has_graph = s.expr != Expr{}, takes_graph = s.combiner == CombinerKind::expr;
  if (has_graph == takes_graph) return {};
  return c.fail_at(c.offset(), "combiner is " + std::string(name(s.combiner)) +
                                   (has_graph ? " with an expression graph; expected one with combiner expr only"
                                              : " without nodes; expected an expression graph"));
}

}  // namespace

Status ScatterBuilder::set(std::string_view field, std::string_view value) {
  STREW_TRY(read_one(kScatterFields, field, value, op_));
  if (field == "expr") op_.combiner = CombinerKind::expr;
  if (op_.combiner != CombinerKind::expr) op_.expr = {};
  return {};
}
Status GatherBuilder::set(std::string_view field, std::string_view value) {
  STREW_TRY(read_one(kGatherFields, field, value, op_));
  has_result_ |= field == "result";
  return {};
}

Expected<Op> parse_op(std::string_view text) {
  Cursor c(text);
  STREW_TRY(c.check_size());
  const std::string_view version = c.word();
  if (version != "strew1" || !c.accept('.')) {
    return c.fail_at(0, "expected strew1.scatter(...) or strew1.gather(...)");
  }
  const size_t begin = c.offset();
  const std::string_view kind = c.word();
  if (kind == "scatter") {
    Scatter s;
    bool seen[std::size(kScatterFields)] = {};
    STREW_TRY(read_fields(c, kScatterFields, s, seen));
    if (!seen[kResultField]) s.results = s.operands;
    STREW_TRY(check_graph(c, s));
    return Op(std::move(s));
  }
  if (kind == "gather") {
    Gather g;
    bool seen[std::size(kGatherFields)] = {};
    STREW_TRY(read_fields(c, kGatherFields, g, seen));
    const bool fills = g.oob == OobPolicy::fill_element || g.oob == OobPolicy::fill_window;
    if (fills && !g.fill.has_value()) g.fill = Scalar{DType::f32};
    return Op(std::move(g));
  }
  return c.fail_at(begin, "found \"" + std::string(kind.substr(0, 24)) + "\"; expected scatter or gather");
}

}  // namespace strew::inline v0
