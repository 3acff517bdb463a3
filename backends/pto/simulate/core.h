// Core: executes a function on one simulated core, one statement per step, so that the steps of several cores can be
// interleaved. core.cc has control flow; moves.cc, indexed.cc, l1.cc and compute.cc have the statements on
// tiles and memory. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/pto/arithmetic.h"
#include "backends/pto/simulate/buffer.h"
#include "backends/pto/simulate/simulate.h"

namespace strew::inline v0::pto {

/// Pseudo-random numbers from a seed (splitmix64), the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 to end - 1.
  uint64_t below(uint64_t end) { return next() % end; }

 private:
  uint64_t state_;
};

/// The global memory that a parameter points to. All cores share it.
struct GlobalMemory {
  std::string name;
  DType dtype = DType::f32;
  std::span<std::byte> bytes;
  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / (bits(dtype) / 8); }
};

/// The state that all cores share.
struct Machine {
  const Module& module;
  const Function& function;
  SimulateOptions options;
  std::vector<GlobalMemory> memories;
  Random random;
  Chip chip() const { return module.chip == Chip::any ? Chip::a5 : module.chip; }
  /// May another core run in the middle of an instruction?
  bool interrupts() const { return options.blocks > 1 && options.seed >= 2; }
};

/// The part of global memory that a view, a partition or a memref describes.
struct View {
  int memory = -1;
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;
  bool fractal = false;  ///< layout nz: [.., block columns, block rows, 16, elements of 32 bytes]

  int64_t rows() const;
  int64_t cols() const;
  /// The number of element [row, col] in the memory.
  int64_t element(int64_t row, int64_t col) const;
};

class Core {
 public:
  Core(Machine& machine, int block, std::span<const SimulatedArgument> arguments);
  /// Executes one statement, or a part of an mscatter. Returns false at the end of the function.
  Expected<bool> step();
  const SimulationReport& report() const { return report_; }

 private:
  struct Value {
    const Type* type = nullptr;
    uint64_t code = 0;  ///< a scalar's bits, as many as its type has; higher bits are 0
    View view;
    Tile tile;
  };
  /// A body that is being executed.
  struct Frame {
    const std::vector<Statement>* body = nullptr;
    size_t next = 0;                         ///< the number of the next statement
    const Statement* loop = nullptr;         ///< the loop that has this body; null: an `if`, a section or the function
    int64_t value = 0, upper = 0, step = 1;  ///< the loop's variable, bound and step
  };
  /// An mscatter that is being executed. `writes`: (element of the table, bits) in the order in which they are written.
  struct Scatter {
    const Statement* statement = nullptr;
    Event event;
    std::vector<std::pair<int64_t, uint64_t>> writes;
    size_t next = 0;
    std::optional<uint64_t> held;  ///< a value that is combined but not yet written
  };

  Status fail(const Statement& s, const std::string& message) const;
  const Value& value(const std::string& name) const { return values_.at(name); }
  int64_t number(const std::string& name) const;
  /// Sets the scalar that a statement gives.
  void give(const Statement& s, uint64_t code);
  void enter(const std::vector<Statement>& body) { frames_.push_back({&body}); }
  bool next_statement();

  Status run(const Statement& s);
  Status loop(const Statement& s);
  Status move(const Statement& s);
  Status view(const Statement& s);
  /// Allocates the tile that is a statement's result. No address: see Buffer::place().
  Status place(const Statement& s, std::optional<int64_t> address, int64_t valid_rows, int64_t valid_cols);
  Status alloc(const Statement& s);
  Status implicit_tile(const Statement& s) { return place(s, {}, s.type.tile.valid[0], s.type.tile.valid[1]); }  ///< in PTO-AS

  // moves.cc
  Status load(const Statement& s, const View& from, const std::string& tile);
  Status store(const Statement& s, const std::string& tile, const View& to);
  Status tile_element(const Statement& s);
  Status memory_element(const Statement& s);
  View address(const Statement& s, size_t group, const Tile& tile) const;
  Status check_shape(const Statement& s, const View& view, const Tile& tile) const;

  // indexed.cc
  Status gather(const Statement& s, const std::string& table, const std::string& indices, const std::string& tile);
  Status scatter(const Statement& s);
  Status scatter_some();
  /// What an mscatter or mgather with an index tile accesses.
  struct Indexed {
    const View& table;
    const Tile& data;
    const std::string& indices;  ///< the name of the tile
    std::string_view oob;        ///< the mode
  };
  /// The slot of the table that an index selects, after the mode `oob`; -1: none.
  Expected<int64_t> slot(const Statement& s, uint64_t index, int64_t capacity, std::string_view oob) const;
  int64_t capacity_of(const View& table, bool by_row) const;
  /// The element of the table that the index of element [row, col] of the data selects, if one.
  Expected<std::optional<int64_t>> selected(const Statement& s, const Indexed& what, int64_t row, int64_t col) const;
  Status check_indices(const Statement& s, const Indexed& what) const;

  // l1.cc
  Status gather_l1(const Statement& s);
  Status move_l1(const Statement& s);

  // compute.cc
  Status compute_tile(const Statement& s);

  // Accesses to memory, and the check of their order.
  Event issue(const Statement& s, size_t group);
  Buffer& buffer_of(const Tile& tile) { return tile.l1 ? l1_ : buffer_; }
  Status touch(const Event& now, const std::string& tile, Access access);
  /// Counts an instruction that has moved the valid part of the tile, and adds its bytes to that number of the report.
  void count(const Event& now, const Tile& tile, int64_t SimulationReport::*bytes = nullptr);
  /// Fails also where the memory has no such element.
  Status touch_memory(const Event& now, int memory, int64_t element, Access access);
  uint64_t load_code(int memory, int64_t element) const;
  void store_code(int memory, int64_t element, uint64_t code);

  Machine& machine_;
  int block_;
  bool check_sync_;
  Pipes pipes_;
  Buffer buffer_, l1_;
  std::unordered_map<std::string, Value> values_;
  std::vector<Frame> frames_;
  std::optional<Scatter> scatter_;
  std::vector<std::unordered_map<int64_t, std::vector<History>>> histories_;  ///< for each memory: the accesses, by page
  SimulationReport report_;
};

}  // namespace strew::inline v0::pto
