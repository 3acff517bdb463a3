// write_elements(): the initial values of results, made along the loops of the plan's init, where a tensor has strides or several elements
// share a byte and are converted. See init.cc for all other results. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include <algorithm>
#include <optional>

#include "backends/pto/combine.h"
#include "backends/pto/scalars.h"
#include "backends/pto/spread.h"
#include "backends/pto/tiles.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kInitBytes = 1 << 10;

class ElementInit {
 public:
  ElementInit(Frame& frame, int pair)
      : frame_(frame),
        b_(frame.build),
        pair_(pair),
        result_(frame.plan.result(pair)),
        operand_(frame.plan.operand(pair)),
        copies_(frame.plan.init_kind == InitKind::copy),
        loops_(frame.plan.init),
        into_(frame, result_, frame.pointer(result_) + "_elements", constant(0)) {
    if (copies_) source_.emplace(frame, operand_, frame.pointer(operand_) + "_elements", constant(0));
  }

  Status run() {
    STREW_TRY(find_graph());
    Number run = b_.number(1);
    const auto adjacent = [&](int tensor) { return loops_.back().strides[static_cast<size_t>(tensor)].is(1); };
    if (!graph_ && !loops_.empty() && adjacent(result_) && (!copies_ || adjacent(operand_))) {
      run = frame_.number(loops_.back().extent);
      loops_.pop_back();
    }
    const int64_t most = kInitBytes * 8 / bits(frame_.words(result_).element.dtype) / frame_.words(result_).count;
    wide_ = std::clamp<int64_t>(run.value.value_or(most), 1, most);
    const Number step = b_.number(wide_);
    std::vector<Number> at;
    b_.loop("made", b_.number(0), frame_.allowed, b_.number(1), [&](const Number&) {
      write_nest(frame_, loops_, "init", at, [&] {
        std::vector<Mover> movers;
        for (size_t i = 0; i < loops_.size(); ++i) movers.push_back({at[i], loops_[i].strides});
        b_.loop("init", b_.number(0), run, step, [&](const Number& first) {
          part(first, b_.left(first, run, step, run.value && *run.value % wide_ == 0), movers);
        });
      });
    });
    return {};
  }

 private:
  /// Finds what the scalar unit computes for an element; nothing if elements are only moved.
  Status find_graph() {
    const DType from = frame_.plan.tensors[static_cast<size_t>(operand_)].dtype, to = frame_.stored(pair_).dtype;
    const bool packed = frame_.per_word(result_) > 1 || (copies_ && frame_.per_word(operand_) > 1);
    if (!packed && (!copies_ || from == to)) return {};
    ExprBuilder e;
    const int32_t value = copies_ ? e.as(e.current(0, from), to) : e.literal(fill());
    STREW_ASSIGN(graph_, scalar_graph(e.returns({value})));
    return {};
  }
  const Scalar& fill() const { return frame_.plan.init_fill[static_cast<size_t>(pair_)]; }

  Named tile(int tensor, const Number& count) {
    const Words& words = frame_.words(tensor);
    return b_.tile("made", words.element, 1, wide_ * words.count, b_.number(1), b_.mul(count, b_.number(words.count), "words"));
  }

  /// Makes elements [first, first + count) of the innermost loop.
  void part(const Number& first, const Number& count, const std::vector<Mover>& movers) {
    const Number zero = b_.number(0), one = b_.number(1);
    const Words& words = frame_.words(result_);
    const Named to = into_.part("element_to", zero, movers, first, one, count), out = tile(result_, count);
    const auto from = [&] { return source_->part("element_from", zero, movers, first, one, count); };
    if (graph_) {
      ElementTiles tiles{{}, {}, {}, 1, 1, one, one, {}};
      if (copies_) {
        tiles.currents.push_back(tile(operand_, count));
        b_.load(from(), tiles.currents[0]);
        if (frame_.per_word(operand_) > 1) tiles.shifts[tiles.currents[0].name] = source_->shift(movers);
      }
      if (frame_.per_word(result_) > 1) {
        b_.load(to, out);
        tiles.shifts[out.name] = into_.shift(movers);
      }
      write_scalars(b_, *graph_, tiles, {out});
    } else if (copies_) {
      b_.load(from(), out);
    } else {
      write_fill(frame_, words, out, one, b_.mul(count, b_.number(words.count), "words"), fill());
    }
    b_.store(out, to);
  }

  Frame& frame_;
  ProgramBuilder& b_;
  const int pair_, result_, operand_;
  const bool copies_;
  std::vector<Loop> loops_;
  const Grid into_;
  std::optional<Grid> source_;
  std::optional<lowered::Graph> graph_;
  int64_t wide_ = 1;  ///< elements of a tile
};

}  // namespace

Status write_elements(Frame& frame, int pair) { return ElementInit(frame, pair).run(); }

}  // namespace strew::inline v0::pto
