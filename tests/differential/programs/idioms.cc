// See grower.h: nodes that stand together in models, each of which reads the one before: import makes one kernel of many of them.
#include "tests/differential/programs/grower.h"

namespace strew::test {

/// Draws nodes of which each reads the last value.
Expected<Drawn> Grower::row_of(const std::vector<Draw>& nodes) {
  const bool before = std::exchange(reads_last_, true);
  Expected<Drawn> last = nothing("no nodes");
  for (const Draw draw : nodes) {
    last = (this->*draw)();
    if (!last.ok() || !fits(last->dims)) break;
    drawn_.push_back(*last);
  }
  reads_last_ = before;
  return last;
}

/// Rows that are read by indices, with elementwise work or without.
std::vector<Grower::Draw> Grower::rows_and_work() {
  static const std::vector<Draw> gathers{&Grower::gather, &Grower::gather_rows, &Grower::gather_nd, &Grower::gather_elements},
      between{&Grower::map, &Grower::apply, &Grower::convert, &Grower::reshape_units, &Grower::transpose};
  std::vector<Draw> nodes{rng_.pick(gathers)};
  for (int64_t n = rng_.below(3); n > 0; --n) nodes.push_back(rng_.pick(between));
  return nodes;
}

Grower::Draw Grower::row_scatter() {
  static const std::vector<Draw> scatters{&Grower::scatter_rows, &Grower::scatter_rows, &Grower::scatter_elements};
  return rng_.pick(scatters);
}

/// Such rows, added to other rows.
Expected<Drawn> Grower::messages() {
  std::vector<Draw> nodes = rows_and_work();
  nodes.push_back(row_scatter());
  return row_of(nodes);
}

/// The same, by two or three scatters.
Expected<Drawn> Grower::messages_shared() {
  const Expected<Drawn> rows = row_of(rows_and_work());
  if (!rows.ok()) return rows;
  Expected<Drawn> last = nothing("no scatters");
  for (int64_t n = rng_.between(2, 3); n > 0; --n) {
    drawn_.push_back(*rows);  // what the scatter reads is the last value again
    last = row_of({row_scatter()});
    if (!last.ok()) break;
  }
  return last;
}

/// Rows that are read by indices and reduced.
Expected<Drawn> Grower::bags() {
  static const std::vector<Draw> between{&Grower::map, &Grower::apply, &Grower::reshape},
      reductions{&Grower::reduce, &Grower::reduce_by_graph};
  std::vector<Draw> nodes{rng_.chance(60) ? &Grower::gather : &Grower::gather_rows};
  if (rng_.chance(60)) nodes.push_back(rng_.pick(between));
  nodes.push_back(rng_.pick(reductions));
  return row_of(nodes);
}

/// A kernel between transposes.
Expected<Drawn> Grower::transposed() {
  static const std::vector<Draw> kernels{&Grower::scatter_nd,       &Grower::tensor_scatter, &Grower::scatter_rows,
                                         &Grower::scatter_elements, &Grower::gather,         &Grower::gather_nd,
                                         &Grower::gather_elements};
  return row_of({&Grower::transpose, rng_.pick(kernels), &Grower::transpose});
}

}  // namespace strew::test
