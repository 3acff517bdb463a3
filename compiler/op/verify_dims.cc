// Verifies the dimension numbers of both ops: C2 and C7 to C22 of StableHLO's scatter, and those of C1 to C19 of its gather that
// need no slice sizes. The constraints are the same; labels and names of fields differ. A list is checked to be in range before
// other checks index with it. Tested by tests/unit/compiler/op/verify_scatter_test.cc and verify_gather_test.cc, one test per label.
#include <algorithm>

#include "compiler/op/dimension_lists.h"
#include "compiler/op/limits.h"
#include "compiler/op/verify_common.h"

namespace strew::inline v0 {
namespace {

struct Label {
  std::string_view of_scatter, of_gather;
};

enum List : uint8_t { kWindow, kRemoved, kBatching, kPaired, kMap };  // in the order of kDimensionLists

class Check {
 public:
  /// `tensors`: how many index tensors there are.
  Check(bool gather, const DimensionNumbers& numbers, const TensorType& operand, const TensorType& indices, size_t tensors)
      : gather_(gather), numbers_(numbers), operand_(operand), indices_(indices), tensors_(static_cast<int64_t>(tensors)) {}

  Status run(int64_t slices_rank, bool equal) const {
    STREW_TRY(rank());
    STREW_TRY(range({"scatter_c8", "gather_c5"}, kWindow, slices_rank, gather_ ? "result" : "updates"));
    STREW_TRY(range({"scatter_c11", "gather_c8"}, kRemoved, operand_.rank(), "operand"));
    STREW_TRY(range({"scatter_c13", "gather_c11"}, kBatching, operand_.rank(), "operand"));
    STREW_TRY(range({"scatter_c15", "gather_c14"}, kPaired, indices_.rank(), "indices"));
    STREW_TRY(range({"scatter_c21", "gather_c19"}, kMap, operand_.rank(), "operand"));
    STREW_TRY(unique({"scatter_c7", "gather_c4"}, {kWindow}));
    STREW_TRY(sorted({"scatter_c7", "gather_c4"}, kWindow));
    STREW_TRY(unique({"scatter_c9", "gather_c6"}, {kRemoved, kBatching}));
    STREW_TRY(sorted({"scatter_c10", "gather_c7"}, kRemoved));
    STREW_TRY(sorted({"scatter_c12", "gather_c10"}, kBatching));
    STREW_TRY(vector_dim());
    STREW_TRY(unique({"scatter_c14", "gather_c13"}, {kPaired}));
    STREW_TRY(paired(equal));
    STREW_TRY(components());
    return unique({"scatter_c20", "gather_c18"}, {kMap, kBatching});
  }

 private:
  const std::vector<int64_t>& entries(List list) const { return numbers_.*kDimensionLists[list].list; }
  std::string_view name(List list) const { return kDimensionLists[list].name(gather_); }
  std::string text(List list) const { return message("{} is {}", name(list), entries(list)); }

  template <class... Args>
  Status fail(const Label& label, MessageText<Args...> text, const Args&... args) const {
    return violated(gather_ ? label.of_gather : label.of_scatter, text, args...);
  }

  Status rank() const {
    const size_t window = entries(kWindow).size(), removed = entries(kRemoved).size(), batching = entries(kBatching).size();
    if (operand_.dims.size() == window + removed + batching) return {};
    return fail({"scatter_c2", "gather_c1"}, "{} is {} of rank {}; expected size({}) + size({}) + size({}) = {} + {} + {}",
                gather_ ? "operand" : "operand[0]", operand_, operand_.rank(), name(kWindow), name(kRemoved), name(kBatching),
                window, removed, batching);
  }

  /// Every entry is in [0, end), the rank of `tensor`.
  Status range(const Label& label, List list, int64_t end, std::string_view tensor) const {
    for (const int64_t value : entries(list))
      if (value < 0 || value >= end)
        return fail(label, "{} and holds {}; expected entries from 0 to below {}, the rank of {}", text(list), value, end,
                    tensor);
    return {};
  }

