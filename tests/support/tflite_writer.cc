// Writes models with flatbuffers' own builder through the header generated from compiler/import/tflite/tflite.fbs. That real files look
// the same is what tests/oracle/litert_models.py shows, whose models come from LiteRT's schema.
#include "tests/support/tflite_writer.h"

namespace strew::testing {
namespace {

namespace schema = tflite::schema;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

/// Collects what all graphs of a model share.
struct Writer {
  FlatBufferBuilder builder;
  std::vector<Offset<schema::OperatorCode>> codes;
  std::vector<Offset<schema::Buffer>> buffers;

  Offset<schema::Tensor> tensor(const TfliteTensor& t) {
    uint32_t buffer = t.buffer.value_or(0);
    if (!t.data.empty()) {
      builder.ForceVectorAlignment(t.data.size(), 1, 16);
      const auto data = builder.CreateVector(reinterpret_cast<const uint8_t*>(t.data.data()), t.data.size());
      buffer = t.buffer.value_or(static_cast<uint32_t>(buffers.size()));
      buffers.push_back(schema::CreateBuffer(builder, data));
    }
    const auto shape = builder.CreateVector(t.shape);
    const auto name = builder.CreateString(t.name);
    Offset<flatbuffers::Vector<int32_t>> signature;
    if (!t.signature.empty()) signature = builder.CreateVector(t.signature);
    Offset<schema::Quantization> quantization;
    if (t.quantized) {
      const auto scale = builder.CreateVector(std::vector<float>{t.scale});
      const auto zero = builder.CreateVector(std::vector<int64_t>{t.zero_point});
      quantization = schema::CreateQuantization(builder, scale, zero);
    }
    Offset<schema::Present> sparsity;
    if (t.sparse) sparsity = schema::CreatePresent(builder);
    schema::TensorBuilder b(builder);
    b.add_shape(shape);
    b.add_type(t.type);
    b.add_buffer(buffer);
    b.add_name(name);
    if (t.quantized) b.add_quantization(quantization);
    b.add_is_variable(t.variable);
    if (t.sparse) b.add_sparsity(sparsity);
    if (!t.signature.empty()) b.add_shape_signature(signature);
    b.add_external_buffer(t.external_buffer);
    return b.Finish();
  }

  uint32_t code(const TfliteOperator& op) {
    const auto narrow = static_cast<int8_t>(std::min(static_cast<int>(op.code), 127));
    const auto custom = op.custom.empty() ? Offset<flatbuffers::String>() : builder.CreateString(op.custom);
    codes.push_back(schema::CreateOperatorCode(builder, narrow, custom, 1, op.old_code ? TfliteCode::ADD : op.code));
    return static_cast<uint32_t>(codes.size()) - 1;
  }

  Offset<schema::Operator> op(const TfliteOperator& o) {
    const uint32_t opcode = o.opcode_index.value_or(code(o));
    const auto inputs = builder.CreateVector(o.inputs), outputs = builder.CreateVector(o.outputs);
    Offset<void> options, options2;
    if (o.axis) options = schema::CreateGatherOptions(builder, *o.axis, o.batch_dims).Union();
    if (o.scatter) {
      options2 = schema::CreateStablehloScatterOptionsDirect(
                     builder, o.scatter->sorted, &o.scatter->update_window_dims, &o.scatter->inserted_window_dims,
                     &o.scatter->scatter_dims_to_operand_dims, o.scatter->index_vector_dim, o.scatter->unique, o.scatter->region)
                     .Union();
    }
    if (o.gather) {
      options2 = schema::CreateStablehloGatherOptionsDirect(builder, &o.gather->offset_dims, &o.gather->collapsed_slice_dims,
                                                            &o.gather->start_index_map, o.gather->index_vector_dim,
                                                            &o.gather->slice_sizes)
                     .Union();
    }
    if (o.options) (o.options_2_type == schema::BuiltinOptions2::NONE ? options : options2) = o.options(builder);
    schema::OperatorBuilder b(builder);
    b.add_opcode_index(opcode);
    b.add_inputs(inputs);
    b.add_outputs(outputs);
    if (o.axis) {
      b.add_builtin_options_type(schema::BuiltinOptions::GatherOptions);
      b.add_builtin_options(options);
    }
    if (o.options && o.options_2_type == schema::BuiltinOptions2::NONE) {
      b.add_builtin_options_type(o.options_type);
      b.add_builtin_options(options);
    } else if (o.options) {
      b.add_builtin_options_2_type(o.options_2_type);
      b.add_builtin_options_2(options2);
    }
    if (o.scatter || o.gather) {
      b.add_builtin_options_2_type(o.scatter ? schema::BuiltinOptions2::StablehloScatterOptions
                                             : schema::BuiltinOptions2::StablehloGatherOptions);
      b.add_builtin_options_2(options2);
    }
    return b.Finish();
  }

