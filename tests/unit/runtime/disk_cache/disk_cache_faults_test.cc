// Faults of the disk cache: whatever the folder, a file or the system does, a request gets its kernel, the first problem of a kind is said once, and
// no file that was there is lost or changed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/pending_file.h"
#include "runtime/disk_cache/disk_cache.h"
#include "strew/runtime.h"
#include "tests/support/cache_folder.h"
#include "tests/support/log_lines.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

using test::CacheFolder;
using test::FaultyCalls;
using test::LogLines;
using test::some_entry;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

namespace fs = std::filesystem;

Runtime::Stats stats_of(const DiskCache& cache) {
  Runtime::Stats out;
  cache.add_to(out);
  return out;
}

/// What the cache answers for the entry: its object, or nothing. It must not fail.
std::optional<std::string> found(DiskCache& cache, const CacheEntry& key) {
  const auto object = cache.find(key);
  EXPECT_TRUE(object.ok()) << object.status().message();
  return object.ok() ? *object : std::nullopt;
}

const CacheEntry kOld = some_entry("strew_old"), kNew = some_entry("strew_new", 5000);

/// A folder with kOld in it.
class DiskCacheFaults : public testing::Test {
 protected:
  DiskCacheFaults() { DiskCache(folder_.settings()).publish(kOld); }

  /// Did the old entry survive? Is there nothing else but what has these names?
  void expect_only(std::vector<std::string> names) const {
    DiskCache cache(folder_.settings(CacheMode::read_only));
    EXPECT_EQ(found(cache, kOld), kOld.object);
    names.push_back(kOld.file_name());
    EXPECT_THAT(folder_.names(), testing::UnorderedElementsAreArray(names));
  }
  /// The cache does not have `kNew` because of what lies in its place; it says so once, and counts.
  void expect_rejected(const std::string& reason, bool is_replaced = true) const {
    DiskCache cache(folder_.settings());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(found(cache, kNew), std::nullopt);
    EXPECT_EQ(stats_of(cache).disk_rejected, 3u);
    EXPECT_THAT(log_.lines(), ElementsAre(AllOf(StartsWith("disk cache: " + folder_.path()), HasSubstr(reason))));
    cache.publish(kNew);
    EXPECT_EQ(found(cache, kNew), is_replaced ? std::optional(kNew.object) : std::nullopt);
    LogLines::clear();
  }

  const CacheFolder folder_;
  const LogLines log_{LogLevel::warn};
};

TEST_F(DiskCacheFaults, AnyCallOfAWriteFails) {
  for (const int error : {ENOSPC, EDQUOT, EIO, EACCES, EROFS, ENOENT, ESTALE}) {
    for (int at = 0;; ++at) {
      FaultyCalls calls;
      calls.counts_writes = true;
      calls.most_bytes = 1000;  // several writes
      calls.fail_at = at;
      calls.error = error;
      DiskCache cache(folder_.settings(), calls);
      for (int i = 0; i < 2; ++i) cache.publish(kNew);  // the second one succeeds
      if (calls.calls <= at) {
        EXPECT_GT(at, 8);  // all calls of two writes were tried
        break;
      }
      EXPECT_EQ(stats_of(cache).disk_errors, 1u) << at;
      EXPECT_EQ(stats_of(cache).disk_published, 1u) << at;
      EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("cannot "))) << at;
      EXPECT_EQ(found(cache, kNew), kNew.object) << at;
      expect_only({kNew.file_name()});
      fs::remove(folder_.path(kNew.file_name()));
      LogLines::clear();
    }
  }
}

/// The calls of a file system that has stopped to answer.
class HungCalls : public FolderCalls {
 public:
  std::atomic<bool> hangs{false};
  int open(int folder, const char* name, int flags, mode_t mode) override {
    while (hangs) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return FolderCalls::open(folder, name, flags, mode);
  }
};

