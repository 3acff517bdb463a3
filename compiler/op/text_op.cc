// The canonical text of an op: one line, with the fields in the order of the structs in op.h; fields at their default are left out.
//
//   strew1.scatter(operand=f32[8,128] indices=i32[4] updates=f32[4,128] update_window_dims=[1] inserted_window_dims=[0]
//   scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)
//
// A table of each op's fields says how they are read and printed. The parser takes whatever print() writes, with spaces between any two
// tokens and with the fields in any order; builders read the text of one field (ScatterBuilder::set). An error names the offset, the text
// found there and what was expected. The op is not verified.
//
// The text is the op's identity, so a change here changes every cache key and symbol; the version in the first token
// then changes too. docs/op_text.md has the grammar. Tested by tests/unit/compiler/op/op_text_test.cc.
#include <array>
#include <string>

#include "compiler/op/dimension_lists.h"
#include "compiler/op/text_values.h"
#include "strew/builder.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

template <class T>
struct TextField {
  std::string_view key;
  Status (*read)(Cursor&, T&);
  std::string (*print)(const T&);  ///< empty: the field is at its default, which is not printed
  bool required = false;
  void (*left_out)(T&) = nullptr;  ///< what a text without the field means, where that is not the default of op.h
};

template <class T>
const T& default_of() {
  static const auto& op = *new const T;
  return op;
}

/// The field that the members kPath lead to.
template <class T, auto... kPath>
constexpr TextField<T> field(std::string_view key) {
  return {
      key, [](Cursor& c, T& op) { return read(c, (op.*....*kPath)); },
      [](const T& op) { return (op.*....*kPath) == (default_of<T>().*....*kPath) ? std::string() : text_of((op.*....*kPath)); }};
}
template <class T, auto kMember>
constexpr TextField<T> required(std::string_view key) {
  return {key, [](Cursor& c, T& op) { return read(c, op.*kMember); }, [](const T& op) { return text_of(op.*kMember); }, true};
}
template <class T, size_t I>
constexpr TextField<T> dim_list() {
  return field<T, &T::dims, kDimensionLists[I].list>(kDimensionLists[I].name<T>());
}

constexpr auto kScatterFields = std::to_array<TextField<Scatter>>({
    required<Scatter, &Scatter::operands>("operand"),
    required<Scatter, &Scatter::indices>("indices"),
    field<Scatter, &Scatter::more_indices>("more_indices"),
    required<Scatter, &Scatter::updates>("updates"),
    field<Scatter, &Scatter::extras>("extras"),
    field<Scatter, &Scatter::lookups>("lookups"),
    field<Scatter, &Scatter::row_reductions>("row_reductions"),
    {"result", [](Cursor& c, Scatter& s) { return read(c, s.results); },
     [](const Scatter& s) { return s.results == s.operands ? std::string() : text_of(s.results); }, false,
     [](Scatter& s) { s.results = s.operands; }},
    dim_list<Scatter, 0>(),
    dim_list<Scatter, 1>(),
    dim_list<Scatter, 2>(),
    dim_list<Scatter, 3>(),
    dim_list<Scatter, 4>(),
    field<Scatter, &Scatter::dims, &DimensionNumbers::index_vector_dim>("index_vector_dim"),
    field<Scatter, &Scatter::combiner>("combiner"),
    field<Scatter, &Scatter::expr>("expr"),
    field<Scatter, &Scatter::init>("init"),
    field<Scatter, &Scatter::fill>("fill"),
    field<Scatter, &Scatter::oob>("oob"),
    field<Scatter, &Scatter::normalize_negative>("normalize_negative"),
    field<Scatter, &Scatter::order>("order"),
    field<Scatter, &Scatter::accumulate>("accumulate"),
    field<Scatter, &Scatter::indices_are_sorted>("indices_are_sorted"),
    field<Scatter, &Scatter::unique_indices>("unique_indices"),
});

constexpr Scalar kFill{DType::f32};  ///< of a policy that fills, where the text has no fill
constexpr auto kGatherFields = std::to_array<TextField<Gather>>({
    required<Gather, &Gather::operand>("operand"),
    required<Gather, &Gather::indices>("indices"),
    field<Gather, &Gather::more_indices>("more_indices"),
    field<Gather, &Gather::extras>("extras"),
    required<Gather, &Gather::result>("result"),
    dim_list<Gather, 0>(),
    dim_list<Gather, 1>(),
    dim_list<Gather, 2>(),
    dim_list<Gather, 3>(),
    dim_list<Gather, 4>(),
    field<Gather, &Gather::dims, &DimensionNumbers::index_vector_dim>("index_vector_dim"),
    field<Gather, &Gather::slice_sizes>("slice_sizes"),
    field<Gather, &Gather::expr>("expr"),
    field<Gather, &Gather::oob>("oob"),
    {"fill", [](Cursor& c, Gather& g) { return read(c, g.fill); },
     [](const Gather& g) { return !g.fill.has_value() || g.fill == kFill ? std::string() : text_of(g.fill); }, false,
     [](Gather& g) {
       if (is_fill(g.oob)) g.fill = kFill;
     }},
    field<Gather, &Gather::normalize_negative>("normalize_negative"),
    field<Gather, &Gather::indices_are_sorted>("indices_are_sorted"),
});

