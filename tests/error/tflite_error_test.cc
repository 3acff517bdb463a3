// Broken TensorFlow Lite files: one line that names the file, the operator or tensor, what is wrong and what was expected. Each row
// changes one piece of a file that imports; the last tests cut and flip bytes of whole files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "compiler/import/tflite/tflite.h"
#include "strew/import.h"
#include "tests/support/limited.h"
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string message_of(const std::string& bytes) {
  const Expected<Program> out = tflite::import_model(bytes, "m.tflite", {});
  if (out.ok()) return "imported";
  EXPECT_TRUE(out.status().code() == Code::invalid_argument || out.status().code() == Code::unsupported)
      << out.status().message();
  return out.status().message();
}

struct Row {
  TfliteModel model;
  std::function<void(TfliteModel&)> damage;
  std::string message;  ///< after "m.tflite: "
};

void check(std::vector<Row> rows) {
  for (Row& row : rows) {
    EXPECT_EQ(message_of(row.model.bytes()), "imported") << "before: " << row.message;
    row.damage(row.model);
    EXPECT_EQ(message_of(row.model.bytes()), "m.tflite: " + row.message);
    const test::Refusal cli = test::refusal(row.model.bytes(), ".tflite");
    EXPECT_EQ(cli.wrong, "") << cli.message;
    EXPECT_EQ(cli.message, "FILE: " + row.message);
  }
}

using M = TfliteModel;
const std::string kSlice = "operator 0 (DYNAMIC_UPDATE_SLICE): ", kGather = "operator 0 (GATHER): ",
                  kGatherNd = "operator 0 (GATHER_ND): ", kScatterNd = "operator 0 (SCATTER_ND): ",
                  kScatter = "operator 0 (STABLEHLO_SCATTER): ", kStableGather = "operator 0 (STABLEHLO_GATHER): ";
const std::string kNoValue =
    "which has no data and nothing before gives it a value, expected an input, a constant or the result of an earlier operator";

TEST(TfliteError, Files) {
  EXPECT_EQ(message_of(""), "m.tflite: not a TensorFlow Lite model (0 bytes), expected the identifier TFL3 at byte 4");
  EXPECT_EQ(message_of("\x8\0\0\0TFL"),
            "m.tflite: not a TensorFlow Lite model (1 bytes), expected the identifier TFL3 at byte 4");
  EXPECT_EQ(message_of("a text that is no model"),
            "m.tflite: not a TensorFlow Lite model (23 bytes), expected the identifier TFL3 at byte 4");
  EXPECT_EQ(message_of(std::string("\xff\xff\xff\x7fTFL3", 8) + std::string(92, '\0')),
            "m.tflite: not a TensorFlow Lite model (100 bytes), expected a flatbuffer that its verifier accepts; the file is "
            "truncated or "
            "damaged");
  check({
      {gather_model(), [](M& m) { m.version = 2; }, "the schema's version is 2, expected 3"},
      {gather_model(), [](M& m) { m.graphs.clear(); }, "the model has no subgraphs, expected at least one"},
  });
  TfliteModel other = gather_model();
  other.identifier = "TFL2";
  EXPECT_THAT(message_of(other.bytes()), HasSubstr("expected the identifier TFL3 at byte 4"));
}

