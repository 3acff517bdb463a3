// The kernels that strew takes are found by elimination: all that have XLA's bits and are large enough, until no part has one that XLA would have run
// better inside an operation beside it. Kernels that lose their neighbours may lose their place, so it is repeated until nothing changes. Tested by
// tests/unit/compiler/splice/policy_test.cc.
#include "compiler/splice/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/assign.h"
#include "base/number.h"
#include "base/strides.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "compiler/program/cut.h"
#include "compiler/splice/exact.h"
#include "compiler/splice/graph.h"

namespace strew::inline v0 {
namespace {

/// What is smaller stays XLA's. A call takes 150 ns where XLA's own code takes 30, so strew has to win that back. Of each kind, about where both take the same
/// time, strew's first: CPU time of one thread with all tensors in the caches, the best of 9 loops of one operation in a jit (JAX 0.10.2 on Zen 3). With two
/// threads, and with tables that are larger than the caches, strew wins earlier. Where windows lie across rows (columns of a matrix), strew took 94 us where XLA
/// took 11, and with two indices to an element 42 where XLA took 21.
constexpr struct {
  // What a gather makes, in bytes. Rows shorter than long_row: 16 KB as 4,096 elements 1.95 us against XLA's 1.98, 64 KB as rows of 64 bytes 1.57 against 1.78.
  int64_t gathered = 32 << 10;
  // Longer rows: 16 of 256 bytes 187 ns against 210, 1,024 of them 5.7 us against 12.2. So it is of elements of rows (take_along_axis): 1,024 0.65 us against 1.24.
  int64_t gathered_rows = 4 << 10, long_row = 128;
  // XLA gathers bf16 element by element: 1,024 of them 192 ns against 502, 16,384 0.8 us against 8.4.
  int64_t gathered_bf16 = 1 << 10;
  // The updates of a scatter: 512 rows of 256 bytes 2.61 us against 2.48, 4,096 rows 20.6 against 20.5; looked up and weighed, 128 KB as rows of 64 bytes 7.4
  // us against 11.0, 32 KB 4.8 against 3.6; 32,768 elements added to 1,000 29 us against 40.
  int64_t scattered = 128 << 10;
  // The operand of one of bf16, all of which XLA converts to f32 and back: 32 KB 0.2 us against 7.4.
  int64_t scattered_bf16 = 2 << 10;
} kLeast;

/// Is it a scatter that computes floats of updates and current values?
bool combines_floats(const VerifiedOp& op) {
  const auto* const scatter = std::get_if<Scatter>(&*op);
  if (scatter == nullptr || scatter->combiner == CombinerKind::assign) return false;
  const DType dtype = scatter->results[0].dtype;
  return is_float(dtype) || is_complex(dtype);
}

/// Is what the scatter makes of an element a sum of what it held? The operations before it may have become part of its expression.
bool adds_to_current(const Scatter& scatter) {
  const Expr graph = combine_graph(Op(scatter));
  return std::ranges::any_of(graph.results, [&](int32_t result) {
    const ExprNode& sum = graph.node(result);
    return sum.op == ExprOp::add &&
           std::ranges::any_of(sum.args, [&](int32_t n) { return n >= 0 && graph.node(n).op == ExprOp::current; });
  });
}

/// The dtypes of which XLA's memory is not strew's.
bool has_other_layout(const TensorType& type) { return type.dtype == DType::string || bits(type.dtype) < 8; }

/// How far apart the elements of dim `d` lie.
int64_t stride(const TensorType& type, int64_t d) {
  return (type.strides.empty() ? contiguous_strides(type.dims) : type.strides)[static_cast<size_t>(d)];
}

/// Are neighbours of a window no neighbours in memory? A scatter that makes its result anew may have a transposed one, which XLA makes of a result that is not.
bool walks_across_rows(const VerifiedOp& op) {
  const bool is_new = is_scatter(op) && std::get<Scatter>(*op).init == InitKind::fill;
  const AccessDims& dims = op.access();
  const TensorType& whole = is_scatter(op) ? std::get<Scatter>(*op).results[0] : operand_of(op);
  const auto last = std::find_if(dims.window.rbegin(), dims.window.rend(),
                                 [&](int64_t d) { return dims.operand[static_cast<size_t>(d)].window != 1; });
  if (last == dims.window.rend() || !is_static(whole.dims) || !is_static(slices_of(op).dims)) return false;
  return (!is_new && stride(whole, *last) > 1) || stride(slices_of(op), dims.operand[static_cast<size_t>(*last)].slices_dim) > 1;
}

class Policy {
 public:
  Policy(const Program& program, const SpliceOptions& options, const PlaceRefusal& place)
      : program_(program),
        options_(options),
        place_(place),
        graph_(program),
        hard_(program.kernels().size()),
        soft_(program.kernels().size()),
        results_(program.kernels().size()) {
    for (size_t v = 0; v < program.values().size(); ++v)
      if (const Value& value = program.values()[v]; value.kind == ValueKind::result)
        results_[value.index].push_back(static_cast<int>(v));
  }

