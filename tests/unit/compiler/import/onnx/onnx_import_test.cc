// ONNX front end: what TensorScatter becomes, and one test per refusal. Files are written by tests/support/onnx_writer.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "compiler/import/onnx/onnx.h"
#include "strew/import.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Expected<Program> import(const OnnxModel& model) { return onnx::import_model(model.bytes(), "m.onnx", {}); }

Program import_good(const OnnxModel& model) {
  Expected<Program> out = import(model);
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  for (const ProgramKernel& k : out->kernels()) {
    const Status s = verify(k.op);
    EXPECT_TRUE(s.ok()) << s.message();
  }
  return std::move(out).value();
}

std::string error_of(const OnnxModel& model) {
  const Expected<Program> out = import(model);
  EXPECT_FALSE(out.ok());
  return out.status().message();
}

const Scatter& scatter_of(const Program& imported, size_t k = 0) { return std::get<Scatter>(*imported.kernels().at(k).op); }

TEST(OnnxImport, LinearTensorScatter) {
  const Program m = import_good(tensor_scatter_model());
  ASSERT_EQ(m.kernels().size(), 1u);
  EXPECT_EQ(m.format(), "onnx");
  EXPECT_EQ(m.kernel(0).name, "scatter");
  EXPECT_EQ(m.kernel(0).location, "m.onnx: node scatter (TensorScatter)");
  EXPECT_THAT(m.kernel(0).tensors(), ElementsAre(0, 2, 1)) << "operand, indices, updates";
  EXPECT_THAT(test::arguments_for(m.kernel(0), ArgumentUse::non_negative), IsEmpty())
      << "policy error refuses negative ones itself";
  const Scatter& s = scatter_of(m);
  EXPECT_THAT(s.dims.window_dims, ElementsAre(1, 2));
  EXPECT_THAT(s.dims.removed_dims, IsEmpty());
  EXPECT_THAT(s.dims.operand_batching_dims, ElementsAre(0));
  EXPECT_THAT(s.dims.indices_batching_dims, ElementsAre(0));
  EXPECT_THAT(s.dims.index_map, ElementsAre(1));
  EXPECT_EQ(s.dims.index_vector_dim, 1);
  EXPECT_EQ(s.oob, OobPolicy::error);
  EXPECT_EQ(s.init, InitKind::copy);
  EXPECT_EQ(s.combiner, CombinerKind::assign);
  ASSERT_EQ(m.outputs().size(), 1u);
  EXPECT_EQ(m.value(m.outputs()[0].value).kind, ValueKind::result);
}

TEST(OnnxImport, CircularWrapsButRefusesNegatives) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_string("mode", "circular")};
  const Program m = import_good(model);
  EXPECT_EQ(scatter_of(m).oob, OobPolicy::wrap);
  ASSERT_EQ(test::arguments_for(m.kernel(0), ArgumentUse::non_negative).size(), 1U);
  EXPECT_EQ(m.kernel(0).find(ArgumentUse::non_negative)->value, 2);
}

TEST(OnnxImport, AxisCountsFromEitherEnd) {
  for (const int64_t axis : {2, -1}) {
    OnnxModel model = tensor_scatter_model();
    model.inputs[1].dims = {2, 4, 1};
    model.nodes[0].attributes = {onnx_int("axis", axis)};
    EXPECT_THAT(scatter_of(import_good(model)).dims.index_map, ElementsAre(2)) << axis;
  }
}

TEST(OnnxImport, MissingWriteIndicesAreZeros) {
  OnnxModel model = tensor_scatter_model();
  model.inputs.pop_back();
  model.inputs[0].dims[0] = model.inputs[1].dims[0] = kSymbolic;
  for (const bool written : {false, true}) {
    model.nodes[0].inputs = {"past_cache", "update"};
    if (written) model.nodes[0].inputs.push_back("");
    const Program m = import_good(model);
    const Value& zeros = m.value(m.kernel(0).tensor(1));
    EXPECT_EQ(zeros.kind, ValueKind::zeros);
    EXPECT_EQ(print(zeros.type), "i64[?]");
    EXPECT_EQ(zeros.like, m.kernel(0).tensor(0));
  }
}

