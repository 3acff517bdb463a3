// Elements: the numbers of the chips' types, and moves of whole tiles between a core and a list of elements. Elements are their bits.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/pto_cpu/machine/core.h"

namespace pto_cpu {

inline bool is_float(Type type) { return type == Type::f16 || type == Type::bf16 || type == Type::f32; }
inline bool is_signed(Type type) { return type == Type::i8 || type == Type::i16 || type == Type::i32 || type == Type::i64; }

/// f16, bf16 or f32. The result is rounded to nearest, ties to even.
float to_float(Type type, uint64_t bits);
uint64_t from_float(Type type, float value);
/// An integer, extended to 64 bits.
int64_t to_integer(Type type, uint64_t bits);
/// The element at `from`.
uint64_t element_at(Type type, const std::byte* from);

/// One operation on two elements; bits above the width of an integer are to be dropped.
uint64_t combined(Operation what, Type type, uint64_t a, uint64_t b);

/// The offset in bytes of an element of a tile.
int64_t place_of(const TileView& tile, int64_t row, int64_t col);
/// The valid part of a tile, or a part of memory, row by row.
std::vector<uint64_t> read_all(Core& core, const TileView& tile);
void write_all(Core& core, const TileView& tile, const std::vector<uint64_t>& elements);
std::vector<uint64_t> read_all(Core& core, const GlobalView& part);
void write_all(Core& core, const GlobalView& part, const std::vector<uint64_t>& elements);
/// Counts an instruction that moves the valid part of a tile.
void count(Core& core, int64_t Counts::*bytes, const TileView& tile);

}  // namespace pto_cpu
