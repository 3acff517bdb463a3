// The text of `.pto` files: every form parses to the same tree, and every tree prints as text that parses back to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "compiler/pto/instructions.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"
#include "tests/support/paths.h"
#include "tests/support/pto_whole.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
const fs::path kFolder = test::source_folder() / "tests/data/pto";

std::string read(const std::string& name) {
  std::ifstream in(kFolder / name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

pto::Module parsed(const std::string& text) {
  Expected<pto::Module> out = pto::parse(text);
  EXPECT_TRUE(out.ok()) << out.status().message() << "\nin\n" << text;
  return out.ok() ? std::move(*out) : pto::Module();
}

/// One function whose only line of interest is `line`.
std::string function_with(const std::string& line) {
  return "module attributes {pto.target_arch = \"a3\"} {\n  func.func @f(%p: !pto.ptr<f32>, %q: !pto.ptr<i32>, %n: i32) {\n"
         "    %c8 = arith.constant 8 : index\n    %c32 = arith.constant 32 : index\n    " +
         line + "\n    return\n  }\n}\n";
}

TEST(PtoText, EveryFileReadsBack) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".pto") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const pto::Module module = parsed(read(entry.path().filename()));
    for (const pto::TextForm form : {pto::TextForm::pretty, pto::TextForm::generic}) {
      const std::string text = pto::print(module, form);
      const pto::Module again = parsed(text);
      EXPECT_EQ(again, module) << text;
      EXPECT_EQ(pto::print(again, form), text);
    }
  }
  EXPECT_GE(files, 9);
}

TEST(PtoText, PrettyAndGenericAreOneTree) {
  EXPECT_EQ(parsed(read("row_scatter_add_generic.pto")), parsed(read("row_scatter_add.pto")));
}

/// Generic form as MLIR before 17 printed it: attributes behind the regions, without `<` and `>`.
std::string old_form(std::string text) {
  const std::string head = "\"func.func\"() <{";
  for (size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    const size_t begin = at + head.size(), end = text.find("}>", begin);
    const std::string attributes = text.substr(begin, end - begin);
    text.erase(begin - 3, end - begin + 5);  // " <{", "}>"
    const size_t back = text.find("\n  }) {", at);
    text.insert(back + 7, attributes + ", ");
    at = back;
  }
  for (const auto& [from, to] : {std::pair{"<{", "{"}, std::pair{"}>", "}"}})
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, 2, to);
  return text;
}

TEST(PtoText, WhollyGenericModulesAreTheSameTree) {
  int files = 0;
  for (const fs::path& folder : {kFolder, test::source_folder() / "tests/golden/programs"}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".pto") continue;
      SCOPED_TRACE(entry.path().filename().string());
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const pto::Module module = parsed(text.str());
      if (module.spelling == pto::Spelling::as) continue;
      ++files;
      const std::string whole = test::whole_text(module);
      EXPECT_EQ(whole.find("arith.constant "), std::string::npos) << whole;
      EXPECT_EQ(parsed(whole), module) << whole;
      EXPECT_EQ(parsed(old_form(whole)), module) << old_form(whole);
    }
  }
  EXPECT_GE(files, 30);
}

/// Text in which every statement of PTO IR stands: three files, and a function of arithmetic on integers.
std::vector<std::string> texts_with_every_statement() {
  std::string body =
      "%l = arith.extsi %n : i32 to i64\n%u = arith.extui %n : i32 to i64\n%s = arith.trunci %l : i64 to i32\n"
      "%d = arith.bitcast %n : i32 to f32\n%e = arith.index_cast %n : i32 to index\n"
      "%k = arith.index_castui %n : i32 to index\n%b = arith.cmpi eq, %c8, %c32 : index\n"
      "%t = arith.select %b, %c8, %c32 : index\npto.section.vector {\n}\nscf.for %i = %c8 to %c32 step %c8 {\n}\n"
      "scf.if %b {\n}\n";
  for (int i = static_cast<int>(pto::Opcode::addi); i <= static_cast<int>(pto::Opcode::shrui); ++i)
    body += "%r" + std::to_string(i) + " = " + std::string(pto::name(static_cast<pto::Opcode>(i))) + " %c8, %c32 : index\n";
  return {function_with(body), read("arithmetic.pto"), read("two_kernels.pto"), read("row_scatter_add_level3.pto")};
}

