// run_models: times whole files in one process, each on the inputs that it is given. `./dev bench programs` starts it with the models of tests/models.
//
//   run_models SECONDS < LIST     a line of LIST: NAME, FILE and one .npy file per input, between tabs
//
// A line of output per model: NAME, and the nanoseconds of a run (the median of runs of SECONDS in all, at least five), or "error" and why it did not
// run. Inputs are read-only, and results are new tensors in each run, as of RunnableProgram (strew/run_program.h) without further wishes. One thread.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/assign.h"
#include "strew/import.h"
#include "strew/run_program.h"
#include "tools/npy.h"

namespace strew::bench {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) out.push_back(field);
  return out;
}

/// The median of the nanoseconds of a run.
Expected<double> time_of(Runtime& runtime, const std::vector<std::string>& fields, double seconds) {
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  STREW_ASSIGN(Program imported, import_file(fields[1], {}));
  const RunnableProgram runnable(std::move(imported));
  const Program& program = runnable.program();
  std::vector<Tensor> given;
  for (size_t i = 2; i < fields.size() && i - 2 < program.inputs().size(); ++i) {
    STREW_ASSIGN(Tensor tensor, read_npy(fields[i], program.inputs()[i - 2].type.dtype, kMostBytes));
    given.push_back(std::move(tensor));
  }
  ProgramOptions options;
  options.kernel.threads = 1;
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  constexpr size_t kLeast = 6;  // the first run compiles and does not count
  while (times.size() < kLeast || Clock::now() < end) {
    std::vector<std::unique_ptr<Tensor>> inputs;
    for (const Tensor& tensor : given)
      inputs.push_back(std::make_unique<Tensor>(Tensor{tensor.dtype, tensor.dims, tensor.data.share(), {}}));
    const auto start = Clock::now();
    const Expected<std::vector<Tensor>> results = runnable.run(runtime, std::move(inputs), options);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    if (!results.ok()) return results.status();
  }
  times.erase(times.begin());
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

int run(double seconds) {
  Runtime runtime;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 2) return 2;
    const Expected<double> time = time_of(runtime, fields, seconds);
    fmt::print("{}\t{}\n", fields[0], time.ok() ? fmt::format("{:.0f}", *time) : "error\t" + time.status().message());
  }
  return 0;
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: run_models SECONDS < LIST\n");
    return 2;
  }
  return strew::bench::run(std::strtod(argv[1], nullptr));
}
