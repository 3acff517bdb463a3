// See strew/wisdom.h and learned.h. Loading a file only finds out where the lines of each family are; the lines of a family are parsed when
// the first request for one of its ops comes. What they say is then summed up in groups, so that later look-ups compare a few numbers.
#include "strew/wisdom.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/machine_costs.h"
#include "schedules/costs/workload.h"
#include "schedules/schedule.h"
#include "schedules/wisdom/learned.h"
#include "schedules/wisdom/wisdom_file.h"

namespace strew::inline v0 {
namespace {

/// A schedule is worth more than the default if it takes at most this part of its time.
constexpr double kWorthAnEntry = 0.97;

/// What was measured of one op with one shape, on one machine, with one number of threads.
struct Group {
  std::string op, machine, features, date;
  std::array<double, 4> size{};  ///< as size_of() makes it
  int threads = 1;
  size_t workloads = 0;
  std::vector<WisdomAnswer::Choice> choices;
};

/// The point whose distance from another one, along the axes, is the number of doublings between two shapes.
std::array<double, 4> size_of(const ShapeFeatures& shape, int threads) {
  const auto log = [](double value) { return std::log2(std::max(value, 1e-3)); };
  return {log(shape.positions), log(shape.window_bytes), log(shape.table_bytes), log(threads)};
}

/// What a search for the nearest group compares: groups are large, and a family may have thousands.
struct Point {
  std::array<double, 4> size;
  size_t group;  ///< number in Family::groups
};

struct Family {
  std::vector<std::string_view> lines;
  bool is_summed_up = false;
  std::vector<Group> groups;                     ///< one per shape
  std::vector<Point> points;                     ///< of the groups, in the order of the number of their sizes that differs most
  size_t axis = 0;                               ///< which number that is
  std::unordered_map<std::string, Group> exact;  ///< by exact_key(), over all shapes of an op
};

std::string exact_key(const std::string& op, const std::string& machine, const std::string& features, int threads) {
  return op + '\n' + machine + '\n' + features + '\n' + std::to_string(threads);
}

/// The candidates of several workloads, the best first: see learned.h.
std::vector<WisdomAnswer::Choice> ranked(const std::vector<const WisdomRecord*>& records, size_t& workloads) {
  std::map<std::string, const WisdomRecord*> standards;  // of each workload
  const auto workload_of = [](const WisdomRecord& r) {
    std::string key = r.indices + '\n' + r.temperature;
    for (const auto& [name, extent] : r.dims) key += '\n' + name + '=' + std::to_string(extent);
    return key;
  };
  for (const WisdomRecord* r : records)
    if (r->is_default) standards[workload_of(*r)] = r;
  workloads = standards.size();
  if (workloads == 0) return {};
  std::map<std::pair<std::string, std::string>, double> logs;  // of backend and schedule: sum of log(ratio)
  std::map<std::pair<std::string, std::string>, bool> is_sure;
  for (const WisdomRecord* r : records) {
    if (r->is_default || !standards.contains(workload_of(*r))) continue;
    logs[{r->backend, r->schedule}] += std::log(std::max(r->ratio, 1e-9));
    is_sure[{r->backend, r->schedule}] |= r->ratio_high < 1;
  }
  std::vector<WisdomAnswer::Choice> out;
  for (const auto& [candidate, sum] : logs) {
    const double ratio = std::exp(sum / static_cast<double>(workloads));
    if (ratio < kWorthAnEntry && is_sure[candidate]) out.push_back({candidate.first, candidate.second, ratio, false});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  const WisdomRecord& standard = *standards.begin()->second;
  out.push_back({standard.backend, standard.schedule, 1, true});
  return out;
}

Group summed_up(const std::vector<const WisdomRecord*>& records) {
  const WisdomRecord& first = *records[0];
  Group out{first.op, first.machine, first.features, first.date, size_of(first.shape, first.threads), first.threads, 0, {}};
  for (const WisdomRecord* each : records) out.date = std::max(out.date, each->date);
  out.choices = ranked(records, out.workloads);
  return out;
}

double distance(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

std::string source_of(const char* step, const Group& group, double far) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f doublings away, ", far);
  return std::string(step) + ": " + (far > 0 ? text : "") + std::to_string(group.workloads) +
         (group.workloads == 1 ? " workload" : " workloads") + " measured on " + group.machine + " with " +
         std::to_string(group.threads) + (group.threads == 1 ? " thread, " : " threads, ") + group.date;
}

}  // namespace

struct Wisdom::Impl {
  std::string path, text;
  mutable std::mutex mutex;
  mutable std::unordered_map<std::string, Family> families;
  mutable std::vector<std::string> problems;

