// Hand-written kernels for the suite's cases: what their author would write for this machine knowing the shapes, the limit that strew is
// measured against. Condensed from the prototypes that established the limits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/cases/data.h"
#include "bench/suite/hand_pool.h"

namespace strew::bench {

/// Where a way writes: the table (in place), a gather's output, or the copy of the table.
struct HandTarget {
  char* table;
  char* into;
  char* copy;
};

struct HandWay {
  std::string name;
  int threads = 1;
  std::function<void(int64_t first_set, int64_t calls)> run;
};

/// Every hand-written way for the case with exactly that many threads. All give the reference's bits on whole numbers.
std::vector<HandWay> hand_ways(const Data& data, const HandTarget& target, int threads);
/// Streaming copies (or adds) over as many bytes: a bound, not a way to do the work.
std::vector<HandWay> stream_ways(const Data& data, const HandTarget& target, int threads);
/// The same work by a loop whose ranks and strides are known at run time only (two-component cases).
HandWay run_time_strides(const Data& data, const HandTarget& target);

// One file per family.
void add_row_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways);
void add_element_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways);
void add_slab_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways);
void add_wide_ways(const Data& data, const HandTarget& target, int threads, std::vector<HandWay>& ways);

/// f(set) for each call, going round the sets.
template <class F>
HandWay hand_way(std::string name, int threads, int64_t sets, F f) {
  return {std::move(name), threads, [sets, f](int64_t first, int64_t calls) mutable {
            for (int64_t i = 0, set = first; i < calls; ++i, set = set + 1 == sets ? 0 : set + 1) f(set);
          }};
}

}  // namespace strew::bench
