// See slabs.h. A page of a slab is inaccessible, or readable (constants), or executable (code), and it is used or free.
//
// Mappings: the system joins neighbouring pages of equal access into one mapping, of which a process may have 65,530. A full slab takes two.
// Every hole that is made inaccessible takes two more, so a slab has at most kMostMappings: a free page beyond that keeps its memory and its
// access, filled with trap instructions (no caller falls into stale code), until it is used again or its neighbours are free too.
//
// The reservation is made with MAP_NORESERVE and without huge pages, so that pages which were written once do not differ from others in the
// system's eyes, and so that the memory that a slab takes is that of its used pages.
#include "backends/loader/slabs.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/fork_hooks.h"

namespace strew::inline v0 {
namespace {

using Access = PageCalls::Access;

#if defined(__x86_64__)
constexpr int kTrap = 0xcc;  // int3
#else
constexpr int kTrap = 0;  // aarch64: udf, an undefined instruction
#endif
constexpr size_t kPiecesPerPage = 64;
constexpr size_t kMostMappings = 12;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

/// `count` bits from bit `first` on.
uint64_t bits(size_t first, size_t count) { return (count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first; }

/// The system's refusal as a Status. `call`: the system call that failed, with errno set.
Status refusal(const char* call, size_t bytes) {
  const int error = errno;
  const std::string reason = std::string(call) + ": " + std::strerror(error);
  if (error == EACCES || error == EPERM) {
    return unsupported("generated code: the system refuses executable memory (" + reason +
                       "); a security policy may forbid it, such as SELinux's execmem or systemd's MemoryDenyWriteExecute");
  }
  return resource_exhausted("out of memory for generated code: the system refuses " + std::to_string(bytes >> 10) + " KiB (" +
                            reason + "); it may be a limit of the process: ulimit -v, ulimit -d, sysctl vm.max_map_count");
}

}  // namespace

char* PageCalls::reserve(size_t bytes) {
  void* const area = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) return nullptr;
  madvise(area, bytes, MADV_NOHUGEPAGE);  // refused where the system has no huge pages
  return static_cast<char*>(area);
}

bool PageCalls::release(char* at, size_t bytes) { return munmap(at, bytes) == 0; }

bool PageCalls::protect(char* at, size_t bytes, Access access) {
  constexpr int kFlags[] = {PROT_NONE, PROT_READ | PROT_WRITE, PROT_READ, PROT_READ | PROT_EXEC};
  return mprotect(at, bytes, kFlags[static_cast<size_t>(access)]) == 0;
}

void PageCalls::discard(char* at, size_t bytes) { madvise(at, bytes, MADV_DONTNEED); }

struct Slab {
  struct Page {
    uint64_t used = 0;  ///< a bit per piece; all bits for code
    Access access = Access::none;
    bool is_code = false;
  };

