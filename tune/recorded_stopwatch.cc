// See recorded_stopwatch.h.
#include "tune/recorded_stopwatch.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "strew/text.h"

namespace strew::inline v0 {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRecordFormat = 1;

std::string line_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The member, or why there is none of that type.
template <class T>
Expected<T> member(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) return invalid_argument(std::string(name) + " is missing");
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    return invalid_argument(std::string(name) + " is " + found->dump() + ", expected another type");
  }
}

Status read_run(const Json& json, RecordedRun& run) {
  STREW_ASSIGN(const int format, member<int>(json, "format"));
  if (format != kRecordFormat)
    return invalid_argument("format is " + std::to_string(format) + ", expected " + std::to_string(kRecordFormat));
  STREW_ASSIGN(run.mode, member<std::string>(json, "mode"));
  STREW_ASSIGN(run.seed, member<uint64_t>(json, "seed"));
  STREW_ASSIGN(run.budget_seconds, member<double>(json, "budget_seconds"));
  return {};
}

Status read_op(const Json& json, RecordedRun& run) {
  STREW_ASSIGN(const std::string text, member<std::string>(json, "op"));
  STREW_ASSIGN(Op parsed, parse_op(text));
  STREW_ASSIGN(VerifiedOp op, VerifiedOp::of(std::move(parsed)));
  STREW_ASSIGN(const std::string name, member<std::string>(json, "name"));
  KnownUsage known;
  STREW_ASSIGN(known.indices, member<std::string>(json, "indices"));
  STREW_ASSIGN(known.dims, (member<std::map<std::string, int64_t>>(json, "dims")));
  STREW_ASSIGN(known.temperature, member<std::string>(json, "temperature"));
  STREW_ASSIGN(known.threads, member<int>(json, "threads"));
  STREW_ASSIGN(known.calls, member<int64_t>(json, "calls"));
  STREW_ASSIGN(InventedUsage usage, invent_usage(op, known));
  run.ops.push_back({TuningTask{name, std::move(op), std::move(usage.usage), {}}, {}, {}});
  return {};
}

Status read_facts(const Json& json, RecordedTimings& op) {
  STREW_ASSIGN(op.facts.data_bytes, member<int64_t>(json, "data_bytes"));
  STREW_ASSIGN(op.facts.bytes_moved, member<int64_t>(json, "bytes_moved"));
  STREW_ASSIGN(op.facts.memcpy_ns, member<double>(json, "memcpy_ns"));
  return {};
}

Status read_answer(const Json& json, RecordedRun& run) {
  STREW_ASSIGN(const size_t number, member<size_t>(json, "number"));
  if (number >= run.ops.size())
    return invalid_argument("number is " + std::to_string(number) + ", expected less than " + std::to_string(run.ops.size()));
  if (json.contains("memcpy_ns")) return read_facts(json, run.ops[number]);
  STREW_ASSIGN(const std::string variant, member<std::string>(json, "variant"));
  STREW_ASSIGN(const double took, member<double>(json, "seconds"));
  RecordedTimings::Answers& answers = run.ops[number].answers[variant];
  if (json.contains("nanoseconds")) {
    STREW_ASSIGN(const double nanoseconds, member<double>(json, "nanoseconds"));
    if (!(nanoseconds > 0)) return invalid_argument("nanoseconds is " + std::to_string(nanoseconds) + ", expected more than 0");
    answers.samples.push_back(nanoseconds);
    answers.sample_seconds.push_back(took);
    return {};
  }
  answers.is_prepared = true;
  answers.prepare_seconds = took;
  STREW_ASSIGN(answers.failure, member<std::string>(json, "failure"));
  return {};
}

Status read_line(const std::string& line, RecordedRun& run) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return invalid_argument("it is no JSON object");
  if (json.contains("format")) return read_run(json, run);
  return json.contains("op") ? read_op(json, run) : read_answer(json, run);
}

}  // namespace

Expected<std::shared_ptr<TimingsFile>> TimingsFile::create(const std::string& path, const std::string& mode, uint64_t seed,
                                                           double budget_seconds) {
  auto file = std::make_shared<TimingsFile>();
  file->path_ = path;
  file->out_.open(path, std::ios::trunc);
  if (!file->out_) return Status(Code::io, path + ": cannot write timings there, expected a file that can be written");
  file->write(line_of({{"format", kRecordFormat}, {"mode", mode}, {"seed", seed}, {"budget_seconds", budget_seconds}}));
  return file;
}

Status TimingsFile::close() {
  out_.close();
  return out_ ? Status() : Status(Code::io, path_ + ": cannot write all timings there");
}

RecordingStopwatch::RecordingStopwatch(std::unique_ptr<Stopwatch> from, std::shared_ptr<TimingsFile> file, const TuningTask& task,
                                       size_t number)
    : from_(std::move(from)), file_(std::move(file)), number_(number) {
  const Usage& usage = task.usage;
  file_->write(line_of({{"number", number},
                        {"name", task.name},
                        {"op", print(*task.op)},
                        {"dims", usage.dims},
                        {"indices", print_indices(usage)},
                        {"temperature", name(usage.temperature)},
                        {"threads", usage.threads},
                        {"calls", usage.calls}}));
}

Status RecordingStopwatch::prepare(const Variant& variant) {
  const double begin = from_->seconds();
  Status status = from_->prepare(variant);
  file_->write(line_of({{"number", number_},
                        {"variant", print(variant)},
                        {"failure", status.ok() ? "" : status.message()},
                        {"seconds", from_->seconds() - begin}}));
  return status;
}

double RecordingStopwatch::sample(const Variant& variant) {
  const double begin = from_->seconds(), nanoseconds = from_->sample(variant);
  file_->write(line_of(
      {{"number", number_}, {"variant", print(variant)}, {"nanoseconds", nanoseconds}, {"seconds", from_->seconds() - begin}}));
  return nanoseconds;
}

CallFacts RecordingStopwatch::facts() {
  const CallFacts facts = from_->facts();
  file_->write(line_of({{"number", number_},
                        {"data_bytes", facts.data_bytes},
                        {"bytes_moved", facts.bytes_moved},
                        {"memcpy_ns", facts.memcpy_ns}}));
  return facts;
}

Expected<RecordedRun> read_timings(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Status(Code::io, path + ": cannot be read, expected a file that `strew tune --timings` wrote");
  RecordedRun run;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty()) continue;
    if (const Status status = read_line(line, run); !status.ok())
      run.problems.push_back("line " + std::to_string(number) + ": " + status.message());
  }
  if (run.ops.empty())
    return invalid_argument(path + ": it has no timings of an op" + (run.problems.empty() ? "" : "; " + run.problems.front()));
  return run;
}

Status RecordedStopwatch::prepare(const Variant& variant) {
  const auto found = timings_->answers.find(print(variant));
  if (found == timings_->answers.end()) return unsupported("its times were not recorded");
  if (next_.contains(print(variant))) return {};
  *clock_ += found->second.prepare_seconds;
  if (!found->second.failure.empty()) return unsupported(found->second.failure);
  if (found->second.samples.empty()) return unsupported("its times were not recorded");
  next_[print(variant)] = 0;
  return {};
}

double RecordedStopwatch::sample(const Variant& variant) {
  const RecordedTimings::Answers& answers = timings_->answers.at(print(variant));
  size_t& next = next_[print(variant)];
  const size_t at = next++ % answers.samples.size();
  *clock_ += answers.sample_seconds[at];
  return answers.samples[at];
}

}  // namespace strew::inline v0
