// See lift.h. Walks over a function's statements: scalars, views, partitions, tiles and loops. A load or store of a
// tile moves no data here: a tile only records what it holds. indexed.cc makes kernels of mscatter and mgather. Flags
// and barriers order the pipelines of one core; kernels have no pipelines, so these statements are ignored. Tested by
// tests/unit/compiler/import/pto/pto_import_test.cc, tests/unit/backends/pto/simulate/pto_simulated_test.cc and
// tests/error/pto_error_test.cc.
#include "compiler/import/pto/lift.h"

#include <algorithm>

#include "base/partial_switch.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

TileContent& Lifter::declare_tile(const std::string& name, const Type& type) {
  return tiles_[name] = {type, {Poly(type.tile.valid[0]), Poly(type.tile.valid[1])}, {}};
}

Status Lifter::run() {
  STREW_TRY(arguments());
  STREW_TRY(body(function_.body));
  return finish();
}

Status Lifter::arguments() {
  for (const Argument& a : function_.arguments) {
    if (a.type.kind == TypeKind::tile) {
      declare_tile(a.name, a.type);
      continue;
    }
    if (a.type.kind == TypeKind::index || a.type.kind == TypeKind::scalar) {
      const auto number = static_cast<int>(build_.arguments.size());
      build_.arguments.push_back(build_.input({a.type.element.dtype, {}, {}}));
      scalars_by_name_[a.name] = Poly::symbol(scalars_.add(SymbolKind::argument, a.name, number));
      continue;
    }
    memory_by_name_[a.name] = static_cast<int>(memories_.size());
    Memory& memory = memories_.emplace_back();
    memory.name = a.name;
    memory.element = a.type.element;
    if (a.type.kind != TypeKind::memref) continue;
    std::vector<Poly> extents;
    for (const int64_t dim : a.type.dims)
      extents.push_back(dim == kDynamic ? Poly::symbol(scalars_.add(SymbolKind::unknown, "an extent of %" + a.name)) : Poly(dim));
    memory.viewed = true;
    memory.rank = extents.size() == 1 ? 1 : 2;
    memory.cols = extents.back();
    memory.rows = 1;
    for (size_t d = 0; d + 1 < extents.size(); ++d) memory.rows = scalars_.multiply(memory.rows, extents[d]);
  }
  return {};
}

Status Lifter::body(const std::vector<Statement>& statements) {
  for (const Statement& s : statements) STREW_TRY(statement(s));
  return {};
}

STREW_PARTIAL_SWITCHES

Status Lifter::statement(const Statement& s) {
  switch (s.opcode) {
    case Opcode::make_tensor_view:
      return view(s);
    case Opcode::partition_view:
      return partition(s);
    case Opcode::alloc_tile:
      return alloc(s);
    case Opcode::tload:
      return load(s, regions_.at(s.operands[0][0]), tiles_.at(s.operands[1][0]));
    case Opcode::tstore:
      return store(s, regions_.at(s.operands[1][0]), tiles_.at(s.operands[0][0]));
    case Opcode::load_tile:
      return load(s, address(s, 0, s.type), declare_tile(s.result, s.type));
    case Opcode::store_tile: {
      const TileContent& tile = tiles_.at(s.operands[0][0]);
      return store(s, address(s, 1, tile.type), tile);
    }
    case Opcode::gather_tile:
      declare_tile(s.result, s.type);
      return indexed(s);
    case Opcode::mscatter:
    case Opcode::mgather:
      return indexed(s);
    case Opcode::tmaxs:
      return floor(s);
    case Opcode::set_flag:
    case Opcode::wait_flag:
    case Opcode::barrier:
      return {};
    case Opcode::section_vector:
      return body(s.body);
    case Opcode::loop:
      return loop(s);
    case Opcode::cmpi:
      return is_first_core(s);
    case Opcode::branch:
      return first_core(s);
    default: {
      const Form form = info(s.opcode).form;
      const bool followed = s.opcode <= Opcode::maxui && s.opcode != Opcode::bitcast && s.type.element.dtype != DType::boolean &&
                            !is_float(s.type.element.dtype);
      if (form == Form::nullary || followed) return scalar(s);
      return fail(s, "an op has nothing like it, expected mscatter, mgather, tload, tstore, loops and sums of integers");
    }
  }
}

STREW_END_PARTIAL_SWITCHES

/// Translates a maximum of indices and 0, by which programs clamp signed indices to 0 from below.
Status Lifter::floor(const Statement& s) {
  const TileContent& from = tiles_.at(s.operands[0][0]);
  if (!from.content || from.type.element.dtype != DType::i32 || !poly(s.operands[1][0]).is(0))
    return fail(s, "an op has nothing like it but for signed indices and 0, expected a tile of i32 that was loaded, and 0");
  Content content = *from.content;
  content.floored = true;
  if (!s.result.empty()) declare_tile(s.result, s.type);
  tiles_.at(s.operands[2][0]).content = std::move(content);
  return {};
}

