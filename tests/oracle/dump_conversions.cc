// strew_dump_conversions FROM TO: a filter for narrow_floats.py. Reads elements of dtype FROM from standard input until it ends and
// writes each as dtype TO, through convert(). Elements are little-endian words of at least one byte (packed dtypes one to a byte).
#include <cstdio>
#include <vector>

#include "base/number.h"

namespace {

using strew::DType;
using strew::Scalar;

size_t bytes_of(DType dtype) { return static_cast<size_t>(strew::bits(dtype) + 7) / 8; }

std::vector<unsigned char> read_all() {
  std::vector<unsigned char> all, block(1 << 16);
  for (size_t count; (count = std::fread(block.data(), 1, block.size(), stdin)) > 0;)
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const auto from = argc == 3 ? strew::dtype_from_name(argv[1]) : std::nullopt;
  const auto to = argc == 3 ? strew::dtype_from_name(argv[2]) : std::nullopt;
  if (!from || !to) {
    std::fprintf(stderr, "usage: strew_dump_conversions FROM TO, both dtypes\n");
    return 2;
  }
  const std::vector<unsigned char> in = read_all();
  std::vector<unsigned char> out;
  for (size_t at = 0; at + bytes_of(*from) <= in.size(); at += bytes_of(*from)) {
    Scalar value{*from, {0, 0}};
    for (size_t i = 0; i < bytes_of(*from); ++i) value.bits[i / 8] |= static_cast<uint64_t>(in[at + i]) << (i % 8 * 8);
    const Scalar converted = convert(value, *to);
    for (size_t i = 0; i < bytes_of(*to); ++i) out.push_back(static_cast<unsigned char>(converted.bits[i / 8] >> (i % 8 * 8)));
  }
  return std::fwrite(out.data(), 1, out.size(), stdout) == out.size() ? 0 : 1;
}
