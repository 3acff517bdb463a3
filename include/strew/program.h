// Program: a file as a dataflow program. Its kernels (ProgramKernel) read values (Value): inputs of the file, constants in the file, results of
// earlier kernels, rank-1 tensors made of scalars (stack), results of the operations around the kernels (Compute), and results of operations
// that strew does not run (Opaque), such as a matrix product. An opaque operation cuts the dataflow: what it computes is an input of the kernels
// that read it. Parts refer to each other by number: "value 3" is value(3).
//
// A program knows how often each value is read by what is needed. Needed are kernels, opaque operations and outputs, and what they read. A part
// that nothing needs reads nothing, so a chain of operations whose result nobody reads holds nothing else in place.
//
// import_file (import.h) makes programs, run_program (run_program.h) runs them, cut_kernel() makes a program of one kernel. Tested by
// tests/unit/compiler/program/*_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"
#include "strew/verified.h"

namespace strew::inline v0 {

enum class ValueKind : uint8_t {
  input,     ///< graph input `index`
  constant,  ///< constants[index]
  zeros,     ///< zeros of `type`, for an optional input that the file leaves out; `like` gives the extent of a dynamic dim
  stack,     ///< the rank-0 values `parts`, in order, as one rank-1 tensor (start indices of DYNAMIC_UPDATE_SLICE)
  result,    ///< result `result` of kernel `index`
  compute,   ///< result `result` of computes[index]
  extent,    ///< the extent of dim `like_dim` of value `like`, as a rank-0 i64
  opaque,    ///< result `result` of opaques[index]; or, with a higher number, a value that only its regions see
  none,      ///< what made it is no longer part of the program. Nothing reads it
};
struct Value {
  ValueKind kind = ValueKind::input;
  TensorType type;
  std::string name;      ///< the file's own name for it; empty: it has none
  bool is_typed = true;  ///< does the file, or what it is computed from, tell its type? If not, no kernel reads it
  int index = 0;
  int result = 0;
  std::vector<int> parts;  ///< stack: value numbers
  /// Number of another value. Its dim `like_dim` gives, for kind zeros, the extent of the only dynamic dim, and for
  /// kind extent, the value. If the caller leaves out a rank-0 input, the input's value is that extent. -1: none.
  int like = -1;
  int like_dim = 0;
  /// The names that the file has for open extents ("batch"), one per dim; "": it has none. Empty: no extent has one. Extents with one name
  /// are equal in every run.
  std::vector<std::string> symbols;
};

/// The elements of a constant: contiguous and row-major; elements of less than a byte are packed (dtype.h). The text of
/// string elements lies in `strings`. Elements that are stored in a file beside the model may be mapped instead of
/// read: then `data` is empty, and `mapped` is valid as long as `file` lives.
struct Constant {
  TensorType type;
  std::vector<std::byte> data;
  std::vector<std::string> strings;
  std::span<const std::byte> mapped;
  std::shared_ptr<const void> file;
  std::span<const std::byte> bytes() const { return data.empty() ? mapped : std::span<const std::byte>(data); }
  bool splat = false;  ///< all elements are known to be equal
};

// The operations of a file that are not indexed and become no kernels, each with what it has to know beside its arguments.
// compiler/program/interpret evaluates them.

/// Applies `function` to each element. Argument i is its extra i; a rank-0 argument is used with every element.
struct MapOp {
  Expr function;
};
/// Reduces `dims` of the first N arguments by `function` (current: the value so far, update: the element), in row-major order, from the initial
/// values in the other N arguments.
struct ReduceOp {
  Expr function;
  std::vector<int64_t> dims;
};
/// Along `dim`, each element becomes `function` of the result before it (current) and itself (update). The second argument, of rank 0, stands
/// before the first.
struct ScanOp {
  Expr function;
  int64_t dim = 0;
  bool exclusive = false;  ///< of the elements before it alone: the first is the second argument
  bool reverse = false;    ///< from the end of the dim
};
/// Each element is its coordinate in `dim`. With takes_shape, the argument is a rank-1 tensor of integers with the result's dims.
struct IotaOp {
  int64_t dim = 0;
  bool takes_shape = false;
};
/// Dim d of the argument becomes dim dims[d] of the result; an extent of 1 is repeated. With takes_shape, the last argument is a rank-1 tensor of
/// integers with the result's dims, of which 1 keeps the argument's dim.
struct BroadcastOp {
  std::vector<int64_t> dims;
  bool takes_shape = false;
};
/// With takes_shape, the last argument is a rank-1 tensor of integers with the result's open dims, of which -1 follows from the number of elements, and
/// 0 keeps the argument's dim unless `allows_zero`. Without, a single open dim follows from the number of elements.
struct ReshapeOp {
  bool takes_shape = false, allows_zero = false;
};
/// Dim d of the result is dim permutation[d] of the argument.
struct TransposeOp {
  std::vector<int64_t> permutation;
};
/// In dim d every strides[d]-th element from starts[d] on; an open dim reaches to the end. Arguments beyond the first are as in UpdateOp.
struct SliceOp {
  std::vector<int64_t> starts, strides;
};
/// The first argument with the second written into it, in dim d from starts[d] on. Further arguments are rank-0 integers, one per dim, which are
/// added to `starts`.
struct UpdateOp {
  std::vector<int64_t> starts;
};
struct ConcatenateOp {
  int64_t dim = 0;
};
/// The order of the elements in `dims`.
struct ReverseOp {
  std::vector<int64_t> dims;
};
using ComputeOp = std::variant<MapOp, ReduceOp, ScanOp, IotaOp, BroadcastOp, ReshapeOp, TransposeOp, SliceOp, UpdateOp,
                               ConcatenateOp, ReverseOp>;
/// What compiler/import/fusion did with a Compute.
enum class ComputeDisposition : uint8_t {
  interpreted,  ///< left alone: compiler/program/interpret evaluates it
  folded,       ///< merged into the op of kernel `kernel`: its policy, indices or init
  fused,        ///< merged into the expression graph of kernel `kernel`
  unused,       ///< nothing reads its results
};
struct Compute {
  ComputeOp op;
  std::string location;        ///< "FILE:LINE: stablehlo.add"
  std::vector<int> arguments;  ///< value numbers
  /// One type (ReduceOp: N). Open dims have the extents of the arguments, except in IotaOp, BroadcastOp and ReshapeOp.
  std::vector<TensorType> results;
  ComputeDisposition disposition = ComputeDisposition::interpreted;
  int kernel = -1;  ///< folded, fused: the number of that kernel

