// See starts.h. Numbers have 64 bits. A start is clamped to a range in which nothing can overflow before anything is
// added to it. Tested by tests/golden/pto_program_test.cc and tests/differential/npu.
#include "backends/pto/starts.h"

#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

/// Index number `at` of the component's tensor, several of which share a byte; the first has the lowest bits.
Number StartCode::packed_index(const Component& c, const Number& at, const std::string& hint) {
  const int width = bits(c.dtype);
  const Number each = b_.number(8 / width), range = b_.number(int64_t{1} << width);
  const Named byte = b_.give(Opcode::load_scalar, hint + "_byte", make_scalar(DType::i8),
                             {frame_.pointer(c.tensor), b_.use(b_.divide(at, each, "byte_at"))});
  const Number all{b_.give(Opcode::index_castui, hint + "_bits", make_index(), {byte.name}).name, {}};
  // Shift out the indices before it in the byte.
  const Number place = b_.mul(b_.remainder(at, each, "place"), b_.number(width), "shift");
  const Number shifted{b_.give(Opcode::shrsi, "shifted", make_index(), {all.name, b_.use(place)}).name, {}};
  const Number value = b_.remainder(shifted, range, hint.c_str());
  if (!is_signed_integer(c.dtype)) return value;
  const Number half = b_.divide(value, b_.number(int64_t{1} << (width - 1)), "negative");
  return b_.sub(value, b_.mul(half, range, "range"), hint.c_str());
}

/// Component `k` of the index vector at `position`, as a number.
Number StartCode::load_index(size_t k) {
  const Component& c = plan_.primary().components[k];
  Number at = frame_.number(c.index_offset);
  for (size_t i = 0; i < plan_.positions.size(); ++i)
    at = b_.add(at, b_.mul(position[i], frame_.number(plan_.positions[i].strides[static_cast<size_t>(c.tensor)]), "index_at"),
                "index_at");
  const Words& words = frame_.words(c.tensor);
  const DType dtype = c.dtype;
  const bool wide = words.count > 1;
  const Type element = make_scalar(words.element.dtype);
  const std::string hint = plan_.primary().components.size() > 1 ? "index_" + std::to_string(k) : "index";
  const auto read = [&](const Number& place, const std::string& name) {
    return b_.give(Opcode::load_scalar, name, element, {frame_.pointer(c.tensor), b_.use(place)});
  };
  if (bits(dtype) < 8) return packed_index(c, at, hint);
  if (!wide) {
    const Opcode cast = is_signed_integer(dtype) ? Opcode::index_cast : Opcode::index_castui;
    return {b_.give(cast, hint, make_index(), {read(at, hint + "_word").name}).name, {}};
  }
  // The value is the low word plus 2^32 times the high word.
  const Number low_at = b_.mul(at, b_.number(2), "low_at");
  const Named low = read(low_at, hint + "_low"), high = read(b_.add(low_at, b_.number(1), "high_at"), hint + "_high");
  const Number low_part{b_.give(Opcode::index_castui, hint + "_low_part", make_index(), {low.name}).name, {}};
  if (!is_signed_integer(dtype) && plan_.primary().oob == OobPolicy::wrap) {
    // A u64 may not fit an index. Policy wrap needs only its remainder by dim, which low + (high mod dim) * (2^32 mod
    // dim) has, too.
    const Number dim = divisor(k), two = b_.number(int64_t{1} << 32);
    const Number high_part{b_.give(Opcode::index_castui, hint + "_high_part", make_index(), {high.name}).name, {}};
    const Number word_rest = b_.remainder(two, dim, "word_rest"), high_rest = b_.remainder(high_part, dim, "high_rest");
    return b_.add(low_part, b_.mul(high_rest, word_rest, "high_value"), hint.c_str());
  }
  const Number high_part{b_.give(Opcode::index_cast, hint + "_high_part", make_index(), {high.name}).name, {}};
  const Number value = b_.add(low_part, b_.mul(high_part, b_.number(int64_t{1} << 32), "high_value"), hint.c_str());
  if (is_signed_integer(dtype)) return value;
  // A u64 of 2^63 or more is negative as i64: it is replaced by 2^62, which is out of bounds, too. `sign` is -1 for it
  // and 0 otherwise.
  const Number sign = b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign");
  return b_.max(value, b_.mul(sign, b_.number(-(int64_t{1} << 62)), "large"), hint.c_str());
}

