// See memory_costs.h. Every number is the median of several short runs. Random lines are visited in an order that no processor foresees, by
// indices in a list that stays in the first-level cache.
#include "tune/memory_costs.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include "base/machine.h"
#include "base/start_thread.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kRuns = 12;
constexpr double kRunNanoseconds = 2e6;
constexpr size_t kWords = static_cast<size_t>(kLineBytes) / sizeof(uint64_t);

/// Memory in huge pages where the system has them, as large tables are.
class Lines {
 public:
  explicit Lines(int64_t bytes) : bytes_(std::bit_floor(static_cast<size_t>(bytes))) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    madvise(at, bytes_, MADV_HUGEPAGE);
    data_ = static_cast<uint64_t*>(at);
    for (size_t i = 0; i < bytes_ / sizeof(uint64_t); i += kWords) data_[i] = i;
  }
  ~Lines() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  explicit operator bool() const { return data_ != nullptr; }
  uint64_t* line(size_t i) const { return data_ + i * kWords; }
  size_t count() const { return bytes_ / static_cast<size_t>(kLineBytes); }

 private:
  size_t bytes_;
  uint64_t* data_ = nullptr;
};

/// The compiler must take it that the value is used.
void use(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

/// A loop of `n` steps, or a few more; returns how many.
using MemoryLoop = std::function<int64_t(int64_t n)>;

/// Nanoseconds per step of each loop. They take turns, so that all see the same noise; each time is the median of several runs, because what
/// others take of a shared memory they will take from kernels, too.
std::vector<double> typical_nanoseconds(const std::vector<MemoryLoop>& loops) {
  using Clock = std::chrono::steady_clock;
  struct Timed {
    int64_t steps = 1024;
    std::array<double, kRuns> times;
  };
  std::vector<Timed> all(loops.size());
  for (size_t run = 0; run < kRuns; ++run) {
    for (size_t i = 0; i < loops.size(); ++i) {
      for (bool is_long = false; !is_long;) {
        const auto start = Clock::now();
        const int64_t done = loops[i](all[i].steps);
        const double took = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
        is_long = took >= kRunNanoseconds / 4;
        if (is_long) all[i].times[run] = took / static_cast<double>(done);
        if (!is_long) all[i].steps *= 4;
      }
    }
  }
  std::vector<double> typical;
  for (Timed& each : all) {
    std::nth_element(each.times.begin(), each.times.begin() + kRuns / 2, each.times.end());
    typical.push_back(each.times[kRuns / 2]);
  }
  return typical;
}

/// Random numbers of lines. Each walk over the list flips other bits of them, so that all lines have their turn; so there must be
/// a power of two of lines. In an order by pages, 64 lines of a page follow one another, at random: what it costs to find pages is
/// then shared by many lines, and the time is that of the caches alone. Lines are prefetched `ahead` lines before. With 32, lines of main
/// memory are waited for (4.7 ns a line on a Zen 5 server, against 2.8 with 128).
class LineOrder {
 public:
  static constexpr size_t kCount = 2048, kAhead = 128, kWaits = 32, kPageLines = 64;
  enum class By : uint8_t { lines, pages };

  LineOrder(size_t lines, uint64_t seed, size_t ahead = kAhead, By by = By::lines)
      : ahead_(ahead), mask_(lines - 1), flipped_(by == By::pages ? mask_ & ~(kPageLines - 1) : mask_) {
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < kCount; ++i) {
      const bool stays = by == By::pages && i % kPageLines != 0;
      const uint64_t line = stays ? (at_[i - 1] & ~(kPageLines - 1)) | random() % kPageLines : random();
      at_[i] = static_cast<uint32_t>(line & mask_);
    }
    std::copy_n(at_.begin(), kAhead, at_.begin() + kCount);
  }
  /// visit(line, line that is to be prefetched) for `n` lines or a few more; returns how many.
  template <class Visit>
  int64_t walk(int64_t n, const Visit& visit) {
    int64_t done = 0;
    for (; done < n; done += static_cast<int64_t>(kCount)) {
      flips_ = flips_ * 6364136223846793005U + 1442695040888963407U;
      const size_t flip = (flips_ >> 20) & flipped_;
      for (size_t i = 0; i < kCount; ++i) visit(at_[i] ^ flip, at_[i + ahead_] ^ flip);
    }
    return done;
  }

 private:
  size_t ahead_, mask_, flipped_;
  uint64_t flips_ = 1;
  std::array<uint32_t, kCount + kAhead> at_;
};

MemoryLoop read_lines(const Lines& lines, uint64_t seed) {
  return [&lines, order = LineOrder(lines.count(), seed)](int64_t n) mutable {
    uint64_t sum = 0;
    const int64_t done = order.walk(n, [&](size_t line, size_t later) {
      __builtin_prefetch(lines.line(later), 0);
      sum += *lines.line(line);
    });
    use(sum);
    return done;
  };
}

MemoryLoop update_lines(const Lines& lines, const LineOrder& from) {
  return [&lines, order = from](int64_t n) mutable {
    return order.walk(n, [&](size_t line, size_t later) {
      __builtin_prefetch(lines.line(later), 1);
      *lines.line(line) += 1;
    });
  };
}

/// Each line has the number of the next one: a cycle through all of them.
MemoryLoop latency(const Lines& lines) {
  std::mt19937_64 random(3);
  std::vector<uint32_t> order(lines.count());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::shuffle(order.begin(), order.end(), random);
  for (size_t i = 0; i < order.size(); ++i) *lines.line(order[i]) = order[(i + 1) % order.size()];
  return [&lines, at = uint64_t{order[0]}](int64_t n) mutable {
    for (int64_t i = 0; i < n; ++i) at = *lines.line(at);
    use(at);
    return n;
  };
}

