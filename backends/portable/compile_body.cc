// See compile_body.h. Steps are first made with as many columns as there are values; then columns whose value has been used are used again.
#include "backends/portable/compile_body.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "compiler/op/expr_math.h"

namespace strew::inline v0::portable {

uint8_t log2_per_byte(DType dtype) { return bits(dtype) == 4 ? 1 : bits(dtype) == 2 ? 2 : 0; }
int64_t place_unit(DType dtype) { return std::max(1, bits(dtype) / 8); }

namespace {

/// Bytes of an element in a column.
uint8_t column_width(DType dtype) { return static_cast<uint8_t>(std::max(1, bits(dtype) / 8)); }
size_t log2_of(int bytes) { return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(bytes))); }

bool is_narrow(DType dtype) { return is_float(dtype) && bits(dtype) <= 16; }
bool is_nibble(DType dtype) { return dtype == DType::i4 || dtype == DType::u4; }

/// The type that operators on a dtype compute in.
Base base_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return Base::boolean;
    case DType::i4:
    case DType::i8:
      return Base::i8;
    case DType::u4:
    case DType::u8:
      return Base::u8;
    case DType::i16:
      return Base::i16;
    case DType::u16:
      return Base::u16;
    case DType::i32:
      return Base::i32;
    case DType::u32:
      return Base::u32;
    case DType::i64:
      return Base::i64;
    case DType::u64:
      return Base::u64;
    case DType::f64:
      return Base::f64;
    case DType::complex64:
      return Base::c64;
    case DType::complex128:
      return Base::c128;
    case DType::f32:
    case STREW_EACH_DTYPE(SMALL_FLOAT):
    case STREW_EACH_DTYPE(HALF_FLOAT):
      return Base::f32;
    case DType::i2:
    case DType::u2:
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return Base::f32;  // only moved
}
uint8_t base_width(Base base) {
  constexpr uint8_t kWidths[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16};
  return kWidths[static_cast<size_t>(base)];
}
DType part_of(DType dtype) { return dtype == DType::complex64 ? DType::f32 : DType::f64; }

bool commutes(ExprOp op) {
  return op == ExprOp::add || op == ExprOp::mul || op == ExprOp::min || op == ExprOp::max || op == ExprOp::bit_and ||
         op == ExprOp::bit_or || op == ExprOp::bit_xor;
}

using lowered::Operand;

class Compiler {
 public:
  Compiler(const Expr& graph, const lowered::Body& body, const Plan& plan, const Loops& table, std::vector<Slot> slots)
      : graph_(graph), r_(body), plan_(plan), table_(table), values_(graph.nodes.size()) {
    body_.slots = std::move(slots);
    for (const int result : r_.results) slot_of(result);
  }

  /// A row-local value: the body evaluates an element of it into the column of its only output, which has no loop.
  Body run_value(int least_lanes) {
    const int32_t result = graph_.results[0];
    value(result).wanted = true;
    want_arguments();
    emit_wanted();
    Output output;
    output.column = storage(result);
    output.bytes = column_width(graph_.result().dtype);
    body_.outputs.push_back(output);
    assign_columns();
    body_.lanes = std::max<int64_t>(body_.lanes / least_lanes * least_lanes, least_lanes);
    return std::move(body_);
  }

  Body run() {
    choose_outputs();
    want_arguments();
    emit_wanted();
    for (size_t i = 0; i < body_.outputs.size(); ++i)
      if (sources_[i] >= 0) body_.outputs[i].column = storage(sources_[i]);
    assign_columns();
    return std::move(body_);
  }

 private:
  struct Value {
    int32_t storage = -1, compute = -1;  // columns
    bool wanted = false;                 // a step makes it
    bool reads_results = false;
  };

  const std::vector<ExprNode>& nodes() const { return graph_.nodes; }
  const ExprNode& node(int32_t n) const { return nodes()[static_cast<size_t>(n)]; }
  Value& value(int32_t n) { return values_[static_cast<size_t>(n)]; }
  DType tensor_dtype(int tensor) const { return plan_.tensors[static_cast<size_t>(tensor)].dtype; }
  void want_arguments() {
    for (size_t n = nodes().size(); n-- > 0;)
      if (values_[n].wanted)
        for (const int32_t arg : nodes()[n].args) value(arg).wanted = true;
  }
  void emit_wanted() {
    for (size_t n = 0; n < nodes().size(); ++n)
      if (values_[n].wanted) emit(static_cast<int32_t>(n));
  }