  Slab(PageCalls& calls, size_t page_bytes, size_t pages) : calls(calls), page_bytes(page_bytes), pages(pages), free(pages) {}
  ~Slab() {
    if (base != nullptr) calls.release(base, bytes());
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  size_t bytes() const { return pages.size() * page_bytes; }
  char* at(size_t page) const { return base + page * page_bytes; }

  /// Sets the access of pages that need another one.
  bool protect(size_t first, size_t count, Access access) {
    for (size_t i = first; i < first + count;) {
      size_t end = i;
      while (end < first + count && (pages[end].access == access) == (pages[i].access == access)) ++end;
      if (pages[i].access != access && !calls.protect(at(i), (end - i) * page_bytes, access)) return false;
      for (; i < end; ++i) pages[i].access = access;
    }
    return true;
  }

  /// How many areas of equal access there would be if pages [first, first + count) were inaccessible.
  size_t mappings_without(size_t first, size_t count) const {
    const auto access = [&](size_t i) { return i - first < count ? Access::none : pages[i].access; };
    size_t areas = 1;
    for (size_t i = 1; i < pages.size(); ++i) areas += access(i) != access(i - 1);
    return areas;
  }

  PageCalls& calls;
  const size_t page_bytes;
  char* base = nullptr;
  std::vector<Page> pages;
  size_t free;  ///< pages
};

namespace {

constexpr size_t kNone = ~size_t{0};

/// The first of `count` free pages in a row: of the slab's first such row, or of its last one.
size_t find_row(const Slab& slab, size_t count, bool is_last) {
  size_t row = 0;
  for (size_t i = 0; i < slab.pages.size(); ++i) {
    const size_t page = is_last ? slab.pages.size() - 1 - i : i;
    row = slab.pages[page].used == 0 ? row + 1 : 0;
    if (row == count) return is_last ? page : page + 1 - count;
  }
  return kNone;
}

/// The first of `count` free pieces in a row within one page that already holds constants.
size_t find_shared(const Slab& slab, size_t count) {
  for (size_t i = slab.pages.size(); i-- > 0;) {
    const Slab::Page& page = slab.pages[i];
    if (page.used == 0 || page.is_code) continue;
    for (size_t piece = 0; piece + count <= kPiecesPerPage;) {
      const uint64_t taken = page.used & bits(piece, count);
      if (taken == 0) return i * kPiecesPerPage + piece;
      piece = kPiecesPerPage - static_cast<size_t>(std::countl_zero(taken));  // behind the last piece that is in the way
    }
  }
  return kNone;
}

/// Calls function(page, mask) for every page that pieces [first, first + count) lie in.
template <class Function>
void for_each_page(size_t first, size_t count, const Function& function) {
  while (count > 0) {
    const size_t start = first % kPiecesPerPage, here = std::min(count, kPiecesPerPage - start);
    function(first / kPiecesPerPage, bits(start, here));
    first += here;
    count -= here;
  }
}

bool take_code(Slab& slab, size_t count, uint32_t& first) {
  if (count == 0) return true;
  const size_t found = slab.free < count ? kNone : find_row(slab, count, /*is_last=*/false);
  if (found == kNone) return false;
  for (size_t i = found; i < found + count; ++i) {
    slab.pages[i].used = ~uint64_t{0};
    slab.pages[i].is_code = true;
  }
  slab.free -= count;
  first = static_cast<uint32_t>(found);
  return true;
}

bool take_constants(Slab& slab, size_t count, uint32_t& first) {
  if (count == 0) return true;
  size_t found = count <= kPiecesPerPage ? find_shared(slab, count) : kNone;
  if (found == kNone) {
    const size_t pages = round_up(count, kPiecesPerPage) / kPiecesPerPage;
    const size_t page = slab.free < pages ? kNone : find_row(slab, pages, /*is_last=*/true);
    if (page == kNone) return false;
    found = page * kPiecesPerPage;
  }
  for_each_page(found, count, [&](size_t page, uint64_t mask) {
    slab.free -= slab.pages[page].used == 0;
    slab.pages[page].used |= mask;
    slab.pages[page].is_code = false;
  });
  first = static_cast<uint32_t>(found);
  return true;
}

void drop_code(Slab& slab, size_t first, size_t count) {
  for (size_t i = first; i < first + count; ++i) slab.pages[i].used = 0;
  slab.free += count;
}

/// The free pages around `page`, which is free, that have access: the first, and how many.
std::pair<size_t, size_t> free_around(const Slab& slab, size_t page) {
  const auto is_kept = [&](size_t i) { return slab.pages[i].used == 0 && slab.pages[i].access != Access::none; };
  size_t first = page, end = page;
  while (first > 0 && is_kept(first - 1)) --first;
  while (end < slab.pages.size() && is_kept(end)) ++end;
  return {first, end - first};
}

/// Overwrites code that nobody owns any more. If the system refuses, it stays; nothing calls it.
void fill_with_traps(Slab& slab, size_t first, size_t count) {
  if (!slab.protect(first, count, Access::write)) return;
  std::memset(slab.at(first), kTrap, count * slab.page_bytes);
  slab.protect(first, count, Access::execute);
}

/// Gives the memory of free pages back, [first, first + count) and those beside them, or keeps it if that would take too many mappings.
void retire(Slab& slab, size_t first, size_t count) {
  const auto [start, size] = free_around(slab, first);
  if (size == 0) return;  // it was never written
  const size_t now = slab.mappings_without(0, 0), then = slab.mappings_without(start, size);
  if (then <= std::max(now, kMostMappings) && slab.protect(start, size, Access::none))
    slab.calls.discard(slab.at(start), size * slab.page_bytes);
  else if (slab.pages[first].access == Access::execute)
    fill_with_traps(slab, first, count);
}

}  // namespace

Slabs::Slabs(PageCalls& calls) : calls_(calls), page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {}

Slabs::Slabs()
    : Slabs([]() -> PageCalls& {
        static PageCalls* const system = new PageCalls;
        return *system;
      }()) {}

Slabs::~Slabs() = default;

Expected<Slab*> Slabs::add_slab(size_t pages) {
  slabs_.reserve(slabs_.size() + 1);
  auto slab = std::make_unique<Slab>(calls_, page_, std::max(pages, kSlabBytes / page_));
  slab->base = calls_.reserve(slab->bytes());
  if (slab->base == nullptr) return refusal("mmap", slab->bytes());
  slabs_.push_back(std::move(slab));
  return slabs_.back().get();
}

Expected<CodeRun> Slabs::place(size_t code_bytes, size_t constant_bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // code and constants have to be within 2 GiB of each other
  if (code_bytes > kMost || constant_bytes > kMost) {
    return unsupported("generated code: " + std::to_string(code_bytes) + " bytes of code and " + std::to_string(constant_bytes) +
                       " of constants, expected at most " + std::to_string(kMost) + " of each");
  }
  CodeRun run;
  run.pages_ = static_cast<uint32_t>(round_up(code_bytes, page_) / page_);
  const std::lock_guard lock(mutex_);
  const size_t piece = page_ / kPiecesPerPage;
  run.pieces_ = static_cast<uint32_t>(round_up(constant_bytes, piece) / piece);
  const auto fits = [&](Slab& slab) {
    if (!take_code(slab, run.pages_, run.first_page_)) return false;
    if (!take_constants(slab, run.pieces_, run.first_piece_)) return drop_code(slab, run.first_page_, run.pages_), false;
    run.slab_ = &slab;
    return true;
  };
  for (const std::unique_ptr<Slab>& slab : slabs_)
    if (fits(*slab)) break;
  if (run.slab_ == nullptr) {
    STREW_ASSIGN(Slab* const added, add_slab(run.pages_ + round_up(constant_bytes, page_) / page_));
    fits(*added);
  }
  run.slabs_ = this;
  return run;
}

Status Slabs::write(const CodeRun& run, std::span<const char> code, std::span<const char> constants) {
  Slab& slab = *run.slab_;
  const std::lock_guard lock(mutex_);
  const auto write_pages = [&](size_t first, size_t count, char* to, std::span<const char> bytes, Access access) -> Status {
    if (count == 0) return {};
    if (!slab.protect(first, count, Access::write)) return refusal("mprotect", count * page_);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    return slab.protect(first, count, access) ? Status() : refusal("mprotect", count * page_);
  };
  const size_t first = run.first_piece_ / kPiecesPerPage;
  const size_t end = round_up(run.first_piece_ + run.pieces_, kPiecesPerPage) / kPiecesPerPage;
  STREW_TRY(write_pages(first, run.pieces_ == 0 ? 0 : end - first, run.constants(), constants, Access::read));
  STREW_TRY(write_pages(run.first_page_, run.pages_, run.code(), code, Access::execute));
  if (run.pages_ != 0) __builtin___clear_cache(run.code(), run.code() + code.size());
  return {};
}

void Slabs::give_back(const CodeRun& run) {
  Slab& slab = *run.slab_;
  const std::lock_guard lock(mutex_);
  drop_code(slab, run.first_page_, run.pages_);
  size_t first = kNone, count = 0;  // pages of constants that are free now
  for_each_page(run.first_piece_, run.pieces_, [&](size_t page, uint64_t mask) {
    slab.pages[page].used &= ~mask;
    if (slab.pages[page].used != 0) return;
    ++slab.free;
    ++count;
    first = std::min(first, page);
  });
  if (slab.free == slab.pages.size() && calls_.release(slab.base, slab.bytes())) {
    slab.base = nullptr;
    slabs_.erase(std::find_if(slabs_.begin(), slabs_.end(), [&](const auto& each) { return each.get() == &slab; }));
    return;
  }
  if (run.pages_ != 0) retire(slab, run.first_page_, run.pages_);
  if (count != 0) retire(slab, first, count);
}

Slabs::Counts Slabs::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  counts.slabs = slabs_.size();
  for (const std::unique_ptr<Slab>& slab : slabs_) {
    counts.mappings += slab->mappings_without(0, 0);
    for (const Slab::Page& page : slab->pages) {
      if (page.access != Access::none) counts.bytes += page_;
      counts.abandoned += page.used == 0 && page.access != Access::none;
    }
  }
  return counts;
}

Slabs& process_slabs() {
  static Slabs& slabs = []() -> Slabs& {
    static Slabs* const made = new Slabs;
    set_fork_hooks(ForkStage::code_memory, {[] { made->before_fork(); }, [] { made->after_fork(); }, [] { made->after_fork(); }});
    return *made;
  }();
  return slabs;
}

CodeRun::CodeRun(CodeRun&& other) noexcept { *this = std::move(other); }

CodeRun& CodeRun::operator=(CodeRun&& other) noexcept {
  std::swap(slabs_, other.slabs_);
  std::swap(slab_, other.slab_);
  std::swap(first_page_, other.first_page_);
  std::swap(pages_, other.pages_);
  std::swap(first_piece_, other.first_piece_);
  std::swap(pieces_, other.pieces_);
  return *this;
}

CodeRun::~CodeRun() {
  if (slabs_ != nullptr) slabs_->give_back(*this);
}

char* CodeRun::code() const { return slab_->at(first_page_); }
char* CodeRun::constants() const { return slab_->base + first_piece_ * slab_->page_bytes / kPiecesPerPage; }
size_t CodeRun::bytes() const { return pages_ * slab_->page_bytes + pieces_ * slab_->page_bytes / kPiecesPerPage; }

Status CodeRun::write(std::span<const char> code, std::span<const char> constants) {
  return slabs_->write(*this, code, constants);
}

}  // namespace strew::inline v0