  /// The operation if it is of this kind; else null.
  template <class Wanted>
  const Wanted* as() const {
    return std::get_if<Wanted>(&op);
  }
  /// Is the last argument the shape of the result?
  bool takes_shape() const {
    const auto* iota = as<IotaOp>();
    const auto* broadcast = as<BroadcastOp>();
    const auto* reshape = as<ReshapeOp>();
    return iota != nullptr        ? iota->takes_shape
           : broadcast != nullptr ? broadcast->takes_shape
                                  : reshape != nullptr && reshape->takes_shape;
  }
};

/// An operation that strew does not run. It is kept with its place in the dataflow, so that kernels can be put back.
struct Opaque {
  std::string operation;       ///< as the file's format calls it: "MatMul", "stablehlo.dot_general"
  std::string location;        ///< "FILE:LINE: stablehlo.dot_general", "FILE: node NAME (MatMul)"
  std::vector<int> arguments;  ///< value numbers
  std::vector<int> yields;     ///< what its regions return: value numbers
  /// Why an operation of a kind that strew runs elsewhere is not run here; empty: strew runs no operation of this kind.
  std::string reason;
  bool indexed = false;  ///< it is a scatter or gather
};

struct ProgramInput {
  std::string name;
  TensorType type;
  bool optional = false;  ///< the caller may leave it out with `--input -`
  bool memory = false;    ///< a pointer to memory: the caller's tensor may have more or fewer dims of extent 1 than the type
};

/// What a kernel reads a value for. All but `tensor` is looked at before the kernel runs.
enum class ArgumentUse : uint8_t {
  tensor,        ///< a tensor of the op
  slice_sizes,   ///< of a gather whose slice sizes are known at the call: the rank-1 integer value that holds them
  result_shape,  ///< of a filled scatter with open dims: the rank-1 integer value that holds the result's dims
  non_negative,  ///< its elements must not be negative, whatever the op's policy is (the circular mode of TensorScatter wraps above, not below)
  equal_extents,  ///< two extents that must be equal because the source's operator requires it, although the op does not (the window of ONNX
                  ///< ScatterND is always as large as the operand's dims)
  equal_scalars,  ///< two rank-0 integers that must be equal
};

struct KernelArgument {
  KernelArgument(int tensor) : value(tensor) {}  // NOLINT(google-explicit-constructor): most arguments are tensors
  KernelArgument(ArgumentUse use_, int value_) : use(use_), value(value_) {}
  /// Dim `dim` of `value` is as large as dim `other_dim` of `other`. The message is "`a` is 3, expected 4, `b`": "dim 1 of updates", "dim 1 of data".
  static KernelArgument equal_extents(int value, int dim, int other, int other_dim, std::string a, std::string b) {
    return {value, dim, other, other_dim, std::move(a), std::move(b), ArgumentUse::equal_extents};
  }
  /// The message is "`a` is 3, expected 4`b`".
  static KernelArgument equal_scalars(int value, int other, std::string a, std::string b) {
    return {value, 0, other, 0, std::move(a), std::move(b), ArgumentUse::equal_scalars};
  }

