// launch(): see simulate.h. The parameters that are tensors of the op stand in the order in which a call binds them. The program
// runs on copies of all tensors, so that a program that writes an input is found. Tested by tests/differential/npu and
// tests/unit/backends/pto/npu_backend_test.cc.
#include <algorithm>
#include <cstring>

#include "backends/pto/simulate/simulate.h"

namespace strew::inline v0::pto {
namespace {

int64_t count_of(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (const int64_t dim : dims) out *= dim;
  return out;
}

}  // namespace

Expected<Launched> launch(const TileProgram& program, const Module& module, std::span<const TensorView> views,
                          const SimulateOptions& options) {
  const size_t count = program.arguments.size();
  std::vector<std::vector<std::byte>> memories(count);
  std::vector<SimulatedArgument> arguments(count);
  std::vector<size_t> tensors(count, views.size());
  size_t bound = 0;
  for (size_t i = 0; i < count; ++i) {
    const ProgramArgument& a = program.arguments[i];
    if (a.role == ArgumentRole::launch) continue;
    if (a.role == ArgumentRole::scalar) {
      const size_t tensor = a.tensor < 0 ? views.size() : tensors[static_cast<size_t>(a.tensor)];
      if (tensor == views.size()) return internal_error("argument " + a.name + " is the extent of nothing");
      arguments[i].number = views[tensor].dims[a.dim];
      continue;
    }
    if (a.role == ArgumentRole::scratch) {
      std::span<const int64_t> dims = a.dims;
      if (a.tensor >= 0) {
        const TensorView& as_large = views[tensors[static_cast<size_t>(a.tensor)]];
        dims = {as_large.dims, static_cast<size_t>(as_large.rank)};
      }
      memories[i].resize(static_cast<size_t>(count_of(dims) * bits(a.dtype) / 8));
    } else {
      if (bound == views.size())
        return invalid_argument("argument " + a.name + ": " + std::to_string(views.size()) +
                                " tensors are given, expected as many as the program has arguments of");
      tensors[i] = bound++;
      const TensorView& view = views[tensors[i]];
      const std::span<const int64_t> dims(view.dims, static_cast<size_t>(view.rank));
      memories[i].resize(static_cast<size_t>((count_of(dims) * bits(view.dtype) + 7) / 8));
      if (!memories[i].empty()) std::memcpy(memories[i].data(), view.data, memories[i].size());
    }
    arguments[i].memory = memories[i];
  }
  Launched out;
  for (int number = 0; number < program.launches; ++number) {
    if (program.launches > 1) arguments.back().number = number;
    STREW_ASSIGN(const SimulationReport report, simulate(module, "", arguments, options));
    for (int64_t SimulationReport::*sum :
         {&SimulationReport::loaded_bytes, &SimulationReport::stored_bytes, &SimulationReport::scattered_bytes,
          &SimulationReport::instructions, &SimulationReport::steps, &SimulationReport::time, &SimulationReport::work})
      out.report.*sum += report.*sum;
    out.report.buffer_bytes = std::max(out.report.buffer_bytes, report.buffer_bytes);
  }
  for (size_t i = 0; i < count; ++i) {
    const ProgramArgument& a = program.arguments[i];
    if (a.role == ArgumentRole::scratch && a.name == "fault" && memories[i].size() >= 4) {
      uint32_t word = 0;
      std::memcpy(&word, memories[i].data(), 4);
      out.fault = word != 0;
    }
    const bool input = tensors[i] < views.size() && a.role != ArgumentRole::result && !memories[i].empty();
    if (input && std::memcmp(memories[i].data(), views[tensors[i]].data, memories[i].size()) != 0)
      return internal_error("the program writes argument " + a.name + ", expected results only");
  }
  for (size_t i = 0; i < count; ++i)
    if (program.arguments[i].role == ArgumentRole::result && !memories[i].empty())
      std::memcpy(views[tensors[i]].data, memories[i].data(), memories[i].size());
  return out;
}

}  // namespace strew::inline v0::pto
