// See online_search.h.
#include "runtime/call/online_search.h"

#include <algorithm>

namespace strew::inline v0 {
namespace {

constexpr size_t kFirst = 1;  ///< trials of a candidate that do not count: its code and data are not in the caches yet
/// A candidate takes the place of another one only after as many trials or a multiple of it: to ask after every trial would be to wait
/// for luck.
constexpr size_t kLeast = 20;
constexpr size_t kFew = 5;            ///< trials before a candidate can be dropped
constexpr size_t kMost = 60;          ///< trials after which it is dropped as no faster
constexpr size_t kMostUnused = 1000;  ///< trials whose shapes never were those of the call before
constexpr double kWorthIt = 0.97;     ///< of the time of the kernel in use

}  // namespace

bool OnlineSearch::may_try(double calls) const {
  if (is_settled_ || last_ <= 0) return false;
  const double excess = ratios_.empty() ? 1 : std::max(0.0, median(ratios_) - 1);
  return spent_ + excess * last_ * calls <= regret_ * total_;
}

void OnlineSearch::add_call(double nanoseconds, uint64_t shape, double calls) {
  total_ += nanoseconds * calls;
  last_ = nanoseconds;
  last_shape_ = shape;
}

void OnlineSearch::add_trial(double nanoseconds, uint64_t shape, double calls) {
  ++trials_;
  total_ += nanoseconds * calls;
  if (is_settled_) return;
  if (shape != last_shape_ || last_ <= 0) {
    if (++unused_ >= kMostUnused) skip();
    return;
  }
  spent_ += std::max(0.0, nanoseconds - last_) * calls;
  if (unused_++ < kFirst) return;
  ratios_.push_back(nanoseconds / last_);
  decide();
}

void OnlineSearch::decide() {
  if (ratios_.size() < kFew) return;
  const MedianRange ratio = median_range(ratios_);
  const bool is_faster = ratio.high < 1 && ratio.median < kWorthIt;
  if (is_faster && ratios_.size() % kLeast == 0) {
    best_ = next_;
    ratio_ = ratio_ * ratio;
    last_ = 0;  // the next trial is compared with a call of the new kernel
    go_on();
  } else if (ratio.low > 1 || ratios_.size() >= kMost || (ratio.low > kWorthIt && ratios_.size() >= kLeast)) {
    go_on();
  }
}

void OnlineSearch::skip() {
  if (!is_settled_) go_on();
}

void OnlineSearch::go_on() {
  ratios_.clear();
  unused_ = 0;
  is_settled_ = ++next_ > candidates_;
}

}  // namespace strew::inline v0
