// See builder.h. Arithmetic that does not fold is appended where the caller asks for it; nothing hoists it out of
// loops, so callers compute loop-invariant numbers outside. Constants are named after their value (%c16, %c16_i32) and
// stand in the order of their first use. Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/builder.h"

#include <algorithm>

#include "backends/pto/arithmetic.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kRowBytes = 32;

int64_t known_or(const Number& number, int64_t otherwise) { return number.value.value_or(otherwise); }

}  // namespace

void ProgramBuilder::argument(const std::string& name, Type type) {
  types_[name] = type;
  names_.add(name);
  arguments_.push_back({name, std::move(type), {}});
}

Named ProgramBuilder::append(Statement s, const std::string& hint) {
  s.note.text = std::exchange(note_, {});
  if (!hint.empty()) s.result = names_.fresh(hint);
  if (!hint.empty()) types_[s.result] = s.type;
  into_->push_back(std::move(s));
  return {into_->back().result, into_->back().type};
}

std::string ProgramBuilder::named_constant(const std::string& name, Type type, int64_t value) {
  if (types_.contains(name)) return name;
  types_[name] = type;
  names_.add(name);
  constants_.push_back({.opcode = Opcode::constant, .result = name, .type = std::move(type), .value = value});
  return name;
}

std::string ProgramBuilder::use(const Number& number) {
  return number.value ? named_constant(constant_name(*number.value), make_index(), *number.value) : number.name;
}

std::vector<std::string> ProgramBuilder::use_all(Numbers numbers) {
  std::vector<std::string> out;
  for (const Number& number : numbers) out.push_back(use(number));
  return out;
}

Named ProgramBuilder::constant(Element element, int64_t value) {
  const Type type{TypeKind::scalar, element, {}, {}};
  const std::string name = constant_name(value, element);
  // ptoas reads finite float constants only, so an infinity or a NaN is a bitcast of an integer constant.
  const int mantissa = info(element.dtype).mantissa_bits, exponent = info(element.dtype).exponent_bits;
  const int64_t top = ((int64_t{1} << exponent) - 1) << mantissa;
  if (!is_float(element.dtype) || (value & top) != top) return {named_constant(name, type, value), type};
  Number& known = casts_[name];
  const Type word = make_scalar(strew::bits(element.dtype) == 16 ? DType::i16 : DType::i32);
  if (known.name.empty()) {
    const Named from = constant(word.element, number_of(word, static_cast<uint64_t>(value)));
    at_head([&] { known.name = give(Opcode::bitcast, "value_" + print(element), type, {from.name}).name; });
  }
  return {known.name, type};
}

Named ProgramBuilder::i32(const Number& number) {
  // The low 32 bits, as index_cast leaves them.
  if (number.value) return constant({DType::i32, false}, static_cast<int32_t>(*number.value));
  const auto found = narrow_.find(number.name);
  if (found != narrow_.end()) return {found->second, make_scalar(DType::i32)};
  const Named out = give(Opcode::index_cast, number.name + "_i32", make_scalar(DType::i32), {number.name});
  narrow_[number.name] = out.name;
  return out;
}

Named ProgramBuilder::i64(const Number& number) {
  if (number.value) return constant({DType::i64, false}, *number.value);
  return give(Opcode::index_cast, number.name + "_i64", make_scalar(DType::i64), {number.name});
}

Number ProgramBuilder::as_index(const std::string& hint, const std::string& scalar, bool is_unsigned) {
  return {give(is_unsigned ? Opcode::index_castui : Opcode::index_cast, hint, make_index(), {scalar}).name, {}};
}

Number ProgramBuilder::argument(const std::string& scalar) {
  Number& known = casts_[scalar];
  if (known.name.empty()) at_head([&] { known = as_index(scalar + "_index", scalar); });
  return known;
}

Number ProgramBuilder::launch_number(const char* known, Opcode opcode, const char* hint) {
  if (one_core_) return number(opcode == Opcode::get_block_idx ? 0 : 1);
  Number& out = casts_[known];
  if (!out.name.empty()) return out;
  at_head([&] {
    const Named wide = give(opcode, std::string(hint) + "_i64", make_scalar(DType::i64), {});
    out = as_index(hint, wide.name);
  });
  return out;
}