// Each row of the instruction table has a statement that is read, and with an attribute that it does not have one that is refused, with its
// line and its name.
TEST(PtoText, EveryStatementIsReadAndRefused) {
  std::set<std::string> seen;
  for (const std::string& pretty : texts_with_every_statement()) {
    const std::string text = test::whole_text(parsed(pretty));
    EXPECT_EQ(parsed(text), parsed(pretty));
    int line = 0;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      ++line;
      const size_t quote = text.find('"', at);
      if (quote >= end) continue;
      const std::string name = text.substr(quote + 1, text.find('"', quote + 1) - quote - 1);
      if (pto::find_instruction(name) == nullptr || !seen.insert(name).second) continue;
      std::string broken = text;
      const size_t properties = text.find("<{", quote), operands = text.find(')', quote);
      if (properties < end)
        broken.insert(properties + 2, "nonsense = 1 : i64, ");
      else
        broken.insert(operands + 1, " <{nonsense = 1 : i64}>");
      const Expected<pto::Module> out = pto::parse(broken);
      ASSERT_FALSE(out.ok()) << name;
      EXPECT_THAT(out.status().message(), ::testing::StartsWith(std::to_string(line) + ":"));
      EXPECT_THAT(out.status().message(), HasSubstr(name + ": "));
      EXPECT_THAT(out.status().message(), HasSubstr("nonsense"));
    }
  }
  for (int i = 0; i < static_cast<int>(pto::Opcode::load_tile); ++i) {
    const std::string name(pto::name(static_cast<pto::Opcode>(i)));
    EXPECT_TRUE(seen.contains(name)) << name << " has no example here";
  }
}

/// Gives values the names v0, v1, ... in the order of their definitions.
class Renamer {
 public:
  pto::Module run(pto::Module module) {
    for (pto::Function& f : module.functions) {
      names_.clear();
      for (pto::Argument& a : f.arguments) define(a.name);
      rename(f.body);
    }
    return module;
  }

 private:
  void define(std::string& name) { name = names_[name] = "v" + std::to_string(names_.size()); }
  void rename(std::vector<pto::Statement>& statements) {
    for (pto::Statement& s : statements) {
      for (std::vector<std::string>& group : s.operands)
        for (std::string& operand : group) operand = names_.at(operand);
      if (!s.result.empty()) define(s.result);
      rename(s.body);
      rename(s.otherwise);
    }
  }
  std::map<std::string, std::string> names_;
};

// whole_*.pto are what mlir-opt 22 --allow-unregistered-dialect --mlir-print-op-generic made of other files.
TEST(PtoText, WhatMlirOptPrintsIsTheSameTree) {
  EXPECT_EQ(Renamer().run(parsed(read("whole_row_scatter_add.pto"))), Renamer().run(parsed(read("row_scatter_add.pto"))));
  EXPECT_EQ(Renamer().run(parsed(read("whole_arithmetic.pto"))), Renamer().run(parsed(read("arithmetic.pto"))));
}

TEST(PtoText, StatementsInGenericForm) {
  const auto same = [](const std::string& a, const std::string& b) {
    EXPECT_EQ(parsed(function_with(a)), parsed(function_with(b))) << a;
  };
  same("%a = \"arith.constant\"() {value = -3 : i32} : () -> i32", "%a = arith.constant -3 : i32");
  same("%a = \"arith.addi\"(%c8, %c32) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index",
       "%a = arith.addi %c8, %c32 : index");
  const char* predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
  for (int i = 0; i < 10; ++i)
    same("%a = \"arith.cmpi\"(%c8, %c32) <{predicate = " + std::to_string(i) + " : i64}> : (index, index) -> i1",
         "%a = arith.cmpi " + std::string(predicates[i]) + ", %c8, %c32 : index");
  same("\"scf.for\"(%n, %n, %n) ({\n ^bb0(%i: i32):\n \"scf.yield\"() : () -> ()\n }) : (i32, i32, i32) -> ()",
       "scf.for %i = %n to %n step %n : i32 {\n }");
  const std::string condition = "%b = arith.cmpi eq, %c8, %c32 : index\n";
  const std::string yield = "\"scf.yield\"() : () -> ()\n", x = "%x = arith.constant 1 : i64\n";
  same(condition + "\"scf.if\"(%b) ({\n" + x + yield + "}, {\n}) : (i1) -> ()", condition + "scf.if %b {\n" + x + "}");
  same(condition + "\"scf.if\"(%b) ({\n" + yield + "}, {\n" + x + yield + "}) : (i1) -> ()",
       condition + "scf.if %b {\n} else {\n" + x + "}");
  // A name that the module has, a visibility that the function has, and attributes in both places.
  EXPECT_EQ(parsed("\"builtin.module\"() <{sym_name = \"m\"}> ({\n\"func.func\"() <{function_type = () -> (), sym_name = \"f\", "
                   "sym_visibility = \"private\"}> ({\n\"func.return\"() : () -> ()\n}) {pto.entry} : () -> ()\n}) "
                   "{pto.target_arch = \"a3\"} : () -> ()\n"),
            parsed("module attributes {pto.target_arch = \"a3\"} {\nfunc.func @f() attributes {pto.entry} {\nreturn\n}\n}\n"));
  EXPECT_EQ(
      parsed("\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n\"func.return\"() : () -> ()\n}) : () -> ()"),
      parsed("func.func @f() {\nreturn\n}\n"));
}

