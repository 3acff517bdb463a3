// Guarded buffers: see guarded.h. Linux only (memfd). tests/unit/support/guarded_test.cc plants overruns and checks they are caught.
#include "tests/support/guarded.h"

#include <fmt/format.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace strew::test {
namespace {

size_t page_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// One view of the file between two inaccessible pages.
std::byte* map_between_guards(int fd, size_t bytes, int protection) {
  const size_t page = page_bytes();
  void* area = mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) throw std::runtime_error(fmt::format("mmap of {} bytes: {}", bytes, std::strerror(errno)));
  std::byte* inside = static_cast<std::byte*>(area) + page;
  if (mmap(inside, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
    throw std::runtime_error(fmt::format("mmap of {} bytes: {}", bytes, std::strerror(errno)));
  }
  return inside;
}

thread_local sigjmp_buf* jump = nullptr;
thread_local Caught caught;

std::function<void(int, const void*)>& foreign_report() {
  static std::function<void(int, const void*)> report;
  return report;
}

void on_signal(int signal, siginfo_t* info, void*) {
  if (jump != nullptr) {
    caught = {true, signal, info->si_addr};
    siglongjmp(*jump, 1);
  }
  if (foreign_report()) foreign_report()(signal, info->si_addr);
  _exit(3);
}

void install_handlers() {
  static const bool installed = [] {
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      struct sigaction action;
      std::memset(&action, 0, sizeof action);
      action.sa_sigaction = on_signal;
      action.sa_flags = SA_SIGINFO | SA_NODEFER;
      sigaction(signal, &action, nullptr);
    }
    return true;
  }();
  (void)installed;
}

}  // namespace

GuardedBuffer::GuardedBuffer(size_t pages) : capacity_(pages * page_bytes()) {
  const int fd = memfd_create("strew_test", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(capacity_)) != 0) {
    throw std::runtime_error(fmt::format("memfd of {} bytes: {}", capacity_, std::strerror(errno)));
  }
  writable_ = map_between_guards(fd, capacity_, PROT_READ | PROT_WRITE);
  read_only_ = map_between_guards(fd, capacity_, PROT_READ);
  close(fd);
}

GuardedBuffer::~GuardedBuffer() {
  const size_t page = page_bytes();
  munmap(writable_ - page, capacity_ + 2 * page);
  munmap(read_only_ - page, capacity_ + 2 * page);
}

void GuardedBuffer::place(size_t bytes, Flush flush, std::string label) {
  bytes_ = bytes;
  offset_ = flush == Flush::end ? capacity_ - bytes : 0;
  label_ = std::move(label);
}

bool GuardedBuffer::describe(const void* address, std::string* out) const {
  const auto page = static_cast<ptrdiff_t>(page_bytes());
  const auto capacity = static_cast<ptrdiff_t>(capacity_);
  for (const std::byte* view : {writable_, read_only_}) {
    const ptrdiff_t at = static_cast<const std::byte*>(address) - view;
    if (at < -page || at >= capacity + page) continue;
    *out = fmt::format("{} ({} view), byte {} of {}", label_, view == writable_ ? "writable" : "read-only",
                       at - static_cast<ptrdiff_t>(offset_), bytes_);
    return true;
  }
  return false;
}

GuardedBuffer& GuardedPool::take(size_t bytes, Flush flush, std::string label) {
  size_t log2 = 0;
  while ((page_bytes() << log2) < bytes) ++log2;
  if (classes_.size() <= log2) classes_.resize(log2 + 1);
  for (Entry& entry : classes_[log2]) {
    if (entry.used) continue;
    entry.used = true;
    entry.buffer->place(bytes, flush, std::move(label));
    return *entry.buffer;
  }
  classes_[log2].push_back({std::make_unique<GuardedBuffer>(size_t{1} << log2), true});
  GuardedBuffer& buffer = *classes_[log2].back().buffer;
  buffer.place(bytes, flush, std::move(label));
  return buffer;
}

void GuardedPool::release_all() {
  for (auto& sizes : classes_)
    for (Entry& entry : sizes) entry.used = false;
}

std::string GuardedPool::describe(const void* address) const {
  std::string out;
  for (const auto& sizes : classes_)
    for (const Entry& entry : sizes)
      if (entry.used && entry.buffer->describe(address, &out)) return out;
  return fmt::format("address {} in no buffer", address);
}

Caught catch_fault(const std::function<void()>& body) {
  install_handlers();
  sigjmp_buf here;
  sigjmp_buf* const outer = jump;
  caught = {};
  if (sigsetjmp(here, 1) == 0) {
    jump = &here;
    body();
    jump = outer;
    return {};
  }
  jump = outer;
  return caught;
}

void set_foreign_fault_report(std::function<void(int, const void*)> on_foreign) {
  install_handlers();
  foreign_report() = std::move(on_foreign);
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    default:
      return fmt::format("signal {}", signal);
  }
}

}  // namespace strew::test
