// make_program(): the numbers, nests and bodies of a plan. See program.h.
#include <algorithm>
#include <string>

#include "backends/arithmetic.h"
#include "backends/portable/compile_body.h"
#include "backends/portable/frame.h"
#include "backends/portable/program.h"
#include "schedules/entries.h"
#include "schedules/stores.h"
#include "schedules/strategies/private_tables.h"
#include "strew/expr_builder.h"

namespace strew::inline v0::portable {
namespace {

/// The expression for an element that init writes: `current`, which is an operand's element or the fill value, converted to the result's dtype.
Expr init_graph(const Plan& plan) {
  ExprBuilder e;
  std::vector<int32_t> results;
  for (int i = 0; i < plan.pairs; ++i) {
    if (plan.init_kind == InitKind::fill) {
      results.push_back(e.literal(plan.init_fill[static_cast<size_t>(i)]));
      continue;
    }
    const int32_t operand = e.update(i, plan.tensors[static_cast<size_t>(plan.operand(i))].dtype);
    results.push_back(e.as(operand, plan.tensors[static_cast<size_t>(plan.result(i))].dtype));
  }
  return e.returns(std::move(results));
}

class Maker {
 public:
  Maker(const Plan& plan, const Schedule& schedule, const Loops& table) : plan_(plan), schedule_(schedule), table_(table) {}

  std::shared_ptr<const LoweredKernel> run() {
    p_.loops = &table_;
    make_bodies();
    make_positions();
    make_window();
    make_init();
    make_merge();
    p_.memory = lay_out(p_);
    return std::make_shared<const LoweredKernel>(std::move(p_));
  }

 private:
  const PlanTensor& tensor(int t) const { return plan_.tensors[static_cast<size_t>(t)]; }
  int64_t unit(int t) const { return place_unit(tensor(t).dtype); }

  Number add(const Term& term, int64_t factor = 1) {
    const auto at = static_cast<Number>(p_.numbers.size());
    const auto product = static_cast<int64_t>(static_cast<uint64_t>(term.factor) * static_cast<uint64_t>(factor));
    p_.numbers.push_back(product);
    if (!term.is_static()) p_.dynamic.push_back({at, product, term.symbols});
    return at;
  }
  Number add_strides(const std::vector<Term>& strides, const std::vector<Slot>& slots) {
    const auto at = static_cast<Number>(p_.numbers.size());
    for (const Slot& slot : slots) add(strides[static_cast<size_t>(slot.tensor)], unit(slot.tensor));
    return at;
  }
  /// `more`: further slots.
  Nest add_nest(const std::vector<Loop>& loops, const std::vector<Slot>& slots, const std::vector<Slot>& more = {}) {
    Nest nest;
    nest.loops = static_cast<uint32_t>(loops.size());
    nest.extents = static_cast<Number>(p_.numbers.size());
    for (const Loop& loop : loops) add(loop.extent);
    nest.strides = static_cast<Number>(p_.numbers.size());
    for (const Loop& loop : loops) {
      add_strides(loop.strides, slots);
      add_strides(loop.strides, more);
    }
    return nest;
  }

  void make_bodies() {
    BodyRequest request{plan_.combine, plan_, {}, {}, {}, {}};
    int extras = 0;
    for (const PlanTensor& t : plan_.tensors) extras += t.role == Role::extra ? 1 : 0;
    for (int i = 0; i < plan_.pairs; ++i) {
      request.results.push_back(plan_.result(i));
      request.currents.push_back(plan_.gather ? plan_.operand(i) : plan_.result(i));
      if (!plan_.gather) request.updates.push_back(plan_.update(i));
    }
    for (int i = 0; i < extras; ++i) request.extras.push_back(plan_.extra(i));
    p_.body = compile_body(request, table_);
    if (is_fill(plan_.primary().oob)) {
      request.current = &plan_.primary().fill;
      request.slots = p_.body.slots;
      p_.fill = compile_body(request, table_);
    }
  }

