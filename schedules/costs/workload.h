// Workload: the numbers of a plan that decide how long a call takes: how many index positions there are, what a window is made of,
// and how much memory the call reaches. The cost model (predict.h) reads only these.
//
// An extent that only the call knows counts as kOpenExtent: large enough that a schedule for large calls is chosen, since a
// call that turns out small uses one thread (runtime/call/executor). Tested by tests/unit/schedules/costs/predict_test.cc.
#pragma once

#include "compiler/plan/plan.h"

namespace strew::inline v0 {

/// What a symbol of a plan counts as.
inline constexpr double kOpenExtent = 65536;

struct Workload {
  double positions = 0;
  double components = 1;  ///< numbers of an index vector
  double runs = 1;        ///< of a window: pieces of consecutive elements
  double run_bytes = 0;   ///< of the indexed tensor in such a piece; `element_bytes` if elements do not lie side by side
  double element_bytes = 1;
  double window_bytes = 0;             ///< of the indexed tensor: runs * run_bytes
  double lines = 1;                    ///< cache lines of the indexed tensor that a window touches
  double columns = 1;                  ///< iterations of column_loop(), which strategy window shares out
  bool columns_are_positions = false;  ///< that loop is one over positions
  double table_bytes = 0;              ///< of the indexed tensor
  double moved_bytes = 0;              ///< of the updates, or of a gather's result: read or written in order
  double lookup_bytes = 0;  ///< of the tables of look-ups, whose rows are read instead of what lies in order; 0: there are none
  double slabs = 1;  ///< groups of positions that strategy positions does not cut, since they may have the same destinations
  double coordinates = 1;  ///< of the operand dim that the first window loop moves, which strategy clip shares out
  double operations = 1;   ///< instructions per vector besides loads and stores
  double init_bytes = 0;   ///< of the results, if they are filled or copied first
  bool is_filled = false;  ///< it is filled
  double in_order =
      0;  ///< the part of the lines that follow the line before: all of slice updates, of sorted indices as many as lie densely
  bool gathers = false;
  bool moves = false;        ///< elements are copied as they are
  bool has_lanes = false;    ///< every element is a number of 1 to 8 whole bytes, as the lanes of vectors that can be masked
  bool reads_table = false;  ///< the combiner needs the current value
  bool is_element = false;   ///< windows of one element
  bool regroups = false;     ///< every grouping of updates gives the same bits
  bool is_open = false;      ///< some extent is known only at the call
};
/// What symbols count as in the extents of positions and windows, and in those of the indexed tensor.
struct OpenExtents {
  double moved = kOpenExtent, table = kOpenExtent;
};
Workload workload_of(const Plan& plan, const OpenExtents& open = {});
/// Is it known before the call how many windows of which size it moves?
bool moves_static(const Plan& plan);
/// Is that, or the extent of a dim that is indexed, known only at the call?
bool has_open_extents(const Plan& plan);

}  // namespace strew::inline v0
