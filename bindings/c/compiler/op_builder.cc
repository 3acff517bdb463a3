// Op builders of the C interface. Tested by tests/c_api.
#include <type_traits>
#include <variant>

#include "bindings/c/compiler/handles.h"
#include "compiler/op/limits.h"
#include "strew/builder.h"
#include "strew/forms.h"

struct strew_op_builder {
  std::variant<strew::ScatterBuilder, strew::GatherBuilder> builder;
};

namespace strew::inline v0::c_api {
namespace {

/// The type of a caller's tensor. Extents and strides are checked when the op is built.
Expected<TensorType> type_of(const strew_tensor* tensor, const std::string& argument) {
  STREW_TRY(check_not_null(tensor, argument.c_str()));
  if (tensor->dtype >= kDTypeCount)
    return invalid_argument(argument + ".dtype: number " + std::to_string(tensor->dtype) + ", expected 0.." +
                            std::to_string(kDTypeCount - 1));
  if (tensor->rank < 0 || tensor->rank > kMaxRank)
    return invalid_argument(argument + ".rank: " + std::to_string(tensor->rank) + ", expected 0.." + std::to_string(kMaxRank));
  if (tensor->rank > 0) STREW_TRY(check_not_null(tensor->dims, (argument + ".dims").c_str()));
  TensorType type{static_cast<DType>(tensor->dtype), {tensor->dims, tensor->dims + tensor->rank}, {}};
  if (tensor->strides != nullptr) type.strides.assign(tensor->strides, tensor->strides + tensor->rank);
  return type;
}

Expected<std::vector<int64_t>> list_of(const int64_t* values, size_t count, const char* argument) {
  if (count != 0) STREW_TRY(check_not_null(values, argument));
  if (count > kMaxRank)
    return invalid_argument("count: " + std::to_string(count) + ", expected at most " + std::to_string(kMaxRank));
  return std::vector<int64_t>(values, values + count);
}

/// Makes a builder of what form(operand, indices) returns.
template <class Form>
strew_status read_form(const strew_tensor* operand, const strew_tensor* indices, strew_op_builder** out, const Form& form) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType operand_type, type_of(operand, "operand"));
    STREW_ASSIGN(const TensorType indices_type, type_of(indices, "indices"));
    *out = new strew_op_builder{form(operand_type, indices_type)};
    return {};
  });
}
/// Makes a builder of what form(operand, indices, updates) returns.
template <class Form>
strew_status write_form(const strew_tensor* operand, const strew_tensor* indices, const strew_tensor* updates,
                        strew_op_builder** out, const Form& form) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType operand_type, type_of(operand, "operand"));
    STREW_ASSIGN(const TensorType indices_type, type_of(indices, "indices"));
    STREW_ASSIGN(const TensorType updates_type, type_of(updates, "updates"));
    *out = new strew_op_builder{form(operand_type, indices_type, updates_type)};
    return {};
  });
}

/// The types of `count` index tensors.
Expected<std::vector<TensorType>> types_of(const strew_tensor* indices, size_t count) {
  if (count > kMaxRank)
    return invalid_argument("count: " + std::to_string(count) + ", expected at most " + std::to_string(kMaxRank));
  std::vector<TensorType> out;
  for (size_t k = 0; k < count; ++k) {
    STREW_ASSIGN(TensorType type, type_of(indices == nullptr ? nullptr : indices + k, "indices"));
    out.push_back(std::move(type));
  }
  return out;
}

/// The caller has checked that the builder has tensors of that role.
template <class Builder>
void add(Builder& builder, Role role, TensorType type) {
  switch (role) {
    case Role::result:
      builder.result(std::move(type));
      return;
    case Role::operand:
      builder.operand(std::move(type));
      return;
    case Role::indices:
      builder.indices(std::move(type));
      return;
    case Role::updates:
      if constexpr (std::is_same_v<Builder, ScatterBuilder>) builder.updates(std::move(type));
      return;
    case Role::extra:
      return;  // strew_op_builder_extra() adds them
  }
}

}  // namespace
}  // namespace strew::inline v0::c_api

using namespace strew;         // NOLINT(google-build-using-namespace): the definitions below are C's
using namespace strew::c_api;  // NOLINT(google-build-using-namespace)

