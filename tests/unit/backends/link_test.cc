// The linker (backends/link.h): what it accepts, what it refuses and how it says so, threads and forks.
#include "backends/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "strew/runtime.h"
#include "tests/support/elf_object.h"
#include "tests/support/ops.h"
#include "tests/support/views.h"

namespace strew {
namespace {

using test::ElfObject;
using testing::HasSubstr;
using testing::StartsWith;

const LlvmModule& linker() { return **open_llvm_module(); }

using Linked = std::shared_ptr<LinkedObject>;

Status status_of_link(const std::vector<std::string>& objects, const std::vector<std::string>& symbols) {
  testing::internal::CaptureStderr();
  const Expected<Linked> linked = linker().link(objects, symbols);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  return linked.status();
}

/// The object of a kernel, and its descriptor's symbol.
std::pair<std::string, std::string> kernel_object(int64_t rows) {
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  options.threads = 1;
  auto compiled = compile(test::op_of("strew1.scatter(operand=f32[" + std::to_string(rows) +
                                      ",8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
                                      "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
                          options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().message();
  return {compiled->artifact.object, compiled->symbol};
}

TEST(Linker, SaysHowMuchMemoryTheCodeTakes) {
  const auto [object, symbol] = kernel_object(20);
  const Expected<Linked> linked = linker().link({object}, {symbol});
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_GT((*linked)->code_bytes, static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_LE((*linked)->code_bytes, size_t{8} << 10);
  EXPECT_EQ(static_cast<const strew_kernel*>((*linked)->addresses[0])->abi, uint32_t{STREW_ABI_VERSION});
}

TEST(Linker, ConstantsAreReadOnlyAndNotExecutable) {
  const auto [object, symbol] = kernel_object(20);
  const Expected<Linked> linked = linker().link({object}, {symbol});
  ASSERT_TRUE(linked.ok());
  const auto at = reinterpret_cast<uintptr_t>((*linked)->addresses[0]);  // the descriptor
  std::string found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t start = 0, end = 0;
    char text[5] = {};
    std::sscanf(line.c_str(), "%lx-%lx %4s", &start, &end, text);
    if (start <= at && at < end) found = text;
  }
  EXPECT_EQ(found, "r--p");
}

TEST(Linker, RefusesWhatIsNoObject) {
  const std::string object = kernel_object(20).first;
  for (const std::string& bytes :
       {std::string(), std::string("no object"), object.substr(0, 64), object.substr(0, object.size() / 2)}) {
    const Status status = status_of_link({bytes}, {"any"});
    EXPECT_EQ(status.code(), Code::internal) << bytes.size() << " bytes";
    EXPECT_THAT(status.message(), StartsWith("linker: "));
  }
}

TEST(Linker, LinksNothing) {
  const Expected<Linked> linked = linker().link({}, {});
  ASSERT_TRUE(linked.ok());
  EXPECT_EQ((*linked)->code_bytes, 0u);
  EXPECT_EQ(status_of_link({}, {"absent"}).message(), "linker: no object defines symbol absent");
}

#if defined(__x86_64__)
int32_t call(const void* address) { return reinterpret_cast<int32_t (*)()>(const_cast<void*>(address))(); }

TEST(Linker, ObjectsOfOneLinkSeeEachOther) {
  const Expected<Linked> linked =
      linker().link({ElfObject::calling("first", "second"), ElfObject::returning("second", 42)}, {"second", "first"});
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_EQ(call((*linked)->addresses[0]), 42);
  EXPECT_EQ(call((*linked)->addresses[1]), 42);
}

TEST(Linker, ObjectsOfDifferentLinksDoNot) {
  const Expected<Linked> one = linker().link({ElfObject::returning("same", 1)}, {"same"});
  const Expected<Linked> two = linker().link({ElfObject::returning("same", 2)}, {"same"});
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(call((*one)->addresses[0]), 1);
  EXPECT_EQ(call((*two)->addresses[0]), 2);
  EXPECT_EQ(status_of_link({ElfObject::calling("caller", "same")}, {"caller"}).message(),
            "linker: the object uses symbol same, which generated code may not use");
}

TEST(Linker, GeneratedCodeSeesTheMathTableAndLittleElse) {
  const Expected<Linked> linked = linker().link({ElfObject::calling("mine", "trunc")}, {"mine"});
  ASSERT_TRUE(linked.ok()) << linked.status().message();
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(const_cast<void*>((*linked)->addresses[0]))(2.75), 2.0);
  EXPECT_THAT(status_of_link({ElfObject::calling("mine", "system")}, {"mine"}).message(), HasSubstr("uses symbol system"));
}

TEST(Linker, RefusesASymbolThatIsDefinedTwice) {
  EXPECT_EQ(status_of_link({ElfObject::returning("same", 1), ElfObject::returning("same", 2)}, {"same"}).message(),
            "linker: symbol same is defined twice");
}

TEST(Linker, AnErrorInOneObjectDropsTheOthers) {
  EXPECT_THAT(status_of_link({ElfObject::calling("first", "memcpy"), "garbage"}, {"first"}).message(), StartsWith("linker: "));
  EXPECT_THAT(
      status_of_link({ElfObject::calling("first", "memcpy"), ElfObject::calling("second", "absent")}, {"first"}).message(),
      HasSubstr("uses symbol absent"));
}

TEST(Linker, RefusesWritableData) {
  ElfObject object;
  object.add_symbol("state", object.add_section(".data", "12345678", SHF_WRITE), 0, 8, STT_OBJECT);
  EXPECT_EQ(status_of_link({object.bytes()}, {"state"}).message(),
            "linker: section .data is writable; a kernel has code and constants only");
}

TEST(Linker, RefusesLargeAlignments) {
  ElfObject object;
  object.add_symbol("table", object.add_section(".rodata", "12345678", 0, 4096), 0, 8, STT_OBJECT);
  EXPECT_EQ(status_of_link({object.bytes()}, {"table"}).message(),
            "linker: a section is aligned to 4096 bytes, expected at most 64");
}

TEST(Linker, ManyThreadsLinkAndDropAtTheSameTime) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&wrong, t] {
      Linked kept;
      for (int i = 0; i < 200; ++i) {
        const int32_t value = 1000 * t + i;
        Expected<Linked> linked = linker().link({ElfObject::returning("value", value)}, {"value"});
        wrong += !linked.ok() || call((*linked)->addresses[0]) != value;
        if (linked.ok() && i % 3 == 0) kept = *std::move(linked);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#if !defined(__SANITIZE_THREAD__)  // whose run time refuses threads in a forked child
/// Links and drops kernels, and calls those of before: true if every value is right.
bool links_and_drops(std::vector<Linked>& before, int32_t base) {
  bool right = true;
  for (int32_t i = 0; i < 300; ++i) {
    Expected<Linked> linked = linker().link({ElfObject::returning("value", base + i)}, {"value"});
    right = right && linked.ok() && call((*linked)->addresses[0]) == base + i;
    const size_t place = static_cast<size_t>(i) % before.size();
    if (i % 2 == 0 && linked.ok()) before[place] = *std::move(linked);  // drops one of before, whose memory is used again
  }
  return right;
}

TEST(Linker, ParentAndChildGoOnByThemselvesAfterAFork) {
  std::vector<Linked> kept, replaced;
  for (int32_t i = 0; i < 40; ++i) {
    for (std::vector<Linked>* list : {&kept, &replaced}) {
      Expected<Linked> linked = linker().link({ElfObject::returning("value", i)}, {"value"});
      ASSERT_TRUE(linked.ok());
      list->push_back(*std::move(linked));
    }
  }
  const auto kept_are_right = [&] {
    bool right = true;
    for (int32_t i = 0; i < 40; ++i) right = right && call(kept[static_cast<size_t>(i)]->addresses[0]) == i;
    return right;
  };
  // Forks while another thread links: the child finds no lock held.
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) static_cast<void>(linker().link({ElfObject::returning("busy", 1)}, {"busy"}));
  });
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      _exit(links_and_drops(replaced, 10'000) && kept_are_right() ? 0 : 1);
    }
    EXPECT_TRUE(links_and_drops(replaced, 20'000));
    EXPECT_TRUE(kept_are_right());
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(kept_are_right());
  }
  done = true;
  busy.join();
}
#endif
#endif

}  // namespace
}  // namespace strew
