// See worker.h. The threads of the hand-written kernels spin while they wait, so they sleep between requests.
#include "bench/suite/worker.h"

#include <algorithm>

#include "bench/cases/worker.h"
#include "bench/measure.h"
#include "bench/suite/work.h"

namespace strew::bench {
namespace {

Expected<Prepared> prepare(const std::string& name, bool is_strew, int threads) {
  const auto& cases = suite_cases();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const Case& c) { return c.name == name; });
  if (found == cases.end()) return Status(Code::invalid_argument, "no such case");
  Work& work = work_of(*found);
  if (!work.wrong.empty()) return Status(Code::internal, work.wrong);
  Prepared out{{}, found->sets};
  if (is_strew) {
    out.ways.push_back({"strew", strew_calls(work, work.kernel(threads))});
    return out;
  }
  for (HandWay& way : hand_ways(work.data, work.target(), threads)) {
    out.ways.push_back({way.name, [run = way.run, sets = found->sets, set = int64_t{0}](int64_t calls) mutable {
                          run(set, calls);
                          set = (set + calls) % sets;
                        }});
  }
  return out;
}

}  // namespace

int serve(const std::string& peer, int threads) {
  if ((peer != "strew" && peer != "hand") || threads < 1 || threads > 2) return 2;
  const bool is_strew = peer == "strew";
  Worker worker{peer, [=](const std::string& name) { return prepare(name, is_strew, threads); }};
  worker.sleep = [] { hand_pool().sleep(); };
  if (threads > 1 && !is_strew) worker.wake = [=] { hand_pool().wake(threads); };
  return serve(worker);
}

}  // namespace strew::bench
