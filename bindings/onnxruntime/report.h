// What strew.ort.report() tells of a session: which node runs where, and why. Tested by tests/onnxruntime.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/onnxruntime/graph.h"

namespace strew::ort {

/// What became of a node that has an indexed operator, or that is in a group with one.
struct Claim {
  NodeText node;
  bool is_taken = false;
  std::string reason;
};

/// The claims of a session, which strew.ort.report() reads while sessions come and go.
class Report {
 public:
  void add(Claim claim);
  /// One more call of a kernel of a scatter.
  void count_scatter(bool in_place) { (in_place ? in_place_ : copied_).fetch_add(1, std::memory_order_relaxed); }
  /// JSON: {"nodes": [{"node": "scatter_1", "operator": "ScatterND", "runs": "strew", "why": "..."}, ...], "in_place": 3, "copied": 1}
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Claim> claims_;
  /// Scatters whose result lay in the memory of what they update, and those that had to copy it.
  std::atomic<uint64_t> in_place_{0}, copied_{0};
};

/// The reports of sessions that have a name, by it. Thread-safe.
void list_report(const std::string& session, const std::shared_ptr<Report>& report);
/// Sessions that were made with the same options have one name.
void unlist_report(const std::string& session, const std::shared_ptr<Report>& report);
/// That of the youngest session of the name. Null: there is none.
std::shared_ptr<Report> find_report(const std::string& session);

}  // namespace strew::ort
