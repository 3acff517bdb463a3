// Products by one-hot tensors. A one-hot tensor has 1 where its coordinate in one dim is an index, and 0 elsewhere (eq(iota, indices), converted). A
// product by it over that dim takes the row of the other operand that the index names, and 0 where it names none: a look-up. strew runs no other products.
// Front ends ask here before they leave a product to others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/import.h"

namespace strew::inline v0::fusion {

/// A product of two tensors: the dims over which it sums, and those that both have. The result has the dims of both, the others of lhs, and those of rhs.
struct Product {
  int lhs = -1, rhs = -1;  ///< values
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batching, rhs_batching;
  DType result = DType::f32;
};

/// The gather that gives the product, and what it reads.
struct ProductLookup {
  Gather gather;
  int table = -1, indices = -1;
};

/// The look-up that the product is, bit for bit. Nothing if neither operand is one-hot over the dim that is summed; `unsupported`, with the reason, if one
/// is and the product is no look-up. `location`: of the product.
STREW_API Expected<std::optional<ProductLookup>> lookup_of_product(Program& program, const std::string& location,
                                                                   const Product& product);

}  // namespace strew::inline v0::fusion
