// Pieces of work on raw entries. See split_run.h and runtime/abi.h. Covered by every differential run.
#include "tests/differential/split_run.h"

#include <algorithm>
#include <utility>

#include "runtime/strategies/clip.h"
#include "runtime/strategies/exchange.h"
#include "runtime/strategies/owner.h"
#include "runtime/strategies/positions.h"
#include "runtime/strategies/private_tables.h"
#include "runtime/strategies/runs.h"

namespace strew::test {
namespace {

using Piece = std::pair<int64_t, int64_t>;

/// [0, total) in `count` pieces, some empty.
std::vector<Piece> pieces(Rng& rng, int64_t total, int64_t count) {
  std::vector<int64_t> cuts{0, total};
  for (int64_t n = count; n > 1; --n) cuts.push_back(rng.below(total + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<Piece> out;
  for (size_t i = 1; i < cuts.size(); ++i) out.push_back({cuts[i - 1], cuts[i]});
  return out;
}

std::vector<Piece> pieces(Rng& rng, int64_t total) { return pieces(rng, total, rng.between(1, 4)); }

class Bound {
 public:
  Bound(const Plan& plan, std::span<const TensorView> tensors) {
    size_t next = 0;
    views_.resize(plan.tensors.size());
    for (size_t t = 0; t < plan.tensors.size(); ++t) {
      if (plan.tensors[t].bound) views_[t] = tensors[next++];
      data_.push_back(views_[t].data);
    }
    for (const Symbol& symbol : plan.symbols) dyn_.push_back(value(plan, symbol));
    args_.abi = STREW_ABI_VERSION;
    args_.data = data_.data();
    args_.dyn = dyn_.data();
  }
  strew_args& args() { return args_; }
  const int64_t* dyn() const { return dyn_.data(); }

 private:
  int64_t value(const Plan& plan, const Symbol& symbol) const {
    size_t t = 0;
    while (plan.tensors[t].role != symbol.role || plan.tensors[t].index != symbol.index) ++t;
    const TensorView& view = views_[t];
    if (!symbol.is_stride) return view.dims[symbol.dim];
    if (view.strides != nullptr) return view.strides[symbol.dim];
    int64_t stride = 1;
    for (int d = view.rank - 1; d > symbol.dim; --d) stride *= view.dims[d];
    return stride;
  }

  std::vector<TensorView> views_;
  std::vector<void*> data_;
  std::vector<int64_t> dyn_;
  strew_args args_{};
};

/// Strategy owner: keys in pieces, then each owner's positions in order, the owners one after another.
void run_by_owner(const Kernel& kernel, strew_args args, int64_t positions, Rng& rng) {
  constexpr uint32_t kDropped = ~0u;
  strew_fault unused{};
  std::vector<uint32_t> keys(static_cast<size_t>(positions), 77);
  for (const auto& [begin, end] : pieces(rng, positions)) {
    args.n_list = rng.between(0, begin);
    args.key = keys.data() + args.n_list;
    kernel.keys_entry()(&args, begin, end, &unused);
  }
  const auto owners = static_cast<uint32_t>(rng.between(1, 3)), block = static_cast<uint32_t>(rng.between(1, 40));
  for (uint32_t owner = owners; owner-- > 0;) {
    std::vector<uint64_t> list;
    args.n_list = positions == 0 ? 0 : rng.between(0, 1);
    for (size_t p = static_cast<size_t>(args.n_list); p < keys.size(); ++p)
      if (keys[p] != kDropped && keys[p] / block % owners == owner)
        list.push_back((p - static_cast<size_t>(args.n_list)) | static_cast<uint64_t>(keys[p]) << 32);
    if (args.n_list == 1 && keys[0] != kDropped && keys[0] / block % owners == owner) {
      const uint64_t first = static_cast<uint64_t>(keys[0]) << 32;
      strew_args alone = args;
      alone.n_list = 0;
      alone.pos = &first;
      kernel.list_entry()(&alone, 0, 1, &unused);
    }
    args.pos = list.data();
    for (const auto& [begin, end] : pieces(rng, static_cast<int64_t>(list.size())))
      kernel.list_entry()(&args, begin, end, &unused);
  }
}

/// Strategy clip, by destinations; and what owners fall back to, by columns.
void run_by_clip(const Kernel& kernel, strew_args args, int64_t positions, int threads, Rng& rng) {
  strew_fault unused{};
  const bool by_destination = kernel.schedule().strategy == Strategy::clip;
  const int64_t extent = clip_extent(kernel.plan(), args.dyn);
  args.k1 = extent;
  std::vector<Piece> parts = pieces(rng, by_destination ? extent : args.w1, threads);
  rng.shuffle(parts);
  for (const auto& [begin, end] : parts) {
    (by_destination ? args.k0 : args.w0) = begin;
    (by_destination ? args.k1 : args.w1) = end;
    kernel.clip_entry()(&args, 0, positions, &unused);
  }
}

bool needs_team(Strategy strategy) {
  return uses_owners(strategy) || strategy == Strategy::runs || strategy == Strategy::private_tables;
}

bool is_contiguous(const TensorView& view) {
  int64_t stride = 1;
  for (int d = view.rank - 1; d >= 0; --d) {
    if (view.strides != nullptr && view.strides[d] != stride && view.dims[d] > 1) return false;
    stride *= view.dims[d];
  }
  return true;
}

/// False: the strategy is not for these tensors.
bool run_by_team(const Kernel& kernel, std::span<const TensorView> tensors, const strew_args& args, int64_t positions,
                 int threads, Rng& rng) {
  static Executor executor(2);
  static Scratch scratch;
  constexpr int64_t kWorthWaking = 1'000'000;
  const Plan& plan = kernel.plan();
  const Strategy strategy = kernel.schedule().strategy;
  Executor::Team team(executor, 2, kWorthWaking);
  if (strategy == Strategy::private_tables) {
    int64_t elements = 1;
    for (int d = 0; d < tensors[0].rank; ++d) elements *= tensors[0].dims[d];
    for (int i = 0; i < plan.pairs; ++i)
      if (!is_contiguous(tensors[static_cast<size_t>(i)])) return false;
    const auto tables = static_cast<int>(rng.between(2, 5));
    return elements > 0 &&
           run_private(team, scratch,
                       {plan, kernel.range_entry(), kernel.merge_entry(), &args, positions, elements, tables, threads});
  }
  const int64_t key_bytes = key_unit(plan) * (bits(plan.tensors[static_cast<size_t>(plan.result(0))].dtype) / 8);
  const OwnerCall call{kernel.range_entry(), kernel.keys_entry(), kernel.list_entry(), &args, positions, key_bytes, 0, threads};
  if (strategy == Strategy::owner) run_owner(team, call);
  if (strategy == Strategy::exchange) run_exchange(team, scratch, call);
  if (strategy == Strategy::runs) run_runs(team, call);
  return true;
}

}  // namespace

bool can_split(const Kernel& kernel) { return kernel.range_entry() != nullptr; }

Status run_split(const Kernel& kernel, std::span<const TensorView> tensors, int threads, Rng& rng, strew_fault* fault,
                 bool& by_strategy) {
  by_strategy = false;
  const Plan& plan = kernel.plan();
  Bound bound(plan, tensors);
  strew_args& args = bound.args();
  const int64_t positions = position_count(plan, bound.dyn());
  args.w1 = split_count(plan, bound.dyn());
  if (plan.checks_first) {
    for (const auto& [begin, end] : pieces(rng, positions))
      if (kernel.check_entry()(&args, begin, end, fault) != STREW_OK) return out_of_bounds("check entry");
  }
  strew_fault unused{};
  if (!plan.gather && plan.init_kind != InitKind::in_place) {
    std::vector<Piece> parts = pieces(rng, init_count(plan, bound.dyn()));
    rng.shuffle(parts);
    for (const auto& [begin, end] : parts) {
      args.flags = rng.chance(50) ? STREW_STREAM : 0;
      kernel.init_entry()(&args, begin, end, &unused);
    }
    args.flags = 0;
  }
  const Strategy strategy = kernel.schedule().strategy;
  by_strategy = !needs_team(strategy);
  if (strategy == Strategy::window) {
    std::vector<Piece> parts = pieces(rng, args.w1, threads);
    rng.shuffle(parts);
    for (const auto& [begin, end] : parts) {
      args.w0 = begin;
      args.w1 = end;
      kernel.range_entry()(&args, 0, positions, &unused);
    }
    return {};
  }
  if (kernel.clip_entry() != nullptr && (strategy == Strategy::clip || rng.chance(20))) {
    run_by_clip(kernel, args, positions, threads, rng);
    by_strategy = strategy == Strategy::clip;
    return {};
  }
  // The strategies themselves, cut for threads enough even for small ops, which Kernel::run would give one.
  if (needs_team(strategy) && (threads > 1 || rng.chance(75)) && run_by_team(kernel, tensors, args, positions, threads, rng)) {
    by_strategy = true;
    return {};
  }
  if (kernel.keys_entry() != nullptr && kernel.list_entry() != nullptr) {
    run_by_owner(kernel, args, positions, rng);
    return {};
  }
  std::vector<Piece> parts = pieces(rng, positions);
  if (strategy == Strategy::positions) {
    const int64_t unit = positions_unit(plan, bound.dyn());
    parts = pieces(rng, (positions + unit - 1) / unit, threads);
    for (auto& [begin, end] : parts) begin = std::min(begin * unit, positions), end = std::min(end * unit, positions);
    rng.shuffle(parts);
  }
  for (const auto& [begin, end] : parts) kernel.range_entry()(&args, begin, end, &unused);
  return {};
}

}  // namespace strew::test
