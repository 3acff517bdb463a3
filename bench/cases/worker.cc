// The protocol is that of the Python workers: prepare a case (check every variant, time it once), measure for a budget of seconds, as
// often as asked, finish with each variant's median and minimum. Variants far behind the best are dropped after prepare, as there. The
// data are not sent: the same program wrote them for the other peers.
#include "bench/cases/worker.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "bench/measure.h"

namespace strew::bench {
namespace {

using Json = nlohmann::json;

struct Variant {
  Way way;
  int64_t calls = 1;
  double estimate = 0;
  std::vector<double> samples = {}, disturbed = {};  ///< taken while our threads had the cores; while they waited for them
};

class Service {
 public:
  explicit Service(const Worker& worker) : worker_(worker) {}

  Json answer(const Json& request) {
    const std::string command = request.at("cmd");
    worker_.wake();
    Json reply = command == "prepare"   ? prepare(request.at("case").at("name"))
                 : command == "measure" ? measure(request.at("budget"))
                                        : finish();
    worker_.sleep();
    return reply;
  }

 private:
  Json prepare(const std::string& name) {
    variants_.clear();
    Expected<Prepared> prepared = worker_.prepare(name);
    if (!prepared.ok()) return {{"error", prepared.status().message()}};
    worker_.wake();  // checking put it to sleep
    Json list = Json::array();
    for (Way& way : prepared->ways) {
      Variant& v = variants_.emplace_back(Variant{std::move(way)});
      v.way.run(1);
      v.estimate = std::min(nanoseconds(v.way.run, 1), nanoseconds(v.way.run, prepared->sets));
      list.push_back({{"variant", v.way.name}, {"ns", v.estimate}, {"mismatch", 0}});
    }
    keep_fastest();
    return {{"variants", list}, {"errors", Json::array()}};
  }

  void keep_fastest() {
    double best = 1e18;
    for (const Variant& v : variants_) best = std::min(best, v.estimate);
    std::erase_if(variants_, [best](const Variant& v) { return v.estimate > 2.5 * best; });
  }

  Json measure(double budget) {
    for (Variant& v : variants_) {
      v.estimate = std::min(v.estimate, nanoseconds(v.way.run, v.calls));
      v.calls = std::clamp<int64_t>(static_cast<int64_t>(2e6 / v.estimate), 1, 100'000);
      const double share = budget * 1e9 / static_cast<double>(variants_.size());
      size_t clean = 0;
      for (double spent = 0; spent < share || (clean == 0 && spent < 5 * share);) {
        const double waited = waited_nanoseconds(), each = nanoseconds(v.way.run, v.calls),
                     all = each * static_cast<double>(v.calls);
        const bool quiet = waited_nanoseconds() - waited < 0.01 * all + 5000;
        (quiet ? v.samples : v.disturbed).push_back(each);
        clean += quiet ? 1 : 0;
        spent += all;
      }
    }
    return {{"ok", 1}};
  }

  Json finish() {
    Json results = Json::array();
    for (Variant& v : variants_) {
      const bool few = v.samples.size() < 3;
      if (few) v.samples.insert(v.samples.end(), v.disturbed.begin(), v.disturbed.end());
      results.push_back({{"variant", v.way.name},
                         {"note", ""},
                         {"mismatch", 0},
                         {"first_call_s", 0},
                         {"min", quantile(v.samples, 0)},
                         {"median", median(v.samples)},
                         {"samples", v.samples.size()},
                         {"disturbed", few ? v.disturbed.size() : 0}});
    }
    variants_.clear();
    worker_.finish();
    return {{"results", results}};
  }

  const Worker& worker_;
  std::vector<Variant> variants_;
};

}  // namespace

int serve(const Worker& worker) {
  Service service(worker);
  std::cout << Json{{"version", worker.name}} << std::endl;
  for (std::string line; std::getline(std::cin, line);) std::cout << service.answer(Json::parse(line)) << std::endl;
  return any_failed() ? 1 : 0;
}

}  // namespace strew::bench
