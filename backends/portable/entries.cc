// See entries.h. An entry takes the memory that it works in from the stack, as much as the program says.
#include "backends/portable/entries.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backends/portable/blocks.h"
#include "backends/portable/windows.h"

namespace strew::inline v0::portable {
namespace {

/// Moves the places of the positions that are kept to the front, and which look-ups fill there. Returns how many there are.
int64_t keep_inside(const EntryCall& f, int64_t count) {
  int64_t kept = 0;
  for (int64_t j = 0; !f.p.fills.empty() && j < count; ++j) {
    f.filling()[kept] = f.filling()[j];
    kept += f.inside()[j];
  }
  for (size_t s = 0; s < f.p.body.slots.size(); ++s) {
    int64_t* const places = f.places(s);
    kept = 0;
    for (int64_t j = 0; j < count; ++j) {
      places[kept] = places[j];
      kept += f.inside()[j];
    }
  }
  return kept;
}

/// Applies a block of a scatter with look-ups that fill, as runs of positions of which the same look-ups fill.
void apply_found(const EntryCall& f, const PositionBlocks& block, Windows& windows) {
  if (!block.drops) {
    windows.fill_in(0);
    return windows.apply(f.places(), block.count);
  }
  const int64_t count = f.loops.all(f.inside(), block.count) ? block.count : keep_inside(f, block.count);
  for (int64_t j = 0; j < count;) {
    const uint64_t filling = f.filling()[j];
    int64_t end = j + 1;
    while (end < count && f.filling()[end] == filling) ++end;
    windows.fill_in(filling);
    windows.apply(f.places() + j, end - j);
    j = end;
  }
}

/// Applies a block whose windows nothing cuts. Dropped positions of a gather are filled, those of a scatter left out.
void apply_uniform(const EntryCall& f, const PositionBlocks& block, Windows& windows, Windows* fill) {
  if (!f.p.fills.empty()) return apply_found(f, block, windows);
  if (!block.drops || f.loops.all(f.inside(), block.count)) return windows.apply(f.places(), block.count);
  if (fill == nullptr) return windows.apply(f.places(), keep_inside(f, block.count));
  for (int64_t j = 0; j < block.count;) {
    int64_t end = j + 1;
    while (end < block.count && f.inside()[end] == f.inside()[j]) ++end;
    (f.inside()[j] != 0 ? windows : *fill).apply(f.places() + j, end - j);
    j = end;
  }
}

/// Applies a block position by position. What is out of bounds of a gather is filled first.
void apply_cut(const EntryCall& f, const PositionBlocks& block, Windows& windows, Windows* fill) {
  if (fill != nullptr && block.drops) {
    for (int64_t j = 0; j < block.count; ++j)
      if (f.whole()[j] == 0) fill->apply(f.places() + j, 1);
    fill->flush();
  }
  for (int64_t j = 0; j < block.count; ++j) {
    if (block.drops && f.inside()[j] == 0) continue;
    if (!f.p.fills.empty()) windows.fill_in(block.drops ? f.filling()[j] : 0);
    windows.apply_cut(j);
  }
}

void apply_block(const EntryCall& f, const PositionBlocks& block, Windows& windows, Windows* fill) {
  if (windows.cuts())
    apply_cut(f, block, windows, fill);
  else
    apply_uniform(f, block, windows, fill);
}

void apply_blocks(const EntryCall& f, int64_t begin, int64_t end, WindowCut cut, Windows& windows, Windows* fill) {
  PositionBlocks block(f, begin, end);
  if (cut != WindowCut::none && f.p.window_loops.empty()) block.cut_columns(f.args.w0, f.args.w1);
  while (block.next()) {
    block.place();
    apply_block(f, block, windows, fill);
  }
  windows.flush();
  if (fill != nullptr) fill->flush();
  if (f.streams) f.loops.fence();
}

/// What fills is made only where the policy fills, because a call of one position is over in a tenth of a microsecond.
void apply_positions(const EntryCall& f, int64_t begin, int64_t end, WindowCut cut) {
  set_bases(f);
  Windows windows(f, f.p.body, cut, f(f.p.memory.rows), f(f.p.memory.columns), f.p.ahead);
  if (f.p.fill.outputs.empty()) return apply_blocks(f, begin, end, cut, windows, nullptr);
  Windows fill(f, f.p.fill, cut, f(f.p.memory.fill_rows), f(f.p.memory.fill_columns), 0);
  apply_blocks(f, begin, end, cut, windows, &fill);
}

/// The call, in memory on the stack of the function that this stands in. `streams`: by what stores.
#define STREW_PORTABLE_CALL(args, streams)                                       \
  const auto& program = *static_cast<const InterpretedKernel*>((args)->program); \
  const EntryCall f(*(args), static_cast<char*>(__builtin_alloca(static_cast<size_t>(program.memory.bytes))), streams)

int32_t range(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  apply_positions(f, begin, end, program.cuts_columns ? WindowCut::columns : WindowCut::none);
  return STREW_OK;
}

int32_t stream(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, true);
  apply_positions(f, begin, end, program.cuts_columns ? WindowCut::columns : WindowCut::none);
  return STREW_OK;
}

int32_t clip(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  apply_positions(f, begin, end, WindowCut::owned);
  return STREW_OK;
}

int32_t check(const strew_args* args, int64_t begin, int64_t end, strew_fault* fault) {
  STREW_PORTABLE_CALL(args, program.streams);
  set_bases(f);
  PositionBlocks block(f, begin, end, true);
  while (block.next())
    if (block.find_bad(program.sources[static_cast<size_t>(args->source)], fault)) return STREW_FAULT;
  return STREW_OK;
}

int32_t keys(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  set_bases(f);
  auto* const keys = static_cast<uint32_t*>(const_cast<void*>(args->key));
  PositionBlocks block(f, begin, end, true);
  // A stride of 0 is that of a dim of one coordinate, in which all offsets are 0.
  const int64_t stride = f.at(program.key_units[0]), unit = stride == 0 ? 1 : stride;
  while (block.next()) {
    block.place();
    if (!block.drops) std::memset(f.inside(), 1, static_cast<size_t>(block.count));
    f.loops.keys(keys + (block.first - args->n_list), f.places(), f.inside(), f.bases()[0], unit, block.count);
  }
  return STREW_OK;
}

/// The positions of entry list's pairs [begin, end).
void apply_list(const EntryCall& f, int64_t begin, int64_t end, Windows& windows) {
  const auto* const entries = static_cast<const uint64_t*>(f.args.pos);
  const int64_t pitch = f.p.positions_per_block;
  const bool has_lookups = f.p.sources.size() > 1;
  const size_t all_slots = f.p.body.slots.size() + f.p.indices.size();
  // Where there are look-ups, the places of the index tensors are wanted, too.
  const size_t slots = has_lookups ? all_slots : f.p.body.slots.size(), results = static_cast<size_t>(f.p.pairs);
  const bool is_line = f.p.positions.loops <= 1;
  const int64_t* const strides = f.p.positions.loops == 1 ? f.strides(f.p.positions, 0, all_slots) : nullptr;
  for (int64_t at = begin; at < end; at += pitch) {
    const int64_t count = std::min(pitch, end - at);
    const uint64_t* const some = entries + at;
    for (size_t s = 0; s < slots; ++s) {
      int64_t* const places = f.places(s);
      const int64_t base = f.bases()[s], stride = strides == nullptr ? 0 : strides[s];
      if (s < results) {
        const int64_t each = f.at(f.p.key_units[s]);
        for (int64_t j = 0; j < count; ++j) places[j] = base + static_cast<int64_t>(some[j] >> 32) * each;
      } else if (is_line) {
        for (int64_t j = 0; j < count; ++j)
          places[j] = base + (f.args.n_list + static_cast<int64_t>(some[j] & 0xffffffff)) * stride;
      }
    }
    for (int64_t j = 0; j < count && !is_line; ++j) {
      places_beside_results(f, f.args.n_list + static_cast<int64_t>(some[j] & 0xffffffff), f.row());
      for (size_t s = results; s < slots; ++s) f.places()[static_cast<int64_t>(s) * pitch + j] = f.row()[s];
    }
    if (has_lookups) {
      PositionBlocks block(f, 0, 0);
      block.place_lookups(count);
      apply_block(f, block, windows, nullptr);
    } else {
      windows.apply(f.places(), count);
    }
  }
  windows.flush();
  if (f.streams) f.loops.fence();
}

int32_t list(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  set_bases(f);
  Windows windows(f, program.body, WindowCut::none, f(f.p.memory.rows), f(f.p.memory.columns), program.ahead);
  apply_list(f, begin, end, windows);
  return STREW_OK;
}

/// Dense rows of the operands, by stores that bypass the caches.
void stream_row(const EntryCall& f, const Body& body, const int64_t* row, int64_t lo, int64_t length) {
  for (const Output& output : body.outputs) {
    const auto place = [&](int32_t slot) { return row[slot] + lo * output.bytes; };
    f.loops.stream({{nullptr, place(output.to), 0, 1}, {nullptr, place(output.from), 0, 1}, 1, length * output.bytes});
  }
}

void init_result(const EntryCall& f, const Init& init, int64_t begin, int64_t end, bool may_stream) {
  const Body& body = init.body;
  const size_t slots = body.slots.size();
  for (size_t s = 0; s < slots; ++s) f.bases()[s] = f.base(body.slots[s]);
  NestRows rows(f, init.nest, slots, begin, end);
  const int64_t* const steps = rows.inner_strides();
  BodyRunner runner(f, body, steps, f(f.p.memory.columns));
  bool streams = may_stream && init.moves && steps != nullptr;
  for (const Output& output : body.outputs)
    streams = streams && steps[output.to] == output.bytes && steps[output.from] == output.bytes;
  const int64_t pitch = f.p.positions_per_block;
  int64_t count = 0, length = 0;
  const auto flush = [&] {
    runner.run(f(f.p.memory.rows), pitch, count, length);
    count = 0;
  };
  while (rows.next()) {
    if (streams) {
      stream_row(f, body, rows.row(), rows.lo, rows.hi - rows.lo);
      continue;
    }
    if (count == pitch || length != rows.hi - rows.lo) flush();
    length = rows.hi - rows.lo;
    for (size_t s = 0; s < slots; ++s)
      f(f.p.memory.rows)[static_cast<int64_t>(s) * pitch + count] = rows.row()[s] + (steps == nullptr ? 0 : rows.lo * steps[s]);
    ++count;
  }
  flush();
  if (streams) f.loops.fence();
}

int32_t init(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  for (const Init& each : program.init) init_result(f, each, begin, end, (args->flags & STREW_STREAM) != 0);
  return STREW_OK;
}

int32_t merge(const strew_args* args, int64_t begin, int64_t end, strew_fault*) {
  STREW_PORTABLE_CALL(args, program.streams);
  for (size_t i = 0; i < program.merge.size(); ++i) {
    const Body& body = program.merge[i];
    std::array<int64_t, 2> places{}, steps{};
    for (size_t s = 0; s < body.slots.size(); ++s) {
      const Slot& slot = body.slots[s];
      const char* const table = static_cast<const char*>(args->scratch) + args->k0 * static_cast<int64_t>(i);
      steps[s] = slot.bits / 8;
      places[s] = (slot.is_scratch ? static_cast<int64_t>(reinterpret_cast<intptr_t>(table)) : f.base(slot)) + begin * steps[s];
    }
    BodyRunner(f, body, steps.data(), f(f.p.memory.columns)).run(places.data(), 1, 1, end - begin);
  }
  return STREW_OK;
}

#undef STREW_PORTABLE_CALL

}  // namespace

strew_entry entry_of(EntryKind kind) {
#define STREW_PORTABLE_ENTRY(kind, what) kind,
  static constexpr strew_entry kEntries[] = {STREW_ENTRIES(STREW_PORTABLE_ENTRY)};
#undef STREW_PORTABLE_ENTRY
  return kEntries[static_cast<size_t>(kind)];
}

}  // namespace strew::inline v0::portable
