// See frame.h. Elements of a type that the chip has no instructions for are moved as words with the same bits: a row of
// 64 i64 is a row of 128 i32. Indices of 32 bits or more are declared as i32, signed or not: the chip reads them as
// u32, and index code (indices.h) handles both. Tested by tests/golden/pto_program_test.cc and
// tests/error/pto_program_error_test.cc.
#include "backends/pto/frame.h"

#include <algorithm>

#include "backends/pto/combine.h"
#include "backends/pto/scalars.h"
#include "compiler/pto/instructions.h"

namespace strew::inline v0::pto {
namespace {

std::string name_of(const TensorSlot& slot, int tensor, const Plan& plan) {
  if (slot.role == Role::indices) return slot.index == 0 ? "indices" : "indices" + std::to_string(slot.index);
  const char* const lookup = lookup_source(plan, tensor) > 0 ? "_table" : "";
  if (slot.role == Role::extra) return std::string(name(slot.role)) + std::to_string(slot.index) + lookup;
  const bool table = plan.gather ? slot.role == Role::operand : slot.role == Role::result && plan.init_kind == InitKind::in_place;
  return (table ? "table" : std::string(name(slot.role))) + (plan.pairs > 1 ? std::to_string(slot.index) : "") + lookup;
}

/// Finds the words of an element of `dtype`: the element itself if the chip can move it. False if there are none.
bool words_of(Chip chip, DType dtype, Words& out) {
  const int size = bits(dtype);
  if (allows(*info(Opcode::mscatter).legality, chip, Reader::ptoas, dtype)) {
    out = {{dtype, false}, 1};
  } else if (size >= 32) {
    out = {{DType::i32, false}, size / 32};
  } else {
    out = {{size == 16 ? DType::u16 : DType::u8, false}, 1};
  }
  return size >= 8 && dtype != DType::string;
}

}  // namespace

Frame::Frame(std::span<const TensorSlot> tensors, const Plan& the_plan, Chip the_chip, const ProgramOptions& the_options,
             const Attempt& the_attempt)
    : plan(the_plan),
      chip(the_chip),
      options(the_options),
      attempt(the_attempt),
      build(the_chip, the_options.blocks),
      slots_(tensors) {}

/// Does the program fill tiles of this type with a value, though the chip has no fill instruction for the type? Nothing
/// computes with the elements then, so the signed type of the same width takes its place.
bool Frame::needs_signed_fill(const TensorType& type) const {
  const auto fills = [](const IndexSource& source) { return is_fill(source.oob); };
  const bool puts = (scatter() && plan.init_kind == InitKind::fill) || std::ranges::any_of(plan.sources, fills);
  return (plan.gather || assigns(plan)) && puts && !has(Opcode::texpands, type.dtype);
}

DType Frame::signed_of(DType dtype) {
  for (const DType other : {DType::i8, DType::i16, DType::i32, DType::i64})
    if (bits(other) == bits(dtype)) return other;
  return dtype;
}

/// May signed arithmetic replace unsigned arithmetic? Sums, differences, products and bitwise operators have the same
/// bits for both. a3 has few instructions on unsigned elements, and ptoas fills no tiles of them.
bool Frame::computes_signed() const {
  if (plan.gather || has_extras(plan) || (chip != Chip::a3 && plan.init_kind != InitKind::fill)) return false;
  const Operator* const combiner = combiner_operator(plan);
  if (combiner == nullptr || !same_types(plan) || combiner->op == ExprOp::div) return false;
  // Of maxima and minima, tiles shift the numbers (combine.cc); those of bytes are computed in i16.
  const auto is_byte = [](const PlanTensor& tensor) { return bits(tensor.dtype) <= 8; };
  return !combiner->by_sign || (chip == Chip::a3 && std::ranges::none_of(plan.tensors, [&](const PlanTensor& tensor) {
                                  return tensor.role != Role::indices && is_byte(tensor);
                                }));
}

Status Frame::add_tensor(const TensorSlot& slot, int tensor) {
  const auto is_rounded = [&](Role role) {
    return attempt.rounded != nullptr && (role == Role::result || role == Role::operand);
  };
  const auto t = static_cast<size_t>(tensor);
  types_[t] = slot.type;
  if (!slot.type->strides.empty() && attempt.rounded != nullptr && is_rounded(slot.role))
    return unsupported(std::string(name(slot.role)) +
                       ": it has strides, expected a contiguous tensor where sums are wider than the result and rounded once");
  pointers_[t] = name_of(slot, tensor, plan);
  ProgramArgument argument{.name = pointers_[t],
                           .role = static_cast<ArgumentRole>(slot.role),
                           .index = slot.index,
                           .dtype = slot.type->dtype,
                           .dims = slot.type->dims,
                           .strides = slot.type->strides};
  if (slot.role == Role::indices) {
    // Indices are read as signed words, because ptoas has no unsigned scalars. Index code knows the type that they
    // stand for.
    const int64_t size = bits(argument.dtype);
    words_[t] = size >= 32 ? Words{{DType::i32, false}, size / 32} : Words{{size == 16 ? DType::i16 : DType::i8, false}, 1};
  } else if (one_by_one() && attempt.single && bits(argument.dtype) < 8) {
    words_[t] = {{DType::i8, false}, 1};
    per_word_[t] = 8 / bits(argument.dtype);
  } else if ((one_by_one() || is_rounded(slot.role)) && bits(argument.dtype) >= 8 && argument.dtype != DType::string) {
    const ScalarWords words = scalar_words(argument.dtype);
    words_[t] = {{words.word, false}, words.count};
  } else if (carrier_type(argument.dtype) != argument.dtype) {
    words_[t] = {{carrier_type(argument.dtype), false}, bits(argument.dtype) / bits(carrier_type(argument.dtype))};
  } else if (needs_signed_fill(*slot.type) && bits(argument.dtype) >= 8 && bits(argument.dtype) <= 32) {
    words_[t] = {{signed_of(argument.dtype), false}, 1};
  } else if (!words_of(chip, argument.dtype, words_[t])) {
    return unsupported(argument.name + " is " + std::string(name(argument.dtype)) + ", expected elements of 8 bits or more" +
                       (argument.dtype == DType::string ? " that hold no pointers" : ": smaller ones are packed"));
  }
  build.pointer(argument.name, words_[t].element);
  program.arguments.push_back(std::move(argument));
  if (slot.role == Role::result) {
    // Plans move elements as words of other types where nothing is computed with them.
    const DType dtype = attempt.rounded != nullptr ? (*attempt.rounded)[stored_.size()] : plan.tensors[t].dtype;
    stored_.push_back({pointers_[t], dtype, words_[t]});
    if (attempt.rounded != nullptr) add_accumulator(slot, tensor);
  }
  return {};
}

/// Makes memory of the program's own the plan's result.
void Frame::add_accumulator(const TensorSlot& slot, int tensor) {
  const auto t = static_cast<size_t>(tensor);
  const int place = static_cast<int>(program.arguments.size()) - 1;
  const DType wide = plan.tensors[t].dtype;
  pointers_[t] = "sums" + (plan.pairs > 1 ? std::to_string(slot.index) : "");
  const ScalarWords scalars = scalar_words(wide);
  words_[t] = bits(wide) == 64 || one_by_one() ? Words{{scalars.word, false}, scalars.count} : Words{{wide, false}, 1};
  build.pointer(pointers_[t], words_[t].element);
  program.arguments.push_back(
      {.name = pointers_[t], .role = ArgumentRole::scratch, .dtype = wide, .dims = slot.type->dims, .tensor = place});
}

Status Frame::start() {
  if (options.output == Output::pto_as) build.one_core();
  signed_instead_ = !one_by_one() && computes_signed();
  types_.assign(plan.tensors.size(), nullptr);
  words_.resize(plan.tensors.size());
  per_word_.assign(plan.tensors.size(), 1);
  pointers_.resize(plan.tensors.size());
  memory_.resize(plan.tensors.size());
  std::vector<int> places(plan.tensors.size(), -1);
  for (const TensorSlot& slot : slots_) {
    for (size_t t = 0; t < plan.tensors.size(); ++t) {
      const PlanTensor& tensor = plan.tensors[t];
      if (tensor.role != slot.role || tensor.index != slot.index) continue;
      places[t] = static_cast<int>(program.arguments.size());
      STREW_TRY(add_tensor(slot, static_cast<int>(t)));
    }
  }
  if (checks_first()) add_scratch("fault", {DType::i32, false}, 8);
  for (const Symbol& symbol : plan.symbols) {
    ProgramArgument scalar{.role = ArgumentRole::scalar, .dtype = DType::i32, .dim = symbol.dim, .is_stride = symbol.is_stride};
    for (size_t t = 0; t < plan.tensors.size(); ++t) {
      const PlanTensor& tensor = plan.tensors[t];
      if (tensor.role == symbol.role && tensor.index == symbol.index) scalar.tensor = places[t];
      // An operand that is not bound has the dims of its result.
      if (scalar.tensor < 0 && symbol.role == Role::operand && tensor.role == Role::result) scalar.tensor = places[t];
    }
    if (scalar.tensor < 0)
      return unsupported("dim " + std::to_string(symbol.dim) + " of the " + std::string(name(symbol.role)) +
                         ", which is not bound, is known at the call only, expected a number");
    add_extent(std::move(scalar));
  }
  table_extents_.resize(plan.tensors.size());
  for (size_t s = 1; s < plan.sources.size(); ++s) find_table_extent(table_of(plan, s));
  for (size_t t = 0; t < plan.tensors.size(); ++t)
    if (has_strides(static_cast<int>(t))) measure(static_cast<int>(t), places[t]);
  return {};
}

/// Adds a parameter for an extent or stride that is known at the call only, which is the next symbol of terms, and returns its name.
std::string Frame::add_extent(ProgramArgument scalar) {
  scalar.name = program.arguments[static_cast<size_t>(scalar.tensor)].name + (scalar.is_stride ? "_stride" : "_dim") +
                std::to_string(scalar.dim);
  build.scalar(scalar.name);
  symbol_scalars_.push_back(scalar.name);
  program.arguments.push_back(scalar);
  return scalar.name;
}

/// Computes the memory of a tensor with strides, which is argument number `place`, at the head of the function.
void Frame::measure(int tensor, int place) {
  const TensorType& type = type_of(tensor);
  const auto known = [&](int64_t value, size_t d, bool is_stride) {
    if (value != kDynamic) return build.number(value);
    const auto same = [&](const ProgramArgument& a) {
      return a.role == ArgumentRole::scalar && a.tensor == place && a.dim == static_cast<int>(d) && a.is_stride == is_stride;
    };
    const auto given = std::ranges::find_if(program.arguments, same);
    return build.argument(given != program.arguments.end() ? given->name
                                                           : add_extent({.role = ArgumentRole::scalar,
                                                                         .dtype = DType::i32,
                                                                         .tensor = place,
                                                                         .dim = static_cast<int>(d),
                                                                         .is_stride = is_stride}));
  };
  build.at_head([&] {
    const Number zero = build.number(0), one = build.number(1);
    Number low = zero, high = one;
    for (size_t d = 0; d < type.dims.size(); ++d) {
      const Number extent = known(type.dims[d], d, false), stride = known(type.strides[d], d, true);
      const Number last = build.max(build.sub(extent, one, "last"), zero, "last"), reach = build.mul(last, stride, "reach");
      low = build.sub(low, build.min(reach, zero, "below"), "before");
      high = build.add(high, build.max(reach, zero, "above"), "after");
    }
    const Number each = build.number(per_word(tensor));
    low = build.mul(build.ceil_div(low, each, "bytes_before"), each, "before");
    memory_[static_cast<size_t>(tensor)] = {low, build.add(low, high, "memory")};
  });
}

void Frame::add_scratch(const std::string& name, Element element, int64_t elements) {
  build.pointer(name, element);
  program.arguments.push_back({.name = name, .role = ArgumentRole::scratch, .dtype = element.dtype, .dims = {elements}});
}

Number Frame::add_launch(int launches) {
  const std::string name(kLaunch);
  build.scalar(name);
  program.arguments.push_back({.name = name, .role = ArgumentRole::launch, .dtype = DType::i32});
  program.launches = launches;
  return build.argument(name);
}

Number Frame::number(const Term& term) {
  if (term.is_static()) return build.number(term.factor);
  const auto [place, fresh] = numbers_.try_emplace({term.factor, term.symbols});
  if (!fresh) return place->second;
  Number& out = place->second;
  build.at_head([&] {
    out = build.number(term.factor);
    for (const int symbol : term.symbols)
      out = build.mul(out, build.argument(symbol_scalars_[static_cast<size_t>(symbol)]), "extent");
  });
  return out;
}

Number Frame::last_start(const Component& component) {
  const Number window = number(component.window), dim = number(component.dim);
  const Number last = build.sub(dim, window, "last_start");
  // Code that judges indices takes -1 for the coordinate -1 (windows.cc, clamp; indices.cc, bound), so it gets a smaller number.
  return build.add(last, build.min(last, build.number(0), "below"), "last_start");
}

Number Frame::reached() {
  const auto has = [&](const std::vector<Loop>& loops, int symbol) {
    return std::ranges::any_of(loops, [&](const Loop& loop) { return std::ranges::count(loop.extent.symbols, symbol) > 0; });
  };
  Number out = build.number(1);
  for (size_t s = 0; s < plan.symbols.size(); ++s) {
    const Symbol& symbol = plan.symbols[s];
    const int number_of = static_cast<int>(s);
    const bool is_table = symbol.role == Role::operand || (scatter() && symbol.role == Role::result);
    const auto is_indexed = [&](const Component& c) { return c.operand_dim == symbol.dim; };
    if (!is_table || symbol.is_stride || has(plan.positions, number_of) || has(plan.window, number_of) ||
        std::ranges::any_of(plan.primary().components, is_indexed))
      continue;
    out = build.mul(out, any(number(Term{1, {number_of}})), "reached");
  }
  return out;
}

Number Frame::any(const Number& places) { return build.max(build.min(places, build.number(1), "any"), build.number(0), "any"); }

/// The elements of the table of a look-up. Its open dims are read from the table, but one that is whole in every window may be read from another
/// tensor; where it lies behind a dim that an index chooses, the stride of that dim has it.
void Frame::find_table_extent(int tensor) {
  const std::vector<int64_t>& dims = type_of(tensor).dims;
  const PlanTensor& table = plan.tensors[static_cast<size_t>(tensor)];
  Term& all = table_extents_[static_cast<size_t>(tensor)] = constant(1);
  for (size_t d = 0; d < dims.size(); ++d) {
    for (const Component& c : plan.sources[static_cast<size_t>(table.source)].components)
      if (c.operand_dim == static_cast<int>(d)) {
        all = all * c.dim * c.strides[static_cast<size_t>(tensor)];
        return;
      }
    const Symbol own{table.role, table.index, static_cast<int>(d), false};
    const auto symbol = std::ranges::find(plan.symbols, own);
    int number = static_cast<int>(symbol - plan.symbols.begin());
    if (dims[d] == kDynamic && symbol == plan.symbols.end()) {
      // No loop of the plan has this extent, so it has no symbol of the plan's either.
      const auto its = std::ranges::find(program.arguments, pointers_[static_cast<size_t>(tensor)], &ProgramArgument::name);
      number = static_cast<int>(symbol_scalars_.size());
      add_extent({.role = ArgumentRole::scalar,
                  .dtype = DType::i32,
                  .tensor = static_cast<int>(its - program.arguments.begin()),
                  .dim = static_cast<int>(d)});
    }
    all = all * (dims[d] == kDynamic ? Term{1, {number}} : constant(dims[d]));
  }
}

Term Frame::extent(int tensor) const {
  const PlanTensor& wanted = plan.tensors[static_cast<size_t>(tensor)];
  if (lookup_source(plan, tensor) > 0) return table_extents_[static_cast<size_t>(tensor)];
  Term all = constant(1);
  if (!plan.is_indexed(tensor) && wanted.role != Role::operand) {
    for (const std::vector<Loop>* loops : {&plan.positions, &plan.window})
      for (const Loop& loop : *loops)
        if (!loop.strides[static_cast<size_t>(tensor)].is(0)) all = all * loop.extent;
    int64_t components = 0;
    for (const IndexSource& source : plan.sources)
      components += std::ranges::count(source.components, tensor, &Component::tensor);
    return wanted.role == Role::indices ? all * constant(std::max<int64_t>(1, components)) : all;
  }
  if (scatter() && plan.init_kind != InitKind::in_place) {
    for (const Loop& loop : plan.init) all = all * loop.extent;
    return all;
  }
  // All results have the same dims: an extent that one of them leaves open may be static in another.
  std::vector<int64_t> dims = type_of(tensor).dims;
  for (const TensorSlot& slot : slots_)
    for (size_t d = 0; scatter() && slot.role == Role::result && d < dims.size(); ++d)
      if (dims[d] == kDynamic) dims[d] = slot.type->dims[d];
  for (size_t d = 0; d < dims.size(); ++d) {
    Term extent = constant(dims[d]);
    for (size_t s = 0; dims[d] == kDynamic && s < plan.symbols.size(); ++s) {
      const Symbol& symbol = plan.symbols[s];
      const bool same = symbol.role == Role::operand || (!plan.gather && symbol.role == Role::result);
      if (same && symbol.dim == static_cast<int>(d) && !symbol.is_stride) extent = Term{1, {static_cast<int>(s)}};
    }
    all = all * extent;
  }
  return all;
}

int Frame::widest() const {
  int out = 8;
  for (const PlanTensor& tensor : plan.tensors)
    if (tensor.role != Role::indices) out = std::max(out, bits(tensor.dtype));
  return out;
}

int64_t Frame::assumed(const Term& term) const {
  int64_t out = term.factor;
  for (size_t i = 0; i < term.symbols.size(); ++i) out *= kAssumedExtent;
  return out;
}

}  // namespace strew::inline v0::pto
