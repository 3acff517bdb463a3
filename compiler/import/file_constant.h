// Constants whose elements lie in the bytes of the file. Tested by tests/unit/compiler/import/import_bytes_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "strew/import.h"

namespace strew::inline v0 {

/// Gives `constant`, whose dtype is set, these bytes: a copy, or, of large ones that `owner` keeps where they are, the bytes themselves.
/// Booleans and packed elements are always copied, because front ends make them canonical.
inline void set_bytes(Constant& constant, std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  constexpr size_t kLarge = size_t{1} << 16;
  constexpr unsigned kMostAligned = 8;  // elements of 16 bytes are pairs
  const unsigned each = static_cast<unsigned>(bits(constant.type.dtype)) / 8;
  const bool is_whole = constant.type.dtype != DType::boolean && each > 0 && bits(constant.type.dtype) % 8 == 0;
  const unsigned alignment = each > kMostAligned ? kMostAligned : each;
  if (owner == nullptr || bytes.size() < kLarge || !is_whole || reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0) {
    constant.data.assign(bytes.begin(), bytes.end());
    return;
  }
  constant.mapped = bytes;
  constant.file = owner;
}

}  // namespace strew::inline v0
