// strew wisdom: what to do with files of measured schedules. Tested by tests/error/tune_test.cc.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/machine.h"
#include "base/machine_costs.h"
#include "base/pending_file.h"
#include "schedules/wisdom/wisdom_file.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tune/tuner.h"
#include "tune/tuning_text.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Reads a file, and warns of the lines that are no records.
Expected<std::vector<WisdomRecord>> read(const std::string& path) {
  STREW_ASSIGN(WisdomLines lines, read_wisdom(path));
  for (const std::string& problem : lines.problems) warn(problem + "; the line is left out");
  return std::move(lines.records);
}

/// The files that the user named, or the process's.
Expected<std::vector<std::string>> files_of(const Options& options) {
  if (!options.wisdom.files.empty()) return options.wisdom.files;
  const std::string path = wisdom_path();
  if (path.empty()) return invalid_argument("wisdom: STREW_WISDOM is off, expected a file");
  return std::vector<std::string>{path};
}

Expected<std::vector<WisdomRecord>> read_all(const Options& options) {
  STREW_ASSIGN(const std::vector<std::string> files, files_of(options));
  std::vector<WisdomRecord> all;
  for (const std::string& file : files) {
    STREW_ASSIGN(const std::vector<WisdomRecord> records, read(file));
    all.insert(all.end(), records.begin(), records.end());
  }
  return latest(std::move(all));
}

Status write(const std::string& path, const std::vector<WisdomRecord>& records) {
  std::string text;
  for (const WisdomRecord& record : records) text += print(record);
  STREW_ASSIGN(PendingFile file, PendingFile::create(path, text));
  return file.commit();
}

std::string dims_text(const WisdomRecord& r) {
  std::string out;
  for (const auto& [name, extent] : r.dims) out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, extent);
  return out.empty() ? out : out + " ";
}

/// A workload on a machine: what its records have in common.
using WorkloadKey = std::tuple<std::string, std::string, std::string, int, std::string>;
WorkloadKey key_of(const WisdomRecord& r) { return {r.op, dims_text(r) + r.indices, r.temperature, r.threads, r.machine}; }

struct Measured {
  const WisdomRecord* standard = nullptr;
  const WisdomRecord* winner = nullptr;  ///< the default, unless another one was confirmed to be faster
  size_t candidates = 0;
};

std::map<WorkloadKey, Measured> by_workload(const std::vector<WisdomRecord>& records) {
  std::map<WorkloadKey, Measured> out;
  for (const WisdomRecord& r : records) {
    Measured& measured = out[key_of(r)];
    ++measured.candidates;
    if (r.is_default) measured.standard = &r;
  }
  for (const WisdomRecord& r : records) {
    Measured& measured = out[key_of(r)];
    if (measured.winner == nullptr) measured.winner = measured.standard;
    const double best = measured.winner == nullptr || measured.winner->is_default ? 0.97 : measured.winner->ratio;
    if (!r.is_default && r.is_confirmed && r.ratio_high < 1 && r.ratio < best) measured.winner = &r;
  }
  return out;
}

std::string busy_text(const WisdomRecord& r) { return r.is_busy ? "; the host was busy" : ""; }

std::string line_of(const WorkloadKey& key, const Measured& m) {
  const auto& [op, indices, temperature, threads, machine] = key;
  std::string out = fmt::format("{}\n  {} {} threads={}, on {}, {} candidates\n", printable(op), printable(indices),
                                printable(temperature), threads, printable(machine), m.candidates);
  if (m.winner == nullptr) return out + "  its default was not measured\n";
  if (m.winner->is_default)
    return out + fmt::format("  {:.0f} ns: the default, {}{}\n", m.winner->nanoseconds, printable(m.winner->schedule),
                             busy_text(*m.winner));
  return out + fmt::format("  {:.0f} ns, {:.2f} ({:.2f}..{:.2f}) of the default's time: {} {}{}\n", m.winner->nanoseconds,
                           m.winner->ratio, m.winner->ratio_low, m.winner->ratio_high, printable(m.winner->backend),
                           printable(m.winner->schedule), busy_text(*m.winner));
}

Json json_of(const WorkloadKey& key, const Measured& m) {
  const auto& [op, indices, temperature, threads, machine] = key;
  Json out = {{"op", op},           {"workload", indices}, {"temperature", temperature},
              {"threads", threads}, {"machine", machine},  {"candidates", m.candidates}};
  if (m.winner == nullptr) return out;
  out.update({{"backend", m.winner->backend},
              {"schedule", m.winner->schedule},
              {"ns", m.winner->nanoseconds},
              {"ratio", m.winner->ratio},
              {"is_default", m.winner->is_default},
              {"busy", m.winner->is_busy},
              {"date", m.winner->date}});
  return out;
}

bool is_on(const WisdomRecord& record, const std::string& machine_text) {
  if (machine_text == "here") return record.machine == machine_key(machine());
  return record.machine.find(machine_text) != std::string::npos;
}

