// See simulate.h. Checks the arguments, then executes the steps of the cores, interleaved as the seed says.
// Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#include "backends/pto/simulate/simulate.h"

#include <algorithm>
#include <memory>

#include "backends/pto/simulate/core.h"
#include "base/fp_environment.h"
#include "compiler/pto/types.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr int kMaxBlocks = 256;

Expected<const Function*> find_function(const Module& module, std::string_view name) {
  if (name.empty() && module.functions.size() == 1) return &module.functions[0];
  std::string known;
  for (const Function& f : module.functions) {
    if (f.name == name) return &f;
    known += (known.empty() ? "" : ", ") + f.name;
  }
  return invalid_argument("the function is '" + std::string(name) + "', expected one of " + known);
}

Status check_argument(const Argument& a, const SimulatedArgument& given) {
  const auto wrong = [&](const std::string& message) { return invalid_argument("argument %" + a.name + " " + message); };
  if (a.type.kind == TypeKind::index || a.type.kind == TypeKind::scalar) return {};
  if (a.type.kind == TypeKind::tile) return wrong("is a tile, expected memory: tiles are the function's own");
  const size_t width = static_cast<size_t>(bits(a.type.element.dtype)) / 8;
  if (width == 0 || given.memory.size() % width != 0)
    return wrong("has " + std::to_string(given.memory.size()) + " bytes, expected a multiple of " + std::to_string(width) +
                 " for elements of " + print(a.type.element));
  if (a.type.kind != TypeKind::memref) return {};
  // One extent may be open: it follows from the number of bytes.
  size_t elements = 1;
  const auto open = std::count(a.type.dims.begin(), a.type.dims.end(), kDynamic);
  if (open > 1) return wrong("is " + print(a.type) + ", expected one extent to be open at most");
  for (const int64_t dim : a.type.dims) elements *= dim == kDynamic ? 1 : static_cast<size_t>(dim);
  const size_t bytes = elements * width;
  if (open == 1 ? bytes > 0 && given.memory.size() % bytes == 0 : bytes == given.memory.size()) return {};
  return wrong("has " + std::to_string(given.memory.size()) + " bytes, expected " + (open == 1 ? "a multiple of " : "") +
               std::to_string(bytes) + " of " + print(a.type));
}

/// Which of the `running` cores runs next after `last`, and for how many steps.
std::pair<size_t, int64_t> next_turn(Machine& machine, const std::vector<size_t>& running, size_t last) {
  constexpr int64_t kToTheEnd = int64_t{1} << 60;
  const uint64_t seed = machine.options.seed;
  if (seed == 0) return {running.front(), kToTheEnd};
  if (seed == 1) return {running.back(), kToTheEnd};
  if (seed == 2) {
    const auto after = std::upper_bound(running.begin(), running.end(), last);
    return {after == running.end() ? running.front() : *after, 1};
  }
  const size_t core = running[machine.random.below(running.size())];
  return {core, static_cast<int64_t>(1 + machine.random.below(8 + 4 * static_cast<uint64_t>(machine.options.blocks)))};
}

}  // namespace

Expected<SimulationReport> simulate(const Module& module, std::string_view function, std::span<const SimulatedArgument> arguments,
                                    const SimulateOptions& options) {
  const FpEnvironment environment(true);
  STREW_TRY(verify(module));
  STREW_ASSIGN(const Function* f, find_function(module, function));
  if (arguments.size() != f->arguments.size())
    return invalid_argument("there are " + std::to_string(arguments.size()) + " arguments, expected " +
                            std::to_string(f->arguments.size()) + " of " + (f->name.empty() ? "the program" : "@" + f->name));
  if (options.blocks < 1 || options.blocks > kMaxBlocks)
    return invalid_argument("blocks is " + std::to_string(options.blocks) + ", expected 1 to " + std::to_string(kMaxBlocks));
  Machine machine{module, *f, options, {}, Random(options.seed)};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = f->arguments[i];
    STREW_TRY(check_argument(a, arguments[i]));
    if (a.type.kind != TypeKind::index && a.type.kind != TypeKind::scalar)
      machine.memories.push_back({a.name, a.type.element.dtype, arguments[i].memory});
  }
  std::vector<std::unique_ptr<Core>> cores;
  std::vector<size_t> running;
  for (int block = 0; block < options.blocks; ++block) {
    running.push_back(cores.size());
    cores.push_back(std::make_unique<Core>(machine, block, arguments));
  }
  SimulationReport out;
  size_t core = 0;
  while (!running.empty()) {
    int64_t steps = 0;
    std::tie(core, steps) = next_turn(machine, running, core);
    bool goes_on = true;
    for (int64_t i = 0; i < steps && goes_on; ++i) {
      if (++out.steps > options.max_steps)
        return invalid_argument("the program is not over after " + std::to_string(options.max_steps) + " steps, expected an end");
      STREW_ASSIGN(goes_on, cores[core]->step());
    }
    if (!goes_on) running.erase(std::find(running.begin(), running.end(), core));
  }
  using Report = SimulationReport;
  for (int64_t Report::*number : {&Report::loaded_bytes, &Report::stored_bytes, &Report::scattered_bytes, &Report::instructions,
                                  &Report::buffer_bytes, &Report::time, &Report::work})
    for (const auto& core : cores) out.*number = std::max(out.*number, core->report().*number);
  return out;
}

}  // namespace strew::inline v0::pto
