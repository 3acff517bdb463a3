// See coverage.h. Tested by tests/unit/differential/differential_test.cc and every differential run with --require-coverage.
#include "tests/differential/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "backends/lower/kernel.h"
#include "compiler/op/access_dims.h"
#include "tests/differential/random_combiner.h"
#include "tests/differential/random_op.h"
#include "tests/support/levels.h"

namespace strew::test {
namespace {

constexpr std::array kKinds{PlanKind::slice_update, PlanKind::row, PlanKind::element, PlanKind::general};
constexpr int kPolicies = static_cast<int>(OobPolicy::fill_window) + 1;
constexpr int kCombiners = static_cast<int>(CombinerKind::expr) + 1;

bool is_legal(bool gather, OobPolicy oob) {
  const bool skip = oob == OobPolicy::skip_element || oob == OobPolicy::skip_window;
  const bool fill = oob == OobPolicy::fill_element || oob == OobPolicy::fill_window;
  return gather ? !skip : !fill;
}

bool is_legal(bool gather, CombinerKind combiner) {
  return !gather || combiner == CombinerKind::assign || combiner == CombinerKind::expr;
}

/// Does the policy treat the elements of a window on their own?
bool may_cut(OobPolicy oob) { return oob == OobPolicy::skip_element || oob == OobPolicy::fill_element || oob == OobPolicy::wrap; }

struct Sum {
  int legal = 0, covered = 0;
  int64_t calls = 0;
};

}  // namespace

std::string text(const Cell& cell) {
  return fmt::format("{} {} {} {} {}", cell.gather ? "gather" : "scatter", name(cell.kind), name(cell.oob), name(cell.combiner),
                     name(cell.dtype));
}

std::string text(const LookupCell& cell) {
  return fmt::format("look-up {}{}", name(cell.oob), cell.cuts ? " that cuts windows" : "");
}

LookupCell cell_of(const Lookup& lookup) {
  const Gather& g = lookup.gather;
  const auto is_moved = [&](int64_t d) { return g.slice_sizes[static_cast<size_t>(d)] != 1; };
  return {g.oob, may_cut(g.oob) && std::ranges::any_of(g.dims.index_map, is_moved)};
}

const std::vector<LookupCell>& legal_lookups() {
  static const std::vector<LookupCell> cells = [] {
    std::vector<LookupCell> out;
    for (int p = 0; p < kPolicies; ++p)
      for (const bool cuts : {false, true})
        if (const auto oob = static_cast<OobPolicy>(p); !cuts || may_cut(oob)) out.push_back({oob, cuts});
    return out;
  }();
  return cells;
}

Cell cell_of(const Op& op, PlanKind kind) {
  if (const Scatter* s = std::get_if<Scatter>(&op)) return {false, kind, s->oob, s->combiner, s->results[0].dtype};
  const Gather& g = std::get<Gather>(op);
  return {true, kind, g.oob, g.expr.empty() ? CombinerKind::assign : CombinerKind::expr, g.result.dtype};
}

const std::vector<Cell>& legal_cells() {
  static const std::vector<Cell> cells = [] {
    std::vector<Cell> out;
    for (const bool gather : {false, true})
      for (const PlanKind kind : kKinds)
        for (int p = 0; p < kPolicies; ++p)
          for (int c = 0; c < kCombiners; ++c)
            for (int t = 0; t < kDTypeCount; ++t) {
              const Cell cell{gather, kind, static_cast<OobPolicy>(p), static_cast<CombinerKind>(c), static_cast<DType>(t)};
              if (is_legal(gather, cell.oob) && is_legal(gather, cell.combiner) && combines(cell.combiner, cell.dtype))
                out.push_back(cell);
            }
    return out;
  }();
  return cells;
}

bool is_promised(const Op& op) {
  const auto computes = [](DType dtype) { return info(dtype).arithmetic; };
  const auto evaluates = [&](const Expr& graph) {
    return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const ExprNode& node) { return computes(node.dtype); });
  };
  if (const Gather* g = std::get_if<Gather>(&op)) {
    if (!g->expr.empty()) return evaluates(g->expr);
    return g->operand.dtype == g->result.dtype || (computes(g->operand.dtype) && computes(g->result.dtype));
  }
  const Scatter& s = std::get<Scatter>(op);
  bool moves = s.combiner == CombinerKind::assign, converts = false, all_compute = evaluates(s.expr);
  for (size_t i = 0; i < s.results.size(); ++i) {
    converts = converts || s.operands[i].dtype != s.results[i].dtype;
    for (const DType dtype : {s.results[i].dtype, s.operands[i].dtype, s.updates[i].dtype}) {
      moves = moves && dtype == s.results[i].dtype;
      all_compute = all_compute && computes(dtype);
    }
  }
  // Nor for rows that have values of their own and lie in several loops.
  const bool has_row_values = !s.row_reductions.empty() || AccessDims(s).holds_rows(s);
  if (has_row_values && s.dims.window_dims.size() > 1) return false;
  for (const RowReduction& reduction : s.row_reductions) all_compute = all_compute && evaluates(reduction.value);
  const auto fills = [](const Lookup& lookup) { return is_fill(lookup.gather.oob); };
  if (std::ranges::count_if(s.lookups, fills) > static_cast<int64_t>(lowered::kMostFills)) return false;
  return (all_compute || moves) && (s.accumulate == Accumulate::native || s.init != InitKind::copy || !converts);
}

