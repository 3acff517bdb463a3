// Small TensorFlow Lite models for tests, as bytes. Fields are public: a test changes the one it is about.
#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/import/tflite/schema.h"

namespace strew::testing {

using TfliteType = tflite::schema::ElementType;
using TfliteCode = tflite::schema::BuiltinOperator;

struct TfliteTensor {
  std::string name;
  TfliteType type = TfliteType::FLOAT32;
  std::vector<int32_t> shape;
  std::string data = {};  ///< of a constant
  std::vector<int32_t> signature = {};
  bool quantized = false, variable = false, sparse = false;
  uint32_t external_buffer = 0;
  std::optional<uint32_t> buffer = {};  ///< instead of one of its own
  float scale = 0.5F;                   ///< if it is quantized
  int64_t zero_point = 0;
};

/// Of STABLEHLO_SCATTER and STABLEHLO_GATHER.
struct TfliteScatterOptions {
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  int32_t region = 1;
  bool sorted = false, unique = false;
};
struct TfliteGatherOptions {
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map, slice_sizes;
  int64_t index_vector_dim = 0;
};

struct TfliteOperator {
  TfliteCode code = TfliteCode::DYNAMIC_UPDATE_SLICE;
  std::vector<int32_t> inputs, outputs;
  std::optional<int> axis = {};  ///< GatherOptions
  int batch_dims = 0;
  std::optional<TfliteScatterOptions> scatter = {};
  std::optional<TfliteGatherOptions> gather = {};
  /// Other options: writes their table.
  std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)> options = {};
  tflite::schema::BuiltinOptions options_type = {};
  tflite::schema::BuiltinOptions2 options_2_type = {};  ///< instead
  std::string custom = {};
  bool old_code = false;  ///< as files before 2020: deprecated_builtin_code only
  std::optional<uint32_t> opcode_index = {};
};

struct TfliteGraph {
  std::string name = "main";
  std::vector<TfliteTensor> tensors;
  std::vector<int32_t> inputs, outputs;
  std::vector<TfliteOperator> operators;
};

/// A buffer outside of the flatbuffer.
struct TfliteBuffer {
  uint64_t offset = 0, size = 0;
};

struct TfliteModel {
  std::vector<TfliteGraph> graphs;
  uint32_t version = 3;
  const char* identifier = "TFL3";
  std::vector<TfliteBuffer> buffers = {};  ///< numbered after those of constants

  TfliteTensor& tensor(size_t i) { return graphs[0].tensors[i]; }
  TfliteOperator& op(size_t i = 0) { return graphs[0].operators[i]; }
  std::string bytes() const;
};

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!out.empty()) std::memcpy(out.data(), values.begin(), out.size());
  return out;
}

/// A constant or, without data, an input.
TfliteTensor tflite_tensor(const char* name, TfliteType type, std::vector<int32_t> shape, std::string data = {});
/// One operator that reads all tensors but the last `outputs`, which it computes.
TfliteModel operator_model(TfliteCode code, std::vector<TfliteTensor> tensors, int outputs = 1);
/// Appends a GATHER of two more inputs, so that the file has a kernel.
void add_gather(TfliteModel& model);

/// f32 operand [4,3], update [2,3], i32 start_indices [2] -> [4,3].
TfliteModel update_slice_model();
/// f32 params [5,3], i32 indices [4] -> [4,3].
TfliteModel gather_model();
/// i32 params [5,3], i32 indices [4,1] -> [4,3].
TfliteModel gather_nd_model();
/// i32 indices [3,1], f32 updates [3,2], shape {4,2} -> [4,2].
TfliteModel scatter_nd_model();
/// f32 input [4,3], i64 scatter_indices [2,1], updates [2,3] -> [4,3], with `combiner` over the region's two inputs (nothing: assign).
TfliteModel stablehlo_scatter_model(std::optional<TfliteCode> combiner);
/// f32 operand [4,3], i64 start_indices [2,1], rows -> [2,3].
TfliteModel stablehlo_gather_model();

}  // namespace strew::testing
