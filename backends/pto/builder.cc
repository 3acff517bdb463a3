// See builder.h. Arithmetic that does not fold is appended where the caller asks for it; nothing hoists it out of
// loops, so callers compute loop-invariant numbers outside. Constants are named after their value (%c16, %c16_i32) and
// stand in the order of their first use. Tested by tests/golden/pto_program_test.cc.
#include "backends/pto/builder.h"

#include <algorithm>
#include <cmath>

#include "base/partial_switch.h"
#include "base/units.h"
#include "compiler/pto/instructions.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kRowBytes = 32;

int64_t known_or(const Number& number, int64_t otherwise) { return number.value.value_or(otherwise); }

Type view_type(TypeKind kind, const Type& like, std::vector<int64_t> dims) {
  Type type;
  type.kind = kind;
  type.element = like.element;
  type.dims = std::move(dims);
  return type;
}

}  // namespace

ProgramBuilder::ProgramBuilder(Chip chip, int cores) : chip_(chip), cores_planned_(cores) {}

void ProgramBuilder::pointer(const std::string& name, Element element) {
  Type type;
  type.kind = TypeKind::ptr;
  type.element = element;
  arguments_.push_back({name, type, {}});
  types_[name] = type;
  names_.insert(name);
}

void ProgramBuilder::scalar(const std::string& name) {
  const Type type = make_scalar(DType::i32);
  arguments_.push_back({name, type, {}});
  types_[name] = type;
  names_.insert(name);
}

std::string ProgramBuilder::fresh(const std::string& hint) {
  std::string name = hint;
  if (names_.insert(name).second) return name;
  // Names are never freed, so the search continues where the last one ended: a large expression uses one hint thousands
  // of times.
  int& next = next_number_.try_emplace(hint, 2).first->second;
  do name = hint + "_" + std::to_string(next++);
  while (!names_.insert(name).second);
  return name;
}

Statement& ProgramBuilder::append(Statement s) {
  s.note.text = std::move(note_);
  note_.clear();
  if (!s.result.empty()) types_[s.result] = s.type;
  account(s);
  into_->push_back(std::move(s));
  return into_->back();
}

std::string ProgramBuilder::constant_name(const std::string& name, Type type, int64_t value) {
  if (types_.contains(name)) return name;
  Statement s;
  s.opcode = Opcode::constant;
  s.result = name;
  s.type = std::move(type);
  s.value = value;
  types_[name] = s.type;
  names_.insert(name);
  constants_.push_back(std::move(s));
  return name;
}

std::string ProgramBuilder::use(const Number& number) {
  if (!number.value) return number.name;
  const int64_t v = *number.value;
  return constant_name(v < 0 ? "cm" + std::to_string(v).substr(1) : "c" + std::to_string(v), make_index(), v);
}

