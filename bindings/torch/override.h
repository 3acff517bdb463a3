// A kernel of strew in the place of PyTorch's at the CPU's keys: it tries, and hands over to the kernel that was there where it may not. Tested by tests/torch.
//
// One function of strew serves the three overloads of an operator. It is given where the result goes (Target), then the arguments but `out`, and returns why it did
// nothing, or that it ran.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <atomic>
#include <memory>
#include <tuple>
#include <utility>

#include "bindings/torch/report.h"

namespace strew::aten {

/// Whether calls are run by strew at all.
std::atomic<bool>& is_enabled();
/// How many graphs that strew compiled this thread is in: their calls are run by strew, too.
int& enabled_here();

/// Where an operator's result goes: into a new tensor, into `self`, or into `out`.
class Target {
 public:
  Target() = default;
  explicit Target(const at::Tensor& given) : given_(&given) {}

  bool is_new() const { return given_ == nullptr; }
  const at::Tensor& given() const { return *given_; }
  /// Of an operator that makes a new tensor.
  const at::Tensor& keep(at::Tensor made) { return made_ = std::move(made); }
  at::Tensor take() { return std::move(made_); }

 private:
  const at::Tensor* given_ = nullptr;
  at::Tensor made_;
};

/// Calls a kernel through its boxes, for versions of PyTorch that give no other way.
class ThroughBoxes final : public c10::OperatorKernel {
 public:
  explicit ThroughBoxes(c10::SafeKernelFunction kernel) : kernel_(std::move(kernel)) {}
  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack* stack) const {
    kernel_.callBoxed(op, keys, stack);
  }

 private:
  c10::SafeKernelFunction kernel_;
};

/// The kernel itself from 2.15 on, where it can be had.
template <class Safe>
c10::KernelFunction kernel_of(const Safe& kernel) {
  if constexpr (requires { kernel.kernelFunction(); })
    return kernel.kernelFunction();
  else
    return c10::KernelFunction::makeFromBoxedFunctor(std::make_unique<ThroughBoxes>(kernel));
}

/// PyTorch's kernel of an operator, and what became of the calls. `Op`: of at::_ops.
template <class Op>
struct Replaced {
  /// Never destroyed: calls may come while the process ends.
  static inline const c10::OperatorHandle* op = nullptr;
  static inline const c10::KernelFunction* kernel = nullptr;
  static inline Counts counts;

  static void find(c10::DispatchKey key) {
    op = new c10::OperatorHandle(c10::Dispatcher::singleton().findSchemaOrThrow(Op::name, Op::overload_name));
    kernel = new c10::KernelFunction(kernel_of(op->getComputedKernelForDispatchKey(key)));
    list_overload(Op::name, Op::overload_name, &counts);
  }

  template <class R, class... Args>
  static R hand_over(c10::DispatchKeySet keys, Args... args) {
    return kernel->template call<R, Args...>(*op, keys, std::forward<Args>(args)...);
  }
};

/// Runs `attempt` unless strew is disabled; true if it ran.
template <class Op, class Attempt>
bool tried(const Attempt& attempt) {
  const Reason reason = is_enabled().load(std::memory_order_relaxed) || enabled_here() > 0 ? attempt() : Reason::disabled;
  Replaced<Op>::counts.add(reason);
  return reason == Reason::none;
}

template <class Op, auto kTry, class Schema = typename Op::schema>
struct Override;

/// index_add(self, ...) -> Tensor
template <class Op, auto kTry, class... Rest>
struct Override<Op, kTry, at::Tensor(const at::Tensor&, Rest...)> {
  static at::Tensor call(c10::DispatchKeySet keys, const at::Tensor& self, Rest... rest) {
    Target target;
    if (tried<Op>([&] { return kTry(target, self, rest...); })) return target.take();
    return Replaced<Op>::template hand_over<at::Tensor, const at::Tensor&, Rest...>(keys, self, rest...);
  }
};

/// index_add_(Tensor(a!) self, ...) -> Tensor(a!)
template <class Op, auto kTry, class... Rest>
struct Override<Op, kTry, at::Tensor&(at::Tensor&, Rest...)> {
  static at::Tensor& call(c10::DispatchKeySet keys, at::Tensor& self, Rest... rest) {
    Target target(self);
    if (tried<Op>([&] { return kTry(target, std::as_const(self), rest...); })) return self;
    return Replaced<Op>::template hand_over<at::Tensor&, at::Tensor&, Rest...>(keys, self, rest...);
  }
};

/// index_add.out(self, ..., *, Tensor(a!) out) -> Tensor(a!)
template <class Op, auto kTry, class... Rest>
struct Override<Op, kTry, at::Tensor&(const at::Tensor&, Rest...)> {
  static at::Tensor& call(c10::DispatchKeySet keys, const at::Tensor& self, Rest... rest) {
    return call_with(keys, self, std::forward_as_tuple(rest...), std::make_index_sequence<sizeof...(Rest) - 1>());
  }

 private:
  template <size_t... I>
  static at::Tensor& call_with(c10::DispatchKeySet keys, const at::Tensor& self, const std::tuple<Rest&...>& rest,
                               std::index_sequence<I...>) {
    at::Tensor& out = std::get<sizeof...(Rest) - 1>(rest);
    Target target(out);
    if (tried<Op>([&] { return kTry(target, self, std::get<I>(rest)...); })) return out;
    return Replaced<Op>::template hand_over<at::Tensor&, const at::Tensor&, Rest...>(keys, self, std::get<I>(rest)..., out);
  }
};

/// _embedding_bag(weight, ...) -> (Tensor, Tensor, Tensor, Tensor), of several new tensors, which are given in the place of the target.
template <class Op, auto kTry, class... Made, class... Rest>
struct Override<Op, kTry, std::tuple<Made...>(const at::Tensor&, Rest...)> {
  static std::tuple<Made...> call(c10::DispatchKeySet keys, const at::Tensor& self, Rest... rest) {
    std::tuple<Made...> made;
    if (tried<Op>([&] { return kTry(made, self, rest...); })) return made;
    return Replaced<Op>::template hand_over<std::tuple<Made...>, const at::Tensor&, Rest...>(keys, self, rest...);
  }
};

/// Puts strew's kernel in the place of PyTorch's, which stays at hand. `key`: that of the library.
template <class Op, auto kTry>
void replace(torch::Library& library, c10::DispatchKey key = c10::DispatchKey::CPU) {
  Replaced<Op>::find(key);
  const std::string name = Op::overload_name[0] == 0 ? std::string(Op::name) : std::string(Op::name) + "." + Op::overload_name;
  library.impl(name.c_str(), torch::dispatch(key, TORCH_FN((Override<Op, kTry>::call))));
}

}  // namespace strew::aten
