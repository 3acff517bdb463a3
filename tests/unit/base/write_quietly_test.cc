// A file that may not grow is a failed write, not the end of the program.
#include "base/write_quietly.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "runtime/disk_cache/disk_cache.h"
#include "tests/support/cache_folder.h"

namespace strew {
namespace {

using test::CacheFolder;
using test::some_entry;

constexpr rlim_t kLimit = 1024;

/// The exit status of body() in a child process whose files may have kLimit bytes; -N if signal N ended it.
template <class Body>
int with_small_files(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{kLimit, kLimit};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(WriteQuietly, FailsAtTheLimit) {
  const CacheFolder folder;
  const int status = with_small_files([&] {
    const int file = open(folder.path("file").c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    const std::string bytes(2 * kLimit, 'x');
    if (write_quietly(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(kLimit)) return 1;
    if (write_quietly(file, bytes.data(), 1) >= 0 || errno != EFBIG) return 2;
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ) == 1 ? 3 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(WriteQuietly, TheDiskCacheGoesOn) {
  const CacheFolder folder;
  const int status = with_small_files([&] {
    DiskCache cache(folder.settings());
    cache.publish(some_entry("strew_1", 10'000));
    Runtime::Stats stats;
    cache.add_to(stats);
    if (stats.disk_errors != 1 || stats.disk_published != 0) return 1;
    return folder.names().empty() ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace strew
