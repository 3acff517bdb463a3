// Reader: traces elements of an imported program's values back through all operations that only move elements.
//
// The frame is the list of dims for which elements are asked, for example those of an index tensor or of updates. An Element says, for
// every point of the frame, which element of a value is meant. A Quantity is the scalar operation that computes an Element, or a leaf, where
// tracing ends: an input, a constant, a kernel's result, an iota, a reduction, or a movement that Reader does not follow.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "strew/import.h"

namespace strew::inline v0::fusion {

/// One coordinate of an Element: the coordinate of the frame's dim `dim`, or the number `fixed` if `dim` is -1. In dims of extent 1 it is
/// always fixed at 0, so that equal elements compare equal.
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
struct Quantity {
  Element element;
  int compute = -1;  ///< the map whose function holds `node`; -1: the quantity is a leaf
  int32_t node = 0;
  bool is_leaf() const { return compute < 0; }
  friend bool operator==(const Quantity&, const Quantity&) = default;
};
struct Range {
  int64_t low, high;
};

class Reader {
 public:
  explicit Reader(const Program& program) : program_(program) {}

  const TensorType& type(int value) const { return program_.type(value); }
  /// The elements of `value` with the value's own dims as the frame.
  Element elements_of(int value) const;
  /// elements_of(value) with the coordinate in `dim` fixed.
  Element column(int value, int64_t dim, int64_t fixed) const;

  Quantity quantity(Element element) const;
  Quantity argument(const Quantity& quantity, size_t index) const;
  const ExprNode* node(const Quantity& quantity) const;  ///< null for a leaf
  bool is(const Quantity& quantity, ExprOp op) const { return node(quantity) != nullptr && node(quantity)->op == op; }
  DType dtype(const Quantity& quantity) const;
  /// Is the quantity the result of its Compute (or a leaf), and not a node inside it? Only then does a value hold it that can replace it.
  bool is_value(const Quantity& quantity) const;

  /// The constant that the quantity is at all points of the frame; nullopt if it is no constant or varies.
  std::optional<Scalar> constant(const Quantity& quantity) const;
  /// Are both quantities equal at every point of the frame? They are if they are one quantity or equal constants.
  bool same(const Quantity& a, const Quantity& b) const;
  /// constant() as int64_t; nullopt if it is no integer or does not fit.
  std::optional<int64_t> integer(const Quantity& quantity) const;
  /// Bounds of an integer quantity, derived from constants, iota, min, max and conversions; otherwise the bounds of its dtype.
  Range range(const Quantity& quantity) const;
  /// Is the quantity, at every point of the frame, the point's coordinate in the frame's dim `dim`?
  bool counts(const Quantity& quantity, int64_t dim) const;
  /// If the quantity is a leaf that reduces one dim by AND starting from true: the reduced quantities, one per element of that dim.
  std::optional<std::vector<Quantity>> conjuncts(const Quantity& quantity) const;

 private:
  Element source(Element element) const;
  bool step(Element& element) const;
  bool step_reshape(Element& element, const Compute& compute) const;
  bool step_slice(Element& element, const Compute& compute) const;
  bool step_concatenate(Element& element, const Compute& compute) const;
  void fix_unit_dims(Element& element) const;
  Quantity inside(Element element, int compute, int32_t node) const;
  /// `steps`: how many more quantities may be visited. The bound keeps deep graphs and graphs with shared nodes cheap.
  std::optional<Scalar> constant(const Quantity& quantity, int& steps) const;
  Range range(const Quantity& quantity, int& steps) const;
  Range constant_range(const Element& element) const;

  const Program& program_;
};

}  // namespace strew::inline v0::fusion
