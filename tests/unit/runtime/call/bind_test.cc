// Binding: every way tensors can fail to fit an op, with the message, and nothing written; and what must pass: interleaved views, strides
// of extents of 1, empty tensors without memory, an operand that is the result.
#include "runtime/call/bind.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/call/extent.h"
#include "runtime/kernel_state.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::Views;

constexpr char kRowDims[] =
    " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 oob=skip_window";
const std::string kStatic =
    std::string("strew1.scatter(operand=f32[6,4] indices=i32[3] updates=f32[3,4]") + kRowDims + " init=in_place)";
const std::string kCopy = std::string("strew1.scatter(operand=f32[6,4] indices=i32[3] updates=f32[3,4]") + kRowDims + ")";
const std::string kDynamic =
    std::string("strew1.scatter(operand=f32[?,?] indices=i32[?] updates=f32[?,?]") + kRowDims + " init=in_place)";
const std::string kStrided =
    std::string("strew1.scatter(operand=f32[6,4]{?,1} indices=i32[3]{?} updates=f32[3,4]{?,?}") + kRowDims + " init=in_place)";

/// A kernel on the reference backend, and the buffers of a 6x4 table, 3 indices and 3x4 updates.
struct Bench {
  explicit Bench(const std::string& text) {
    const auto op = parse_op(text);
    EXPECT_TRUE(op.ok()) << op.status().message();
    KernelOptions options;
    options.backend = BackendChoice::reference;
    auto made = runtime.get(*op, options);
    EXPECT_TRUE(made.ok()) << made.status().message();
    if (made.ok()) kernel = *made;
    std::iota(updates.begin(), updates.end(), 100.0f);
  }
  /// The message; checks that a failure wrote nothing.
  std::string run(const Views& views) {
    const std::vector<float> before = table;
    const Status status = kernel.run(views);
    if (!status.ok()) {
      EXPECT_EQ(table, before);
      EXPECT_EQ(status.code(), Code::invalid_argument);
    } else {
      EXPECT_NE(table, before);
    }
    return status.message();
  }
  Views usual() {
    return Views()
        .add(table.data(), DType::f32, {6, 4})
        .add(indices.data(), DType::i32, {3})
        .add(updates.data(), DType::f32, {3, 4});
  }

  Runtime runtime;
  Kernel kernel;
  std::vector<float> table = std::vector<float>(256, 1.0f), updates = std::vector<float>(64);
  std::vector<int32_t> indices = {4, 0, 2, 0, 0, 0};
};

TEST(Bind, GoodViewsRun) {
  Bench bench(kStatic);
  EXPECT_EQ(bench.run(bench.usual()), "");
  EXPECT_EQ(bench.table[16], 100.0f);
  EXPECT_EQ(bench.table[0], 104.0f);
}

TEST(Bind, CountDtypeRankDims) {
  Bench bench(kStatic);
  EXPECT_EQ(bench.run(Views().add(bench.table.data(), DType::f32, {6, 4})),
            "tensors: 1 given, expected 3: result 0, indices, updates 0");
  const auto with = [&](size_t slot, auto change) {
    Views views = bench.usual();
    change(views[slot]);
    return bench.run(views);
  };
  const int64_t five[] = {6, 5};
  EXPECT_EQ(with(0, [](TensorView& v) { v.dtype = DType::i32; }), "result 0: dtype i32, expected f32");
  EXPECT_EQ(with(1, [](TensorView& v) { v.dtype = DType::i64; }), "indices: dtype i64, expected i32");
  EXPECT_EQ(with(2, [](TensorView& v) { v.rank = 1; }), "updates 0: rank 1, expected 2");
  EXPECT_EQ(with(2, [](TensorView& v) { v.dims = nullptr; }), "updates 0: dims is null, expected 2 extents");
  EXPECT_EQ(with(0, [&](TensorView& v) { v.dims = five; }), "result 0: dim 1 is 5, expected 4");
  EXPECT_EQ(with(2, [](TensorView& v) { v.data = nullptr; }), "updates 0: data is null, expected 48 bytes");
  EXPECT_EQ(with(0, [](TensorView& v) { v.data = reinterpret_cast<void*>(~uintptr_t{15}); }),
            "result 0: its byte extent wraps around the address space");
}