  void index();
  void sum_up(Family& family) const;
};

struct WisdomAccess {
  static const Wisdom::Impl& of(const Wisdom& wisdom) { return *wisdom.impl_; }
  static std::shared_ptr<const Wisdom> make(std::unique_ptr<Wisdom::Impl> impl) {
    return std::shared_ptr<const Wisdom>(new Wisdom(std::move(impl)));
  }
};

void Wisdom::Impl::index() {
  std::string_view left = text;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.empty()) continue;
    std::string family(family_of_line(line));
    if (family.empty()) {
      // Another program wrote it, perhaps with the members in another order.
      Expected<WisdomRecord> record = parse_wisdom_record(line);
      if (!record.ok()) {
        problems.push_back(path + ": " + record.status().message());
        continue;
      }
      family = record->family;
    }
    families[family].lines.push_back(line);
  }
}

void Wisdom::Impl::sum_up(Family& family) const {
  family.is_summed_up = true;
  std::vector<WisdomRecord> records;
  for (const std::string_view line : family.lines) {
    if (line.find("\"confirmed\":false,") != std::string_view::npos) continue;  // it decides nothing
    Expected<WisdomRecord> record = parse_wisdom_record(line);
    if (!record.ok()) {
      problems.push_back(path + ": " + record.status().message());
      log(LogLevel::warn, problems.back() + "; the record is left out");
    } else if (record->is_confirmed) {  // other spaces than print() writes may have hidden that it is not
      records.push_back(std::move(*record));
    }
  }
  records = latest(std::move(records));
  std::map<std::pair<std::string, std::map<std::string, int64_t>>, std::vector<const WisdomRecord*>> by_shape;
  std::map<std::string, std::vector<const WisdomRecord*>> by_op;
  for (const WisdomRecord& record : records) {
    const std::string key = exact_key(record.op, record.machine, record.features, record.threads);
    by_shape[{key, record.dims}].push_back(&record);
    by_op[key].push_back(&record);
  }
  for (const auto& [key, of_shape] : by_shape)
    if (Group group = summed_up(of_shape); !group.choices.empty()) family.groups.push_back(std::move(group));
  for (const Group& group : family.groups) family.points.push_back({group.size, family.points.size()});
  double widest = -1;
  for (size_t axis = 0; axis < 4 && !family.points.empty(); ++axis) {
    const auto less = [axis](const Point& a, const Point& b) { return a.size[axis] < b.size[axis]; };
    const auto [least, most] = std::minmax_element(family.points.begin(), family.points.end(), less);
    const double width = most->size[axis] - least->size[axis];
    if (width > widest) family.axis = axis;
    widest = std::max(widest, width);
  }
  std::stable_sort(family.points.begin(), family.points.end(),
                   [axis = family.axis](const Point& a, const Point& b) { return a.size[axis] < b.size[axis]; });
  for (const auto& [key, of_op] : by_op)
    if (Group group = summed_up(of_op); !group.choices.empty()) family.exact.emplace(key, std::move(group));
}

