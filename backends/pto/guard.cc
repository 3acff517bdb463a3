// guard_arithmetic() works around a defect of ptoas 0.60, which writes wrong C++ for some nested scalar expressions.
//
// The defect: ptoas inlines a value that has one reader into the C++ expression of that reader. If this expression is
// itself in parentheses, ptoas writes none around its operands. So `a + min(b, c)` as the last offset of a view becomes
// `(.. + a + b < c ? b : c)`, and `(x >> y) % z` inside a sum becomes `(x >> y % z)`. Sums, differences, products and
// bitwise operators are safe as operands: ptoas writes them as a cast of the whole expression, `(int64_t) ((uint64_t) b
// + (uint64_t) c)`.
//
// The workaround: if the result of an operator that is not safe (minimum, maximum, selection, comparison, shift,
// division) is an operand at such a place, the operand becomes a sum of that result and 0. The 0 is min(core, 0), which
// ptoas cannot fold away. An operand at such a place is called torn here.
//
// A first walk over the function collects the operator of every value and the values that expressions read; a second
// walk finds the torn operands; a third inserts the sums. The number of readers of a value is ignored: ptoas merges equal
// statements, so two readers may become one.
//
// Tested by tests/ptoas/arithmetic_test.cc with the real ptoas, and by the programs in tests/golden/programs.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "backends/pto/passes.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

/// How ptoas writes a value in C++, by precedence.
enum class Shape : uint8_t {
  whole,  ///< a variable, or a cast of the whole expression: safe as any operand
  tight,  ///< / or %, which bind more tightly than +: safe in the sum of a view's offsets
  loose,  ///< a conditional, a comparison or a shift, which bind less tightly than +: never safe
};

/// Does the C++ of the operator read each operand twice? ptoas makes such operands variables.
bool reads_twice(Opcode opcode) {
  const Computation what = info(opcode).compute;
  return what == Computation::ceil_div || what == Computation::min || what == Computation::max;
}

Shape shape_of(Opcode opcode) {
  const Instruction& row = info(opcode);
  if (row.form == Form::compare || row.form == Form::select) return Shape::loose;
  if (row.form != Form::binary) return Shape::whole;
  if (row.compute == Computation::div || row.compute == Computation::remainder) return Shape::tight;
  const bool shifts = row.compute == Computation::shift_left || row.compute == Computation::shift_right;
  return shifts || reads_twice(opcode) ? Shape::loose : Shape::whole;
}

/// Does ptoas write the statement as a C++ expression, into which it may inline the operands?
bool is_expression(Opcode opcode) {
  const Form form = info(opcode).form;
  return form == Form::cast || form == Form::binary || form == Form::compare || form == Form::select || form == Form::partition;
}

/// Does ptoas cast each operand and the result, as in ((uint64_t) a + (uint64_t) b)?
bool casts_all(Opcode opcode) { return info(opcode).form == Form::binary && shape_of(opcode) == Shape::whole; }

bool is_narrow(const Type& type) { return type.kind == TypeKind::scalar && bits(type.element.dtype) < 64; }

class Guard {
 public:
  explicit Guard(Function& function) : function_(function) {}

  Status run() {
    for (const Argument& a : function_.arguments) names_.add(a.name);
    each(function_.body, [&](Statement& s) { learn(s); });
    each(function_.body, [&](Statement& s) { each_torn(s, [&](std::string& operand) { torn_.insert(operand); }); });
    STREW_TRY(check());
    if (torn_.empty()) return {};
    insert(function_.body);
    make_zeros();
    return {};
  }

 private:
  struct Made {
    Opcode opcode;
    Type type;
  };

  void learn(const Statement& s) {
    if (!s.result.empty()) {
      names_.add(s.result);
      made_[s.result] = {s.opcode, s.type};
    }
    if (!is_expression(s.opcode)) return;
    for (const auto& group : s.operands)
      for (const std::string& operand : group) in_expressions_.insert(operand);
  }

  Shape shape(const std::string& operand) const {
    const auto found = made_.find(operand);
    return found == made_.end() ? Shape::whole : shape_of(found->second.opcode);
  }

  /// Calls `visit` for the torn operands of `s`: those that ptoas may write without the parentheses they need.
  void each_torn(Statement& s, const std::function<void(std::string&)>& visit) {
    if (!is_expression(s.opcode) || reads_twice(s.opcode) || casts_all(s.opcode)) return;
    const bool view = s.opcode == Opcode::partition_view;
    // A cast that no expression reads is the root of an expression, and ptoas writes the operands of a root in
    // parentheses.
    if (info(s.opcode).form == Form::cast && !in_expressions_.contains(s.result)) return;
    for (size_t g = 0; g < s.operands.size(); ++g) {
      if (view && g != 1) continue;  // offsets are summed, sizes are not
      for (std::string& operand : s.operands[g])
        if (shape(operand) == Shape::loose || (shape(operand) == Shape::tight && !view)) visit(operand);
    }
  }

