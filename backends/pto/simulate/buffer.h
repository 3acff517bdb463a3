// The bytes of a core's buffers, and the order of the accesses to them.
//
// Buffer: the vector buffer of a core, or the L1 of a cube core. It holds the bytes of tiles, and for each block which
// tile wrote it last and which instructions accessed it, so that wrong reads and missing flags are found.
//
// Pipes: checks that flags and barriers order all accesses of a core that depend on each other (a race detector with
// vector clocks).
//
// A core issues instructions to pipes that run in parallel; each pipe starts its instructions in order. Only flags and
// barriers order the instructions of different pipes. So each pipe has a vector clock: how many instructions of every
// pipe are known to have finished before its next one starts. If two instructions access the same bytes and one of them
// writes, the earlier one must have finished by the clock of the later one's pipe. On a3 the vector pipe also overlaps
// its own instructions, and on both chips MTE3 overlaps its stores; a barrier of the pipe orders them. ptoas inserts
// barriers in the same places. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// "4x8", for messages.
inline std::string size_text(int64_t rows, int64_t cols) { return std::to_string(rows) + "x" + std::to_string(cols); }
/// What the simulation of a statement fails with: its place, its name, and the message.
Status statement_error(const Statement& s, const std::string& message);

/// One execution of an instruction: the `time`-th of its pipe.
struct Event {
  const Statement* statement = nullptr;  ///< null: none
  Pipe pipe = Pipe::none;
  uint32_t time = 0;
};

/// The last accesses to some bytes: the last write, and the last read of each pipe since then.
struct History {
  Event write;
  std::array<Event, kPipes> reads;
};

/// What is accessed, for messages: an element of a memory, or a tile.
struct Touched {
  std::string_view name;
  int64_t element = -1;  ///< the element of the memory; -1: `name` is a tile
  std::string text() const {
    return (element < 0 ? std::string("%") : "element " + std::to_string(element) + " of %") + std::string(name);
  }
};

class Pipes {
 public:
  explicit Pipes(Chip chip) : chip_(chip) {}

  /// Issues an instruction to a pipe.
  Event issue(const Statement& statement, Pipe pipe);
  /// The instruction `now` moves that many bytes: its pipe is busy for that time.
  void runs(const Event& now, int64_t bytes);
  /// See SimulationReport.
  int64_t time() const;
  int64_t work() const { return work_; }
  Status set(const Statement& s);
  Status wait(const Statement& s);
  Status barrier(const Statement& s);
  /// At the end of the program: fails if a flag is still set.
  Status finish() const;

  /// Checks that `now` may read or write the bytes with this history, and adds it to the history.
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
  static constexpr int64_t kStart = 64;  ///< the time to start an instruction, in bytes moved
  Chip chip_;
  std::array<uint32_t, kPipes> issued_{};  ///< for each pipe: how many instructions were issued
  std::array<Clock, kPipes> over_{};       ///< for each pipe: its vector clock
  std::array<int64_t, kPipes> busy_{};     ///< for each pipe: until when it is busy
  int64_t work_ = 0;
  std::unordered_map<std::string, Flag> flags_;
};

/// A tile at its address in the buffer.
struct Tile {
  int64_t address = 0, rows = 0, cols = 0, valid_rows = 0, valid_cols = 0;
  DType dtype = DType::f32;
  bool column_major = false;
  bool fractal = false;  ///< it is in blocks of 16 rows of 32 bytes, block columns one after another
  bool l1 = false;       ///< it is in the cube core's L1
  int identity = 0;      ///< tiles with the same address, shape, layout and element type have the same identity

  int64_t width() const { return bits(dtype) / 8; }
  int64_t bytes() const { return rows * cols * width(); }
  /// The (row, column) of the elements of the valid part, row by row.
  std::vector<std::pair<int64_t, int64_t>> elements() const {
    std::vector<std::pair<int64_t, int64_t>> all;
    for (int64_t r = 0; r < valid_rows; ++r)
      for (int64_t c = 0; c < valid_cols; ++c) all.emplace_back(r, c);
    return all;
  }
  int64_t byte_of(int64_t row, int64_t col) const {
    const int64_t each = 32 / width();
    if (fractal) return address + (col / each * rows * each + row * each + col % each) * width();
    return address + (column_major ? col * rows + row : row * cols + col) * width();
  }
};

class Buffer {
 public:
  explicit Buffer(int64_t bytes);

  /// Makes the tile of an allocation statement. No address: the tile gets an address that no other statement's tile
  /// has, and its contents are undefined after each execution of the statement.
  Expected<Tile> place(const Statement& s, std::optional<int64_t> address, int64_t valid_rows, int64_t valid_cols);

  /// Records that the instruction `now` reads or writes the valid part of a tile, and checks with `pipes` that it comes
  /// after the accesses that it depends on. `pipes` null: does not check.
  Status touch(const Pipes* pipes, const Event& now, const Tile& tile, const std::string& name, Access access);

  /// Reads or writes one element. It is an error to read an element that nothing wrote, or that a write of another tile
  /// replaced.
  Expected<uint64_t> read(const Statement& s, const Tile& tile, int64_t row, int64_t col, const std::string& name) const;
  void write(const Tile& tile, int64_t row, int64_t col, uint64_t code);

  int64_t used() const { return used_; }

 private:
  struct Block {
    History history;
    int owner = -1;    ///< the identity of the tile that wrote the block last; -1: none
    std::string name;  ///< the owner's name
  };
  std::vector<std::byte> data_;
  std::vector<bool> written_;
  std::vector<Block> blocks_;
  std::map<const Statement*, int64_t> places_;
  std::map<std::tuple<int64_t, int64_t, int64_t, DType, int>, int> identities_;
  int64_t next_ = 0, used_ = 0;
};

}  // namespace strew::inline v0::pto
