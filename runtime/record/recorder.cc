// See recorder.h. A call is of the kind of another one if both have the same op, extents of open dims and number of threads. The file has a
// line of JSON for each kind, and is replaced as a whole. Threads wait for each other only while a call is counted; indices are looked at
// outside of the lock. A forked child begins a recording of its own: that of its parent stays as it was, with a lock that another of the
// parent's threads may have held.
#include "runtime/record/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
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
constexpr std::chrono::seconds kWriteEvery{30};

struct Kind {
  std::string op;
  std::map<std::string, int64_t> dims;
  int threads = 1;
  uint64_t calls = 0, looked_at = 0;
  IndexStatistics statistics;                     ///< of the last call that was looked at
  std::map<std::string, uint64_t> distributions;  ///< how often each was found
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
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '-';
  return out.empty() ? "host" : out;
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
        {"outside", s.outside},
        {"batches", s.batches},
        {"distinct", s.distinct},
        {"top_share", s.top_share},
        {"second_share", s.second_share},
        {"ascending", s.ascending},
        {"run_length", s.run_length},
        {"runs", s.runs},
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
bool add(Recording& to, const std::string& key, const IndexStatistics& seen) {
  const std::scoped_lock lock(to.mutex);
  Kind& kind = to.kinds[key];
  ++kind.looked_at;
  kind.statistics = seen;
  ++kind.distributions[distribution_of(seen)];
  return std::chrono::steady_clock::now() - to.written > kWriteEvery;
}

}  // namespace

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
    const Compiled& kernel = state.built->compiled;
    std::map<std::string, int64_t> dims = dims_of(kernel, *state.op(), tensors);
    const std::string key = key_of(kernel.symbol, dims, threads);
    if (!count(to, key, state, std::move(dims), threads)) return;
    if (add(to, key, index_statistics(*state.op(), tensors))) write_recording(folder);
  } catch (const std::exception&) {  // out of memory: the call matters, its record does not
  }
}

}  // namespace strew::inline v0
