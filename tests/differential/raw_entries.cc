// See raw_entries.h and include/strew/abi.h. Tested by every differential run.
#include "tests/differential/raw_entries.h"

#include <algorithm>
#include <utility>

#include "compiler/plan/plan.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/executor/phases.h"
#include "runtime/call/strategies/owners.h"

namespace strew::test {
namespace {

using Piece = std::pair<int64_t, int64_t>;

/// The range [0, total) in one to four pieces; some may be empty.
std::vector<Piece> pieces(Rng& rng, int64_t total) {
  std::vector<int64_t> cuts{0, total};
  for (int64_t n = rng.between(1, 4); n > 1; --n) cuts.push_back(rng.below(total + 1));
  std::sort(cuts.begin(), cuts.end());
  std::vector<Piece> out;
  for (size_t i = 1; i < cuts.size(); ++i) out.push_back({cuts[i - 1], cuts[i]});
  return out;
}

std::vector<Piece> shuffled(Rng& rng, int64_t total) {
  std::vector<Piece> out = pieces(rng, total);
  rng.shuffle(out);
  return out;
}

/// Runs the entries keys and list: keys in pieces, then the listed positions of one owner after the other. Sometimes
/// the first position of the call is listed alone, because the positions in a list may be counted from any origin.
void run_lists(const Kernel& kernel, strew_args args, int64_t positions, Rng& rng) {
  strew_fault unused{};
  std::vector<uint32_t> keys(static_cast<size_t>(positions), 77);
  for (const auto& [begin, end] : pieces(rng, positions)) {
    args.n_list = rng.between(0, begin);
    args.key = keys.data() + args.n_list;
    kernel.entry(STREW_ENTRY_keys)(&args, begin, end, &unused);
  }
  const auto owners = static_cast<uint32_t>(rng.between(1, 3)), block = static_cast<uint32_t>(rng.between(1, 40));
  const int64_t origin = positions == 0 ? 0 : rng.between(0, 1);
  for (uint32_t owner = owners; owner-- > 0;) {
    const auto list = [&](int64_t first, int64_t last) {
      std::vector<uint64_t> mine;
      args.n_list = first;
      for (int64_t p = first; p < last; ++p) {
        const uint32_t key = keys[static_cast<size_t>(p)];
        if (key != kDroppedKey && key / block % owners == owner)
          mine.push_back(static_cast<uint64_t>(p - first) | static_cast<uint64_t>(key) << 32);
      }
      args.pos = mine.data();
      for (const auto& [begin, end] : pieces(rng, static_cast<int64_t>(mine.size())))
        kernel.entry(STREW_ENTRY_list)(&args, begin, end, &unused);
    };
    list(0, origin);
    list(origin, positions);
  }
}

/// Runs the entry clip, in any order, on disjoint ranges of destinations or, with all destinations, of the first
/// window loop.
void run_clip(const Kernel& kernel, strew_args args, int64_t positions, Rng& rng) {
  strew_fault unused{};
  const bool by_destination = kernel.schedule().strategy == Strategy::clip;
  const int64_t extent = evaluate(kernel.descriptor(), kernel.descriptor().clip_extent, args.dyn);
  args.k1 = extent;
  for (const auto& [begin, end] : shuffled(rng, by_destination ? extent : args.w1)) {
    (by_destination ? args.k0 : args.w0) = begin;
    (by_destination ? args.k1 : args.w1) = end;
    kernel.entry(STREW_ENTRY_clip)(&args, 0, positions, &unused);
  }
}

/// Applies all positions by the entries that the kernel has.
void apply(const Kernel& kernel, strew_args args, int64_t positions, Rng& rng) {
  strew_fault unused{};
  if (kernel.entry(STREW_ENTRY_clip) != nullptr && rng.chance(50)) return run_clip(kernel, args, positions, rng);
  if (kernel.entry(STREW_ENTRY_list) != nullptr && rng.chance(70)) return run_lists(kernel, args, positions, rng);
  if (kernel.schedule().strategy == Strategy::window && rng.chance(70)) {
    for (const auto& [begin, end] : shuffled(rng, args.w1)) {
      args.w0 = begin;
      args.w1 = end;
      kernel.entry(STREW_ENTRY_range)(&args, 0, positions, &unused);
    }
    return;
  }
  const bool streams = kernel.entry(STREW_ENTRY_stream) != nullptr && rng.chance(50);
  const strew_entry applies = kernel.entry(streams ? STREW_ENTRY_stream : STREW_ENTRY_range);
  for (const auto& [begin, end] : pieces(rng, positions)) applies(&args, begin, end, &unused);
}

}  // namespace

bool has_entries(const Kernel& kernel) { return kernel.entry(STREW_ENTRY_range) != nullptr; }

Status run_entries(const Kernel& kernel, std::span<const TensorView> tensors, Rng& rng, BadIndex* bad_index) {
  const Plan& plan = kernel.plan();
  Expected<Binder> binder = Binder::make(kernel.descriptor());
  if (!binder.ok()) return binder.status();
  strew::Call call;
  STREW_TRY(binder->bind(tensors, call));
  strew_args args = arguments_of(call, kernel.descriptor().program);
  const int64_t positions = call.positions;
  if (plan.checks_first()) {
    std::optional<strew_fault> first;
    for (size_t s = 0; s < plan.sources.size(); ++s) {
      if (!plan.sources[s].checks_first) continue;
      args.source = static_cast<int64_t>(s);
      strew_fault fault{};
      for (const auto& [begin, end] : pieces(rng, positions)) {
        if (kernel.entry(STREW_ENTRY_check)(&args, begin, end, &fault) == STREW_OK) continue;
        if (!first || fault.position < first->position) first = fault;
        break;
      }
    }
    if (first) return bad_index_error(kernel.descriptor(), tensors, *first, bad_index);
  }
  if (call.init != 0 && !call.result_is_operand) {
    strew_fault unused{};
    for (const auto& [begin, end] : shuffled(rng, call.init)) {
      args.flags = rng.chance(50) ? STREW_STREAM : 0;
      kernel.entry(STREW_ENTRY_init)(&args, begin, end, &unused);
    }
    args.flags = 0;
  }
  if (!call.moves_nothing()) apply(kernel, args, positions, rng);
  return {};
}

}  // namespace strew::test
