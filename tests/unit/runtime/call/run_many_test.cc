// Many calls in one: the same bits as one after another, everything checked before anything is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <vector>

#include "runtime/call/extent.h"
#include "strew/forms.h"
#include "strew/runtime.h"

namespace strew {
namespace {

using namespace types;
using testing::HasSubstr;

/// The caches of `layers` layers, into each of which one token is written at a place that all share.
struct Layers {
  static constexpr int64_t kBatch = 2, kHeads = 3, kLength = 16, kWidth = 4;
  explicit Layers(size_t layers) {
    for (size_t i = 0; i < layers; ++i) {
      caches.emplace_back(static_cast<size_t>(kBatch * kHeads * kLength * kWidth));
      tokens.emplace_back(static_cast<size_t>(kBatch * kHeads * kWidth));
      for (float& value : tokens.back()) value = static_cast<float>(++last);
    }
    for (size_t i = 0; i < layers; ++i) data.insert(data.end(), {caches[i].data(), places.data(), tokens[i].data()});
  }
  static Op op(OobPolicy policy = OobPolicy::error) {
    return *tensor_scatter(f32({kBatch, kHeads, kLength, kWidth}), i64({kBatch}), f32({kBatch, kHeads, 1, kWidth}))
                .in_place()
                .oob(policy)
                .build();
  }
  std::vector<TensorView> shapes() {
    return {{caches[0].data(), dims}, {places.data(), place_dims}, {tokens[0].data(), token_dims}};
  }
  Status one_by_one(const Kernel& kernel) {
    for (size_t i = 0; i < caches.size(); ++i) {
      std::vector<TensorView> views = shapes();
      for (size_t t = 0; t < 3; ++t) views[t].data = data[3 * i + t];
      STREW_TRY(kernel.run(views));
    }
    return {};
  }
  float written() const {
    float sum = 0;
    for (const auto& cache : caches)
      for (const float value : cache) sum += value;
    return sum;
  }
  std::vector<int64_t> dims{kBatch, kHeads, kLength, kWidth}, place_dims{kBatch}, token_dims{kBatch, kHeads, 1, kWidth};
  std::vector<std::vector<float>> caches, tokens;
  std::vector<int64_t> places{3, 9};
  std::vector<void*> data;
  int last = 0;
};

TEST(RunMany, DoesWhatTheCallsDoOneByOne) {
  Runtime runtime;
  for (const BackendChoice backend : {BackendChoice::llvm, BackendChoice::reference}) {
    const Kernel kernel = *runtime.get(Layers::op(), {.backend = backend});
    for (const size_t layers : {size_t{1}, size_t{2}, size_t{64}}) {
      Layers many(layers), one(layers);
      const Status status = kernel.run_many(many.shapes(), many.data);
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_TRUE(one.one_by_one(kernel).ok());
      EXPECT_EQ(many.caches, one.caches);
      EXPECT_GT(many.written(), 0.0F);
    }
    EXPECT_TRUE(kernel.run_many(Layers(1).shapes(), {}).ok()) << "no calls are no error";
  }
}

TEST(RunMany, ABadIndexInAnyCallWritesNothing) {
  Runtime runtime;
  const Kernel kernel = *runtime.get(Layers::op());
  Layers layers(8);
  std::vector<int64_t> bad{3, 99};
  layers.data[3 * 5 + 1] = bad.data();
  BadIndex bad_index;
  const Status status = kernel.run_many(layers.shapes(), layers.data, {.bad_index = &bad_index});
  EXPECT_EQ(status.code(), Code::out_of_bounds);
  EXPECT_THAT(status.message(), testing::StartsWith("call 5: "));
  EXPECT_EQ(bad_index.value, 99);
  EXPECT_EQ(layers.written(), 0.0F);
}

TEST(RunMany, WrongArgumentsAreNamed) {
  Runtime runtime;
  const Kernel kernel = *runtime.get(Layers::op());
  Layers layers(4);
  const auto message = [&](std::span<const TensorView> shapes, std::span<void* const> data, const CallOptions& options = {}) {
    const Status status = kernel.run_many(shapes, data, options);
    EXPECT_EQ(status.code(), Code::invalid_argument) << status.message();
    EXPECT_EQ(layers.written(), 0.0F);
    return status.message();
  };
  const std::vector<TensorView> shapes = layers.shapes();
  EXPECT_EQ(message(std::span(shapes).first(2), layers.data), "shapes: 2 tensors, expected 3");
  EXPECT_EQ(message(shapes, std::span(layers.data).first(10)),
            "data: 10 addresses, expected a multiple of 3, one per tensor of each call");
  EXPECT_EQ(message(shapes, layers.data, {.threads = -2}), "threads: -2, expected 0..1024");
  std::vector<void*> data = layers.data;
  data[7] = nullptr;
  EXPECT_THAT(message(shapes, data), HasSubstr("call 2: indices: data is null"));
  data = layers.data;
  data[9] = data[0];
  EXPECT_THAT(message(shapes, data), HasSubstr("call 0: result 0 overlaps result 0 of call 3"));
  data = layers.data;
  data[5] = layers.caches[3].data() + 7;
  EXPECT_THAT(message(shapes, data), HasSubstr("call 3: result 0 overlaps updates 0 of call 1"));
  std::vector<TensorView> other = layers.shapes();
  other[0].dtype = DType::i32;
  EXPECT_THAT(message(other, layers.data), HasSubstr("call 0: result 0"));
  EXPECT_THAT(Kernel().run_many(shapes, layers.data).message(), HasSubstr("an empty handle"));
}

TEST(RunMany, RunsDifferentKernelsAsOneBatch) {
  Runtime runtime;
  const Kernel cache = *runtime.get(Layers::op());
  const Kernel sums = *runtime.get(
      *scatter_rows(f32({6, 4}), i32({5}), f32({5, 4})).combine(CombinerKind::add).in_place().oob(OobPolicy::error).build());
  const Kernel plain =
      *runtime.get(*scatter_rows(f32({6, 4}), i32({5}), f32({5, 4})).build(), {.backend = BackendChoice::reference});
  Layers layers(2);
  std::vector<float> table(24), updates(20, 1.0F), result(24), operand(24, 2.0F);
  std::vector<int32_t> indices{0, 0, 1, 5, 5};
  const std::vector<int64_t> dims{6, 4}, count{5}, update_dims{5, 4};
  std::vector<TensorView> first = layers.shapes(), second = layers.shapes();
  for (size_t t = 0; t < 3; ++t) second[t].data = layers.data[3 + t];
  const std::vector<TensorView> third{{table.data(), dims}, {indices.data(), count}, {updates.data(), update_dims}};
  const std::vector<TensorView> fourth{
      {result.data(), dims}, {operand.data(), dims}, {indices.data(), count}, {updates.data(), update_dims}};
  const std::vector<KernelCall> calls{{cache, first}, {sums, third}, {cache, second}, {plain, fourth}};
  const Status status = run_many(calls);
  ASSERT_TRUE(status.ok()) << status.message();
  Layers expected(2);
  ASSERT_TRUE(expected.one_by_one(cache).ok());
  EXPECT_EQ(layers.caches, expected.caches);
  EXPECT_EQ(table[0], 2.0F);
  EXPECT_EQ(table[20], 2.0F);
  EXPECT_EQ(result[0], 1.0F);
  EXPECT_EQ(result[8], 2.0F);
  // One wrong call, and none is run.
  indices[2] = 6;
  Layers again(2);
  for (size_t t = 0; t < 3; ++t) first[t].data = again.data[t];
  const std::vector<KernelCall> wrong{{cache, first}, {sums, third}};
  EXPECT_THAT(run_many(wrong).message(), testing::StartsWith("call 1: "));
  EXPECT_EQ(again.written(), 0.0F);
  EXPECT_THAT(run_many(std::vector<KernelCall>{{cache, first}, {Kernel(), third}}).message(),
              HasSubstr("call 1: kernel: an empty handle"));
  EXPECT_TRUE(run_many({}).ok());
}

TEST(RunMany, LargeCallsUseThreadsEach) {
  Runtime runtime;
  constexpr int64_t kRows = 4000, kCount = 30000;
  const Kernel kernel =
      *runtime.get(*scatter_rows(f32({kRows, 8}), i32({kCount}), f32({kCount, 8})).combine(CombinerKind::add).in_place().build());
  std::mt19937 random(3);
  std::vector<int32_t> indices(kCount);
  for (int32_t& index : indices) index = static_cast<int32_t>(random() % kRows);
  std::vector<float> updates(kCount * 8, 0.25F);
  std::vector<std::vector<float>> tables(3, std::vector<float>(kRows * 8)), expected = tables;
  const std::vector<int64_t> dims{kRows, 8}, count{kCount}, update_dims{kCount, 8};
  std::vector<void*> data;
  for (auto& table : tables) data.insert(data.end(), {table.data(), indices.data(), updates.data()});
  const std::vector<TensorView> shapes{{tables[0].data(), dims}, {indices.data(), count}, {updates.data(), update_dims}};
  ASSERT_TRUE(kernel.run_many(shapes, data).ok());
  for (auto& table : expected) {
    std::vector<TensorView> views = shapes;
    views[0].data = table.data();
    ASSERT_TRUE(kernel.run(views).ok());
  }
  EXPECT_EQ(tables, expected);
}

TEST(BatchOverlap, FindsEveryOverlapOfAWrite) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 3000; ++turn) {
    std::vector<CallBytes> writes, reads;
    for (uint32_t call = 0; call < 6; ++call) {
      const uintptr_t begin = 100 * (1 + random() % 20), at = 100 * (1 + random() % 20);
      writes.push_back({begin, begin + 1 + random() % 100, call, 0});
      reads.push_back({at, at + 1 + random() % 100, call, 1});
    }
    bool overlaps = false;
    for (const CallBytes& write : writes)
      for (const auto* list : {&writes, &reads})
        for (const CallBytes& other : *list)
          overlaps |= write.call != other.call && write.begin < other.end && other.begin < write.end;
    const auto found = find_overlap(writes, reads);
    ASSERT_EQ(found.has_value(), overlaps);
    if (!found) continue;
    EXPECT_NE(found->write.call, found->other.call);
    EXPECT_TRUE(found->write.begin < found->other.end && found->other.begin < found->write.end);
  }
}

}  // namespace
}  // namespace strew