/// Opcodes of statements, nested ones too.
void collect(const std::vector<pto::Statement>& statements, std::set<pto::Opcode>& into) {
  for (const pto::Statement& s : statements) {
    into.insert(s.opcode);
    collect(s.body, into);
    collect(s.otherwise, into);
  }
}

TEST(PtoText, FilesHaveEveryStatement) {
  std::set<pto::Opcode> seen;
  for (const char* file : {"arithmetic.pto", "two_kernels.pto", "row_scatter_add_level3.pto"})
    for (const pto::Function& f : parsed(read(file)).functions) collect(f.body, seen);
  for (int i = static_cast<int>(pto::Opcode::get_block_idx); i < static_cast<int>(pto::Opcode::load_tile); ++i) {
    const auto opcode = static_cast<pto::Opcode>(i);
    if (opcode == pto::Opcode::section_vector) continue;
    EXPECT_TRUE(seen.contains(opcode)) << pto::name(opcode);
  }
  EXPECT_TRUE(pto::verify(parsed(read("arithmetic.pto")), {pto::Reader::ptoas, true}).ok());
}

TEST(PtoText, NumbersKeepTheirBits) {
  for (const char* text :
       {"1.0", "-0.0", "1.0000001e+00", "1.401298464324817e-45", "3.402823466e+38", "-7.25e-01", "0x7F800000", "0xFFC00001"}) {
    const pto::Module first = parsed(function_with("%a = arith.constant " + std::string(text) + " : f32"));
    EXPECT_EQ(parsed(pto::print(first)), first) << text;
  }
  const pto::Module nan = parsed(function_with("%a = arith.constant 0xFFC00001 : f32"));
  EXPECT_EQ(nan.functions[0].body.at(2).value, 0xFFC00001);
  EXPECT_THAT(pto::print(nan), HasSubstr("0xFFC00001 : f32"));
}

TEST(PtoText, FormsDiffer) {
  const pto::Module module = parsed(read("row_scatter_add.pto"));
  EXPECT_THAT(pto::print(module), HasSubstr("pto.mscatter ins(%st, %it : "));
  EXPECT_THAT(pto::print(module, pto::TextForm::generic), HasSubstr("\"pto.mscatter\"(%st, %it, %tp) <{coalesce"));
}

TEST(PtoText, StatementsAreWritten) {
  for (const char* line : {
           "%a = arith.constant -3 : i32",
           "%a = arith.index_cast %n : i32 to index",
           "%a = arith.extsi %n : i32 to i64",
           "%a = arith.ceildivsi %c8, %c32 : index",
           "%a = pto.get_block_num",
           "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>",
           "%a = pto.alloc_tile valid_row = %c8 valid_col = %c32 : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=32, v_row=?, "
           "v_col=?, blayout=row_major, slayout=none_box, fractal=512, pad=0>",
           "%a = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=i32, rows=8, cols=1, v_row=8, v_col=1, blayout=col_major, "
           "slayout=none_box, fractal=512, pad=0>",
           "%a = pto.make_tensor_view %p, shape = [%c8, %c32], strides = [%c32, %c8] {layout = #pto.layout<nd>} : "
           "!pto.tensor_view<?x?xf32>",
           "pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]",
           "pto.barrier <PIPE_ALL>",
           "scf.for %i = %n to %n step %n : i32 {\n    }",
           "pto.section.vector {\n    }",
       }) {
    EXPECT_THAT(pto::print(parsed(function_with(line))), HasSubstr(line));
  }
}