TEST(OnnxImport, WriteIndicesMayBeLeftOutByTheCaller) {
  const Program m = import_good(tensor_scatter_model());
  EXPECT_FALSE(m.input(0).optional);
  EXPECT_FALSE(m.input(1).optional);
  EXPECT_TRUE(m.input(2).optional);
}

TEST(OnnxImport, DimsKnownOnOneSideAreKnownOnBoth) {
  OnnxModel model = tensor_scatter_model();
  model.inputs[0].dims = {kSymbolic, 4, 3};
  model.inputs[1].dims = {2, kSymbolic, kSymbolic};
  model.outputs[0].dims = {kSymbolic, kSymbolic, kSymbolic};
  const Scatter s = scatter_of(import_good(model));
  EXPECT_EQ(print(s.operands[0]), "f32[2,4,3]");
  EXPECT_EQ(print(s.updates[0]), "f32[2,?,3]");
  EXPECT_EQ(print(s.results[0]), "f32[2,4,3]");
}

TEST(OnnxImport, InitializersAndConstantNodesFeedInputs) {
  OnnxModel model = tensor_scatter_model();
  model.inputs.erase(model.inputs.begin() + 1, model.inputs.end());
  model.initializers = {{"write_indices", kInt64, {2}, std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16)}};
  OnnxNode constant;
  constant.op_type = "Constant";
  constant.outputs = {"update"};
  const OnnxTensor update{"", kFloat, {2, 2, 3}, std::string(48, '\0')};
  constant.attributes = {ProtoWriter().text(1, "value").message(5, update.proto()).varint(20, 4)};
  model.nodes.insert(model.nodes.begin(), constant);
  const Program m = import_good(model);
  ASSERT_EQ(m.inputs().size(), 1u);
  ASSERT_EQ(m.constants().size(), 2u);
  const Value& indices = m.value(m.kernel(0).tensor(1));
  ASSERT_EQ(indices.kind, ValueKind::constant);
  int64_t data[2];
  std::memcpy(data, m.constant(indices.index).data.data(), sizeof data);
  EXPECT_THAT(data, ElementsAre(1, 2));
}

TEST(OnnxImport, InitializersThatAreAlsoInputsStayInside) {
  OnnxModel model = tensor_scatter_model();
  model.initializers = {{"write_indices", kInt64, {2}, std::string(16, '\0')}};
  EXPECT_EQ(import_good(model).inputs().size(), 2u);
}

TEST(OnnxImport, UnusedInitializersAreNotCopied) {
  OnnxModel model = tensor_scatter_model();
  model.initializers = {{"weights", kFloat, {4}, std::string(16, '\0')}};
  EXPECT_THAT(import_good(model).constants(), IsEmpty());
}

TEST(OnnxImport, SeveralNodes) {
  OnnxModel model = tensor_scatter_model();
  OnnxNode second = model.nodes[0];
  second.inputs[0] = "present_cache";
  second.outputs = {"twice"};
  model.nodes.push_back(second);
  model.outputs.push_back({"twice", kFloat, {2, 4, 3}});
  const Program m = import_good(model);
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(m.kernel(0).name, "scatter");
  EXPECT_EQ(m.kernel(1).name, "scatter_2") << "kernel names are unique";
  EXPECT_EQ(m.value(m.kernel(1).tensor(0)).kind, ValueKind::result);
}

TEST(OnnxImport, All24ElementTypes) {
  for (int type = 1; type <= 24; ++type) {
    OnnxModel model = tensor_scatter_model();
    model.inputs[0].type = model.inputs[1].type = model.outputs[0].type = type;
    import_good(model);
  }
}

// ---- refusals ----

TEST(OnnxImport, RefusesBadAxis) {
  for (const int64_t axis : {0, -3, 3, -4}) {
    OnnxModel model = tensor_scatter_model();
    model.nodes[0].attributes = {onnx_int("axis", axis)};
    EXPECT_THAT(error_of(model), HasSubstr("m.onnx: node scatter (TensorScatter): axis is " + std::to_string(axis)));
  }
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_int("axis", 0)};
  EXPECT_EQ(error_of(model),
            "m.onnx: node scatter (TensorScatter): axis is 0 (dim 0 is the batch), expected 1 to 2 or -2 to -1 for a past_cache "
            "of rank 3");
}

