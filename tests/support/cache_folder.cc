// See cache_folder.h.
#include "tests/support/cache_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "runtime/disk_cache/build_id.h"

namespace strew::test {

CacheFolder::CacheFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "strew_cache_XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = std::filesystem::canonical(name).string();
}

CacheFolder::~CacheFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> CacheFolder::names() const {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) out.push_back(entry.path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string CacheFolder::read(const std::string& name) const {
  std::ifstream in(path(name), std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void CacheFolder::write(const std::string& name, const std::string& bytes, mode_t mode) const {
  std::ofstream(path(name), std::ios::binary | std::ios::trunc) << bytes;
  chmod(path(name).c_str(), mode);
}

void CacheFolder::set_time(const std::string& name, int64_t seconds) const {
  const timespec times[2] = {{seconds, 0}, {seconds, 0}};
  utimensat(AT_FDCWD, path(name).c_str(), times, AT_SYMLINK_NOFOLLOW);
}

CacheEntry some_entry(const std::string& symbol, size_t object_bytes) {
  CacheEntry out;
  out.symbol = symbol;
  out.build_id = build_id();
  out.features = "avx,avx2";
  out.op = "the op of " + symbol;
  out.schedule = "strategy=sequential";
  out.target = "x86-64-v3";
  out.backend = "llvm";
  out.object.assign(object_bytes, 'o');
  return out;
}

bool FaultyCalls::fails(bool is_counted) {
  if (is_killed && has_failed_) return true;
  if (!is_counted || calls++ != fail_at) return false;
  has_failed_ = true;
  errno = error;
  return true;
}

int FaultyCalls::open(int folder, const char* name, int flags, mode_t mode) {
  const bool makes = (flags & O_CREAT) != 0, walks = (flags & O_PATH) != 0;
  return fails(makes ? counts_writes : counts_reads && !walks) ? -1 : FolderCalls::open(folder, name, flags, mode);
}

int FaultyCalls::close(int file) {
  // Those of readers are never looked at, and the descriptor is gone whatever close() says.
  const int flags = fcntl(file, F_GETFL);
  const bool is_fault = fails(counts_writes && (flags & O_ACCMODE) == O_WRONLY);
  const int saved = errno, result = FolderCalls::close(file);
  if (!is_fault) return result;
  errno = saved;
  return -1;
}

ssize_t FaultyCalls::read(int file, void* to, size_t bytes) {
  return fails(counts_reads) ? -1 : FolderCalls::read(file, to, std::min(bytes, most_bytes));
}

ssize_t FaultyCalls::write(int file, const void* from, size_t bytes) {
  return fails(counts_writes) ? -1 : FolderCalls::write(file, from, std::min(bytes, most_bytes));
}

int FaultyCalls::status(int file, struct stat& out) { return fails(counts_reads) ? -1 : FolderCalls::status(file, out); }

int FaultyCalls::status_at(int folder, const char* name, struct stat& out) {
  return fails(counts_reads) ? -1 : FolderCalls::status_at(folder, name, out);
}

int FaultyCalls::rename(int folder, const char* from, const char* to) {
  return fails(counts_writes) ? -1 : FolderCalls::rename(folder, from, to);
}

int FaultyCalls::remove(int folder, const char* name) { return fails(counts_writes) ? -1 : FolderCalls::remove(folder, name); }

int FaultyCalls::make_folder(int folder, const char* name) {
  return fails(counts_writes) ? -1 : FolderCalls::make_folder(folder, name);
}

bool FaultyCalls::list(int folder, size_t most, std::vector<std::string>& out) {
  return !fails(counts_reads) && FolderCalls::list(folder, most, out);
}

}  // namespace strew::test
