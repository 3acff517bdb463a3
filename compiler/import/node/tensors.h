// Types and constants of tensors as files of graphs hold them. Every number in them is untrusted. Tested by
// tests/unit/compiler/import/onnx/onnx_tensor_test.cc, tests/error/onnx_error_test.cc and tests/error/tflite_error_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "strew/import.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Refuses ranks that are too large, of a tensor that messages call `what`.
Status check_rank(size_t rank, const std::string& what);
/// The number of elements of a tensor, which messages call `what`. Refuses too many dims or elements.
Expected<int64_t> count_elements(const std::vector<int64_t>& dims, const std::string& what);
/// The same check of dims of which some may be open.
Status check_extents(std::vector<int64_t> dims, const std::string& what);

/// Gives `constant`, whose type of `count` elements is set, the bytes of a file; fails if they are not `expected` ones. `field` holds them.
Status read_bytes(Constant& constant, int64_t count, std::string_view bytes, int64_t expected, const std::string& field,
                  const std::shared_ptr<const void>& owner);
/// Makes bytes canonical that files may leave arbitrary: a boolean that is not zero becomes 1, the padding bits of the last byte become 0.
void make_canonical(Constant& constant, int64_t count);

}  // namespace strew::inline v0
