// LoadedKernels: the kernels that a runtime loaded from objects (Runtime::load), by the identity of their ops, so that requests
// are answered with them. Kernels stay until the runtime is destroyed. Thread-safe. Tested by tests/unit/load_test.cc.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "strew/abi.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

class LoadedKernels {
 public:
  struct Loaded {
    std::shared_ptr<const LinkedObject> object;
    const strew_kernel* descriptor = nullptr;  ///< lies in the object
  };

  /// The kernels in `file`, an object or an archive, that this machine can run. Does not add them.
  static Expected<std::vector<Loaded>> read(std::string_view file);
  void add(const std::vector<Loaded>& kernels);

  /// The kernel that answers a request with these options, for which plan_kernel() returned `planned`; no object if there is none.
  Loaded find(const KernelOptions& options, const Compiled& planned) const;
  /// `planned` with the loaded kernel in the place of the one that would be built.
  static Expected<std::shared_ptr<const BuiltKernel>> adopt(const Loaded& kernel, Compiled planned);

 private:
  static std::mutex mutex_of_all;  ///< guards the maps of all objects, so that fork() has one mutex to lock
  friend struct CacheForks;
  std::unordered_map<std::string, std::vector<Loaded>> by_identity_;
};

}  // namespace strew::inline v0