TEST(PtoText, OtherSpellingsAreRead) {
  const auto same = [](const std::string& a, const std::string& b) {
    EXPECT_EQ(parsed(function_with(a)), parsed(function_with(b))) << a;
  };
  const std::string tile = "%a = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32>";
  same("%a = pto.alloc_tile : !pto.tile_buf<vec, 8x32xf32, valid=8x32>", tile);
  same("%a = pto.alloc_tile : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=32, v_row=8, v_col=32>", tile);
  same("%a = pto.alloc_tile valid_row = %c8 : !pto.tile_buf<vec, 8x32xf32, valid=?x32>",
       "%a = pto.alloc_tile valid_row = %c8 : !pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=32, v_row=?, v_col=32>");
  same("pto.barrier #pto.pipe<PIPE_V>", "pto.barrier <PIPE_V>");
  same(
      "\"pto.set_flag\"() <{event_id = #pto.event<EVENT_ID1>, src_pipe = #pto.pipe<PIPE_V>, dst_pipe = #pto.pipe<PIPE_S>}> : () "
      "-> ()",
      "pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID1>]");
  same("\"pto.section.vector\"() ({\n %x = arith.constant 1 : i64\n }) : () -> ()",
       "pto.section.vector {\n %x = arith.constant 1 : i64 // a comment\n }");
  const std::string view =
      "%v = pto.make_tensor_view %p, shape = [%c8, %c32], strides = [%c32, %c8] : !pto.tensor_view<?x?xf32>\n";
  same(view + "%a = pto.partition_view %v, offsets = [%c8, %c8], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32>",
       view +
           "%a = pto.partition_view %v, offsets = [%c8, %c8], sizes = [%c8, %c32] : !pto.tensor_view<?x?xf32> -> "
           "!pto.partition_tensor_view<8x32xf32>");
}

TEST(PtoText, PtoAsWritesItsOwnOrder) {
  const std::string head = ".arg %table : !pto.memref<64x32xf16>\n.arg %t : !pto.tile<8x32xf16>\n.arg %i : !pto.tile<1x8xi32>\n";
  for (const char* line : {
           "mscatter.row %table, %t, %i : (!pto.memref<64x32xf16>, !pto.tile<8x32xf16>, !pto.tile<1x8xi32>)",
           "mscatter.row.clamp.atomic_add %table, %t, %i : (!pto.memref<64x32xf16>, !pto.tile<8x32xf16>, !pto.tile<1x8xi32>)",
           "mscatter.elem.atomic_max %table, %t, %i : (!pto.memref<64x32xf16>, !pto.tile<8x32xf16>, !pto.tile<1x8xi32>)",
           "mgather.row.zero %t, %table, %i : (!pto.tile<8x32xf16>, !pto.memref<64x32xf16>, !pto.tile<1x8xi32>)",
           "%g = mgather.row.wrap %table, %i : (!pto.memref<64x32xf16>, !pto.tile<1x8xi32>) -> !pto.tile<8x32xf16>",
           "tstore %t, %table[0, 0] : (!pto.tile<8x32xf16>, !pto.memref<64x32xf16>, index, index)",
       }) {
    EXPECT_EQ(pto::print(parsed(head + line + "\n")), head + line + "\n");
  }
  const pto::Module module = parsed(head + "mscatter.row.wrap.add %table, %t, %i;");
  const pto::Statement& s = module.functions[0].body.at(0);
  EXPECT_EQ(s.attribute("scatterAtomicOp"), "add");
  EXPECT_EQ(s.attribute("scatterOob"), "wrap");
  EXPECT_EQ(s.operands[0][0], "t") << "the tree's order is source, indices, table";
  EXPECT_EQ(s.operands[2][0], "table");
}

TEST(PtoText, EveryElementTypeHasAName) {
  for (const char* name :
       {"i8", "ui8", "si8", "i16", "ui16", "i32", "ui32", "si32", "f16", "bf16", "f32", "f8E4M3FN", "f8E5M2", "!pto.hif8"}) {
    const std::optional<pto::Element> element = pto::element_from_name(name);
    ASSERT_TRUE(element) << name;
    EXPECT_EQ(pto::print(*element), name);
    const std::string text = function_with("%a = pto.alloc_tile : !pto.tile_buf<vec, 8x32x" + std::string(name) + ">");
    EXPECT_EQ(parsed(text).functions[0].body[2].type.element, *element);
  }
}

