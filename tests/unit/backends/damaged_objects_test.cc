// Damaged objects and archives: Runtime::load answers with a Status, whatever bytes of the file are wrong. Each case is made from a seed, which a failure
// prints. The loads run in forked children, a hundred in each, so that one that crashes is a failure of the test and not its end.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "backends/modules.h"
#include "backends/object_checksum.h"
#include "backends/pipeline.h"
#include "strew/runtime.h"
#include "tests/support/ops.h"
#include "tests/support/options.h"

namespace strew {
namespace {

/// What `strew compile --emit obj` writes.
std::string object_of(const char* rows) {
  const auto kernel =
      compile(test::op_of("strew1.scatter(operand=f32[" + std::string(rows) +
                          ",4] indices=i32[3] updates=f32[3,4] update_window_dims=[1] inserted_window_dims=[0] "
                          "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add oob=error init=in_place)"),
              {.target = test::target("x86-64-v2"), .threads = 1});
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel->artifact.object;
}

std::string archive_of(const std::vector<std::string>& objects) {
  std::vector<ArchiveMember> members;
  for (const std::string& object : objects) members.push_back({std::to_string(members.size()) + ".o", object});
  return (*open_llvm_module())->write_archive(members).value();
}

/// Changes 1 to 16 bytes: bits, whole bytes, or a number of 4 bytes that is near another one of the file; sometimes cuts the file off.
std::string damaged(const std::string& file, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](size_t count) { return static_cast<size_t>(random() % count); };
  std::string out = file;
  for (size_t n = 1 + below(16); n > 0; --n) {
    const size_t at = below(out.size());
    switch (below(4)) {
      case 0:
        out[at] = static_cast<char>(out[at] ^ (1 << below(8)));
        break;
      case 1:
        out[at] = static_cast<char>(random());
        break;
      case 2:
        out[at] = static_cast<char>(below(2) == 0 ? 0 : 0xff);
        break;
      default:
        out[at] = static_cast<char>(out[at] + 1);
        break;
    }
  }
  if (below(20) == 0) out.resize(below(out.size()));
  return out;
}

/// Loads `file` damaged by each of the seeds. The exit status says how it went. `may_load`: some of the bytes mean nothing, as an archive's times do.
int load_damaged(const std::string& file, bool may_load, uint64_t first, uint64_t last) {
  for (uint64_t seed = first; seed < last; ++seed) {
    const std::string bytes = damaged(file, seed);
    Runtime runtime;
    const auto loaded = runtime.load(std::as_bytes(std::span(bytes)));
    if (!may_load && bytes != file && loaded.ok()) {
      dprintf(STDERR_FILENO, "seed %llu: a damaged file was loaded\n", static_cast<unsigned long long>(seed));
      return 2;
    }
  }
  return 0;
}

void expect_refused(const std::string& file, bool may_load, uint64_t first, uint64_t last) {
  constexpr uint64_t kOfAChild = 100;
  for (uint64_t begin = first; begin < last; begin += kOfAChild) {
    const pid_t child = fork();
    if (child == 0) _exit(load_damaged(file, may_load, begin, begin + kOfAChild));
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
      ADD_FAILURE() << "seeds " << begin << " to " << begin + kOfAChild - 1 << ": "
                    << (WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                                            : "exit " + std::to_string(WEXITSTATUS(status)));
  }
}

TEST(DamagedObjects, AreRefused) {
  const std::string object = object_of("10");
  ASSERT_TRUE(Runtime().load(std::as_bytes(std::span(object))).ok());
  expect_refused(object, false, 1, 6001);
}

TEST(DamagedObjects, ArchivesAreRefused) {
  const std::string archive = archive_of({object_of("10"), object_of("?")});
  ASSERT_TRUE(Runtime().load(std::as_bytes(std::span(archive))).ok());
  expect_refused(archive, true, 1, 3001);
}

/// The header of the last member names more bytes than the archive has.
TEST(DamagedObjects, AnArchiveThatIsCutOffIsNotReadBeyondItsEnd) {
  std::string archive = archive_of({object_of("10"), object_of("?")});
  constexpr size_t kSizeAt = 48, kDigits = 10;  // of the header, which begins with the name
  const size_t header = archive.rfind("1.o/");
  ASSERT_NE(header, std::string::npos);
  std::string size = std::to_string(std::stoll(archive.substr(header + kSizeAt, kDigits)) + 4000);
  size.resize(kDigits, ' ');
  archive.replace(header + kSizeAt, kDigits, size);
  const Status status = Runtime().load(std::as_bytes(std::span(archive))).status();
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.message().find("end behind the archive"), std::string::npos) << status.message();
}

TEST(DamagedObjects, WhatAnotherProgramHasWrittenAnewIsRefused) {
  const std::string object = object_of("10");
  const std::string stripped = object.substr(0, object.size() - kChecksumMark.size() - kChecksumBytes);
  const auto status = [](const std::string& file) { return Runtime().load(std::as_bytes(std::span(file))).status(); };
  EXPECT_EQ(status(stripped).code(), Code::invalid_argument);
  EXPECT_NE(status(stripped).message().find("the object has no checksum at its end"), std::string::npos)
      << status(stripped).message();
  EXPECT_TRUE(status(with_checksum(stripped)).ok());
  std::string flipped = object;
  flipped[flipped.size() / 2] ^= 1;
  EXPECT_NE(status(flipped).message().find("its checksum is wrong"), std::string::npos) << status(flipped).message();
  EXPECT_NE(status(archive_of({object, flipped})).message().find("member 1.o: the object is damaged"), std::string::npos);
}

}  // namespace
}  // namespace strew
