// GraphNode: what a node of an ONNX graph and an operator of a TensorFlow Lite graph have in common while they are translated. It counts and
// reads the inputs, calls the operator's import function, gives the outputs their values, and adds kernels and opaque operations. The two
// formats say how their graphs name values. Tested by tests/unit/compiler/import/onnx/onnx_import_test.cc,
// tests/unit/compiler/import/tflite/tflite_import_test.cc and tests/error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/builder/program_builder.h"
#include "compiler/op/message.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The words of a text, in which one blank stands between them.
std::vector<std::string_view> words_of(std::string_view text);

/// What an operator computes: the numbers of the values of its outputs.
struct Values {
  Values(int only) : all{only} {}                                // NOLINT(google-explicit-constructor): return value;
  Values(std::vector<int> several) : all(std::move(several)) {}  // NOLINT(google-explicit-constructor): return values;
  std::vector<int> all;
};

/// What the row of an operator says in either format. The rows of a format have more fields, and the import function.
struct OperatorForm {
  /// The roles of its inputs, in order and with blanks between them, by which messages call them: "data axes?". What may follow a role:
  ///   ?   the input may be left out
  ///   ... there may be any number of inputs from here on, one at least
  ///   #   refused unless it is of i32 or i64
  ///   ~   the operator does without its elements: a graph input that only such inputs read may be left out by the caller (`--input -`)
  std::string_view inputs;
  ExprOp expr = {};              ///< what it computes, of operators that have the import function in common with others
  bool indexed = false;          ///< it becomes a kernel
  bool several_outputs = false;  ///< it may have any number of outputs
};

/// Errors begin with the file. Those that import functions return need not: translate() says where they are from.
class GraphNode {
 public:
  /// `path`: of the file, and in it of the graph. `node`: how messages call the node after that.
  GraphNode(Program& program, const std::string& path, const std::string& node, std::string operation, const OperatorForm* form)
      : path_(path + ": "),
        where_(path_ + node),
        operation_(std::move(operation)),
        form_(form),
        program_(program),
        builder_(program, where_) {}
  virtual ~GraphNode() = default;
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;

  const std::string& operation() const { return operation_; }  ///< GATHER
  const std::string& location() const { return where_; }       ///< FILE: node NAME (Gather), FILE: operator 3 (GATHER)
  const OperatorForm* form() const { return form_; }           ///< the operator's row; null if no table has it
  template <class... Args>
  Status error(MessageText<Args...> text, const Args&... args) const {
    return invalid_argument(message(text, args...)).with_prefix(where_);
  }
  template <class... Args>
  Status refuse(MessageText<Args...> text, const Args&... args) const {
    return unsupported(message(text, args...)).with_prefix(where_);
  }

  int inputs() const { return static_cast<int>(has_input_.size()); }
  int outputs() const { return static_cast<int>(has_output_.size()); }
  bool has_input(int i) const { return i < inputs() && has_input_[static_cast<size_t>(i)]; }
  bool has_output(int i) const { return i < outputs() && has_output_[static_cast<size_t>(i)]; }

  /// Translates the node by its row. A node without a row, or one that its import function refuses, becomes an opaque operation, whose number is
  /// the result; -1 if it becomes none. `first_refusal` becomes why a scatter or gather was refused, unless another one was before. An error
  /// refuses the file: something is wrong with the graph itself.
  Expected<int> translate(Status& first_refusal);

