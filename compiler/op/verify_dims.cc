// Verifies the dimension numbers of both ops: C2 and C7 to C22 of StableHLO's scatter, and those of C1 to C19 of its gather that
// need no slice sizes. The constraints are the same; labels and names of fields differ. A list is checked to be in range before
// other checks index with it. Tested by tests/unit/compiler/op/verify_scatter_test.cc and verify_gather_test.cc, one test per label.
#include <algorithm>

#include "compiler/op/dimension_lists.h"
#include "compiler/op/verify_common.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

/// What messages of one kind of op call its tensors, and the labels of its constraints.
struct Words {
  std::string_view DimensionList::*name;
  std::string_view operand, slices;
  std::string_view rank, window_order, window_range, removed_unique, removed_order, removed_range, batching_order, batching_range;
  std::string_view vector_dim, paired_unique, paired_range, paired_vector, paired_count, paired_extents;
  std::string_view map_size, map_unique, map_range;
};
constexpr Words kScatter{&DimensionList::of_scatter,
                         "operand[0]",
                         "updates",
                         "scatter_c2",
                         "scatter_c7",
                         "scatter_c8",
                         "scatter_c9",
                         "scatter_c10",
                         "scatter_c11",
                         "scatter_c12",
                         "scatter_c13",
                         "scatter_c22",
                         "scatter_c14",
                         "scatter_c15",
                         "scatter_c16",
                         "scatter_c17",
                         "scatter_c18",
                         "scatter_c19",
                         "scatter_c20",
                         "scatter_c21"};
constexpr Words kGather{&DimensionList::of_gather,
                        "operand",
                        "result",
                        "gather_c1",
                        "gather_c4",
                        "gather_c5",
                        "gather_c6",
                        "gather_c7",
                        "gather_c8",
                        "gather_c10",
                        "gather_c11",
                        "gather_c2",
                        "gather_c13",
                        "gather_c14",
                        "gather_c15",
                        "gather_c16",
                        "gather_c17",
                        "gather_c3",
                        "gather_c18",
                        "gather_c19"};

enum List : uint8_t { kWindow, kRemoved, kBatching, kPaired, kMap };  // in the order of kDimensionLists

class Check {
 public:
  Check(const Words& words, const DimensionNumbers& numbers, const TensorType& operand, const TensorType& indices)
      : words_(words), numbers_(numbers), operand_(operand), indices_(indices) {}

  Status run(int64_t slices_rank, bool equal) const {
    STREW_TRY(rank());
    STREW_TRY(unique(words_.window_order, {kWindow}));
    STREW_TRY(sorted(words_.window_order, kWindow));
    STREW_TRY(range(words_.window_range, kWindow, slices_rank, words_.slices));
    STREW_TRY(unique(words_.removed_unique, {kRemoved, kBatching}));
    STREW_TRY(sorted(words_.removed_order, kRemoved));
    STREW_TRY(range(words_.removed_range, kRemoved, operand_.rank(), "operand"));
    STREW_TRY(sorted(words_.batching_order, kBatching));
    STREW_TRY(range(words_.batching_range, kBatching, operand_.rank(), "operand"));
    STREW_TRY(vector_dim());
    STREW_TRY(unique(words_.paired_unique, {kPaired}));
    STREW_TRY(range(words_.paired_range, kPaired, indices_.rank(), "indices"));
    STREW_TRY(paired(equal));
    STREW_TRY(components());
    STREW_TRY(unique(words_.map_unique, {kMap, kBatching}));
    return range(words_.map_range, kMap, operand_.rank(), "operand");
  }

 private:
  const std::vector<int64_t>& entries(List list) const { return numbers_.*kDimensionLists[list].list; }
  std::string name(List list) const { return std::string(kDimensionLists[list].*words_.name); }
  std::string text(List list) const { return name(list) + " is " + dims_text(entries(list)); }

  Status rank() const {
    constexpr List kParts[] = {kWindow, kRemoved, kBatching};
    size_t sum = 0;
    for (const List list : kParts) sum += entries(list).size();
    if (operand_.dims.size() == sum) return {};
    std::string names, sizes;
    for (const List list : kParts) {
      names += (names.empty() ? "size(" : " + size(") + name(list) + ")";
      sizes += (sizes.empty() ? "" : " + ") + std::to_string(entries(list).size());
    }
    return violated(words_.rank, std::string(words_.operand) + " is " + print(operand_) + " of rank " +
                                     std::to_string(operand_.rank()) + "; expected " + names + " = " + sizes);
  }

