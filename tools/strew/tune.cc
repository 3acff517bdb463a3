// strew tune: measures the schedules of a file's kernels and keeps the times as wisdom. Tested by tests/error/tune_test.cc.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/pending_file.h"
#include "schedules/wisdom/wisdom_file.h"
#include "tools/npy.h"
#include "tools/strew/interrupt.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"
#include "tools/strew/tuning_progress.h"
#include "tune/recorded_usage.h"
#include "tune/report/html_report.h"
#include "tune/tuner.h"
#include "tune/tuning_tasks.h"
#include "tune/tuning_text.h"

namespace strew::cli {
namespace {

KnownUsage known_usage(const Options& options) {
  KnownUsage known;
  known.indices = options.tune.indices;
  known.temperature = options.tune.temperature;
  known.threads = options.kernel.threads;
  return known;
}

/// Reads the index tensor of --indices FILE.npy for a task, in its op's dtype.
Status read_indices(TuningTask& task, int64_t max_bytes) {
  if (task.usage.indices.kind != Distribution::Kind::file) return {};
  constexpr int64_t kMostBytes = int64_t{1} << 32;
  STREW_ASSIGN(Tensor tensor,
               read_npy(task.usage.indices.file, indices_of(task.op).dtype, max_bytes > 0 ? max_bytes : kMostBytes));
  task.usage.index_tensor = std::make_shared<const Tensor>(std::move(tensor));
  return {};
}

Expected<std::vector<TuningTask>> all_tasks(const Options& options) {
  KnownUsage known = known_usage(options);
  STREW_ASSIGN(known.dims, parse_dims(options.tune.dims));
  std::vector<TuningTask> all;
  for (const std::string& file : options.tune.files) {
    if (is_recording(file)) {
      STREW_ASSIGN(RecordedTasks recorded, read_recording(file, known));
      for (const std::string& problem : recorded.problems) warn(problem + "; it is left out");
      std::move(recorded.tasks.begin(), recorded.tasks.end(), std::back_inserter(all));
      continue;
    }
    STREW_ASSIGN(const Program imported, import_file(file, options.import));
    Expected<std::vector<TuningTask>> tasks = tuning_tasks(imported, options.kernel_name, known);
    if (!tasks.ok()) return tasks.status().with_prefix(file);
    for (TuningTask& task : *tasks) {
      STREW_TRY(read_indices(task, options.import.max_file_bytes));
      if (options.tune.files.size() > 1) task.name = file + ": " + task.name;
      all.push_back(std::move(task));
    }
  }
  return all;
}

TunerSettings settings_of(const Options& options) {
  TunerSettings out;
  const auto mode = std::find(std::begin(kSearchModes), std::end(kSearchModes), options.tune.mode);
  out.mode = static_cast<SearchMode>(mode - std::begin(kSearchModes));
  out.seed = options.tune.seed;
  out.budget_seconds = options.tune.budget_seconds;
  out.isolate = options.tune.isolate;
  out.timings_file = options.tune.timings;
  if (options.wisdom.file != "off") out.wisdom_file = options.wisdom.file.empty() ? wisdom_path() : options.wisdom.file;
  out.stop = is_interrupted;
  return out;
}

/// Opens the report before anything is measured, so that a bad path costs no time.
Expected<std::optional<PendingFile>> open_report(const std::string& path) {
  if (path.empty()) return std::optional<PendingFile>();
  STREW_ASSIGN(PendingFile file, PendingFile::create(path));
  return std::optional<PendingFile>(std::move(file));
}

Status write_report(PendingFile& file, const TuningResult& result) {
  STREW_TRY(file.write(html_report(result)));
  return file.commit();
}

/// Exit status 1 if nothing could be tuned.
Status failures_of(const TuningResult& result) {
  for (const TunedOp& op : result.ops)
    if (op.failure.empty()) return {};
  return result.ops.empty() ? Status() : unsupported(result.ops[0].name + ": " + result.ops[0].failure);
}

}  // namespace

int tune(const Options& options) {
  const Expected<std::vector<TuningTask>> tasks = all_tasks(options);
  if (!tasks.ok()) return fail(tasks.status());
  Expected<std::optional<PendingFile>> report = open_report(options.tune.report);
  if (!report.ok()) return fail(report.status());
  TunerSettings settings = settings_of(options);
  TuningProgressBar bar;
  settings.on_progress = [&](const TuningProgress& progress) { bar.show(progress); };
  stop_at_interrupt();
  const Expected<TuningResult> result = strew::tune(*tasks, settings);
  bar.clear();
  if (!result.ok()) return fail(result.status());
  for (const std::string& problem : result->problems) warn(problem);
  if (is_interrupted()) warn("stopped; what was measured is kept");
  if (report->has_value())
    if (const Status status = write_report(**report, *result); !status.ok()) return fail(status);
  if (const Status status = failures_of(*result); !status.ok()) return fail(status);
  return fail(print_out(options.json ? tuning_json(*result) : tuning_text(*result)));
}

}  // namespace strew::cli
