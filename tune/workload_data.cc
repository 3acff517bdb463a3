// See workload_data.h. Storage is filled with a pattern of a few thousand elements, written over and over: element values do not decide
// how long a call takes, as long as none of them is subnormal or becomes infinite.
#include "tune/workload_data.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "backends/reference/hints.h"
#include "base/headroom.h"
#include "base/machine.h"
#include "base/number.h"
#include "compiler/op/dims.h"
#include "compiler/op/slot_name.h"
#include "strew/text.h"
#include "tune/index_values.h"
#include "tune/random.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kHotSets = 8;         ///< index sets of a hot workload
constexpr int64_t kMostSets = 1 << 16;  ///< of a cold one: enough for calls that move 4 KiB and more
constexpr int64_t kPatternElements = 4096;
constexpr int64_t kHotIndexBytes = int64_t{4} << 20;  ///< index sets of a hot workload take at most about this

int64_t elements_of(const TensorType& type) { return product(type.dims); }

/// The elements that a tensor reaches before and after its first one.
struct Reach {
  int64_t before = 0, after = 0;
};
Reach reach_of(const TensorType& type) {
  const int64_t count = elements_of(type);
  if (count == 0) return {};
  if (type.strides.empty()) return {0, count};
  Reach out{0, 1};
  for (size_t d = 0; d < type.dims.size(); ++d)
    (type.strides[d] < 0 ? out.before : out.after) += std::abs(type.strides[d]) * (type.dims[d] - 1);
  return out;
}

/// Small numbers other than zero: with them, products do not fade and sums stay where they are on average.
Scalar number(DType dtype, uint64_t random) {
  constexpr double kValues[] = {-2, -1, 1, 2};
  const DType part = part_dtype(dtype);
  const double value = kValues[random % 4];
  const uint64_t bits = is_float(part) ? encode(part, value)
                                       : encode_i64(part, is_signed_integer(part) ? static_cast<int64_t>(value)
                                                                                  : static_cast<int64_t>(random % 3 + 1));
  if (part != dtype) return make_complex(dtype, bits, encode(part, kValues[random / 4 % 4]));
  Scalar out;
  out.dtype = dtype;
  out.bits[0] = bits;
  return out;
}

int64_t reached_bytes(const TensorType& type) {
  const Reach reach = reach_of(type);
  return storage_bytes(type.dtype, reach.before) + storage_bytes(type.dtype, reach.after);
}

bool is_table(const Op& op, const TensorSlot& slot) {
  if (lookup_of(op, slot.role, slot.index) != nullptr) return true;
  return is_scatter(op) ? slot.role == Role::result || slot.role == Role::operand : slot.role == Role::operand;
}

}  // namespace

WorkloadData::WorkloadData(VerifiedOp sized)
    : sized_(std::make_unique<const VerifiedOp>(std::move(sized))), slots_(tensor_slots(*sized_)), patterns_(slots_.size()) {}

Expected<WorkloadData> WorkloadData::make(const VerifiedOp& op, const Usage& usage, uint64_t seed, int64_t max_bytes) {
  STREW_ASSIGN(VerifiedOp sized, with_dims(op, usage));
  for (const TensorSlot& slot : tensor_slots(sized))
    if (info(slot.type->dtype).kind == DTypeKind::string)
      return unsupported("tune: " + std::string(name(slot.role)) + " is a tensor of strings, expected numbers");
  WorkloadData out(std::move(sized));
  STREW_TRY(out.lay_out(usage, max_bytes));
  for (const Storage& storage : out.storages_)
    if (out.slots_[storage.slot].role != Role::indices) out.fill(storage);
  STREW_TRY(out.fill_indices(usage, seed));
  // Where an index tensor of its own repeats, vectors are not the drawn ones.
  const bool is_drawn = usage.indices.kind != Distribution::Kind::file && first_indices(*out.sized_, 1) == 1;
  const Status hints = is_drawn ? Status() : check_hints(*out.sized_, out.call(0));
  if (!hints.ok() && usage.indices.kind != Distribution::Kind::file)
    return unsupported("tune: an index tensor repeats along a dim, so that invented indices do not keep the op's hints: " +
                       hints.message());
  STREW_TRY(hints);
  out.count_moved();
  return out;
}

