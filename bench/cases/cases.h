// The suite's cases: names, shapes, dtypes, index distributions and rotation. This list is the only one: the peers' script asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strew/dtype.h"

namespace strew::bench {

/// What a call does. `nd`: the index has two components; `block`: a dynamic update slice; `batched`: one index list per batch element;
/// `along`: elements along the last axis, one index each.
enum class Action : uint8_t { set, get, add, max, kv, block, nd_get, nd_set, nd_add, batched_add, along_get, along_add };
enum class Spread : uint8_t { unique, uniform, zipf, hot, sorted, position };

/// What a case asks for beyond its action.
enum class Mode : uint8_t {
  plain,    ///< in place, in order, 16-bit floats rounded after every add
  relaxed,  ///< adds in any order
  wide,     ///< 16-bit floats added in f32, rounded once
  copied,   ///< the operand is another buffer than the result
};

struct Case {
  std::string name;
  Action action = Action::set;
  std::vector<int64_t> table, source;  ///< dims; source: the updates, or what a gather returns
  int64_t updates = 0;                 ///< index positions (per batch element)
  DType dtype = DType::f32;
  Spread spread = Spread::unique;
  int64_t sets = 1;  ///< index sets, used in turn, so that large tables stay cold
  bool circular = false;
  bool skip = false;  ///< a tenth of the indices is -1: no update
  Mode mode = Mode::plain;
  bool beyond = false;  ///< not one of the forty

  bool gathers() const { return action == Action::get || action == Action::nd_get || action == Action::along_get; }
  bool reads_table() const {
    return action == Action::add || action == Action::max || action == Action::nd_add || action == Action::batched_add ||
           action == Action::along_add;
  }
  bool is_along() const { return action == Action::along_get || action == Action::along_add; }
  int64_t element_bytes() const { return bits(dtype) / 8; }
  /// Elements of one row: what one index (vector) points at.
  int64_t row_elements() const;
  int64_t row_bytes() const { return row_elements() * element_bytes(); }
  int64_t table_bytes() const;
  int64_t source_bytes() const;
  int64_t index_numbers() const;  ///< per set
  /// set, get: read source, write destination, indices; add, max: one more read of the destination. Indices count 4 bytes.
  int64_t bytes_moved() const;
};

int64_t product(const std::vector<int64_t>& dims);
const std::vector<Case>& suite_cases();
/// f32 rows of 4 B to 16 KiB, tables from the first-level cache to main memory, 10 to 10^7 positions, random and sorted; added and gathered. Every
/// combination that needs no more than 128 MiB for what it moves, with as many index sets as it takes to go over a large table.
const std::vector<Case>& sweep_cases();
/// All cases as JSON, for bench/peers.
std::string cases_json();
const char* name(Action action);
const char* name(Spread spread);

}  // namespace strew::bench
