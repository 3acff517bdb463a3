// TensorFlow Lite front end: checks the flatbuffer, defines the main graph's inputs, and translates operator after operator with the table.
// To add an operator, write one import function and add one row to a table; fields that it needs go into tflite.fbs.
//
// An operator that is not in the table, or that its import function refuses, becomes an opaque operation with the reason. The subgraphs that
// it runs (IF, WHILE, CALL and their kind) are walked too, each once; so are subgraphs that nothing runs, which are other entries of the file.
//
// Everything in the file is untrusted. The verifier of flatbuffers checks all of it before a field is read, with bounds on nesting and on
// the number of tables. What the verifier cannot know (numbers of tensors, buffers and subgraphs, sizes) is checked where it is used.
// Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and tests/oracle/litert_models.py.
#include <algorithm>
#include <cstring>
#include <string>

#include "compiler/import/tflite/graph.h"
#include "compiler/import/tflite/tflite.h"

namespace strew::inline v0::tflite {
namespace {

constexpr uint32_t kVersion = 3;
constexpr uint32_t kMaxDepth = 16;
constexpr uint32_t kMaxTables = 1'000'000;
constexpr int kMaxNested = 32;  ///< subgraphs in each other

Status check_file(std::string_view bytes, const std::string& path) {
  const auto not_a_model = [&](std::string_view expected) {
    return invalid_argument("{}: not a TensorFlow Lite model ({} bytes), expected {}", path, bytes.size(), expected);
  };
  if (bytes.size() < 8 || !schema::ModelBufferHasIdentifier(bytes.data())) return not_a_model("the identifier TFL3 at byte 4");
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return invalid_argument("{}: the file has {} bytes, expected less than {}", path, bytes.size(),
                            static_cast<int64_t>(FLATBUFFERS_MAX_BUFFER_SIZE));
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), kMaxDepth, kMaxTables);
  if (schema::VerifyModelBuffer(verifier)) return {};
  return not_a_model("a flatbuffer that its verifier accepts; the file is truncated or damaged");
}

Status check_model(const schema::Model& model, const std::string& path) {
  if (model.version() != kVersion)
    return invalid_argument("{}: the schema's version is {}, expected {}", path, model.version(), kVersion);
  if (model.subgraphs() == nullptr || model.subgraphs()->size() == 0)
    return invalid_argument(path + ": the model has no subgraphs, expected at least one");
  return {};
}

/// Gives the graph's inputs values: `value_of(number, type)`, of the input's number and type.
template <class ValueOf>
Status define_inputs(Graph& graph, const ValueOf& value_of) {
  const std::vector<int64_t> inputs = list_of(graph.subgraph().inputs());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto number = static_cast<int32_t>(inputs[i]);
    const std::string what = fmt::format("{}: input {}", graph.path(), i);
    STREW_ASSIGN(const schema::Tensor* tensor, graph.tensor(number, what));
    STREW_ASSIGN(const int value, value_of(ProgramBuilder(graph.program(), what), i, number, *tensor));
    STREW_TRY(graph.define(number, value, what));
  }
  return {};
}

const Operator* find_operator(schema::BuiltinOperator code) {
  const std::vector<Operator>& all = operators();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Operator& op) { return op.code == code; });
  return it == all.end() ? nullptr : &*it;
}

/// Translates the operators of the main graph and of the other subgraphs.
class Translator {
 public:
  Status import_operators(Graph& graph);
  /// The subgraphs that no operator runs.
  Status import_entries(Graph& main);
  /// Why the file has no kernels.
  Status refusal(const Graph& main) const;

 private:
  Status import_operator(Graph& graph, const schema::Operator& op, int number);
  Status import_region(const Graph& outer, const Region& region, const std::string& name, int opaque, int first_result);

  Status first_refusal_;     ///< of a scatter or gather
  std::string first_other_;  ///< the first operator of another kind
};

/// What is wrong with the graph itself (a tensor that is computed twice, a number without a tensor) refuses the file.
Status Translator::import_operator(Graph& graph, const schema::Operator& op, int number) {
  const std::string where = graph.path() + ": operator " + std::to_string(number);
  STREW_ASSIGN(const std::string name, operator_name(graph.model(), op, where));
  Node node(graph, op, number, name, find_operator(code_of(graph.model(), op)));
  const bool indexed = node.form() != nullptr && node.form()->indexed;
  if (first_other_.empty() && !indexed) first_other_ = node.location();
  STREW_ASSIGN(const int opaque, node.translate(first_refusal_));
  if (opaque < 0) return {};
  STREW_ASSIGN(const std::vector<Region> regions, regions_of(node));
  int result = node.outputs();
  for (const Region& region : regions) {
    if (!graph.mark_region(region.subgraph) || region.is_function) continue;
    std::string kernel = name;
    for (char& c : kernel) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    STREW_TRY(import_region(graph, region, fmt::format("{}_{}/{}", kernel, number, region.role), opaque, result));
    result += 1 << 16;
  }
  return {};
}

