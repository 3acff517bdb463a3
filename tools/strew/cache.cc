// strew cache: what lies in the folder of the disk cache, and what to remove. Tested by tests/error/cache_cli_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "runtime/disk_cache/build_id.h"
#include "runtime/disk_cache/cached_kernel.h"
#include "runtime/disk_cache/disk_cache.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// The folder that the command is about.
Expected<std::string> folder_of() {
  const std::string& folder = options_of_process_runtimes().cache_dir;
  if (folder == "off") return invalid_argument("--cache: it is off, expected a folder");
  if (folder.empty())
    return invalid_argument("cache: the environment has neither HOME nor XDG_CACHE_HOME, expected --cache DIR or STREW_CACHE");
  return folder;
}

Expected<std::vector<InspectedFile>> read_folder(std::string& folder) {
  STREW_ASSIGN(folder, folder_of());
  STREW_ASSIGN(std::vector<InspectedFile> files, inspect_cache(folder));
  std::sort(files.begin(), files.end(), [](const InspectedFile& a, const InspectedFile& b) {
    return a.file.last_use != b.file.last_use ? a.file.last_use > b.file.last_use : a.file.name < b.file.name;
  });
  return files;
}

bool is_ours(const InspectedFile& file) { return file.status.ok() && file.entry.build_id == build_id(); }

/// "3 minutes ago"; a time in the future is now.
std::string ago(int64_t time) {
  constexpr std::pair<int64_t, const char*> kUnits[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}};
  const int64_t seconds = std::max<int64_t>(0, std::time(nullptr) - time);
  for (const auto& [unit, name] : kUnits)
    if (seconds >= unit) return fmt::format("{} {}{} ago", seconds / unit, name, seconds / unit == 1 ? "" : "s");
  return "less than a minute ago";
}

int stats(const Options& options) {
  std::string folder;
  const Expected<std::vector<InspectedFile>> files = read_folder(folder);
  if (!files.ok()) return fail(files.status());
  int64_t bytes = 0, ours = 0, bad = 0;
  for (const InspectedFile& each : *files) {
    bytes += each.file.bytes;
    ours += is_ours(each) ? 1 : 0;
    bad += each.status.ok() ? 0 : 1;
  }
  const strew::Options& cache = options_of_process_runtimes();
  const auto count = static_cast<int64_t>(files->size());
  if (options.json)
    return fail(print_out(dump({{"folder", folder},
                                {"mode", name(cache.cache_mode)},
                                {"limit_bytes", cache.cache_limit_bytes},
                                {"kernels", count},
                                {"bytes", bytes},
                                {"of_this_build", ours},
                                {"of_other_builds", count - ours - bad},
                                {"bad", bad},
                                {"build_id", build_id()}})));
  return fail(
      print_out(fmt::format("folder    {} ({})\n"
                            "kernels   {}: {} of this build of strew ({}), {} of others, {} bad\n"
                            "bytes     {} of at most {}\n",
                            printable(folder), name(cache.cache_mode), count, ours, build_id(), count - ours - bad, bad, bytes,
                            cache.cache_limit_bytes)));
}

int list(const Options& options) {
  std::string folder;
  const Expected<std::vector<InspectedFile>> files = read_folder(folder);
  if (!files.ok()) return fail(files.status());
  std::string text;
  Json json = Json::array();
  for (const InspectedFile& each : *files) {
    const CacheEntry& entry = each.entry;
    if (!each.status.ok()) {
      text += fmt::format("{}: bad, see strew cache verify\n", each.file.name);
      json.push_back({{"file", each.file.name}, {"bytes", each.file.bytes}, {"bad", each.status.message()}});
      continue;
    }
    text += fmt::format("{}\n  {}, {}, for {}\n  {} B, written {}, used {}{}\n", printable(entry.op), printable(entry.backend),
                        printable(entry.schedule), printable(entry.target), each.file.bytes, ago(entry.written),
                        ago(each.file.last_use), is_ours(each) ? "" : ", by another build of strew");
    json.push_back({{"file", each.file.name},
                    {"op", entry.op},
                    {"backend", entry.backend},
                    {"schedule", entry.schedule},
                    {"target", entry.target},
                    {"features", entry.features},
                    {"symbol", entry.symbol},
                    {"bytes", each.file.bytes},
                    {"object_bytes", each.object_bytes},
                    {"written", entry.written},
                    {"last_use", each.file.last_use},
                    {"build_id", entry.build_id},
                    {"of_this_build", is_ours(each)}});
  }
  if (options.json) return fail(print_out(dump(json)));
  return fail(print_out(text.empty() ? "no kernels\n" : text));
}

int verify(const Options& options) {
  std::string folder;
  const Expected<std::vector<InspectedFile>> files = read_folder(folder);
  if (!files.ok()) return fail(files.status());
  std::string text;
  Json bad = Json::array();
  for (const InspectedFile& each : *files) {
    if (each.status.ok()) continue;
    text += printable(each.status.message()) + "\n";
    bad.push_back({{"file", each.file.name}, {"reason", each.status.message()}});
  }
  const size_t found = bad.size(), all = files->size();
  if (found == 0) text = fmt::format("{}: {} kernels, all good\n", printable(folder), all);
  const Status printed = print_out(options.json ? dump({{"folder", folder}, {"kernels", all}, {"bad", std::move(bad)}}) : text);
  if (!printed.ok() || found == 0) return fail(printed);
  return fail(io_error(fmt::format("{}: {} of {} kernels are bad; strew makes them anew, or `strew cache clear` removes all",
                                   folder, found, all)));
}

/// Removes kernels until they take no more than `limit` bytes.
int remove_beyond(const Options& options, int64_t limit) {
  const Expected<std::string> folder = folder_of();
  if (!folder.ok()) return fail(folder.status());
  const Expected<Pruned> pruned = prune_cache(*folder, limit);
  if (!pruned.ok()) return fail(pruned.status());
  if (options.json)
    return fail(print_out(dump({{"folder", *folder},
                                {"removed", pruned->files},
                                {"removed_bytes", pruned->bytes},
                                {"kernels", pruned->files_left},
                                {"bytes", pruned->bytes_left}})));
  return fail(print_out(fmt::format("{}: {} files removed ({} B), {} left ({} B)\n", printable(*folder), pruned->files,
                                    pruned->bytes, pruned->files_left, pruned->bytes_left)));
}

int prune(const Options& options) {
  const int64_t limit = options.cache.limit >= 0 ? options.cache.limit : options_of_process_runtimes().cache_limit_bytes;
  return remove_beyond(options, limit);
}

int clear(const Options& options) { return remove_beyond(options, 0); }

struct Action {
  const char* name;
  int (*run)(const Options&);
};
constexpr Action kActions[] = {{"stats", stats}, {"list", list}, {"verify", verify}, {"prune", prune}, {"clear", clear}};

}  // namespace

int cache(const Options& options) {
  for (const Action& action : kActions)
    if (options.cache.action == action.name) return action.run(options);
  return fail(internal_error("cache: '" + options.cache.action + "' has no function"));
}

}  // namespace strew::cli
