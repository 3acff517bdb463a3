// See graph.h. Tested by tests/unit/compiler/splice/policy_test.cc.
#include "compiler/splice/graph.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/tensor.h"

namespace strew::inline v0 {
namespace {

constexpr std::array kUnfused = {
    "chlo.ragged_dot",
    "chlo.top_k",
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.case",
    "stablehlo.cholesky",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.convolution",
    "stablehlo.custom_call",
    "stablehlo.dot",
    "stablehlo.dot_general",
    "stablehlo.dynamic_conv",
    "stablehlo.fft",
    "stablehlo.if",
    "stablehlo.infeed",
    "stablehlo.outfeed",
    "stablehlo.recv",
    "stablehlo.reduce_scatter",
    "stablehlo.reduce_window",
    "stablehlo.scatter",
    "stablehlo.select_and_scatter",
    "stablehlo.send",
    "stablehlo.sort",
    "stablehlo.triangular_solve",
    "stablehlo.while",
};

/// The elements of which XLA has a reduction done by the library (measured with jaxlib 0.10.2: 4,096 are, 2,048 are not), and operations that the library
/// does before it (measured: the gather before them is stored; it is not before a select).
constexpr int64_t kLeastReduced = 4096;
constexpr std::array kFed = {"stablehlo.abs",         "stablehlo.add",      "stablehlo.convert",  "stablehlo.divide",
                             "stablehlo.exponential", "stablehlo.maximum",  "stablehlo.multiply", "stablehlo.negate",
                             "stablehlo.sqrt",        "stablehlo.subtract", "stablehlo.tanh"};
constexpr int kMostFed = 8;  ///< so many of them behind each other are looked at

constexpr char kManual[] = "sdy.manual_computation";

std::vector<int64_t> without_ones(const TensorType& type) {
  std::vector<int64_t> out = type.dims;
  std::erase(out, 1);
  return out;
}

}  // namespace

std::string_view operation_of(std::string_view location) {
  const size_t end = location.rfind(": ");
  return end == std::string_view::npos ? location : location.substr(end + 2);
}

bool is_fusible(std::string_view operation) { return std::ranges::find(kUnfused, operation) == kUnfused.end(); }

int piece_of(const Program& program, int value) {
  const Value& v = program.value(value);
  if (v.kind != ValueKind::opaque || program.opaque(v.index).operation != kManual) return -1;
  const Opaque& opaque = program.opaque(v.index);
  const size_t number = static_cast<size_t>(v.result), results = opaque.yields.size();
  if (number < results) return opaque.yields[number];
  return number - results < opaque.arguments.size() ? opaque.arguments[number - results] : -1;
}

int64_t windows_of(const VerifiedOp& op) {
  std::vector<int64_t> extents;
  for (const AccessDims::Position& position : op.access().positions)
    extents.push_back(slices_of(op).dims[static_cast<size_t>(position.slices_dim)]);
  return is_static(extents) ? element_count(extents).value_or(-1) : -1;
}

int64_t bytes_of(const TensorType& type) {
  if (!is_static(type.dims)) return -1;
  const Expected<int64_t> elements = element_count(type.dims);
  return elements.ok() ? storage_bytes(type.dtype, *elements) : -1;
}

FileGraph::FileGraph(const Program& program)
    : program_(program),
      makers_(program.values().size(), -1),
      origins_(program.values().size(), -1),
      views_(program.values().size()),
      readers_(program.values().size()),
      is_handed_over_(program.values().size()) {
  std::vector<std::set<int>> operands(program.opaques().size());  // of the nodes of opaque operations
  for (size_t n = 0; n < program.nodes().size(); ++n) {
    const FileNode& node = program.nodes()[n];
    for (const int v : node.results) {
      if (v < 0) continue;
      const bool hands_on = std::ranges::find(node.arguments, v) != node.arguments.end();
      if (makers_[v] < 0 && !hands_on) makers_[v] = static_cast<int>(n);
      const Value& value = program.value(v);
      if (value.kind == ValueKind::opaque) operands[value.index].insert(node.arguments.begin(), node.arguments.end());
    }
    for (const int v : node.arguments)
      if (v >= 0 && std::ranges::find(node.results, v) == node.results.end()) readers_[v].push_back(static_cast<int>(n));
  }
  for (const ProgramOutput& output : program.outputs()) is_handed_over_[output.value] = true;
  for (size_t o = 0; o < program.opaques().size(); ++o) {
    const Opaque& opaque = program.opaque(static_cast<int>(o));
    if (opaque.operation == kManual) continue;
    for (const int v : opaque.yields) is_handed_over_[v] = true;
    for (const int v : opaque.arguments)
      if (!operands[o].contains(v)) is_handed_over_[v] = true;
  }
  for (size_t v = 0; v < program.values().size(); ++v) {
    const int node = makers_[v];
    const bool is_view = node >= 0 && keeps_memory(node);
    origins_[v] = is_view ? program.nodes()[static_cast<size_t>(node)].arguments[0] : piece_of(program, static_cast<int>(v));
    if (origins_[v] >= 0) views_[origins_[v]].push_back(static_cast<int>(v));
  }
}

bool FileGraph::keeps_memory(int node) const {
  const std::string_view name = operation(node);
  if (name == "stablehlo.reshape") return true;
  if (name != "stablehlo.transpose" && name != "stablehlo.broadcast_in_dim") return false;
  const FileNode& moved = program_.nodes()[static_cast<size_t>(node)];
  if (moved.arguments.size() != 1 || moved.arguments[0] < 0 || moved.results[0] < 0) return false;
  return without_ones(program_.type(moved.arguments[0])) == without_ones(program_.type(moved.results[0]));
}

bool FileGraph::makes_nothing(int node) const { return keeps_memory(node) || operation(node) == kManual; }

int FileGraph::memory_of(int value) const {
  while (origins_[value] >= 0) value = origins_[value];
  return value;
}

bool FileGraph::is_other_view(int value) const {
  for (; value >= 0; value = origins_[value])
    if (maker(value) >= 0 && keeps_memory(maker(value))) return true;
  return false;
}

std::vector<int> FileGraph::same_memory(int value) const {
  std::vector<int> out{value};
  for (size_t i = 0; i < out.size(); ++i) out.insert(out.end(), views_[out[i]].begin(), views_[out[i]].end());
  return out;
}

std::vector<int> FileGraph::readers(int value) const {
  std::vector<int> out;
  for (const int v : same_memory(value))
    std::ranges::copy_if(readers_[v], std::back_inserter(out), [&](int node) { return !makes_nothing(node); });
  return out;
}

bool FileGraph::is_handed_over(int value) const {
  return std::ranges::any_of(same_memory(value), [&](int v) { return is_handed_over_[v]; });
}

bool FileGraph::is_returned(int value) const {
  return std::ranges::any_of(same_memory(value), [&](int v) {
    return std::ranges::any_of(program_.outputs(), [&](const ProgramOutput& output) { return output.value == v; });
  });
}

bool FileGraph::is_stored(int value) const {
  return is_handed_over(value) || std::ranges::any_of(readers(value), [&](int node) { return loads(node); });
}

bool FileGraph::becomes_slice(int node) const {
  const std::vector<int>& results = program_.nodes()[static_cast<size_t>(node)].results;
  if (results.empty() || results[0] < 0) return false;
  const ProgramKernel* const kernel = program_.kernel_of(results[0]);
  return kernel != nullptr && is_scatter(kernel->op) && windows_of(kernel->op) == 1;
}

bool FileGraph::calls_library(int node) const {
  if (operation(node) != "stablehlo.reduce") return false;
  const FileNode& own = program_.nodes()[static_cast<size_t>(node)];
  if (own.results.size() != 1 || own.results[0] < 0 || own.arguments.empty() || own.arguments[0] < 0) return false;
  const Compute* const reduce = program_.compute_of<ReduceOp>(own.results[0]);
  if (reduce == nullptr) return false;
  const TensorType& type = program_.type(own.arguments[0]);
  if (!is_float(type.dtype) || !is_static(type.dims) || element_count(type.dims).value_or(0) < kLeastReduced) return false;
  const ExprOp op = reduce->as<ReduceOp>()->function.result().op;
  return op == ExprOp::add || op == ExprOp::min || op == ExprOp::max;
}

bool FileGraph::feeds_library(int node) const {
  for (int steps = 0; steps < kMostFed; ++steps) {
    if (std::ranges::find(kFed, operation(node)) == kFed.end()) return false;
    const int made = program_.nodes()[static_cast<size_t>(node)].results[0];
    if (made < 0 || is_handed_over(made)) return false;
    const std::vector<int> next = readers(made);
    if (next.size() != 1) return false;
    if (calls_library(next[0])) return true;
    node = next[0];
  }
  return false;
}

}  // namespace strew::inline v0
