// TensorFlow Lite front end: what each operator becomes. Files are written by tests/support/tflite_writer.h; broken ones are in
// tests/error/tflite_error_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <set>

#include "compiler/import/tflite/tflite.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/paths.h"
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Program import_bytes(std::string_view bytes) {
  Expected<Program> out = tflite::import_model(bytes, "m.tflite", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  for (const ProgramKernel& k : out->kernels()) {
    const Status s = verify(k.op);
    EXPECT_TRUE(s.ok()) << s.message();
  }
  return std::move(out).value();
}
Program import_good(const TfliteModel& model) { return import_bytes(model.bytes()); }

const Scatter& scatter_of(const Program& imported, size_t k = 0) { return std::get<Scatter>(*imported.kernels().at(k).op); }
const Gather& gather_of(const Program& imported, size_t k = 0) { return std::get<Gather>(*imported.kernels().at(k).op); }

template <class T>
std::unique_ptr<Tensor> tensor(DType dtype, std::vector<int64_t> dims, std::vector<T> values) {
  auto out = std::make_unique<Tensor>(std::move(make_tensor(dtype, std::move(dims)).value()));
  EXPECT_EQ(out->data.size(), static_cast<int64_t>(values.size() * sizeof(T)));
  std::memcpy(out->data.data(), values.data(), values.size() * sizeof(T));
  return out;
}

Expected<std::vector<Tensor>> run(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs) {
  Runtime runtime;
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  return run_program(runtime, imported, std::move(inputs), options);
}

template <class T>
std::vector<T> values_of(const Tensor& t) {
  std::vector<T> out(static_cast<size_t>(t.data.size()) / sizeof(T));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(T));
  return out;
}

TEST(TfliteImport, DynamicUpdateSlice) {
  const Program m = import_good(update_slice_model());
  ASSERT_EQ(m.kernels().size(), 1u);
  EXPECT_EQ(m.format(), "tflite");
  EXPECT_EQ(m.kernel(0).name, "DYNAMIC_UPDATE_SLICE_0");
  EXPECT_EQ(m.kernel(0).location, "m.tflite: operator 0 (DYNAMIC_UPDATE_SLICE)");
  EXPECT_THAT(m.kernel(0).tensors(), ElementsAre(0, 2, 1)) << "operand, indices, updates";
  EXPECT_TRUE(m.kernel(0).fixed_policy);
  const Scatter& s = scatter_of(m);
  EXPECT_THAT(s.dims.window_dims, ElementsAre(0, 1));
  EXPECT_THAT(s.dims.index_map, ElementsAre(0, 1));
  EXPECT_EQ(s.dims.index_vector_dim, 0);
  EXPECT_EQ(s.oob, OobPolicy::clamp);
  EXPECT_EQ(s.combiner, CombinerKind::assign);
  EXPECT_EQ(s.init, InitKind::copy);
  ASSERT_EQ(m.inputs().size(), 3u);
  EXPECT_EQ(m.input(2).name, "start");
  EXPECT_EQ(print(m.input(2).type), "i32[2]");
  ASSERT_EQ(m.outputs().size(), 1u);
  EXPECT_EQ(m.outputs()[0].name, "out");
}

TEST(TfliteImport, EveryElementType) {
  using T = TfliteType;
  const std::pair<T, const char*> types[] = {
      {T::FLOAT32, "f32"},         {T::FLOAT16, "f16"},   {T::INT32, "i32"},   {T::UINT8, "u8"},
      {T::INT64, "i64"},           {T::STRING, "string"}, {T::BOOL, "bool"},   {T::INT16, "i16"},
      {T::COMPLEX64, "complex64"}, {T::INT8, "i8"},       {T::FLOAT64, "f64"}, {T::COMPLEX128, "complex128"},
      {T::UINT64, "u64"},          {T::UINT32, "u32"},    {T::UINT16, "u16"},  {T::INT4, "i4"},
      {T::BFLOAT16, "bf16"},       {T::INT2, "i2"},       {T::UINT4, "u4"},    {T::FLOAT8_E4M3FN, "f8e4m3fn"},
      {T::FLOAT8_E5M2, "f8e5m2"},
  };
  for (const auto& [type, text] : types) {
    TfliteModel model = update_slice_model();
    model.tensor(0).type = model.tensor(1).type = model.tensor(3).type = type;
    EXPECT_EQ(name(scatter_of(import_good(model)).operands[0].dtype), text);
  }
}