/// Drops the window if there is no coordinate at which it could start.
void StartCode::drop_if_no_place(const Number& places) {
  if (places.value && *places.value > 0) return;
  valid = b_.mul(valid, b_.max(b_.min(places, b_.number(1), "any"), b_.number(0), "any"), "valid");
}

/// The divisor of policy wrap: the extent, or 1 for an extent of 0, for which nothing is written.
Number StartCode::divisor(size_t k) { return b_.max(frame_.number(plan_.primary().components[k].dim), b_.number(1), "divisor"); }

Number StartCode::start(size_t k) {
  Number value = load_index(k);
  const Component& c = plan_.primary().components[k];
  const Number dim = frame_.number(c.dim);
  if (c.normalize_negative) {
    const Number sign = b_.min(b_.max(value, b_.number(-1), "sign"), b_.number(0), "sign");
    value = b_.sub(value, b_.mul(sign, dim, "from_end"), "normal");
  }
  return value;
}

/// Applies the policy to a component's start, and computes which part of the window is left.
void StartCode::bound(size_t k, const Number& value) {
  const Component& c = plan_.primary().components[k];
  const Number dim = frame_.number(c.dim), window = frame_.number(c.window), zero = b_.number(0);
  const Number last = b_.sub(dim, window, "last_start");
  Number at = value;
  LoopSpan left{zero, window};
  const auto drop_outside = [&](const Number& limit) {
    // `near` is the value clamped to [-1, limit + 1], so that nothing overflows. Its distance from [0, limit] is 0
    // inside and 1 or -1 outside.
    const Number beyond = b_.add(limit, b_.number(1), "beyond");
    const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
    at = b_.min(b_.max(near, zero, "inside"), limit, "inside");
    const Number off = b_.sub(near, at, "off");
    valid = b_.mul(valid, b_.sub(b_.number(1), b_.mul(off, off, "outside"), "here"), "valid");
  };
  switch (plan_.primary().oob) {
    case OobPolicy::clamp:
      at = b_.min(b_.max(value, zero, "clamped"), last, "clamped");
      if (!last.value) at = b_.max(at, zero, "clamped");
      drop_if_no_place(b_.add(last, b_.number(1), "places"));
      break;
    case OobPolicy::wrap: {
      const Number by = divisor(k), rest = b_.remainder(value, by, "rest");
      at = b_.remainder(b_.add(rest, by, "raised"), by, "wrapped");
      drop_if_no_place(dim);
      break;
    }
    case OobPolicy::skip_window:
    case OobPolicy::fill_window:
      drop_outside(last);
      break;
    case OobPolicy::skip_element:
    case OobPolicy::fill_element:
      if (window.is(1)) {
        drop_outside(last);
        break;
      }
      at = b_.min(b_.max(value, b_.sub(zero, window, "before"), "near"), dim, "near");
      left = {b_.max(b_.sub(zero, at, "cut"), zero, "lower"), b_.min(b_.sub(dim, at, "room"), window, "upper")};
      break;
    case OobPolicy::undefined:
    case OobPolicy::error:
      break;
  }
  starts.push_back(at);
  spans.push_back(left);
}

Number StartCode::faults() {
  Number faults = b_.number(0);
  for (size_t k = 0; k < plan_.primary().components.size(); ++k) {
    const Number value = start(k), last = frame_.last_start(plan_.primary().components[k]);
    const Number beyond = b_.add(last, b_.number(1), "beyond");
    const Number near = b_.min(b_.max(value, b_.number(-1), "near"), beyond, "near");
    const Number off = b_.sub(near, b_.min(b_.max(near, b_.number(0), "inside"), last, "inside"), "off");
    faults = b_.max(faults, b_.mul(off, off, "outside"), "fault");
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
