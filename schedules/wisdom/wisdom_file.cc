// See wisdom_file.h.
#include "schedules/wisdom/wisdom_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>

#include "base/file.h"
#include "base/options.h"
#include "base/write_quietly.h"

namespace strew::inline v0 {
namespace {

constexpr mode_t kMode = 0666;  // less the process's umask

Status errno_error(const std::string& path, const char* what) {
  return io_error(path + ": cannot " + what + ": " + std::strerror(errno));
}

/// Closes a descriptor, which also ends its lock.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool ends_in_line_break(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  char last = '\n';
  return size <= 0 || (pread(fd, &last, 1, size - 1) == 1 && last == '\n');
}

auto key_of(const WisdomRecord& r) {
  return std::tie(r.family, r.op, r.dims, r.indices, r.temperature, r.threads, r.machine, r.backend, r.schedule);
}

}  // namespace

std::string wisdom_path() {
  const std::string& named = process_options().wisdom_file;
  if (named == "off") return "";
  if (!named.empty()) return named;
  const std::string folder = user_cache_folder();
  return folder.empty() ? folder : folder + "/wisdom.jsonl";
}

Status append_wisdom(const std::string& path, std::span<const WisdomRecord> records) {
  if (records.empty()) return {};
  std::error_code ignored;  // open() says what is wrong
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  const Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, kMode));
  if (file.get() < 0) return errno_error(path, "append");
  struct stat info = {};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
    return io_error(path + ": cannot append: it is no regular file, expected a file of wisdom");
  while (flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return errno_error(path, "lock");
  std::string text = ends_in_line_break(file.get()) ? "" : "\n";
  for (const WisdomRecord& record : records) text += print(record);
  return write_all_quietly(file.get(), text) ? Status() : errno_error(path, "append");
}

Expected<WisdomLines> read_wisdom(const std::string& path) {
  STREW_ASSIGN(const std::string text, read_file(path, kMostWisdomBytes));
  WisdomLines out;
  std::string_view left = text;
  for (size_t number = 1; !left.empty(); ++number) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.empty()) continue;
    if (Expected<WisdomRecord> record = parse_wisdom_record(line); record.ok())
      out.records.push_back(std::move(*record));
    else
      out.problems.push_back(path + ":" + std::to_string(number) + ": " + record.status().message());
  }
  return out;
}

std::vector<WisdomRecord> latest(std::vector<WisdomRecord> records) {
  // A stable order by key keeps the order of the lines among records of one key.
  std::stable_sort(records.begin(), records.end(),
                   [](const WisdomRecord& a, const WisdomRecord& b) { return key_of(a) < key_of(b); });
  std::vector<WisdomRecord> out;
  for (WisdomRecord& record : records) {
    if (out.empty() || key_of(out.back()) != key_of(record)) {
      out.push_back(std::move(record));
    } else if (record.date >= out.back().date) {
      out.back() = std::move(record);
    }
  }
  return out;
}

}  // namespace strew::inline v0
