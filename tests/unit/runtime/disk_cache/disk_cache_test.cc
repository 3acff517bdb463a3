// The disk cache (runtime/disk_cache): what a file holds, when it is used, modes, how long files stay, and runtimes with one.
#include "runtime/disk_cache/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "backends/pipeline.h"
#include "base/pending_file.h"
#include "runtime/disk_cache/build_id.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "strew/forms.h"
#include "strew/prepared_op.h"
#include "strew/runtime.h"
#include "tests/support/cache_folder.h"
#include "tests/support/elf_object.h"
#include "tests/support/log_lines.h"
#include "tests/support/ops.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::CacheFolder;
using test::FaultyCalls;
using test::some_entry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Runtime::Stats stats_of(const DiskCache& cache) {
  Runtime::Stats out;
  cache.add_to(out);
  return out;
}

std::optional<std::string> found(DiskCache& cache, const CacheEntry& key) {
  const auto object = cache.find(key);
  EXPECT_TRUE(object.ok()) << object.status().message();
  return object.ok() ? *object : std::nullopt;
}

TEST(CacheEntry, ReadsWhatItWrote) {
  CacheEntry entry = some_entry("strew_1", 1000);
  entry.written = 1'700'000'000;
  const std::string bytes = entry.encode();
  const auto read = CacheEntry::decode(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->has_key_of(entry));
  EXPECT_EQ(read->op, entry.op);
  EXPECT_EQ(read->schedule, entry.schedule);
  EXPECT_EQ(read->target, entry.target);
  EXPECT_EQ(read->backend, entry.backend);
  EXPECT_EQ(read->written, entry.written);
  EXPECT_EQ(read->object, entry.object);
  EXPECT_EQ(read->encode(), bytes);
}

TEST(CacheEntry, EveryFlippedBitIsSeen) {
  const std::string bytes = some_entry("strew_1", 200).encode();
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = bytes;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      EXPECT_FALSE(CacheEntry::decode(bad).ok()) << at;
    }
}

TEST(CacheEntry, EveryOtherLengthIsSeen) {
  const std::string bytes = some_entry("strew_1", 200).encode();
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(CacheEntry::decode(bytes.substr(0, size)).ok()) << size;
  EXPECT_FALSE(CacheEntry::decode(bytes + '\0').ok());
  EXPECT_EQ(CacheEntry::decode("").status().message(), "it is no kernel of strew's");
  EXPECT_EQ(CacheEntry::decode(bytes.substr(0, 20)).status().message(), "it is cut off");
}

TEST(CacheEntry, NamesTellKeysApart) {
  const CacheEntry entry = some_entry("strew_1");
  std::set<std::string> names = {entry.file_name()};
  for (std::string CacheEntry::*field : {&CacheEntry::symbol, &CacheEntry::build_id, &CacheEntry::features}) {
    CacheEntry other = entry;
    other.*field += "x";
    EXPECT_FALSE(other.has_key_of(entry));
    names.insert(other.file_name());
  }
  EXPECT_THAT(names, SizeIs(4));
  CacheEntry of_another_op = entry;  // whose symbol is the same: a collision of hashes
  of_another_op.op += " ";
  EXPECT_FALSE(of_another_op.has_key_of(entry));
  EXPECT_EQ(of_another_op.file_name(), entry.file_name());
  for (const std::string& name : names) EXPECT_TRUE(is_entry_name(name)) << name;
  for (const char* name : {"", ".kernel", "0123.kernel", "README", "0123456789abcdef0123456789abcdeg.kernel"})
    EXPECT_FALSE(is_entry_name(name)) << name;
  EXPECT_TRUE(is_temporary_name(temporary_name()));
  EXPECT_NE(temporary_name(), temporary_name());
  EXPECT_FALSE(is_temporary_name(entry.file_name()));
}

