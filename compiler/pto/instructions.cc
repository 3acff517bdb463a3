// See instructions.h. The attributes are spelled as ptoas 0.46 to 0.60 read them; PTO-AS has suffixes instead
// (mscatter.row.skip.atomic_add). Of these, `.add` is an older spelling of `.atomic_add`, and `.atomic_max` and
// `.atomic_min` are in no published text: they are formed like `.atomic_add`. Tested by tests/unit/compiler/pto/pto_text_test.cc and
// tests/error/pto_error_test.cc.
#include "compiler/pto/instructions.h"

#include <cctype>

namespace strew::inline v0::pto {
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

constexpr AttributeRule kScatterAttributes[] = {
    {"coalesce", "coalesce", false, kCoalesce, "pto::Coalesce::"},
    {"scatterAtomicOp", "scatter_atomic_op", false, kAtomic, "pto::ScatterAtomicOp::"},
    {"scatterOob", "scatter_oob", false, kScatterOob, "pto::ScatterOOB::"},
    {"scatterConflict", "scatter_conflict", false, kConflict, "pto::ScatterConflict::"}};
constexpr AttributeRule kGatherAttributes[] = {{"coalesce", "coalesce", false, kCoalesce, "pto::Coalesce::"},
                                               {"gatherOob", "gather_oob", false, kGatherOob, "pto::GatherOOB::"}};
constexpr AttributeRule kViewAttributes[] = {{"layout", "layout", true, kLayout}};
constexpr AttributeRule kStoreAttributes[] = {{"layout", "layout", true, kLayout},
                                              {"atomicType", "atomic_type", false, kAtomicType}};
constexpr AttributeRule kFlagAttributes[] = {
    {"src_pipe", "pipe", true, kPipe},
    {"dst_pipe", "pipe", true, kPipe},
    {"event_id", "event", true, kEvent},
};
constexpr AttributeRule kBarrierAttributes[] = {{"pipe", "pipe", true, kPipe}};

constexpr string_view kPredicate[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
constexpr string_view kCompare[] = {"eq", "ne", "lt", "gt", "le", "ge"};
constexpr string_view kRound[] = {"RINT", "ROUND", "FLOOR", "CEIL", "TRUNC"};
constexpr string_view kSaturation[] = {"OFF", "ON"};
constexpr AttributeRule kPredicateAttributes[] = {{"predicate", "", false, kPredicate}};
constexpr AttributeRule kCompareAttributes[] = {{"cmpMode", "cmp", false, kCompare, "CmpMode::"}};
constexpr AttributeRule kConvertAttributes[] = {{"rmode", "round_mode", false, kRound, "RoundMode::CAST_"},
                                                {"satmode", "saturation_mode", false, kSaturation, "SaturationMode::"}};

// --- element types ---
// The types of the headers are those that their static assertions admit. The types of ptoas 0.60 were measured: it
// accepts unsigned tiles wherever it accepts signed ones (a3's headers do not), and scalars of unsigned types almost
// nowhere.

using D = DType;
constexpr DTypes kI8 = set_of({D::i8}), kU8 = set_of({D::u8}), kI16 = set_of({D::i16}), kU16 = set_of({D::u16}),
                 kI32 = set_of({D::i32}), kU32 = set_of({D::u32}), kI64 = set_of({D::i64}), kU64 = set_of({D::u64}),
                 kF16 = set_of({D::f16}), kBf16 = set_of({D::bf16}), kF32 = set_of({D::f32});
constexpr DTypes kSigned = kI8 | kI16 | kI32, kUnsigned = kU8 | kU16 | kU32, kFloats = kF16 | kF32;
constexpr DTypes kA3Numbers = kI16 | kI32 | kFloats, kEight = set_of({D::hif8, D::f8e4m3fn, D::f8e5m2});
constexpr DTypes kPlain = kSigned | kUnsigned | kFloats | kBf16;

constexpr DTypes kWide = kI16 | kU16 | kI32 | kU32 | kFloats, kIntegers = kSigned | kUnsigned;
constexpr DTypes kLong = kI64 | kU64, kNumbers = kSigned | kFloats | kBf16;

// The columns are those of Legality: the headers of a3 and of a5, then ptoas for a3 and for a5.
constexpr Legality kMoved = {kPlain, kPlain | kEight, kPlain, kPlain | kEight};
constexpr Legality kCopied = {kPlain | kLong, kPlain | kLong | kEight, kPlain | kLong, kPlain | kLong | kEight};
constexpr Legality kAtomicAdd = {kSigned | kFloats | kBf16, kI32 | kU32 | kFloats | kBf16, kI32 | kU32 | kFloats,
                                 kI32 | kU32 | kFloats};
constexpr Legality kAtomicExtreme = {0, kI32 | kU32 | kF32, kI32 | kU32 | kF32, kI32 | kU32 | kF32};
constexpr Legality kAdd = {kA3Numbers, kPlain, kWide, kPlain};
constexpr Legality kSub = {kA3Numbers, kIntegers | kFloats, kWide, kIntegers | kFloats};
constexpr Legality kMul = {kA3Numbers, kWide, kWide, kWide};
constexpr Legality kDiv = {kFloats, kWide, kFloats, kWide};
constexpr Legality kMax = {kA3Numbers, kIntegers | kFloats, kWide, kIntegers | kFloats};
constexpr Legality kMin = {kA3Numbers, kIntegers | kFloats, kWide, kPlain};
constexpr Legality kBits = {kIntegers, kIntegers, kIntegers, kIntegers};
constexpr Legality kNumber = {kA3Numbers, kPlain, kA3Numbers, kNumbers};
constexpr Legality kBitsNumber = {kI8 | kU8 | kI16 | kU16, kIntegers, kI8 | kI16, kSigned};
constexpr Legality kLeftNumber = {kI16 | kU16 | kI32 | kU32, kIntegers, kSigned | kI64, kSigned | kI64};
constexpr Legality kRightNumber = {kI16 | kU16 | kI32 | kU32, kIntegers, kI16 | kI32, kSigned};
constexpr Legality kNegate = {kA3Numbers, kNumbers, kWide, kPlain};
constexpr Legality kBitNot = {kI16 | kU16, kIntegers, kI16 | kU16, kIntegers};
constexpr Legality kCopiedTile = {kPlain, kPlain, kPlain | kI64, kPlain | kI64};
constexpr Legality kFill = {kA3Numbers | kBf16, kPlain, kA3Numbers | kBf16, kNumbers};
constexpr Legality kSequence = {kI16 | kI32, kI16 | kI32, kWide & ~kFloats, kWide & ~kFloats};
constexpr Legality kCompared = {kI32 | kFloats, kPlain, kI32 | kU32 | kFloats, kPlain};
constexpr Legality kComparedNumber = {kA3Numbers, kSigned | kFloats, kA3Numbers, kSigned | kFloats};
constexpr Legality kSelected = {kWide | kBf16, kPlain, kWide | kBf16, kPlain};
constexpr Legality kScalarMove = {kPlain | kLong, kPlain | kLong, kPlain | kLong, kPlain | kLong};
constexpr Legality kTileElement = {kPlain | kI64, kPlain | kI64, kNumbers | kI64, kNumbers | kI64};
constexpr Legality kConverted = {kPlain | kI64, kPlain | kI64, kPlain | kI64, kPlain | kI64};

// --- texts ---

constexpr string_view kConstantText = " ~", kCastText = " $0 : #0 to #r", kBinaryText = " $01 : #r",
                      kCompareText = " &0, $01 : #0", kSelectText = " $012 : #r", kNullaryText;
constexpr string_view kViewText = " $0, shape = [$1*], strides = [$2*]@ : #r",
                      kPartitionText = " $0, offsets = [$1*], sizes = [$2*] : #0| -> #r|",
                      kAllocText = "| addr = $0|| valid_row = $1|| valid_col = $2| : #r";
constexpr string_view kMove1Text = " ins($0 : #0) outs($1 : #1)@", kScatterText = " ins($01 : #01) outs($2 : #2)@",
                      kGatherText = " ins($013? : #013) outs($2 : #2)@";
constexpr string_view kFlagsText = "[<&0>, <&1>, <&2>]", kBarrierText = " |#pto.pipe|<&0>", kSectionText = " ^0",
                      kLoopText = " % = $0 to $1 step $2| : #r| ^0", kBranchText = " $0 ^0| else ^1|";
constexpr string_view kLoadText = " $0[$1] : #0 -> #r", kStoreText = " $2, $0[$1] : #02";
constexpr string_view kGetText = " ins($01 : #01) outs : #r", kSetText = " ins($12 : #12) outs($0 : #0)";
constexpr string_view kCompute1Text = " ins($0@ : #0) outs($1 : #1)", kCompute2Text = " ins($01@ : #01) outs($2 : #2)",
                      kCompute3Text = " ins($012@ : #012) outs($3 : #3)", kCompute4Text = " ins($0123@ : #0123) outs($4 : #4)";
constexpr string_view kAsConstantText = " % = ~", kAsTableText = " $201| : (#201)|",
                      kAsLoadText = " $0[$1+] : (#0, index, index) -> #r", kAsStoreText = " $0, $1[$2+]| : (#01, index, index)|",
                      kAsGatherText = " $01 : (#01) -> #r";
/// By the number of operands that are read.
constexpr string_view kAsComputeText[] = {"", " $0@ : (#0) -> #r", " $01@ : (#01) -> #r", " $012@ : (#012) -> #r",
                                          " $0123@ : (#0123) -> #r"};

// --- the table ---
// The columns are the members of Instruction: opcode, name, form, operands, text, attributes, segments, pipe on a3, pipe
// on a5, element types, computation, C++. The C++ of ceildivsi is for positive divisors: extents and the number of cores.

// clang-format off
using O = Opcode;
using F = Form;
using P = Pipe;
using C = Computation;
constexpr Instruction kTable[] = {
    {O::constant, "arith.constant", F::constant, {}, kConstantText, {}, ""},
    {O::index_cast, "arith.index_cast", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "static_cast<{result}>({0})"},
    {O::index_castui, "arith.index_castui", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "static_cast<{result}>(static_cast<u{number 0}>({0}))"},
    {O::extsi, "arith.extsi", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "static_cast<{result}>({0})"},
    {O::extui, "arith.extui", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "static_cast<{result}>(static_cast<u{number 0}>({0}))"},
    {O::trunci, "arith.trunci", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "static_cast<{result}>({0})"},
    {O::bitcast, "arith.bitcast", F::cast, "s", kCastText, {}, "", P::none, P::none, nullptr, C::none, "__builtin_bit_cast({result}, {0})"},
    {O::addi, "arith.addi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::add, "{0} + {1}"},
    {O::subi, "arith.subi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::sub, "{0} - {1}"},
    {O::muli, "arith.muli", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::mul, "{0} * {1}"},
    {O::divsi, "arith.divsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::div, "{0} / {1}"},
    {O::divui, "arith.divui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::div, "static_cast<{result}>(static_cast<u{result}>({0}) / static_cast<u{result}>({1}))"},
    {O::ceildivsi, "arith.ceildivsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::ceil_div, "({0} > 0) ? ({0} - 1) / {1} + 1 : {0} / {1}"},
    {O::ceildivui, "arith.ceildivui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::ceil_div},
    {O::remsi, "arith.remsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::remainder, "{0} % {1}"},
    {O::remui, "arith.remui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::remainder, "static_cast<{result}>(static_cast<u{result}>({0}) % static_cast<u{result}>({1}))"},
    {O::minsi, "arith.minsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::min, "({0} < {1}) ? {0} : {1}"},
    {O::minui, "arith.minui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::min, "(static_cast<u{result}>({0}) < static_cast<u{result}>({1})) ? {0} : {1}"},
    {O::maxsi, "arith.maxsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::max, "({0} > {1}) ? {0} : {1}"},
    {O::maxui, "arith.maxui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::max, "(static_cast<u{result}>({0}) > static_cast<u{result}>({1})) ? {0} : {1}"},
    {O::andi, "arith.andi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::bit_and, "{0} & {1}"},
    {O::ori, "arith.ori", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::bit_or, "{0} | {1}"},
    {O::xori, "arith.xori", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::bit_xor, "{0} ^ {1}"},
    {O::shli, "arith.shli", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::shift_left, "static_cast<{result}>(static_cast<u{result}>({0}) << {1})"},
    {O::shrsi, "arith.shrsi", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::shift_right, "{0} >> {1}"},
    {O::shrui, "arith.shrui", F::binary, "ss", kBinaryText, {}, "", P::none, P::none, nullptr, C::shift_right, "static_cast<{result}>(static_cast<u{result}>({0}) >> {1})"},
    {O::cmpi, "arith.cmpi", F::compare, "ss", kCompareText, kPredicateAttributes, "", P::none, P::none, nullptr, C::compare, "{0} {predicate} {1}"},
    {O::select, "arith.select", F::select, "css", kSelectText, {}, ""},
    {O::get_block_idx, "pto.get_block_idx", F::nullary, {}, kNullaryText, {}, "", P::none, P::none, nullptr, C::none, "get_block_idx()"},
    {O::get_block_num, "pto.get_block_num", F::nullary, {}, kNullaryText, {}, "", P::none, P::none, nullptr, C::none, "get_block_num()"},
    {O::make_tensor_view, "pto.make_tensor_view", F::view, "pii", kViewText, kViewAttributes, "1**"},
    {O::partition_view, "pto.partition_view", F::partition, "vii", kPartitionText, {}, "1**"},
    {O::alloc_tile, "pto.alloc_tile", F::alloc, "aii", kAllocText, {}, "***"},
    {O::tload, "pto.tload", F::moves, "r<t>", kMove1Text, kViewAttributes, "110000", P::mte2, P::mte2, &kCopied, C::none, "TLOAD({1}, {0})"},
    {O::tstore, "pto.tstore", F::moves, "t<r>", kMove1Text, kStoreAttributes, "1100", P::mte3, P::mte3, &kCopied, C::none, "TSTORE({1}, {0})"},
    {O::mscatter, "pto.mscatter", F::moves, "t<x<r>", kScatterText, kScatterAttributes, "", P::mte3, P::v, &kMoved, C::none,
     "MSCATTER<{coalesce}, {scatterAtomicOp}, {scatterOob}, {scatterConflict}>({2}, {0}, {1})"},
    {O::mgather, "pto.mgather", F::moves, "r<x<t>", kGatherText, kGatherAttributes, "", P::mte2, P::v, &kMoved, C::none,
     "MGATHER<{coalesce}, {gatherOob}>({2}, {0}, {1})"},
    {O::set_flag, "pto.set_flag", F::flags, {}, kFlagsText, kFlagAttributes, "", P::none, P::none, nullptr, C::none,
     "set_flag({src_pipe}, {dst_pipe}, {event_id})"},
    {O::wait_flag, "pto.wait_flag", F::flags, {}, kFlagsText, kFlagAttributes, "", P::none, P::none, nullptr, C::none,
     "wait_flag({src_pipe}, {dst_pipe}, {event_id})"},
    {O::barrier, "pto.barrier", F::barrier, {}, kBarrierText, kBarrierAttributes, "", P::none, P::none, nullptr, C::none, "pipe_barrier({pipe})"},
    {O::section_vector, "pto.section.vector", F::section, {}, kSectionText, {}, ""},
    {O::loop, "scf.for", F::loop, "sss", kLoopText, {}, ""},
    {O::branch, "scf.if", F::branch, "c", kBranchText, {}, ""},
    {O::load_scalar, "pto.load_scalar", F::load, "p<i", kLoadText, {}, "", P::s, P::s, &kScalarMove, C::none, "{0}[{1}]"},
    {O::store_scalar, "pto.store_scalar", F::store, "p>in", kStoreText, {}, "", P::s, P::s, &kScalarMove, C::none, "{0}[{1}] = {2}"},
    {O::tgetval, "pto.tgetval", F::get, "t<i", kGetText, {}, "", P::s, P::s, &kTileElement, C::none, "{0}.GetValue({1})"},
    {O::tsetval, "pto.tsetval", F::set, "t>in", kSetText, {}, "", P::s, P::s, &kTileElement, C::none, "{0}.SetValue({1}, {2})"},
    {O::tadd, "pto.tadd", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kAdd, C::add, "TADD({2}, {0}, {1})"},
    {O::tsub, "pto.tsub", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kSub, C::sub, "TSUB({2}, {0}, {1})"},
    {O::tmul, "pto.tmul", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kMul, C::mul, "TMUL({2}, {0}, {1})"},
    {O::tdiv, "pto.tdiv", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kDiv, C::div, "TDIV({2}, {0}, {1})"},
    {O::tmax, "pto.tmax", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kMax, C::max, "TMAX({2}, {0}, {1})"},
    {O::tmin, "pto.tmin", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kMin, C::min, "TMIN({2}, {0}, {1})"},
    {O::tand, "pto.tand", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kBits, C::bit_and, "TAND({2}, {0}, {1})"},
    {O::tor, "pto.tor", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kBits, C::bit_or, "TOR({2}, {0}, {1})"},
    {O::tshl, "pto.tshl", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kBits, C::shift_left, "TSHL({2}, {0}, {1})"},
    {O::tshr, "pto.tshr", F::computes, "t<t<t>", kCompute2Text, {}, "", P::v, P::v, &kBits, C::shift_right, "TSHR({2}, {0}, {1})"},
    {O::txor, "pto.txor", F::computes, "t<t<k>t>", kCompute3Text, {}, "", P::v, P::v, &kBits, C::bit_xor, "TXOR({3}, {0}, {1}, {2})"},
    {O::tadds, "pto.tadds", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kNumber, C::add, "TADDS({2}, {0}, {1})"},
    {O::tsubs, "pto.tsubs", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kNumber, C::sub, "TSUBS({2}, {0}, {1})"},
    {O::tmuls, "pto.tmuls", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kNumber, C::mul, "TMULS({2}, {0}, {1})"},
    {O::tmaxs, "pto.tmaxs", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kNumber, C::max, "TMAXS({2}, {0}, {1})"},
    {O::tmins, "pto.tmins", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kNumber, C::min, "TMINS({2}, {0}, {1})"},
    {O::tands, "pto.tands", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kBitsNumber, C::bit_and, "TANDS({2}, {0}, {1})"},
    {O::tors, "pto.tors", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kBitsNumber, C::bit_or, "TORS({2}, {0}, {1})"},
    {O::tshls, "pto.tshls", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kLeftNumber, C::shift_left, "TSHLS({2}, {0}, {1})"},
    {O::tshrs, "pto.tshrs", F::computes, "t<nt>", kCompute2Text, {}, "", P::v, P::v, &kRightNumber, C::shift_right, "TSHRS({2}, {0}, {1})"},
    {O::tneg, "pto.tneg", F::computes, "t<t>", kCompute1Text, {}, "", P::v, P::v, &kNegate, C::negate, "TNEG({1}, {0})"},
    {O::tnot, "pto.tnot", F::computes, "t<t>", kCompute1Text, {}, "", P::v, P::v, &kBitNot, C::bit_not, "TNOT({1}, {0})"},
    {O::tmov, "pto.tmov", F::computes, "t<t>", kCompute1Text, {}, "1100", P::v, P::v, &kCopiedTile, C::move, "TMOV({1}, {0})"},
    {O::tcvt, "pto.tcvt", F::computes, "t<o>", kCompute1Text, kConvertAttributes, "", P::v, P::v, &kConverted, C::convert, "TCVT({1}, {0}, {rmode}, {satmode})"},
    {O::tcmp, "pto.tcmp", F::computes, "t<t<m>", kCompute2Text, kCompareAttributes, "", P::v, P::v, &kCompared, C::compare, "TCMP({2}, {0}, {1}, {cmpMode})"},
    {O::tcmps, "pto.tcmps", F::computes, "t<nm>", kCompute2Text, kCompareAttributes, "", P::v, P::v, &kComparedNumber, C::compare, "TCMPS({2}, {0}, {1}, {cmpMode})"},
    {O::tsel, "pto.tsel", F::computes, "m<t<t<k>t>", kCompute4Text, {}, "", P::v, P::v, &kSelected, C::select, "TSEL({4}, {0}, {1}, {2}, {3})"},
    {O::texpands, "pto.texpands", F::computes, "nt>", kCompute1Text, {}, "", P::v, P::v, &kFill, C::fill, "TEXPANDS({1}, {0})"},
    {O::tci, "pto.tci", F::computes, "nt>", kCompute1Text, {}, "", P::v, P::v, &kSequence, C::sequence, "TCI<{tile 1}, {number 0}, 0>({1}, {0})"},
    {O::load_tile, "tload", F::as_only, "f<i", kAsLoadText, {}, "", P::mte2, P::mte2, &kCopied},
    {O::store_tile, "tstore", F::as_only, "t<f>i", kAsStoreText, {}, "", P::mte3, P::mte3, &kCopied},
    {O::gather_tile, "mgather", F::as_only, "f<x<", kAsGatherText, kGatherAttributes, "", P::mte2, P::v, &kMoved},
    {O::gather_l1, "pto.mgather", F::moves, "r<l<t>", kGatherText, kGatherAttributes, "", P::mte2, P::mte2, &kMoved, C::none,
     "MGATHER<{coalesce}, {gatherOob}>({2}, {0}, {1})"},
    {O::gather_l1_elem, "pto.mgather", F::moves, "r<l<t>r>", kGatherText, kGatherAttributes, "", P::mte2, P::mte2, &kMoved, C::none,
     "MGATHER<{coalesce}, {gatherOob}>({2}, {0}, {1}, {3})"},
    {O::move_l1, "pto.tmov", F::moves, "t<t>", kCompute1Text, {}, "1100", P::mte1, P::mte1, &kMoved, C::none, "strew_from_l1({1}, {0})"},
};
// clang-format on

constexpr bool is_whole() {
  for (size_t i = 0; i < std::size(kTable); ++i) {
    if (static_cast<size_t>(kTable[i].opcode) != i) return false;
    for (size_t g = 0; g < kTable[i].operands.size(); ++g)
      if (kTable[i].operands[g].kind > Kind::places) return false;
  }
  return true;
}
static_assert(is_whole(), "a row per opcode, in its order, whose operands are letters of Operands");

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

constexpr std::string_view kPipeNames[] = {"", "PIPE_S", "PIPE_V", "PIPE_MTE1", "PIPE_MTE2", "PIPE_MTE3", "PIPE_ALL"};

}  // namespace

const Instruction& info(Opcode opcode) { return kTable[static_cast<size_t>(opcode)]; }

const Instruction* find_instruction(std::string_view wanted) {
  for (const Instruction& row : kTable)
    if (row.name == wanted && row.form != Form::as_only) return &row;
  return nullptr;
}

std::string_view name(Opcode opcode) { return info(opcode).name; }

std::string AttributeRule::in_cpp(std::string_view value) const {
  std::string word(value);
  for (char& c : std::span(word).first(cpp.starts_with("pto::") ? 1 : word.size())) c = static_cast<char>(std::toupper(c));
  return std::string(cpp) + word;
}

std::string_view as_text(Opcode opcode) {
  const Instruction& row = info(opcode);
  if (opcode == Opcode::constant) return kAsConstantText;
  if (opcode == Opcode::mscatter || opcode == Opcode::mgather) return kAsTableText;
  return row.form == Form::computes ? kAsComputeText[row.groups() - 1] : row.text;
}

std::span<const Suffix> suffixes_of(Opcode opcode) {
  if (opcode == Opcode::mscatter) return kScatterSuffixes;
  return kGatherSuffixes;
}

bool allows(const Legality& legality, Chip chip, Reader reader, DType dtype) {
  const DTypes wanted = DTypes{1} << static_cast<int>(dtype);
  const auto on = [&](DTypes headers, DTypes ptoas) {
    return (headers & wanted) != 0 && (reader == Reader::headers || (ptoas & wanted) != 0);
  };
  return (chip != Chip::a5 && on(legality.a3, legality.ptoas_a3)) || (chip != Chip::a3 && on(legality.a5, legality.ptoas_a5));
}

Pipe pipe_of(const Statement& s, Chip chip, size_t group) {
  const Instruction& row = info(s.opcode);
  const bool from_memory = s.opcode == Opcode::gather_l1 || s.opcode == Opcode::gather_l1_elem;
  if (from_memory && (group == 1 || group == 3)) return Pipe::s;
  const bool a3_gather = chip == Chip::a3 && (s.opcode == Opcode::mgather || s.opcode == Opcode::gather_tile);
  if (a3_gather && (group == 1 || s.attribute("coalesce") == "elem")) return Pipe::s;
  return chip == Chip::a3 ? row.a3 : row.a5;
}

const Legality& atomic_legality(std::string_view atomic) { return atomic == "add" ? kAtomicAdd : kAtomicExtreme; }

bool converts(Chip chip, DType from, DType to) {
  struct Pair {
    DType from;
    DTypes a3, a5;
  };
  constexpr Pair kPairs[] = {
      {D::f32, kF16 | kBf16 | kI16 | kI32 | kI64, kF16 | kBf16 | kI16 | kI32 | kI64},
      {D::f16, kF32 | kI32 | kI16 | kI8 | kU8, kF32 | kI32 | kI16 | kI8 | kU8},
      {D::bf16, kF32 | kI32, kF32 | kI32 | kF16},
      {D::i16, kF16 | kF32, kU8 | kF16 | kF32 | kU32 | kI32},
      {D::i32, kF32 | kI16 | kI64, kF32 | kI16 | kU16 | kI64 | kU8},
      {D::i64, kF32 | kI32, kF32 | kI32},
      {D::u8, kF16, kF16 | kU16},
      {D::i8, kF16, kF16 | kI16 | kI32},
  };
  for (const Pair& pair : kPairs)
    if (pair.from == from) return allows({pair.a3, pair.a5, 0, 0}, chip, Reader::headers, to);
  return false;
}

std::string_view name(Pipe pipe) { return kPipeNames[static_cast<size_t>(pipe)]; }

Pipe pipe_from_name(std::string_view wanted) {
  for (size_t i = 1; i < std::size(kPipeNames); ++i)
    if (kPipeNames[i] == wanted) return static_cast<Pipe>(i);
  return Pipe::none;
}

std::string_view name(Chip chip) { return name_among({"any chip", "a3", "a5"}, chip); }

}  // namespace strew::inline v0::pto
