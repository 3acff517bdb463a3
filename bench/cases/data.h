// The inputs of one case, made from a fixed seed: the same on every machine and, through write_files, for every peer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/cases/cases.h"
#include "bench/memory.h"

namespace strew::bench {

struct Data {
  Case c;
  Memory table, source;
  std::vector<int32_t> indices;  ///< [sets][index_numbers()], as the case's op takes them; a block's are starts, one per dim
  /// [sets][row_count() + kAhead]: the table row of each source row (-1: skipped), what hand-written kernels read. Empty for blocks.
  std::vector<int32_t> rows;
  static constexpr int64_t kAhead = 64;

  const int32_t* set(int64_t j) const { return indices.data() + j * c.index_numbers(); }
  const int32_t* row_set(int64_t j) const { return rows.data() + j * (row_count() + kAhead); }
  int64_t row_count() const { return product(c.source) / c.row_elements(); }
  int64_t table_rows() const { return product(c.table) / c.row_elements(); }
};

/// Without memory: table or source is null.
Data make_data(const Case& c);
/// Fills with the case's numbers, whole ones in [-2, 2], or such that every order of addition rounds differently.
void fill_numbers(const Case& c, Memory& memory, uint64_t seed, bool whole = true);

/// What one call with index set `set` must leave in `table` (a gather: in `into`, of source_bytes): plain loops over elements in update
/// order that share nothing with strew but the meaning of the dtypes.
void plain_result(const Data& data, int64_t set, char* table, char* into);

/// table.bin, source.bin, indices.bin (int32) and result.bin (after one call with index set 0) in `folder`. False: cannot write.
bool write_files(const Data& data, const std::string& folder);

}  // namespace strew::bench
