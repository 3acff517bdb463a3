// Flags between pipes: written where something has to be waited for and nowhere else, around loops for what turns leave to each other.
#include <gtest/gtest.h>

#include "backends/pto/passes.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/print.h"

namespace strew::inline v0::pto {
namespace {

constexpr const char* kHead =
    "module attributes {pto.target_arch = \"a5\"} {\n  func.func @k(%from: !pto.ptr<f32>, %to: !pto.ptr<f32>, %n: i32) {\n"
    "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n    %c8 = arith.constant 8 : index\n"
    "    %rows = arith.index_cast %n : i32 to index\n"
    "    %fv = pto.make_tensor_view %from, shape = [%rows, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>\n"
    "    %tv = pto.make_tensor_view %to, shape = [%rows, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>\n"
    "    %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>\n";
constexpr const char* kMove =
    "    %fp = pto.partition_view %fv, offsets = [%r, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> "
    "!pto.partition_tensor_view<1x8xf32>\n"
    "    %tp = pto.partition_view %tv, offsets = [%r, %c0], sizes = [%c1, %c8] : !pto.tensor_view<?x?xf32> -> "
    "!pto.partition_tensor_view<1x8xf32>\n"
    "    pto.tload ins(%fp : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)\n"
    "    pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%tp : !pto.partition_tensor_view<1x8xf32>)\n";

/// set_flag, wait_flag and barrier of a program after write_flags, one word each.
std::string flags_of(const std::vector<Statement>& statements) {
  std::string out;
  for (const Statement& s : statements) {
    if (s.opcode == Opcode::set_flag || s.opcode == Opcode::wait_flag)
      out += (s.opcode == Opcode::set_flag ? "set " : "wait ") + std::string(s.attribute("src_pipe")).substr(5) + ">" +
             std::string(s.attribute("dst_pipe")).substr(5) + "; ";
    if (s.opcode == Opcode::barrier) out += "barrier " + std::string(s.attribute("pipe")).substr(5) + "; ";
    if (s.opcode == Opcode::loop) out += "{ " + flags_of(s.body) + "} ";
  }
  return out;
}

std::string written(const std::string& body, const std::set<std::string>& apart = {"to"}) {
  Expected<Module> module = parse(kHead + body + "    return\n  }\n}\n");
  if (!module.ok()) return module.status().message();
  write_flags(module->functions[0], Chip::a5, apart);
  return flags_of(module->functions[0].body);
}

std::string at(const std::string& text, const std::string& row) {
  std::string out = text;
  for (size_t i = out.find("%r,"); i != std::string::npos; i = out.find("%r,")) out.replace(i, 2, row);
  return out;
}

TEST(PtoFlags, ALoadIsWaitedFor) { EXPECT_EQ(written(at(kMove, "%c0")), "set MTE2>MTE3; wait MTE2>MTE3; "); }

TEST(PtoFlags, TurnsWaitForEachOther) {
  const std::string loop = "    scf.for %r = %c0 to %rows step %c1 {\n" + std::string(kMove) + "    }\n";
  EXPECT_EQ(written(loop), "set MTE3>MTE2; { wait MTE3>MTE2; set MTE2>MTE3; wait MTE2>MTE3; set MTE3>MTE2; } wait MTE3>MTE2; ");
}

TEST(PtoFlags, StoresThatMayMeetHaveABarrier) {
  const std::string loop = "    scf.for %r = %c0 to %rows step %c1 {\n" + std::string(kMove) + "    }\n";
  EXPECT_NE(written(loop, {}).find("barrier MTE3"), std::string::npos);
}

TEST(PtoFlags, ABarrierOfAllPipesCoversEverything) {
  EXPECT_EQ(written("    %r = arith.addi %c0, %c0 : index\n"), "");
  EXPECT_EQ(written(at(std::string(kMove).substr(0, std::string(kMove).find("    pto.tstore")), "%c0") +
                    "    pto.barrier <PIPE_ALL>\n" +
                    "    pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%tp : !pto.partition_tensor_view<1x8xf32>)\n"),
            "barrier ALL; ");
}

}  // namespace
}  // namespace strew::inline v0::pto