TEST(TfliteError, Operators) {
  const std::string known =
      "GATHER, GATHER_ND, EMBEDDING_LOOKUP, SCATTER_ND, SPARSE_TO_DENSE, SEGMENT_SUM, UNSORTED_SEGMENT_SUM, "
      "UNSORTED_SEGMENT_PROD, "
      "UNSORTED_SEGMENT_MAX, UNSORTED_SEGMENT_MIN, DYNAMIC_UPDATE_SLICE, STABLEHLO_SCATTER, STABLEHLO_GATHER";
  check({
      {gather_model(), [](M& m) { m.op().code = TfliteCode::ADD; },
       "operator 0 (ADD) is not an indexed op, expected one of: " + known},
      {gather_model(),
       [](M& m) {
         m.op().code = TfliteCode::CUSTOM;
         m.op().custom = "odml.cache_update";
       },
       "operator 0 (custom odml.cache_update) is not an indexed op, expected one of: " + known},
      {gather_model(), [](M& m) { m.op().code = static_cast<TfliteCode>(4711); },
       "operator 0 (number 4711) is not an indexed op, expected one of: " + known},
      {gather_model(), [](M& m) { m.op().code = static_cast<TfliteCode>(-5); },
       "operator 0 (number -5) is not an indexed op, expected one of: " + known},
      {gather_model(), [](M& m) { m.graphs[0].operators.clear(); },
       "the main graph has no operators, expected at least one of: " + known},
      {gather_model(), [](M& m) { m.op().opcode_index = 7; }, "operator 0: opcode_index is 7, expected less than 1"},
      {gather_model(), [](M& m) { m.op().inputs = {0}; }, kGather + "it has 1 inputs, expected 2"},
      {gather_model(), [](M& m) { m.op().inputs.clear(); }, kGather + "it has 0 inputs, expected 2"},
      {update_slice_model(), [](M& m) { m.op().inputs.push_back(0); }, kSlice + "it has 4 inputs, expected 3"},
      {gather_model(), [](M& m) { m.op().outputs.clear(); }, kGather + "it has 0 outputs, expected 1"},
      {gather_model(), [](M& m) { m.op().inputs[1] = -1; }, kGather + "input 1 (indices) is left out (-1), expected a tensor"},
      {gather_model(), [](M& m) { m.op().inputs[1] = -2; }, kGather + "input 1 (indices) is tensor -2, expected from 0 to 2"},
      {gather_model(), [](M& m) { m.op().inputs[0] = 3; }, kGather + "input 0 (params) is tensor 3, expected from 0 to 2"},
      {gather_model(), [](M& m) { m.op().outputs[0] = 99; }, kGather + "output 0 is tensor 99, expected from 0 to 2"},
      {gather_model(), [](M& m) { m.op().inputs[0] = 2; }, kGather + "input 0 (params) is tensor 2 (out), " + kNoValue},
      {gather_nd_model(), [](M& m) { m.op().outputs[0] = 0; },
       kGatherNd + "output 0 is tensor 0 (params), which has a value already, expected one that nothing else gives"},
  });
}

TEST(TfliteError, Graphs) {
  check({
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {0, 17};
       },
       "input 1 is tensor 17, expected from 0 to 2"},
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {0, 1, 0};
       },
       "input 2 is tensor 0 (params), which has a value already, expected one that nothing else gives"},
      {gather_model(), [](M& m) { m.graphs[0].inputs = {0}; }, kGather + "input 1 (indices) is tensor 1 (indices), " + kNoValue},
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {0, 1, 2};
       },
       kGather + "output 0 is tensor 2 (out), which has a value already, expected one that nothing else gives"},
      {gather_model(), [](M& m) { m.graphs[0].outputs.clear(); }, "the main graph has no outputs, expected at least one"},
      {gather_model(), [](M& m) { m.graphs[0].outputs = {-1}; }, "output 0 is tensor -1, expected from 0 to 2"},
      {gather_model(),
       [](M& m) {
         m.graphs[0].tensors.push_back({"loose", TfliteType::FLOAT32, {1}});
         m.graphs[0].outputs = {2, 3};
       },
       "output 1 is tensor 3 (loose), " + kNoValue},
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {1};
         m.tensor(0).variable = true;
       },
       kGather + "input 0 (params) is tensor 0 (params), a variable, expected an input, a constant or the result of an earlier "
                 "operator"},
  });
}

