// Look-ups: a gather whose result only a scatter reads, as updates or as an extra, becomes a look-up of the scatter, so that the rows are never stored. By
// docs/semantics.md (section 2, "Look-ups") the scatter means what both meant together; an index that is out of bounds is an error as before, which then
// names the look-up.
//
// If several scatters read the result, each looks the rows up if that moves fewer bytes than storing them once and reading them again. What is compared
// are bytes per row: a row of a table that is larger than a cache costs whole lines, and rows that are stored lie one behind the other. The rule is the
// same on every machine, so that a file becomes the same kernels, and the same library, wherever it is read.
//
// Updates that a broadcast makes of rows, repeating each along index positions, are a look-up of these rows by index vectors without components: so is the gradient of a sum of rows, which gives
// each of them the same.
//
// The gather's own expression has moved into the scatter before (fuse.cc), or keeps the two apart. Tested by
// tests/unit/compiler/import/fusion/fusion_lookups_test.cc and tests/golden/fusion_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/assign.h"
#include "compiler/import/fusion/steps.h"
#include "compiler/import/importer.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/tensor.h"

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

/// A tensor that a scatter reads as updates or as an extra.
struct Reading {
  int scatter;
  TensorSlot slot;  ///< it points into the op, so it holds until that is replaced
  size_t at;        ///< the number of the tensor
};

/// The scatter with a look-up in the place of the tensor, and its tensors.
struct Fused {
  Scatter op;
  std::vector<int> tensors;
  OobPolicy policy;  ///< of the look-up
};
/// `read`: the tensors of the gather.
Expected<Fused> with_lookup(const FusionContext& context, const Reading& reading, const std::vector<int>& read, Gather rows) {
  const ProgramKernel& to = context.kernel(reading.scatter);
  Lookup lookup{reading.slot.role, reading.slot.index, std::move(rows)};
  Fused out{std::get<Scatter>(*to.op), {}, lookup.gather.oob};
  lookup.gather.result.strides.clear();
  const auto before = [&](const Lookup& each) { return std::pair(each.of, each.index) < std::pair(lookup.of, lookup.index); };
  const auto place_of = std::count_if(out.op.lookups.begin(), out.op.lookups.end(), before);
  out.op.lookups.insert(out.op.lookups.begin() + place_of, std::move(lookup));
  Tensors tensors = tensors_of(to);
  tensors.bound[reading.at] = read[0];
  tensors.of_lookups.insert(tensors.of_lookups.begin() + place_of, {read.begin() + 1, read.end()});
  for (const std::vector<int>& indices : tensors.of_lookups)
    tensors.bound.insert(tensors.bound.end(), indices.begin(), indices.end());
  out.tensors = std::move(tensors.bound);
  STREW_TRY(VerifiedOp::of(out.op).status());
  return out;
}

/// How many bytes a row costs that `readers` scatters read: looked up by each, or stored by the gather.
struct RowCosts {
  int64_t looked_up, stored;
};
std::optional<RowCosts> row_costs(const Gather& gather, int64_t readers) {
  constexpr int64_t kLine = 64, kCached = 256 << 10;
  if (!is_static(gather.slice_sizes)) return std::nullopt;  // windows as large as the call's tensors are long rows
  const auto bytes = [&](const std::vector<int64_t>& dims) -> std::optional<int64_t> {
    if (!is_static(dims)) return std::nullopt;
    const Expected<int64_t> elements = element_count(dims);
    return elements.ok() ? std::optional(storage_bytes(gather.operand.dtype, *elements)) : std::nullopt;
  };
  const std::optional<int64_t> row = bytes(gather.slice_sizes), table = bytes(gather.operand.dims);
  if (!row) return std::nullopt;
  const bool is_cached = table && *table <= kCached;
  const int64_t found = is_cached ? *row : (*row + kLine - 1) / kLine * kLine;
  return RowCosts{readers * found, found + (readers + 1) * *row};
}

bool can_look_up(const Op& op, const TensorSlot& slot) {
  return (slot.role == Role::updates || slot.role == Role::extra) && lookup_of(op, slot.role, slot.index) == nullptr;
}
/// `op`: the kernel's, into which the slots point.
std::vector<Reading> readings_of(int kernel, const Op& op) {
  std::vector<Reading> out;
  if (!is_scatter(op)) return out;
  const std::vector<TensorSlot> slots = input_slots(op);
  for (size_t i = 0; i < slots.size(); ++i)
    if (can_look_up(op, slots[i])) out.push_back({kernel, slots[i], i});
  return out;
}

