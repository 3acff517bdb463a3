// The disk cache on the command line: strew cache, --cache, and what run, compile and explain make of it.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "tests/support/cli.h"

namespace strew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Json = nlohmann::json;

class CacheCli : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    write_tensor("ones.npy", DType::f32, {4}, std::string(16, '\0'));
    write_tensor("two.npy", DType::f32, {2}, std::string(8, '\0'));
    write_tensor("at.npy", DType::i32, {2}, std::string("\1\0\0\0\2\0\0\0", 8));
  }
  std::vector<std::string> files(const std::string& folder = "kernels") const {
    std::vector<std::string> out;
    if (exists(folder))
      for (const auto& entry : std::filesystem::directory_iterator(path(folder)))
        out.push_back(folder + "/" + entry.path().filename().string());
    return out;
  }
  const std::string run_ = "run add.strew --input ones.npy at.npy two.npy --output out.npy";
  const std::string on_ = " --cache kernels";
};

#if defined(__x86_64__)

TEST_F(CacheCli, TheSecondRunTakesTheKernel) {
  const Outcome first = strew(run_ + on_ + " --verbose");
  EXPECT_EQ(first.exit, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("compile: built strew_"));
  ASSERT_THAT(files(), SizeIs(1));
  const std::string bytes = read("out.npy");
  const Outcome second = strew(run_ + on_ + " --verbose");
  EXPECT_EQ(second.exit, 0) << second.err;
  EXPECT_THAT(second.err,
              AllOf(HasSubstr("compile: taken strew_"), HasSubstr(" from " + path("kernels")), Not(HasSubstr("built"))));
  EXPECT_EQ(read("out.npy"), bytes);
}

TEST_F(CacheCli, AHitDoesNotOpenLlvm) {
  const auto opens_llvm = [&] {
    EXPECT_EQ(strew(run_ + on_, "LD_DEBUG=files LD_DEBUG_OUTPUT=opened").exit, 0);
    std::string log;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (const std::string name = entry.path().filename().string(); name.starts_with("opened")) {
        log += read(name);
        std::filesystem::remove(entry.path());
      }
    EXPECT_THAT(log, HasSubstr("libfmt.so"));
    return log.find("libstrew_llvm") != std::string::npos;
  };
  EXPECT_TRUE(opens_llvm());
  EXPECT_FALSE(opens_llvm());
}

TEST_F(CacheCli, TheUsersFolderIsTheDefault) {
  const std::string user = "env -u STREW_CACHE XDG_CACHE_HOME='" + path("caches") + "'";
  EXPECT_EQ(strew(run_, user).exit, 0);
  EXPECT_THAT(files("caches/strew/kernels"), SizeIs(1));
  EXPECT_THAT(success("cache stats", user),
              AllOf(HasSubstr(path("caches/strew/kernels")), HasSubstr("kernels   1: 1 of this build")));
  // Off, by the option and by the variable.
  std::filesystem::remove_all(path("caches"));
  EXPECT_EQ(strew(run_ + " --cache off", user).exit, 0);
  EXPECT_EQ(strew(run_, "XDG_CACHE_HOME='" + path("caches") + "' STREW_CACHE=off").exit, 0);
  EXPECT_EQ(strew(run_, "XDG_CACHE_HOME='" + path("caches") + "' STREW_CACHE_MODE=off STREW_CACHE=kernels").exit, 0);
  EXPECT_FALSE(exists("caches") || exists("kernels"));
  // The variable, and the option over it.
  EXPECT_EQ(strew(run_, "STREW_CACHE=named").exit, 0);
  EXPECT_EQ(strew(run_ + on_, "STREW_CACHE=named").exit, 0);
  EXPECT_THAT(files("named"), SizeIs(1));
  EXPECT_THAT(files(), SizeIs(1));
}

TEST_F(CacheCli, CompileTakesObjectsToo) {
  success("compile add.strew --emit obj -o one.o" + on_);
  ASSERT_THAT(files(), SizeIs(1));
  success("compile add.strew --emit obj -o two.o" + on_);
  success("compile add.strew --emit obj -o three.o --cache off");
  EXPECT_EQ(read("one.o"), read("two.o"));
  EXPECT_EQ(read("one.o"), read("three.o"));
  EXPECT_THAT(files(), SizeIs(1));
}

