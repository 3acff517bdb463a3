// See random_expr.h. Graphs are made from the results down to the inputs; nodes are stored in evaluation order.
//
// One restriction keeps results defined. The bits of a computed NaN are unspecified (docs/semantics.md section 2), so
// a graph never bitcasts a computed float to a type that would show them. Tested by every differential run, which
// verifies each generated op.
#include "tests/differential/random_expr.h"

#include <utility>

#include "tests/differential/random_combiner.h"
#include "tests/differential/random_data.h"
#include "tests/differential/random_op.h"

namespace strew::test {
namespace {

using E = ExprOp;

class Grower {
 public:
  Grower(Rng& rng, const std::vector<ExprInput>& inputs, const ExprLimits& limits)
      : rng_(rng), inputs_(inputs), limits_(limits) {}

  int32_t grow(DType dtype, int depth);
  Expr graph;

 private:
  int32_t push(E op, DType dtype, std::vector<int32_t> args) {
    graph.nodes.push_back({op, dtype, std::move(args), 0, {}});
    return static_cast<int32_t>(graph.nodes.size()) - 1;
  }
  int32_t leaf(DType dtype);
  int32_t literal(DType dtype);
  int32_t unary(const std::vector<E>& ops, DType dtype, int depth) {
    const E op = rng_.pick(ops);
    const int32_t a = grow(dtype, depth);
    return push(op, dtype, {a});
  }
  int32_t binary(const std::vector<E>& ops, DType dtype, int depth) {
    const E op = rng_.pick(ops);
    const int32_t a = grow(dtype, depth);
    const int32_t b = grow(dtype, depth);
    return push(op, dtype, {a, b});
  }
  int32_t select(DType dtype, int depth) {
    const int32_t p = grow(DType::boolean, depth);
    const int32_t a = grow(dtype, depth);
    const int32_t b = grow(dtype, depth);
    return push(E::select, dtype, {p, a, b});
  }
  int32_t converted(DType dtype, int depth);
  int32_t boolean(int depth);
  int32_t integer(DType dtype, int depth);
  int32_t floating(DType dtype, int depth);
  int32_t complex(DType dtype, int depth);