TEST(BuildId, IsAHashOfTheSources) {
  EXPECT_THAT(build_id(), SizeIs(32));
  EXPECT_EQ(build_id().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

TEST(BuildId, AnotherLlvmIsAnotherBuild) {
  EXPECT_THAT(build_id_with("0123"), SizeIs(32));
  EXPECT_NE(build_id_with("0123"), build_id_with("4567"));
  EXPECT_EQ(build_id(), build_id_with(""));  // tests run with the libLLVM that strew is built with
}

TEST(DiskCache, AKernelOfAnotherOpIsNotTaken) {
  const CacheFolder folder;
  DiskCache cache(folder.settings());
  CacheEntry entry = some_entry("strew_1"), other = entry;
  other.op = "an op that was chosen so that its symbol is the same";
  cache.publish(other);
  EXPECT_EQ(found(cache, entry), std::nullopt);
  EXPECT_EQ(stats_of(cache).disk_rejected, 1u);
  EXPECT_EQ(found(cache, other), other.object);
}

TEST(DiskCache, FindsWhatWasPublished) {
  const CacheFolder folder;
  DiskCache cache(folder.settings());
  const CacheEntry entry = some_entry("strew_1");
  EXPECT_EQ(found(cache, entry), std::nullopt);
  cache.publish(entry);
  EXPECT_EQ(found(cache, entry), entry.object);
  EXPECT_THAT(folder.names(), ElementsAre(entry.file_name()));
  struct stat info = {};
  ASSERT_EQ(stat(folder.path(entry.file_name()).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  DiskCache other(folder.settings(CacheMode::read_only));
  EXPECT_EQ(found(other, entry), entry.object);
  EXPECT_EQ(found(other, some_entry("strew_2")), std::nullopt);
  const Runtime::Stats stats = stats_of(cache);
  EXPECT_EQ(stats.disk_hits, 1u);
  EXPECT_EQ(stats.disk_misses, 1u);
  EXPECT_EQ(stats.disk_published, 1u);
  EXPECT_EQ(stats.disk_rejected + stats.disk_errors, 0u);
}

TEST(DiskCache, MakesItsFolder) {
  const CacheFolder folder;
  DiskCache::Settings settings = folder.settings();
  settings.folder += "/some/where";
  const CacheEntry entry = some_entry("strew_1");
  DiskCache reader({settings.folder, CacheMode::read_only, settings.limit_bytes});
  EXPECT_EQ(found(reader, entry), std::nullopt);
  EXPECT_THAT(folder.names(), IsEmpty());  // a reader makes nothing
  DiskCache(settings).publish(entry);
  EXPECT_EQ(found(reader, entry), entry.object);
  struct stat info = {};
  ASSERT_EQ(stat(settings.folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  // Where the folder is removed and made anew, by whoever, the cache goes on with the new one after it has noticed.
  std::filesystem::remove_all(settings.folder);
  EXPECT_EQ(found(reader, entry), std::nullopt);
  DiskCache writer(settings);
  writer.publish(entry);
  std::filesystem::remove_all(settings.folder);
  writer.publish(entry);
  writer.publish(entry);
  EXPECT_EQ(found(writer, entry), entry.object);
}

TEST(DiskCache, Modes) {
  const CacheFolder folder;
  const CacheEntry entry = some_entry("strew_1"), absent = some_entry("strew_2");
  DiskCache(folder.settings()).publish(entry);
  const std::string name = entry.file_name();
  folder.set_time(name, 1'000'000'000);
  DiskCache off(folder.settings(CacheMode::off)), reader(folder.settings(CacheMode::read_only)),
      strict(folder.settings(CacheMode::must_hit));
  EXPECT_EQ(found(off, entry), std::nullopt);
  EXPECT_EQ(stats_of(off).disk_misses, 0u);
  for (DiskCache* cache : {&off, &reader, &strict}) cache->publish(absent);
  EXPECT_THAT(folder.names(), ElementsAre(name));
  EXPECT_EQ(found(reader, entry), entry.object);
  EXPECT_EQ(found(strict, entry), entry.object);
  struct stat info = {};
  ASSERT_EQ(stat(folder.path(name).c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 1'000'000'000);  // readers change nothing
  EXPECT_EQ(strict.find(absent).status().message(),
            "disk cache: no kernel for op the op of strew_2 with schedule 'strategy=sequential' for x86-64-v3 in " +
                folder.path() + ", and mode must_hit compiles none");
  EXPECT_TRUE(DiskCache({"", CacheMode::read_write, 1}).is_off());
  Options options;
  EXPECT_EQ(disk_cache_settings(options).mode, CacheMode::off);
  options.cache_dir = "off";
  EXPECT_EQ(disk_cache_settings(options).mode, CacheMode::off);
  options.cache_dir = "kernels";
  EXPECT_EQ(disk_cache_settings(options).folder, std::filesystem::current_path().string() + "/kernels");
}

TEST(DiskCache, AUseRenewsTheTimeOncePerHour) {
  const CacheFolder folder;
  FaultyCalls calls;
  DiskCache cache(folder.settings(), calls);
  const CacheEntry entry = some_entry("strew_1");
  cache.publish(entry);
  const auto time_after_use = [&](int64_t before) {
    folder.set_time(entry.file_name(), before);
    EXPECT_EQ(found(cache, entry), entry.object);
    struct stat info = {};
    EXPECT_EQ(stat(folder.path(entry.file_name()).c_str(), &info), 0);
    return info.st_mtim.tv_sec;
  };
  const int64_t now = calls.now();
  EXPECT_EQ(time_after_use(now - 600), now - 600);
  EXPECT_GE(time_after_use(now - 2 * kRefreshSeconds), now);
  // A time in the future, and one of a clock that was not set, are set right.
  EXPECT_LE(time_after_use(now + 400 * 86400), now + 60);
  EXPECT_GE(time_after_use(0), now);
}

TEST(DiskCache, RemovesWhatWasNotUsedForTheLongestTime) {
  const CacheFolder folder;
  DiskCache(folder.settings()).publish(some_entry("strew_0"));
  const auto bytes = static_cast<int64_t>(folder.read(folder.names()[0]).size());
  DiskCache filling(folder.settings());
  for (int i = 1; i < 10; ++i) filling.publish(some_entry("strew_" + std::to_string(i)));
  const int64_t now = FolderCalls::system().now();
  for (int i = 0; i < 10; ++i) folder.set_time(some_entry("strew_" + std::to_string(i)).file_name(), now - 10'000 + i);
  // The oldest one is used.
  DiskCache cache(folder.settings(CacheMode::read_write, 5 * bytes));
  EXPECT_TRUE(found(cache, some_entry("strew_0")).has_value());
  cache.publish(some_entry("strew_a"));
  std::vector<std::string> kept;
  for (const char* each : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a"})
    if (std::filesystem::exists(folder.path(some_entry(std::string("strew_") + each).file_name()))) kept.emplace_back(each);
  EXPECT_THAT(kept, ElementsAre("0", "7", "8", "9", "a"));
}

TEST(DiskCache, LooksAtTheWholeFolderSeldom) {
  struct CountingCalls : FaultyCalls {
    int lists = 0;
    bool list(int folder, size_t most, std::vector<std::string>& out) override {
      return ++lists, FaultyCalls::list(folder, most, out);
    }
  } calls;
  const CacheFolder folder;
  const auto bytes = static_cast<int64_t>(some_entry("strew_00").encode().size());
  DiskCache cache(folder.settings(CacheMode::read_write, 160 * bytes), calls);
  for (int i = 10; i < 50; ++i) cache.publish(some_entry("strew_" + std::to_string(i)));
  EXPECT_EQ(calls.lists, 4);  // at the first, and then after every tenth
}

TEST(DiskCache, ClocksThatJumpDoNoHarm) {
  const CacheFolder folder;
  DiskCache filling(folder.settings());
  for (int i = 0; i < 4; ++i) filling.publish(some_entry("strew_" + std::to_string(i)));
  const int64_t now = FolderCalls::system().now();
  folder.set_time(some_entry("strew_0").file_name(), now + int64_t{86400} * 3650);  // ten years ahead
  folder.set_time(some_entry("strew_1").file_name(), 0);                            // 1970
  for (const int64_t skew : {int64_t{0}, int64_t{-86400} * 3650, int64_t{86400} * 3650}) {
    FaultyCalls calls;
    calls.clock_skew = skew;
    DiskCache cache(folder.settings(), calls);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(found(cache, some_entry("strew_" + std::to_string(i))).has_value());
    cache.publish(some_entry("strew_4"));
    EXPECT_THAT(folder.names(), SizeIs(5)) << skew;
  }
  // What came from the future does not stay for ever.
  folder.set_time(some_entry("strew_0").file_name(), now + int64_t{86400} * 3650);
  DiskCache(folder.settings(CacheMode::read_write, 500)).publish(some_entry("strew_5"));
  EXPECT_THAT(folder.names(), SizeIs(1));
}

TEST(DiskCache, TemporaryFilesOfTheDeadAreRemoved) {
  const CacheFolder folder;
  const std::string old = temporary_name(), young = temporary_name();
  folder.write(old, "half of");
  folder.write(young, "half of");
  folder.write("README", "not ours");
  folder.set_time(old, FolderCalls::system().now() - 7200);
  DiskCache(folder.settings()).publish(some_entry("strew_1"));
  EXPECT_THAT(folder.names(), testing::UnorderedElementsAre(young, "README", some_entry("strew_1").file_name()));
}

TEST(DiskCache, AKernelThatIsLargerThanTheLimitIsNotWritten) {
  const CacheFolder folder;
  DiskCache cache(folder.settings(CacheMode::read_write, 1000));
  cache.publish(some_entry("strew_1", 2000));
  EXPECT_THAT(folder.names(), IsEmpty());
  DiskCache(folder.settings(CacheMode::read_write, 0)).publish(some_entry("strew_1"));
  EXPECT_THAT(folder.names(), IsEmpty());
}

// Runtimes.

const std::string kOp =
    "strew1.scatter(operand=f32[20,8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error)";
const std::string kWide =
    "strew1.scatter(operand=bf16[20,8] indices=i32[3] updates=bf16[3,8] update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add accumulate=wide)";

Options with_folder(const CacheFolder& folder, CacheMode mode = CacheMode::read_write) {
  Options options;
  options.cache_dir = folder.path();
  options.cache_mode = mode;
  return options;
}

/// Gets the kernel and checks a call.
void run(Runtime& runtime, const KernelOptions& options = {}) {
  const auto kernel = runtime.get(test::op_of(kOp), options);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  std::vector<float> operand(20 * 8, 1.0f), updates(3 * 8, 2.0f), result(20 * 8, 0.0f);
  std::vector<int32_t> indices = {3, 19, 3};
  test::Views views;
  views.add(result.data(), DType::f32, {20, 8}).add(operand.data(), DType::f32, {20, 8});
  views.add(indices.data(), DType::i32, {3}).add(updates.data(), DType::f32, {3, 8});
  const Status status = kernel->run(views);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(result[0], 1.0f);
  EXPECT_EQ(result[3 * 8], 5.0f);
  EXPECT_EQ(result[19 * 8 + 7], 3.0f);
}

#if defined(__x86_64__)

TEST(DiskCache, ASecondRuntimeTakesTheKernel) {
  const CacheFolder folder;
  Runtime first(with_folder(folder));
  run(first);
  EXPECT_EQ(first.stats().disk_misses, 1u);
  EXPECT_EQ(first.stats().disk_published, 1u);
  EXPECT_EQ(first.stats().built, 1u);
  Runtime second(with_folder(folder));
  run(second);
  EXPECT_EQ(second.stats().disk_hits, 1u);
  EXPECT_EQ(second.stats().disk_published, 0u);
  EXPECT_EQ(second.stats().built, 0u);
  // What both have is the same, but for addresses.
  const auto one = first.get(test::op_of(kOp)), other = second.get(test::op_of(kOp));
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->symbol(), other->symbol());
  EXPECT_EQ(std::string(one->descriptor().target), other->descriptor().target);
  // A runtime without a folder has no cache.
  Runtime none{Options{}};
  run(none);
  EXPECT_EQ(none.stats().disk_hits + none.stats().disk_misses, 0u);
}

TEST(DiskCache, WideAccumulationAndHalideAreKept) {
  const CacheFolder folder;
  for (const bool is_second : {false, true}) {
    Runtime runtime(with_folder(folder));
    EXPECT_TRUE(runtime.get(test::op_of(kWide)).ok());
    KernelOptions halide;
    halide.backend = BackendChoice::halide;
    const bool has_halide = runtime.get(test::op_of(kOp), halide).ok();
    EXPECT_EQ(runtime.stats().disk_hits, !is_second ? 0u : has_halide ? 2u : 1u);
  }
}

TEST(DiskCache, InterpretedKernelsAreNotKept) {
  const CacheFolder folder;
  Runtime runtime(with_folder(folder));
  KernelOptions options;
  options.backend = BackendChoice::reference;
  run(runtime, options);
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_EQ(runtime.stats().disk_misses, 0u);
}

TEST(DiskCache, MustHitBuildsNothing) {
  const CacheFolder folder;
  Runtime strict(with_folder(folder, CacheMode::must_hit));
  const auto missed = strict.get(test::op_of(kOp));
  EXPECT_EQ(missed.status().code(), Code::unsupported);
  EXPECT_THAT(missed.status().message(), testing::AllOf(HasSubstr("no kernel for op strew1.scatter("), HasSubstr(folder.path())));
  Runtime writer(with_folder(folder));
  run(writer);
  run(strict);
  EXPECT_EQ(strict.stats().built, 0u);
  EXPECT_EQ(strict.stats().disk_hits, 1u);
}

/// Appends to the caches of `batch` sequences.
std::string status_of_append(Runtime& runtime, int64_t batch) {
  const auto op = tensor_scatter(TensorType{DType::bf16, {batch, 2, 16, 4}, {}}, TensorType{DType::i32, {batch}, {}},
                                 TensorType{DType::bf16, {batch, 2, 1, 4}, {}})
                      .in_place()
                      .build();
  const auto kernel = runtime.get(*op);
  if (!kernel.ok()) return kernel.status().message();
  const auto count = static_cast<size_t>(batch);
  std::vector<uint16_t> cache(count * 128, 1), tokens(count * 8, 2);
  std::vector<int32_t> positions(count, 15);
  test::Views views;
  views.add(cache.data(), DType::bf16, {batch, 2, 16, 4}).add(positions.data(), DType::i32, {batch});
  views.add(tokens.data(), DType::bf16, {batch, 2, 1, 4});
  const Status status = kernel->run(views);
  if (!status.ok()) return status.message();
  return std::count(cache.begin(), cache.end(), 2) == static_cast<std::ptrdiff_t>(tokens.size()) && cache.back() == 2 ? ""
                                                                                                                      : "wrong";
}

TEST(DiskCache, MustHitFindsKernelsWithOpenExtents) {
  const CacheFolder folder;
  Runtime writer(with_folder(folder));
  for (const int64_t batch : {7, 10, 3}) EXPECT_EQ(status_of_append(writer, batch), "");
  EXPECT_EQ(writer.stats().generalised, 1u);
  Options of_cache = with_folder(folder, CacheMode::must_hit), of_compiler = with_folder(folder);
  of_compiler.compile = CompileMode::must_hit;
  for (const Options& options : {of_cache, of_compiler}) {
    // In the writer's order, and in another one, with batches that the writer has not seen.
    for (const std::vector<int64_t>& batches : {std::vector<int64_t>{7, 10, 3, 5}, std::vector<int64_t>{5, 3, 11, 7, 10, 12}}) {
      Runtime strict(options);
      for (const int64_t batch : batches) EXPECT_EQ(status_of_append(strict, batch), "") << batch;
      EXPECT_EQ(strict.stats().built, 0u);
      Runtime asynchronous(options);
      const auto op = tensor_scatter(TensorType{DType::bf16, {5, 2, 16, 4}, {}}, TensorType{DType::i32, {5}, {}},
                                     TensorType{DType::bf16, {5, 2, 1, 4}, {}})
                          .in_place()
                          .build();
      EXPECT_TRUE(asynchronous.get_async(PreparedOp::of(*op, {}).value()).wait().ok());
    }
    Runtime strict(options);
    const auto other = strict.get(test::op_of(kOp));
    EXPECT_EQ(other.status().code(), Code::unsupported);
  }
}

TEST(DiskCache, TheKeyHasAllThatCodeDependsOn) {
  const auto key = [](const KernelOptions& options) {
    auto planned = plan_kernel(VerifiedOp::of(test::op_of(kOp)).value(), options);
    EXPECT_TRUE(planned.ok());
    return entry_of(*planned);
  };
  KernelOptions v2, v3, unrolled, halide;
  v2.target = parse_target("x86-64-v2").value();
  v3.target = parse_target("x86-64-v3").value();
  unrolled.target = v3.target;
  unrolled.schedule = parse_schedule_text("unroll=2").value().knobs;
  halide.target = v3.target;
  halide.backend = BackendChoice::halide;
  std::set<std::string> names;
  for (const KernelOptions& each : {v2, v3, unrolled, halide}) names.insert(key(each).file_name());
  EXPECT_THAT(names, SizeIs(4));
  const std::string features = key(v3).features;
  EXPECT_THAT(features, HasSubstr("avx2"));
  std::vector<std::string> list;
  for (size_t at = 0; at <= features.size(); at = features.find(',', at) + 1) {
    list.push_back(features.substr(at, features.find(',', at) - at));
    if (features.find(',', at) == std::string::npos) break;
  }
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end())) << features;
}

TEST(DiskCache, AnEntryThatHoldsAnotherKernelIsRejected) {
  const CacheFolder folder;
  auto planned = plan_kernel(VerifiedOp::of(test::op_of(kOp)).value(), KernelOptions{});
  auto other = compile(test::op_of(kWide), {});
  ASSERT_TRUE(planned.ok() && other.ok());
  // Its checksum and its key are right; its object is another kernel's, or none at all.
  for (const std::string& object : {other->artifact.object, std::string(500, 'x')}) {
    CacheEntry entry = entry_of(*planned);
    entry.object = object;
    DiskCache(folder.settings()).publish(entry);
    Runtime runtime(with_folder(folder));
    run(runtime);
    EXPECT_EQ(runtime.stats().disk_hits, 0u);
    EXPECT_EQ(runtime.stats().disk_rejected, 1u);
    EXPECT_EQ(runtime.stats().disk_published, 1u);  // the right one takes its place
    Runtime again(with_folder(folder));
    run(again);
    EXPECT_EQ(again.stats().disk_hits, 1u);
  }
}

TEST(DiskCache, ASymbolThatIsShorterThanADescriptorIsRejected) {
  const CacheFolder folder;
  const auto planned = plan_kernel(VerifiedOp::of(test::op_of(kOp)).value(), KernelOptions{});
  ASSERT_TRUE(planned.ok());
  // All that would be compared is right but the symbol's size.
  std::string bytes(sizeof(strew_kernel) - 8, '\0');
  const uint32_t abi = STREW_ABI_VERSION;
  std::memcpy(bytes.data(), &abi, sizeof abi);
  test::ElfObject object;
  const int section = object.add_section(".rodata", bytes, 0, 8);
  object.add_symbol(planned->symbol, section, 0, bytes.size());
  CacheEntry entry = entry_of(*planned);
  entry.object = object.bytes();
  DiskCache(folder.settings()).publish(entry);
  Runtime runtime(with_folder(folder));
  run(runtime);
  EXPECT_EQ(runtime.stats().disk_rejected, 1u);
}

TEST(DiskCache, ObjectsForTheCommandLine) {
  const CacheFolder folder;
  DiskCache cache(folder.settings());
  const auto plan = [] { return plan_kernel(VerifiedOp::of(test::op_of(kOp)).value(), KernelOptions{}).value(); };
  Compiled first = plan(), second = plan();
  ASSERT_TRUE(build_object(cache, first).ok());
  ASSERT_TRUE(build_object(cache, second).ok());
  EXPECT_EQ(first.artifact.object, second.artifact.object);
  EXPECT_EQ(stats_of(cache).disk_hits, 1u);
  EXPECT_EQ(stats_of(cache).disk_published, 1u);
}

#endif

}  // namespace
}  // namespace strew
