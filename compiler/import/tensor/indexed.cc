// tensor.gather and tensor.scatter: kernels. They index a tensor (source or dest) in the dims `dims`, with one coordinate each; all other dims are full
// slices. The small tensor (result or source) has the dims of the indices without the last one, followed by the dims of the indexed tensor,
// which at `dims` are 1 or, in the rank-reduced form, absent. MLIR compares these types exactly, `?` included, and so does this file;
// tests/oracle/mlir_tensor.py compares the two.
//
// In the RFC's spelling a gather over all dims may leave `dims` out. The RFC also shows a gather that leaves out the only dim of a slice:
// there the unit dims of the small tensor tell which dim it is. If they do not, the operation is ambiguous and is refused. Tested by
// tests/unit/compiler/import/tensor/tensor_import_test.cc and tests/error/tensor_error_test.cc.
#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinTypes.h>

#include <algorithm>
#include <numeric>

#include "compiler/import/mlir/attributes.h"
#include "compiler/import/mlir/shapes.h"
#include "compiler/import/mlir/translation.h"
#include "compiler/import/mlir/types.h"
#include "compiler/import/tensor/forms.h"
#include "compiler/import/tensor/op_list.h"
#include "compiler/op/dims.h"

namespace strew::inline v0 {
namespace {

struct Access {
  std::string dims_name;     ///< gather_dims or scatter_dims
  std::string indexed_name;  ///< how messages call the indexed tensor: source or dest
  std::string small_name;    ///< how messages call the small tensor: result or source
  TensorType indexed, indices, small;
  std::vector<int64_t> dims;
  bool reduced = false;
  bool unique = false;
  bool rfc = false;
};

bool contains(const std::vector<int64_t>& sorted, int64_t d) { return std::binary_search(sorted.begin(), sorted.end(), d); }

std::vector<int64_t> expected_dims(const Access& a, bool reduced) {
  std::vector<int64_t> out(a.indices.dims.begin(), a.indices.dims.end() - 1);
  for (int64_t d = 0; d < a.indexed.rank(); ++d) {
    if (!contains(a.dims, d))
      out.push_back(a.indexed.dims[static_cast<size_t>(d)]);
    else if (!reduced)
      out.push_back(1);
  }
  return out;
}

/// Finds `dims` for an operation in the RFC's spelling that leaves them out.
Status infer_dims(Access& a) {
  const int64_t rank = a.indexed.rank(), k = a.indices.dims.back();
  a.dims.clear();
  if (k == rank) {
    a.dims.resize(static_cast<size_t>(rank));
    std::iota(a.dims.begin(), a.dims.end(), 0);
    return {};
  }
  const size_t positions = a.indices.dims.size() - 1;
  std::vector<int64_t> maybe;
  if (a.small.dims.size() == positions + static_cast<size_t>(rank)) {
    for (int64_t d = 0; d < rank; ++d) {
      if (a.small.dims[positions + static_cast<size_t>(d)] != 1) continue;
      maybe.push_back(d);
      if (a.indexed.dims[static_cast<size_t>(d)] != 1) a.dims.push_back(d);
    }
  }
  if (static_cast<int64_t>(maybe.size()) == k) a.dims = maybe;
  if (static_cast<int64_t>(a.dims.size()) == k) return {};
  return invalid_argument(fmt::format("{} is missing and {} {} does not tell which {} of {} dims are indexed, expected {}",
                                      a.dims_name, a.small_name, dims_text(a.small.dims), k, rank, a.dims_name));
}

Status check_access_dims(const Access& a) {
  const int64_t rank = a.indexed.rank();
  const std::string is = fmt::format("{} is {}", a.dims_name, dims_text(a.dims));
  if (a.dims.empty()) return invalid_argument(a.dims_name + " must be non-empty");
  if (static_cast<int64_t>(a.dims.size()) > rank)
    return invalid_argument(fmt::format("{}: more than the rank of {}, {}", is, a.indexed_name, rank));
  if (a.indices.dims.back() != static_cast<int64_t>(a.dims.size()))
    return invalid_argument(
        fmt::format("{}: expected as many entries as the last dim of indices {} has", is, dims_text(a.indices.dims)));
  for (const int64_t d : a.dims)
    if (d < 0 || d >= rank)
      return invalid_argument(fmt::format("{}: expected entries from 0 to below {}, the rank of {}", is, rank, a.indexed_name));
  if (std::adjacent_find(a.dims.begin(), a.dims.end(), std::greater_equal<>()) != a.dims.end())
    return invalid_argument(is + ": expected strictly increasing entries");
  return {};
}

Status check_indices(mlir::Type type, const TensorType& indices) {
  const mlir::Type element = element_of(type);
  if (!element.isIndex() && !element.isSignlessInteger())
    return invalid_argument(fmt::format("indices {}, expected elements of type index or a signless integer", text_of(type)));
  if (indices.dtype == DType::boolean)
    return invalid_argument(
        fmt::format("indices {}: strew has no index type of 1 bit, expected i4 to i64 or index", text_of(type)));
  if (indices.dims.empty()) return invalid_argument("indices have rank 0, expected a last dim with the coordinates");
  return {};
}

Status check_small(Access& a) {
  const std::vector<int64_t> full = expected_dims(a, false), reduced = expected_dims(a, true);
  a.reduced = a.small.dims == reduced;
  if (a.reduced || a.small.dims == full) return {};
  return invalid_argument(fmt::format("{} is {}, expected {} or, rank-reduced, {}", a.small_name, dims_text(a.small.dims),
                                      dims_text(full), dims_text(reduced)));
}

Expected<TensorType> typed(mlir::Type type, const std::string& what) {
  auto out = tensor_type(type);
  if (!out.ok()) return invalid_argument(what + ": " + out.status().message());
  return out;
}

Expected<bool> is_set(const Attributes& attributes, llvm::StringRef name) {
  const mlir::Attribute found = attributes.get(name);
  if (found && !llvm::isa<mlir::UnitAttr>(found))
    return invalid_argument(fmt::format("attribute '{}', expected a unit attribute", name.str()));
  return static_cast<bool>(found);
}

/// Reads and checks what both operations share. `indexed`, `indices` and `small` are the types of source or dest, of indices, and of result
/// or source.
Status read_access(mlir::Operation* op, mlir::Type indexed, mlir::Type indices, mlir::Type small, Access& a) {
  const Attributes attributes(op);
  STREW_TRY(attributes.only({a.dims_name, "unique"}));
  STREW_ASSIGN(a.unique, is_set(attributes, "unique"));
  STREW_ASSIGN(a.rfc, is_set(attributes, kRfcSpelling));
  STREW_ASSIGN(a.indexed, typed(indexed, a.indexed_name));
  STREW_ASSIGN(a.indices, typed(indices, "indices"));
  STREW_ASSIGN(a.small, typed(small, a.small_name));
  STREW_TRY(check_indices(indices, a.indices));
  if (element_of(indexed) != element_of(small))
    return invalid_argument(fmt::format("{} {}, expected the element type of {}, {}", a.small_name, text_of(small),
                                        a.indexed_name, text_of(element_of(indexed))));
  if (attributes.get(a.dims_name) || !a.rfc) {
    STREW_ASSIGN(a.dims, attributes.integers(a.dims_name));
  } else {
    STREW_TRY(infer_dims(a));
  }
  STREW_TRY(check_access_dims(a));
  return check_small(a);
}

/// The window dims of the small tensor: all dims after the index positions.
std::vector<int64_t> window_dims(const Access& a) {
  std::vector<int64_t> out(a.small.dims.size() - (a.indices.dims.size() - 1));
  std::iota(out.begin(), out.end(), static_cast<int64_t>(a.indices.dims.size()) - 1);
  return out;
}

Status check_counts(mlir::Operation* op, unsigned operands) {
  if (op->getNumOperands() == operands && op->getNumResults() == 1 && op->getNumRegions() == 0) return {};
  return invalid_argument(fmt::format("{} operands, {} results and {} regions, expected {}, 1 and none", op->getNumOperands(),
                                      op->getNumResults(), op->getNumRegions(), operands));
}

Expected<Gather> read_gather(mlir::Operation* op) {
  STREW_TRY(check_counts(op, 2));
  Access a{.dims_name = "gather_dims", .indexed_name = "source", .small_name = "result"};
  STREW_TRY(read_access(op, op->getOperand(0).getType(), op->getOperand(1).getType(), op->getResult(0).getType(), a));
  Gather out;
  out.operand = a.indexed;
  out.indices = a.indices;
  out.result = a.small;
  out.dims.window_dims = window_dims(a);
  if (a.reduced) out.dims.removed_dims = a.dims;
  out.dims.index_map = a.dims;
  out.dims.index_vector_dim = a.indices.rank() - 1;
  out.slice_sizes = a.indexed.dims;
  for (const int64_t d : a.dims) out.slice_sizes[static_cast<size_t>(d)] = 1;
  out.oob = OobPolicy::undefined;
  return out;
}

Expected<Scatter> read_scatter(mlir::Operation* op) {
  STREW_TRY(check_counts(op, 3));
  const mlir::Type source = op->getOperand(0).getType(), dest = op->getOperand(1).getType();
  Access a{.dims_name = "scatter_dims", .indexed_name = "dest", .small_name = "source"};
  STREW_TRY(read_access(op, dest, op->getOperand(2).getType(), source, a));
  if (!a.unique && !a.rfc)
    return invalid_argument("requires 'unique' attribute to be set (only the RFC's spelling may leave it out)");
  if (op->getResult(0).getType() != dest)
    return invalid_argument(
        fmt::format("result {}, expected the type of dest, {}", text_of(op->getResult(0).getType()), text_of(dest)));
  Scatter out;
  out.operands = {a.indexed};
  out.indices = a.indices;
  out.updates = {a.small};
  out.results = {a.indexed};
  out.dims.window_dims = window_dims(a);
  if (a.reduced) out.dims.removed_dims = a.dims;
  out.dims.index_map = a.dims;
  out.dims.index_vector_dim = a.indices.rank() - 1;
  out.oob = OobPolicy::undefined;
  out.unique_indices = a.unique;
  return out;
}

}  // namespace

Status import_tensor_gather(Translation& t, mlir::Operation* op) {
  Expected<Gather> gather = read_gather(op);
  if (!gather.ok()) return t.parsed.at(op, gather.status());
  return t.add_kernel(op, std::move(*gather), {t.operand(op, 0), t.operand(op, 1)});
}

Status import_tensor_scatter(Translation& t, mlir::Operation* op) {
  Expected<Scatter> scatter = read_scatter(op);
  if (!scatter.ok()) return t.parsed.at(op, scatter.status());
  return t.add_kernel(op, std::move(*scatter), {t.operand(op, 1), t.operand(op, 2), t.operand(op, 0)});
}

}  // namespace strew::inline v0