  Rng& rng_;
  const std::vector<ExprInput>& inputs_;
  const ExprLimits& limits_;
};

int32_t Grower::literal(DType dtype) {
  const int32_t node = push(E::literal, dtype, {});
  graph.nodes.back().value = random_value(rng_, dtype, rng_.chance(30) ? DataMode::nasty : DataMode::ordinary);
  return node;
}

int32_t Grower::leaf(DType dtype) {
  std::vector<const ExprInput*> same, convertible;
  for (const ExprInput& input : inputs_) {
    if (input.dtype == dtype)
      same.push_back(&input);
    else if (info(input.dtype).arithmetic && info(dtype).arithmetic)
      convertible.push_back(&input);
  }
  if (!same.empty() && !rng_.chance(15)) {
    const ExprInput& input = *rng_.pick(same);
    const int32_t node = push(input.op, dtype, {});
    graph.nodes.back().index = input.index;
    return node;
  }
  if (!convertible.empty() && rng_.chance(80)) {
    const ExprInput& input = *rng_.pick(convertible);
    if (is_complex(dtype) || !is_complex(input.dtype)) {
      const int32_t source = push(input.op, input.dtype, {});
      graph.nodes.back().index = input.index;
      return push(E::convert, dtype, {source});
    }
  }
  return literal(dtype);
}

int32_t Grower::converted(DType dtype, int depth) {
  for (int tries = 0; tries < 8; ++tries) {
    const DType from = rng_.pick(arithmetic_dtypes());
    if (is_complex(from) || is_complex(dtype)) continue;
    const int32_t source = grow(from, depth);
    return push(E::convert, dtype, {source});
  }
  return leaf(dtype);
}

int32_t Grower::boolean(int depth) {
  if (rng_.chance(25)) return binary({STREW_OPS_OF(BINARY_BITS)}, DType::boolean, depth);
  if (rng_.chance(10)) return unary({STREW_OPS_OF(UNARY_BITS)}, DType::boolean, depth);
  std::vector<DType> near;
  for (const ExprInput& input : inputs_)
    if (info(input.dtype).arithmetic && !is_complex(input.dtype)) near.push_back(input.dtype);
  const DType of = near.empty() || rng_.chance(20) ? DType::i32 : rng_.pick(near);
  if (is_float(of) && rng_.chance(15)) {
    const int32_t a = grow(of, depth);
    return push(E::is_finite, DType::boolean, {a});
  }
  const E op = rng_.pick(std::vector<E>{STREW_OPS_OF(COMPARE)});
  const int32_t a = grow(of, depth);
  const int32_t b = grow(of, depth);
  return push(op, DType::boolean, {a, b});
}

int32_t Grower::integer(DType dtype, int depth) {
  if (rng_.chance(20)) {
    std::vector<E> ops{STREW_OPS_OF(UNARY_BITS), STREW_OPS_OF(UNARY_INTEGER)};
    if (is_signed_integer(dtype)) ops.insert(ops.end(), {STREW_OPS_OF(UNARY_NUMBER)});
    return unary(ops, dtype, depth);
  }
  return binary({STREW_OPS_OF(BINARY_NUMBER), STREW_OPS_OF(BINARY_BITS), STREW_OPS_OF(SHIFT)}, dtype, depth);
}

int32_t Grower::floating(DType dtype, int depth) {
  if (rng_.chance(25)) {
    return unary({STREW_OPS_OF(UNARY_NUMBER), STREW_OPS_OF(UNARY_FLOAT)}, dtype, depth);
  }
  if (limits_.functions && rng_.chance(20)) {
    if (rng_.chance(20)) return binary({STREW_OPS_OF(BINARY_MATH), E::rem}, dtype, depth);
    return unary({STREW_OPS_OF(UNARY_MATH)}, dtype, depth);
  }
  const E op = rng_.pick(std::vector<E>{E::add, E::sub, E::mul, E::div, E::min, E::max, E::add, STREW_OPS_OF(TERNARY_MATH)});
  std::vector<int32_t> args;
  for (int i = 0; i < info(op).arity; ++i) args.push_back(grow(dtype, depth));
  return push(op, dtype, std::move(args));
}

int32_t Grower::complex(DType dtype, int depth) {
  if (rng_.chance(15)) {
    const DType part = dtype == DType::complex64 ? DType::f32 : DType::f64;
    const int32_t z = grow(dtype, depth - 1);
    const int32_t re = push(rng_.chance(50) ? E::real : E::imag, part, {z});
    const int32_t im = grow(part, depth - 1);
    return push(E::complex, dtype, {re, im});
  }
  if (rng_.chance(15)) return unary({E::neg}, dtype, depth);
  return binary({E::add, E::sub, E::mul, E::div}, dtype, depth);
}

int32_t Grower::grow(DType dtype, int depth) {
  if (!graph.nodes.empty() && rng_.chance(12)) {  // reuse a node
    const auto n = static_cast<int32_t>(rng_.below(static_cast<int64_t>(graph.nodes.size())));
    if (graph.nodes[static_cast<size_t>(n)].dtype == dtype) return n;
  }
  if (depth <= 0 || graph.nodes.size() > 24 || rng_.chance(15)) return leaf(dtype);
  if (rng_.chance(12)) return select(dtype, depth - 1);
  if (!info(dtype).arithmetic) return leaf(dtype);
  if (rng_.chance(10)) return converted(dtype, depth - 1);
  switch (info(dtype).kind) {
    case DTypeKind::boolean:
      return boolean(depth - 1);
    case DTypeKind::signed_integer:
    case DTypeKind::unsigned_integer:
      return integer(dtype, depth - 1);
    case DTypeKind::floating:
      return floating(dtype, depth - 1);
    case DTypeKind::complex:
      return complex(dtype, depth - 1);
    case DTypeKind::string:
      break;
  }
  return leaf(dtype);
}

}  // namespace

const std::vector<DType>& arithmetic_dtypes() {
  static const std::vector<DType> list = [] {
    std::vector<DType> out;
    for (int i = 0; i < kDTypeCount; ++i)
      if (info(static_cast<DType>(i)).arithmetic) out.push_back(static_cast<DType>(i));
    return out;
  }();
  return list;
}

Expr random_expr(Rng& rng, const std::vector<ExprInput>& inputs, const std::vector<DType>& results, const ExprLimits& limits) {
  Grower grower(rng, inputs, limits);
  for (DType dtype : results) {
    const int32_t node = grower.grow(dtype, limits.depth);
    grower.graph.results.push_back(node);
  }
  return std::move(grower.graph);
}

std::vector<RowReduction> random_reductions(Rng& rng, int64_t count, std::vector<ExprInput> inputs, int extras, DType like,
                                            const ExprLimits& limits) {
  const std::vector<std::pair<E, CombinerKind>> folds{{E::add, CombinerKind::add},       {E::add, CombinerKind::add},
                                                      {E::mul, CombinerKind::mul},       {E::min, CombinerKind::min},
                                                      {E::max, CombinerKind::max},       {E::bit_and, CombinerKind::bit_and},
                                                      {E::bit_or, CombinerKind::bit_or}, {E::bit_xor, CombinerKind::bit_xor}};
  std::vector<RowReduction> made;
  for (int64_t k = 0; k < count; ++k) {
    const auto [fold, kind] = rng.pick(folds);
    DType dtype = rng.chance(70) ? like : rng.pick(arithmetic_dtypes());
    const auto folds_it = [&, kind = kind] { return !is_complex(dtype) && bits(dtype) >= 8 && combines(kind, dtype); };
    for (int tries = 0; !folds_it() && tries < 16; ++tries) dtype = rng.pick(arithmetic_dtypes());
    if (!folds_it()) continue;
    made.push_back({fold, 1 << rng.below(7), random_expr(rng, inputs, {dtype}, limits)});
    inputs.push_back({E::extra, extras + static_cast<int>(made.size()) - 1, dtype});
  }
  return made;
}

}  // namespace strew::test
