// See usage.h.
#include "tune/usage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "base/machine.h"
#include "base/strides.h"
#include "compiler/op/access_dims.h"
#include "compiler/op/component_tensor.h"
#include "compiler/op/dims.h"
#include "compiler/op/slot_name.h"
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

/// An extent for each open indexed dim of the op's table, such that it has about kTableBytes. All other extents of the table are known.
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
  std::map<std::pair<OpenDimKind, size_t>, std::vector<const OpenDim*>> unknown;  // by kind, then source
  for (const OpenDim& dim : open) {
    const auto given = dim.name.empty() ? dims.end() : dims.find(dim.name);
    if (given != dims.end())
      set(dim, given->second);
    else
      unknown[{dim.kind, dim.source}].push_back(&dim);
  }
  for (const auto& [of, alike] : unknown) {
    const int64_t extent = invented_extent(op_of_source(op, of.second), of.first, static_cast<int64_t>(alike.size()));
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

/// Strides that only the call knows become those that keep elements apart with the least memory, given the strides that the op says: without such, the
/// tensor becomes dense.
void settle_strides(TensorType& type) {
  if (is_static(type.strides)) return;
  int64_t reach = 1;  // elements from the first one to the last one, over the dims whose strides are known
  const auto take = [&](size_t d) { reach += std::abs(type.strides[d]) * std::max<int64_t>(0, type.dims[d] - 1); };
  for (size_t d = 0; d < type.dims.size(); ++d)
    if (type.strides[d] != kDynamic) take(d);
  for (size_t d = type.dims.size(); d-- > 0;) {
    if (type.strides[d] != kDynamic) continue;
    type.strides[d] = reach;
    take(d);
  }
  if (type.strides == contiguous_strides(type.dims)) type.strides.clear();
}

void settle(Gather& gather) {
  const AccessDims dims(gather);
  for (size_t d = 0; d < gather.slice_sizes.size(); ++d)
    if (gather.slice_sizes[d] == kDynamic && dims.operand[d].slices_dim >= 0)
      gather.slice_sizes[d] = gather.result.dims[static_cast<size_t>(dims.operand[d].slices_dim)];
  for (TensorType* type : {&gather.operand, &gather.indices, &gather.result}) settle_strides(*type);
  for (TensorType& type : gather.more_indices) settle_strides(type);
  for (Extra& extra : gather.extras) settle_strides(extra.type);
}

void settle(Scatter& scatter) {
  settle_strides(scatter.indices);
  for (auto* list : {&scatter.operands, &scatter.more_indices, &scatter.updates, &scatter.results})
    for (TensorType& type : *list) settle_strides(type);
  for (Extra& extra : scatter.extras) settle_strides(extra.type);
  for (Lookup& lookup : scatter.lookups) {
    const auto at = static_cast<size_t>(lookup.index);
    lookup.gather.result = lookup.of == Role::updates ? scatter.updates[at] : scatter.extras[at].type;
    settle(lookup.gather);
  }
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

/// Of a look-up.
Distribution invented_distribution(const Lookup& lookup, std::string& note) {
  const std::string whose = "the look-up of " + slot_name(lookup.of, lookup.index);
  if (lookup.gather.indices_are_sorted) {
    note = "The op says that indices of " + whose + " are sorted: sorted ones are taken.";
    return {Distribution::Kind::sorted, 0, {}};
  }
  note = "How indices of " + whose + " are spread is unknown: uniform is taken.";
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

/// The texts of the sources, of which the last ones may be missing. The text of an op without look-ups may be the name of a file with a comma.
Expected<std::vector<std::string_view>> texts_of_sources(std::string_view text, size_t sources) {
  std::vector<std::string_view> out = {text};
  if (sources == 1) return out;
  for (size_t comma = text.find(','); comma != std::string_view::npos; comma = out.back().find(',')) {
    const std::string_view rest = out.back();
    out.back() = rest.substr(0, comma);
    out.push_back(rest.substr(comma + 1));
  }
  if (out.size() <= sources) return out;
  return invalid_argument("indices: '" + std::string(text) + "' has " + std::to_string(out.size()) +
                          " distributions, expected at most " + std::to_string(sources) +
                          ": of the op's own indices, then of each look-up");
}

/// Sets the distributions of all sources: those that `text` has, and others as is common.
Status set_distributions(InventedUsage& to, const Op& sized, const std::string& text) {
  const std::vector<Lookup>& lookups = lookups_of(sized);
  STREW_ASSIGN(const std::vector<std::string_view> texts, texts_of_sources(text, lookups.size() + 1));
  for (size_t source = 0; source <= lookups.size(); ++source) {
    Distribution distribution;
    if (source < texts.size() && !texts[source].empty()) {
      STREW_ASSIGN(distribution, parse_distribution(texts[source]));
    } else {
      std::string& note = to.notes.emplace_back();
      distribution = source == 0 ? invented_distribution(sized, note) : invented_distribution(lookups[source - 1], note);
    }
    if (source > 0 && distribution.kind == Distribution::Kind::file)
      return unsupported("indices: '" + distribution.file + "' of a look-up is a file, expected a distribution, such as zipf(1)");
    STREW_TRY(check_distribution(op_of_source(sized, source), distribution));
    if (source == 0)
      to.usage.indices = std::move(distribution);
    else
      to.usage.lookups.push_back(std::move(distribution));
  }
  return {};
}

/// Of all tensors that indices select from.
int64_t bytes_of_tables(const Op& sized) {
  int64_t bytes = 0;
  for (size_t source = 0; source <= lookups_of(sized).size(); ++source) {
    const Op op = op_of_source(sized, source);
    bytes += storage_bytes(table_of(op).dtype, product(table_of(op).dims));
  }
  return bytes;
}

}  // namespace

Op op_of_source(const Op& op, size_t source) { return source == 0 ? op : lookups_of(op)[source - 1].gather; }

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
  out += (out.empty() ? "" : " ") + print_indices(usage) + " " + std::string(name(usage.temperature));
  return out + " threads=" + std::to_string(usage.threads);
}

std::string print_indices(const Usage& usage) {
  std::string out = print(usage.indices);
  for (const Distribution& each : usage.lookups) out += "," + print(each);
  return out;
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
  std::visit([](auto& each) { settle(each); }, sized);
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
  STREW_TRY(set_distributions(out, *sized, known.indices));
  if (known.temperature.empty()) {
    const bool is_cold = bytes_of_tables(*sized) > machine().l3_bytes, is_one = lookups_of(*sized).empty();
    out.usage.temperature = is_cold ? Temperature::cold : Temperature::hot;
    out.notes.push_back(std::string(is_one ? "The table " : "The tables ") +
                        (is_cold ? (is_one ? "is larger than the last-level cache: calls go round cold data."
                                           : "are larger than the last-level cache: calls go round cold data.")
                                 : (is_one ? "fits the last-level cache: it stays there between calls."
                                           : "fit the last-level cache: they stay there between calls.")));
  } else if (known.temperature == "hot" || known.temperature == "cold") {
    out.usage.temperature = known.temperature == "hot" ? Temperature::hot : Temperature::cold;
  } else {
    return invalid_argument("temperature: '" + known.temperature + "', expected hot or cold");
  }
  out.usage.threads = known.threads > 0 ? known.threads : process_executor()->threads();
  return out;
}

}  // namespace strew::inline v0