TEST_F(DiskCacheFaults, ADeadlineHoldsForAFileSystemThatHangs) {
  static HungCalls& calls = *new HungCalls;
  FolderCalls::replace_system(&calls);
  Options options;
  options.cache_dir = folder_.path();
  {
    Runtime runtime(options);
    FolderCalls::replace_system(nullptr);
    for (const CompileMode mode : {CompileMode::blocking, CompileMode::background}) {
      KernelOptions wanted;
      wanted.compile = mode;
      const Op op = test::op_of(
          "strew1.scatter(operand=f32[9,4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
          "scatter_dims_to_operand_dims=[0] index_vector_dim=1)");
      calls.hangs = true;
      const auto begin = std::chrono::steady_clock::now();
      const auto kernel = runtime.get(op, wanted, begin + std::chrono::milliseconds(50));
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
      calls.hangs = false;
      if (mode == CompileMode::background)
        EXPECT_TRUE(kernel.ok() && kernel->is_stand_in());
      else
        EXPECT_EQ(kernel.status().code(), Code::deadline_exceeded);
      runtime.clear();
    }
  }
}

TEST_F(DiskCacheFaults, KilledAtAnyCallOfAWrite) {
  for (int at = 0;; ++at) {
    FaultyCalls calls;
    calls.counts_writes = calls.is_killed = true;
    calls.most_bytes = 1000;
    calls.fail_at = at;
    {
      DiskCache cache(folder_.settings(), calls);
      cache.publish(kNew);
    }
    const bool was_killed = calls.calls > at;
    // Others see the whole file or none. What is left is a temporary file, and goes an hour later.
    DiskCache other(folder_.settings());
    const auto object = found(other, kNew);
    EXPECT_TRUE(!object || *object == kNew.object) << at;
    EXPECT_EQ(object.has_value(), !was_killed) << at;
    EXPECT_EQ(stats_of(other).disk_rejected, 0u) << at;
    for (const std::string& name : folder_.names())
      if (is_temporary_name(name)) folder_.set_time(name, FolderCalls::system().now() - 7200);
    other.publish(kNew);
    EXPECT_EQ(found(other, kNew), kNew.object);
    expect_only({kNew.file_name()});
    fs::remove(folder_.path(kNew.file_name()));
    LogLines::clear();
    if (!was_killed) {
      EXPECT_GT(at, 7);
      break;
    }
  }
}

TEST_F(DiskCacheFaults, AnyCallOfAReadFails) {
  DiskCache(folder_.settings()).publish(kNew);
  for (const int error : {EIO, EACCES, ESTALE, EMFILE}) {
    for (int at = 0;; ++at) {
      FaultyCalls calls;
      calls.counts_reads = true;
      calls.most_bytes = 2000;
      calls.fail_at = at;
      calls.error = error;
      DiskCache cache(folder_.settings(CacheMode::read_only), calls);
      const auto first = found(cache, kNew), second = found(cache, kNew);
      EXPECT_TRUE(!first || *first == kNew.object);
      EXPECT_TRUE(!second || *second == kNew.object);
      EXPECT_TRUE(first || second) << at;
      EXPECT_LE(log_.lines().size(), 1u);
      LogLines::clear();
      if (calls.calls <= at) {
        EXPECT_TRUE(first && second);
        EXPECT_GT(at, 10);
        break;
      }
    }
  }
  expect_only({kNew.file_name()});
}

TEST_F(DiskCacheFaults, AFullDisk) {
  // A child process that may write 1000 bytes to a file.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // NOLINT(cert-err33-c)
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskCache cache(folder_.settings());
    cache.publish(kNew);
    cache.publish(kNew);
    const Runtime::Stats stats = stats_of(cache);
    _exit(stats.disk_errors == 2 && stats.disk_published == 0 && log_.lines().size() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  expect_only({});
}

TEST_F(DiskCacheFaults, AReadOnlyFolder) {
  if (geteuid() == 0) {
    // Root may write everywhere; the error is what a file system that is mounted to be read says.
    FaultyCalls calls;
    calls.counts_writes = true;
    calls.fail_at = 0;
    calls.error = EROFS;
    DiskCache cache(folder_.settings(), calls);
    cache.publish(kNew);
    EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("cannot make a file: Read-only file system")));
    EXPECT_EQ(found(cache, kOld), kOld.object);
  } else {
    chmod(folder_.path().c_str(), 0500);
    DiskCache cache(folder_.settings());
    cache.publish(kNew);
    EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("cannot make a file: Permission denied")));
    EXPECT_EQ(found(cache, kOld), kOld.object);
    chmod(folder_.path().c_str(), 0700);
  }
  expect_only({});
}

