// cost_of(). The scalars of a program are evaluated for every core, as far as its loops, branches and the valid parts of its tiles depend on
// them. What is read from memory or tiles counts as 0, unless the planner knows better (CostInputs::read): every index is in bounds, and a check finds no fault. A loop whose body costs the
// same in every turn is entered once. Of a long loop whose turns differ, some turns stand for those beside them.
// Tested by tests/unit/backends/pto/pto_cost_test.cc, against the simulator's counters.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "backends/pto/arithmetic.h"
#include "backends/pto/passes.h"
#include "base/partial_switch.h"
#include "base/units.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

constexpr int64_t kSampledTurns = 64;
/// How many bytes a core moves in the time that one instruction takes to start, and how many elements its scalar unit reads or writes.
constexpr double kBytesPerInstruction = 4096, kScalarsPerInstruction = 8;

/// What a core does, as numbers of any size: extents may be as large as an index is.
struct Sum {
  double loaded = 0, stored = 0, indexed = 0, instructions = 0, scalars = 0, tiles = 0;
  static constexpr double Sum::*kFields[] = {&Sum::loaded,       &Sum::stored,  &Sum::indexed,
                                             &Sum::instructions, &Sum::scalars, &Sum::tiles};
  void add(const Sum& other, double times) {
    for (double Sum::*field : kFields) this->*field += times * other.*field;
  }
};

/// A statement whose values are numbered.
struct Node {
  const Statement* source = nullptr;
  Form form = Form::constant;
  int result = -1;
  std::vector<int> operands;  ///< of a loop: from, to, step; of an alloc: the valid rows and columns, or -1; of a move: its tiles
  std::vector<Node> body, otherwise;
  bool even = false;      ///< a loop: all its turns cost the same
  int64_t about = 0;      ///< what it reads (CostInputs::read)
  bool is_moved = false;  ///< a move of a tile of data (CostInputs::moved)
};

class Evaluator {
 public:
  Evaluator(const Function& function, const CostInputs& inputs) : inputs_(inputs) {
    for (const Argument& a : function.arguments) {
      const int number = slot(a.name);
      types_.resize(slots_.size(), nullptr);
      types_[static_cast<size_t>(number)] = &a.type;
      if (a.type.kind == TypeKind::scalar) scalars_.push_back(number);
      if (a.name == kLaunch) launch_ = number;
    }
    body_ = numbered(function.body);
    types_.resize(slots_.size(), nullptr);
    tiles_.resize(slots_.size());
  }

  Sum run(int64_t core) {
    core_ = core;
    Sum out;
    for (int64_t launch = 0; launch < inputs_.launches; ++launch) {
      values_.assign(slots_.size(), 0);
      for (const int number : scalars_)
        values_[static_cast<size_t>(number)] = static_cast<uint64_t>(number == launch_ ? launch : kAssumedExtent);
      out.add(sum(body_, kSampledTurns), 1);
    }
    return out;
  }

 private:
  int slot(const std::string& name) { return slots_.try_emplace(name, static_cast<int>(slots_.size())).first->second; }

  std::vector<Node> numbered(const std::vector<Statement>& statements) {
    std::vector<Node> out;
    for (const Statement& s : statements) {
      Node node{.source = &s, .form = info(s.opcode).form};
      for (const auto& group : s.operands) {
        if (node.form == Form::alloc || node.form == Form::loop || group.size() == 1)
          node.operands.push_back(group.empty() ? -1 : slot(group[0]));
      }
      if (!s.result.empty()) {
        node.result = slot(s.result);
        types_.resize(slots_.size(), nullptr);
        types_[static_cast<size_t>(node.result)] = &s.type;
      }
      if (s.opcode == Opcode::tstore || s.opcode == Opcode::mscatter)
        for (const auto& group : s.operands) node.is_moved |= group.size() == 1 && inputs_.moved.contains(group[0]);
      if (const auto about = inputs_.read.find(s.result); about != inputs_.read.end()) node.about = about->second;
      node.body = numbered(s.body);
      node.otherwise = numbered(s.otherwise);
      if (node.form == Form::loop) {
        std::vector<bool> differs(slots_.size());
        differs[static_cast<size_t>(node.result)] = true;
        node.even = !depends(node.body, differs);
      }
      out.push_back(std::move(node));
    }
    return out;
  }