  int32_t slot_of(int tensor, bool is_scratch = false) {
    for (size_t i = 0; i < body_.slots.size(); ++i)
      if (body_.slots[i].tensor == tensor && body_.slots[i].is_scratch == is_scratch) return static_cast<int32_t>(i);
    const DType dtype = tensor_dtype(tensor);
    body_.slots.push_back({tensor, log2_per_byte(dtype), static_cast<uint8_t>(bits(dtype)), is_scratch,
                           plan_.tensors[static_cast<size_t>(tensor)].source});
    return static_cast<int32_t>(body_.slots.size()) - 1;
  }
  const Operand& operand(const ExprNode& n) const { return r_.input(n.op, n.index); }
  int32_t input_slot(const ExprNode& n) { return slot_of(operand(n).number, operand(n).is(Operand::Kind::table)); }
  /// Is the node a constant? Then returns it.
  const Scalar* constant_of(int32_t n) const {
    const ExprNode& at = node(n);
    if (at.op == ExprOp::literal) return &at.value;
    return is_input(at.op) && operand(at).is(Operand::Kind::constant) ? &operand(at).value : nullptr;
  }
  bool is_in_slot(int32_t n) const {
    return is_input(node(n).op) && (operand(node(n)).is(Operand::Kind::tensor) || operand(node(n)).is(Operand::Kind::table));
  }
  bool reads_result(const ExprNode& n) const {
    return is_input(n.op) && operand(n).is(Operand::Kind::tensor) &&
           std::find(r_.results.begin(), r_.results.end(), operand(n).number) != r_.results.end();
  }

  /// Result i as a loop over rows that needs no column but that of a value without results. Null: there is none. `source`: the value's node.
  RowsLoop combiner_of(size_t i, int32_t& source) {
    const int32_t result = graph_.results[i];
    const ExprNode& root = node(result);
    if (!value(result).reads_results) {
      source = result;
      return mover(root.dtype, result);
    }
    if (root.args.size() != 2) return nullptr;
    const auto is_current = [&](int32_t n) { return node(n).op == ExprOp::current && node(n).index == static_cast<int32_t>(i); };
    const bool swapped = !is_current(root.args[0]);
    if (swapped && !(commutes(root.op) && is_current(root.args[1]))) return nullptr;
    source = root.args[swapped ? 0 : 1];
    if (value(source).reads_results) return nullptr;
    return table_.combine[static_cast<size_t>(root.dtype)][static_cast<size_t>(root.op)];
  }
  /// The loop that moves elements of a dtype to a result from their slot, or, of a packed dtype, from a byte per element.
  RowsLoop mover(DType dtype, int32_t n) const {
    const bool is_slot = is_in_slot(n);
    if (bits(dtype) == 4) return is_slot ? table_.move4 : table_.pack4;
    if (bits(dtype) == 2) return is_slot ? table_.move2 : table_.pack2;
    return table_.move[log2_of(bits(dtype) / 8)];
  }

  void choose_outputs() {
    for (size_t n = 0; n < nodes().size(); ++n) {
      Value& v = values_[n];
      v.reads_results = reads_result(nodes()[n]);
      for (const int32_t arg : nodes()[n].args) v.reads_results |= value(arg).reads_results;
    }
    for (size_t i = 0; i < r_.results.size(); ++i) {
      int32_t source = -1;
      Output output;
      output.to = slot_of(r_.results[i]);
      output.loop = combiner_of(i, source);
      if (output.loop == nullptr) body_.reads_results = true;
      body_.outputs.push_back(output);
      sources_.push_back(source);
    }
    for (size_t i = 0; i < body_.outputs.size(); ++i) choose_source(i);
  }

  /// Sets where output i takes its value from. If some output reads results in another way than a combiner does, all are stored from columns.
  void choose_source(size_t i) {
    Output& output = body_.outputs[i];
    const DType dtype = tensor_dtype(r_.results[i]);
    if (is_narrow(dtype)) output.format = &small_float(dtype);
    output.bytes = column_width(dtype);
    if (body_.reads_results) {
      output.from = -1;
      sources_[i] = graph_.results[i];
      output.loop = bits(dtype) == 4 ? table_.pack4 : bits(dtype) == 2 ? table_.pack2 : table_.move[log2_of(bits(dtype) / 8)];
      value(sources_[i]).wanted = true;
      return;
    }
    const int32_t source = sources_[i];
    const bool combines = source != graph_.results[i];
    const Scalar* const constant = constant_of(source);
    // A combiner of a packed dtype reads packed elements, which a column does not hold.
    if (bits(dtype) == 4 && combines && !is_in_slot(source)) {
      body_.reads_results = true;
      for (size_t before = 0; before <= i; ++before) choose_source(before);
      return;
    }
    if (constant != nullptr) {
      output.value = *constant;
      sources_[i] = -1;
    } else if (is_in_slot(source)) {
      output.from = input_slot(node(source));
      sources_[i] = -1;
    } else {
      value(source).wanted = true;
    }
  }

