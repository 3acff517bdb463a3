// Input files (base/file): only regular ones, bounded, mapped. Outputs (base/pending_file): temporary files that nobody else can
// aim, permissions that stay, links that are followed. tests/error/signal_test.cc has what signals do.
#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/pending_file.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "strew_files_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    old_mask_ = umask(022);
  }
  void TearDown() override {
    umask(old_mask_);
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void put(const std::string& name, const std::string& bytes) const { std::ofstream(path(name)) << bytes; }
  std::string get(const std::string& name) const { return read_file(path(name), 1 << 20).value(); }
  mode_t mode(const std::string& name) const {
    struct stat info = {};
    EXPECT_EQ(lstat(path(name).c_str(), &info), 0);
    return info.st_mode;
  }
  int files() const { return static_cast<int>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

  fs::path folder_;
  mode_t old_mask_ = 0;
};

TEST_F(Files, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(path("fifo"), 100).status().message(),
            path("fifo") + ": cannot read: it is a pipe, expected a regular file");
  EXPECT_EQ(InputFile::open("/dev/zero").status().message(), "/dev/zero: cannot read: it is a device, expected a regular file");
  EXPECT_THAT(read_file(path("."), 100).status().message(), HasSubstr("it is a directory, expected a regular file"));
  fs::create_symlink("/dev/zero", path("zero.strew"));
  EXPECT_THAT(read_file(path("zero.strew"), 100).status().message(), HasSubstr("it is a device"));
  const int s = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {AF_UNIX, {}};
  std::strncpy(address.sun_path, path("socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(s, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_THAT(read_file(path("socket"), 100).status().message(), HasSubstr("it is a socket"));
  close(s);
  EXPECT_EQ(read_file(path("none"), 100).status().message(), path("none") + ": cannot read: No such file or directory");
}

TEST_F(Files, ReadingStopsAtTheLimit) {
  put("ten", "0123456789");
  EXPECT_EQ(read_file(path("ten"), 10).value(), "0123456789");
  EXPECT_EQ(read_file(path("ten"), 9).status().message(),
            path("ten") + ": the file has 10 bytes, expected at most 9 (--max-file-bytes)");
  // Its size is 0, and it has many bytes.
  EXPECT_THAT(read_file("/proc/self/maps", 10).status().message(), HasSubstr("the file has more bytes, expected at most 10"));
}

TEST_F(Files, PartsAreReadAndMapped) {
  put("ten", "0123456789");
  const InputFile file = InputFile::open(path("ten")).value();
  EXPECT_EQ(file.size(), 10);
  char part[4] = {};
  EXPECT_TRUE(file.read(3, std::as_writable_bytes(std::span(part))).ok());
  EXPECT_EQ(std::string(part, 4), "3456");
  EXPECT_THAT(file.read(8, std::as_writable_bytes(std::span(part))).message(), HasSubstr("it ends at byte 10, expected more"));
  {
    const auto map = file.map(2, 5).value();
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(map->bytes().data()), map->bytes().size()), "23456");
    EXPECT_STREQ(mapped_file_at(map->bytes().data()), path("ten").c_str());
    EXPECT_EQ(mapped_file_at(part), nullptr);
  }
  for (const auto& [offset, bytes] : {std::pair{11, 1}, {2, 9}, {10, 1}, {0, 0}})
    EXPECT_THAT(file.map(offset, bytes).status().message(), HasSubstr("the file has 10 bytes, expected")) << offset;
}

TEST_F(Files, NothingIsVisibleBeforeCommit) {
  put("y", "old");
  {
    PendingFile pending = PendingFile::create(path("y"), "new").value();
    EXPECT_EQ(get("y"), "old");
    EXPECT_EQ(files(), 2);
    PendingFile moved = std::move(pending);
    EXPECT_TRUE(moved.commit().ok());
    EXPECT_TRUE(moved.commit().ok());
  }
  EXPECT_EQ(get("y"), "new");
  { const PendingFile forgotten = PendingFile::create(path("y"), "newer").value(); }
  EXPECT_EQ(get("y"), "new");
  EXPECT_EQ(files(), 1);
}

TEST_F(Files, PiecesAreAppended) {
  PendingFile pending = PendingFile::create(path("y")).value();
  EXPECT_TRUE(pending.write("one ").ok());
  EXPECT_TRUE(pending.write("two").ok());
  EXPECT_TRUE(pending.close().ok());
  EXPECT_FALSE(pending.write("three").ok());
  EXPECT_TRUE(pending.commit().ok());
  EXPECT_EQ(get("y"), "one two");
}

TEST_F(Files, TemporaryNamesCannotBeForeseen) {
  // The name that earlier versions used, as a link to somebody's file.
  put("victim", "precious");
  fs::create_symlink("victim", path("y.tmp" + std::to_string(getpid())));
  std::vector<PendingFile> pending;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) pending.push_back(PendingFile::create(path("y"), "mine").value());
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with(".strew-")) names.push_back(entry.path().filename().string());
  ASSERT_EQ(names.size(), 3u);
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(names[0].size(), std::string(".strew-").size() + 32 + std::string(".tmp").size());
  EXPECT_EQ(mode(names[0]) & 0777, 0644u);
  EXPECT_TRUE(pending[0].commit().ok());
  EXPECT_EQ(get("victim"), "precious");
  EXPECT_TRUE(S_ISREG(mode("y")));
}

