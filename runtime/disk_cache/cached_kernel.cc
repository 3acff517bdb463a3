// See cached_kernel.h.
#include "runtime/disk_cache/cached_kernel.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cpus.h"
#include "base/options.h"
#include "runtime/disk_cache/build_id.h"
#include "runtime/kernel_state.h"
#include "schedules/target.h"

namespace strew::inline v0 {
namespace {

/// The names of the target's features, in alphabetical order.
std::string sorted_features(const Target& target) {
  std::vector<std::string_view> names;
  const FeatureSet set = features_of(target);
  for (const FeatureInfo& feature : known_features())
    if ((set & bit_of(&feature)) != 0) names.push_back(feature.name);
  std::sort(names.begin(), names.end());
  std::string out;
  for (const std::string_view name : names) out.append(out.empty() ? "" : ",").append(name);
  return out;
}

/// Is the descriptor that the code brought the one of this kernel? Its checksum says what the file's writer meant, and its writer may have been
/// a strew with a mistake.
bool is_descriptor_of(const LinkedObject& object, const Compiled& planned) {
  if (object.sizes[0] < sizeof(strew_kernel)) return false;
  const auto& found = *static_cast<const strew_kernel*>(object.addresses[0]);
  return found.abi == STREW_ABI_VERSION && found.name != nullptr && planned.symbol == found.name;
}

/// Somebody who asks to see the insides of kernels that are built wants them built.
bool wants_a_build() { return !process_options().dump_dir.empty(); }

}  // namespace

bool is_cached(const Compiled& planned) {
  return planned.backend != nullptr && !planned.backend->interprets() && !planned.backend->is_precompiled() &&
         !is_npu(planned.target) && planned.packed.bytes.empty();
}

CacheEntry entry_of(const Compiled& planned) {
  CacheEntry out;
  out.symbol = planned.symbol;
  out.build_id = build_id();
  out.features = sorted_features(planned.target);
  out.op = planned.identity_text;
  out.schedule = print(planned.schedule);
  out.target = print(planned.target);
  out.backend = planned.backend->name();
  return out;
}

Expected<std::shared_ptr<BuiltKernel>> find_kernel(DiskCache& cache, Compiled& planned, IfMissing if_missing) {
  const std::shared_ptr<BuiltKernel> none;
  if (cache.is_off() || wants_a_build() || !is_cached(planned)) return none;
  STREW_TRY(machine_can_run(planned.target));
  const CacheEntry key = entry_of(planned);
  Expected<std::optional<std::string>> found = if_missing == IfMissing::null ? cache.find_if_there(key) : cache.find(key);
  STREW_ASSIGN(const std::optional<std::string> bytes, std::move(found));
  if (!bytes) return none;
  auto object = link_object(*bytes, planned.symbol);
  if (!object.ok()) {
    cache.reject(key, object.status().message());
    return none;
  }
  if (!is_descriptor_of(**object, planned)) {
    cache.reject(key, "its code is that of another kernel");
    return none;
  }
  return adopt_object(std::move(planned), std::move(*object));
}

Expected<std::shared_ptr<BuiltKernel>> build_kernel(DiskCache& cache, Compiled& planned, const std::function<Status()>& go_on) {
  STREW_TRY(build(planned));
  STREW_TRY(go_on());
  std::optional<CacheEntry> entry;
  if (cache.writes() && is_cached(planned) && !planned.artifact.object.empty()) {
    entry = entry_of(planned);
    entry->object = planned.artifact.object;
  }
  STREW_ASSIGN(std::shared_ptr<BuiltKernel> kernel, link_kernel(std::move(planned)));
  if (entry) cache.publish(std::move(*entry));  // what does not link is not kept
  return kernel;
}

Status build_object(DiskCache& cache, Compiled& planned) {
  STREW_TRY(planned.scheduled);
  STREW_TRY(planned.chosen);
  if (cache.is_off() || !is_cached(planned)) return build(planned);
  CacheEntry entry = entry_of(planned);
  if (!wants_a_build()) {
    STREW_ASSIGN(std::optional<std::string> object, cache.find(entry));
    if (object) {
      planned.artifact.object = std::move(*object);
      return {};
    }
  }
  STREW_TRY(build(planned));
  entry.object = planned.artifact.object;
  if (!entry.object.empty()) cache.publish(std::move(entry));
  return {};
}

}  // namespace strew::inline v0
