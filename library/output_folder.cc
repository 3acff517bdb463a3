// See output_folder.h.
#include "library/output_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/pending_file.h"

namespace strew::inline v0 {
namespace {

namespace fs = std::filesystem;

Status cannot_write(const std::string& path, int error) { return io_error(path + ": cannot write: " + std::strerror(error)); }

/// A new folder beside `path`, which is removed with what is in it.
class Beside {
 public:
  explicit Beside(const std::string& path) {
    const std::string begin = path + "." + std::to_string(getpid()) + ".";
    for (int number = 0; number < 100 && !made_; ++number) {
      path_ = begin + std::to_string(number);
      made_ = mkdir(path_.c_str(), 0777) == 0;  // fails, and follows nothing, if there is something of that name
      if (!made_ && errno != EEXIST) return;
    }
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    std::error_code ignored;
    if (made_) fs::remove_all(path_, ignored);
  }
  bool made() const { return made_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool made_ = false;
};

}  // namespace

Status OutputFolder::check(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) return invalid_argument(path + ": it is a file, expected a folder");
  if (fs::is_empty(path, error) || fs::exists(path + "/" + kReport, error)) return {};
  return invalid_argument(path + ": the folder has other files and no " + kReport +
                          " of an earlier run, expected a new or empty folder");
}

Status OutputFolder::replace(const std::string& given, const std::vector<std::pair<std::string, std::string>>& files) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  STREW_TRY(check(path));
  const Beside beside(path);
  if (!beside.made()) return cannot_write(path, errno);
  for (const auto& [name, bytes] : files) {
    STREW_ASSIGN(PendingFile file, PendingFile::create(beside.path() + "/" + name, bytes));
    STREW_TRY(file.commit());
  }
  // With a folder of that name the two change places, and the old one is removed; without one the new one is renamed.
  if (renameat2(AT_FDCWD, beside.path().c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (errno == ENOENT && rename(beside.path().c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  if (error != EINVAL) return cannot_write(path, error);
  const std::string old = beside.path() + ".old";  // a file system that cannot exchange
  if (rename(path.c_str(), old.c_str()) != 0) return cannot_write(path, errno);
  if (rename(beside.path().c_str(), path.c_str()) != 0) {
    const int why = errno;
    rename(old.c_str(), path.c_str());
    return cannot_write(path, why);
  }
  std::error_code ignored;
  fs::remove_all(old, ignored);
  return {};
}

}  // namespace strew::inline v0
