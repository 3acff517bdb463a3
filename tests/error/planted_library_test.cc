// A library planted in the current folder is never loaded: not by the program's own dependencies (RUNPATH has no relative or empty entry), and not
// as a module (libstrew knows its folder since it was loaded). Drives the built programs, so that what a user runs is what is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/module.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

namespace strew {
namespace {

namespace fs = std::filesystem;
using test::built_libraries;
using test::built_program;
using test::read_text;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlantedLibrary : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("strew_planted_library_" + std::to_string(getpid()));
    const std::string modules = fs::path(module_folder()).parent_path().filename();
    const std::string places[] = {"planted", "planted/lib", "planted/" + modules, "planted/lib/" + modules};
    for (const std::string& place : places) fs::create_directories(folder_ / place);
    std::vector<std::string> names{"libfmt.so.9", "libxxhash.so.0", "libprotobuf-lite.so.32"};
    for (const fs::directory_entry& file :
         fs::recursive_directory_iterator(built_libraries()))  // by every name that the loader may ask for
      if (file.path().filename().string().starts_with("libstrew") && file.path().extension() != ".a")
        names.push_back(file.path().filename().string());
    for (const std::string& place : places)
      for (const std::string& name : names)
        fs::copy_file(built_libraries() / "libstrew_impostor.so", folder_ / place / name, fs::copy_options::overwrite_existing);
  }
  void TearDown() override { fs::remove_all(folder_); }

  bool impostor_was_loaded() const { return fs::exists(folder_ / "planted" / "IMPOSTOR_WAS_LOADED"); }

  /// Exit status of a shell command that starts in `from`; its output in out_.
  int run(const fs::path& from, const std::string& command) {
    const std::string out = (folder_ / "out").string();
    const int status = std::system(("cd '" + from.string() + "' && " + command + " >'" + out + "' 2>&1").c_str());
    out_ = read_text(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
  /// strew_loader opens `libstrew` from the folder `from` and asks for a kernel in the folder with the impostors.
  int ask(const fs::path& from, const std::string& libstrew) {
    return run(from, "'" + built_program("strew_loader") + "' " + libstrew + " '" +
                         (built_libraries() / "libstrew_loader_client.so").string() + "' '" + (folder_ / "planted").string() +
                         "'");
  }

  fs::path folder_;
  std::string out_;
};

TEST_F(PlantedLibrary, IsNotLoadedByTheProgram) {
  EXPECT_EQ(run(folder_ / "planted", "'" + built_program("strew") + "' --help"), 0) << out_;
  EXPECT_FALSE(impostor_was_loaded());
}

// A shell that finds the program by PATH calls it by its bare name, which is also the name of a file in the current folder.
TEST_F(PlantedLibrary, ModulesComeFromWhereTheProgramIs) {
  std::ofstream(folder_ / "planted" / "strew") << "no program\n";
  const std::string path = "PATH='" + fs::path(built_program("strew")).parent_path().string() + "':$PATH ";
  const std::string compile =
      "strew compile '" + (test::source_folder() / "tests/runtime_only/add.strew").string() + "' --emit obj --cache off -o '";
  EXPECT_EQ(run(folder_ / "planted", path + compile + (folder_ / "out.o").string() + "'"), 0) << out_;
  EXPECT_FALSE(impostor_was_loaded());
}

TEST_F(PlantedLibrary, ModulesComeFromWhereLibstrewWasLoaded) {
  EXPECT_EQ(ask(built_libraries().parent_path(), "lib/libstrew.so"), 0) << out_;
  EXPECT_EQ(out_, "compiled\n");
  EXPECT_EQ(ask(built_libraries(), "./libstrew.so"), 0) << out_;
  EXPECT_FALSE(impostor_was_loaded());
}

TEST_F(PlantedLibrary, ModulesComeFromBehindASymbolicLink) {
  fs::create_directories(folder_ / "links");
  fs::create_symlink(built_libraries() / "libstrew.so", folder_ / "links" / "libstrew.so");
  EXPECT_EQ(ask(folder_ / "links", "./libstrew.so"), 0) << out_;
  EXPECT_FALSE(impostor_was_loaded());
}

// The shell opens a copy of libstrew as descriptor 9 and removes it: the path that the loader knows leads to no file.
TEST_F(PlantedLibrary, WithoutAFolderModulesAreRefused) {
  fs::create_directories(folder_ / "gone");
  fs::copy_file(built_libraries() / "libstrew.so", folder_ / "gone" / "libstrew.so");
  EXPECT_EQ(run(folder_ / "gone", "exec 9<libstrew.so && rm libstrew.so && '" + built_program("strew_loader") +
                                      "' /proc/self/fd/9 '" + (built_libraries() / "libstrew_loader_client.so").string() + "' '" +
                                      (folder_ / "planted").string() + "'"),
            1)
      << out_;
  EXPECT_THAT(out_, StartsWith("backend llvm needs libstrew_llvm.so from the folder of libstrew"));
  EXPECT_THAT(out_, HasSubstr("was loaded from a file that has no path"));
  EXPECT_FALSE(impostor_was_loaded());
}

}  // namespace
}  // namespace strew
