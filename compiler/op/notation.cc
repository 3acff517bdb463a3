// See notation.h. Each dim of the operand gets a subscript from AccessDims: a letter (batching), an entry of the index vector, a slice, or 0.
// A window dim that an index moves and that has one element is written as the index alone, and as 0 among the updates. Expressions are
// written from the graph with NumPy's operators, up to kMostText characters. Tested by tests/unit/compiler/op/notation_test.cc.
#include "compiler/op/notation.h"

#include <fmt/format.h>

#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostText = 160;
constexpr int kMostDepth = 24;

std::string letter(size_t position) {
  constexpr std::string_view kLetters = "ijklmnpq";
  return position < kLetters.size() ? std::string(1, kLetters[position]) : "i" + std::to_string(position);
}

/// The infix sign of an operation with two arguments; empty: it is written as a function.
std::string_view sign_of(ExprOp op) {
  constexpr std::pair<ExprOp, std::string_view> kSigns[] = {
      {ExprOp::add, "+"},     {ExprOp::sub, "-"},    {ExprOp::mul, "*"},     {ExprOp::div, "/"}, {ExprOp::rem, "%"},
      {ExprOp::bit_and, "&"}, {ExprOp::bit_or, "|"}, {ExprOp::bit_xor, "^"}, {ExprOp::eq, "=="}, {ExprOp::ne, "!="},
      {ExprOp::lt, "<"},      {ExprOp::le, "<="},    {ExprOp::gt, ">"},      {ExprOp::ge, ">="}};
  for (const auto& [each, sign] : kSigns)
    if (each == op) return sign;
  return {};
}

/// "[i, :]"; of no subscripts, nothing.
std::string list(const std::vector<std::string>& subscripts) {
  return subscripts.empty() ? "" : fmt::format("[{}]", fmt::join(subscripts, ", "));
}

std::string without_brackets(const std::string& text) {
  if (!text.starts_with("(")) return text;
  int open = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return text;
  }
  return text.substr(1, text.size() - 2);
}

class Notation {
 public:
  Notation(const Op& op, std::span<const std::string> names)
      : op_(op), dims_(op), scatter_(std::get_if<Scatter>(&op)), gather_(std::get_if<Gather>(&op)), expr_(combine_graph(op)) {
    const std::vector<TensorSlot> slots = tensor_slots(op);
    for (size_t i = 0; i < slots.size(); ++i)
      name_[static_cast<size_t>(slots[i].role)].push_back(i < names.size() ? names[i] : "");
    for (const TensorSlot& slot : slots) {
      std::vector<std::string>& all = name_[static_cast<size_t>(slot.role)];
      std::string& own = all[slot.index];
      const bool is_numbered = slot.role == Role::indices ? slot.index > 0 : all.size() > 1;
      if (own.empty()) own = std::string(name(slot.role)) + (is_numbered ? std::to_string(slot.index) : "");
    }
    slices_ = list(of_slices());
    const std::string indexed = list(of_indexed(dims_, 0, operand_dims(), indices_of(op).dims.size()));
    target_ = named(Role::result) + (scatter_ != nullptr ? indexed : slices_);
    source_ = scatter_ != nullptr ? read(Role::updates, 0, slices_) : named(Role::operand) + indexed;
  }

  std::string text() const {
    if (scatter_ != nullptr ? scatter_->combiner == CombinerKind::assign : gather_->expr.empty())
      return target_ + " = " + source_;
    const ExprNode& root = expr_.result();
    const std::string_view sign = sign_of(root.op);
    if (const CombinerTraits* const row = find_combiner(root.op); row != nullptr && !sign.empty() && root.args.size() == 2) {
      // a = a + x: the sign stands before "=".
      const int32_t rest = is_current(root.args[0])                    ? root.args[1]
                           : row->commutes && is_current(root.args[1]) ? root.args[0]
                                                                       : -1;
      if (rest >= 0) {
        const std::string text = value(expr_, rest, kMostDepth);
        return fmt::format("{} {}= {}", target_, sign, text.empty() ? "f(" + source_ + ")" : without_brackets(text));
      }
    }
    const std::string text = value(expr_, expr_.results[0], kMostDepth);
    if (!text.empty() && text.size() <= kMostText) return target_ + " = " + without_brackets(text);
    return fmt::format("{} = f({}{})", target_, scatter_ != nullptr ? target_ + ", " : "", source_);
  }

 private:
  const std::vector<Extra>& extras() const { return scatter_ != nullptr ? scatter_->extras : gather_->extras; }
  const std::string& named(Role role, size_t i = 0) const { return name_[static_cast<size_t>(role)][i]; }

  /// "ids[i, 1]": the entry of the index vector at the position. `number`: of the first index tensor of the source.
  std::string entry(const AccessDims& dims, int number, size_t rank, int component) const {
    if (dims.scalar_indices) number += component;
    std::vector<std::string> subscripts;
    for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
      subscripts.push_back(d == dims.index_vector_dim ? std::to_string(component) : letter_of(dims, d));
    return named(Role::indices, static_cast<size_t>(number)) + list(subscripts);
  }

  const std::vector<int64_t>& operand_dims() const {
    return scatter_ != nullptr ? scatter_->results[0].dims : gather_->operand.dims;
  }

