// Units of one level that are connected are a part from the start: whatever lies between two of them has their level, so it is runnable. Parts of
// different levels are then made one, pair by pair, unless something leads from one of them through something else into the other: each step keeps
// the parts and the rest free of circles.
//
// An order of the parts and the rest is kept up to date: a way from one to the other leads through those between them alone, and a union moves these alone
// (Pearce and Kelly's algorithm, for the contraction of an edge). What all searches together may visit is limited, so that a file with tens of
// thousands of small parts takes a second: then parts stay smaller than they could be, which is allowed. Tested by
// tests/unit/compiler/program/partition_test.cc and partition_random_test.cc.
#include "compiler/program/partition/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/program/partition/union_find.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostVisits = 20'000'000;

class Merger {
 public:
  Merger(const PartGraph& graph, bool join)
      : graph_(graph), join_(join), same_(graph.readers.size()), members_(graph.readers.size()), sources_(graph.readers.size()) {
    for (size_t v = 0; v < members_.size(); ++v) {
      members_[v] = {static_cast<int>(v)};
      for (const int reader : graph.readers[v]) sources_[reader].push_back(static_cast<int>(v));
    }
    seen_.assign(members_.size(), 0);
    rank_.assign(members_.size(), static_cast<int>(members_.size()));  // of what needs itself: behind all others
  }

  std::vector<std::vector<int>> run() {
    merge_levels();
    const std::vector<int> order = ordered();
    for (size_t i = 0; i < order.size(); ++i) rank_[order[i]] = static_cast<int>(i);
    while (merge_neighbours()) {
    }
    while (join_ && merge_others()) {
    }
    std::vector<std::vector<int>> out;
    for (const int part : ordered())
      if (is_runnable(part)) {
        out.push_back(members_[part]);
        std::sort(out.back().begin(), out.back().end());
      }
    return out;
  }

 private:
  bool is_runnable(int v) const { return static_cast<size_t>(v) < graph_.units.size() && graph_.units[v].runnable; }
  int region(int v) const { return graph_.units[v].region; }

  /// Returns the number of the union.
  int merge(int a, int b) {
    a = same_.find(a), b = same_.find(b);
    if (a == b) return a;
    const int whole = same_.join(a, b), rest = whole == a ? b : a;
    members_[whole].insert(members_[whole].end(), members_[rest].begin(), members_[rest].end());
    members_[rest] = {};
    return whole;
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

  /// What is found from `from` on, along `next_of`, without `to` and what is not between the two; nothing if a way leads to `to` through something
  /// else, or if there is no time to look.
  std::optional<std::vector<int>> between(int from, int to, const std::vector<std::vector<int>>& next_of) {
    const int least = std::min(rank_[from], rank_[to]), most = std::max(rank_[from], rank_[to]);
    std::vector<int> found, open{from};
    seen_[from] = ++search_;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const int member : members_[at])
        for (const int each : next_of[member]) {
          if (++visits_ > kMostVisits) return std::nullopt;
          const int next = same_.find(each);
          if (next == to && at != from) return std::nullopt;
          if (next == to || seen_[next] == search_ || rank_[next] < least || rank_[next] > most) continue;
          seen_[next] = search_;
          found.push_back(next);
          open.push_back(next);
        }
    }
    return found;
  }

  bool try_merge(int a, int b) {
    a = same_.find(a), b = same_.find(b);
    if (a == b || visits_ > kMostVisits) return false;
    if (rank_[a] > rank_[b]) std::swap(a, b);
    if (!failed_.insert({a, b}).second) return false;
    std::optional<std::vector<int>> behind = between(a, b, graph_.readers);
    if (!behind) return false;
    std::optional<std::vector<int>> before = between(b, a, sources_);
    if (!before) return false;
    std::vector<int> ranks{rank_[a], rank_[b]};
    for (std::vector<int>* const some : {&*before, &*behind}) {
      std::sort(some->begin(), some->end(), [&](int x, int y) { return rank_[x] < rank_[y]; });
      for (const int each : *some) ranks.push_back(rank_[each]);
    }
    std::sort(ranks.begin(), ranks.end());
    const int whole = merge(a, b);
    auto rank = ranks.begin();
    for (const int each : *before) rank_[each] = *rank++;
    rank_[whole] = *rank;
    rank = ranks.end() - std::ssize(*behind);
    for (const int each : *behind) rank_[each] = *rank++;
    failed_.clear();
    return true;
  }

  bool merge_neighbours() {
    bool changed = false;
    for (const int v : graph_.order) {
      if (!is_runnable(v)) continue;
      for (const int reader : graph_.readers[v])
        if (is_runnable(reader) && region(v) == region(reader)) changed = try_merge(v, reader) || changed;
    }
    return changed;
  }

  bool merge_others() {
    bool changed = false;
    std::map<int, std::vector<int>> parts;  // region -> one unit of each part, by level
    for (const int v : graph_.order) {
      if (!is_runnable(v) || same_.find(v) != v) continue;
      std::vector<int>& before = parts[region(v)];
      for (const int other : before) changed = try_merge(other, v) || changed;
      before.push_back(v);
    }
    return changed;
  }

  /// The parts and the rest, each behind what it needs.
  std::vector<int> ordered() {
    std::vector<int> missing(members_.size(), 0), out;
    const auto each_reader = [&](int part, const auto& use) {
      for (const int member : members_[part])
        for (const int reader : graph_.readers[member])
          if (same_.find(reader) != part) use(same_.find(reader));
    };
    for (size_t v = 0; v < members_.size(); ++v) each_reader(static_cast<int>(v), [&](int reader) { ++missing[reader]; });
    for (size_t v = 0; v < members_.size(); ++v)
      if (!members_[v].empty() && missing[v] == 0) out.push_back(static_cast<int>(v));
    for (size_t i = 0; i < out.size(); ++i)
      each_reader(out[i], [&](int reader) {
        if (--missing[reader] == 0) out.push_back(reader);
      });
    return out;
  }

  const PartGraph& graph_;
  const bool join_;
  UnionFind same_;
  std::vector<std::vector<int>> members_;  ///< per vertex that stands for a part, or for itself
  std::vector<std::vector<int>> sources_;  ///< per vertex: those that it needs
  std::vector<int> rank_;                  ///< per vertex that stands for a part, or for itself: its place in an order
  std::vector<int> seen_;                  ///< per vertex: the last search that saw it
  std::set<std::pair<int, int>> failed_;   ///< pairs that were tried since the last success
  int search_ = 0;
  int64_t visits_ = 0;
};

}  // namespace

std::vector<std::vector<int>> merge_units(const PartGraph& graph, bool join) { return Merger(graph, join).run(); }

}  // namespace strew::inline v0
