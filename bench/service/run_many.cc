// One token into the key and value caches of all layers of a model: 64 tensors that share a descriptor and one index tensor.
//
//   run_many/64     Kernel::run_many, over a loop of memcpy of the same rows
//   run_in_turn/64  as many calls of Kernel::run, over the same loop
//
// and the same with the first 1, 2 and 8 tensors, whose rows stay in the caches: there a loop of Kernel::run is the faster way (include/strew/kernel.h).
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/service/service.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew::bench {
namespace {

using namespace types;

constexpr int64_t kTensors = 64, kHeads = 8, kLength = 2048, kWidth = 128, kBytes = 2 * kWidth;

/// The caches, [1, 8, 2048, 128] in bf16, and one token for each.
struct Layers {
  Layers() {
    for (int64_t i = 0; i < kTensors; ++i) {
      caches.push_back(std::make_unique<uint16_t[]>(kHeads * kLength * kWidth));
      tokens.push_back(std::make_unique<uint16_t[]>(kHeads * kWidth));
      for (int64_t e = 0; e < kHeads * kWidth; ++e) tokens.back()[static_cast<size_t>(e)] = static_cast<uint16_t>(e * 7 + i);
      data.insert(data.end(), {caches.back().get(), &place, tokens.back().get()});
    }
  }
  void copy(size_t count) {
    for (size_t i = 0; i < count; ++i)
      for (int64_t head = 0; head < kHeads; ++head)
        std::memcpy(caches[i].get() + (head * kLength + place) * kWidth, tokens[i].get() + head * kWidth, kBytes);
  }
  std::vector<TensorView> views(size_t i) {
    return {{data[3 * i], DType::bf16, dims}, {&place, place_dims}, {data[3 * i + 2], DType::bf16, token_dims}};
  }
  bool is_written(size_t count) const {
    for (size_t i = 0; i < count; ++i)
      for (int64_t head = 0; head < kHeads; ++head)
        if (std::memcmp(caches[i].get() + (head * kLength + place) * kWidth, tokens[i].get() + head * kWidth, kBytes) != 0)
          return false;
    return true;
  }
  int64_t place = 77;
  std::vector<int64_t> dims{1, kHeads, kLength, kWidth}, place_dims{1}, token_dims{1, kHeads, 1, kWidth};
  std::vector<std::unique_ptr<uint16_t[]>> caches, tokens;
  std::vector<void*> data;
};

void run(benchmark::State& state, bool many, size_t tensors) {
  Layers layers;
  Runtime runtime;
  const auto op = tensor_scatter(bf16({1, kHeads, kLength, kWidth}), i64({1}), bf16({1, kHeads, 1, kWidth}))
                      .in_place()
                      .oob(OobPolicy::error)
                      .build();
  if (!op.ok()) return fail(state, op.status().message());
  const Expected<Kernel> kernel = runtime.get(*op);
  if (!kernel.ok()) return fail(state, kernel.status().message());
  std::vector<std::vector<TensorView>> each;
  for (size_t i = 0; i < tensors; ++i) each.push_back(layers.views(i));
  const std::span<void* const> data(layers.data.data(), 3 * tensors);
  const auto together = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (!kernel->run_many(each[0], data).ok()) any_failed() = true;
  };
  const auto in_turn = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      for (const std::vector<TensorView>& views : each)
        if (!kernel->run(views).ok()) any_failed() = true;
  };
  const auto copy = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      layers.copy(tensors);
      benchmark::ClobberMemory();
    }
  };
  many ? together(1) : in_turn(1);
  if (!layers.is_written(tensors)) return fail(state, "a token is not where it belongs");
  const Medians medians = take_turns(state, {{many ? Way{"run_many", together} : Way{"in_turn", in_turn}}, {"memcpy", copy}}, 1);
  const double limit = 1.15 * medians[1] + 1000;
  state.counters["limit_ns"] = limit;
  if (many && tensors == kTensors)
    state.SetLabel(medians[0] <= limit ? "<= 1.15 x memcpy + 1 us met" : "<= 1.15 x memcpy + 1 us MISSED");
}

}  // namespace

void add_run_many_benchmarks() {
  const auto add = [](const std::string& name, bool many, size_t tensors) {
    benchmark::RegisterBenchmark((name + "/" + std::to_string(tensors)).c_str(),
                                 [many, tensors](benchmark::State& state) { run(state, many, tensors); })
        ->UseManualTime()
        ->Iterations(201)
        ->Unit(benchmark::kMicrosecond);
  };
  for (const size_t tensors : {size_t{kTensors}, size_t{1}, size_t{2}, size_t{8}}) {
    add("run_many", true, tensors);
    add("run_in_turn", false, tensors);
  }
}

}  // namespace strew::bench
