// FileGraph: the operations of a module of StableHLO as XLA:CPU sees them, and which values lie in memory there.
//
// XLA:CPU computes an operation that it can write as a loop over the result's elements ("fuses", below) inside each operation of that kind that reads
// it, so its result lies in no memory unless something else reads it, too. What it fuses is CanBeLoopFused() and CpuInstructionFusion::ShouldFuse() in
// xla/service/cpu/cpu_instruction_fusion.cc (jaxlib 0.10.2): elementwise operations, broadcast, concatenate, dynamic_slice, dynamic_update_slice, gather,
// iota, pad, reduce, reshape, reverse, slice and transpose. Everything else reads its operands from memory and writes its results there, scatters, too,
// but for those with one window, which become dynamic slices before. Large reductions of floats are calls of a library, YNNPACK, which takes the
// elementwise operations before them along.
//
// sdy.manual_computation is nothing to XLA once it has divided the program among devices: its region stands in the function then, and the arguments of the region are the operands, as far as each device has
// them. Tested by tests/unit/compiler/splice/policy_test.cc.
#pragma once

#include <string_view>
#include <vector>

#include "strew/program.h"

namespace strew::inline v0 {

/// "stablehlo.add" of "FILE:LINE: stablehlo.add".
std::string_view operation_of(std::string_view location);

/// Does XLA:CPU fuse operations of this name into their readers? So it is taken of names that nobody knows here.
bool is_fusible(std::string_view operation);

/// The value whose piece on each device the value is: the operand that an argument of sdy.manual_computation's region is a piece of, or what the region returns as the result; -1: it is neither.
int piece_of(const Program& program, int value);

class FileGraph {
 public:
  explicit FileGraph(const Program& program);

  std::string_view operation(int node) const { return operation_of(program_.nodes()[static_cast<size_t>(node)].location); }
  /// The node that makes the value; -1: it is an input, or an argument of a region.
  int maker(int value) const { return makers_[static_cast<size_t>(value)]; }
  /// What the value is the same memory of: reshapes, and transposes and broadcasts of dims of extent 1, make nothing.
  int memory_of(int value) const;
  /// Is there one of these between?
  bool is_other_view(int value) const;
  /// The nodes that read the memory of the value.
  std::vector<int> readers(int value) const;
  /// Does the function or a region return the memory of the value, or is it read from inside a region of another operation?
  bool is_handed_over(int value) const;
  /// Does the function return the memory of the value?
  bool is_returned(int value) const;
  /// Is the node's result in memory, whoever reads it?
  bool stores(int node) const { return (!is_fusible(operation(node)) && !becomes_slice(node)) || calls_library(node); }
  /// Does the node read its operands from memory?
  bool loads(int node) const { return stores(node) || feeds_library(node); }
  /// Does an operation read the value from memory, or is it handed over?
  bool is_stored(int value) const;

 private:
  bool keeps_memory(int node) const;
  /// Does the node only hand on the memory of what it reads?
  bool makes_nothing(int node) const;
  bool calls_library(int node) const;
  /// Is it a scatter of one window?
  bool becomes_slice(int node) const;
  /// Is it an elementwise operation that only a reduction by the library reads, so that the library does it?
  bool feeds_library(int node) const;
  /// The value, and those made of it that have its memory.
  std::vector<int> same_memory(int value) const;

  const Program& program_;
  std::vector<int> makers_;
  std::vector<int> origins_;               ///< per value: the one whose memory it has; -1: it has its own
  std::vector<std::vector<int>> views_;    ///< per value: those that have its memory
  std::vector<std::vector<int>> readers_;  ///< per value
  std::vector<bool> is_handed_over_;
};

/// How many windows the op reads or writes; -1: an extent is open.
int64_t windows_of(const VerifiedOp& op);

/// The bytes of a tensor; -1: an extent is open.
int64_t bytes_of(const TensorType& type);

}  // namespace strew::inline v0