Expected<size_t> WorkloadData::allocate(size_t slot) {
  const TensorType& type = *slots_[slot].type;
  const int64_t bytes = reached_bytes(type);
  STREW_TRY(check_memory(bytes));
  STREW_ASSIGN(Buffer buffer, Buffer::allocate(bytes));
  storages_.push_back({std::move(buffer), storage_bytes(type.dtype, reach_of(type).before), slot});
  return storages_.size() - 1;
}

/// How many sets there are, and which tensors each has of its own. A hot workload shares all but the indices. A cold one shares nothing,
/// unless its table alone is larger than what calls must go round.
Status WorkloadData::lay_out(const Usage& usage, int64_t max_bytes) {
  const bool is_cold = usage.temperature == Temperature::cold;
  const int64_t round = 2 * machine().l3_bytes;
  int64_t tables = 0, indices = 0, others = 0;
  for (const TensorSlot& slot : slots_)
    (slot.role == Role::indices ? indices : is_table(*sized_, slot) ? tables : others) += reached_bytes(*slot.type);
  const bool shares_tables = !is_cold || tables >= round;
  const int64_t shared = (shares_tables ? tables : 0) + (is_cold ? 0 : others);
  const int64_t own = tables + indices + others - shared;
  if (shared + own > max_bytes)
    return unsupported("workload: its tensors take " + std::to_string(shared + own) + " bytes, expected at most " +
                       std::to_string(max_bytes) + "; choose smaller dims");
  int64_t sets = is_cold ? std::clamp<int64_t>(round / std::max<int64_t>(1, own) + 1, 2, kMostSets)
                         : std::clamp<int64_t>(kHotIndexBytes / std::max<int64_t>(1, indices), 1, kHotSets);
  if (usage.indices.kind == Distribution::Kind::file && !is_cold) sets = 1;
  sets = std::clamp<int64_t>((max_bytes - shared) / std::max<int64_t>(1, own), 1, sets);
  std::vector<size_t> first(slots_.size());
  for (int64_t set = 0; set < sets; ++set) {
    std::vector<TensorView> views;
    std::vector<size_t> storages;
    for (size_t s = 0; s < slots_.size(); ++s) {
      const bool is_own = slots_[s].role == Role::indices || !(is_table(*sized_, slots_[s]) ? shares_tables : !is_cold);
      if (set == 0 || is_own) {
        STREW_ASSIGN(first[s], allocate(s));
      }
      const Storage& storage = storages_[first[s]];
      const TensorType& type = *slots_[s].type;
      storages.push_back(first[s]);
      views.emplace_back(static_cast<void*>(storage.buffer.data() + storage.first), type.dtype,
                         static_cast<int32_t>(type.dims.size()), type.dims.data(),
                         type.strides.empty() ? nullptr : type.strides.data());
    }
    calls_.push_back(std::move(views));
    storage_of_.push_back(std::move(storages));
  }
  for (const Storage& storage : storages_) bytes_ += storage.buffer.size();
  return {};
}

void WorkloadData::fill(const Storage& storage) {
  const DType dtype = slots_[storage.slot].type->dtype;
  const int64_t pattern_bytes = storage_bytes(dtype, kPatternElements), size = storage.buffer.size();
  std::vector<std::byte>& pattern = patterns_[storage.slot];  // a cold workload has thousands of small storages for each slot
  if (pattern.empty()) {
    pattern.resize(static_cast<size_t>(pattern_bytes));
    Random random(storage.slot + 1);
    for (int64_t i = 0; i < kPatternElements; ++i) store_element(dtype, pattern.data(), i, number(dtype, random.next()));
  }
  for (int64_t at = 0; at < size; at += pattern_bytes)
    std::memcpy(storage.buffer.data() + at, pattern.data(), static_cast<size_t>(std::min(pattern_bytes, size - at)));
}

