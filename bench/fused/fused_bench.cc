// One pass instead of two: `./dev bench fused`. Messages along the edges of a graph, result[to[e]] += table[from[e]] * weight[e] for rows of 64 f32, as
// one op with a look-up (`one`), as a gather and a scatter of strew (`two`), and as hand-written loops in one pass (`hand`) and in two; pooled look-ups, 1,024
// bags of 32 rows of a table of 50,000; and dot products of rows along edges (dots.cc). x_limit is the time of `one` over that of `hand`, x_two that of `two`
// over that of `one`. T: threads; the hand-written loops have one. The results of all are compared, bit for bit, before they are timed.
//
//   bench_fused --cases=1                                                  the cases as JSON, for bench/peers
//   bench_fused --write=CASE --folder=DIR                                  a case's inputs, and the right result
//   bench_fused --worker=strew|hand --threads=N                            a worker of bench/peers
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "bench/cases/flags.h"
#include "bench/cases/worker.h"
#include "bench/fused/sorted_rows.h"
#include "bench/fused/work.h"
#include "bench/measure.h"

namespace strew::bench {
namespace {

const std::vector<Case>& all_cases() {
  static const std::vector<Case>& cases = *new const std::vector<Case>([] {
    std::vector<Case> all;
    for (const auto& list : {edge_cases(), bag_cases(), count_cases(), dot_cases()})
      all.insert(all.end(), list.begin(), list.end());
    return all;
  }());
  return cases;
}
const Case* find_case(const std::string& name) {
  const auto found = std::ranges::find(all_cases(), name, &Case::name);
  return found == all_cases().end() ? nullptr : &*found;
}

/// Fails if the ways give different bits.
Status compare(const Work& work, const std::vector<Way>& ways) {
  std::vector<std::byte> first;
  for (const Way& way : ways) {
    way.run(1);
    if (first.empty()) first.assign(work.result().begin(), work.result().end());
    if (!std::ranges::equal(first, work.result()))
      return {Code::internal, fmt::format("{} gives other bits than {}", way.name, ways[0].name)};
  }
  return {};
}

void run(benchmark::State& state, const Case& which, int threads) {
  const std::unique_ptr<Work> work = which.open();
  if (const Status status = work->make(threads); !status.ok()) return fail(state, status.message());
  std::vector<Way> ways = work->strew_ways();
  for (Way& way : work->hand_ways()) ways.push_back(std::move(way));
  if (const Status status = compare(*work, ways); !status.ok()) return fail(state, status.message());
  const Medians ns = take_turns(state, ways, 1);
  if (ways.size() > 2) state.counters["x_limit"] = ns[0] / ns[2];
  state.counters["x_two"] = ns[1] / ns[0];
  state.SetLabel(work->schedule());
}

int print_cases() {
  nlohmann::json all = nlohmann::json::array();
  for (const Case& each : all_cases()) {
    nlohmann::json facts = each.facts;
    facts["name"] = each.name;
    all.push_back(std::move(facts));
  }
  std::cout << all << '\n';
  return 0;
}

int write_case(const std::string& name, const std::string& folder) {
  const Case* const which = find_case(name);
  if (which == nullptr) {
    std::cerr << "bench_fused: no case '" << name << "'\n";
    return 2;
  }
  const std::unique_ptr<Work> work = which->open();
  std::vector<Way> ways = work->hand_ways();
  if (ways.empty()) {
    if (!work->make(1).ok()) return 1;
    ways = work->strew_ways();
  }
  ways[0].run(1);
  std::vector<Array> files = work->inputs();
  files.push_back({"result", work->result()});
  for (const Array& file : files) {
    std::ofstream out(folder + "/" + file.name + ".bin", std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.bytes.data()), static_cast<std::streamsize>(file.bytes.size()));
    if (out.flush()) continue;
    std::cerr << "bench_fused: cannot write " << folder << '\n';
    return 1;
  }
  return 0;
}

int serve(const std::string& peer, int threads) {
  if ((peer != "strew" && peer != "hand") || threads < 1 || threads > 2) return 2;
  std::unique_ptr<Work> work;
  Worker worker;
  worker.name = peer;
  worker.finish = [&] { work.reset(); };
  worker.prepare = [&](const std::string& name) -> Expected<Prepared> {
    const Case* const which = find_case(name);
    if (which == nullptr) return Status(Code::invalid_argument, "no such case");
    work = which->open();
    if (peer == "strew") STREW_TRY(work->make(threads));
    Prepared out{peer == "strew" ? work->strew_ways() : work->hand_ways()};
    STREW_TRY(compare(*work, out.ways));
    return out;
  };
  return serve(worker);
}

}  // namespace
}  // namespace strew::bench

int main(int argc, char** argv) {
  using namespace strew::bench;
  if (!take_flag(argc, argv, "cases").empty()) return print_cases();
  const int threads_of_worker = std::atoi(take_flag(argc, argv, "threads", "1").c_str());
  if (const std::string peer = take_flag(argc, argv, "worker"); !peer.empty()) return serve(peer, threads_of_worker);
  const std::string folder = take_flag(argc, argv, "folder", "."), wanted = take_flag(argc, argv, "write");
  if (!wanted.empty()) return write_case(wanted, folder);
  for (const Case& which : all_cases())
    for (const int threads : {1, 2}) {
      if (which.rounds == 0) continue;
      benchmark::RegisterBenchmark(fmt::format("{}/T:{}", which.name, threads).c_str(),
                                   [&which, threads](benchmark::State& state) { run(state, which, threads); })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Iterations(which.rounds);
    }
  register_sorted_rows();
  return run_all(argc, argv);
}
