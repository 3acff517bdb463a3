// Rng: the tests' random numbers. Small, seeded, and the same on every machine and library (std distributions are not), so that a
// printed seed replays everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strew::test {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}
  /// A stream of its own for item `index` of this seed.
  static Rng stream(uint64_t seed, uint64_t index) {
    Rng mix(seed ^ (index * 0x9e3779b97f4a7c15ull));
    mix.next();
    return Rng(mix.next() ^ index);
  }

  uint64_t next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// 0 <= result < n; n >= 1.
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  /// low <= result <= high.
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      const auto j = static_cast<size_t>(below(static_cast<int64_t>(i)));
      T other = items[i - 1];
      items[i - 1] = items[j];
      items[j] = other;
    }
  }

 private:
  uint64_t state_;
};

}  // namespace strew::test
