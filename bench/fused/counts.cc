// How often each number occurs, for bench/peers: strew's way is strew.bincount of its Python package.
#include <random>

#include "bench/fused/hand.h"
#include "bench/fused/work.h"

namespace strew::bench {
namespace {

constexpr int64_t kNumbers = int64_t{4} << 20, kPlaces = 65'536;

class Counts : public Work {
 public:
  Counts() : numbers_(static_cast<size_t>(kNumbers)), counts_(static_cast<size_t>(kPlaces)) {
    std::mt19937 random(1);
    for (int64_t& number : numbers_) number = static_cast<int64_t>(random() % kPlaces);
    numbers_[0] = kPlaces - 1;  // bincount makes as many places as the largest number needs
  }
  Status make(int /*threads*/) override { return {}; }
  std::vector<Way> strew_ways() override { return {}; }
  std::vector<Way> hand_ways() override {
    return {{"hand", [this](int64_t n) {
               for (int64_t i = 0; i < n; ++i) hand::counts(counts_.data(), kPlaces, numbers_.data(), kNumbers);
             }}};
  }
  std::vector<Array> inputs() const override { return {array("numbers", numbers_)}; }
  std::span<const std::byte> result() const override { return std::as_bytes(std::span(counts_)); }
  std::string schedule() const override { return ""; }

 private:
  std::vector<int64_t> numbers_, counts_;
};

}  // namespace

std::vector<Case> count_cases() {
  return {{"bincount_4M_65536", {{"kind", "bincount"}, {"count", kNumbers}, {"places", kPlaces}}, 0, [] {
             return std::make_unique<Counts>();
           }}};
}

}  // namespace strew::bench
