// TensorFlow Lite files with operators that strew does not run, and with subgraphs: what becomes opaque, and how kernels are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/import/tflite/tflite.h"
#include "strew/import.h"
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using T = TfliteType;
using C = TfliteCode;
namespace schema = tflite::schema;

Program import_good(const TfliteModel& model) {
  Expected<Program> out = tflite::import_model(model.bytes(), "m.tflite", {});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return out.ok() ? std::move(*out) : Program();
}

/// SOFTMAX of the table, then a GATHER of its rows.
TfliteModel softmax_model() {
  TfliteModel model = gather_model();
  model.graphs[0].tensors.push_back(tflite_tensor("logits", T::FLOAT32, {5, 3}));
  TfliteOperator softmax;
  softmax.code = C::SOFTMAX;
  softmax.inputs = {3};
  softmax.outputs = {0};
  model.graphs[0].inputs = {3, 1};
  model.graphs[0].operators.insert(model.graphs[0].operators.begin(), softmax);
  return model;
}

TEST(TfliteOpaque, CutsTheDataflow) {
  const Program m = import_good(softmax_model());
  ASSERT_EQ(m.opaques().size(), 1u);
  EXPECT_EQ(m.opaque(0).operation, "SOFTMAX");
  EXPECT_EQ(m.opaque(0).location, "m.tflite: operator 0 (SOFTMAX)");
  EXPECT_EQ(m.opaque(0).reason, "");
  EXPECT_FALSE(m.opaque(0).indexed);
  ASSERT_EQ(m.opaque(0).arguments.size(), 1u);
  EXPECT_EQ(value_name(m, m.opaque(0).arguments[0]), "logits");
  ASSERT_EQ(m.nodes().size(), 2u);
  EXPECT_EQ(m.nodes()[1].number, 1);
  EXPECT_EQ(m.nodes()[0].location, m.opaque(0).location);
  EXPECT_EQ(m.nodes()[0].arguments, m.opaque(0).arguments);
  EXPECT_EQ(m.nodes()[0].results, std::vector<int>{m.kernel(0).tensor(0)});
  ASSERT_EQ(m.kernels().size(), 1u);
  const Program alone = cut_kernel(m, 0);
  ASSERT_EQ(alone.inputs().size(), 2u);
  EXPECT_EQ(alone.input(0).name, "indices");
  EXPECT_EQ(alone.input(1).name, "params");
  ASSERT_EQ(alone.outputs().size(), 1u);
  EXPECT_EQ(alone.outputs()[0].name, "out");
}

TEST(TfliteOpaque, ConstantsOfOpaqueOperatorsAreNotCopied) {
  TfliteModel model = softmax_model();
  model.graphs[0].tensors.push_back(tflite_tensor("weights", T::FLOAT32, {4}, std::string(16, '\0')));
  model.op(0).inputs.push_back(4);
  EXPECT_THAT(import_good(model).constants(), IsEmpty());
}

TEST(TfliteOpaque, ARefusedKernelIsIndexed) {
  TfliteModel model = gather_model();
  add_gather(model);
  model.op(0).axis = 2;
  const Program m = import_good(model);
  ASSERT_EQ(m.opaques().size(), 1u);
  EXPECT_TRUE(m.opaque(0).indexed);
  EXPECT_EQ(m.opaque(0).reason, "gather: axis is 2; expected from -2 to 1 for an operand of rank 2");
  EXPECT_EQ(m.kernels().size(), 1u);
}

