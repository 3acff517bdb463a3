#include "bindings/onnxruntime/operators.h"

#include <algorithm>
#include <array>
#include <memory>

namespace strew::ort {
namespace {

constexpr int kGather[] = {1, 11, 13};
constexpr int kGatherElements[] = {11, 13};
constexpr int kGatherNd[] = {11, 12, 13};
constexpr int kScatter[] = {9};
constexpr int kScatterElements[] = {11, 13, 16, 18};
constexpr int kScatterNd[] = {11, 13, 16, 18};
constexpr int kTensorScatter[] = {24};
constexpr int kContrib[] = {1};

constexpr Operator kOperators[] = {
    {"Gather", "", Form::gather, kGather, "Tind", abi::ErrorCode::invalid_argument},
    {"GatherElements", "", Form::gather_elements, kGatherElements, "Tind", abi::ErrorCode::fail},
    {"GatherND", "", Form::gather_nd, kGatherNd, nullptr, abi::ErrorCode::invalid_argument},
    {"GatherND", "com.microsoft", Form::gather_nd, kContrib, "Tind", abi::ErrorCode::invalid_argument},
    {"Scatter", "", Form::scatter_elements, kScatter, "Tind", abi::ErrorCode::invalid_argument},
    {"ScatterElements", "", Form::scatter_elements, kScatterElements, "Tind", abi::ErrorCode::invalid_argument},
    {"ScatterND", "", Form::scatter_nd, kScatterNd, nullptr, abi::ErrorCode::invalid_argument},
    {"TensorScatter", "", Form::tensor_scatter, kTensorScatter, nullptr, abi::ErrorCode::invalid_argument},
};

constexpr std::array<const char*, 5> kCombiners = {"assign", "add", "mul", "max", "min"};
/// What the attribute `reduction` calls them.
constexpr std::array<const char*, 5> kReductions = {"none", "add", "mul", "max", "min"};

abi::Status* bad_attribute(const char* name, const std::string& value, const char* expected) {
  return make_status(abi::ErrorCode::invalid_argument,
                     std::string("strew: attribute ") + name + " is " + value + ", expected " + expected);
}

}  // namespace

std::span<const Operator> operators() { return kOperators; }

const Operator* find_operator(std::string_view domain, std::string_view name) {
  if (is_onnx(domain)) domain = "";
  const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& op) { return domain == op.domain && name == op.name; });
  return found == std::end(kOperators) ? nullptr : found;
}

bool names(const std::string& ops, const char* name) {
  if (ops.empty()) return true;
  const std::string all = "," + ops + ",";
  return all.find("," + std::string(name) + ",") != std::string::npos;
}

abi::Status* read_attributes(Form form, const AttributeReader& reader, Attributes* out) {
  constexpr int64_t kAxisOfTensorScatter = -2;
  out->axis = reader.number("axis").value_or(form == Form::tensor_scatter ? kAxisOfTensorScatter : 0);
  out->batch_dims = reader.number("batch_dims").value_or(0);
  const std::string reduction = reader.text("reduction").value_or("none");
  const auto* const found = std::find(kReductions.begin(), kReductions.end(), reduction);
  if (found == kReductions.end()) return bad_attribute("reduction", "'" + reduction + "'", "none, add, mul, max or min");
  out->combiner = static_cast<Combiner>(found - kReductions.begin());
  const std::string mode = reader.text("mode").value_or("linear");
  if (mode != "linear" && mode != "circular") return bad_attribute("mode", "'" + mode + "'", "linear or circular");
  out->is_circular = mode == "circular";
  return nullptr;
}

