// Random: pseudo-random numbers from a seed (splitmix64), the same on every machine.
#pragma once

#include <cstdint>

namespace strew::inline v0::pto {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 to end - 1.
  uint64_t below(uint64_t end) { return next() % end; }

 private:
  uint64_t state_;
};

}  // namespace strew::inline v0::pto
