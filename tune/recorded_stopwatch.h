// Timings: what a stopwatch told, as lines of JSON, from which another stopwatch tells the same again. So the decisions of a tuning run
// can be repeated without the machine that it ran on: `strew tune --timings FILE` writes them, `strew wisdom replay FILE` decides anew,
// and the tests of the search write such files by hand.
//
// The first line of an op has its text, name and usage; each further line is an answer: a variant that was prepared, with the reason
// if that failed, or a sample, with its nanoseconds; `at` is the second of the answer. Tested by tests/unit/tune/search_test.cc.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tune/stopwatch.h"
#include "tune/tuning_task.h"

namespace strew::inline v0 {

/// Where the timings of a tuning run are written.
class TimingsFile {
 public:
  /// Replaces the file.
  static Expected<std::shared_ptr<TimingsFile>> create(const std::string& path, const std::string& mode, uint64_t seed,
                                                       double budget_seconds);
  void write(const std::string& line) { out_ << line << '\n'; }
  /// Fails if something could not be written.
  Status close();

 private:
  std::string path_;
  std::ofstream out_;
};

/// Tells what another stopwatch tells, and writes it down.
class RecordingStopwatch final : public Stopwatch {
 public:
  RecordingStopwatch(std::unique_ptr<Stopwatch> from, std::shared_ptr<TimingsFile> file, const TuningTask& task, size_t number);
  Status prepare(const Variant& variant) override;
  double sample(const Variant& variant) override;
  Status relocate() override { return from_->relocate(); }
  void drop(const Variant& variant) override { from_->drop(variant); }
  double seconds() override { return from_->seconds(); }
  double waited_seconds() override { return from_->waited_seconds(); }
  CallFacts facts() override;

 private:
  std::unique_ptr<Stopwatch> from_;
  std::shared_ptr<TimingsFile> file_;
  size_t number_;
};

/// The timings of one op.
struct RecordedTimings {
  struct Answers {
    bool is_prepared = false;
    std::string failure;          ///< of prepare()
    double prepare_seconds = 0;   ///< that it took
    std::vector<double> samples;  ///< nanoseconds
    std::vector<double> sample_seconds;
  };
  TuningTask task;
  CallFacts facts;
  std::map<std::string, Answers> answers;  ///< by print(Variant)
};
struct RecordedRun {
  std::string mode;
  uint64_t seed = 1;
  double budget_seconds = 0;
  std::vector<RecordedTimings> ops;
  std::vector<std::string> problems;  ///< lines that could not be read, with the reason
};
/// Reads a file of timings. Bad lines are left out and told in `problems`; fails if the file cannot be read or has no op.
Expected<RecordedRun> read_timings(const std::string& path);

/// Tells recorded answers: samples in their order, and from the first again when there are no more. A variant without timings cannot be
/// prepared. Its clock advances by what each answer took.
class RecordedStopwatch final : public Stopwatch {
 public:
  /// `clock`: seconds, shared by the stopwatches of all ops. Both must live as long.
  RecordedStopwatch(const RecordedTimings& timings, double& clock) : timings_(&timings), clock_(&clock) {}
  Status prepare(const Variant& variant) override;
  double sample(const Variant& variant) override;
  Status relocate() override { return {}; }
  void drop(const Variant&) override {}
  double seconds() override { return *clock_; }
  CallFacts facts() override { return timings_->facts; }

 private:
  const RecordedTimings* timings_;
  double* clock_;
  std::map<std::string, size_t> next_;  ///< sample of each variant
};

}  // namespace strew::inline v0