/// What the inputs of a region are bound to is known to the operator alone.
Status Translator::import_region(const Graph& outer, const Region& region, const std::string& name, int opaque,
                                 int first_result) {
  if (outer.depth() >= kMaxNested)
    return invalid_argument("{}: subgraphs are nested more than {} deep", outer.path(), kMaxNested);
  Graph graph(outer, region.subgraph, name);
  graph.set_region(opaque);
  STREW_TRY(define_inputs(graph, [&](ProgramBuilder builder, size_t i, int32_t, const schema::Tensor& tensor) -> Expected<int> {
    const int result = first_result + static_cast<int>(i);
    return builder.opaque_value(opaque, result, tensor_type(tensor, fmt::format("{}: input {}", graph.path(), i)));
  }));
  STREW_TRY(import_operators(graph));
  for (const int64_t output : list_of(graph.subgraph().outputs())) {
    const auto number = static_cast<int32_t>(output);
    if (!graph.is_defined(number)) continue;
    STREW_ASSIGN(const int value, graph.find(number, graph.path()));
    graph.program().edit_opaque(opaque)->yields.push_back(value);
  }
  return {};
}

Status Translator::import_operators(Graph& graph) {
  const auto* list = graph.subgraph().operators();
  for (uint32_t i = 0; list != nullptr && i < list->size(); ++i)
    STREW_TRY(import_operator(graph, *list->Get(i), static_cast<int>(i)));
  return {};
}

Status Translator::import_entries(Graph& main) {
  const auto& list = *main.model().subgraphs();
  for (uint32_t i = 1; i < list.size(); ++i) {
    if (!main.mark_region(static_cast<int32_t>(i))) continue;
    const flatbuffers::String* given = list.Get(i)->name();
    const std::string name = given == nullptr || given->size() == 0 ? fmt::format("subgraph_{}", i) : given->str();
    const int number =
        main.program().add_opaque({.operation = "subgraph " + name, .location = fmt::format("{}: subgraph {}", main.path(), i)});
    STREW_TRY(import_region(main, {static_cast<int32_t>(i), name, false}, name, number, 0));
  }
  return {};
}

Status Translator::refusal(const Graph& main) const {
  STREW_TRY(first_refusal_);
  const std::string known = indexed_names(operators());
  if (first_other_.empty())
    return invalid_argument(main.path() + ": the main graph has no operators, expected at least one of: " + known);
  return unsupported(first_other_ + " is not an indexed op, expected one of: " + known);
}

Status import_outputs(Graph& graph) {
  const std::vector<int64_t> outputs = list_of(graph.subgraph().outputs());
  if (outputs.empty()) return invalid_argument(graph.path() + ": the main graph has no outputs, expected at least one");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto number = static_cast<int32_t>(outputs[i]);
    const std::string what = fmt::format("{}: output {}", graph.path(), i);
    STREW_ASSIGN(const int value, graph.find(number, what));
    graph.program().add_output({graph.tensor_name(number), value});
  }
  return {};
}

Expected<Program> import_aligned(std::string_view bytes, const std::string& path, const std::shared_ptr<const void>& owner) {
  STREW_TRY(check_file(bytes, path));
  const schema::Model& model = *schema::GetModel(bytes.data());
  STREW_TRY(check_model(model, path));
  Program program;
  program.set_format("tflite");
  program.set_source(owner);
  Graph graph(program, model, bytes, path);
  STREW_TRY(
      define_inputs(graph, [&](ProgramBuilder builder, size_t, int32_t number, const schema::Tensor& tensor) -> Expected<int> {
        STREW_ASSIGN(TensorType type, tensor_type(tensor, graph.describe(number)));
        return builder.input({graph.tensor_name(number), std::move(type), false});
      }));
  Translator translator;
  STREW_TRY(translator.import_operators(graph));
  STREW_TRY(translator.import_entries(graph));
  if (program.kernels().empty()) return translator.refusal(graph);
  STREW_TRY(import_outputs(graph));
  program.set_source(nullptr);
  return program;
}

}  // namespace

const std::vector<Operator>& operators() {
  static const auto& list = *new const std::vector<Operator>([] {
    std::vector<Operator> all;
    for (const auto more : {indexed_operators, elementwise_operators, movement_operators, shape_operators})
      for (Operator& op : more()) all.push_back(std::move(op));
    return all;
  }());
  return list;
}

Expected<Program> import_model(std::string_view bytes, const std::string& path, const ImportOptions&,
                               const std::shared_ptr<const void>& owner) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) return import_aligned(bytes, path, owner);
  // Flatbuffers reads fields in place, with their own alignment.
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  return import_aligned({reinterpret_cast<const char*>(aligned.data()), bytes.size()}, path, nullptr);
}

}  // namespace strew::inline v0::tflite
