// See recorder.h. A call is of the kind of another one if both have the same op, extents of open dims and number of threads. The file has a
// line of JSON for each kind, and is replaced as a whole. Threads wait for each other only while a call is counted; indices are looked at
// outside of the lock. A forked child begins a recording of its own: that of its parent stays as it was, with a lock that another of the
// parent's threads may have held.
#include "runtime/record/recorder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "backends/reference/geometry.h"
#include "base/log.h"
#include "base/pending_file.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

// ---- The indices of a call --------------------------------------------------------------------------------------------------------

/// The index vectors of a source of a call, and the table that they lead into.
struct Places {
  Places(const reference::Geometry& shape, std::span<const reference::BoundTensor> indices, bool wraps)
      : shape(shape), starts(shape, indices), wraps(wraps) {}
  static Places own(const Op& op, const reference::Bound& bound) {
    return {reference::geometry_of(op, bound), bound.sources[0], normalizes_negative(op)};
  }
  static Places of(const Lookup& lookup, std::span<const reference::BoundTensor> indices, const reference::Bound& bound) {
    const reference::BoundTensor& table =
        (lookup.of == Role::updates ? bound.updates : bound.extras)[static_cast<size_t>(lookup.index)];
    const std::vector<int64_t> made = reference::made_dims(lookup.gather, table, indices[0]);
    return {reference::geometry(lookup.gather.dims, table.dims, indices[0].dims, made), indices,
            lookup.gather.normalize_negative};
  }

  /// The index vector of a position as one number, in row-major order of the table's dims; -1: it is outside of the table.
  int64_t place(const reference::Coords& position) const {
    int64_t out = 0;
    for (size_t d = 0; d < shape.target.size(); ++d) {
      if (shape.component[d] < 0) continue;
      __int128 value = starts.load(position, static_cast<size_t>(shape.component[d]));
      if (wraps && value < 0) value += shape.target[d];
      if (value < 0 || value >= shape.target[d]) return -1;
      out = out * shape.target[d] + static_cast<int64_t>(value);
    }
    return out;
  }
  /// The number of the position's batch, in row-major order of the table's batching dims.
  int64_t batch(const reference::Coords& position) const {
    int64_t out = 0;
    for (const int dim : shape.batch)
      if (const auto d = static_cast<size_t>(dim); dim >= 0) out = out * shape.positions[d] + position[d];
    return out;
  }

  reference::Geometry shape;
  reference::Indices starts;
  bool wraps;
};

/// Of several batches, the places of the same rank in frequency are counted together: each batch has its own frequent rows.
std::vector<int64_t> counts_by_rank(const std::map<int64_t, std::unordered_map<int64_t, int64_t>>& batches) {
  std::vector<int64_t> all;
  for (const auto& [batch, places] : batches) {
    std::vector<int64_t> counts;
    for (const auto& [place, count] : places) counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    all.resize(std::max(all.size(), counts.size()));
    for (size_t rank = 0; rank < counts.size(); ++rank) all[rank] += counts[rank];
  }
  return all;
}

