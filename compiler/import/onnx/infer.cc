// See infer.h. Exporters declare the types of all values, or of none; for the latter, these are the operators of transformers, recommenders
// and graph networks. A type that is not known here leaves the values behind it without types, too, and kernels that read them are refused
// with advice.
#include "compiler/import/onnx/infer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/onnx.pb.h"

namespace strew::inline v0::onnx {
namespace {

/// Operators whose first output has the type of the first input.
constexpr std::array<std::string_view, 34> kSameType = {"BatchNormalization",
                                                        "Celu",
                                                        "Elu",
                                                        "FastGelu",
                                                        "Gelu",
                                                        "GroupNormalization",
                                                        "HardSigmoid",
                                                        "HardSwish",
                                                        "Hardmax",
                                                        "InstanceNormalization",
                                                        "LRN",
                                                        "LayerNormalization",
                                                        "LeakyRelu",
                                                        "LogSoftmax",
                                                        "LpNormalization",
                                                        "MeanVarianceNormalization",
                                                        "Mish",
                                                        "PRelu",
                                                        "QuickGelu",
                                                        "RMSNormalization",
                                                        "RotaryEmbedding",
                                                        "ScatterND",
                                                        "ScatterElements",
                                                        "Selu",
                                                        "Shrink",
                                                        "SimplifiedLayerNormalization",
                                                        "SkipLayerNormalization",
                                                        "SkipSimplifiedLayerNormalization",
                                                        "Softmax",
                                                        "Softplus",
                                                        "Softsign",
                                                        "Swish",
                                                        "ThresholdedRelu",
                                                        "Trilu"};

std::optional<TensorType> input_type(const Node& node, int input) {
  if (!node.has_input(input)) return std::nullopt;
  const Expected<int> value = node.graph().find(node.proto().input(input));
  if (!value.ok() || *value < 0 || !node.graph().imported().values[static_cast<size_t>(*value)].is_typed) return std::nullopt;
  return node.type(*value);
}

int64_t merged(int64_t a, int64_t b) {
  if (a == 1) return b;
  if (b == 1 || a == b) return a;
  return a == kDynamic ? b : a;
}

/// The batch dims are broadcast; rank-1 operands lose the dim that was added for them.
std::optional<TensorType> product_type(TensorType a, TensorType b) {
  if (a.dims.empty() || b.dims.empty()) return std::nullopt;
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  if (is_row) a.dims.insert(a.dims.begin(), 1);
  if (is_column) b.dims.push_back(1);
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  const int64_t rows = a.dims[a.dims.size() - 2], columns = b.dims.back();
  a.dims.insert(a.dims.begin(), rank - a.dims.size(), 1);
  b.dims.insert(b.dims.begin(), rank - b.dims.size(), 1);
  TensorType out{a.dtype, {}, {}};
  for (size_t d = 0; d + 2 < rank; ++d) out.dims.push_back(merged(a.dims[d], b.dims[d]));
  if (!is_row) out.dims.push_back(rows);
  if (!is_column) out.dims.push_back(columns);
  return out;
}

std::optional<TensorType> gemm_type(const Node& node, const TensorType& a, const TensorType& b) {
  const Expected<int64_t> trans_a = node.attribute("transA", int64_t{0}), trans_b = node.attribute("transB", int64_t{0});
  if (!trans_a.ok() || !trans_b.ok() || a.rank() != 2 || b.rank() != 2) return std::nullopt;
  return TensorType{a.dtype, {a.dims[*trans_a != 0 ? 1 : 0], b.dims[*trans_b != 0 ? 0 : 1]}, {}};
}

/// TopK, ArgMax and their kind: the shape of the input with another extent in one dim.
std::optional<TensorType> along_axis(const Node& node, TensorType type, int64_t otherwise, int64_t extent, bool keep) {
  const Expected<int64_t> axis = node.attribute("axis", otherwise);
  if (!axis.ok()) return std::nullopt;
  const Expected<int64_t> dim = node.dim_of(*axis, type.rank(), "axis");
  if (!dim.ok()) return std::nullopt;
  if (keep)
    type.dims[static_cast<size_t>(*dim)] = extent;
  else
    type.dims.erase(type.dims.begin() + *dim);
  return type;
}

}  // namespace

std::optional<TensorType> inferred_type(const Node& node, int output) {
  const std::string& op = node.proto().op_type();
  const std::optional<TensorType> a = input_type(node, 0), b = input_type(node, 1);
  if (!a) return std::nullopt;
  if (output == 0 && std::find(kSameType.begin(), kSameType.end(), op) != kSameType.end()) return a;
  if (op == "MatMul" && b) return product_type(*a, *b);
  if (op == "Gemm" && b) return gemm_type(node, *a, *b);
  if (op == "TopK") {
    int64_t count = kDynamic;
    if (const auto k = node.list_input(1, "k"); k.ok() && *k && (*k)->size() == 1) count = (**k)[0];
    std::optional<TensorType> type = along_axis(node, *a, -1, count, true);
    if (type && output == 1) type->dtype = DType::i64;
    return type;
  }
  if (op == "ArgMax" || op == "ArgMin") {
    const Expected<int64_t> keep = node.attribute("keepdims", int64_t{1});
    std::optional<TensorType> type = keep.ok() ? along_axis(node, *a, 0, 1, *keep != 0) : std::nullopt;
    if (type) type->dtype = DType::i64;
    return type;
  }
  // What the tables read of these, but not here: the rank stays.
  if (op == "Slice" || op == "Pad") return TensorType{a->dtype, std::vector<int64_t>(a->dims.size(), kDynamic), {}};
  if (op == "Expand" && b && b->rank() == 1 && b->dims[0] != kDynamic)
    return TensorType{a->dtype, std::vector<int64_t>(std::max(a->dims.size(), static_cast<size_t>(b->dims[0])), kDynamic), {}};
  if (op == "Unique") {
    const bool is_flat = !node.has_attribute("axis");
    if (output > 0) return TensorType{DType::i64, {kDynamic}, {}};
    return is_flat ? std::optional<TensorType>({a->dtype, {kDynamic}, {}}) : along_axis(node, *a, 0, kDynamic, true);
  }
  if (op == "NonZero") return TensorType{DType::i64, {a->rank(), kDynamic}, {}};
  return std::nullopt;
}

}  // namespace strew::inline v0::onnx
