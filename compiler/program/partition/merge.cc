// Units of one level that are connected are a part from the start: whatever lies between two of them has their level, so it is runnable. Parts of
// different levels are then made one, pair by pair, unless something leads from one of them through something else into the other: each step keeps
// the parts and the rest free of circles.
//
// Looking for such a way is a search among the vertices whose levels allow it. What all searches together may visit is limited, so that a file with
// tens of thousands of small parts takes a second: then parts stay smaller than they could be, which is allowed. Tested by
// tests/unit/compiler/program/partition_test.cc.
#include "compiler/program/partition/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/program/partition/union_find.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostVisits = 20'000'000;

class Merger {
 public:
  Merger(const PartGraph& graph, bool join)
      : graph_(graph), join_(join), same_(graph.readers.size()), members_(graph.readers.size()), seen_(graph.readers.size(), 0) {
    for (size_t v = 0; v < members_.size(); ++v) {
      members_[v] = {static_cast<int>(v)};
      least_level_.push_back(graph.level[v]);
      most_level_.push_back(graph.level[v]);
    }
  }

  std::vector<std::vector<int>> run() {
    merge_levels();
    while (merge_neighbours()) {
    }
    while (join_ && merge_others()) {
    }
    return ordered();
  }

 private:
  bool is_runnable(int v) const { return static_cast<size_t>(v) < graph_.units.size() && graph_.units[v].runnable; }
  int region(int v) const { return graph_.units[v].region; }

  void merge(int a, int b) {
    a = same_.find(a), b = same_.find(b);
    if (a == b) return;
    const int whole = same_.join(a, b), rest = whole == a ? b : a;
    members_[whole].insert(members_[whole].end(), members_[rest].begin(), members_[rest].end());
    members_[rest] = {};
    least_level_[whole] = std::min(least_level_[a], least_level_[b]);
    most_level_[whole] = std::max(most_level_[a], most_level_[b]);
  }

  void merge_levels() {
    std::map<std::pair<int, int>, int> first;  // region and level -> unit
    for (const int v : graph_.order) {
      if (!is_runnable(v)) continue;
      for (const int reader : graph_.readers[v])
        if (is_runnable(reader) && region(v) == region(reader) && graph_.level[v] == graph_.level[reader]) merge(v, reader);
      if (join_) merge(first.try_emplace({region(v), graph_.level[v]}, v).first->second, v);
    }
  }

  /// Does a way lead from part `from` to part `to` through something else? True if it would take too long to know.
  bool is_way(int from, int to) {
    ++search_;
    std::vector<int> open{from};
    seen_[from] = search_;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const int member : members_[at])
        for (const int reader : graph_.readers[member]) {
          if (++visits_ > kMostVisits) return true;
          const int next = same_.find(reader);
          if (next == to && at != from) return true;
          if (next == to || seen_[next] == search_ || least_level_[next] > most_level_[to]) continue;
          seen_[next] = search_;
          open.push_back(next);
        }
    }
    return false;
  }

  /// `reads`: b reads a, so no way leads back.
  bool try_merge(int a, int b, bool reads) {
    a = same_.find(a), b = same_.find(b);
    if (a == b || visits_ > kMostVisits || !failed_.insert({a, b}).second) return false;
    if (is_way(a, b) || (!reads && is_way(b, a))) return false;
    merge(a, b);
    failed_.clear();
    return true;
  }

  bool merge_neighbours() {
    bool changed = false;
    for (const int v : graph_.order) {
      if (!is_runnable(v)) continue;
      for (const int reader : graph_.readers[v])
        if (is_runnable(reader) && region(v) == region(reader)) changed = try_merge(v, reader, true) || changed;
    }
    return changed;
  }

  bool merge_others() {
    bool changed = false;
    std::map<int, std::vector<int>> parts;  // region -> one unit of each part, by level
    for (const int v : graph_.order) {
      if (!is_runnable(v) || same_.find(v) != v) continue;
      std::vector<int>& before = parts[region(v)];
      for (const int other : before) changed = try_merge(other, v, false) || changed;
      before.push_back(v);
    }
    return changed;
  }

  /// The parts in an order of the graph in which each part is one vertex.
  std::vector<std::vector<int>> ordered() {
    std::vector<int> missing(members_.size(), 0), open;
    const auto each_reader = [&](int part, const auto& use) {
      for (const int member : members_[part])
        for (const int reader : graph_.readers[member])
          if (same_.find(reader) != part) use(same_.find(reader));
    };
    for (size_t v = 0; v < members_.size(); ++v) each_reader(static_cast<int>(v), [&](int reader) { ++missing[reader]; });
    for (size_t v = 0; v < members_.size(); ++v)
      if (!members_[v].empty() && missing[v] == 0) open.push_back(static_cast<int>(v));
    std::vector<std::vector<int>> out;
    for (size_t i = 0; i < open.size(); ++i) {
      const int at = open[i];
      if (is_runnable(at)) {
        out.push_back(members_[at]);
        std::sort(out.back().begin(), out.back().end());
      }
      each_reader(at, [&](int reader) {
        if (--missing[reader] == 0) open.push_back(reader);
      });
    }
    return out;
  }

  const PartGraph& graph_;
  const bool join_;
  UnionFind same_;
  std::vector<std::vector<int>> members_;  ///< per vertex that stands for a part, or for itself
  std::vector<int> least_level_, most_level_;
  std::vector<int> seen_;  ///< per vertex: the last search that saw it
  std::set<std::pair<int, int>> failed_;  ///< pairs that were tried since the last success
  int search_ = 0;
  int64_t visits_ = 0;
};

}  // namespace

std::vector<std::vector<int>> merge_units(const PartGraph& graph, bool join) { return Merger(graph, join).run(); }

}  // namespace strew::inline v0
