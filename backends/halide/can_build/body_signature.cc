// See body_signature.h. This file decides which window loops are fixed: a loop is, if its extent and strides are constants that fit Halide's
// 32-bit dimensions, and neither the policy nor the strategy cuts it. The entries walk all other loops in pieces that fit
// (backends/llvm/entries/external_body.h). Tested by tests/unit/backends/halide/halide_test.cc and tests/differential.
#include "backends/halide/can_build/body_signature.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace strew::inline v0 {
namespace {

constexpr int kHalfBits = 64;

class SignatureMaker {
 public:
  SignatureMaker(const Plan& plan, const Schedule& schedule)
      : plan_(plan), schedule_(schedule), kernel_(lowered::lower_kernel(plan, schedule)) {}

  BodySignature make() {
    signature_.body = kernel_.update;
    signature_.unit = common_unit();
    // The body's loop over a list prefetches nothing, and addresses a position by one stride, so there must be one position loop at most.
    signature_.listed = traits_of(schedule_.strategy).has_owners() && plan_.sources.size() == 1 && schedule_.prefetch == 0 &&
                        plan_.positions.size() <= 1 && plan_.keys &&
                        std::ranges::all_of(plan_.keys->units, [&](const Term& unit) { return unit.is(signature_.unit); });
    for (size_t l = 0; l < plan_.window.size(); ++l) signature_.fixed.push_back(is_fixed(l));
    for (int t : inputs()) add(signature_.inputs, t);
    const std::optional<std::vector<int>> order = store_order(plan_);
    for (const int i : *order) add(signature_.results, plan_.result(i));
    return std::move(signature_);
  }

 private:
  const PlanTensor& tensor(int t) const { return plan_.tensors[static_cast<size_t>(t)]; }

  /// A number of elements that divides the offset of every window in the indexed tensors; 1 where their strides are dynamic, negative or different.
  int64_t common_unit() const {
    const std::vector<Term> moves = moves_of(plan_, plan_.indexed());
    for (int i = 1; i < plan_.pairs; ++i)
      if (moves_of(plan_, plan_.result(i)) != moves) return 1;
    if (std::ranges::any_of(moves, [](const Term& move) { return !move.is_static() || move.factor < 0; })) return 1;
    return common_factor(moves).factor;
  }

  bool is_fixed(size_t l) const {
    const Loop& loop = plan_.window[l];
    const bool cut_by_strategy = l == 0 && traits_of(schedule_.strategy).share != WindowShare::whole;
    if (cut_by_strategy || loop.is_bounded() || !loop.extent.is_static() || loop.extent.factor > kHalideLimit) return false;
    for (size_t t = 0; t < plan_.tensors.size(); ++t) {
      const Term& stride = loop.strides[t];
      const bool packed = bits(plan_.tensors[t].dtype) < 8;  // the element number, which must fit too, is a sum over all loops
      const int64_t steps = packed ? loop.extent.factor : 2, limit = packed ? kHalideLimit / 16 : kHalideLimit;
      int64_t span = 0;
      if (!stride.is_static() || __builtin_mul_overflow(stride.factor, steps, &span) || std::abs(span) > limit) return false;
    }
    return true;
  }

  /// The tensors that the body reads, without results that it reads as current values.
  std::vector<int> inputs() const {
    std::vector<int> list;
    lowered::for_inputs(kernel_.update, [&](const ExprNode&, const lowered::Operand& operand) {
      const bool is_result = tensor(operand.number).role == Role::result;
      if (!is_result && std::ranges::find(list, operand.number) == list.end()) list.push_back(operand.number);
    });
    return list;
  }

  void add(std::vector<SignatureBuffer>& list, int t) {
    const int width = bits(tensor(t).dtype);
    SignatureBuffer buffer;
    buffer.tensor = t;
    buffer.packed = width < 8;
    buffer.bits = buffer.packed ? 8 : std::min(width, kHalfBits);
    const int64_t halves = std::max(1, width / kHalfBits);
    const auto dim = [&](SignatureDim::Walks walks, size_t loop, const Term& stride) {
      buffer.dims.push_back({walks, static_cast<int>(loop), stride * constant(halves)});
    };
    const bool is_result = tensor(t).role == Role::result;
    for (size_t l = plan_.window.size(); l-- > 0;) {
      const Term& stride = plan_.window[l].strides[static_cast<size_t>(t)];
      if (is_result || !stride.is(0)) dim(SignatureDim::Walks::window, l, stride);
    }
    if (plan_.is_indexed(t)) {
      dim(SignatureDim::Walks::key, 0, constant(signature_.unit));
    } else if (is_result && plan_.positions.empty()) {
      // The plan has one position only. This dim of one element makes Halide's update depend on the entries of the
      // list.
      dim(SignatureDim::Walks::position, 0, constant(1));
    } else if (!plan_.positions.empty()) {
      const Term& stride = plan_.positions.back().strides[static_cast<size_t>(t)];
      if (is_result || !stride.is(0)) dim(SignatureDim::Walks::position, 0, stride);
    }
    for (; buffer.half < halves; ++buffer.half) list.push_back(buffer);
  }

  const Plan& plan_;
  const Schedule& schedule_;
  lowered::Kernel kernel_;
  BodySignature signature_;
};

}  // namespace

std::optional<std::vector<int>> store_order(const Plan& plan) {
  std::vector<int> order(static_cast<size_t>(plan.pairs));
  std::iota(order.begin(), order.end(), 0);
  if (plan.gather) return order;
  std::vector<uint64_t> reads;  // per node, a bit for every pair whose current value it depends on
  for (const ExprNode& node : plan.combine.nodes) {
    uint64_t bits = node.op == ExprOp::current ? uint64_t{1} << node.index : 0;
    for (const int32_t arg : node.args) bits |= reads[static_cast<size_t>(arg)];
    reads.push_back(bits);
  }
  const auto reads_another = [&](int pair) {
    return (reads[static_cast<size_t>(plan.combine.results[static_cast<size_t>(pair)])] & ~(uint64_t{1} << pair)) != 0;
  };
  if (std::ranges::none_of(order, reads_another)) return order;
  const auto is_one_part = [&](int pair) {
    return bits(plan.tensors[static_cast<size_t>(plan.result(pair))].dtype) <= kHalfBits;
  };
  if (plan.pairs != 2 || !std::ranges::all_of(order, is_one_part)) return std::nullopt;
  if (reads_another(0) && reads_another(1)) return std::nullopt;
  if (reads_another(1)) std::ranges::reverse(order);
  return order;
}

BodySignature body_signature(const Plan& plan, const Schedule& schedule) { return SignatureMaker(plan, schedule).make(); }

}  // namespace strew::inline v0
