// The kernels that strew takes are found by elimination: all that have XLA's bits and are large enough, until no part has one that XLA would have run
// better inside an operation beside it. Kernels that lose their neighbours may lose their place, so it is repeated until nothing changes. Tested by
// tests/unit/compiler/splice/policy_test.cc.
#include "compiler/splice/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/assign.h"
#include "compiler/op/dims.h"
#include "compiler/program/cut.h"
#include "compiler/splice/carries.h"
#include "compiler/splice/exact.h"
#include "compiler/splice/graph.h"

namespace strew::inline v0 {
namespace {

/// A gather that makes less stays XLA's: a call through XLA's FFI costs about 123 ns beside strew's own, in which XLA gathers so much.
constexpr int64_t kLeastGathered = 4096;
/// XLA makes dynamic slices of a scatter of one window, and writes them in place inside other loops; of two or more it makes no such thing.
constexpr int64_t kLeastWindows = 2;

/// The dtypes of which XLA's memory is not strew's.
bool has_other_layout(const TensorType& type) { return type.dtype == DType::string || bits(type.dtype) < 8; }

class Policy {
 public:
  Policy(const Program& program, const SpliceOptions& options)
      : program_(program),
        options_(options),
        graph_(program),
        carries_(carries_of(program, graph_)),
        hard_(program.kernels().size()),
        soft_(program.kernels().size()) {}

  Expected<Chosen> choose();

 private:
  const std::string& location(int kernel) const { return program_.kernel(kernel).location; }
  std::string_view operation(int kernel) const { return operation_of(location(kernel)); }
  std::string refusal(int kernel) const;
  std::string size_refusal(int kernel) const;
  bool take_carries();
  Expected<std::vector<Part>> parts() const;
  bool drop(int kernel, std::string reason);
  bool drop_from(const Part& part);
  std::string operand_drawback(const Part& part, int kernel) const;
  std::string reader_drawback(const Part& part, int kernel) const;
  std::string table_drawback(const Part& part, int table, int64_t rows) const;
  std::vector<int> results_of(int kernel) const;
  bool is_in_memory(int value) const;
  bool is_taken_node(int node) const;
  std::vector<std::pair<int, int>> in_place(const Part& part) const;
  std::string reason_of(int node) const;
  std::vector<KeptOperation> kept(const std::vector<ChosenPart>& chosen) const;

  const Program& program_;
  const SpliceOptions& options_;
  const FileGraph graph_;
  const std::vector<Carry> carries_;
  std::set<int> wanted_, taken_;  ///< kernels that are worth it by themselves, and those with what has to go with them
  /// Per kernel: why it stays XLA's in any case, and why it does unless what is beside it is taken. Empty: it does not.
  std::vector<std::string> hard_, soft_;
};

std::string Policy::refusal(int kernel) const {
  const ProgramKernel& own = program_.kernel(kernel);
  if (operation(kernel) == "stablehlo.dot_general") return "XLA multiplies by the one-hot tensor";
  for (const TensorSlot& slot : tensor_slots(own.op)) {
    if (has_other_layout(*slot.type)) return fmt::format("XLA stores {} in another way", name(slot.type->dtype));
    if (!is_static(slot.type->dims)) return "its extents are known at the call only";
  }
  return "";
}

std::string Policy::size_refusal(int kernel) const {
  const VerifiedOp& op = program_.kernel(kernel).op;
  const std::string_view name = operation(kernel);
  if (name == "stablehlo.dynamic_slice") return "XLA reads the slice where it is used, without a copy";
  if (name == "stablehlo.dynamic_update_slice") return "XLA writes the slice in place, without a call";
  const int64_t bytes = bytes_of(slices_of(op)), windows = windows_of(op);
  if (!is_scatter(op) && bytes < kLeastGathered)
    return fmt::format("it gathers {} bytes; a call pays from {} on", bytes, kLeastGathered);
  if (windows < kLeastWindows) return "it has one window, which XLA reads or writes without a loop";
  return "";
}

bool Policy::drop(int kernel, std::string reason) {
  hard_[kernel] = std::move(reason);
  return wanted_.erase(kernel) > 0;
}

/// Takes along what writes to the same loop carries as what is wanted. Returns whether something is no longer wanted.
bool Policy::take_carries() {
  taken_ = wanted_;
  bool changed = false;
  for (const Carry& carry : carries_) {
    const auto wanted = [&](int kernel) { return wanted_.contains(kernel); };
    if (std::ranges::none_of(carry.kernels, wanted)) continue;
    const auto refused = std::ranges::find_if(carry.kernels, [&](int kernel) { return !hard_[kernel].empty(); });
    if (!carry.has_others && refused == carry.kernels.end()) {
      taken_.insert(carry.kernels.begin(), carry.kernels.end());
      continue;
    }
    const std::string other = refused == carry.kernels.end() ? "an operation that strew does not run" : location(*refused);
    for (const int kernel : carry.kernels)
      if (wanted(kernel))
        changed = drop(kernel, fmt::format("{} writes to the same loop carry and stays XLA's", other)) || changed;
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

std::vector<int> Policy::results_of(int kernel) const {
  std::vector<int> out;
  for (size_t v = 0; v < program_.values().size(); ++v)
    if (const Value& value = program_.values()[v]; value.kind == ValueKind::result && value.index == kernel)
      out.push_back(static_cast<int>(v));
  return out;
}

/// Is the node one that a taken kernel was made of?
bool Policy::is_taken_node(int node) const {
  return std::ranges::any_of(program_.nodes()[static_cast<size_t>(node)].results, [&](int v) {
    return v >= 0 && program_.value(v).kind == ValueKind::result && taken_.contains(program_.value(v).index);
  });
}

/// Does XLA have the value in memory, whether strew reads it or not?
bool Policy::is_in_memory(int value) const {
  value = graph_.memory_of(value);
  const int node = graph_.maker(value);
  return node < 0 || program_.constant_of(value) != nullptr || graph_.stores(node) || is_taken_node(node) ||
         graph_.is_stored(value);
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
  if (!is_scatter(own.op)) return table_drawback(part, own.tensor(0), bytes_of(slices_of(own.op)));
  const std::vector<TensorSlot> slots = input_slots(own.op);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Lookup* const lookup = lookup_of(own.op, slots[i].role, slots[i].index);
    if (lookup == nullptr) continue;
    if (std::string why = table_drawback(part, own.tensor(i), bytes_of(lookup->gather.result)); !why.empty()) return why;
  }
  return "";
}

/// XLA fuses what it can into its only readers, and computes arithmetic again in each of several.
std::string Policy::reader_drawback(const Part& part, int kernel) const {
  for (const int result : results_of(kernel)) {
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
    std::string why = part.inputs.empty() ? "it reads constants alone, and XLA computes it when it compiles" : "";
    if (why.empty()) why = operand_drawback(part, kernel);
    if (why.empty()) why = reader_drawback(part, kernel);
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
    if (std::string why = reason_of(node); !why.empty())
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
    changed = take_carries();
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

Expected<Chosen> choose_parts(const Program& program, const SpliceOptions& options) { return Policy(program, options).choose(); }

}  // namespace strew::inline v0
