// Random: the tuner's random numbers, splitmix64: the same for a seed on every machine, which the standard library's are not.
#pragma once

#include <cstdint>

namespace strew::inline v0 {

/// Mixes the bits of a number, so that neighbouring numbers give unrelated ones.
constexpr uint64_t mixed(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
  /// In [0, n); n > 0.
  int64_t below(int64_t n) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<int64_t>((static_cast<Wide>(next()) * static_cast<uint64_t>(n)) >> 64);
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< in [0, 1)

 private:
  uint64_t state_;
};

}  // namespace strew::inline v0
