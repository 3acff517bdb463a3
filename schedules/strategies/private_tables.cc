// Strategy private: a copy of the results per chunk of positions. Legal where every grouping of updates gives the same bits (integers,
// bool, float min and max), or where the op asks for no order (`relaxed`). Running it: runtime/call/strategies/private_tables. Tested by
// tests/unit/schedule_test.cc and private_test.cc.
#include "schedules/strategies/private_tables.h"

#include <limits>

#include "base/number.h"
#include "schedules/strategies/strategy.h"

namespace strew {
namespace {

std::optional<uint64_t> float_identity(ExprOp op, DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (op == ExprOp::add || op == ExprOp::sub) return encode(dtype, -0.0);
  if (op == ExprOp::mul) return encode(dtype, 1.0);
  if (op == ExprOp::min) return encode(dtype, kInfinity);
  if (op == ExprOp::max) return encode(dtype, -kInfinity);
  return std::nullopt;
}

std::optional<uint64_t> integer_identity(ExprOp op, DType dtype) {
  const int width = dtype == DType::boolean ? 1 : bits(dtype);
  const uint64_t ones = ~uint64_t{0} >> (64 - width), sign = uint64_t{1} << (width - 1);
  const bool has_sign = is_signed_integer(dtype);
  if (op == ExprOp::sub && dtype == DType::boolean) return std::nullopt;
  if (op == ExprOp::add || op == ExprOp::sub || op == ExprOp::bit_or || op == ExprOp::bit_xor) return 0;
  if (op == ExprOp::mul) return 1;
  if (op == ExprOp::bit_and) return ones;
  if (op == ExprOp::min) return has_sign ? ones ^ sign : ones;
  if (op == ExprOp::max) return has_sign ? sign : 0;
  return std::nullopt;
}

bool regroups_exactly(ExprOp op, DType dtype) { return !is_float(dtype) || op == ExprOp::min || op == ExprOp::max; }

}  // namespace

ExprOp combiner_of(const Plan& plan, int i) {
  return plan.combine.nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])].op;
}

std::optional<uint64_t> identity_bits(ExprOp op, DType dtype) {
  if (is_float(dtype)) return float_identity(op, dtype);
  if (dtype == DType::boolean || is_signed_integer(dtype) || is_unsigned_integer(dtype)) return integer_identity(op, dtype);
  return std::nullopt;
}

bool combines_exactly(const Plan& plan) {
  for (int i = 0; i < plan.pairs; ++i)
    if (!regroups_exactly(combiner_of(plan, i), plan.tensors[static_cast<size_t>(plan.result(i))].dtype)) return false;
  return true;
}

Status legal_private_tables(const Plan& plan) {
  const auto refuse = [](const std::string& why) { return unsupported("strategy private: " + why); };
  if (plan.gather) return refuse("a gather combines nothing");
  const auto& nodes = plan.combine.nodes;
  int currents = 0, reads_of_current = 0;
  for (const ExprNode& node : nodes) {
    currents += node.op == ExprOp::current;
    for (const int32_t arg : node.args) reads_of_current += nodes[static_cast<size_t>(arg)].op == ExprOp::current;
  }
  for (int i = 0; i < plan.pairs; ++i) {
    const DType dtype = plan.tensors[static_cast<size_t>(plan.result(i))].dtype;
    const std::string result = "result " + std::to_string(i) + " of dtype " + std::string(name(dtype));
    if (bits(dtype) < 16 && (bits(dtype) < 8 || is_float(dtype))) return refuse(result + " is too narrow");
    const ExprNode& top = nodes[static_cast<size_t>(plan.combine.results[static_cast<size_t>(i)])];
    const bool folds = top.args.size() == 2 && nodes[static_cast<size_t>(top.args[0])].op == ExprOp::current &&
                       nodes[static_cast<size_t>(top.args[0])].index == i;
    if (!folds || currents != plan.pairs || reads_of_current != plan.pairs || !identity_bits(top.op, dtype))
      return refuse(result + ": the combiner is not an associative one of the current value and the update");
    if (plan.tensors[static_cast<size_t>(plan.update(i))].dtype != dtype)
      return refuse(result + ": its update has another dtype");
    if (!regroups_exactly(top.op, dtype) && plan.order != Order::relaxed)
      return refuse(result + ": float " + std::string(name(top.op)) + " depends on the order (order in_order)");
  }
  return {};
}

std::vector<EntryKind> entries_private_tables(const Plan&) { return {EntryKind::merge}; }

}  // namespace strew
