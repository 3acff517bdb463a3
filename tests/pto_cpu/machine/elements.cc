// See elements.h. Tested by tests/unit/pto_cpu/machine_test.cc.
#include "tests/pto_cpu/machine/elements.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace pto_cpu {
namespace {

struct Format {
  int mantissa, bias, width;
};
Format format_of(Type type) { return type == Type::f16 ? Format{10, 15, 16} : Format{7, 127, 16}; }

}  // namespace

float to_float(Type type, uint64_t bits) {
  if (type == Type::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == Type::bf16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits >> 15 & 1) != 0 ? -1.0F : 1.0F;
  if (exponent == 31)
    return fraction == 0 ? sign * INFINITY
                         : std::bit_cast<float>(static_cast<uint32_t>(bits & 0x8000) << 16 | 0x7FC00000U |
                                                static_cast<uint32_t>(bits & 1023) << 13);
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

uint64_t from_float(Type type, float value) {
  const auto code = std::bit_cast<uint32_t>(value);
  if (type == Type::f32) return code;
  const Format format = format_of(type);
  const uint64_t sign = static_cast<uint64_t>(code >> 31) << (format.width - 1);
  const uint64_t infinity = ((uint64_t{1} << (format.width - 1)) - 1) >> format.mantissa << format.mantissa;
  if (std::isnan(value)) return sign | infinity | uint64_t{1} << (format.mantissa - 1);
  if (std::isinf(value)) return sign | infinity;
  // In units of the last place the value has at its exponent, or at the smallest one, nearbyint rounds ties to even.
  const double size = std::fabs(static_cast<double>(value));
  const int smallest = 1 - format.bias;
  const int exponent = size == 0 ? smallest : std::max(smallest, std::ilogb(size));
  const auto units = static_cast<uint64_t>(std::nearbyint(std::ldexp(size, format.mantissa - exponent)));
  // A unit too many carries into the exponent, as it should; a subnormal number has exponent field 0.
  const uint64_t field = static_cast<uint64_t>(exponent - smallest) << format.mantissa;
  return sign | std::min(field + units, infinity);
}

int64_t to_integer(Type type, uint64_t bits) {
  const auto above = static_cast<int>(64 - 8 * size_of(type));
  if (is_signed(type)) return static_cast<int64_t>(bits << above) >> above;
  return static_cast<int64_t>(bits << above >> above);
}

uint64_t element_at(Type type, const std::byte* from) {
  uint64_t out = 0;
  std::memcpy(&out, from, static_cast<size_t>(size_of(type)));
  return out;
}

namespace {

/// The greater, or with `sign` -1 the lesser: a NaN if one is a NaN, and +0 is greater than -0.
float extreme(float a, float b, float sign) {
  if (std::isnan(a) || std::isnan(b)) return a + b;
  if (a == b) return std::signbit(a) == (sign > 0) ? b : a;
  return sign * a > sign * b ? a : b;
}

float compute(Operation what, float a, float b) {
  switch (what) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::mul:
      return a * b;
    case Operation::div:
      return a / b;
    case Operation::max:
      return extreme(a, b, 1);
    case Operation::min:
      return extreme(a, b, -1);
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
      break;
  }
  throw Failure("bits of floats are not combined");
}

uint64_t compute(Operation what, Type type, uint64_t a, uint64_t b) {
  // Sums, differences and products are cut to the width of the type when they are stored.
  const int64_t x = to_integer(type, a), y = to_integer(type, b);
  switch (what) {
    case Operation::add:
      return a + b;
    case Operation::sub:
      return a - b;
    case Operation::mul:
      return static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
    case Operation::max:
      return static_cast<uint64_t>(x > y ? x : y);
    case Operation::min:
      return static_cast<uint64_t>(x < y ? x : y);
    case Operation::bit_and:
      return a & b;
    case Operation::bit_or:
      return a | b;
    case Operation::bit_xor:
      return a ^ b;
    case Operation::div:
      break;
  }
  throw Failure("integers are not divided on tiles");
}

}  // namespace

uint64_t combined(Operation what, Type type, uint64_t a, uint64_t b) {
  if (!is_float(type)) return compute(what, type, a, b);
  // A sum, product or quotient of numbers of 16 bits that is rounded to f32 first is rounded to 16 bits as if it had not been.
  return from_float(type, compute(what, to_float(type, a), to_float(type, b)));
}