  /// Does what the statements cost depend on a value that `differs`? Adds the values that depend on one.
  bool depends(const std::vector<Node>& nodes, std::vector<bool>& differs) const {
    for (const Node& node : nodes) {
      const bool any =
          std::ranges::any_of(node.operands, [&](int operand) { return operand >= 0 && differs[static_cast<size_t>(operand)]; });
      const bool decides = node.form == Form::loop || node.form == Form::branch || node.form == Form::alloc;
      if ((any && decides) || depends(node.body, differs) || depends(node.otherwise, differs)) return true;
      if (any && node.result >= 0) differs[static_cast<size_t>(node.result)] = true;
    }
    return false;
  }

  int64_t number(int slot) const {
    const Type* const type = types_[static_cast<size_t>(slot)];
    return number_of(*type, values_[static_cast<size_t>(slot)]);
  }

  Sum sum(const std::vector<Node>& nodes, int64_t turns) {
    Sum out;
    for (const Node& node : nodes) add(node, turns, out);
    return out;
  }

  STREW_PARTIAL_SWITCHES

  void add(const Node& node, int64_t turns, Sum& out) {
    const Statement& s = *node.source;
    switch (node.form) {
      case Form::constant:
      case Form::cast:
      case Form::binary:
      case Form::compare:
      case Form::select: {
        std::vector<Bits>& operands = operands_;
        operands.clear();
        for (const int operand : node.operands)
          operands.push_back({types_[static_cast<size_t>(operand)], values_[static_cast<size_t>(operand)]});
        values_[static_cast<size_t>(node.result)] = evaluate(s, operands).value_or(0);
        return;
      }
      case Form::nullary:
        values_[static_cast<size_t>(node.result)] =
            static_cast<uint64_t>(s.opcode == Opcode::get_block_idx ? core_ : inputs_.cores);
        return;
      case Form::alloc:
        tiles_[static_cast<size_t>(node.result)] = bytes_of(node);
        return;
      case Form::get:
      case Form::load:
        values_[static_cast<size_t>(node.result)] = static_cast<uint64_t>(node.about);
        [[fallthrough]];
      case Form::set:
      case Form::store:
        out.scalars += 1;
        return;
      case Form::moves:
      case Form::computes:
        return add_instruction(node, out);
      case Form::loop:
        return add_loop(node, turns, out);
      case Form::branch:
        out.add(sum(values_[static_cast<size_t>(node.operands[0])] != 0 ? node.body : node.otherwise, turns), 1);
        return;
      case Form::section:
        out.add(sum(node.body, turns), 1);
        return;
      default:
        return;
    }
  }

  STREW_END_PARTIAL_SWITCHES

  /// The bytes of the valid part of a tile.
  double bytes_of(const Node& node) const {
    const Type& type = node.source->type;
    double elements = 1;
    for (size_t d = 0; d < 2; ++d) {
      const int64_t known = type.tile.valid[d];
      elements *= static_cast<double>(known != kDynamic ? known : std::max<int64_t>(0, number(node.operands[1 + d])));
    }
    return elements * static_cast<double>(storage_bytes(type.element.dtype, 8)) / 8;
  }

  void add_instruction(const Node& node, Sum& out) const {
    const Statement& s = *node.source;
    out.instructions += 1;
    if (node.is_moved) out.tiles += 1;
    if (node.form != Form::moves || s.opcode == Opcode::move_l1) return;
    double& bytes = s.opcode == Opcode::tload ? out.loaded : s.opcode == Opcode::tstore ? out.stored : out.indexed;
    // a3 moves elements by its scalar unit, which reads the index of each.
    const bool by_scalars = inputs_.chip == Chip::a3 && s.attribute("coalesce") == "elem";
    const Operands& groups = info(s.opcode).operands;
    for (size_t g = 0; by_scalars && g < groups.size(); ++g)
      if (groups[g].kind == Kind::indices) out.scalars += tiles_[static_cast<size_t>(slots_.at(s.operands[g][0]))] / 4;
    for (size_t g = 0; g < groups.size(); ++g)
      if (groups[g].kind == Kind::tile) bytes += tiles_[static_cast<size_t>(slots_.at(s.operands[g][0]))];
  }

