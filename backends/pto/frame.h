// Frame: the state that all parts of the planner share while they write one program: the plan, the function's
// parameters, the types in which elements are moved and computed, and the builder. Tested by
// tests/golden/pto_program_test.cc and tests/error/pto_program_error_test.cc.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/lower/graph.h"
#include "backends/lower/place_rule.h"
#include "backends/pto/builder.h"
#include "backends/pto/program.h"
#include "compiler/plan/plan.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

/// The first index component. Where a program reads index vectors as rows, it stands for all: they lie in one tensor.
inline const Component& index_of(const Plan& plan) { return plan.primary().components.front(); }
/// What the policy makes of component `k` of a source. Policy error: all indices are checked first (spread.h), and then trusted.
inline PlaceRule rule_of(const IndexSource& source, size_t k) { return place_rule(source.oob, source.components[k].window); }
/// Is a position dropped where an index of this look-up is out of bounds?
inline bool drops(const IndexSource& lookup) {
  const auto is_judged = [&](const Component& c) {
    const PlaceRule rule = place_rule(lookup.oob, c.window);
    return rule == PlaceRule::fits || rule == PlaceRule::inside;
  };
  return dropped(lookup.oob) == Dropped::nothing && std::ranges::any_of(lookup.components, is_judged);
}
/// The number of the source of a look-up that makes this tensor; 0: none does.
inline int lookup_source(const Plan& plan, int tensor) { return std::max(0, plan.tensors[static_cast<size_t>(tensor)].source); }
/// The tensor that a look-up makes: the program's argument is the table.
inline int table_of(const Plan& plan, size_t source) {
  return static_cast<int>(std::ranges::find(plan.tensors, static_cast<int>(source), &PlanTensor::source) - plan.tensors.begin());
}

/// The form in which a program moves the elements of a tensor: each as `count` words of an element type that the chip
/// can move.
struct Words {
  Element element;
  int64_t count = 1;
};

/// A tensor in memory: a parameter of the program.
struct Stored {
  std::string pointer;
  DType dtype;
  Words words;
};

/// How cores may share the work of a program of rows, besides what spread.h chooses first.
enum class Sharing : uint8_t {
  first,     ///< what spread.h chooses
  items,     ///< tiles in iterations of all loops rather than of one (Spread::items)
  launches,  ///< one launch makes the initial values, and the next one applies updates in any order, as `first` shares those
  launched_items,  ///< both
  buckets,         ///< one launch sorts positions by the core that owns their row, and in the next one each core applies its own
};
/// The parameters that the planner tries: a program is written for each of them, and the cheapest is taken
/// (plan_program.cc).
struct Attempt {
  int64_t rows = 8;       ///< the height of a data tile
  bool buffered = false;  ///< double buffering: two tiles per iteration
  Sharing sharing = Sharing::first;
  /// The combiner for the scalar unit, which evaluates it element by element; null: tiles or atomics combine.
  const lowered::Graph* scalars = nullptr;
  /// One element after the other is loaded, combined by the scalar unit and stored, which packed elements, of fewer than 8 bits, need: several
  /// share a byte.
  bool single = false;
  /// Wide accumulation where updates may meet: the dtypes of the results. The plan's results are accumulators in memory of the program's
  /// own, made of the results before the updates, and rounded to them afterwards; null: the plan's results are the op's.
  const std::vector<DType>* rounded = nullptr;
};

/// Whose rules of element types hold: those of ptoas or those of the headers alone.
inline Reader reader_of(Output output) { return output == Output::pto_ir ? Reader::ptoas : Reader::headers; }

class Frame {
 public:
  Frame(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip, const ProgramOptions& options, const Attempt& attempt);
  bool shares_items() const { return attempt.sharing == Sharing::items || attempt.sharing == Sharing::launched_items; }
  bool launches() const { return attempt.sharing == Sharing::launches || attempt.sharing == Sharing::launched_items; }
  /// Decides the element types and declares the parameters of the function. Fails with the reason if the op's tensors
  /// cannot be parameters.
  Status start();

  const Plan& plan;
  const Chip chip;
  const ProgramOptions& options;
  Attempt attempt;
  ProgramBuilder build;
  TileProgram program;

  /// Adds the parameter for the number of the launch, and returns the number.
  Number add_launch(int launches);
  /// Adds a parameter for memory of the program's own.
  void add_scratch(const std::string& name, Element element, int64_t elements);

