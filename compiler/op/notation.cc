// See notation.h. Each dim of the operand gets a subscript from AccessDims: a letter (batching), an entry of the index vector, a slice, or 0.
// A window dim that an index moves and that has one element is written as the index alone, and as 0 among the updates. Expressions are
// written from the graph with NumPy's operators, up to kMostText characters. Tested by tests/unit/compiler/op/notation_test.cc.
#include "compiler/op/notation.h"

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

class Notation {
 public:
  Notation(const Op& op, std::span<const std::string> names)
      : op_(op), dims_(op), scatter_(std::get_if<Scatter>(&op)), gather_(std::get_if<Gather>(&op)) {
    const std::vector<TensorSlot> slots = tensor_slots(op);
    for (size_t i = 0; i < slots.size(); ++i) {
      std::string& name = name_[static_cast<size_t>(slots[i].role)].emplace_back(i < names.size() ? names[i] : "");
      if (!name.empty()) continue;
      name = strew::name(slots[i].role);
      const bool is_one_of_many =
          slots[i].role == Role::extra ? extras().size() > 1 : scatter_ != nullptr && scatter_->updates.size() > 1;
      if (is_one_of_many && slots[i].role != Role::indices) name += std::to_string(slots[i].index);
    }
  }

  std::string text() const {
    const std::string operand = list([&](std::vector<std::string>&out) { add_operand(out); }),
                      slices = list([&](std::vector<std::string>&out) { add_slices(out); });
    if (gather_ != nullptr) return assigned(named(Role::result) + slices, named(Role::operand) + operand, slices);
    return assigned(named(Role::result) + operand, named(Role::updates) + slices, slices);
  }

 private:
  const std::vector<Extra>& extras() const { return scatter_ != nullptr ? scatter_->extras : gather_->extras; }
  const std::string& named(Role role, size_t i = 0) const { return name_[static_cast<size_t>(role)][i]; }

  template <class Fill>
  static std::string list(const Fill& fill) {
    std::vector<std::string> subscripts;
    fill(subscripts);
    std::string out;
    for (const std::string& each : subscripts) out += (out.empty() ? "" : ", ") + each;
    return out.empty() ? "" : "[" + out + "]";
  }

  /// "ids[i, 1]": the entry of the index vector at the position.
  std::string entry(int component) const {
    const std::string subscripts = list([&](std::vector<std::string>& out) {
      const auto rank = static_cast<int64_t>(indices_of(op_).dims.size());
      for (int64_t d = 0, position = 0; d < rank; ++d)
        out.push_back(d == dims_.index_vector_dim ? std::to_string(component) : letter(static_cast<size_t>(position++)));
    });
    return named(Role::indices) + subscripts;
  }

  const std::vector<int64_t>& operand_dims() const {
    return scatter_ != nullptr ? scatter_->results[0].dims : gather_->operand.dims;
  }

  /// Does the index replace the window dim, which has one element?
  bool is_single(const AccessDims::OperandDim& dim) const { return dim.component >= 0 && dim.window == 1; }

  void add_operand(std::vector<std::string>& out) const {
    for (size_t d = 0; d < dims_.operand.size(); ++d) {
      const AccessDims::OperandDim& dim = dims_.operand[d];
      const std::string extent = dim.window == kDynamic ? "n" : std::to_string(dim.window);
      if (dim.kind == OperandDimKind::batching)
        out.push_back(letter_of(dim.indices_dim));
      else if (dim.kind == OperandDimKind::removed || is_single(dim))
        out.push_back(dim.component < 0 ? "0" : entry(dim.component));
      else if (dim.component >= 0)
        out.push_back(entry(dim.component) + " : " + entry(dim.component) + "+" + extent);
      else
        out.push_back(dim.window == operand_dims()[d] ? ":" : ":" + extent);
    }
  }
  void add_slices(std::vector<std::string>& out) const {
    for (const AccessDims::SlicesDim& dim : dims_.slices) {
      if (dim.operand_dim < 0)
        out.push_back(letter_of(dim.indices_dim));
      else
        out.push_back(is_single(dims_.operand[static_cast<size_t>(dim.operand_dim)]) ? "0" : ":");
    }
  }
  std::string letter_of(int64_t indices_dim) const {
    for (size_t p = 0; p < dims_.positions.size(); ++p)
      if (dims_.positions[p].indices_dim == indices_dim) return letter(p);
    return "?";
  }

