// A server that writes tokens into the KV caches of a model while its batch varies from step to step.
//
// Each step brings between 1 and 8 sequences. There are two ways to serve them. The value caches take one kernel whose batch is open: the program knows
// which extent changes, so it asks for that kernel when it starts, and no step compiles. The key caches take a Site (strew/site.h), which needs no such
// knowledge: it finds the kernel for the step's shapes without a look-up by key, and builds the op only for shapes that it has not seen.
// Large calls would run on the program's own threads (strew/executor.h). At the end the caches are compared with what plain loops write, and
// what the runtime counted is printed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "strew/strew.hpp"

namespace {

using namespace strew::types;

constexpr int64_t kSequences = 8, kHeads = 4, kLength = 64, kWidth = 32, kLayers = 6, kSteps = 200;

/// The program's own threads. A real server has a pool; here each loop starts its threads.
class ServerThreads final : public strew::Executor {
 public:
  int threads() const noexcept override { return 3; }
  void parallel_for(int count, Task task, void* context) override {
    std::vector<std::thread> threads;
    for (int i = 1; i < count; ++i) threads.emplace_back(task, context, i);
    if (count > 0) task(context, 0);
    for (std::thread& thread : threads) thread.join();
  }
};

void ok_or_exit(const strew::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

/// cache[slot[b], :, place[b], :] = token[b] for each sequence b of the batch; an index out of bounds is an error.
strew::Expected<strew::Scatter> append_op(int64_t batch) {
  return strew::ScatterBuilder()
      .operand(f32({kSequences, kHeads, kLength, kWidth}))
      .indices(i64({batch, 2}))
      .updates(f32({batch, kHeads, kWidth}))
      .update_window_dims({1, 2})
      .inserted_window_dims({0, 2})
      .scatter_dims_to_operand_dims({0, 2})
      .index_vector_dim(1)
      .in_place()
      .oob(strew::OobPolicy::error)
      .build();
}

/// cache[b, :, place[b], :] = token[b] for each sequence b of a batch of 1 to kSequences: the cache has a fixed number of sequences, of which a
/// call writes to the first ones.
strew::Expected<strew::Scatter> append_to_first_op() {
  return strew::tensor_scatter(f32({kSequences, kHeads, kLength, kWidth}), i64({strew::kDynamic}),
                               f32({strew::kDynamic, kHeads, 1, kWidth}))
      .in_place()
      .build();
}

struct Layer {
  std::vector<float> keys = std::vector<float>(kSequences * kHeads * kLength * kWidth), values = keys, expected = keys;
  std::vector<float> token = std::vector<float>(kSequences * kHeads * kWidth);
};

}  // namespace

int main() {
  strew::Options options = strew::Options::from_environment();
  options.cache_bytes = 16 << 20;
  ok_or_exit(check(options));
  strew::Runtime runtime(options, std::make_shared<ServerThreads>());
  strew::Site append(runtime);
  const strew::Expected<strew::Kernel> append_to_first = runtime.get(append_to_first_op());
  ok_or_exit(append_to_first.status());

  std::mt19937 random(1);
  std::vector<Layer> layers(kLayers);
  std::vector<int64_t> lengths(kSequences, 0), indices(2 * kSequences), places(kSequences);
  for (int64_t step = 0; step < kSteps; ++step) {
    const auto batch = static_cast<int64_t>(1 + random() % kSequences);
    for (int64_t b = 0; b < batch; ++b) {
      indices[static_cast<size_t>(2 * b)] = b;
      places[static_cast<size_t>(b)] = lengths[static_cast<size_t>(b)]++ % kLength;
      indices[static_cast<size_t>(2 * b + 1)] = places[static_cast<size_t>(b)];
    }
    const std::vector<int64_t> cache_dims{kSequences, kHeads, kLength, kWidth}, index_dims{batch, 2},
        token_dims{batch, kHeads, kWidth}, place_dims{batch}, one_token_dims{batch, kHeads, 1, kWidth};
    for (Layer& layer : layers) {
      for (int64_t e = 0; e < batch * kHeads * kWidth; ++e)
        layer.token[static_cast<size_t>(e)] = static_cast<float>(random() % 1000);
      for (int64_t e = 0; e < batch * kHeads * kWidth; ++e) {
        const int64_t b = e / (kHeads * kWidth), head = e / kWidth % kHeads, place = indices[static_cast<size_t>(2 * b + 1)];
        layer.expected[static_cast<size_t>(((b * kHeads + head) * kLength + place) * kWidth + e % kWidth)] =
            layer.token[static_cast<size_t>(e)];
      }
      const std::vector<strew::TensorView> tensors{
          {layer.keys.data(), cache_dims}, {indices.data(), index_dims}, {layer.token.data(), token_dims}};
      ok_or_exit(append.run(tensors, [&] { return append_op(batch); }));
      const std::vector<strew::TensorView> first{
          {layer.values.data(), cache_dims}, {places.data(), place_dims}, {layer.token.data(), one_token_dims}};
      ok_or_exit(append_to_first->run(first));
    }
  }
  for (const Layer& layer : layers)
    if (layer.keys != layer.expected || layer.values != layer.expected) {
      std::fprintf(stderr, "a cache differs from what plain loops write\n");
      return 1;
    }
  const strew::Runtime::Stats stats = runtime.stats();
  std::printf("%d steps of %d layers: %llu kernels built in %.1f ms, %llu look-ups, %lld KiB of kernels; caches as expected\n",
              static_cast<int>(kSteps), static_cast<int>(kLayers), static_cast<unsigned long long>(stats.built),
              static_cast<double>(stats.build_nanoseconds) * 1e-6, static_cast<unsigned long long>(stats.hits + stats.misses),
              static_cast<long long>(stats.bytes / 1024));
  return 0;
}
