// simulate(): runs a function of a PTO program on data, by the rules of its chip.
//
// A stand-in for the chip where there is none: several cores take turns in an order that a seed picks, indices are read as u32, each chip
// folds and strides tables in its own way, what the chip leaves open (order of a5's threads, a3's element adds between cores) is
// shuffled. It is stricter than a chip: a read of what was not waited for, of what nothing wrote, beyond the end of memory or of the
// buffer, a flag that nothing sets or nobody waits for are errors that name the statement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pto/ast.h"
#include "strew/status.h"

namespace strew::inline v0::pto {

/// What stands behind a parameter, in the function's order.
struct SimulatedArgument {
  std::span<std::byte> memory;  ///< pointers, memrefs, tiles: elements of the parameter's type, row-major
  int64_t number = 0;           ///< scalars
};

struct SimulateOptions {
  int blocks = 1;  ///< cores
  /// 0: one core after another; 1: the last core first; 2: a statement each in turn; else at random, in the middle of instructions too.
  uint64_t seed = 0;
  bool check_sync = true;    ///< false: flags are left to ptoas, and none are needed
  int64_t buffer_bytes = 0;  ///< of the vector buffer; 0: what is safe on the chip
  int64_t max_steps = 1 << 24;
};

/// What ran. Bytes and instructions are those of the core that has most.
struct SimulationReport {
  int64_t loaded_bytes = 0;     ///< by tload
  int64_t stored_bytes = 0;     ///< by tstore
  int64_t scattered_bytes = 0;  ///< by mscatter and mgather
  int64_t instructions = 0;     ///< on tiles
  int64_t buffer_bytes = 0;     ///< of the vector buffer, in use
  int64_t steps = 0;            ///< of all cores
  /// In bytes: as long as pipes work side by side, as far as flags let them, and one after the other. No chip's time.
  int64_t time = 0, work = 0;
};

/// Runs `function` ("" : the only one); memory holds the results. Errors are Code::invalid_argument and start with "LINE:COLUMN: ";
/// after one, memory holds what was written before.
Expected<SimulationReport> simulate(const Module& module, std::string_view function, std::span<const SimulatedArgument> arguments,
                                    const SimulateOptions& options = {});

}  // namespace strew::inline v0::pto