  ArgumentUse use = ArgumentUse::tensor;
  int value = 0, dim = 0;
  int other = -1, other_dim = 0;  ///< what `value` is compared with; -1: with no value
  std::string a, b;
  friend bool operator==(const KernelArgument&, const KernelArgument&) = default;

 private:
  KernelArgument(int value_, int dim_, int other_, int other_dim_, std::string a_, std::string b_, ArgumentUse use_)
      : use(use_), value(value_), dim(dim_), other(other_), other_dim(other_dim_), a(std::move(a_)), b(std::move(b_)) {}
};
using KernelArguments = std::vector<KernelArgument>;

/// The index positions of the file, of a kernel whose indices became smaller because they repeat: a message about a bad index names the
/// position and the component that the index has in the file.
struct FilePositions {
  std::vector<int64_t>
      repeats;  ///< per dim of the file's positions: how often indices repeat along it; 0: it is a dim of the kernel's
  std::vector<int64_t> components;  ///< per component of the kernel's index vectors: its number in the file's
};

struct ProgramKernel {
  /// Takes a VerifiedOp, so that no code ever reads a kernel whose op is not verified.
  explicit ProgramKernel(VerifiedOp verified) : op(std::move(verified)) {}

  std::string name;      ///< unique in the file, chosen with `--kernel NAME`
  std::string location;  ///< FILE:LINE or FILE:node
  VerifiedOp op;
  /// The values that it reads: first those of the tensors of input_slots(op), in that order, then those that it reads for other reasons.
  KernelArguments arguments;
  std::optional<FilePositions> file_positions;  ///< none: the kernel's positions are the file's
  bool fixed_policy = false;       ///< the source's operator defines the policy (dynamic_slice clamps): `--oob` does not apply
  std::vector<std::string> notes;  ///< for `strew explain`