  Status check() {
    std::optional<std::string> wrong;
    for (const std::string& name : torn_)
      if (is_narrow(made_.at(name).type)) wrong = name;
    each(function_.body, [&](Statement& s) {
      if (s.opcode != Opcode::extsi && s.opcode != Opcode::extui && s.opcode != Opcode::index_cast &&
          s.opcode != Opcode::index_castui)
        return;
      const auto found = made_.find(s.operands[0][0]);
      if (found != made_.end() && casts_all(found->second.opcode) && is_narrow(found->second.type)) wrong = found->first;
    });
    if (!wrong) return {};
    return internal_error("%" + *wrong + " is " + print(made_.at(*wrong).type) +
                          " inside of arithmetic, expected i64 or index: ptoas would write it without parentheses");
  }

  /// Inserts the sum right after each torn value, and makes the torn operands read it.
  void insert(std::vector<Statement>& statements) {
    for (size_t i = 0; i < statements.size(); ++i) {
      each_torn(statements[i], [&](std::string& operand) { operand = sums_.at(operand); });
      insert(statements[i].body);
      insert(statements[i].otherwise);
      if (!torn_.contains(statements[i].result)) continue;
      const std::string &torn = statements[i].result, whole = names_.fresh(torn + "_whole");
      Statement sum = make(Opcode::addi, whole, statements[i].type, {{torn}, {zero(statements[i].type)}});
      sums_[torn] = whole;
      statements.insert(statements.begin() + static_cast<ptrdiff_t>(++i), std::move(sum));
    }
  }

  const std::string& zero(const Type& type) {
    std::string& name = zeros_[type.kind == TypeKind::index];
    if (name.empty()) name = names_.fresh(type.kind == TypeKind::index ? "zero" : "zero_i64");
    return name;
  }

  /// Removes the first statement of the function's outermost level for which `is` holds, and returns it, or `otherwise` if there
  /// is none.
  template <class Is>
  Statement take(const Is& is, Statement otherwise) {
    const auto found = std::ranges::find_if(function_.body, is);
    if (found == function_.body.end()) return otherwise;
    otherwise = std::move(*found);
    function_.body.erase(found);
    return otherwise;
  }

  static Statement make(Opcode opcode, std::string result, Type type, std::vector<std::vector<std::string>> operands) {
    return {.opcode = opcode, .result = std::move(result), .type = std::move(type), .operands = std::move(operands)};
  }

  /// Puts the zeros, min(core, 0), before everything that may read them, and with them the core's number, which the
  /// program may read already.
  void make_zeros() {
    std::vector<Statement> head;
    const auto add = [&](Statement s) {
      head.push_back(std::move(s));
      return head.back().result;
    };
    std::string core = add(take([](const Statement& s) { return s.opcode == Opcode::get_block_idx; },
                                make(Opcode::get_block_idx, names_.fresh("core_i64"), make_scalar(DType::i64), {})));
    for (const bool is_index : {false, true}) {
      if (zeros_[is_index].empty()) continue;
      const Type type = is_index ? make_index() : make_scalar(DType::i64);
      if (is_index)
        core = add(take([&](const Statement& s) { return s.opcode == Opcode::index_cast && s.operands[0][0] == core; },
                        make(Opcode::index_cast, names_.fresh("core"), type, {{core}})));
      const auto same = [&](const Statement& s) { return s.opcode == Opcode::constant && s.value == 0 && s.type == type; };
      const auto known = std::ranges::find_if(function_.body, same);
      const bool is_new = known == function_.body.end();
      const std::string constant = is_new ? names_.fresh(is_index ? "c0" : "c0_i64") : known->result;
      if (is_new) function_.body.insert(function_.body.begin(), make(Opcode::constant, constant, type, {}));
      add(make(Opcode::minsi, zeros_[is_index], type, {{core}, {constant}}));
      head.back().note.text = "0, which ptoas does not know: a sum with it stands in parentheses wherever ptoas 0.60 writes it";
    }
    const auto first = std::ranges::find_if(function_.body, [](const Statement& s) { return s.opcode != Opcode::constant; });
    function_.body.insert(first, std::make_move_iterator(head.begin()), std::make_move_iterator(head.end()));
  }

  Function& function_;
  std::map<std::string, Made> made_;
  Names names_;
  std::set<std::string> in_expressions_, torn_;
  std::map<std::string, std::string> sums_;
  std::string zeros_[2];  ///< the names of the zeros: of i64, of index
};

}  // namespace

Status guard_arithmetic(Function& function) { return Guard(function).run(); }

}  // namespace strew::inline v0::pto
