// partitions() and cut_part() (strew/partition.h): what the parts of merge.h read, make and stand for. Tested by
// tests/unit/compiler/program/partition_test.cc and tests/differential/programs.
#include "strew/partition.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "compiler/op/message.h"
#include "compiler/program/cut.h"
#include "compiler/program/partition/graph.h"
#include "compiler/program/partition/merge.h"

namespace strew::inline v0 {
namespace {

/// Which nodes of the file a part stands for. The results of a node that is in the part are read by nodes of the part alone, or are outputs of it.
/// What the part makes for another node becomes an output of it. Other results of nodes that the part does not stand for the host makes itself, even
/// if the part makes them, too.
class NodeFinder {
 public:
  explicit NodeFinder(const Program& program)
      : program_(program),
        makers_(program.values().size()),
        readers_(program.values().size()),
        is_taken_(program.nodes().size()) {
    is_read_outside_.assign(program.values().size(), false);
    for (const ProgramOutput& output : program.outputs()) is_read_outside_[output.value] = true;
    for (const Opaque& opaque : program.opaques()) {
      for (const int v : opaque.arguments) is_read_outside_[v] = true;
      for (const int v : opaque.yields) is_read_outside_[v] = true;
    }
    for (size_t n = 0; n < program.nodes().size(); ++n) {
      for (const int v : program.nodes()[n].results)
        if (v >= 0) makers_[v].push_back(static_cast<int>(n));
      for (const int v : program.nodes()[n].arguments)
        if (v >= 0) readers_[v].push_back(static_cast<int>(n));
    }
  }

  /// Sets the part's nodes. Returns the values that must be outputs, too. `makes`: does the part make this value?
  std::vector<int> find(Part& part, const std::function<bool(int)>& makes) {
    const std::vector<int> nodes = between(part);
    std::unordered_set<int> inside;
    std::vector<int> more;
    const auto stays = [&](int node, int v) {
      if (v < 0 || is_unread(v) || std::binary_search(part.outputs.begin(), part.outputs.end(), v)) return true;
      const bool is_inside = values_.contains(v) && !is_read_outside_[v] &&
                             std::all_of(readers_[v].begin(), readers_[v].end(),
                                         [&](int reader) { return reader == node || inside.contains(reader); });
      if (!is_inside && makes(v)) more.push_back(v);
      return is_inside || makes(v);
    };
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {  // readers are behind
      const std::vector<int>& results = program_.nodes()[*node].results;
      const bool is_inside = !is_taken_[*node] && program_.nodes()[*node].region == part.region &&
                             std::all_of(results.begin(), results.end(), [&](int v) { return stays(*node, v); }) &&
                             is_ready(*node, part);
      if (is_inside) inside.insert(*node);
    }
    part.nodes.assign(inside.begin(), inside.end());
    std::sort(part.nodes.begin(), part.nodes.end());
    for (const int node : part.nodes) is_taken_[node] = true;
    return more;
  }

 private:
  /// May a node that only hands on a value be the part's? Not if it waits for what the part does not know.
  bool is_ready(int node, const Part& part) const {
    const FileNode& handing = program_.nodes()[node];
    const auto is_of = [&](const std::vector<int>& values, int v) {
      return std::find(values.begin(), values.end(), v) != values.end();
    };
    const auto makes_one = [&](int v) { return v >= 0 && makers_[v][0] == node; };
    if (std::any_of(handing.results.begin(), handing.results.end(), makes_one)) return true;
    return std::all_of(handing.arguments.begin(), handing.arguments.end(), [&](int v) {
      if (v < 0 || makers_[v].empty() || is_of(handing.results, v) || is_of(part.inputs, v)) return true;
      return values_.contains(v) || program_.nodes()[makers_[v][0]].arguments.empty();
    });
  }
  bool is_unread(int v) const { return readers_[v].empty() && !is_read_outside_[v]; }

