// Reader stops rather than guesses: a movement that it does not follow becomes a leaf, and a constant with too many elements to compare
// counts as no constant. kMaxSteps and kMaxScanned bound every walk, so a file with 100,000 reshapes in a row is not slower per query than
// a file with one. Tested by tests/unit/compiler/import/fusion/fusion_test.cc.
#include "compiler/import/fusion/reader.h"

#include <algorithm>
#include <limits>

#include "base/number.h"
#include "base/strides.h"

namespace strew::inline v0::fusion {
namespace {

constexpr int kMaxSteps = 64;
constexpr int64_t kMaxScanned = 4096;  ///< elements of a constant that one query compares
constexpr int64_t kMaxConjuncts = 64;

Range range_of(DType dtype) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  const int width = bits(dtype);
  if (is_unsigned_integer(dtype)) return {0, width >= 63 ? kMost : (int64_t{1} << width) - 1};
  if (!is_signed_integer(dtype) || width >= 64) return {kLeast, kMost};
  return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
}

std::optional<int64_t> integer_of(const Scalar& scalar) {
  if (!is_integer(scalar.dtype)) return std::nullopt;
  const int64_t value = decode_i64(scalar.dtype, scalar.bits[0]);
  if (is_unsigned_integer(scalar.dtype) && value < 0) return std::nullopt;
  return value;
}

/// Calls `use` with each element of the constant that the frame reaches, until `use` returns false. Returns false if it did, or if there
/// are more than kMaxScanned elements.
template <class Use>
bool scan(const Constant& constant, const std::vector<Coord>& at, Use use) {
  const std::vector<int64_t>& dims = constant.type.dims;
  if (constant.type.dtype == DType::string) return false;
  if (constant.splat && !constant.bytes().empty()) return use(load_element(constant.type.dtype, constant.bytes().data(), 0));
  const std::vector<int64_t> strides = contiguous_strides(dims);
  std::vector<int64_t> reached = dims;  // one element of each dim that is fixed
  int64_t first = 0, count = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (at[d].dim < 0) {
      first += at[d].fixed * strides[d];
      reached[d] = 1;
    }
    if (reached[d] > kMaxScanned) return false;
    count *= reached[d];
    if (count == 0 || count > kMaxScanned) return false;
  }
  Walk walk(reached, strides);
  for (int64_t i = 0; i < count; ++i, walk.next())
    if (!use(load_element(constant.type.dtype, constant.bytes().data(), first + walk.offset()))) return false;
  return true;
}

}  // namespace

void Reader::fix_unit_dims(Element& element) const {
  const std::vector<int64_t>& dims = type(element.value).dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] == 1) element.at[d] = {};
}

Element Reader::elements_of(int value) const {
  Element out{value, {}};
  for (int d = 0; d < type(value).rank(); ++d) out.at.push_back({d, 0});
  fix_unit_dims(out);
  return out;
}

Element Reader::column(int value, int64_t dim, int64_t fixed) const {
  Element out = elements_of(value);
  if (dim < static_cast<int64_t>(out.at.size())) out.at[dim] = {-1, fixed};
  return out;
}

/// A reshape is followed if it only adds or removes dims of extent 1; all other dims must be static and keep their order.
bool Reader::step_reshape(Element& element, const Compute& compute) const {
  const std::vector<int64_t>&to = type(element.value).dims, &from = type(compute.arguments[0]).dims;
  std::vector<size_t> to_kept, from_kept;
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] != 1) to_kept.push_back(d);
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1) from_kept.push_back(d);
  if (to_kept.size() != from_kept.size()) return false;
  Element out{compute.arguments[0], std::vector<Coord>(from.size())};
  for (size_t k = 0; k < to_kept.size(); ++k) {
    if (from[from_kept[k]] != to[to_kept[k]] || to[to_kept[k]] == kDynamic) return false;
    out.at[from_kept[k]] = element.at[to_kept[k]];
  }
  element = std::move(out);
  return true;
}

bool Reader::step_slice(Element& element, const Compute& compute) const {
  if (compute.arguments.size() > 1) return false;  // the start is known only at the call
  const SliceOp& slice = *compute.as<SliceOp>();
  Element out{compute.arguments[0], element.at};
  for (size_t d = 0; d < out.at.size(); ++d) {
    if (out.at[d].dim < 0)
      out.at[d].fixed = slice.starts[d] + out.at[d].fixed * slice.strides[d];
    else if (slice.starts[d] != 0 || slice.strides[d] != 1)
      return false;
  }
  element = std::move(out);
  return true;
}

bool Reader::step_concatenate(Element& element, const Compute& compute) const {
  const auto along = static_cast<size_t>(compute.as<ConcatenateOp>()->dim);
  if (element.at[along].dim >= 0) return false;
  int64_t at = element.at[along].fixed;
  for (int argument : compute.arguments) {
    const int64_t extent = type(argument).dims[along];
    if (extent == kDynamic) return false;
    if (at < extent) {
      element.value = argument;
      element.at[along].fixed = at;
      return true;
    }
    at -= extent;
  }
  return false;
}

