// See loaded_kernels.h.
#include "runtime/loaded_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "backends/backend.h"
#include "backends/modules.h"
#include "base/log.h"
#include "base/machine.h"
#include "runtime/call/descriptor.h"
#include "runtime/kernel_state.h"
#include "strew/schedule.h"
#include "strew/target.h"

namespace strew::inline v0 {
namespace {

size_t feature_count(std::string_view features) {
  return features.empty() ? 0 : 1 + static_cast<size_t>(std::count(features.begin(), features.end(), ','));
}

}  // namespace

std::mutex LoadedKernels::mutex_of_all;

Expected<std::vector<LoadedKernels::Loaded>> LoadedKernels::read(std::string_view file) {
  STREW_ASSIGN(const LlvmModule* const module, open_llvm_module());
  STREW_ASSIGN(const std::shared_ptr<LinkedObject> object, module->load(file));
  std::vector<Loaded> kernels;
  Status first_refused;
  for (const LinkedObject::Constant& constant : object->constants) {
    const auto* const kernel = static_cast<const strew_kernel*>(constant.address);
    uint32_t first = 0;
    if (constant.bytes >= sizeof first) std::memcpy(&first, constant.address, sizeof first);
    if (first == STREW_LIBRARY_MAGIC) continue;  // the registry of an archive, whose kernels are in it, too
    constexpr size_t kNumbers = offsetof(strew_kernel, size) + sizeof(kernel->size);
    if (constant.bytes < kNumbers || (kernel->abi == STREW_ABI_VERSION && constant.bytes < sizeof(strew_kernel)))
      return invalid_argument("symbol " + constant.symbol + ": " + std::to_string(constant.bytes) +
                              " bytes, expected a strew_kernel");
    const Status status = check_descriptor(*kernel);
    if (status.code() == Code::invalid_argument) return status.with_prefix("symbol " + constant.symbol);
    if (status.ok())
      kernels.push_back({object, {object, kernel}, nullptr, kernel->name, kernel->features, {}});
    else if (first_refused.ok())
      first_refused = status;
  }
  if (!kernels.empty()) return kernels;
  if (!first_refused.ok()) return first_refused;
  return invalid_argument("the file exports no kernel; expected what `strew compile --emit obj` writes");
}

void LoadedKernels::add(const std::vector<Loaded>& kernels) {
  const std::lock_guard lock(mutex_of_all);
  is_empty_ = false;
  for (const Loaded& kernel : kernels) by_identity_[kernel.descriptor->identity].push_back(kernel);
}

Status LoadedKernels::add(const strew_library& library) {
  STREW_TRY(check_library(library));
  const std::lock_guard lock(mutex_of_all);
  is_empty_ = false;
  unread_.push_back(&library);
  return {};
}

LoadedKernels::Loaded LoadedKernels::find(const KernelOptions& options, const Compiled& planned) {
  const bool any_will_do =
      options.backend == BackendChoice::automatic && options.schedule == ScheduleOverrides{} && !options.target;
  Loaded best;
  {
    const std::lock_guard lock(mutex_of_all);
    for (const strew_library* const library : unread_) {
      const std::string_view name = reinterpret_cast<const char*>(library) + library->name;
      for (uint32_t k = 0; k < library->kernel_count; ++k) {
        const LibraryKernel& kernel = kernel_of(*library, k);
        for (uint32_t v = 0; v < kernel.variant_count; ++v) {
          const PackedKernel& packed = variant_of(*library, kernel, v);
          const auto text = [&](size_t field) { return packed.text(field); };
          const std::string_view features = text(offsetof(strew_kernel, features));
          if (lacking_features(features).empty())
            by_identity_[text(offsetof(strew_kernel, identity))].push_back(
                {nullptr, nullptr, &packed, text(offsetof(strew_kernel, name)), features, name});
        }
      }
    }
    unread_.clear();
    const auto found = by_identity_.find(planned.identity_text);
    if (found == by_identity_.end()) return {};
    for (const Loaded& kernel : found->second) {
      if (planned.symbol == kernel.name) {
        best = kernel;
        break;
      }
      if (any_will_do && (best.name.empty() || feature_count(kernel.features) > feature_count(best.features))) best = kernel;
    }
  }
  if (best.packed != nullptr) {
    best.descriptor = unpack(*best.packed);
    if (!check_descriptor(*best.descriptor).ok()) return {};
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
  planned.why = kernel.object != nullptr ? "loaded from an object" : "from kernel library " + std::string(kernel.library);
  planned.parts.clear();
  planned.descriptor = {};
  auto built = std::make_shared<BuiltKernel>(std::move(planned));
  built->object = kernel.object;
  built->descriptor = kernel.descriptor;
  built->is_loaded = true;
  built->bytes = size_without_code(*built);
  if (logs(LogLevel::cache))
    log(LogLevel::cache, "hit: " + built->compiled.symbol + ", " + built->compiled.why + "; op " + built->compiled.op_text);
  return std::shared_ptr<const BuiltKernel>(std::move(built));
}

}  // namespace strew::inline v0
