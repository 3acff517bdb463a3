// See usage.h.
#include "tune/usage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/machine.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/component_tensor.h"
#include "compiler/plan/plan.h"
#include "compiler/rewrite/rewrites.h"
#include "strew/executor.h"
#include "strew/text.h"
#include "tune/index_values.h"
#include "tune/open_dims.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kPositions = 4096;  ///< at most
constexpr int64_t kBatchExtent = 8, kWholeDim = 64, kWindow = 1;
constexpr int64_t kTableBytes = int64_t{16} << 20;  ///< a table with open extents gets about as many bytes
constexpr int64_t kManyRows = 4096;                 ///< from here on some rows are usually more frequent than others
constexpr double kZipf = 1;

bool is_unique(const Op& op) { return is_scatter(op) && std::get<Scatter>(op).unique_indices; }

constexpr int64_t kNoLargest = std::numeric_limits<int64_t>::max();
/// The largest number of an integer dtype, if it is an int64.
int64_t largest_of(DType dtype) {
  const int width = bits(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return width >= 63 ? kNoLargest : (int64_t{1} << width) - 1;
}

/// The rows of the indexed tensor that index vectors choose among.
int64_t rows_of(const Op& op) { return product(starts_of(op)); }

/// Index positions for each element of the batching dims.
int64_t positions_of(const Op& op) {
  const AccessDims dims(op);
  int64_t count = 1;
  for (const AccessDims::Position& position : dims.positions)
    if (position.operand_dim < 0) count *= indices_of(op).dims[static_cast<size_t>(position.indices_dim)];
  return count;
}

/// An extent for each open indexed dim, such that the table has about kTableBytes. All other extents of the table are known.
int64_t invented_rows(const Op& op, int64_t open_dims_of_rows) {
  double others = 1;
  for (const int64_t extent : table_of(op).dims)
    if (extent != kDynamic) others *= static_cast<double>(std::max<int64_t>(1, extent));
  const double elements = static_cast<double>(kTableBytes) * 8 / bits(table_of(op).dtype) / others;
  constexpr double kLeast = 16;
  const double each = std::pow(std::max(1.0, elements), 1 / static_cast<double>(open_dims_of_rows));
  return static_cast<int64_t>(std::exp2(std::floor(std::log2(std::max(kLeast, each)))));
}

/// `alike`: how many open dims of this kind nobody gave an extent. Dims of the kinds before this one have theirs.
int64_t invented_extent(const Op& op, OpenDimKind kind, int64_t alike) {
  switch (kind) {
    case OpenDimKind::batching:
      return kBatchExtent;
    case OpenDimKind::indexed:
      return invented_rows(op, alike);
    case OpenDimKind::whole:
      return kWholeDim;
    case OpenDimKind::window:
      return kWindow;
    case OpenDimKind::position:
      break;
  }
  const double all = std::clamp(static_cast<double>(rows_of(op)) / 4, 1.0, static_cast<double>(kPositions));
  return static_cast<int64_t>(std::pow(all, 1 / static_cast<double>(alike)));
}

/// Sets all open extents: those that `dims` names, and others as is common. `notes`, if given, gets a sentence for each of the others,
/// and `dims` their numbers.
Status fill_extents(Op& op, const VerifiedOp& verified, std::map<std::string, int64_t>& dims, std::vector<std::string>* notes) {
  STREW_ASSIGN(const std::vector<OpenDim> open, open_dims(op, verified));
  std::string known;
  for (const OpenDim& dim : open)
    if (!dim.name.empty()) known += (known.empty() ? "" : ", ") + dim.name + " (" + dim.where + ")";
  for (const auto& [name, extent] : dims) {
    const bool is_open = std::any_of(open.begin(), open.end(),
                                     [&, wanted = std::string_view(name)](const OpenDim& dim) { return dim.name == wanted; });
    if (!is_open)
      return invalid_argument("dims: '" + name + "', expected " +
                              (known.empty() ? "none: every extent is known" : "one of " + known));
    if (extent < 0) return invalid_argument("dims: " + name + "=" + std::to_string(extent) + ", expected a number from 0 on");
  }
  const auto set = [](const OpenDim& dim, int64_t extent) {
    for (int64_t* each : dim.extents) *each = extent;
  };
  std::map<OpenDimKind, std::vector<const OpenDim*>> unknown;
  for (const OpenDim& dim : open) {
    const auto given = dim.name.empty() ? dims.end() : dims.find(dim.name);
    if (given != dims.end())
      set(dim, given->second);
    else
      unknown[dim.kind].push_back(&dim);
  }
  for (const auto& [kind, alike] : unknown) {
    const int64_t extent = invented_extent(op, kind, static_cast<int64_t>(alike.size()));
    for (const OpenDim* dim : alike) {
      set(*dim, extent);
      if (!dim->name.empty()) dims[dim->name] = extent;
      if (notes != nullptr)
        notes->push_back((dim->name.empty() ? dim->where : dim->name + " (" + dim->where + ")") +
                         " is open: " + std::to_string(extent) + " is taken.");
    }
  }
  return {};
}

void clear_open_strides(TensorType& type) {
  if (std::find(type.strides.begin(), type.strides.end(), kDynamic) != type.strides.end()) type.strides.clear();
}

/// What the extents say twice: slice sizes that a gather takes from its result. Strides that only the call knows become dense.
void settle(Op& op) {
  if (auto* gather = std::get_if<Gather>(&op)) {
    const AccessDims dims(op);
    for (size_t d = 0; d < gather->slice_sizes.size(); ++d)
      if (gather->slice_sizes[d] == kDynamic && dims.operand[d].slices_dim >= 0)
        gather->slice_sizes[d] = gather->result.dims[static_cast<size_t>(dims.operand[d].slices_dim)];
    for (TensorType* type : {&gather->operand, &gather->indices, &gather->result}) clear_open_strides(*type);
    for (TensorType& type : gather->more_indices) clear_open_strides(type);
    for (Extra& extra : gather->extras) clear_open_strides(extra.type);
    return;
  }
  auto& scatter = std::get<Scatter>(op);
  clear_open_strides(scatter.indices);
  for (auto* list : {&scatter.operands, &scatter.more_indices, &scatter.updates, &scatter.results})
    for (TensorType& type : *list) clear_open_strides(type);
  for (Extra& extra : scatter.extras) clear_open_strides(extra.type);
}

Distribution invented_distribution(const Op& sized, std::string& note) {
  const bool adds = is_scatter(sized) && std::get<Scatter>(sized).combiner != CombinerKind::assign;
  if (is_unique(sized)) {
    note = "The op says that indices are unique: a permutation is taken.";
    return {Distribution::Kind::permutation, 0, {}};
  }
  if (has_sorted_indices(sized)) {
    note = "The op says that indices are sorted: sorted ones are taken.";
    return {Distribution::Kind::sorted, 0, {}};
  }
  if (adds && rows_of(sized) >= kManyRows && positions_of(sized) > 1) {
    note = "How indices are spread is unknown: zipf(1) is taken, as updates of large tables often are.";
    return {Distribution::Kind::zipf, kZipf, {}};
  }
  note = "How indices are spread is unknown: uniform is taken.";
  return {};
}

Status check_distribution(const Op& sized, const Distribution& distribution) {
  using Kind = Distribution::Kind;
  if (is_unique(sized) && distribution.kind != Kind::permutation && distribution.kind != Kind::file && positions_of(sized) > 1)
    return invalid_argument("indices: '" + print(distribution) +
                            "', expected permutation or a file: the op says that indices are unique");
  if (distribution.kind == Kind::permutation && positions_of(sized) > rows_of(sized))
    return invalid_argument("indices: a permutation of " + std::to_string(rows_of(sized)) + " rows has no " +
                            std::to_string(positions_of(sized)) + " different ones, expected another distribution or other dims");
  return {};
}

}  // namespace

