// Runtime::load: kernels from objects and archives run, answer requests for their ops, and outlive the runtime; files that hold no
// kernels are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "backends/object_checksum.h"
#include "backends/pipeline.h"
#include "strew/abi.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

using testing::HasSubstr;

#ifdef __SANITIZE_THREAD__
#define STREW_SKIP_UNDER_TSAN() GTEST_SKIP() << "kernels call the sanitizer's runtime"
#else
#define STREW_SKIP_UNDER_TSAN() static_cast<void>(0)
#endif

std::string rows(int64_t extent, const char* more = "") {
  const std::string n = std::to_string(extent);
  return "strew1.scatter(operand=f32[" + n +
         ",4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] "
         "index_vector_dim=1 combiner=add oob=error init=in_place" +
         more + ")";
}

/// What `strew compile --emit obj` writes.
std::string object_of(const std::string& op, const char* target = "x86-64-v2") {
  const auto kernel = compile(test::op_of(op), {.target = test::target(target), .threads = 1});
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel->artifact.object;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// The object with the checksum that its bytes have now.
std::string checksummed(const std::string& object) {
  return with_checksum(object.substr(0, object.size() - kChecksumMark.size() - kChecksumBytes));
}

/// An archive in the format of `ar`, with members named 0, 1, …
std::string archive_of(const std::vector<std::string>& members) {
  std::string out = "!<arch>\n";
  for (size_t i = 0; i < members.size(); ++i) {
    char header[61];
    std::snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", (std::to_string(i) + "/").c_str(), 0, 0, 0, "644",
                  members[i].size());
    out += header + members[i] + (members[i].size() % 2 != 0 ? "\n" : "");
  }
  return out;
}

class Load : public testing::Test {
 protected:
  /// Adds rows 2, 0 and 2 of ones, by any handle.
  template <class Callable>
  static void expect_adds(const Callable& kernel, int64_t extent) {
    std::vector<float> table(static_cast<size_t>(4 * extent)), updates(12, 1.0f);
    std::vector<int32_t> indices{2, 0, 2};
    const int64_t table_dims[] = {extent, 4}, index_dims[] = {3}, update_dims[] = {3, 4};
    const TensorView views[] = {{table.data(), table_dims}, {indices.data(), index_dims}, {updates.data(), update_dims}};
    const Status status = kernel.run(views);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(table[0], 1);
    EXPECT_EQ(table[4], 0);
    EXPECT_EQ(table[8], 2);
    indices[1] = static_cast<int32_t>(extent);
    EXPECT_EQ(kernel.run(views).code(), Code::out_of_bounds);
    EXPECT_EQ(table[8], 2) << "a refused call wrote something";
  }
  static std::string refusal(const std::string& file) {
    Runtime runtime;
    const auto loaded = runtime.load(bytes_of(file));
    return loaded.ok() ? "" : loaded.status().message();
  }
};

TEST_F(Load, AnObjectRunsAndAnswersRequests) {
  STREW_SKIP_UNDER_TSAN();
  Runtime runtime;
  const auto loaded = runtime.load(bytes_of(object_of(rows(10))));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->size(), 1u);
  const strew_kernel& descriptor = (*loaded)[0].descriptor();
  EXPECT_STREQ(descriptor.target, "x86_64-x86-64-v2");
  EXPECT_STREQ(descriptor.backend, "llvm");
  expect_adds((*loaded)[0], 10);

  const auto kernel = runtime.get(test::op_of(rows(10)));
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  EXPECT_EQ(&kernel->descriptor(), &descriptor);
  EXPECT_EQ(kernel->symbol(), descriptor.name);
  EXPECT_EQ(kernel->backend(), "llvm");
  EXPECT_EQ(print(kernel->target()), descriptor.target);
  EXPECT_EQ(print(kernel->schedule()), descriptor.schedule);
  EXPECT_EQ(runtime.stats().built, 0u);
  expect_adds(*kernel, 10);

  // Another op, and a request that names how it wants the kernel compiled, are built.
  ASSERT_TRUE(runtime.get(test::op_of(rows(11))).ok());
  KernelOptions unrolled;
  test::set_schedule(unrolled, "unroll=1");
  const auto other = runtime.get(test::op_of(rows(10)), unrolled);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->schedule().unroll, 1);
  EXPECT_EQ(runtime.stats().built, 2u);
  // The request that the object was made for finds it, too.
  const auto same = runtime.get(test::op_of(rows(10)), {.target = test::target("x86-64-v2"), .threads = 1});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(&same->descriptor(), &descriptor);
}