  /// Does the index replace the window dim, which has one element?
  static bool is_single(const AccessDims::OperandDim& dim) { return dim.component >= 0 && dim.window == 1; }

  /// The subscripts of what the dims say is indexed, which has the extents `whole`.
  std::vector<std::string> of_indexed(const AccessDims& dims, int number, const std::vector<int64_t>& whole, size_t rank) const {
    std::vector<std::string> out;
    for (size_t d = 0; d < dims.operand.size(); ++d) {
      const AccessDims::OperandDim& dim = dims.operand[d];
      const auto at = [&] { return entry(dims, number, rank, dim.component); };
      const std::string extent = dim.window == kDynamic ? "n" : std::to_string(dim.window);
      if (dim.kind == OperandDimKind::batching)
        out.push_back(letter_of(dims, dim.indices_dim));
      else if (dim.kind == OperandDimKind::removed || is_single(dim))
        out.push_back(dim.component < 0 ? "0" : at());
      else if (dim.component >= 0)
        out.push_back(fmt::format("{0} : {0}+{1}", at(), extent));
      else
        out.push_back(dim.window == whole[d] ? ":" : ":" + extent);
    }
    return out;
  }
  /// Updates or an extra with these subscripts, or what it is looked up in.
  std::string read(Role role, size_t index, const std::string& subscripts) const {
    const Lookup* const lookup = lookup_of(op_, role, static_cast<int>(index));
    if (lookup == nullptr) return named(role, index) + subscripts;
    const auto source = static_cast<size_t>(lookup - lookups_of(op_).data()) + 1;
    const Gather& g = lookup->gather;
    const int number = first_indices(op_, source);
    return named(role, index) + list(of_indexed(AccessDims(g), number, g.operand.dims, g.indices.dims.size()));
  }
  std::vector<std::string> of_slices() const {
    std::vector<std::string> out;
    for (const AccessDims::SlicesDim& dim : dims_.slices)
      out.push_back(dim.operand_dim < 0                         ? letter_of(dims_, dim.indices_dim)
                    : is_single(dims_.operand[dim.operand_dim]) ? "0"
                                                                : ":");
    return out;
  }
  static std::string letter_of(const AccessDims& dims, int64_t indices_dim) {
    for (size_t p = 0; p < dims.positions.size(); ++p)
      if (dims.positions[p].indices_dim == indices_dim) return letter(p);
    return "?";
  }

  std::string extra_subscripts(ExtraKind kind) const {
    std::vector<std::string> positions;
    for (size_t p = 0; p < dims_.positions.size(); ++p) positions.push_back(letter(p));
    switch (kind) {
      case ExtraKind::per_element:
        return slices_;
      case ExtraKind::per_position:
        return list(positions);
      case ExtraKind::per_window:
        return list(std::vector<std::string>(dims_.window.size(), ":"));
      case ExtraKind::scalar:
        break;
    }
    return {};
  }

  bool is_current(int32_t number) const {
    const ExprNode& node = expr_.node(number);
    return scatter_ != nullptr && node.op == ExprOp::current && node.index == 0;
  }

  /// The value of a node of a graph; empty if it is too long.
  std::string value(const Expr& graph, int32_t number, int depth) const {
    const ExprNode& node = graph.node(number);
    const auto index = static_cast<size_t>(node.index);
    if (node.op == ExprOp::current) return node.index != 0 ? "other values" : gather_ != nullptr ? source_ : target_;
    if (node.op == ExprOp::update) return node.index != 0 ? read(Role::updates, index, slices_) : source_;
    if (node.op == ExprOp::extra && index < extras().size())
      return read(Role::extra, index, extra_subscripts(extras()[index].kind));
    if (node.op == ExprOp::literal) return print(node.value);
    if (depth == 0) return {};
    if (node.op == ExprOp::extra) {
      const RowReduction& reduction = scatter_->row_reductions[index - extras().size()];
      const std::string folded = value(reduction.value, reduction.value.results[0], depth - 1);
      return folded.empty() ? folded : fmt::format("row_{}({})", name(reduction.fold), without_brackets(folded));
    }
    std::vector<std::string> args;
    size_t length = 0;
    for (const int32_t each : node.args) {
      args.push_back(value(graph, each, depth - 1));
      if (args.back().empty() || (length += args.back().size()) > kMostText) return {};
    }
    if (node.op == ExprOp::convert) return fmt::format("{}({})", name(node.dtype), args[0]);
    if (const std::string_view sign = sign_of(node.op); !sign.empty()) return fmt::format("({} {} {})", args[0], sign, args[1]);
    return fmt::format("{}({})", name(node.op), fmt::join(args, ", "));
  }

  const Op& op_;
  const AccessDims dims_;
  const Scatter* scatter_;
  const Gather* gather_;
  const Expr expr_;                   // the combiner, or what is done with the gathered element
  std::vector<std::string> name_[5];  // by role
  std::string slices_;                // subscripts of the slices
  std::string target_, source_;       // what is assigned, and what `update` (of a gather, `current`) stands for
};

}  // namespace

std::string notation(const Op& op, std::span<const std::string> names) { return Notation(op, names).text(); }

}  // namespace strew::inline v0
