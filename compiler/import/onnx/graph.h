// Graph and Node: the state of an ONNX graph while it is translated, and the interface that the import function of an operator uses.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/import/onnx/messages.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/op/dims.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::onnx {

/// Field numbers of GraphProto. Its messages are parsed one by one, never the graph as a whole.
struct GraphField {
  static constexpr uint64_t kNode = 1, kInitializer = 5, kInput = 11, kOutput = 12, kValueInfo = 13;
};

/// A function of the model (FunctionProto), which calls inline.
struct Function {
  std::string_view bytes;
  std::vector<std::string> inputs, outputs;
  int64_t opset = 0;  ///< of ai.onnx in its nodes; 0: the model's
};
/// By domain and name, each with a '/' after the domain.
using Functions = std::map<std::string, Function>;

/// The names of a graph and the values they stand for. Every name has one value, defined before its uses. An initializer becomes a constant
/// when it is first used, so unused weights cost nothing. The graph in an attribute, or the body of a function, is a Graph with an outer one.
class Graph {
 public:
  /// `bytes`: the serialised GraphProto, which must outlive this object.
  Graph(Program& imported, const std::string& path, std::string_view bytes, const Functions& functions)
      : imported_(imported), path_(path), bytes_(bytes), functions_(functions) {}
  /// A graph within `outer`; `name` is its part of the names of kernels. `sees_outer`: it may use the outer graph's names.
  Graph(Graph& outer, std::string_view bytes, const std::string& name, bool sees_outer)
      : imported_(outer.imported_),
        path_(outer.path_),
        bytes_(bytes),
        functions_(outer.functions_),
        outer_(&outer),
        sees_outer_(sees_outer),
        has_symbols_(sees_outer && outer.has_symbols_),
        depth_(outer.depth_ + 1),
        call_(sees_outer ? outer.call_ : nullptr),
        prefix_(outer.prefix_ + name + "/") {}

  /// Refuses a name that is empty or taken. A kernel whose results have no names may not be added.
  Status check_free(const std::string& name, const std::string& what) const;
  /// Gives a value the name `name`; fails if that is taken. Messages start with `what`.
  Status define(const std::string& name, int value, const std::string& what);
  bool is_defined(const std::string& name) const { return names_.contains(name); }
  /// Adds a serialised TensorProto. Only its name is read before its first use.
  Status define_initializer(std::string_view tensor);
  bool has_initializer(const std::string& name) const { return initializers_.count(name) > 0; }
  /// The number of the value called `name`, or -1.
  Expected<int> find(const std::string& name);
  /// `name`, with a number appended if another kernel has that name already.
  std::string kernel_name(const std::string& name);
  /// Records one use of a value. A graph input may be left out (`--input -`) if all of its uses are optional.
  void used(int value, bool optional);
  bool only_optional(int value) const;
  /// The type that the file declares for the computed value `name`, if it declares one that has a rank.
  std::optional<TensorType> declared_type(const std::string& name);
  /// Says that the names of extents in this graph are not those of the model's graph: in a function, or in a loop's body.
  void hide_symbols() { has_symbols_ = false; }
  Program& imported() { return imported_; }
  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  const Functions& functions() const { return functions_; }
  int depth() const { return depth_; }  ///< how many graphs are around this one
  /// Of a function's body: the node that calls it, whose attributes the body's nodes may refer to. Null: the graph is no function's.
  const NodeProto* call() const { return call_; }
  void set_call(const NodeProto& call) { call_ = &call; }
  /// The path of the graph in names of kernels: "loop_1/body/".
  const std::string& prefix() const { return prefix_; }

 private:
  std::optional<ValueInfoProto> declaration(const std::string& name);
  void add_symbols(const std::string& name, Value& value);
  Graph& root() { return outer_ == nullptr ? *this : outer_->root(); }

  Program& imported_;
  const std::string& path_;
  std::string_view bytes_;
  const Functions& functions_;
  Graph* outer_ = nullptr;
  bool sees_outer_ = false;
  bool has_symbols_ = true;
  int depth_ = 0;
  const NodeProto* call_ = nullptr;
  std::string prefix_;
  std::map<std::string, int> names_;
  std::map<std::string_view, std::string_view> initializers_;
  std::map<std::string, std::string_view> declared_;  ///< serialised ValueInfoProto
  bool has_declared_ = false;
  std::map<std::string, int> kernel_names_;
  std::map<int, bool> required_;  ///< value -> does some use need it?
};

/// The type of a tensor with a shape; its dims may be open. `what` names it in messages.
Expected<TensorType> to_type(const TypeProto& proto, const std::string& what);

/// The names of the open dims of a tensor type (Value::symbols).
std::vector<std::string> symbols_of(const TypeProto& proto);

/// One node: gives its inputs as values, its attributes with their types checked, and errors that name the file and the node.
class Node {
 public:
  Node(Graph& graph, const NodeProto& proto, int number, int64_t opset);

  int64_t opset() const { return opset_; }
  const std::string& name() const { return name_; }       ///< the node's name; if it has none, OpType_NUMBER
  const std::string& location() const { return where_; }  ///< FILE: node NAME (OpType)
  Status error(const std::string& message) const { return invalid_argument(where_ + ": " + message); }

  /// Refuses wrong numbers of inputs or outputs, attributes that are not in `attributes`, and repeated attributes.
  Status check_signature(int min_inputs, int max_inputs, int outputs, std::initializer_list<std::string_view> attributes) const;
  bool has_input(int i) const { return i < proto_.input_size() && !proto_.input(i).empty(); }
  /// The value number of input `i`, which messages call `role`. `optional`: the operator works without this input.
  Expected<int> input(int i, std::string_view role, bool optional = false) const;
  const TensorType& type(int value) const { return graph_.imported().value(value).type; }

  Expected<int64_t> attribute(std::string_view name, int64_t otherwise) const;
  Expected<std::string> attribute(std::string_view name, const std::string& otherwise) const;
  Expected<float> float_attribute(std::string_view name, float otherwise) const;
  /// The list of integers; nothing if the node has no such attribute.
  Expected<std::optional<std::vector<int64_t>>> list_attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }

  /// The elements of input `i`, which must be a constant list of integers; nothing if the input is left out.
  Expected<std::optional<std::vector<int64_t>>> list_input(int i, std::string_view role) const;
  /// Integers that older opsets have as an attribute and newer ones as input `i`.
  Expected<std::optional<std::vector<int64_t>>> list_of(std::string_view name, int i) const;
  /// `dim` from 0 on, of a tensor of that rank.
  Expected<int64_t> dim_of(int64_t dim, int rank, std::string_view what) const;

  Graph& graph() const { return graph_; }
  const NodeProto& proto() const { return proto_; }
  ProgramBuilder builder() const { return ProgramBuilder(graph_.imported(), where_); }
  /// Makes a value that there is already the node's output; the builder's error becomes the node's.
  Status give(const Expected<int>& value, int output = 0);
  /// Adds the node as one that strew does not run, with values for its outputs. `reason`: see Opaque. Returns its number.
  Expected<int> add_opaque(const std::string& reason, bool indexed);
  /// Adds the kernel that computes the node's outputs, with `arguments` as in ProgramKernel, and defines the outputs' values.
  Status add_kernel(Op op, std::vector<int> arguments, std::vector<int> non_negative, std::vector<std::string> notes,
                    std::vector<EqualExtents> equal_extents = {});

 private:
  const AttributeProto* find_attribute(std::string_view name) const;

  Graph& graph_;
  const NodeProto& proto_;
  int64_t opset_;
  std::string name_, where_;
};

}  // namespace strew::inline v0::onnx