  void make_positions() {
    p_.pairs = plan_.pairs;
    p_.gather = plan_.gather;
    p_.cuts_columns = traits_of(schedule_.strategy).share == WindowShare::columns;
    p_.fences = plan_.kind == PlanKind::general && !plan_.unique.holds;
    p_.ahead = plan_.gather ? -schedule_.prefetch : schedule_.prefetch;
    p_.streams = schedule_.nontemporal && !chooses_stores(plan_, schedule_);
    for (const IndexSource& source : plan_.sources)
      for (const Component& c : source.components)
        if (index_of(c.tensor) == p_.indices.size()) p_.indices.push_back({c.tensor, log2_per_byte(c.dtype)});
    p_.positions = add_nest(plan_.positions, p_.body.slots, p_.indices);
    for (const IndexSource& source : plan_.sources) {
      const size_t first = p_.components.size();
      for (const Component& c : source.components) add_component(c);
      p_.sources.push_back({first, p_.components.size(), source.oob});
    }
    for (int i = 0; plan_.keys && i < plan_.pairs; ++i)
      p_.key_units.push_back(add(plan_.keys->units[static_cast<size_t>(i)], unit(plan_.result(i))));
  }

  /// The index tensor's number among the kernel's; their number if it is none of them.
  size_t index_of(int tensor) const {
    return static_cast<size_t>(std::ranges::find(p_.indices, tensor, &Slot::tensor) - p_.indices.begin());
  }
  void add_component(const Component& c) {
    ComponentNumbers n;
    n.index = index_of(c.tensor);
    n.dtype = c.dtype;
    n.normalize_negative = c.normalize_negative;
    n.index_offset = add(c.index_offset, unit(c.tensor));
    n.dim = add(c.dim);
    n.window = add(c.window);
    n.strides = add_strides(c.strides, p_.body.slots);
    n.is_single = c.window.is(1);
    p_.components.push_back(n);
  }

  void make_window() {
    p_.window = add_nest(plan_.window, p_.body.slots);
    for (const Loop& loop : plan_.window) {
      const LoopMove& move = loop.move();
      const bool wraps = move.is_bounded && plan_.primary().oob == OobPolicy::wrap;
      p_.window_loops.push_back({move.component, move.is_bounded, wraps, add(move.scale)});
      p_.has_cut_windows |= move.is_bounded && !p_.components[static_cast<size_t>(move.component)].is_single;
    }
    // Under these policies a window may be cut, or filled in part, although no loop of more than one iteration is moved.
    p_.positions_per_block = block_positions(p_);
  }

  void make_init() {
    if (plan_.gather || plan_.init_kind == InitKind::in_place) return;
    const Expr graph = init_graph(plan_);
    BodyRequest request{graph, plan_, {}, {}, {}, {}};
    p_.init_moves = plan_.init_kind == InitKind::copy;
    for (int i = 0; i < plan_.pairs; ++i) {
      request.results.push_back(plan_.result(i));
      request.updates.push_back(plan_.operand(i));
      p_.init_moves &=
          tensor(plan_.result(i)).dtype == tensor(plan_.operand(i)).dtype && bits(tensor(plan_.result(i)).dtype) >= 8;
    }
    p_.init = compile_body(request, table_);
    p_.init_nest = add_nest(plan_.init, p_.init.slots);
  }

  void make_merge() {
    const std::vector<EntryKind> entries = entries_of(plan_, schedule_);
    if (std::find(entries.begin(), entries.end(), EntryKind::merge) == entries.end()) return;
    for (int i = 0; i < plan_.pairs; ++i) {
      const Expr graph = merge_graph(plan_, i, 0);
      BodyRequest request{graph, plan_, {plan_.result(i)}, {plan_.result(i)}, {}, {}};
      request.updates_are_tables = true;
      p_.merge.push_back(compile_body(request, table_));
    }
  }

  const Plan& plan_;
  const Schedule& schedule_;
  const Loops& table_;
  LoweredKernel p_;
};

}  // namespace

Status portable_can_build(const Plan& plan) { return check_arithmetic(plan, "portable"); }

std::shared_ptr<const LoweredKernel> make_program(const Plan& plan, const Schedule& schedule, const Loops& table) {
  return Maker(plan, schedule, table).run();
}

size_t LoweredKernel::bytes() const {
  const auto of_body = [](const Body& body) {
    return body.slots.size() * sizeof(Slot) + body.literals.size() * sizeof(Literal) + body.steps.size() * sizeof(Step) +
           body.outputs.size() * sizeof(Output);
  };
  size_t bytes = sizeof(LoweredKernel) + numbers.size() * sizeof(int64_t) + dynamic.size() * sizeof(Dynamic) +
                 components.size() * sizeof(ComponentNumbers) + window_loops.size() * sizeof(WindowLoop);
  bytes += of_body(body) + of_body(fill) + of_body(init);
  for (const Body& each : merge) bytes += sizeof(Body) + of_body(each);
  return bytes;
}

}  // namespace strew::inline v0::portable
