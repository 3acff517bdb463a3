// See infer.h. Exporters declare the types of all values, or of none; for the latter, these are the operators of transformers, recommenders
// and graph networks. A type that is not known here leaves the values behind it without types, too, and kernels that read them are refused
// with advice.
#include "compiler/import/onnx/infer.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/op/limits.h"

namespace strew::inline v0::onnx {
namespace {

/// Operators whose first output has the type of the first input.
constexpr std::array<std::string_view, 35> kSameType = {"BatchNormalization",
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
                                                        "ReverseSequence",
                                                        "RotaryEmbedding",
                                                        "ScatterElements",
                                                        "ScatterND",
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

/// Operators whose outputs have the rank of the first input, and other extents: layers of images, and what the tables read of these operators, but
/// not here.
constexpr std::array<std::string_view, 18> kSameRank = {"Attention",     "AveragePool",   "Conv",
                                                        "ConvTranspose", "DepthToSpace",  "GlobalAveragePool",
                                                        "GlobalLpPool",  "GlobalMaxPool", "GroupQueryAttention",
                                                        "LpPool",        "MaxPool",       "Pad",
                                                        "Resize",        "Slice",         "SpaceToDepth",
                                                        "Split",         "Tile",          "Upsample"};

/// Operators that reduce dims.
constexpr std::array<std::string_view, 10> kReducingOperators = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                                                 "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                                                 "ReduceSum", "ReduceSumSquare"};

template <size_t kCount>
bool contains(const std::array<std::string_view, kCount>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::optional<TensorType> input_type(const Node& node, int input) {
  if (!node.has_input(input)) return std::nullopt;
  const Expected<int> value = node.graph().find(node.proto().input(input));
  if (!value.ok() || *value < 0 || !node.graph().imported().value(*value).is_typed) return std::nullopt;
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

std::optional<TensorType> reduced_type(const Node& node, TensorType type) {
  const Expected<int64_t> keep = node.attribute("keepdims", int64_t{1});
  const auto axes = node.list_of("axes", 1);
  if (!keep.ok() || !axes.ok()) return std::nullopt;
  std::vector<bool> is_reduced(type.dims.size(), !*axes || (*axes)->empty());
  for (const int64_t axis : axes->value_or(std::vector<int64_t>())) {
    const Expected<int64_t> dim = node.dim_of(axis, type.rank(), "axes");
    if (!dim.ok()) return std::nullopt;
    is_reduced[static_cast<size_t>(*dim)] = true;
  }
  std::vector<int64_t> kept;
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (!is_reduced[d]) kept.push_back(type.dims[d]);
    if (is_reduced[d] && *keep != 0) kept.push_back(1);
  }
  type.dims = std::move(kept);
  return type;
}

/// Extents by the letters of the equation; one with "..." is not followed.
std::optional<TensorType> einsum_type(const Node& node, DType dtype) {
  Expected<std::string> equation = node.attribute("equation", std::string());
  if (!equation.ok()) return std::nullopt;
  std::erase(*equation, ' ');
  const size_t arrow = equation->find("->");
  if (equation->find('.') != std::string::npos) return std::nullopt;
  std::map<char, int64_t> extents;
  std::map<char, int> uses;
  int input = 0;
  std::optional<TensorType> type = input_type(node, 0);
  size_t dim = 0;
  for (const char letter : equation->substr(0, arrow)) {
    if (letter == ',') {
      type = input_type(node, ++input);
      dim = 0;
      continue;
    }
    ++uses[letter];
    const int64_t extent = type && dim < type->dims.size() ? type->dims[dim] : kDynamic;
    ++dim;
    int64_t& known = extents.emplace(letter, kDynamic).first->second;
    if (known == kDynamic || known == 1) known = extent;
  }
  std::string letters = arrow == std::string::npos ? "" : equation->substr(arrow + 2);
  for (const auto& [letter, count] : uses)
    if (arrow == std::string::npos && count == 1) letters += letter;
  if (letters.size() > static_cast<size_t>(kMaxRank)) return std::nullopt;
  TensorType out{dtype, {}, {}};
  for (const char letter : letters) {
    if (!extents.contains(letter)) return std::nullopt;
    out.dims.push_back(extents[letter]);
  }
  return out;
}

/// Of so many open dims. The rank may be any number of the file.
std::optional<TensorType> of_rank(DType dtype, int64_t rank) {
  if (rank < 0 || rank > kMaxRank) return std::nullopt;
  return TensorType{dtype, std::vector<int64_t>(static_cast<size_t>(rank), kDynamic), {}};
}

/// Recurrent layers: the sequence, then the last states. With several inputs that other operators make of shapes, the ranks alone.
std::optional<TensorType> shaped_type(const Node& node, const TensorType& a, const std::optional<TensorType>& b, int output) {
  const std::string& op = node.proto().op_type();
  if (op == "LSTM" || op == "GRU" || op == "RNN") return of_rank(a.dtype, output == 0 ? 4 : 3);
  if (op == "MultiHeadAttention" && a.rank() == 3) return of_rank(a.dtype, 3);  // a query of rank 5 has keys and values in it
  if (op == "Compress") return node.has_attribute("axis") ? along_axis(node, a, 0, kDynamic, true) : of_rank(a.dtype, 1);
  if (op == "Reshape" && b && b->rank() == 1 && b->dims[0] != kDynamic) return of_rank(a.dtype, b->dims[0]);
  if (op == "Expand" && b && b->rank() == 1 && b->dims[0] != kDynamic)
    return of_rank(a.dtype, std::max<int64_t>(a.rank(), b->dims[0]));
  if (op == "DequantizeLinear" && b) return TensorType{b->dtype, a.dims, {}};
  return std::nullopt;
}

}  // namespace

std::optional<TensorType> inferred_type(const Node& node, int output) {
  const std::string& op = node.proto().op_type();
  const std::optional<TensorType> a = input_type(node, 0), b = input_type(node, 1);
  if (!a) return std::nullopt;
  if (output == 0 && contains(kSameType, op)) return a;
  if (contains(kReducingOperators, op)) return reduced_type(node, *a);
  if (op == "Einsum") return einsum_type(node, a->dtype);
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
  if ((op == "Split" || output == 0) && contains(kSameRank, op)) return of_rank(a->dtype, a->rank());
  if (op == "Unique") {
    const bool is_flat = !node.has_attribute("axis");
    if (output > 0) return TensorType{DType::i64, {kDynamic}, {}};
    return is_flat ? std::optional<TensorType>({a->dtype, {kDynamic}, {}}) : along_axis(node, *a, 0, kDynamic, true);
  }
  if (op == "NonZero") return TensorType{DType::i64, {a->rank(), kDynamic}, {}};
  return shaped_type(node, *a, b, output);
}

}  // namespace strew::inline v0::onnx
