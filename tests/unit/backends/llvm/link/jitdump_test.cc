// STREW_JITDUMP=1: a process that runs kernels leaves a file in perf's jitdump format. The environment is read once, so it takes another process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "strew/runtime.h"
#include "tests/support/again.h"
#include "tests/support/ops.h"

namespace strew {
namespace {

std::string path_of(pid_t process) { return "/tmp/jit-" + std::to_string(process) + ".dump"; }

std::string contents_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
T at(const std::string& bytes, size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Record {
  uint64_t time = 0, address = 0, index = 0;
  uint32_t process = 0;
  std::string name, code;
};

/// The records behind the file's header, as the specification of Linux describes them.
std::vector<Record> records_of(const std::string& file) {
  std::vector<Record> records;
  for (size_t start = 40; start < file.size();) {
    const auto kind = at<uint32_t>(file, start), size = at<uint32_t>(file, start + 4);
    EXPECT_EQ(kind, 0u) << "JIT_CODE_LOAD";
    if (size < 56 || start + size > file.size()) {
      ADD_FAILURE() << "a record of " << size << " bytes at " << start << " of " << file.size();
      break;
    }
    Record record;
    record.time = at<uint64_t>(file, start + 8);
    record.process = at<uint32_t>(file, start + 16);
    record.address = at<uint64_t>(file, start + 24);
    EXPECT_EQ(at<uint64_t>(file, start + 32), record.address);
    record.index = at<uint64_t>(file, start + 48);
    record.name = file.c_str() + start + 56;
    record.code = file.substr(start + 56 + record.name.size() + 1, at<uint64_t>(file, start + 40));
    EXPECT_EQ(56 + record.name.size() + 1 + record.code.size(), size);
    records.push_back(record);
    start += size;
  }
  return records;
}

Kernel kernel_of(Runtime& runtime, int rows) {
  KernelOptions options;
  options.backend = BackendChoice::llvm;
  options.threads = 1;
  const auto kernel =
      runtime.get(test::op_of("strew1.scatter(operand=f32[" + std::to_string(rows) +
                              ",8] indices=i32[3] updates=f32[3,8] update_window_dims=[1] inserted_window_dims=[0] "
                              "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add)"),
                  options);
  EXPECT_TRUE(kernel.ok()) << kernel.status().message();
  return kernel.ok() ? *kernel : Kernel();
}

const Record* find(const std::vector<Record>& records, const Kernel& kernel) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const Record& each) { return each.name == kernel.symbol() + "_range"; });
  return found == records.end() ? nullptr : &*found;
}

TEST(Jitdump, HoldsTheCodeOfEveryEntry) {
  if (!test::is_again()) {
    EXPECT_EQ(test::run_again("STREW_JITDUMP=1"), 0);
    return;
  }
  Runtime runtime;
  const Kernel first = kernel_of(runtime, 10), second = kernel_of(runtime, 11);
  const std::string path = path_of(getpid()), file = contents_of(path);
  EXPECT_EQ(at<uint32_t>(file, 0), 0x4A695444u);
  EXPECT_EQ(at<uint32_t>(file, 4), 1u);
  EXPECT_EQ(at<uint32_t>(file, 8), 40u);
  EXPECT_EQ(at<uint32_t>(file, 20), static_cast<uint32_t>(getpid()));
  const std::vector<Record> records = records_of(file);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].index, i);
    EXPECT_EQ(records[i].process, static_cast<uint32_t>(getpid()));
    EXPECT_GE(records[i].time, records[i == 0 ? 0 : i - 1].time);
  }
  for (const Kernel& kernel : {first, second}) {
    const Record* const record = find(records, kernel);
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(record->address, reinterpret_cast<uintptr_t>(kernel.entry(STREW_ENTRY_range)));
    ASSERT_FALSE(record->code.empty());
    EXPECT_EQ(std::memcmp(record->code.data(), reinterpret_cast<const void*>(record->address), record->code.size()), 0);
  }
  // perf finds the file by an executable mapping of it.
  std::ifstream maps("/proc/self/maps");
  bool is_mapped = false;
  for (std::string line; std::getline(maps, line);) is_mapped |= line.find("r-xp") != std::string::npos && line.ends_with(path);
  EXPECT_TRUE(is_mapped);
  // A forked child has a file of its own.
  const pid_t child = fork();
  if (child == 0) {
    kernel_of(runtime, 12);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(contents_of(path), file);
  EXPECT_EQ(find(records_of(contents_of(path_of(child))), first), nullptr);
  EXPECT_FALSE(records_of(contents_of(path_of(child))).empty());
  std::filesystem::remove(path);
  std::filesystem::remove(path_of(child));
}

TEST(Jitdump, IsWrittenOnlyWhereAskedFor) {
  Runtime runtime;
  kernel_of(runtime, 10);
  EXPECT_FALSE(std::filesystem::exists(path_of(getpid())));
}

}  // namespace
}  // namespace strew
