// BuiltKernels: the built kernels of a runtime by symbol, so that requests which lead to the same code share it: those that
// differ only in the op's spelling or in the number of threads. It owns nothing: a kernel lives as long as a handle or the
// cache refers to it. Thread-safe. Tested by tests/unit/compiler/rewrite/identity_test.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

class BuiltKernels {
 public:
  using Built = std::shared_ptr<const BuiltKernel>;

  /// The kernel of `symbol`; builds it with `build` if there is none, while other threads that ask for it wait. A failure is
  /// not remembered.
  Expected<Built> get(const std::string& symbol, const std::function<Expected<Built>()>& build);
  /// The kernel of `symbol`; null if there is none, or if it is being built.
  Built find(const std::string& symbol);
  /// get() for a kernel that exists somewhere: `find` may return null, and so does this then, or if the kernel is being built.
  Expected<Built> take(const std::string& symbol, const std::function<Expected<Built>()>& find);
  /// From now on requests build anew, also if handles refer to the kernels.
  void clear();
  /// Forgets the symbols whose kernels are gone, which free their memory then.
  void drop_unused();
  size_t places() const;                                                     ///< symbols that are remembered
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }  ///< built so far

 private:
  struct Place {
    std::mutex building;  ///< held while `kernel` is built
    std::weak_ptr<const BuiltKernel> kernel;
    Built take() const;
  };
  std::shared_ptr<Place> place_of(const std::string& symbol);
  void sweep();

  static std::mutex mutex_of_all;  ///< guards the maps of all objects, so that fork() has one mutex to lock
  friend struct CacheForks;
  std::unordered_map<std::string, std::shared_ptr<Place>> places_;
  size_t next_sweep_ = kFirstSweep;  ///< the number of places from which on those that are not used are looked for
  static constexpr size_t kFirstSweep = 64;
  std::atomic<uint64_t> count_{0};
};

}  // namespace strew::inline v0
