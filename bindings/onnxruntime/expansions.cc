#include "bindings/onnxruntime/expansions.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "bindings/onnxruntime/compute.h"

namespace strew::ort {
namespace {

/// Who reads each value: by name.
abi::Status* readers_of(const std::vector<const abi::Node*>& nodes, std::map<std::string, std::vector<const abi::Node*>>* out) {
  for (const abi::Node* const node : nodes) {
    std::vector<const abi::ValueInfo*> inputs, implicit;
    STREW_ORT_TRY(inputs_of(node, &inputs));
    STREW_ORT_TRY(read_list(api().Node_GetNumImplicitInputs, api().Node_GetImplicitInputs, node, &implicit));
    inputs.insert(inputs.end(), implicit.begin(), implicit.end());
    for (const abi::ValueInfo* const info : inputs) {
      std::string name;
      STREW_ORT_TRY(name_of(info, &name));
      if (!name.empty()) (*out)[name].push_back(node);
    }
  }
  return nullptr;
}

/// Reads the node. False: it is no expansion, or nothing is known to repeat.
abi::Status* read_expansion(const abi::Node* node, Expansion* out, bool* is_one) {
  *is_one = false;
  NodeText text;
  STREW_ORT_TRY(read_node(node, &text));
  if (text.type != "Expand" || !text.is_onnx() || !text.provider.empty()) return nullptr;
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(inputs_of(node, &inputs));
  STREW_ORT_TRY(outputs_of(node, &outputs));
  ValueType from;
  if (inputs.size() != 2 || outputs.size() != 1 || !succeeded(type_of(inputs[0], &from)) ||
      !succeeded(type_of(outputs[0], &out->type)))
    return nullptr;
  const std::optional<strew_dtype> dtype = dtype_of(from.element);
  if (!dtype || strew_dtype_bits(*dtype) < 8 || !from.dims || !out->type.dims || from.dims->size() > out->type.dims->size() ||
      out->type.dims->size() > Dims::kMost)
    return nullptr;
  STREW_ORT_TRY(name_of(inputs[0], &out->from));
  STREW_ORT_TRY(name_of(inputs[1], &out->shape));
  STREW_ORT_TRY(name_of(outputs[0], &out->to));
  out->node = node;
  const size_t lacks = out->type.dims->size() - from.dims->size();
  for (size_t d = 0; d < out->type.dims->size(); ++d) out->repeats.push_back(d < lacks || (*from.dims)[d - lacks] == 1);
  for (size_t d = 0; d < out->repeats.size(); ++d) *is_one = *is_one || (out->repeats[d] && (*out->type.dims)[d] != 1);
  return nullptr;
}

/// The extents of what the node makes: those that are not 1 of both.
abi::Status* expanded_dims(const strew_tensor& from, const strew_tensor& shape, size_t rank, Dims* out) {
  const auto* const wanted = static_cast<const int64_t*>(shape.data);
  const size_t lengths = shape.rank == 1 ? static_cast<size_t>(shape.rank == 1 ? shape.dims[0] : 0) : 0,
               own = static_cast<size_t>(from.rank);
  if (shape.rank != 1 || shape.dtype != STREW_I64 || std::max(lengths, own) != rank || rank > Dims::kMost)
    return make_status(abi::ErrorCode::invalid_argument,
                       "strew: Expand: the shape has " + std::to_string(lengths) + " elements, expected " + std::to_string(rank));
  out->assign(nullptr, nullptr);
  for (size_t d = 0; d < rank; ++d) {
    const int64_t here = d < rank - own ? 1 : from.dims[d - (rank - own)];
    const int64_t there = d < rank - lengths ? 1 : wanted[d - (rank - lengths)];
    if (here != there && here != 1 && there != 1)
      return make_status(abi::ErrorCode::invalid_argument,
                         "strew: Expand: dim " + std::to_string(d) + " of the shape is " + std::to_string(there) +
                             ", expected 1 or the extent of the input there, " + std::to_string(here));
    const int64_t extent = here == 1 ? there : here;
    out->append(&extent, &extent + 1);
  }
  return nullptr;
}

/// Copies the tensor to one of these dims, which repeat extents of 1.
void copy_repeating(const strew_tensor& from, const Dims& dims, void* to) {
  const size_t bytes = static_cast<size_t>(strew_dtype_bits(static_cast<strew_dtype>(from.dtype))) / 8, rank = dims.size(),
               lacks = rank - static_cast<size_t>(from.rank);
  int64_t count = 1, own = 1;
  for (size_t d = 0; d < rank; ++d) count *= dims[d];
  for (int32_t d = 0; d < from.rank; ++d) own *= from.dims[d];
  const auto* const source = static_cast<const std::byte*>(from.data);
  auto* const target = static_cast<std::byte*>(to);
  if (count == own) {
    if (count > 0) std::memcpy(target, source, static_cast<size_t>(count) * bytes);
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = i, place = 0, stride = 1;
    for (size_t d = rank; d-- > lacks;) {
      const int64_t extent = from.dims[d - lacks];
      place += extent == 1 ? 0 : left % dims[d] * stride;
      left /= dims[d];
      stride *= extent;
    }
    std::memcpy(target + static_cast<size_t>(i) * bytes, source + static_cast<size_t>(place) * bytes, bytes);
  }
}

class ExpandNode final : public FusedNode {
 public:
  ExpandNode(std::vector<bool> repeats, size_t from, size_t shape) : repeats_(std::move(repeats)), from_(from), shape_(shape) {}

