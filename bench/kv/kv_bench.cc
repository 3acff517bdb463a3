// KV-cache updates in place, as a decoder does them: `./dev bench kv`.
//
// Shapes and index sets are those of the suite's kv_ cases (K sets of random positions, used in turn, so a large cache stays cold).
// Every case times, in turn: the public API (Kernel::run), the same on up to two threads, the kernel alone (check and range entries with
// arguments bound beforehand), the hand-written limits of hand.h, memcpy, and a streaming copy of as many bytes into the cache. First
// every index set runs through API, entries and hand on caches of their own, and all three must hold the same bytes.
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/kv/hand.h"
#include "bench/measure.h"
#include "bench/memory.h"
#include "compiler/plan/plan.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

struct Case {
  const char* name;
  DType dtype;
  int64_t batch, sequence, length, sets;
  bool circular;
  double kernel_gate, api_gate;  ///< most nanoseconds wanted; 0: none
};
constexpr int64_t kHeads = 8, kHead = 128;
constexpr std::array<Case, 5> kCases{{
    {"kv_decode_b1_bf16", DType::bf16, 1, 8192, 1, 64, false, 60, 150},
    {"kv_decode_b8_bf16", DType::bf16, 8, 8192, 1, 64, false, 0, 0},
    {"kv_prefill512_b1_bf16", DType::bf16, 1, 8192, 512, 8, false, 0, 0},
    {"kv_prefill512_b8_bf16", DType::bf16, 8, 8192, 512, 8, false, 0, 0},
    {"kv_circular128_b1_f16", DType::f16, 1, 4096, 128, 8, true, 0, 0},
}};

/// The op an ONNX TensorScatter becomes, in place.
Expected<Scatter> kv_op(const Case& c) {
  using types::tensor;
  return tensor_scatter(tensor(c.dtype, {c.batch, kHeads, c.sequence, kHead}), types::i64({c.batch}),
                        tensor(c.dtype, {c.batch, kHeads, c.length, kHead}), -2, c.circular)
      .in_place()
      .build();
}

/// Everything one case runs on. `positions` holds `sets` sets of `batch` each.
struct Work {
  Case c;
  KvShape shape;
  Memory cache, update;
  std::vector<int64_t> positions;
  Scatter op;
  std::vector<std::array<TensorView, 3>> views;  ///< per index set, as tensor_slots orders them: result, indices, updates

  explicit Work(const Case& of)
      : c(of),
        shape{c.batch, kHeads, c.sequence, c.length, kHead * 2},
        cache(shape.cache_bytes()),
        update(shape.update_bytes()),
        op(*kv_op(c)) {
    std::mt19937_64 random(7);
    const int64_t low = c.circular ? c.sequence - c.length + 1 : 0, high = c.circular ? c.sequence : c.sequence - c.length + 1;
    for (int64_t i = 0; i < c.sets * c.batch; ++i)
      positions.push_back(std::uniform_int_distribution<int64_t>(low, high - 1)(random));
    for (int64_t set = 0; set < c.sets; ++set) views.push_back(views_of(set, cache.data()));
  }
  const int64_t* set(int64_t j) const { return positions.data() + j % c.sets * c.batch; }
  std::array<TensorView, 3> views_of(int64_t j, char* into) const {
    const auto view = [](void* data, const TensorType& type) {
      return TensorView{data, type.dtype, type.rank(), type.dims.data(), nullptr};
    };
    return {view(into, op.results[0]), view(const_cast<int64_t*>(set(j)), op.indices), view(update.data(), op.updates[0])};
  }
};

/// The generated entries without the API: arguments bound once, only the indices pointer changes.
struct Entries {
  strew_entry range, check;
  int64_t positions, split;
  strew_args args{};
  std::array<void*, 4> data{};  ///< strew_args.data: result, operand (unbound), indices, updates

  Entries(const Kernel& kernel, const Work& work, char* cache)
      : range(kernel.entry(STREW_ENTRY_range)),
        check(kernel.entry(STREW_ENTRY_check)),
        positions(position_count(kernel.plan(), nullptr)),
        split(split_count(kernel.plan(), nullptr)) {
    data = {cache, nullptr, nullptr, work.update.data()};
    args.abi = STREW_ABI_VERSION;
    args.data = data.data();
    args.w1 = split;
  }
  bool call(const int64_t* set) {
    strew_fault fault{};
    data[2] = const_cast<int64_t*>(set);
    if (check != nullptr && check(&args, 0, positions, &fault) != STREW_OK) return false;
    return range(&args, 0, positions, &fault) == STREW_OK;
  }
};

void hand(const Work& work, const int64_t* set, char* cache) {
  if (work.c.length == 1)
    hand_decode(cache, work.update.data(), set, work.shape);
  else
    hand_slabs(cache, work.update.data(), set, work.shape);
}

