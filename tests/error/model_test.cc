// Whole models on the command line: kernels among operations that strew does not run are found, listed, run one at a time and extracted.
#include <nlohmann/json.hpp>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

OnnxNode node(const std::string& op, const std::string& name, std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {op, name, "", std::move(inputs), std::move(outputs), {}};
}

/// Two lookups in one table, a product between them, and a scatter of what another operation makes.
OnnxModel decoder() {
  OnnxModel m;
  m.opset = 18;
  m.inputs = {{"table", kFloat, {8, 4}},
              {"tokens", kInt64, {3}},
              {"weights", kFloat, {4, 4}},
              {"cache", kFloat, {8, 4}},
              {"slots", kInt64, {3, 1}}};
  m.outputs = {{"logits", kFloat, {3, 4}}, {"present", kFloat, {8, 4}}};
  m.nodes = {node("Gather", "embed", {"table", "tokens"}, {"hidden"}),
             node("MatMul", "project", {"hidden", "weights"}, {"keys"}),
             node("ScatterND", "write", {"cache", "slots", "keys"}, {"present"}),
             node("Gather", "again", {"table", "tokens"}, {"more"}),
             node("MatMul", "mix", {"more", "weights"}, {"mixed"}),
             node("LayerNormalization", "norm", {"mixed", "weights"}, {"logits"})};
  return m;
}

class ModelTest : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write("decoder.onnx", decoder().bytes());
    write_tensor("table.npy", DType::f32, {8, 4}, {});
    write_tensor("keys.npy", DType::f32, {3, 4}, std::string(48, '?'));
    write_indices("tokens.npy", {1, 7, 0});
    write_tensor("slots.npy", DType::i64, {3, 1}, std::string(24, '\0'));
  }
};

TEST_F(ModelTest, CheckCounts) {
  const std::string out = success("check decoder.onnx");
  EXPECT_THAT(out, HasSubstr("decoder.onnx: onnx, 3 kernels (2 distinct), 3 other operations: MatMul 2, LayerNormalization 1\n"));
  EXPECT_THAT(out, HasSubstr("  embed, again: strew1.gather("));
  EXPECT_THAT(out, HasSubstr("  write: strew1.scatter("));
}

TEST_F(ModelTest, CheckListsTheInputsOfEachKernel) {
  const Json json = Json::parse(success("check decoder.onnx --json"));
  EXPECT_EQ(json["distinct"], 2);
  EXPECT_EQ(json["other_operations"]["MatMul"], 2);
  const Json& write = json["kernels"][1];
  EXPECT_EQ(write["name"], "write");
  std::vector<std::string> names;
  for (const Json& input : write["inputs"]) names.push_back(input["name"]);
  EXPECT_THAT(names, ElementsAre("cache", "slots", "keys"));
  EXPECT_EQ(write["inputs"][2]["shape"], Json({3, 4}));
  EXPECT_EQ(write["outputs"][0]["name"], "present");
}

TEST_F(ModelTest, ExplainBeginsWithAnOverview) {
  const std::string out = success("explain decoder.onnx");
  EXPECT_THAT(out, HasSubstr("3 kernels (2 distinct)"));
  EXPECT_THAT(out, HasSubstr("  2 x embed, again: strew1.gather("));
  EXPECT_THAT(
      out,
      HasSubstr(
          "\nkernel embed (decoder.onnx: node embed (Gather)), also again\n  does        hidden[i, :] = table[tokens[i], :]\n"));
  EXPECT_THAT(out, HasSubstr("\nkernel write (decoder.onnx: node write (ScatterND))\n"));
  EXPECT_THAT(out, Not(HasSubstr("guarantees")));
  EXPECT_THAT(success("explain decoder.onnx --kernel write --all"), HasSubstr("guarantees"));
  EXPECT_THAT(success("explain decoder.onnx --all"), HasSubstr("kernel again"));
}

// An operator that is run elsewhere, but not as it stands here, is named with the reason; one that is never run is only counted.
TEST_F(ModelTest, ExplainSaysWhyAnOperationIsNotRun) {
  OnnxModel m = decoder();
  m.inputs.push_back({"unranked", kFloat, {}, false});
  m.nodes.push_back(node("NonZero", "which", {"tokens"}, {"places"}));
  m.nodes.push_back(node("Mystery", "what", {"unranked"}, {"nothing"}));
  write("some.onnx", m.bytes());
  const std::string out = success("explain some.onnx");
  EXPECT_THAT(out, HasSubstr("5 other operations: MatMul 2, LayerNormalization 1, Mystery 1, NonZero 1\n"));
  EXPECT_THAT(out, HasSubstr("  not run: some.onnx: input unranked: "));
  EXPECT_THAT(out, HasSubstr("  not run: some.onnx: node which (NonZero): its input is computed when the model runs"));
  EXPECT_THAT(out, Not(HasSubstr("not run: some.onnx: node what")));
}

