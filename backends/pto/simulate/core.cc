// See core.h. Control flow, and the accesses to memory that all statements share. A scalar is kept as the bits
// of its type. Tested by tests/unit/backends/pto/simulate/pto_simulate_test.cc and tests/error/pto_simulate_error_test.cc.
#include "backends/pto/simulate/core.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/checked.h"
#include "base/partial_switch.h"
#include "compiler/pto/parser.h"
#include "compiler/pto/verify.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kPage = 1024;

/// The bytes of a core's vector buffer.
int64_t buffer_size(const Machine& machine) {
  const int64_t asked = machine.options.buffer_bytes;
  int64_t all = asked > 0 ? asked : safe_buffer_bytes(machine.chip());
  // The tiles of PTO-AS have no addresses, and each gets memory of its own here. The planner checks the size of the tiles that
  // are alive at the same time.
  if (machine.module.spelling == Spelling::as && asked == 0)
    for (const Statement& s : machine.function.body)
      if (s.type.kind == TypeKind::tile) all += storage_bytes(s.type.element.dtype, s.type.dims[0] * s.type.dims[1]) + 32;
  return all / 32 * 32;
}

}  // namespace

Core::Core(Machine& machine, int block, std::span<const SimulatedArgument> arguments)
    : machine_(machine),
      block_(block),
      check_sync_(machine.options.check_sync && machine.module.spelling == Spelling::ir),
      pipes_(machine.chip()),
      buffer_(buffer_size(machine)),
      l1_(machine.function.kernel_kind == "cube" ? l1_bytes() : 0),
      histories_(machine.memories.size()) {
  int memory = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = machine.function.arguments[i];
    Value& v = values_[a.name];
    v.type = &a.type;
    if (a.type.kind == TypeKind::index || a.type.kind == TypeKind::scalar) {
      v.code = cut(static_cast<uint64_t>(arguments[i].number), a.type);
      continue;
    }
    v.view.memory = memory++;
    v.view.shape = a.type.dims;
    int64_t known = 1;
    for (const int64_t dim : v.view.shape) known *= dim == kDynamic ? 1 : dim;
    for (int64_t& dim : v.view.shape)
      if (dim == kDynamic) dim = machine.memories[static_cast<size_t>(v.view.memory)].elements() / known;
    v.view.strides.assign(v.view.shape.size(), 1);
    for (size_t d = v.view.shape.size(); d-- > 1;) v.view.strides[d - 1] = v.view.strides[d] * v.view.shape[d];
  }
  enter(machine.function.body);
}

Status Core::fail(const Statement& s, const std::string& message) const {
  const std::string core = machine_.options.blocks > 1 ? " on core " + std::to_string(block_) : "";
  return error_at(s.at, std::string(name(s.opcode)) + core + ": " + message);
}

int64_t Core::number(const std::string& name) const {
  if (name[0] >= '0' && name[0] <= '9') return std::stoll(name);  // PTO-AS has literal indices
  const Value& v = value(name);
  return number_of(*v.type, v.code);
}

void Core::give(const Statement& s, uint64_t code) {
  Value& v = values_[s.result];
  v.type = &s.type;
  v.code = code;
}

/// Leaves bodies that have ended, and starts the next iteration of loops. Returns false at the end of the function.
bool Core::next_statement() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.next < frame.body->size()) return true;
    // Where upper - step does not fit, upper lies within a step of the least number, so the next value is beyond it.
    const std::optional<int64_t> last = checked::sub(frame.upper, frame.step);
    const bool again = frame.loop != nullptr && last && frame.value < *last;
    if (!again) {
      frames_.pop_back();
      continue;
    }
    frame.value += frame.step;
    frame.next = 0;
    give(*frame.loop, static_cast<uint64_t>(frame.value));
  }
  return false;
}

