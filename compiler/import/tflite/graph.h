// Graph and Node: the state of a graph of a TensorFlow Lite file while it is translated, and the interface that the import function of an
// operator uses.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/tflite/schema.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::tflite {

/// The operator as messages spell it: GATHER, "custom NAME", or its number.
Expected<std::string> operator_name(const schema::Model& model, const schema::Operator& op, const std::string& what);
/// The operator's number. Files before 2020 have only a narrow field for it; newer files have both fields.
int32_t operator_code(const schema::OperatorCode& code);

/// The tensors of a subgraph and the values they stand for. A constant is copied when it is first used, so unused weights cost nothing.
/// Subgraph 0 is the main graph; another one sees no tensors but its own.
class Graph {
 public:
  Graph(Program& imported, const schema::Model& model, std::string_view file, const std::string& path);
  /// Subgraph `number` of the same file; `name` is its part of the names of kernels and values ("while_3/body").
  Graph(const Graph& outer, int32_t number, const std::string& name);

  const schema::Model& model() const { return model_; }
  const std::string& path() const { return path_; }      ///< of the file, and in it of the subgraph
  const std::string& prefix() const { return prefix_; }  ///< of names: "while_3/body/"
  int depth() const { return depth_; }                   ///< how many operators are around this graph
  const schema::SubGraph& subgraph() const { return *model_.subgraphs()->Get(static_cast<uint32_t>(number_)); }
  Program& imported() const { return imported_; }

  /// Tensor `number`; `what` names its user in messages.
  Expected<const schema::Tensor*> tensor(int32_t number, const std::string& what) const;
  std::string tensor_name(int32_t number) const;  ///< the file's name, or tensor_NUMBER
  /// "FILE: tensor 3 (x)"
  std::string describe(int32_t number) const;

  /// Refuses a tensor that has a value. A kernel whose result is one may not be added.
  Status check_free(int32_t number, const std::string& what) const;
  /// Gives a tensor its value; fails if it has one already.
  Status define(int32_t number, int value, const std::string& what);
  bool is_defined(int32_t number) const;
  /// The number of the tensor's value.
  Expected<int> find(int32_t number, const std::string& what);
  /// The tensor's constant; fails if the tensor is not one.
  Expected<Constant> constant(int32_t number, const std::string& what) const;

  /// Notes that a subgraph is the region of an operator. Returns false if it was noted before.
  bool mark_region(int32_t subgraph) { return regions_->insert(subgraph).second; }
  bool is_region(int32_t subgraph) const { return regions_->contains(subgraph); }

 private:
  Program& imported_;
  const schema::Model& model_;
  std::string_view file_;
  std::string path_, prefix_;
  int32_t number_ = 0;
  int depth_ = 0;
  std::vector<int> values_;                     ///< per tensor: its value; -1: not defined so far
  std::shared_ptr<std::set<int32_t>> regions_;  ///< subgraphs that are the region of an operator
};

/// What a kernel has besides its op, as in ProgramKernel.
struct KernelParts {
  std::vector<int> arguments;
  std::vector<std::string> notes = {};
  bool fixed_policy = false;
  int result_shape = -1;
  std::vector<EqualScalars> equal_scalars = {};
};

/// One operator: gives its inputs as values, and errors that name the file, the operator's number and its name.
class Node {
 public:
  Node(Graph& graph, const schema::Operator& op, int number, const std::string& name);

  schema::BuiltinOperator code() const { return code_; }
  int number() const { return number_; }
  const std::string& operation() const { return operation_; }  ///< GATHER
  const std::string& location() const { return where_; }       ///< FILE: operator 3 (GATHER)
  Status error(const std::string& message) const { return invalid_argument(where_ + ": " + message); }
  Status refuse(const std::string& message) const { return unsupported(where_ + ": " + message); }
  Status at(const Status& status) const { return status.with_prefix(where_); }

  uint32_t inputs() const { return op_.inputs() == nullptr ? 0 : op_.inputs()->size(); }
  uint32_t outputs() const { return op_.outputs() == nullptr ? 0 : op_.outputs()->size(); }
  Status check_signature(uint32_t inputs, uint32_t outputs) const;
  bool has_input(uint32_t i) const { return i < inputs() && op_.inputs()->Get(i) != -1; }
  /// The value number of input `i`, which messages call `role`.
  Expected<int> input(uint32_t i, std::string_view role) const;
  /// All inputs.
  Expected<std::vector<int>> all_inputs() const;
  const TensorType& type(int value) const { return graph_.imported().value(value).type; }
  /// Refuses dtypes other than i32 and i64.
  Status check_index_type(int value, std::string_view role) const;
  /// The elements of input `i`, which must be a constant of integers of rank 0 or 1.
  Expected<std::vector<int64_t>> constant_integers(uint32_t i, std::string_view role) const;
  /// The only element of input `i`, a constant integer.
  Expected<int64_t> constant_integer(uint32_t i, std::string_view role) const;
  /// `dim` from 0 on, of a tensor of that rank.
  Expected<int64_t> dim_of(int64_t dim, int rank, std::string_view what) const;

  /// The tensors of the file behind input and output `i`.
  Expected<const schema::Tensor*> input_tensor(uint32_t i) const;
  Expected<const schema::Tensor*> output_tensor(uint32_t i) const;
  /// Refuses quantized tensors, whose integers cannot be computed with as they are.
  Status check_not_quantized() const;
  /// Refuses quantized tensors that do not all have the same scales and zero points.
  Status check_same_quantization() const;

  Graph& graph() const { return graph_; }
  const schema::Operator& op() const { return op_; }
  /// The operator's options, if it has some and they are of this kind.
  template <class Table>
  const Table* options(schema::BuiltinOptions kind) const {
    return op_.builtin_options_type() == kind ? static_cast<const Table*>(op_.builtin_options()) : nullptr;
  }
  ProgramBuilder builder() const { return ProgramBuilder(graph_.imported(), where_); }
  /// Makes a value that there is already the operator's output. An error of the builder becomes the operator's.
  Status give(const Expected<int>& value, uint32_t output = 0);
  /// Makes the values the operator's outputs, or none of them.
  Status give_all(const std::vector<int>& values);
  /// Adds the kernel that computes the operator's only output.
  Status add_kernel(Op op, KernelParts parts);
  Status add_kernel(const Expected<Scatter>& op, KernelParts parts);
  Status add_kernel(const Expected<Gather>& op, KernelParts parts);
  /// Adds the operator as one that strew does not run, with values for its outputs. `reason`: see Opaque. Returns its number.
  Expected<int> add_opaque(const std::string& reason, bool indexed);

 private:
  Status check_output(uint32_t output, const TensorType& computed) const;

  Graph& graph_;
  const schema::Operator& op_;
  schema::BuiltinOperator code_ = {};
  int number_;
  std::string operation_, name_, where_;
};

/// A list of dimension numbers; empty if the file leaves it out.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list);
std::vector<int64_t> list_of(const flatbuffers::Vector<int32_t>* list);

}  // namespace strew::inline v0::tflite