Status WorkloadData::fill_indices(const Usage& usage, uint64_t seed) {
  const TensorType& type = indices_of(*sized_);
  const int own = first_indices(*sized_, 1);
  const bool is_file = usage.indices.kind == Distribution::Kind::file;
  if (is_file && own > 1)
    return unsupported("indices: " + usage.indices.file + " is one tensor, and the op has " + std::to_string(own) +
                       ", expected a distribution");
  if (usage.lookups.size() != lookups_of(*sized_).size())
    return invalid_argument("indices: " + std::to_string(usage.lookups.size()) + " distributions of look-ups, expected " +
                            std::to_string(lookups_of(*sized_).size()));
  // Per source; its other tensors, which follow the first one, have the same.
  std::vector<uint64_t> seeds(lookups_of(*sized_).size() + 1);
  for (size_t i = 0; i < storages_.size(); ++i) {
    const Storage& storage = storages_[i];
    const TensorSlot& slot = slots_[storage.slot];
    if (slot.role != Role::indices) continue;
    std::byte* const first = storage.buffer.data() + storage.first;
    size_t source = 0;
    while (source < lookups_of(*sized_).size() && slot.index >= first_indices(*sized_, source + 1)) ++source;
    const auto tensor = static_cast<size_t>(slot.index - first_indices(*sized_, source));
    if (tensor == 0) seeds[source] = mixed(seed + i);
    if (source > 0 || !is_file) {
      const Distribution& distribution = source == 0 ? usage.indices : usage.lookups[source - 1];
      STREW_TRY(write_indices(op_of_source(*sized_, source), tensor, distribution, seeds[source], first));
      continue;
    }
    if (usage.index_tensor == nullptr) return invalid_argument("indices: " + usage.indices.file + " was not read");
    const Tensor& given = *usage.index_tensor;
    if (given.dtype != type.dtype || given.dims != type.dims || !type.strides.empty())
      return invalid_argument("indices: " + usage.indices.file + " is " + print(TensorType{given.dtype, given.dims, {}}) +
                              ", expected " + print(type));
    std::memcpy(first, given.data.data(), static_cast<size_t>(storage.buffer.size()));
    STREW_TRY(check_indices_in_bounds(*sized_, first));
  }
  return {};
}

void WorkloadData::restore() {
  for (const Storage& storage : storages_)
    if (slots_[storage.slot].role == Role::result) fill(storage);
}

std::vector<std::byte> WorkloadData::results(int64_t set) const {
  std::vector<std::byte> out;
  for (const size_t at : storage_of_[static_cast<size_t>(set)]) {
    const Storage& storage = storages_[at];
    if (slots_[storage.slot].role != Role::result) continue;
    out.insert(out.end(), storage.buffer.data(), storage.buffer.data() + storage.buffer.size());
  }
  return out;
}

int64_t WorkloadData::first_difference(int64_t set, std::span<const std::byte> expected) const {
  int64_t begin = 0;
  for (const size_t at : storage_of_[static_cast<size_t>(set)]) {
    const Storage& storage = storages_[at];
    if (slots_[storage.slot].role != Role::result) continue;
    const DType dtype = slots_[storage.slot].type->dtype;
    const std::byte* const found = storage.buffer.data();
    const std::byte* const wanted = expected.data() + begin;
    const int64_t size = storage.buffer.size(), elements = size * 8 / bits(dtype);
    for (int64_t i = std::equal(found, found + size, wanted) ? elements : 0; i < elements; ++i)
      if (!same_value(load_element(dtype, found, i), load_element(dtype, wanted, i))) return begin + i * bits(dtype) / 8;
    begin += size;
  }
  return -1;
}

/// Updates and indices are read, and as many bytes of the result as there are updates are written, and read if there is a combiner. A
/// result that starts as a copy or filled is written whole.
void WorkloadData::count_moved() {
  const auto* scatter = std::get_if<Scatter>(&**sized_);
  const bool combines = scatter != nullptr && scatter->combiner != CombinerKind::assign;
  for (const TensorSlot& slot : slots_) {
    const Lookup* const lookup = lookup_of(*sized_, slot.role, slot.index);
    const int64_t bytes = storage_bytes(slot.type->dtype, elements_of(lookup != nullptr ? lookup->gather.result : *slot.type));
    if (slot.role == Role::indices || slot.role == Role::extra) bytes_moved_ += bytes;
    if (slot.role == Role::updates) bytes_moved_ += bytes * (combines ? 3 : 2);
    if (slot.role == Role::operand && scatter != nullptr) bytes_moved_ += bytes;
    if (slot.role == Role::result && (scatter == nullptr || scatter->init != InitKind::in_place))
      bytes_moved_ += bytes * (scatter == nullptr ? 2 : 1);
  }
}

}  // namespace strew::inline v0