  std::string extra(size_t number, const std::string& slices) const {
    switch (extras()[number].kind) {
      case ExtraKind::per_element:
        return named(Role::extra, number) + slices;
      case ExtraKind::per_position:
        return named(Role::extra, number) + list([&](std::vector<std::string>& out) {
                 for (size_t p = 0; p < dims_.positions.size(); ++p) out.push_back(letter(p));
               });
      case ExtraKind::per_window:
        return named(Role::extra, number) + list([&](std::vector<std::string>& out) { out.assign(dims_.window.size(), ":"); });
      case ExtraKind::scalar:
        break;
    }
    return named(Role::extra, number);
  }

  /// The value of a node; empty if it is too long. `source`: what `update` or, of a gather, `current` stands for; `target`: the destination.
  std::string value(const Expr& expr, int32_t number, const std::string& target, const std::string& source,
                    const std::string& slices, int depth) const {
    const ExprNode& node = expr.nodes[static_cast<size_t>(number)];
    const std::string other = "other values";
    switch (node.op) {
      case ExprOp::current:
        return node.index != 0 ? other : gather_ != nullptr ? source : target;
      case ExprOp::update:
        return node.index != 0 ? named(Role::updates, static_cast<size_t>(node.index)) + slices : source;
      case ExprOp::extra:
        return extra(static_cast<size_t>(node.index), slices);
      case ExprOp::literal:
        return print(node.value);
      case STREW_EACH_OP(CAST):
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(SELECT):
        break;
    }
    if (depth == 0) return {};
    std::vector<std::string> args;
    size_t length = 0;
    for (const int32_t each : node.args) {
      args.push_back(value(expr, each, target, source, slices, depth - 1));
      if (args.back().empty() || (length += args.back().size()) > kMostText) return {};
    }
    if (node.op == ExprOp::convert) return std::string(strew::name(node.dtype)) + "(" + args[0] + ")";
    if (const std::string_view sign = sign_of(node.op); !sign.empty())
      return "(" + args[0] + " " + std::string(sign) + " " + args[1] + ")";
    std::string out = std::string(strew::name(node.op)) + "(";
    for (size_t i = 0; i < args.size(); ++i) out += (i == 0 ? "" : ", ") + args[i];
    return out + ")";
  }

  static std::string without_brackets(std::string text) {
    if (!text.starts_with("(")) return text;
    int open = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (open == 0 && i + 1 < text.size()) return text;
    }
    return text.substr(1, text.size() - 2);
  }

  std::string assigned(const std::string& target, const std::string& source, const std::string& slices) const {
    if (scatter_ != nullptr ? scatter_->combiner == CombinerKind::assign : gather_->expr.empty()) return target + " = " + source;
    const Expr expr = combine_graph(op_);
    const ExprNode& root = expr.nodes[static_cast<size_t>(expr.results[0])];
    const auto is_current = [&](int32_t n) {
      const ExprNode& node = expr.nodes[static_cast<size_t>(n)];
      return scatter_ != nullptr && node.op == ExprOp::current && node.index == 0;
    };
    const std::string_view sign = sign_of(root.op);
    if (find_combiner(root.op) != nullptr && !sign.empty() && root.args.size() == 2) {
      // a = a + x: the sign stands before "=".
      const bool commutes = find_combiner(root.op)->commutes;
      const int32_t rest = is_current(root.args[0]) ? root.args[1] : commutes && is_current(root.args[1]) ? root.args[0] : -1;
      if (rest >= 0) {
        const std::string text = value(expr, rest, target, source, slices, kMostDepth);
        return target + " " + std::string(sign) + "= " + (text.empty() ? "f(" + source + ")" : without_brackets(text));
      }
    }
    const std::string text = value(expr, expr.results[0], target, source, slices, kMostDepth);
    if (!text.empty() && text.size() <= kMostText) return target + " = " + without_brackets(text);
    return target + " = f(" + (scatter_ != nullptr ? target + ", " : "") + source + ")";
  }

  const Op& op_;
  const AccessDims dims_;
  const Scatter* scatter_;
  const Gather* gather_;
  std::vector<std::string> name_[5];  // by role
};

}  // namespace

std::string notation(const Op& op, std::span<const std::string> names) { return Notation(op, names).text(); }

}  // namespace strew::inline v0
