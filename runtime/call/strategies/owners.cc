// See owners.h. Legality and the range of keys; tested by tests/unit/owner_test.cc and schedule_test.cc.
#include "runtime/call/strategies/owners.h"

#include <array>
#include <string>

namespace strew {

Status owners_legal(const Plan& plan, std::string_view strategy) {
  const auto refuse = [&](const std::string& why) { return unsupported("strategy " + std::string(strategy) + ": " + why); };
  if (plan.gather) return refuse("a gather has no destinations to own");
  if (plan.kind != PlanKind::row && plan.kind != PlanKind::element)
    return refuse("windows of kind " + std::string(name(plan.kind)) + " do not coincide");
  for (int i = 0; i < plan.pairs; ++i)
    if (bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) < 8)
      return refuse("result " + std::to_string(i) + " is packed " +
                    std::string(name(plan.tensors[static_cast<size_t>(i)].dtype)));
  if (key_unit(plan) == 0) return refuse("results have dynamic, negative or different strides");
  return {};
}

bool owners_fit(const Plan& plan, const int64_t* dyn) {
  const auto result = static_cast<size_t>(plan.result(0));
  int64_t last = 0;
  const auto reach = [&](const Term& extent, const Term& stride) {
    int64_t far = 0;
    const int64_t steps = std::max<int64_t>(0, evaluate(extent, dyn) - 1);
    if (__builtin_mul_overflow(steps, stride.factor / key_unit(plan), &far) || __builtin_add_overflow(last, far, &last))
      last = std::numeric_limits<int64_t>::max();
  };
  for (const Loop& loop : plan.positions) reach(loop.extent, loop.strides[result]);
  for (const Component& c : plan.components) reach(c.dim, c.strides[result]);
  return last < kDroppedKey;
}

bool is_lopsided(const OwnerCall& call) {
  constexpr size_t kMostEach = 8;
  const int64_t spots = call.limits.hot_spots, each = std::min<int64_t>(call.limits.hot_each, kMostEach);
  const int64_t most = (7 * spots * each + 9) / 10;  // of the sample: far from what chance makes of an even share
  if (call.positions < spots * each) return false;
  const Owners owners(2, call.key_bytes, call.limits.owner_piece_bytes);
  int64_t first = 0, second = 0;
  std::array<uint32_t, kMostEach> keys{};
  for (int64_t spot = 0; spot < spots; ++spot) {
    const int64_t begin = (call.positions - each) / (spots - 1) * spot;
    strew_args args = *call.args;
    args.key = keys.data();
    args.n_list = begin;
    strew_fault unused;
    call.keys(&args, begin, begin + each, &unused);
    for (int64_t i = 0; i < each; ++i) {
      const uint32_t key = keys[static_cast<size_t>(i)];
      if (key == kDroppedKey) continue;
      (owners.of(key) == 0 ? first : second) += 1;
    }
  }
  return std::max(first, second) >= most;
}

}  // namespace strew
