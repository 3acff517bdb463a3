// UnionFind: which of some numbers belong together, as more and more of them are joined.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

namespace strew::inline v0 {

class UnionFind {
 public:
  explicit UnionFind(size_t count) : parent_(count), size_(count, 1) { std::iota(parent_.begin(), parent_.end(), 0); }

  /// The number that stands for all that `at` belongs to.
  int find(int at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  /// Returns the number that stands for both from now on.
  int join(int a, int b) {
    a = find(a), b = find(b);
    if (a == b) return a;
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    return a;
  }

 private:
  std::vector<int> parent_, size_;
};

}  // namespace strew::inline v0
