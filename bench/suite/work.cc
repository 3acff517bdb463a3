// Each kernel's result must be the bits of plain in-order loops (data.h), and for small cases also those of the reference backend; sums are
// checked on numbers whose every order rounds differently. Hand-written ways are checked too, on whole numbers.
#include "bench/suite/work.h"

#include <fmt/format.h>

#include "backends/reference/reference.h"
#include "bench/measure.h"
#include "strew/runtime.h"

namespace strew::bench {

void Work::reset() const {
  std::memcpy(table.data(), data.table.data(), table.size());
  std::memset(result(), 0x33, data.c.gathers() || data.c.mode == Mode::copied ? result_bytes() : 0);
}

std::string Work::differs(const char* who, const char* from) const {
  if (std::memcmp(result(), from, result_bytes()) == 0) return {};
  size_t at = 0;
  while (result()[at] == from[at]) ++at;
  return fmt::format("{} differs from plain loops at byte {} of {}", who, at, result_bytes());
}

std::string Work::check_kernels(const char* expected) const {
  for (const Kernel& kernel : kernels) {
    reset();
    const Status status = kernel.run(calls->set(0));
    if (!status.ok()) return status.message();
    const std::string who = fmt::format("backend {} with {} threads", kernel.backend(), kernel.threads());
    if (std::string wrong = differs(who.c_str(), expected); !wrong.empty()) return wrong;
  }
  constexpr int64_t kSmall = 8 << 20;
  if (data.c.table_bytes() + data.c.source_bytes() > kSmall) return {};
  reset();
  const Status status = run_reference(kernels.front().op(), calls->set(0));
  return status.ok() ? differs("the reference", expected) : status.message();
}

std::string Work::check_hand(const char* expected) const {
  for (const int threads : kThreads) {
    hand_pool().wake(threads);
    for (const HandWay& way : hand_ways(data, target(), threads)) {
      reset();
      way.run(0, 1);
      if (std::string wrong = differs(way.name.c_str(), expected); !wrong.empty()) return wrong;
    }
    hand_pool().sleep();
  }
  return {};
}

std::string Work::check() {
  const Case& c = data.c;
  Memory expected(c.table_bytes()), gathered(c.source_bytes());
  if (!expected || !gathered) return "not enough memory";
  const char* result = c.gathers() ? gathered.data() : expected.data();
  const auto compute = [&] {
    std::memcpy(expected.data(), data.table.data(), expected.size());
    plain_result(data, 0, expected.data(), gathered.data());
  };
  const bool order_shows = c.reads_table() && c.dtype != DType::i32 && c.mode != Mode::relaxed;
  if (order_shows) {
    fill_numbers(c, data.source, 11, false);
    fill_numbers(c, data.table, 12, false);
  }
  compute();
  if (std::string wrong = check_kernels(result); !wrong.empty()) return wrong;
  if (order_shows) {
    fill_numbers(c, data.source, 8);
    fill_numbers(c, data.table, 7);
    compute();
  }
  return check_hand(result);
}

Work::Work(const Case& c, const std::string& schedule, const std::vector<std::string>& backends)
    : data(make_data(c)), table(c.table_bytes()) {
  if (c.gathers()) into = Memory(c.source_bytes());
  if (c.mode == Mode::copied) copy = Memory(c.table_bytes());
  if (!data.table || !data.source || !table || (result() == nullptr)) {
    wrong = "not enough memory";
    return;
  }
  const Expected<Op> op = suite_op(c);
  if (!op.ok()) {
    wrong = op.status().message();
    return;
  }
  const Expected<ScheduleText> knobs = parse_schedule_text(schedule);
  for (const std::string& name : backends) {
    const Expected<BackendChoice> backend = parse_backend(name);
    for (const int threads : kThreads) {
      if (!knobs.ok() || !backend.ok()) {
        wrong = (knobs.ok() ? backend.status() : knobs.status()).message();
        return;
      }
      const KernelOptions options{
          .backend = *backend, .schedule = knobs->knobs, .threads = knobs->threads != 0 ? knobs->threads : threads};
      const Expected<Kernel> kernel = Runtime::process().get(*op, options);
      if (!kernel.ok() || (kernel->entry(STREW_ENTRY_range) == nullptr && c.mode != Mode::wide)) {
        wrong = kernel.ok() ? "no machine code was built" : kernel.status().message();
        return;
      }
      kernels.push_back(*kernel);
    }
  }
  calls = std::make_unique<Calls>(kernels[0].op(), data, result());
  wrong = check();
  reset();
}

Work& work_of(const Case& c, const std::string& schedule, const std::vector<std::string>& backends) {
  static std::unique_ptr<Work> work;
  if (!work || work->data.c.name != c.name) {
    work.reset();
    work = std::make_unique<Work>(c, schedule, backends);
  }
  return *work;
}

std::function<void(int64_t)> strew_calls(const Work& work, const Kernel& kernel) {
  return [&work, kernel, set = int64_t{0}](int64_t calls) mutable {
    for (int64_t i = 0; i < calls; ++i, set = set + 1 == work.data.c.sets ? 0 : set + 1) {
      if (!kernel.run(work.calls->set(set)).ok()) any_failed() = true;
    }
  };
}

}  // namespace strew::bench
