// Program: one op as a PTO program, in the tree of compiler/pto, with what a caller has to know to launch it.
//
// The planner (plan_program) makes it, the printers of compiler/pto and print_cpp write it, the simulator (backends/pto/simulate) runs
// it. Its module holds one function whose parameters are `arguments` in order: pointers to global memory first, then scalars. A
// program is right for any number of cores (blocks); `blocks` is what it was planned for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// What a parameter is to the op. With init in_place the one table is a result.
enum class ArgumentRole : uint8_t {
  result,
  operand,
  indices,
  updates,
  extra,
  /// Memory of the program's own. One named `fault` (policy error): its word 0 is not 0 afterwards where an index was out of bounds,
  /// and then nothing was written.
  scratch,
  scalar,  ///< i32: an extent of a tensor, or a number
};
inline std::string_view name(ArgumentRole role) {
  switch (role) {
    case ArgumentRole::result:
      return "result";
    case ArgumentRole::operand:
      return "operand";
    case ArgumentRole::indices:
      return "indices";
    case ArgumentRole::updates:
      return "updates";
    case ArgumentRole::extra:
      return "extra";
    case ArgumentRole::scratch:
      return "scratch";
    case ArgumentRole::scalar:
      break;
  }
  return "scalar";
}

/// One parameter of the function. Tensors are contiguous, row-major.
struct ProgramArgument {
  std::string name;
  ArgumentRole role = ArgumentRole::result;
  int index = 0;  ///< which of the N results, operands, updates, or which extra
  DType dtype = DType::f32;
  std::vector<int64_t> dims;     ///< kDynamic: given by a scalar. Empty for scalars
  std::optional<int64_t> value;  ///< scalars: fixed by the op
  int tensor = -1, dim = -1;     ///< scalars that are an extent: dim `dim` of arguments[tensor]
  friend bool operator==(const ProgramArgument&, const ProgramArgument&) = default;
};

/// How the cores share the work.
enum class CoreSplit : uint8_t {
  single,        ///< one core does it all
  updates,       ///< core b takes every tile b, b + cores, ..: no two tiles meet, or atomics make meeting safe
  destinations,  ///< every core sees every update and keeps those of the destinations it owns: order is kept
};
inline std::string_view name(CoreSplit split) {
  switch (split) {
    case CoreSplit::single:
      return "single";
    case CoreSplit::updates:
      return "updates";
    case CoreSplit::destinations:
      break;
  }
  return "destinations";
}

/// The tiles chosen.
struct TilePlan {
  std::string mode;  ///< "row", "elem" or "copy"
  CoreSplit split = CoreSplit::single;
  int64_t rows = 0, cols = 0;  ///< of a data tile
  /// nz (a3, pto_cpp): table and tiles in fractals of 16 rows of 32 bytes; l1: tables in rows, tiles in fractals in L1.
  std::string layout = "nd";
  int buffers = 1;  ///< 2: double buffering
};

/// What a launch costs, per core, where the extents are known (dynamic ones count as kAssumedExtent); the planner's own model.
struct CostReport {
  int64_t loaded_bytes = 0;     ///< MTE2: global memory to the buffer
  int64_t stored_bytes = 0;     ///< MTE3: buffer to global memory
  int64_t scattered_bytes = 0;  ///< moved by mscatter and mgather
  int64_t instructions = 0;     ///< tile instructions executed
  int64_t ub_peak = 0;          ///< bytes of the vector buffer
};
inline constexpr int64_t kAssumedExtent = 4096;

struct Program {
  Module module;
  Chip chip = Chip::a5;
  std::string kernel;  ///< name of the function
  int blocks = 1;      ///< cores to launch
  int64_t ub_bytes = 0;
  std::vector<ProgramArgument> arguments;
  std::vector<std::string> requirements;  ///< what the caller must guarantee, a sentence each
  TilePlan tiles;
  CostReport cost;
};

/// Who reads the text: what the chip's headers allow and what ptoas lets through differ (bf16 add).
enum class Output : uint8_t { pto_as, pto_ir, pto_cpp };
inline std::string_view name(Output output) {
  switch (output) {
    case Output::pto_as:
      return "pto-as";
    case Output::pto_ir:
      return "pto-ir";
    case Output::pto_cpp:
      break;
  }
  return "pto-cpp";
}

/// Who keeps the pipes of a core in order.
enum class Sync : uint8_t {
  flags,      ///< flags are written out, tiles are placed by ptoas (its level2, the default)
  addresses,  ///< flags and addresses are written out (its level3); pto_cpp always
  tool,       ///< neither: ptoas --enable-insert-sync
};
inline std::string_view name(Sync sync) {
  switch (sync) {
    case Sync::flags:
      return "flags";
    case Sync::addresses:
      return "addresses";
    case Sync::tool:
      break;
  }
  return "tool";
}

struct ProgramOptions {
  Output output = Output::pto_ir;
  std::string kernel = "kernel";  ///< the function's name: a C identifier
  int blocks = 0;                 ///< cores to plan for; 0: all the chip has
  Sync sync = Sync::flags;
  bool double_buffer = true;
  int64_t tile_rows = 0;  ///< 0: chosen by cost
  /// How index tiles of row mode lie: one row of them, or (a5) one column, [R, 1] col_major. Tiles that are computed with are rows.
  bool index_column = false;
  /// A gather goes through the cube core's L1, whose tiles are in fractals, and not through the vector buffer (pto_cpp).
  bool through_l1 = false;
};

/// The program of a plan. `tensors`: what a call binds, as the user gave it: the program's parameters have those types and dims. Fails with
/// Code::unsupported where the chip or the output cannot do it: the reason and the nearest thing that would work.
Expected<Program> plan_program(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip,
                               const ProgramOptions& options = {});

}  // namespace strew::inline v0::pto
