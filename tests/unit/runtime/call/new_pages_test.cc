// Memory that was touched and memory that was not, and gathers into both, which have the same bits.
#include "runtime/call/new_pages.h"

#include <gtest/gtest.h>
#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstring>
#include <numeric>
#include <vector>

#include "strew/runtime.h"
#include "strew/text.h"
#include "tests/support/options.h"

namespace strew {
namespace {

#ifdef __linux__
/// Memory of which the system has no page yet.
class Mapped {
 public:
  explicit Mapped(size_t bytes)
      : bytes_(bytes), data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(data_, MAP_FAILED);
  }
  ~Mapped() { munmap(data_, bytes_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

constexpr size_t kBytes = size_t{8} << 20;

TEST(NewPages, AreThoseThatNobodyHasTouched) {
  const Mapped memory(kBytes);
  EXPECT_TRUE(has_new_pages(memory.data(), Bytes(kBytes)));
  memory.data()[0] = 1;  // an allocator's own bytes stand before what it gives
  EXPECT_TRUE(has_new_pages(memory.data(), Bytes(kBytes)));
  EXPECT_FALSE(has_new_pages(memory.data(), Bytes(1000))) << "nobody asks";
  std::memset(memory.data(), 1, kBytes);
  EXPECT_FALSE(has_new_pages(memory.data(), Bytes(kBytes)));
  EXPECT_FALSE(has_new_pages(memory.data() + 5, Bytes(kBytes - 5)));
}

TEST(NewPages, OfWhatIsNotMappedNobodyKnows) { EXPECT_FALSE(has_new_pages(nullptr, Bytes(kBytes))); }

TEST(NewPages, GatherWritesTheSameIntoThemAsIntoOthers) {
  constexpr int64_t kRows = 4096, kWidth = 512, kTable = 100;
  const auto op = parse_op(
      "strew1.gather(operand=f32[100,512] indices=i32[4096] result=f32[4096,512] offset_dims=[1] collapsed_slice_dims=[0] "
      "start_index_map=[0] index_vector_dim=1 slice_sizes=[1,512])");
  ASSERT_TRUE(op.ok()) << op.status().message();
  std::vector<float> table(kTable * kWidth);
  std::iota(table.begin(), table.end(), 0.0F);
  std::vector<int32_t> indices(kRows);
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int32_t>(i * 37 % kTable);
  const int64_t result_dims[] = {kRows, kWidth}, table_dims[] = {kTable, kWidth}, index_dims[] = {kRows};
  for (const char* const schedule : {"threads=1,nontemporal=true,adapts=true", "threads=2,nontemporal=true,adapts=true"}) {
    KernelOptions options;
    test::set_schedule(options, schedule);
    Runtime runtime;
    const auto kernel = runtime.get(*op, options);
    ASSERT_TRUE(kernel.ok()) << kernel.status().message();
    const Mapped memory(kBytes);
    const TensorView views[] = {{memory.data(), DType::f32, 2, result_dims, nullptr},
                                {table.data(), DType::f32, 2, table_dims, nullptr},
                                {indices.data(), DType::i32, 1, index_dims, nullptr}};
    for (const char* const pages : {"new", "touched"}) {
      const Status status = kernel->run(views);
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t row = 0; row < indices.size(); ++row)
        ASSERT_EQ(0, std::memcmp(memory.data() + row * kWidth * 4, table.data() + static_cast<size_t>(indices[row]) * kWidth,
                                 kWidth * 4))
            << schedule << ", " << pages << " pages, row " << row;
      if (*pages == 'n') {
        EXPECT_FALSE(has_new_pages(memory.data(), Bytes(kBytes)));
        std::memset(memory.data(), 0, kBytes);
      }
    }
  }
}
#endif

}  // namespace
}  // namespace strew
