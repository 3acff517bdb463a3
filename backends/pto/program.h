// TileProgram: a PTO program that performs one op, as a syntax tree (compiler/pto), and what a caller must know to launch
// it.
//
// The planner (plan_program) makes programs, the printers (compiler/pto and print_cpp) write them as text, and the
// simulator (backends/pto/simulate) runs them. The module has one function. Its parameters are `arguments` in order:
// pointers to global memory first, then scalars. A program is correct on any number of cores (blocks); `blocks` is the
// number that it was planned for. Tested by tests/golden/pto_program_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// What a parameter of the program is to the op: a tensor of that Role (the first five are in its order), or another. A scatter in place has a result and no operand.
enum class ArgumentRole : uint8_t {
  result,
  operand,
  indices,
  updates,
  extra,
  /// Memory for the program's own use. The one named `fault` (policy error, ProgramOptions::non_negative) is also a result: if an index
  /// was out of bounds, its word 0 is not 0 after the program, and nothing was written.
  scratch,
  scalar,  ///< an i32: the extent of a tensor, or another number
  launch,  ///< an i32: the number of the launch (TileProgram::launches)
};
inline std::string_view name(ArgumentRole role) {
  return name_among({"result", "operand", "indices", "updates", "extra", "scratch", "scalar", "launch"}, role);
}

/// One parameter of the function. Tensors without strides are contiguous and row-major. The pointer of one with strides is its lowest element (memory_of).
struct ProgramArgument {
  std::string name;
  ArgumentRole role = ArgumentRole::result;
  int index = 0;  ///< its number among the arguments of its role
  DType dtype = DType::f32;
  std::vector<int64_t> dims;     ///< a tensor's extents; kDynamic: a scalar argument gives the extent
  std::vector<int64_t> strides;  ///< in elements, as `dims`; empty: contiguous, row-major
  /// For a scalar that is an extent: of dim `dim` of arguments[tensor]. For scratch memory: as large as arguments[tensor]; -1: `dims` says it.
  int tensor = -1, dim = -1;
  bool is_stride = false;  ///< a scalar that is the stride of that dim instead of its extent
  friend bool operator==(const ProgramArgument&, const ProgramArgument&) = default;
};

/// The memory of a tensor with strides: `count` elements, of which the one at [0, …, 0] is number `origin`.
struct TensorMemory {
  int64_t origin = 0, count = 0;
};
/// A tensor of elements of fewer than 8 bits begins with a whole byte.
inline TensorMemory memory_of(DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides) {
  int64_t low = 0, high = 0, elements = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    elements *= dims[d];
    const int64_t reach = strides[d] * std::max<int64_t>(dims[d] - 1, 0);
    (reach < 0 ? low : high) += reach;
  }
  const int64_t each = bits(dtype) < 8 ? 8 / bits(dtype) : 1, origin = (-low + each - 1) / each * each;
  return {origin, elements == 0 ? 0 : origin + high + 1};
}

/// How the cores share the work.
enum class CoreSplit : uint8_t {
  single,        ///< one core does all of it
  updates,       ///< core b takes the tiles b, b + cores, …: no two tiles share a destination, or atomics make that safe
  destinations,  ///< every core owns a part of the destinations and applies all updates to it in order
};
inline std::string_view name(CoreSplit split) { return name_among({"single", "updates", "destinations"}, split); }

/// The tiles that the planner chose.
struct TilePlan {
  std::string mode;  ///< "row" or "elem": mscatter or mgather of rows or elements; "copy": plain copies of windows
  CoreSplit split = CoreSplit::single;
  int64_t rows = 0, cols = 0;  ///< the shape of a data tile
  /// nd: table and tiles in rows; nz (a3, pto_cpp): both in fractals of 16 rows of 32 bytes; l1: table in rows, tiles
  /// in fractals in L1.
  std::string layout = "nd";
  int buffers = 1;  ///< 2: double buffering
};

/// What one core does in a launch.
struct CoreCost {
  int64_t loaded_bytes = 0;     ///< by tload (MTE2), from global memory to the buffer
  int64_t stored_bytes = 0;     ///< by tstore (MTE3), from the buffer to global memory
  int64_t scattered_bytes = 0;  ///< by mscatter and mgather: the tile's, whatever the mode drops
  int64_t instructions = 0;     ///< tile instructions that are executed
  int64_t scalars = 0;  ///< elements that the scalar unit reads or writes; a3: also those that it moves by index, one by one
  int64_t tiles = 0;    ///< tiles of data that are written to memory
  friend bool operator==(const CoreCost&, const CoreCost&) = default;
};

