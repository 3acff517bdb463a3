// See call.h. Tested by every differential run.
#include "tests/differential/call.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "tests/support/elements.h"

namespace strew::test {
namespace {

void fill_canaries(Rng& rng, std::span<std::byte> bytes) {
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const uint64_t word = rng.next();
    std::memcpy(&bytes[i], &word, 8);
  }
}

/// The earlier slot whose buffer slot `s` may share: under init copy, an operand may share its result's buffer, and
/// an input other than the indices may share another input's (docs/semantics.md section 6).
std::optional<size_t> partner(Rng& rng, const Op& op, const std::vector<TensorSlot>& slots, size_t s) {
  const Scatter* scatter = std::get_if<Scatter>(&op);
  if (slots[s].role == Role::result || slots[s].role == Role::indices || !rng.chance(12)) return std::nullopt;
  for (size_t other = 0; other < s; ++other) {
    const bool same_pair =
        slots[other].role == Role::result && slots[s].role == Role::operand && slots[other].index == slots[s].index;
    if (slots[other].role == Role::result && !(scatter != nullptr && same_pair)) continue;
    if (slots[other].role != Role::indices && *slots[other].type == *slots[s].type) return other;
  }
  return std::nullopt;
}

/// The bytes of the buffer for a tensor, relative to its element 0. A tensor without elements has no byte, so that its pointer stands at a
/// guard page or is null, or it stands amid canaries, which an access with small indices would reach.
Extent bytes_of(Rng& rng, const TensorType& type) {
  const Extent extent = byte_extent(type);
  constexpr int64_t kNeighbours = 4096;
  return extent.first == extent.end && rng.chance(50) ? Extent{-kNeighbours, kNeighbours} : extent;
}

}  // namespace

Call::Call(GuardedPool& pool, Rng& rng, Op concrete, DataMode mode) : concrete_(std::move(concrete)) {
  slots_ = tensor_slots(concrete_);
  spelled_strides_.resize(slots_.size());
  for (size_t s = 0; s < slots_.size(); ++s) {
    const TensorSlot& slot = slots_[s];
    auto other = partner(rng, concrete_, slots_, s);
    // An operand that shares its result's buffer must not be shared with another input, which would then overlap the
    // result.
    if (other && slots_[*other].role != Role::result && views_[*other].data == buffers_[*other]->writable() - first_[*other])
      other.reset();
    if (other) {
      buffers_.push_back(buffers_[*other]);
      first_.push_back(first_[*other]);
      views_.push_back(views_[*other]);
      continue;
    }
    const Extent extent = bytes_of(rng, *slot.type);
    const Flush flush = rng.chance(50) ? Flush::end : Flush::begin;
    GuardedBuffer& buffer =
        pool.take(static_cast<size_t>(extent.end - extent.first), flush, fmt::format("{} {}", name(slot.role), slot.index));
    buffers_.push_back(&buffer);
    first_.push_back(extent.first);
    fill_canaries(rng, buffer.all());
    if (slot.role == Role::indices)
      index_slots_.push_back(s);
    else
      fill_tensor(rng, origin(s), *slot.type, mode);
    const bool result = slot.role == Role::result;
    results_ += result ? 1 : 0;
    spelled_strides_[s] = strides_of(*slot.type);
    const bool implicit = slot.type->strides.empty() && rng.chance(70);
    std::byte* data = (result ? buffer.writable() : buffer.read_only()) - extent.first;
    if (extent.first == extent.end && rng.chance(50)) data = nullptr;
    views_.push_back(
        {data, slot.type->dtype, slot.type->rank(), slot.type->dims.data(), implicit ? nullptr : spelled_strides_[s].data()});
  }
}

std::vector<std::byte*> Call::index_origins(size_t source) const {
  std::vector<std::byte*> out;
  const auto first = static_cast<size_t>(first_indices(concrete_, source));
  const size_t last =
      source < lookups_of(concrete_).size() ? static_cast<size_t>(first_indices(concrete_, source + 1)) : index_slots_.size();
  for (size_t i = first; i < last; ++i) out.push_back(origin(index_slots_[i]));
  return out;
}

Call::Image Call::results() const {
  Image image;
  for (int i = 0; i < results_; ++i) {
    const std::span<std::byte> all = buffers_[static_cast<size_t>(i)]->all();
    image.emplace_back(all.begin(), all.end());
  }
  return image;
}

void Call::restore(const Image& image) const {
  for (size_t i = 0; i < image.size(); ++i) std::memcpy(buffers_[i]->all().data(), image[i].data(), image[i].size());
}

int64_t Call::origin_offset(int i) const {
  const auto s = static_cast<size_t>(i);
  return static_cast<int64_t>(buffers_[s]->offset()) - first_[s];
}

}  // namespace strew::test
