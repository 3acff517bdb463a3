// See index_math.h. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/index_math.h"

namespace strew::inline v0::pto {

Named IndexMath::line(const std::string& hint, DType dtype) {
  return b_.tile(hint, {dtype, false}, 1, capacity_, b_.number(1), count_);
}

void IndexMath::scale(const Named& tile, Opcode opcode, const Number& by) {
  if ((opcode == Opcode::tadds && by.is(0)) || (opcode == Opcode::tmuls && by.is(1))) return;
  b_.run(opcode, {tile.name, b_.i32(by).name, tile.name});
}

Named IndexMath::sign(const Named& tile, const char* hint) {
  const Named out = line(hint);
  b_.run(Opcode::tmaxs, {tile.name, b_.i32(-1).name, out.name});
  scale(out, Opcode::tmins, b_.number(0));
  return out;
}

void IndexMath::bound(const Named& tile, const Number& limit, Named& bad) {
  scale(tile, Opcode::tmaxs, b_.number(-1));
  scale(tile, Opcode::tmins, b_.add(limit, b_.number(1), "beyond"));
  const Named off = line("off");
  b_.run(Opcode::tmaxs, {tile.name, b_.i32(0).name, off.name});
  scale(off, Opcode::tmins, limit);
  // Both the distance (for `bad`) and the clamped value (for `tile`) are needed.
  const Named distance = line("distance");
  b_.run(Opcode::tsub, {tile.name, off.name, distance.name});
  b_.run(Opcode::tmul, {distance.name, distance.name, distance.name});
  b_.run(Opcode::tadds, {off.name, b_.i32(0).name, tile.name});
  add_bad(distance, bad);
}

void IndexMath::add_bad(const Named& wrong, Named& bad) {
  if (bad.name.empty()) {
    bad = wrong;
  } else {
    b_.run(Opcode::tmax, {bad.name, wrong.name, bad.name});
  }
}

void IndexMath::saturate(const Named& tile) {
  const Named high = sign(tile, "from_2_31");
  scale(high, Opcode::tmuls, b_.number(-kEnd));
  b_.run(Opcode::tmax, {tile.name, high.name, tile.name});
}

Named IndexMath::narrow(const Named& low, const Named& high, bool is_signed) {
  const Named low_sign = sign(low, "low_sign");
  if (is_signed) {
    // high - sign(low) is 0 if the value fits i32; otherwise it has the value's sign.
    scale(high, Opcode::tmaxs, b_.number(-2));
    scale(high, Opcode::tmins, b_.number(1));
    b_.run(Opcode::tsub, {high.name, low_sign.name, high.name});
    scale(high, Opcode::tmaxs, b_.number(-1));
    scale(high, Opcode::tmins, b_.number(1));
  } else {
    scale(high, Opcode::tmaxs, b_.number(-1));
    scale(high, Opcode::tmins, b_.number(1));
    b_.run(Opcode::tmul, {high.name, high.name, high.name});
    b_.run(Opcode::tmul, {low_sign.name, low_sign.name, low_sign.name});
    b_.run(Opcode::tmax, {high.name, low_sign.name, high.name});
  }
  // high is now -1, 0 or 1, and the result is low * (1 - high * high) + high * kEnd.
  b_.run(Opcode::tmul, {high.name, high.name, low_sign.name});
  scale(low_sign, Opcode::tmuls, b_.number(-1));
  scale(low_sign, Opcode::tadds, b_.number(1));
  b_.run(Opcode::tmul, {low.name, low_sign.name, low.name});
  scale(high, Opcode::tmuls, b_.number(kEnd));
  b_.run(Opcode::tadd, {low.name, high.name, low.name});
  return low;
}

void IndexMath::from_end(const Named& tile, const Number& dim) {
  b_.note("negative indices count from the end");
  const Named negative = sign(tile, "negative");
  scale(negative, Opcode::tmuls, b_.sub(b_.number(0), dim, "minus_dim"));
  b_.run(Opcode::tadd, {tile.name, negative.name, tile.name});
}

void IndexMath::lift(const Named& tile, const Number& dim) {
  b_.note("negative indices: up by a multiple of the extent, so that the chip's u32 remainder is the one wanted");
  const Named negative = sign(tile, "negative");
  const Number by = b_.mul(b_.ceil_div(b_.number(kEnd + 1), dim, "times"), dim, "lift");
  scale(negative, Opcode::tmuls, b_.number(-1));
  scale(negative, Opcode::tmuls, by);
  b_.run(Opcode::tadd, {tile.name, negative.name, tile.name});
}

void IndexMath::send_away(const Named& rows, const Named& bad, const Number& total) {
  if (bad.name.empty()) return;
  scale(bad, Opcode::tmuls, b_.sub(b_.number(0), total, "beyond_all"));
  b_.run(Opcode::tadd, {rows.name, bad.name, rows.name});
}

}  // namespace strew::inline v0::pto