TEST(TfliteError, Tensors) {
  check({
      {gather_model(), [](M& m) { m.tensor(0).type = TfliteType::RESOURCE; },
       "tensor 0 (params): element type is 13 (RESOURCE), expected one of numbers or strings"},
      {gather_model(), [](M& m) { m.tensor(0).type = static_cast<TfliteType>(77); },
       "tensor 0 (params): element type is 77, expected one of numbers or strings"},
      {gather_model(), [](M& m) { m.tensor(0).sparse = true; },
       "tensor 0 (params): it is stored sparse, expected a dense tensor"},
      {gather_model(),
       [](M& m) {
         m.tensor(0).shape = {5, -3};
       },
       "tensor 0 (params): dim 1 is -3, expected at least 0"},
      {gather_model(), [](M& m) { m.tensor(0).shape.assign(65, 1); }, "tensor 0 (params): rank is 65, expected at most 64"},
      {gather_model(), [](M& m) { m.tensor(0).signature.assign(100, -1); },
       "tensor 0 (params): rank is 100, expected at most 64"},
      {gather_model(), [](M& m) { m.tensor(0).signature = {-1}; },
       "tensor 0 (params): shape_signature has 1 entries, expected shape's 2"},
      {gather_model(),
       [](M& m) {
         m.tensor(0).signature = {-1, 4};
       },
       "tensor 0 (params): shape_signature[1] is 4, expected -1 or shape's 3"},
      {gather_model(),
       [](M& m) {
         m.tensor(0).signature = {-2, 3};
       },
       "tensor 0 (params): shape_signature[0] is -2, expected -1 or shape's 5"},
      {gather_model(),
       [](M& m) {
         m.tensor(2).shape = {4, 4};
       },
       kGather + "output 0 (out) is declared as f32[4,4], expected what the operator computes: f32[4,3]"},
      {gather_model(), [](M& m) { m.tensor(2).type = TfliteType::INT32; },
       kGather + "output 0 (out) is declared as i32[4,3], expected what the operator computes: f32[4,3]"},
  });
  TfliteModel huge = gather_model();
  huge.tensor(0).shape.assign(4, 0x7fffffff);
  EXPECT_THAT(message_of(huge.bytes()),
              StartsWith("m.tflite: tensor 0 (params): dim 1 is 2147483647: the number of elements does not fit 63 bits"));
}

TEST(TfliteError, Constants) {
  const auto constant = [](std::string data) {
    return [data](M& m) {
      m.graphs[0].inputs = {0};
      m.tensor(1).data = data;
    };
  };
  const auto strings = [](std::initializer_list<int32_t> head, std::string text) {
    return [data = bytes_of<int32_t>(head) + text](M& m) {
      m.graphs[0].inputs = {1};
      m.tensor(0) = {"params", TfliteType::STRING, {2}, data};
      m.tensor(2) = {"out", TfliteType::STRING, {4}};
    };
  };
  check({
      {gather_model(), constant(std::string(15, '\0')),
       "tensor 1 (indices): its buffer has 15 bytes, expected 16 for 4 elements of i32"},
      {gather_model(), constant(std::string(20, '\0')),
       "tensor 1 (indices): its buffer has 20 bytes, expected 16 for 4 elements of i32"},
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {0};
         m.tensor(1).buffer = 9;
       },
       "tensor 1 (indices): buffer is 9, expected less than 1"},
      {gather_model(),
       [](M& m) {
         m.graphs[0].inputs = {0};
         m.tensor(1).external_buffer = 2;
       },
       "tensor 1 (indices): its data is external buffer 2, in another file; expected data inside this one"},
      {gather_model(), strings({3, 20, 20, 20, 20}, ""), "tensor 0 (params): the buffer holds 3 strings, expected 2"},
      {gather_model(), strings({2, 16}, ""),
       "tensor 0 (params): the buffer has 8 bytes, expected at least 16 for the offsets of 2 strings"},
      {gather_model(), strings({2, 16, 18, 40}, "abcd"),
       "tensor 0 (params): string 1 lies at bytes 18 to 40 of the buffer, expected between 16 and 20, in order"},
      {gather_model(), strings({2, 16, 8, 20}, "abcd"),
       "tensor 0 (params): string 0 lies at bytes 16 to 8 of the buffer, expected between 16 and 20, in order"},
      {gather_model(), strings({2, -4, 16, 20}, "abcd"),
       "tensor 0 (params): string 0 lies at bytes -4 to 16 of the buffer, expected between 16 and 20, in order"},
  });
}

