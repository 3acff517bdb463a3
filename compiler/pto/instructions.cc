// The table. Attribute spellings are those ptoas 0.60 and 0.46 read; PTO-AS has suffixes instead (mscatter.row.skip.atomic_add).
// `.atomic_max` and `.atomic_min` are printed nowhere and follow from `.atomic_add`; `.add` is an older spelling of it.
// Tested by tests/unit/pto_text_test.cc and tests/error/pto_error_test.cc.
#include "compiler/pto/instructions.h"

#include <array>

namespace strew::pto {
namespace {

using std::string_view;
constexpr string_view kCoalesce[] = {"row", "elem"};
constexpr string_view kAtomic[] = {"none", "add", "max", "min"};
constexpr string_view kScatterOob[] = {"undefined", "skip", "clamp", "wrap"};
constexpr string_view kConflict[] = {"last", "default"};
constexpr string_view kGatherOob[] = {"undefined", "clamp", "wrap", "zero"};
constexpr string_view kLayout[] = {"nd", "dn", "nz"};
constexpr string_view kPipe[] = {"PIPE_S", "PIPE_V", "PIPE_M", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX", "PIPE_ALL"};
constexpr string_view kEvent[] = {"EVENT_ID0", "EVENT_ID1", "EVENT_ID2", "EVENT_ID3",
                                  "EVENT_ID4", "EVENT_ID5", "EVENT_ID6", "EVENT_ID7"};
constexpr string_view kAtomicType[] = {"atomic_none", "atomic_add", "atomic_max", "atomic_min"};

constexpr AttributeRule kScatterAttributes[] = {{"coalesce", "coalesce", false, kCoalesce},
                                                {"scatterAtomicOp", "scatter_atomic_op", false, kAtomic},
                                                {"scatterOob", "scatter_oob", false, kScatterOob},
                                                {"scatterConflict", "scatter_conflict", false, kConflict}};
constexpr AttributeRule kGatherAttributes[] = {{"coalesce", "coalesce", false, kCoalesce},
                                               {"gatherOob", "gather_oob", false, kGatherOob}};
constexpr AttributeRule kViewAttributes[] = {{"layout", "layout", true, kLayout}};
constexpr AttributeRule kStoreAttributes[] = {{"layout", "layout", true, kLayout},
                                              {"atomicType", "atomic_type", false, kAtomicType}};
constexpr AttributeRule kFlagAttributes[] = {
    {"src_pipe", "pipe", true, kPipe}, {"dst_pipe", "pipe", true, kPipe}, {"event_id", "event", true, kEvent}};
constexpr AttributeRule kBarrierAttributes[] = {{"pipe", "pipe", true, kPipe}};

using O = Opcode;
using F = Form;
constexpr Instruction kTable[] = {
    {O::constant, "arith.constant", F::constant, 0, 0, {}, ""},
    {O::index_cast, "arith.index_cast", F::cast, 1, 0, {}, ""},
    {O::index_castui, "arith.index_castui", F::cast, 1, 0, {}, ""},
    {O::extsi, "arith.extsi", F::cast, 1, 0, {}, ""},
    {O::extui, "arith.extui", F::cast, 1, 0, {}, ""},
    {O::trunci, "arith.trunci", F::cast, 1, 0, {}, ""},
    {O::addi, "arith.addi", F::binary, 2, 0, {}, ""},
    {O::subi, "arith.subi", F::binary, 2, 0, {}, ""},
    {O::muli, "arith.muli", F::binary, 2, 0, {}, ""},
    {O::divsi, "arith.divsi", F::binary, 2, 0, {}, ""},
    {O::divui, "arith.divui", F::binary, 2, 0, {}, ""},
    {O::ceildivsi, "arith.ceildivsi", F::binary, 2, 0, {}, ""},
    {O::ceildivui, "arith.ceildivui", F::binary, 2, 0, {}, ""},
    {O::remsi, "arith.remsi", F::binary, 2, 0, {}, ""},
    {O::remui, "arith.remui", F::binary, 2, 0, {}, ""},
    {O::minsi, "arith.minsi", F::binary, 2, 0, {}, ""},
    {O::minui, "arith.minui", F::binary, 2, 0, {}, ""},
    {O::maxsi, "arith.maxsi", F::binary, 2, 0, {}, ""},
    {O::maxui, "arith.maxui", F::binary, 2, 0, {}, ""},
    {O::get_block_idx, "pto.get_block_idx", F::nullary, 0, 0, {}, ""},
    {O::get_block_num, "pto.get_block_num", F::nullary, 0, 0, {}, ""},
    {O::make_tensor_view, "pto.make_tensor_view", F::view, 3, 0, kViewAttributes, "1**"},
    {O::partition_view, "pto.partition_view", F::partition, 3, 0, {}, "1**"},
    {O::alloc_tile, "pto.alloc_tile", F::alloc, 3, 0, {}, "***"},
    {O::tload, "pto.tload", F::moves, 2, 1, kViewAttributes, "110000"},
    {O::tstore, "pto.tstore", F::moves, 2, 1, kStoreAttributes, "1100"},
    {O::mscatter, "pto.mscatter", F::moves, 3, 2, kScatterAttributes, ""},
    {O::mgather, "pto.mgather", F::moves, 3, 2, kGatherAttributes, ""},
    {O::set_flag, "pto.set_flag", F::flags, 0, 0, kFlagAttributes, ""},
    {O::wait_flag, "pto.wait_flag", F::flags, 0, 0, kFlagAttributes, ""},
    {O::barrier, "pto.barrier", F::barrier, 0, 0, kBarrierAttributes, ""},
    {O::section_vector, "pto.section.vector", F::section, 0, 0, {}, ""},
    {O::loop, "scf.for", F::loop, 3, 0, {}, ""},
    {O::load_tile, "tload", F::as_only, 2, 0, {}, ""},
    {O::store_tile, "tstore", F::as_only, 3, 0, {}, ""},
    {O::gather_tile, "mgather", F::as_only, 2, 0, kGatherAttributes, ""},
};

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kTable); ++i)
    if (static_cast<size_t>(kTable[i].opcode) != i) return false;
  return true;
}
static_assert(in_order(), "a row per opcode, in its order");