TEST_F(DiskCacheFaults, AFolderThatOthersCanWrite) {
  chmod(folder_.path().c_str(), 0777);
  DiskCache cache(folder_.settings());
  EXPECT_EQ(found(cache, kOld), std::nullopt);
  cache.publish(kNew);
  EXPECT_EQ(found(cache, kNew), std::nullopt);
  EXPECT_EQ(stats_of(cache).disk_rejected, 3u);
  EXPECT_EQ(stats_of(cache).disk_published, 0u);
  EXPECT_THAT(log_.lines(), ElementsAre(AllOf(HasSubstr(folder_.path() + ": its permissions are 0777"),
                                              HasSubstr("no code is taken from " + folder_.path()))));
  chmod(folder_.path().c_str(), 0700);
  // Permissions that change while the folder is open are seen, too.
  DiskCache open(folder_.settings());
  EXPECT_EQ(found(open, kOld), kOld.object);
  chmod(folder_.path().c_str(), 0770);
  EXPECT_EQ(found(open, kOld), std::nullopt);
  chmod(folder_.path().c_str(), 0700);
  expect_only({});
}

TEST_F(DiskCacheFaults, ASymlinkedFolder) {
  const CacheFolder other;
  fs::create_symlink(folder_.path(), other.path("link"));
  DiskCache cache({other.path("link"), CacheMode::read_write, int64_t{1} << 20});
  EXPECT_EQ(found(cache, kOld), kOld.object);  // nobody else could have placed it
  cache.publish(kNew);
  chmod(other.path().c_str(), 0777);
  DiskCache shared({other.path("link"), CacheMode::read_write, int64_t{1} << 20});
  EXPECT_EQ(found(shared, kOld), std::nullopt);
  EXPECT_EQ(stats_of(shared).disk_rejected, 1u);
  expect_only({kNew.file_name()});
}

TEST_F(DiskCacheFaults, ASymlinkedEntry) {
  folder_.write("elsewhere", kNew.encode());
  fs::create_symlink(folder_.path("elsewhere"), folder_.path(kNew.file_name()));
  expect_rejected("it is no regular file");
  EXPECT_EQ(folder_.read("elsewhere"), kNew.encode());  // the link was replaced, not what it led to
}

TEST_F(DiskCacheFaults, APipeAndAFolderInThePlaceOfAnEntry) {
  ASSERT_EQ(mkfifo(folder_.path(kNew.file_name()).c_str(), 0600), 0);
  expect_rejected("it is no regular file");
  fs::remove(folder_.path(kNew.file_name()));
  fs::create_directory(folder_.path(kNew.file_name()));
  DiskCache cache(folder_.settings());
  EXPECT_EQ(found(cache, kNew), std::nullopt);
  cache.publish(kNew);  // a file cannot take the place of a folder
  EXPECT_EQ(found(cache, kNew), std::nullopt);
  EXPECT_EQ(stats_of(cache).disk_rejected, 2u);
  EXPECT_EQ(stats_of(cache).disk_errors, 1u);
  expect_only({kNew.file_name()});
}

TEST_F(DiskCacheFaults, AnEntryThatOthersCanWriteOrThatBelongsToThem) {
  folder_.write(kNew.file_name(), kNew.encode(), 0660);
  expect_rejected("its permissions are 0660");
  if (geteuid() != 0) return;
  fs::remove(folder_.path(kNew.file_name()));
  folder_.write(kNew.file_name(), kNew.encode());
  ASSERT_EQ(chown(folder_.path(kNew.file_name()).c_str(), 12345, 12345), 0);
  expect_rejected("it belongs to user 12345");
}

