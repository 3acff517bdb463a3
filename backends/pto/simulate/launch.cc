// launch(): see simulate.h. The parameters that are tensors of the op stand in the order in which a call binds them. The program
// runs on copies of all tensors, so that a program that writes an input is found. Tested by tests/differential/npu and
// tests/unit/backends/pto/npu_backend_test.cc.
#include <algorithm>
#include <cstring>

#include "backends/pto/simulate/simulate.h"
#include "base/number.h"

namespace strew::inline v0::pto {
namespace {

int64_t count_of(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (const int64_t dim : dims) out *= dim;
  return out;
}

std::span<const int64_t> dims_of(const TensorView& view) { return {view.dims, static_cast<size_t>(view.rank)}; }
std::vector<int64_t> strides_of(const TensorView& view) {
  if (view.strides != nullptr) return {view.strides, view.strides + view.rank};
  std::vector<int64_t> out(static_cast<size_t>(view.rank), 1);
  for (size_t d = out.size(); d-- > 1;) out[d - 1] = out[d] * view.dims[d];
  return out;
}

/// The bytes of a tensor of the call, from its lowest element on.
std::span<std::byte> bytes_of(const ProgramArgument& a, const TensorView& view) {
  TensorMemory memory{0, count_of(dims_of(view))};
  if (!a.strides.empty()) memory = memory_of(view.dtype, dims_of(view), strides_of(view));
  std::byte* const first = static_cast<std::byte*>(view.data) - memory.origin * bits(view.dtype) / 8;
  return {first, static_cast<size_t>((memory.count * bits(view.dtype) + 7) / 8)};
}

/// Copies the elements of a result from the memory that the program wrote. What is between them belongs to others.
void copy_back(const ProgramArgument& a, const TensorView& view, std::span<const std::byte> memory) {
  const std::span<std::byte> into = bytes_of(a, view);
  if (memory.empty()) return;
  if (a.strides.empty()) return static_cast<void>(std::memcpy(into.data(), memory.data(), memory.size()));
  const std::vector<int64_t> strides = strides_of(view);
  const int64_t origin = memory_of(view.dtype, dims_of(view), strides).origin;
  for (int64_t e = 0; e < count_of(dims_of(view)); ++e) {
    int64_t at = origin;
    for (int64_t rest = e, d = view.rank; d-- > 0; rest /= view.dims[d])
      at += rest % view.dims[d] * strides[static_cast<size_t>(d)];
    store_element(view.dtype, into.data(), at, load_element(view.dtype, memory.data(), at));
  }
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
      arguments[i].number = a.is_stride ? strides_of(views[tensor])[static_cast<size_t>(a.dim)] : views[tensor].dims[a.dim];
      continue;
    }
    if (a.role == ArgumentRole::scratch) {
      std::span<const int64_t> dims = a.dims;
      if (a.tensor >= 0) {
        dims = dims_of(views[tensors[static_cast<size_t>(a.tensor)]]);
      }
      memories[i].resize(static_cast<size_t>(count_of(dims) * bits(a.dtype) / 8));
    } else {
      if (bound == views.size())
        return invalid_argument("argument " + a.name + ": " + std::to_string(views.size()) +
                                " tensors are given, expected as many as the program has arguments of");
      tensors[i] = bound++;
      const std::span<std::byte> bytes = bytes_of(a, views[tensors[i]]);
      memories[i].assign(bytes.begin(), bytes.end());
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
    if (input && std::memcmp(memories[i].data(), bytes_of(a, views[tensors[i]]).data(), memories[i].size()) != 0)
      return internal_error("the program writes argument " + a.name + ", expected results only");
  }
  for (size_t i = 0; i < count; ++i)
    if (program.arguments[i].role == ArgumentRole::result) copy_back(program.arguments[i], views[tensors[i]], memories[i]);
  return out;
}

}  // namespace strew::inline v0::pto