TEST(Bind, StridesOfAContiguousType) {
  Bench bench(kStatic);
  Views strided = bench.usual();
  const int64_t wide[] = {8, 1}, exact[] = {4, 1};
  strided[0].strides = wide;
  EXPECT_EQ(bench.run(strided), "result 0: stride 0 is 8, expected 4 (contiguous)");
  strided[0].strides = exact;
  EXPECT_EQ(bench.run(strided), "");
}

TEST(Bind, StridesOfExtentOneAreFree) {
  Bench bench(std::string("strew1.scatter(operand=f32[6,4] indices=i32[1] updates=f32[1,4]") + kRowDims + " init=in_place)");
  EXPECT_EQ(bench.run(Views()
                          .add(bench.table.data(), DType::f32, {6, 4})
                          .add(bench.indices.data(), DType::i32, {1}, {-77})
                          .add(bench.updates.data(), DType::f32, {1, 4}, {int64_t{1} << 61, 1})),
            "");
}

TEST(Bind, StaticStrides) {
  Bench bench(std::string("strew1.scatter(operand=f32[6,4]{8,1} indices=i32[3] updates=f32[3,4]{0,1}") + kRowDims +
              " init=in_place)");
  Views views = bench.usual();
  EXPECT_EQ(bench.run(views), "result 0: stride 0 is 4, expected 8");
  const int64_t wide[] = {8, 1}, same_row[] = {0, 1};
  views[0].strides = wide;
  EXPECT_EQ(bench.run(views), "updates 0: stride 0 is 4, expected 0");
  views[2].strides = same_row;
  EXPECT_EQ(bench.run(views), "");
  EXPECT_EQ(bench.table[2 * 8 + 3], 103.0f);
}

TEST(Bind, DynamicDimsMustAgree) {
  Bench bench(kDynamic);
  EXPECT_EQ(bench.run(bench.usual()), "");
  const auto with_updates = [&](std::vector<int64_t> dims) {
    return bench.run(Views()
                         .add(bench.table.data(), DType::f32, {6, 4})
                         .add(bench.indices.data(), DType::i32, {3})
                         .add(bench.updates.data(), DType::f32, std::move(dims)));
  };
  EXPECT_EQ(with_updates({2, 4}), "updates 0: dim 0 is 2, expected 3, dim 0 of indices [scatter_c4]");
  EXPECT_EQ(with_updates({3, 5}), "updates 0: dim 1 is 5, expected at most 4, dim 1 of result 0 [scatter_c4]");
  EXPECT_EQ(with_updates({3, -4}), "updates 0: dim 1 is -4, expected >= 0");
  bench.table.assign(256, 1.0f);
  EXPECT_EQ(with_updates({3, 3}), "");  // a narrower window is legal
  EXPECT_EQ(bench.table[2 * 4 + 2], 108.0f);
  EXPECT_EQ(bench.table[2 * 4 + 3], 1.0f);
}

TEST(Bind, DynamicShapesAlternate) {
  Bench bench(kDynamic);
  for (int round = 0; round < 3; ++round) {
    for (int64_t rows : {5, 6, 7}) {
      std::fill(bench.table.begin(), bench.table.end(), 1.0f);
      Views views;
      views.add(bench.table.data(), DType::f32, {rows, 5}).add(bench.indices.data(), DType::i32, {1});
      views.add(bench.updates.data(), DType::f32, {1, 5});
      EXPECT_EQ(bench.run(views), "");
      EXPECT_EQ(bench.table[20], 100.0f);
    }
  }
}

/// Binding remembers nothing: a call's numbers are its own, whatever is bound meanwhile.
TEST(Bind, CallsOfManyKernelsAndShapesAlternate) {
  std::vector<std::unique_ptr<Bench>> benches;
  for (int i = 0; i < 40; ++i) benches.push_back(std::make_unique<Bench>(kDynamic));
  std::vector<float> table(4096), updates(4096);
  std::vector<int32_t> indices(64);
  const auto views = [&](int64_t rows, int64_t width, int64_t count) {
    return Views()
        .add(table.data(), DType::f32, {rows, width})
        .add(indices.data(), DType::i32, {count})
        .add(updates.data(), DType::f32, {count, width});
  };
  std::vector<Binder> binders;
  for (const auto& bench : benches) binders.push_back(std::move(Binder::make(bench->kernel.descriptor()).value()));
  Call outer;
  ASSERT_TRUE(binders[0].bind(views(6, 4, 3), outer).ok());
  for (size_t i = 1; i < binders.size(); ++i) {
    Call inner;
    ASSERT_TRUE(binders[i].bind(views(40 + static_cast<int64_t>(i), 7, 5), inner).ok());
  }
  EXPECT_EQ(outer.data[0], table.data());
  ASSERT_TRUE(binders[0].bind(views(9, 2, 1), outer).ok());  // a call may be bound anew
}