TEST(TfliteImport, OpenDimsComeFromSignatures) {
  TfliteModel model = update_slice_model();
  model.tensor(0).shape = {1, 3};
  model.tensor(0).signature = {-1, 3};
  model.tensor(2).signature = {-1};
  const Scatter s = scatter_of(import_good(model));
  EXPECT_EQ(print(s.operands[0]), "f32[?,3]");
  EXPECT_EQ(print(s.indices), "i32[2]") << "one index per dim, whatever the file leaves open";
  EXPECT_EQ(print(s.results[0]), "f32[?,3]");
}

TEST(TfliteImport, ConstantsFeedInputs) {
  TfliteModel model = update_slice_model();
  model.tensor(2).data = bytes_of<int32_t>({1, -1});
  model.graphs[0].inputs = {0, 1};
  const Program m = import_good(model);
  EXPECT_EQ(m.inputs().size(), 2u);
  const Value& start = m.value(m.kernel(0).tensor(1));
  ASSERT_EQ(start.kind, ValueKind::constant);
  int32_t data[2];
  std::memcpy(data, m.constant(start.index).data.data(), sizeof data);
  EXPECT_THAT(data, ElementsAre(1, -1));
}

TEST(TfliteImport, UnusedConstantsAreNotCopied) {
  TfliteModel model = update_slice_model();
  model.graphs[0].tensors.push_back({"weights", TfliteType::FLOAT32, {4}, std::string(16, '\0')});
  EXPECT_THAT(import_good(model).constants(), IsEmpty());
}

TEST(TfliteImport, ConstantsOutsideOfTheFlatbuffer) {
  TfliteModel model = update_slice_model();
  model.graphs[0].inputs = {0, 1};
  model.tensor(2).buffer = 1;
  model.buffers = {{0, 8}};
  model.buffers[0].offset = model.bytes().size() + 16;  // a field that is 0 is not stored, so the file grows
  model.buffers[0].offset = model.bytes().size() + 16;
  std::string file = model.bytes() + std::string(16, '-') + bytes_of<int32_t>({2, 5});
  const Program m = import_bytes(file);
  ASSERT_EQ(m.constants().size(), 1u);
  int32_t data[2];
  std::memcpy(data, m.constant(0).data.data(), sizeof data);
  EXPECT_THAT(data, ElementsAre(2, 5));
  file.pop_back();
  const Expected<Program> cut = tflite::import_model(file, "m.tflite", {});
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.status().message(), HasSubstr("m.tflite: tensor 2 (start): buffer 1 has offset "));
}

TEST(TfliteImport, StringConstants) {
  TfliteModel model = gather_model();
  model.graphs[0].inputs = {1};
  model.tensor(0) = {"params", TfliteType::STRING, {3}, bytes_of<int32_t>({3, 20, 22, 22, 25}) + "abxyz"};
  model.tensor(2) = {"out", TfliteType::STRING, {4}};
  const Program m = import_good(model);
  ASSERT_EQ(m.constants().size(), 1u);
  EXPECT_THAT(m.constant(0).strings, ElementsAre("ab", "", "xyz"));
}

TEST(TfliteImport, PackedConstants) {
  TfliteModel model = gather_model();
  model.graphs[0].inputs = {1};
  model.tensor(0) = {"params", TfliteType::INT4, {5, 1}, "\x21\xf3\xf7"};
  model.tensor(2) = {"out", TfliteType::INT4, {4, 1}};
  const Program m = import_good(model);
  ASSERT_EQ(m.constants().size(), 1u);
  EXPECT_THAT(m.constant(0).data, ElementsAre(std::byte{0x21}, std::byte{0xf3}, std::byte{0x07})) << "the padding is zero";
}

TEST(TfliteImport, Gather) {
  TfliteModel model = gather_model();
  model.tensor(0).shape = {2, 5, 3};
  model.tensor(1).shape = {2, 4};
  model.tensor(2).shape = {2, 4, 3};
  for (const auto& [axis, batch_dims] : {std::pair{1, 1}, std::pair{-2, 1}, std::pair{1, -1}}) {
    model.op().axis = axis;
    model.op().batch_dims = batch_dims;
    const Program m = import_good(model);
    const Gather& g = gather_of(m);
    EXPECT_THAT(g.dims.operand_batching_dims, ElementsAre(0));
    EXPECT_THAT(g.dims.index_map, ElementsAre(1));
    EXPECT_EQ(g.oob, OobPolicy::error);
    EXPECT_FALSE(g.normalize_negative);
    EXPECT_EQ(print(g.result), "f32[2,4,3]");
    EXPECT_FALSE(m.kernel(0).fixed_policy);
  }
}

TEST(TfliteImport, GatherWithoutOptionsGathersRows) {
  TfliteModel model = gather_model();
  model.op().axis.reset();
  EXPECT_THAT(gather_of(import_good(model)).dims.index_map, ElementsAre(0));
}