TEST(TfliteError, BuffersOutsideOfTheFile) {
  for (const TfliteBuffer& buffer :
       {TfliteBuffer{~uint64_t{0} - 3, 16}, TfliteBuffer{16, ~uint64_t{0}}, TfliteBuffer{1 << 20, 16}}) {
    TfliteModel model = gather_model();
    model.graphs[0].inputs = {0};
    model.tensor(1).buffer = 1;
    model.buffers = {buffer};
    const std::string bytes = model.bytes();
    EXPECT_EQ(message_of(bytes), "m.tflite: tensor 1 (indices): buffer 1 has offset " + std::to_string(buffer.offset) +
                                     " and size " + std::to_string(buffer.size) + ", expected within the file's " +
                                     std::to_string(bytes.size()) + " bytes");
  }
}

TEST(TfliteError, UpdateSlices) {
  check({
      {update_slice_model(), [](M& m) { m.tensor(1).type = TfliteType::FLOAT16; },
       kSlice + "update has dtype f16, expected operand's f32"},
      {update_slice_model(), [](M& m) { m.tensor(1).shape = {2}; }, kSlice + "update has rank 1, expected 2, operand's"},
      {update_slice_model(),
       [](M& m) {
         m.tensor(1).shape = {5, 3};
       },
       kSlice + "dim 0 of update is 5, expected at most 4, dim 0 of operand: update is [5,3] and operand is [4,3]"},
      {update_slice_model(), [](M& m) { m.tensor(2).type = TfliteType::INT16; },
       kSlice + "start_indices has element type i16, expected i32 or i64"},
      {update_slice_model(), [](M& m) { m.tensor(2).type = TfliteType::FLOAT32; },
       kSlice + "start_indices has element type f32, expected i32 or i64"},
      {update_slice_model(), [](M& m) { m.tensor(2).shape = {3}; },
       kSlice + "start_indices has rank 1 and 3 elements, expected rank 1 and one element per dim of operand: 2"},
      {update_slice_model(),
       [](M& m) {
         m.tensor(2).shape = {1, 2};
       },
       kSlice + "start_indices has rank 2, expected rank 1 and one element per dim of operand: 2"},
  });
}

TEST(TfliteError, Gathers) {
  check({
      {gather_model(), [](M& m) { m.op().axis = 2; },
       kGather + "gather: axis is 2; expected from -2 to 1 for an operand of rank 2"},
      {gather_model(), [](M& m) { m.op().axis = -3; },
       kGather + "gather: axis is -3; expected from -2 to 1 for an operand of rank 2"},
      {gather_model(), [](M& m) { m.op().batch_dims = 1; },
       kGather + "gather: batch_dims is 1; expected from 0 to 0, at most axis and the rank of indices"},
      {gather_model(), [](M& m) { m.op().batch_dims = -2; },
       kGather + "batch_dims is -2, expected at least -1, the rank of indices"},
      {gather_nd_model(), [](M& m) { m.tensor(1).shape = {}; },
       kGatherNd +
           "gather_nd: batch_dims is 0; expected from 0 to 0, less than the rank of indices and at most the rank of operand"},
      {gather_nd_model(),
       [](M& m) {
         m.tensor(1).shape = {4, 3};
       },
       kGatherNd + "gather_nd: the last dim of indices, the length of its index vectors, is 3; expected from 0 to 2"},
      {gather_nd_model(),
       [](M& m) {
         m.tensor(1).signature = {4, -1};
       },
       kGatherNd + "gather_nd: the last dim of indices, the length of its index vectors, is ?; expected a static extent"},
      {stablehlo_gather_model(), [](M& m) { m.op().gather.reset(); },
       kStableGather + "it has no StablehloGatherOptions, expected them in builtin_options_2"},
  });
  for (const auto& damage : std::vector<std::function<void(M&)>>{
           [](M& m) { m.op().gather->offset_dims = {7}; },
           [](M& m) { m.op().gather->collapsed_slice_dims = {-1}; },
           [](M& m) {
             m.op().gather->start_index_map = {0, 1};
           },
           [](M& m) { m.op().gather->index_vector_dim = 3; },
           [](M& m) {
             m.op().gather->slice_sizes = {1, 4};
           },
           [](M& m) {
             m.op().gather->slice_sizes = {1, int64_t{1} << 62};
           },
           [](M& m) { m.op().gather->slice_sizes.clear(); },
           [](M& m) { m.op().gather->offset_dims.assign(1000, 0); },
           [](M& m) { m.tensor(1).type = TfliteType::FLOAT32; },
       }) {
    TfliteModel model = stablehlo_gather_model();
    damage(model);
    EXPECT_THAT(message_of(model.bytes()), StartsWith("m.tflite: " + kStableGather));
  }
  TfliteModel floats = gather_model();
  floats.tensor(1).type = TfliteType::FLOAT32;
  EXPECT_THAT(message_of(floats.bytes()), StartsWith("m.tflite: " + kGather));
}