TEST(Bind, DynamicStridesAreBound) {
  Bench bench(kStrided);
  const int64_t wide[] = {10, 1}, reversed[] = {-1}, transposed[] = {1, 3};
  Views views = bench.usual();
  views[0].strides = wide;
  views[1].strides = reversed;
  views[1].data = bench.indices.data() + 2;  // 2, 0, 4
  views[2].strides = transposed;
  EXPECT_EQ(bench.run(views), "");
  EXPECT_EQ(bench.table[20 + 1], 103.0f);
  EXPECT_EQ(bench.table[40], 102.0f);
  const int64_t meeting[] = {2, 1};
  views[0].strides = meeting;
  EXPECT_NE(bench.run(views).find("stride"), std::string::npos) << bench.run(views);
}

TEST(Bind, HugeExtentsAreAnError) {
  Bench bench(kDynamic);
  Views views;
  views.add(bench.table.data(), DType::f32, {int64_t{1} << 40, int64_t{1} << 40}).add(bench.indices.data(), DType::i32, {3});
  views.add(bench.updates.data(), DType::f32, {3, 4});
  EXPECT_EQ(bench.run(views), "result 0: its elements do not fit 63 bits");
  Bench strided(kStrided);
  Views far = strided.usual();
  const int64_t apart[] = {int64_t{1} << 60, 1};
  far[0].strides = apart;
  EXPECT_EQ(strided.run(far), "result 0: its byte extent does not fit 63 bits");
}

TEST(Bind, EmptyTensorsNeedNoMemory) {
  Bench bench(kDynamic);
  Views views;
  views.add(bench.table.data(), DType::f32, {6, 4}).add(nullptr, DType::i32, {0}).add(nullptr, DType::f32, {0, 4});
  EXPECT_TRUE(bench.kernel.run(views).ok()) << bench.kernel.run(views).message();
}

TEST(Bind, OverlapIsAnError) {
  Bench bench(kStatic);
  Views views = bench.usual();
  views[2].data = bench.table.data() + 23;
  EXPECT_EQ(bench.run(views), "result 0 overlaps updates 0: expected disjoint buffers");
  views[2].data = bench.table.data() + 24;  // right behind it
  bench.table[24] = 5.0f;
  EXPECT_EQ(bench.run(views), "");
  views[1].data = bench.table.data() + 5;
  EXPECT_EQ(bench.run(views), "result 0 overlaps indices: expected disjoint buffers");
}

TEST(Bind, OperandOfACopyMayBeTheResult) {
  Bench bench(kCopy);
  std::vector<float> operand(64, 3.0f);
  const auto views = [&](float* data) {
    return Views()
        .add(bench.table.data(), DType::f32, {6, 4})
        .add(data, DType::f32, {6, 4})
        .add(bench.indices.data(), DType::i32, {3})
        .add(bench.updates.data(), DType::f32, {3, 4});
  };
  EXPECT_EQ(bench.run(views(operand.data())), "");
  EXPECT_EQ(bench.table[4], 3.0f);
  std::fill(bench.table.begin(), bench.table.end(), 1.0f);
  EXPECT_EQ(bench.run(views(bench.table.data())), "");
  EXPECT_EQ(bench.table[4], 1.0f);
  EXPECT_EQ(bench.table[0], 104.0f);
  EXPECT_EQ(bench.run(views(bench.table.data() + 1)),
            "result 0 overlaps operand 0: expected disjoint buffers, or one buffer with the same dtype and strides");
}

TEST(Bind, GatherResultIsNotItsOperand) {
  Bench bench(
      "strew1.gather(operand=f32[6,4] indices=i32[3] result=f32[3,4] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] "
      "index_vector_dim=1 slice_sizes=[1,4])");
  EXPECT_EQ(bench.run(Views()
                          .add(bench.table.data(), DType::f32, {3, 4})
                          .add(bench.table.data(), DType::f32, {6, 4})
                          .add(bench.indices.data(), DType::i32, {3})),
            "result 0 overlaps operand 0: expected disjoint buffers");
}