Expected<bool> Core::step() {
  ++report_.steps;
  report_.buffer_bytes = buffer_.used();
  report_.time = pipes_.time();
  report_.work = pipes_.work();
  if (scatter_) {
    STREW_TRY(scatter_some());
    return true;
  }
  if (!next_statement()) {
    if (check_sync_) STREW_TRY(pipes_.finish());
    return false;
  }
  Frame& frame = frames_.back();
  const Statement& s = (*frame.body)[frame.next++];
  STREW_TRY(run(s));
  return true;
}

Status Core::run(const Statement& s) {
  switch (info(s.opcode).form) {
    case Form::loop:
      return loop(s);
    case Form::branch:
      enter(value(s.operands[0][0]).code != 0 ? s.body : s.otherwise);
      return {};
    case Form::section:
      enter(s.body);
      return {};
    case Form::flags:
      if (!check_sync_) return {};
      return s.opcode == Opcode::set_flag ? pipes_.set(s) : pipes_.wait(s);
    case Form::barrier:
      return check_sync_ ? pipes_.barrier(s) : Status();
    case Form::view:
    case Form::partition:
      return view(s);
    case Form::alloc:
      return alloc(s);
    case Form::moves:
    case Form::as_only:
      return move(s);
    case Form::computes:
      if (!s.result.empty()) STREW_TRY(implicit_tile(s));
      return compute_tile(s);
    case Form::get:
    case Form::set:
      return tile_element(s);
    case Form::load:
    case Form::store:
      return memory_element(s);
    case Form::nullary:
      give(s, static_cast<uint64_t>(s.opcode == Opcode::get_block_idx ? block_ : machine_.options.blocks));
      return {};
    case Form::constant:
    case Form::cast:
    case Form::binary:
    case Form::compare:
    case Form::select:
      break;
  }
  std::array<Bits, 3> operands;
  for (size_t g = 0; g < s.operands.size(); ++g) operands[g] = {value(s.operands[g][0]).type, value(s.operands[g][0]).code};
  const Expected<uint64_t> result = evaluate(s, operands);
  if (!result.ok()) return fail(s, result.status().message());
  give(s, *result);
  return {};
}

STREW_PARTIAL_SWITCHES

Status Core::move(const Statement& s) {
  switch (s.opcode) {
    case Opcode::tload:
      return load(s, value(s.operands[0][0]).view, s.operands[1][0]);
    case Opcode::tstore:
      return store(s, s.operands[0][0], value(s.operands[1][0]).view);
    case Opcode::load_tile:
      STREW_TRY(implicit_tile(s));
      return load(s, address(s, 0, value(s.result).tile), s.result);
    case Opcode::store_tile:
      return store(s, s.operands[0][0], address(s, 1, value(s.operands[0][0]).tile));
    case Opcode::gather_tile:
      STREW_TRY(implicit_tile(s));
      return gather(s, s.operands[0][0], s.operands[1][0], s.result);
    case Opcode::mgather:
      return gather(s, s.operands[0][0], s.operands[1][0], s.operands[2][0]);
    case Opcode::mscatter:
      return scatter(s);
    case Opcode::move_l1:
      return move_l1(s);
    case Opcode::gather_l1:
    case Opcode::gather_l1_elem:
      return gather_l1(s);
    default:
      return fail(s, "it is not simulated, expected a statement of a vector kernel");
  }
}

STREW_END_PARTIAL_SWITCHES

Status Core::loop(const Statement& s) {
  const Frame frame{&s.body, 0, &s, number(s.operands[0][0]), number(s.operands[1][0]), number(s.operands[2][0])};
  if (frame.step <= 0)
    return fail(s, "the step %" + s.operands[2][0] + " is " + std::to_string(frame.step) + ", expected 1 or more");
  if (frame.value >= frame.upper) return {};
  frames_.push_back(frame);
  give(s, static_cast<uint64_t>(frame.value));
  return {};
}

