// The table of what strew replaces, and the functions by which Python switches it on: strew.torch (bindings/python/strew/torch) opens this library beside the
// PyTorch that it was built for. Tested by tests/torch.
#include <ATen/ops/_embedding_bag.h>
#include <ATen/ops/_embedding_bag_dense_backward.h>
#include <ATen/ops/_embedding_bag_forward_only.h>
#include <ATen/ops/_index_put_impl.h>
#include <ATen/ops/_segment_reduce_backward.h>
#include <ATen/ops/add.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/index.h>
#include <ATen/ops/index_add.h>
#include <ATen/ops/index_copy.h>
#include <ATen/ops/index_fill.h>
#include <ATen/ops/index_reduce.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/masked_scatter.h>
#include <ATen/ops/put.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/scatter_reduce.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/take.h>
#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <exception>
#include <string>

#include "bindings/torch/operators/operators.h"
#include "bindings/torch/override.h"
#include "bindings/torch/report.h"

namespace strew::aten {
namespace {

namespace ops = at::_ops;

/// The overloads of an operator that PyTorch has three of: a new tensor, in place, into `out`.
template <class New, class InPlace, class Out, auto kTry>
void replace_three(torch::Library& library) {
  replace<New, kTry>(library);
  replace<InPlace, kTry>(library);
  replace<Out, kTry>(library);
}

void replace_all(torch::Library& library) {
  replace_three<ops::index_add, ops::index_add_, ops::index_add_out, index_add>(library);
  replace_three<ops::index_copy, ops::index_copy_, ops::index_copy_out, index_copy>(library);
  replace_three<ops::index_reduce, ops::index_reduce_, ops::index_reduce_out, index_reduce>(library);
  replace<ops::index_fill__int_Scalar, index_fill>(library);
  replace<ops::index_select, index_select>(library);
  replace<ops::index_select_out, index_select>(library);
  replace<ops::index_Tensor, index>(library);
  replace<ops::index_Tensor_out, index>(library);
  replace<ops::_index_put_impl_, index_put>(library);
  replace<ops::masked_scatter_, masked_scatter>(library);
  replace<ops::take, take>(library);
  replace<ops::take_out, take>(library);
  replace<ops::put_, put>(library);
  replace<ops::gather, gather>(library);
  replace<ops::gather_out, gather>(library);
  replace_three<ops::scatter_src, ops::scatter__src, ops::scatter_src_out, scatter>(library);
  replace_three<ops::scatter_value, ops::scatter__value, ops::scatter_value_out, scatter_value>(library);
  replace_three<ops::scatter_reduce, ops::scatter__reduce, ops::scatter_reduce_out, scatter_with>(library);
  replace_three<ops::scatter_add, ops::scatter_add_, ops::scatter_add_out, scatter_add>(library);
  replace_three<ops::scatter_reduce_two, ops::scatter_reduce__two, ops::scatter_reduce_two_out, scatter_reduce>(library);
  replace<ops::segment_reduce, segment_reduce>(library);
  replace<ops::_segment_reduce_backward, segment_reduce_backward>(library);
  replace<ops::embedding_dense_backward, embedding_dense_backward>(library);
  replace<ops::_embedding_bag, embedding_bag>(library);
  replace<ops::_embedding_bag_forward_only, embedding_bag_forward_only>(library);
  replace<ops::_embedding_bag_dense_backward, embedding_bag_dense_backward>(library);
}

/// Of tensors with a sparse one among them.
void replace_sparse(torch::Library& library) {
  constexpr c10::DispatchKey kKey = c10::DispatchKey::SparseCPU;
  replace<ops::add_Tensor, add_sparse>(library, kKey);
  replace<ops::add__Tensor, add_sparse>(library, kKey);
  replace<ops::add_out, add_sparse>(library, kKey);
}

/// Before 2.15 PyTorch warns of kernels that are replaced, which is what `enable` is called for.
class NoWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::Warning&) override {}
};

/// Once per process, and never taken back: other threads may be in a kernel at any time. strew.torch.disable() makes the kernels hand every call over.
void replace_once() {
  static const bool done = [] {
    const auto library = [](c10::DispatchKey key) {
      return new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
    };
    NoWarnings none;
    const c10::WarningUtils::WarningHandlerGuard quiet(&none);
    replace_all(*library(c10::DispatchKey::CPU));
    replace_sparse(*library(c10::DispatchKey::SparseCPU));
    return true;
  }();
  (void)done;
}

/// Copies as much of a text as there is room for, with a zero byte behind it; the length of all of it.
size_t give(const std::string& text, char* out, size_t room) {
  if (room > 0) {
    const size_t length = std::min(text.size(), room - 1);
    std::memcpy(out, text.data(), length);
    out[length] = 0;
  }
  return text.size();
}

}  // namespace

std::atomic<bool>& is_enabled() {
  static std::atomic<bool> enabled{false};
  return enabled;
}
int& enabled_here() {
  static thread_local int count = 0;
  return count;
}

}  // namespace strew::aten

#define STREW_TORCH_API extern "C" __attribute__((visibility("default")))

/// The version of PyTorch that the library was built for: 2015 is 2.15.
STREW_TORCH_API int strew_torch_built_for() { return TORCH_VERSION_MAJOR * 1000 + TORCH_VERSION_MINOR; }
/// Switches the kernels on (1) or off (0). The length of the text of what went wrong, 0 for nothing.
STREW_TORCH_API size_t strew_torch_enable(int on, char* out, size_t room) {
  try {
    if (on != 0) strew::aten::replace_once();
    strew::aten::is_enabled().store(on != 0, std::memory_order_relaxed);
    return 0;
  } catch (const std::exception& error) {
    return strew::aten::give(error.what(), out, room);
  }
}
/// The same for calls of this thread only, beside what was switched for all: each 1 is taken back by a 0.
STREW_TORCH_API size_t strew_torch_enable_here(int on, char* out, size_t room) {
  try {
    if (on != 0) strew::aten::replace_once();
    strew::aten::enabled_here() += on != 0 ? 1 : -1;
    return 0;
  } catch (const std::exception& error) {
    return strew::aten::give(error.what(), out, room);
  }
}
/// The length of the report's text.
STREW_TORCH_API size_t strew_torch_report(char* out, size_t room) {
  return strew::aten::give(strew::aten::report_text(), out, room);
}
STREW_TORCH_API void strew_torch_clear_report() { strew::aten::clear_report(); }