/// The slope of log(count) over log(rank) for the most frequent places: counts of less than three say little.
double fitted_exponent(const std::vector<int64_t>& counts) {
  constexpr size_t kRanks = 64;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (size_t rank = 0; rank < std::min(kRanks, counts.size()) && counts[rank] >= 3; ++rank) {
    const double a = std::log(static_cast<double>(rank + 1)), b = std::log(static_cast<double>(counts[rank]));
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  const double spread = n * xx - x * x;
  return n < 4 || spread <= 0 ? 0 : std::max(0.0, -(n * xy - x * y) / spread);
}

IndexStatistics statistics_of(const Places& at) {
  IndexStatistics out;
  const reference::Geometry& shape = at.shape;
  out.rows = 1;
  for (size_t d = 0; d < shape.target.size(); ++d)
    if (shape.component[d] >= 0) out.rows *= std::max<int64_t>(1, shape.target[d]);
  std::map<int64_t, std::unordered_map<int64_t, int64_t>> batches;
  int64_t runs = 0, run = 0, ascending = 0, last_place = -1, last_batch = -1;
  const auto end_run = [&] {
    if (run > 0) ++out.runs[std::min<size_t>(std::bit_width(static_cast<uint64_t>(run)) - 1, out.runs.size() - 1)];
    run = 0;
  };
  reference::Coords position(shape.positions.size(), 0);
  bool goes_on = !reference::is_empty(shape.positions);
  for (; goes_on && out.positions + out.outside < kMostPositions; goes_on = reference::next(shape.positions, position)) {
    const int64_t place = at.place(position), batch = at.batch(position);
    if (place < 0) {
      ++out.outside;
      continue;
    }
    ++out.positions;
    ++batches[batch][place];
    const bool follows = batch == last_batch;
    ascending += !follows || place >= last_place ? 1 : 0;
    if (!follows || place != last_place) {
      end_run();
      ++runs;
    }
    ++run;
    last_place = place;
    last_batch = batch;
  }
  end_run();
  if (out.positions == 0) return out;
  const std::vector<int64_t> counts = counts_by_rank(batches);
  const auto all = static_cast<double>(out.positions);
  out.batches = static_cast<int64_t>(batches.size());
  for (const auto& [batch, places] : batches) out.distinct += static_cast<int64_t>(places.size());
  out.top_share = static_cast<double>(counts[0]) / all;
  out.second_share = counts.size() > 1 ? static_cast<double>(counts[1]) / all : 0;
  out.ascending = static_cast<double>(ascending) / all;
  out.run_length = all / static_cast<double>(runs);
  out.zipf = fitted_exponent(counts);
  return out;
}

// ---- Kinds of calls ---------------------------------------------------------------------------------------------------------------

constexpr uint64_t kFirstCalls = 4;  ///< of a kind: looked at, each of them
constexpr size_t kMostKinds = 10'000;
constexpr std::chrono::seconds kWriteEvery{30};

/// What was seen of one source of indices.
struct Seen {
  IndexStatistics statistics;                     ///< of the last call that was looked at
  std::map<std::string, uint64_t> distributions;  ///< how often each was found
};

struct Kind {
  std::string op;
  std::map<std::string, int64_t> dims;
  int threads = 1;
  uint64_t calls = 0, looked_at = 0;
  std::vector<Seen> sources;  ///< the op's own indices, then those of each look-up; empty: no call was looked at
};

struct Recording {
  const pid_t process = getpid();
  std::mutex mutex;
  std::map<std::string, Kind> kinds;  ///< by symbol, extents and threads
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();
  bool has_warned = false;
};
std::atomic<Recording*> current = nullptr;

/// This process's recording. Never destroyed: it is written while the process ends.
Recording& recording() {
  Recording* found = current.load(std::memory_order_acquire);
  if (found != nullptr && found->process == getpid()) return *found;
  auto made = std::make_unique<Recording>();
  // Another thread may be first; then its recording is this process's.
  return current.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel) ? *made.release() : *found;
}

/// Of the machine or the container, so that several can share a folder.
std::string host_name() {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) != 0) return "host";
  std::string out(name);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '-');
  return out.empty() ? "host" : out;
}

/// The extents of open dims, as the plan names them.
std::map<std::string, int64_t> dims_of(const strew_kernel& kernel, std::span<const TensorView> tensors) {
  std::map<std::string, int64_t> dims;
  for (uint32_t s = 0; s < kernel.symbol_count; ++s)
    if (const strew_symbol& symbol = kernel.symbols[s]; symbol.is_stride == 0)
      dims["s" + std::to_string(s)] = tensors[symbol.tensor].dims[symbol.dim];
  return dims;
}

std::string key_of(const std::string& symbol, const std::map<std::string, int64_t>& dims, int threads) {
  std::string key = symbol + ' ' + std::to_string(threads);
  for (const auto& [name, extent] : dims) key += ' ' + std::to_string(extent);
  return key;
}

