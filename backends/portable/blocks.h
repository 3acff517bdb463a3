// PositionBlocks: walks index positions in blocks of InterpretedKernel::positions_per_block. Of each block it computes the places of all slots, loads the
// index vectors, applies the out-of-bounds policy and moves the places of the indexed tensors. Tested by tests/differential.
#pragma once

#include "backends/portable/entry_call.h"

namespace strew::inline v0::portable {

class PositionBlocks {
 public:
  /// Positions [begin, end). `only_result`: of the body's slots, only that of result 0 is wanted.
  PositionBlocks(const EntryCall& call, int64_t begin, int64_t end, bool only_result = false)
      : first(begin),
        f_(call),
        slots_(call.p.body.slots.size()),
        wanted_(only_result ? 1 : slots_),
        sources_(only_result ? 1 : static_cast<int>(call.p.sources.size())),
        rows_(call, call.p.positions, slots_ + call.p.indices.size(), begin, end),
        done_(begin),
        end_(end) {}

  /// Of the innermost loop, only iterations [from, to) are done; the nest has several loops.
  void cut_columns(int64_t from, int64_t to) { rows_.cut(from, to); }
  /// Moves to the next block. False: there is none.
  bool next();
  /// Applies the policies and moves the places. Sets `drops`, the call's values and, where windows are cut, its lo and hi. `first_source`: the sources
  /// before are placed.
  void place(int first_source = 0);
  /// For entry list: the call has the places of `positions` positions, which need not be neighbours, with those of the index tensors. Places look-ups.
  void place_lookups(int64_t positions);
  /// Is one of the block's indices of this source out of bounds, as under policy error? Then fills *fault with the first.
  bool find_bad(const SourceComponents& source, strew_fault* fault);

  int64_t first = 0, count = 0;
  bool drops = false;  ///< some position may be dropped or filled: the call's `inside`, `whole` and `filling` say which

 private:
  void leave_row();
  int64_t place_in_row(size_t slot, int64_t iteration) const;
  int64_t* load(size_t component);
  void apply_rule(size_t k, int64_t* values);
  void cut(size_t k, int64_t dim, int64_t window);
  void begin_flags();
  void require(uint8_t* flags, const int64_t* values, int64_t largest);
  void keep(int fill, const int64_t* values, int64_t largest);

  const EntryCall& f_;
  size_t slots_;   // of the body; those of the index tensors follow
  size_t wanted_;  // slots whose places are computed
  int sources_;    // sources that are placed
  NestRows rows_;
  int64_t lo_ = 0, hi_ = 0;
  int64_t done_, end_;
  int64_t block_lo_ = 0;    // the iteration of the row at which the block begins
  bool is_in_row_ = false;  // all of it; otherwise the call has the places of the index tensors
};

/// The places of a position's non-indexed slots and of its index tensors, at `places` (one each), for entry list. Slots of results are set to the
/// result's base.
void places_beside_results(const EntryCall& call, int64_t position, int64_t* places);

/// Sets m.bases: of the body's slots and of the index tensors.
void set_bases(const EntryCall& call);

}  // namespace strew::inline v0::portable
