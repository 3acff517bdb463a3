// Elementwise operations of arith and math, on tensors and on scalars: a Compute that maps one function over its operands.
//
// arith's integer types have no signedness: `divui` is an unsigned division of i32. strew's i32 is signed, so an unsigned operation gets
// its operands through a bitcast to u32, and its result is cast back. i1 becomes bool. On bool strew's add is `or`, whereas arith's addi on
// i1 is xor, and arith's signed operations read true as -1.
//
// Where arith leaves the result undefined (poison: division by zero, a shift that is too far, a float out of range of the integer type),
// semantics.md section 4 defines it. fastmath flags allow deviations but do not require them, so they are ignored. Tested by
// tests/unit/compiler/import/tensor/tensor_compute_test.cc.
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>

#include <optional>

#include "base/number.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/op_list.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {

enum class Form : uint8_t {
  plain,
  as_unsigned,  ///< operands and result are cast to unsigned integers
  number,       ///< maxnumf, minnumf: a NaN operand is ignored
  convert,
  from_unsigned,  ///< convert from an unsigned integer
  to_unsigned,    ///< convert to an unsigned integer
  cmpi,
  cmpf,
};
struct ScalarOpRow {
  llvm::StringRef name;
  ExprOp op;
  Form form = Form::plain;
};
/// Rows without a name are of operators that neither dialect has.
constexpr ScalarOpRow kScalarOps[] = {
#define STREW_MLIR_ROWS(op, name, arity, arguments, result, onnx, opset, tflite, hlo, mlir_floats, mlir_integers) \
  {mlir_floats, ExprOp::op}, {mlir_integers, ExprOp::op},
    STREW_EXPR_OPS(STREW_MLIR_ROWS)
#undef STREW_MLIR_ROWS
        {"arith.divui", ExprOp::div, Form::as_unsigned},
    {"arith.remui", ExprOp::rem, Form::as_unsigned},
    {"arith.maxnumf", ExprOp::max, Form::number},
    {"arith.minnumf", ExprOp::min, Form::number},
    {"arith.maxui", ExprOp::max, Form::as_unsigned},
    {"arith.minui", ExprOp::min, Form::as_unsigned},
    {"arith.cmpi", ExprOp::eq, Form::cmpi},
    {"arith.cmpf", ExprOp::eq, Form::cmpf},
    {"arith.extf", ExprOp::convert, Form::convert},
    {"arith.truncf", ExprOp::convert, Form::convert},
    {"arith.extsi", ExprOp::convert, Form::convert},
    {"arith.trunci", ExprOp::convert, Form::convert},
    {"arith.sitofp", ExprOp::convert, Form::convert},
    {"arith.fptosi", ExprOp::convert, Form::convert},
    {"arith.index_cast", ExprOp::convert, Form::convert},
    {"arith.extui", ExprOp::convert, Form::from_unsigned},
    {"arith.uitofp", ExprOp::convert, Form::from_unsigned},
    {"arith.index_castui", ExprOp::convert, Form::from_unsigned},
    {"arith.fptoui", ExprOp::convert, Form::to_unsigned},
};

std::optional<ScalarOpRow> row_of(llvm::StringRef name) {
  for (const ScalarOpRow& row : kScalarOps)
    if (!row.name.empty() && row.name == name) return row;
  return std::nullopt;
}

/// The unsigned integers that are as wide as these integers.
DType unsigned_of(DType dtype) { return is_signed_integer(dtype) ? bits_dtype(dtype).value_or(dtype) : dtype; }

class Appender {
 public:
  Appender(mlir::Operation* op, ExprBuilder& graph, DType result) : op_(op), graph_(graph), result_(result) {}

  Expected<int32_t> run(const ScalarOpRow& row, std::vector<int32_t> args) {
    const bool on_bool = dtype(args[0]) == DType::boolean;
    switch (row.form) {
      case Form::plain:
        return plain(row, std::move(args), on_bool);
      case Form::as_unsigned:
        if (on_bool) return no_bool();
        for (int32_t& arg : args) arg = cast(arg, unsigned_of(dtype(arg)));
        return cast(add(row.op, unsigned_of(result_), std::move(args)), result_);
      case Form::number:
        return number(row.op, args[0], args[1]);
      case Form::convert:
        return convert(row, args[0], on_bool);
      case Form::from_unsigned:
        return add(ExprOp::convert, result_, {cast(args[0], unsigned_of(dtype(args[0])))});
      case Form::to_unsigned:
        if (result_ == DType::boolean) return no_bool();
        return cast(add(ExprOp::convert, unsigned_of(result_), {args[0]}), result_);
      case Form::cmpi:
        return compare_integers(args[0], args[1], on_bool);
      case Form::cmpf:
        return compare_floats(args[0], args[1]);
    }
    return internal_error("a form without a case");
  }

 private:
  DType dtype(int32_t node) const { return graph_.dtype(node); }
  static Status no_bool() { return invalid_argument("elements of type i1 are not read, expected wider ones"); }

  int32_t add(ExprOp op, DType type, std::vector<int32_t> args) { return graph_.apply(op, std::move(args), type); }
  int32_t cast(int32_t from, DType type) { return graph_.as_bits(from, type); }
  int32_t one(DType type) { return graph_.literal(Scalar{type, {1, 0}}); }
  int32_t inverted(int32_t node) { return add(ExprOp::bit_not, DType::boolean, {node}); }
  int32_t truth(ExprOp op, int32_t a, int32_t b) { return add(op, DType::boolean, {a, b}); }

