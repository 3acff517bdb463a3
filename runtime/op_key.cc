// kernel_key() writes every field of an op and of the options into a buffer of words and hashes the buffer. Lists begin with
// their length, so that adjacent lists cannot be confused. The structured bindings name every field on purpose: after a
// field is added to an op, this file does not compile until the key contains the field. Nothing is printed, so it costs
// 100 to 200 ns. Tested by tests/unit/runtime/cache_test.cc.
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "runtime/words.h"
#include "strew/prepared_op.h"

namespace strew::inline v0 {
namespace {

template <class Enum>
uint64_t word(Enum value) {
  return static_cast<uint64_t>(value);
}

void put(Words& out, const TensorType& value) {
  const auto& [dtype, dims, strides] = value;
  out.put(word(dtype));
  out.put(dims);
  out.put(strides);
}

void put(Words& out, const Scalar& value) {
  const auto& [dtype, bits] = value;
  out.put(word(dtype), bits[0], bits[1]);
}

void put(Words& out, const Extra& value) {
  const auto& [kind, type] = value;
  out.put(word(kind));
  put(out, type);
}

void put(Words& out, const ExprNode& node) {
  const auto& [op, dtype, args, index, value] = node;
  out.put(word(op) << 32 | word(dtype) << 16 | args.size(), index);
  for (int32_t arg : args) out.put(arg);
  put(out, value);
}

void put(Words& out, const Lookup& value);
void put(Words& out, const RowReduction& value);

template <class T>
void put(Words& out, const std::vector<T>& list) {
  out.put(list.size());
  for (const T& value : list) put(out, value);
}

void put(Words& out, const Expr& expr) {
  const auto& [nodes, results] = expr;
  put(out, nodes);
  out.put(results.size());
  for (int32_t result : results) out.put(result);
}

void put(Words& out, const DimensionNumbers& value) {
  const auto& [window, removed, batching, indices_batching, index_map, vector_dim] = value;
  for (const auto* list : {&window, &removed, &batching, &indices_batching, &index_map}) out.put(*list);
  out.put(vector_dim);
}

void put(Words& out, const Gather& op);

void put(Words& out, const Lookup& value) {
  const auto& [of, index, gather] = value;
  out.put(word(of) << 32 | static_cast<uint32_t>(index));
  put(out, gather);
}

void put(Words& out, const RowReduction& value) {
  const auto& [fold, lanes, graph] = value;
  out.put(word(fold) << 32 | static_cast<uint32_t>(lanes));
  put(out, graph);
}

void put(Words& out, const Scatter& op) {
  const auto& [operands, indices, more_indices, updates, extras, lookups, row_reductions, results, dims, combiner, expr, init,
               fill, oob, normalize, order, accumulate, sorted, unique] = op;
  out.put(1);
  put(out, operands);
  put(out, indices);
  put(out, more_indices);
  put(out, updates);
  put(out, extras);
  put(out, lookups);
  put(out, row_reductions);
  put(out, results);
  put(out, dims);
  out.put(word(combiner));
  put(out, expr);
  out.put(word(init));
  put(out, fill);
  out.put(word(oob) << 32 | word(order) << 16 | word(accumulate) << 8 | uint64_t{normalize} << 2 | uint64_t{sorted} << 1 |
          uint64_t{unique});
}

void put(Words& out, const Gather& op) {
  const auto& [operand, indices, more_indices, extras, result, dims, slice_sizes, expr, oob, fill, normalize, sorted] = op;
  out.put(2);
  put(out, operand);
  put(out, indices);
  put(out, more_indices);
  put(out, extras);
  put(out, result);
  put(out, dims);
  out.put(slice_sizes);
  put(out, expr);
  put(out, fill);
  out.put(word(oob) << 32 | uint64_t{normalize} << 1 | uint64_t{sorted});
}

template <class T>
void put(Words& out, const std::optional<T>& value) {
  out.put(value ? uint64_t{1} << 32 | static_cast<uint32_t>(*value) : 0);
}

void put(Words& out, const ScheduleOverrides& overrides) {
  const auto& [strategy, vector_bytes, unroll, prefetch, nontemporal, tables, scratch_mib, adapts, checked] = overrides;
  put(out, strategy);
  for (const auto* knob : {&vector_bytes, &unroll, &prefetch, &tables, &scratch_mib}) put(out, *knob);
  for (const auto* knob : {&nontemporal, &adapts, &checked}) put(out, *knob);
}

void put(Words& out, const std::optional<Target>& target) {
  out.put(target.has_value());
  if (!target) return;
  const auto& [arch, cpu, features, vector_bytes, f16c, host_fp, cores, l1d_bytes, l2_bytes, l3_bytes, costs] = *target;
  out.put(arch);
  out.put(cpu);
  out.put(features.size());
  for (const std::string& feature : features) out.put(feature);
  out.put(vector_bytes, f16c, host_fp, cores, l1d_bytes, l2_bytes, l3_bytes);
  for (const uint32_t number : std::bit_cast<std::array<uint32_t, sizeof costs / sizeof(uint32_t)>>(costs)) out.put(number);
}

}  // namespace

KernelKey kernel_key(const Op& op, const KernelOptions& options) {
  const auto& [backend, schedule, target, threads, wisdom, compile] = options;
  Words words;
  std::visit([&](const auto& value) { put(words, value); }, op);
  put(words, schedule);
  put(words, target);
  // A remembered kernel holds its options, so no other wisdom gets this address while the key is in use.
  words.put(word(backend) << 32 | static_cast<uint32_t>(threads), reinterpret_cast<uintptr_t>(wisdom.get()));
  put(words, compile);
  return {words.hash()};
}

Expected<PreparedOp> PreparedOp::of(Op op, const KernelOptions& options) {
  const KernelKey key = kernel_key(op, options);
  STREW_ASSIGN(VerifiedOp verified, VerifiedOp::of(std::move(op)));
  return PreparedOp(std::make_shared<const Data>(Data{std::move(verified), options, key}));
}

}  // namespace strew::inline v0
