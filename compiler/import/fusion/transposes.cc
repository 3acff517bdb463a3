// Transposes around a kernel become part of its dimension numbers. These name the dims of each tensor, so a kernel can read a table, and write
// one, in the order in which the program holds it: a KV append that a model writes as transpose(scatter(transpose(cache), i, transpose(u)))
// then updates the cache in place instead of moving it twice.
//
// Dimension numbers express an order of dims if, in updates and in a gather's result, the dims of the index positions stand in the order of the
// indices' dims, and the dims of the window in that of the operand's. Of a kernel, these are taken in together:
// - a gather's operand, and its result;
// - a scatter's updates; its operand (unless the scatter is filled) and its result, where the result's transpose undoes the operand's.
// If all that is missing is the order of the window in a scatter's updates, these get a transpose, or another one than they had: they are
// moved once, where operand and result were each moved before.
//
// A gather's result in any other order is a gather of transposed indices (if positions are exchanged) from a transposed operand (if dims of the window
// are), which is taken where these have fewer bytes than the result: then the rows need not be stored for the transpose, and a scatter may look
// them up. Positions are exchanged only under policies that report no index, because a message names the first bad position in the file's order.
//
// The results keep every bit, for whatever combiner: only the names of coordinates change. An index position is visited when it was before,
// since positions are in the row-major order of the indices' dims, which are not touched; and it brings the same updates to the same elements,
// of which each lies in another place of the tensor. So each element is the same fold of the same updates, in the same order. Policies judge
// each dim by its own start and extent, which move with it. The order of the components, and with it the component that an error names, stays.
//
// Tested by tests/unit/compiler/import/fusion/fusion_transposes_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/import/fusion/steps.h"
#include "compiler/import/importer.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/dims.h"
#include "strew/tensor.h"

namespace strew::inline v0::fusion {
namespace {

using Dims = std::vector<int64_t>;
constexpr int kMostTransposes = 16;  ///< in a row
constexpr bool kNoteIsFirst = true;  ///< before what the file's operator means in general

/// A value as a transpose of another: dim d is dim `order[d]` of `value`. Without a transpose, the value itself.
struct Transposed {
  int value = -1;
  Dims order;

  bool moves() const { return !std::is_sorted(order.begin(), order.end()); }
};

Transposed source_of(const FusionContext& context, int value) {
  Transposed out{value, all_dims(context.reader.type(value).dims.size())};
  for (int i = 0; i < kMostTransposes; ++i) {
    const Compute* const transpose = context.program.compute_of<TransposeOp>(out.value);
    if (transpose == nullptr) break;
    for (int64_t& d : out.order) d = transpose->as<TransposeOp>()->permutation[d];
    out.value = transpose->arguments[0];
  }
  return out;
}

Dims inverse(const Dims& order) {
  Dims out(order.size());
  for (size_t d = 0; d < order.size(); ++d) out[order[d]] = static_cast<int64_t>(d);
  return out;
}

TensorType permuted(const TensorType& type, const Dims& order) {
  TensorType out{type.dtype, {}, {}};
  for (const int64_t d : order) out.dims.push_back(type.dims[d]);
  return out;
}

bool is_plain(const TensorType& type) { return type.strides.empty(); }

/// Calls dim d of the operand names[d] in all lists of it. Sorted ones stay sorted, the batching dims with the dims of the indices that they are
/// paired with.
void rename_operand(DimensionNumbers& numbers, const Dims& names) {
  for (Dims* const list : {&numbers.removed_dims, &numbers.operand_batching_dims, &numbers.index_map})
    for (int64_t& d : *list) d = names[d];
  std::sort(numbers.removed_dims.begin(), numbers.removed_dims.end());
  Dims &operand = numbers.operand_batching_dims, &indices = numbers.indices_batching_dims;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0; i < operand.size(); ++i) pairs.emplace_back(operand[i], indices[i]);
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size(); ++i) std::tie(operand[i], indices[i]) = pairs[i];
}

int64_t known_elements(const TensorType& type) {  // -1: open
  return is_static(type.dims) ? element_count(type.dims).value_or(-1) : -1;
}

/// Is a kernel about as fast on a table with the dims names[d] as on a transpose with the dims d, the transpose left out? It is if the last dim
/// belongs to the window, as in rows; or, where windows lie scattered, if no more elements are moved than the table has.
bool keeps_pace(const AccessDims& access, const Dims& names, const TensorType& slices, const TensorType& table) {
  for (size_t d = 0; d < names.size(); ++d)
    if (names[d] + 1 == static_cast<int64_t>(names.size()) && access.in_window(static_cast<int64_t>(d))) return true;
  return known_elements(table) < 0 || known_elements(slices) <= known_elements(table);
}

