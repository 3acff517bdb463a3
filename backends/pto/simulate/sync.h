// Pipes: which instructions of a core are over before which others start, and what that means for what they touch.
//
// A core hands instructions to pipes that run side by side, each in order. Only flags and barriers order pipes among each other, so
// what is known is a vector clock per pipe: how many instructions of every pipe are over. An access to bytes that an earlier
// one touched (one of both writing) must come after it by that clock. On a3 the vector pipe overlaps its own instructions, and on
// both chips so do stores, unless a barrier stands between: that is where ptoas puts barriers, too.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include "compiler/pto/instructions.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// An instruction as others have to wait for it.
struct Event {
  const Statement* statement = nullptr;  ///< null: none
  Pipe pipe = Pipe::none;
  uint32_t time = 0;
};

/// Who touched some bytes last.
struct History {
  Event write;
  std::array<Event, kPipes> reads;
};

/// What is touched, for messages.
struct Touched {
  std::string_view name;
  int64_t element = -1;  ///< of memory; -1: a tile
  std::string text() const {
    return (element < 0 ? std::string("%") : "element " + std::to_string(element) + " of %") + std::string(name);
  }
};

class Pipes {
 public:
  explicit Pipes(Chip chip) : chip_(chip) {}

  Event issue(const Statement& statement, Pipe pipe);
  /// An instruction moves so many bytes: its pipe is busy for that long, others go on until a flag makes them wait.
  void runs(const Event& now, int64_t bytes);
  /// When the last pipe is done, and how long all of them would take one after the other.
  int64_t time() const;
  int64_t work() const { return work_; }
  Status set(const Statement& s);
  Status wait(const Statement& s);
  Status barrier(const Statement& s);
  /// At the end: flags that are still set.
  Status finish() const;

  /// `now` reads or writes what `history` tells of, and becomes part of it.
  Status read(History& history, const Event& now, const Touched& what) const;
  Status write(History& history, const Event& now, const Touched& what) const;

 private:
  using Clock = std::array<uint32_t, kPipes>;
  static size_t index(Pipe pipe) { return static_cast<size_t>(pipe) - 1; }
  bool is_over(const Event& earlier, Pipe now) const;
  Status ordered(const Event& earlier, const Event& now, const char* did, const char* does, const Touched& what) const;
  Expected<std::string> key(const Statement& s, Pipe& source, Pipe& destination) const;

  struct Flag {
    Clock clock{};
    const Statement* statement = nullptr;
    int64_t time = 0;
  };
  static constexpr int64_t kStart = 64;  ///< bytes that could move while an instruction starts
  Chip chip_;
  std::array<uint32_t, kPipes> issued_{};
  std::array<Clock, kPipes> over_{};
  std::array<int64_t, kPipes> busy_{};
  int64_t work_ = 0;
  std::unordered_map<std::string, Flag> flags_;
};

}  // namespace strew::inline v0::pto