  Status sorted(const Label& label, List list) const {
    if (std::is_sorted(entries(list).begin(), entries(list).end())) return {};
    return fail(label, "{}; expected ascending order", text(list));
  }

  /// No dim occurs twice in the lists together.
  Status unique(const Label& label, std::initializer_list<List> lists) const {
    static_assert(kMaxRank <= 64);
    uint64_t seen = 0;
    for (const List list : lists)
      for (const int64_t dim : entries(list)) {
        const uint64_t bit = uint64_t{1} << dim;
        if ((seen & bit) != 0)
          return fail(label, "{}{}{}; expected each entry once, {} is there more often", text(*lists.begin()),
                      lists.size() > 1 ? " and " : "", lists.size() > 1 ? text(lists.begin()[1]) : "", dim);
        seen |= bit;
      }
    return {};
  }

  Status vector_dim() const {
    if (numbers_.index_vector_dim >= 0 && numbers_.index_vector_dim <= indices_.rank()) return {};
    return fail({"scatter_c22", "gather_c2"}, "index_vector_dim is {}; expected from 0 to {}, the rank of indices {}",
                numbers_.index_vector_dim, indices_.rank(), indices_);
  }

  /// The batching dims of indices are those of the operand, pair by pair: of the same extent (`equal`) or at most that.
  Status paired(bool equal) const {
    const std::vector<int64_t>&batching = entries(kBatching), &paired = entries(kPaired);
    if (std::find(paired.begin(), paired.end(), numbers_.index_vector_dim) != paired.end())
      return fail({"scatter_c16", "gather_c15"}, "{}; expected it without index_vector_dim, {}", text(kPaired),
                  numbers_.index_vector_dim);
    if (batching.size() != paired.size())
      return fail({"scatter_c17", "gather_c16"}, "{}; expected as many entries as {}, {}", text(kPaired), name(kBatching),
                  batching);
    for (size_t i = 0; i < batching.size(); ++i) {
      const int64_t have = indices_.dims[paired[i]], want = operand_.dims[batching[i]];
      if (!dims_agree(have, want) && (equal || have > want))
        return fail({"scatter_c18", "gather_c17"}, "indices is {}; expected its batching dim {} to be {}{}, dim {} of operand {}",
                    indices_, paired[i], equal ? "" : "at most ", want, batching[i], operand_);
    }
    return {};
  }

  /// The map has one entry per component of the index vector.
  Status components() const {
    const int64_t dim = numbers_.index_vector_dim, count = dim < indices_.rank() ? indices_.dims[dim] : tensors_;
    if (count != kDynamic && static_cast<int64_t>(entries(kMap).size()) == count) return {};
    return fail({"scatter_c19", "gather_c3"},
                "{}; expected one entry per component of the index vector, {}: indices is {}, index_vector_dim {}{}", text(kMap),
                count == kDynamic ? "? (it must be static)" : std::to_string(count), indices_, dim,
                tensors_ > 1 ? ", and each of more_indices has one" : "");
  }

  const bool gather_;
  const DimensionNumbers& numbers_;
  const TensorType &operand_, &indices_;
  const int64_t tensors_;
};

}  // namespace

Status check_dimension_numbers(const Scatter& s, bool equal_batching_dims) {
  const TensorType& operand = s.operands[0];
  const size_t tensors = s.more_indices.size() + 1;
  if (is_static(operand.dims))
    return Check(false, s.dims, operand, s.indices, tensors).run(s.updates[0].rank(), equal_batching_dims);
  TensorType indexed = operand;  // with what the result says of open extents
  for (size_t d = 0; d < indexed.dims.size(); ++d) unify(indexed.dims[d], s.results[0].dims[d]);
  return Check(false, s.dims, indexed, s.indices, tensors).run(s.updates[0].rank(), equal_batching_dims);
}

Status check_dimension_numbers(const Gather& g, bool equal_batching_dims) {
  return Check(true, g.dims, g.operand, g.indices, g.more_indices.size() + 1).run(g.result.rank(), equal_batching_dims);
}

}  // namespace strew::inline v0
