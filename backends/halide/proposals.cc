// See proposals.h. An autoscheduler gets the pipeline with estimates of its sizes, and answers with C++ source. Of that, only the directives
// for the update of the result count: how many elements a vector has, and how often a loop is unrolled. The rest cannot be used: copies of
// the inputs that need memory, loops over threads, tails that are shifted inwards and would apply a combiner twice.
//
// Mullapudi2016 and Li2018 vectorise the update; Adams2019 leaves it as it is, today. Anderson2021 is for GPUs. The autoschedulers are plugins
// that lie beside libHalide; where one is missing, it proposes nothing. Tested by tests/unit/backends/halide/halide_test.cc.
#include "backends/halide/proposals.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "backends/halide/pipeline.h"
#include "backends/halide/schedule.h"
#include "base/log.h"

namespace strew::inline v0 {
namespace {

struct Autoscheduler {
  const char *name, *file;
};
constexpr Autoscheduler kAutoschedulers[] = {{"Mullapudi2016", "libautoschedule_mullapudi2016.so"},
                                             {"Li2018", "libautoschedule_li2018.so"},
                                             {"Adams2019", "libautoschedule_adams2019.so"}};

/// Those whose plugins could be loaded. Loading is done once.
const std::vector<const Autoscheduler*>& loaded() {
  static const auto& all = *new const std::vector<const Autoscheduler*>([] {
    std::vector<const Autoscheduler*> found;
    Dl_info halide;
    if (dladdr(reinterpret_cast<void*>(&Halide::load_plugin), &halide) == 0) return found;
    const std::filesystem::path folder = std::filesystem::path(halide.dli_fname).parent_path();
    for (const Autoscheduler& each : kAutoschedulers) {
      if (!std::filesystem::exists(folder / each.file)) continue;
      Halide::load_plugin((folder / each.file).string());
      found.push_back(&each);
    }
    return found;
  }());
  return all;
}

/// What autoschedulers are told of sizes that only the call knows: index positions, rows of a table, and an open extent of the window.
constexpr int kPositions = 4096, kRows = 65536, kExtent = 64;

Halide::Region estimates(const SignatureBuffer& buffer, const BodySignature& signature, const Plan& plan) {
  Halide::Region region;
  for (const SignatureDim& dim : buffer.dims) {
    int64_t extent = dim.walks == SignatureDim::Walks::position ? kPositions : kRows;
    if (dim.walks == SignatureDim::Walks::window) {
      const auto loop = static_cast<size_t>(dim.loop);
      extent = signature.fixed[loop] ? plan.window[loop].extent.factor : kExtent;
    }
    region.emplace_back(0, static_cast<int32_t>(extent));
  }
  return region;
}

void set_estimates(HalidePipeline& pipeline, const Plan& plan, const BodySignature& signature) {
  for (Halide::Param<int32_t>& number : pipeline.numbers) number.set_estimate(number.name() == "count" ? kPositions : kExtent);
  if (pipeline.list.defined()) pipeline.list.set_estimates({{0, 2}, {0, kPositions}});
  for (size_t i = 0; i < pipeline.inputs.size(); ++i)
    pipeline.inputs[i].set_estimates(estimates(signature.inputs[i], signature, plan));
  pipeline.apply.set_estimates(estimates(signature.results[0], signature, plan));
}

/// "split(x, outer, inner, 8" and "vectorize(inner" or "unroll(inner" of the update, in any of the autoschedulers' spellings.
struct Directives {
  std::optional<int> lanes, unroll;
};
Directives directives_of(const std::string& source) {
  Directives out;
  const size_t begin = source.find("update(0)\n");
  if (begin == std::string::npos) return out;
  const std::string update = source.substr(begin, source.find(';', begin) - begin);
  static const auto& split = *new const std::regex(R"(\.split\(([^,]+), *([^,]+), *([^,]+), *([0-9]+))");
  static const auto& use = *new const std::regex(R"(\.(vectorize|unroll)\(([^,)]+))");
  std::map<std::string, int> factors;
  for (std::sregex_iterator at(update.begin(), update.end(), split), end; at != end; ++at)
    factors[(*at)[3]] = std::stoi((*at)[4]);
  for (std::sregex_iterator at(update.begin(), update.end(), use), end; at != end; ++at) {
    const auto factor = factors.find((*at)[2]);
    if (factor != factors.end()) ((*at)[1] == "vectorize" ? out.lanes : out.unroll) = factor->second;
  }
  return out;
}

}  // namespace

std::vector<Schedule> proposed_schedules(const BuildRequest& request, const BodySignature& signature,
                                         const Halide::Target& target) {
  std::vector<Schedule> all;
  const auto is_packed = [](const SignatureBuffer& buffer) { return buffer.packed; };
  if (std::any_of(signature.inputs.begin(), signature.inputs.end(), is_packed) ||
      std::any_of(signature.results.begin(), signature.results.end(), is_packed))
    return all;  // vectors of part of a byte: this backend makes none
  for (const Autoscheduler* each : loaded()) {
    HalidePipeline pipeline = make_pipeline(request, signature);
    set_estimates(pipeline, request.plan, signature);
    Directives directives;
    try {
      const Halide::AutoSchedulerResults results =
          Halide::Pipeline(pipeline.apply)
              .apply_autoscheduler(target, Halide::AutoschedulerParams(each->name, {{"parallelism", "1"}}));
      directives = directives_of(results.schedule_source);
    } catch (const Halide::Error& error) {
      log(LogLevel::compile, request.symbol + ": " + each->name + " proposes nothing: " + error.what());
      continue;
    }
    Schedule schedule = request.schedule;
    if (directives.lanes) schedule.vector_bytes = *directives.lanes * widest_bits(request, signature) / 8;
    if (directives.unroll) schedule.unroll = *directives.unroll;
    if (schedule != request.schedule && std::find(all.begin(), all.end(), schedule) == all.end()) all.push_back(schedule);
  }
  return all;
}

}  // namespace strew::inline v0