TEST(TfliteError, Scatters) {
  check({
      {scatter_nd_model(),
       [](M& m) {
         m.tensor(2).data.clear();
         m.tensor(2).signature = {-1};
         m.graphs[0].inputs = {0, 1, 2};
       },
       kScatterNd + "input 2 (shape) is i32[?], expected a known number of elements"},
      {scatter_nd_model(),
       [](M& m) {
         m.tensor(2).data = bytes_of<int32_t>({4, -2});
       },
       kScatterNd + "shape: dim 1 is -2, expected at least 0"},
      {scatter_nd_model(),
       [](M& m) {
         m.tensor(2).shape = {1, 2};
       },
       kScatterNd + "input 2 (shape) has rank 2, expected 1"},
      {scatter_nd_model(), [](M& m) { m.tensor(2).type = TfliteType::FLOAT32; },
       kScatterNd + "input 2 (shape) has element type f32, expected i32 or i64"},
      {scatter_nd_model(),
       [](M& m) {
         m.tensor(2).shape = {70};
         m.tensor(2).data = std::string(280, '\0');
       },
       kScatterNd + "shape has 70 elements, expected at most 64"},
      {stablehlo_scatter_model({}), [](M& m) { m.op().scatter.reset(); },
       kScatter + "it has no StablehloScatterOptions, expected them in builtin_options_2"},
      {stablehlo_scatter_model({}), [](M& m) { m.tensor(2).type = TfliteType::FLOAT16; },
       kScatter + "updates has dtype f16, expected input's f32"},
  });
  TfliteModel wide = scatter_nd_model();
  wide.tensor(2).type = TfliteType::INT64;
  wide.tensor(2).data = bytes_of<int64_t>({int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_THAT(message_of(wide.bytes()), StartsWith("m.tflite: " + kScatterNd +
                                                   "shape: dim 1 is 1099511627776: the number of elements does not fit 63 bits"));
  for (const auto& damage : std::vector<std::function<void(M&)>>{
           [](M& m) {
             m.tensor(1).shape = {2, 3};
           },
           [](M& m) {
             m.tensor(2).data = bytes_of<int32_t>({4, 3});
           },
           [](M& m) {
             m.tensor(0).shape = {3, 3};
           },
           [](M& m) { m.tensor(0).shape = {}; },
           [](M& m) { m.tensor(0).type = TfliteType::BOOL; },
           [](M& m) { m.tensor(1).type = TfliteType::STRING; },
       }) {
    TfliteModel model = scatter_nd_model();
    damage(model);
    EXPECT_THAT(message_of(model.bytes()), StartsWith("m.tflite: " + kScatterNd));
  }
  for (const auto& damage : std::vector<std::function<void(M&)>>{
           [](M& m) {
             m.op().scatter->update_window_dims = {1, 0};
           },
           [](M& m) { m.op().scatter->update_window_dims = {9}; },
           [](M& m) { m.op().scatter->inserted_window_dims.clear(); },
           [](M& m) { m.op().scatter->scatter_dims_to_operand_dims = {2}; },
           [](M& m) { m.op().scatter->index_vector_dim = -1; },
           [](M& m) {
             m.tensor(2).shape = {3, 3};
           },
       }) {
    TfliteModel model = stablehlo_scatter_model({});
    damage(model);
    EXPECT_THAT(message_of(model.bytes()), StartsWith("m.tflite: " + kScatter));
  }
}

TEST(TfliteError, Regions) {
  const std::string region = kScatter + "its region, subgraph 1, ";
  const TfliteModel add = stablehlo_scatter_model(TfliteCode::STABLEHLO_ADD), assign = stablehlo_scatter_model({});
  check({
      {assign, [](M& m) { m.op().scatter->region = 2; },
       kScatter + "update_computation_subgraph_index is 2, expected from 1 to 1"},
      {assign, [](M& m) { m.op().scatter->region = 0; },
       kScatter + "update_computation_subgraph_index is 0, expected from 1 to 1"},
      {assign, [](M& m) { m.op().scatter->region = -1; },
       kScatter + "update_computation_subgraph_index is -1, expected from 1 to 1"},
      {assign, [](M& m) { m.graphs[1].outputs = {0}; },
       region + "has no operator and returns tensor 0, expected its second input, 1, or one operator"},
      {assign, [](M& m) { m.graphs[1].inputs = {0}; },
       region + "has 1 inputs and 1 outputs, expected two tensors (current, update) and 1"},
      {assign, [](M& m) { m.graphs[1].outputs.clear(); },
       region + "has 2 inputs and 0 outputs, expected two tensors (current, update) and 1"},
      {add, [](M& m) { m.graphs[1].operators.push_back(m.graphs[1].operators[0]); },
       region + "has 2 operators, expected at most 1"},
      {add,
       [](M& m) {
         m.graphs[1].operators[0].inputs = {0, 0};
       },
       region +
           "operator 0 (STABLEHLO_ADD) does not combine the region's two inputs into its output, expected current and update"},
      {add, [](M& m) { m.graphs[1].operators[0].outputs = {1}; },
       region +
           "operator 0 (STABLEHLO_ADD) does not combine the region's two inputs into its output, expected current and update"},
      {stablehlo_scatter_model(TfliteCode::STABLEHLO_SUBTRACT),
       [](M& m) {
         m.graphs[1].operators[0].inputs = {1, 0};
       },
       region + "operator 0 (STABLEHLO_SUBTRACT) does not combine the region's two inputs into its output, expected current and "
                "update in "
                "this order"},
      {add, [](M& m) { m.graphs[1].operators[0].code = TfliteCode::POW; },
       region + "operator 0 (POW) is no combiner, expected one of: ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM, LOGICAL_AND, "
                "LOGICAL_OR, BITWISE_XOR, STABLEHLO_ADD, STABLEHLO_AND, STABLEHLO_DIVIDE, STABLEHLO_MAXIMUM, STABLEHLO_MINIMUM, "
                "STABLEHLO_MULTIPLY, STABLEHLO_OR, STABLEHLO_SUBTRACT"},
  });
}

TEST(TfliteError, DamagedBytesNeverCrash) {
  for (const TfliteModel& model :
       {update_slice_model(), scatter_nd_model(), stablehlo_scatter_model(TfliteCode::STABLEHLO_ADD)}) {
    const std::string good = model.bytes();
    for (size_t cut = 0; cut < good.size(); ++cut) EXPECT_NE(message_of(good.substr(0, cut)), "imported") << cut;
    for (size_t at = 0; at < good.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
        const std::string message = message_of(bad);
        if (message != "imported") {
          EXPECT_THAT(message, StartsWith("m.tflite: ")) << "byte " << at << " bit " << bit;
        }
      }
    }
  }
}

/// A vector of a million subgraphs that are all the same one: the verifier's count ends it.
TEST(TfliteError, RepeatedTablesEndInTime) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<tflite::schema::Tensor>> tensors(1000, tflite::schema::CreateTensor(builder));
  const auto shared = tflite::schema::CreateSubGraphDirect(builder, &tensors);
  std::vector<flatbuffers::Offset<tflite::schema::SubGraph>> subgraphs(1'000'000, shared);
  builder.Finish(tflite::schema::CreateModelDirect(builder, 3, nullptr, &subgraphs), "TFL3");
  const test::Refusal cli =
      test::refusal({reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()}, ".tflite");
  EXPECT_EQ(cli.wrong, "");
  EXPECT_THAT(cli.message, HasSubstr("expected a flatbuffer that its verifier accepts"));
}

}  // namespace
}  // namespace strew::testing
