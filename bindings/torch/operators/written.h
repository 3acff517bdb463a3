// What an operator of PyTorch's writes: self, out, or a new tensor. Tested by tests/torch.
#pragma once

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

#include "bindings/torch/call.h"
#include "bindings/torch/override.h"
#include "bindings/torch/tensors.h"

namespace strew::aten {

/// The tensor that is written, and whether it has to receive `self` first.
struct Written {
  const at::Tensor* tensor = nullptr;
  Init init = Init::in_place;
};

/// `inputs`: the other tensors that the operator reads. All are plain.
template <class... Inputs>
Reason written_by(Target& target, const at::Tensor& self, Written& out, const Inputs&... inputs) {
  if (target.is_new()) {
    out = {&target.keep(at::Tensor(at::detail::empty_cpu(self.sizes(), self.scalar_type()))), Init::copy};
    return Reason::none;
  }
  const at::Tensor& given = target.given();
  if (const Reason reason = plain(given); reason != Reason::none) return reason;
  if (given.scalar_type() != self.scalar_type()) return Reason::dtype;
  if (given.sizes() != self.sizes()) return Reason::shape;
  out = {&given, same_view(given, self) ? Init::in_place : Init::copy};
  const bool separate =
      elements_apart(given) && (out.init == Init::in_place || apart(given, self)) && (apart(given, inputs) && ...);
  return separate ? Reason::none : Reason::overlap;
}

/// Of a gather: the tensor of these dims that receives the elements. `inputs`: what it reads besides `self`.
template <class... Inputs>
Reason gathered_to(Target& target, const at::Tensor& self, at::IntArrayRef sizes, const at::Tensor*& out,
                   const Inputs&... inputs) {
  if (target.is_new()) {
    out = &target.keep(at::Tensor(at::detail::empty_cpu(sizes, self.scalar_type())));
    return Reason::none;
  }
  out = &target.given();
  if (const Reason reason = plain(*out); reason != Reason::none) return reason;
  if (out->scalar_type() != self.scalar_type()) return Reason::dtype;
  if (out->sizes() != sizes) return Reason::shape;
  return elements_apart(*out) && apart(*out, self) && (apart(*out, inputs) && ...) ? Reason::none : Reason::overlap;
}

}  // namespace strew::aten
