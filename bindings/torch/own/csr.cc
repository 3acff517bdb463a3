// strew::csr_rows: the row of each element of a matrix of compressed rows, which are the sorted destinations of its messages. Tested by tests/torch/own_operators_test.py.
#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <string>

#include "bindings/torch/own/indices.h"
#include "bindings/torch/tensors.h"
#include "strew/strew.h"

namespace strew::aten {
namespace {

void check(const at::Tensor& crow_indices) {
  check_index("csr_rows", "crow_indices", crow_indices);
  check_strided("csr_rows", crow_indices);
  TORCH_CHECK(crow_indices.sym_numel() >= 1,
              "csr_rows(): expected crow_indices to have one number more than there are rows, but it has none");
}

at::Tensor csr_rows_on_cpu(const at::Tensor& crow_indices, int64_t count) {
  check(crow_indices);
  TORCH_CHECK(count >= 0, "csr_rows(): expected count of 0 or more, but got ", count);
  at::Tensor rows(at::detail::empty_cpu({count}, c10::ScalarType::Long));
  const at::Tensor offsets = crow_indices.contiguous();
  const auto dtype = static_cast<uint8_t>(*dtype_of(offsets.scalar_type()));
  const strew_tensor bounds{const_cast<void*>(offsets.const_data_ptr()), offsets.sizes().data(), nullptr, 1, dtype, 0, {0, 0}};
  const strew_tensor ids{rows.mutable_data_ptr(), rows.sizes().data(), nullptr, 1, STREW_I64, 0, {0, 0}};
  const strew_status status = strew_segment_ids(&bounds, STREW_SEGMENT_OFFSETS, &ids);
  if (status == nullptr) return rows;
  const std::string text = strew_status_message(status);
  strew_status_free(status);
  TORCH_CHECK(false, "csr_rows(): crow_indices: ", text);
}

at::Tensor csr_rows_of_meta(const at::Tensor& crow_indices, c10::SymInt count) {
  check(crow_indices);
  return at::empty_symint({std::move(count)}, crow_indices.options().dtype(c10::ScalarType::Long));
}

}  // namespace
}  // namespace strew::aten

TORCH_LIBRARY_FRAGMENT(strew, library) {
  library.def("csr_rows(Tensor crow_indices, SymInt count) -> Tensor", {at::Tag::pt2_compliant_tag});
}
TORCH_LIBRARY_IMPL(strew, CPU, library) { library.impl("csr_rows", TORCH_FN(strew::aten::csr_rows_on_cpu)); }
TORCH_LIBRARY_IMPL(strew, Meta, library) { library.impl("csr_rows", TORCH_FN(strew::aten::csr_rows_of_meta)); }
