// See check.h. Every core checks all indices and keeps the result in its own buffer, so all cores get the same result
// and none waits for another. All of them store the same words to `fault`. Tested by tests/golden/pto_program_test.cc
// and tests/differential/npu.
#include "backends/pto/check.h"

#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

Named element(Frame& frame, const Named& tile, const char* hint) {
  return frame.build.give(Opcode::tgetval, hint, make_scalar(DType::i32), {tile.name, frame.build.use(frame.build.number(0))});
}

}  // namespace

void add_fault(Frame& frame, const Named& cell, const Named& found) {
  ProgramBuilder& b = frame.build;
  const Named before = element(frame, cell, "before");
  const Named after = b.give(Opcode::maxsi, "after", make_scalar(DType::i32), {before.name, found.name});
  b.run(Opcode::tsetval, {cell.name, b.use(b.number(0)), after.name});
}

void write_check(Frame& frame, const std::function<void(const Named& cell)>& all) {
  ProgramBuilder& b = frame.build;
  b.note("check every index before anything is written");
  const Named cell = b.tile("faults", {DType::i32, false}, 1, 8, b.number(1), b.number(8));
  b.run(Opcode::texpands, {b.i32(0).name, cell.name});
  all(cell);
  const Named found = element(frame, cell, "found");
  const Number eight = b.number(8);
  const Named flag = b.view("fault_view", "fault", b.number(1), eight, eight);
  b.store(cell, b.part("fault_words", flag, b.number(0), b.number(0), b.number(1), eight));
  b.barrier();
  frame.allowed = b.sub(b.number(1), b.as_index("found_index", found.name), "allowed");
}

}  // namespace strew::inline v0::pto