Wisdom::Wisdom(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Wisdom::~Wisdom() = default;

Expected<std::shared_ptr<const Wisdom>> Wisdom::load(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  STREW_ASSIGN(impl->text, read_file(path, kMostWisdomBytes));
  impl->index();
  if (!impl->problems.empty())
    log_or_keep_warning(impl->problems[0] + "; " + std::to_string(impl->problems.size()) +
                        (impl->problems.size() == 1 ? " line is" : " lines are") + " left out");
  return WisdomAccess::make(std::move(impl));
}

const std::shared_ptr<const Wisdom>& Wisdom::shared(bool of_process) {
  static const auto& empty = *new std::shared_ptr<const Wisdom>(WisdomAccess::make(std::make_unique<Impl>()));
  if (!of_process) return empty;
  static const auto& loaded = *new std::shared_ptr<const Wisdom>([] {
    const std::string path = wisdom_path();
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return empty;
    Expected<std::shared_ptr<const Wisdom>> wisdom = load(path);
    if (wisdom.ok()) return *wisdom;
    log_or_keep_warning(wisdom.status().message() + "; schedules are chosen without wisdom");
    return empty;
  }());
  return loaded;
}

namespace {

struct Nearest {
  const Group* group = nullptr;
  double distance = kMostDoublings;
};
struct NearestGroups {
  Nearest here, elsewhere;  ///< measured on the question's machine; on others
};

/// The search begins at the points that are next to the question's along the family's axis and goes on in both directions until the distance
/// along that axis alone is too far. Of two that are as near, the later one counts. Other machines count only if this one has no group.
NearestGroups nearest(const Family& family, const WisdomQuestion& question) {
  NearestGroups out;
  const std::array<double, 4> size = size_of(question.shape, question.threads);
  const auto most = [&] {
    return out.here.group != nullptr ? out.here.distance : std::max(out.here.distance, out.elsewhere.distance);
  };
  const auto look = [&](const Point& point) {
    const double far = question.is_open ? std::abs(size[3] - point.size[3]) : distance(size, point.size);
    if (far > most()) return;
    const Group& group = family.groups[point.group];
    if (group.features != question.features || (question.is_open && group.op != question.op)) return;
    Nearest& least = group.machine == question.machine ? out.here : out.elsewhere;
    if (far < least.distance || (far == least.distance && (least.group == nullptr || least.group < &group)))
      least = {&group, far};
  };
  if (question.is_open) {  // its counts are not known, so every shape of the op is as near
    for (const Point& point : family.points) look(point);
    return out;
  }
  const double here = size[family.axis];
  const auto is_near = [&](const Point& point) { return std::abs(here - point.size[family.axis]) <= most(); };
  const auto middle = std::lower_bound(family.points.begin(), family.points.end(), here,
                                       [&](const Point& point, double value) { return point.size[family.axis] < value; });
  for (auto at = middle; at != family.points.end() && is_near(*at); ++at) look(*at);
  for (auto at = middle; at != family.points.begin() && is_near(*(at - 1)); --at) look(*(at - 1));
  return out;
}

}  // namespace

WisdomAnswer look_up(const Wisdom& wisdom, const WisdomQuestion& question) {
  const auto& impl = WisdomAccess::of(wisdom);
  const std::lock_guard lock(impl.mutex);
  const auto found = impl.families.find(question.family);
  if (found == impl.families.end()) return {};
  Family& family = found->second;
  if (!family.is_summed_up) impl.sum_up(family);
  if (!question.machine.empty()) {
    const auto exact = family.exact.find(exact_key(question.op, question.machine, question.features, question.threads));
    if (exact != family.exact.end()) return {WisdomStep::exact, exact->second.choices, source_of("exact", exact->second, 0)};
  }
  const auto [near, other] = nearest(family, question);
  if (near.group != nullptr)
    return {WisdomStep::nearest_shape, near.group->choices, source_of("nearest shape", *near.group, near.distance)};
  if (other.group != nullptr)
    return {WisdomStep::other_machine, other.group->choices, source_of("other machine", *other.group, other.distance)};
  return {};
}

std::vector<std::string> problems_of(const Wisdom& wisdom) {
  const auto& impl = WisdomAccess::of(wisdom);
  const std::lock_guard lock(impl.mutex);
  return impl.problems;
}

// ---- What wisdom says about a plan.

namespace {

/// Ok if the plan may take the strategy and has the bits of the default then: of those, the heuristic has candidates.
Status may_take(const Schedule& schedule, const Plan& plan, const Target& target, int threads, const Schedule& chosen) {
  STREW_TRY(check_schedule(schedule, plan, target));
  if (schedule.strategy == chosen.strategy) return {};
  const std::vector<Schedule> candidates = default_candidates(plan, target, std::max(threads, 2));
  const bool is_candidate =
      std::any_of(candidates.begin(), candidates.end(), [&](const Schedule& each) { return each.strategy == schedule.strategy; });
  if (is_candidate) return {};
  return unsupported("strategy " + std::string(name(schedule.strategy)) + " would give other bits than the default");
}

/// The schedule of a record in the place of `chosen`. The number of private tables may decide bits, and `checked` is no matter of speed;
/// which strategies a kernel with open extents can run is for its calls to choose from.
Expected<Schedule> adopt(const std::string& text, bool is_open, const Schedule& chosen) {
  STREW_ASSIGN(Schedule schedule, parse_schedule(text, chosen));
  schedule.tables = chosen.tables;
  schedule.checked = chosen.checked;
  if (is_open && chosen.adapts) {
    schedule.strategy = chosen.strategy;
    schedule.adapts = true;
  }
  return schedule;
}

}  // namespace

ShapeFeatures shape_features(const Plan& plan) {
  const Workload work = workload_of(plan);
  return {work.positions, work.window_bytes, work.table_bytes};
}

Learned learn(const Wisdom& wisdom, const VerifiedOp& identity, const std::string& identity_text, const Plan& plan,
              const Target& target, int threads, const Schedule& chosen) {
  if (&wisdom == Wisdom::none().get()) return {};
  // Only `native` has costs of this machine; a kernel for a named target must not depend on who builds it.
  const bool is_this_machine = target.costs.source != CostsSource::nominal;
  const bool is_open = has_open_extents(plan);
  const WisdomQuestion question{
      family_of(identity), identity_text, shape_features(plan), is_open, threads, is_this_machine ? machine_key(machine()) : "",
      features_key(target)};
  const WisdomAnswer answer = look_up(wisdom, question);
  if (answer.step == WisdomStep::none)
    return {std::nullopt, "", "no record of this op or a near one for " + question.features + "; the cost model decides"};
  Learned out;
  out.from = answer.from;
  for (const WisdomAnswer::Choice& choice : answer.choices) {
    const Expected<Schedule> schedule = adopt(choice.schedule, is_open, chosen);
    const Status status = schedule.ok() ? may_take(*schedule, plan, target, threads, chosen) : schedule.status();
    if (status.ok()) {
      out.schedule = *schedule;
      out.backend = choice.backend;
      return out;
    }
    out.from += "; a record is left out: " + status.message();
    log(LogLevel::compile, "wisdom: " + choice.schedule + " is left out: " + status.message());
  }
  return out;
}

}  // namespace strew::inline v0