  Offset<schema::SubGraph> graph(const TfliteGraph& g) {
    std::vector<Offset<schema::Tensor>> tensors;
    for (const TfliteTensor& t : g.tensors) tensors.push_back(tensor(t));
    std::vector<Offset<schema::Operator>> operators;
    for (const TfliteOperator& o : g.operators) operators.push_back(op(o));
    return schema::CreateSubGraphDirect(builder, &tensors, &g.inputs, &g.outputs, &operators, g.name.c_str());
  }
};

TfliteTensor make_tensor(const char* name, TfliteType type, std::vector<int32_t> shape) {
  TfliteTensor t;
  t.name = name;
  t.type = type;
  t.shape = std::move(shape);
  return t;
}

/// operator_model() of one output.
TfliteModel one_operator(TfliteCode code, std::vector<TfliteTensor> tensors) { return operator_model(code, std::move(tensors)); }

}  // namespace

std::string TfliteModel::bytes() const {
  Writer w;
  w.buffers.push_back(schema::CreateBuffer(w.builder));
  std::vector<Offset<schema::SubGraph>> subgraphs;
  for (const TfliteGraph& g : graphs) subgraphs.push_back(w.graph(g));
  for (const TfliteBuffer& b : buffers) w.buffers.push_back(schema::CreateBuffer(w.builder, 0, b.offset, b.size));
  w.builder.Finish(schema::CreateModelDirect(w.builder, version, &w.codes, &subgraphs, "test", &w.buffers), identifier);
  return {reinterpret_cast<const char*>(w.builder.GetBufferPointer()), w.builder.GetSize()};
}

TfliteTensor tflite_tensor(const char* name, TfliteType type, std::vector<int32_t> shape, std::string data) {
  TfliteTensor t = make_tensor(name, type, std::move(shape));
  t.data = std::move(data);
  return t;
}

TfliteModel operator_model(TfliteCode code, std::vector<TfliteTensor> tensors, int outputs) {
  TfliteGraph graph;
  TfliteOperator op;
  op.code = code;
  const auto count = static_cast<int32_t>(tensors.size()), first = count - outputs;
  for (int32_t i = 0; i < count; ++i) {
    (i < first ? op.inputs : op.outputs).push_back(i);
    if (i < first && tensors[static_cast<size_t>(i)].data.empty()) graph.inputs.push_back(i);
  }
  graph.outputs = op.outputs;
  graph.operators = {op};
  graph.tensors = std::move(tensors);
  TfliteModel model;
  model.graphs = {graph};
  return model;
}

void add_gather(TfliteModel& model) {
  TfliteGraph& graph = model.graphs[0];
  const auto first = static_cast<int32_t>(graph.tensors.size());
  graph.tensors.push_back(make_tensor("table", TfliteType::FLOAT32, {5, 3}));
  graph.tensors.push_back(make_tensor("rows", TfliteType::INT32, {4}));
  graph.tensors.push_back(make_tensor("gathered", TfliteType::FLOAT32, {4, 3}));
  graph.inputs.insert(graph.inputs.end(), {first, first + 1});
  TfliteOperator op;
  op.code = TfliteCode::GATHER;
  op.inputs = {first, first + 1};
  op.outputs = {first + 2};
  graph.operators.push_back(op);
}

TfliteModel update_slice_model() {
  return one_operator(TfliteCode::DYNAMIC_UPDATE_SLICE,
                      {make_tensor("operand", TfliteType::FLOAT32, {4, 3}), make_tensor("update", TfliteType::FLOAT32, {2, 3}),
                       make_tensor("start", TfliteType::INT32, {2}), make_tensor("out", TfliteType::FLOAT32, {4, 3})});
}

TfliteModel gather_model() {
  TfliteModel model = one_operator(
      TfliteCode::GATHER, {make_tensor("params", TfliteType::FLOAT32, {5, 3}), make_tensor("indices", TfliteType::INT32, {4}),
                           make_tensor("out", TfliteType::FLOAT32, {4, 3})});
  model.op().axis = 0;
  return model;
}

TfliteModel gather_nd_model() {
  return one_operator(TfliteCode::GATHER_ND,
                      {make_tensor("params", TfliteType::INT32, {5, 3}), make_tensor("indices", TfliteType::INT32, {4, 1}),
                       make_tensor("out", TfliteType::INT32, {4, 3})});
}

TfliteModel scatter_nd_model() {
  TfliteTensor shape = make_tensor("shape", TfliteType::INT32, {2});
  shape.data = bytes_of<int32_t>({4, 2});
  return one_operator(TfliteCode::SCATTER_ND,
                      {make_tensor("indices", TfliteType::INT32, {3, 1}), make_tensor("updates", TfliteType::FLOAT32, {3, 2}),
                       shape, make_tensor("out", TfliteType::FLOAT32, {4, 2})});
}

TfliteModel stablehlo_scatter_model(std::optional<TfliteCode> combiner) {
  TfliteModel model =
      one_operator(TfliteCode::STABLEHLO_SCATTER,
                   {make_tensor("input", TfliteType::FLOAT32, {4, 3}), make_tensor("scatter_indices", TfliteType::INT64, {2, 1}),
                    make_tensor("updates", TfliteType::FLOAT32, {2, 3}), make_tensor("out", TfliteType::FLOAT32, {4, 3})});
  TfliteScatterOptions& options = model.op().scatter.emplace();
  options.update_window_dims = {1};
  options.inserted_window_dims = {0};
  options.scatter_dims_to_operand_dims = {0};
  options.index_vector_dim = 1;
  TfliteGraph region;
  region.name = "region";
  region.tensors = {make_tensor("current", TfliteType::FLOAT32, {}), make_tensor("update", TfliteType::FLOAT32, {})};
  region.inputs = {0, 1};
  region.outputs = {1};
  if (combiner) {
    region.tensors.push_back(make_tensor("combined", TfliteType::FLOAT32, {}));
    TfliteOperator op;
    op.code = *combiner;
    op.inputs = {0, 1};
    op.outputs = region.outputs = {2};
    region.operators = {op};
  }
  model.graphs.push_back(region);
  return model;
}

TfliteModel stablehlo_gather_model() {
  TfliteModel model = one_operator(TfliteCode::STABLEHLO_GATHER, {make_tensor("operand", TfliteType::FLOAT32, {4, 3}),
                                                                  make_tensor("start_indices", TfliteType::INT64, {2, 1}),
                                                                  make_tensor("out", TfliteType::FLOAT32, {2, 3})});
  TfliteGatherOptions& options = model.op().gather.emplace();
  options.offset_dims = {1};
  options.collapsed_slice_dims = {0};
  options.start_index_map = {0};
  options.index_vector_dim = 1;
  options.slice_sizes = {1, 3};
  return model;
}

}  // namespace strew::testing