TEST(TfliteImport, GatherOfAnOpenTableRuns) {
  TfliteModel model = gather_model();
  model.tensor(0).signature = {-1, -1};
  model.tensor(1).signature = {-1};
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(tensor<float>(DType::f32, {2, 2}, {1, 2, 3, 4}));
  inputs.push_back(tensor<int32_t>(DType::i32, {3}, {1, 0, 1}));
  const Expected<std::vector<Tensor>> out = run(import_good(model), std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT((*out)[0].dims, ElementsAre(3, 2));
  EXPECT_THAT(values_of<float>((*out)[0]), ElementsAre(3, 4, 1, 2, 3, 4));
}

TEST(TfliteImport, NegativeIndicesAreErrors) {
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(tensor<float>(DType::f32, {5, 3}, std::vector<float>(15)));
  inputs.push_back(tensor<int32_t>(DType::i32, {4}, {0, 1, -1, 2}));
  const Expected<std::vector<Tensor>> out = run(import_good(gather_model()), std::move(inputs));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), Code::out_of_bounds);
}

TEST(TfliteImport, GatherNd) {
  const Program m = import_good(gather_nd_model());
  const Gather& g = gather_of(m);
  EXPECT_THAT(g.dims.removed_dims, ElementsAre(0));
  EXPECT_THAT(g.dims.window_dims, ElementsAre(1));
  EXPECT_EQ(g.dims.index_vector_dim, 1);
  EXPECT_EQ(g.oob, OobPolicy::error);
  EXPECT_FALSE(g.normalize_negative);
}

TEST(TfliteImport, ScatterNdSumsIntoZeros) {
  const Program m = import_good(scatter_nd_model());
  const Scatter& s = scatter_of(m);
  EXPECT_EQ(print(s.results[0]), "f32[4,2]");
  EXPECT_EQ(s.init, InitKind::fill);
  EXPECT_EQ(s.combiner, CombinerKind::add);
  EXPECT_EQ(s.oob, OobPolicy::error);
  EXPECT_FALSE(s.normalize_negative);
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(tensor<int32_t>(DType::i32, {3, 1}, {3, 0, 3}));
  inputs.push_back(tensor<float>(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}));
  const Expected<std::vector<Tensor>> out = run(m, std::move(inputs));
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_THAT(values_of<float>((*out)[0]), ElementsAre(3, 4, 0, 0, 0, 0, 6, 8));
}

TEST(TfliteImport, ScatterNdWithAWideShape) {
  TfliteModel model = scatter_nd_model();
  model.tensor(2).type = TfliteType::INT64;
  model.tensor(2).data = bytes_of<int64_t>({4, 2});
  EXPECT_EQ(print(scatter_of(import_good(model)).results[0]), "f32[4,2]");
}

TEST(TfliteImport, StablehloScatterCombiners) {
  using C = TfliteCode;
  const std::pair<std::optional<C>, CombinerKind> rows[] = {
      {std::nullopt, CombinerKind::assign},
      {C::STABLEHLO_ADD, CombinerKind::add},
      {C::STABLEHLO_MULTIPLY, CombinerKind::mul},
      {C::STABLEHLO_MAXIMUM, CombinerKind::max},
      {C::STABLEHLO_MINIMUM, CombinerKind::min},
      {C::MAXIMUM, CombinerKind::max},
      {C::MINIMUM, CombinerKind::min},
      {C::STABLEHLO_SUBTRACT, CombinerKind::sub},
      {C::STABLEHLO_DIVIDE, CombinerKind::div},
      {C::SUB, CombinerKind::sub},
      {C::DIV, CombinerKind::div},
  };
  for (const auto& [code, kind] : rows) {
    const Program m = import_good(stablehlo_scatter_model(code));
    EXPECT_EQ(scatter_of(m).combiner, kind);
    EXPECT_EQ(scatter_of(m).oob, OobPolicy::skip_element);
    EXPECT_THAT(scatter_of(m).dims.removed_dims, ElementsAre(0));
  }
  TfliteModel swapped = stablehlo_scatter_model(C::STABLEHLO_ADD);
  swapped.graphs[1].operators[0].inputs = {1, 0};
  EXPECT_EQ(scatter_of(import_good(swapped)).combiner, CombinerKind::add);
}

TEST(TfliteImport, StablehloScatterHints) {
  TfliteModel model = stablehlo_scatter_model(std::nullopt);
  model.op().scatter->sorted = model.op().scatter->unique = true;
  EXPECT_TRUE(scatter_of(import_good(model)).indices_are_sorted);
  EXPECT_TRUE(scatter_of(import_good(model)).unique_indices);
}

