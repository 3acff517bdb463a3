// The machine under pto/pto-inst.hpp: what an instruction of a compiled NPU program does on the CPU.
//
// The headers' templates check types and call these functions; each executes one instruction at once, in program order, on real memory, and
// tells the core (core.h) on which pipe it would run and which bytes it reads and writes. The last argument is always the line of the
// program. What is wrong is thrown as a Failure, whose message names the instruction and its line. Nothing here includes files of
// strew: the rules are those of docs/npu_checks.md and of the instructions' public documentation, written a second time beside the
// simulator (backends/pto/simulate). Tested by tests/differential/npu_compiled/main.cc and tests/unit/pto_cpu/machine_test.cc.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace pto_cpu {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Chip : uint8_t { a3, a5 };
enum class Type : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f8 };  ///< f8: any float of 8 bits, only moved
constexpr int64_t size_of(Type type) {
  constexpr int64_t kSizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 1};
  return kSizes[static_cast<int>(type)];
}

/// The pipes that a program names. Cores of these programs use s to mte3; `other` stands for those that they must not name.
enum class Pipe : uint8_t { s, v, mte1, mte2, mte3, other, all };

/// How elements lie in a tile. fractals: blocks of 16 rows of 32 bytes, block column after block column.
enum class Places : uint8_t { rows, columns, fractals };
struct TileView {
  bool in_l1 = false;
  int64_t address = -1;  ///< in bytes; -1: TASSIGN did not give one
  Type type = Type::f32;
  Places places = Places::rows;
  int64_t rows = 0, cols = 0, valid_rows = 0, valid_cols = 0;
};

/// A part of a tensor in global memory. The element (i, j, k, l, m) lies at the sum of coordinate times stride.
struct GlobalView {
  void* data = nullptr;
  Type type = Type::f32;
  bool fractals = false;  ///< [.., block columns, block rows, 16, elements of 32 bytes] is a matrix in fractals
  int64_t shape[5] = {}, stride[5] = {};
  int64_t rows() const { return fractals ? shape[2] * shape[3] : shape[0] * shape[1] * shape[2] * shape[3]; }
  int64_t cols() const { return fractals ? shape[0] * shape[1] * shape[4] : shape[4]; }
};

// --- order ---
void set_flag(Pipe from, Pipe to, int event, int line);
void wait_flag(Pipe from, Pipe to, int event, int line);
void pipe_barrier(Pipe pipe, int line);
/// Signals between the cube core and the vector core beside it.
void set_signal(Pipe after, int signal, int line);
void wait_signal(Pipe before, int signal, int line);
int64_t block_number();
int64_t block_count();

// --- tiles and memory ---
void check_tile(const TileView& tile, int line);  ///< its valid part lies inside, and so does its place in the buffer
void load(const TileView& to, const GlobalView& from, int line);
void store(const GlobalView& to, const TileView& from, int line);
uint64_t get(const TileView& tile, int64_t at, int line);
void set(const TileView& tile, int64_t at, uint64_t bits, int line);
uint64_t get(const void* element, int64_t bytes);
void set(void* element, int64_t bytes, uint64_t bits);
void* tile_data(const TileView& tile);
void copy_l1_to_buffer(void* to, const void* from, int64_t bytes, int line);

// --- computation ---
enum class Operation : uint8_t { add, sub, mul, div, max, min, bit_and, bit_or, bit_xor };
void compute(Operation what, const char* name, const TileView& to, const TileView& a, const TileView& b, int line);
void compute(Operation what, const char* name, const TileView& to, const TileView& a, uint64_t number, int line);
/// `room`: a tile whose elements are lost.
void exclusive_or(const TileView& to, const TileView& a, const TileView& b, const TileView& room, int line);
void fill(const TileView& to, uint64_t number, int line);
void ascend(const TileView& to, uint64_t first, int line);
void convert(const TileView& to, const TileView& from, int line);

// --- indexed moves ---
enum class Atomic : uint8_t { none, add, max, min };
enum class Bounds : uint8_t { undefined, skip, clamp, wrap, zero };
enum class Conflict : uint8_t { last, any };
void scatter(const GlobalView& table, const TileView& data, const TileView& indices, bool rows, Atomic atomic, Bounds bounds,
             Conflict conflict, int line);
void gather(const TileView& data, const GlobalView& table, const TileView& indices, bool rows, Bounds bounds, int line);
/// Into L1, with indices in memory. `scratch`: of elements, else null.
void gather(const TileView& data, const GlobalView& table, const GlobalView& indices, const GlobalView* scratch, Bounds bounds,
            int line);

}  // namespace pto_cpu
