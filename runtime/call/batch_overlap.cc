// See batch_overlap.h. The writes are sorted by address; then neighbours are compared, and each read is searched among the
// writes. Reads outside the range of all writes, the common case, need no search.
#include "runtime/call/batch_overlap.h"

#include <algorithm>

namespace strew::inline v0 {
namespace {

bool before(const CallBytes& a, const CallBytes& b) { return a.begin < b.begin; }

void sort(std::vector<CallBytes>& list) {
  if (std::is_sorted(list.begin(), list.end(), before)) return;
  if (std::is_sorted(list.rbegin(), list.rend(), before))
    std::reverse(list.begin(), list.end());
  else
    std::sort(list.begin(), list.end(), before);
}

}  // namespace

std::optional<CallOverlap> find_overlap(std::vector<CallBytes>& writes, std::vector<CallBytes>& reads) {
  if (writes.empty()) return std::nullopt;
  sort(writes);
  for (size_t i = 1; i < writes.size(); ++i) {
    // Results of one call do not overlap: binding has checked that.
    if (writes[i].begin < writes[i - 1].end && writes[i].call != writes[i - 1].call) return CallOverlap{writes[i - 1], writes[i]};
  }
  const uintptr_t first = writes.front().begin, last = writes.back().end;
  for (const CallBytes& read : reads) {
    if (read.end <= first || read.begin >= last) continue;
    auto write = std::partition_point(writes.begin(), writes.end(), [&](const CallBytes& w) { return w.end <= read.begin; });
    for (; write != writes.end() && write->begin < read.end; ++write)
      if (write->call != read.call) return CallOverlap{*write, read};
  }
  return std::nullopt;
}

}  // namespace strew::inline v0
