// Extents: the extents of a drawn program's tensors, as numbers or as sums and products of variables, whose values may change from call to call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strew::test {

/// Equal extents have equal numbers.
using ExtentId = int;
using ExtentIds = std::vector<ExtentId>;

class Extents {
 public:
  ExtentId constant(int64_t number);
  /// A new variable, which is `most` in a program's first call and at most that in others.
  ExtentId variable(int64_t most);
  ExtentId sum(const ExtentIds& of) { return combined(Kind::sum, of); }
  ExtentId product(const ExtentIds& of) { return combined(Kind::product, of); }

  bool is_open(ExtentId id) const { return nodes_[static_cast<size_t>(id)].is_open; }
  /// With every variable at its most.
  int64_t most(ExtentId id) const { return value(id, most_); }
  std::vector<int64_t> most(const ExtentIds& ids) const { return values(ids, most_); }
  int64_t value(ExtentId id, const std::vector<int64_t>& variables) const;
  std::vector<int64_t> values(const ExtentIds& ids, const std::vector<int64_t>& variables) const;
  /// The values of the variables at their most.
  const std::vector<int64_t>& variables() const { return most_; }

 private:
  enum class Kind : uint8_t { constant, variable, sum, product };
  struct Node {
    Kind kind = Kind::constant;
    int64_t number = 0;  ///< constant: its value; variable: its number
    ExtentIds parts;
    bool is_open = false;
    friend bool operator==(const Node&, const Node&) = default;
  };
  ExtentId combined(Kind kind, const ExtentIds& of);
  ExtentId found(Node node);

  std::vector<Node> nodes_;
  std::vector<int64_t> most_;
};

}  // namespace strew::test