const TensorType& table_of(const Op& op) {
  return is_scatter(op) ? std::get<Scatter>(op).results[0] : std::get<Gather>(op).operand;
}

std::vector<int64_t> starts_of(const Op& op) {
  const AccessDims dims(op);
  const std::vector<const TensorType*> tensors = std::visit([](const auto& each) { return index_tensors(each); }, op);
  std::vector<int64_t> out;
  for (size_t d = 0; d < dims.operand.size(); ++d) {
    if (dims.operand[d].component < 0) continue;
    const int64_t extent = table_of(op).dims[d], window = dims.operand[d].window;
    const auto component = static_cast<size_t>(dims.operand[d].component);
    const size_t tensor = std::visit([&](const auto& each) { return tensor_of_component(each, component); }, op);
    const int64_t largest = largest_of(tensors[tensor]->dtype);
    // Windows at unique places must not overlap; and a start must be a number of the index dtype.
    const int64_t step = is_unique(op) ? std::max<int64_t>(1, window) : 1;
    const int64_t starts =
        std::min(is_unique(op) ? extent / step : extent - window + 1, largest / step + (largest == kNoLargest ? 0 : 1));
    out.push_back(std::max<int64_t>(extent > 0 ? 1 : 0, starts));
  }
  return out;
}

std::string print(const Usage& usage) {
  std::string out;
  for (const auto& [name, extent] : usage.dims) out += (out.empty() ? "" : ",") + name + "=" + std::to_string(extent);
  out += (out.empty() ? "" : " ") + print(usage.indices) + " " + std::string(name(usage.temperature));
  return out + " threads=" + std::to_string(usage.threads);
}

