// Workload data: for any op, legal tensors whose calls succeed, with true hints, and that restore() repeats.
#include "tune/workload_data.h"

#include <map>

#include "backends/reference/hints.h"
#include "backends/reference/reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/differential/op_blueprint.h"
#include "tests/differential/random_op.h"

namespace strew::test {
namespace {

using testing::HasSubstr;

constexpr int64_t kMostBytes = int64_t{256} << 20;

VerifiedOp op_of(const std::string& text) {
  Expected<Op> op = parse_op(text);
  EXPECT_TRUE(op.ok()) << op.status().message();
  return std::move(VerifiedOp::of(std::move(*op))).value();
}

const char* const kAdd =
    "strew1.scatter(operand=f32[?,16] indices=i32[?] updates=f32[?,16] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)";

Usage usage_of(const VerifiedOp& op, const KnownUsage& known) {
  Expected<InventedUsage> usage = invent_usage(op, known);
  EXPECT_TRUE(usage.ok()) << usage.status().message();
  return usage.ok() ? usage->usage : Usage();
}

/// Runs the reference and a kernel on the first call, and compares.
void expect_same_bits(const VerifiedOp& op, WorkloadData& data, const std::string& what) {
  ASSERT_TRUE(run_reference(op, data.call(0), nullptr).ok()) << what;
  const std::vector<std::byte> expected = data.results(0);
  data.restore();
  const Expected<Kernel> kernel = Runtime::process().get(*op);
  ASSERT_TRUE(kernel.ok()) << what;
  const Status ran = kernel->run(data.call(0));
  ASSERT_TRUE(ran.ok()) << what << ": " << ran.message();
  EXPECT_EQ(data.first_difference(0, expected), -1) << what;
  data.restore();
  ASSERT_TRUE(kernel->run(data.call(data.sets() - 1)).ok()) << what;
}

TEST(WorkloadData, SuitsRandomOps) {
  size_t made = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const Blueprint blueprint = random_blueprint(rng, {});
    Expected<VerifiedOp> op = VerifiedOp::of(instantiate(blueprint, maxima(blueprint)));
    ASSERT_TRUE(op.ok());
    const Scatter* const scatter = std::get_if<Scatter>(&**op);
    // The bits of a relaxed sum are those of an order of its own.
    if (scatter != nullptr && scatter->order == Order::relaxed) continue;
    const std::string what = "seed " + std::to_string(seed) + ": " + print(**op);
    const Expected<InventedUsage> usage = invent_usage(*op, {});
    if (!usage.ok()) {
      // More index positions than there are places for unique windows.
      EXPECT_THAT(usage.status().message(), HasSubstr("permutation")) << what;
      continue;
    }
    Expected<WorkloadData> data = WorkloadData::make(*op, usage->usage, seed, kMostBytes);
    if (!data.ok()) {
      EXPECT_THAT(data.status().message(),
                  testing::AnyOf(HasSubstr("strings"), HasSubstr("expected a row at least"), HasSubstr("drop the hint")))
          << what;
      continue;
    }
    ++made;
    const Status hints = check_hints(**op, data->call(0));
    EXPECT_TRUE(hints.ok()) << what << ": " << hints.message();
    expect_same_bits(*op, *data, what);
  }
  EXPECT_GT(made, 150U);
}

TEST(WorkloadData, ADifferenceIsSeen) {
  const VerifiedOp op = op_of(kAdd);
  WorkloadData data =
      std::move(*WorkloadData::make(op, usage_of(op, {{{"s0", 10}, {"s1", 20}}, "", "hot", 1, 1}), 1, kMostBytes));
  std::vector<std::byte> expected = data.results(0);
  EXPECT_EQ(data.first_difference(0, expected), -1);
  expected[21] ^= std::byte{64};
  EXPECT_EQ(data.first_difference(0, expected), 20);
}

TEST(WorkloadData, OpenExtentsAreFilledAlike) {
  const VerifiedOp op = op_of(kAdd);
  Usage usage = usage_of(op, {});
  ASSERT_EQ(usage.dims.size(), 2U);
  const Expected<WorkloadData> data = WorkloadData::make(op, usage, 1, kMostBytes);
  ASSERT_TRUE(data.ok()) << data.status().message();
  const auto views = data->call(0);
  EXPECT_EQ(views[1].dims[0], views[2].dims[0]);  // as many indices as rows of updates
  const KnownUsage known{{{"s0", 100}, {"s1", 50}}, "hot(0.5)", "hot", 1, 1};
  usage = usage_of(op, known);
  EXPECT_EQ(print(usage), "s0=100,s1=50 hot(0.5) hot threads=1");
  const Expected<WorkloadData> given = WorkloadData::make(op, usage, 1, kMostBytes);
  ASSERT_TRUE(given.ok());
  EXPECT_EQ(given->call(0)[0].dims[0], 50);
  EXPECT_EQ(given->call(0)[1].dims[0], 100);
}

/// Messages along the edges of a graph with weights that are looked up, too. Everything is open but `width`, which may be.
std::string edges(const std::string& width) {
  return "strew1.scatter(operand=f32[?," + width + "] indices=i32[?] updates=f32[?," + width +
         "] extras=[per_position:f32[?]] lookups=[updates(0)=gather(operand=f32[?," + width +
         "]{?,?} indices=i32[?] result=f32[?," + width +
         "] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1," + width +
         "] oob=error), extra(0)=gather(operand=f32[?] indices=i32[?,1] result=f32[?] collapsed_slice_dims=[0] "
         "start_index_map=[0] index_vector_dim=1 slice_sizes=[1] indices_are_sorted=true oob=error)] update_window_dims=[1] "
         "inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=expr expr={%0=update(0):f32; "
         "%1=extra(0):f32; %2=multiply(%0,%1):f32; %3=current(0):f32; %4=add(%3,%2):f32; return %4} init=fill fill=0:f32 "
         "oob=error)";
}

// Extents that nobody gives are invented such that each table has a size of its own, and calls take what is made.
TEST(WorkloadData, OpenLookUpsAreFilled) {
  for (const char* const width : {"16", "?"}) {
    const VerifiedOp op = op_of(edges(width));
    const Expected<InventedUsage> usage = invent_usage(op, {{}, "", "hot", 1, 1});
    ASSERT_TRUE(usage.ok()) << width << ": " << usage.status().message();
    EXPECT_THAT(usage->notes, testing::Contains(HasSubstr("of the look-up of updates 0 are spread is unknown: uniform")));
    EXPECT_THAT(usage->notes, testing::Contains(HasSubstr("of the look-up of extra 0 are sorted")));
    EXPECT_EQ(print_indices(usage->usage), "zipf(1),uniform,sorted");
    Expected<WorkloadData> data = WorkloadData::make(op, usage->usage, 1, kMostBytes);
    ASSERT_TRUE(data.ok()) << width << ": " << data.status().message();
    constexpr int64_t kTableBytes = int64_t{16} << 20;
    const auto bytes = [&](int tensor) {
      int64_t count = 4;
      for (int d = 0; d < data->call(0)[tensor].rank; ++d) count *= data->call(0)[tensor].dims[d];
      return count;
    };
    for (const int table : {0, 2, 3}) EXPECT_EQ(bytes(table), kTableBytes) << width << " tensor " << table;
    for (const int indices : {1, 4, 5}) EXPECT_EQ(data->call(0)[indices].dims[0], 4096) << width << " tensor " << indices;
    expect_same_bits(op, *data, width);
  }
}

TEST(WorkloadData, GivenExtentsOfLookUpsCount) {
  const VerifiedOp op = op_of(edges("?"));
  const Expected<InventedUsage> invented = invent_usage(op, {});
  ASSERT_TRUE(invented.ok());
  KnownUsage known{{}, "hot(0.5),runs(4)", "hot", 1, 1};
  int64_t extent = 30;
  for (const auto& [name, unused] : invented->usage.dims) known.dims[name] = extent--;
  EXPECT_EQ(known.dims.size(), 6U);  // edges, rows and columns of the result and of the table, weights
  const Usage usage = usage_of(op, known);
  EXPECT_EQ(print_indices(usage), "hot(0.5),runs(4),sorted");
  EXPECT_EQ(usage.dims, known.dims);
  Expected<WorkloadData> data = WorkloadData::make(op, usage, 1, kMostBytes);
  ASSERT_TRUE(data.ok()) << data.status().message();
  expect_same_bits(op, *data, "given");
}

// Strides that the call knows are invented beside those that the op says: 0 repeats.
TEST(WorkloadData, StridesThatTheOpSaysStay) {
  const auto strides = [](const char* operand, const char* updates) {
    const VerifiedOp op =
        op_of(std::string("strew1.scatter(operand=f32[?,16]") + operand + " indices=i32[?] updates=f32[?,16]" + updates +
              " update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
              "index_vector_dim=1 combiner=add oob=error init=in_place)");
    Expected<WorkloadData> data =
        WorkloadData::make(op, usage_of(op, {{{"s0", 100}, {"s1", 50}}, "", "hot", 1, 1}), 1, kMostBytes);
    EXPECT_TRUE(data.ok()) << data.status().message();
    if (!data.ok()) return std::string();
    expect_same_bits(op, *data, updates);
    std::string out;
    for (const int tensor : {0, 2}) {
      const TensorView& view = data->call(0)[tensor];
      for (int d = 0; d < view.rank; ++d)
        out += (view.strides == nullptr ? "dense" : std::to_string(view.strides[d])) + (d == 0 ? "," : " ");
    }
    return out;
  };
  EXPECT_EQ(strides("", "{?,0}"), "dense,dense 1,0 ");
  EXPECT_EQ(strides("", "{0,?}"), "dense,dense 0,1 ");
  EXPECT_EQ(strides("{?,?}", "{?,1}"), "dense,dense dense,dense ");
  EXPECT_EQ(strides("{1,?}", "{?,2}"), "1,50 31,2 ");
}

TEST(WorkloadData, AColdWorkloadGoesRoundMoreThanTheCacheHolds) {
  const VerifiedOp op = op_of(kAdd);
  const Usage cold = usage_of(op, {{{"s0", 1000}, {"s1", 10'000}}, "uniform", "cold", 1, 1});
  const Usage hot = usage_of(op, {{{"s0", 1000}, {"s1", 10'000}}, "uniform", "hot", 1, 1});
  const Expected<WorkloadData> far = WorkloadData::make(op, cold, 1, int64_t{1} << 30),
                               near = WorkloadData::make(op, hot, 1, kMostBytes);
  ASSERT_TRUE(far.ok() && near.ok());
  EXPECT_GT(far->bytes(), near->bytes());
  EXPECT_NE(far->call(0)[0].data, far->call(1)[0].data);
  EXPECT_EQ(near->call(0)[0].data, near->call(1)[0].data);
  EXPECT_NE(near->call(0)[1].data, near->call(1)[1].data);  // other indices
}

TEST(WorkloadData, BadUsagesAreRefused) {
  const VerifiedOp op = op_of(kAdd);
  const auto refusal = [&](const KnownUsage& known) {
    const Expected<InventedUsage> usage = invent_usage(op, known);
    return usage.ok() ? std::string("accepted") : usage.status().message();
  };
  EXPECT_THAT(refusal({{{"s7", 1}}, "", "", 0, 1}),
              HasSubstr("dims: 's7', expected one of s1 (dim 0 of result), s0 (dim 0 of indices)"));
  EXPECT_THAT(refusal({{{"s0", -1}}, "", "", 0, 1}), HasSubstr("dims: s0=-1, expected a number from 0 on"));
  EXPECT_THAT(refusal({{}, "gauss", "", 0, 1}), HasSubstr("indices: 'gauss', expected"));
  EXPECT_THAT(refusal({{}, "", "warm", 0, 1}), HasSubstr("temperature: 'warm', expected hot or cold"));
  EXPECT_THAT(refusal({{{"s0", 10}, {"s1", 5}}, "permutation", "", 0, 1}), HasSubstr("a permutation of 5 rows has no 10"));
  const auto lookup_refusal = [](const char* indices) {
    const Expected<InventedUsage> usage = invent_usage(op_of(edges("16")), {{}, indices, "", 0, 1});
    return usage.ok() ? std::string("accepted") : usage.status().message();
  };
  EXPECT_THAT(refusal({{}, "sorted,uniform", "", 0, 1}), HasSubstr("indices: 'sorted,uniform', expected"));
  EXPECT_THAT(lookup_refusal("uniform,,sorted,uniform"),
              HasSubstr("'uniform,,sorted,uniform' has 4 distributions, expected at most 3"));
  EXPECT_THAT(lookup_refusal("uniform,gauss"), HasSubstr("indices: 'gauss', expected"));
  EXPECT_THAT(lookup_refusal("uniform,a.npy"), HasSubstr("'a.npy' of a look-up is a file, expected a distribution"));
  EXPECT_EQ(lookup_refusal(",zipf(2)"), "accepted");
  const Usage large = usage_of(op, {{{"s0", 1000}, {"s1", 1'000'000}}, "", "", 1, 1});
  EXPECT_THAT(WorkloadData::make(op, large, 1, 1 << 20).status().message(),
              HasSubstr("expected at most 1048576; choose smaller dims"));
}

TEST(WorkloadData, AnIndexTensorMustFit) {
  const VerifiedOp op = op_of(kAdd);
  Usage usage = usage_of(op, {{{"s0", 2}, {"s1", 5}}, "rows.npy", "hot", 1, 1});
  const auto refusal = [&] {
    const Expected<WorkloadData> data = WorkloadData::make(op, usage, 1, kMostBytes);
    return data.ok() ? std::string("accepted") : data.status().message();
  };
  EXPECT_THAT(refusal(), HasSubstr("rows.npy was not read"));
  const auto give = [&](DType dtype, std::vector<int64_t> dims, std::initializer_list<int32_t> values) {
    Tensor tensor;
    tensor.dtype = dtype;
    tensor.dims = std::move(dims);
    tensor.data = std::move(*Buffer::allocate(static_cast<int64_t>(values.size() * 4)));
    std::copy(values.begin(), values.end(), reinterpret_cast<int32_t*>(tensor.data.data()));
    usage.index_tensor = std::make_shared<const Tensor>(std::move(tensor));
  };
  give(DType::i32, {3}, {0, 1, 2});
  EXPECT_THAT(refusal(), HasSubstr("rows.npy is i32[3], expected i32[2]"));
  give(DType::f32, {2}, {0, 1});
  EXPECT_THAT(refusal(), HasSubstr("rows.npy is f32[2], expected i32[2]"));
  give(DType::i32, {2}, {0, 5});
  EXPECT_THAT(refusal(), HasSubstr("component 0 of position 1 is 5, expected 0..4"));
  give(DType::i32, {2}, {4, 4});
  const Expected<WorkloadData> data = WorkloadData::make(op, usage, 1, kMostBytes);
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(static_cast<const int32_t*>(data->call(0)[1].data)[1], 4);
}

TEST(Usage, DimsAreRead) {
  EXPECT_EQ(parse_dims("s0=1024,s1=8")->at("s1"), 8);
  EXPECT_TRUE(parse_dims("")->empty());
  for (const char* text : {"s0", "s0=", "=3", "s0=x", "s0=-1", "s0=1,s0=2", "s0=99999999999999999999"})
    EXPECT_THAT(parse_dims(text).status().message(), HasSubstr("dims: '")) << text;
}

TEST(Usage, InventionsAreNamed) {
  const Expected<InventedUsage> usage = invent_usage(op_of(kAdd), {});
  ASSERT_TRUE(usage.ok());
  EXPECT_THAT(usage->notes, testing::Contains(HasSubstr("s0 (dim 0 of indices) is open: ")));
  EXPECT_THAT(usage->notes, testing::Contains(HasSubstr("zipf(1) is taken")));
  EXPECT_GT(usage->usage.threads, 0);
}

// Whatever is open, the invented table has about 16 MiB, and what the user gives counts.
TEST(Usage, InventedTablesAreOfOneSize) {
  const auto table_bytes = [](const std::string& table, const std::string& updates, const std::string& numbers,
                              std::map<std::string, int64_t> dims) {
    const std::string text = "strew1.scatter(operand=f32[" + table + "] indices=i32[?," + numbers + "] updates=f32[?" + updates +
                             "] inserted_window_dims=[0" + (numbers == "2" ? ",1" : "") + "] update_window_dims=[" +
                             (updates.empty() ? "" : "1") + "] scatter_dims_to_operand_dims=[0" + (numbers == "2" ? ",1" : "") +
                             "] index_vector_dim=1 combiner=add oob=error init=in_place)";
    const VerifiedOp op = op_of(text);
    const Expected<InventedUsage> usage = invent_usage(op, {std::move(dims), "", "", 1, 1});
    EXPECT_TRUE(usage.ok()) << usage.status().message();
    int64_t bytes = 4;
    const Expected<VerifiedOp> sized = with_dims(op, usage->usage);
    EXPECT_TRUE(sized.ok()) << sized.status().message();
    for (const int64_t extent : table_of(**sized).dims) bytes *= extent;
    return bytes;
  };
  constexpr int64_t kMiB = int64_t{1} << 20;
  EXPECT_EQ(table_bytes("?,16", ",16", "1", {}), 16 * kMiB);
  EXPECT_EQ(table_bytes("?,?", ",?", "1", {}), 16 * kMiB);              // 64 columns are taken, and as many rows as that leaves
  EXPECT_EQ(table_bytes("?,?", "", "2", {}), 16 * kMiB);                // two indexed dims
  const int64_t given = table_bytes("?,?", ",?", "1", {{"s2", 1000}});  // columns
  EXPECT_GT(given, 8 * kMiB);
  EXPECT_LE(given, 16 * kMiB);
}

TEST(WorkloadData, IndexFilesMustBeAsTheOpSays) {
  const auto refusal = [](const char* hint, std::initializer_list<int32_t> values) {
    const VerifiedOp op = op_of(
        "strew1.scatter(operand=f32[8] indices=i32[3,1] updates=f32[3] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
        "index_vector_dim=1 combiner=add " +
        std::string(hint) + "=true oob=error init=in_place)");
    Usage usage;
    usage.indices = {Distribution::Kind::file, 0, "given.npy"};
    Tensor tensor;
    tensor.dtype = DType::i32;
    tensor.dims = {3, 1};
    tensor.data = std::move(*Buffer::allocate(static_cast<int64_t>(values.size() * 4)));
    std::copy(values.begin(), values.end(), reinterpret_cast<int32_t*>(tensor.data.data()));
    usage.index_tensor = std::make_shared<const Tensor>(std::move(tensor));
    return WorkloadData::make(op, usage, 1, kMostBytes).status().message();
  };
  EXPECT_EQ(refusal("indices_are_sorted", {1, 1, 7}), "");
  EXPECT_THAT(refusal("indices_are_sorted", {1, 0, 7}), HasSubstr("indices_are_sorted"));
  EXPECT_EQ(refusal("unique_indices", {7, 1, 0}), "");
  EXPECT_THAT(refusal("unique_indices", {7, 1, 7}), HasSubstr("unique_indices: update positions 0 and 2"));
}

}  // namespace
}  // namespace strew::test
