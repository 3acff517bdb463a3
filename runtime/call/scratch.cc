// See scratch.h. If calls follow each other, which is usual, they share one block; calls that run side by side each get their own. A block
// that is too small, because a dynamic op was called with larger shapes, is freed, so a kernel never holds more blocks than it had calls
// side by side. Blocks of several huge pages ask for huge pages: random access to 4 KiB pages takes 1.4 to 6 times as long, measured on Zen
// 3. Tested by tests/unit/scratch_test.cc.
#include "runtime/call/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

#include "base/machine.h"

namespace strew::inline v0 {
namespace {

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

Scratch::~Scratch() {
  for (const Block& block : blocks_) release(block.data, block.bytes);
}

Scratch::Loan Scratch::borrow(int64_t bytes) {
  const auto wanted = static_cast<size_t>(bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& b) { return b.bytes >= wanted; });
    if (found != blocks_.end()) {
      const Block block = *found;
      blocks_.erase(found);
      return {*this, block};
    }
    if (!blocks_.empty()) {
      release(blocks_.back().data, blocks_.back().bytes);
      blocks_.pop_back();
    }
  }
  return {*this, {allocate(wanted), wanted}};
}

void Scratch::give(Block block) {
  if (block.data == nullptr) return;
  const std::lock_guard lock(mutex_);
  blocks_.push_back(block);
}

}  // namespace strew::inline v0
