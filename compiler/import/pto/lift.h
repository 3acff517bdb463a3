// Lifter: translates one function of a PTO program to kernels.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/import/pto/build.h"
#include "compiler/import/pto/scalar.h"
#include "compiler/import/pto/tiling.h"
#include "compiler/pto/ast.h"
#include "compiler/pto/instructions.h"
#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// The memory behind a pointer (in PTO-AS: a memref), always seen as a matrix of rows and columns.
struct Memory {
  std::string name;
  Element element;
  bool viewed = false;
  Poly rows, cols;
  int rank = 2;    ///< 1: the views of it have one dim
  int input = -1;  ///< the value that the caller gives; -1: the program writes the memory before it reads it, if it does
  std::optional<ShapedValue> now;
  bool written = false;
  struct Access {
    int loop = -1;  ///< number of the outermost loop that contains the access; -1: none
    int line = 0;
  };
  std::optional<Access> read, write;
};

/// A rectangle of a memory: a partition view, or the part that PTO-AS addresses.
struct Region {
  int memory = -1;
  std::array<Slot, 2> slots;  ///< rows, columns
  Poly row_stride;
  bool folded = false;
};

/// A tensor view of a memory.
struct SourceView {
  int memory = -1;
  std::vector<Poly> shape;
  Poly row_stride;
  bool folded = false;  ///< more than two dims have an extent other than 1: rows are all dims but the last
};

/// What a tile holds: part of a memory or of a gather's result.
struct Content {
  int memory = -1;                  ///< the tile was loaded from this memory, or else
  std::optional<ShapedValue> from;  ///< the memory's value when it was loaded, or a gather's result
  std::array<Slot, 2> slots;        ///< which part
  bool floored = false;             ///< negative elements were replaced by 0: indices of policy clamp
};

/// A tile: its type, the extents of its valid part, and what it holds.
struct TileContent {
  Type type;
  std::array<Poly, 2> valid;
  std::optional<Content> content;
};

/// Follows a function statement by statement. Scalars become polynomials, tiles remember what they hold, and an mscatter or mgather becomes
/// one kernel over everything that its tiles cover in all iterations on all cores.
class Lifter {
 public:
  Lifter(Program& imported, const Module& module, const Function& function, std::string path, std::string prefix)
      : imported_(imported),
        module_(module),
        function_(function),
        prefix_(std::move(prefix)),
        build_(imported, scalars_, std::move(path)),
        first_kernel_(imported.kernels().size()) {}
  Status run();

 private:
  using Cover = std::array<Span, 2>;  ///< rows, columns
  struct Pair {                       ///< the operands of an mscatter or mgather
    const Statement* statement = nullptr;
    Region table;
    TileContent* data = nullptr;
    TileContent* indices = nullptr;
    bool rows = false;
    size_t along = 0;  ///< the dim of the index tile that goes with the rows of the data
  };

  // lift.cc: walks over the statements.
  Status arguments();
  Status body(const std::vector<Statement>& statements);
  Status statement(const Statement& s);
  Status check_followed(const Statement& s) const;
  Status scalar(const Statement& s);
  Status is_first_core(const Statement& s);
  Status first_core(const Statement& s);
  Status view(const Statement& s);
  Status partition(const Statement& s);
  Status alloc(const Statement& s);
  Status load(const Statement& s, const Region& region, TileContent& tile);
  Status store(const Statement& s, const Region& region, const TileContent& tile);
  Status loop(const Statement& s);
  Region address(const Statement& s, size_t group, const Type& tile) const;
  Status check_packed(const Statement& s, const Region& region, const char* why) const;
  TileContent& declare_tile(const std::string& name, const Type& type);
  template <class... Args>
  Status fail(const Statement& s, fmt::format_string<Args...> message, Args&&... args) const {
    return unsupported(
        fmt::format("{}: {}", build_.location(s.at, name(s.opcode)), fmt::format(message, std::forward<Args>(args)...)));
  }
  std::string text(const Poly& poly) const { return scalars_.text(poly); }
  /// `name` is of type index, or check_followed() found it.
  const Poly& poly(const std::string& name) const { return scalars_by_name_.at(name); }

