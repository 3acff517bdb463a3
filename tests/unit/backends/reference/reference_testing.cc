// See reference_testing.h.
#include "tests/unit/backends/reference/reference_testing.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>

#include "backends/reference/reference.h"
#include "base/number.h"
#include "strew/text.h"

namespace strew::testing_reference {
namespace {

constexpr unsigned char kCanary = 0xa5;

struct Held {
  TensorType type;
  std::vector<unsigned char> bytes;
  int64_t first = 0;  // element number of element [0, ..., 0]; a multiple of 8, so that packed elements start a byte
  TensorView view;

  explicit Held(const TensorType& declared) : type(declared) {}

  void allocate() {
    if (type.strides.empty()) {
      type.strides.resize(type.dims.size());
      int64_t stride = 1;
      for (size_t d = type.dims.size(); d-- > 0;) {
        type.strides[d] = stride;
        stride *= type.dims[d];
      }
    }
    int64_t low = 0, high = 0;
    for (size_t d = 0; d < type.dims.size(); ++d)
      (type.strides[d] < 0 ? low : high) += type.strides[d] * std::max<int64_t>(type.dims[d] - 1, 0);
    first = (-low + 15) / 8 * 8;
    bytes.assign(static_cast<size_t>(storage_bytes(type.dtype, first + high + 9)), kCanary);
    view = {bytes.data() + storage_bytes(type.dtype, first), type.dtype, type.rank(), type.dims.data(), type.strides.data()};
  }

  template <class Visit>
  void each(Visit visit) const {
    for (const int64_t extent : type.dims)
      if (extent == 0) return;
    std::vector<int64_t> coord(type.dims.size(), 0);
    for (;;) {
      int64_t offset = 0;
      for (size_t d = 0; d < coord.size(); ++d) offset += coord[d] * type.strides[d];
      visit(offset);
      size_t d = coord.size();
      while (d > 0 && ++coord[d - 1] == type.dims[d - 1]) coord[--d] = 0;
      if (d == 0) return;
    }
  }

  std::string read(bool nan_bits) const {
    std::string text;
    each([&](int64_t offset) {
      const Scalar value = load_element(type.dtype, view.data, offset);
      const bool nan = !is_complex(type.dtype) && is_nan(type.dtype, value.bits[0]);
      text += (text.empty() ? "" : " ") + (nan && !nan_bits ? "nan" : print(value));
    });
    return text;
  }

  /// Returns what is wrong with `text`, if anything.
  std::string write(std::string text) {
    if (!text.empty() && text.front() == '[') {
      const size_t close = text.find(']');
      std::istringstream extents(text.substr(1, close - 1));
      for (int64_t& dim : type.dims) {
        extents >> dim;
        extents.ignore(1);
      }
      text.erase(0, close + 1);
    }
    allocate();
    std::istringstream values(text);
    std::string error, token;
    each([&](int64_t offset) {
      if (!(values >> token)) error = "too few values: " + text;
      const Expected<Scalar> value = parse_scalar(token, type.dtype);
      if (!value) error = value.status().message();
      if (error.empty()) store_element(type.dtype, view.data, offset, *value);
    });
    if (error.empty() && values >> token) error = "too many values: " + text;
    return error;
  }

  /// Bytes that no element owns have kept their canary.
  bool gaps_intact() const {
    std::vector<unsigned char> mask(bytes.size(), 0);
    void* base = mask.data() + (static_cast<const unsigned char*>(view.data) - bytes.data());
    each([&](int64_t offset) { store_element(type.dtype, base, offset, {type.dtype, {~uint64_t{0}, ~uint64_t{0}}}); });
    for (size_t i = 0; i < bytes.size(); ++i)
      if (((bytes[i] ^ kCanary) & ~mask[i]) != 0) return false;
    return true;
  }
};

std::string run_op(std::string_view text, const std::vector<std::string>& tensors, bool nan_bits) {
  Expected<Op> parsed = parse_op(text);
  if (!parsed) return parsed.status().message();
  const Expected<VerifiedOp> legal = VerifiedOp::of(std::move(parsed).value());
  if (!legal) return legal.status().message();
  const Op* const op = &**legal;
  const auto* s = std::get_if<Scatter>(&*op);
  const size_t results = s != nullptr ? s->results.size() : 1;
  const bool in_place = s != nullptr && s->init == InitKind::in_place;
  std::vector<std::unique_ptr<Held>> held;
  size_t next_text = 0;
  for (const TensorSlot& slot : tensor_slots(*op)) {
    held.push_back(std::make_unique<Held>(*slot.type));
    if (slot.role == Role::result && !in_place) {
      held.back()->allocate();
      continue;
    }
    if (next_text == tensors.size()) return "too few tensors";
    const std::string error = held.back()->write(tensors[next_text++]);
    if (!error.empty()) return error;
  }
  std::vector<TensorView> views;
  for (const auto& tensor : held) views.push_back(tensor->view);
  std::vector<std::vector<unsigned char>> before;
  for (const auto& tensor : held) before.push_back(tensor->bytes);
  const Status status = run_reference(*legal, views);
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i]->gaps_intact()) return "gap overwritten in tensor " + std::to_string(i);
    if ((i >= results || !status.ok()) && held[i]->bytes != before[i]) return "wrote to tensor " + std::to_string(i);
  }
  if (!status.ok()) return status.message();
  std::string out;
  for (size_t i = 0; i < results; ++i) out += (i == 0 ? "" : " | ") + held[i]->read(nan_bits);
  return out;
}

}  // namespace

std::string run(std::string_view text, const std::vector<std::string>& tensors) { return run_op(text, tensors, false); }
std::string run_bits(std::string_view text, const std::vector<std::string>& tensors) { return run_op(text, tensors, true); }

std::string repeat(std::string_view value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : " ").append(value);
  return text;
}

std::string count_from(int first, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(i == 0 ? "" : " ").append(std::to_string(first + i));
  return text;
}

}  // namespace strew::testing_reference