Status Core::view(const Statement& s) {
  Value out;
  out.type = &s.type;
  const View& base = value(s.operands[0][0]).view;
  const bool partition = s.opcode == Opcode::partition_view;
  out.view.memory = base.memory;
  out.view.offset = partition ? base.offset : 0;
  out.view.fractal = partition ? base.fractal : s.attribute("layout") == "nz";
  for (size_t d = 0; d < s.operands[1].size(); ++d) {
    const int64_t first = number(s.operands[1][d]), second = number(s.operands[2][d]);
    const int64_t extent = partition ? second : first;
    if (extent < 0 || (s.type.dims[d] != kDynamic && s.type.dims[d] != extent))
      return fail(s, "dim " + std::to_string(d) + " of %" + s.result + " is " + std::to_string(extent) + ", expected " +
                         (s.type.dims[d] == kDynamic ? "0 or more" : std::to_string(s.type.dims[d])));
    out.view.shape.push_back(extent);
    if (!partition) {
      out.view.strides.push_back(second);
      continue;
    }
    if (first < 0 || first > base.shape[d] - extent)
      return fail(s, "dim " + std::to_string(d) + " of %" + s.result + " is " + std::to_string(extent) + " at " +
                         std::to_string(first) + ", expected a part of the " + std::to_string(base.shape[d]) + " of %" +
                         s.operands[0][0]);
    out.view.offset += first * base.strides[d];
    out.view.strides.push_back(base.strides[d]);
  }
  values_[s.result] = std::move(out);
  return {};
}

Status Core::place(const Statement& s, std::optional<int64_t> address, int64_t valid_rows, int64_t valid_cols) {
  Buffer& memory = s.type.tile.location == "mat" ? l1_ : buffer_;
  STREW_ASSIGN(const Tile tile, memory.place(s, address, valid_rows, valid_cols));
  values_[s.result] = {.type = &s.type, .tile = tile};
  return {};
}

Status Core::alloc(const Statement& s) {
  const auto given = [&](size_t group) {
    return s.operands[group].empty() ? std::optional<int64_t>() : number(s.operands[group][0]);
  };
  return place(s, given(0), given(1).value_or(s.type.tile.valid[0]), given(2).value_or(s.type.tile.valid[1]));
}

// --- memory and order ---

Event Core::issue(const Statement& s, size_t group) { return pipes_.issue(s, pipe_of(s, machine_.chip(), group)); }

Status Core::touch(const Event& now, const std::string& tile, Access access) {
  const Tile& touched = value(tile).tile;
  return buffer_of(touched).touch(check_sync_ ? &pipes_ : nullptr, now, touched, tile, access);
}

void Core::count(const Event& now, const Tile& tile, int64_t SimulationReport::*bytes) {
  const int64_t moved = tile.valid_rows * tile.valid_cols * tile.width();
  ++report_.instructions;
  if (bytes != nullptr) report_.*bytes += moved;
  pipes_.runs(now, moved);
}

Status Core::touch_memory(const Event& now, int memory, int64_t element, Access access) {
  const GlobalMemory& m = machine_.memories[static_cast<size_t>(memory)];
  if (element < 0 || element >= m.elements())
    return fail(*now.statement, "it touches element " + std::to_string(element) + " of %" + m.name + ", expected one of its " +
                                    std::to_string(m.elements()));
  if (!check_sync_) return {};
  std::vector<History>& page = histories_[static_cast<size_t>(memory)][element / kPage];
  if (page.empty()) page.resize(kPage);
  History& history = page[static_cast<size_t>(element % kPage)];
  const Touched what{m.name, element};
  return access == Access::read ? pipes_.read(history, now, what) : pipes_.write(history, now, what);
}

uint64_t Core::load_code(int memory, int64_t element) const {
  const GlobalMemory& m = machine_.memories[static_cast<size_t>(memory)];
  uint64_t code = 0;
  const auto width = static_cast<size_t>(bits(m.dtype) / 8);
  std::memcpy(&code, m.bytes.data() + static_cast<size_t>(element) * width, width);
  return code;
}

void Core::store_code(int memory, int64_t element, uint64_t code) {
  const GlobalMemory& m = machine_.memories[static_cast<size_t>(memory)];
  const auto width = static_cast<size_t>(bits(m.dtype) / 8);
  std::memcpy(m.bytes.data() + static_cast<size_t>(element) * width, &code, width);
}

}  // namespace strew::inline v0::pto
