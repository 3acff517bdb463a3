// See lanes.h. A quotient by d of numbers x below 2^11 is x * ceil(2^21 / d) / 2^21, rounded down: d is 3 to 2^10, because an iteration of
// another loop takes part, so the product is below 2^31, and what it is too large, x * (d - 1) / d at most, is below 2^21 / d. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/lanes.h"

#include <bit>

namespace strew::inline v0::pto {
namespace {

constexpr int kShift = 21;

int64_t product(const std::vector<Loop>& loops, size_t from) {
  int64_t out = 1;
  for (size_t i = from; i < loops.size(); ++i) out *= loops[i].extent.factor;
  return out;
}

}  // namespace

Lanes::Lanes(Frame& frame, std::vector<Loop> loops, int64_t words)
    : frame_(frame),
      b_(frame.build),
      loops_(std::move(loops)),
      words_(words),
      count_(product(loops_, 0) * words),
      math_(frame.build, count_, ProgramBuilder::number(count_)) {}

Lanes::Steps Lanes::strides_in(int tensor) {
  return [tensor](const Loop& loop) { return loop.strides[static_cast<size_t>(tensor)]; };
}

bool Lanes::is_line(const Steps& steps) const {
  int64_t inner = 1;
  for (size_t i = loops_.size(); i-- > 0; inner *= loops_[i].extent.factor)
    if (!steps(loops_[i]).is(inner)) return false;
  return true;
}

bool Lanes::stays(const Steps& steps) const {
  return std::ranges::all_of(loops_, [&](const Loop& loop) { return steps(loop).is(0); });
}

const Named& Lanes::numbers() {
  if (numbers_.name.empty()) {
    numbers_ = line("lane");
    b_.count_up(numbers_, b_.number(0));
  }
  return numbers_;
}

Named Lanes::quotient_of(const Named& tile, int64_t divisor) {
  const Named out = line("quotient");
  const auto known = static_cast<uint64_t>(divisor);
  if (std::has_single_bit(known)) {
    b_.run(Opcode::tshrs, {tile.name, b_.i32(std::countr_zero(known)).name, out.name});
    return out;
  }
  b_.run(Opcode::tmuls, {tile.name, b_.i32(((int64_t{1} << kShift) + divisor - 1) / divisor).name, out.name});
  math_.scale(out, Opcode::tshrs, b_.number(kShift));
  return out;
}

Named Lanes::remainder_of(const Named& tile, const Named& quotient, int64_t divisor, const char* hint) {
  const Named out = line(hint);
  b_.run(Opcode::tmuls, {quotient.name, b_.i32(-divisor).name, out.name});
  b_.run(Opcode::tadd, {tile.name, out.name, out.name});
  return out;
}

const Named& Lanes::rest(size_t loop) {
  if (loop == loops_.size()) {
    if (words_ == 1) return numbers();
    Named& elements = rests_[loop];
    if (elements.name.empty()) elements = quotient_of(numbers(), words_);
    return elements;
  }
  if (!rests_.contains(loop)) {
    const Named inner = rest(loop + 1);
    rests_[loop] = quotient_of(inner, loops_[loop].extent.factor);
  }
  return rests_[loop];
}

const Named& Lanes::digit(size_t loop) {
  if (loop == 0) return rest(1);
  if (!digits_.contains(loop)) {
    const Named all = rest(loop + 1), outer = rest(loop);
    digits_[loop] = remainder_of(all, outer, loops_[loop].extent.factor, "digit");
  }
  return digits_[loop];
}

const Named& Lanes::word() {
  if (word_.name.empty()) {
    const Named elements = rest(loops_.size());
    word_ = remainder_of(numbers(), elements, words_, "word");
  }
  return word_;
}

void Lanes::prepare(const Steps& steps, bool as_words) {
  if (is_line(steps)) return static_cast<void>(as_words ? numbers() : rest(loops_.size()));
  for (size_t i = 0; i < loops_.size(); ++i)
    if (!steps(loops_[i]).is(0)) digit(i);
  if (as_words && words_ > 1) word();
}

Named Lanes::sums(const char* hint, const Steps& steps, bool as_words) {
  const Named out = line(hint);
  const auto copy = [&](const Named& from, const Number& by) { b_.run(Opcode::tmuls, {from.name, b_.i32(by).name, out.name}); };
  if (is_line(steps)) {
    copy(as_words ? numbers() : rest(loops_.size()), b_.number(1));
    return out;
  }
  bool fresh = true;
  for (size_t i = 0; i < loops_.size(); ++i) {
    const Term step = steps(loops_[i]);
    if (step.is(0)) continue;
    const Number by = b_.mul(frame_.number(step), b_.number(as_words ? words_ : 1), "step");
    const Named& from = digit(i);
    if (fresh) {
      copy(from, by);
    } else {
      const Named moved = line("moved");
      b_.run(Opcode::tmuls, {from.name, b_.i32(by).name, moved.name});
      b_.run(Opcode::tadd, {out.name, moved.name, out.name});
    }
    fresh = false;
  }
  const bool has_word = as_words && words_ > 1;
  if (fresh) {
    has_word ? copy(word(), b_.number(1)) : b_.run(Opcode::texpands, {b_.i32(0).name, out.name});
  } else if (has_word) {
    b_.run(Opcode::tadd, {out.name, word().name, out.name});
  }
  return out;
}

}  // namespace strew::inline v0::pto