  // --- Steps. Columns are virtual until assign_columns().

  int32_t new_column(uint8_t width) {
    widths_.push_back(width);
    return static_cast<int32_t>(widths_.size()) - 1;
  }
  int32_t add(StepLoop loop, uint8_t width, int32_t a, int32_t b = -1, int32_t c = -1, const void* extra = nullptr,
              int32_t times = 1) {
    Step step;
    step.loop = loop;
    step.out = new_column(width);
    step.a = a;
    step.b = b;
    step.c = c;
    step.extra = extra;
    step.times = times;
    body_.steps.push_back(step);
    return step.out;
  }

  int32_t storage(int32_t n) {
    Value& v = value(n);
    if (v.storage < 0) v.storage = encode(node(n).dtype, v.compute);
    return v.storage;
  }
  int32_t compute(int32_t n) {
    Value& v = value(n);
    if (v.compute < 0) v.compute = decode(node(n).dtype, v.storage);
    return v.compute;
  }
  int32_t decode(DType dtype, int32_t code) {
    if (dtype == DType::i4) return add(table_.extend4, 1, code);
    if (!is_narrow(dtype)) return code;
    const StepLoop loop = dtype == DType::bf16 ? table_.decode_bf16 : dtype == DType::f16 ? table_.decode_f16 : table_.decode8;
    return add(loop, sizeof(float), code, -1, -1, &small_float(dtype));
  }
  /// The codes of what an operator has computed.
  int32_t encode(DType dtype, int32_t number) {
    if (is_nibble(dtype)) return add(table_.mask4, 1, number);
    if (!is_narrow(dtype)) return number;
    const StepLoop loop = dtype == DType::bf16 ? table_.encode_bf16 : dtype == DType::f16 ? table_.encode_f16 : table_.encode8;
    return add(loop, column_width(dtype), number, -1, -1, &small_float(dtype));
  }
  /// Sets a node's value to what an operator has computed, rounded to the node's dtype.
  void set_computed(int32_t n, int32_t column) {
    const DType dtype = node(n).dtype;
    if (is_narrow(dtype) || is_nibble(dtype))
      value(n).storage = encode(dtype, column);
    else
      value(n).storage = value(n).compute = column;
  }
  void set_storage(int32_t n, int32_t column) { value(n).storage = column; }

  void emit(int32_t n) {
    const ExprNode& at = node(n);
    if (const Scalar* const constant = constant_of(n)) {
      const int32_t column = new_column(column_width(at.dtype));
      body_.literals.push_back({column, column_width(at.dtype), *constant});
      return set_storage(n, column);
    }
    switch (at.op) {
      case ExprOp::current:
      case ExprOp::update:
      case ExprOp::extra:
        return load(n);
      case ExprOp::convert:
        return convert(n);
      case ExprOp::bitcast:
        return set_storage(n, storage(at.args[0]));
      case ExprOp::select: {
        const uint8_t width = column_width(at.dtype);
        const int32_t then = storage(at.args[1]), otherwise = storage(at.args[2]);
        return set_storage(n, add(table_.select[log2_of(width)], width, compute(at.args[0]), then, otherwise));
      }
      case ExprOp::literal:  // above
        return;
      case STREW_EACH_OP(BINARY):
      case STREW_EACH_OP(UNARY):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(COMPARE):
      case STREW_EACH_OP(TERNARY_MATH):
        return operate(n);
    }
  }

  void load(int32_t n) {
    const DType dtype = node(n).dtype;
    if (operand(node(n)).is(Operand::Kind::local)) {
      body_.locals.push_back({new_column(column_width(dtype)), column_width(dtype), operand(node(n)).number});
      return set_storage(n, body_.locals.back().out);
    }
    Step step;
    step.slot = input_slot(node(n));
    step.bytes = column_width(dtype);
    step.load = bits(dtype) == 4 ? table_.unpack4 : table_.move[log2_of(step.bytes)];
    step.out = new_column(step.bytes);
    body_.steps.push_back(step);
    set_storage(n, step.out);
  }

