// Verifies an expression graph on its own: arguments are earlier nodes, arities are right, and every operation is
// defined for its dtypes (docs/semantics.md section 4). Fields that an operation does not use must be at their default,
// so that equal graphs have equal texts.
//
// Labels: op_limits, op_enum, expr_form (fields of a node), expr_inputs (numbers of current, update, extra), expr_types,
// expr_results. Tested by tests/unit/compiler/op/verify_expr_test.cc.
#include <string>

#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// The family of a dtype with arithmetic; 0 of others.
unsigned family(DType dtype) {
  if (!info(dtype).arithmetic) return 0;
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return expr_dtypes::boolean;
    case DTypeKind::signed_integer:
      return expr_dtypes::signed_integers;
    case DTypeKind::unsigned_integer:
      return expr_dtypes::unsigned_integers;
    case DTypeKind::floating:
      return expr_dtypes::floats;
    case DTypeKind::complex:
      return expr_dtypes::complexes;
    case DTypeKind::string:
      return 0;
  }
  return 0;
}

std::string show_families(unsigned families) {
  std::string out;
  const auto add = [&](std::string_view word) { out.append(out.empty() ? "" : ", ").append(word); };
  if (families & expr_dtypes::boolean) add("bool");
  if ((families & expr_dtypes::integers) == expr_dtypes::integers) {
    add("integers");
  } else if (families & expr_dtypes::signed_integers) {
    add("signed integers");
  }
  if (families & expr_dtypes::floats) add("floats");
  if (families & expr_dtypes::complexes) add("complex");
  return out;
}

class ExprChecker {
 public:
  ExprChecker(const Expr& expr, int currents, int updates, int extras)
      : expr_(expr), currents_(currents), updates_(updates), extras_(extras) {}

  Status check() {
    if (expr_.nodes.size() > static_cast<size_t>(kMaxExprNodes)) {
      return violated("op_limits", "expr has " + std::to_string(expr_.nodes.size()) + " nodes; expected at most " +
                                       std::to_string(kMaxExprNodes));
    }
    for (at_ = 0; at_ < expr_.nodes.size(); ++at_) {
      STREW_TRY(check_dtype(Field("expr node %", at_, ""), node().dtype));
      STREW_TRY(check_enum(Field("expr node %", at_, ", operation,"), node().op, ExprOp::select));
      STREW_TRY(check_form(node()));
      STREW_TRY(check_types(node()));
    }
    if (expr_.results.size() != static_cast<size_t>(currents_)) {
      return violated("expr_results",
                      "expr returns " + std::to_string(expr_.results.size()) + " values; expected " + std::to_string(currents_));
    }
    for (int32_t result : expr_.results) {
      if (result < 0 || static_cast<size_t>(result) >= expr_.nodes.size()) {
        return violated("expr_results", "expr returns %" + std::to_string(result) + "; expected a node from %0 to below %" +
                                            std::to_string(expr_.nodes.size()));
      }
    }
    return {};
  }

 private:
  const ExprNode& node() const { return expr_.nodes[at_]; }
  DType arg(size_t i) const { return expr_.nodes[static_cast<size_t>(node().args[i])].dtype; }

  Status fail(std::string_view label, const std::string& message) const {
    return violated(label, "expr node %" + std::to_string(at_) + ", " + std::string(name(node().op)) + ":" +
                               std::string(name(node().dtype)) + ", " + message);
  }

  Status check_form(const ExprNode& n) const {
    const int arity = info(n.op).arity;
    if (n.args.size() != static_cast<size_t>(arity)) {
      return fail("expr_form", "has " + std::to_string(n.args.size()) + " arguments; expected " + std::to_string(arity));
    }
    for (int32_t a : n.args) {
      if (a >= 0 && static_cast<size_t>(a) < at_) continue;
      return fail("expr_form", "reads %" + std::to_string(a) + "; expected an earlier node");
    }
    if (n.op != ExprOp::literal && n.value.has_value()) return fail("expr_form", "has a value; only a constant does");
    int inputs = 0;
    if (n.op == ExprOp::current) inputs = currents_;
    if (n.op == ExprOp::update) inputs = updates_;
    if (n.op == ExprOp::extra) inputs = extras_;
    if (!is_input(n.op) && n.index != 0) return fail("expr_form", "has an index; only current, update and extra do");
    if (is_input(n.op) && (n.index < 0 || n.index >= inputs)) {
      return fail("expr_inputs",
                  "reads number " + std::to_string(n.index) + "; expected from 0 to below " + std::to_string(inputs));
    }
    return {};
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
        return fail("expr_types", "has an argument of dtype " + std::string(name(arg(0))) + ", which does not convert to it");
      case ExprOp::bitcast:
        return check_bitcast(n);
      case ExprOp::select:
        if (arg(0) != DType::boolean) return fail("expr_types", "chooses by " + std::string(name(arg(0))) + "; expected bool");
        for (size_t i : {1, 2}) {
          if (arg(i) != n.dtype)
            return fail("expr_types", "has an argument of dtype " + std::string(name(arg(i))) + "; expected its own");
        }
        return {};
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
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
    return fail("expr_types", "has an argument of dtype " + std::string(name(arg(0))) +
                                  "; expected an integer or float dtype of the same width (not bool, f6, complex or string)");
  }

  Status check_operation(const ExprNode& n) const {
    const DType first = arg(0);
    const unsigned accepted = info(n.op).arguments;
    if ((family(first) & accepted) == 0) {
      return fail("expr_types", "has an argument of dtype " + std::string(name(first)) + "; expected one of: " +
                                    show_families(accepted) + (info(first).arithmetic ? "" : ", with arithmetic"));
    }
    for (size_t i = 1; i < n.args.size(); ++i) {
      if (arg(i) != first) {
        return fail("expr_types", "has arguments of dtypes " + std::string(name(first)) + " and " + std::string(name(arg(i))) +
                                      "; expected one dtype");
      }
    }
    if (info(n.op).result == ExprResult::whole && first != DType::f32 && first != DType::f64)
      return fail("expr_types", "has parts of dtype " + std::string(name(first)) + "; expected f32 or f64");
    const DType want = result_dtype(n.op, first);
    if (n.dtype != want)
      return fail("expr_types",
                  "is of arguments of dtype " + std::string(name(first)) + "; expected result dtype " + std::string(name(want)));
    return {};
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
