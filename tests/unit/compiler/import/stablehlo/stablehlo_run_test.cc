// Runs the files of tests/data/stablehlo, the batching-dims RFC's two examples among them, on every backend: FILE.json holds the
// inputs and the expected outputs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/number.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tests/support/options.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

const std::filesystem::path kFolder = test::source_folder() / "tests/data/stablehlo";

Tensor tensor_from(const nlohmann::json& json) {
  const DType dtype = dtype_from_name(json.at("dtype").get<std::string>()).value();
  Tensor tensor = make_tensor(dtype, json.at("dims").get<std::vector<int64_t>>()).value();
  int64_t i = 0;
  for (const nlohmann::json& value : json.at("values"))
    store_element(dtype, tensor.data.data(), i++, Scalar{dtype, {encode(dtype, value.get<double>()), 0}});
  return tensor;
}

void run_file(const std::string& stem, const std::string& backend) {
  const Expected<Program> imported = import_file(kFolder / (stem + ".mlir"), {});
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  nlohmann::json data;
  std::ifstream(kFolder / (stem + ".json")) >> data;
  std::vector<std::unique_ptr<Tensor>> inputs;
  for (const nlohmann::json& input : data.at("inputs")) inputs.push_back(std::make_unique<Tensor>(tensor_from(input)));
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = test::backend(backend);
  const auto outputs = run_program(runtime, *imported, std::move(inputs), options);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  ASSERT_EQ(outputs->size(), data.at("outputs").size());
  for (size_t o = 0; o < outputs->size(); ++o) {
    const Tensor expected = tensor_from(data.at("outputs")[o]);
    const Tensor& got = (*outputs)[o];
    ASSERT_EQ(got.dtype, expected.dtype);
    ASSERT_EQ(got.dims, expected.dims);
    for (int64_t i = 0; i < expected.elements(); ++i)
      EXPECT_EQ(decode(got.dtype, load_element(got.dtype, got.data.data(), i).bits[0]),
                decode(got.dtype, load_element(got.dtype, expected.data.data(), i).bits[0]))
          << "output " << o << " element " << i;
  }
}

TEST(StablehloRun, EveryFileOnEveryBackend) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".mlir") continue;
    ++files;
    for (const char* backend : {"reference", "auto"}) {
      SCOPED_TRACE(entry.path().stem().string() + " on " + backend);
      run_file(entry.path().stem(), backend);
    }
  }
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace strew