  Expected<int32_t> plain(const ScalarOpRow& row, std::vector<int32_t> args, bool on_bool) {
    ExprOp op = row.op;
    if (on_bool && row.name.starts_with("arith.") && op != ExprOp::select) {
      if (op == ExprOp::add || op == ExprOp::sub)
        op = ExprOp::bit_xor;
      else if (op == ExprOp::mul)
        op = ExprOp::bit_and;
      else if (op != ExprOp::bit_and && op != ExprOp::bit_or && op != ExprOp::bit_xor)
        return no_bool();
    }
    if (op == ExprOp::bitcast && dtype(args[0]) == result_) return args[0];
    return add(op, result_, std::move(args));
  }

  Expected<int32_t> number(ExprOp op, int32_t a, int32_t b) {
    const int32_t both = add(op, result_, {a, b});
    const int32_t b_lost = add(ExprOp::select, result_, {truth(ExprOp::ne, b, b), a, both});
    return add(ExprOp::select, result_, {truth(ExprOp::ne, a, a), b, b_lost});
  }

  Expected<int32_t> convert(const ScalarOpRow& row, int32_t arg, bool on_bool) {
    if (op_->getAttr("roundingmode")) return invalid_argument("attribute 'roundingmode', expected none (to nearest even)");
    if (dtype(arg) == result_) return arg;
    const bool arith = row.name.starts_with("arith.");
    if (arith && on_bool) return add(ExprOp::neg, result_, {add(ExprOp::convert, result_, {arg})});  // true is -1
    if (arith && result_ == DType::boolean) {
      if (is_float(dtype(arg))) return no_bool();
      arg = add(ExprOp::bit_and, dtype(arg), {arg, one(dtype(arg))});
    }
    return add(ExprOp::convert, result_, {arg});
  }

  Expected<int32_t> compare_integers(int32_t a, int32_t b, bool on_bool) {
    using P = mlir::arith::CmpIPredicate;
    const P predicate = llvm::cast<mlir::arith::CmpIOp>(op_).getPredicate();
    if (predicate == P::eq) return truth(ExprOp::eq, a, b);
    if (predicate == P::ne) return truth(ExprOp::ne, a, b);
    if (on_bool) return no_bool();
    if (predicate >= P::ult) {
      a = cast(a, unsigned_of(dtype(a)));
      b = cast(b, unsigned_of(dtype(b)));
    }
    const auto is = [&](P of_signed, P of_unsigned) { return predicate == of_signed || predicate == of_unsigned; };
    return truth(is(P::slt, P::ult)   ? ExprOp::lt
                 : is(P::sle, P::ule) ? ExprOp::le
                 : is(P::sgt, P::ugt) ? ExprOp::gt
                                      : ExprOp::ge,
                 a, b);
  }

  /// Translates a comparison of floats. "Unordered or less" is the negation of "ordered and greater or equal".
  Expected<int32_t> compare_floats(int32_t a, int32_t b) {
    using P = mlir::arith::CmpFPredicate;
    // Every call of truth() appends a node, so the calls are separate statements: C++ does not define the order in which arguments are
    // evaluated.
    const auto differ = [&] {
      const int32_t greater = truth(ExprOp::gt, a, b), less = truth(ExprOp::lt, a, b);
      return truth(ExprOp::bit_or, less, greater);
    };
    const auto ordered = [&] {
      const int32_t b_is = truth(ExprOp::eq, b, b), a_is = truth(ExprOp::eq, a, a);
      return truth(ExprOp::bit_and, a_is, b_is);
    };
    struct Row {
      P ordered, unordered;
      ExprOp op, inverse;
    };
    static constexpr Row kRows[] = {{P::OGT, P::UGT, ExprOp::gt, ExprOp::le},
                                    {P::OGE, P::UGE, ExprOp::ge, ExprOp::lt},
                                    {P::OLT, P::ULT, ExprOp::lt, ExprOp::ge},
                                    {P::OLE, P::ULE, ExprOp::le, ExprOp::gt}};
    const P predicate = llvm::cast<mlir::arith::CmpFOp>(op_).getPredicate();
    for (const Row& row : kRows) {
      if (predicate == row.ordered) return truth(row.op, a, b);
      if (predicate == row.unordered) return inverted(truth(row.inverse, a, b));
    }
    if (predicate == P::OEQ) return truth(ExprOp::eq, a, b);
    if (predicate == P::UNE) return truth(ExprOp::ne, a, b);
    if (predicate == P::ONE) return differ();
    if (predicate == P::UEQ) return inverted(differ());
    if (predicate == P::ORD) return ordered();
    if (predicate == P::UNO) return inverted(ordered());
    return invalid_argument("predicate, expected one that compares");  // always true or false
  }

  mlir::Operation* op_;
  ExprBuilder& graph_;
  DType result_;
};

Expected<int> read_scalar_op(OpReader& r) {
  mlir::Operation* const op = r.op();
  const std::optional<ScalarOpRow> row = row_of(op->getName().getStringRef());
  if (!row) return internal_error("no elementwise operation");
  STREW_ASSIGN(const TensorType result, value_type(r.result_type()));
  ExprBuilder graph;
  std::vector<int32_t> arguments;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    STREW_ASSIGN(const TensorType type, value_type(r.operand_type(i)));
    arguments.push_back(graph.extra(static_cast<int32_t>(i), type.dtype));
  }
  STREW_ASSIGN(const int32_t last, Appender(op, graph, result.dtype).run(*row, std::move(arguments)));
  return r.build.map(graph.returns({last}), r.operands());
}

}  // namespace

bool is_arith(llvm::StringRef name) { return row_of(name).has_value(); }

std::vector<std::string> arith_operations() {
  std::vector<std::string> out;
  for (const ScalarOpRow& row : kScalarOps)
    if (!row.name.empty()) out.push_back(row.name.str());
  return out;
}

Status import_arith(Translation& t, mlir::Operation* op) { return import_with(t, op, read_scalar_op); }

}  // namespace strew::inline v0
