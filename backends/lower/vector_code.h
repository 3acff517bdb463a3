// Which lane loops become vector code: what a body reads and writes, and how it lies along the loop. Code generators and the passes of walk.h ask here.
// Tested by tests/golden/machine_code_test.cc and tests/differential.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "backends/lower/kernel.h"

namespace strew::inline v0::lowered {

/// The tensors whose elements a body reads and writes; the results first. A private table's is the update that it is merged like.
STREW_API std::vector<int> tensors_of(const Plan& plan, const Body& body);
/// The tensor whose pointer leads to what the operand is an element of.
inline int pointer_of(const Plan& plan, const Operand& operand) {
  return operand.is(Operand::Kind::table) ? plan.update(operand.number) : operand.number;
}

/// Can iterations of `loop` be lanes of vectors? Results have stride 1, what is read has stride 1 or 0 (the same element for all lanes), and elements
/// are whole bytes.
STREW_API bool is_vector_code(const Plan& plan, const Body& body, const Loop& loop);
/// Can the inputs of a graph of the body be loaded in vectors: have those in memory stride 1 or 0 along `loop`, and elements of whole bytes?
inline bool loads_vectors(const Plan& plan, const Body& body, const Expr& graph, const Loop& loop) {
  return std::ranges::all_of(graph.nodes, [&](const ExprNode& node) {
    if (!is_input(node.op)) return true;
    const Operand& operand = body.input(node.op, node.index);
    if (!operand.in_memory()) return true;
    const int tensor = pointer_of(plan, operand);
    const Term& stride = loop.strides[static_cast<size_t>(tensor)];
    return bits(plan.tensors[static_cast<size_t>(tensor)].dtype) >= 8 && (stride.is(1) || stride.is(0));
  });
}
/// Elements per vector of so many bytes: as many as fill it with the widest type that the body reads, computes in or writes; at least 1.
STREW_API int lanes_of(const Plan& plan, const Body& body, int vector_bytes);

/// Of a row of constant length, the parts that one register each holds: whole vectors of `lanes` elements, then what is left in powers of two.
struct RowPart {
  int64_t first = 0;
  int lanes = 1;
};
inline std::vector<RowPart> row_parts(int64_t length, int lanes) {
  std::vector<RowPart> parts;
  for (int64_t at = 0; at < length; at += parts.back().lanes) {
    const int64_t left = std::min<int64_t>(lanes, length - at);
    parts.push_back({at, static_cast<int>(std::bit_floor(static_cast<uint64_t>(left)))});
  }
  return parts;
}

}  // namespace strew::inline v0::lowered
