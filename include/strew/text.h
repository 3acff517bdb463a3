// The canonical text of an op, and its hash: cache keys, symbols and benchmark names are made from them.
//
// parse_op(print(op)) == op for every op. An op is one line of text; fields at their default are left out, so equal ops
// have equal texts. docs/op_text.md has the grammar, whose version is the first token of the text. All functions are
// thread-safe. Tested by tests/unit/compiler/op/op_text_test.cc.
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
STREW_API std::string print(const TensorType& type);  ///< f32[2,?,4], or with strides f32[2,3]{3,1}
STREW_API std::string print(const Expr& expr);
STREW_API std::string print(const Scalar& scalar);  ///< decimal if that reads back as the same bits, else 0x and the bits

/// Parses an op; does not verify it. Errors name the offset, the text found there and what was expected.
STREW_API Expected<Op> parse_op(std::string_view text);
STREW_API Expected<Scalar> parse_scalar(std::string_view text, DType dtype);

/// 128-bit hash (XXH3) of canonical text. It is the same in every process, on every machine, and in every version of
/// strew that has the same version of the grammar.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
STREW_API Hash128 hash_text(std::string_view canonical);
STREW_API std::string to_hex(Hash128 hash);  ///< 32 hex digits, high word first
inline Hash128 hash(const Op& op) { return hash_text(print(op)); }

}  // namespace strew::inline v0