constexpr Suffix kScatterSuffixes[] = {
    {"row", "coalesce", "row", 0},
    {"elem", "coalesce", "elem", 0},
    {"skip", "scatterOob", "skip", 1},
    {"clamp", "scatterOob", "clamp", 1},
    {"wrap", "scatterOob", "wrap", 1},
    {"atomic_add", "scatterAtomicOp", "add", 2},
    {"atomic_max", "scatterAtomicOp", "max", 2},
    {"atomic_min", "scatterAtomicOp", "min", 2},
    {"add", "scatterAtomicOp", "add", 2},
};
constexpr Suffix kGatherSuffixes[] = {
    {"row", "coalesce", "row", 0},    {"elem", "coalesce", "elem", 0},  {"clamp", "gatherOob", "clamp", 1},
    {"wrap", "gatherOob", "wrap", 1}, {"zero", "gatherOob", "zero", 1},
};

}  // namespace

const Instruction& info(Opcode opcode) { return kTable[static_cast<size_t>(opcode)]; }

const Instruction* find_instruction(std::string_view wanted) {
  for (const Instruction& row : kTable)
    if (row.name == wanted && row.form != Form::as_only) return &row;
  return nullptr;
}

std::string_view name(Opcode opcode) { return info(opcode).name; }

std::span<const Suffix> scatter_suffixes() { return kScatterSuffixes; }
std::span<const Suffix> gather_suffixes() { return kGatherSuffixes; }

std::string_view name(Chip chip) {
  switch (chip) {
    case Chip::a3:
      return "a3";
    case Chip::a5:
      return "a5";
    case Chip::any:
      break;
  }
  return "any chip";
}

}  // namespace strew::pto
