// Running the chunks of a phase on an executor of the host program.
//
// The host is not trusted to follow the contract: whatever it does, each chunk runs exactly once, and the phase ends when
// all chunks have run. What it did wrong is logged once per process and kind. Tested by
// tests/unit/runtime/call/executor/host_executor_test.cc.
//
// A task that the host runs does not use the number that the host gives it: it claims the next chunk
// that nobody has claimed. So a task that runs twice, or with a wrong number, finds a chunk of its own or none; chunks for
// which no task came are claimed by the calling thread at the end.
//
// A task may still run after parallel_for() has returned, against the contract. Jobs therefore lie in places that are never
// freed, and a task knows the number of its job: it claims a chunk only if the place still has that number. A chunk that
// was claimed keeps the job alive, because the caller waits for it.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/log.h"
#include "runtime/call/executor/thread_pool.h"

namespace strew::inline v0 {
namespace {

/// A place for a job. `ticket` holds the job's number in the high half and the next chunk in the low half.
struct alignas(64) Place {
  std::atomic<uint64_t> ticket{0};
  std::atomic<bool> taken{false};
  std::atomic<int> chunks{0};
  std::atomic<Executor::Task> work{nullptr};
  std::atomic<void*> context{nullptr};
  alignas(64) std::atomic<int> done{0};
};

/// As many phases may run on host executors at a time; a caller that finds no place runs its chunks alone.
constexpr size_t kPlaces = 256;
std::array<Place, kPlaces> places;

constexpr uint64_t number_of(uint64_t ticket) { return ticket >> 32; }

/// Claims a chunk of job `number`; -1 if there is none left, or if the place has another job by now.
int claim(Place& place, uint64_t number) {
  uint64_t ticket = place.ticket.load(std::memory_order_acquire);
  while (number_of(ticket) == number) {
    const auto chunk = static_cast<uint32_t>(ticket);
    if (chunk >= static_cast<uint32_t>(place.chunks.load(std::memory_order_relaxed))) return -1;
    if (place.ticket.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) return static_cast<int>(chunk);
  }
  return -1;
}

/// Claims a chunk and runs it. False if there was none.
bool run_one(Place& place, uint64_t number) noexcept {
  const int chunk = claim(place, number);
  if (chunk < 0) return false;
  place.work.load(std::memory_order_relaxed)(place.context.load(std::memory_order_relaxed), chunk);
  place.done.fetch_add(1, std::memory_order_release);
  return true;
}

/// What the host gets as the context: the place and the number of the job in one word.
void* context_of(size_t at, uint64_t number) { return reinterpret_cast<void*>(number << 16 | at); }
void host_task(void* context, int) noexcept {
  const auto word = reinterpret_cast<uint64_t>(context);
  run_one(places[word & 0xffff], word >> 16);
}

void report(std::atomic<bool>& reported, const std::string& what) {
  if (!reported.exchange(true) && logs(LogLevel::dispatch)) log(LogLevel::dispatch, "executor of the host: " + what);
}

Place* take_place() {
  static std::atomic<size_t> hint{0};
  for (size_t n = 0; n < kPlaces; ++n) {
    Place& place = places[hint.fetch_add(1, std::memory_order_relaxed) % kPlaces];
    if (!place.taken.exchange(true, std::memory_order_acquire)) return &place;
  }
  return nullptr;
}

/// Runs the host's loop. An exception of the host ends here: the chunks that it did not run are run by the caller.
void call_host(Executor& host, int chunks, void* context) {
  static std::atomic<bool> threw{false};
  try {
    host.parallel_for(chunks, host_task, context);
  } catch (...) {
    report(threw, "parallel_for threw an exception; the calling thread does what is left");
  }
}

}  // namespace

void run_on_host(Executor& host, int chunks, Executor::Task work, void* context) {
  static std::atomic<bool> ran_too_few{false};
  Place* const place = chunks > 1 ? take_place() : nullptr;
  if (place == nullptr) {
    for (int i = 0; i < chunks; ++i) work(context, i);
    return;
  }
  const uint64_t number = (number_of(place->ticket.load(std::memory_order_relaxed)) + 1) & 0xffffffff;
  place->chunks.store(chunks, std::memory_order_relaxed);
  place->work.store(work, std::memory_order_relaxed);
  place->context.store(context, std::memory_order_relaxed);
  place->done.store(0, std::memory_order_relaxed);
  place->ticket.store(number << 32, std::memory_order_release);
  call_host(host, chunks, context_of(static_cast<size_t>(place - places.data()), number));
  int missing = 0;
  while (run_one(*place, number)) ++missing;
  if (missing > 0)
    report(ran_too_few, "parallel_for returned after " + std::to_string(chunks - missing) + " of " + std::to_string(chunks) +
                            " tasks; the calling thread did the others");
  while (place->done.load(std::memory_order_acquire) != chunks) std::this_thread::yield();
  place->ticket.store((number + 1) << 32 | 0xffffffff, std::memory_order_release);  // nobody can claim
  place->taken.store(false, std::memory_order_release);
}

}  // namespace strew::inline v0
