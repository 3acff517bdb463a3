// Its runtime has the kernels of a library from the start. Exit: 0 right.
#include "registered_kernels.h"
#include "strew/strew.hpp"

int main() {
  strew_variant variant = STREW_VARIANT_INIT;
  if (strew_library_variant(registered_kernels(), REGISTERED_KERNELS_add, 0, &variant) != nullptr) return 1;
  const auto op = strew::parse_op(variant.identity);
  const auto kernel = strew::Runtime::process().get(*op);
  return kernel.ok() && strew::Runtime::process().stats().built == 0 ? 0 : 2;
}
