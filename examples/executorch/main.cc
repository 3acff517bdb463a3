// An ExecuTorch program whose operator `messages::spmm.out` is a kernel of strew's, from a library that was compiled when this was built. It runs the program twice, with a bad index the second
// time. Exit status 0: right, 1: wrong. docs/executorch.md says what was tried; no test of ours has ExecuTorch.
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/kernel/kernel_includes.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "messages.h"

namespace {

using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

/// Opened once, which chooses the machine code for this CPU.
const strew_context* kernels() {
  static strew_context* const opened = [] {
    strew_context* context = nullptr;
    const strew_status status = messages_open(nullptr, &context);
    if (status != nullptr) {
      std::fprintf(stderr, "%s\n", strew_status_message(status));
      std::exit(1);
    }
    return context;
  }();
  return opened;
}

Tensor& spmm_out(KernelRuntimeContext& context, const Tensor& dst, const Tensor& src, const Tensor& table, int64_t num_rows,
                 Tensor& out) {
  const auto is = [](const Tensor& tensor, executorch::aten::ScalarType type) { return tensor.scalar_type() == type; };
  const bool types = is(dst, executorch::aten::ScalarType::Long) && is(src, executorch::aten::ScalarType::Long) &&
                     is(table, executorch::aten::ScalarType::Float) && is(out, executorch::aten::ScalarType::Float);
  const bool fits = types && dst.dim() == 1 && src.dim() == 1 && dst.numel() == src.numel() && table.dim() == 2 &&
                    table.size(1) == 64 && out.dim() == 2 && out.size(0) == num_rows && out.size(1) == 64;
  ET_KERNEL_CHECK(context, fits, InvalidArgument, out);
  const strew_status status =
      spmm_f32_64_at(kernels(), out.mutable_data_ptr<float>(), dst.const_data_ptr<int64_t>(), table.const_data_ptr<float>(),
                     src.const_data_ptr<int64_t>(), num_rows, dst.numel(), table.size(0));
  if (status != nullptr) {
    ET_LOG(Error, "messages::spmm.out: %s", strew_status_message(status));
    strew_status_free(status);
    context.fail(Error::InvalidArgument);
  }
  return out;
}

}  // namespace

EXECUTORCH_LIBRARY(messages, "spmm.out", spmm_out);

int main(int count, char** arguments) {
  using executorch::aten::ScalarType;
  using executorch::extension::from_blob;
  executorch::extension::Module module(count > 1 ? arguments[1] : "layer.pte");
  std::vector<int64_t> dst{0, 4, 4, 1}, src{2, 0, 1, 2};
  std::vector<float> table(3 * 64);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i / 64 + 1);
  const auto run = [&] {
    auto targets = from_blob(dst.data(), {4}, ScalarType::Long), sources = from_blob(src.data(), {4}, ScalarType::Long);
    return module.forward({targets, sources, from_blob(table.data(), {3, 64}, ScalarType::Float)});
  };
  const auto result = run();
  bool right = result.ok();
  const float expected[5] = {3, 3, 0, 0, 3};
  for (int row = 0; right && row < 5; ++row) right = result->at(0).toTensor().const_data_ptr<float>()[row * 64] == expected[row];
  std::printf("sums of messages: %s\n", right ? "right" : "WRONG");
  src[3] = 9;  // the table has 3 rows
  const bool is_refused = !run().ok();
  std::printf("a bad index: %s\n", is_refused ? "refused" : "NOT REFUSED");
  return right && is_refused ? 0 : 1;
}