template <class T>
constexpr const auto& fields() {
  if constexpr (std::is_same_v<T, Scatter>)
    return kScatterFields;
  else
    return kGatherFields;
}

/// The names of the fields, for messages.
template <class T>
std::string keys() {
  std::string names;
  for (const TextField<T>& field : fields<T>()) names.append(names.empty() ? "" : ", ").append(field.key);
  return names;
}

/// The number of the field with this key, or their count.
template <class T>
size_t number_of(std::string_view key) {
  size_t i = 0;
  while (i < fields<T>().size() && fields<T>()[i].key != key) ++i;
  return i;
}

/// Reads the value of one field, which must be the whole text. `out` stays as it is if that fails.
template <class T>
Status read_one(std::string_view key, std::string_view text, T& out) {
  const size_t i = number_of<T>(key);
  if (i == fields<T>().size()) return invalid_argument(message("field: '{}', expected one of {}", key.substr(0, 40), keys<T>()));
  Cursor c(text, key);
  STREW_TRY(c.check_size());
  T read = out;
  STREW_TRY(fields<T>()[i].read(c, read));
  if (!c.at_end()) return c.fail("the end of the text");
  out = std::move(read);
  return {};
}

/// Reads the fields up to and including the closing parenthesis.
template <class T>
Status read_all(Cursor& c, T& out) {
  std::array<bool, fields<T>().size()> seen{};
  STREW_TRY(c.expect('('));
  while (!c.accept(')')) {
    const std::string_view key = c.word();
    const size_t i = number_of<T>(key);
    if (i == seen.size()) return c.fail(key, message("')' or a field ({})", keys<T>()));
    if (seen[i]) return c.refuse(key, message("field {} is given twice", key));
    seen[i] = true;
    STREW_TRY(c.expect('='));
    STREW_TRY(fields<T>()[i].read(c, out));
  }
  for (size_t i = 0; i < seen.size(); ++i) {
    const TextField<T>& field = fields<T>()[i];
    if (field.required && !seen[i]) return c.refuse(c.here(), message("field {} is missing", field.key));
    if (field.left_out != nullptr && !seen[i]) field.left_out(out);
  }
  return {};
}

/// "(field=value ...)"
template <class T>
std::string text_of_all(const T& op) {
  std::string out = "(";
  for (const TextField<T>& field : fields<T>())
    if (const std::string value = field.print(op); !value.empty())
      out.append(out.back() == '(' ? "" : " ").append(field.key).append("=").append(value);
  return out + ")";
}

template <class T>
Expected<Op> read_op(Cursor& c) {
  T op;
  STREW_TRY(read_all(c, op));
  if (!c.at_end()) return c.fail("the end of the text");
  if constexpr (std::is_same_v<T, Scatter>) {
    const bool has_graph = op.expr != Expr{};
    if (has_graph != (op.combiner == CombinerKind::expr))
      return c.refuse(c.here(), message("combiner is {} {}", op.combiner,
                                        has_graph ? "with an expression graph; expected one with combiner expr only"
                                                  : "without nodes; expected an expression graph"));
  }
  return Op(std::move(op));
}

}  // namespace

Status read(Cursor& c, Lookup& out) {
  out = {};
  STREW_TRY(read(c, out.of));
  STREW_TRY(c.expect('('));
  STREW_TRY(c.integer(out.index));
  STREW_TRY(c.expect(')'));
  STREW_TRY(c.expect('='));
  if (const std::string_view word = c.word(); word != "gather") return c.fail(word, "gather");
  return read_all(c, out.gather);
}

std::string text_of(const Lookup& lookup) {
  return message("{}({})=gather{}", lookup.of, lookup.index, text_of_all(lookup.gather));
}

Status ScatterBuilder::set(std::string_view field, std::string_view value) {
  STREW_TRY(read_one(field, value, op_));
  if (field == "expr") op_.combiner = CombinerKind::expr;
  if (op_.combiner != CombinerKind::expr) op_.expr = {};
  return {};
}
Status GatherBuilder::set(std::string_view field, std::string_view value) {
  STREW_TRY(read_one(field, value, op_));
  has_result_ |= field == "result";
  return {};
}

Expected<Op> parse_op(std::string_view text) {
  Cursor c(text);
  STREW_TRY(c.check_size());
  if (c.word() != "strew1" || !c.accept('.')) return c.refuse(text, "expected strew1.scatter(...) or strew1.gather(...)");
  const std::string_view kind = c.word();
  if (kind == "scatter") return read_op<Scatter>(c);
  if (kind == "gather") return read_op<Gather>(c);
  return c.fail(kind, "scatter or gather");
}

std::string print(const Op& op) {
  return std::visit(
      []<class T>(const T& each) {
        return (std::is_same_v<T, Scatter> ? "strew1.scatter" : "strew1.gather") + text_of_all(each);
      },
      op);
}

}  // namespace strew::inline v0