/// A condition (i1), and what is computed from one, is followed no further: its value at the call is not known here.
Status Lifter::check_followed(const Statement& s) const {
  for (const auto& group : s.operands)
    for (const std::string& operand : group)
      if (!scalars_by_name_.contains(operand))
        return fail(s, "%{} is a condition, and an op has nothing like it, expected integers made of arguments and constants",
                    operand);
  return {};
}

Status Lifter::scalar(const Statement& s) {
  STREW_TRY(check_followed(s));
  Poly& out = scalars_by_name_[s.result];
  if (s.opcode == Opcode::constant) {
    out = s.value;
  } else if (s.opcode == Opcode::get_block_idx || s.opcode == Opcode::get_block_num) {
    splits_ = true;
    out = Poly::symbol(s.opcode == Opcode::get_block_idx ? scalars_.block_idx() : scalars_.block_num());
  } else {
    const Poly a = poly(s.operands[0][0]), b = s.operands.size() > 1 ? poly(s.operands[1][0]) : Poly();
    const bool divides = s.opcode >= Opcode::divsi && s.opcode <= Opcode::remui;
    if (divides && b.is(0)) return fail(s, "%{} is 0, expected a divisor", s.operands[1][0]);
    out = scalars_.result(s.opcode, a, b);
  }
  return {};
}

/// Accepts the only condition that is supported: get_block_idx == 0.
Status Lifter::is_first_core(const Statement& s) {
  STREW_TRY(check_followed(s));
  const Poly &a = poly(s.operands[0][0]), &b = poly(s.operands[1][0]);
  const auto is_core = [&](const Poly& p) { return scalars_.uses_cores() && p == Poly::symbol(scalars_.block_idx()); };
  if (s.attribute("predicate") != "eq" || !((is_core(a) && b.is(0)) || (is_core(b) && a.is(0))))
    return fail(s, "an op has no conditions, expected get_block_idx equal to 0, for an scf.if around everything that is done");
  first_core_.insert(s.result);
  return {};
}

/// Translates an scf.if of the first core. One core must do all the work: no statement outside may access memory, because nothing orders
/// the cores.
Status Lifter::first_core(const Statement& s) {
  if (!first_core_.contains(s.operands[0][0]) || !s.otherwise.empty() || !loops_.empty())
    return fail(s, "an op has no branches, expected one around everything that is done, for the first core alone, without else");
  for (const Memory& memory : memories_)
    if (memory.read || memory.write)
      return fail(s, "%{} is touched before by every core, expected nothing but what the first core does", memory.name);
  const bool splits = splits_;
  splits_ = false;
  STREW_TRY(body(s.body));
  splits_ = splits;
  return {};
}

/// Translates a view to rows and columns: leading extents of 1 are dropped, other leading dims are merged into the rows.
Status Lifter::view(const Statement& s) {
  SourceView out;
  out.memory = memory_by_name_.at(s.operands[0][0]);
  std::vector<Poly> strides;
  for (const std::string& name : s.operands[1]) out.shape.push_back(poly(name));
  for (const std::string& name : s.operands[2]) strides.push_back(poly(name));
  const size_t rank = out.shape.size();
  for (size_t d = 0; d < rank; ++d) {
    if (s.type.dims[d] != kDynamic && !out.shape[d].is(s.type.dims[d]))
      return fail(s, "dim {} is {} and its type says {}", d, text(out.shape[d]), s.type.dims[d]);
    if (scalars_.moves(out.shape[d])) return fail(s, "dim {} is {}, expected one that does not move", d, text(out.shape[d]));
  }
  const Poly& cols = out.shape[rank - 1];
  Poly rows = 1, packed = 1;
  out.row_stride = cols;
  for (size_t d = rank; d-- > 0;) {
    const bool padded_row = d + 2 == rank && strides[d].constant() && !out.shape[d].is(1);
    const bool fits = out.shape[d].is(1) || strides[d] == packed;
    if (!fits && !padded_row)
      return fail(s, "stride {} is {}, expected {}: rows one after the other", d, text(strides[d]), text(packed));
    if (!fits) out.row_stride = strides[d];
    if (d + 2 < rank && !out.shape[d].is(1)) out.folded = true;
    if (d + 1 < rank) rows = scalars_.multiply(rows, out.shape[d]);
    packed = scalars_.multiply(packed, out.shape[d]);
  }
  if (out.folded && !(out.row_stride == cols))
    return fail(s, "rows are {} apart, expected {} where dims are folded", text(out.row_stride), text(cols));
  const std::string_view layout = s.attribute("layout");
  if (layout == "nz" || (layout == "dn" && !cols.is(1) && !rows.is(1)))
    return fail(s, "layout is {}, expected nd{}", layout, layout == "dn" ? ", or one column" : "");
  STREW_TRY(set_extents(s, out.memory, rows, cols, rank == 1 ? 1 : 2));
  views_[s.result] = std::move(out);
  return {};
}