nlohmann::ordered_json json_of(const Seen& seen, uint64_t calls) {
  const auto most = std::max_element(seen.distributions.begin(), seen.distributions.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const IndexStatistics& s = seen.statistics;
  return {{"indices", most == seen.distributions.end() ? std::string("uniform") : most->first},
          {"statistics",
           {{"calls", calls},
            {"positions", s.positions},
            {"rows", s.rows},
            {"outside", s.outside},
            {"batches", s.batches},
            {"distinct", s.distinct},
            {"top_share", s.top_share},
            {"second_share", s.second_share},
            {"ascending", s.ascending},
            {"run_length", s.run_length},
            {"runs", s.runs},
            {"zipf", s.zipf}}}};
}

std::string line_of(const Kind& kind) {
  nlohmann::ordered_json json = {
      {"format", 1}, {"op", kind.op}, {"dims", kind.dims}, {"threads", kind.threads}, {"calls", kind.calls}};
  json.update(json_of(kind.sources.empty() ? Seen() : kind.sources[0], kind.looked_at));
  for (size_t source = 1; source < kind.sources.size(); ++source)
    json["lookups"].push_back(json_of(kind.sources[source], kind.looked_at));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Status write(const std::string& folder, const Recording& from) {
  std::error_code ignored;  // create() says what is wrong
  std::filesystem::create_directories(folder, ignored);
  std::string text;
  for (const auto& [key, kind] : from.kinds) text += line_of(kind);
  STREW_ASSIGN(PendingFile file, PendingFile::create(recording_path(folder), text));
  return file.commit();
}

/// Counts the call, and says whether its indices are to be looked at.
bool count(Recording& to, const std::string& key, const Kernel::State& state, std::map<std::string, int64_t> dims, int threads) {
  const std::scoped_lock lock(to.mutex);
  if (to.kinds.size() >= kMostKinds && !to.kinds.contains(key)) return false;
  Kind& kind = to.kinds[key];
  if (kind.calls++ == 0) {
    kind.op = print(*state.op());
    kind.dims = std::move(dims);
    kind.threads = threads;
  }
  return kind.calls <= kFirstCalls || std::has_single_bit(kind.calls);
}

/// Adds what was seen of a call's indices. Says whether it is time to write the recording: a process may end without a chance to.
bool add(Recording& to, const std::string& key, const std::vector<IndexStatistics>& seen) {
  const std::scoped_lock lock(to.mutex);
  Kind& kind = to.kinds[key];
  ++kind.looked_at;
  kind.sources.resize(seen.size());
  for (size_t source = 0; source < seen.size(); ++source) {
    kind.sources[source].statistics = seen[source];
    ++kind.sources[source].distributions[distribution_of(seen[source])];
  }
  return std::chrono::steady_clock::now() - to.written > kWriteEvery;
}

}  // namespace

std::vector<IndexStatistics> index_statistics(const Op& op, std::span<const TensorView> tensors) {
  const reference::Bound bound(op, tensors);
  std::vector<IndexStatistics> out = {statistics_of(Places::own(op, bound))};
  for (const Lookup& lookup : lookups_of(op)) out.push_back(statistics_of(Places::of(lookup, bound.sources[out.size()], bound)));
  return out;
}

std::string distribution_of(const IndexStatistics& s) {
  if (s.positions < 2 * s.batches || s.positions < 2) return "uniform";
  const auto n = static_cast<double>(s.positions), in_batch = n / static_cast<double>(s.batches);
  if (s.ascending > 0.999 && s.distinct > s.batches) return "sorted";
  // Of independent draws, a run is as long as two that follow one another are the same place by chance.
  const double same = s.top_share * s.top_share + s.second_share * s.second_share, by_chance = 1 / std::max(1e-9, 1 - same);
  if (s.run_length > 1.5 * by_chance && s.distinct > s.batches) return fmt::format("runs({:.2f})", s.run_length);
  if (s.top_share > 0.1 && s.second_share < s.top_share / 16) return fmt::format("hot({:.2f})", s.top_share);
  if (s.zipf > 0.4 && s.top_share > 4 / std::max(1.0, static_cast<double>(s.rows))) return fmt::format("zipf({:.2f})", s.zipf);
  // So many pairs of equal places would be expected of independent draws.
  const double expected_pairs = n * in_batch / 2 / static_cast<double>(std::max<int64_t>(1, s.rows));
  return s.distinct == s.positions && expected_pairs > 5 ? "permutation" : "uniform";
}

std::string recording_path(const std::string& folder) {
  static const auto started =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return folder + "/strew-" + host_name() + "-" + std::to_string(getpid()) + "-" + std::to_string(started) + ".jsonl";
}

void write_recording(const std::string& folder) {
  Recording& from = recording();
  const std::scoped_lock lock(from.mutex);
  if (from.kinds.empty()) return;
  from.written = std::chrono::steady_clock::now();
  const Status status = write(folder, from);
  if (status.ok() || from.has_warned) return;
  from.has_warned = true;
  log_or_keep_warning("STREW_RECORD: " + status.message() + "; calls are not recorded");
}

void record_call(const std::string& folder, const Kernel::State& state, std::span<const TensorView> tensors,
                 int threads) noexcept {
  try {
    static const std::string& at_exit = *new std::string(folder);
    [[maybe_unused]] static const bool kIsRegistered = std::atexit([] { write_recording(at_exit); }) == 0;
    Recording& to = recording();
    std::map<std::string, int64_t> dims = dims_of(*state.descriptor, tensors);
    const std::string key = key_of(state.built->compiled.symbol, dims, threads);
    if (!count(to, key, state, std::move(dims), threads)) return;
    if (add(to, key, index_statistics(*state.op(), tensors))) write_recording(folder);
  } catch (const std::exception&) {  // out of memory: the call matters, its record does not
  }
}

}  // namespace strew::inline v0