  Expected<Chosen> choose();

 private:
  const std::string& location(int kernel) const { return program_.kernel(kernel).location; }
  std::string_view operation(int kernel) const { return operation_of(location(kernel)); }
  int node_of(int kernel) const;
  std::string refusal(int kernel) const;
  std::string size_refusal(int kernel) const;
  bool makes_slice(int kernel) const;
  bool take_along();
  std::string take_slices_before(int value);
  Expected<std::vector<Part>> parts() const;
  bool drop(int kernel, std::string reason);
  bool drop_from(const Part& part);
  std::string operand_drawback(const Part& part, int kernel) const;
  std::string join_drawback(const Part& part, int kernel) const;
  std::string fusion_drawback(const Part& part, int kernel) const;
  std::string table_drawback(const Part& part, int table, int64_t rows) const;
  bool is_constant(int value) const;
  bool is_one(int value) const;
  std::vector<int> readers_in_xla(int value) const;
  bool is_in_memory(int value) const;
  bool is_taken_node(int node) const;
  std::vector<std::pair<int, int>> in_place(const Part& part) const;
  std::string reason_of(int node) const;
  std::vector<KeptOperation> kept(const std::vector<ChosenPart>& chosen) const;

  const Program& program_;
  const SpliceOptions& options_;
  const PlaceRefusal& place_;
  const FileGraph graph_;
  std::set<int> wanted_, taken_;  ///< kernels that are worth it by themselves, and those with what has to go with them
  /// Per kernel: why it stays XLA's in any case, and why it does unless what is beside it is taken. Empty: it does not.
  std::vector<std::string> hard_, soft_;
  std::vector<std::vector<int>> results_;  ///< per kernel: value numbers
};

/// The node that makes a result of the kernel; -1: there is none.
int Policy::node_of(int kernel) const {
  for (const int result : results_[kernel])
    if (graph_.maker(result) >= 0) return graph_.maker(result);
  return -1;
}

std::string Policy::refusal(int kernel) const {
  const ProgramKernel& own = program_.kernel(kernel);
  if (place_)
    if (std::string why = place_(node_of(kernel)); !why.empty()) return why;
  if (operation(kernel) == "stablehlo.dot_general") return "XLA multiplies by the one-hot tensor";
  for (const TensorSlot& slot : tensor_slots(own.op))
    if (has_other_layout(*slot.type)) return fmt::format("XLA stores {} in another way", name(slot.type->dtype));
  const bool computes = !options_.own_numerics && combines_floats(own.op);
  return computes && windows_of(own.op) == 1
             ? "it has one window, and XLA rounds what it adds together with the arithmetic around it"
             : "";
}

std::string Policy::size_refusal(int kernel) const {
  if (options_.any_size) return "";
  const VerifiedOp& op = program_.kernel(kernel).op;
  const std::string_view operation = this->operation(kernel);
  if (operation == "stablehlo.dynamic_slice") return "XLA reads the slice where it is used, without a copy";
  if (operation == "stablehlo.dynamic_update_slice") return "XLA writes the slice in place, without a call";
  const int64_t windows = windows_of(op), bytes = bytes_of(slices_of(op));
  if (windows == 1) return "it has one window, of which XLA makes slices";
  if (walks_across_rows(op)) return "its windows lie across the rows of memory, which XLA walks along";
  const AccessDims& dims = op.access();
  const int64_t row = bytes / std::max<int64_t>(windows, 1);
  const auto small = [&](std::string_view what, int64_t size, int64_t least) {
    return size < 0 || size >= least ? ""
                                     : fmt::format("{} {} bytes, and up to {} XLA is done before a call is", what, size, least);
  };
  const bool is_bf16 = operand_of(op).dtype == DType::bf16;
  if (is_scatter(op))
    return is_bf16 ? small("its operand is", bytes_of(operand_of(op)), kLeast.scattered_bf16)
                   : small("its updates are", bytes, kLeast.scattered);
  if (is_bf16) return small("what it gathers is", bytes, kLeast.gathered_bf16);
  if (row < kLeast.long_row && dims.components.size() > 1)
    return fmt::format("it finds few bytes, {}, by {} indices, which XLA does faster", row, dims.components.size());
  const bool is_along_rows =
      !dims.operand.empty() && dims.operand.back().component >= 0 && !dims_of(op).operand_batching_dims.empty();
  return small("what it gathers is", bytes, row >= kLeast.long_row || is_along_rows ? kLeast.gathered_rows : kLeast.gathered);
}

bool Policy::drop(int kernel, std::string reason) {
  hard_[kernel] = std::move(reason);
  return wanted_.erase(kernel) > 0;
}

/// Does XLA write the kernel's result as a slice of its operand? So it does with a scatter of one window, too.
bool Policy::makes_slice(int kernel) const {
  const VerifiedOp& op = program_.kernel(kernel).op;
  return is_scatter(op) && std::get<Scatter>(*op).init != InitKind::fill && windows_of(op) == 1;
}

/// Takes the slices that are written to the tensor before. Why it cannot; empty: it has.
///
/// XLA writes a slice in place, in a loop as elsewhere. But if a call updates the result in place, XLA makes a copy part of the same fusion, and writes the
/// whole tensor (measured with jaxlib 0.10.2: 17.5 ms against 0.03 for 256 MB in each step of a loop). Behind a call it does not, nor between scatters and calls.
std::string Policy::take_slices_before(int value) {
  for (value = graph_.memory_of(value);; value = graph_.memory_of(value)) {
    const Value& v = program_.value(value);
    if (v.kind == ValueKind::opaque && program_.opaque(v.index).indexed && graph_.maker(value) >= 0)
      return fmt::format("{} writes to its operand before, stays XLA's, and would copy it", program_.opaque(v.index).location);
    if (v.kind != ValueKind::result || taken_.contains(v.index) || !makes_slice(v.index)) return "";
    if (!hard_[v.index].empty())
      return fmt::format("{} writes to its operand before, stays XLA's, and would copy it", location(v.index));
    taken_.insert(v.index);
    value = program_.kernel(v.index).tensor(static_cast<size_t>(v.result));
  }
}

/// Takes what has to go with what is wanted. Returns whether something is no longer wanted.
bool Policy::take_along() {
  taken_ = wanted_;
  bool changed = false;
  for (const int kernel : std::vector<int>(wanted_.begin(), wanted_.end())) {
    const auto* const scatter = std::get_if<Scatter>(&*program_.kernel(kernel).op);
    if (scatter == nullptr || scatter->init == InitKind::fill) continue;
    for (size_t i = 0; i < scatter->operands.size(); ++i)
      if (std::string why = take_slices_before(program_.kernel(kernel).tensor(i)); !why.empty())
        changed = drop(kernel, std::move(why)) || changed;
  }
  return changed;
}

Expected<std::vector<Part>> Policy::parts() const {
  PartitionOptions partition;
  partition.needs_kernel = partition.kernels_only = true;
  partition.runnable = [&](const Program& program, int value) {
    const Value& v = program.value(value);
    return v.kind != ValueKind::result || taken_.contains(v.index);
  };
  return partitions(program_, partition);
}

/// Is the node one that a taken kernel was made of?
bool Policy::is_taken_node(int node) const {
  return std::ranges::any_of(program_.nodes()[static_cast<size_t>(node)].results, [&](int v) {
    return v >= 0 && program_.value(v).kind == ValueKind::result && taken_.contains(program_.value(v).index);
  });
}

bool Policy::is_constant(int value) const {
  const int node = graph_.maker(graph_.memory_of(value));
  return node >= 0 && graph_.operation(node) == "stablehlo.constant";
}

/// Are all its elements 1, as XLA sees where it compiles?
bool Policy::is_one(int value) const {
  for (;;) {
    value = graph_.memory_of(value);
    const int node = graph_.maker(value);
    if (node < 0 || graph_.operation(node) != "stablehlo.broadcast_in_dim") break;
    value = program_.nodes()[static_cast<size_t>(node)].arguments[0];
    if (value < 0) return false;
  }
  const Compute* const compute = program_.compute_of<BroadcastOp>(value);  // the import makes one of a large constant, too
  const Constant* const constant = program_.constant_of(compute == nullptr ? value : compute->arguments[0]);
  if (constant == nullptr || !(constant->splat || constant->type.dims.empty()) || constant->bytes().empty()) return false;
  const DType dtype = constant->type.dtype;
  return load_element(dtype, constant->bytes().data(), 0) == Scalar::of(dtype, 1);
}

/// The operations that read the value where XLA has removed products with 1 and quotients by it.
std::vector<int> Policy::readers_in_xla(int value) const {
  std::vector<int> out;
  for (const int node : graph_.readers(value)) {
    const std::string_view reader = graph_.operation(node);
    const bool multiplies = reader == "stablehlo.multiply", divides = reader == "stablehlo.divide" || reader == "stablehlo.power";
    const std::vector<int>& arguments = program_.nodes()[static_cast<size_t>(node)].arguments;
    const auto has_one = [&](size_t i) { return arguments[i] >= 0 && is_one(arguments[i]); };
    const bool keeps = (multiplies || divides) && arguments.size() == 2 && ((multiplies && has_one(0)) || has_one(1));
    if (!keeps) {
      out.push_back(node);
      continue;
    }
    for (const int result : program_.nodes()[static_cast<size_t>(node)].results)
      if (result >= 0) std::ranges::copy(readers_in_xla(result), std::back_inserter(out));
  }
  return out;
}

/// Does XLA have the value in memory, whether strew reads it or not?
bool Policy::is_in_memory(int value) const {
  value = graph_.memory_of(value);
  const int node = graph_.maker(value);
  return node < 0 || is_constant(value) || graph_.stores(node) || is_taken_node(node) || graph_.is_stored(value);
}

/// Of a table of which `rows` bytes are read.
std::string Policy::table_drawback(const Part& part, int table, int64_t rows) const {
  const std::set<int> outside(part.inputs.begin(), part.inputs.end());
  const CutNeeds needs = cut_needs(program_.parts(), {table}, [&](int v) { return outside.contains(v); });
  for (const int v : needs.inputs)
    if (outside.contains(v) && !is_in_memory(v) && bytes_of(program_.type(v)) > rows)
      return fmt::format("its operand is made by {}, which XLA fuses into it",
                         graph_.operation(graph_.maker(graph_.memory_of(v))));
  return "";
}

std::string Policy::operand_drawback(const Part& part, int kernel) const {
  const ProgramKernel& own = program_.kernel(kernel);
  const bool is_update = is_scatter(own.op) && std::get<Scatter>(*own.op).init != InitKind::fill;
  if (is_update && graph_.is_other_view(own.tensor(0)))
    return "its operand is another view of an array, which XLA would copy for a call";
  if (!is_scatter(own.op)) return table_drawback(part, own.tensor(0), bytes_of(slices_of(own.op)));
  const std::vector<TensorSlot> slots = input_slots(own.op);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Lookup* const lookup = lookup_of(own.op, slots[i].role, slots[i].index);
    if (lookup == nullptr) continue;
    if (std::string why = table_drawback(part, own.tensor(i), bytes_of(lookup->gather.result)); !why.empty()) return why;
  }
  return "";
}

/// Sums that XLA computes together with the scatter-add whose result they read. Of a + scatter-add(b, u), if nothing else reads the scatter's result, it makes scatter-add(a + b, u) (HandleAdd() in
/// xla/hlo/transforms/simplifiers/algebraic_simplifier.cc), and differences from constants are such sums. What else reads a result may be removed before that, but for the function's return. Products,
/// quotients and differences of other arrays are computed after the scatter, whatever it updates, and so is arithmetic that reads what other combiners made (looked at in the compiled modules of
/// jaxlib 0.10.2: 26 forms of arithmetic behind scatter-add, -mul, -min and -max into zeros, ones and twos).
std::string Policy::join_drawback(const Part& part, int kernel) const {
  const ProgramKernel& own = program_.kernel(kernel);
  if (options_.own_numerics || !combines_floats(own.op)) return "";
  if (!adds_to_current(std::get<Scatter>(*own.op))) return "";
  for (const int result : results_[kernel]) {
    if (graph_.is_returned(result)) continue;
    for (const int node : readers_in_xla(result)) {
      const std::string_view reader = graph_.operation(node);
      if (!std::ranges::binary_search(part.nodes, node) && (reader == "stablehlo.add" || reader == "stablehlo.subtract"))
        return fmt::format("its result is read by {}, with which XLA makes one scatter of it", reader);
    }
  }
  return "";
}

/// XLA fuses what it can into its only readers, and computes arithmetic again in each of several.
std::string Policy::fusion_drawback(const Part& part, int kernel) const {
  for (const int result : results_[kernel]) {
    const int maker = graph_.maker(graph_.memory_of(result));
    if (maker < 0 || graph_.stores(maker)) continue;
    std::vector<int> readers = graph_.readers(result);
    std::erase_if(readers, [&](int node) {
      return std::ranges::binary_search(part.nodes, node) || is_taken_node(node) || graph_.loads(node);
    });
    if (readers.empty()) continue;
    const std::string_view reader = graph_.operation(readers.front());
    if (!graph_.is_stored(result)) return fmt::format("its result is read by {}, into which XLA fuses it", reader);
    if (!options_.own_numerics && is_arithmetic(program_, result))
      return fmt::format("its result is read by {}, too, which XLA rounds together with it", reader);
  }
  return "";
}

/// Drops the kernels of the part that XLA would run better. Returns whether there are any.
bool Policy::drop_from(const Part& part) {
  bool dropped = false;
  for (const int kernel : part.kernels) {
    if (!wanted_.contains(kernel)) continue;
    const bool is_known = std::ranges::all_of(part.inputs, [&](int v) { return is_constant(v); });
    std::string why = is_known ? "it reads constants alone, and XLA computes it when it compiles" : "";
    if (why.empty()) why = operand_drawback(part, kernel);
    if (why.empty()) why = join_drawback(part, kernel);
    if (why.empty()) why = fusion_drawback(part, kernel);
    if (!why.empty()) dropped = drop(kernel, std::move(why)) || dropped;
  }
  return dropped;
}

std::vector<std::pair<int, int>> Policy::in_place(const Part& part) const {
  std::map<int, int> reads;
  const auto read = [&](int v) { ++reads[v]; };
  const std::set<int> outside(part.inputs.begin(), part.inputs.end());
  for (const int v : cut_needs(program_.parts(), part.outputs, [&](int at) { return outside.contains(at); }).inside)
    std::ranges::for_each(program_.value(v).parts, read);
  for (const int c : part.computes) std::ranges::for_each(program_.compute(c).arguments, read);
  for (const int k : part.kernels)
    for (const KernelArgument& argument : program_.kernel(k).arguments) {
      read(argument.value);
      if (argument.other >= 0) read(argument.other);
    }
  for (const int v : part.outputs) read(v);
  // From an output back through the operands of scatters, of which each is read by the next one alone; -1: that leads to no input.
  const auto origin = [&](int v) {
    while (!outside.contains(v)) {
      const Value& value = program_.value(v);
      const auto* const scatter =
          value.kind == ValueKind::result ? std::get_if<Scatter>(&*program_.kernel(value.index).op) : nullptr;
      if (scatter == nullptr || scatter->init == InitKind::fill) return -1;
      v = program_.kernel(value.index).tensor(static_cast<size_t>(value.result));
      if (reads[v] != 1) return -1;
    }
    return v;
  };
  std::vector<std::pair<int, int>> out;
  for (size_t o = 0; o < part.outputs.size(); ++o) {
    const int v = origin(part.outputs[o]);
    if (v < 0 || !(program_.type(v) == program_.type(part.outputs[o]))) continue;
    const auto input = std::ranges::lower_bound(part.inputs, v);
    out.emplace_back(static_cast<int>(o), static_cast<int>(input - part.inputs.begin()));
  }
  return out;
}

/// Why the indexed operation stays; empty: it does not, or it is none.
std::string Policy::reason_of(int node) const {
  const FileNode& own = program_.nodes()[static_cast<size_t>(node)];
  for (const int v : own.results) {
    if (v < 0) continue;
    const Value& value = program_.value(v);
    if (value.kind == ValueKind::opaque && program_.opaque(value.index).indexed && graph_.maker(v) == node)
      return program_.opaque(value.index).reason;
    if (value.kind == ValueKind::result && location(value.index) == own.location && !taken_.contains(value.index))
      return hard_[value.index].empty() ? soft_[value.index] : hard_[value.index];
    if (value.kind != ValueKind::none) continue;
    for (const int reader : graph_.readers(v))  // the kernels that became of both
      if (std::string why = reason_of(reader); !why.empty())
        return fmt::format("it would be part of {}, and that stays: {}", program_.nodes()[static_cast<size_t>(reader)].location,
                           why);
  }
  return "";
}

std::vector<KeptOperation> Policy::kept(const std::vector<ChosenPart>& chosen) const {
  std::set<int> inside;
  for (const ChosenPart& each : chosen) inside.insert(each.part.nodes.begin(), each.part.nodes.end());
  std::vector<KeptOperation> out;
  for (size_t n = 0; n < program_.nodes().size(); ++n) {
    const auto node = static_cast<int>(n);
    if (inside.contains(node)) continue;
    std::string why = reason_of(node);
    if (why.empty()) continue;
    if (std::string where = place_ ? place_(node) : ""; !where.empty()) why = std::move(where);
    out.push_back({std::string(graph_.operation(node)), program_.nodes()[n].location, std::move(why)});
  }
  return out;
}

Expected<Chosen> Policy::choose() {
  for (size_t k = 0; k < program_.kernels().size(); ++k) {
    const auto kernel = static_cast<int>(k);
    hard_[k] = refusal(kernel);
    soft_[k] = size_refusal(kernel);
    if (hard_[k].empty() && soft_[k].empty()) wanted_.insert(kernel);
  }
  std::vector<Part> found;
  for (bool changed = true; changed;) {
    changed = take_along();
    if (changed) continue;
    STREW_ASSIGN(found, parts());
    for (const Part& part : found) changed = drop_from(part) || changed;
  }
  Chosen out;
  for (Part& part : found) {
    std::vector<std::pair<int, int>> pairs = in_place(part);
    out.parts.push_back({std::move(part), std::move(pairs)});
  }
  out.kept = kept(out.parts);
  return out;
}

}  // namespace

ImportOptions import_options(const SpliceOptions& options) {
  ImportOptions out;
  if (options.own_numerics && options.level == SpliceLevel::fused) return out;
  out.refuses = [options](const Program& program, int compute, const Expr& function) -> std::string {
    if (compute >= 0 && options.level == SpliceLevel::operators) return "XLA fuses it with what is around it";
    if (options.own_numerics) return "";
    return compute >= 0 ? obstacle(program, compute) : obstacle(function);
  };
  return out;
}

Expected<Chosen> choose_parts(const Program& program, const SpliceOptions& options, const PlaceRefusal& refusal) {
  return Policy(program, options, refusal).choose();
}

}  // namespace strew::inline v0