  void convert(int32_t n) {
    const int32_t arg = node(n).args[0];
    const DType from = node(arg).dtype, to = node(n).dtype;
    if (from == to) return set_storage(n, storage(arg));
    if (!is_complex(to)) return set_converted(n, from, to, compute(arg));
    const DType part = part_of(to);
    if (is_complex(from)) {
      const auto a = static_cast<size_t>(base_of(part_of(from))), b = static_cast<size_t>(base_of(part));
      return set_computed(n, add(table_.convert[a][b], column_width(to), compute(arg), -1, -1, nullptr, 2));
    }
    const int32_t re = from == part ? compute(arg)
                                    : add(table_.convert[static_cast<size_t>(base_of(from))][static_cast<size_t>(base_of(part))],
                                          column_width(part), compute(arg));
    set_computed(n,
                 add(table_.op[static_cast<size_t>(base_of(part))][static_cast<size_t>(ExprOp::complex)], column_width(to), re));
  }

  void set_converted(int32_t n, DType from, DType to, int32_t number) {
    const Base a = base_of(from), b = base_of(to);
    const auto& narrow = table_.convert4[static_cast<size_t>(a)];
    if (is_nibble(to))
      return set_storage(n, add(narrow[static_cast<size_t>(to == DType::i4 ? Target4::i4 : Target4::u4)], 1, number));
    if (is_narrow(to)) {
      const int32_t odd = a == Base::f32 ? number : add(narrow[static_cast<size_t>(Target4::odd_f32)], sizeof(float), number);
      return set_storage(n, encode(to, odd));
    }
    const int32_t column =
        a == b ? number : add(table_.convert[static_cast<size_t>(a)][static_cast<size_t>(b)], base_width(b), number);
    set_computed(n, column);
  }

  /// Operators whose dtype of 4 bits needs more than computing in 8 bits and cutting.
  bool operate_on_nibbles(int32_t n) {
    const ExprNode& at = node(n);
    const DType dtype = node(at.args[0]).dtype;
    if (!is_nibble(dtype)) return false;
    const auto op = static_cast<size_t>(at.op);
    const int32_t code = storage(at.args[0]);
    switch (at.op) {
      case ExprOp::count_leading_zeros:
        set_storage(n, add(table_.clz4, 1, code));
        return true;
      case ExprOp::popcnt:
        set_storage(n, add(table_.op[static_cast<size_t>(Base::u8)][op], 1, code));
        return true;
      case ExprOp::shift_left:
      case ExprOp::shift_right_logical:
        set_storage(n, encode(dtype, add(table_.op[static_cast<size_t>(Base::u8)][op], 1, code, storage(at.args[1]))));
        return true;
      case ExprOp::shift_right_arithmetic: {
        const int32_t extended = add(table_.extend4, 1, code);
        set_storage(n, encode(dtype, add(table_.op[static_cast<size_t>(Base::i8)][op], 1, extended, storage(at.args[1]))));
        return true;
      }
      case STREW_EACH_OP(BINARY_NUMBER):
      case STREW_EACH_OP(BINARY_BITS):
      case STREW_EACH_OP(UNARY_NUMBER):
      case STREW_EACH_OP(UNARY_BITS):
      case STREW_EACH_OP(COMPARE):
        return false;
      case STREW_EACH_OP(INPUT):  // not of integers, or not here
      case STREW_EACH_OP(CAST):
      case STREW_EACH_OP(BINARY_MATH):
      case STREW_EACH_OP(UNARY_FLOAT):
      case STREW_EACH_OP(UNARY_MATH):
      case STREW_EACH_OP(COMPLEX):
      case STREW_EACH_OP(TEST):
      case STREW_EACH_OP(SELECT):
      case STREW_EACH_OP(TERNARY_MATH):
        break;
    }
    return false;
  }

  void operate(int32_t n) {
    const ExprNode& at = node(n);
    if (operate_on_nibbles(n)) return;
    const auto base = static_cast<size_t>(base_of(node(at.args[0]).dtype)), op = static_cast<size_t>(at.op);
    const auto arg = [&](size_t i) { return i < at.args.size() ? compute(at.args[i]) : -1; };
    const int32_t a = arg(0), b = arg(1), c = arg(2);
    const void* function = nullptr;
    StepLoop loop = table_.op[base][op];
    if (loop == nullptr) {
      loop = table_.math[base][op];
      const MathFunction* const row = find_math_function(at.op);
      function = static_cast<Base>(base) == Base::f32 ? row->address_f32() : row->address_f64();
    }
    const bool gives_bool = info(at.op).result == ExprResult::boolean;
    const uint8_t width = gives_bool ? uint8_t{1} : base_width(base_of(at.dtype));
    set_computed(n, add(loop, width, a, b, c, function));
  }

  // --- Columns.

