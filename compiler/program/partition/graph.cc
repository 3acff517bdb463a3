// See graph.h. Tested by tests/unit/compiler/program/partition_test.cc.
#include "compiler/program/partition/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/program/cut.h"
#include "compiler/program/partition/union_find.h"

namespace strew::inline v0 {
namespace {

/// Whatever opaque operations and the program's outputs read.
std::vector<int> roots_of(const Program& program) {
  std::vector<int> out;
  for (const ProgramOutput& output : program.outputs()) out.push_back(output.value);
  for (const Opaque& opaque : program.opaques()) {
    out.insert(out.end(), opaque.arguments.begin(), opaque.arguments.end());
    out.insert(out.end(), opaque.yields.begin(), opaque.yields.end());
  }
  return out;
}

/// Does an operation or a list make the value when the program runs?
bool is_made(const Value& value) {
  switch (value.kind) {
    case ValueKind::zeros:
    case ValueKind::stack:
    case ValueKind::result:
    case ValueKind::compute:
    case ValueKind::extent:
      return true;
    case ValueKind::input:
    case ValueKind::constant:
    case ValueKind::opaque:
    case ValueKind::none:
      return false;
  }
  return false;
}

}  // namespace

PartGraph::PartGraph(const Program& program, const PartitionOptions& options) {
  find_units(program);
  find_reads(program);
  find_runnable(program, options);
  connect(program);
  sort();
}

void PartGraph::find_units(const Program& program) {
  const size_t values = program.values().size();
  std::vector<int> roots = roots_of(program);
  is_exported.assign(values, false);
  for (const int v : roots) is_exported[v] = true;
  const CutNeeds needs = cut_needs(program.parts(), std::move(roots), [](int) { return false; });

  node_of_.assign(values, -1);
  region_of_.assign(program.opaques().size(), -1);
  opaque_node_.assign(program.opaques().size(), -1);
  sees_region_.assign(values, false);
  std::vector<bool> has_region(program.opaques().size(), false), is_result(values, false);
  for (size_t n = 0; n < program.nodes().size(); ++n) {
    const FileNode& node = program.nodes()[n];
    if (node.region >= 0) has_region[node.region] = true;
    for (const int v : node.results) {
      if (v < 0) continue;
      const bool hands_on = std::find(node.arguments.begin(), node.arguments.end(), v) != node.arguments.end();
      if (node_of_[v] < 0 && !hands_on) {
        node_of_[v] = static_cast<int>(n);
      } else {
        handing_on_[v].push_back(static_cast<int>(n));
      }
      is_result[v] = true;
      if (program.value(v).kind == ValueKind::opaque && node_of_[v] == static_cast<int>(n))
        region_of_[program.value(v).index] = node.region, opaque_node_[program.value(v).index] = static_cast<int>(n);
    }
  }
  for (size_t v = 0; v < values; ++v)
    if (const Value& value = program.values()[v]; value.kind == ValueKind::opaque && !is_result[v])
      sees_region_[v] = has_region[value.index] || !program.opaque(value.index).yields.empty();

  const size_t computes = program.computes().size(), kernels = program.kernels().size();
  UnionFind same(values + computes + kernels + program.nodes().size());
  std::vector<int> named;
  for (const int v : needs.inside) {
    const Value& value = program.value(v);
    if (!is_made(value) || (!is_exported[v] && value.name.empty() && !program.nodes().empty())) continue;
    named.push_back(v);
    if (value.kind == ValueKind::compute) same.join(v, static_cast<int>(values) + value.index);
    if (value.kind == ValueKind::result) same.join(v, static_cast<int>(values + computes) + value.index);
    if (node_of_[v] >= 0) same.join(v, static_cast<int>(values + computes + kernels) + node_of_[v]);
  }
  unit_of.assign(values, -1);
  std::vector<int> numbers(values + computes + kernels + program.nodes().size(), -1);
  for (const int v : named) {
    int& number = numbers[same.find(v)];
    if (number < 0) {
      number = static_cast<int>(units.size());
      units.emplace_back();
    }
    units[number].values.push_back(v);
    unit_of[v] = number;
    if (node_of_[v] >= 0) units[number].region = program.nodes()[node_of_[v]].region;
  }
}

/// The values of vertices that are found on the way back from `values`, which count themselves if they are some.
std::vector<int> PartGraph::sources(const Program& program, const std::vector<int>& values) const {
  const CutNeeds needs = cut_needs(program.parts(), values, [&](int v) { return unit_of[v] >= 0; });
  std::vector<int> out;
  for (const int v : needs.inputs)
    if (unit_of[v] >= 0) out.push_back(v);
  for (const int v : needs.inside)
    if (program.value(v).kind == ValueKind::opaque) out.push_back(v);
  return out;
}

/// The values of vertices on the way back from `values`, which the node `reader` reads, through the nodes of the file: those that make a value, and
/// those before the reader that hand it on, from which the reader may have it.
std::vector<int> PartGraph::file_sources(const Program& program, const std::vector<int>& values, int reader) const {
  std::vector<int> out;
  std::set<std::pair<int, int>> seen;
  std::vector<std::pair<int, int>> open;  // values and their readers
  const auto read = [&](const std::vector<int>& arguments, int by) {
    for (const int v : arguments)
      if (v >= 0 && seen.insert({v, by}).second) open.emplace_back(v, by);
  };
  read(values, reader);
  while (!open.empty()) {
    const auto [v, by] = open.back();
    open.pop_back();
    if (unit_of[v] >= 0 || program.value(v).kind == ValueKind::opaque)
      out.push_back(v);
    else if (node_of_[v] >= 0)
      read(program.nodes()[node_of_[v]].arguments, node_of_[v]);
    const auto handing = handing_on_.find(v);
    if (handing == handing_on_.end()) continue;
    for (const int node : handing->second)
      if (node < by) read(program.nodes()[node].arguments, node);
  }
  return out;
}

void PartGraph::find_reads(const Program& program) {
  for (Unit& unit : units) {
    std::vector<int> needed;
    for (const int v : unit.values) each_needed(program.parts(), v, [&](int source) { needed.push_back(source); });
    unit.reads = sources(program, needed);
    const int own = unit_of[unit.values[0]];
    std::erase_if(unit.reads, [&](int v) { return unit_of[v] == own; });
  }
}

void PartGraph::find_runnable(const Program& program, const PartitionOptions& options) {
  const auto is_string = [&](int v) { return program.type(v).dtype == DType::string; };
  const auto is_refused = [&](int v) { return options.runnable && !options.runnable(program, v); };
  const auto is_compute = [&](int v) { return program.value(v).kind == ValueKind::compute; };
  for (Unit& unit : units) {
    const bool has_strings = std::any_of(unit.values.begin(), unit.values.end(), is_string) ||
                             std::any_of(unit.reads.begin(), unit.reads.end(), is_string);
    unit.runnable = (options.strings || !has_strings) && std::none_of(unit.values.begin(), unit.values.end(), is_refused) &&
                    (!options.kernels_only || std::none_of(unit.values.begin(), unit.values.end(), is_compute));
  }
  if (!options.runnable) return;
  // An operation that became part of a kernel is done by that kernel.
  std::vector<int> unit_of_kernel(program.kernels().size(), -1);
  for (size_t v = 0; v < unit_of.size(); ++v)
    if (const Value& value = program.values()[v]; value.kind == ValueKind::result && unit_of[v] >= 0)
      unit_of_kernel[value.index] = unit_of[v];
  for (size_t v = 0; v < unit_of.size(); ++v) {
    const Compute* const compute = program.compute_of(static_cast<int>(v));
    if (compute == nullptr || compute->kernel < 0 || unit_of_kernel[compute->kernel] < 0) continue;
    if (is_refused(static_cast<int>(v))) units[unit_of_kernel[compute->kernel]].runnable = false;
  }
}

int PartGraph::vertex_of(int v, const Program& program) const {
  if (unit_of[v] >= 0) return unit_of[v];
  const Value& value = program.value(v);
  return static_cast<int>(units.size()) + 2 * value.index + (sees_region_[v] ? 0 : 1);
}

void PartGraph::connect(const Program& program) {
  const int first = static_cast<int>(units.size());
  readers.assign(units.size() + 2 * program.opaques().size(), {});
  const auto add = [&](int from, int to) {
    if (from != to) readers[from].push_back(to);
  };
  for (int u = 0; u < first; ++u) {
    for (const int v : units[u].reads) add(vertex_of(v, program), u);
    for (const int v : units[u].values)
      if (const int node = node_of_[v]; node >= 0)
        for (const int source : file_sources(program, program.nodes()[node].arguments, node)) add(vertex_of(source, program), u);
    if (units[u].region >= 0) add(u, first + 2 * units[u].region + 1);
  }
  for (size_t o = 0; o < program.opaques().size(); ++o) {
    const Opaque& opaque = program.opaques()[o];
    const int begin = first + 2 * static_cast<int>(o), end = begin + 1;
    add(begin, end);
    const int node = opaque_node_[o];
    for (const auto& found : {sources(program, opaque.arguments), file_sources(program, opaque.arguments, node)})
      for (const int v : found) {
        add(vertex_of(v, program), begin);
        add(vertex_of(v, program), end);
      }
    for (const auto& found : {sources(program, opaque.yields), file_sources(program, opaque.yields, node)})
      for (const int v : found) add(vertex_of(v, program), end);
    if (region_of_[o] >= 0) add(end, first + 2 * region_of_[o] + 1);
  }
  for (std::vector<int>& each : readers) {
    std::sort(each.begin(), each.end());
    each.erase(std::unique(each.begin(), each.end()), each.end());
  }
}

void PartGraph::sort() {
  std::vector<int> missing(readers.size(), 0);
  for (const std::vector<int>& each : readers)
    for (const int v : each) ++missing[v];
  level.assign(readers.size(), 0);
  for (size_t v = 0; v < readers.size(); ++v)
    if (missing[v] == 0) order.push_back(static_cast<int>(v));
  for (size_t i = 0; i < order.size(); ++i) {
    const int v = order[i];
    const bool is_run = static_cast<size_t>(v) < units.size() && units[v].runnable;
    for (const int reader : readers[v]) {
      level[reader] = std::max(level[reader], level[v] + (is_run ? 0 : 1));
      if (--missing[reader] == 0) order.push_back(reader);
    }
  }
  for (size_t u = 0; u < units.size(); ++u)
    if (missing[u] > 0) units[u].runnable = false;
}

}  // namespace strew::inline v0
