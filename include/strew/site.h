// Site: a place in a program that calls kernels. It remembers the kernels that were called there, so that a call costs what
// Kernel::run costs and about two nanoseconds more: no look-up by key, no lock, no allocation.
//
//   static strew::Site append(runtime);
//   status = append.run(prepared, tensors);                                  // an op that was prepared before
//   status = append.run(tensors, [&] { return append_op(batch, length); });  // an op that follows from the tensors' shapes
//
// A site remembers the kWays ops that were called last, and the kernels of the last few thousand different shapes that calls by tensors had: up to
// kWays of them cost a few nanoseconds more than the kernel's call, others a look-up by hash (docs/service.md, "Figures"). It keeps what it
// remembers alive. Member functions are thread-safe. A site must not outlive its runtime. Tested by tests/unit/runtime/site_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "strew/call_options.h"
#include "strew/export.h"
#include "strew/kernel.h"
#include "strew/prepared_op.h"
#include "strew/runtime.h"
#include "strew/status.h"
#include "strew/tensor_view.h"

namespace strew::inline v0 {

class KernelTable;

class Site {
 public:
  static constexpr size_t kWays = 8;

  STREW_API explicit Site(Runtime& runtime = Runtime::process());
  STREW_API ~Site();
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// Runs the kernel of `op` on the tensors, as Kernel::run does. The first call with an op gets the kernel from the runtime.
  STREW_API Status run(const PreparedOp& op, std::span<const TensorView> tensors, BadIndex* bad_index = nullptr);
  STREW_API Status run(const PreparedOp& op, std::span<const TensorView> tensors, const CallOptions& how);

  /// Runs the op that `make_op` returns, an op or an Expected of one, but calls `make_op` only if no remembered kernel takes tensors
  /// of these dtypes, dims and strides. The op must therefore follow from these and from `variant`: give two ops that take
  /// the same tensors (two combiners, say) two variants or two sites. `options` of the first call with a variant count.
  template <class MakeOp>
  Status run(std::span<const TensorView> tensors, MakeOp&& make_op, BadIndex* bad_index = nullptr, uint64_t variant = 0) {
    Status status;
    if (run_remembered(tensors, variant, bad_index, status)) return status;
    return run_made(tensors, std::forward<MakeOp>(make_op), {.bad_index = bad_index}, variant);
  }
  template <class MakeOp>
  Status run(std::span<const TensorView> tensors, MakeOp&& make_op, BadIndex* bad_index, uint64_t variant,
             const KernelOptions& options) {
    Status status;
    if (run_remembered(tensors, variant, bad_index, status)) return status;
    return run_made(tensors, std::forward<MakeOp>(make_op), {.bad_index = bad_index}, variant, options);
  }
  /// The same for a call with options of its own.
  template <class MakeOp>
  Status run(std::span<const TensorView> tensors, MakeOp&& make_op, const CallOptions& how, uint64_t variant = 0,
             const KernelOptions& options = {}) {
    Status status;
    if (run_remembered(tensors, variant, how, status)) return status;
    return run_made(tensors, std::forward<MakeOp>(make_op), how, variant, options);
  }

 private:
  /// Not inline, so that calls of remembered kernels do not pay for making options.
  template <class MakeOp>
  [[gnu::noinline]] Status run_made(std::span<const TensorView> tensors, MakeOp&& make_op, const CallOptions& how,
                                    uint64_t variant, const KernelOptions& options = {}) {
    auto op = std::forward<MakeOp>(make_op)();
    if constexpr (std::is_convertible_v<decltype(op), Op>) {
      return run_new(std::move(op), options, tensors, variant, how);
    } else {
      if (!op.ok()) return op.status();
      return run_new(*std::move(op), options, tensors, variant, how);
    }
  }

  struct Way;
  struct Shapes;
  struct Owners;

  STREW_API bool run_remembered(std::span<const TensorView> tensors, uint64_t variant, BadIndex* bad_index, Status& status);
  STREW_API bool run_remembered(std::span<const TensorView> tensors, uint64_t variant, const CallOptions& how, Status& status);
  STREW_API Status run_new(Op op, const KernelOptions& options, std::span<const TensorView> tensors, uint64_t variant,
                           const CallOptions& how);
  Expected<Kernel> first(const PreparedOp& op);
  void renew(const Way& way);

  Runtime& runtime_;
  /// The labels that a call compares: the addresses of the data of the PreparedOps, null for ways that are found by their
  /// tensors.
  alignas(64) std::array<std::atomic<const void*>, kWays> labels_{};
  std::array<std::atomic<const Way*>, kWays> ways_{};
  std::atomic<const Shapes*> shapes_{nullptr};      ///< of the ways that are found by their tensors; null: there are none
  std::atomic<const KernelTable*> table_{nullptr};  ///< of all kernels that are found by their tensors; null: they are ways
  std::unique_ptr<Owners> owners_;
};

}  // namespace strew::inline v0
