// Parts: what a host hands over to strew of a graph that strew does not run whole. A file imported with operations that strew does not run (Opaque)
// is divided into the largest parts that it does run, each with its inputs and outputs by number and name, the nodes of the file that it stands
// for, and a program of its own.
//
//   const std::vector<Part> parts = partitions(program).value();
//   for (const Part& part : parts) {
//     RunnableProgram runnable(cut_part(program, part).value());
//     ...
//   }
//
// Tested by tests/unit/compiler/program/partition_test.cc and tests/differential/programs. docs/partitions.md says how hosts use parts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/program.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Operations that run as one. The host runs the rest. Parts do not wait for each other in a circle, alone or with the rest: if the host does whatever
/// is ready, everything is done.
struct Part {
  std::vector<int> kernels, computes;  ///< numbers, ascending, of what the program has for the part's operations
  /// Value numbers, ascending; value_name() has the names. The outputs are exactly what opaque operations, other parts, operations outside of all
  /// parts, and the program's outputs read.
  std::vector<int> inputs, outputs;
  /// The nodes of the file that the part stands for, as numbers in Program::nodes(), ascending. A node is in at most one part. None of a program
  /// whose format has no graph.
  std::vector<int> nodes;
  int region = -1;  ///< number of the opaque operation in whose region (the body of a loop) the part is; -1: in none
};

struct PartitionOptions {
  /// Only parts with a scatter or gather.
  bool needs_kernel = false;
  /// Parts hold scatters and gathers, with what became part of them, and no other operations but those that make values without a name, which never leave a part.
  bool kernels_only = false;
  /// Only parts of so many operations: kernels and computes.
  int64_t least_operations = 1;
  /// Parts that could run at the same time become one, although no value connects them.
  bool join = false;
  /// Operations that read or make tensors of strings are in parts, too.
  bool strings = false;
  /// Is what makes the value, a result of a kernel or of a Compute, left to strew? An operation of which one result is not stays outside of all
  /// parts. None: yes.
  std::function<bool(const Program&, int value)> runnable;
};

/// The parts, ordered so that each follows those that it reads, with operations that nothing needs in none. No two of them that a value
/// connects (with `join`: no two in one region) could be one, unless the program is so large that looking for it would take seconds. Fails if an option is out
/// of range.
STREW_API Expected<std::vector<Part>> partitions(const Program& program, const PartitionOptions& options = {});

/// The program of one part, with the part's inputs and outputs in their order, named by value_name(). Fails if `part` is not one of this program's.
STREW_API Expected<Program> cut_part(Program program, const Part& part);

/// The program that computes the values called `to` from those called `from`, and from what else they need of the file's inputs. No `to`: the
/// file's outputs. Fails if no value has such a name, if a value of `from` is not needed, and if an operation that strew does not run is.
STREW_API Expected<Program> cut(Program program, std::span<const std::string> from, std::span<const std::string> to);

}  // namespace strew::inline v0
