// See row_values.h. A tile has an element per lane. The elements of the row are folded into their lanes one after the other; then neighbours
// are folded until one lane is left: in round r, lane i becomes the fold of lanes 2 * i and 2 * i + 1, for i below lanes / 2^(r + 1). Tested by
// tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/row_values.h"

#include <algorithm>
#include <bit>

#include "backends/pto/combine.h"
#include "backends/pto/scalars.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::pto {

Expected<RowValues> RowValues::of(const Plan& plan) {
  RowValues out;
  out.extras_ = static_cast<size_t>(std::ranges::count(plan.tensors, Role::extra, &PlanTensor::role));
  for (const RowLocal& local : plan.locals) {
    const DType dtype = local.initial.dtype;
    ExprBuilder e;
    const int32_t lane = e.current(0, dtype), element = e.update(0, dtype);
    STREW_ASSIGN(lowered::Graph value, scalar_graph(local.value));
    STREW_ASSIGN(lowered::Graph fold, scalar_graph(e.returns({e.apply(local.fold, {lane, element})})));
    out.folds_.push_back({std::move(value), std::move(fold), local.initial, local.lanes});
  }
  return out;
}

/// Writes one fold.
class RowValues::Writer {
 public:
  Writer(ProgramBuilder& builder, const Fold& fold)
      : b_(builder), fold_(fold), words_(scalar_words(fold.initial.dtype)), count_(b_.number(words_.count)) {}

  /// `known`: the tiles of the values before it, of which the first is extra input number `extras`.
  Named run(size_t extras, const std::vector<Named>& known, const Elements& elements, const Read& read) {
    const Number one = b_.number(1), zero = b_.number(0), lanes = b_.number(fold_.lanes);
    const int64_t wide = fold_.lanes * words_.count;
    b_.note("a value of the row: a fold over its elements");
    lanes_ = b_.tile("lanes", {words_.word, false}, 1, wide, one, b_.number(wide));
    b_.loop("lane", zero, lanes, one, [&](const Number& lane) {
      std::vector<Named> initial;
      for (int64_t w = 0; w < words_.count; ++w)
        initial.push_back(b_.constant({words_.word, false}, word_of(fold_.initial, words_.word, w)));
      put(lane, initial);
    });
    elements([&](const Number& element) {
      std::map<std::pair<ExprOp, int32_t>, Input> inputs;
      for (const lowered::Graph::Input& input : fold_.value.inputs) {
        const bool is_known = input.op == ExprOp::extra && static_cast<size_t>(input.index) >= extras;
        inputs[{input.op, input.index}] = is_known ? Input{known[static_cast<size_t>(input.index) - extras], {}} : read(input);
      }
      ScalarCode code(b_, fold_.value, [&](const lowered::Graph::Input& input, int64_t word) {
        const Input& from = inputs.at({input.op, input.index});
        const Named out = get("by", from.tile, b_.number(word));
        return from.shift ? packed_element(b_, out, *from.shift, bits(input.dtype)) : out;
      });
      const std::vector<Named> value = code.result(0);
      const Number lane = b_.remainder(element, lanes, "lane_of");
      fold(lane, lane, [&](int64_t word) { return value[static_cast<size_t>(word)]; });
    });
    if (fold_.lanes > 1) write_rounds();
    return lanes_;
  }

 private:
  Named get(const char* hint, const Named& tile, const Number& at) {
    return b_.give(Opcode::tgetval, hint, make_scalar(tile.type.element.dtype), {tile.name, b_.use(at)});
  }
  Number place(const Number& lane, int64_t word) { return b_.add(b_.mul(lane, count_, "lane_at"), b_.number(word), "lane_at"); }
  void put(const Number& lane, const std::vector<Named>& value) {
    for (size_t w = 0; w < value.size(); ++w)
      b_.run(Opcode::tsetval, {lanes_.name, b_.use(place(lane, static_cast<int64_t>(w))), value[w].name});
  }
  /// Makes lane `into` the fold of lane `left` and of `right`, which gives its words.
  void fold(const Number& into, const Number& left, const std::function<Named(int64_t word)>& right) {
    ScalarCode code(b_, fold_.fold, [&](const lowered::Graph::Input& input, int64_t word) {
      return input.op == ExprOp::update ? right(word) : get("lane_now", lanes_, place(left, word));
    });
    const std::vector<Named> value = code.result(0);
    put(into, value);
  }
  void write_rounds() {
    const Number zero = b_.number(0), one = b_.number(1), two = b_.number(2);
    const int rounds = std::countr_zero(static_cast<unsigned>(fold_.lanes));
    b_.loop("round", zero, b_.number(rounds), one, [&](const Number& round) {
      const Number most = b_.number(fold_.lanes / 2);
      const Number pairs =
          round.value ? most : Number{b_.give(Opcode::shrsi, "pairs", make_index(), {b_.use(most), b_.use(round)}).name, {}};
      b_.loop("neighbours", zero, pairs, one, [&](const Number& lane) {
        const Number left = b_.mul(lane, two, "left_lane"), right = b_.add(left, one, "right_lane");
        fold(lane, left, [&](int64_t word) { return get("lane_next", lanes_, place(right, word)); });
      });
    });
  }

  ProgramBuilder& b_;
  const Fold& fold_;
  const ScalarWords words_;
  const Number count_;
  Named lanes_;
};

std::vector<Named> RowValues::write(Frame& frame, const Elements& elements, const Read& read) const {
  std::vector<Named> out;
  for (const Fold& fold : folds_) out.push_back(Writer(frame.build, fold).run(extras_, out, elements, read));
  return out;
}

}  // namespace strew::inline v0::pto