strew_status make_op(Form form, const Attributes& attributes, std::span<const strew_tensor> inputs, bool in_place,
                     strew_op** out) {
  strew_op_builder* made = nullptr;
  strew_status status = nullptr;
  const strew_tensor &operand = inputs[0], &indices = inputs[1];
  switch (form) {
    case Form::gather:
      status = strew_op_builder_gather(&operand, &indices, attributes.axis, 0, &made);
      break;
    case Form::gather_elements:
      status = strew_op_builder_gather_elements(&operand, &indices, attributes.axis, &made);
      break;
    case Form::gather_nd:
      status = strew_op_builder_gather_nd(&operand, &indices, attributes.batch_dims, &made);
      break;
    case Form::scatter_elements:
      status = strew_op_builder_scatter_elements(&operand, &indices, &inputs[2], attributes.axis, &made);
      break;
    case Form::scatter_nd:
      status = strew_op_builder_scatter_nd(&operand, &indices, &inputs[2], &made);
      break;
    case Form::tensor_scatter:
      status = strew_op_builder_tensor_scatter(&operand, &indices, &inputs[2], attributes.axis, attributes.is_circular, &made);
      break;
  }
  const std::unique_ptr<strew_op_builder, void (*)(strew_op_builder*)> builder(made, strew_op_builder_free);
  if (status == nullptr && attributes.combiner != Combiner::assign)
    status = strew_op_builder_set(made, "combiner", kCombiners[static_cast<size_t>(attributes.combiner)]);
  if (status == nullptr && in_place) status = strew_op_builder_set(made, "init", "in_place");
  return status == nullptr ? strew_op_builder_build(made, out) : status;
}

namespace {

abi::Status* refuse(const std::string& what, int64_t value, const std::string& expected) {
  return make_status(abi::ErrorCode::invalid_argument,
                     "strew: " + what + " is " + std::to_string(value) + ", expected " + expected);
}

/// The extent of an input in a dim must be that, or, if `may_be_less`, at most that.
abi::Status* check_extent(const char* name, const strew_tensor& input, int64_t dim, int64_t expected, const char* of,
                          bool may_be_less = false) {
  const int64_t extent = input.dims[dim];
  if (extent == expected || (may_be_less && extent < expected)) return nullptr;
  return refuse("dim " + std::to_string(dim) + " of " + name, extent,
                (may_be_less ? "at most that of " : "that of ") + std::string(of) + ", " + std::to_string(expected));
}
abi::Status* check_rank(const char* name, const strew_tensor& input, int64_t expected) {
  return input.rank == expected ? nullptr : refuse(std::string("the rank of ") + name, input.rank, std::to_string(expected));
}
abi::Status* check_axis(const Attributes& attributes, const strew_tensor& operand, int64_t* axis) {
  *axis = attributes.axis < 0 ? attributes.axis + operand.rank : attributes.axis;
  if (*axis >= 0 && *axis < operand.rank) return nullptr;
  return refuse("attribute axis", attributes.axis, "a dim of a tensor of rank " + std::to_string(operand.rank));
}

using Inputs = std::span<const strew_tensor>;

abi::Status* check_elements(const Attributes& attributes, Inputs inputs) {
  const strew_tensor &operand = inputs[0], &indices = inputs[1];
  int64_t axis = 0;
  STREW_ORT_TRY(check_axis(attributes, operand, &axis));
  STREW_ORT_TRY(check_rank("indices", indices, operand.rank));
  for (int64_t d = 0; d < operand.rank; ++d)
    if (d != axis) STREW_ORT_TRY(check_extent("indices", indices, d, operand.dims[d], "data", /*may_be_less=*/true));
  if (inputs.size() < 3) return nullptr;
  STREW_ORT_TRY(check_rank("updates", inputs[2], operand.rank));
  for (int64_t d = 0; d < operand.rank; ++d) STREW_ORT_TRY(check_extent("updates", inputs[2], d, indices.dims[d], "indices"));
  return nullptr;
}

/// `batch`: the number of dims that both have. `slices`: what the index vectors select, or, of a scatter, replace.
abi::Status* check_vectors(int64_t batch, Inputs inputs, Dims* slices) {
  const strew_tensor &operand = inputs[0], &indices = inputs[1];
  if (indices.rank == 0) return refuse("the rank of indices", 0, "1 or more");
  if (batch < 0 || batch >= std::min(operand.rank, indices.rank))
    return refuse("attribute batch_dims", batch,
                  "0 or more, and less than the ranks of data, " + std::to_string(operand.rank) + ", and of indices, " +
                      std::to_string(indices.rank));
  for (int64_t d = 0; d < batch; ++d) STREW_ORT_TRY(check_extent("indices", indices, d, operand.dims[d], "data"));
  const int64_t components = indices.dims[indices.rank - 1], from = batch + components;
  if (from > operand.rank)
    return refuse("the last dim of indices", components,
                  "at most " + std::to_string(operand.rank - batch) + ", the dims of data that it may index");
  slices->assign(indices.dims, indices.dims + indices.rank - 1);
  slices->append(operand.dims + from, operand.dims + operand.rank);
  if (inputs.size() < 3) return nullptr;
  STREW_ORT_TRY(check_rank("updates", inputs[2], static_cast<int64_t>(slices->size())));
  for (size_t d = 0; d < slices->size(); ++d)
    STREW_ORT_TRY(check_extent("updates", inputs[2], static_cast<int64_t>(d), (*slices)[d], "what the indices select of data"));
  return nullptr;
}

abi::Status* check_cache(const Attributes& attributes, Inputs inputs) {
  const strew_tensor &cache = inputs[0], &indices = inputs[1], &update = inputs[2];
  int64_t axis = 0;
  if (cache.rank < 2) return refuse("the rank of past_cache", cache.rank, "2 or more");
  STREW_ORT_TRY(check_axis(attributes, cache, &axis));
  if (axis == 0) return refuse("attribute axis", attributes.axis, "another dim than 0, the batch");
  STREW_ORT_TRY(check_rank("update", update, cache.rank));
  STREW_ORT_TRY(check_rank("write_indices", indices, 1));
  STREW_ORT_TRY(check_extent("write_indices", indices, 0, cache.dims[0], "past_cache"));
  for (int64_t d = 0; d < cache.rank; ++d)
    STREW_ORT_TRY(check_extent("update", update, d, cache.dims[d], "past_cache", d == axis));
  if (!attributes.is_circular) return nullptr;
  const auto* const starts = static_cast<const int64_t*>(indices.data);
  for (int64_t b = 0; b < indices.dims[0]; ++b)  // strew's op would wrap them, too
    if (starts[b] < 0) return refuse("write_indices[" + std::to_string(b) + "]", starts[b], "0 or more");
  return nullptr;
}

}  // namespace