void ProgramBuilder::at_head(const std::function<void()>& body) {
  std::vector<Statement>* const outer = std::exchange(into_, &head_);
  std::string note = std::exchange(note_, {});
  body();
  into_ = outer;
  note_ = std::move(note);
}

Named ProgramBuilder::compare(const char* predicate, const Number& a, const Number& b) {
  const std::string left = use(a), right = use(b);
  return give(Opcode::cmpi, "more", make_scalar(DType::boolean), {left, right}, {{"predicate", predicate}});
}

std::vector<Statement> ProgramBuilder::inner(const std::function<void()>& body) {
  std::vector<Statement> out;
  std::vector<Statement>* const outer = std::exchange(into_, &out);
  const auto narrow = narrow_;
  body();
  into_ = outer;
  narrow_ = narrow;
  return out;
}

void ProgramBuilder::when(const Named& condition, const std::function<void()>& body) {
  Statement s{.opcode = Opcode::branch, .operands = {{condition.name}}, .note = {std::exchange(note_, {})}};
  s.body = inner(body);
  into_->push_back(std::move(s));
}

Number ProgramBuilder::binary(Opcode opcode, const Number& a, const Number& b, const char* hint) {
  const Computation what = info(opcode).compute;
  if (a.value && b.value) {
    const auto code = [](const Number& n) { return static_cast<uint64_t>(*n.value); };
    return number(static_cast<int64_t>(compute(what, DType::i64, code(a), code(b))));
  }
  const bool sums = what == Computation::add || what == Computation::sub, multiplies = what == Computation::mul;
  const bool divides = what == Computation::div || what == Computation::ceil_div;
  if ((sums && b.is(0)) || ((multiplies || divides) && b.is(1))) return a;
  if ((what == Computation::add && a.is(0)) || (multiplies && a.is(1))) return b;
  if ((multiplies && (a.is(0) || b.is(0))) || (what == Computation::remainder && b.is(1))) return number(0);
  const std::string left = use(a), right = use(b);
  return {give(opcode, hint, make_index(), {left, right}).name, {}};
}

Number ProgramBuilder::left(const Number& at, const Number& end, const Number& most, bool whole, const char* hint,
                            const char* left_hint) {
  return whole ? most : min(sub(end, at, left_hint), most, hint);
}

Named ProgramBuilder::make_view(const std::string& hint, const std::string& pointer, const char* layout, Numbers dims,
                                Numbers strides) {
  const Type type{TypeKind::tensor_view, types_.at(pointer).element, std::vector<int64_t>(dims.size(), kDynamic), {}};
  return append({.opcode = Opcode::make_tensor_view,
                 .type = type,
                 .operands = {{pointer}, use_all(dims), use_all(strides)},
                 .attributes = {{"layout", layout}}},
                hint);
}

Named ProgramBuilder::make_part(const std::string& hint, const Named& view, Numbers offsets, Numbers sizes) {
  Type type{TypeKind::partition_view, view.type.element, {}, {}};
  for (const Number& size : sizes) type.dims.push_back(known_or(size, kDynamic));
  return append(
      {.opcode = Opcode::partition_view, .type = std::move(type), .operands = {{view.name}, use_all(offsets), use_all(sizes)}},
      hint);
}

Named ProgramBuilder::fractal_view(const std::string& hint, const std::string& pointer, const Number& rows, int64_t cols,
                                   int64_t fractal) {
  const Number across = number(cols / fractal), wide = number(fractal), tall = number(kFractalRows), one = number(1);
  const Number height = mul(rows, wide, "block_col"), blocks = divide(rows, tall, "blocks"), all = mul(height, across, "all");
  const Named out =
      make_view(hint, pointer, "nz", {one, across, blocks, tall, wide}, {all, height, number(kFractalRows * fractal), wide, one});
  fractals_[out.name] = {across, wide};
  return out;
}

Named ProgramBuilder::fractal_part(const std::string& hint, const Named& view, const Number& row, const Number& rows) {
  const auto& [across, wide] = fractals_.at(view.name);
  const Number tall = number(kFractalRows), zero = number(0);
  const Number blocks = divide(rows, tall, "blocks"), first = divide(row, tall, "block");
  return make_part(hint, view, {zero, zero, first, zero, zero}, {number(1), across, blocks, tall, wide});
}