TEST_F(ModelTest, RunOfTheWholeSaysWhichKernelsThereAre) {
  const std::string message = failure(1, "run decoder.onnx --input table.npy");
  EXPECT_THAT(message, HasSubstr("MatMul 2, LayerNormalization 1"));
  EXPECT_THAT(message, HasSubstr("--kernel NAME --input VALUE=FILE"));
  EXPECT_THAT(message, HasSubstr("embed, write, again"));
}

TEST_F(ModelTest, AKernelRunsOnNamedValues) {
  success("run decoder.onnx --kernel write --input keys=keys.npy cache=table.npy slots=slots.npy --output out.npy --verify");
  EXPECT_TRUE(exists("out.npy"));
  // In the order in which check --json lists them; and one of the file's own inputs by its name.
  success("run decoder.onnx --kernel write --input table.npy slots.npy keys.npy --output out2.npy");
  EXPECT_EQ(read("out.npy"), read("out2.npy"));
  success("run decoder.onnx --kernel embed --input tokens=tokens.npy table.npy --output rows.npy");
  EXPECT_THAT(failure(2, "run decoder.onnx --kernel embed --input keys=keys.npy table.npy"),
              HasSubstr("kernel embed does not need it, expected table"));
  EXPECT_THAT(failure(2, "run decoder.onnx --kernel embed --input table=table.npy table=table.npy tokens.npy"),
              HasSubstr("given twice"));
  EXPECT_THAT(failure(2, "run decoder.onnx --kernel nothing --input table.npy"),
              HasSubstr("expected one of: embed, write, again"));
}

TEST_F(ModelTest, ExtractWritesEachDistinctKernel) {
  EXPECT_THAT(success("extract decoder.onnx -o kernels --data"), HasSubstr("2 files and kernels.json"));
  const Json json = Json::parse(read("kernels/kernels.json"));
  ASSERT_EQ(json["kernels"].size(), 2U);
  const Json& embed = json["kernels"][0];
  EXPECT_EQ(embed["count"], 2);
  EXPECT_EQ(embed["kernels"][1]["name"], "again");
  EXPECT_EQ(embed["kernels"][0]["tensors"][0]["value"], "hidden");
  // The files are what `strew run` takes, and the reference's results are what it makes.
  for (const Json& kernel : json["kernels"]) {
    std::string inputs;
    for (const Json& input : kernel["data"]["inputs"]) inputs += " kernels/" + input.get<std::string>();
    success("run kernels/" + kernel["file"].get<std::string>() + " --input" + inputs + " --output made.npy");
    EXPECT_EQ(read("made.npy"), read("kernels/" + kernel["data"]["results"][0].get<std::string>()));
  }
  EXPECT_THAT(failure(1, "extract decoder.onnx -o table.npy/x"), HasSubstr("the folder cannot be made"));
  EXPECT_THAT(failure(2, "extract decoder.onnx"), HasSubstr("-o: it is missing"));
}

// A gather that is refused is named with its reason, and refuses nothing else.
TEST_F(ModelTest, ARefusedKernelRefusesNoOther) {
  OnnxModel m = decoder();
  m.nodes.push_back(node("GatherND", "bad", {"table", "table"}, {"nothing"}));
  write("bad.onnx", m.bytes());
  const std::string out = success("check bad.onnx");
  EXPECT_THAT(out, HasSubstr("3 kernels (2 distinct)"));
  EXPECT_THAT(out, HasSubstr("refused: "));
  EXPECT_THAT(out, HasSubstr("node bad (GatherND): indices has dtype f32"));
}

// The graphs of If, Loop and Scan are walked, and their kernels are named by path.
TEST_F(ModelTest, KernelsInSubgraphsAreNamedByPath) {
  OnnxModel m = decoder();
  ProtoWriter branch, gather;
  gather.text(1, "table").text(1, "tokens").text(2, "inner").text(3, "look").text(4, "Gather");
  branch.message(1, gather).text(2, "branch").message(12, OnnxModel::value_info({"inner", kFloat, {3, 4}}));
  OnnxNode choice = node("If", "choice", {"condition"}, {"chosen"});
  choice.attributes = {ProtoWriter().text(1, "then_branch").message(6, branch).varint(20, 5)};
  m.inputs.push_back({"condition", kBool, {}});
  m.nodes.push_back(choice);
  write("if.onnx", m.bytes());
  const std::string out = success("check if.onnx");
  EXPECT_THAT(out, HasSubstr("4 kernels (2 distinct), 4 other operations: MatMul 2, If 1, LayerNormalization 1"));
  EXPECT_THAT(out, HasSubstr("choice/then_branch/look"));
  success("run if.onnx --kernel choice/then_branch/look --input table.npy tokens.npy --output rows.npy");
}

