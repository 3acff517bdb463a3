// See program_time.h. A program is run for about half a second, 3 to 101 times; the parts are those of the run with the median time. The copy
// of the inputs is not timed. Tested by tests/error/cli_test.cc.
#include "tools/strew/program_time.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace strew::cli {
namespace {

constexpr double kTotalNanoseconds = 500e6;
constexpr int kMinSamples = 3, kMaxSamples = 101;

double now() {
  return static_cast<double>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// The operation's name: "Transpose" of "FILE: node t (Transpose)", "stablehlo.add" of "FILE:3: stablehlo.add".
std::string operation_of(const Compute& compute) {
  const std::string& location = compute.location;
  if (const size_t open = location.rfind('('); location.ends_with(")") && open != std::string::npos)
    return location.substr(open + 1, location.size() - open - 2);
  const size_t colon = location.rfind(": ");
  return colon == std::string::npos ? location : location.substr(colon + 2);
}

/// The sums of the operations' times by name, the longest first.
std::vector<std::pair<std::string, double>> by_operation(const std::vector<std::pair<const Compute*, int64_t>>& times) {
  std::map<std::string, double> sums;
  for (const auto& [compute, nanoseconds] : times) sums[operation_of(*compute)] += static_cast<double>(nanoseconds);
  std::vector<std::pair<std::string, double>> out(sums.begin(), sums.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace

bool is_more_than_a_kernel(const Program& program) {
  return program.kernels().size() > 1 || std::any_of(program.computes().begin(), program.computes().end(), [](const Compute& c) {
           return c.disposition == ComputeDisposition::interpreted;
         });
}

Expected<ProgramTime> time_program(Runtime& runtime, const Program& program, const ProgramOptions& options,
                                   const std::function<std::vector<std::unique_ptr<Tensor>>()>& copy) {
  const RunnableProgram runnable(program);
  std::vector<std::pair<double, ProgramTimes>> runs;
  double total = 0;
  while (static_cast<int>(runs.size()) < kMinSamples ||
         (total < kTotalNanoseconds && static_cast<int>(runs.size()) < kMaxSamples)) {
    ProgramTimes times;
    ProgramOptions timed = options;
    timed.after_kernel = nullptr;
    timed.times = &times;
    std::vector<std::unique_ptr<Tensor>> inputs = copy();
    const double start = now();
    STREW_TRY(runnable.run(runtime, std::move(inputs), timed).status());
    const double nanoseconds = now() - start;
    total += nanoseconds;
    runs.emplace_back(nanoseconds, std::move(times));
  }
  const auto middle = runs.begin() + static_cast<ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), middle, runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const ProgramTimes& times = middle->second;
  return ProgramTime{middle->first, static_cast<double>(times.kernel_nanoseconds), by_operation(times.interpreted),
                     by_operation(times.compiled), static_cast<int>(runs.size())};
}

}  // namespace strew::cli