/// The window's dims in slices (updates, or a gather's result) whose dim e is dim order[e] of those that `access` describes, if the operand's
/// dim d is called names[d]. Nothing if dimension numbers cannot express that order.
std::optional<Dims> window_of(const AccessDims& access, const Dims& order, const Dims& names) {
  Dims window;
  int64_t position = -1, operand_dim = -1;
  for (size_t e = 0; e < order.size(); ++e) {
    const AccessDims::SlicesDim& dim = access.slices[order[e]];
    const bool is_window = dim.operand_dim >= 0;
    int64_t& last = is_window ? operand_dim : position;
    const int64_t here = is_window ? names[dim.operand_dim] : dim.indices_dim;
    if (here <= last) return std::nullopt;
    last = here;
    if (is_window) window.push_back(static_cast<int64_t>(e));
  }
  return window;
}

/// The gather from a tensor of which its operand is the transpose `names`, with a result whose dim e is dim `order[e]` of its own.
std::optional<Gather> reordered(const VerifiedOp& op, const TensorType& operand, const Dims& names, const Dims& order) {
  const auto& gather = std::get<Gather>(*op);
  const auto window = window_of(op.access(), order, names);
  if (!window || !gather.extras.empty() || !is_plain(gather.operand) || !is_plain(gather.result)) return std::nullopt;
  Gather out = gather;
  out.operand = operand;
  out.result = permuted(gather.result, order);
  out.dims.window_dims = *window;
  rename_operand(out.dims, names);
  for (size_t d = 0; d < names.size(); ++d) out.slice_sizes[names[d]] = gather.slice_sizes[d];
  return out;
}

/// `order`: of the dims of what replaces the gather's result.
bool fuse_gather(const FusionContext& context, int number, const Dims& order, bool with_operand) {
  const ProgramKernel& kernel = context.kernel(number);
  const auto& gather = std::get<Gather>(*kernel.op);
  if (kernel.find(ArgumentUse::slice_sizes) != nullptr) return false;
  std::vector<int> arguments = kernel.tensors();
  const Transposed operand =
      with_operand ? source_of(context, arguments[0]) : Transposed{arguments[0], all_dims(gather.operand.dims.size())};
  if (operand.moves() && !keeps_pace(kernel.op.access(), operand.order, gather.result, gather.operand)) return false;
  auto changed = reordered(kernel.op, with_operand ? permuted(gather.operand, inverse(operand.order)) : gather.operand,
                           operand.order, order);
  if (!changed) return false;
  arguments[0] = operand.value;
  const bool moves_result = !std::is_sorted(order.begin(), order.end());
  const char* const note = !moves_result ? "folded: the operand is read as it is, without a transpose"
                           : operand.moves()
                               ? "folded: the result is written in the order of its transpose, and the operand read without one"
                               : "folded: the result is written in the order of its transpose";
  return replace_op(context, number, std::move(*changed), arguments, ComputeDisposition::folded, note, kNoteIsFirst);
}

/// A gather whose result a transpose reads, as a gather of transposed indices from a transposed operand.
class TurnedGather {
 public:
  /// `order`: of the dims of what replaces the gather's result.
  TurnedGather(const FusionContext& context, int number, Dims order)
      : context_(context),
        number_(number),
        gather_(std::get<Gather>(*context.kernel(number).op)),
        access_(context.kernel(number).op.access()),
        order_(std::move(order)),
        table_(sorted_by([&](size_t d) { return access_.slices[d].operand_dim; }, gather_.operand.dims.size())),
        positions_(sorted_by([&](size_t d) { return access_.slices[d].indices_dim; }, gather_.indices.dims.size())) {}

  bool run(const ImportOptions& options) {
    const ProgramKernel& kernel = context_.kernel(number_);
    const bool is_whole = kernel.find(ArgumentUse::slice_sizes) == nullptr && !kernel.file_positions && gather_.extras.empty() &&
                          gather_.more_indices.empty() && is_plain(gather_.operand) && is_plain(gather_.indices) &&
                          is_plain(gather_.result);
    const int64_t saved = known_bytes(gather_.result);
    const int64_t table = moves(table_) ? known_bytes(gather_.operand) : 0;
    const int64_t indices = moves(positions_) ? known_bytes(gather_.indices) : 0;
    if (!is_whole || saved < 0 || table < 0 || indices < 0) return false;
    if (table + indices >= saved)
      return refuse(fmt::format("its operand and indices would be, which have {} bytes, and it has {}", table + indices, saved));
    if (moves(positions_) && final_policy(kernel, options) == OobPolicy::error)
      return refuse("positions would be exchanged, and an error would name another one than the file has");
    std::vector<int> arguments = kernel.tensors();
    if (moves(table_)) arguments[0] = transposed(arguments[0], table_, ", its operand");
    if (moves(positions_)) arguments[1] = transposed(arguments[1], positions_, ", its indices");
    const char* const what = table == 0 ? "the indices are" : indices == 0 ? "the operand is" : "operand and indices are";
    const std::string note =
        fmt::format("folded: the result is written in the order of its transpose: {} transposed instead, {} bytes of {}", what,
                    table + indices, saved);
    return replace_op(context_, number_, turned(), arguments, ComputeDisposition::folded, note, kNoteIsFirst);
  }