using Vector __attribute__((vector_size(16))) = uint64_t;
static_assert(kLineBytes == 4 * sizeof(Vector));

MemoryLoop read_in_order(const Lines& lines) {
  return [&lines, at = size_t{0}](int64_t n) mutable {
    Vector sums[4] = {};
    for (int64_t i = 0; i < n; ++i) {
      const auto* const line = reinterpret_cast<const Vector*>(lines.line(at));
      sums[0] += line[0];  // one by one: the compiler does not unroll a loop at -O2
      sums[1] += line[1];
      sums[2] += line[2];
      sums[3] += line[3];
      at = (at + 1) & (lines.count() - 1);
    }
    for (const Vector& sum : sums) use(sum[0] + sum[1]);
    return n;
  };
}

constexpr auto kStore = [](Vector* to, Vector value) { *to = value; };
#if defined(__x86_64__)
constexpr auto kStorePastCaches = [](Vector* to, Vector value) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), reinterpret_cast<__m128i>(value));
};
#else
constexpr auto kStorePastCaches = kStore;  // g++ has no such store for AArch64
#endif

/// Writes all lines with one of the two kinds of stores.
template <class Store>
MemoryLoop write_in_order(const Lines& lines, const Store& store) {
  return [&lines, &store, at = size_t{0}](int64_t n) mutable {
    for (int64_t i = 0; i < n; ++i) {
      auto* const to = reinterpret_cast<Vector*>(lines.line(at));
      const Vector value = Vector{} + static_cast<uint64_t>(i);
      store(to, value);
      store(to + 1, value);
      store(to + 2, value);
      store(to + 3, value);
      at = (at + 1) & (lines.count() - 1);
    }
    use(at);
    return n;
  };
}

/// How many times as fast `cores` threads are as one. Each runs a loop of its own.
double scale_of(int cores, const std::function<MemoryLoop(int)>& one) {
  if (cores <= 1) return 1;
  const double alone = typical_nanoseconds({one(0)})[0];
  std::vector<double> each(static_cast<size_t>(cores));
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  const SignalsBlocked blocked;
  for (int i = 0; i < cores; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < cores) {
      }
      each[static_cast<size_t>(i)] = typical_nanoseconds({one(i)})[0];
    });
  }
  for (std::thread& thread : threads) thread.join();
  double scale = 0;
  for (const double nanoseconds : each) scale += alone / nanoseconds;
  return std::clamp(scale, 1.0, static_cast<double>(cores));
}

/// The most of several attempts: others who run on a core meanwhile only ever lower it.
double best_scale(int cores, const std::function<MemoryLoop(int)>& one) {
  constexpr int kAttempts = 3;
  double best = 1;
  for (int i = 0; i < kAttempts; ++i) best = std::max(best, scale_of(cores, one));
  return best;
}

}  // namespace

void measure_memory(int64_t bytes, int cores, MemoryCosts& costs, float* streaming) {
  const Lines lines(bytes);
  if (!lines) return;
  const auto set = [](float& to, double value) { to = static_cast<float>(value); };
  const std::vector<double> took =
      typical_nanoseconds({read_in_order(lines), write_in_order(lines, kStore), read_lines(lines, 1),
                           update_lines(lines, LineOrder(lines.count(), 1)), write_in_order(lines, kStorePastCaches)});
  set(costs.stream_ns, took[0]);
  set(costs.store_ns, took[1]);
  set(costs.read_line_ns, took[2]);
  set(costs.update_line_ns, took[3]);
  if (streaming != nullptr) set(*streaming, took[4]);
  std::vector<std::unique_ptr<Lines>> parts;
  for (int i = 0; i < cores; ++i) parts.push_back(std::make_unique<Lines>(bytes / cores));
  const bool has_parts = std::all_of(parts.begin(), parts.end(), [](const auto& part) { return static_cast<bool>(*part); });
  const auto part_of = [&](int thread) -> const Lines& { return *parts[static_cast<size_t>(thread)]; };
  if (has_parts) {
    set(costs.line_scale, best_scale(cores, [&](int i) {
          return update_lines(part_of(i), LineOrder(part_of(i).count(), static_cast<uint64_t>(i)));
        }));
    set(costs.stream_scale, best_scale(cores, [&](int i) { return read_in_order(part_of(i)); }));
  }
  set(costs.latency_ns, typical_nanoseconds({latency(lines)})[0]);  // last, because it writes the lines' numbers
}

float measure_updates(int64_t bytes) {
  const Lines lines(bytes);
  const LineOrder order(lines.count(), 1, LineOrder::kWaits, LineOrder::By::pages);
  return lines ? static_cast<float>(typical_nanoseconds({update_lines(lines, order)})[0]) : 0;
}

/// The same loop over bits that repeat and over random ones; half of these are foreseen.
float measure_branch_miss() {
  constexpr size_t kBits = 1 << 16;
  std::vector<uint8_t> bits(kBits);
  const auto run = [&] {
    return typical_nanoseconds({[&](int64_t n) {
      uint64_t sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        if (bits[static_cast<size_t>(i) % kBits] != 0) {
          asm volatile("" : "+r"(sum));  // so that it stays a branch
          sum += 3;
        }
      }
      use(sum);
      return n;
    }})[0];
  };
  const double foreseen = run();
  std::mt19937_64 random(5);
  for (uint8_t& bit : bits) bit = static_cast<uint8_t>(random() & 1);
  return static_cast<float>(std::max(0.5, 2 * (run() - foreseen)));
}

}  // namespace strew::inline v0
