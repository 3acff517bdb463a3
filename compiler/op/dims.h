// The extents of a tensor: how messages show them, and what two descriptions of them say together. Tested by
// tests/unit/compiler/op/dims_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// The number, or a question mark for a dynamic extent.
std::string extent_text(int64_t extent);

/// "[2,?,16]": a dynamic extent is a question mark. Of a longer list than anyone reads, the first 16 entries: "[1,2,...]".
STREW_API std::string dims_text(const std::vector<int64_t>& dims);

/// The dims of a tensor of the rank, in order: 0, 1, ...
STREW_API std::vector<int64_t> all_dims(size_t rank);

/// Is every extent known?
STREW_API bool is_static(const std::vector<int64_t>& dims);

/// Takes over what `other` knows of an extent that `extent` leaves dynamic. False if both are known and differ.
STREW_API bool unify(int64_t& extent, int64_t other);

/// The same of all extents of a tensor. The message of the error starts with `what`, such as "shape of the result"; `dims` then stays as it was.
STREW_API Status unify_dims(std::vector<int64_t>& dims, const std::vector<int64_t>& other, std::string_view what);

/// Refuses a number that is no dim of a tensor of the rank. `what` names it in the message.
STREW_API Status check_dim(int64_t dim, size_t rank, std::string_view what);

/// Refuses numbers that are not different dims of a tensor of the rank.
STREW_API Status check_dims(const std::vector<int64_t>& dims, size_t rank, std::string_view what);

}  // namespace strew::inline v0
