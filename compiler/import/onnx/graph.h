// Graph and Node: the state of an ONNX graph while it is translated, and the interface that the import function of an operator uses.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/node/node.h"
#include "compiler/import/onnx/messages.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/onnx.pb.h"
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
  Graph(Program& program, const std::string& path, std::string_view bytes, const Functions& functions)
      : program_(program), path_(path), bytes_(bytes), functions_(functions) {}
  /// A graph within `outer`; `name` is its part of the names of kernels. `sees_outer`: it may use the outer graph's names.
  Graph(Graph& outer, std::string_view bytes, const std::string& name, bool sees_outer)
      : program_(outer.program_),
        path_(outer.path_),
        bytes_(bytes),
        functions_(outer.functions_),
        outer_(&outer),
        sees_outer_(sees_outer),
        has_symbols_(sees_outer && outer.has_symbols_),
        depth_(outer.depth_ + 1),
        call_(sees_outer ? outer.call_ : nullptr),
        region_(outer.region_),
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
  /// Records one use of a value.
  void used(int value, bool optional);
  /// Of the inputs of which all uses are optional, says so: the caller may leave them out (`--input -`).
  void mark_optional_inputs() const;
  /// The type that the file declares for the computed value `name`, if it declares one that has a rank.
  std::optional<TensorType> declared_type(const std::string& name);
  /// Says that the names of extents in this graph are not those of the model's graph: in a function, or in a loop's body.
  void hide_symbols() { has_symbols_ = false; }
  Program& program() { return program_; }
  const std::string& path() const { return path_; }
  std::string_view bytes() const { return bytes_; }
  const Functions& functions() const { return functions_; }
  int depth() const { return depth_; }  ///< how many graphs are around this one
  /// Of a function's body: the node that calls it, whose attributes the body's nodes may refer to. Null: the graph is no function's.
  const NodeProto* call() const { return call_; }
  void set_call(const NodeProto& call, int number) {
    call_ = &call;
    call_number_ = number;
  }
  /// As of FileNode: the opaque operation whose region the graph is in, and the number of the graph's node `number`.
  int region() const { return region_; }
  void set_region(int opaque) { region_ = opaque; }
  int file_number(int number) const { return call_number_ >= 0 ? call_number_ : number; }
  /// The path of the graph in names of kernels: "loop_1/body/".
  const std::string& prefix() const { return prefix_; }

 private:
  std::optional<ValueInfoProto> declaration(const std::string& name);
  void add_symbols(const std::string& name, Value& value);
  Graph& root() { return outer_ == nullptr ? *this : outer_->root(); }

  Program& program_;
  const std::string& path_;
  std::string_view bytes_;
  const Functions& functions_;
  Graph* outer_ = nullptr;
  bool sees_outer_ = false;
  bool has_symbols_ = true;
  int depth_ = 0;
  const NodeProto* call_ = nullptr;
  int region_ = -1, call_number_ = -1;
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

/// One node, with its attributes, whose types are checked.
class Node : public GraphNode {
 public:
  /// `op`: the row of its operator; null if no table has it.
  Node(Graph& graph, const NodeProto& proto, int number, int64_t opset, const Operator* op);

  int64_t opset() const { return opset_; }
  const std::string& name() const { return name_; }  ///< the node's name; if it has none, OpType_NUMBER
  int number() const { return number_; }             ///< as of FileNode
  Graph& graph() const { return graph_; }
  const NodeProto& proto() const { return proto_; }

  // Attributes, which have the types that the operator's row says. Of an operator without a row, one of another type is left out.
  int64_t integer(std::string_view name, int64_t otherwise = 0) const;
  bool flag(std::string_view name, bool otherwise = false) const { return integer(name, otherwise ? 1 : 0) != 0; }
  std::optional<float> number(std::string_view name) const;
  std::string text(std::string_view name, const std::string& otherwise) const;
  std::optional<std::vector<int64_t>> list(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name, AttributeType::any) != nullptr; }
  /// Integers that older opsets have as an attribute and newer ones as input `i`.
  Expected<std::optional<std::vector<int64_t>>> list_of(std::string_view name, int i) const;
  /// The attribute axis from 0 on, of a tensor of that rank.
  Expected<int64_t> axis(int64_t otherwise, int rank) const;

 private:
  Expected<Values> import() override;
  Status check_node() const override;
  Expected<int> read_input(int i, const std::string& what, bool needs_elements) const override;
  Status name_kernel(ProgramKernel& kernel) const override;
  Status define_output(int i, int value) override;
  Expected<int> opaque_argument(int i) const override;
  Expected<TensorType> opaque_type(int i) const override;

  /// The attribute; null if the node has none of this type.
  const AttributeProto* find_attribute(std::string_view name, AttributeType type) const;

  Graph& graph_;
  const NodeProto& proto_;
  int64_t opset_;
  const Operator* op_;
  std::string name_;
};

/// The type of an output, if it follows from the types of the node's inputs: of what operators compute that strew does not run, where the file
/// does not declare it. Tested by tests/unit/compiler/import/onnx/onnx_compute_test.cc.
std::optional<TensorType> inferred_type(const Node& node, int output);

}  // namespace strew::inline v0::onnx