  /// The value of a term of the plan; the products of its symbols are computed at the head of the function.
  Number number(const Term& term);
  /// `term` / `divisor`, which must divide it.
  Number number(const Term& term, int64_t divisor) { return number(Term{term.factor / divisor, term.symbols}); }
  /// The element type in which numbers of `dtype` are moved and computed: usually `dtype` itself; the signed type of
  /// the same width for unsigned numbers whose results have the same bits and for which the chip lacks instructions; u8 for truth values; and i32
  /// for the words of 64-bit integers, of which only bitwise operators are computed.
  DType carrier_type(DType dtype) const {
    if (dtype == DType::boolean) return DType::u8;
    if (is_integer(dtype) && bits(dtype) == 64) return DType::i32;
    return signed_instead_ && is_unsigned_integer(dtype) ? signed_of(dtype) : dtype;
  }
  /// Do the chip and the reader of the text allow the instruction on elements of this type?
  bool has(Opcode opcode, DType dtype) const { return allows(*info(opcode).legality, chip, reader_of(options.output), dtype); }
  /// Does the scalar unit combine the updates, element by element (combine.cc)?
  bool one_by_one() const { return attempt.scalars != nullptr; }
  const Words& words(int tensor) const { return words_[static_cast<size_t>(tensor)]; }
  const std::string& pointer(int tensor) const { return pointers_[static_cast<size_t>(tensor)]; }
  /// A pair's result as the caller sees it: the table, unless that is an accumulator (Attempt::rounded).
  const Stored& stored(int pair) const { return stored_[static_cast<size_t>(pair)]; }
  /// The number of elements of a tensor. One with strides may take more memory.
  Term extent(int tensor) const;
  /// The elements of the tensor's memory.
  Number elements(int tensor) {
    return has_strides(tensor) ? memory_[static_cast<size_t>(tensor)].count : number(extent(tensor));
  }
  /// Has the tensor strides, or does some tensor of the op? All others are contiguous and row-major.
  bool has_strides(int tensor) const {
    return types_[static_cast<size_t>(tensor)] != nullptr && !type_of(tensor).strides.empty();
  }
  bool has_strides() const {
    return std::ranges::any_of(types_, [](const TensorType* type) { return type != nullptr && !type->strides.empty(); });
  }
  /// The number of element [0, …, 0] of a tensor in its memory, whose elements elements() counts: strides may be negative.
  const Number& origin(int tensor) const { return memory_[static_cast<size_t>(tensor)].origin; }
  /// How many elements of the tensor share a word of its memory: more than 1 of a packed dtype.
  int64_t per_word(int tensor) const { return per_word_[static_cast<size_t>(tensor)]; }
  /// The elements of the tensor's memory, counted in words of packed dtypes.
  Number words_in(int tensor) { return build.ceil_div(elements(tensor), build.number(per_word(tensor)), "packed_words"); }
  /// Reads word `at` of a tensor from memory.
  Named load_word(const std::string& hint, int tensor, const Number& at) {
    return build.give(Opcode::load_scalar, hint, make_scalar(words(tensor).element.dtype), {pointer(tensor), build.use(at)});
  }
  /// The last coordinate at which a component's window may start; less than -1 if there is none.
  Number last_start(const Component& component);
  /// 0 if a dim of the table is empty that no index and no loop moves along, so that nothing is moved, else 1.
  Number reached();
  /// 1 if there are places, else 0.
  Number any(const Number& places);
  /// The term's value for cost estimates: every open extent counts as kAssumedExtent.
  int64_t assumed(const Term& term) const;
  /// The assumed number of iterations of a loop over `extent` in steps of `each`.
  int64_t assumed_trips(const Term& extent, int64_t each) const { return (assumed(extent) + each - 1) / each; }
  /// The bits of the widest element that is moved.
  int widest() const;
  /// The table of a pair: the indexed tensor, a scatter's result or a gather's operand.
  int table(int pair) const { return plan.gather ? plan.operand(0) : plan.result(pair); }
  bool scatter() const { return !plan.gather; }
  /// Are negative indices of the op itself errors beside its policy (ProgramOptions::non_negative)? Unsigned ones are never negative.
  bool judges_signs() const {
    const auto has_sign = [](const Component& c) { return is_signed_integer(c.dtype); };
    return options.non_negative && std::ranges::any_of(plan.primary().components, has_sign);
  }
  /// Does the program look at all indices before it writes anything?
  bool checks_first() const { return plan.checks_first() || judges_signs(); }

  /// PTO-AS: the length of the rows as which all statements view a result, because a memref has one shape there; 0: the
  /// result is one line.
  Term pitch = constant(0);

  /// The other ways in which cores could share the work.
  std::vector<Sharing> others;
  /// The variable of the loop over tiles, if cores may work on two of its turns at a time.
  std::string tile_loop;

  /// Policy error: 0 if the check found an index out of bounds, else 1. Without a check it is 1.
  Number allowed = ProgramBuilder::number(1);
  /// The bound of a loop that must not run after a fault: `bound` times `allowed`.
  Number guarded(const Number& bound) { return build.mul(bound, allowed, "bound"); }

 private:
  bool needs_signed_fill(const TensorType& type) const;
  bool computes_signed() const;
  static DType signed_of(DType dtype);
  Status add_tensor(const TensorSlot& slot, int tensor);
  void add_accumulator(const TensorSlot& slot, int tensor);
  void find_table_extent(int tensor);
  std::string add_extent(ProgramArgument scalar);
  void measure(int tensor, int place);
  const TensorType& type_of(int tensor) const { return *types_[static_cast<size_t>(tensor)]; }

  std::span<const TensorSlot> slots_;
  bool signed_instead_ = false;
  std::vector<const TensorType*> types_;
  std::vector<Words> words_;
  std::vector<int64_t> per_word_;
  std::vector<std::string> pointers_;
  std::vector<Stored> stored_;  ///< per pair
  /// The memory of a tensor with strides, as memory_of() says; of others, `origin` is 0.
  struct Memory {
    Number origin = ProgramBuilder::number(0), count;
  };
  std::vector<Memory> memory_;
  std::vector<Term> table_extents_;  ///< for each tensor that a look-up makes: the elements of its table
  std::vector<std::string> symbol_scalars_;
  std::map<std::pair<int64_t, std::vector<int>>, Number> numbers_;
};

/// Is the extent of one of the loops 0?
inline bool has_zero(const std::vector<Loop>& loops) {
  return std::ranges::any_of(loops, [](const Loop& loop) { return loop.extent.is(0); });
}
/// Does the number divide the term's constant factor?
inline bool divides(const Term& term, int64_t divisor) { return term.factor % divisor == 0; }

}  // namespace strew::inline v0::pto