int64_t place_of(const TileView& tile, int64_t row, int64_t col) {
  const int64_t size = size_of(tile.type);
  if (tile.places == Places::rows) return (row * tile.cols + col) * size;
  if (tile.places == Places::columns) return (col * tile.rows + row) * size;
  const int64_t across = 32 / size;
  return ((col / across) * tile.rows + row) * 32 + col % across * size;
}

namespace {

/// Calls visit(offset in the tile, number of the first element, how many) for runs of elements that lie one behind the other.
template <typename Visit>
void each_run(const TileView& tile, const Visit& visit) {
  const int64_t most = tile.places == Places::rows      ? tile.valid_cols
                       : tile.places == Places::columns ? 1
                                                        : 32 / size_of(tile.type);
  for (int64_t row = 0; row < tile.valid_rows; ++row)
    for (int64_t col = 0; col < tile.valid_cols; col += most)
      visit(place_of(tile, row, col), row * tile.valid_cols + col, std::min(most, tile.valid_cols - col));
}

/// Likewise for memory: visit(address, number of the first element, how many).
template <typename Visit>
void each_run(const GlobalView& part, const Visit& visit) {
  const int64_t size = size_of(part.type), cols = part.cols();
  const int64_t most = part.stride[4] == 1 ? part.shape[4] : 1;
  auto* const data = static_cast<std::byte*>(part.data);
  for (int64_t row = 0; row < part.rows(); ++row) {
    for (int64_t col = 0; col < cols; col += most) {
      int64_t at = 0, rest = row;
      if (part.fractals) {
        const int64_t block = col / part.shape[4];
        at = block / part.shape[1] * part.stride[0] + block % part.shape[1] * part.stride[1] +
             row / part.shape[3] * part.stride[2] + row % part.shape[3] * part.stride[3] + col % part.shape[4] * part.stride[4];
      } else {
        for (int d = 3; d >= 0; --d) {
          at += rest % part.shape[d] * part.stride[d];
          rest /= part.shape[d];
        }
        at += col * part.stride[4];
      }
      visit(data + at * size, row * cols + col, most);
    }
  }
}

std::vector<std::byte> packed(Type type, const uint64_t* elements, int64_t count) {
  const auto size = static_cast<size_t>(size_of(type));
  std::vector<std::byte> out(static_cast<size_t>(count) * size);
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) std::memcpy(out.data() + i * size, elements + i, size);
  return out;
}

void unpack(Type type, const std::byte* from, uint64_t* elements, int64_t count) {
  for (int64_t i = 0; i < count; ++i) elements[i] = element_at(type, from + i * size_of(type));
}

}  // namespace

void count(Core& core, int64_t Counts::*bytes, const TileView& tile) {
  ++core.counts().instructions;
  core.counts().*bytes += tile.valid_rows * tile.valid_cols * size_of(tile.type);
}

std::vector<uint64_t> read_all(Core& core, const TileView& tile) {
  std::vector<uint64_t> out(static_cast<size_t>(tile.valid_rows * tile.valid_cols));
  each_run(tile, [&](int64_t offset, int64_t first, int64_t count) {
    unpack(tile.type, core.read(tile, offset, count * size_of(tile.type)), out.data() + first, count);
  });
  return out;
}

void write_all(Core& core, const TileView& tile, const std::vector<uint64_t>& elements) {
  each_run(tile, [&](int64_t offset, int64_t first, int64_t count) {
    const std::vector<std::byte> bytes = packed(tile.type, elements.data() + first, count);
    core.write(tile, offset, bytes.data(), static_cast<int64_t>(bytes.size()));
  });
}

std::vector<uint64_t> read_all(Core& core, const GlobalView& part) {
  std::vector<uint64_t> out(static_cast<size_t>(part.rows() * part.cols()));
  each_run(part, [&](const void* address, int64_t first, int64_t count) {
    unpack(part.type, core.read(address, count * size_of(part.type)), out.data() + first, count);
  });
  return out;
}

void write_all(Core& core, const GlobalView& part, const std::vector<uint64_t>& elements) {
  each_run(part, [&](void* address, int64_t first, int64_t count) {
    const std::vector<std::byte> bytes = packed(part.type, elements.data() + first, count);
    core.write(address, bytes.data(), static_cast<int64_t>(bytes.size()));
  });
}

}  // namespace pto_cpu