TEST_F(Files, PermissionsStay) {
  umask(027);
  ASSERT_TRUE(PendingFile::create(path("new"), "x").value().commit().ok());
  EXPECT_EQ(mode("new") & 07777, 0640u) << "0666 without the umask";
  for (const mode_t wanted : {0600u, 0755u, 0606u, 0444u}) {
    put("old", "x");
    ASSERT_EQ(chmod(path("old").c_str(), wanted), 0);
    PendingFile pending = PendingFile::create(path("old"), "y").value();
    ASSERT_TRUE(pending.commit().ok());
    EXPECT_EQ(mode("old") & 07777, wanted);
    EXPECT_EQ(get("old"), "y");
    fs::remove(path("old"));
  }
}

TEST_F(Files, OwnersStayWhereTheProcessMaySetThem) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  put("theirs", "x");
  ASSERT_EQ(chown(path("theirs").c_str(), 12345, 23456), 0);
  ASSERT_TRUE(PendingFile::create(path("theirs"), "y").value().commit().ok());
  struct stat info = {};
  ASSERT_EQ(stat(path("theirs").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, 12345u);
  EXPECT_EQ(info.st_gid, 23456u);
}

TEST_F(Files, LinksThatTheUserNamesAreFollowed) {
  fs::create_directory(path("data"));
  put("data/real", "old");
  fs::create_symlink("data/real", path("first"));
  fs::create_symlink(path("first"), path("second"));
  ASSERT_TRUE(PendingFile::create(path("second"), "new").value().commit().ok());
  EXPECT_TRUE(S_ISLNK(mode("first")) && S_ISLNK(mode("second")) && S_ISREG(mode("data/real")));
  EXPECT_EQ(get("data/real"), "new");

  fs::create_symlink("data/later", path("dangling"));
  ASSERT_TRUE(PendingFile::create(path("dangling"), "made").value().commit().ok());
  EXPECT_EQ(get("data/later"), "made");
  EXPECT_TRUE(S_ISLNK(mode("dangling")));

  fs::create_symlink("circle", path("circle"));
  EXPECT_THAT(PendingFile::create(path("circle"), "x").status().message(), HasSubstr("cannot write: "));
}

TEST_F(Files, LinksOfOthersInSharedFoldersAreNot) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may make a link of another user's";
  put("victim", "precious");
  fs::create_directory(path("shared"));
  ASSERT_EQ(chown(path("shared").c_str(), 1, 1), 0);
  ASSERT_EQ(chmod(path("shared").c_str(), 01777), 0);
  fs::create_symlink("../victim", path("shared/y"));
  ASSERT_EQ(lchown(path("shared/y").c_str(), 12345, 12345), 0);
  const Status status = PendingFile::create(path("shared/y"), "x").status();
  EXPECT_EQ(status.code(), Code::io);
  EXPECT_EQ(get("victim"), "precious");
  ASSERT_EQ(lchown(path("shared/y").c_str(), 0, 0), 0);
  EXPECT_TRUE(PendingFile::create(path("shared/y"), "x").value().commit().ok()) << "our own";
}

TEST_F(Files, OtherKindsAreWrittenInPlace) {
  EXPECT_TRUE(PendingFile::create("/dev/null", "x").value().commit().ok());
  EXPECT_THAT(PendingFile::create("/dev/full", "x").status().message(),
              HasSubstr("/dev/full: cannot write: No space left on device"));
  EXPECT_THAT(PendingFile::create(path("."), "x").status().message(), HasSubstr("it is a directory, expected a file"));
  EXPECT_THAT(PendingFile::create(path("no/such"), "x").status().message(), HasSubstr("cannot write: No such file or directory"));
  EXPECT_FALSE(PendingFile::create(path("new/"), "x").ok());
  EXPECT_FALSE(PendingFile::create("", "x").ok());
  EXPECT_EQ(files(), 0);
}

TEST_F(Files, ASignalHandlerRemovesThemAll) {
  std::vector<PendingFile> pending;
  for (int i = 0; i < 5; ++i) pending.push_back(PendingFile::create(path("y" + std::to_string(i)), "x").value());
  ASSERT_TRUE(pending.back().commit().ok());
  EXPECT_EQ(files(), 5);
  remove_pending_files();
  EXPECT_EQ(files(), 1);
  EXPECT_FALSE(pending.front().commit().ok());
  pending.clear();
  EXPECT_EQ(get("y4"), "x");
  const PendingFile again = PendingFile::create(path("z"), "x").value();
  EXPECT_EQ(files(), 2) << "places are used again";
}

}  // namespace
}  // namespace strew
