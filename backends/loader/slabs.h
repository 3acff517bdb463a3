// Slabs: the memory of generated code. A slab is 2 MiB of address space, reserved at once; code takes whole pages from its front, and constants
// take pieces of 64 bytes from its back, so both of a kernel are within reach of 32-bit offsets. The memory is private to the process: a forked
// child has its own copy.
//
// No page is ever writable and executable. Code of two kernels never shares a page, because a page of code cannot be made writable while other
// threads run in it. Constants of several kernels share pages, because readers do not mind that a page is writable for a moment.
//
// The allocator knows nothing of object files: the loader (loader.h) and, in libstrew_llvm, JITLink put code into it. Tested by
// tests/unit/backends/loader/slabs_test.cc, tests/unit/backends/link_test.cc and tests/unit/base/fork_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The system calls that the allocator makes; tests replace them by ones that fail. A call that is refused leaves its reason in errno.
class PageCalls {
 public:
  enum class Access : uint8_t { none, write, read, execute };

  virtual ~PageCalls() = default;
  /// Private address space without access; null: refused.
  virtual char* reserve(size_t bytes);
  virtual bool release(char* at, size_t bytes);
  virtual bool protect(char* at, size_t bytes, Access access);
  /// Gives the memory behind the pages back; they stay reserved.
  virtual void discard(char* at, size_t bytes);
};

class Slabs;
struct Slab;

/// The code and the constants of one kernel. Its destructor gives the memory back.
class STREW_API CodeRun {
 public:
  CodeRun() = default;
  CodeRun(CodeRun&& other) noexcept;
  CodeRun& operator=(CodeRun&& other) noexcept;
  ~CodeRun();

  char* code() const;       ///< starts at a page
  char* constants() const;  ///< aligned to Slabs::kPiece
  /// Memory that it takes: pages of code and pieces of constants.
  size_t bytes() const;
  /// Copies code and constants to their places and makes them executable and readable. At most what was asked of Slabs::place().
  Status write(std::span<const char> code, std::span<const char> constants);

 private:
  friend class Slabs;
  Slabs* slabs_ = nullptr;
  Slab* slab_ = nullptr;
  // Numbers of pages and of pieces, counted from the start of the slab.
  uint32_t first_page_ = 0, pages_ = 0, first_piece_ = 0, pieces_ = 0;
};

/// Thread-safe.
class Slabs {
 public:
  static constexpr size_t kSlabBytes = size_t{2} << 20;
  static constexpr size_t kPiece = 64;  ///< how constants are aligned: as the widest vectors

  explicit Slabs(PageCalls& calls);
  Slabs();
  ~Slabs();  ///< no CodeRun may be left
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  /// A place for that many bytes, inaccessible until CodeRun::write(). Where the system refuses memory: `unsupported`, with the system's reason.
  STREW_API Expected<CodeRun> place(size_t code_bytes, size_t constant_bytes);

  struct Counts {
    size_t slabs = 0;
    size_t bytes = 0;      ///< of pages with memory behind them
    size_t mappings = 0;   ///< areas of equal access within the slabs
    size_t abandoned = 0;  ///< pages whose memory could not be given back yet
  };
  Counts counts() const;

  /// For fork(): no change is in progress between the two calls, so the child finds the lists whole.
  void before_fork() { mutex_.lock(); }
  void after_fork() { mutex_.unlock(); }

 private:
  friend class CodeRun;
  Expected<Slab*> add_slab(size_t pages);
  Status write(const CodeRun& run, std::span<const char> code, std::span<const char> constants);
  void give_back(const CodeRun& run);

  PageCalls& calls_;
  const size_t page_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
};

/// The slabs of the process. They outlive every kernel: they are never destroyed.
STREW_API Slabs& process_slabs();

}  // namespace strew::inline v0
