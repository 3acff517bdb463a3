// Random mscatter and mgather programs: imported, run on the reference and compiled, and compared bit for bit with the simulator, which
// knows nothing of ops (backends/pto/simulate).
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "backends/pto/simulate/simulate.h"
#include "compiler/import/fusion/fusion.h"
#include "compiler/import/pto/import.h"
#include "compiler/pto/parse.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/options.h"
#include "tests/support/pto_program.h"
#include "tests/support/pto_whole.h"

namespace strew::testing {
namespace {

using test::PtoData;
using test::PtoProgram;
using test::Rng;

std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims, const std::vector<uint32_t>& elements) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(dtype, std::move(dims)).value()));
  const auto bytes = static_cast<size_t>(bits(dtype) / 8);
  for (size_t i = 0; i < elements.size(); ++i) std::memcpy(out->data.data() + i * bytes, &elements[i], bytes);
  return out;
}

std::vector<uint32_t> elements_of(const Tensor& t) {
  const auto bytes = static_cast<size_t>(bits(t.dtype) / 8);
  std::vector<uint32_t> out(static_cast<size_t>(t.elements()), 0);
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], t.data.data() + i * bytes, bytes);
  return out;
}

/// Runs an imported program on `data` and leaves there what it writes.
void run(const Program& imported, const PtoProgram& p, const std::string& backend, PtoData& data) {
  std::vector<std::unique_ptr<Tensor>> inputs;
  for (const ProgramInput& input : imported.inputs()) {
    if (input.name == "table") {
      inputs.push_back(tensor(p.dtype, {p.table_rows, p.width()}, data.table));
    } else if (input.name == "data") {
      inputs.push_back(tensor(p.dtype, {p.count, p.width()}, data.data));
    } else if (input.name == "idx") {
      const std::vector<uint32_t> indices(data.indices.begin(), data.indices.end());
      const std::vector<int64_t> dims = p.by_row ? std::vector<int64_t>{p.count} : std::vector<int64_t>{p.count, p.width()};
      inputs.push_back(tensor(input.type.dtype, dims, indices));
    } else {
      ASSERT_EQ(input.name, "n");
      if (p.count % 2 == 0) {
        inputs.push_back(nullptr);  // it follows from the shapes
      } else {
        inputs.push_back(tensor(DType::i32, {}, {static_cast<uint32_t>(p.count)}));
      }
    }
  }
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = test::backend(backend);
  Expected<std::vector<Tensor>> out = run_program(runtime, imported, std::move(inputs), options);
  ASSERT_TRUE(out.ok()) << out.status().message();
  ASSERT_EQ(out->size(), 1u);
  ASSERT_EQ(imported.outputs()[0].name, p.scatters ? "table" : "data");
  (p.scatters ? data.table : data.data) = elements_of((*out)[0]);
}

std::vector<std::byte> bytes_of(DType dtype, const std::vector<uint32_t>& elements) {
  const auto width = static_cast<size_t>(bits(dtype) / 8);
  std::vector<std::byte> out(elements.size() * width);
  for (size_t i = 0; i < elements.size(); ++i) std::memcpy(out.data() + i * width, &elements[i], width);
  return out;
}

/// Runs the program itself, as one core that takes tile after tile, or as a core for each.
Status simulate(const pto::Module& module, const PtoProgram& p, PtoData& data) {
  std::map<std::string, std::vector<std::byte>> memories;
  memories["table"] = bytes_of(p.dtype, data.table);
  memories["data"] = bytes_of(p.dtype, data.data);
  memories["idx"] = bytes_of(DType::i32, std::vector<uint32_t>(data.indices.begin(), data.indices.end()));
  std::vector<pto::SimulatedArgument> arguments;
  for (const pto::Argument& a : module.functions[0].arguments) {
    const auto memory = memories.find(a.name);
    arguments.push_back(memory == memories.end() ? pto::SimulatedArgument{{}, p.count}
                                                 : pto::SimulatedArgument{memory->second, 0});
  }
  pto::SimulateOptions options;
  options.check_sync = false;  // these programs leave it to ptoas
  options.blocks = p.loop == test::PtoLoop::tile_each ? static_cast<int>((p.count + p.rows - 1) / p.rows) : 1;
  STREW_TRY(pto::simulate(module, "", arguments, options).status());
  const auto back = [&](const std::string& name, std::vector<uint32_t>& elements) {
    const auto width = static_cast<size_t>(bits(p.dtype) / 8);
    for (size_t i = 0; i < elements.size(); ++i) std::memcpy(&elements[i], memories[name].data() + i * width, width);
  };
  back("table", data.table);
  back("data", data.data);
  return {};
}