 private:
  static bool moves(const Dims& order) { return !std::is_sorted(order.begin(), order.end()); }
  static int64_t known_bytes(const TensorType& type) {
    const int64_t elements = known_elements(type);
    return elements < 0 ? -1 : storage_bytes(type.dtype, elements);
  }
  bool refuse(const std::string& why) const {
    context_.program.edit_kernel(number_)->notes.push_back("the transpose of its result is not folded: " + why);
    return false;
  }

  /// The order of a tensor's dims that has those which `dim_of` tells of the result's dims as the new result has them. Others stay where they are.
  template <class DimOf>
  Dims sorted_by(const DimOf& dim_of, size_t rank) const {
    Dims wanted, out = all_dims(rank);
    for (const int64_t d : order_)
      if (const int64_t dim = dim_of(static_cast<size_t>(d)); dim >= 0) wanted.push_back(dim);
    Dims places = wanted;
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i) out[places[i]] = wanted[i];
    return out;
  }

  Gather turned() const {
    Gather out = gather_;
    const Dims names = inverse(table_), positions = inverse(positions_);
    out.operand = permuted(gather_.operand, table_);
    out.indices = permuted(gather_.indices, positions_);
    out.result = permuted(gather_.result, order_);
    out.dims.window_dims.clear();
    for (size_t e = 0; e < order_.size(); ++e)
      if (access_.slices[order_[e]].operand_dim >= 0) out.dims.window_dims.push_back(static_cast<int64_t>(e));
    for (int64_t& d : out.dims.indices_batching_dims) d = positions[d];
    rename_operand(out.dims, names);
    for (size_t d = 0; d < names.size(); ++d) out.slice_sizes[names[d]] = gather_.slice_sizes[d];
    out.indices_are_sorted = out.indices_are_sorted && !moves(positions_);
    return out;
  }

  int transposed(int value, const Dims& order, const char* what) const {
    return context_.program.add_compute(
        {TransposeOp{order}, context_.kernel(number_).location + what, {value}, {permuted(context_.reader.type(value), order)}});
  }

  const FusionContext& context_;
  int number_;
  const Gather gather_;                   ///< before fusion
  const AccessDims& access_;              ///< the kernel's, until its op is replaced
  const Dims order_, table_, positions_;  ///< of the dims of result, operand and indices, in terms of those before
};

class ScatterFusion {
 public:
  /// `order`: of the dims of what replaces the result.
  ScatterFusion(const FusionContext& context, int number, Dims order)
      : context_(context),
        number_(number),
        scatter_(std::get<Scatter>(*context.kernel(number).op)),
        access_(context.kernel(number).op.access()),
        order_(std::move(order)),
        arguments_(context.kernel(number).tensors()),
        slot_(indices_slot(context.kernel(number).op) + 1) {}

  bool run() {
    const bool moves_result = !std::is_sorted(order_.begin(), order_.end());
    if (!applies() || (moves_result && !take_operand())) return false;
    const Dims names = inverse(order_);
    if (moves_result && !keeps_pace(access_, names, scatter_.updates[0], scatter_.results[0])) return false;
    const int updates = arguments_[slot_];
    const Transposed from = source_of(context_, updates);
    if (!moves_result && !from.moves()) return false;
    Scatter out = scatter_;
    // What the updates are a transpose of, the updates, or another transpose: in each, dim e is dim order[e] of the updates.
    Dims order = inverse(from.order);
    auto window = window_of(access_, order, names);
    arguments_[slot_] = from.value;
    if (!window && !moves_result) return false;
    if (!window) {
      order = all_dims(order.size());
      window = window_of(access_, order, names);
      arguments_[slot_] = updates;
    }
    if (!window) {
      if (!pays(from)) return false;
      order = in_order(names);
      window = window_of(access_, order, names);
      if (!window) return false;
      arguments_[slot_] = moved(from, order);
    }
    out.updates[0] = permuted(scatter_.updates[0], order);
    out.dims.window_dims = *window;
    if (moves_result) {
      out.operands[0] = permuted(scatter_.operands[0], order_);
      out.results[0] = permuted(scatter_.results[0], order_);
      rename_operand(out.dims, names);
    }
    const bool moves_updates = from.moves() && arguments_[slot_] == from.value;
    const char* const note = !moves_result   ? "folded: the updates are read as they are, without a transpose"
                             : moves_updates ? "folded: operand, updates and result are used as they are, without transposes"
                                             : "folded: operand and result are used as they are, without transposes";
    return replace_op(context_, number_, std::move(out), arguments_, ComputeDisposition::folded, note, kNoteIsFirst);
  }

