// See compile_body.h. What is computed is lowered first (backends/lower), with all compounds as natives, and each node becomes a step. Steps are first
// made with as many columns as there are values; then columns whose value has been used are used again.
#include "backends/portable/compile_body.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "backends/lower/lower_numeric.h"
#include "compiler/op/expr_math.h"

namespace strew::inline v0::portable {

uint8_t log2_per_byte(DType dtype) { return bits(dtype) == 4 ? 1 : bits(dtype) == 2 ? 2 : 0; }
int64_t place_unit(DType dtype) { return std::max(1, bits(dtype) / 8); }

namespace {

using lowered::Machine, lowered::Operand, lowered::Primitive;

size_t log2_of(int bytes) { return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(bytes))); }
/// Bytes of a value in a column.
uint8_t column_width(Machine type) { return static_cast<uint8_t>((width(type) + 7) / 8); }

bool is_narrow(DType dtype) { return is_float(dtype) && bits(dtype) <= 16; }

bool commutes(ExprOp op) {
  return op == ExprOp::add || op == ExprOp::mul || op == ExprOp::min || op == ExprOp::max || op == ExprOp::bit_and ||
         op == ExprOp::bit_or || op == ExprOp::bit_xor;
}

class Compiler {
 public:
  Compiler(const Expr& graph, const lowered::Body& body, const Plan& plan, const Loops& table, std::vector<Slot> slots)
      : graph_(graph), r_(body), plan_(plan), table_(table) {
    body_.slots = std::move(slots);
    for (const int result : r_.results) slot_of(result);
  }

  /// A row-local value: the body evaluates an element of it into the column of its only output, which has no loop.
  Body run_value(int least_lanes) {
    columned_.push_back(graph_.results[0]);
    body_.outputs.emplace_back();
    emit();
    body_.lanes = std::max<int64_t>(body_.lanes / least_lanes * least_lanes, least_lanes);
    return std::move(body_);
  }

  Body run() {
    choose_outputs();
    emit();
    return std::move(body_);
  }

 private:
  const std::vector<ExprNode>& nodes() const { return graph_.nodes; }
  const ExprNode& node(int32_t n) const { return nodes()[static_cast<size_t>(n)]; }
  bool reads_results(int32_t n) const { return reads_results_[static_cast<size_t>(n)]; }
  DType tensor_dtype(int tensor) const { return plan_.tensors[static_cast<size_t>(tensor)].dtype; }
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
  bool is_in_slot(int32_t n) const { return is_input(node(n).op) && operand(node(n)).in_memory(); }
  bool reads_result(const ExprNode& n) const {
    return is_input(n.op) && operand(n).is(Operand::Kind::tensor) &&
           std::find(r_.results.begin(), r_.results.end(), operand(n).number) != r_.results.end();
  }

  /// Result i as a loop over rows that needs no column but that of a value without results. Null: there is none. `source`: the value's node.
  RowsLoop combiner_of(size_t i, int32_t& source) {
    const int32_t result = graph_.results[i];
    const ExprNode& root = node(result);
    if (!reads_results(result)) {
      source = result;
      return mover(root.dtype, result);
    }
    if (root.args.size() != 2) return nullptr;
    const auto is_current = [&](int32_t n) { return node(n).op == ExprOp::current && node(n).index == static_cast<int32_t>(i); };
    const bool swapped = !is_current(root.args[0]);
    if (swapped && !(commutes(root.op) && is_current(root.args[1]))) return nullptr;
    source = root.args[swapped ? 0 : 1];
    if (reads_results(source)) return nullptr;
    return table_.combine[static_cast<size_t>(root.dtype)][static_cast<size_t>(root.op)];
  }
  /// The loop that moves elements of a dtype to a result from their slot, or, of a packed dtype, from a byte per element.
  RowsLoop mover(DType dtype, int32_t n) const {
    const bool is_slot = is_in_slot(n);
    if (bits(dtype) == 4) return is_slot ? table_.move4 : table_.pack4;
    if (bits(dtype) == 2) return is_slot ? table_.move2 : table_.pack2;
    return table_.move[log2_of(bits(dtype) / 8)];
  }

  /// Can a combiner's loop take the node's value, which does not read results? It reads elements as they lie in memory; in a column, those of packed
  /// dtypes and of two numbers do not.
  bool can_combine(int32_t n) const {
    const DType dtype = node(n).dtype;
    if (is_in_slot(n)) return true;
    return bits(dtype) >= 8 && (constant_of(n) != nullptr || lowered::part_count(dtype) == 1);
  }

  void choose_outputs() {
    for (const ExprNode& n : nodes()) {
      bool reads = reads_result(n);
      for (const int32_t arg : n.args) reads |= reads_results(arg);
      reads_results_.push_back(reads);
    }
    bool needs_columns = false;
    for (size_t i = 0; i < r_.results.size(); ++i) {
      int32_t source = -1;
      Output& output = body_.outputs.emplace_back();
      output.to = slot_of(r_.results[i]);
      output.loop = combiner_of(i, source);
      columned_.push_back(source);
      needs_columns |= output.loop == nullptr || (source != graph_.results[i] && !can_combine(source));
    }
    // If some output reads results in another way than a combiner does, all are stored from columns.
    body_.reads_results = needs_columns;
    for (size_t i = 0; i < r_.results.size(); ++i) choose_source(i);
  }