TEST_F(Load, AnArchiveFromAFile) {
  STREW_SKIP_UNDER_TSAN();
  const std::string path = testing::TempDir() + "strew_load_" + std::to_string(getpid()) + ".a";
  std::ofstream(path, std::ios::binary) << archive_of({object_of(rows(10)), object_of(rows(12)), object_of(rows(10), "x86-64")});
  std::optional<Runtime> runtime(std::in_place);
  auto loaded = runtime->load(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->size(), 3u);
  for (const CompiledKernel& kernel : *loaded) expect_adds(kernel, kernel.descriptor().tensors[0].dims[0]);
  // Of the two for one op, the one that uses more of the CPU.
  const auto kernel = runtime->get(test::op_of(rows(10)));
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(print(kernel->target()), "x86_64-x86-64-v2");
  runtime.reset();
  expect_adds(loaded->front(), loaded->front().descriptor().tensors[0].dims[0]);
  expect_adds(*kernel, 10);
}

TEST_F(Load, WideAccumulation) {
  STREW_SKIP_UNDER_TSAN();
  std::string op = rows(10, " accumulate=wide");
  for (size_t at = op.find("f32"); at != std::string::npos; at = op.find("f32")) op.replace(at, 3, "bf16");
  Runtime runtime;
  const auto loaded = runtime.load(bytes_of(object_of(op)));
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ASSERT_EQ(loaded->size(), 1u);
  EXPECT_GT((*loaded)[0].descriptor().part_count, 0);
  const auto kernel = runtime.get(test::op_of(op));
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(runtime.stats().built, 0u);
}

TEST_F(Load, EvictionAndClearDoNotUnload) {
  STREW_SKIP_UNDER_TSAN();
  Runtime runtime;
  ASSERT_TRUE(runtime.load(bytes_of(object_of(rows(10)))).ok());
  runtime.set_capacity(0);
  for (int round = 0; round < 3; ++round) {
    const auto kernel = runtime.get(test::op_of(rows(10)));
    ASSERT_TRUE(kernel.ok());
    expect_adds(*kernel, 10);
    runtime.clear();
  }
  EXPECT_EQ(runtime.stats().built, 0u);
}

TEST_F(Load, WorksInAForkedChild) {
  STREW_SKIP_UNDER_TSAN();
  Runtime runtime;
  ASSERT_TRUE(runtime.load(bytes_of(object_of(rows(10)))).ok());
  const pid_t child = fork();
  if (child == 0) {
    const auto kernel = runtime.get(test::op_of(rows(10)));
    if (kernel.ok()) expect_adds(*kernel, 10);
    _exit(kernel.ok() && runtime.stats().built == 0 && !HasFailure() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Load, OtherFilesAreRefused) {
  const std::string object = object_of(rows(10));
  EXPECT_THAT(refusal(""), HasSubstr("expected an ELF object"));
  EXPECT_THAT(refusal("no object at all"), HasSubstr("expected an ELF object"));
  EXPECT_THAT(refusal(object.substr(0, 100)), HasSubstr("no checksum"));
  std::string linked = object;
  linked[16] = 3;  // e_type: ET_DYN
  EXPECT_THAT(refusal(checksummed(linked)), HasSubstr("expected a relocatable object"));
  std::string elsewhere = object;
  elsewhere[18] = static_cast<char>(183);  // e_machine: AArch64
  EXPECT_THAT(refusal(checksummed(elsewhere)), HasSubstr("the object is for aarch64, expected x86_64"));
  EXPECT_THAT(refusal("!<arch>\n"), HasSubstr("it has no members"));
  EXPECT_THAT(refusal("!<thin>\n"), HasSubstr("a thin archive"));
  EXPECT_THAT(refusal(archive_of({object, "text"})), HasSubstr("member 1: "));
  Runtime runtime;
  EXPECT_EQ(runtime.load("/no/such/file.o").status().code(), Code::io);
  EXPECT_THAT(runtime.load(testing::TempDir()).status().message(), HasSubstr(testing::TempDir()));
}

TEST_F(Load, AKernelOfAnotherVersionIsRefused) {
  STREW_SKIP_UNDER_TSAN();
  // The descriptor begins with its version and its size.
  std::string object = object_of(rows(10));
  const uint32_t begins[] = {STREW_ABI_VERSION, sizeof(strew_kernel)};
  const size_t at = object.find(std::string(reinterpret_cast<const char*>(begins), sizeof begins));
  ASSERT_NE(at, std::string::npos);
  object[at] = static_cast<char>(STREW_ABI_VERSION + 1);
  object = checksummed(object);
  EXPECT_THAT(refusal(object), HasSubstr("abi is " + std::to_string(STREW_ABI_VERSION + 1)));
  // One such object in an archive, and nothing is loaded.
  Runtime runtime;
  EXPECT_FALSE(runtime.load(bytes_of(archive_of({object_of(rows(12)), object}))).ok());
  ASSERT_TRUE(runtime.get(test::op_of(rows(12))).ok());
  EXPECT_EQ(runtime.stats().built, 1u);
}

}  // namespace
}  // namespace strew