strew_status strew_op_builder_create_scatter(strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    *out = new strew_op_builder{ScatterBuilder()};
    return {};
  });
}
strew_status strew_op_builder_create_gather(strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    *out = new strew_op_builder{GatherBuilder()};
    return {};
  });
}
void strew_op_builder_free(strew_op_builder* builder) { delete builder; }

strew_status strew_op_builder_scatter_rows(const strew_tensor* operand, const strew_tensor* indices, const strew_tensor* updates,
                                           strew_op_builder** out) {
  return write_form(operand, indices, updates, out, scatter_rows);
}
strew_status strew_op_builder_scatter_elements(const strew_tensor* operand, const strew_tensor* indices,
                                               const strew_tensor* updates, int64_t axis, strew_op_builder** out) {
  return write_form(operand, indices, updates, out, [&](const TensorType& o, const TensorType& i, const TensorType& u) {
    return scatter_elements(o, i, u, axis);
  });
}
strew_status strew_op_builder_scatter_nd(const strew_tensor* operand, const strew_tensor* indices, const strew_tensor* updates,
                                         strew_op_builder** out) {
  return write_form(operand, indices, updates, out, scatter_nd);
}
strew_status strew_op_builder_tensor_scatter(const strew_tensor* operand, const strew_tensor* indices,
                                             const strew_tensor* updates, int64_t axis, int32_t circular,
                                             strew_op_builder** out) {
  return write_form(operand, indices, updates, out, [&](const TensorType& o, const TensorType& i, const TensorType& u) {
    return tensor_scatter(o, i, u, axis, circular != 0);
  });
}
strew_status strew_op_builder_dynamic_update_slice(const strew_tensor* operand, const strew_tensor* indices,
                                                   const strew_tensor* updates, strew_op_builder** out) {
  return write_form(operand, indices, updates, out, dynamic_update_slice);
}

strew_status strew_op_builder_gather_rows(const strew_tensor* operand, const strew_tensor* indices, strew_op_builder** out) {
  return read_form(operand, indices, out, gather_rows);
}
strew_status strew_op_builder_gather_elements(const strew_tensor* operand, const strew_tensor* indices, int64_t axis,
                                              strew_op_builder** out) {
  return read_form(operand, indices, out, [&](const TensorType& o, const TensorType& i) { return gather_elements(o, i, axis); });
}
strew_status strew_op_builder_gather_nd(const strew_tensor* operand, const strew_tensor* indices, int64_t batch_dims,
                                        strew_op_builder** out) {
  return read_form(operand, indices, out, [&](const TensorType& o, const TensorType& i) { return gather_nd(o, i, batch_dims); });
}
strew_status strew_op_builder_scatter_at(const strew_tensor* operand, const strew_tensor* indices, size_t count,
                                         const strew_tensor* updates, strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType operand_type, type_of(operand, "operand"));
    STREW_ASSIGN(const std::vector<TensorType> index_types, types_of(indices, count));
    STREW_ASSIGN(const TensorType updates_type, type_of(updates, "updates"));
    *out = new strew_op_builder{scatter_at(operand_type, index_types, updates_type)};
    return {};
  });
}
strew_status strew_op_builder_gather_at(const strew_tensor* operand, const strew_tensor* indices, size_t count,
                                        strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType operand_type, type_of(operand, "operand"));
    STREW_ASSIGN(const std::vector<TensorType> index_types, types_of(indices, count));
    *out = new strew_op_builder{gather_at(operand_type, index_types)};
    return {};
  });
}
strew_status strew_op_builder_sddmm(const strew_tensor* lhs, const strew_tensor* lhs_ids, const strew_tensor* rhs,
                                    const strew_tensor* rhs_ids, int32_t lanes, strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType lhs_type, type_of(lhs, "lhs"));
    STREW_ASSIGN(const TensorType lhs_ids_type, type_of(lhs_ids, "lhs_ids"));
    STREW_ASSIGN(const TensorType rhs_type, type_of(rhs, "rhs"));
    STREW_ASSIGN(const TensorType rhs_ids_type, type_of(rhs_ids, "rhs_ids"));
    *out = new strew_op_builder{sddmm(lhs_type, lhs_ids_type, rhs_type, rhs_ids_type, lanes)};
    return {};
  });
}
strew_status strew_op_builder_gather(const strew_tensor* operand, const strew_tensor* indices, int64_t axis, int64_t batch_dims,
                                     strew_op_builder** out) {
  return read_form(operand, indices, out,
                   [&](const TensorType& o, const TensorType& i) { return gather(o, i, axis, batch_dims); });
}
strew_status strew_op_builder_dynamic_slice(const strew_tensor* operand, const strew_tensor* indices, const int64_t* slice_sizes,
                                            size_t count, strew_op_builder** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(out, "out"));
    STREW_ASSIGN(const TensorType operand_type, type_of(operand, "operand"));
    STREW_ASSIGN(const TensorType indices_type, type_of(indices, "indices"));
    STREW_ASSIGN(const std::vector<int64_t> sizes, list_of(slice_sizes, count, "slice_sizes"));
    *out = new strew_op_builder{dynamic_slice(operand_type, indices_type, sizes)};
    return {};
  });
}