Expected<std::map<std::string, int64_t>> parse_dims(std::string_view text) {
  std::map<std::string, int64_t> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const size_t equals = part.find('=');
    int64_t extent = -1;
    const std::string_view number = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), extent);
    if (equals == 0 || number.empty() || error != std::errc() || end != number.data() + number.size() || extent < 0)
      return invalid_argument("dims: '" + std::string(part) + "', expected SYMBOL=EXTENT, as in s0=1024");
    if (!out.emplace(part.substr(0, equals), extent).second)
      return invalid_argument("dims: '" + std::string(part.substr(0, equals)) + "' is given twice, expected one extent");
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

Expected<VerifiedOp> with_dims(const VerifiedOp& op, const Usage& usage) {
  Op sized = *op;
  std::map<std::string, int64_t> dims = usage.dims;
  STREW_TRY(fill_extents(sized, op, dims, nullptr));
  settle(sized);
  Expected<VerifiedOp> out = VerifiedOp::of(std::move(sized));
  if (!out.ok()) return invalid_argument("dims: the op does not allow these extents: " + out.status().message());
  return out;
}

Expected<InventedUsage> invent_usage(const VerifiedOp& op, const KnownUsage& known) {
  InventedUsage out;
  out.usage.dims = known.dims;
  out.usage.calls = std::max<int64_t>(1, known.calls);
  Op scratch = *op;
  STREW_TRY(fill_extents(scratch, op, out.usage.dims, &out.notes));
  STREW_ASSIGN(const VerifiedOp sized, with_dims(op, out.usage));
  if (!known.indices.empty()) {
    STREW_ASSIGN(out.usage.indices, parse_distribution(known.indices));
  } else {
    std::string note;
    out.usage.indices = invented_distribution(*sized, note);
    out.notes.push_back(note);
  }
  STREW_TRY(check_distribution(*sized, out.usage.indices));
  const int64_t table_bytes = storage_bytes(table_of(*sized).dtype, product(table_of(*sized).dims));
  if (known.temperature.empty()) {
    out.usage.temperature = table_bytes > machine().l3_bytes ? Temperature::cold : Temperature::hot;
    out.notes.push_back(out.usage.temperature == Temperature::cold
                            ? "The table is larger than the last-level cache: calls go round cold data."
                            : "The table fits the last-level cache: it stays there between calls.");
  } else if (known.temperature == "hot" || known.temperature == "cold") {
    out.usage.temperature = known.temperature == "hot" ? Temperature::hot : Temperature::cold;
  } else {
    return invalid_argument("temperature: '" + known.temperature + "', expected hot or cold");
  }
  out.usage.threads = known.threads > 0 ? known.threads : process_executor()->threads();
  return out;
}

}  // namespace strew::inline v0