TEST(OnnxImport, RefusesBadMode) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_string("mode", "ring")};
  EXPECT_EQ(error_of(model), "m.onnx: node scatter (TensorScatter): mode is 'ring', expected linear or circular");
  model.nodes[0].attributes = {onnx_int("mode", 1)};
  EXPECT_EQ(error_of(model), "m.onnx: node scatter (TensorScatter): attribute 'mode' has type 2, expected STRING (3)");
}

TEST(OnnxImport, RefusesUnknownAndRepeatedAttributes) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_int("axes", 1)};
  EXPECT_EQ(error_of(model), "m.onnx: node scatter (TensorScatter): attribute 'axes' is unknown, expected one of: axis, mode");
  model.nodes[0].attributes = {onnx_int("axis", 1), onnx_int("axis", 1)};
  EXPECT_EQ(error_of(model), "m.onnx: node scatter (TensorScatter): attribute 'axis' is given twice, expected once");
}

TEST(OnnxImport, RefusesShapesThatDoNotFit) {
  OnnxModel model = tensor_scatter_model();
  model.inputs[1].dims = {2, 5, 3};
  EXPECT_EQ(error_of(model),
            "m.onnx: node scatter (TensorScatter): dim 1 of update is 5, expected at most 4, dim 1 of past_cache: update is "
            "[2,5,3] and "
            "past_cache is [2,4,3]");
  model.inputs[1].dims = {2, 2, 2};
  EXPECT_THAT(error_of(model), HasSubstr("dim 2 of update is 2, expected 3, dim 2 of past_cache"));
  model.inputs[1].dims = {2, 2};
  EXPECT_THAT(error_of(model), HasSubstr("update has rank 2, expected 3, past_cache's"));
  model = tensor_scatter_model();
  model.inputs[2].dims = {3};
  EXPECT_THAT(error_of(model), HasSubstr("dim 0 of write_indices is 3, expected 2, dim 0 of past_cache"));
  model.inputs[2].dims = {2, 1};
  EXPECT_THAT(error_of(model), HasSubstr("write_indices has rank 2, expected 1, one index per batch sample"));
  model = tensor_scatter_model();
  model.inputs[0].dims = model.inputs[1].dims = {2};
  EXPECT_THAT(error_of(model), HasSubstr("past_cache has rank 1, expected at least 2"));
  model = tensor_scatter_model();
  model.outputs[0].dims = {2, 4, 4};
  EXPECT_THAT(error_of(model),
              HasSubstr("m.onnx: output present_cache: it is declared as f32[2,4,4], expected what the graph computes"));
}

TEST(OnnxImport, RefusesTypesThatDoNotFit) {
  OnnxModel model = tensor_scatter_model();
  model.inputs[1].type = kBfloat16;
  EXPECT_THAT(error_of(model), HasSubstr("update has dtype bf16, expected past_cache's f32"));
  model = tensor_scatter_model();
  model.inputs[2].type = 6;
  EXPECT_THAT(error_of(model), HasSubstr("write_indices has dtype i32, expected i64"));
  model = tensor_scatter_model();
  model.inputs[0].type = model.inputs[1].type = kInt2;
  EXPECT_THAT(error_of(model), HasSubstr("past_cache has dtype i2, expected one of TensorScatter-24's 24 types"));
  model.inputs[0].type = 99;
  EXPECT_THAT(error_of(model), HasSubstr("m.onnx: input past_cache: element type is 99"));
}

TEST(OnnxImport, RefusesDimsNoTensorHas) {
  OnnxModel model = tensor_scatter_model();
  model.inputs[0].dims = {2, -4, 3};
  EXPECT_THAT(error_of(model), HasSubstr("m.onnx: input past_cache: dim 1 is -4, expected at least 0"));
  model.inputs[0].dims = {int64_t{1} << 40, int64_t{1} << 40, 3};
  EXPECT_THAT(error_of(model), HasSubstr("the number of elements does not fit 63 bits"));
  model.inputs[0].dims.assign(1000, 1);
  EXPECT_THAT(error_of(model), HasSubstr("rank is 1000, expected at most"));
  model.inputs[0].has_shape = false;
  EXPECT_THAT(error_of(model), HasSubstr("it has no shape"));
}