Named ProgramBuilder::tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows,
                           const Number& valid_cols) {
  const int64_t size = std::min<int64_t>(bits(element.dtype) / 8, narrowest_), unit = kRowBytes / size;
  return allocate(hint, make_tile(element, rows, (cols + unit - 1) / unit * unit), valid_rows, valid_cols);
}

Named ProgramBuilder::column_tile(const std::string& hint, Element element, int64_t rows, const Number& valid_rows) {
  const int64_t unit = kRowBytes / (bits(element.dtype) / 8);
  Type type = make_tile(element, (rows + unit - 1) / unit * unit, 1);
  type.tile.blayout = "col_major";
  return allocate(hint, std::move(type), valid_rows, number(1));
}

Named ProgramBuilder::fractal_tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows,
                                   const char* location) {
  cube_ |= location == std::string_view("mat");
  Type type = make_tile(element, rows, cols);
  type.tile.location = location;
  type.tile.blayout = "col_major";
  type.tile.slayout = "row_major";
  return allocate(hint, std::move(type), valid_rows, number(cols));
}

Named ProgramBuilder::allocate(const std::string& hint, Type type, const Number& valid_rows, const Number& valid_cols) {
  Statement s{.opcode = Opcode::alloc_tile, .type = std::move(type), .operands = {{}, {}, {}}};
  s.type.tile.valid = {known_or(valid_rows, kDynamic), known_or(valid_cols, kDynamic)};
  if (!valid_rows.value) s.operands[1] = {valid_rows.name};
  if (!valid_cols.value) s.operands[2] = {valid_cols.name};
  Named out;
  if (hoist_ && valid_rows.value && valid_cols.value) {
    out = {names_.fresh(hint), s.type};
    types_[out.name] = out.type;
    s.result = out.name;
    hoisted_.push_back(std::move(s));
  } else {
    out = append(std::move(s), hint);
  }
  if (!valid_cols.value) open_cols_[out.name] = valid_cols.name;
  return out;
}

void ProgramBuilder::count_up(const Named& tile, const Number& from) {
  if (chip_ != Chip::a3 || one_core_) return run(Opcode::tci, {i32(from).name, tile.name});
  // a3's TCI writes the numbers with scalar stores if it gets no scratch tile. ptoas passes one, strew's C++ does not,
  // so one name would mean two different things. A loop of scalar stores is the same work and means the same for both.
  const int64_t valid = tile.type.tile.valid[1];
  const auto found = open_cols_.find(tile.name);
  const Number count = valid == kDynamic ? Number{found->second, {}} : number(valid);
  loop("counted", number(0), count, number(1), [&](const Number& at) {
    run(Opcode::tsetval, {tile.name, use(at), i32(add(from, at, "number")).name});
  });
}

Named ProgramBuilder::give(Opcode opcode, const std::string& hint, Type type, const std::vector<std::string>& operands,
                           std::vector<Attribute> attributes) {
  Statement s{.opcode = opcode, .type = std::move(type), .attributes = std::move(attributes)};
  for (const std::string& operand : operands) s.operands.push_back({operand});
  return append(std::move(s), hint);
}

void ProgramBuilder::loop(const std::string& hint, const Number& from, const Number& to, const Number& step,
                          const std::function<void(const Number&)>& body) {
  // One iteration needs no loop.
  if (from.value && to.value && step.value && *from.value < *to.value && *to.value - *from.value <= *step.value)
    return body(from);
  Statement s{.opcode = Opcode::loop, .type = make_index(), .operands = {use_all({from}), use_all({to}), use_all({step})}};
  s.result = names_.fresh(hint);
  s.note.text = std::exchange(note_, {});
  types_[s.result] = s.type;
  s.body = inner([&] { body({s.result, {}}); });
  into_->push_back(std::move(s));
}

void ProgramBuilder::finish(TileProgram& program, const std::string& kernel) {
  Function function;
  function.name = kernel;
  function.arguments = std::move(arguments_);
  function.entry = true;
  function.kernel_kind = cube_ ? "cube" : "vector";
  function.body = std::move(constants_);
  for (std::vector<Statement>* part : {&head_, &hoisted_, &body_})
    function.body.insert(function.body.end(), std::make_move_iterator(part->begin()), std::make_move_iterator(part->end()));
  program.module.functions.push_back(std::move(function));
}

}  // namespace strew::inline v0::pto