  /// The value of tensor `n`.
  int tensor(size_t n) const { return arguments[n].value; }
  std::vector<int> tensors() const {
    std::vector<int> out;
    for (const KernelArgument& argument : arguments)
      if (argument.use == ArgumentUse::tensor) out.push_back(argument.value);
    return out;
  }
  /// What else it reads stays.
  void set_tensors(const std::vector<int>& values) {
    std::erase_if(arguments, [](const KernelArgument& argument) { return argument.use == ArgumentUse::tensor; });
    arguments.insert(arguments.begin(), values.begin(), values.end());
  }
  /// The first argument of this use; null: there is none.
  const KernelArgument* find(ArgumentUse use) const {
    for (const KernelArgument& argument : arguments)
      if (argument.use == use) return &argument;
    return nullptr;
  }
};

struct ProgramOutput {
  std::string name;
  int value = 0;  ///< number of a value, usually a kernel's result
};

/// A node of the file's graph as the importer read it: of ONNX a node, of TensorFlow Lite an operator, of MLIR an operation. Importing merges and
/// drops operations; nodes and the numbers of their values stay. A function that the graph calls has its nodes here too, before the call.
struct FileNode {
  /// Its place among the nodes of its graph (a subgraph, the public functions of a module), from 0 on. Of a node in a function, the place of the call.
  int number = 0;
  int region = -1;             ///< number of the opaque operation in whose region it stands (the body of a loop); -1: in none
  std::string location;        ///< as of Compute and Opaque
  std::vector<int> arguments;  ///< value numbers, one per input of the node; -1: the input is left out, or its value was not read
  std::vector<int> results;    ///< value numbers, one per output of the node; -1: the output is left out
  int64_t begin = -1;          ///< of MLIR: the byte of the text at which the operation begins; -1: it has no place in a text
};

/// Calls use(value) with the number of every value that `kernel` (a ProgramKernel) reads, once per reason. The number may be changed if the kernel
/// may.
template <class Kernel, class Use>
void each_use(Kernel& kernel, const Use& use) {
  for (auto& argument : kernel.arguments) {
    use(argument.value);
    if (argument.other >= 0) use(argument.other);
  }
}

/// What a program is made of.
struct ProgramParts {
  std::string format;  ///< "onnx", "tflite", "stablehlo", "strew", …
  std::vector<ProgramInput> inputs;
  std::vector<Constant> constants;
  std::vector<Value> values;  ///< a value stands behind those that it is made of; but `like` of an input may be a later input
  std::vector<Compute> computes;
  std::vector<Opaque> opaques;
  std::vector<ProgramKernel> kernels;  ///< ordered so that a kernel reads only results of earlier ones
  std::vector<ProgramOutput> outputs;
  std::vector<FileNode> nodes;         ///< what the file had, in its order; empty: the format has no graph
  std::shared_ptr<const void> source;  ///< keeps the bytes of the file while it is imported; null: they are copied
};

class Program {
  /// What became of an operation that nobody reads any more.
  struct Fate {
    ComputeDisposition how = ComputeDisposition::unused;
    int kernel = -1;
  };

 public:
  Program() = default;
  /// The program of these parts. Fails with Code::internal, and names what is wrong, unless they are sound (verify()).
  STREW_API static Expected<Program> of(ProgramParts parts);

  const ProgramParts& parts() const& { return parts_; }
  ProgramParts parts() && { return std::move(parts_); }
  const std::string& format() const { return parts_.format; }
  const std::vector<ProgramInput>& inputs() const { return parts_.inputs; }
  const std::vector<Constant>& constants() const { return parts_.constants; }
  const std::vector<Value>& values() const { return parts_.values; }
  const std::vector<Compute>& computes() const { return parts_.computes; }
  const std::vector<Opaque>& opaques() const { return parts_.opaques; }
  const std::vector<ProgramKernel>& kernels() const { return parts_.kernels; }
  const std::vector<ProgramOutput>& outputs() const { return parts_.outputs; }
  const std::vector<FileNode>& nodes() const { return parts_.nodes; }

  const ProgramInput& input(int number) const { return parts_.inputs[static_cast<size_t>(number)]; }
  const Constant& constant(int number) const { return parts_.constants[static_cast<size_t>(number)]; }
  const Value& value(int number) const { return parts_.values[static_cast<size_t>(number)]; }
  const Compute& compute(int number) const { return parts_.computes[static_cast<size_t>(number)]; }
  const Opaque& opaque(int number) const { return parts_.opaques[static_cast<size_t>(number)]; }
  const ProgramKernel& kernel(int number) const { return parts_.kernels[static_cast<size_t>(number)]; }

  const TensorType& type(int value) const { return this->value(value).type; }
  /// What gives the value, or null: it is none's.
  const Constant* constant_of(int value) const {
    const Value& v = this->value(value);
    return v.kind == ValueKind::constant ? &constant(v.index) : nullptr;
  }
  const Compute* compute_of(int value) const {
    const Value& v = this->value(value);
    return v.kind == ValueKind::compute ? &compute(v.index) : nullptr;
  }
  template <class Wanted>
  const Compute* compute_of(int value) const {
    const Compute* const compute = compute_of(value);
    return compute != nullptr && compute->as<Wanted>() != nullptr ? compute : nullptr;
  }
  const ProgramKernel* kernel_of(int value) const {
    const Value& v = this->value(value);
    return v.kind == ValueKind::result ? &kernel(v.index) : nullptr;
  }

