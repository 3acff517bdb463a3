// PartGraph: a program as partitions() sees it. What the file calls by name, a result of a kernel, of an operation around the kernels, or a list of
// scalars, belongs to a unit: the results of one operation, and of one node of the file, come into a part together. What has no name in the file
// is no boundary, because no host could pass it: each part that needs it makes it.
//
// A vertex stands behind what it needs in the program and in the file, where it may need more: importing works out shapes that are known, and a kernel
// does operations again that others do, too. A host goes by the file.
#pragma once

#include <map>
#include <vector>

#include "strew/partition.h"
#include "strew/program.h"

namespace strew::inline v0 {

/// Per opaque operation there are two vertices, because what its regions see is known before it is done.
struct PartGraph {
  PartGraph(const Program& program, const PartitionOptions& options);

  struct Unit {
    std::vector<int> values;  ///< its results, ascending
    std::vector<int> reads;   ///< the values of other vertices that it needs
    int region = -1;          ///< as of Part
    bool runnable = true;
  };
  std::vector<Unit> units;                ///< the first vertices; the others are those of opaque operations
  std::vector<std::vector<int>> readers;  ///< per vertex: the vertices behind it
  std::vector<int> order;  ///< the vertices, each behind those that it needs. Some that need themselves are missing
  /// Per vertex: the most vertices that strew does not run, one behind the other, before it. Units of one level have only units between them.
  std::vector<int> level;
  std::vector<int> unit_of;       ///< per value; -1: it belongs to none
  std::vector<bool> is_exported;  ///< per value: an opaque operation, or an output of the program, reads it

 private:
  void find_units(const Program& program);
  void find_reads(const Program& program);
  void find_runnable(const Program& program, const PartitionOptions& options);
  void connect(const Program& program);
  void sort();

  int vertex_of(int value, const Program& program) const;
  std::vector<int> sources(const Program& program, const std::vector<int>& values) const;
  std::vector<int> file_sources(const Program& program, const std::vector<int>& values, int reader) const;

  std::vector<int> node_of_;                    ///< per value: the first node that it is a result of; others hand it on. -1: none
  std::map<int, std::vector<int>> handing_on_;  ///< value -> those others
  std::vector<bool> sees_region_;  ///< per value: a region of its opaque operation sees it, before the operation is done
  std::vector<int> region_of_, opaque_node_;  ///< per opaque operation: its region and its node; -1: none
};

}  // namespace strew::inline v0
