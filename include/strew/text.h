// The canonical text of an op and its hash: the op's identity everywhere (cache key, symbol, dump file, wisdom key, benchmark name).
//
// parse(print(op)) == op for every op, and print(parse(text)) is canonical. The grammar is in docs/op_text.md; its version is the
// first token. One op is one line; fields at their default are left out, so equal ops print equal text.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "strew/export.h"
#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

STREW_API std::string print(const Op& op);
STREW_API std::string print(const TensorType& type);  ///< f32[2,?,4] or f32[2,3]{3,1} with strides
STREW_API std::string print(const Expr& expr);
STREW_API std::string print(const Scalar& scalar);  ///< decimal where that is exact and round-trips, else 0x followed by the bits

/// The op written as `text`. Errors name the offset, what stands there and what was expected. The op is not verified.
STREW_API Expected<Op> parse_op(std::string_view text);
STREW_API Expected<Scalar> parse_scalar(std::string_view text, DType dtype);

/// 128-bit hash (XXH3) of canonical text. The same on every machine, process and version with the same grammar version.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
STREW_API Hash128 hash_text(std::string_view canonical);
STREW_API std::string to_hex(Hash128 hash);  ///< 32 hex digits, high word first
inline Hash128 hash(const Op& op) { return hash_text(print(op)); }

}  // namespace strew::inline v0
