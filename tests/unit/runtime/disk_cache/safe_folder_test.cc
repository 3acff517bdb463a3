// Folders that code may be taken from (runtime/disk_cache/safe_folder.h): owners, permissions, links.
#include "runtime/disk_cache/safe_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/cache_folder.h"

namespace strew {
namespace {

using test::CacheFolder;
using test::FaultyCalls;
using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

class SafeFolder : public testing::Test {
 protected:
  std::string make(const std::string& name, mode_t mode = 0700) const {
    fs::create_directories(base_.path(name));
    chmod(base_.path(name).c_str(), mode);
    return base_.path(name);
  }
  std::string link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, base_.path(name));
    return base_.path(name);
  }
  static Status open(const std::string& path, FolderUse use = FolderUse::read) {
    auto folder = open_safe_folder(FolderCalls::system(), path, use);
    if (folder.ok() && !*folder) return io_error("it is not there");
    return folder.status();
  }
  const CacheFolder base_;
};

TEST_F(SafeFolder, OpensWhatOnlyItsUserCanWrite) {
  EXPECT_TRUE(open(make("mine")).ok()) << open(make("mine")).message();
  EXPECT_TRUE(open(make("readable", 0755)).ok());
  EXPECT_TRUE(open(make("a/b/c") + "/../c//./").ok());
  EXPECT_EQ(open(base_.path("absent")).message(), "it is not there");
  EXPECT_EQ(open("relative").message(), "the folder 'relative' has no absolute path");
}

TEST_F(SafeFolder, MakesWhatIsMissing) {
  EXPECT_TRUE(open(base_.path("x/y/z"), FolderUse::write).ok());
  for (const char* name : {"x", "x/y", "x/y/z"}) EXPECT_EQ(fs::status(base_.path(name)).permissions(), fs::perms::owner_all);
}

TEST_F(SafeFolder, RefusesWhatOthersCanWrite) {
  for (const mode_t mode : {0770, 0707, 0777, 01777}) {
    const std::string path = make("shared", mode);
    const Status status = open(path);
    EXPECT_EQ(status.code(), Code::invalid_argument) << mode;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(path + ": its permissions are 0"), HasSubstr("(chmod go-w)")));
  }
}

TEST_F(SafeFolder, RefusesAFolderInOneThatOthersCanWrite) {
  const std::string inner = make("outer/inner");
  chmod(base_.path("outer").c_str(), 0777);
  EXPECT_THAT(open(inner).message(), HasSubstr("outer: its permissions are 0777"));
  EXPECT_THAT(open(base_.path("outer/new"), FolderUse::write).message(), HasSubstr("outer: its permissions are 0777"));
  EXPECT_FALSE(fs::exists(base_.path("outer/new")));
  chmod(base_.path("outer").c_str(), 01777);  // as /tmp: nobody can replace what is another one's
  EXPECT_TRUE(open(inner).ok());
}

TEST_F(SafeFolder, FollowsLinksThatNobodyElseCouldPlace) {
  const std::string target = make("target");
  EXPECT_TRUE(open(link(target, "absolute")).ok());
  EXPECT_TRUE(open(link("target", "relative")).ok());
  EXPECT_TRUE(open(link("absolute", "twice")).ok());
  fs::create_directories(base_.path("target/below"));
  chmod(base_.path("target/below").c_str(), 0700);
  EXPECT_TRUE(open(base_.path("twice/below")).ok());
  EXPECT_EQ(open(link("nowhere", "dangling")).message(), "it is not there");
  chmod(target.c_str(), 0777);
  for (const char* name : {"absolute", "relative", "twice"})
    EXPECT_THAT(open(base_.path(name)).message(), HasSubstr("target: its permissions are 0777")) << name;
}

TEST_F(SafeFolder, RefusesLinksInAFolderThatOthersCanWrite) {
  const std::string target = make("target"), outer = make("outer");
  link(target, "outer/link");
  EXPECT_TRUE(open(outer + "/link").ok());
  chmod(outer.c_str(), 0777);
  EXPECT_THAT(open(outer + "/link").message(), HasSubstr("outer: its permissions are 0777"));
}

TEST_F(SafeFolder, RefusesCirclesAndFiles) {
  link("two", "one");
  link("one", "two");
  EXPECT_THAT(open(base_.path("one")).message(), HasSubstr("too many symbolic links"));
  base_.write("file", "text");
  EXPECT_THAT(open(base_.path("file")).message(), HasSubstr("file: it is no folder"));
  EXPECT_THAT(open(base_.path("file/below")).message(), HasSubstr("file: it is no folder"));
}

TEST_F(SafeFolder, RefusesWhatBelongsToOthers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kOther = 12345, kMe = 23456;
  const std::string path = make("theirs");
  ASSERT_EQ(chown(path.c_str(), kOther, kOther), 0);
  EXPECT_THAT(open(path).message(), HasSubstr("theirs: it belongs to user 12345, expected user 0 or root"));
  // A link of another user's in a sticky folder.
  const std::string target = make("target"), outer = make("outer", 01777), name = link(target, "outer/link");
  ASSERT_EQ(lchown(name.c_str(), kOther, kOther), 0);
  EXPECT_THAT(open(name).message(), HasSubstr("link: it belongs to user 12345"));
  // Another user than root trusts root and itself.
  FaultyCalls calls;
  calls.other_user = kMe;
  EXPECT_THAT(open_safe_folder(calls, path, FolderUse::read).status().message(), HasSubstr("expected user 23456 or root"));
  EXPECT_TRUE(open_safe_folder(calls, target, FolderUse::read).ok());
  ASSERT_EQ(chown(path.c_str(), kMe, kMe), 0);
  EXPECT_TRUE(open_safe_folder(calls, path, FolderUse::read).ok());
}

}  // namespace
}  // namespace strew
