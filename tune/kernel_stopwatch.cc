// See kernel_stopwatch.h.
#include "tune/kernel_stopwatch.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/reference/reference.h"
#include "base/machine.h"
#include "base/run_queue.h"
#include "strew/verify.h"
#include "strew/wisdom.h"
#include "tune/isolated.h"

namespace strew::inline v0 {
namespace {

constexpr double kReferencePerByte = 25e-9;            ///< seconds that the reference takes for a byte that a call moves, roughly
constexpr double kIsolatedSeconds = 60;                ///< after which a kernel in a child counts as hung
constexpr int64_t kCheapToRestore = int64_t{8} << 20;  ///< bytes of data that are restored before every turn

Turn turn_for(int threads) {
  Turn turn;
  turn.batch_nanoseconds = 250e3;
  turn.warm_nanoseconds = threads > 1 ? 600e3 : 150e3;
  turn.retries = 2;
  return turn;
}

}  // namespace

KernelStopwatch::KernelStopwatch(VerifiedOp op, Usage usage, const Variant& standard, Settings settings, WorkloadData data)
    : op_(std::move(op)),
      usage_(std::move(usage)),
      standard_(standard),
      settings_(settings),
      data_(std::move(data)),
      turn_(turn_for(usage_.threads)) {}

Expected<std::unique_ptr<KernelStopwatch>> KernelStopwatch::make(const VerifiedOp& op, const Usage& usage,
                                                                 const Variant& standard, const Settings& settings) {
  STREW_ASSIGN(WorkloadData data, WorkloadData::make(op, usage, settings.seed, settings.max_bytes));
  std::unique_ptr<KernelStopwatch> out(new KernelStopwatch(op, usage, standard, settings, std::move(data)));
  STREW_TRY(out->expect(standard));
  return out;
}

KernelOptions KernelStopwatch::options_for(const Variant& variant) const {
  KernelOptions options;
  options.backend = variant.backend;
  options.threads = usage_.threads;
  options.wisdom = Wisdom::none();
  if (variant != standard_) options.schedule = overrides_of(variant.schedule);
  return options;
}

Status KernelStopwatch::expect(const Variant& standard) {
  const double predicted = kReferencePerByte * static_cast<double>(data_.bytes_moved());
  const Scatter* const scatter = std::get_if<Scatter>(&*op_);
  if (scatter != nullptr && scatter->order == Order::relaxed) {
    // The bits may be those of another order than the reference's; every variant must have the default's.
    STREW_ASSIGN(const Kernel kernel, runtime_.get(*op_, options_for(standard)));
    STREW_TRY(kernel.run(data_.call(0)));
  } else if (predicted <= settings_.reference_seconds) {
    STREW_TRY(run_reference(op_, data_.call(0), nullptr));
  } else {
    Variant sequential = standard;
    sequential.schedule = Schedule{.vector_bytes = standard.schedule.vector_bytes};
    STREW_ASSIGN(const Kernel kernel, runtime_.get(*op_, options_for(sequential)));
    STREW_TRY(kernel.run(data_.call(0)));
  }
  expected_ = data_.results(0);
  data_.restore();
  return {};
}

Status KernelStopwatch::check(const Kernel& kernel) {
  data_.restore();
  STREW_TRY(kernel.run(data_.call(0)));
  const int64_t at = data_.first_difference(0, expected_);
  data_.restore();
  if (at < 0) return {};
  return internal_error("wrong result: it differs from the reference's at byte " + std::to_string(at) + " of " +
                        std::to_string(expected_.size()));
}

Expected<Kernel> KernelStopwatch::built_and_checked(const Variant& variant) {
  STREW_ASSIGN(Kernel kernel, runtime_.get(*op_, options_for(variant)));
  STREW_TRY(check(kernel));
  return kernel;
}

KernelStopwatch::Ready* KernelStopwatch::find(const Variant& variant) {
  const auto at = std::find_if(ready_.begin(), ready_.end(), [&](const auto& each) { return each->variant == variant; });
  return at == ready_.end() ? nullptr : at->get();
}

Status KernelStopwatch::prepare(const Variant& variant) {
  if (find(variant) != nullptr) return {};
  const std::pair kind(variant.backend, variant.schedule.strategy);
  if (settings_.isolate && !isolated_.contains(kind)) {
    STREW_TRY(run_isolated([&] { return built_and_checked(variant).status(); }, kIsolatedSeconds));
    isolated_.insert(kind);
  }
  STREW_ASSIGN(const Kernel kernel, built_and_checked(variant));
  auto ready = std::make_unique<Ready>(Ready{variant, kernel, {}, 1});
  ready->way.run = [this, kernel, set = int64_t{0}](int64_t calls) mutable {
    for (int64_t i = 0; i < calls; ++i, set = set + 1 == data_.sets() ? 0 : set + 1)
      static_cast<void>(kernel.run(data_.call(set)).ok());  // the same call has succeeded in check()
  };
  if (data_.bytes() <= kCheapToRestore) ready->way.before = [this] { data_.restore(); };
  ready->calls = calls_for(ready->way, data_.sets(), turn_.batch_nanoseconds);
  ready_.push_back(std::move(ready));
  return {};
}

double KernelStopwatch::sample(const Variant& variant) {
  const Ready& ready = *find(variant);
  return strew::sample(ready.way, ready.calls, turn_);
}

Status KernelStopwatch::relocate() {
  // The old data is held meanwhile, so that the new data cannot get its place.
  Expected<WorkloadData> data = WorkloadData::make(op_, usage_, settings_.seed, settings_.max_bytes);
  if (data.ok()) data_ = std::move(*data);
  return {};  // where memory is short, the data stays
}

void KernelStopwatch::drop(const Variant& variant) {
  std::erase_if(ready_, [&](const auto& each) { return each->variant == variant; });
}

double KernelStopwatch::seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - settings_.start).count();
}

double KernelStopwatch::waited_seconds() {
  return std::chrono::duration<double>(waited_for_cores().value_or(Nanoseconds(0))).count();
}

double KernelStopwatch::memcpy_nanoseconds() const {
  constexpr int64_t kMostBytes = int64_t{256} << 20;
  constexpr int kSamples = 9;
  const int64_t half = std::max<int64_t>(1, data_.bytes_moved() / 2), bytes = std::min(half, kMostBytes);
  const int64_t cold = usage_.temperature == Temperature::cold ? 2 * machine().l3_bytes : 0;
  const int64_t places = std::max<int64_t>(1, std::min(cold, kMostBytes) / bytes);
  const Expected<Buffer> from = Buffer::allocate(places * bytes), to = Buffer::allocate(places * bytes);
  if (!from.ok() || !to.ok()) return 0;
  std::memset(from->data(), 1, static_cast<size_t>(places * bytes));
  std::memset(to->data(), 1, static_cast<size_t>(places * bytes));
  const Way way{"memcpy",
                [&, place = int64_t{0}](int64_t calls) mutable {
                  for (int64_t i = 0; i < calls; ++i, place = place + 1 == places ? 0 : place + 1) {
                    std::memcpy(to->data() + place * bytes, from->data() + place * bytes, static_cast<size_t>(bytes));
                    asm volatile("" : : "r"(to->data()) : "memory");
                  }
                },
                {},
                {}};
  const int64_t calls = calls_for(way, places, turn_.batch_nanoseconds);
  std::vector<double> times;
  for (int i = 0; i < kSamples; ++i) times.push_back(strew::sample(way, calls, turn_));
  return median(times) * static_cast<double>(half) / static_cast<double>(bytes);
}

}  // namespace strew::inline v0
