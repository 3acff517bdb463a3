// Simulates the instructions of the vector pipe. The instruction's row (compiler/pto/instructions.h) has the
// computation and the kinds of the operands. A mask has eight elements per byte here, in the same row: the bit of element
// `col` is in column col / 8. The chips pack masks in other ways, but a program cannot tell, because only tsel reads masks.
// Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc.
#include "backends/pto/simulate/core.h"

namespace strew::inline v0::pto {
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
    return fail(s, "the mask %" + *result + " is " + size_text(out.rows, out.cols) + ", expected a bit for each of " +
                       size_text(shape.valid_rows, shape.valid_cols));
  uint64_t mask = 0;  // the bits of up to 8 elements
  for (const auto& [r, c] : shape.elements()) {
    uint64_t in[2] = {0, 0};
    size_t count = 0;
    bool chosen = false;
    DType dtype = out.dtype;
    for (size_t g = 0; g < row.operands.size(); ++g) {
      const std::string& operand = s.operands[g][0];
      const Kind kind = row.operands[g].kind;
      if (kind == Kind::mask && !compares) {
        STREW_ASSIGN(const uint64_t byte, buffer_.read(s, value(operand).tile, r, c / 8, operand));
        chosen = (byte >> (c % 8) & 1) != 0;
      }
      if (kind == Kind::number) in[count++] = value(operand).code;
      if (kind != Kind::tile || row.operands[g].access != Access::read) continue;
      const Tile& tile = value(operand).tile;
      if (r >= tile.valid_rows || c >= tile.valid_cols)
        return fail(s, "the valid part of %" + operand + " is " + size_text(tile.valid_rows, tile.valid_cols) + ", expected " +
                           size_text(shape.valid_rows, shape.valid_cols));
      dtype = tile.dtype;
      STREW_ASSIGN(in[count++], buffer_.read(s, tile, r, c, operand));
    }
    if (compares) {
      mask |= uint64_t{compare(s.attribute("cmpMode"), dtype, in[0], in[1])} << c % 8;
      if (c % 8 == 7 || c + 1 == shape.valid_cols) buffer_.write(out, r, c / 8, std::exchange(mask, 0));
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
  count(now, shape);
  return {};
}

}  // namespace strew::inline v0::pto
