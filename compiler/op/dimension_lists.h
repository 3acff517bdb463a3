// The lists of the dimension numbers (op.h) with StableHLO's names of them, in the order of canonical text.
#pragma once

#include <string_view>
#include <type_traits>

#include "strew/op.h"

namespace strew::inline v0 {

struct DimensionList {
  std::vector<int64_t> DimensionNumbers::*list;
  std::string_view of_scatter, of_gather;  ///< names

  template <class T>
  constexpr std::string_view name() const {
    return name(!std::is_base_of_v<Scatter, T>);
  }
  constexpr std::string_view name(bool gather) const { return gather ? of_gather : of_scatter; }
};

inline constexpr DimensionList kDimensionLists[] = {
    {&DimensionNumbers::window_dims, "update_window_dims", "offset_dims"},
    {&DimensionNumbers::removed_dims, "inserted_window_dims", "collapsed_slice_dims"},
    {&DimensionNumbers::operand_batching_dims, "input_batching_dims", "operand_batching_dims"},
    {&DimensionNumbers::indices_batching_dims, "scatter_indices_batching_dims", "start_indices_batching_dims"},
    {&DimensionNumbers::index_map, "scatter_dims_to_operand_dims", "start_index_map"},
};

}  // namespace strew::inline v0
