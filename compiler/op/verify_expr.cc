// Verifies an expression graph on its own: arguments are earlier nodes, arities are right, and every operation is
// defined for its dtypes (docs/semantics.md section 4). Fields that an operation does not use must be at their default,
// so that equal graphs have equal texts.
//
// Labels: op_limits, op_enum, expr_form (fields of a node), expr_inputs (numbers of current, update, extra), expr_types,
// expr_results. Tested by tests/unit/verify_expr_test.cc.
#include <string>

#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"
#include "strew/verify.h"

namespace strew::inline v0 {
namespace {

/// Families of dtypes, as a set.
enum : unsigned { kBool = 1, kSigned = 2, kUnsigned = 4, kFloat = 8, kComplex = 16, kInteger = kSigned | kUnsigned };

unsigned family(DType dtype) {
  if (!info(dtype).arithmetic) return 0;
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return kBool;
    case DTypeKind::signed_integer:
      return kSigned;
    case DTypeKind::unsigned_integer:
      return kUnsigned;
    case DTypeKind::floating:
      return kFloat;
    case DTypeKind::complex:
      return kComplex;
    case DTypeKind::string:
      return 0;
  }
  return 0;
}

std::string show_families(unsigned families) {
  std::string out;
  const auto add = [&](std::string_view word) { out.append(out.empty() ? "" : ", ").append(word); };
  if (families & kBool) add("bool");
  if ((families & kInteger) == kInteger) {
    add("integers");
  } else if (families & kSigned) {
    add("signed integers");
  }
  if (families & kFloat) add("floats");
  if (families & kComplex) add("complex");
  return out;
}

/// The dtypes that the arguments of `op` may have.
unsigned accepted(ExprOp op) {
  using E = ExprOp;
  switch (op) {
    case E::add:
    case E::mul:
      return kBool | kInteger | kFloat | kComplex;
    case E::sub:
    case E::div:
    case E::neg:
      return kInteger | kFloat | kComplex;
    case E::rem:
      return kInteger | kFloat;
    case E::min:
    case E::max:
      return kBool | kInteger | kFloat;
    case E::bit_and:
    case E::bit_or:
    case E::bit_xor:
    case E::bit_not:
      return kBool | kInteger;
    case E::shift_left:
    case E::shift_right_logical:
    case E::shift_right_arithmetic:
    case E::popcnt:
    case E::count_leading_zeros:
      return kInteger;
    case E::abs:
    case E::sign:
      return kSigned | kFloat;
    case E::real:
    case E::imag:
      return kComplex;
    case E::eq:
    case E::ne:
      return kBool | kInteger | kFloat | kComplex;
    case E::lt:
    case E::le:
    case E::gt:
    case E::ge:
      return kBool | kInteger | kFloat;
    default:
      return kFloat;  // pow, atan2, roundings, functions, complex, is_finite
  }
}

/// Comparisons and is_finite, whose result is a bool.
bool is_predicate(ExprOp op) { return op >= ExprOp::is_finite && op <= ExprOp::ge; }

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
    if (n.op > ExprOp::extra && n.index != 0) return fail("expr_form", "has an index; only current, update and extra do");
    if (n.op <= ExprOp::extra && (n.index < 0 || n.index >= inputs)) {
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
      default:
        return check_operation(n);
    }
  }

  /// Only dtypes of which every bit pattern is a value take part in a bitcast: not bool, which is 0 or 1, not f6, which
  /// leaves bits of its byte unused, and not strings, which hold addresses.
  Status check_bitcast(const ExprNode& n) const {
    const auto whole = [](DType d) {
      return d != DType::boolean && d != DType::string && d != DType::f6e2m3 && d != DType::f6e3m2 && !is_complex(d);
    };
    if (arg(0) == n.dtype) return {};
    if (whole(arg(0)) && whole(n.dtype) && bits(arg(0)) == bits(n.dtype)) return {};
    return fail("expr_types", "has an argument of dtype " + std::string(name(arg(0))) +
                                  "; expected an integer or float dtype of the same width (not bool, f6, complex or string)");
  }

  Status check_operation(const ExprNode& n) const {
    const DType first = arg(0);
    if ((family(first) & accepted(n.op)) == 0) {
      return fail("expr_types", "has an argument of dtype " + std::string(name(first)) + "; expected one of: " +
                                    show_families(accepted(n.op)) + (info(first).arithmetic ? "" : ", with arithmetic"));
    }
    for (size_t i = 1; i < n.args.size(); ++i) {
      if (arg(i) != first) {
        return fail("expr_types", "has arguments of dtypes " + std::string(name(first)) + " and " + std::string(name(arg(i))) +
                                      "; expected one dtype");
      }
    }
    DType want = is_predicate(n.op) ? DType::boolean : first;
    if (n.op == ExprOp::real || n.op == ExprOp::imag) want = first == DType::complex64 ? DType::f32 : DType::f64;
    if (n.op == ExprOp::complex) {
      if (first != DType::f32 && first != DType::f64)
        return fail("expr_types", "has parts of dtype " + std::string(name(first)) + "; expected f32 or f64");
      want = first == DType::f32 ? DType::complex64 : DType::complex128;
    }
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