Status Lifter::partition(const Statement& s) {
  const SourceView& from = views_.at(s.operands[0][0]);
  const size_t rank = from.shape.size();
  Region out{from.memory, {}, from.row_stride, from.folded};
  out.slots[0] = {0, from.folded ? memories_[from.memory].rows : Poly(1)};
  for (size_t d = 0; d < rank; ++d) {
    const Slot slot{poly(s.operands[1][d]), poly(s.operands[2][d])};
    if (s.type.dims[d] != kDynamic && !slot.size.is(s.type.dims[d]))
      return fail(s, "size {} is {} and its type says {}", d, text(slot.size), s.type.dims[d]);
    if (slot.offset.constant() && *slot.offset.constant() < 0)
      return fail(s, "offset {} is {}, expected 0 or more", d, text(slot.offset));
    if (d + 2 == rank && !from.folded) {
      out.slots[0] = slot;
    } else if (d + 1 == rank) {
      out.slots[1] = slot;
    } else if (!slot.offset.is(0) || slot.size != from.shape[d]) {
      return fail(s, "dim {} is cut to {} at {}, expected all of its {}: only the last two dims may be", d, text(slot.size),
                  text(slot.offset), text(from.shape[d]));
    }
  }
  regions_[s.result] = std::move(out);
  return {};
}

Status Lifter::alloc(const Statement& s) {
  TileContent& tile = declare_tile(s.result, s.type);
  for (size_t d = 0; d < 2; ++d)
    if (!s.operands[d + 1].empty()) tile.valid[d] = poly(s.operands[d + 1][0]);
  return {};
}

/// Finds the tile-sized part of a memref that a PTO-AS statement addresses.
Region Lifter::address(const Statement& s, size_t group, const Type& tile) const {
  Region region;
  region.memory = memory_by_name_.at(s.operands[group][0]);
  region.row_stride = memories_[region.memory].cols;
  for (size_t d = 0; d < 2; ++d) {
    const std::string& index = s.operands[group + 1][d];
    const bool literal = index[0] >= '0' && index[0] <= '9';
    region.slots[d] = {literal ? Poly(std::stoll(index)) : poly(index), tile.dims[d]};
  }
  return region;
}

/// Refuses a region of which the rows do not follow one another.
Status Lifter::check_packed(const Statement& s, const Region& region, const char* why) const {
  const Memory& memory = memories_[region.memory];
  if (region.row_stride == memory.cols || memory.rows.is(1)) return {};
  return fail(s, "rows of %{} are {} apart, expected {}{}", memory.name, text(region.row_stride), text(memory.cols), why);
}

Status Lifter::load(const Statement& s, const Region& region, TileContent& tile) {
  constexpr const char* kNames[] = {"rows", "columns"};
  for (size_t d = 0; d < 2; ++d) {
    if (region.slots[d].size == tile.valid[d]) continue;
    return fail(s, "the tile's valid part has {} {} and what is loaded has {}, expected the same", text(tile.valid[d]), kNames[d],
                text(region.slots[d].size));
  }
  STREW_TRY(check_packed(s, region, ": padding is read in tables only"));
  STREW_TRY(touch(s, region.memory, false));
  tile.content = Content{region.memory, current(region.memory), region.slots};
  return {};
}

Status Lifter::store(const Statement& s, const Region& region, const TileContent& tile) {
  const std::string_view atomic = s.attribute("atomicType");
  if (!atomic.empty() && atomic != "atomic_none")
    return fail(s, "atomicType is {}, expected none: only mscatter combines", atomic);
  if (!tile.content) return fail(s, "nothing was put into %{} before, expected a tload or mgather", s.operands[0][0]);
  STREW_TRY(check_packed(s, region, ""));
  STREW_TRY(touch(s, region.memory, true));
  const Content content = *tile.content;
  STREW_ASSIGN(Cover source, covered_content(s, tile, "%" + s.operands[0][0]));
  STREW_ASSIGN(Cover target, covered(s, region.slots, "what is stored"));
  STREW_TRY(fit(s, region.memory, target));
  for (size_t d = 0; d < 2; ++d) {
    if (alike(content.slots[d], source[d], region.slots[d], target[d])) continue;
    return fail(s, "the tile and what is stored move apart in dim {}, expected the same size and the same loops", d);
  }
  STREW_TRY(check_loops(s, target, false));
  STREW_ASSIGN(const ShapedValue value, covered_value(s, content, source));
  return put(s, region.memory, target, value);
}

Status Lifter::loop(const Statement& s) {
  const SymbolId variable = scalars_.add(SymbolKind::loop, s.result);
  scalars_by_name_[s.result] = Poly::symbol(variable);
  Expected<Loop> recognised =
      recognise_loop(scalars_, variable, poly(s.operands[0][0]), poly(s.operands[1][0]), poly(s.operands[2][0]), s.at);
  if (!recognised.ok()) return fail(s, "{}", recognised.status().message());
  if (loops_.empty()) outermost_ = loops_seen_++;
  loops_.push_back(std::move(*recognised));
  STREW_TRY(body(s.body));
  loops_.pop_back();
  if (loops_.empty()) outermost_ = -1;
  return {};
}

}  // namespace strew::inline v0::pto