// The names that the file gives to extents stand in place of `?`; two inputs with one name must have one extent.
TEST_F(ModelTest, ExtentsHaveTheFilesNames) {
  OnnxModel m = onnx_scatter_model("ScatterND", {kSymbolic, 4}, {kSymbolic, 1}, {kSymbolic, 4});
  m.inputs[0].symbols = {"slots", ""};
  m.inputs[1].symbols = m.inputs[2].symbols = {"seq", ""};
  write("named.onnx", m.bytes());
  const std::string tensors =
      "result output f32[slots,4], operand data f32[slots,4], indices indices i64[seq,1], updates updates f32[seq,4]";
  const std::string check = success("check named.onnx");
  EXPECT_THAT(check, HasSubstr("operand=f32[?,4] indices=i64[?,1]")) << "the op's text has no names";
  EXPECT_THAT(check, HasSubstr("\n    " + tensors + "\n"));
  const Json json = Json::parse(success("check named.onnx --json"))["kernels"][0];
  EXPECT_EQ(json["inputs"][0]["shape"], Json::parse(R"(["slots", 4])"));
  EXPECT_EQ(json["inputs"][2]["shape"], Json::parse(R"(["seq", 4])"));
  EXPECT_EQ(json["outputs"][0]["shape"], Json::parse(R"(["slots", 4])"));
  EXPECT_THAT(success("explain named.onnx --all"), HasSubstr("  tensors     " + tensors + "\n"));
  EXPECT_EQ(Json::parse(success("explain named.onnx --json"))["kernels"][0]["tensors"], tensors);
  success("extract named.onnx -o kernels");
  EXPECT_EQ(Json::parse(read("kernels/kernels.json"))["kernels"][0]["kernels"][0]["tensors"][1]["dims"],
            Json::parse(R"(["slots", 4])"));
  write_tensor("flat.npy", DType::f32, {4}, {});
  success("run named.onnx --input table.npy slots.npy keys.npy --output out.npy");
  EXPECT_THAT(failure(1, "run named.onnx --input table.npy slots.npy table.npy --output out.npy"),
              HasSubstr("extent seq: dim 0 of input 2 (updates) is 8, expected 3, which dim 0 of input 1 (indices) is"));
  EXPECT_THAT(failure(1, "run named.onnx --input flat.npy slots.npy keys.npy --output out.npy"),
              HasSubstr("expected f32[slots,4]"));
  EXPECT_THAT(failure(2, "run named.onnx --input table.npy --output out.npy"), HasSubstr("indices i64[seq,1]"));
  // Without names there is no line.
  EXPECT_THAT(success("check decoder.onnx"), Not(HasSubstr("operand table")));
}

// A module that JAX wrote has XLA's rule; check says so, and which kernels keep their policies under --oob.
TEST_F(ModelTest, CheckSaysWhichOutOfBoundsRuleHoldsAndWhy) {
  write("jax.mlir",
        "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
        "func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<8x4xf32>) {\n"
        "  %0 = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = "
        "[0], "
        "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf32>, tensor<3x1xi32>) -> "
        "tensor<3x4xf32>\n"
        "  %1 = \"stablehlo.scatter\"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({\n"
        "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    stablehlo.return %b : tensor<f32>\n"
        "  }) : (tensor<8x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>\n"
        "  return %0, %1 : tensor<3x4xf32>, tensor<8x4xf32>\n}\n}\n");
  const std::string out = success("check jax.mlir");
  EXPECT_THAT(
      out, HasSubstr("  main_2: policy skip_window: a window that does not fit is dropped whole, XLA's rule: the module has the "
                     "attribute 'mhlo.num_partitions'\n"));
  EXPECT_THAT(out, HasSubstr("  main: policy clamp: "));
  const std::string asked = success("check jax.mlir --oob skip_element");
  EXPECT_THAT(asked, HasSubstr("  main: keeps its policy: a gather has no skip_element\n"));
  EXPECT_THAT(asked, Not(HasSubstr("main_2: policy")));
  EXPECT_THAT(success("check decoder.onnx"), Not(HasSubstr("policy")));
}

}  // namespace
}  // namespace strew::testing