  // indexed.cc: translates mscatter and mgather.
  Status indexed(const Statement& s);
  Status scatter(const Pair& p);
  Status gather(const Pair& p);
  Status check_indices(const Pair& p, const Cover& indices, const Slot& data, const Span& data_cover);
  Expected<Cover> covered_table(const Pair& p);
  Status check_shapes(const Pair& p) const;
  Status check_table(const Pair& p) const;
  Expected<Cover> covered(const Statement& s, const std::array<Slot, 2>& slots, const std::string& what);
  Expected<Cover> covered_content(const Statement& s, const TileContent& tile, const std::string& what, bool indices = false);
  Status floor(const Statement& s);
  Expected<ShapedValue> index_list(const Pair& p, const Cover& indices, const Cover& data, std::string_view oob);
  Expected<ShapedValue> covered_value(const Statement& s, const Content& content, const Cover& cover);
  Status check_loops(const Statement& s, const Cover& cover, bool writes) const;
  Status check_order(const Pair& p, const Cover& cover) const;
  /// Does nothing order the rounds of one of these loops? One past all loops stands for the cores.
  bool is_unordered(const std::vector<size_t>& loops) const;
  /// Do two tiles cover their dims in the same order? `a` and `b` are the tiles' slots, with what each covers.
  bool alike(const Slot& a, const Span& covered_a, const Slot& b, const Span& covered_b);
  Expected<ShapedValue> table_part(const Pair& p, const Cover& cover);
  TensorType type_of(const ShapedValue& value) const;
  TensorType table_type(const Pair& p, const ShapedValue& part) const;
  Expected<int> add_kernel(const Statement& s, const Expected<Op>& op, const std::vector<int>& arguments, const Cover& cover);

  // memory.cc: keeps track of memories.
  Status set_extents(const Statement& s, int memory, const Poly& rows, const Poly& cols, int rank);
  Status touch(const Statement& s, int memory, bool write);
  const ShapedValue& current(int memory);
  std::vector<Poly> shape_of(const Memory& memory) const;
  static std::vector<Poly> pick(const Memory& memory, const Poly& rows, const Poly& cols);
  static std::vector<Poly> begin_of(const Memory& memory, const Cover& c) { return pick(memory, c[0].begin, c[1].begin); }
  static std::vector<Poly> extent_of(const Memory& memory, const Cover& c) { return pick(memory, c[0].extent, c[1].extent); }
  Status assume_cores(const Statement& s, Span& span, const Poly& extent);
  Status fit(const Statement& s, int memory, Cover& cover);
  Status put(const Statement& s, int memory, const Cover& cover, const ShapedValue& value);
  Status finish();
  Status add_requirements();

  Program& imported_;
  const Module& module_;
  const Function& function_;
  std::string prefix_;
  Scalars scalars_;
  Builder build_;
  std::vector<Memory> memories_;
  std::unordered_map<std::string, int> memory_by_name_;
  std::unordered_map<std::string, Poly> scalars_by_name_;
  std::unordered_map<std::string, SourceView> views_;
  std::unordered_map<std::string, Region> regions_;
  std::unordered_map<std::string, TileContent> tiles_;
  std::set<std::string> first_core_;  ///< results of comparisons that hold on the first core only
  std::vector<Loop> loops_;
  std::set<std::pair<Poly, int64_t>> multiples_;  ///< (value, divisor): the caller must make value a multiple of divisor
  size_t first_kernel_ = 0;
  int outermost_ = -1, loops_seen_ = 0;
  std::optional<int64_t> cores_;  ///< how many cores must run the program, if code without loops determines it
  bool splits_ = false;           ///< the function reads its core number, so its work is split over cores
};

}  // namespace strew::inline v0::pto