 private:
  bool applies() const {
    return scatter_.results.size() == 1 && scatter_.extras.empty() && scatter_.init != InitKind::in_place &&
           context_.kernel(number_).find(ArgumentUse::result_shape) == nullptr && is_plain(scatter_.operands[0]) &&
           is_plain(scatter_.updates[0]) && is_plain(scatter_.results[0]);
  }

  /// Replaces the operand by what it is a transpose of, if the result's transpose undoes it.
  bool take_operand() {
    if (scatter_.init == InitKind::fill) return true;
    const Transposed operand = source_of(context_, arguments_[0]);
    arguments_[0] = operand.value;
    return operand.order == inverse(order_);
  }

  /// The order of the updates' dims that has each window dim where one was, but sorted by their new names.
  Dims in_order(const Dims& names) const {
    Dims window;
    for (size_t d = 0; d < access_.slices.size(); ++d)
      if (access_.slices[d].operand_dim >= 0) window.push_back(static_cast<int64_t>(d));
    const auto name = [&](int64_t d) { return names[access_.slices[d].operand_dim]; };
    Dims sorted = window, out = all_dims(access_.slices.size());
    std::sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return name(a) < name(b); });
    for (size_t i = 0; i < window.size(); ++i) out[window[i]] = sorted[i];
    return out;
  }

  /// Do transposed updates cost no more than operand and result do?
  bool pays(const Transposed& updates) const {
    if (updates.moves()) return true;  // they are moved already
    const int64_t moved = known_elements(scatter_.updates[0]);
    return moved >= 0 && moved <= known_elements(scatter_.results[0]);
  }

  /// A transpose of what the updates come from, whose dim e is dim order[e] of the updates.
  int moved(const Transposed& from, const Dims& order) const {
    TransposeOp op;
    for (const int64_t d : order) op.permutation.push_back(from.order[d]);
    return context_.program.add_compute({std::move(op),
                                         context_.kernel(number_).location + ", its updates",
                                         {from.value},
                                         {permuted(scatter_.updates[0], order)}});
  }

  const FusionContext& context_;
  int number_;
  const Scatter scatter_;     ///< before fusion
  const AccessDims& access_;  ///< the kernel's, until its op is replaced
  const Dims order_;
  std::vector<int> arguments_;
  const size_t slot_;  ///< of the updates
};

}  // namespace

void fuse_result_transpose(const FusionContext& context, int number, const ImportOptions& options) {
  const Compute& transpose = context.program.compute(number);
  if (!context.program.is_needed(number) || transpose.as<TransposeOp>() == nullptr) return;
  const Value& from = context.program.value(transpose.arguments[0]);
  if (from.kind != ValueKind::result || context.program.readers(transpose.arguments[0]) != 1) return;
  const int kernel = from.index;
  const Dims order = transpose.as<TransposeOp>()->permutation;
  const bool is_folded = is_scatter(context.kernel(kernel).op)
                             ? ScatterFusion(context, kernel, order).run()
                             : fuse_gather(context, kernel, order, true) || fuse_gather(context, kernel, order, false) ||
                                   TurnedGather(context, kernel, order).run(options);
  if (is_folded) context.program.become_result(context.program.result_of(number), kernel, ComputeDisposition::folded);
}

void fuse_argument_transposes(const FusionContext& context) {
  const int kernels = static_cast<int>(context.program.kernels().size());
  std::map<int, int> gathers;  // per value, how many gathers read it as their operand
  for (int k = 0; k < kernels; ++k) {
    const Op& op = context.kernel(k).op;
    if (const auto* scatter = std::get_if<Scatter>(&op))
      ScatterFusion(context, k, all_dims(scatter->results[0].dims.size())).run();
    else
      ++gathers[context.kernel(k).tensor(0)];
  }
  // Only if nobody else needs the transpose. A scatter of the same operand may make an update with the gather (update.cc).
  const auto is_needed = [&](int value) { return context.program.readers(value) != gathers[value]; };
  for (int k = 0; k < kernels; ++k) {
    const auto* gather = std::get_if<Gather>(&*context.kernel(k).op);
    const int operand = context.kernel(k).tensor(0);
    if (gather == nullptr || is_needed(operand) || !source_of(context, operand).moves()) continue;
    if (fuse_gather(context, k, all_dims(gather->result.dims.size()), true)) --gathers[operand];
  }
}

}  // namespace strew::inline v0::fusion
