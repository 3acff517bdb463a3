// The steps of fusion. Each is a function that works on one kernel or on one Compute; fusion.cc calls them in order. A step whose conditions do
// not hold changes nothing; one that applies keeps the program's results bit for bit.
#pragma once

#include "compiler/import/fusion/reader.h"

namespace strew::inline v0::fusion {

/// The program that fusion changes, and the reader that they share.
struct FusionContext {
  Program& program;
  const Reader& reader;
  const ImportOptions& options;

  /// Does the host keep the operation around the kernels, whose function this is?
  bool is_refused(int compute, const Expr& function) const {
    return options.refuses && !options.refuses(program, compute, function).empty();
  }
  const ProgramKernel& kernel(int number) const { return program.kernel(number); }
  /// The kernel that gives the value if it is a gather; else -1.
  int gather_of(int value) const {
    const Value& v = program.value(value);
    return v.kind == ValueKind::result && !is_scatter(kernel(v.index).op) ? v.index : -1;
  }
  /// The same if the value is read `readers` times.
  int gather_of(int value, int readers) const { return program.readers(value) == readers ? gather_of(value) : -1; }
};
/// Makes `op` the kernel's, with these tensors, unless it is no op. Returns whether it did. Operations that nobody reads then are `how` into the
/// kernel. `note`: what was done, for the report; `first`: before the notes that are there.
bool replace_op(const FusionContext& context, int kernel, Op op, const std::vector<int>& tensors, ComputeDisposition how,
                std::string note, bool first = false);

/// "2 elementwise operations".
std::string operations(size_t count);
/// "tensor.gather of line 2", from the location "FILE:2: tensor.gather"; another location as it is.
std::string place(const std::string& location);
/// The scatter's kernel checks the conditions of the gather's, because it does what that does. `note`: for the report.
void take_conditions(const FusionContext& context, int scatter, int gather, std::string note);
/// The gather's kernel reads nothing until it is erased.
void stop_reading(const FusionContext& context, int gather);
/// Only the scatter's kernel does what the gather's did: besides, it has that one's name if both are named after one function.
void absorb(const FusionContext& context, int scatter, int gather, std::string note);

/// The position of the indices in the list of a kernel's arguments.
size_t indices_slot(const Op& op);

// conditions.cc
/// Makes the conditions on extents name the values that the extents come from.
void follow_extents(Program& program);
// indices.cc: merges `i < 0 ? i + n : i`, clips, conversions to wider integers, and the movement that makes index vectors.
void fuse_indices(const FusionContext& context, int kernel);
// transposes.cc
/// Merges `compute` if it is a transpose of a kernel's result, together with transposes of the kernel's arguments.
void fuse_result_transpose(const FusionContext& context, int compute, const ImportOptions& options);
/// Merges transposes of gathers' operands and scatters' updates.
void fuse_argument_transposes(const FusionContext& context);
// rows.cc: merges the broadcasts of indices along the elements of a row.
void fuse_rows(const FusionContext& context);
// fill.cc
/// Merges `compute` if it is a select between a gather's result and a constant, by a mask which says that the gather's window is in bounds.
void fuse_fill_mask(const FusionContext& context, int compute);
/// Replaces the operand of a scatter by a fill value where all elements of the operand are the same constant.
void fuse_filled_operand(const FusionContext& context, int kernel);
// shape.cc
/// Merges `compute` if it is a reshape that drops dims of extent 1 from a gather's result.
void fuse_result_shape(const FusionContext& context, int compute);
// update.cc
/// Merges a gather, elementwise operations on what it gathers, and the scatter that writes the results back, if they are one update of each
/// destination: the scatter combines them, and the gather is erased.
void fuse_update_idioms(const FusionContext& context, const ImportOptions& options);
// fuse.cc
/// Moves the elementwise operations that compute scatters' updates into their combiners. Updates that several scatters read are computed in each if that
/// moves fewer bytes.
void fuse_updates(const FusionContext& context);
// lookups.cc
/// The gather, with the policy that it gets of the options, as a look-up has it; `unsupported` with the reason if it cannot be one. `value`: its result, of
/// which the kernel that looks it up reads `readers` uses.
Expected<Gather> lookup_of_gather(const FusionContext& context, int kernel, int value, int readers, const ImportOptions& options);
/// Merges gathers whose results only scatters read: the scatters look their rows up.
void fuse_lookups(const FusionContext& context, const ImportOptions& options);
/// Makes look-ups of updates that a broadcast makes of rows, so that these are not repeated in memory.
void fuse_repeated_updates(const FusionContext& context, int kernel);
// reductions.cc
/// Merges `compute` if it reduces what a gather gives, or what elementwise operations make of that, over index positions: a scatter looks the rows up.
void fuse_reduction(const FusionContext& context, int compute, const ImportOptions& options);
// fuse.cc
/// Moves `compute`, an elementwise operation on a gather's result, into the gather, together with the elementwise operations before it.
/// Returns how many operations it examined.
size_t fuse_result(const FusionContext& context, int compute);

}  // namespace strew::inline v0::fusion
