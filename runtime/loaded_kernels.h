// LoadedKernels: the kernels that a runtime was given ready-made, from objects (Runtime::load) or from libraries in the program
// (Runtime::register_library), by the identity of their ops, so that requests are answered with them. Kernels stay until the runtime is destroyed. Thread-safe. Tested by tests/unit/load_test.cc.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "strew/abi.h"
#include "strew/library.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

class LoadedKernels {
 public:
  struct Loaded {
    std::shared_ptr<const LinkedObject> object;  ///< null if the descriptor is linked into the program
    const strew_kernel* descriptor = nullptr;
  };

  /// The kernels in `file`, an object or an archive, that this machine can run. Does not add them.
  static Expected<std::vector<Loaded>> read(std::string_view file);
  static Expected<std::vector<Loaded>> kernels_of(const strew_library& library);
  void add(const std::vector<Loaded>& kernels);

  /// The kernel that answers a request with these options, for which plan_kernel() returned `planned`; no descriptor if there is none.
  Loaded find(const KernelOptions& options, const Compiled& planned) const;
  /// `planned` with the loaded kernel in the place of the one that would be built.
  static Expected<std::shared_ptr<const BuiltKernel>> adopt(const Loaded& kernel, Compiled planned);

 private:
  static std::mutex mutex_of_all;  ///< guards the maps of all objects, so that fork() has one mutex to lock
  friend struct CacheForks;
  std::unordered_map<std::string, std::vector<Loaded>> by_identity_;
};

}  // namespace strew::inline v0
