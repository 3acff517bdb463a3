// See recorder.h. A call is of the kind of another one if both have the same op, extents of open dims and number of threads. The file has a
// line of JSON for each kind, and is replaced as a whole. A lock that is taken is not waited for: then the call is not counted.
#include "runtime/record/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/options.h"
#include "base/pending_file.h"
#include "runtime/record/index_statistics.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr uint64_t kFirstCalls = 4;  ///< of a kind: looked at, each of them
constexpr size_t kMostKinds = 10'000;

struct Kind {
  std::string op;
  std::map<std::string, int64_t> dims;
  int threads = 1;
  uint64_t calls = 0, looked_at = 0;
  IndexStatistics statistics;                     ///< of the last call that was looked at
  std::map<std::string, uint64_t> distributions;  ///< how often each was found
};

struct Recording {
  std::mutex mutex;
  pid_t process = 0;
  std::map<std::string, Kind> kinds;  ///< by symbol, extents and threads
  bool writes_at_exit = false, has_warned = false;
};
/// Never destroyed: it is written while the process ends.
Recording& recording() {
  static Recording& recording = *new Recording;
  return recording;
}

/// The extents of open dims, as the plan names them.
std::map<std::string, int64_t> dims_of(const Compiled& kernel, const Op& op, std::span<const TensorView> tensors) {
  std::map<std::string, int64_t> dims;
  const std::vector<TensorSlot> slots = tensor_slots(op);
  for (size_t s = 0; s < kernel.plan.symbols.size(); ++s) {
    const Symbol& symbol = kernel.plan.symbols[s];
    for (size_t i = 0; i < slots.size() && !symbol.is_stride; ++i)
      if (slots[i].role == symbol.role && slots[i].index == symbol.index)
        dims["s" + std::to_string(s)] = tensors[i].dims[symbol.dim];
  }
  return dims;
}

std::string key_of(const std::string& symbol, const std::map<std::string, int64_t>& dims, int threads) {
  std::string key = symbol + ' ' + std::to_string(threads);
  for (const auto& [name, extent] : dims) key += ' ' + std::to_string(extent);
  return key;
}

std::string line_of(const Kind& kind) {
  const auto most = std::max_element(kind.distributions.begin(), kind.distributions.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const IndexStatistics& s = kind.statistics;
  const nlohmann::ordered_json json = {
      {"format", 1},
      {"op", kind.op},
      {"dims", kind.dims.empty() ? nlohmann::ordered_json::object() : nlohmann::ordered_json(kind.dims)},
      {"threads", kind.threads},
      {"calls", kind.calls},
      {"indices", most == kind.distributions.end() ? std::string("uniform") : most->first},
      {"statistics",
       {{"calls", kind.looked_at},
        {"positions", s.positions},
        {"rows", s.rows},
        {"distinct", s.distinct},
        {"top_share", s.top_share},
        {"second_share", s.second_share},
        {"ascending", s.ascending},
        {"run_length", s.run_length},
        {"zipf", s.zipf}}}};
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

void count(Recording& to, const Kernel::State& state, std::span<const TensorView> tensors) {
  const Compiled& kernel = state.built->compiled;
  std::map<std::string, int64_t> dims = dims_of(kernel, *state.op(), tensors);
  const int threads = state.callable->threads;
  const std::string key = key_of(kernel.symbol, dims, threads);
  if (to.kinds.size() >= kMostKinds && !to.kinds.contains(key)) return;
  Kind& kind = to.kinds[key];
  if (kind.calls++ == 0) {
    kind.op = print(*state.op());
    kind.dims = std::move(dims);
    kind.threads = threads;
  }
  if (kind.calls > kFirstCalls && !std::has_single_bit(kind.calls)) return;
  ++kind.looked_at;
  kind.statistics = index_statistics(*state.op(), tensors);
  ++kind.distributions[distribution_of(kind.statistics)];
}

}  // namespace

std::string recording_path(const std::string& folder) { return folder + "/strew-" + std::to_string(getpid()) + ".jsonl"; }

void write_recording(const std::string& folder) {
  Recording& from = recording();
  const std::unique_lock lock(from.mutex, std::try_to_lock);
  // A forked child has what its parent recorded, which is not its own.
  if (!lock.owns_lock() || from.process != getpid()) return;
  const Status status = write(folder, from);
  if (status.ok() || from.has_warned) return;
  from.has_warned = true;
  log_or_keep_warning("STREW_RECORD: " + status.message() + "; calls are not recorded");
}

void record_call(const std::string& folder, const Kernel::State& state, std::span<const TensorView> tensors) noexcept {
  try {
    Recording& to = recording();
    const std::unique_lock lock(to.mutex, std::try_to_lock);
    if (!lock.owns_lock()) return;
    if (to.process != getpid()) {
      to.kinds.clear();
      to.process = getpid();
    }
    count(to, state, tensors);
    if (to.writes_at_exit) return;
    to.writes_at_exit = true;
    static const std::string& at_exit = *new std::string(folder);
    std::atexit([] { write_recording(at_exit); });
  } catch (const std::exception&) {  // out of memory: the call matters, its record does not
  }
}

}  // namespace strew::inline v0