/// The rows of `table` that a broadcast repeats along index positions, `positions` of these having dims of their own, as a gather of index vectors without components: its batching dims are
/// the positions' dims along which the rows differ. Nothing if what repeats are parts of rows, or extents are open.
std::optional<Gather> repeated_rows(const BroadcastOp& broadcast, const TensorType& table, const TensorType& updates,
                                    const AccessDims& access) {
  if (!is_static(table.dims) || !is_static(updates.dims) || access.window.empty() || broadcast.takes_shape) return std::nullopt;
  if (!std::ranges::is_sorted(broadcast.dims)) return std::nullopt;
  const auto is_row = [&](int64_t d) { return access.slices[static_cast<size_t>(d)].operand_dim >= 0; };
  const auto rank = static_cast<int64_t>(updates.dims.size());
  if (!is_row(rank - 1)) return std::nullopt;
  Gather out{.operand = table,
             .indices = {DType::i32, {}, {}},
             .more_indices = {},
             .extras = {},
             .result = {updates.dtype, updates.dims, {}},
             .dims = {},
             .slice_sizes = {},
             .expr = {}};
  std::vector<int64_t> position_of(updates.dims.size(), -1);
  for (int64_t d = 0; d < rank; ++d) {
    if (is_row(d)) {
      out.dims.window_dims.push_back(d);
      continue;
    }
    position_of[static_cast<size_t>(d)] = std::ssize(out.indices.dims);
    out.indices.dims.push_back(updates.dims[static_cast<size_t>(d)]);
  }
  out.dims.index_vector_dim = std::ssize(out.indices.dims);
  out.indices.dims.push_back(0);
  int64_t rows = 0;
  for (size_t from = 0; from < table.dims.size(); ++from) {
    const int64_t to = broadcast.dims[from];
    if (table.dims[from] != updates.dims[static_cast<size_t>(to)]) return std::nullopt;  // an extent of 1 that repeats
    out.slice_sizes.push_back(is_row(to) ? table.dims[from] : 1);
    rows += is_row(to) ? 1 : 0;
    if (is_row(to)) continue;
    out.dims.operand_batching_dims.push_back(static_cast<int64_t>(from));
    out.dims.indices_batching_dims.push_back(position_of[static_cast<size_t>(to)]);
  }
  if (rows != std::ssize(out.dims.window_dims)) return std::nullopt;
  return out;
}

class LookupFusion {
 public:
  LookupFusion(const FusionContext& context, const ImportOptions& options)
      : context_(context), options_(options), merged_(context.program.kernels().size(), -1) {}

  void run() {
    const auto kernels = static_cast<int>(merged_.size());
    for (int k = 0; k < kernels; ++k)
      for (const Reading& reading : readings_of(k, context_.kernel(k).op))
        scatters_[context_.kernel(k).tensor(reading.at)].push_back(k);
    for (int k = 0; k < kernels; ++k) {
      const Op op = context_.kernel(k).op;  // as it is before
      for (const Reading& reading : readings_of(k, op)) fuse(reading);
    }
    context_.program.erase_merged(merged_);
  }

 private:
  void refuse(const Reading& reading, int gather, const std::string& why) const {
    context_.program.edit_kernel(reading.scatter)
        ->notes.push_back(fmt::format("not looked up: the result of {}: {}", place(context_.kernel(gather).location), why));
  }

  void fuse(const Reading& reading) {
    const int value = context_.kernel(reading.scatter).tensor(reading.at), gather = context_.gather_of(value);
    if (gather < 0) return;
    const std::vector<int>& scatters = scatters_[value];
    const int readers = context_.program.readers(value), all = static_cast<int>(scatters.size());
    const auto [found, is_first] = shared_.try_emplace(value, readers == all ? all : 0);
    Expected<Gather> rows = lookup_of_gather(context_, gather, value, found->second > 0 ? readers : 1, options_);
    if (!rows.ok()) return refuse(reading, gather, rows.status().message());
    if (is_first && found->second > 1) {
      if (const std::string why = obstacle(value, gather, *rows); !why.empty()) {
        found->second = 0;
        return refuse(reading, gather, why);
      }
    }
    Expected<Fused> fused = with_lookup(context_, reading, context_.kernel(gather).tensors(), *rows);
    if (!fused.ok()) return refuse(reading, gather, fused.status().message());
    apply(reading, gather, *rows, std::move(*fused), all);
    if (context_.program.readers(value) > 0) return;
    if (all > 1) stop_reading(context_, gather);
    merged_[static_cast<size_t>(gather)] = reading.scatter;
  }