/// Follows one movement operation back. Returns false, with `element` unchanged, at any other operation.
bool Reader::step(Element& element) const {
  const Compute* const compute = program_.compute_of(element.value);
  if (compute == nullptr) return false;
  if (compute->as<ReshapeOp>() != nullptr) return step_reshape(element, *compute);
  if (compute->as<SliceOp>() != nullptr) return step_slice(element, *compute);
  if (compute->as<ConcatenateOp>() != nullptr) return step_concatenate(element, *compute);
  Element out{compute->arguments.empty() ? -1 : compute->arguments[0], {}};
  if (const auto* const broadcast = compute->as<BroadcastOp>()) {
    for (const int64_t d : broadcast->dims) out.at.push_back(element.at[d]);
    for (const int64_t extent : type(out.value).dims)
      if (extent == kDynamic) return false;  // an extent that is 1 at the call would be repeated
  } else if (const auto* const transpose = compute->as<TransposeOp>()) {
    out.at.resize(element.at.size());
    for (size_t d = 0; d < transpose->permutation.size(); ++d) out.at[transpose->permutation[d]] = element.at[d];
  } else {
    return false;
  }
  element = std::move(out);
  return true;
}

Element Reader::source(Element element) const {
  for (int i = 0; i < kMaxSteps && step(element); ++i) fix_unit_dims(element);
  return element;
}

Quantity Reader::quantity(Element element) const {
  for (int i = 0; i < kMaxSteps; ++i) {
    element = source(std::move(element));
    const Compute* const compute = program_.compute_of<MapOp>(element.value);
    if (compute == nullptr) break;
    const int number = program_.value(element.value).index;
    const Expr& function = compute->as<MapOp>()->function;
    const int32_t result = function.results[0];
    const ExprNode& node = function.nodes[result];
    if (node.op != ExprOp::extra) return {std::move(element), number, result};
    // The map's result is its argument itself: a conversion to the same type.
    const int argument = compute->arguments[node.index];
    if (type(argument).dims.empty()) element.at.clear();
    element.value = argument;
    fix_unit_dims(element);
  }
  return {std::move(element), -1, 0};
}

Quantity Reader::inside(Element element, int compute, int32_t node) const {
  const Compute& map = program_.compute(compute);
  const ExprNode& n = map.as<MapOp>()->function.nodes[node];
  if (n.op != ExprOp::extra) return {std::move(element), compute, node};
  element.value = map.arguments[n.index];
  if (type(element.value).dims.empty()) element.at.clear();
  fix_unit_dims(element);
  return quantity(std::move(element));
}

Quantity Reader::argument(const Quantity& quantity, size_t index) const {
  return inside(quantity.element, quantity.compute, node(quantity)->args[index]);
}

const ExprNode* Reader::node(const Quantity& quantity) const {
  if (quantity.is_leaf()) return nullptr;
  return &program_.compute(quantity.compute).as<MapOp>()->function.nodes[quantity.node];
}

DType Reader::dtype(const Quantity& quantity) const {
  return quantity.is_leaf() ? type(quantity.element.value).dtype : node(quantity)->dtype;
}

bool Reader::is_value(const Quantity& quantity) const {
  return quantity.is_leaf() || quantity.node == program_.compute(quantity.compute).as<MapOp>()->function.results[0];
}

std::optional<Scalar> Reader::constant(const Quantity& quantity) const {
  int steps = kMaxSteps;
  return constant(quantity, steps);
}

std::optional<Scalar> Reader::constant(const Quantity& quantity, int& steps) const {
  if (--steps < 0) return std::nullopt;
  if (const ExprNode* n = node(quantity)) {
    if (n->op == ExprOp::literal) return n->value;
    // JAX computes the limit of a clip as minimum(n - 1, largest value of the index type).
    if (n->op != ExprOp::min && n->op != ExprOp::max && n->op != ExprOp::convert) return std::nullopt;
    const auto number = [&](size_t i) {
      const auto scalar = constant(argument(quantity, i), steps);
      return scalar ? integer_of(*scalar) : std::nullopt;
    };
    const auto a = number(0);
    const auto b = n->op == ExprOp::convert ? a : a ? number(1) : std::nullopt;
    if (!a || !b || !is_integer(n->dtype)) return std::nullopt;
    return Scalar{n->dtype, {encode_i64(n->dtype, n->op == ExprOp::max ? std::max(*a, *b) : std::min(*a, *b)), 0}};
  }
  const Value& value = program_.value(quantity.element.value);
  if (value.kind != ValueKind::constant) return std::nullopt;
  std::optional<Scalar> found;
  const auto equal = [&](const Scalar& scalar) {
    if (found && *found != scalar) return false;
    found = scalar;
    return true;
  };
  if (!scan(program_.constant(value.index), quantity.element.at, equal)) return std::nullopt;
  return found;
}

bool Reader::same(const Quantity& a, const Quantity& b) const {
  if (a == b) return true;
  const auto left = constant(a);
  return left && left == constant(b);
}

std::optional<int64_t> Reader::integer(const Quantity& quantity) const {
  const auto scalar = constant(quantity);
  return scalar ? integer_of(*scalar) : std::nullopt;
}

