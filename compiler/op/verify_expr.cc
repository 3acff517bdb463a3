// Verifies an expression graph on its own: arguments are earlier nodes, arities are right, and every operation is
// defined for its dtypes (docs/semantics.md section 4). Fields that an operation does not use must be at their default,
// so that equal graphs have equal texts.
//
// Labels: op_limits, op_enum, expr_form (fields of a node), expr_inputs (numbers of current, update, extra), expr_types,
// expr_results. Tested by tests/unit/compiler/op/verify_expr_test.cc.
#include "compiler/op/combiner.h"
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

class ExprChecker {
 public:
  ExprChecker(const Expr& expr, int currents, int updates, int extras)
      : expr_(expr), currents_(currents), updates_(updates), extras_(extras) {}

  Status check() {
    const size_t nodes = expr_.nodes.size();
    if (nodes > kMaxExprNodes) return violated("op_limits", "expr has {} nodes; expected at most {}", nodes, kMaxExprNodes);
    for (at_ = 0; at_ < nodes; ++at_) {
      STREW_TRY(check_dtype(Field("expr node %", at_, ""), node().dtype));
      STREW_TRY(check_enum(Field("expr node %", at_, ", operation,"), static_cast<int>(node().op),
                           static_cast<int>(expr_ops().size())));
      STREW_TRY(check_form(node()));
      STREW_TRY(check_types(node()));
    }
    if (expr_.results.size() != static_cast<size_t>(currents_))
      return violated("expr_results", "expr returns {} values; expected {}", expr_.results.size(), currents_);
    for (const int32_t result : expr_.results)
      if (result < 0 || static_cast<size_t>(result) >= nodes)
        return violated("expr_results", "expr returns %{}; expected a node from %0 to below %{}", result, nodes);
    return {};
  }

 private:
  const ExprNode& node() const { return expr_.nodes[at_]; }
  DType arg(size_t i) const { return expr_.node(node().args[i]).dtype; }

  template <class... Args>
  Status fail(std::string_view label, MessageText<Args...> text, const Args&... args) const {
    return violated(label, "expr node %{}, {}:{}, {}", at_, node().op, node().dtype, message(text, args...));
  }

  Status check_form(const ExprNode& n) const {
    const int arity = info(n.op).arity;
    if (n.args.size() != static_cast<size_t>(arity))
      return fail("expr_form", "has {} arguments; expected {}", n.args.size(), arity);
    for (const int32_t a : n.args)
      if (a < 0 || static_cast<size_t>(a) >= at_) return fail("expr_form", "reads %{}; expected an earlier node", a);
    if (n.op != ExprOp::literal && n.value.has_value()) return fail("expr_form", "has a value; only a constant does");
    if (!is_input(n.op)) return n.index == 0 ? Status() : fail("expr_form", "has an index; only current, update and extra do");
    const int inputs = n.op == ExprOp::current ? currents_ : n.op == ExprOp::update ? updates_ : extras_;
    if (n.index >= 0 && n.index < inputs) return {};
    return fail("expr_inputs", "reads number {}; expected from 0 to below {}", n.index, inputs);
  }

  Status check_types(const ExprNode& n) const {
    switch (n.op) {
      case ExprOp::current:
      case ExprOp::update:
      case ExprOp::extra:
        return {};
      case ExprOp::literal:
        return check_scalar("expr_types", Field("expr node %", at_, ", constant,"), n.value, n.dtype);
      case ExprOp::convert:
        if (converts(arg(0), n.dtype)) return {};
        return fail("expr_types", "has an argument of dtype {}, which does not convert to it", arg(0));
      case ExprOp::bitcast:
        return check_bitcast(n);
      case ExprOp::select:
        if (arg(0) != DType::boolean) return fail("expr_types", "chooses by {}; expected bool", arg(0));
        for (const size_t i : {1, 2})
          if (arg(i) != n.dtype) return fail("expr_types", "has an argument of dtype {}; expected its own", arg(i));
        return {};
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(TERNARY_MATH):
        break;
    }
    return check_operation(n);
  }

  /// Only dtypes of which every bit pattern is a value take part in a bitcast: not bool, which is 0 or 1, not f6, which
  /// leaves bits of its byte unused, and not strings, which hold addresses.
  Status check_bitcast(const ExprNode& n) const {
    const auto whole = [](DType d) { return uses_all_bits(d) && d != DType::string && !is_complex(d); };
    if (arg(0) == n.dtype) return {};
    if (whole(arg(0)) && whole(n.dtype) && bits(arg(0)) == bits(n.dtype)) return {};
    return fail(
        "expr_types",
        "has an argument of dtype {}; expected an integer or float dtype of the same width (not bool, f6, complex or string)",
        arg(0));
  }

  Status check_operation(const ExprNode& n) const {
    const DType first = arg(0);
    if (!takes(n.op, first))
      return fail("expr_types", "has an argument of dtype {}; expected {}", first, expected_dtypes(n.op, first));
    for (size_t i = 1; i < n.args.size(); ++i)
      if (arg(i) != first) return fail("expr_types", "has arguments of dtypes {} and {}; expected one dtype", first, arg(i));
    if (info(n.op).result == ExprResult::whole && first != DType::f32 && first != DType::f64)
      return fail("expr_types", "has parts of dtype {}; expected f32 or f64", first);
    const DType want = result_dtype(n.op, first);
    if (n.dtype == want) return {};
    return fail("expr_types", "is of arguments of dtype {}; expected result dtype {}", first, want);
  }

  const Expr& expr_;
  int currents_, updates_, extras_;
  size_t at_ = 0;
};

}  // namespace

Status verify(const Expr& expr, int currents, int updates, int extras) {
  return ExprChecker(expr, currents, updates, extras).check();
}

}  // namespace strew::inline v0