strew_status strew_op_builder_tensor(strew_op_builder* builder, int32_t role, const strew_tensor* type) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    const bool is_scatter = std::holds_alternative<ScatterBuilder>(builder->builder);
    if (role < STREW_RESULT || role > (is_scatter ? STREW_UPDATES : STREW_INDICES))
      return invalid_argument("role: number " + std::to_string(role) + ", expected STREW_RESULT, STREW_OPERAND" +
                              (is_scatter ? ", STREW_INDICES or STREW_UPDATES" : " or STREW_INDICES for a gather") +
                              "; extras are given by strew_op_builder_extra()");
    STREW_ASSIGN(TensorType of, type_of(type, "type"));
    std::visit([&](auto& typed) { add(typed, static_cast<Role>(role), std::move(of)); }, builder->builder);
    return {};
  });
}
strew_status strew_op_builder_extra(strew_op_builder* builder, const char* kind, const strew_tensor* type) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    STREW_TRY(check_not_null(kind, "kind"));
    constexpr std::string_view kKinds[] = {name(ExtraKind::per_element), name(ExtraKind::per_position),
                                           name(ExtraKind::per_window), name(ExtraKind::scalar)};
    STREW_ASSIGN(const ExtraKind wanted, value_named<ExtraKind>("kind", kind, kKinds));
    STREW_ASSIGN(TensorType of, type_of(type, "type"));
    std::visit([&](auto& typed) { typed.extra(wanted, std::move(of)); }, builder->builder);
    return {};
  });
}
strew_status strew_op_builder_look_up(strew_op_builder* builder, int32_t role, int32_t index, const strew_op_builder* gather) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    STREW_TRY(check_not_null(gather, "gather"));
    auto* const scatter = std::get_if<ScatterBuilder>(&builder->builder);
    const auto* const made_by = std::get_if<GatherBuilder>(&gather->builder);
    if (scatter == nullptr) return invalid_argument("builder: of a gather, expected that of a scatter, which has look-ups");
    if (made_by == nullptr) return invalid_argument("gather: the builder of a scatter, expected that of a gather");
    if (role != STREW_UPDATES && role != STREW_EXTRA)
      return invalid_argument("role: " + std::to_string(role) + ", expected STREW_UPDATES or STREW_EXTRA");
    scatter->look_up(static_cast<Role>(role), index, *made_by);
    return {};
  });
}
strew_status strew_op_builder_return_arg(strew_op_builder* builder) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    auto* const scatter = std::get_if<ScatterBuilder>(&builder->builder);
    if (scatter == nullptr) return invalid_argument("builder: of a gather, expected that of a scatter, which has combiners");
    scatter->return_arg();
    return {};
  });
}
strew_status strew_op_builder_set(strew_op_builder* builder, const char* field, const char* value) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    STREW_TRY(check_not_null(field, "field"));
    STREW_TRY(check_not_null(value, "value"));
    return std::visit([&](auto& typed) { return typed.set(field, value); }, builder->builder);
  });
}
strew_status strew_op_builder_build(const strew_op_builder* builder, strew_op** out) {
  return guarded([&]() -> Status {
    STREW_TRY(check_not_null(builder, "builder"));
    STREW_TRY(check_not_null(out, "out"));
    return std::visit(
        [&](const auto& typed) -> Status {
          STREW_ASSIGN(auto op, typed.build());
          STREW_ASSIGN(VerifiedOp verified, VerifiedOp::of(Op(std::move(op))));
          *out = new strew_op(std::move(verified));
          return {};
        },
        builder->builder);
  });
}
