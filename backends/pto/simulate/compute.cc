// Simulates the instructions of the vector pipe. The instruction's row (compiler/pto/instructions.h) has the
// computation and the kinds of the operands. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include "backends/pto/simulate/core.h"

namespace strew::inline v0::pto {
namespace {

/// The column of the mask tile with the bit of element `col`: here a mask has eight elements per byte, in the same row.
/// The chips pack masks in other ways, but a program cannot tell, because only tsel reads masks.
int64_t mask_byte(int64_t col) { return col / 8; }

}  // namespace

Status Core::mask_bit(const Statement& s, const Tile& mask, int64_t row, int64_t col, const std::string& name, bool& bit) const {
  uint64_t byte = 0;
  STREW_TRY(buffer_.read(s, mask, row, mask_byte(col), name, byte));
  bit = (byte >> (col % 8) & 1) != 0;
  return {};
}

void Core::set_mask(const Tile& mask, const Tile& shape, const std::vector<bool>& bits_of) {
  for (int64_t r = 0; r < shape.valid_rows; ++r) {
    for (int64_t first = 0; first < shape.valid_cols; first += 8) {
      uint64_t byte = 0;
      for (int64_t c = first; c < std::min(first + 8, shape.valid_cols); ++c)
        if (bits_of[static_cast<size_t>(r * shape.valid_cols + c)]) byte |= uint64_t{1} << (c - first);
      buffer_.write(mask, r, mask_byte(first), byte);
    }
  }
}

Status Core::compute_tile(const Statement& s) {
  const Instruction& row = info(s.opcode);
  const Event now = issue(s, 0);
  const std::string* result = nullptr;  // the last operand that is written; a scratch tile comes before it
  for (size_t g = 0; g < row.operands.size(); ++g) {
    if (row.operands[g].access == Access::none) continue;
    STREW_TRY(touch(now, s.operands[g][0], row.operands[g].access));
    if (row.operands[g].access == Access::write) result = &s.operands[g][0];
  }
  const Tile& out = value(*result).tile;
  const bool compares = row.compute == Computation::compare;
  const Tile& shape = compares ? value(s.operands[0][0]).tile : out;
  if (compares && (out.rows < shape.valid_rows || out.cols * 8 < shape.valid_cols))
    return fail(s, "the mask %" + *result + " is " + std::to_string(out.rows) + "x" + std::to_string(out.cols) +
                       ", expected a bit for each of " + std::to_string(shape.valid_rows) + "x" +
                       std::to_string(shape.valid_cols));
  std::vector<bool> mask;
  for (int64_t r = 0; r < shape.valid_rows; ++r) {
    for (int64_t c = 0; c < shape.valid_cols; ++c) {
      uint64_t in[2] = {0, 0};
      size_t count = 0;
      bool chosen = false;
      DType dtype = out.dtype;
      for (size_t g = 0; g < row.operands.size(); ++g) {
        const std::string& operand = s.operands[g][0];
        const Kind kind = row.operands[g].kind;
        if (kind == Kind::mask && !compares) STREW_TRY(mask_bit(s, value(operand).tile, r, c, operand, chosen));
        if (kind == Kind::number) in[count++] = value(operand).code;
        if (kind != Kind::tile || row.operands[g].access != Access::read) continue;
        const Tile& tile = value(operand).tile;
        if (r >= tile.valid_rows || c >= tile.valid_cols)
          return fail(s, "the valid part of %" + operand + " is " + std::to_string(tile.valid_rows) + "x" +
                             std::to_string(tile.valid_cols) + ", expected " + std::to_string(shape.valid_rows) + "x" +
                             std::to_string(shape.valid_cols));
        dtype = tile.dtype;
        STREW_TRY(buffer_.read(s, tile, r, c, operand, in[count++]));
      }
      if (compares) {
        mask.push_back(compare(s.attribute("cmpMode"), dtype, in[0], in[1]));
        continue;
      }
      uint64_t code = in[chosen ? 0 : 1];
      if (row.compute == Computation::convert)
        code = convert(dtype, out.dtype, in[0], s.attribute("rmode"), s.attribute("satmode") == "ON");
      else if (row.compute == Computation::sequence)
        code = compute(Computation::add, out.dtype, in[0], static_cast<uint64_t>(c));
      else if (row.compute != Computation::select)
        code = compute(row.compute, dtype, in[0], in[1]);
      buffer_.write(out, r, c, code);
    }
  }
  if (compares) set_mask(out, shape, mask);
  count(now, shape);
  return {};
}

}  // namespace strew::inline v0::pto