TEST(TfliteImport, StablehloGather) {
  const Gather g = gather_of(import_good(stablehlo_gather_model()));
  EXPECT_THAT(g.slice_sizes, ElementsAre(1, 3));
  EXPECT_EQ(g.oob, OobPolicy::clamp);
}

TEST(TfliteImport, OldFilesHaveNarrowOperatorCodes) {
  TfliteModel model = gather_model();
  model.op().old_code = true;
  EXPECT_EQ(import_good(model).kernel(0).name, "GATHER_0");
}

TEST(TfliteImport, SeveralOperators) {
  TfliteModel model = update_slice_model();
  model.graphs[0].tensors.push_back({"twice", TfliteType::FLOAT32, {4, 3}});
  TfliteOperator second = model.op();
  second.inputs[0] = 3;
  second.outputs = {4};
  model.graphs[0].operators.push_back(second);
  model.graphs[0].outputs = {4, 0};
  const Program m = import_good(model);
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(m.kernel(1).name, "DYNAMIC_UPDATE_SLICE_1");
  EXPECT_EQ(m.value(m.kernel(1).tensor(0)).kind, ValueKind::result);
  ASSERT_EQ(m.outputs().size(), 2u);
  EXPECT_EQ(m.value(m.outputs()[1].value).kind, ValueKind::input) << "an input may be an output";
}

TEST(TfliteImport, QuantizedTensorsAreTheirStorage) {
  TfliteModel model = update_slice_model();
  for (const size_t i : {0, 1, 3}) {
    model.tensor(i).type = TfliteType::INT8;
    model.tensor(i).quantized = true;
  }
  const Program m = import_good(model);
  EXPECT_EQ(print(scatter_of(m).operands[0]), "i8[4,3]");
  EXPECT_THAT(m.kernel(0).notes, ::testing::Contains("quantized tensors are their storage type i8: scales are not applied"));
}

TEST(TfliteImport, BytesNeedNoAlignment) {
  const std::string shifted = "x" + gather_model().bytes();
  EXPECT_EQ(import_bytes(std::string_view(shifted).substr(1)).kernels().size(), 1u);
}

TEST(TfliteImport, TheTableHasTheFormatsNumbers) {
  for (const tflite::Operator& op : tflite::operators()) {
    EXPECT_EQ(op.name, tflite::schema::EnumNameBuiltinOperator(static_cast<TfliteCode>(op.code)));
  }
  EXPECT_EQ(static_cast<int>(TfliteCode::GATHER), 36);
  EXPECT_EQ(static_cast<int>(TfliteCode::GATHER_ND), 107);
  EXPECT_EQ(static_cast<int>(TfliteCode::SCATTER_ND), 122);
  EXPECT_EQ(static_cast<int>(TfliteCode::DYNAMIC_UPDATE_SLICE), 151);
  EXPECT_EQ(static_cast<int>(TfliteCode::STABLEHLO_SCATTER), 190);
  EXPECT_EQ(static_cast<int>(TfliteCode::STABLEHLO_GATHER), 201);
}

/// The operators that docs/sources.md lists: in the first column of its table, or in the list of those around the kernels.
std::set<std::string> documented(bool indexed) {
  std::set<std::string> out;
  std::ifstream file(test::source_folder() / "docs/sources.md");
  bool is_here = false, is_list = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_here = line.starts_with("## TensorFlow Lite");
    if (!is_here) continue;
    if (indexed && line.starts_with("| `") && line.find("` | ") != std::string::npos) {
      const std::string name = line.substr(3, line.find('`', 3) - 3);
      if (line.starts_with("| `" + name + "` | ")) out.insert(name);
    }
    if (line.starts_with("- **Elementwise**")) is_list = true;
    if (line.empty()) is_list = false;
    if (indexed || !is_list) continue;
    for (size_t begin; (begin = line.find('`')) != std::string::npos; line.erase(0, line.find('`') + 1)) {
      line.erase(0, begin + 1);
      out.insert(line.substr(0, line.find('`')));
    }
  }
  return out;
}

TEST(TfliteImport, TheDocumentListsTheTable) {
  std::set<std::string> kernels, around;
  std::string list;
  for (const tflite::Operator& op : tflite::operators()) {
    (op.form.indexed ? kernels : around).insert(std::string(op.name));
    if (!op.form.indexed) list += (list.empty() ? "`" : ", `") + std::string(op.name) + "`";
  }
  EXPECT_EQ(documented(false), around) << "the list is " << list;
  for (const std::string& name : kernels) EXPECT_TRUE(documented(true).contains(name)) << name;
  for (const std::string& name : documented(true)) EXPECT_TRUE(kernels.contains(name)) << name << " is in no table";
}

}  // namespace
}  // namespace strew::testing
