// See built_kernels.h. Asked only for requests that are new, so plain locks are fast enough: one for the map, and one per
// symbol during its build.
#include "runtime/built_kernels.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "runtime/kernel_state.h"

namespace strew::inline v0 {

std::mutex BuiltKernels::mutex_of_all;

/// The kernel, if it has not been forgotten.
BuiltKernels::Built BuiltKernels::Place::take() const {
  Built built = kernel.lock();
  if (built != nullptr && logs(LogLevel::cache))
    log(LogLevel::cache, "hit: " + built->compiled.symbol + " was built for another spelling of the op or number of threads");
  return built;
}

std::shared_ptr<BuiltKernels::Place> BuiltKernels::place_of(const std::string& symbol) {
  const std::lock_guard lock(mutex_of_all);
  if (const auto found = places_.find(symbol); found != places_.end()) return found->second;
  if (places_.size() >= next_sweep_) {
    sweep();
    next_sweep_ = std::max(kFirstSweep, 2 * places_.size());
  }
  return places_.emplace(symbol, std::make_shared<Place>()).first->second;
}

Expected<BuiltKernels::Built> BuiltKernels::get(const std::string& symbol, const std::function<Expected<Built>()>& build) {
  const std::shared_ptr<Place> place = place_of(symbol);
  const std::lock_guard lock(place->building);
  if (Built kernel = place->take()) return kernel;
  STREW_ASSIGN(Built kernel, build());
  place->kernel = kernel;
  if (!kernel->is_loaded) count_.fetch_add(1, std::memory_order_relaxed);
  return kernel;
}

Expected<BuiltKernels::Built> BuiltKernels::take(const std::string& symbol, const std::function<Expected<Built>()>& find) {
  const std::shared_ptr<Place> place = place_of(symbol);
  const std::unique_lock building(place->building, std::try_to_lock);
  if (!building.owns_lock()) return Built();
  if (Built kernel = place->take()) return kernel;
  STREW_ASSIGN(Built kernel, find());
  if (kernel != nullptr) place->kernel = kernel;
  return kernel;
}

BuiltKernels::Built BuiltKernels::find(const std::string& symbol) {
  std::shared_ptr<Place> place;
  {
    const std::lock_guard lock(mutex_of_all);
    const auto found = places_.find(symbol);
    if (found == places_.end()) return nullptr;
    place = found->second;
  }
  const std::unique_lock building(place->building, std::try_to_lock);
  return building.owns_lock() ? place->take() : nullptr;
}

size_t BuiltKernels::places() const {
  const std::lock_guard lock(mutex_of_all);
  return places_.size();
}

void BuiltKernels::clear() {
  const std::lock_guard lock(mutex_of_all);
  places_.clear();
}

void BuiltKernels::drop_unused() {
  const std::lock_guard lock(mutex_of_all);
  sweep();
}

/// The caller holds the lock. What is freed here is memory alone: the kernels were destroyed when their last owner dropped them.
void BuiltKernels::sweep() {
  std::erase_if(places_, [](const auto& each) {
    const std::shared_ptr<Place>& place = each.second;
    if (place.use_count() > 1) return false;          // somebody is building, or is about to
    const std::lock_guard building(place->building);  // after the last builder, whose write is then visible
    return place->kernel.expired();
  });
}

}  // namespace strew::inline v0
