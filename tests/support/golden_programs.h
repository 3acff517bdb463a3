// The ops of tests/golden/programs as programs: under which options each is planned. For tests that look at those programs
// (tests/golden/pto_program_test.cc compares their texts) and for the fuzz targets' seeds.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/program.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/golden.h"
#include "tests/support/plan.h"

namespace strew::test {

/// The first word of an op's name tells its options. column_*: index tiles are columns on a5. l1_*: the C++ gathers into L1. ring_*: negative
/// indices are errors.
inline pto::ProgramOptions golden_options(const std::string& name, pto::Chip chip, pto::Output output = pto::Output::pto_ir) {
  pto::ProgramOptions out;
  out.kernel = name;
  out.output = output;
  out.index_column = chip == pto::Chip::a5 && name.starts_with("column_");
  out.non_negative = name.starts_with("ring_");
  if (name.starts_with("launched_")) out.launches = 2;
  out.through_l1 = output == pto::Output::pto_cpp && name.starts_with("l1_");
  if (name == "onnx_scatter_nd") out.tile_rows = 64, out.buffers = 1;  // docs/npu.md tells of every line
  return out;
}

/// Are the op's programs run against the reference? Some ops copy or move more than there is time for, and sums in any order over floats that
/// have more updates than places have no one result.
inline bool is_golden_run(const std::string& name) {
  for (const char* too_much : {"row_copy_wide", "kv", "batched"})
    if (name == too_much) return false;
  return name != "elem_add_f16_2d" && name != "elem_add_f32_2d";
}

/// The program of `folder`/`name`.op.
inline Expected<pto::TileProgram> golden_program(const std::filesystem::path& folder, const std::string& name, pto::Chip chip,
                                                 const pto::ProgramOptions& options) {
  STREW_ASSIGN(Op op, parse_op(read_text(folder / (name + ".op"))));
  STREW_ASSIGN(const VerifiedOp verified, VerifiedOp::of(std::move(op)));
  STREW_ASSIGN(const Plan plan, canonical_plan(verified));
  return pto::plan_program(tensor_slots(verified), plan, chip, options);
}

/// All programs of a chip that are not refused as PTO IR, in the order of their names: what one file would have.
inline std::vector<pto::TileProgram> golden_programs(const std::filesystem::path& folder, pto::Chip chip) {
  std::vector<pto::TileProgram> out;
  for (const std::string& name : stems(folder, ".op")) {
    Expected<pto::TileProgram> program = golden_program(folder, name, chip, golden_options(name, chip));
    if (program.ok()) out.push_back(std::move(*program));
  }
  return out;
}

}  // namespace strew::test