  /// Sets where output i takes its value from.
  void choose_source(size_t i) {
    Output& output = body_.outputs[i];
    const DType dtype = tensor_dtype(r_.results[i]);
    if (is_narrow(dtype)) output.format = &small_float(dtype);
    output.bytes = static_cast<uint8_t>(std::max(1, bits(dtype) / 8));
    if (body_.reads_results) {
      columned_[i] = graph_.results[i];
      output.loop = nullptr;  // emit() chooses it
      return;
    }
    const int32_t source = columned_[i];
    const Scalar* const constant = constant_of(source);
    if (constant != nullptr) {
      output.value = *constant;
    } else if (is_in_slot(source)) {
      output.from = input_slot(node(source));
    } else {
      return;
    }
    columned_[i] = -1;
  }

  // --- Steps. Columns are virtual until assign_columns().

  int32_t new_column(uint8_t width) {
    widths_.push_back(width);
    return static_cast<int32_t>(widths_.size()) - 1;
  }
  /// Makes the steps for the values that outputs take from columns.
  void emit() {
    std::vector<int32_t> results;
    std::ranges::copy_if(columned_, std::back_inserter(results), [](int32_t n) { return n >= 0; });
    if (!results.empty()) emit(lower_numeric({graph_.nodes, results}, lowered::Natives::all()));
    assign_columns();
  }
  void emit(const lowered::Graph& graph) {
    std::vector<int32_t> columns;
    for (const lowered::Node& n : graph.nodes) {
      const auto arg = [&](size_t i) { return n.args[i] < 0 ? -1 : columns[static_cast<size_t>(n.args[i])]; };
      if (n.op == Primitive::bitcast)
        columns.push_back(arg(0));
      else if (n.op == Primitive::input)
        columns.push_back(load(graph.inputs[static_cast<size_t>(n.input)], n.part));
      else if (n.op == Primitive::constant)
        columns.push_back(fill(Scalar{DType::u64, {n.bits, 0}}, column_width(n.type)));
      else
        columns.push_back(add(n, graph.nodes[static_cast<size_t>(n.args[0])].type, {arg(0), arg(1), arg(2)}));
    }
    size_t next = 0;
    for (size_t i = 0; i < columned_.size(); ++i)
      if (columned_[i] >= 0) store(i, graph, graph.results[next++], columns);
  }

  int32_t add(const lowered::Node& n, Machine from, const std::array<int32_t, 3>& args) {
    Step step;
    step.loop = table_.step(n.op, from, n.type);
    step.out = new_column(column_width(n.type));
    step.a = args[0];
    step.b = args[1];
    step.c = args[2];
    if (n.op == Primitive::half_to_float || n.op == Primitive::float_to_half || n.op == Primitive::code_to_float ||
        n.op == Primitive::float_to_code)
      step.extra = &small_float(n.dtype);
    if (n.function != ExprOp::literal) {
      const MathFunction& row = *find_math_function(n.function);
      step.extra = from == Machine::f32 ? row.address_f32() : row.address_f64();
    }
    body_.steps.push_back(step);
    return step.out;
  }
  int32_t fill(const Scalar& value, uint8_t bytes) {
    body_.literals.push_back({new_column(bytes), bytes, value});
    return body_.literals.back().out;
  }

  /// A part of an input's elements.
  int32_t load(const lowered::Graph::Input& input, int part) {
    const Operand& from = r_.input(input.op, input.index);
    const DType dtype = input.dtype;
    const uint8_t bytes = column_width(lowered::part_type(dtype));
    if (from.is(Operand::Kind::local)) {
      body_.locals.push_back({new_column(bytes), bytes, from.number});
      return body_.locals.back().out;
    }
    if (from.is(Operand::Kind::constant)) {
      const auto& words = from.value.bits;
      return fill(Scalar{DType::u64, {part == 0 ? words[0] : bits(dtype) > 64 ? words[1] : words[0] >> (8 * bytes), 0}}, bytes);
    }
    Step step;
    step.slot = slot_of(from.number, from.is(Operand::Kind::table));
    step.offset = part * bytes;
    step.bytes = bytes;
    step.load = bits(dtype) == 4 ? table_.unpack4 : bits(dtype) == 2 ? table_.unpack2 : table_.move[log2_of(bytes)];
    step.out = new_column(bytes);
    body_.steps.push_back(step);
    return step.out;
  }

  /// Output i stores a value from its columns: a combiner's loop does, or moves, one for each part.
  void store(size_t i, const lowered::Graph& graph, const lowered::Graph::Result& result, const std::vector<int32_t>& columns) {
    std::vector<int32_t> parts;
    for (int part = 0; part < lowered::part_count(result.dtype); ++part)
      parts.push_back(result.moved >= 0 ? load(graph.inputs[static_cast<size_t>(result.moved)], part)
                                        : columns[static_cast<size_t>(result.parts[static_cast<size_t>(part)])]);
    body_.outputs[i].column = parts[0];
    if (body_.outputs[i].loop != nullptr && parts.size() == 1) return;
    const int width = bits(result.dtype);
    const uint8_t bytes = column_width(lowered::part_type(result.dtype));
    body_.outputs[i].bytes = bytes;
    body_.outputs[i].loop = width == 4 ? table_.pack4 : width == 2 ? table_.pack2 : table_.move[log2_of(bytes)];
    if (parts.size() == 1) return;
    Output second = body_.outputs[i];
    second.column = parts[1];
    second.offset = bytes;
    second_parts_.push_back(second);
  }

  // --- Columns.

  /// Gives every virtual column a place: its first byte, per element of the block.
  void assign_columns() {
    body_.outputs.insert(body_.outputs.end(), second_parts_.begin(), second_parts_.end());
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
  std::vector<bool> reads_results_;   // per node
  std::vector<int32_t> columned_;     // per output, the node whose value it takes from columns; -1: it takes none from there
  std::vector<Output> second_parts_;  // outputs of the second parts of elements of two
  std::vector<uint8_t> widths_;       // per virtual column
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
  made.once = body.once;
  return made;
}

}  // namespace strew::inline v0::portable
