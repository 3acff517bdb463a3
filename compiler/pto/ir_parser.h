// IrParser: the parser of PTO IR, in pretty and in generic form. parse_ir.cc has the pretty form, parse_generic.cc the
// generic form of modules, functions and statements, and check_types.cc the checks of types that both share. Tested by
// tests/unit/compiler/pto/pto_text_test.cc and tests/error/pto_error_test.cc.
#pragma once

#include "compiler/pto/parser.h"

namespace strew::inline v0::pto {

class IrParser : public Parser {
 public:
  using Parser::Parser;
  Expected<Module> run();

 private:
  Status functions(Module& module);
  Status module_attributes(Module& module, bool is_generic = false);
  Expected<Function> function();
  Status arguments(Function& function);
  Status function_attributes(Function& function);
  Expected<std::string> kernel_kind();
  void choose_l1_opcode(Statement& s);
  /// Parses statements up to `}` or, in a function, up to `return`; does not consume that token.
  Status body(std::vector<Statement>& out, int depth);
  Expected<Statement> statement(int depth);
  Status pretty(const Instruction& row, Statement& s, int depth);
  // parse_generic.cc
  struct Signature;
  Status generic_module(Module& module);
  Expected<Function> generic_function();
  Status generic_function_attributes(Function& function, Signature& signature);
  Status signature_type(Signature& signature);
  Status symbol(std::string& name);
  Status terminator(std::string_view name);
  Status no_values();
  Status generic(Statement& s, int depth);
  Status generic_regions(const Instruction& row, Statement& s, int depth);
  Status region(std::vector<Statement>& into, Statement& s, int depth);
  Status loop_variable(Statement& s);
  Status dictionaries(const Instruction& row, Statement& s, std::vector<int64_t>* segments);
  Status arith_attributes(const Instruction& row, Statement& s);
  Status predicate(const Instruction& row, Statement& s);
  Status split_operands(const Instruction& row, const Names& names, const std::vector<int64_t>& segments, Position at,
                        Statement& s);
  Status generic_types(const Names& names, Statement& s);

  Status constant(Statement& s);
  Status cast(Statement& s);
  Status binary(Statement& s);
  Status view(const Instruction& row, Statement& s);
  Status partition(Statement& s);
  Status alloc(Statement& s);
  Status moves(const Instruction& row, Statement& s);
  /// `attributed`: the row whose attributes stand inside the parentheses; null: there are none.
  Status ins_or_outs(const char* word, size_t count, Statement& s, const Instruction* attributed = nullptr);
  Status compare(const Instruction& row, Statement& s);
  Status compared(Statement& s, const Type& operands);
  Status select(Statement& s);
  Status get(Statement& s);
  Status set(Statement& s);
  Status element(const Instruction& row, Statement& s);
  Status branch(Statement& s, int depth);
  Status flags(const Instruction& row, Statement& s);
  Status loop(Statement& s, int depth);
  Status braced_attributes(const Instruction& row, Statement& s);
  Expected<Names> list(const char* what);

  // check_types.cc: checks of the types of operands and results, for both forms.
  Status check_types(const Statement& s);
  Status check_scalars(const Statement& s);
  Status check_view(const Statement& s);
  Status check_partition(const Statement& s);
  Status check_alloc(const Statement& s);
  Status check_operands(const Statement& s);
  Status check_select(const Statement& s);
  Status check_compared(const Statement& s);
  Status check_kind(const Statement& s, size_t group, TypeKind kind, const char* what);
  Status check_extents(const Statement& s, size_t group);
  const Type& type_of(const std::string& name) const { return known(name).type; }
};

}  // namespace strew::inline v0::pto