const std::vector<std::string>& target_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out{"native"};
    for (const std::string_view level : runnable_x86_64_levels()) out.emplace_back(level);
    return out;
  }();
  return names;
}

bool owes_cells(const std::string& backend) { return backend != "halide"; }

bool Coverage::has(const std::string& backend, const Cell& cell) const {
  const auto found = calls_.find(backend);
  return found != calls_.end() && found->second.count(cell) != 0;
}

bool Coverage::has(const std::string& backend, const LookupCell& cell) const {
  const auto found = lookups_.find(backend);
  return found != lookups_.end() && found->second.count(cell) != 0;
}

std::string Coverage::write() const {
  std::string out;
  for (const auto& [backend, cells] : calls_)
    for (const auto& [cell, calls] : cells)
      out += fmt::format("ran {} {} {} {} {} {} {}\n", backend, int{cell.gather}, static_cast<int>(cell.kind),
                         static_cast<int>(cell.oob), static_cast<int>(cell.combiner), static_cast<int>(cell.dtype), calls);
  for (const auto& [backend, cells] : lookups_)
    for (const auto& [cell, calls] : cells)
      out += fmt::format("lookup {} {} {} {}\n", backend, static_cast<int>(cell.oob), int{cell.cuts}, calls);
  for (const auto& [backend, count] : asked_) out += fmt::format("asked {} {}\n", backend, count);
  for (const auto& [backend, reasons] : refusals_)
    for (const auto& [reason, count] : reasons) out += fmt::format("refused {} {} {}\n", backend, count, reason);
  for (const auto& [target, count] : targets_) out += fmt::format("target {} {}\n", target, count);
  return out + splits_.write();
}

void Coverage::merge(const std::string& written) {
  std::istringstream lines(written);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string what, backend;
    fields >> what >> backend;
    int64_t count = 0;
    if (what == "ran") {
      int gather = 0, kind = 0, oob = 0, combiner = 0, dtype = 0;
      fields >> gather >> kind >> oob >> combiner >> dtype >> count;
      ran(backend,
          {gather != 0, static_cast<PlanKind>(kind), static_cast<OobPolicy>(oob), static_cast<CombinerKind>(combiner),
           static_cast<DType>(dtype)},
          count);
    } else if (what == "lookup") {
      int oob = 0, cuts = 0;
      fields >> oob >> cuts >> count;
      ran(backend, LookupCell{static_cast<OobPolicy>(oob), cuts != 0}, count);
    } else if (what == "asked" || what == "target") {
      fields >> count;
      (what == "asked" ? asked_ : targets_)[backend] += count;
    } else if (what == "refused") {
      std::string reason;
      fields >> count >> std::ws;
      std::getline(fields, reason);
      refusals_[backend][reason] += count;
    }
  }
  splits_.merge(written);
}

