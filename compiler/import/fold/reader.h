// Reader: the elements of an imported program's values, followed back through everything that only moves them.
//
// A frame is the list of dims one asks for (those of an index tensor, of updates). An Element says which element of a value stands at
// each point of the frame; a Term is the scalar operation that gives it, or a leaf: an input, a constant, a kernel's result, an iota, a
// reduction, or a movement that mixes dims.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/import/importer.h"

namespace strew::fold {

/// A coordinate: that of the frame's dim `dim`, or `fixed`. Extents of 1 are always fixed at 0, so equal elements compare equal.
struct Coord {
  int dim = -1;
  int64_t fixed = 0;
  friend bool operator==(const Coord&, const Coord&) = default;
};
struct Element {
  int value = -1;
  std::vector<Coord> at;  ///< per dim of the value
  friend bool operator==(const Element&, const Element&) = default;
};
struct Term {
  Element element;
  int compute = -1;  ///< the map whose function holds `node`; -1: a leaf
  int32_t node = 0;
  bool is_leaf() const { return compute < 0; }
  friend bool operator==(const Term&, const Term&) = default;
};
struct Range {
  int64_t low, high;
};

class Reader {
 public:
  explicit Reader(const Imported& imported) : imported_(imported) {}

  const TensorType& type(int value) const { return imported_.values[static_cast<size_t>(value)].type; }
  /// Each element of `value`, its own dims being the frame.
  Element elements_of(int value) const;
  /// `whole` with the coordinate in `dim` fixed.
  Element column(int value, int64_t dim, int64_t fixed) const;

  Term term(Element element) const;
  Term argument(const Term& term, size_t index) const;
  const ExprNode* node(const Term& term) const;  ///< null: a leaf
  bool is(const Term& term, ExprOp op) const { return node(term) != nullptr && node(term)->op == op; }
  DType dtype(const Term& term) const;
  /// Whether the term is all that its value is, so that the value can stand for it.
  bool is_value(const Term& term) const;

  /// The one value that stands at all points of the frame.
  std::optional<Scalar> constant(const Term& term) const;
  /// Whether both are the same at every point of the frame: one term, or equal constants.
  bool same(const Term& a, const Term& b) const;
  /// constant() of an integer that fits i64.
  std::optional<int64_t> integer(const Term& term) const;
  /// Bounds of an integer term, as far as they are easily known; at worst those of its dtype.
  Range range(const Term& term) const;
  /// For a leaf that is a reduction by AND from true: what it reduces, one term per element of the reduced dims.
  std::optional<std::vector<Term>> conjuncts(const Term& term) const;

 private:
  Element source(Element element) const;
  bool step(Element& element) const;
  bool step_reshape(Element& element, const Compute& compute) const;
  bool step_slice(Element& element, const Compute& compute) const;
  bool step_concatenate(Element& element, const Compute& compute) const;
  void fix_unit_dims(Element& element) const;
  Term inside(Element element, int compute, int32_t node) const;
  const Compute* compute_of(int value) const;
  /// `steps`: how many more terms may be looked at, so that neither deep graphs nor shared nodes cost more than a few.
  std::optional<Scalar> constant(const Term& term, int& steps) const;
  Range range(const Term& term, int& steps) const;
  Range constant_range(const Element& element) const;

  const Imported& imported_;
};

}  // namespace strew::fold