  /// How often kernels, opaque operations and outputs read the value, and values and operations that are needed.
  int readers(int value) const { return value_states_[static_cast<size_t>(value)].readers; }
  /// The last kernel that must have run before the value is known; -1: it needs no kernel.
  int last_kernel(int value) const { return value_states_[static_cast<size_t>(value)].last_kernel; }
  /// Finds last_kernel() anew, after edit_value() has changed what values are made of.
  void find_last_kernels();
  /// Is a result of the Compute read?
  bool is_needed(int compute) const { return compute_states_[static_cast<size_t>(compute)].read_results > 0; }
  /// The value that holds result 0 of the Compute.
  int result_of(int compute) const { return compute_states_[static_cast<size_t>(compute)].first_value; }

  // Making. Each returns the number of the part, or of the value that holds its first result; the values of further results follow it.
  void set_format(std::string format) { parts_.format = std::move(format); }
  void set_source(std::shared_ptr<const void> source) { parts_.source = std::move(source); }
  int add_value(Value value);  ///< of what is part of the program already
  int add_input(ProgramInput input, std::vector<std::string> symbols = {});
  int add_constant(Constant constant);
  int add_compute(Compute compute);
  /// Its results are contiguous: a program lays them out with the op's strides when it runs.
  int add_kernel(ProgramKernel kernel);
  STREW_API int add_opaque(Opaque opaque);  ///< the number of the operation. Its results are values of kind opaque
  STREW_API void add_output(ProgramOutput output);
  void add_node(FileNode node) { parts_.nodes.push_back(std::move(node)); }

  // Changing.
  /// A part that can be changed until the Edit ends: the program then counts what it reads again. Nothing may be added to the program before.
  template <class Part>
  class Edit {
   public:
    Edit(const Edit&) = delete;
    Edit& operator=(const Edit&) = delete;
    ~Edit() { program_.replace_uses(before_, program_.uses_of(number_, part_), fate_); }
    Part* operator->() const { return &part_; }
    Part& operator*() const { return part_; }

   private:
    friend Program;
    Edit(Program& program, int number, Part& part, Fate fate)
        : program_(program), number_(number), part_(part), before_(program.uses_of(number, part)), fate_(fate) {}
    Program& program_;
    int number_;
    Part& part_;
    std::vector<int> before_;
    Fate fate_;
  };
  /// `how`: the disposition of operations that nobody reads after the change, because they are part of this kernel now.
  Edit<ProgramKernel> edit_kernel(int number, ComputeDisposition how = ComputeDisposition::unused) {
    return {*this, number, parts_.kernels[static_cast<size_t>(number)], {how, how == ComputeDisposition::unused ? -1 : number}};
  }
  /// Kind, index and result stay as they are.
  Edit<Value> edit_value(int number) { return {*this, number, parts_.values[static_cast<size_t>(number)], {}}; }
  Edit<Opaque> edit_opaque(int number) { return {*this, number, parts_.opaques[static_cast<size_t>(number)], {}}; }
  /// What an input is apart from its value.
  ProgramInput& edit_input(int number) { return parts_.inputs[static_cast<size_t>(number)]; }
  /// Gives an open dim of the value, a result of a Compute, its extent.
  void set_dims(int value, std::vector<int64_t> dims);
  /// Makes the value, whatever it was, an input.
  void become_input(int value, ProgramInput input);
  /// Makes the value, so far result 0 of a Compute, result 0 of the kernel. That Compute, and those that only it read, get the disposition.
  void become_result(int value, int kernel, ComputeDisposition how);
  /// Takes out the kernels that became part of others: into[k] is the kernel that has taken kernel k over; -1: kernel k stays. Nothing may read
  /// their results.
  void erase_merged(const std::vector<int>& into);
  /// Gives the operations that nobody reads the disposition `unused`.
  void mark_unused();