  // What import functions use:
  /// The value of input `i`; -1 if it is left out.
  int operator[](size_t i) const { return i < values_.size() ? values_[i] : -1; }
  const std::vector<int>& values() const { return values_; }                      ///< of all inputs
  KernelArguments arguments() const { return {values_.begin(), values_.end()}; }  ///< all inputs are tensors of the kernel
  /// A copy, because values move when one is added.
  TensorType type(int value) const { return builder().type(value); }
  ProgramBuilder& builder() const { return builder_; }
  std::string role(int input) const;  ///< axes
  /// "input 1 (axes)"
  std::string describe(int input) const;
  /// The elements of an input that must be a constant of integers of rank 0 or 1; nothing if it is left out.
  Expected<std::optional<std::vector<int64_t>>> find_constants(int input) const;
  /// The same of an input that is there.
  Expected<std::vector<int64_t>> constants(int input) const;
  /// The only element of an input that must be a constant.
  Expected<int64_t> constant(int input) const;
  /// `dim` from 0 on, of a tensor of that rank. Messages call it `what`.
  Expected<int64_t> dim_of(int64_t dim, int rank, std::string_view what) const;
  Expected<std::vector<int64_t>> dims_of(std::vector<int64_t> dims, int rank, std::string_view what) const;
  /// The same of an input with dims of a tensor of that rank.
  Expected<std::vector<int64_t>> dims(int input, int rank) const;
  Expected<int64_t> dim(int input, int rank) const;
  /// Refuses dtypes other than i32 and i64.
  Status check_index_type(int value, std::string_view what) const;
  /// Adds the kernel that computes the node's only output.
  Expected<int> kernel(const Expected<Op>& op, KernelArguments arguments, std::vector<std::string> notes = {},
                       bool fixed_policy = false) const;

 protected:
  std::vector<bool> has_input_, has_output_;  ///< one each of which the node has; false: it is left out
  int number_ = 0, region_ = -1;              ///< as of FileNode
  /// Calls the import function of the operator's row.
  virtual Expected<Values> import() = 0;
  /// What the format has to say before the inputs are read.
  virtual Status check_node() const = 0;
  /// The value of an input, which messages call `what`. `needs_elements`: the operator needs its elements.
  virtual Expected<int> read_input(int i, const std::string& what, bool needs_elements) const = 0;
  /// Refuses a result of this type.
  virtual Status check_output(int /*i*/, const TensorType& /*computed*/) const { return {}; }
  /// Gives the kernel a name that is unique in the file, and what the format has to note; refuses one for an output that has a value or no name.
  virtual Status name_kernel(ProgramKernel& kernel) const = 0;
  virtual Status define_output(int i, int value) = 0;
  /// Of an opaque operation: the value of an input, or -1 if it stays in the file; and the type of an output.
  virtual Expected<int> opaque_argument(int i) const = 0;
  virtual Expected<TensorType> opaque_type(int i) const = 0;

 private:
  Status run();
  Expected<int> add_opaque(const std::string& reason);
  void add_file_node(std::vector<int> arguments);
  Status define(int output, int value);

  std::string path_, where_, operation_;
  const OperatorForm* form_;
  std::vector<int> values_;
  std::vector<int> results_;  ///< the value of each output; -1: it has none yet
  bool has_results_ = false;  ///< an output got its value
  Program& program_;
  mutable ProgramBuilder builder_;  ///< of the program, which is not the node's
};

/// The operators that become kernels, for messages.
template <class Operator>
std::string indexed_names(const std::vector<Operator>& operators) {
  std::string out;
  for (const Operator& op : operators)
    if (op.form.indexed) out += (out.empty() ? "" : ", ") + std::string(op.name);
  return out;
}

// Types and constants of tensors as files hold them. Every number in them is untrusted.
/// Refuses ranks that are too large, of a tensor that messages call `what`.
Status check_rank(size_t rank, const std::string& what);
/// The number of elements of a tensor, which messages call `what`. Refuses too many dims or elements.
Expected<int64_t> count_elements(const std::vector<int64_t>& dims, const std::string& what);
/// The same check of dims of which some may be open.
Status check_extents(std::vector<int64_t> dims, const std::string& what);

/// Gives `constant`, whose type of `count` elements is set, the bytes of a file; fails if they are not `expected` ones. `field` holds them.
Status read_bytes(Constant& constant, int64_t count, std::string_view bytes, int64_t expected, const std::string& field,
                  const std::shared_ptr<const void>& owner);
/// Makes bytes canonical that files may leave arbitrary: a boolean that is not zero becomes 1, the padding bits of the last byte become 0.
void make_canonical(Constant& constant, int64_t count);

}  // namespace strew::inline v0
