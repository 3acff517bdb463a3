// See scratch.h. If calls follow each other, which is usual, they share one block; calls that run side by side each get their own. A block
// that is too small, because a dynamic op was called with larger shapes, is freed, so a kernel never holds more blocks than it had calls
// side by side. Blocks of several huge pages ask for huge pages: random access to 4 KiB pages takes 1.4 to 6 times as long, measured on Zen
// 3.
//
// The lock is held for some loads and stores only; nothing is allocated or freed meanwhile. Nobody waits for it for long: a thread that
// held it may not exist in this process, which another forked, and then every call gets a block of its own. Tested by
// tests/unit/runtime/call/scratch_test.cc.
#include "runtime/call/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <thread>

namespace strew::inline v0 {
namespace {

// How often a thread looks whether the lock is free, and after how many looks it lets another thread run.
constexpr int kTries = 4096, kTriesPerYield = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr std::align_val_t kAlign{kHugePage};
constexpr std::align_val_t kLineAlign{kLineBytes};

bool is_huge(size_t bytes) { return bytes >= 2 * kHugePage; }

char* allocate(size_t bytes) {
  auto* data = static_cast<char*>(::operator new(bytes, is_huge(bytes) ? kAlign : kLineAlign, std::nothrow));
  // Only advice, so a failure is ignored.
  if (data != nullptr && is_huge(bytes)) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return data;
}

void release(char* data, size_t bytes) { ::operator delete(data, is_huge(bytes) ? kAlign : kLineAlign); }

}  // namespace

/// At the start of a block that is not lent.
struct Scratch::Free {
  size_t bytes;
  Free* next;
};

Scratch::~Scratch() {
  for (Free* block = free_; block != nullptr;) {
    Free* const next = block->next;
    release(reinterpret_cast<char*>(block), block->bytes);
    block = next;
  }
}

bool Scratch::lock() {
  for (int tries = 0; tries < kTries; ++tries) {
    if (!locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire)) return true;
    if (tries % kTriesPerYield == kTriesPerYield - 1) std::this_thread::yield();  // its holder may have lost its core
  }
  return false;
}

Scratch::Loan Scratch::borrow(int64_t bytes) {
  const auto wanted = std::max(static_cast<size_t>(bytes), sizeof(Free));
  Free* small = nullptr;
  if (lock()) {
    for (Free** link = &free_; *link != nullptr; link = &(*link)->next) {
      Free* const block = *link;
      if (block->bytes < wanted) continue;
      *link = block->next;
      locked_.store(false, std::memory_order_release);
      return {*this, {reinterpret_cast<char*>(block), block->bytes}};
    }
    small = free_;
    if (small != nullptr) free_ = small->next;
    locked_.store(false, std::memory_order_release);
  }
  if (small != nullptr) release(reinterpret_cast<char*>(small), small->bytes);
  return {*this, {allocate(wanted), wanted}};
}

void Scratch::give(Block block) noexcept {
  if (block.data == nullptr) return;
  if (!lock()) return release(block.data, block.bytes);
  free_ = new (block.data) Free{block.bytes, free_};
  locked_.store(false, std::memory_order_release);
}

}  // namespace strew::inline v0