Named ProgramBuilder::constant(Element element, int64_t value) {
  Type type;
  type.kind = TypeKind::scalar;
  type.element = element;
  const std::string digits = value < 0 ? "m" + std::to_string(value).substr(1) : std::to_string(value);
  const bool floating = is_float(element.dtype);
  // ptoas reads finite float constants only, so an infinity or a NaN is a bitcast of an integer constant.
  const int mantissa = info(element.dtype).mantissa_bits, exponent = info(element.dtype).exponent_bits;
  const int64_t top = ((int64_t{1} << exponent) - 1) << mantissa;
  if (floating && (value & top) == top) {
    Number& known = casts_["bits" + digits + "_" + print(element)];
    const DType word = strew::bits(element.dtype) == 16 ? DType::i16 : DType::i32;
    const int shift = 64 - strew::bits(element.dtype);
    const int64_t as_signed = static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
    if (known.name.empty()) {
      const Named from = constant({word, false}, as_signed);
      at_head([&] { known.name = give(Opcode::bitcast, "value_" + print(element), type, {from.name}).name; });
    }
    return {known.name, type};
  }
  return {constant_name((floating ? "bits" : "c") + digits + "_" + print(element), type, value), type};
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

Number ProgramBuilder::argument(const std::string& scalar) {
  Number& known = casts_[scalar];
  if (known.name.empty()) at_head([&] { known.name = give(Opcode::index_cast, scalar + "_index", make_index(), {scalar}).name; });
  return known;
}

Number ProgramBuilder::launch_number(const char* known, Opcode opcode, const char* hint) {
  if (one_core_) return number(opcode == Opcode::get_block_idx ? 0 : 1);
  Number& out = casts_[known];
  if (!out.name.empty()) return out;
  at_head([&] {
    const Named wide = give(opcode, std::string(hint) + "_i64", make_scalar(DType::i64), {});
    out.name = give(Opcode::index_cast, hint, make_index(), {wide.name}).name;
  });
  return out;
}

Number ProgramBuilder::core() { return launch_number("@core", Opcode::get_block_idx, "core"); }
Number ProgramBuilder::cores() { return launch_number("@cores", Opcode::get_block_num, "cores"); }

void ProgramBuilder::at_head(const std::function<void()>& body) {
  std::vector<Statement>* const outer = into_;
  std::string note = std::move(note_);
  note_.clear();
  into_ = &head_;
  body();
  into_ = outer;
  note_ = std::move(note);
}

Named ProgramBuilder::compare(const char* predicate, const Number& a, const Number& b) {
  const std::string left = use(a), right = use(b);
  return give(Opcode::cmpi, "more", make_scalar(DType::boolean), {left, right}, {{"predicate", predicate}});
}
Named ProgramBuilder::less(const Number& a, const Number& b) { return compare("slt", a, b); }
Named ProgramBuilder::equal(const Number& a, const Number& b) { return compare("eq", a, b); }

void ProgramBuilder::when(const Named& condition, const std::function<void()>& body) {
  Statement s;
  s.opcode = Opcode::branch;
  s.operands = {{condition.name}};
  s.note.text = std::move(note_);
  note_.clear();
  std::vector<Statement>* const outer = into_;
  const auto narrow = narrow_;
  std::vector<Statement> inner;
  into_ = &inner;
  body();
  into_ = outer;
  narrow_ = narrow;
  s.body = std::move(inner);
  into_->push_back(std::move(s));
}

Number ProgramBuilder::binary(Opcode opcode, const Number& a, const Number& b, const char* hint) {
  const std::string left = use(a), right = use(b);
  return {give(opcode, hint, make_index(), {left, right}).name, {}};
}

Number ProgramBuilder::add(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(*a.value + *b.value);
  if (a.is(0)) return b;
  return b.is(0) ? a : binary(Opcode::addi, a, b, hint);
}
Number ProgramBuilder::sub(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(*a.value - *b.value);
  return b.is(0) ? a : binary(Opcode::subi, a, b, hint);
}
Number ProgramBuilder::mul(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(*a.value * *b.value);
  if (a.is(0) || b.is(0)) return number(0);
  if (a.is(1)) return b;
  return b.is(1) ? a : binary(Opcode::muli, a, b, hint);
}
Number ProgramBuilder::min(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(std::min(*a.value, *b.value));
  return binary(Opcode::minsi, a, b, hint);
}
Number ProgramBuilder::max(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(std::max(*a.value, *b.value));
  return binary(Opcode::maxsi, a, b, hint);
}
Number ProgramBuilder::ceil_div(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) {
    const int64_t quotient = *a.value / *b.value;
    return number(quotient + (*a.value % *b.value > 0 ? 1 : 0));
  }
  return b.is(1) ? a : binary(Opcode::ceildivsi, a, b, hint);
}
Number ProgramBuilder::divide(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(*a.value / *b.value);
  return b.is(1) ? a : binary(Opcode::divsi, a, b, hint);
}
Number ProgramBuilder::remainder(const Number& a, const Number& b, const char* hint) {
  if (a.value && b.value) return number(*a.value % *b.value);
  return b.is(1) ? number(0) : binary(Opcode::remsi, a, b, hint);
}

Named ProgramBuilder::view(const std::string& hint, const std::string& pointer, const Number& rows, const Number& cols,
                           const Number& row_stride) {
  Statement s;
  s.opcode = Opcode::make_tensor_view;
  s.operands = {{pointer}, {use(rows), use(cols)}, {use(row_stride), use(number(1))}};
  s.attributes = {{"layout", "nd"}};
  s.type = view_type(TypeKind::tensor_view, types_.at(pointer), {kDynamic, kDynamic});
  s.result = fresh(hint);
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
}

Named ProgramBuilder::part(const std::string& hint, const Named& view, const Number& row, const Number& col, const Number& rows,
                           const Number& cols) {
  Statement s;
  s.opcode = Opcode::partition_view;
  s.operands = {{view.name}, {use(row), use(col)}, {use(rows), use(cols)}};
  s.type = view_type(TypeKind::partition_view, view.type, {known_or(rows, kDynamic), known_or(cols, kDynamic)});
  s.result = fresh(hint);
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
}

