// Stores that bypass the caches as a choice of the call: which kernels have the entry stream, when calls take it, and that it gives the bits of
// the entry range.
#include "schedules/stores.h"

#include <cstring>

#include "backends/backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/call/callable.h"
#include "strew/forms.h"
#include "strew/runtime.h"
#include "strew/text.h"
#include "strew/wisdom.h"

namespace strew {
namespace {

std::string rows(const std::string& dims, const std::string& more) {
  return "strew1.scatter(operand=f32" + dims +
         " indices=i32[300] updates=f32[300,64] update_window_dims=[1] inserted_window_dims=[0] "
         "scatter_dims_to_operand_dims=[0] index_vector_dim=1 init=in_place oob=skip_window unique_indices=true" +
         more + ")";
}
std::string gathered(const std::string& positions) {
  return "strew1.gather(operand=f32[2048,64] indices=i32" + positions + " result=f32[" +
         positions.substr(1, positions.size() - 2) +
         ",64] offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] index_vector_dim=1 slice_sizes=[1,64] oob=clamp)";
}

class Stores : public testing::Test {
 protected:
  Kernel get(const std::string& op, const std::string& schedule = "", BackendChoice backend = BackendChoice::automatic) {
    KernelOptions options;
    options.wisdom = Wisdom::none();
    options.backend = backend;
    options.schedule = parse_schedule_text(schedule)->knobs;
    const Expected<Op> parsed = parse_op(op);
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    Expected<Kernel> kernel = runtime_.get(*parsed, options);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    return kernel.ok() ? *kernel : Kernel();
  }
  bool has_stream(const std::string& op, const std::string& schedule = "") {
    return get(op, schedule).entry(STREW_ENTRY_stream) != nullptr;
  }
  Runtime runtime_;
};

TEST_F(Stores, AreTheCallsChoiceWhereTheyMayPay) {
  EXPECT_TRUE(has_stream(rows("[16384,64]", "")));
  EXPECT_FALSE(has_stream(rows("[512,64]", "")));                 // 128 KiB fit every cache
  EXPECT_FALSE(has_stream(rows("[16384,64]", " combiner=add")));  // something is computed
  EXPECT_TRUE(has_stream(gathered("[100000]")));
  EXPECT_FALSE(has_stream(gathered("[100]")));
  EXPECT_TRUE(has_stream(gathered("[?]")));
}

TEST_F(Stores, AreWhatTheTextOfAScheduleSays) {
  for (const char* schedule : {"nontemporal=true", "nontemporal=false", "strategy=sequential", "adapts=false"})
    EXPECT_FALSE(has_stream(rows("[16384,64]", ""), schedule)) << schedule;
  const Kernel both = get(rows("[16384,64]", ""), "nontemporal=true,adapts=true");
  EXPECT_NE(both.entry(STREW_ENTRY_stream), nullptr);
  EXPECT_EQ(both.descriptor().streams, 1);
  EXPECT_EQ(get(rows("[16384,64]", ""), "nontemporal=false,adapts=true").descriptor().streams, 0);
}

/// Both entries on the same tensors, at an address that is a multiple of an element's size alone.
TEST_F(Stores, GiveTheSameBits) {
  constexpr size_t kPositions = 300, kTable = 16384;
  std::vector<float> updates(kPositions * 64);
  for (size_t i = 0; i < updates.size(); ++i) updates[i] = static_cast<float>(i);
  std::vector<int32_t> indices(kPositions);
  for (size_t i = 0; i < kPositions; ++i) indices[i] = static_cast<int32_t>(i * 55) - 5;  // the first is out of bounds
  std::vector<BackendChoice> choices;
  for (const BackendChoice backend : {BackendChoice::llvm, BackendChoice::halide, BackendChoice::portable})
    if (find_backend(name(backend)) != nullptr) choices.push_back(backend);
  for (const BackendChoice backend : choices)
    for (const size_t offset : {size_t{0}, size_t{1}, size_t{16}}) {
      const Kernel kernel = get(rows("[16384,64]", ""), "nontemporal=true,adapts=true", backend);
      ASSERT_NE(kernel.entry(STREW_ENTRY_stream), nullptr) << name(backend);
      std::vector<std::vector<float>> tables;
      for (const int entry : {STREW_ENTRY_range, STREW_ENTRY_stream}) {
        std::vector<float> table(kTable * 64 + 32, -1);
        float* const base = table.data() + offset;
        std::vector<void*> data = {base, base, indices.data(), updates.data()};
        strew_args args{};
        args.abi = STREW_ABI_VERSION;
        args.data = data.data();
        args.w1 = 64;
        args.program = kernel.descriptor().program;
        strew_fault unused{};
        EXPECT_EQ(kernel.entry(entry)(&args, 0, kPositions, &unused), STREW_OK);
        tables.push_back(std::move(table));
      }
      EXPECT_EQ(std::memcmp(tables[0].data(), tables[1].data(), tables[0].size() * sizeof(float)), 0)
          << name(backend) << " at offset " << offset;
      EXPECT_EQ(tables[1][offset + 50 * 64], updates[64]);
    }
}

TEST_F(Stores, OfOpenCallsFollowTheirSize) {
  const Kernel kernel = get(gathered("[?]"));
  ASSERT_NE(kernel.entry(STREW_ENTRY_stream), nullptr);
  auto limits = std::make_shared<ExecutionLimits>(kDefaultLimits);
  limits->last_level_cache_bytes = 1 << 20;
  const auto callable = Callable::make(kernel.descriptor(), process_executor(), 1, limits);
  ASSERT_TRUE(callable.ok()) << callable.status().message();
  std::vector<float> table(2048 * 64), result(8192 * 64);
  std::vector<int32_t> indices(8192);
  const std::vector<int64_t> table_dims{2048, 64};
  for (const int64_t positions : {100, 8192}) {
    const std::vector<int64_t> result_dims{positions, 64}, index_dims{positions};
    const std::vector<TensorView> views = {
        {result.data(), result_dims}, {table.data(), table_dims}, {indices.data(), index_dims}};
    strew::Call call;
    ASSERT_TRUE((*callable)->binder.bind(views, call).ok());
    (*callable)->choose_stores(views, call);
    EXPECT_EQ(call.streams, positions == 8192) << positions;
  }
}

}  // namespace
}  // namespace strew
