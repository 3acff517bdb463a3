// See loaded_kernels.h.
#include "runtime/loaded_kernels.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/backend.h"
#include "backends/modules.h"
#include "base/log.h"
#include "runtime/call/descriptor.h"
#include "runtime/kernel_state.h"
#include "strew/schedule.h"
#include "strew/target.h"

namespace strew::inline v0 {
namespace {

/// The number of CPU features that the kernel uses.
size_t feature_count(const strew_kernel& kernel) {
  const std::string_view features = kernel.features;
  return features.empty() ? 0 : 1 + static_cast<size_t>(std::count(features.begin(), features.end(), ','));
}

}  // namespace

std::mutex LoadedKernels::mutex_of_all;

Expected<std::vector<LoadedKernels::Loaded>> LoadedKernels::read(std::string_view file) {
  STREW_ASSIGN(const LlvmModule* const module, open_llvm_module());
  STREW_ASSIGN(const std::shared_ptr<LinkedObject> object, module->linker()->load(file));
  std::vector<Loaded> kernels;
  Status first_refused;
  for (const LinkedObject::Constant& constant : object->constants) {
    const auto* const kernel = static_cast<const strew_kernel*>(constant.address);
    constexpr size_t kNumbers = offsetof(strew_kernel, size) + sizeof(kernel->size);
    if (constant.bytes < kNumbers || (kernel->abi == STREW_ABI_VERSION && constant.bytes < sizeof(strew_kernel)))
      return invalid_argument("symbol " + constant.symbol + ": " + std::to_string(constant.bytes) +
                              " bytes, expected a strew_kernel");
    const Status status = check_descriptor(*kernel);
    if (status.code() == Code::invalid_argument) return status.with_prefix("symbol " + constant.symbol);
    if (status.ok())
      kernels.push_back({object, kernel});
    else if (first_refused.ok())
      first_refused = status;
  }
  if (!kernels.empty()) return kernels;
  if (!first_refused.ok()) return first_refused;
  return invalid_argument("the file exports no kernel; expected what `strew compile --emit obj` writes");
}

Expected<std::vector<LoadedKernels::Loaded>> LoadedKernels::kernels_of(const strew_library& library) {
  STREW_TRY(check_library(library));
  std::vector<Loaded> kernels;
  for (uint32_t k = 0; k < library.kernel_count; ++k) {
    const strew_library_kernel& kernel = library.kernels[k];
    for (uint32_t v = 0; v < kernel.variant_count; ++v) {
      const Status status = check_descriptor(*kernel.variants[v]);
      if (status.code() == Code::invalid_argument) return status;
      if (status.ok()) kernels.push_back({nullptr, kernel.variants[v]});
    }
  }
  return kernels;
}

void LoadedKernels::add(const std::vector<Loaded>& kernels) {
  const std::lock_guard lock(mutex_of_all);
  for (const Loaded& kernel : kernels) by_identity_[kernel.descriptor->identity].push_back(kernel);
}

LoadedKernels::Loaded LoadedKernels::find(const KernelOptions& options, const Compiled& planned) const {
  const bool any_will_do =
      options.backend == BackendChoice::automatic && options.schedule == ScheduleOverrides{} && !options.target;
  const std::lock_guard lock(mutex_of_all);
  const auto found = by_identity_.find(planned.identity_text);
  if (found == by_identity_.end()) return {};
  Loaded best;
  for (const Loaded& kernel : found->second) {
    if (planned.symbol == kernel.descriptor->name) return kernel;
    if (any_will_do && (best.descriptor == nullptr || feature_count(*kernel.descriptor) > feature_count(*best.descriptor)))
      best = kernel;
  }
  return best;
}

Expected<std::shared_ptr<const BuiltKernel>> LoadedKernels::adopt(const Loaded& kernel, Compiled planned) {
  const strew_kernel& descriptor = *kernel.descriptor;
  STREW_ASSIGN(planned.schedule, parse_schedule(descriptor.schedule, Schedule()));
  STREW_ASSIGN(planned.target, parse_target(descriptor.target));
  planned.backend = find_backend(descriptor.backend);
  if (planned.backend == nullptr)
    return invalid_argument("kernel " + std::string(descriptor.name) + ": backend is '" + descriptor.backend +
                            "', expected one of " + backend_names());
  planned.symbol = descriptor.name;
  planned.why = kernel.object != nullptr ? "loaded from an object" : "from a kernel library";
  planned.parts.clear();
  planned.descriptor = {};
  auto built = std::make_shared<BuiltKernel>(std::move(planned));
  built->object = kernel.object;
  built->descriptor = {kernel.object, &descriptor};  // without an object it owns nothing
  built->is_loaded = true;
  built->bytes = size_without_code(*built);
  if (logs(LogLevel::cache))
    log(LogLevel::cache, "hit: " + built->compiled.symbol + ", " + built->compiled.why + "; op " + built->compiled.op_text);
  return std::shared_ptr<const BuiltKernel>(std::move(built));
}

}  // namespace strew::inline v0
