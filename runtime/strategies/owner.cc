// Owner scan with a queue (the one algorithm that is good for every skew and size, research/limits.md B): in rounds of kBlock positions,
// first all threads resolve keys side by side; then every thread reads all keys of the round, collects those it owns into a small queue
// and applies the queue when it is full. A destination has one owner and an owner works in position order, so each destination sees its
// updates in order: the bits are the sequential loop's for every thread count.
//
// Owners are given blocks of 4 KiB of the result by a multiplicative hash, so hot neighbourhoods spread. Scratch: 8 bytes per position of
// a round, and one queue per owner, on the stack of who runs it. Cost: about a nanosecond per position and thread for the scan.
// Legal for scatters whose windows coincide or are disjoint (row, element), with whole-byte results of equal, static, non-negative
// strides (a key is one non-negative offset). Tested by tests/differential and tests/unit/executor_test.cc.
#include "runtime/strategies/owner.h"

#include <algorithm>
#include <memory>
#include <new>

namespace strew {
namespace {

constexpr int64_t kBlock = 1 << 16;
constexpr int kQueue = 1024;
constexpr int kBlockShift = 12;  // bytes of the result per ownership block

struct Round {
  const OwnerCall& call;
  int64_t* keys;
  int64_t begin, end;  // positions

  void resolve(int chunk) const {
    const int64_t count = end - begin;
    const int64_t from = begin + count * chunk / call.threads, to = begin + count * (chunk + 1) / call.threads;
    strew_args args = *call.args;
    args.key = keys;
    args.n_list = begin;
    strew_fault unused;
    if (from < to) call.keys(&args, from, to, &unused);
  }

  uint32_t owner(int64_t key) const {
    const auto block = static_cast<uint32_t>((key * call.element_bytes) >> kBlockShift);
    return static_cast<uint32_t>((static_cast<uint64_t>(block * 0x9e3779b1u) * static_cast<uint32_t>(call.threads)) >> 32);
  }

  void apply(uint32_t me) const {
    int64_t positions[kQueue], chosen[kQueue];
    strew_args args = *call.args;
    args.pos = positions;
    args.key = chosen;
    strew_fault unused;
    int64_t queued = 0;
    for (int64_t p = begin; p < end; ++p) {
      const int64_t key = keys[p - begin];
      positions[queued] = p;
      chosen[queued] = key;
      queued += static_cast<int64_t>(key >= 0) & static_cast<int64_t>(owner(key) == me);
      if (queued < kQueue) continue;
      call.list(&args, 0, queued, &unused);
      queued = 0;
    }
    if (queued > 0) call.list(&args, 0, queued, &unused);
  }
};

}  // namespace

Status owner_legal(const Plan& plan) {
  const auto refuse = [](const std::string& why) { return unsupported("strategy owner: " + why); };
  if (plan.gather) return refuse("a gather has no destinations to own");
  if (plan.kind != PlanKind::row && plan.kind != PlanKind::element)
    return refuse("windows of kind " + std::string(name(plan.kind)) + " do not coincide");
  const auto stride_ok = [&](const std::vector<Term>& strides) {
    const Term& first = strides[static_cast<size_t>(plan.result(0))];
    if (!first.is_static() || first.factor < 0) return false;
    for (int i = 1; i < plan.pairs; ++i)
      if (strides[static_cast<size_t>(plan.result(i))] != first) return false;
    return true;
  };
  for (int i = 0; i < plan.pairs; ++i)
    if (bits(plan.tensors[static_cast<size_t>(plan.result(i))].dtype) < 8)
      return refuse("result " + std::to_string(i) + " is packed " +
                    std::string(name(plan.tensors[static_cast<size_t>(i)].dtype)));
  for (const Loop& loop : plan.positions)
    if (!stride_ok(loop.strides)) return refuse("results have dynamic, negative or different strides");
  for (const Component& c : plan.components)
    if (!stride_ok(c.strides)) return refuse("results have dynamic, negative or different strides");
  return {};
}

void run_owner(Executor& executor, const OwnerCall& call) {
  const int64_t block = std::min(call.positions, kBlock);
  const std::unique_ptr<int64_t[]> keys(new (std::nothrow) int64_t[static_cast<size_t>(block)]);
  for (int64_t begin = 0; begin < call.positions; begin += block) {
    Round round{call, keys.get(), begin, std::min(begin + block, call.positions)};
    const int64_t share = call.nanoseconds / std::max<int64_t>(1, call.positions / block);
    executor.run(
        call.threads, call.threads, share, [](void* r, int chunk) { static_cast<Round*>(r)->resolve(chunk); }, &round);
    executor.run(
        call.threads, call.threads, share, [](void* r, int me) { static_cast<Round*>(r)->apply(static_cast<uint32_t>(me)); },
        &round);
  }
}

}  // namespace strew
