// See profilers.h. The format of a jitdump is described in tools/perf/Documentation/jitdump-specification.txt of Linux. perf finds the file by a
// mapping of it with PROT_EXEC, which is made for that purpose alone and stays.
#include "backends/llvm/link/profilers.h"

#include <fcntl.h>
#include <llvm/BinaryFormat/ELF.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "base/write_quietly.h"

namespace strew::inline v0 {
namespace {

/// Opens the file and empties it. Returns its descriptor, or -1 with errno; EEXIST: what is there is not ours.
int open_safely(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  const int made = open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  if (made >= 0 || errno != EEXIST) return made;
  const int found = open(path.c_str(), kFlags);
  struct stat info;
  const bool ours =
      found >= 0 && fstat(found, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && info.st_nlink == 1;
  if (ours && ftruncate(found, 0) == 0) return found;
  if (found >= 0) close(found);
  errno = EEXIST;
  return -1;
}

/// A file whose name contains the number of this process, because a profiler looks for it there. The name can be predicted by anybody who can
/// write to the folder, so a file that exists there already may be an attack. The file is therefore created with O_EXCL and O_NOFOLLOW. An existing
/// one, as an earlier process of the same number leaves it, is used only if it is a regular file that belongs to us and has no other hard link;
/// otherwise nothing is written. A forked child opens a file of its own. Not thread-safe.
class ProcessFile {
 public:
  /// The file is `before`, the number of the process, `after`. `variable` of the environment asks for it. `begin` returns what a new file begins
  /// with; it gets the file's descriptor.
  ProcessFile(const char* variable, std::string before, std::string after, std::string (*begin)(int file) = nullptr)
      : variable_(variable), before_(std::move(before)), after_(std::move(after)), begin_(begin) {}

  /// Writes to the end of the file. After an error nothing more is written.
  void append(std::string_view bytes) {
    open_own();
    write_all(bytes);
  }

 private:
  void open_own() {
    const pid_t process = getpid();
    if (process == process_) return;
    process_ = process;
    if (file_ >= 0) close(file_);  // the parent's
    file_ = open_safely(before_ + std::to_string(process) + after_);
    if (file_ < 0) return warn(errno);
    if (begin_ != nullptr) write_all(begin_(file_));
  }
  void warn(int error) const {
    log(LogLevel::warn, std::string(variable_) + ": " + before_ + std::to_string(process_) + after_ + ": cannot write: " +
                            (error == EEXIST ? "a file or link that is not this process's has the name" : std::strerror(error)));
  }
  void write_all(std::string_view bytes) {
    while (file_ >= 0 && !bytes.empty()) {
      const ssize_t n = write_quietly(file_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        warn(errno);
        close(std::exchange(file_, -1));
        return;
      }
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  const char* const variable_;
  const std::string before_, after_;
  std::string (*const begin_)(int file);
  pid_t process_ = 0;  ///< whose file is open
  int file_ = -1;
};

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

void write_perf_map(std::span<const LinkedFunction> functions) {
  static ProcessFile* const file = new ProcessFile("STREW_PERF_MAP", "/tmp/perf-", ".map");
  std::ostringstream lines;
  for (const LinkedFunction& function : functions)
    lines << std::hex << reinterpret_cast<uintptr_t>(function.code) << ' ' << function.bytes << ' ' << function.name << '\n';
  file->append(lines.str());
}

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