TEST(PtoText, TheDocumentationNamesEverything) {
  std::stringstream text;
  text << std::ifstream(test::source_folder() / "docs/sources.md").rdbuf();
  const std::string all = text.str(), section = all.substr(all.find("## PTO"));
  // The names in the first column of the table of instructions are those of the instructions.
  std::set<std::string> documented, known;
  std::istringstream lines(section.substr(section.find("| instruction |")));
  for (std::string line; std::getline(lines, line) && !line.empty();) {
    line = line.substr(0, line.find(" | "));
    for (size_t begin; (begin = line.find('`')) != std::string::npos; line.erase(0, line.find('`') + 1)) {
      line.erase(0, begin + 1);
      const std::string name = line.substr(0, line.find('`'));
      if (name.starts_with("pto.") || name.starts_with("scf.") || name.starts_with("arith.")) documented.insert(name);
    }
  }
  std::string list;
  for (int i = 0; i < static_cast<int>(pto::Opcode::load_tile); ++i) {
    const std::string name(pto::name(static_cast<pto::Opcode>(i)));
    known.insert(name);
    list += (list.empty() ? "`" : ", `") + name + "`";
  }
  EXPECT_EQ(documented, known) << "the list is " << list;
  for (int i = 0; i <= static_cast<int>(pto::Opcode::gather_tile); ++i) {
    const pto::Instruction& row = pto::info(static_cast<pto::Opcode>(i));
    EXPECT_THAT(section, HasSubstr("`" + std::string(row.name))) << row.name;
  }
  for (const pto::Opcode opcode : {pto::Opcode::mscatter, pto::Opcode::mgather}) {
    for (const pto::AttributeRule& rule : pto::info(opcode).attributes) {
      std::string values;
      for (const std::string_view value : rule.values) values += (values.empty() ? "" : ", ") + std::string(value);
      EXPECT_THAT(section, HasSubstr("| `" + std::string(rule.name) + "` |"));
      EXPECT_THAT(section, HasSubstr("| " + values)) << rule.name;
    }
  }
}

TEST(PtoText, PositionsDoNotMatter) {
  const std::string text = read("elem_scatter.pto");
  EXPECT_EQ(parsed("\n\n   " + text), parsed(text));
  EXPECT_EQ(parsed(text).functions[0].body[0].at.line, 5);
  EXPECT_EQ(parsed(text).functions[0].body[0].at.column, 11);
}

// What MLIR prints besides, with --mlir-print-debuginfo: aliases, locations, and definitions of both.
TEST(PtoText, AliasesAndLocations) {
  const std::string text = read("elem_scatter.pto");
  std::string dressed =
      "#loc1 = loc(\"k.py\":1:2) // a comment\n!index = i32\n!buffer = !pto.ptr<!index>\n#loc = loc(fused[#loc1, \"(\"])\n" +
      text + "#loc9 = loc(callsite(\"f\" at #loc1))\n";
  const auto replace = [&](const std::string& from, const std::string& to) {
    ASSERT_NE(dressed.find(from), std::string::npos) << from;
    for (size_t at = 0; (at = dressed.find(from, at)) != std::string::npos; at += to.size()) dressed.replace(at, from.size(), to);
  };
  replace("!pto.ptr<i32>", "!buffer");
  replace("return\n", "return loc(#loc)\n");
  EXPECT_EQ(parsed(dressed), parsed(text));
  // Columns are those of the file.
  const pto::Position plain = parsed(text).functions[0].arguments.back().at,
                      at = parsed(dressed).functions[0].arguments.back().at;
  EXPECT_EQ(at.line, plain.line + 4);
  EXPECT_EQ(dressed.substr(0, dressed.find("%" + parsed(text).functions[0].arguments.back().name)).rfind('\n') + at.column,
            dressed.find("%" + parsed(text).functions[0].arguments.back().name));
}

TEST(PtoText, AliasesAreBounded) {
  const auto message = [](const std::string& text) { return pto::parse(text).status().message(); };
  EXPECT_THAT(message("!a = i32\n!a = i64\n" + function_with("")), HasSubstr("2:1: alias !a is defined twice"));
  EXPECT_THAT(message("!a = i32\n"), HasSubstr("func.func"));
  EXPECT_THAT(message("!a = !a\n" + function_with("%x = arith.constant 1 : !a")), HasSubstr("bytes, expected at most that"));
  std::string bomb = "#a0 = pto.barrier <PIPE_ALL>\n";
  for (int i = 1; i < 30; ++i)
    bomb += "#a" + std::to_string(i) + " = #a" + std::to_string(i - 1) + " #a" + std::to_string(i - 1) + "\n";
  EXPECT_EQ(message(bomb + function_with("#a3")), "");
  EXPECT_THAT(message(bomb + function_with("#a29")),
              HasSubstr("the aliases stand for more than 1048576 bytes, expected at most that"));
  std::string line = "#a = ", uses;
  for (int i = 0; i < 2500; ++i) line += "pto.barrier <PIPE_ALL> ";
  for (int i = 0; i < 40; ++i) uses += "#a\n";
  EXPECT_THAT(message(line + "\n" + function_with(uses)), HasSubstr("the aliases stand for more than 1048576 bytes"));
  EXPECT_THAT(message("!a = \"unclosed"), HasSubstr("func.func"));
  EXPECT_NE(message("module {\nloc("), "");
}

}  // namespace
}  // namespace strew::testing