/// Empty, or what differs.
std::string check_result(const Work& work, const Kernel& kernel) {
  Memory by_api(work.shape.cache_bytes()), by_entries(work.shape.cache_bytes()), by_hand(work.shape.cache_bytes());
  if (by_hand.data() == nullptr || by_entries.data() == nullptr || by_api.data() == nullptr) return "not enough memory";
  std::memset(work.update.data(), 0x5a, work.update.size());
  for (size_t i = 0; i < work.update.size(); ++i) work.update.data()[i] = static_cast<char>(i * 131 + i / 251);
  Entries entries(kernel, work, by_entries.data());
  if (entries.range == nullptr) return "backend " + std::string(kernel.backend()) + " made no machine code";
  for (int64_t j = 0; j < work.c.sets; ++j) {
    const Status status = kernel.run(work.views_of(j, by_api.data()));
    if (!status.ok()) return status.message();
    if (!entries.call(work.set(j))) return "the check entry refused good indices";
    hand(work, work.set(j), by_hand.data());
  }
  if (std::memcmp(by_api.data(), by_hand.data(), by_hand.size()) != 0) return "Kernel::run differs from the hand-written code";
  if (std::memcmp(by_entries.data(), by_hand.data(), by_hand.size()) != 0) return "the entries differ from the hand-written code";
  return {};
}

std::vector<Way> ways_of(Work& work, const Kernel& one, const Kernel& two, Entries& entries) {
  const auto api = [&work](const Kernel& kernel) {
    return [&work, kernel](int64_t calls) {
      for (int64_t j = 0, set = 0; j < calls; ++j, set = set + 1 == work.c.sets ? 0 : set + 1) {
        if (!kernel.run(work.views[static_cast<size_t>(set)]).ok()) any_failed() = true;
      }
    };
  };
  const auto loop = [&work](auto call) {
    return [&work, call](int64_t calls) {
      const int64_t *set = work.positions.data(), *end = set + work.positions.size();
      for (int64_t j = 0; j < calls; ++j, set = set + work.c.batch == end ? work.positions.data() : set + work.c.batch) call(set);
    };
  };
  const auto copy = [&work](auto straight) {
    return [&work, straight, at = int64_t{0}](int64_t calls) mutable {  // walks the cache: as cold as the update's destinations
      const int64_t bytes = work.shape.update_bytes(), room = work.shape.cache_bytes() - bytes;
      for (int64_t j = 0; j < calls; ++j) {
        at = room > 0 ? (at + 5 * bytes + 4096) % room / 64 * 64 : 0;
        straight(work.cache.data() + at, work.update.data(), bytes);
      }
    };
  };
  std::vector<Way> ways;
  ways.push_back({"api", api(one)});
  ways.push_back({"kernel", loop([&entries](const int64_t* set) {
                    if (!entries.call(set)) any_failed() = true;
                  })});
  ways.push_back({"hand", loop([&work](const int64_t* set) { hand(work, set, work.cache.data()); })});
  if (work.c.length > 1) {
    ways.push_back({"hand_nt", loop([&work](const int64_t* set) {
                      hand_slabs_streaming(work.cache.data(), work.update.data(), set, work.shape);
                    })});
  }
  ways.push_back({"memcpy", copy([](char* d, const char* s, int64_t n) { std::memcpy(d, s, static_cast<size_t>(n)); })});
  ways.push_back({"stream", copy(stream_copy)});
  ways.push_back({"api_2threads", api(two)});
  return ways;
}

void run_case(benchmark::State& state, const Case& c) {
  Work work(c);
  if (work.cache.data() == nullptr || work.update.data() == nullptr) return fail(state, "not enough memory");
  KernelOptions options;
  options.threads = 1;
  const Expected<Kernel> one = Runtime::process().get(work.op, options);
  options.threads = 2;
  const Expected<Kernel> two = Runtime::process().get(work.op, options);
  if (!one.ok() || !two.ok()) return fail(state, (one.ok() ? two : one).status().message());
  for (const Kernel& kernel : {*one, *two}) {
    if (const std::string wrong = check_result(work, kernel); !wrong.empty()) return fail(state, wrong);
  }
  Entries entries(*one, work, work.cache.data());
  const std::vector<Way> ways = ways_of(work, *one, *two, entries);
  const Medians medians = take_turns(state, ways, c.sets);
  double limit = medians[2], copy = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    if (ways[i].name == "hand_nt") limit = std::min(limit, medians[i]);
    if (ways[i].name == "memcpy") copy = medians[i];
    if (ways[i].name == "stream") copy = std::min(copy, medians[i]);
  }
  state.counters["api/limit"] = medians[0] / limit;
  state.counters["kernel/limit"] = medians[1] / limit;
  state.counters["copy/api"] = copy / medians[0];
  state.SetBytesProcessed(state.iterations() * 2 * work.shape.update_bytes());
  const auto gate = [](double time, double most) { return most == 0 || time <= most ? "met" : "MISSED"; };
  if (c.kernel_gate > 0) {
    state.SetLabel("kernel <= " + std::to_string(static_cast<int>(c.kernel_gate)) + " ns " + gate(medians[1], c.kernel_gate) +
                   ", api <= " + std::to_string(static_cast<int>(c.api_gate)) + " ns " + gate(medians[0], c.api_gate));
  } else if (c.length >= 512) {
    state.SetLabel(std::string("copy/api >= 0.8 ") + (copy / medians[0] >= 0.8 ? "met" : "MISSED"));
  }
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  for (const strew::bench::Case& c : strew::bench::kCases) {
    benchmark::RegisterBenchmark(c.name, [&c](benchmark::State& state) { strew::bench::run_case(state, c); })
        ->UseManualTime()
        ->Iterations(201);
  }
  return strew::bench::run_all(argc, argv);
}