 private:
  abi::Status* run(abi::KernelContext* context) override {
    strew_tensor from, shape;
    STREW_ORT_TRY(input(context, from_, &from));
    STREW_ORT_TRY(input(context, shape_, &shape));
    for (size_t d = 0; d < repeats_.size(); ++d) {
      const size_t lacks = repeats_.size() - static_cast<size_t>(from.rank);
      if (repeats_[d] && d >= lacks && from.dims[d - lacks] != 1)
        return make_status(abi::ErrorCode::invalid_argument, "strew: Expand: dim " + std::to_string(d - lacks) +
                                                                 " of the input is " + std::to_string(from.dims[d - lacks]) +
                                                                 ", expected 1, as the model says");
    }
    Dims dims, narrow;
    STREW_ORT_TRY(expanded_dims(from, shape, repeats_.size(), &dims));
    abi::Value* output = nullptr;
    void* data = nullptr;
    STREW_ORT_TRY(api().KernelContext_GetOutput(context, 0, dims.data(), dims.size(), &output));
    STREW_ORT_TRY(api().GetTensorMutableData(output, &data));
    narrow_dims(repeats_, dims.data(), &narrow);
    if (std::find(dims.data(), dims.data() + dims.size(), 0) == dims.data() + dims.size()) copy_repeating(from, narrow, data);
    return nullptr;
  }

  const std::vector<bool> repeats_;
  const size_t from_, shape_;  ///< the numbers of the node's inputs
};

}  // namespace

ValueType Expansion::narrow_type() const {
  ValueType out = type;
  for (size_t d = 0; d < repeats.size(); ++d)
    if (repeats[d]) (*out.dims)[d] = 1;
  return out;
}

void narrow_dims(const std::vector<bool>& repeats, const int64_t* dims, Dims* out) {
  out->assign(nullptr, nullptr);
  for (size_t d = 0; d < repeats.size(); ++d) {
    const int64_t extent = repeats[d] ? 1 : dims[d];
    out->append(&extent, &extent + 1);
  }
}

abi::Status* find_expansions(const abi::Graph* graph, const std::set<const abi::Node*>& readers, std::vector<Expansion>* out) {
  std::vector<const abi::Node*> nodes;
  std::vector<const abi::ValueInfo*> outputs;
  STREW_ORT_TRY(read_list(api().Graph_GetNumNodes, api().Graph_GetNodes, graph, &nodes));
  STREW_ORT_TRY(read_list(api().Graph_GetNumOutputs, api().Graph_GetOutputs, graph, &outputs));
  std::map<std::string, std::vector<const abi::Node*>> all;
  STREW_ORT_TRY(readers_of(nodes, &all));
  std::set<std::string> results;
  for (const abi::ValueInfo* const info : outputs) {
    std::string name;
    STREW_ORT_TRY(name_of(info, &name));
    results.insert(name);
  }
  for (const abi::Node* const node : nodes) {
    Expansion expansion;
    bool is_one = false;
    STREW_ORT_TRY(read_expansion(node, &expansion, &is_one));
    if (!is_one || readers.contains(node) || results.contains(expansion.to)) continue;
    const std::vector<const abi::Node*>& read_by = all[expansion.to];
    if (!read_by.empty() &&
        std::all_of(read_by.begin(), read_by.end(), [&](const abi::Node* each) { return readers.contains(each); }))
      out->push_back(std::move(expansion));
  }
  return nullptr;
}

abi::Status* describe(const Expansion& expansion, const abi::Node* fused, ExpansionContext* out) {
  std::vector<const abi::ValueInfo*> inputs;
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  std::vector<size_t> places;
  STREW_ORT_TRY(places_of({expansion.from, expansion.shape}, inputs, &places));
  *out = {expansion.repeats, places[0], places[1]};
  return nullptr;
}

abi::Status* make_compute(const ExpansionContext& expansion, const abi::Node* fused, abi::NodeComputeInfo** out) {
  NodeText text;
  std::vector<const abi::ValueInfo*> inputs, outputs;
  STREW_ORT_TRY(read_node(fused, &text));
  STREW_ORT_TRY(inputs_of(fused, &inputs));
  STREW_ORT_TRY(outputs_of(fused, &outputs));
  ValueType from, shape, to;
  STREW_ORT_TRY(type_of(inputs[expansion.from], &from));
  STREW_ORT_TRY(type_of(inputs[expansion.shape], &shape));
  if (outputs.size() != 1) return bad_context(text.name, "it has " + std::to_string(outputs.size()) + " outputs, expected 1");
  STREW_ORT_TRY(type_of(outputs[0], &to));
  if (from.element != to.element || shape.element != abi::ElementType::i64 || !dtype_of(to.element) ||
      strew_dtype_bits(*dtype_of(to.element)) < 8)
    return bad_context(text.name, "its inputs and its output do not have the element types of an Expand");
  *out = new ExpandNode(expansion.repeats, expansion.from, expansion.shape);
  return nullptr;
}

}  // namespace strew::ort
