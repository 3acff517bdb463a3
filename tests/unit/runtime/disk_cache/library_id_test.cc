// The identity of a library that is not loaded (runtime/disk_cache/build_id.cc): the file that the loader would take, and the id that its linker wrote.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "backends/modules.h"
#include "base/module.h"
#include "runtime/disk_cache/build_id.h"
#include "tests/support/cache_folder.h"

namespace strew {
namespace {

std::string contents(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// The path by which the process has loaded the library.
std::string path_of(const char* name) {
  void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return "";
  link_map* map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  return map->l_name;
}

TEST(LibraryId, FindsTheFileThatTheLoaderOpens) {
  // This one is linked to nothing of strew's, so that it is looked for in files first and loaded afterwards.
  const char* const name = "libresolv.so.2";
  const std::string found = find_shared_library(name, module_folder());
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(std::filesystem::equivalent(found, path_of(name))) << found;
  EXPECT_TRUE(std::filesystem::equivalent(find_shared_library("libc.so.6", ""), path_of("libc.so.6")));
  EXPECT_EQ(find_shared_library("libstrew_no_such_library.so.1", module_folder()), "");
  EXPECT_EQ(find_shared_library("", module_folder()), "");
}

TEST(LibraryId, FindsTheLlvmThatIsOpened) {
  const std::string name(llvm_library()), before = find_shared_library(name, module_folder());
  ASSERT_FALSE(before.empty()) << name;
  ASSERT_TRUE(open_llvm_module().ok());
  EXPECT_NE(dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr) << name << " is not what libstrew_llvm needs";
  EXPECT_TRUE(std::filesystem::equivalent(before, path_of(name.c_str())));
  EXPECT_EQ(build_id(), build_id_with(elf_build_id(before)));
}

TEST(LibraryId, TheOwnFolderComesBeforeTheSystems) {
  const test::CacheFolder folder;
  const std::string name = "libstrew_some_library.so.1", path = folder.path(name);
  EXPECT_EQ(find_shared_library(name, folder.path() + "/"), "");
  std::filesystem::copy_file(path_of("libc.so.6"), path);
  EXPECT_EQ(find_shared_library(name, folder.path() + "/"), path);
  std::ofstream(path, std::ios::trunc) << "no library";
  EXPECT_EQ(find_shared_library(name, folder.path() + "/"), "");
}

TEST(LibraryId, IsTheLinkersAndChangesWithIt) {
  const test::CacheFolder folder;
  const std::string path = folder.path() + "/library.so";
  std::string bytes = contents(path_of("libc.so.6"));
  const std::string id = elf_build_id(path_of("libc.so.6"));
  ASSERT_EQ(id.size() % 2, 0u);
  ASSERT_GE(id.size(), 16u);
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
  std::string raw;
  for (size_t i = 0; i < id.size(); i += 2) raw += static_cast<char>(std::stoi(id.substr(i, 2), nullptr, 16));
  const size_t at = bytes.find(raw);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  std::ofstream(path, std::ios::binary) << bytes;
  const std::string other = elf_build_id(path);
  EXPECT_EQ(other.size(), id.size());
  EXPECT_NE(other, id);
}

TEST(LibraryId, DamagedFilesHaveNone) {
  const test::CacheFolder folder;
  const std::string path = folder.path() + "/library.so", bytes = contents(path_of("libc.so.6"));
  EXPECT_EQ(elf_build_id(folder.path() + "/none"), "");
  EXPECT_EQ(elf_build_id(folder.path()), "");
  for (const size_t size : {size_t{0}, size_t{3}, size_t{63}, size_t{64}, size_t{200}}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    EXPECT_EQ(elf_build_id(path), "") << size;
  }
  for (size_t at = 0; at < 1000; at += 7) {
    std::string bad = bytes.substr(0, 4000);
    bad[at] = static_cast<char>(0xff);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
    elf_build_id(path);  // whatever it is, it ends
  }
}

}  // namespace
}  // namespace strew