TEST_F(DiskCacheFaults, TruncatedAtEveryLength) {
  const CacheEntry small = some_entry("strew_new", 50);
  const std::string bytes = small.encode();
  DiskCache cache(folder_.settings());
  for (size_t size = 0; size < bytes.size(); ++size) {
    folder_.write(small.file_name(), bytes.substr(0, size));
    ASSERT_EQ(found(cache, small), std::nullopt) << size;
  }
  EXPECT_EQ(stats_of(cache).disk_rejected, bytes.size());
  EXPECT_THAT(log_.lines(), SizeIs(1));
  cache.publish(small);
  EXPECT_EQ(found(cache, small), small.object);
  expect_only({kNew.file_name()});
}

TEST_F(DiskCacheFaults, EveryByteFlipped) {
  const CacheEntry small = some_entry("strew_new", 50);
  const std::string bytes = small.encode();
  DiskCache cache(folder_.settings());
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(~bad[at]);
    folder_.write(small.file_name(), bad);
    ASSERT_EQ(found(cache, small), std::nullopt) << at;
  }
  EXPECT_EQ(stats_of(cache).disk_rejected, bytes.size());
  EXPECT_THAT(log_.lines(), SizeIs(1));
}

TEST_F(DiskCacheFaults, ForeignAndHugeFiles) {
  folder_.write(kNew.file_name(), "#!/bin/sh\necho it is something else\n");
  expect_rejected("it is no kernel of strew's");
  folder_.write(kNew.file_name(), kOld.encode());  // whole, and under another kernel's name
  expect_rejected("it holds another kernel than its name says");
  folder_.write(kNew.file_name(), "");
  ASSERT_EQ(truncate(folder_.path(kNew.file_name()).c_str(), off_t{1} << 40), 0);  // a hole of a tebibyte
  expect_rejected("more than any kernel");
}

TEST_F(DiskCacheFaults, TwoVersionsShareAFolder) {
  CacheEntry theirs = kOld;
  theirs.build_id = "another build";
  theirs.object = "other code";
  DiskCache mine(folder_.settings()), other(folder_.settings());
  EXPECT_EQ(found(other, theirs), std::nullopt);
  other.publish(theirs);
  EXPECT_EQ(found(mine, kOld), kOld.object);
  EXPECT_EQ(found(other, theirs), "other code");
  // One whose files have another format.
  CacheEntry future = kNew;
  std::string bytes = future.encode();
  bytes[8] = 2;
  folder_.write(kNew.file_name(), bytes);
  expect_rejected("the format of another version");
  expect_only({theirs.file_name(), kNew.file_name()});
}

TEST_F(DiskCacheFaults, TheProgramClosedOurDescriptor) {
  DiskCache cache(folder_.settings());
  EXPECT_EQ(found(cache, kOld), kOld.object);
  // As daemons do; the numbers are then used for other files.
  constexpr int kFirst = 3, kEnd = 64;
  std::vector<int> ours;
  for (int file = kFirst; file < kEnd; ++file) {
    struct stat info = {}, wanted = {};
    if (fstat(file, &info) == 0 && stat(folder_.path().c_str(), &wanted) == 0 && info.st_ino == wanted.st_ino) {
      const int root = ::open("/", O_PATH | O_CLOEXEC);
      dup2(root, file);
      close(root);
      ours.push_back(file);
    }
  }
  ASSERT_THAT(ours, SizeIs(1));
  EXPECT_EQ(found(cache, kOld), kOld.object);
  cache.publish(kNew);
  expect_only({kNew.file_name()});
}

TEST_F(DiskCacheFaults, NothingCanBeRemoved) {
  struct NoRemoval : FaultyCalls {
    int remove(int, const char*) override {
      errno = EACCES;
      return -1;
    }
  } refusing;
  DiskCache cache(folder_.settings(CacheMode::read_write, 5200), refusing);
  cache.publish(kNew);
  EXPECT_EQ(stats_of(cache).disk_errors, 1u);
  EXPECT_EQ(stats_of(cache).disk_published, 1u);
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("cannot remove: Permission denied")));
  expect_only({kNew.file_name()});
}

}  // namespace
}  // namespace strew
