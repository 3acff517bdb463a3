// Core: the block that this thread runs. It has the vector buffer and L1, knows in what order its pipes work, and checks every access.
//
// Instructions are executed in program order, but count as running on their pipe at any time that flags allow. Each pipe has a clock: for
// every pipe, up to which of its instructions is known to be over. set_flag hands a pipe's clock to wait_flag. An access is right if the
// instructions that touched these bytes before it (its last writer, and for a write the readers since) are over by the clock of its pipe.
// Every byte remembers them. What the scalar unit waits for holds for the scalar unit alone: that is stricter than a chip, whose
// scalar unit also issues the later instructions.
//
// Between blocks nothing is ordered. So bytes of global memory that one block writes may not be touched by another, unless both add to
// them by the same atomic.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/pto_cpu/machine/launch.h"

namespace pto_cpu {

inline constexpr size_t kPipes = 5;
const char* name(Pipe pipe);
/// "TADD in line 7: what is wrong".
[[noreturn]] void fail(const char* instruction, int line, const std::string& what);

/// A list whose elements are all `fresh` until they are written; it takes memory only where they are.
template <typename T>
class Sparse {
 public:
  Sparse() = default;
  Sparse(int64_t count, const T& fresh) : fresh_(fresh), pages_(static_cast<size_t>(count + kPage - 1) / kPage) {}
  T& operator[](int64_t at) {
    std::unique_ptr<std::array<T, kPage>>& page = pages_[static_cast<size_t>(at) / kPage];
    if (page == nullptr) {
      page = std::make_unique<std::array<T, kPage>>();
      page->fill(fresh_);
    }
    return (*page)[static_cast<size_t>(at) % kPage];
  }

 private:
  static constexpr size_t kPage = 256;
  T fresh_{};
  std::vector<std::unique_ptr<std::array<T, kPage>>> pages_;
};

enum class Access : uint8_t { read, write, add, max, min };  ///< the last three: an atomic of the memory

/// What the blocks of a launch share: who touched which byte, and whose turn it is.
class Shared {
 public:
  Shared(Launch& launch, Chip chip, int blocks);
  /// Records that `block` touches `bytes` bytes, and returns what is wrong with that, or nothing. `values`: what it writes.
  std::string touch(size_t buffer, int64_t offset, int64_t bytes, int block, Access access, const std::byte* values);
  /// Threads: waits until the block goes on. Throws if another block failed.
  void wait_for_turn(int block);
  void end(int block, const std::string& error);

  Launch& launch;
  const Chip chip;
  const int blocks;
  std::vector<std::vector<bool>> written_before;  ///< Buffer::written of each, when the launch begins

 private:
  void next_turn();
  static constexpr int kNobody = -1, kMany = -2;
  struct Owners {
    int writer = kNobody, reader = kNobody, combiner = kNobody;
    Access atomic = Access::read;
  };
  std::vector<Sparse<Owners>> owners_;  ///< per buffer and byte
  std::mutex mutex_;
  std::condition_variable changed_;
  std::minstd_rand random_;
  std::vector<bool> over_;
  int turn_ = 0;
};

class Core {
 public:
  Core(Shared& shared, int block);
  /// The core of this thread. Only a kernel that run() runs has one.
  static Core& current();

  Shared& shared;
  const int block;
  Chip chip() const { return shared.chip; }

  /// An instruction begins on a pipe; it is the one that the accesses after it belong to.
  void begin(Pipe pipe, const char* name, int line);
  Counts& counts() { return shared.launch.counts[static_cast<size_t>(block)]; }
  /// The next accesses belong to a part of the same instruction on another pipe, which begins after the first part.
  void go_on(Pipe pipe);

  /// Bytes of a tile or of memory that the instruction reads or writes: checks the access, records it and returns where they are.
  const std::byte* read(const TileView& tile, int64_t offset, int64_t bytes);
  void write(const TileView& tile, int64_t offset, const std::byte* values, int64_t bytes);
  /// As a write, after which the bytes are as if nothing had written them.
  void lose(const TileView& tile, int64_t offset, int64_t bytes);
  const std::byte* read(const void* address, int64_t bytes);
  /// What the memory combines with in an atomic, whose write() records the access.
  uint64_t value_for_atomic(const void* address, int64_t bytes) const;
  /// `access`: write, or the atomic by which `values` came to be.
  void write(void* address, const std::byte* values, int64_t bytes, Access access = Access::write);
  [[noreturn]] void fail(const std::string& what) const;

  void set_flag(Pipe from, Pipe to, int event, int line);
  void wait_flag(Pipe from, Pipe to, int event, int line);
  void barrier(Pipe pipe, int line);
  void set_signal(Pipe after, int signal, int line);
  void wait_signal(Pipe before, int signal, int line);
  /// The kernel has returned: no flag may be left.
  void end() const;

  std::byte* room(bool in_l1) { return in_l1 ? l1_.data : buffer_.data; }
  int64_t room_bytes(bool in_l1) const { return in_l1 ? l1_.bytes : buffer_.bytes; }

 private:
  using Clock = std::array<uint32_t, kPipes>;
  struct Event {
    const char* name = "";
    int line = 0;
    Pipe pipe = Pipe::s;
    uint32_t time = 0;
  };
  /// The events that touched a byte; 0: none.
  struct Byte {
    uint32_t writer = 0;
    std::array<uint32_t, kPipes> readers{};
    bool filled = false;
  };
  struct Area {
    std::string name;
    std::byte* data = nullptr;
    int64_t bytes = 0;
    Sparse<Byte> touched;
  };
  struct Flag {
    Clock clock{};
    int line = 0;
  };
  using Key = std::tuple<Pipe, Pipe, int>;

  bool is_deleted(int line);
  void require_pipe(const char* name, Pipe pipe, int line) const;
  std::string key_text(const Key& key) const;
  Clock after(Pipe pipe) const;
  void join(Pipe pipe, const Clock& clock);
  void set(const char* name, const Key& key, Pipe after_pipe, int line);
  void wait(const char* name, const Key& key, Pipe before, int line);
  void touch(Area& area, int64_t offset, int64_t bytes, bool writes);
  void require_order(uint32_t earlier, bool wrote, bool writes, const Area& area, int64_t offset) const;
  size_t buffer_of(const void* address, int64_t bytes, int64_t& offset) const;
  Area& tile_area(const TileView& tile, int64_t offset, int64_t bytes);

  std::unique_ptr<std::byte[]> rooms_;  ///< of the vector buffer and L1; what nothing wrote is not read
  Area buffer_, l1_;
  std::vector<Area> memory_;
  std::vector<Event> events_{1};
  std::array<uint32_t, kPipes> issued_{};
  std::array<Clock, kPipes> clocks_{};
  std::map<Key, Flag> flags_;
};

}  // namespace pto_cpu