Named ProgramBuilder::column_view(const std::string& hint, const std::string& pointer, const Number& count) {
  Statement s;
  s.opcode = Opcode::make_tensor_view;
  s.operands = {{pointer}, {use(count), use(number(1))}, {use(number(1)), use(count)}};
  s.attributes = {{"layout", "dn"}};
  s.type = view_type(TypeKind::tensor_view, types_.at(pointer), {kDynamic, kDynamic});
  s.result = fresh(hint);
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
}

Named ProgramBuilder::fractal_view(const std::string& hint, const std::string& pointer, const Number& rows, int64_t cols,
                                   int64_t fractal) {
  const int64_t across = cols / fractal;
  const Number height = mul(rows, number(fractal), "block_col"), one = number(1);
  Statement s;
  s.opcode = Opcode::make_tensor_view;
  s.operands = {{pointer},
                {use(one), use(number(across)), use(divide(rows, number(kFractalRows), "blocks")), use(number(kFractalRows)),
                 use(number(fractal))},
                {use(mul(height, number(across), "all")), use(height), use(number(kFractalRows * fractal)), use(number(fractal)),
                 use(one)}};
  s.attributes = {{"layout", "nz"}};
  s.type = view_type(TypeKind::tensor_view, types_.at(pointer), std::vector<int64_t>(5, kDynamic));
  s.result = fresh(hint);
  fractals_[s.result] = {across, fractal};
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
}

