#include "bindings/torch/own/indices.h"

#include <c10/util/Exception.h>

namespace strew::aten {
void check_index(const char* name, const char* argument, const at::Tensor& index, int64_t dims) {
  const bool is_integer = index.scalar_type() == c10::ScalarType::Long || index.scalar_type() == c10::ScalarType::Int;
  TORCH_CHECK(is_integer && index.dim() == dims, name, "(): expected ", argument, " to be int32 or int64 of ",
              dims == 1 ? "one dim" : "two dims", ", but got ", index.scalar_type(), " of ", index.dim(), " dims");
}

void check_device(const char* name, const at::Tensor& one, const at::Tensor& other) {
  TORCH_CHECK(one.device() == other.device(), name, "(): Expected all tensors to be on the same device, but got ", one.device(),
              " and ", other.device());
}

std::optional<int64_t> first_outside(const at::Tensor& index, int64_t least, int64_t end) {
  return each_number(index, [=](int64_t, int64_t number) { return number < least || number >= end; });
}

bool is_sorted(const at::Tensor& index) {
  int64_t before = 0;
  const auto falls = [&](int64_t place, int64_t number) {
    const bool is_less = place > 0 && number < before;
    before = number;
    return is_less;
  };
  return !each_number(index, falls);
}

}  // namespace strew::aten