Range Reader::constant_range(const Element& element) const {
  const Range all = range_of(type(element.value).dtype);
  const Value& value = program_.value(element.value);
  Range seen{all.high, all.low};
  const auto widen = [&](const Scalar& scalar) {
    const auto number = integer_of(scalar);
    if (number) seen = {std::min(seen.low, *number), std::max(seen.high, *number)};
    return number.has_value();
  };
  return scan(program_.constant(value.index), element.at, widen) ? seen : all;
}

Range Reader::range(const Quantity& quantity) const {
  int steps = kMaxSteps;
  return range(quantity, steps);
}

Range Reader::range(const Quantity& quantity, int& steps) const {
  const Range all = range_of(dtype(quantity));
  if (!is_integer(dtype(quantity)) || --steps < 0) return all;
  if (const ExprNode* n = node(quantity)) {
    if (n->op == ExprOp::literal) {
      const auto number = integer_of(n->value);
      return number ? Range{*number, *number} : all;
    }
    if (n->op != ExprOp::min && n->op != ExprOp::max && n->op != ExprOp::convert) return all;
    const Quantity from = argument(quantity, 0);
    const Range a = range(from, steps);
    if (n->op == ExprOp::convert) return is_integer(dtype(from)) && a.low >= all.low && a.high <= all.high ? a : all;
    const Range b = range(argument(quantity, 1), steps);
    if (n->op == ExprOp::min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
  }
  const Value& value = program_.value(quantity.element.value);
  if (value.kind == ValueKind::constant) return constant_range(quantity.element);
  const Compute* compute = program_.compute_of<IotaOp>(quantity.element.value);
  if (compute == nullptr) return all;
  const int64_t extent = value.type.dims[compute->as<IotaOp>()->dim];
  return extent > 0 && extent - 1 <= all.high ? Range{0, extent - 1} : all;  // if the extent exceeds the dtype, iota wraps
}

bool Reader::counts(const Quantity& quantity, int64_t dim) const {
  if (!quantity.is_leaf() || !is_integer(dtype(quantity))) return false;
  const std::vector<Coord>& at = quantity.element.at;
  const Value& value = program_.value(quantity.element.value);
  if (const Compute* compute = program_.compute_of(quantity.element.value)) {
    const auto* const iota = compute->as<IotaOp>();
    if (iota == nullptr || at[iota->dim].dim != dim) return false;
    const int64_t extent = value.type.dims[iota->dim];
    return extent != kDynamic && extent - 1 <= range_of(value.type.dtype).high;  // else iota wraps
  }
  if (value.kind != ValueKind::constant) return false;
  int64_t extent = 0, behind = 1,
          all = 1;  // in the dim that counts, of the dims behind it, and of all dims that the frame reaches
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t own = value.type.dims[d];
    if (at[d].dim < 0) continue;
    if (own > kMaxScanned || (at[d].dim == dim && extent > 0)) return false;
    behind = at[d].dim == dim ? 1 : behind * own;
    if (at[d].dim == dim) extent = own;
    all *= own;
    if (all > kMaxScanned) return false;
  }
  if (extent == 0) return false;
  int64_t seen = 0;
  const auto is_next = [&](const Scalar& scalar) { return integer_of(scalar) == seen++ / behind % extent; };
  return scan(program_.constant(value.index), at, is_next) && seen == all;
}

std::optional<std::vector<Quantity>> Reader::conjuncts(const Quantity& quantity) const {
  const Compute* compute = quantity.is_leaf() ? program_.compute_of(quantity.element.value) : nullptr;
  const ReduceOp* const reduce = compute == nullptr ? nullptr : compute->as<ReduceOp>();
  if (reduce == nullptr || compute->results.size() != 1) return std::nullopt;
  if (reduce->dims.size() != 1 || compute->results[0].dtype != DType::boolean) return std::nullopt;
  const Expr& f = reduce->function;
  const ExprNode& fold = f.nodes[f.results[0]];
  const auto initial = constant(this->quantity(elements_of(compute->arguments[1])));
  if (fold.op != ExprOp::bit_and || !initial || initial->bits[0] == 0) return std::nullopt;
  const ExprNode &a = f.nodes[fold.args[0]], &b = f.nodes[fold.args[1]];
  const bool both = (a.op == ExprOp::current && b.op == ExprOp::update) || (a.op == ExprOp::update && b.op == ExprOp::current);
  const auto along = static_cast<size_t>(reduce->dims[0]);
  const int from = compute->arguments[0];
  const int64_t extent = type(from).dims[along];
  if (!both || extent == kDynamic || extent > kMaxConjuncts) return std::nullopt;
  std::vector<Quantity> out;
  for (int64_t i = 0; i < extent; ++i) {
    Element element{from, quantity.element.at};
    element.at.insert(element.at.begin() + static_cast<int64_t>(along), Coord{-1, i});
    fix_unit_dims(element);
    out.push_back(this->quantity(std::move(element)));
  }
  return out;
}

}  // namespace strew::inline v0::fusion