void check(const PtoProgram& p, uint64_t seed, const std::vector<std::string>& backends) {
  const std::string text = p.text();
  SCOPED_TRACE(text);
  Expected<Program> imported = pto::import_program(text, "k.pto", {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  ASSERT_TRUE(seed % 2 != 0 || fusion::fuse_program(*imported, {}).ok());  // as import_file does
  const Expected<pto::Module> module = pto::parse(text);
  for (const std::string& form : test::every_text(*module)) {
    const Expected<pto::Module> again = pto::parse(form);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(*again, *module);
  }
  Rng rng(seed);
  const PtoData before = make_data(p, rng);
  PtoData expected = before;
  const Status simulated = simulate(*module, p, expected);
  ASSERT_TRUE(simulated.ok()) << simulated.message();
  for (const std::string& backend : backends) {
    SCOPED_TRACE(backend);
    PtoData got = before;
    run(*imported, p, backend, got);
    EXPECT_EQ(got.table, expected.table);
    EXPECT_EQ(got.data, expected.data);
  }
}

TEST(PtoSimulated, RandomProgramsOnTheReference) {
  std::map<std::string, int> seen;
  for (uint64_t i = 0; i < 1200; ++i) {
    Rng rng = Rng::stream(7, i);
    const PtoProgram p = PtoProgram::random(rng);
    check(p, i, {"reference"});
    for (const std::string& what :
         {p.atomic + "/" + p.oob + (p.scatters ? "/scatter" : "/gather"), "loop " + std::to_string(static_cast<int>(p.loop)),
          "form " + std::to_string(p.form), p.element, std::string(p.by_row ? "row" : "elem")})
      ++seen[what];
    if (::testing::Test::HasFailure()) FAIL() << "program " << i;
  }
  EXPECT_GE(seen.size(), 16u + 4u + 6u + 3u + 13u + 2u) << "some mode, loop, form or element type never came";
}

TEST(PtoSimulated, RandomProgramsCompiled) {
  for (uint64_t i = 0; i < 200; ++i) {
    Rng rng = Rng::stream(8, i);
    check(PtoProgram::random(rng), i, {"llvm"});
    if (::testing::Test::HasFailure()) FAIL() << "program " << i;
  }
}

TEST(PtoSimulated, ThePublishedCases) {
  // Parameters of the chips' own tests: rows x columns into a table, mode, atomic, out of bounds.
  struct Row {
    const char *element, *atomic, *oob;
    DType dtype;
    bool by_row;
    int64_t rows, cols, table;
  };
  const Row rows[] = {
      {"f32", "none", "undefined", DType::f32, true, 8, 32, 64}, {"f16", "none", "undefined", DType::f16, true, 16, 64, 64},
      {"i32", "none", "undefined", DType::i32, true, 8, 16, 32}, {"ui8", "none", "undefined", DType::u8, true, 8, 32, 32},
      {"i16", "none", "undefined", DType::i16, true, 8, 32, 32}, {"f32", "add", "undefined", DType::f32, true, 8, 32, 8},
      {"f32", "none", "skip", DType::f32, true, 8, 32, 8},       {"i32", "none", "clamp", DType::i32, true, 8, 16, 8},
      {"f16", "none", "wrap", DType::f16, true, 8, 32, 8},       {"f32", "none", "undefined", DType::f32, false, 8, 32, 8},
      {"i32", "add", "skip", DType::i32, false, 8, 16, 4},       {"i32", "max", "undefined", DType::i32, false, 8, 16, 4},
      {"f32", "min", "undefined", DType::f32, false, 8, 32, 4},  {"ui8", "none", "wrap", DType::u8, false, 8, 32, 2},
      {"i32", "max", "skip", DType::i32, true, 8, 16, 4},        {"f32", "min", "wrap", DType::f32, true, 8, 32, 5},
  };
  for (const Row& row : rows) {
    PtoProgram p;
    p.element = row.element;
    p.atomic = row.atomic;
    p.oob = row.oob;
    p.dtype = row.dtype;
    p.by_row = row.by_row;
    p.rows = row.rows;
    p.cols = row.cols;
    p.table_rows = row.table;
    p.count = row.rows;
    p.static_count = true;
    p.partial_tiles = false;
    p.loop = test::PtoLoop::none;
    check(p, 1, {"reference", "llvm"});
  }
}

}  // namespace
}  // namespace strew::testing
