// simulate(): executes a function of a PTO program on data, by the rules of its chip, on a machine without the chip.
//
// Several cores take turns in an order that the seed chooses. Indices are read as u32. Each chip computes the rows of a
// table in its own way (indexed.cc). Where the chip leaves an order open (a5's threads, a3's element atomics of several
// cores), the order is shuffled. The simulator is stricter than a chip. These are errors that name the statement: a
// read of data that was not waited for, or that nothing wrote; an access beyond the end of memory or of the buffer; a
// flag that nothing sets, or that nothing waits for.
//
// Limit: it has no timing of a chip; SimulationReport::time is only a rough measure. Tested by
// tests/unit/backends/pto/simulate/pto_simulate_test.cc,
// tests/error/pto_simulate_error_test.cc, tests/differential/npu and tests/unit/backends/pto/npu_backend_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "backends/pto/program.h"
#include "strew/tensor_view.h"

namespace strew::inline v0::pto {

/// The argument for one parameter of the function.
struct SimulatedArgument {
  std::span<std::byte> memory;  ///< for a pointer or memref: elements of the parameter's type, row-major
  int64_t number = 0;           ///< for a scalar
};

struct SimulateOptions {
  int blocks = 1;  ///< the number of cores
  /// The order of the cores' steps. 0: one core after another; 1: the same, the last core first; 2: one statement of
  /// each core in turn; other seeds: random, also in the middle of instructions.
  uint64_t seed = 0;
  bool check_sync = true;    ///< missing flags are errors; false: the program has no flags, because ptoas would insert them
  int64_t buffer_bytes = 0;  ///< the size of the vector buffer; 0: safe_buffer_bytes() of the chip
  int64_t max_steps = 1 << 24;
};

/// What was executed. Bytes and instructions are those of the core that has the most of each.
struct SimulationReport {
  int64_t loaded_bytes = 0;     ///< by tload
  int64_t stored_bytes = 0;     ///< by tstore
  int64_t scattered_bytes = 0;  ///< by mscatter and mgather
  int64_t instructions = 0;     ///< tile instructions
  int64_t buffer_bytes = 0;     ///< bytes of the vector buffer that tiles took
  int64_t steps = 0;            ///< steps of all cores together
  /// How long the pipes are busy, measured in bytes moved: `time` if they overlap as far as flags allow, `work` if they
  /// run one after another. Neither is the time of a chip.
  int64_t time = 0, work = 0;
};

/// Executes `function` (empty: the module's only one); the results are in the arguments' memory. Errors are
/// Code::invalid_argument, and their messages start with "LINE:COLUMN: "; the memory then has what was written before
/// the error.
Expected<SimulationReport> simulate(const Module& module, std::string_view function, std::span<const SimulatedArgument> arguments,
                                    const SimulateOptions& options = {});

/// What launch() gives.
struct Launched {
  SimulationReport report;
  bool fault = false;  ///< policy error: an index was out of bounds, and nothing was written
};

/// Simulates a planned program on the tensors of a call. `module`: the program's own, or its text parsed again. `views`: the tensors that a call binds, in that order; they
/// have the strides that the program's arguments have, and their extents are known. The results are written when the program has ended without an error.
Expected<Launched> launch(const TileProgram& program, const Module& module, std::span<const TensorView> views,
                          const SimulateOptions& options);

}  // namespace strew::inline v0::pto