Named ProgramBuilder::fractal_part(const std::string& hint, const Named& view, const Number& row, const Number& rows) {
  const auto& [across, fractal] = fractals_.at(view.name);
  const Number blocks = divide(rows, number(kFractalRows), "blocks"), first = divide(row, number(kFractalRows), "block");
  Statement s;
  s.opcode = Opcode::partition_view;
  const std::string zero = use(number(0));
  s.operands = {{view.name},
                {zero, zero, use(first), zero, zero},
                {use(number(1)), use(number(across)), use(blocks), use(number(kFractalRows)), use(number(fractal))}};
  s.type = view_type(TypeKind::partition_view, view.type, {1, across, known_or(blocks, kDynamic), kFractalRows, fractal});
  s.result = fresh(hint);
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
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

Named ProgramBuilder::fractal_tile(const std::string& hint, Element element, int64_t rows, int64_t cols,
                                   const Number& valid_rows) {
  Type type = make_tile(element, rows, cols);
  type.tile.blayout = "col_major";
  type.tile.slayout = "row_major";
  return allocate(hint, std::move(type), valid_rows, number(cols));
}

Named ProgramBuilder::l1_tile(const std::string& hint, Element element, int64_t rows, int64_t cols, const Number& valid_rows) {
  cube_ = true;
  Type type = make_tile(element, rows, cols);
  type.tile.location = "mat";
  type.tile.blayout = "col_major";
  type.tile.slayout = "row_major";
  return allocate(hint, std::move(type), valid_rows, number(cols));
}

Named ProgramBuilder::allocate(const std::string& hint, Type type, const Number& valid_rows, const Number& valid_cols) {
  Statement s;
  s.opcode = Opcode::alloc_tile;
  s.type = std::move(type);
  s.type.tile.valid = {known_or(valid_rows, kDynamic), known_or(valid_cols, kDynamic)};
  s.operands.resize(3);
  if (!valid_rows.value) s.operands[1] = {valid_rows.name};
  if (!valid_cols.value) s.operands[2] = {valid_cols.name};
  s.result = fresh(hint);
  if (!valid_cols.value) open_cols_[s.result] = valid_cols.name;
  const Named out{s.result, s.type};
  if (hoist_ && valid_rows.value && valid_cols.value) {
    types_[out.name] = out.type;
    hoisted_.push_back(std::move(s));
  } else {
    append(std::move(s));
  }
  return out;
}

void ProgramBuilder::count_up(const Named& tile, const Number& from) {
  if (chip_ != Chip::a3 || one_core_) return run(Opcode::tci, {i32(from).name, tile.name});
  // a3's TCI writes the numbers with scalar stores if it gets no scratch tile. ptoas passes one, strew's C++ does not,
  // so one name would mean two different things. A loop of scalar stores is the same work and means the same for both.
  const int64_t valid = tile.type.tile.valid[1];
  const auto found = open_cols_.find(tile.name);
  const Number count = valid == kDynamic ? Number{found->second, {}} : number(valid);
  loop("counted", number(0), count, number(1), static_cast<double>(tile.type.dims[1]), [&](const Number& at) {
    run(Opcode::tsetval, {tile.name, use(at), i32(add(from, at, "number")).name});
  });
}

void ProgramBuilder::load(const Named& part, const Named& tile) { run(Opcode::tload, {part.name, tile.name}); }
void ProgramBuilder::store(const Named& tile, const Named& part) { run(Opcode::tstore, {tile.name, part.name}); }

void ProgramBuilder::run(Opcode opcode, const std::vector<std::string>& operands, std::vector<Attribute> attributes) {
  Statement s;
  s.opcode = opcode;
  for (const std::string& operand : operands) s.operands.push_back({operand});
  s.attributes = std::move(attributes);
  append(std::move(s));
}

Named ProgramBuilder::give(Opcode opcode, const std::string& hint, Type type, const std::vector<std::string>& operands,
                           std::vector<Attribute> attributes) {
  Statement s;
  s.opcode = opcode;
  for (const std::string& operand : operands) s.operands.push_back({operand});
  s.attributes = std::move(attributes);
  s.type = std::move(type);
  s.result = fresh(hint);
  const Statement& made = append(std::move(s));
  return {made.result, made.type};
}

void ProgramBuilder::barrier() { run(Opcode::barrier, {}, {{"pipe", "PIPE_ALL"}}); }

void ProgramBuilder::loop(const std::string& hint, const Number& from, const Number& to, const Number& step, double trips,
                          const std::function<void(const Number&)>& body) {
  // One iteration needs no loop.
  if (from.value && to.value && step.value && *from.value < *to.value && *to.value - *from.value <= *step.value)
    return body(from);
  Statement s;
  s.opcode = Opcode::loop;
  s.operands = {{use(from)}, {use(to)}, {use(step)}};
  s.type = make_index();
  s.result = fresh(hint);
  s.note.text = std::move(note_);
  note_.clear();
  types_[s.result] = s.type;
  std::vector<Statement>* const outer = into_;
  const auto narrow = narrow_;
  const double outer_trips = trips_;
  trips_ *= trips;
  std::vector<Statement> inner;
  into_ = &inner;
  body({s.result, {}});
  into_ = outer;
  trips_ = outer_trips;
  narrow_ = narrow;
  s.body = std::move(inner);
  into_->push_back(std::move(s));
}

STREW_PARTIAL_SWITCHES

/// Adds a statement to the cost report: the bytes of its tiles' valid parts, times the iterations of the loops around
/// it.
void ProgramBuilder::account(const Statement& s) {
  const auto bytes = [&](const std::string& name) {
    const Type& type = types_.at(name);
    const int64_t rows = type.tile.valid[0] == kDynamic ? type.dims[0] : type.tile.valid[0];
    const int64_t cols = type.tile.valid[1] == kDynamic ? type.dims[1] : type.tile.valid[1];
    return trips_ * static_cast<double>(storage_bytes(type.element.dtype, rows * cols));
  };
  switch (s.opcode) {
    case Opcode::tload:
      loaded_ += bytes(s.operands[1][0]);
      break;
    case Opcode::tstore:
      stored_ += bytes(s.operands[0][0]);
      break;
    case Opcode::mscatter:
      scattered_ += bytes(s.operands[0][0]);
      break;
    case Opcode::mgather:
    case Opcode::gather_l1:
    case Opcode::gather_l1_elem:
      scattered_ += bytes(s.operands[2][0]);
      break;
    default:
      if (info(s.opcode).name.substr(0, 5) != "pto.t") return;
      break;
  }
  instructions_ += trips_;
}

STREW_END_PARTIAL_SWITCHES

void ProgramBuilder::finish(TileProgram& program, const std::string& kernel) {
  Function function;
  function.name = kernel;
  function.arguments = std::move(arguments_);
  function.entry = true;
  function.kernel_kind = cube_ ? "cube" : "vector";
  function.body = std::move(constants_);
  for (std::vector<Statement>* part : {&head_, &hoisted_, &body_})
    function.body.insert(function.body.end(), std::make_move_iterator(part->begin()), std::make_move_iterator(part->end()));
  program.module.chip = chip_;
  program.module.functions.push_back(std::move(function));
  program.kernel = kernel;
  program.chip = chip_;
  constexpr int64_t kMost = int64_t{1} << 53;  // extents may be as large as an index is, and the sum of these is a number, too
  const auto counted = [](double number) { return whole(std::round(number), kMost); };
  program.cost.loaded_bytes = counted(loaded_);
  program.cost.stored_bytes = counted(stored_);
  program.cost.scattered_bytes = counted(scattered_);
  program.cost.instructions = counted(instructions_);
}

}  // namespace strew::inline v0::pto
