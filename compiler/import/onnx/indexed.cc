// Gather, GatherElements, GatherND, Scatter, ScatterElements and ScatterND. A negative index counts from the end.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/oracle/onnx_nodes.py and tests/oracle/onnxruntime_models.py.
#include <algorithm>

#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/shapes.h"
#include "compiler/op/dims.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {
namespace {

/// The inputs, and the extents of them that must be equal and are not known.
struct Operands {
  Operand data, indices, updates;  ///< a gather has no updates
  std::vector<EqualExtents> ties;
};

/// `takes_i32`: the indices may be i32, too.
Expected<Operands> read_operands(const Node& node, bool takes_i32, int min_rank = 1) {
  Operands out{read_operand(node, 0, "data"), read_operand(node, 1, "indices"), {}, {}};
  STREW_TRY(check_data(node, out.data));
  STREW_TRY(check_indices(node, out.indices, takes_i32, min_rank));
  if (node.inputs() < 3) return out;
  out.updates = read_operand(node, 2, "updates");
  STREW_TRY(check_same_dtype(node, out.updates, out.data));
  return out;
}

Expected<int> add_gather(const Node& node, const GatherBuilder& op, Operands in) {
  return node.kernel(op.build(), {.arguments = {in.data.value, in.indices.value},
                                  .notes = {"a negative index counts from the end"},
                                  .equal_extents = std::move(in.ties)});
}

Expected<int> add_scatter(const Node& node, ScatterBuilder op, CombinerKind kind, Operands in) {
  return node.kernel(op.combine(kind).build(), {.arguments = {in.data.value, in.indices.value, in.updates.value},
                                                .notes = scatter_notes(node, in.data, kind),
                                                .equal_extents = std::move(in.ties)});
}

/// Gather (opset 1): numpy.take. A negative index counts from the end in every opset, although the operator's text says so only since opset
/// 11.
///
///   data [D0, ..., Dr-1]   indices of any rank q, 0 too   output [D0, .., Daxis-1, I0, .., Iq-1, Daxis+1, ..]
///
/// A gather of a shape by constants, as exporters write "the second dim of x", is shape arithmetic and no kernel.
Expected<int> import_gather(Node& node) {
  STREW_ASSIGN(const Operands in, read_operands(node, /*takes_i32=*/true, 0));
  STREW_ASSIGN(const int64_t axis, read_axis(node, in.data));
  STREW_ASSIGN(const std::optional<int> taken, node.builder().taken(in.data.value, in.indices.value));
  return taken ? *taken : add_gather(node, gather(in.data.type, in.indices.type, axis), in);
}

/// GatherElements (opset 11): output[i0, .., in] = data[i0, .., indices[i], .., in], with the index in dim `axis`. It reads what ScatterElements
/// writes, and the dims other than axis are batching dims as there.
Expected<int> import_gather_elements(Node& node) {
  STREW_ASSIGN(const Operands in, read_operands(node, /*takes_i32=*/true));
  STREW_TRY(check_rank(node, in.indices, in.data.type.rank(), "data's"));
  STREW_ASSIGN(const int64_t axis, read_axis(node, in.data));
  STREW_TRY(check_smaller(node, in.indices, in.data, axis));
  return add_gather(node, gather_elements(in.data.type, in.indices.type, axis), in);
}

/// GatherND (opset 11, batch_dims since 12): copies the slices of data that start at the index vectors.
///
///   data [B..., D0, ...]   indices [B..., I..., k]   output [B..., I..., Dk, ...], b = batch_dims leading dims B shared by both
///
/// ONNX requires equal batch extents, whereas our op accepts smaller ones in indices. So equality is checked here, or at the call if a dim
/// is open. If the file leaves k open, k follows from the rank that the file declares for the output, if it declares one.
Expected<int> import_gather_nd(Node& node) {
  STREW_ASSIGN(Operands in, read_operands(node, /*takes_i32=*/false));
  const int64_t batch = node.integer("batch_dims");
  const int64_t r = in.data.type.rank(), q = in.indices.type.rank();
  if (batch < 0 || batch >= std::min(r, q))
    return node.error("batch_dims is {}, expected 0 to {}, less than the ranks of data {} and indices {}", batch,
                      std::min(r, q) - 1, dims_text(in.data.type.dims), dims_text(in.indices.type.dims));
  for (int64_t d = 0; d < batch; ++d) STREW_TRY(unify_extents(node, in.indices, d, in.data, d, in.ties));
  const std::optional<TensorType> declared = node.graph().declared_type(node.proto().output(0));
  STREW_TRY(index_components(node, in.indices, r - batch, declared ? q - 1 + r - batch - declared->rank() : -1).status());
  return add_gather(node, gather_nd(in.data.type, in.indices.type, batch), in);
}

/// ScatterElements (opset 11, reductions since 16 and 18) and Scatter (opset 9 and 10), its former name.
///
///   data [D0, ..., Dn]   indices, updates [I0, ..., In], Id <= Dd in every dim but axis
///   output = data; output[i0, .., indices[i], .., in] (index in dim axis) = reduction(current element, updates[i])
///
/// Every element of `indices` is an index position with one component, for dim axis. The other dims are batching dims of data and indices:
/// element i of `indices` acts on the same coordinates of data. ONNX lets indices be smaller than data there, which is the batching
/// relaxation of semantics.md section 1. There is no window, since axis is inserted. So the same dimension numbers cover any rank, axis and
/// smaller shape:
///
///   inserted_window_dims [axis], input_batching_dims = scatter_indices_batching_dims = every dim but axis,
///   scatter_dims_to_operand_dims [axis], index_vector_dim = rank
Expected<int> import_scatter_elements(Node& node) {
  STREW_ASSIGN(Operands in, read_operands(node, /*takes_i32=*/true));
  STREW_TRY(check_rank(node, in.indices, in.data.type.rank(), "data's"));
  STREW_TRY(check_rank(node, in.updates, in.data.type.rank(), "data's"));
  STREW_ASSIGN(const int64_t axis, read_axis(node, in.data));
  STREW_ASSIGN(const CombinerKind kind, read_reduction(node, in.data));
  for (int64_t d = 0; d < in.data.type.rank(); ++d) STREW_TRY(unify_extents(node, in.updates, d, in.indices, d, in.ties));
  STREW_TRY(check_smaller(node, in.indices, in.data, axis));
  return add_scatter(node, scatter_elements(in.data.type, in.indices.type, in.updates.type, axis), kind, in);
}

/// ScatterND (opset 11, reductions since 16 and 18): writes slices of `updates` into data at the index vectors.
///
///   data [D0, ..., Dr-1]   indices [I0, ..., Iq-2, k], k <= r   updates [I0, ..., Iq-2, Dk, ..., Dr-1]
///
/// The k components index the first k dims of data, which are inserted. The remaining dims are the window, which in ONNX is always whole.
/// Our op would accept a smaller one, so equality of the last dims of updates with those of data is checked here, or at the call if a dim is
/// open. If the file leaves k open, k follows from the rank of updates, which is q - 1 + r - k.
Expected<int> import_scatter_nd(Node& node) {
  STREW_ASSIGN(Operands in, read_operands(node, /*takes_i32=*/false));
  STREW_ASSIGN(const CombinerKind kind, read_reduction(node, in.data));
  const int64_t r = in.data.type.rank(), positions = in.indices.type.rank() - 1;
  STREW_ASSIGN(const int64_t k, index_components(node, in.indices, r, positions + r - in.updates.type.rank()));
  STREW_TRY(check_rank(node, in.updates, positions + r - k,
                       fmt::format("the rank of indices {} - 1 + the rank of data {} - {}", dims_text(in.indices.type.dims),
                                   dims_text(in.data.type.dims), k)));
  for (int64_t d = 0; d < positions; ++d) STREW_TRY(unify_extents(node, in.updates, d, in.indices, d, in.ties));
  for (int64_t d = k; d < r; ++d) STREW_TRY(unify_extents(node, in.updates, positions + d - k, in.data, d, in.ties));
  return add_scatter(node, scatter_nd(in.data.type, in.indices.type, in.updates.type), kind, in);
}

}  // namespace

std::vector<Operator> indexed_operators() {
  constexpr auto kText = AttributeType::text;
  const Attribute reduction{"reduction", kText, 16};
  constexpr OperatorForm kGather = {.inputs = "data indices", .indexed = true};
  constexpr OperatorForm kScatter = {.inputs = "data indices updates", .indexed = true};
  return {
      {"Gather", kGather, 1, {"axis"}, import_gather},
      {"GatherElements", kGather, 11, {"axis"}, import_gather_elements},
      {"GatherND", kGather, 11, {{"batch_dims", AttributeType::integer, 12}}, import_gather_nd},
      {"Scatter", kScatter, 9, {"axis", reduction}, import_scatter_elements, 10, "since 11 it is called ScatterElements"},
      {"ScatterElements", kScatter, 11, {"axis", reduction}, import_scatter_elements},
      {"ScatterND", kScatter, 11, {reduction}, import_scatter_nd},
      {"TensorScatter",
       {.inputs = "past_cache update write_indices?~", .indexed = true},
       24,
       {"axis", {"mode", kText}},
       import_tensor_scatter},
  };
}

}  // namespace strew::inline v0::onnx
