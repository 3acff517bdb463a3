// ONNX front end: what Scatter, ScatterElements, ScatterND, Gather, GatherElements and GatherND become, and their open dims at the call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "compiler/import/onnx/onnx.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "strew/text.h"
#include "strew/verify.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/onnx_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Dims = std::vector<int64_t>;

Program import_good(const OnnxModel& model) {
  Expected<Program> out = onnx::import_model(model.bytes(), "m.onnx", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  if (!out.ok()) return {};
  return std::move(out).value();
}

const Scatter& scatter_of(const Program& imported) { return std::get<Scatter>(*imported.kernels().at(0).op); }
const Gather& gather_of(const Program& imported) { return std::get<Gather>(*imported.kernels().at(0).op); }

OnnxModel with(OnnxModel model, std::vector<ProtoWriter> attributes, int64_t opset = 18) {
  model.nodes[0].attributes = std::move(attributes);
  model.opset = opset;
  return model;
}

TEST(OnnxOps, ScatterElementsIsOneComponentPerIndexWithEveryOtherDimABatch) {
  const Program m =
      import_good(with(onnx_scatter_model("ScatterElements", {4, 5, 6}, {2, 9, 3}, {2, 9, 3}), {onnx_int("axis", -2)}));
  const Scatter& s = scatter_of(m);
  EXPECT_THAT(s.dims.window_dims, IsEmpty());
  EXPECT_THAT(s.dims.removed_dims, ElementsAre(1));
  EXPECT_THAT(s.dims.operand_batching_dims, ElementsAre(0, 2));
  EXPECT_THAT(s.dims.indices_batching_dims, ElementsAre(0, 2));
  EXPECT_THAT(s.dims.index_map, ElementsAre(1));
  EXPECT_EQ(s.dims.index_vector_dim, 3);
  EXPECT_EQ(s.oob, OobPolicy::error);
  EXPECT_TRUE(s.normalize_negative);
  EXPECT_EQ(s.combiner, CombinerKind::assign);
  EXPECT_EQ(s.init, InitKind::copy);
  EXPECT_THAT(m.kernel(0).tensors(), ElementsAre(0, 1, 2));
  EXPECT_THAT(m.kernel(0).notes, ::testing::Contains(HasSubstr("the last one wins")));
}

TEST(OnnxOps, ScatterIsScattersElementsFirstName) {
  const OnnxModel first = with(onnx_scatter_model("Scatter", {4, 5}, {2, 5}, {2, 5}), {onnx_int("axis", 1)}, 10);
  const OnnxModel second = with(onnx_scatter_model("ScatterElements", {4, 5}, {2, 5}, {2, 5}), {onnx_int("axis", 1)}, 11);
  EXPECT_EQ(print(import_good(first).kernel(0).op), print(import_good(second).kernel(0).op));
}

TEST(OnnxOps, ScatterNdInsertsTheIndexedDims) {
  const Scatter s = scatter_of(import_good(with(onnx_scatter_model("ScatterND", {4, 5, 6}, {7, 3, 2}, {7, 3, 6}), {})));
  EXPECT_THAT(s.dims.window_dims, ElementsAre(2));
  EXPECT_THAT(s.dims.removed_dims, ElementsAre(0, 1));
  EXPECT_THAT(s.dims.index_map, ElementsAre(0, 1));
  EXPECT_EQ(s.dims.index_vector_dim, 2);
  EXPECT_TRUE(s.normalize_negative);
}

TEST(OnnxOps, Reductions) {
  const std::pair<const char*, CombinerKind> kinds[] = {{"none", CombinerKind::assign},
                                                        {"add", CombinerKind::add},
                                                        {"mul", CombinerKind::mul},
                                                        {"max", CombinerKind::max},
                                                        {"min", CombinerKind::min}};
  for (const char* op : {"ScatterElements", "ScatterND"}) {
    for (const auto& [text, kind] : kinds) {
      const Program m = import_good(
          with(onnx_scatter_model(op, {4, 5}, {3, 2}, op[7] == 'E' ? Dims{3, 2} : Dims{3}), {onnx_string("reduction", text)}));
      EXPECT_EQ(scatter_of(m).combiner, kind) << op << " " << text;
    }
  }
}

TEST(OnnxOps, GatherReplacesItsAxisByTheDimsOfIndices) {
  for (const auto& [indices, result] : std::vector<std::pair<Dims, const char*>>{
           {{}, "f32[4,6]"}, {{2}, "f32[4,2,6]"}, {{2, 3, 1}, "f32[4,2,3,1,6]"}, {{0, 3}, "f32[4,0,3,6]"}}) {
    const Program m = import_good(with(onnx_gather_model("Gather", {4, 5, 6}, indices), {onnx_int("axis", 1)}, 1));
    EXPECT_EQ(print(gather_of(m).result), result);
    EXPECT_EQ(gather_of(m).oob, OobPolicy::error);
    EXPECT_TRUE(gather_of(m).normalize_negative);
  }
}

TEST(OnnxOps, GatherElementsHasTheShapeOfIndices) {
  const Gather g = gather_of(import_good(with(onnx_gather_model("GatherElements", {4, 5, 6}, {3, 9, 2}), {onnx_int("axis", 1)})));
  EXPECT_EQ(print(g.result), "f32[3,9,2]");
  EXPECT_THAT(g.dims.removed_dims, ElementsAre(1));
  EXPECT_THAT(g.dims.operand_batching_dims, ElementsAre(0, 2));
}

TEST(OnnxOps, GatherNdWithBatchDims) {
  const Gather g =
      gather_of(import_good(with(onnx_gather_model("GatherND", {2, 3, 4, 5}, {2, 3, 7, 1}), {onnx_int("batch_dims", 2)})));
  EXPECT_EQ(print(g.result), "f32[2,3,7,5]");
  EXPECT_THAT(g.dims.operand_batching_dims, ElementsAre(0, 1));
  EXPECT_THAT(g.dims.index_map, ElementsAre(2));
}

TEST(OnnxOps, OpenIndexVectorsFollowFromRanks) {
  const OnnxModel scatter = with(onnx_scatter_model("ScatterND", {4, 5, 6}, {7, kSymbolic}, {7, 6}), {});
  EXPECT_THAT(scatter_of(import_good(scatter)).dims.removed_dims, ElementsAre(0, 1));
  OnnxModel gather = with(onnx_gather_model("GatherND", {4, 5, 6}, {7, kSymbolic}), {});
  gather.outputs[0].dims = {7, 6};
  gather.outputs[0].has_shape = true;
  EXPECT_EQ(print(gather_of(import_good(gather)).result), "f32[7,6]");
}

TEST(OnnxOps, OpenDimsBecomeKnownOrTies) {
  const Program m = import_good(
      with(onnx_scatter_model("ScatterND", {kSymbolic, kSymbolic, 6}, {kSymbolic, 1}, {7, kSymbolic, kSymbolic}), {}));
  const Scatter& s = scatter_of(m);
  EXPECT_EQ(print(s.indices), "i64[7,1]");
  EXPECT_EQ(print(s.updates[0]), "f32[7,?,6]");
  const KernelArguments equal = test::arguments_for(m.kernel(0), ArgumentUse::equal_extents);
  ASSERT_EQ(equal.size(), 1u);
  EXPECT_EQ(equal[0].a, "dim 1 of updates");
  EXPECT_EQ(equal[0].b, "dim 1 of data");
}

std::unique_ptr<Tensor> tensor(DType dtype, Dims dims, const std::vector<int64_t>& values = {}) {
  Expected<Tensor> out = make_tensor(dtype, std::move(dims));
  EXPECT_TRUE(out.ok());
  if (!values.empty()) std::memcpy(out->data.data(), values.data(), values.size() * 8);
  return std::make_unique<Tensor>(std::move(*out));
}

/// The message of a run on the reference, or "" when it went well.
std::string run(const Program& imported, std::vector<std::unique_ptr<Tensor>> inputs) {
  ProgramOptions options;
  options.kernel.backend = BackendChoice::reference;
  return run_program(Runtime::process(), imported, std::move(inputs), options).status().message();
}

std::string run_scatter_nd(Dims data, Dims updates) {
  const Program m =
      import_good(with(onnx_scatter_model("ScatterND", {kSymbolic, kSymbolic}, {kSymbolic, 1}, {kSymbolic, kSymbolic}), {}));
  std::vector<std::unique_ptr<Tensor>> inputs;
  inputs.push_back(tensor(DType::f32, std::move(data)));
  inputs.push_back(tensor(DType::i64, {2, 1}, {1, -1}));
  inputs.push_back(tensor(DType::f32, std::move(updates)));
  return run(m, std::move(inputs));
}

TEST(OnnxOps, AWindowThatIsNotWholeIsFoundAtTheCall) {
  EXPECT_EQ(run_scatter_nd({4, 3}, {2, 3}), "");
  EXPECT_EQ(run_scatter_nd({4, 3}, {2, 2}), "m.onnx: node scatter (ScatterND): dim 1 of updates is 2, expected 3, dim 1 of data");
  EXPECT_THAT(run_scatter_nd({4, 3}, {1, 3}), HasSubstr("dim 0 of updates is 1, expected 2, dim 0 of indices"));
}

TEST(OnnxOps, BatchesThatDifferAreFoundAtTheCall) {
  const Program m =
      import_good(with(onnx_gather_model("GatherND", {kSymbolic, 3}, {kSymbolic, 2, 1}), {onnx_int("batch_dims", 1)}));
  for (const int64_t batch : {2, 3}) {
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(tensor(DType::f32, {3, 3}));
    inputs.push_back(tensor(DType::i64, {batch, 2, 1}));
    EXPECT_EQ(run(m, std::move(inputs)),
              batch == 3 ? "" : "m.onnx: node scatter (GatherND): dim 0 of indices is 2, expected 3, dim 0 of data");
  }
}

TEST(OnnxOps, SmallerIndicesAtTheCallMustNotBeLarger) {
  const Program m = import_good(with(onnx_gather_model("GatherElements", {kSymbolic, 3}, {kSymbolic, 2}), {onnx_int("axis", 1)}));
  for (const int64_t rows : {1, 3, 4}) {
    std::vector<std::unique_ptr<Tensor>> inputs;
    inputs.push_back(tensor(DType::f32, {3, 3}));
    inputs.push_back(tensor(DType::i64, {rows, 2}));
    const std::string message = run(m, std::move(inputs));
    EXPECT_EQ(message.empty(), rows <= 3) << message;
  }
}

}  // namespace
}  // namespace strew::testing