int list(const Options& options) {
  const Expected<std::vector<WisdomRecord>> records = read_all(options);
  if (!records.ok()) return fail(records.status());
  std::string text;
  Json json = Json::array();
  for (const auto& [key, measured] : by_workload(*records)) {
    if (options.json)
      json.push_back(json_of(key, measured));
    else
      text += line_of(key, measured);
  }
  if (options.json) return fail(print_out(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return fail(print_out(text.empty() ? "no records\n" : text));
}

int merge(const Options& options) {
  if (options.wisdom.files.empty()) return usage_error("FILE: it is missing, expected the files to merge");
  const Expected<std::vector<WisdomRecord>> records = read_all(options);
  if (!records.ok()) return fail(records.status());
  if (const Status status = write(options.output, *records); !status.ok()) return fail(status);
  return fail(print_out(fmt::format("{}: {} records\n", options.output, records->size())));
}

int prune(const Options& options) {
  const Expected<std::vector<std::string>> files = files_of(options);
  if (!files.ok()) return fail(files.status());
  if (files->size() != 1) return usage_error("FILE: " + std::to_string(files->size()) + " are given, expected one");
  const Expected<std::vector<WisdomRecord>> before = read((*files)[0]);
  if (!before.ok()) return fail(before.status());
  std::vector<WisdomRecord> records = latest(*before);
  std::erase_if(records, [&](const WisdomRecord& r) {
    return r.date < options.wisdom.older_than || (!options.wisdom.machine.empty() && !is_on(r, options.wisdom.machine));
  });
  if (const Status status = write((*files)[0], records); !status.ok()) return fail(status);
  return fail(
      print_out(fmt::format("{}: {} records, {} left out\n", (*files)[0], records.size(), before->size() - records.size())));
}

int diff(const Options& options) {
  if (options.wisdom.files.size() != 2)
    return usage_error("FILE: " + std::to_string(options.wisdom.files.size()) + " are given, expected the two files to compare");
  const Expected<std::vector<WisdomRecord>> a = read(options.wisdom.files[0]), b = read(options.wisdom.files[1]);
  if (!a.ok() || !b.ok()) return fail(a.ok() ? b.status() : a.status());
  const std::vector<WisdomRecord> left = latest(*a), right = latest(*b);
  const auto first = by_workload(left), second = by_workload(right);
  std::map<WorkloadKey, std::pair<const Measured*, const Measured*>> both;
  for (const auto& [key, measured] : first) both[key].first = &measured;
  for (const auto& [key, measured] : second) both[key].second = &measured;
  const auto winner_of = [](const Measured* m) {
    return m == nullptr           ? std::string("not measured")
           : m->winner == nullptr ? "no default"
                                  : m->winner->backend + " " + m->winner->schedule;
  };
  std::string text;
  Json json = Json::array();
  for (const auto& [key, pair] : both) {
    const std::string one = winner_of(pair.first), other = winner_of(pair.second);
    if (one == other) continue;
    const auto& [op, indices, temperature, threads, machine] = key;
    text += fmt::format("{}\n  {} {} threads={}, on {}\n  < {}\n  > {}\n", printable(op), printable(indices),
                        printable(temperature), threads, printable(machine), printable(one), printable(other));
    json.push_back(
        {{"op", op}, {"workload", indices}, {"threads", threads}, {"machine", machine}, {"first", one}, {"second", other}});
  }
  if (options.json) return fail(print_out(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return fail(print_out(text.empty() ? "no difference\n" : text));
}

int export_winners(const Options& options) {
  const Expected<std::vector<WisdomRecord>> records = read_all(options);
  if (!records.ok()) return fail(records.status());
  std::vector<WisdomRecord> out;
  for (const auto& [key, measured] : by_workload(*records)) {
    if (measured.standard == nullptr || (!options.wisdom.machine.empty() && !is_on(*measured.standard, options.wisdom.machine)))
      continue;
    out.push_back(*measured.standard);
    if (measured.winner != measured.standard) out.push_back(*measured.winner);
  }
  if (const Status status = write(options.output, out); !status.ok()) return fail(status);
  return fail(print_out(fmt::format("{}: {} records\n", options.output, out.size())));
}

int replay(const Options& options) {
  if (options.wisdom.files.size() != 1)
    return usage_error("FILE: " + std::to_string(options.wisdom.files.size()) + " are given, expected one");
  const Expected<RecordedRun> run = read_timings(options.wisdom.files[0]);
  if (!run.ok()) return fail(run.status());
  for (const std::string& problem : run->problems) warn(options.wisdom.files[0] + ": " + problem + "; the line is left out");
  const Expected<TuningResult> result = replay(*run);
  if (!result.ok()) return fail(result.status());
  return fail(print_out(options.json ? tuning_json(*result) : tuning_text(*result)));
}

struct Action {
  const char* name;
  int (*run)(const Options&);
};
constexpr Action kActions[] = {{"list", list}, {"merge", merge},           {"prune", prune},
                               {"diff", diff}, {"export", export_winners}, {"replay", replay}};

}  // namespace

int wisdom(const Options& options) {
  for (const Action& action : kActions)
    if (options.wisdom.action == action.name) return action.run(options);
  return fail(internal_error("wisdom: '" + options.wisdom.action + "' has no function"));
}

}  // namespace strew::cli
