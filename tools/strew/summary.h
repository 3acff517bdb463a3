// What a file holds, in a few lines: its kernels, how many of them are the same, and the operations that strew does not run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "strew/import.h"

namespace strew::cli {

/// Kernels with one op, in the file's order.
struct KernelGroup {
  std::string op;            ///< canonical text
  std::vector<int> kernels;  ///< numbers
};
std::vector<KernelGroup> distinct_kernels(const Program& imported);

/// The names of a group's kernels: all of up to three, or "a, b and 62 more".
std::string names_text(const Program& imported, const KernelGroup& group);

/// The values that hold the results of kernels[kernel], in the order of its results; -1: nothing in the file reads that result. Of several
/// values that are the same result, the last is what the operations that were merged into the kernel made of it.
std::vector<int> kernel_outputs(const Program& imported, int kernel);

/// A tensor of a kernel's op, in the order of tensor_slots(op).
struct KernelTensor {
  Role role;
  int value;                         ///< number; -1: nothing in the file reads this result
  const TensorType* type;            ///< in the kernel's op
  std::vector<std::string> symbols;  ///< as Value::symbols
};
std::vector<KernelTensor> kernel_tensors(const Program& imported, int kernel);
/// "operand past f32[batch,64], indices ids i64[seq,1], ..."; empty if the file names no extent of the kernel.
std::string tensors_text(const Program& imported, int kernel);

/// The dims of a type; an open one is its name, or "?".
nlohmann::ordered_json dims_json(const TensorType& type, const std::vector<std::string>& symbols);

/// The operations that strew does not run, by name, the most frequent first; those that are no scatter or gather
/// that was refused, and no input of the file.
std::vector<std::pair<std::string, int>> other_operations(const Program& imported);

/// "7 kernels (3 distinct), 41 other operations: MatMul 24, LayerNormalization 12, …"
std::string summary_text(const Program& imported, size_t distinct);

/// The scatters and gathers that were refused, a line each with the reason; empty if there are none.
std::string refused_text(const Program& imported);
/// The out-of-bounds rules that the file chose and why, and, if `--oob` was given, which kernels keep their policies: a line each with the
/// names of the kernels; empty if nothing is to be said.
std::string policies_text(const Program& imported, const ImportOptions& options);
/// Of those lines, what `--oob` does not change, joined by "; ".
std::string policies_kept(const Program& imported, const ImportOptions& options);
/// Operations of kinds that strew runs elsewhere, and not here, a line each with the reason; empty if there are none.
std::string not_run_text(const Program& imported);

}  // namespace strew::cli
