// See recorded_usage.h.
#include "tune/recorded_usage.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "base/file.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostBytes = int64_t{256} << 20;

/// What one line says.
struct Line {
  std::string op;
  KnownUsage usage;                  ///< without indices
  std::vector<std::string> indices;  ///< of the op's own, then of each look-up: files of earlier versions lack these
};

Expected<std::string> indices_in(const nlohmann::json& source) {
  const auto text = source.at("indices").get<std::string>();
  STREW_TRY(parse_distribution(text).status());
  return text;
}

/// As KnownUsage::indices has it.
std::string joined(const std::vector<std::string>& indices) {
  std::string out = indices[0];
  for (size_t source = 1; source < indices.size(); ++source) out += "," + indices[source];
  return out;
}

Expected<Line> read_line(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return invalid_argument("it is no JSON object");
  try {
    if (json.at("format") != 1) return invalid_argument("format is " + json.at("format").dump() + ", expected 1");
    Line out;
    json.at("op").get_to(out.op);
    json.at("dims").get_to(out.usage.dims);
    json.at("threads").get_to(out.usage.threads);
    json.at("calls").get_to(out.usage.calls);
    STREW_ASSIGN(out.indices.emplace_back(), indices_in(json));
    for (const nlohmann::json& lookup : json.value("lookups", nlohmann::json::array())) {
      STREW_ASSIGN(out.indices.emplace_back(), indices_in(lookup));
    }
    if (out.usage.threads < 1 || out.usage.calls < 1) return invalid_argument("threads and calls: expected numbers from 1 on");
    return out;
  } catch (const nlohmann::json::exception& error) {
    return invalid_argument(std::string("it is no record of calls: ") + error.what());
  }
}

Expected<TuningTask> task_of(const Line& line, const KnownUsage& known, size_t number) {
  KnownUsage usage = line.usage;
  for (const auto& [name, extent] : known.dims) usage.dims[name] = extent;
  usage.indices = known.indices.empty() ? joined(line.indices) : known.indices;
  if (known.threads != 0) usage.threads = known.threads;
  usage.temperature = known.temperature;
  STREW_ASSIGN(Op op, parse_op(line.op));
  STREW_ASSIGN(VerifiedOp verified, VerifiedOp::of(std::move(op)));
  if (const size_t most = lookups_of(verified).size(); line.indices.size() > most + 1)
    return invalid_argument("it has the indices of " + std::to_string(line.indices.size() - 1) + " look-ups, expected at most " +
                            std::to_string(most));
  Expected<InventedUsage> invented = invent_usage(verified, usage);
  // A hint of the op, or its extents, may rule out what describes the indices of a source best.
  for (size_t source = 0; !invented.ok() && known.indices.empty() && source <= line.indices.size(); ++source) {
    std::vector<std::string> others = line.indices;
    if (source < others.size())
      others[source].clear();
    else
      others = {""};
    usage.indices = joined(others);
    invented = invent_usage(verified, usage);
  }
  STREW_TRY(invented.status());
  return TuningTask{"recorded_" + std::to_string(number), std::move(verified), std::move(invented->usage),
                    std::move(invented->notes)};
}

Expected<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  if (error) return Status(Code::io, path + ": cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  if (files.empty()) return invalid_argument(path + ": the folder has no recording, expected files that end in .jsonl");
  return files;
}

}  // namespace

bool is_recording(const std::string& path) {
  std::error_code ignored;
  return path.ends_with(".jsonl") || std::filesystem::is_directory(path, ignored);
}

Expected<RecordedTasks> read_recording(const std::string& path, const KnownUsage& known) {
  STREW_ASSIGN(const std::vector<std::string> files, files_of(path));
  RecordedTasks out;
  std::map<std::tuple<std::string, std::map<std::string, int64_t>, int>, Line> lines;
  for (const std::string& file : files) {
    STREW_ASSIGN(const std::string text, read_file(file, kMostBytes));
    std::istringstream in(text);
    size_t number = 0;
    for (std::string each; std::getline(in, each);) {
      ++number;
      if (each.empty()) continue;
      Expected<Line> line = read_line(each);
      if (!line.ok()) {
        out.problems.push_back(file + ":" + std::to_string(number) + ": " + line.status().message());
        continue;
      }
      const auto [found, is_new] = lines.try_emplace({line->op, line->usage.dims, line->usage.threads}, *line);
      if (!is_new) found->second.usage.calls += line->usage.calls;
    }
  }
  std::vector<const Line*> order;
  for (const auto& [key, line] : lines) order.push_back(&line);
  std::stable_sort(order.begin(), order.end(), [](const Line* a, const Line* b) { return a->usage.calls > b->usage.calls; });
  for (const Line* line : order) {
    Expected<TuningTask> task = task_of(*line, known, out.tasks.size());
    if (task.ok())
      out.tasks.push_back(std::move(*task));
    else
      out.problems.push_back(path + ": " + task.status().message());
  }
  if (out.tasks.empty())
    return invalid_argument(path + ": it has no calls to tune for" + (out.problems.empty() ? "" : "; " + out.problems.front()));
  return out;
}

}  // namespace strew::inline v0