  /// The nodes from the part's inputs to its outputs, in the file's order.
  std::vector<int> between(const Part& part) {
    std::vector<int> out, open = part.outputs;
    std::unordered_set<int> found;
    values_.clear();
    while (!open.empty()) {
      const int v = open.back();
      open.pop_back();
      const bool is_outside =
          program_.value(v).kind == ValueKind::opaque || std::binary_search(part.inputs.begin(), part.inputs.end(), v);
      if (is_outside || !values_.insert(v).second) continue;
      for (const int node : makers_[v]) {
        if (!found.insert(node).second) continue;
        out.push_back(node);
        if (node != makers_[v][0]) continue;  // it hands the value on
        for (const int argument : program_.nodes()[node].arguments)
          if (argument >= 0) open.push_back(argument);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  const Program& program_;
  std::vector<std::vector<int>> makers_, readers_;  ///< per value: nodes
  std::vector<bool> is_read_outside_, is_taken_;
  std::unordered_set<int> values_;  ///< of the last part
};

Status check(const PartitionOptions& options) {
  if (options.least_operations >= 0) return {};
  return invalid_argument("least_operations: {}, expected 0 or more", options.least_operations);
}

bool is_worth_it(const Part& part, const PartitionOptions& options) {
  const auto operations = static_cast<int64_t>(part.kernels.size() + part.computes.size());
  return operations >= options.least_operations && (!options.needs_kernel || !part.kernels.empty());
}

/// Sets what the part computes.
void find_operations(const Program& program, const CutNeeds& needs, Part& part) {
  part.kernels.clear();
  part.computes.clear();
  for (const int v : needs.inside) {
    const Value& value = program.value(v);
    if (value.kind == ValueKind::result) part.kernels.push_back(value.index);
    if (value.kind == ValueKind::compute) part.computes.push_back(value.index);
  }
  for (std::vector<int>* numbers : {&part.kernels, &part.computes}) {
    std::sort(numbers->begin(), numbers->end());
    numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
  }
}

/// What a part needs, if it is one of the program's.
Expected<CutNeeds> needs_of(const Program& program, const Part& part) {
  const auto bad = [](const char* field, const char* what) {
    return invalid_argument("part: {}: {}; expected a part that partitions() found in this program", field, what);
  };
  const auto exists = [&](int v) { return v >= 0 && static_cast<size_t>(v) < program.values().size(); };
  if (part.outputs.empty()) return bad("outputs", "it has none");
  if (!std::all_of(part.outputs.begin(), part.outputs.end(), exists)) return bad("outputs", "no such value");
  const std::unordered_set<int> inputs(part.inputs.begin(), part.inputs.end());
  CutNeeds needs = cut_needs(program.parts(), part.outputs, [&](int v) { return inputs.contains(v); });
  if (needs.inputs != part.inputs) return bad("inputs", "they are not what the outputs need");
  for (const int v : needs.inside)
    if (program.value(v).kind == ValueKind::opaque) return bad("outputs", "they need an operation that strew does not run");
  return needs;
}

}  // namespace

Expected<std::vector<Part>> partitions(const Program& program, const PartitionOptions& options) {
  STREW_TRY(check(options));
  const PartGraph graph(program, options);
  const std::vector<std::vector<int>> groups = merge_units(graph, options.join);
  std::vector<int> group_of(graph.units.size(), -1);
  for (size_t g = 0; g < groups.size(); ++g)
    for (const int unit : groups[g]) group_of[unit] = static_cast<int>(g);
  const auto group_of_value = [&](int v) { return graph.unit_of[v] < 0 ? -1 : group_of[graph.unit_of[v]]; };
  std::vector<bool> is_output = graph.is_exported;
  for (size_t u = 0; u < graph.units.size(); ++u)
    for (const int v : graph.units[u].reads)
      if (group_of[u] < 0 || group_of[u] != group_of_value(v)) is_output[v] = true;
  std::vector<Part> out;
  NodeFinder nodes(program);
  for (size_t g = 0; g < groups.size(); ++g) {
    const int own = static_cast<int>(g);
    Part part;
    part.region = graph.units[groups[g][0]].region;
    for (const int unit : groups[g])
      for (const int v : graph.units[unit].values)
        if (is_output[v]) part.outputs.push_back(v);
    if (part.outputs.empty()) continue;
    const auto complete = [&] {
      std::sort(part.outputs.begin(), part.outputs.end());
      part.outputs.erase(std::unique(part.outputs.begin(), part.outputs.end()), part.outputs.end());
      CutNeeds needs = cut_needs(program.parts(), part.outputs, [&](int v) {
        return program.value(v).kind == ValueKind::opaque || (graph.unit_of[v] >= 0 && group_of_value(v) != own);
      });
      find_operations(program, needs, part);
      part.inputs = std::move(needs.inputs);
    };
    complete();
    if (!is_worth_it(part, options)) continue;
    const std::vector<int> more = nodes.find(part, [&](int v) { return group_of_value(v) == own; });
    part.outputs.insert(part.outputs.end(), more.begin(), more.end());
    if (!more.empty()) complete();
    out.push_back(std::move(part));
  }
  return out;
}

Expected<Program> cut_part(Program program, const Part& part) {
  STREW_ASSIGN(const CutNeeds needs, needs_of(program, part));
  std::vector<ProgramOutput> outputs;
  for (const int v : part.outputs) outputs.push_back({value_name(program, v), v});
  return make_cut(std::move(program).parts(), needs, outputs);
}

}  // namespace strew::inline v0