std::string Coverage::lookups(const std::string& backend) const {
  const auto found = lookups_.find(backend);
  if (found == lookups_.end()) return "";
  std::string out = "look-ups:";
  for (const auto& [cell, calls] : found->second)
    out += fmt::format(" {}{} ({})", name(cell.oob), cell.cuts ? " cutting windows" : "", calls);
  return out + "\n";
}

std::string Coverage::refusals(const std::string& backend) const {
  std::string out;
  int64_t refused = 0;
  if (const auto found = refusals_.find(backend); found != refusals_.end()) {
    for (const auto& [reason, count] : found->second) {
      out += fmt::format("refused {} ops: {}\n", count, reason);
      refused += count;
    }
  }
  const auto asked = asked_.find(backend);
  const int64_t all = asked != asked_.end() ? asked->second : 0;
  return out + fmt::format("{} can build {} of {} ops ({:.1f} %)\n", backend, all - refused, all,
                           all > 0 ? 100.0 * static_cast<double>(all - refused) / static_cast<double>(all) : 0.0);
}

std::string Coverage::table() const {
  std::string out;
  for (const auto& [backend, cells] : calls_) {
    std::map<std::tuple<bool, PlanKind, OobPolicy>, std::array<Sum, kCombiners>> rows;
    std::map<DType, Sum> dtypes;
    for (const Cell& cell : legal_cells()) {
      const auto found = cells.find(cell);
      for (Sum* sum : {&rows[{cell.gather, cell.kind, cell.oob}][static_cast<size_t>(cell.combiner)], &dtypes[cell.dtype]}) {
        sum->legal += 1;
        if (found == cells.end()) continue;
        sum->covered += 1;
        sum->calls += found->second;
      }
    }
    out += fmt::format("\nbackend {}: cells covered / legal, by dtype; then calls\n{:40}", backend, "");
    for (int c = 0; c < kCombiners; ++c) out += fmt::format(" {:>7}", name(static_cast<CombinerKind>(c)));
    out += fmt::format(" {:>9}\n", "calls");
    for (const auto& [key, sums] : rows) {
      const auto& [gather, kind, oob] = key;
      out += fmt::format("{:40}", fmt::format("{} {} {}", gather ? "gather" : "scatter", name(kind), name(oob)));
      int64_t calls = 0;
      for (const Sum& sum : sums) {
        out += fmt::format(" {:>7}", sum.legal == 0 ? "" : fmt::format("{}/{}", sum.covered, sum.legal));
        calls += sum.calls;
      }
      out += fmt::format(" {:>9}\n", calls);
    }
    out += "by dtype:";
    for (const auto& [dtype, sum] : dtypes) out += fmt::format(" {} {}/{} ({})", name(dtype), sum.covered, sum.legal, sum.calls);
    out += "\n";
    out += lookups(backend) + refusals(backend);
  }
  for (const auto& [backend, count] : asked_)
    if (calls_.count(backend) == 0) out += fmt::format("\nbackend {} ran nothing\n", backend) + refusals(backend);
  out += "\ntargets: ops";
  for (const std::string& target : target_names()) {
    const auto found = targets_.find(target);
    out += fmt::format("  {} {}", target, found == targets_.end() ? 0 : found->second);
  }
  return out + "\n" + splits_.table();
}

std::vector<std::string> Coverage::empty_cells(const std::vector<std::string>& backends) const {
  std::vector<std::string> out;
  for (const std::string& backend : backends)
    for (const Cell& cell : legal_cells())
      if (owes_cells(backend) && !has(backend, cell)) out.push_back(backend + " " + text(cell));
  for (const std::string& backend : backends)
    for (const LookupCell& cell : legal_lookups())
      if (owes_cells(backend) && !has(backend, cell)) out.push_back(backend + " " + text(cell));
  if (std::find(backends.begin(), backends.end(), "llvm") == backends.end()) return out;
  for (std::string& split : splits_.empty_cells()) out.push_back(std::move(split));
  for (const std::string& target : target_names())
    if (targets_.count(target) == 0) out.push_back(fmt::format("target {}", target));
  return out;
}

}  // namespace strew::test