  /// Why not all scatters that read the value look it up; empty: they do.
  std::string obstacle(int value, int gather, const Gather& rows) const {
    const std::vector<int>& scatters = scatters_.at(value);
    if (std::ranges::adjacent_find(scatters) != scatters.end()) return "another operation reads its result, too";
    for (const int scatter : scatters) {
      const Op op = context_.kernel(scatter).op;
      for (const Reading& reading : readings_of(scatter, op)) {
        if (context_.kernel(scatter).tensor(reading.at) != value) continue;
        const Expected<Fused> fused = with_lookup(context_, reading, context_.kernel(gather).tensors(), rows);
        if (!fused.ok()) return fmt::format("another scatter reads it, which cannot: {}", fused.status().message());
      }
    }
    const auto readers = static_cast<int64_t>(scatters.size());
    const std::optional<RowCosts> costs = row_costs(rows, readers);
    if (!costs || costs->looked_up <= costs->stored) return "";
    return fmt::format("{} scatters read it, and each row would cost {} bytes, where stored rows cost {}", readers,
                       costs->looked_up, costs->stored);
  }

  /// `readers`: how many scatters look these rows up.
  void apply(const Reading& reading, int gather, const Gather& rows, Fused fused, int readers) {
    const ProgramKernel& from = context_.kernel(gather);
    const std::string where = place(from.location), what = fmt::format("{} {}", name(reading.slot.role), reading.slot.index);
    std::vector<std::string> notes = from.notes;
    const int number = reading.scatter;
    replace_op(context_, number, std::move(fused.op), fused.tensors, ComputeDisposition::folded, "");
    if (fused.policy != oob_of(from.op)) {
      std::erase_if(notes, [](const std::string& note) { return note.starts_with("policy "); });
      keep_other_policy(*context_.program.edit_kernel(number), options_);
    }
    const std::string note = fmt::format("fused with {}: its result ({}) is looked up, and not stored", where, what);
    if (readers == 1) {
      absorb(context_, number, gather, note);
    } else {
      const std::optional<RowCosts> costs = row_costs(rows, readers);
      const std::string bytes =
          costs ? fmt::format(": {} bytes for each row, where stored rows cost {}", costs->looked_up, costs->stored) : "";
      take_conditions(context_, number, gather, fmt::format("{}, by {} scatters{}", note, readers, bytes));
    }
    const auto kernel = context_.program.edit_kernel(number);
    for (const std::string& each : notes) kernel->notes.push_back(fmt::format("look-up of {}: {}", what, each));
  }

  const FusionContext& context_;
  const ImportOptions& options_;
  std::vector<int> merged_;                   ///< per kernel: the last scatter that looks up what it gathered; -1: it stays
  std::map<int, std::vector<int>> scatters_;  ///< per value: the scatters that read it as updates or as an extra, in order
  std::map<int, int> shared_;                 ///< per value: how many scatters look it up, if all that read it do; else 0
};

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

void fuse_lookups(const FusionContext& context, const ImportOptions& options) { LookupFusion(context, options).run(); }

void fuse_repeated_updates(const FusionContext& context, int number) {
  const Op op = context.kernel(number).op;  // as it is before
  for (const Reading& reading : readings_of(number, op)) {
    const ProgramKernel& kernel = context.kernel(number);
    const Compute* const compute = context.program.compute_of<BroadcastOp>(kernel.tensor(reading.at));
    if (reading.slot.role != Role::updates || compute == nullptr) continue;
    const int table = compute->arguments[0];
    const std::string where = place(compute->location);
    auto rows = repeated_rows(*compute->as<BroadcastOp>(), context.reader.type(table), *reading.slot.type, kernel.op.access());
    if (!rows) continue;
    constexpr int kNoIndices = -1;  // of the op that is verified first
    TensorType indices = rows->indices;
    Expected<Fused> fused = with_lookup(context, reading, {table, kNoIndices}, std::move(*rows));
    if (!fused.ok()) continue;
    std::ranges::replace(fused->tensors, kNoIndices, context.program.add_constant({.type = std::move(indices)}));
    replace_op(
        context, number, std::move(fused->op), fused->tensors, ComputeDisposition::folded,
        fmt::format("folded: the rows of updates {} are read where they lie, and not repeated by {}", reading.slot.index, where));
  }
}

}  // namespace strew::inline v0::fusion