abi::Status* result_dims(Form form, const Attributes& attributes, Inputs inputs, Dims* out) {
  const strew_tensor &operand = inputs[0], &indices = inputs[1];
  const int64_t *const sizes = operand.dims, *const extents = indices.dims;
  if (static_cast<size_t>(operand.rank) + static_cast<size_t>(indices.rank) > Dims::kMost)
    return refuse("the rank of data", operand.rank, "with that of indices at most " + std::to_string(Dims::kMost));
  switch (form) {
    case Form::gather: {
      int64_t axis = 0;
      STREW_ORT_TRY(check_axis(attributes, operand, &axis));
      out->assign(sizes, sizes + axis);
      out->append(extents, extents + indices.rank);
      out->append(sizes + axis + 1, sizes + operand.rank);
      return nullptr;
    }
    case Form::gather_elements:
      STREW_ORT_TRY(check_elements(attributes, inputs));
      out->assign(extents, extents + indices.rank);
      return nullptr;
    case Form::gather_nd:
      return check_vectors(attributes.batch_dims, inputs, out);
    case Form::scatter_elements:
      STREW_ORT_TRY(check_elements(attributes, inputs));
      break;
    case Form::scatter_nd: {
      Dims slices;
      STREW_ORT_TRY(check_vectors(0, inputs, &slices));
      break;
    }
    case Form::tensor_scatter:
      STREW_ORT_TRY(check_cache(attributes, inputs));
      break;
  }
  out->assign(sizes, sizes + operand.rank);
  return nullptr;
}

}  // namespace strew::ort
