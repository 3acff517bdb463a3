// Frame: what every part of the planner shares: the plan, the parameters, how elements travel, and the builder.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/pto/builder.h"
#include "backends/pto/program.h"
#include "compiler/plan/plan.h"

namespace strew::inline v0::pto {

/// How an element of a tensor travels: as `count` words of an element type the chip moves.
struct Words {
  Element element;
  int64_t count = 1;
};

/// What one attempt to write the program was asked for.
struct Attempt {
  int64_t rows = 8;  ///< of a data tile
  bool buffered = false;
};

class Frame {
 public:
  Frame(std::span<const TensorSlot> tensors, const Plan& plan, Chip chip, const ProgramOptions& options, const Attempt& attempt);
  /// Parameters of the function, or why there can be none.
  Status start();

  const Plan& plan;
  const Chip chip;
  const ProgramOptions& options;
  Attempt attempt;
  ProgramBuilder build;
  Program program;

  /// A term of the plan; makes the scalar parameters' values.
  Number number(const Term& term);
  /// `term` / `divisor`, which must divide it.
  Number number(const Term& term, int64_t divisor);
  /// The element type that numbers of `dtype` are computed in: the signed one of the width where that is the same and the chip lacks
  /// the unsigned one.
  DType travels(DType dtype) const {
    const bool other = is_unsigned_integer(dtype) || (one_by_one_ && dtype == DType::boolean);
    return signed_instead_ && other ? signed_of(dtype) : dtype;
  }
  /// Are updates combined with scalar arithmetic, element by element?
  bool one_by_one() const { return one_by_one_; }
  const Words& words(int tensor) const { return words_[static_cast<size_t>(tensor)]; }
  const std::string& pointer(int tensor) const { return pointers_[static_cast<size_t>(tensor)]; }
  /// Elements of a tensor.
  Term extent(int tensor) const;
  Number elements(int tensor) { return number(extent(tensor)); }
  /// The last place where a component's window may start.
  Number last_start(const Component& component);
  /// What an open extent counts as in the cost report, and where tiles are chosen.
  int64_t assumed(const Term& term) const;
  /// How many turns a loop over that many takes, `each` at a time.
  int64_t turns(const Term& extent, int64_t each) const { return (assumed(extent) + each - 1) / each; }
  /// Bits of the widest element that moves.
  int widest() const;
  /// The tensor whose places the indices name.
  int table(int pair) const { return plan.gather ? plan.operand(0) : plan.result(pair); }
  bool scatter() const { return !plan.gather; }

  /// PTO-AS: rows that results are seen in, so that a memory has one shape; 0: as one line.
  Term pitch = constant(0);

  /// 1 where the checks found nothing, and what loops multiply their bounds with; 1 without checks.
  Number allowed = ProgramBuilder::number(1);
  /// `bound`, or 0 where an index was out of bounds.
  Number guarded(const Number& bound) { return build.mul(bound, allowed, "bound"); }

 private:
  bool fills(const TensorType& type) const;
  bool computes_signed() const;
  bool computes_one_by_one() const;
  static DType signed_of(DType dtype);
  Status add_tensor(const TensorSlot& slot, int tensor);
  const TensorType& type_of(int tensor) const { return *types_[static_cast<size_t>(tensor)]; }

  std::span<const TensorSlot> slots_;
  bool signed_instead_ = false, one_by_one_ = false;
  std::vector<const TensorType*> types_;
  std::vector<Words> words_;
  std::vector<std::string> pointers_;
  std::vector<std::string> symbol_scalars_;
  std::map<std::pair<int64_t, std::vector<int>>, Number> numbers_;
};

/// A term divided by a number, or false where it does not divide.
bool divides(const Term& term, int64_t divisor);
Term divided(Term term, int64_t divisor);

}  // namespace strew::inline v0::pto