  /// A point of time to which a program can return, as long as it has only been added to since.
  struct Checkpoint {
    size_t inputs, constants, values, computes, opaques, kernels, outputs, nodes;
  };
  Checkpoint checkpoint() const {
    return {parts_.inputs.size(),  parts_.constants.size(), parts_.values.size(),  parts_.computes.size(),
            parts_.opaques.size(), parts_.kernels.size(),   parts_.outputs.size(), parts_.nodes.size()};
  }
  STREW_API void rollback(const Checkpoint& to);

  /// Fails with Code::internal, and names what is wrong, unless every number is in its range, values do not depend on themselves, a kernel reads
  /// only what is known before it runs, what is read has the kind, dtype and rank that its reader expects, and readers are counted right.
  /// Linear in the size of the program without its constants' bytes.
  STREW_API Status verify() const;

 private:
  struct ValueState {
    int readers = 0, last_kernel = -1;
  };
  struct ComputeState {
    int read_results = 0, first_value = -1;
  };
  void count();
  /// Adds 1 or -1 to the readers of the value, and to those of what it is made of if it is read from now on, or no longer. Operations get the fate.
  void change_readers(int value, int by, Fate fate);
  template <class Change>
  void change_results(int compute, int by, Fate fate, const Change& change);
  void acquire(int value) { change_readers(value, 1, {ComputeDisposition::interpreted, -1}); }
  void release(int value, Fate fate) { change_readers(value, -1, fate); }
  void release_result(int compute, Fate fate);
  int last_kernel_of(const Value& value) const;
  std::vector<int> uses_of(int /*number*/, const ProgramKernel& kernel) const {
    std::vector<int> out;
    each_use(kernel, [&](int value) { out.push_back(value); });
    return out;
  }
  std::vector<int> uses_of(int /*number*/, const Opaque& opaque) const {
    std::vector<int> out = opaque.arguments;
    out.insert(out.end(), opaque.yields.begin(), opaque.yields.end());
    return out;
  }
  std::vector<int> uses_of(int number, const Value& value) const {
    std::vector<int> out;
    if (readers(number) == 0) return out;
    out = value.parts;
    if (value.like >= 0) out.push_back(value.like);
    return out;
  }
  STREW_API void replace_uses(const std::vector<int>& before, const std::vector<int>& now, Fate fate);

  ProgramParts parts_;
  std::vector<ValueState> value_states_;
  std::vector<ComputeState> compute_states_;
};

/// Calls use(value) with the number of every value that `value` is made of: parts, `like`, and the arguments of its Compute. What the kernel or
/// the opaque operation reads that a result is of is not among them.
template <class Use>
void each_source(const ProgramParts& program, const Value& value, const Use& use) {
  for (const int part : value.parts) use(part);
  if (value.like >= 0) use(value.like);
  if (value.kind == ValueKind::compute)
    for (const int argument : program.computes[static_cast<size_t>(value.index)].arguments) use(argument);
}

/// The name of a value, for messages and lists of inputs: the file's own, or "value_7".
inline std::string value_name(const Value& value, int number) {
  return value.name.empty() ? "value_" + std::to_string(number) : value.name;
}
inline std::string value_name(const Program& program, int value) { return value_name(program.value(value), value); }

/// The type as messages and reports show it, with the names of open extents (Value::symbols): "f32[batch,seq,64]". It does not parse.
STREW_API std::string type_text(const TensorType& type, std::span<const std::string> symbols);

/// The inputs of kernels[kernel] if it runs alone, as value numbers in the order in which the file defines them: what it needs that is an
/// input of the file, a result of another kernel or of an opaque operation, or a value whose name is in `named`. Operations around the
/// kernel stay with it unless `named` has their results.
STREW_API std::vector<int> kernel_inputs(const Program& program, int kernel, std::span<const std::string> named = {});

/// A program of kernels[kernel] alone. Its inputs are kernel_inputs(), named by value_name(), and its outputs the kernel's results. Constants
/// that the kernel needs are moved, not copied.
STREW_API Program cut_kernel(Program program, int kernel, std::span<const std::string> named = {});

}  // namespace strew::inline v0
