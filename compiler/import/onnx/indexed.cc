// The operators that become kernels: Gather, GatherElements, GatherND, Scatter, ScatterElements, ScatterND and TensorScatter. But for that of
// TensorScatter, a negative index counts from the end. Some checks repeat one of verify(), because a user of ONNX looks for `data` and
// `reduction` in a message, not for `operand[0]` and `combiner`.
//
// Tested by tests/unit/compiler/import/onnx/onnx_ops_test.cc, tests/unit/compiler/import/onnx/onnx_import_test.cc,
// tests/error/onnx_error_test.cc, tests/oracle/onnx_nodes.py, tests/oracle/onnxruntime_models.py and tests/oracle/onnx_tensor_scatter.py (ONNX's
// own node tests and a generated matrix).
#include <algorithm>

#include "compiler/import/fusion/one_hot.h"
#include "compiler/import/node/operations.h"
#include "compiler/import/onnx/graph.h"
#include "compiler/import/onnx/onnx.h"
#include "compiler/import/onnx/tensor_proto.h"
#include "compiler/op/combiner.h"
#include "compiler/op/dims.h"
#include "strew/forms.h"

namespace strew::inline v0::onnx {
namespace {

/// The type lists of most operators, and of TensorScatter, have the types up to these numbers.
constexpr int32_t kMostDataType = 16, kMostCacheType = 24;

/// Refuses element types that are not in ONNX's "all tensor types" (4-bit and 8-bit floats, bf16 before opset 13), and rank 0.
Status check_data(const Node& node, const Operand& data) {
  const DType dtype = data.type.dtype;
  if (const int32_t number = element_number(dtype); number == 0 || number > kMostDataType)
    return node.error(
        "{} has dtype {}, expected bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, complex64, complex128 or string", data.role,
        dtype);
  if (dtype == DType::bf16 && node.opset() < 13)
    return node.error("{} has dtype bf16, expected a type of opset {}; bf16 came with opset 13", data.role, node.opset());
  if (data.type.rank() == 0) return node.error("{} has rank 0, expected at least 1", data.role);
  return {};
}

/// Refuses indices that are not i64 (or, if `i32` is set, i32) and ranks below `min_rank`.
Status check_indices(const Node& node, const Operand& indices, bool i32, int min_rank) {
  const DType dtype = indices.type.dtype;
  if (dtype != DType::i64 && !(i32 && dtype == DType::i32))
    return node.error("{} has dtype {}, expected {}", indices.role, dtype, i32 ? "i32 or i64" : "i64");
  if (indices.type.rank() >= min_rank) return {};
  return node.error("{} has rank {}, expected at least {}", indices.role, indices.type.rank(), min_rank);
}

/// The attribute reduction for tensors like `data`. Opsets before 18 have none but add and mul.
Expected<CombinerKind> read_reduction(const Node& node, const Operand& data) {
  const std::string text = node.text("reduction", "none");
  struct Reduction {
    std::string_view text;
    CombinerKind kind;
    int64_t opset;
  };
  static constexpr Reduction kReductions[] = {{"none", CombinerKind::assign, 1},
                                              {"add", CombinerKind::add, 16},
                                              {"mul", CombinerKind::mul, 16},
                                              {"max", CombinerKind::max, 18},
                                              {"min", CombinerKind::min, 18}};
  const auto* found =
      std::find_if(std::begin(kReductions), std::end(kReductions), [&](const Reduction& r) { return r.text == text; });
  if (found == std::end(kReductions)) return node.error("reduction is '{}', expected none, add, mul, max or min", text);
  if (node.opset() < found->opset)
    return node.error("reduction is '{}', which came with opset 18; the model's is {}", text, node.opset());
  const DTypeInfo& row = info(data.type.dtype);
  const CombinerTraits* const combiner = find_combiner(found->kind);
  if (combiner != nullptr && !takes(combiner->op, data.type.dtype))
    return node.error("reduction is '{}' and {} is {}, expected {}", text, data.role, row.name,
                      row.arithmetic ? "none, add or mul: complex numbers have no order" : "none: it has no arithmetic");
  return found->kind;
}

/// Requires two extents to be equal. If one is known, the other gets its value; if neither is known, `arguments` gets an entry, so that the call
/// checks them.
Status unify_extents(const Node& node, Operand& a, int64_t dim_a, Operand& b, int64_t dim_b, KernelArguments& arguments) {
  int64_t& left = a.type.dims[dim_a];
  int64_t& right = b.type.dims[dim_b];
  const std::string mine = fmt::format("dim {} of {}", dim_a, a.role), other = fmt::format("dim {} of {}", dim_b, b.role);
  if (!unify(left, right) || !unify(right, left))
    return node.error("{} is {}, expected {}, {}: {} and {}", mine, left, right, other, a.text(), b.text());
  if (left == kDynamic)
    arguments.push_back(
        KernelArgument::equal_extents(a.value, static_cast<int>(dim_a), b.value, static_cast<int>(dim_b), mine, other));
  return {};
}

/// The length of the index vectors: the last dim of `indices`. If the file leaves that dim open, `otherwise` takes its place; -1 means that
/// the length is unknown.
Expected<int64_t> index_components(const Node& node, Operand& indices, int64_t most, int64_t otherwise) {
  int64_t& extent = indices.type.dims.back();
  const std::string what = "the last dim of " + indices.role + ", the length of its index vectors,";
  if (extent == kDynamic) {
    if (otherwise < 0)
      return node.error("{} is open in {}, expected a number or a declared output shape it follows from", what,
                        indices.type.dims);
    extent = otherwise;
  }
  if (extent >= 0 && extent <= most) return extent;
  return node.error("{} is {}, expected 0 to {}: {}", what, extent, most, indices.text());
}

/// The inputs, and the kernel's arguments: the inputs, and the extents of them that must be equal and are not known.
struct Operands {
  Operand data, indices, updates;  ///< a gather has no updates
  KernelArguments arguments;
};

/// `takes_i32`: the indices may be i32, too.
Expected<Operands> read_operands(const Node& node, bool takes_i32, int min_rank = 1) {
  Operands out{operand(node, 0), operand(node, 1), {}, {}};
  STREW_TRY(check_data(node, out.data));
  STREW_TRY(check_indices(node, out.indices, takes_i32, min_rank));
  out.arguments = {out.data.value, out.indices.value};
  if (node.inputs() < 3) return out;
  out.updates = operand(node, 2);
  STREW_TRY(check_same_dtype(node, out.updates, out.data));
  out.arguments.emplace_back(out.updates.value);
  return out;
}

Expected<int> add_gather(const Node& node, const GatherBuilder& op, Operands in) {
  return node.kernel(op.build(), std::move(in.arguments), {"a negative index counts from the end"});
}

Expected<int> add_scatter(const Node& node, ScatterBuilder op, CombinerKind kind, Operands in) {
  constexpr const char* kLast =
      "duplicates: where two updates name one element the last one wins, in row-major order of indices (ONNX leaves it open)";
  constexpr const char* kAll =
      "duplicates: every update of an element is combined, in row-major order of indices (ONNX leaves the order open)";
  return node.kernel(op.combine(kind).build(), std::move(in.arguments),
                     {fmt::format("in place if the caller binds {} and {} to one buffer", in.data.role, node.proto().output(0)),
                      kind == CombinerKind::assign ? kLast : kAll, "a negative index counts from the end"});
}

/// Gather (opset 1): numpy.take. A negative index counts from the end in every opset, although the operator's text says so only since opset
/// 11.
///
///   data [D0, ..., Dr-1]   indices of any rank q, 0 too   output [D0, .., Daxis-1, I0, .., Iq-1, Daxis+1, ..]
///
/// A gather of a shape by constants, as exporters write "the second dim of x", is shape arithmetic and no kernel.
Expected<int> import_gather(Node& node) {
  STREW_ASSIGN(const Operands in, read_operands(node, /*takes_i32=*/true, 0));
  STREW_ASSIGN(const int64_t axis, node.axis(0, in.data.type.rank()));
  STREW_ASSIGN(const std::optional<int> taken, node.builder().taken(in.data.value, in.indices.value));
  return taken ? *taken : add_gather(node, gather(in.data.type, in.indices.type, axis), in);
}

/// GatherElements (opset 11): output[i0, .., in] = data[i0, .., indices[i], .., in], with the index in dim `axis`. It reads what ScatterElements
/// writes, and the dims other than axis are batching dims as there.
Expected<int> import_gather_elements(Node& node) {
  STREW_ASSIGN(const Operands in, read_operands(node, /*takes_i32=*/true));
  STREW_TRY(check_rank(node, in.indices, in.data.type.rank(), "data's"));
  STREW_ASSIGN(const int64_t axis, node.axis(0, in.data.type.rank()));
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
                      std::min(r, q) - 1, in.data.type.dims, in.indices.type.dims);
  for (int64_t d = 0; d < batch; ++d) STREW_TRY(unify_extents(node, in.indices, d, in.data, d, in.arguments));
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
  STREW_ASSIGN(const int64_t axis, node.axis(0, in.data.type.rank()));
  STREW_ASSIGN(const CombinerKind kind, read_reduction(node, in.data));
  for (int64_t d = 0; d < in.data.type.rank(); ++d) STREW_TRY(unify_extents(node, in.updates, d, in.indices, d, in.arguments));
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
  for (int64_t d = 0; d < positions; ++d) STREW_TRY(unify_extents(node, in.updates, d, in.indices, d, in.arguments));
  for (int64_t d = k; d < r; ++d) STREW_TRY(unify_extents(node, in.updates, positions + d - k, in.data, d, in.arguments));
  return add_scatter(node, scatter_nd(in.data.type, in.indices.type, in.updates.type), kind, in);
}

/// MatMul (opset 1) by a one-hot tensor that is a look-up; of ranks that have no batch dims. Another one is opaque, as if no row named the operator.
Expected<int> import_mat_mul(Node& node) {
  const TensorType a = node.type(node[0]), b = node.type(node[1]);
  constexpr const char* kNotRun = "";
  if (a.rank() == 0 || b.rank() != 2) return unsupported(kNotRun);
  const fusion::Product product{
      .lhs = node[0], .rhs = node[1], .lhs_contracting = {a.rank() - 1}, .rhs_contracting = {0}, .result = a.dtype};
  STREW_ASSIGN(auto lookup, fusion::lookup_of_product(node.graph().program(), node.location(), product));
  if (!lookup) return unsupported(kNotRun);
  return node.kernel(Op(std::move(lookup->gather)), {lookup->table, lookup->indices}, {}, /*fixed_policy=*/true);
}

Expected<int64_t> find_axis(const Node& node, int rank) {
  const int64_t given = node.integer("axis", -2), axis = given < 0 ? given + rank : given;
  if (axis < 1 || axis >= rank)
    return node.error("axis is {}{}, expected 1 to {} or -{} to -1 for a past_cache of rank {}", given,
                      axis == 0 ? " (dim 0 is the batch)" : "", rank - 1, rank - 1, rank);
  return axis;
}

/// Requires that all dims but the axis agree, and that there is one index per sample. A dim that one tensor leaves
/// open gets its extent from another.
Status unify_all(const Node& node, Operand& cache, Operand& update, Operand& indices, int64_t axis, KernelArguments& arguments) {
  for (int64_t d = 0; d < cache.type.rank(); ++d) {
    if (d != axis) STREW_TRY(unify_extents(node, update, d, cache, d, arguments));
  }
  KernelArguments none;  // the zeros are one per sample by construction
  STREW_TRY(unify_extents(node, indices, 0, cache, 0, node[2] < 0 ? none : arguments));
  update.type.dims[0] = cache.type.dims[0];
  return check_smaller(node, update, cache);
}

Expected<bool> is_circular(const Node& node) {
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") return node.error("mode is '{}', expected linear or circular", mode);
  return mode == "circular";
}

/// The third input; if the node has none, zeros, one per sample. If the file has it as a graph input, the caller may
/// leave it out.
int indices_value(Node& node, int cache) {
  if (node[2] < 0) return node.builder().zeros({DType::i64, {node.type(cache).dims[0]}, {}}, cache, 0);
  Program& program = node.graph().program();
  if (program.value(node[2]).kind == ValueKind::input) program.edit_value(node[2])->like = cache;
  return node[2];
}

/// TensorScatter (opset 24): writes `update` into a copy of `past_cache` along one axis, each batch sample at its own index.
///
///   past_cache [B, ..., M at axis, ...]   update [B, ..., S at axis, ...], S <= M   write_indices [B], missing: zeros
///
/// A sample has one index, so it is one index position, whose window is the whole update of the sample: dim 0 is a
/// batching dim of operand and indices, and every other dim of `update` is a window dim. Mode linear is policy error.
/// Mode circular is policy wrap, which wraps the coordinate along the axis only, as the operator's text says. (ONNX's
/// pseudocode once wrapped batch and head, too; that was corrected.) A negative write index is an error in both modes,
/// as in ONNX Runtime. Policy wrap would accept it, so circular adds the requirement `non_negative`.
Expected<int> import_tensor_scatter(Node& node) {
  STREW_ASSIGN(const bool circular, is_circular(node));
  Operand past = operand(node, 0), update = operand(node, 1);
  const TensorType& cache = past.type;
  if (cache.rank() < 2) return node.error("past_cache has rank {}, expected at least 2", cache.rank());
  if (element_number(cache.dtype) > kMostCacheType)
    return node.error("past_cache has dtype {}, expected one of TensorScatter-24's 24 types", cache.dtype);
  STREW_ASSIGN(const int64_t axis, find_axis(node, cache.rank()));
  STREW_TRY(check_same_dtype(node, update, past));
  STREW_TRY(check_rank(node, update, cache.rank(), "past_cache's"));
  const int indices_number = indices_value(node, past.value);
  Operand indices{indices_number, node.type(indices_number), "write_indices"};
  STREW_TRY(check_indices(node, indices, /*i32=*/false, 1));
  STREW_TRY(check_rank(node, indices, 1, "one index per batch sample"));
  KernelArguments arguments{past.value, indices.value, update.value};
  if (circular) arguments.push_back({ArgumentUse::non_negative, indices_number});
  STREW_TRY(unify_all(node, past, update, indices, axis, arguments));

  std::vector<std::string> notes = {"in place if the caller binds past_cache and present_cache to one buffer"};
  if (node[2] < 0) notes.push_back("write_indices is missing: zeros");
  if (circular) notes.push_back("circular: wraps the sequence coordinate only");
  return node.kernel(tensor_scatter(cache, indices.type, update.type, axis, circular).build(), std::move(arguments),
                     std::move(notes));
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
      {"MatMul", {.inputs = "A B"}, 1, {}, import_mat_mul},
      {"TensorScatter",
       {.inputs = "past_cache update write_indices?~", .indexed = true},
       24,
       {"axis", {"mode", kText}},
       import_tensor_scatter},
  };
}

}  // namespace strew::inline v0::onnx