  /// Gives every virtual column a place: its first byte, per element of the block.
  void assign_columns() {
    std::vector<size_t> last(widths_.size(), 0);
    const auto use = [&](int32_t column, size_t at) {
      if (column >= 0) last[static_cast<size_t>(column)] = at;
    };
    const size_t end = body_.steps.size();
    for (size_t s = 0; s < end; ++s)
      for (const int32_t column : {body_.steps[s].out, body_.steps[s].a, body_.steps[s].b, body_.steps[s].c}) use(column, s);
    for (const Literal& literal : body_.literals) use(literal.out, end);
    for (const LocalColumn& local : body_.locals) use(local.out, end);
    for (const Output& output : body_.outputs) use(output.column, end);
    std::vector<int32_t> places(widths_.size(), -1);
    std::array<std::vector<int32_t>, 5> free;
    // From the widest to the narrowest, so that every column is aligned; each width has places of its own.
    std::array<int32_t, 5> count{};
    const auto assign = [&](int32_t column) {
      const size_t width = log2_of(widths_[static_cast<size_t>(column)]);
      int32_t& place = places[static_cast<size_t>(column)];
      if (free[width].empty()) {
        place = count[width]++;
      } else {
        place = free[width].back();
        free[width].pop_back();
      }
    };
    for (const Literal& literal : body_.literals) assign(literal.out);
    for (const LocalColumn& local : body_.locals) assign(local.out);
    for (size_t s = 0; s < end; ++s) {
      const Step& step = body_.steps[s];
      assign(step.out);
      for (const int32_t column : {step.a, step.b, step.c}) {
        if (column < 0 || last[static_cast<size_t>(column)] != s) continue;
        last[static_cast<size_t>(column)] = end + 1;  // an argument that is given twice is free once
        free[log2_of(widths_[static_cast<size_t>(column)])].push_back(places[static_cast<size_t>(column)]);
      }
      if (last[static_cast<size_t>(step.out)] == s)
        free[log2_of(widths_[static_cast<size_t>(step.out)])].push_back(places[static_cast<size_t>(step.out)]);
    }
    std::array<int32_t, 5> first{};
    int32_t bytes = 0;
    for (size_t width = 5; width-- > 0;) {
      first[width] = bytes;
      bytes += count[width] << width;
    }
    const auto resolve = [&](int32_t& column) {
      if (column < 0) return;
      const size_t width = log2_of(widths_[static_cast<size_t>(column)]);
      column = first[width] + (places[static_cast<size_t>(column)] << width);
    };
    for (Literal& literal : body_.literals) resolve(literal.out);
    for (LocalColumn& local : body_.locals) resolve(local.out);
    for (Step& step : body_.steps)
      for (int32_t* const column : {&step.out, &step.a, &step.b, &step.c}) resolve(*column);
    for (Output& output : body_.outputs) resolve(output.column);
    body_.column_bytes = bytes;
    if (bytes > 0) body_.lanes = lanes_of(bytes);
  }

  /// Elements of a block: few enough for the first-level cache, in whole vectors.
  static int64_t lanes_of(int64_t column_bytes) {
    constexpr int64_t kBlockBytes = 16 << 10, kMostLanes = 512, kVector = 16;
    const int64_t lanes = std::clamp<int64_t>(kBlockBytes / column_bytes, 1, kMostLanes);
    return lanes < kVector ? lanes : lanes / kVector * kVector;
  }

  const Expr& graph_;
  const lowered::Body& r_;
  const Plan& plan_;
  const Loops& table_;
  Body body_;
  std::vector<Value> values_;
  std::vector<int32_t> sources_;  // per output, the node whose column it reads; -1: none
  std::vector<uint8_t> widths_;   // per virtual column
};

}  // namespace

Body compile_body(const lowered::Body& body, const Plan& plan, const Loops& table, std::vector<Slot> slots) {
  std::vector<RowFold> folds;
  for (const RowLocal* local : body.locals) {
    RowFold& fold = folds.emplace_back();
    fold.value = Compiler(local->value, body, plan, table, std::move(slots)).run_value(local->lanes);
    slots = fold.value.slots;
    const DType dtype = local->value.result().dtype;
    fold.loop = table.combine[static_cast<size_t>(dtype)][static_cast<size_t>(local->fold)];
    if (is_narrow(dtype)) fold.format = &small_float(dtype);
    fold.initial = local->initial;
    fold.lanes = local->lanes;
  }
  Body made = Compiler(*body.graph, body, plan, table, std::move(slots)).run();
  made.folds = std::move(folds);
  return made;
}

}  // namespace strew::inline v0::portable