  void add_loop(const Node& node, int64_t turns, Sum& out) {
    const int64_t from = number(node.operands[0]), to = number(node.operands[1]), step = number(node.operands[2]);
    if (from >= to || step <= 0) return;
    const int64_t count = (to - from - 1) / step + 1;
    const auto turn = [&](int64_t at) {
      values_[static_cast<size_t>(node.result)] = static_cast<uint64_t>(from + at * step);
      return sum(node.body, std::max<int64_t>(2, turns / 4));
    };
    if (node.even) return out.add(turn(0), static_cast<double>(count));
    if (count <= turns) {
      for (int64_t at = 0; at < count; ++at) out.add(turn(at), 1);
      return;
    }
    // Tiles at the end of a loop are often partial, so that the last turn stands for itself alone.
    const int64_t samples = turns - 1;
    const double each = static_cast<double>(count - 1) / static_cast<double>(samples);
    for (int64_t at = 0; at < samples; ++at) out.add(turn((count - 1) / samples * at), each);
    out.add(turn(count - 1), 1);
  }

  const CostInputs& inputs_;
  int64_t core_ = 0;
  std::unordered_map<std::string, int> slots_;
  int launch_ = -1;
  std::vector<int> scalars_;        ///< the numbers of the scalar arguments
  std::vector<const Type*> types_;  ///< by number
  std::vector<uint64_t> values_;
  std::vector<double> tiles_;  ///< the bytes of the valid part
  std::vector<Node> body_;
  std::vector<Bits> operands_;
};

CoreCost counted(const Sum& sum, double divisor) {
  constexpr int64_t kMost = int64_t{1} << 53;
  const auto number = [&](double value) { return whole(std::round(value / divisor), kMost); };
  return {number(sum.loaded),       number(sum.stored),  number(sum.indexed),
          number(sum.instructions), number(sum.scalars), number(sum.tiles)};
}

}  // namespace

double time_of(const CoreCost& cost, int buffers) {
  const auto loaded = static_cast<double>(cost.loaded_bytes), stored = static_cast<double>(cost.stored_bytes),
             indexed = static_cast<double>(cost.scattered_bytes);
  double bytes = loaded + stored + indexed;
  if (buffers == 2 && cost.tiles > 1) {
    // The first tile is loaded alone and the last one is stored alone; between these, the busiest pipe never waits.
    const double busiest = std::max({loaded, stored, indexed});
    bytes = busiest + (bytes - busiest) / static_cast<double>(cost.tiles);
  }
  return bytes / kBytesPerInstruction + static_cast<double>(cost.instructions) +
         static_cast<double>(cost.scalars) / kScalarsPerInstruction;
}

CoreCost first_core_cost(const Function& function, const CostInputs& inputs) {
  return counted(Evaluator(function, inputs).run(0), 1);
}

void add_cost(TileProgram& program, const CostInputs& inputs) {
  Evaluator evaluator(program.module.functions[0], inputs);
  std::vector<Sum> cores;
  for (int64_t core = 0; core < inputs.cores; ++core) cores.push_back(evaluator.run(core));
  Sum all;
  const Sum* longest = &cores[0];
  program.cost.cores = 0;
  for (const Sum& core : cores) {
    if (core.tiles <= 0) continue;  // it looks at indices, and no more
    ++program.cost.cores;
    all.add(core, 1);
    if (time_of(counted(core, 1), 1) > time_of(counted(*longest, 1), 1)) longest = &core;
  }
  program.cost.longest = counted(*longest, 1);
  program.cost.mean = counted(all, std::max(1, program.cost.cores));
}

}  // namespace strew::inline v0::pto
