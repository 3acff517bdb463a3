// LoadedKernels: the kernels that a runtime was given ready-made, from objects (Runtime::load) or from libraries in the program
// (Runtime::register_library), by the identity of their ops, so that requests are answered with them. Kernels stay until the runtime is destroyed.
// Thread-safe. Tested by tests/unit/runtime/load_test.cc and tests/library.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/link.h"
#include "backends/pipeline.h"
#include "runtime/call/packed_kernel.h"
#include "strew/abi.h"
#include "strew/library.h"
#include "strew/status.h"

namespace strew::inline v0 {

struct BuiltKernel;

class LoadedKernels {
 public:
  /// A kernel of an object, or a variant of a library's kernel.
  struct Loaded {
    std::shared_ptr<const LinkedObject> object;      ///< null if the kernel is a library's
    std::shared_ptr<const strew_kernel> descriptor;  ///< of a library's kernel: unpacked when it is found
    const PackedKernel* packed = nullptr;            ///< of a library's kernel
    std::string_view name, features;                 ///< of the descriptor
    std::string_view library;
  };

  /// The kernels in `file`, an object or an archive, that this machine can run. Does not add them.
  static Expected<std::vector<Loaded>> read(std::string_view file);
  void add(const std::vector<Loaded>& kernels);
  /// Adds the kernels that this machine can run. They are read when a request first looks for one, so that this takes no time per kernel.
  Status add(const strew_library& library);

  bool is_empty() const { return is_empty_.load(std::memory_order_relaxed); }
  /// The kernel that answers a request with these options, for which plan_kernel() returned `planned`; null descriptor if there is none.
  Loaded find(const KernelOptions& options, const Compiled& planned);
  /// `planned` with the loaded kernel in the place of the one that would be built.
  static Expected<std::shared_ptr<const BuiltKernel>> adopt(const Loaded& kernel, Compiled planned);

 private:
  static std::mutex mutex_of_all;  ///< guards the maps of all objects, so that fork() has one mutex to lock
  friend class KernelCache;

  std::atomic<bool> is_empty_{true};
  std::unordered_map<std::string, std::vector<Loaded>> by_identity_;
  std::vector<const strew_library*> unread_;
};

}  // namespace strew::inline v0
