// inferred_type(), see graph.h. Exporters declare the types of all values, or of none; for the latter, these are the operators of transformers,
// recommenders and graph networks. A type that is not known here leaves the values behind it without types, too, and kernels that read them are
// refused with advice.
#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "compiler/import/onnx/graph.h"
#include "compiler/op/dims.h"
#include "compiler/op/limits.h"

namespace strew::inline v0::onnx {
namespace {

using Type = std::optional<TensorType>;

/// Of which output the type is asked for, and the types of the node's first two inputs.
struct Query {
  const Node& node;
  TensorType a;
  Type b;
  int output;
};

/// The value of an input; -1 if it has none whose type is known.
int value_of(const Node& node, int input) {
  const int value = node.has_input(input) ? node.graph().find(node.proto().input(input)).value_or(-1) : -1;
  return value >= 0 && node.graph().program().value(value).is_typed ? value : -1;
}

Type input_type(const Node& node, int input) {
  const int value = value_of(node, input);
  return value < 0 ? std::nullopt : Type(node.type(value));
}

/// The integers of an input, if they are constants.
std::optional<std::vector<int64_t>> input_integers(const Node& node, int input) {
  const int value = value_of(node, input);
  return value < 0 ? std::nullopt : node.builder().integers(value);
}

/// Of so many open dims. The rank may be any number of the file.
Type of_rank(DType dtype, int64_t rank) {
  if (rank < 0 || rank > kMaxRank) return std::nullopt;
  return TensorType{dtype, std::vector<int64_t>(static_cast<size_t>(rank), kDynamic), {}};
}

/// The dims of the first input with another extent in dim `axis`.
Type along_axis(const Query& in, DType dtype, int64_t otherwise, int64_t extent) {
  const Expected<int64_t> dim = in.node.axis(otherwise, in.a.rank());
  if (!dim.ok()) return std::nullopt;
  TensorType out{dtype, in.a.dims, {}};
  out.dims[*dim] = extent;
  return out;
}

/// The batch dims are broadcast; rank-1 operands lose the dim that was added for them.
Type product_type(const Query& in) {
  if (!in.b || in.a.dims.empty() || in.b->dims.empty()) return std::nullopt;
  std::vector<int64_t> a = in.a.dims, b = in.b->dims;
  const bool is_row = a.size() == 1, is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.push_back(1);
  const int64_t rows = a[a.size() - 2], columns = b.back();
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  Expected<std::vector<int64_t>> dims = ProgramBuilder::broadcast_dims({a, b});
  if (!dims.ok()) return std::nullopt;
  if (!is_row) dims->push_back(rows);
  if (!is_column) dims->push_back(columns);
  return TensorType{in.a.dtype, *std::move(dims), {}};
}

Type gemm_type(const Query& in) {
  if (!in.b || in.a.rank() != 2 || in.b->rank() != 2) return std::nullopt;
  const int64_t rows = in.a.dims[in.node.flag("transA") ? 1 : 0], columns = in.b->dims[in.node.flag("transB") ? 0 : 1];
  return TensorType{in.a.dtype, {rows, columns}, {}};
}

/// The dims that the node reduces, which it names or which are all, are gone or are 1.
Type reduced_type(const Query& in, DType dtype, const std::optional<std::vector<int64_t>>& axes) {
  const auto dims = in.node.dims_of(axes.value_or(std::vector<int64_t>()), in.a.rank(), "axes");
  if (!dims.ok()) return std::nullopt;
  const std::vector<int64_t> reduced = dims->empty() ? all_dims(in.a.dims.size()) : *dims;
  return TensorType{dtype, ProgramBuilder::reduced(in.a.dims, reduced, in.node.flag("keepdims", true)), {}};
}

Type reduction_type(const Query& in) {
  auto axes = in.node.list("axes");
  if (!axes) axes = input_integers(in.node, 1);
  return !axes && in.node.has_input(1) ? std::nullopt : reduced_type(in, in.a.dtype, axes);
}

/// Extents by the letters of the equation; one with "..." is not followed.
Type einsum_type(const Query& in) {
  std::string equation = in.node.text("equation", "");
  std::erase(equation, ' ');
  const size_t arrow = equation.find("->");
  if (equation.find('.') != std::string::npos) return std::nullopt;
  std::map<char, int64_t> extents;
  std::map<char, int> uses;
  int input = 0;
  Type type = in.a;
  size_t dim = 0;
  for (const char letter : equation.substr(0, arrow)) {
    if (letter == ',') {
      type = input_type(in.node, ++input);
      dim = 0;
      continue;
    }
    ++uses[letter];
    const int64_t extent = type && dim < type->dims.size() ? type->dims[dim] : kDynamic;
    ++dim;
    int64_t& known = extents.emplace(letter, kDynamic).first->second;
    if (known == kDynamic || known == 1) known = extent;
  }
  std::string letters = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  for (const auto& [letter, count] : uses)
    if (arrow == std::string::npos && count == 1) letters += letter;
  if (letters.size() > static_cast<size_t>(kMaxRank)) return std::nullopt;
  TensorType out{in.a.dtype, {}, {}};
  for (const char letter : letters) {
    if (!extents.contains(letter)) return std::nullopt;
    out.dims.push_back(extents[letter]);
  }
  return out;
}

Type top_k_type(const Query& in) {
  const auto k = input_integers(in.node, 1);
  return along_axis(in, in.output == 1 ? DType::i64 : in.a.dtype, -1, k && k->size() == 1 ? k->front() : kDynamic);
}

Type unique_type(const Query& in) {
  if (in.output > 0) return TensorType{DType::i64, {kDynamic}, {}};
  return in.node.has_attribute("axis") ? along_axis(in, in.a.dtype, 0, kDynamic) : of_rank(in.a.dtype, 1);
}

/// The rank of an output, by the elements of the second input.
Type shaped_type(const Query& in, int64_t least) {
  if (!in.b || in.b->rank() != 1 || in.b->dims[0] == kDynamic) return std::nullopt;
  return of_rank(in.a.dtype, std::max(least, in.b->dims[0]));
}

/// The names of operators, with blanks between them, and the type of an output of theirs.
struct Rule {
  std::string_view operators;
  Type (*type)(const Query&);
};
constexpr Rule kRules[] = {
    // The first output has the type of the first input.
    {"BatchNormalization Celu Elu FastGelu Gelu GroupNormalization HardSigmoid HardSwish Hardmax InstanceNormalization LRN "
     "LayerNormalization LeakyRelu LogSoftmax LpNormalization MeanVarianceNormalization Mish PRelu QuickGelu RMSNormalization "
     "ReverseSequence RotaryEmbedding ScatterElements ScatterND Selu Shrink SimplifiedLayerNormalization SkipLayerNormalization "
     "SkipSimplifiedLayerNormalization Softmax Softplus Softsign Swish ThresholdedRelu Trilu",
     [](const Query& in) { return in.output == 0 ? Type(in.a) : std::nullopt; }},
    // It has the rank of the first input, and other extents: layers of images, and what the tables read of these operators, but not here.
    {"Attention AveragePool Conv ConvTranspose DepthToSpace GlobalAveragePool GlobalLpPool GlobalMaxPool GroupQueryAttention "
     "LpPool "
     "MaxPool Pad Resize Slice SpaceToDepth Tile Upsample",
     [](const Query& in) { return in.output == 0 ? of_rank(in.a.dtype, in.a.rank()) : std::nullopt; }},
    {"Split", [](const Query& in) { return of_rank(in.a.dtype, in.a.rank()); }},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare",
     reduction_type},
    {"ArgMax ArgMin",
     [](const Query& in) { return reduced_type(in, DType::i64, std::vector<int64_t>{in.node.integer("axis")}); }},
    {"Einsum", einsum_type},
    {"MatMul", product_type},
    {"Gemm", gemm_type},
    {"TopK", top_k_type},
    {"Unique", unique_type},
    {"NonZero",
     [](const Query& in) {
       return Type({DType::i64, {in.a.rank(), kDynamic}, {}});
     }},
    // The sequence, then the last states.
    {"LSTM GRU RNN", [](const Query& in) { return of_rank(in.a.dtype, in.output == 0 ? 4 : 3); }},
    // A query of rank 5 has keys and values in it.
    {"MultiHeadAttention", [](const Query& in) { return in.a.rank() == 3 ? of_rank(in.a.dtype, 3) : std::nullopt; }},
    {"Compress",
     [](const Query& in) {
       return in.node.has_attribute("axis") ? along_axis(in, in.a.dtype, 0, kDynamic) : of_rank(in.a.dtype, 1);
     }},
    {"Reshape", [](const Query& in) { return shaped_type(in, 0); }},
    {"Expand", [](const Query& in) { return shaped_type(in, in.a.rank()); }},
    {"DequantizeLinear",
     [](const Query& in) {
       return in.b ? Type({in.b->dtype, in.a.dims, {}}) : std::nullopt;
     }},
};

}  // namespace

std::optional<TensorType> inferred_type(const Node& node, int output) {
  const Type a = input_type(node, 0);
  for (const Rule& rule : kRules) {
    const std::vector<std::string_view> names = words_of(rule.operators);
    if (a && std::find(names.begin(), names.end(), node.proto().op_type()) != names.end())
      return rule.type({node, *a, input_type(node, 1), output});
  }
  return std::nullopt;
}

}  // namespace strew::inline v0::onnx
