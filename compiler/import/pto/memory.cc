// Lifter, part 2: the memories behind pointers. It keeps the extents that views give them, their current values,
// which statements accessed them, and the requirements that the caller's tensors must meet.
//
// A memory that is both read and written in one loop (or, in a function that reads its core number, by any two statements) is refused,
// because nothing orders tiles of different cores. Tested by tests/unit/compiler/import/pto/pto_import_test.cc and
// tests/error/pto_error_test.cc.
#include <algorithm>

#include "compiler/import/pto/lift.h"
#include "compiler/pto/types.h"

namespace strew::inline v0::pto {

Status Lifter::set_extents(const Statement& s, int number, const Poly& rows, const Poly& cols, int rank) {
  Memory& memory = memories_[number];
  if (!memory.viewed) {
    memory.viewed = true;
    memory.rows = rows;
    memory.cols = cols;
    memory.rank = rank;
    return {};
  }
  if (memory.rows == rows && memory.cols == cols) return {};
  return fail(s, "it sees %{} as [{}, {}], expected [{}, {}] as the view before", memory.name, text(rows), text(cols),
              text(memory.rows), text(memory.cols));
}

Status Lifter::touch(const Statement& s, int number, bool write) {
  Memory& memory = memories_[number];
  const auto conflicts = [&](const std::optional<Memory::Access>& access) {
    return access && (splits_ || (outermost_ >= 0 && access->loop == outermost_));
  };
  const std::optional<Memory::Access>& other = conflicts(memory.write) ? memory.write : memory.read;
  if (conflicts(memory.write) || (write && conflicts(memory.read)))
    return fail(s, "%{} is {} here and {} in line {}, expected one of both: nothing orders tiles of different {}", memory.name,
                write ? "written" : "read", &other == &memory.write ? "written" : "read", other->line,
                splits_ ? "cores" : "rounds");
  (write ? memory.write : memory.read) = Memory::Access{outermost_, s.at.line};
  return {};
}

std::vector<Poly> Lifter::pick(const Memory& memory, const Poly& rows, const Poly& cols) {
  return memory.rank == 1 ? std::vector<Poly>{cols} : std::vector<Poly>{rows, cols};
}

std::vector<Poly> Lifter::shape_of(const Memory& memory) const { return pick(memory, memory.rows, memory.cols); }

const ShapedValue& Lifter::current(int number) {
  Memory& memory = memories_[number];
  if (!memory.now) {
    const std::vector<Poly> dims = shape_of(memory);
    std::vector<std::string> symbols;  // "%n", "16 * %n": what the text computes of the arguments
    for (const Poly& dim : dims)
      symbols.push_back(!dim.constant() && scalars_.only_arguments(dim) ? prefix_ + scalars_.text(dim) : "");
    memory.input = build_.input({memory.element.dtype, Builder::static_dims(dims), {}}, std::move(symbols));
    memory.now = ShapedValue{memory.input, dims};
  }
  return *memory.now;
}

/// For one tile per core without a loop: requires as many cores as cover `extent`.
Status Lifter::assume_cores(const Statement& s, Span& span, const Poly& extent) {
  Poly rest;
  const std::optional<Poly> each = scalars_.uses_cores() ? span.extent.factor_of(scalars_.block_num(), rest) : std::nullopt;
  if (!each || each->is(0) || !rest.is(0)) return {};
  const std::optional<int64_t> size = each->constant(), total = extent.constant();
  if (!size || !total || *size <= 0 || *total % *size != 0)
    return fail(s, "every core takes {} of {}, expected numbers of which one divides the other, or a loop", text(*each),
                text(extent));
  if (cores_ && *cores_ != *total / *size) return fail(s, "it takes {} cores, expected {} as before", *total / *size, *cores_);
  cores_ = *total / *size;
  span.extent = extent;
  return {};
}

/// Checks that the covered part lies inside the memory. If that depends on arguments, it is checked when the kernel runs.
Status Lifter::fit(const Statement& s, int number, Cover& cover) {
  const Memory& memory = memories_[number];
  const Poly extents[] = {memory.rows, memory.cols};
  constexpr const char* kNames[] = {"rows", "columns"};
  for (size_t d = 0; d < 2; ++d) {
    Span& span = cover[d];
    STREW_TRY(assume_cores(s, span, extents[d]));
    if (span.begin.is(0) && span.extent == extents[d]) continue;
    const std::optional<int64_t> begin = span.begin.constant(), extent = span.extent.constant(), all = extents[d].constant();
    const bool inside = !begin || !all || !extent || (*begin >= 0 && *extent <= *all && *begin <= *all - *extent);
    if (extent && inside && scalars_.only_arguments(span.begin)) continue;
    return fail(s, "{} {} to {} of %{} are used, expected {}{}", kNames[d], text(span.begin),
                text(scalars_.add(span.begin, span.extent)), memory.name, extent && all ? "at most " : "all of its ",
                text(extents[d]));
  }
  return {};
}

Status Lifter::put(const Statement& s, int number, const Cover& cover, const ShapedValue& value) {
  Memory& memory = memories_[number];
  memory.written = true;
  const std::string where = build_.location(s.at, "put into %" + memory.name);
  STREW_ASSIGN(ShapedValue shaped, build_.reshaped(value, extent_of(memory, cover), where, memory.now ? memory.now->value : -1));
  if (cover[0].extent != memory.rows || cover[1].extent != memory.cols) {
    STREW_ASSIGN(shaped, build_.placed(ShapedValue(current(number)), shaped, begin_of(memory, cover), where));
  }
  memory.now = std::move(shaped);
  return {};
}

/// Adds the requirements on the caller's tensors and scalars to each kernel; they are checked before the kernel runs.
Status Lifter::add_requirements() {
  KernelArguments all;
  const std::string where = build_.location(function_.at, "scalar arguments");
  for (const Memory& memory : memories_) {
    if (memory.input < 0) continue;
    const std::vector<Poly> dims = shape_of(memory);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d].constant() || !scalars_.only_arguments(dims[d])) continue;
      const std::optional<SymbolId> alone = dims[d].alone();
      const bool plain = alone && scalars_[*alone].kind == SymbolKind::argument;
      int wanted = plain ? build_.arguments[scalars_[*alone].argument] : -1;
      if (!plain) {
        STREW_ASSIGN(wanted, build_.scalar(dims[d], where));
      }
      if (plain && imported_.value(wanted).like < 0) {
        const auto value = imported_.edit_value(wanted);
        value->like = memory.input;
        value->like_dim = static_cast<int>(d);
      }
      all.push_back(KernelArgument::equal_scalars(ProgramBuilder(imported_, where).extent(memory.input, static_cast<int64_t>(d)),
                                                  wanted, fmt::format("dim {} of {}", d, memory.name),
                                                  fmt::format(" as {} says", text(dims[d]))));
    }
  }
  for (const auto& [value, divisor] : multiples_) {
    if (!scalars_.only_arguments(value)) continue;
    STREW_ASSIGN(const int remainder, build_.scalar(value, where, divisor));
    all.push_back(KernelArgument::equal_scalars(remainder, build_.integer(0), fmt::format("{} modulo {}", text(value), divisor),
                                                ": the program has no partial tile"));
  }
  for (size_t k = first_kernel_; k < imported_.kernels().size(); ++k) {
    const auto kernel = imported_.edit_kernel(static_cast<int>(k));
    kernel->arguments.insert(kernel->arguments.end(), all.begin(), all.end());
  }
  return {};
}

Status Lifter::finish() {
  if (imported_.kernels().size() == first_kernel_)
    return unsupported(build_.location(function_.at, function_.name.empty() ? "the program" : "@" + function_.name) +
                       ": it has no mscatter or mgather, expected at least one");
  STREW_TRY(add_requirements());
  std::set<int> used;
  for (const Compute& c : imported_.computes()) used.insert(c.arguments.begin(), c.arguments.end());
  size_t next_memory = 0, next_scalar = 0;
  for (const Argument& a : function_.arguments) {
    if (a.type.kind == TypeKind::tile) continue;
    const bool scalar = a.type.kind == TypeKind::index || a.type.kind == TypeKind::scalar;
    const int number = scalar ? build_.arguments[next_scalar++] : memories_[next_memory++].input;
    if (number < 0) continue;
    const Value& value = imported_.value(number);
    const bool is_optional = scalar && (value.like >= 0 || used.count(number) == 0);
    imported_.become_input(number, {prefix_ + a.name, value.type, is_optional, true});
  }
  for (const Memory& memory : memories_)
    if (memory.written) imported_.add_output({prefix_ + memory.name, memory.now->value});
  return {};
}

}  // namespace strew::inline v0::pto