TEST(OnnxImport, RefusesOperatorsAndOpsets) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].op_type = "Softmax";
  EXPECT_THAT(
      error_of(model),
      HasSubstr("m.onnx: node scatter (Softmax): the operator is not supported, and the graph has no indexed write or read"));
  model = tensor_scatter_model();
  model.nodes[0].domain = "com.microsoft";
  EXPECT_THAT(error_of(model), HasSubstr("the operator is not supported (domain com.microsoft)"));
  model = tensor_scatter_model();
  model.opset = 23;
  EXPECT_EQ(error_of(model), "m.onnx: node scatter (TensorScatter): the model's opset is 23, expected at least 24");
  model.opset = 0;
  EXPECT_THAT(error_of(model), HasSubstr("opset_import has no version of ai.onnx"));
}

TEST(OnnxImport, RefusesGraphsThatDoNotHang) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].inputs[1] = "nothing";
  EXPECT_THAT(error_of(model), HasSubstr("input 1 (update) is 'nothing', expected the name of a graph input"));
  model.nodes[0].inputs[1] = "";
  EXPECT_THAT(error_of(model), HasSubstr("input 1 (update) is missing"));
  model.nodes[0].inputs = {"past_cache"};
  EXPECT_THAT(error_of(model), HasSubstr("it has 1 inputs, expected 2 to 3"));
  model = tensor_scatter_model();
  model.nodes[0].outputs = {"past_cache"};
  EXPECT_THAT(error_of(model), HasSubstr("the name 'past_cache' is defined twice"));
  model = tensor_scatter_model();
  model.outputs[0].name = "elsewhere";
  EXPECT_THAT(error_of(model), HasSubstr("m.onnx: output elsewhere: nothing in the graph computes it"));
  model.outputs.clear();
  EXPECT_THAT(error_of(model), HasSubstr("the graph has no outputs"));
  model = tensor_scatter_model();
  model.nodes.clear();
  EXPECT_THAT(error_of(model), HasSubstr("the graph has 0 nodes and no indexed write or read"));
}

TEST(OnnxImport, RefusesTensorsThatLieAboutTheirSize) {
  OnnxModel model = tensor_scatter_model();
  model.inputs.pop_back();
  model.initializers = {{"write_indices", kInt64, {2}, std::string(8, '\0')}};
  EXPECT_THAT(error_of(model),
              HasSubstr("m.onnx: initializer write_indices: raw_data has 8 bytes, expected 16 for 2 elements of i64"));
  model.initializers[0].dims = {int64_t{1} << 61};
  EXPECT_THAT(error_of(model), HasSubstr("the number of elements does not fit 63 bits"));
  model.initializers[0] = {"write_indices", kInt64, {2}, "", {ProtoWriter().packed(7, {1, 2, 3})}, false};
  EXPECT_THAT(error_of(model), HasSubstr("int64_data has 3 entries, expected 2"));
  model.initializers[0].more = {ProtoWriter().message(13, ProtoWriter().text(1, "location").text(2, "w.bin")).varint(14, 1)};
  EXPECT_THAT(error_of(model), HasSubstr("external_data's location is 'w.bin': cannot read: No such file"));
}

TEST(OnnxImport, DamagedBytesNeverCrash) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_string("mode", "circular"), onnx_int("axis", -2)};
  model.initializers = {{"write_indices", kInt64, {2}, std::string(16, '\1')}};
  const std::string good = model.bytes();
  int imported = 0;
  for (size_t cut = 0; cut < good.size(); ++cut) {
    imported += onnx::import_model(std::string_view(good).substr(0, cut), "m.onnx", {}).ok();
  }
  EXPECT_LT(imported, 3) << "a prefix may end at a field's border, but not often";
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
      const Expected<Program> out = onnx::import_model(bad, "m.onnx", {});
      if (!out.ok()) {
        EXPECT_THAT(out.status().message(), HasSubstr("m.onnx")) << "byte " << at << " bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace strew::testing
