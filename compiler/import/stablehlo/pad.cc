// stablehlo.pad of static shapes, in steps: elements between elements by concatenation along a new dim, then elements that are cut off at the
// edges, then the rest written into a tensor of the padding value. Tested by tests/unit/stablehlo_dynamic_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/operands.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/stablehlo/op_list.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostPadding = int64_t{1} << 31;  ///< of one dim

struct Pad {
  TensorType operand, result;
  std::vector<int64_t> low, high, interior;
};

Status read_pad(mlir::Operation* op, Pad& pad) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({"edge_padding_low", "edge_padding_high", "interior_padding"}));
  STREW_TRY(counts(op, 2));
  STREW_TRY(same_elements(op));
  STREW_ASSIGN(pad.operand, operand_type(op, 0));
  STREW_ASSIGN(const TensorType value, operand_type(op, 1));
  STREW_ASSIGN(pad.result, result_type(op, 0));
  STREW_ASSIGN(pad.low, attributes.integers("edge_padding_low"));
  STREW_ASSIGN(pad.high, attributes.integers("edge_padding_high"));
  STREW_ASSIGN(pad.interior, attributes.integers("interior_padding"));
  const size_t rank = pad.operand.dims.size();
  if (value.rank() != 0) return invalid_argument(fmt::format("the padding value has rank {}, expected 0", value.rank()));
  if (pad.low.size() != rank || pad.high.size() != rank || pad.interior.size() != rank || pad.result.dims.size() != rank)
    return invalid_argument(fmt::format("low, high, interior and the result, expected {} entries each", rank));
  if (!is_static(pad.operand)) return invalid_argument("operand, expected static extents");
  for (size_t d = 0; d < rank; ++d) {
    const int64_t extent = pad.operand.dims[d], low = pad.low[d], high = pad.high[d], interior = pad.interior[d];
    const bool is_small =
        std::max(std::abs(low), std::abs(high)) <= kMostPadding && interior <= kMostPadding && extent <= kMostPadding;
    if (!is_small || low < -kMostPadding || high < -kMostPadding || interior < 0)
      return invalid_argument(
          fmt::format("dim {}: low {}, high {}, interior {}, expected numbers below 2^31", d, low, high, interior));
    const int64_t spread = extent + std::max<int64_t>(extent - 1, 0) * interior, expected = spread + low + high;
    if (expected < 0 || std::max<int64_t>(-low, 0) + std::max<int64_t>(-high, 0) > spread ||
        (pad.result.dims[d] != kDynamic && pad.result.dims[d] != expected))
      return invalid_argument(fmt::format("dim {} of the result is {}, expected {}", d, pad.result.dims[d], expected));
    pad.result.dims[d] = expected;
  }
  return {};
}

class Padder {
 public:
  Padder(Translation& t, mlir::Operation* op, const Pad& pad) : t_(t), op_(op), pad_(pad), dims_(pad.operand.dims) {}

  int run() {
    int value = t_.operand(op_, 0);
    for (size_t d = 0; d < dims_.size(); ++d)
      if (pad_.interior[d] > 0 && dims_[d] > 1) value = spread(value, d);
    value = cut(value);
    if (dims_ == pad_.result.dims) return value;
    Compute update;
    update.op = ComputeOp::update;
    update.arguments = {filled(pad_.result.dims), value};
    for (const int64_t low : pad_.low) update.dims.push_back(std::max<int64_t>(low, 0));
    return step(std::move(update), pad_.result.dims);
  }

 private:
  int step(Compute compute, const std::vector<int64_t>& dims) {
    compute.results = {{pad_.operand.dtype, dims, {}}};
    return t_.add_step(op_, std::move(compute));
  }
  int filled(const std::vector<int64_t>& dims) {
    Compute broadcast;
    broadcast.op = ComputeOp::broadcast;
    broadcast.arguments = {t_.operand(op_, 1)};
    return step(std::move(broadcast), dims);
  }
  int reshaped(int value, const std::vector<int64_t>& dims) {
    Compute reshape;
    reshape.op = ComputeOp::reshape;
    reshape.arguments = {value};
    return step(std::move(reshape), dims);
  }

  /// Puts the padding value between the elements along dim `d`.
  int spread(int value, size_t d) {
    const int64_t extent = dims_[d], each = pad_.interior[d] + 1;
    std::vector<int64_t> apart = dims_;
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
    value = reshaped(value, apart);
    apart[d + 1] = each - 1;
    const int between = filled(apart);
    apart[d + 1] = each;
    Compute concatenate;
    concatenate.op = ComputeOp::concatenate;
    concatenate.arguments = {value, between};
    concatenate.dims = {static_cast<int64_t>(d) + 1};
    value = step(std::move(concatenate), apart);
    dims_[d] = extent * each;
    value = reshaped(value, dims_);
    dims_[d] = extent * each - (each - 1);
    return sliced(value, std::vector<int64_t>(dims_.size(), 0));
  }

  /// Cuts off what negative padding takes away.
  int cut(int value) {
    std::vector<int64_t> starts;
    bool is_whole = true;
    for (size_t d = 0; d < dims_.size(); ++d) {
      starts.push_back(std::max<int64_t>(-pad_.low[d], 0));
      dims_[d] -= starts[d] + std::max<int64_t>(-pad_.high[d], 0);
      is_whole = is_whole && pad_.low[d] >= 0 && pad_.high[d] >= 0;
    }
    return is_whole ? value : sliced(value, std::move(starts));
  }

  int sliced(int value, std::vector<int64_t> starts) {
    Compute slice;
    slice.op = ComputeOp::slice;
    slice.arguments = {value};
    slice.strides.assign(starts.size(), 1);
    slice.dims = std::move(starts);
    return step(std::move(slice), dims_);
  }

  Translation& t_;
  mlir::Operation* op_;
  const Pad& pad_;
  std::vector<int64_t> dims_;
};

}  // namespace

Status import_pad(Translation& t, mlir::Operation* op) {
  Pad pad;
  STREW_TRY(t.parsed.at(op, read_pad(op, pad)));
  t.bind(op->getResult(0), Padder(t, op, pad).run());
  return {};
}

}  // namespace strew::inline v0
