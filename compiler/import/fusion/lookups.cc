// Look-ups: a gather whose result only a scatter reads, as updates or as an extra, becomes a look-up of the scatter, so that the rows are never stored. By
// docs/semantics.md (section 2, "Look-ups") the scatter means what both meant together; an index that is out of bounds is an error as before, which then
// names the look-up.
//
// The gather's own expression has moved into the scatter before (fuse.cc), or keeps the two apart. Tested by
// tests/unit/compiler/import/fusion/fusion_lookups_test.cc and tests/golden/fusion_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assign.h"
#include "compiler/import/fusion/steps.h"
#include "compiler/import/importer.h"

namespace strew::inline v0::fusion {
namespace {

/// The tensors of the kernel that look-ups have added, and those before them.
struct Tensors {
  std::vector<int> bound;
  std::vector<std::vector<int>> of_lookups;  ///< the index tensors of each look-up
};
Tensors tensors_of(const ProgramKernel& kernel) {
  Tensors out;
  out.bound = kernel.tensors();
  size_t more = 0;
  for (const Lookup& lookup : lookups_of(kernel.op)) more += index_tensors(lookup.gather).size();
  auto next = out.bound.end() - static_cast<std::ptrdiff_t>(more);
  for (const Lookup& lookup : lookups_of(kernel.op)) {
    const auto end = next + static_cast<std::ptrdiff_t>(index_tensors(lookup.gather).size());
    out.of_lookups.emplace_back(next, end);
    next = end;
  }
  out.bound.resize(out.bound.size() - more);
  return out;
}

/// Makes the tensor of the slot a look-up. Returns the gather's kernel, which nobody reads then; -1 if nothing changes.
int fuse_lookup(const FusionContext& context, int number, const TensorSlot& slot, size_t at, const ImportOptions& options) {
  const int value = context.kernel(number).tensor(at), gather = context.gather_of(value);
  if (gather < 0) return -1;
  const ProgramKernel& from = context.kernel(gather);
  const std::string where = place(from.location);
  const auto refuse = [&](const std::string& why) {
    context.program.edit_kernel(number)->notes.push_back(fmt::format("not looked up: the result of {}: {}", where, why));
    return -1;
  };
  Expected<Gather> looked_up = lookup_of_gather(context, gather, value, 1, options);
  if (!looked_up.ok()) return refuse(looked_up.status().message());
  Lookup lookup{slot.role, slot.index, std::move(looked_up).value()};

  const OobPolicy lookup_policy = lookup.gather.oob;
  Scatter fused = std::get<Scatter>(*context.kernel(number).op);
  lookup.gather.result.strides.clear();
  const auto before = [&](const Lookup& each) { return std::pair(each.of, each.index) < std::pair(lookup.of, lookup.index); };
  const auto place_of = std::count_if(fused.lookups.begin(), fused.lookups.end(), before);
  fused.lookups.insert(fused.lookups.begin() + place_of, std::move(lookup));
  Tensors tensors = tensors_of(context.kernel(number));
  const std::vector<int> read = from.tensors();
  tensors.bound[at] = read[0];
  tensors.of_lookups.insert(tensors.of_lookups.begin() + place_of, {read.begin() + 1, read.end()});
  for (const std::vector<int>& indices : tensors.of_lookups)
    tensors.bound.insert(tensors.bound.end(), indices.begin(), indices.end());
  const Expected<VerifiedOp> verified = VerifiedOp::of(fused);
  if (!verified.ok()) return refuse(verified.status().message());
  replace_op(context, number, std::move(fused), tensors.bound, ComputeDisposition::folded, "");
  const std::string what = fmt::format("{} {}", name(slot.role), slot.index);
  std::vector<std::string> notes = from.notes;
  if (lookup_policy != oob_of(from.op)) {
    std::erase_if(notes, [](const std::string& note) { return note.starts_with("policy "); });
    keep_other_policy(*context.program.edit_kernel(number), options);
  }
  absorb(context, number, gather, fmt::format("fused with {}: its result ({}) is looked up, and not stored", where, what));
  const auto kernel = context.program.edit_kernel(number);
  for (const std::string& note : notes) kernel->notes.push_back(fmt::format("look-up of {}: {}", what, note));
  return gather;
}

}  // namespace

Expected<Gather> lookup_of_gather(const FusionContext& context, int number, int value, int readers,
                                  const ImportOptions& options) {
  const ProgramKernel& from = context.kernel(number);
  STREW_ASSIGN(const VerifiedOp final, final_op(from, options));
  const Gather& g = std::get<Gather>(*final);
  const bool asks_for_more = std::ranges::any_of(
      from.arguments, [](const KernelArgument& argument) { return argument.use != ArgumentUse::tensor && argument.other < 0; });
  if (context.program.readers(value) != readers) return unsupported("another operation reads its result, too");
  if (!g.expr.empty() || !g.extras.empty()) return unsupported("its result is computed, for other readers, too");
  if (g.result.dtype != g.operand.dtype) return unsupported("it converts");
  if (asks_for_more) return unsupported("its slice sizes or conditions are known at the call");
  if (g.oob == OobPolicy::error && from.file_positions)
    return unsupported("an error would name a position that the file does not have");
  return g;
}

void fuse_lookups(const FusionContext& context, const ImportOptions& options) {
  std::vector<int> merged(context.program.kernels().size(), -1);
  for (size_t k = 0; k < merged.size(); ++k) {
    const auto number = static_cast<int>(k);
    if (!is_scatter(context.kernel(number).op)) continue;
    const Op op = context.kernel(number).op;  // the slots point into it
    const std::vector<TensorSlot> slots = input_slots(op);
    for (size_t i = 0; i < slots.size(); ++i) {
      const bool has_positions = slots[i].role == Role::updates || slots[i].role == Role::extra;
      if (!has_positions || lookup_of(op, slots[i].role, slots[i].index) != nullptr) continue;
      if (const int gather = fuse_lookup(context, number, slots[i], i, options); gather >= 0)
        merged[static_cast<size_t>(gather)] = number;
    }
  }
  context.program.erase_merged(merged);
}

}  // namespace strew::inline v0::fusion
