// The real ptoas and our table: they agree on what every statement takes, on both chips, and on generated programs; what ptoas takes and
// the chips' headers do not is data (instructions.cc), not an exception here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"
#include "tests/ptoas/with_ptoas.h"
#include "tests/support/paths.h"
#include "tests/support/pto_program.h"

namespace strew::testing {
namespace {

using pto::Chip;
using pto::Kind;
using test::PtoProgram;
using test::random_seed;
using test::Rng;

class Ptoas : public test::WithPtoas {};

const char* const kElements[] = {"i8", "ui8", "i16", "ui16", "i32", "ui32", "f16", "bf16", "f32"};

std::string module_of(const std::string& chip, const std::string& functions) {
  return "module attributes {pto.target_arch = \"" + chip + "\"} {\n" + functions + "}\n";
}

/// A function that does one statement of `row` on tiles of `element`.
std::string function_of(const pto::Instruction& row, const std::string& element, const std::string& name) {
  const bool line = row.compute == pto::Computation::sequence;
  const std::string tile = std::string("!pto.tile_buf<vec, ") + (line ? "1" : "8") + "x32x" + element + ">";
  std::string body, ins, outs, ins_types, outs_types, attributes;
  for (size_t g = 0; g < row.operands.size(); ++g) {
    const Kind kind = row.operands[g].kind;
    const bool in = g + 1 < row.operands.size();
    const std::string operand = kind == Kind::number ? "%s" : "%t" + std::to_string(g);
    const std::string type = kind == Kind::number                                               ? element
                             : kind == Kind::mask                                               ? "!pto.tile_buf<vec, 8x32xi8>"
                             : kind == Kind::other                                              ? "!pto.tile_buf<vec, 8x32xf32>"
                             : kind == Kind::scratch && row.compute == pto::Computation::select ? "!pto.tile_buf<vec, 8x32xi32>"
                                                                                                : tile;
    if (kind != Kind::number) body += "    " + operand + " = pto.alloc_tile : " + type + "\n";
    (in ? ins : outs) += ((in ? ins : outs).empty() ? "" : ", ") + operand;
    (in ? ins_types : outs_types) += ((in ? ins_types : outs_types).empty() ? "" : ", ") + type;
  }
  for (const pto::AttributeRule& rule : row.attributes)
    attributes += (attributes.empty() ? " {" : ", ") + std::string(rule.name) + " = #pto<" + std::string(rule.family) + " " +
                  std::string(rule.values[0]) + ">";
  if (!attributes.empty()) attributes += "}";
  return "  func.func @" + name + "(%s: " + element + ") attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n" +
         body + "    " + std::string(row.name) + " ins(" + ins + attributes + " : " + ins_types + ") outs(" + outs + " : " +
         outs_types + ")\n    return\n  }\n";
}

TEST_F(Ptoas, TakesOfEveryStatementWhatTheTableSays) {
  Rng rng(random_seed());
  for (const Chip chip : {Chip::a3, Chip::a5}) {
    const std::string arch(pto::name(chip));
    std::string taken;
    std::vector<std::string> refused;
    for (int i = 0; i < static_cast<int>(pto::Opcode::load_tile); ++i) {
      const pto::Instruction& row = pto::info(static_cast<pto::Opcode>(i));
      if (row.form != pto::Form::computes) continue;
      for (const char* name : kElements) {
        const std::optional<pto::Element> element = pto::element_from_name(name);
        ASSERT_TRUE(element);
        const pto::DTypes types = chip == Chip::a3 ? row.legality->ptoas_a3 : row.legality->ptoas_a5;
        if ((types >> static_cast<int>(element->dtype) & 1) == 0)
          refused.push_back(function_of(row, name, "f"));
        else
          taken += function_of(row, name, std::string(row.name.substr(4)) + "_" + name);
      }
    }
    const test::PtoasAnswer all = test::run_ptoas(tool, module_of(arch, taken), arch);
    EXPECT_TRUE(all.accepted) << arch << "\n" << all.errors;
    for (int i = 0; i < 10; ++i) {  // a process each
      const std::string& one = refused[static_cast<size_t>(rng.below(static_cast<int64_t>(refused.size())))];
      EXPECT_FALSE(test::run_ptoas(tool, module_of(arch, one), arch).accepted) << arch << "\n" << one;
    }
  }
}

TEST_F(Ptoas, TakesGeneratedProgramsThatWeTake) {
  const uint64_t seed = random_seed();
  int together = 0;
  std::map<std::string, std::string> functions;  // per chip
  std::map<std::string, std::vector<std::string>> modes;
  for (uint64_t i = 0; i < 60; ++i) {
    Rng rng = Rng::stream(seed, i);
    PtoProgram p = PtoProgram::random(rng);
    if (p.form == 2) p.form = 1;
    if (p.element == "!pto.hif8") continue;  // how ptoas spells it in C++ is its own affair
    const Expected<pto::Module> module = pto::parse(p.text());
    ASSERT_TRUE(module.ok()) << module.status().message();
    const Status legal = pto::verify(*module, {pto::Reader::ptoas, false});
    if (!legal.ok()) {
      const test::PtoasAnswer answer = test::run_ptoas(tool, p.text(), p.chip);
      const bool atomic = std::string(legal.message()).find("scatterAtomicOp") != std::string::npos;
      EXPECT_TRUE(!answer.accepted || (p.chip == "a3" && atomic)) << legal.message() << "\n" << p.text();
      continue;
    }
    pto::Module renamed = *module;
    renamed.functions[0].name = "k" + std::to_string(i);
    const std::string text = pto::print(renamed, p.form == 0 ? pto::TextForm::pretty : pto::TextForm::generic);
    const size_t begin = text.find("  func.func"), end = text.rfind("}\n");
    functions[p.chip] += text.substr(begin, end - begin);
    ++together;
  }
  for (const auto& [chip, text] : functions) {
    const test::PtoasAnswer answer = test::run_ptoas(tool, module_of(chip, text), chip);
    EXPECT_TRUE(answer.accepted) << chip << "\n" << answer.errors;
  }
  EXPECT_GE(together, 20);
}

TEST_F(Ptoas, KeepsTheModesWeAskFor) {
  for (const std::string chip : {"a3", "a5"}) {
    std::string functions;
    std::vector<std::string> wanted;
    int n = 0;
    for (const char* atomic : {"none", "add"}) {
      for (const char* oob : {"undefined", "skip", "clamp", "wrap"}) {
        for (const char* conflict : {"", "last", "default"}) {
          if (*conflict != '\0' && (chip == "a3" || std::string(atomic) == "add")) continue;
          const std::string tile = "!pto.tile_buf<vec, 8x32xf32>", list = "!pto.tile_buf<vec, 1x8xi32>",
                            part = "!pto.partition_tensor_view<64x32xf32>";
          std::string modes = std::string("coalesce = #pto<coalesce row>, scatterAtomicOp = #pto<scatter_atomic_op ") + atomic +
                              ">, scatterOob = #pto<scatter_oob " + oob + ">";
          if (*conflict != '\0') modes += std::string(", scatterConflict = #pto<scatter_conflict ") + conflict + ">";
          const std::string text = module_of(
              chip, "  func.func @m" + std::to_string(n++) +
                        "(%p: !pto.ptr<f32>) attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {\n    %c0 = "
                        "arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    %c32 = arith.constant 32 : index\n    "
                        "%c64 = arith.constant 64 : index\n    %v = pto.make_tensor_view %p, shape = [%c64, %c32], strides = "
                        "[%c32, %c1] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>\n    %t = pto.partition_view %v, "
                        "offsets = [%c0, %c0], sizes = [%c64, %c32] : !pto.tensor_view<?x?xf32> -> " +
                        part + "\n    %s = pto.alloc_tile : " + tile + "\n    %i = pto.alloc_tile : " + list +
                        "\n    pto.mscatter ins(%s, %i : " + tile + ", " + list + ") outs(%t : " + part + ") {" + modes +
                        "}\n    return\n  }\n");
          const Expected<pto::Module> module = pto::parse(text);
          ASSERT_TRUE(module.ok()) << module.status().message();
          const pto::Statement& s = module->functions[0].body.back();
          std::string call = "MSCATTER<";
          for (const pto::AttributeRule& rule : pto::info(s.opcode).attributes)
            if (const std::string_view value = s.attribute(rule.name); !value.empty())
              call += (call.back() == '<' ? "" : ", ") + rule.in_cpp(value);
          for (const std::string last : {", pto::ScatterOOB::Undefined", ", pto::ScatterAtomicOp::None"})
            if (call.ends_with(last)) call.erase(call.size() - last.size());  // the header's defaults are left out at the end
          wanted.push_back(call + ">(");
          const std::string printed = pto::print(*module);
          const size_t begin = printed.find("  func.func"), end = printed.rfind("}\n");
          functions += printed.substr(begin, end - begin);
        }
      }
    }
    const test::PtoasAnswer answer = test::run_ptoas(tool, module_of(chip, functions), chip);
    ASSERT_TRUE(answer.accepted) << answer.errors;
    size_t at = 0;
    for (const std::string& call : wanted) {  // in order, one each
      at = answer.cpp.find("MSCATTER<", at + 1);
      ASSERT_NE(at, std::string::npos) << call;
      EXPECT_EQ(answer.cpp.substr(at, call.size()), call) << chip;
    }
  }
}

TEST_F(Ptoas, TakesTheFiles) {
  const std::filesystem::path folder = test::source_folder() / "tests/data/pto";
  for (const char* file : {"arithmetic.pto", "two_kernels.pto", "row_scatter_add_generic.pto"}) {
    std::stringstream text;
    text << std::ifstream(folder / file).rdbuf();
    const Expected<pto::Module> module = pto::parse(text.str());
    ASSERT_TRUE(module.ok()) << file;
    for (const pto::TextForm form : {pto::TextForm::pretty, pto::TextForm::generic}) {
      const test::PtoasAnswer answer = test::run_ptoas(tool, pto::print(*module, form), "a5");
      EXPECT_TRUE(answer.accepted) << file << "\n" << answer.errors;
    }
  }
}

}  // namespace
}  // namespace strew::testing
