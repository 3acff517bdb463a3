// See starts.h. Numbers have 64 bits. A start is clamped to a range in which nothing can overflow before anything is
// added to it. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/starts.h"

namespace strew::inline v0::pto {

/// Index number `at` of the component's tensor, several of which share a byte; the first has the lowest bits.
Number StartCode::packed_index(const Component& c, const Number& at, const std::string& hint) {
  const int width = bits(c.dtype);
  const Number each = b_.number(8 / width), range = b_.number(int64_t{1} << width);
  const Named byte = frame_.load_word(hint + "_byte", c.tensor, b_.divide(at, each, "byte_at"));
  const Number all = b_.as_index(hint + "_bits", byte.name, true);
  // Shift out the indices before it in the byte.
  const Number place = b_.mul(b_.remainder(at, each, "place"), b_.number(width), "shift");
  const Number shifted{b_.give(Opcode::shrsi, "shifted", make_index(), {all.name, b_.use(place)}).name, {}};
  const Number value = b_.remainder(shifted, range, hint.c_str());
  if (!is_signed_integer(c.dtype)) return value;
  const Number half = b_.divide(value, b_.number(int64_t{1} << (width - 1)), "negative");
  return b_.sub(value, b_.mul(half, range, "range"), hint.c_str());
}

/// -1 for a negative number, else 0.
Number StartCode::sign(const Number& value) { return b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign"); }

/// The value clamped to [0, limit], and in `outside` whether it is not in there: 1 or 0.
Number StartCode::clamp(const Number& value, const Number& limit, Number& outside) {
  // `near` is the value clamped to [-1, limit + 1], so that nothing overflows. Its distance from [0, limit] is 0 inside and
  // 1 or -1 outside.
  const Number beyond = b_.add(limit, b_.number(1), "beyond");
  const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
  const Number inside = b_.min(b_.max(near, b_.number(0), "inside"), limit, "inside");
  const Number off = b_.sub(near, inside, "off");
  outside = b_.mul(off, off, "outside");
  return inside;
}

/// Component `k` of the index vector at `position`, as a number.
Number StartCode::load_index(size_t k) {
  const Component& c = plan_.primary().components[k];
  Number at = frame_.number(c.index_offset);
  for (size_t i = 0; i < plan_.positions.size(); ++i)
    at = b_.add(at, b_.mul(position[i], frame_.number(plan_.positions[i].strides[static_cast<size_t>(c.tensor)]), "index_at"),
                "index_at");
  const DType dtype = c.dtype;
  const std::string hint = plan_.primary().components.size() > 1 ? "index_" + std::to_string(k) : "index";
  if (bits(dtype) < 8) return packed_index(c, at, hint);
  if (frame_.words(c.tensor).count == 1)
    return b_.as_index(hint, frame_.load_word(hint + "_word", c.tensor, at).name, !is_signed_integer(dtype));
  // The value is the low word plus 2^32 times the high word.
  const Number low_at = b_.mul(at, b_.number(2), "low_at");
  const Named low = frame_.load_word(hint + "_low", c.tensor, low_at);
  const Named high = frame_.load_word(hint + "_high", c.tensor, b_.add(low_at, b_.number(1), "high_at"));
  const Number low_part = b_.as_index(hint + "_low_part", low.name, true);
  if (!is_signed_integer(dtype) && plan_.primary().oob == OobPolicy::wrap) {
    // A u64 may not fit an index. Policy wrap needs only its remainder by dim, which low + (high mod dim) * (2^32 mod
    // dim) has, too.
    const Number dim = divisor(k), two = b_.number(int64_t{1} << 32);
    const Number high_part = b_.as_index(hint + "_high_part", high.name, true);
    const Number word_rest = b_.remainder(two, dim, "word_rest"), high_rest = b_.remainder(high_part, dim, "high_rest");
    return b_.add(low_part, b_.mul(high_rest, word_rest, "high_value"), hint.c_str());
  }
  const Number high_part = b_.as_index(hint + "_high_part", high.name);
  const Number value = b_.add(low_part, b_.mul(high_part, b_.number(int64_t{1} << 32), "high_value"), hint.c_str());
  if (is_signed_integer(dtype)) return value;
  // A u64 of 2^63 or more is negative as i64: it is replaced by 2^62, which is out of bounds, too.
  return b_.max(value, b_.mul(sign(value), b_.number(-(int64_t{1} << 62)), "large"), hint.c_str());
}

/// Drops the window if there is no coordinate at which it could start.
void StartCode::drop_if_no_place(const Number& places) {
  if (places.value && *places.value > 0) return;
  valid = b_.mul(valid, b_.max(b_.min(places, b_.number(1), "any"), b_.number(0), "any"), "valid");
}

/// The divisor of policy wrap: the extent, or 1 for an extent of 0, for which nothing is written.
Number StartCode::divisor(size_t k) { return b_.max(frame_.number(plan_.primary().components[k].dim), b_.number(1), "divisor"); }

Number StartCode::start(size_t k) {
  const Number value = load_index(k);
  const Component& c = plan_.primary().components[k];
  const Number dim = frame_.number(c.dim);
  return c.normalize_negative ? b_.sub(value, b_.mul(sign(value), dim, "from_end"), "normal") : value;
}

/// Applies the policy to a component's start, and computes which part of the window is left.
void StartCode::bound(size_t k, const Number& value) {
  const Component& c = plan_.primary().components[k];
  const Number dim = frame_.number(c.dim), window = frame_.number(c.window), zero = b_.number(0);
  const Number last = frame_.last_start(c);
  Number at = value;
  LoopSpan left{zero, window};
  switch (rule_of(plan_, k)) {
    case PlaceRule::fits:
    case PlaceRule::inside: {
      Number outside;
      at = clamp(value, last, outside);
      valid = b_.mul(valid, b_.sub(b_.number(1), outside, "here"), "valid");
      break;
    }
    case PlaceRule::clamped:
      at = b_.min(b_.max(value, zero, "clamped"), last, "clamped");
      if (!last.value) at = b_.max(at, zero, "clamped");
      drop_if_no_place(b_.add(last, b_.number(1), "places"));
      break;
    case PlaceRule::cut:
      at = b_.min(b_.max(value, b_.sub(zero, window, "before"), "near"), dim, "near");
      left = {b_.max(b_.sub(zero, at, "cut"), zero, "lower"), b_.min(b_.sub(dim, at, "room"), window, "upper")};
      break;
    case PlaceRule::wrapped:
    case PlaceRule::split: {
      const Number by = divisor(k), rest = b_.remainder(value, by, "rest");
      at = b_.remainder(b_.add(rest, by, "raised"), by, "wrapped");
      drop_if_no_place(dim);
      break;
    }
    case PlaceRule::trusted:
      break;
  }
  starts.push_back(at);
  spans.push_back(left);
}

Number StartCode::faults() {
  Number faults = b_.number(0), outside;
  for (size_t k = 0; k < plan_.primary().components.size(); ++k) {
    const Number value = start(k);
    clamp(value, frame_.last_start(plan_.primary().components[k]), outside);
    faults = b_.max(faults, outside, "fault");
  }
  return faults;
}

void StartCode::read_all() {
  starts.clear();
  spans.clear();
  valid = b_.number(1);
  for (size_t k = 0; k < plan_.primary().components.size(); ++k) bound(k, start(k));
}

}  // namespace strew::inline v0::pto