TEST(Bind, ABoundCallMayBeMoved) {
  Bench bench(kDynamic);
  const Binder& binder = bench.kernel.state()->callable->binder;
  Views views = bench.usual();
  const std::span<const TensorView> tensors = views;
  Call call;
  ASSERT_TRUE(binder.bind(tensors, call).ok());
  const Call moved(std::move(call));
  EXPECT_EQ(moved.data, moved.few_data.data());
  EXPECT_EQ(moved.dyn, moved.few_dyn.data());
  EXPECT_EQ(moved.positions, 3);
  EXPECT_EQ(moved.data[bench.kernel.descriptor().tensors[1].data], bench.indices.data());
  EXPECT_EQ(moved.dyn[0], 3) << "the number of index positions";
  Call large;
  large.many = std::make_unique<uint64_t[]>(2);  // NOLINT(modernize-avoid-c-arrays): as the member
  large.data = reinterpret_cast<void**>(large.many.get());
  large.dyn = nullptr;
  large.result_is_operand = false;
  void** const data = large.data;
  const Call other(std::move(large));
  EXPECT_EQ(other.data, data);
}

TEST(Bind, ManyThreadsShareABinder) {
  Bench bench(kDynamic);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<float> table(64);
      for (int i = 0; i < 200; ++i) {
        const int64_t width = 1 + (t + i) % 4;
        Views views;
        views.add(table.data(), DType::f32, {6, width}).add(bench.indices.data(), DType::i32, {3});
        views.add(bench.updates.data(), DType::f32, {3, width});
        if (!bench.kernel.run(views).ok() || table[static_cast<size_t>(4 * width)] != 100.0f) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
}

/// Whether two strided views share a byte, by listing them.
bool share_a_byte(const StridedBytes& a, const StridedBytes& b) {
  const auto bytes = [](const StridedBytes& v) {
    std::vector<uintptr_t> list;
    for (int64_t i = 0; i < v.dims[0]; ++i)
      for (int64_t j = 0; j < v.dims[1]; ++j)
        for (int64_t k = 0; k < v.element; ++k)
          list.push_back(v.base + static_cast<uintptr_t>((i * v.strides[0] + j * v.strides[1]) * v.element + k));
    return list;
  };
  const auto in_a = bytes(a), in_b = bytes(b);
  return std::any_of(in_a.begin(), in_a.end(), [&](uintptr_t x) { return std::find(in_b.begin(), in_b.end(), x) != in_b.end(); });
}

TEST(Overlap, NeverCallsMeetingViewsDisjoint) {
  uint64_t state = 1;
  const auto next = [&](int64_t low, int64_t high) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(high - low + 1));
  };
  int apart = 0, interleaved = 0;
  for (int round = 0; round < 20000; ++round) {
    int64_t dims[2][2], strides[2][2];
    StridedBytes views[2];
    for (int v = 0; v < 2; ++v) {
      for (int d = 0; d < 2; ++d) {
        dims[v][d] = next(1, 4);
        strides[v][d] = next(-9, 9);
      }
      views[v] = {static_cast<uintptr_t>(next(1000, 1040)), v == 0 ? 2 : next(1, 4), 2, dims[v], strides[v]};
    }
    if (!disjoint(views[0], views[1])) continue;
    ++apart;
    EXPECT_FALSE(share_a_byte(views[0], views[1]));
    const bool far = views[0].base + 200 < views[1].base || views[1].base + 200 < views[0].base;
    interleaved += !far;
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(interleaved, 100);
}

TEST(Overlap, ColumnsRowsAndHalvesAreDisjoint) {
  const int64_t half[] = {8, 4}, wide[] = {8, 1}, column[] = {8, 1};
  EXPECT_TRUE(disjoint({0, 4, 2, half, wide}, {16, 4, 2, half, wide}));     // left and right half of each row
  EXPECT_FALSE(disjoint({0, 4, 2, half, wide}, {12, 4, 2, half, wide}));    // they share one column
  EXPECT_TRUE(disjoint({0, 4, 2, column, wide}, {4, 4, 2, column, wide}));  // two columns
  const int64_t every_other[] = {16, 1}, four_rows[] = {4, 8};
  EXPECT_TRUE(disjoint({0, 4, 2, four_rows, every_other}, {32, 4, 2, four_rows, every_other}));  // even and odd rows
  const int64_t backwards[] = {-16, 1};
  EXPECT_TRUE(disjoint({192, 4, 2, four_rows, backwards}, {32, 4, 2, four_rows, every_other}));
}

}  // namespace
}  // namespace strew