  /// Every entry is in [0, end), the rank of `tensor`.
  Status range(std::string_view label, List list, int64_t end, std::string_view tensor) const {
    for (const int64_t value : entries(list)) {
      if (value >= 0 && value < end) continue;
      return violated(label, text(list) + " and holds " + std::to_string(value) + "; expected entries from 0 to below " +
                                 std::to_string(end) + ", the rank of " + std::string(tensor));
    }
    return {};
  }

  Status sorted(std::string_view label, List list) const {
    if (std::is_sorted(entries(list).begin(), entries(list).end())) return {};
    return violated(label, text(list) + "; expected ascending order");
  }

  /// No dim occurs twice in the lists together.
  Status unique(std::string_view label, std::initializer_list<List> lists) const {
    uint64_t seen = 0;
    bool few = true;  // entries from 0 to 63 need no memory
    for (const List list : lists)
      for (const int64_t dim : entries(list)) {
        const uint64_t bit = uint64_t{1} << (static_cast<uint64_t>(dim) & 63);
        few = few && dim >= 0 && dim < 64 && (seen & bit) == 0;
        seen |= bit;
      }
    if (few) return {};
    std::vector<int64_t> all;
    std::string message;
    for (const List list : lists) {
      all.insert(all.end(), entries(list).begin(), entries(list).end());
      message += (message.empty() ? "" : " and ") + text(list);
    }
    std::sort(all.begin(), all.end());
    const auto twice = std::adjacent_find(all.begin(), all.end());
    if (twice == all.end()) return {};
    return violated(label, message + "; expected each entry once, " + std::to_string(*twice) + " is there more often");
  }

  Status vector_dim() const {
    if (numbers_.index_vector_dim >= 0 && numbers_.index_vector_dim <= indices_.rank()) return {};
    return violated(words_.vector_dim, "index_vector_dim is " + std::to_string(numbers_.index_vector_dim) +
                                           "; expected from 0 to " + std::to_string(indices_.rank()) + ", the rank of indices " +
                                           print(indices_));
  }

  /// The batching dims of indices are those of the operand, pair by pair: of the same extent (`equal`) or at most that.
  Status paired(bool equal) const {
    const std::vector<int64_t>&batching = entries(kBatching), &paired = entries(kPaired);
    if (std::find(paired.begin(), paired.end(), numbers_.index_vector_dim) != paired.end())
      return violated(words_.paired_vector,
                      text(kPaired) + "; expected it without index_vector_dim, " + std::to_string(numbers_.index_vector_dim));
    if (batching.size() != paired.size())
      return violated(words_.paired_count,
                      text(kPaired) + "; expected as many entries as " + name(kBatching) + ", " + dims_text(batching));
    for (size_t i = 0; i < batching.size(); ++i) {
      const int64_t have = indices_.dims[static_cast<size_t>(paired[i])], want = operand_.dims[static_cast<size_t>(batching[i])];
      if (dims_agree(have, want) || (!equal && have < want)) continue;
      return violated(words_.paired_extents, "indices is " + print(indices_) + "; expected its batching dim " +
                                                 std::to_string(paired[i]) + " to be " + (equal ? "" : "at most ") +
                                                 std::to_string(want) + ", dim " + std::to_string(batching[i]) + " of operand " +
                                                 print(operand_));
    }
    return {};
  }

  /// The map has one entry per component of the index vector.
  Status components() const {
    const int64_t dim = numbers_.index_vector_dim, count = dim < indices_.rank() ? indices_.dims[static_cast<size_t>(dim)] : 1;
    if (count != kDynamic && static_cast<int64_t>(entries(kMap).size()) == count) return {};
    const std::string size = count == kDynamic ? "? (it must be static)" : std::to_string(count);
    return violated(words_.map_size, text(kMap) + "; expected one entry per component of the index vector, " + size +
                                         ": indices is " + print(indices_) + ", index_vector_dim " + std::to_string(dim));
  }

  const Words& words_;
  const DimensionNumbers& numbers_;
  const TensorType &operand_, &indices_;
};

}  // namespace

Status check_dimension_numbers(const Scatter& s, bool equal_batching_dims) {
  return Check(kScatter, s.dims, s.operands[0], s.indices).run(s.updates[0].rank(), equal_batching_dims);
}

Status check_dimension_numbers(const Gather& g, bool equal_batching_dims) {
  return Check(kGather, g.dims, g.operand, g.indices).run(g.result.rank(), equal_batching_dims);
}

}  // namespace strew::inline v0