/// The cost of a launch, if every index is in bounds (cost.cc). Open extents count as kAssumedExtent.
struct CostReport {
  int cores = 0;        ///< how many of the cores move data
  CoreCost mean;        ///< of these cores
  CoreCost longest;     ///< of the core that takes longest
  int64_t ub_peak = 0;  ///< bytes of the vector buffer that tiles take
};
inline constexpr int64_t kAssumedExtent = 4096;

struct TileProgram {
  Module module;
  Chip chip = Chip::a5;
  std::string kernel;  ///< the name of the function
  int blocks = 1;      ///< how many cores to launch
  /// How many times a call launches the program, on as many cores each time, one launch after the other. Cores cannot wait for each other, so
  /// this is how all of them use what others have made. More than 1: the last argument is the number of the launch, from 0.
  int launches = 1;
  int64_t ub_bytes = 0;  ///< bytes of the vector buffer that tiles take
  std::vector<ProgramArgument> arguments;
  std::vector<std::string> requirements;  ///< what the caller must guarantee, one sentence each
  TilePlan tiles;
  CostReport cost;
};

/// The form of the text. It matters to the planner, because ptoas, which reads pto_ir, refuses some of what the chip's
/// headers allow (bf16 add).
enum class Output : uint8_t { pto_as, pto_ir, pto_cpp };
inline std::string_view name(Output output) { return name_among({"pto-as", "pto-ir", "pto-cpp"}, output); }

/// Who inserts the flags between a core's pipes, and who places the tiles.
enum class Sync : uint8_t {
  flags,      ///< the program has flags; ptoas places the tiles (its level2, the default)
  addresses,  ///< the program has flags and addresses (ptoas' level3); always so for pto_cpp
  tool,       ///< the program has neither; ptoas inserts flags (--enable-insert-sync) and places the tiles
};
inline std::string_view name(Sync sync) { return name_among({"flags", "addresses", "tool"}, sync); }

struct ProgramOptions {
  Output output = Output::pto_ir;
  std::string kernel = "kernel";  ///< the function's name: a C identifier
  int blocks = 0;                 ///< cores to plan for; 0: all cores of the chip
  Sync sync = Sync::flags;
  /// 1; 2: a core processes two tiles per iteration, each in buffers of its own, and fails if the program cannot; 0: two where
  /// that costs less.
  int buffers = 0;
  /// 1: one launch; 2: several, where the program can; 0: several where that costs less.
  int launches = 0;
  int64_t tile_rows = 0;  ///< the height of tiles; 0: the planner chooses
  /// Index tiles of row mode are columns, [R, 1] col_major (a5 only), instead of rows. It needs a program that does not
  /// compute with indices.
  bool index_column = false;
  /// A gather goes through the cube core's L1, whose tiles are in fractals, instead of the vector buffer (pto_cpp
  /// only).
  bool through_l1 = false;
  /// Negative indices of the op itself are errors as under policy error, whatever the op's policy makes of them: the circular mode of
  /// ONNX TensorScatter wraps at the end only. The op must not normalise negative indices.
  bool non_negative = false;
};

/// Plans the program of a plan. `tensors`: the tensors that a call binds, as the user gave them; the program's
/// parameters have their types and dims. Fails with Code::unsupported if the chip or the output cannot express the
/// program; the message has the reason and the nearest thing that would work.
Expected<TileProgram> plan_program(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip,
                                   const ProgramOptions& options = {});

/// The text of all programs of one file, which must be for the same chip. `kind`: pto-as (one program only), pto-ir,
/// pto-ir-generic, pto-cpp or pto-host.
Expected<std::string> program_text(const std::vector<TileProgram>& programs, std::string_view kind);

/// The programs as C++ over the pto-isa headers.
std::string print_cpp(const std::vector<TileProgram>& programs);

/// A C++ header with a function per program that launches it. Its comments say what to pass and what to guarantee.
std::string print_host(const std::vector<TileProgram>& programs);

}  // namespace strew::inline v0::pto
