// Runs the steps in the one order that works. The fill mask comes first: it is compared with the indices as the gather reads them, before
// fuse_indices changes those. Then come indices and operands; transposes, which decide the order of an operand's dims; rows, which depend on
// that order and on where the indices are read; result shapes; and elementwise operations last: first those between a gather and a scatter of
// the same elements (the update idiom), then those before a scatter, then the gathers that only a scatter or a reduction reads, then those after a
// gather, so that operations between a gather and a scatter join the scatter.
//
// With `--accumulate wide` updates and reductions are not fused: wide accumulation takes named combiners only, and is asked for of the file's scatters.
// Tested by tests/unit/compiler/import/fusion/fusion_test.cc and tests/golden/fusion_test.cc.
#include "compiler/import/fusion/fusion.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/fusion/steps.h"

namespace strew::inline v0::fusion {

namespace {

/// "main" of "main_12": kernels of one function have its name, numbered.
std::string stem(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool is_numbered = end != std::string::npos && end > 0 && end + 1 < name.size() && name[end] == '_';
  return is_numbered ? name.substr(0, end) : name;
}

}  // namespace

std::string operations(size_t count) { return fmt::format("{} elementwise operation{}", count, count == 1 ? "" : "s"); }

std::string place(const std::string& location) {
  const size_t name = location.rfind(": ");
  if (name == std::string::npos) return location;
  const size_t line = location.rfind(':', name - 1);
  const std::string number = line == std::string::npos ? "" : location.substr(line + 1, name - line - 1);
  const bool is_number = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? location.substr(name + 2) + " of line " + number : location;
}

void take_conditions(const FusionContext& context, int number, int gather, std::string note) {
  const ProgramKernel& from = context.kernel(gather);
  const auto to = context.program.edit_kernel(number);
  to->notes.push_back(std::move(note));
  for (const KernelArgument& condition : from.arguments)
    if (condition.other >= 0 && std::find(to->arguments.begin(), to->arguments.end(), condition) == to->arguments.end())
      to->arguments.push_back(condition);
}

void stop_reading(const FusionContext& context, int gather) {
  context.program.edit_kernel(gather, ComputeDisposition::folded)->arguments.clear();
}

void absorb(const FusionContext& context, int number, int gather, std::string note) {
  take_conditions(context, number, gather, std::move(note));
  const std::string name = context.kernel(gather).name;
  if (stem(context.kernel(number).name) == stem(name)) context.program.edit_kernel(number)->name = name;
  stop_reading(context, gather);
}

size_t indices_slot(const Op& op) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  if (scatter == nullptr) return 1;
  return scatter->init == InitKind::fill ? 0 : scatter->operands.size();
}

bool replace_op(const FusionContext& context, int number, Op op, const std::vector<int>& tensors, ComputeDisposition how,
                std::string note, bool first) {
  Expected<VerifiedOp> verified = VerifiedOp::of(std::move(op));
  if (!verified.ok()) return false;
  const auto kernel = context.program.edit_kernel(number, how);
  kernel->op = std::move(verified).value();
  kernel->set_tensors(tensors);
  if (!note.empty()) kernel->notes.insert(first ? kernel->notes.begin() : kernel->notes.end(), std::move(note));
  return true;
}

Status fuse_program(Program& program, const ImportOptions& options) {
  if (program.kernels().empty()) return {};
  follow_extents(program);
  program.mark_unused();  // what nobody reads may read a gather that is erased
  const Reader reader(program);
  const FusionContext context{program, reader, options};
  const auto kernels = [&] { return static_cast<int>(program.kernels().size()); };
  const int computes = static_cast<int>(program.computes().size());  // steps add some, which no step has to look at
  Status status;
  const auto for_each = [&](int count, const char* step, const auto& fuse) {
    for (int i = 0; i < count; ++i) fuse(i);
    if (verifies_steps && status.ok()) status = program.verify().with_prefix(step);
  };
  for_each(computes, "fill masks", [&](int c) { fuse_fill_mask(context, c); });
  for_each(kernels(), "indices", [&](int k) { fuse_indices(context, k), fuse_filled_operand(context, k); });
  for_each(computes, "transposes of results", [&](int c) { fuse_result_transpose(context, c, options); });
  for_each(1, "transposes of arguments", [&](int) { fuse_argument_transposes(context); });
  for_each(1, "rows", [&](int) { fuse_rows(context); });
  for_each(computes, "result shapes", [&](int c) { fuse_result_shape(context, c); });
  const bool is_native = !options.override_accumulate || options.accumulate == Accumulate::native;
  if (is_native) {
    for_each(1, "updates in place", [&](int) { fuse_update_idioms(context, options); });
    for_each(1, "updates", [&](int) { fuse_updates(context); });
  }
  for_each(1, "look-ups", [&](int) { fuse_lookups(context, options); });
  for_each(kernels(), "repeated updates", [&](int k) { fuse_repeated_updates(context, k); });
  if (is_native) for_each(computes, "reductions", [&](int c) { fuse_reduction(context, c, options); });
  // From the last Compute to the first, so that the last operation of a chain takes the whole chain. If a chain has
  // more nodes than a graph may have, it is examined again from each of its operations; kMostLooked bounds that work.
  constexpr size_t kMostLooked = 500'000;
  size_t looked_at = 0;
  for_each(computes, "results", [&](int i) {
    if (looked_at < kMostLooked) looked_at += fuse_result(context, computes - 1 - i);
  });
  program.mark_unused();
  return status;
}

}  // namespace strew::inline v0::fusion
