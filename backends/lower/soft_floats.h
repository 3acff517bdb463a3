// without_floats(): a lowered graph in integers only, for targets whose numbers have no floats.
#pragma once

#include "backends/lower/graph.h"
#include "strew/export.h"
#include "strew/status.h"

namespace strew::inline v0::lowered {

/// `graph` has no compounds but those on integers that `natives` names. In the result, some of whose nodes may be needless, a float only
/// enters, as an input whose bits are cast to an integer, and leaves, cast from one. Fails for sqrt and for functions of the math table,
/// which would take hundreds of operations on integers.
STREW_API Expected<Graph> without_floats(const Graph& graph, Natives natives);

}  // namespace strew::inline v0::lowered
