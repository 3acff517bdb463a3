// See jitdump.h. The format is described in tools/perf/Documentation/jitdump-specification.txt of Linux. perf finds the file by a mapping of it
// with PROT_EXEC, which is made for that purpose alone and stays.
#include "backends/llvm/link/jitdump.h"

#include <llvm/BinaryFormat/ELF.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "backends/llvm/link/process_file.h"

namespace strew::inline v0 {
namespace {

struct FileHeader {
  uint32_t magic = 0x4A695444;  // "JiTD"
  uint32_t version = 1;
  uint32_t bytes = sizeof(FileHeader);
  uint32_t machine = 0;
  uint32_t padding = 0;
  uint32_t process = 0;
  uint64_t time = 0;
  uint64_t flags = 0;
};
static_assert(sizeof(FileHeader) == 40);

struct CodeLoad {
  uint32_t kind = 0;  // JIT_CODE_LOAD
  uint32_t bytes = 0;
  uint64_t time = 0;
  uint32_t process = 0;
  uint32_t thread = 0;
  uint64_t address = 0;
  uint64_t loaded_at = 0;
  uint64_t code_bytes = 0;
  uint64_t index = 0;
};
static_assert(sizeof(CodeLoad) == 56);

#if defined(__x86_64__)
constexpr uint32_t kMachine = llvm::ELF::EM_X86_64;
#else
constexpr uint32_t kMachine = llvm::ELF::EM_AARCH64;
#endif

/// The clock that perf uses with `-k mono`.
uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string begin(int file) {
  mmap(nullptr, static_cast<size_t>(sysconf(_SC_PAGESIZE)), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  FileHeader header;
  header.machine = kMachine;
  header.process = static_cast<uint32_t>(getpid());
  header.time = now();
  std::string out;
  append(out, header);
  return out;
}

}  // namespace

void write_jitdump(std::span<const LinkedFunction> functions) {
  static ProcessFile* const file = new ProcessFile("STREW_JITDUMP", "/tmp/jit-", ".dump", begin);
  static uint64_t index = 0;
  for (const LinkedFunction& function : functions) {
    CodeLoad load;
    load.bytes = static_cast<uint32_t>(sizeof load + function.name.size() + 1 + function.bytes);
    load.time = now();
    load.process = static_cast<uint32_t>(getpid());
    load.thread = static_cast<uint32_t>(syscall(SYS_gettid));
    load.address = load.loaded_at = reinterpret_cast<uintptr_t>(function.code);
    load.code_bytes = function.bytes;
    load.index = index++;
    std::string record;
    append(record, load);
    record.append(function.name.c_str(), function.name.size() + 1);
    record.append(function.code, function.bytes);
    file->append(record);
  }
}

}  // namespace strew::inline v0
