// Guarded buffers: memory in which code that strays is caught without a sanitizer.
//
// Each buffer's pages lie between PROT_NONE pages, and its bytes end (or begin) exactly at one, so the first byte past it faults. The
// pages are mapped twice: `writable()` is where tests put data and what a kernel gets for its results, `read_only()` shows the same
// bytes to a kernel that must not write them. Slack between the bytes and the far guard carries whatever the test put there (a
// canary). A pool keeps mappings, because a differential run wants millions of buffers and mmap costs more than a small kernel.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace strew::test {

enum class Flush : uint8_t { end, begin };  ///< which guard page the bytes touch

class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t pages);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  /// Chooses the place of `bytes` bytes; contents stay. `label` appears in fault reports.
  void place(size_t bytes, Flush flush, std::string label);

  std::byte* writable() const { return writable_ + offset_; }
  std::byte* read_only() const { return read_only_ + offset_; }
  size_t size() const { return bytes_; }
  /// Everything between the guards, slack included, through the writable view.
  std::span<std::byte> all() const { return {writable_, capacity_}; }
  /// Offset of size()'s first byte in all().
  size_t offset() const { return offset_; }
  size_t capacity() const { return capacity_; }
  /// Does `address` fall in this buffer's pages or guards? Then where, in words.
  bool describe(const void* address, std::string* out) const;

 private:
  std::byte *writable_ = nullptr, *read_only_ = nullptr;
  size_t capacity_ = 0, offset_ = 0, bytes_ = 0;
  std::string label_;
};

class GuardedPool {
 public:
  /// A buffer with `bytes` placed. Valid until release_all().
  GuardedBuffer& take(size_t bytes, Flush flush, std::string label);
  void release_all();
  /// Where `address` lies, for fault reports.
  std::string describe(const void* address) const;

 private:
  struct Entry {
    std::unique_ptr<GuardedBuffer> buffer;
    bool used = false;
  };
  std::vector<std::vector<Entry>> classes_;  ///< by log2 of the pages
};

/// What stopped a body run by catch_fault().
struct Caught {
  bool faulted = false;
  int signal = 0;
  const void* address = nullptr;
};
/// Runs `body`; a SIGSEGV, SIGBUS, SIGFPE or SIGILL in this thread comes back as a value. In another thread (a pool's worker) the
/// handler calls `on_foreign` with signal and address and exits with status 3. Locks held by the body stay held: report and stop.
Caught catch_fault(const std::function<void()>& body);
void set_foreign_fault_report(std::function<void(int signal, const void* address)> on_foreign);
std::string signal_name(int signal);

}  // namespace strew::test