TEST_F(CacheCli, ExplainSaysWhereTheKernelIs) {
  EXPECT_THAT(success("explain add.strew --all" + on_), HasSubstr("  cache       not in " + path("kernels") + "/"));
  EXPECT_EQ(strew(run_ + on_).exit, 0);
  EXPECT_THAT(success("explain add.strew --all" + on_), HasSubstr("  cache       in " + path(files().at(0)) + "\n"));
  const Json json = Json::parse(success("explain add.strew --json" + on_));
  EXPECT_EQ(json["kernels"][0]["cache"]["hit"], true);
  write(files().at(0), "garbage");
  EXPECT_THAT(success("explain add.strew --all" + on_), HasSubstr(": it is no kernel of strew's"));
  EXPECT_THAT(success("explain add.strew --all --cache off"), Not(HasSubstr("  cache ")));
}

TEST_F(CacheCli, MustHit) {
  EXPECT_THAT(failure(1, run_ + on_, "STREW_CACHE_MODE=must_hit"),
              AllOf(HasSubstr("no kernel for op strew1.scatter"), HasSubstr(path("kernels"))));
  EXPECT_EQ(strew(run_ + on_).exit, 0);
  EXPECT_EQ(strew(run_ + on_, "STREW_CACHE_MODE=must_hit").exit, 0);
}

TEST_F(CacheCli, ListVerifyPruneClear) {
  EXPECT_EQ(success("cache list" + on_), "no kernels\n");
  EXPECT_THAT(success("cache verify" + on_), HasSubstr("0 kernels, all good"));
  EXPECT_EQ(strew(run_ + on_).exit, 0);
  success("compile add.strew --emit obj -o v3.o" + on_);
  ASSERT_THAT(files(), SizeIs(2));
  EXPECT_THAT(success("cache list" + on_),
              AllOf(HasSubstr("strew1.scatter(operand=f32[4]"), HasSubstr("llvm, strategy="), HasSubstr("for x86_64-x86-64-v3"),
                    HasSubstr("written less than a minute ago, used less than a minute ago")));
  const Json list = Json::parse(success("cache list --json" + on_));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["of_this_build"], true);
  const Json stats = Json::parse(success("cache stats --json" + on_));
  EXPECT_EQ(stats["kernels"], 2);
  EXPECT_EQ(stats["of_this_build"], 2);
  const std::string good = read(files().at(0));
  write(files().at(0), good.substr(0, good.size() - 1));
  const Outcome verified = strew("cache verify" + on_);
  EXPECT_EQ(verified.exit, 1);
  EXPECT_THAT(verified.out, AllOf(HasSubstr(".kernel: it has another size than it says"), SizeIs(::testing::Lt(300u))));
  EXPECT_THAT(verified.err, AllOf(StartsWith("error: "), HasSubstr("1 of 2 kernels are bad")));
  EXPECT_EQ(Json::parse(strew("cache verify --json" + on_).out)["bad"].size(), 1u);
  EXPECT_THAT(success("cache list" + on_), HasSubstr("bad, see strew cache verify"));
  EXPECT_THAT(success("cache prune" + on_), HasSubstr("0 files removed"));
  const Json pruned = Json::parse(success("cache prune --limit 6000 --json" + on_));
  EXPECT_EQ(pruned["removed"], 1);
  EXPECT_EQ(pruned["kernels"], 1);
  write("kernels/README", "not a kernel");
  EXPECT_THAT(success("cache clear" + on_), HasSubstr("1 files removed"));
  EXPECT_EQ(files(), std::vector<std::string>{"kernels/README"});
}

TEST_F(CacheCli, AnUnsafeFolderIsOneWarning) {
  EXPECT_EQ(strew(run_ + on_).exit, 0);
  chmod(path("kernels").c_str(), 0777);
  const Outcome run = strew(run_ + on_ + " --verify");
  EXPECT_EQ(run.exit, 0);
  EXPECT_THAT(run.err, AllOf(StartsWith("warning: disk cache: "), HasSubstr("its permissions are 0777")));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_THAT(failure(1, "cache list" + on_), HasSubstr("its permissions are 0777"));
}

#endif

TEST_F(CacheCli, WhatItRefuses) {
  EXPECT_THAT(failure(2, "cache"), HasSubstr("cache: what to do is missing, expected one of: stats, list, verify, prune, clear"));
  EXPECT_THAT(failure(2, "cache tidy"), HasSubstr("'tidy' is unknown, expected one of: stats, list"));
  EXPECT_THAT(failure(2, "cache prune --limit -1"), HasSubstr("--limit"));
  EXPECT_THAT(failure(1, "cache list --cache off"), HasSubstr("--cache: it is off, expected a folder"));
  EXPECT_THAT(failure(1, "cache list", "env -u STREW_CACHE -u XDG_CACHE_HOME -u HOME"),
              HasSubstr("neither HOME nor XDG_CACHE_HOME"));
  EXPECT_THAT(success("--version"), HasSubstr(", build "));
}

}  // namespace
}  // namespace strew::testing
