// make_program(): the numbers, nests and bodies of a plan. See program.h.
#include <algorithm>
#include <string>

#include "backends/arithmetic.h"
#include "backends/portable/compile_body.h"
#include "backends/portable/entry_call.h"
#include "backends/portable/program.h"

namespace strew::inline v0::portable {
namespace {

class Maker {
 public:
  Maker(const lowered::Kernel& kernel, const Loops& table) : kernel_(kernel), plan_(kernel.plan), table_(table) {}

  std::shared_ptr<const InterpretedKernel> run() {
    p_.loops = &table_;
    make_bodies();
    make_positions();
    make_window();
    make_init();
    make_merge();
    p_.positions_per_block = block_positions(p_);
    p_.memory = lay_out(p_);
    return std::make_shared<const InterpretedKernel>(std::move(p_));
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
    p_.body = compile_body(kernel_.update, plan_, table_);
    if (kernel_.fill) p_.fill = compile_body(*kernel_.fill, plan_, table_, p_.body.slots);
    for (const size_t source : kernel_.fills) {
      LookupFill& fill = p_.fills.emplace_back();
      fill.source = static_cast<int>(source);
      fill.value = plan_.sources[source].fill;
      for (size_t slot = 0; slot < p_.body.slots.size(); ++slot)
        if (p_.body.slots[slot].source == fill.source) fill.slots.push_back(slot);
    }
  }

  void make_positions() {
    p_.pairs = plan_.pairs;
    p_.gather = plan_.gather;
    const lowered::Entry& range = *kernel_.find(EntryKind::range);
    p_.cuts_columns = range.cut == lowered::WindowCut::columns;
    p_.fences = plan_.kind == PlanKind::general && !plan_.unique.holds;
    p_.ahead = plan_.gather ? -kernel_.schedule.prefetch : kernel_.schedule.prefetch;
    p_.streams = range.nontemporal;
    for (const IndexSource& source : plan_.sources)
      for (const Component& c : source.components)
        if (index_of(c.tensor) == p_.indices.size()) p_.indices.push_back({c.tensor, log2_per_byte(c.dtype)});
    p_.positions = add_nest(plan_.positions, p_.body.slots, p_.indices);
    for (size_t s = 0; s < plan_.sources.size(); ++s) {
      const size_t first = p_.components.size();
      for (size_t k = 0; k < plan_.sources[s].components.size(); ++k)
        add_component(s, plan_.sources[s].components[k], kernel_.placings[s].rules[k]);
      p_.sources.push_back({first, p_.components.size()});
    }
    for (int i = 0; plan_.keys && i < plan_.pairs; ++i)
      p_.key_units.push_back(add(plan_.keys->units[static_cast<size_t>(i)], unit(plan_.result(i))));
  }

  /// The index tensor's number among the kernel's; their number if it is none of them.
  size_t index_of(int tensor) const {
    return static_cast<size_t>(std::ranges::find(p_.indices, tensor, &Slot::tensor) - p_.indices.begin());
  }
  void add_component(size_t source, const Component& c, PlaceRule rule) {
    ComponentNumbers n;
    n.index = index_of(c.tensor);
    n.source = static_cast<int>(source);
    n.dtype = c.dtype;
    n.normalize_negative = c.normalize_negative;
    n.index_offset = add(c.index_offset, unit(c.tensor));
    n.dim = add(c.dim);
    n.window = add(c.window);
    n.strides = add_strides(c.strides, p_.body.slots);
    n.rule = rule;
    p_.components.push_back(n);
  }

  void make_window() {
    p_.window = add_nest(plan_.window, p_.body.slots);
    for (size_t l = 0; l < plan_.window.size(); ++l) {
      const LoopMove& move = plan_.window[l].move();
      WindowLoop& loop = p_.window_loops.emplace_back();
      loop.component = move.component;
      loop.scale = add(move.scale);
      for (size_t s = 0; s < plan_.sources.size(); ++s) add_bound(loop, s, l);
    }
  }
  /// What source s takes of window loop l.
  void add_bound(WindowLoop& loop, size_t s, size_t l) {
    const lowered::Bounds bounds = kernel_.placings[s].bounds[l];
    if (bounds == lowered::Bounds::whole) return;
    const LoopMove& move = plan_.window[l].moves[s];
    WindowBound& bound = loop.bounds.emplace_back();
    bound.bounds = bounds;
    bound.component = p_.sources[s].first + static_cast<size_t>(move.component);
    bound.scale = add(move.scale);
    bound.fill = p_.fill_of(static_cast<int>(s));
    if (bounds == lowered::Bounds::split) bound.memory = 1 + plan_.window.size() + p_.segments++;
    p_.has_cut_windows = true;
    // A table that wraps or ends within a row parts it elsewhere at each position, so parts of equal rows may overlap.
    if (s > 0 && !plan_.unique.holds) p_.fences = true;
  }

  void make_init() {
    for (const lowered::Body& body : kernel_.init) {
      Init& init = p_.init.emplace_back();
      init.body = compile_body(body, plan_, table_);
      init.nest = add_nest(plan_.init, init.body.slots);
      init.moves = body.moves && body.currents[0].is(lowered::Operand::Kind::tensor) && bits(tensor(body.results[0]).dtype) >= 8;
    }
  }

  void make_merge() {
    for (const lowered::Body& body : kernel_.merge) p_.merge.push_back(compile_body(body, plan_, table_));
  }

  const lowered::Kernel& kernel_;
  const Plan& plan_;
  const Loops& table_;
  InterpretedKernel p_;
};

}  // namespace

Status portable_can_build(const Plan& plan) {
  if (plan.locals.size() > kMostLocals)
    return unsupported("backend portable: the plan has " + std::to_string(plan.locals.size()) +
                       " row-local values, expected at most " + std::to_string(kMostLocals));
  for (const RowLocal& local : plan.locals)
    if (local.lanes > kMostFoldLanes)
      return unsupported("backend portable: a row-local value has " + std::to_string(local.lanes) + " lanes, expected at most " +
                         std::to_string(kMostFoldLanes));
  STREW_TRY(check_row_values(plan, "portable"));
  return check_arithmetic(plan, "portable");
}

std::shared_ptr<const InterpretedKernel> make_program(const Plan& plan, const Schedule& schedule, const Loops& table) {
  return Maker(lowered::lower_kernel(plan, schedule), table).run();
}

size_t InterpretedKernel::bytes() const {
  const auto of_body = [](const Body& body) {
    return body.slots.size() * sizeof(Slot) + body.literals.size() * sizeof(Literal) + body.steps.size() * sizeof(Step) +
           body.outputs.size() * sizeof(Output);
  };
  size_t bytes = sizeof(InterpretedKernel) + numbers.size() * sizeof(int64_t) + dynamic.size() * sizeof(Dynamic) +
                 components.size() * sizeof(ComponentNumbers) + window_loops.size() * sizeof(WindowLoop);
  bytes += of_body(body) + of_body(fill);
  for (const Init& each : init) bytes += sizeof(Init) + of_body(each.body);
  for (const Body& each : merge) bytes += sizeof(Body) + of_body(each);
  return bytes;
}

}  // namespace strew::inline v0::portable