TEST(TfliteOpaque, ResourcesHaveNoType) {
  TfliteModel model = softmax_model();
  model.graphs[0].tensors.push_back(tflite_tensor("state", T::RESOURCE, {1}));
  TfliteOperator handle;
  handle.code = C::VAR_HANDLE;
  handle.outputs = {4};
  model.graphs[0].operators.insert(model.graphs[0].operators.begin(), handle);
  model.op(1).inputs = {4};
  model.op(1).code = C::READ_VARIABLE;
  const Program m = import_good(model);
  ASSERT_EQ(m.opaques().size(), 2u);
  EXPECT_EQ(m.opaque(1).operation, "READ_VARIABLE");
  const Value& state = m.value(m.opaque(1).arguments.at(0));
  EXPECT_FALSE(state.is_typed);
  EXPECT_EQ(m.kernels().size(), 1u);
  model.op(2).inputs[0] = 4;
  const Expected<Program> refused = tflite::import_model(model.bytes(), "m.tflite", {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("tensor 4 (state): element type is 13 (RESOURCE)"));
}

TfliteGraph gather_graph(const char* name) {
  TfliteGraph graph = gather_model().graphs[0];
  graph.name = name;
  return graph;
}

/// `code` of the main graph's inputs, with the subgraphs as its regions.
TfliteModel region_model(C code, std::vector<TfliteGraph> regions) {
  TfliteModel model = gather_model();
  model.op().code = code;
  model.op().axis.reset();
  for (TfliteGraph& region : regions) model.graphs.push_back(std::move(region));
  return model;
}

template <class Create>
void set_options(TfliteModel& model, schema::BuiltinOptions type, Create create) {
  model.op().options_type = type;
  model.op().options = [=](flatbuffers::FlatBufferBuilder& builder) { return create(builder).Union(); };
}

TEST(TfliteRegions, KernelsAreNamedByPath) {
  TfliteModel model = region_model(C::IF, {gather_graph("a"), gather_graph("b")});
  set_options(model, schema::BuiltinOptions::IfOptions,
              [](auto& builder) { return schema::CreateTwoSubgraphsOptions(builder, 1, 2); });
  Program m = import_good(model);
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(m.kernel(0).name, "if_0/then/GATHER_0");
  EXPECT_EQ(m.kernel(1).name, "if_0/else/GATHER_0");
  EXPECT_EQ(m.kernel(1).location, "m.tflite: subgraph 2: operator 0 (GATHER)");
  EXPECT_EQ(value_name(m, m.kernel(0).tensor(0)), "if_0/then/params");
  EXPECT_EQ(m.value(m.kernel(0).tensor(0)).kind, ValueKind::opaque);
  ASSERT_EQ(m.opaques().size(), 1u);
  EXPECT_THAT(m.opaque(0).yields, ElementsAre(::testing::_, ::testing::_));
  model.op().code = C::WHILE;
  set_options(model, schema::BuiltinOptions::WhileOptions,
              [](auto& builder) { return schema::CreateTwoSubgraphsOptions(builder, 1, 2); });
  m = import_good(model);
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(m.kernel(1).name, "while_0/body/GATHER_0");
}

TEST(TfliteRegions, CallsAndEntries) {
  TfliteModel model = region_model(C::CALL, {gather_graph("callee"), gather_graph("decode")});
  set_options(model, schema::BuiltinOptions::CallOptions, [](auto& builder) { return schema::CreateCallOptions(builder, 1); });
  Program m = import_good(model);
  ASSERT_EQ(m.kernels().size(), 2u);
  EXPECT_EQ(m.kernel(0).name, "call_0/call/GATHER_0");
  EXPECT_EQ(m.kernel(1).name, "decode/GATHER_0") << "nothing runs this subgraph: it is another entry of the file";
  EXPECT_EQ(m.opaques().at(1).operation, "subgraph decode");
  model.op().code = C::STABLEHLO_COMPOSITE;
  model.op().options_type = {};
  model.op().options_2_type = schema::BuiltinOptions2::CompositeOptions;
  model.op().options = [](flatbuffers::FlatBufferBuilder& builder) {
    return schema::CreateCompositeOptions(builder, 0, 1).Union();
  };
  m = import_good(model);
  EXPECT_EQ(m.kernels().at(0).name, "stablehlo_composite_0/body/GATHER_0");
}

TEST(TfliteRegions, ASubgraphThatRunsItselfEnds) {
  TfliteModel model = region_model(C::CALL, {gather_graph("callee")});
  const auto call = [](flatbuffers::FlatBufferBuilder& builder) { return schema::CreateCallOptions(builder, 1).Union(); };
  model.op().options_type = schema::BuiltinOptions::CallOptions;
  model.op().options = call;
  model.graphs[1].operators.push_back(model.op());
  model.graphs[1].operators[1].outputs.clear();
  EXPECT_EQ(import_good(model).kernels().size(), 1u);
  model.op().options = [](flatbuffers::FlatBufferBuilder& builder) { return schema::CreateCallOptions(builder, 7).Union(); };
  const Expected<Program> refused = tflite::import_model(model.bytes(), "m.tflite", {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), "m.tflite: operator 0 (CALL): its call is subgraph 7, expected from 1 to 1");
}

TEST(TfliteRegions, DeepNestingIsRefused) {
  TfliteModel model = region_model(C::CALL, {});
  const auto call = [](uint32_t number) {
    return [number](flatbuffers::FlatBufferBuilder& builder) { return schema::CreateCallOptions(builder, number).Union(); };
  };
  model.op().options_type = schema::BuiltinOptions::CallOptions;
  model.op().options = call(1);
  const TfliteGraph caller = model.graphs[0];
  for (uint32_t i = 1; i < 100; ++i) {
    model.graphs.push_back(caller);
    model.graphs.back().operators[0].options = call(i + 1);
  }
  model.graphs.push_back(gather_graph("last"));
  const Expected<Program> refused = tflite::import_model(model.bytes(), "m.tflite", {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.status().message(), HasSubstr("subgraphs are nested more than 32 deep"));
}

}  // namespace
}  // namespace strew::testing
