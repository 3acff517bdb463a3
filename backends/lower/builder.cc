// See builder.h. Tested by tests/unit/backends/lower.
#include "backends/lower/builder.h"

#include <bit>

#include "backends/lower/families.h"

namespace strew::inline v0::lowered {

Value Builder::append(Node node) {
  graph.nodes.push_back(node);
  return {static_cast<int32_t>(graph.nodes.size()) - 1, node.type};
}

Value Builder::input(int32_t number, int32_t part, Machine type) {
  return append({.op = Primitive::input, .type = type, .input = number, .part = part});
}

Value Builder::constant(Machine type, uint64_t bits) {
  return append({.op = Primitive::constant, .type = type, .bits = bits & all_ones(type)});
}

Value Builder::number(Machine type, double value) {
  return constant(type,
                  type == Machine::f32 ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value));
}

Value Builder::operator()(Primitive op, Value a, Value b, Value c) {
  const PrimitiveInfo& row = info(op);
  const Machine type = op == Primitive::select ? b.type : row.gives == Gives::i1 ? Machine::i1 : a.type;
  if (row.compound && !natives_.has(op)) return expand(op, type, a, b, c);
  return append({.op = op, .type = type, .args = {a.node, b.node, c.node}});
}

Value Builder::to(Machine type, Primitive op, Value a) {
  if (info(op).compound && !natives_.has(op)) return expand(op, type, a, {}, {});
  return append({.op = op, .type = type, .args = {a.node, -1, -1}});
}

Value Builder::decode(DType dtype, Value code) {
  const Primitive op = dtype == DType::f16 ? Primitive::half_to_float : Primitive::code_to_float;
  if (!natives_.has(op)) return decode_small(*this, dtype, code);
  return append({.op = op, .type = Machine::f32, .args = {code.node, -1, -1}, .dtype = dtype});
}

Value Builder::encode(DType dtype, Value number) {
  const Primitive op = dtype == DType::f16 ? Primitive::float_to_half : Primitive::float_to_code;
  if (!natives_.has(op)) return dtype == DType::bf16 ? encode_bf16(*this, number) : encode_small(*this, dtype, number);
  return append({.op = op, .type = part_type(dtype), .args = {number.node, -1, -1}, .dtype = dtype});
}

Value Builder::call(ExprOp function, Value a, Value b, Value c) {
  const Primitive op = b.node < 0 ? Primitive::call1 : c.node < 0 ? Primitive::call2 : Primitive::call3;
  return append({.op = op, .type = a.type, .args = {a.node, b.node, c.node}, .function = function});
}

Value Builder::resize(Machine type, Value a, bool is_signed) {
  if (width(type) == width(a.type)) return a;
  if (width(type) < width(a.type)) return to(type, Primitive::itrunc, a);
  return to(type, is_signed ? Primitive::sext : Primitive::zext, a);
}

}  // namespace strew::inline v0::lowered
