// loops(): the table of the best level that this machine can run; and the constants of small floats, from the traits table (base/dtype.cc).
#include <bit>
#include <vector>

#include "backends/portable/loops.h"
#include "backends/portable/loops/level.h"
#include "base/cpus.h"
#include "base/machine.h"

namespace strew::inline v0::portable {

#define STREW_PORTABLE_DECLARE(level)     \
  namespace level {                       \
  void add_moves(Loops& loops);           \
  void add_combiners_of_integers(Loops&); \
  void add_combiners_of_floats(Loops&);   \
  void add_steps(Loops& loops);           \
  void add_indices(Loops& loops);         \
  }
STREW_PORTABLE_DECLARE(v3)
#undef STREW_PORTABLE_DECLARE

namespace {

#define STREW_PORTABLE_TABLE(name)        \
  [] {                                    \
    Loops out;                            \
    out.level = #name;                    \
    name::add_moves(out);                 \
    name::add_combiners_of_integers(out); \
    name::add_combiners_of_floats(out);   \
    name::add_steps(out);                 \
    name::add_indices(out);               \
    return out;                           \
  }()

const Loops& baseline_loops() {
  static const Loops table = STREW_PORTABLE_TABLE(baseline);
  return table;
}

/// The loops for x86-64-v3; null where there are none, or this machine cannot run them.
const Loops* v3_loops() {
#if defined(STREW_PORTABLE_HAS_V3)
  static const FeatureSet needed = find_cpu("x86-64-v3")->features;
  static const bool runs = (machine_features() & needed) == needed;
  if (!runs) return nullptr;
  static const Loops table = STREW_PORTABLE_TABLE(v3);
  return &table;
#else
  return nullptr;
#endif
}
#undef STREW_PORTABLE_TABLE

SmallFloat make_small_float(const DTypeInfo& t) {
  SmallFloat f;
  const int width = t.exponent_bits + t.mantissa_bits, dropped = 23 - t.mantissa_bits;
  f.width = static_cast<uint32_t>(width);
  f.mantissa = static_cast<uint32_t>(t.mantissa_bits);
  f.rescale = std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - t.bias) << 23);
  const uint32_t all = (1U << width) - 1, infinity = all + 1 - (1U << t.mantissa_bits);
  f.half = (1U << (dropped - 1)) - 1;
  f.bias_shift = static_cast<uint32_t>(127 - t.bias) << t.mantissa_bits;
  f.aligner = static_cast<uint32_t>(127 + 1 - t.bias - t.mantissa_bits + 23) << 23;
  f.subnormal_below = static_cast<uint32_t>(127 + 1 - t.bias) << 23;
  f.largest = static_cast<int32_t>(all);
  f.beyond = f.nan = all;
  switch (t.codes) {
    case FloatCodes::ieee:
      f.infinite_from = infinity;
      f.largest = static_cast<int32_t>(infinity);
      f.beyond = infinity;
      f.nan = infinity | 1U << (t.mantissa_bits - 1);
      break;
    case FloatCodes::fn:
      f.nan_code = all;
      f.largest = static_cast<int32_t>(all) - 1;
      break;
    case FloatCodes::fnuz:
      f.nan_word = f.beyond = f.nan = 1U << width;
      f.no_negative_zero = 1;
      break;
    case FloatCodes::finite:
    case FloatCodes::e8m0:  // these are not computed with
    case FloatCodes::opaque:
    case FloatCodes::none:
      f.nan = 1U << width;  // f4: NaN has no code; the negative zero stands for it (docs/semantics.md section 4)
      break;
  }
  return f;
}

}  // namespace

const Loops& loops() {
  static const Loops& best = v3_loops() != nullptr ? *v3_loops() : baseline_loops();
  return best;
}

std::array<const Loops*, 2> all_loops() { return {&baseline_loops(), v3_loops()}; }

const SmallFloat& small_float(DType dtype) {
  static const auto& table = *new const std::vector<SmallFloat>([] {
    std::vector<SmallFloat> rows(kDTypeCount);
    for (int i = 0; i < kDTypeCount; ++i) {
      const DTypeInfo& row = info(static_cast<DType>(i));
      if (row.kind == DTypeKind::floating && row.bits <= 16 && row.arithmetic)
        rows[static_cast<size_t>(i)] = make_small_float(row);
    }
    return rows;
  }());
  return table[static_cast<size_t>(dtype)];
}

}  // namespace strew::inline v0::portable
