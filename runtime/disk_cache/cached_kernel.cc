// See cached_kernel.h.
#include "runtime/disk_cache/cached_kernel.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

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
  return fmt::format("{}", fmt::join(names, ","));
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

/// The folder, open; a folder that is not there is an empty OpenFile.
Expected<OpenFile> open_folder(const std::string& folder) {
  Options options;
  options.cache_dir = folder;
  options.cache_mode = CacheMode::read_only;
  return open_safe_folder(FolderCalls::system(), disk_cache_settings(options).folder, FolderUse::read);
}

InspectedFile inspect_file(FolderCalls& calls, int folder, const std::string& path, CacheFile file) {
  InspectedFile out{std::move(file), {}, 0, {}};
  const std::string whole = path + "/" + out.file.name;
  const auto read = [&]() -> Status {
    const OpenFile open(calls, calls.open(folder, out.file.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0));
    if (!open) return io_error(whole + ": cannot open: " + std::strerror(errno));
    STREW_ASSIGN(out.entry, read_entry(calls, open.get(), whole));
    out.object_bytes = static_cast<int64_t>(std::exchange(out.entry.object, std::string()).size());
    if (out.entry.file_name() != out.file.name) return invalid_argument(whole + ": it holds another kernel than its name says");
    return {};
  };
  out.status = read();
  return out;
}

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

/// The entry of a kernel that was built; nothing if the cache keeps none.
static std::optional<CacheEntry> entry_to_write(const DiskCache& cache, const Compiled& built) {
  if (!cache.writes() || !is_cached(built) || built.artifact.object.empty()) return std::nullopt;
  CacheEntry out = entry_of(built);
  out.object = built.artifact.object;
  return out;
}

Expected<std::shared_ptr<BuiltKernel>> find_kernel(DiskCache& cache, Compiled& planned) {
  const std::shared_ptr<BuiltKernel> none;
  if (cache.is_off() || wants_a_build() || !is_cached(planned)) return none;
  STREW_TRY(machine_can_run(planned.target));
  const CacheEntry key = entry_of(planned);
  STREW_ASSIGN(const std::optional<std::string> bytes, cache.find(key));
  if (!bytes) return none;
  auto object = link_object(*bytes, planned.symbol);
  if (!object.ok() || !is_descriptor_of(**object, planned)) {
    cache.reject(key, object.ok() ? "its code is that of another kernel" : object.status().message());
    return none;
  }
  return adopt_object(std::move(planned), std::move(*object));
}

Expected<std::shared_ptr<BuiltKernel>> build_kernel(DiskCache& cache, Compiled& planned, const std::function<Status()>& go_on) {
  STREW_TRY(build(planned));
  STREW_TRY(go_on());
  std::optional<CacheEntry> entry = entry_to_write(cache, planned);
  STREW_ASSIGN(std::shared_ptr<BuiltKernel> kernel, link_kernel(std::move(planned)));
  if (entry) cache.publish(std::move(*entry));  // what does not link is not kept
  return kernel;
}

Status build_object(DiskCache& cache, Compiled& planned) {
  STREW_TRY(planned.scheduled);
  STREW_TRY(planned.chosen);
  if (!cache.is_off() && is_cached(planned) && !wants_a_build()) {
    STREW_ASSIGN(std::optional<std::string> object, cache.find(entry_of(planned)));
    if (object) {
      planned.artifact.object = std::move(*object);
      return {};
    }
  }
  STREW_TRY(build(planned));
  if (std::optional<CacheEntry> entry = entry_to_write(cache, planned)) cache.publish(*std::move(entry));
  return {};
}

// ---- Looking into the folder -----------------------------------------------------------------------------------------------------

Expected<std::vector<InspectedFile>> inspect_cache(const std::string& folder) {
  STREW_ASSIGN(const OpenFile open, open_folder(folder));
  std::vector<InspectedFile> out;
  if (!open) return out;
  FolderCalls& calls = FolderCalls::system();
  STREW_ASSIGN(std::vector<CacheFile> files, list_folder(calls, open.get()));
  for (CacheFile& file : files)
    if (!file.is_temporary) out.push_back(inspect_file(calls, open.get(), folder, std::move(file)));
  return out;
}

Expected<Pruned> prune_cache(const std::string& folder, int64_t limit) {
  STREW_ASSIGN(const OpenFile open, open_folder(folder));
  Pruned out;
  if (!open) return out;
  const Status status = prune_folder(FolderCalls::system(), open.get(), limit, out);
  if (!status.ok()) return status.with_prefix(folder);
  return out;
}

CachedAt where_is_cached(const Options& options, const Compiled& planned) {
  const std::string folder = disk_cache_settings(options).folder;
  if (folder.empty()) return {"", false, "the cache is off"};
  if (!is_cached(planned)) return {"", false, "only kernels with machine code are kept"};
  const std::string name = entry_of(planned).file_name(), path = folder + "/" + name;
  FolderCalls& calls = FolderCalls::system();
  const Expected<OpenFile> open = open_folder(folder);
  if (!open.ok()) return {path, false, open.status().message()};
  struct stat info = {};
  if (!*open || (calls.status_at(open->get(), name.c_str(), info) != 0 && errno == ENOENT)) return {path, false, ""};
  const Status status = inspect_file(calls, open->get(), folder, {name, 0, 0, false}).status;
  return {path, status.ok(), status.message()};
}

}  // namespace strew::inline v0
