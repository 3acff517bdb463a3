// See grower.h. What cannot be built (a reduction without a first value, a shape that does not divide) is left out, and the program goes on as if
// it had not been drawn. Tested by every run of strew_program_differential, which fails if a kind of node is never built.
#include "tests/differential/programs/grower.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number.h"
#include "strew/text.h"
#include "tests/differential/random_data.h"
#include "tests/differential/random_expr.h"
#include "tests/support/elements.h"

namespace strew::test {
namespace {

constexpr int64_t kSmall = 600, kLarge = 20'000;  // elements of a value
constexpr int kMostRank = 4;

std::string list_of(const std::vector<int>& values) {
  std::string out;
  for (const int v : values) out += fmt::format("{}%{}", out.empty() ? "" : ", ", v);
  return out;
}

}  // namespace

Grower::Grower(uint64_t seed) : seed_(seed), rng_(Rng::stream(seed, 0)) {
  out_.program.set_format("drawn");
  limit_ = rng_.chance(90) ? kSmall : kLarge;
  usual_ = rng_.chance(45) ? DType::f32 : static_cast<DType>(rng_.below(kDTypeCount));
  if (usual_ == DType::string) usual_ = DType::i32;
  if (rng_.chance(30))
    for (int64_t n = rng_.between(1, 2); n > 0; --n) open_.push_back(out_.extents.variable(rng_.between(1, 12)));
}

const std::vector<Grower::Kind>& Grower::table() {
  static const std::vector<Kind> list{{"map", 14, &Grower::map},
                                      {"convert", 4, &Grower::convert},
                                      {"apply", 6, &Grower::apply},
                                      {"reduce", 7, &Grower::reduce},
                                      {"reduce_by_graph", 3, &Grower::reduce_by_graph},
                                      {"scan", 3, &Grower::scan},
                                      {"transpose", 8, &Grower::transpose},
                                      {"broadcast", 6, &Grower::broadcast},
                                      {"reshape_units", 5, &Grower::reshape_units},
                                      {"reshape", 5, &Grower::reshape},
                                      {"slice", 4, &Grower::slice},
                                      {"slice_from", 2, &Grower::slice_from},
                                      {"update", 3, &Grower::update},
                                      {"concatenate", 4, &Grower::concatenate},
                                      {"reverse", 3, &Grower::reverse},
                                      {"pad", 2, &Grower::pad},
                                      {"iota", 2, &Grower::iota},
                                      {"one_hot", 2, &Grower::one_hot},
                                      {"extent", 1, &Grower::extent},
                                      {"gather", 7, &Grower::gather},
                                      {"gather_rows", 4, &Grower::gather_rows},
                                      {"gather_elements", 4, &Grower::gather_elements},
                                      {"gather_nd", 4, &Grower::gather_nd},
                                      {"dynamic_slice", 2, &Grower::dynamic_slice},
                                      {"scatter_rows", 8, &Grower::scatter_rows},
                                      {"scatter_elements", 5, &Grower::scatter_elements},
                                      {"scatter_nd", 5, &Grower::scatter_nd},
                                      {"dynamic_update_slice", 3, &Grower::dynamic_update_slice},
                                      {"tensor_scatter", 3, &Grower::tensor_scatter},
                                      {"messages", 6, &Grower::messages},
                                      {"messages_shared", 4, &Grower::messages_shared},
                                      {"bags", 4, &Grower::bags},
                                      {"transposed", 5, &Grower::transposed}};
  return list;
}

std::vector<std::string> Grower::kinds() {
  std::vector<std::string> out;
  for (const Kind& kind : table()) out.emplace_back(kind.name);
  return out;
}

void Grower::add_node(int number) {
  rng_ = Rng::stream(seed_, static_cast<uint64_t>(number) + 1);
  int64_t all = 0;
  for (const Kind& kind : table()) all += kind.weight;
  constexpr int kTries = 4;
  for (int tries = 0; tries < kTries; ++tries) {
    int64_t at = rng_.below(all);
    const Kind* kind = table().data();
    while (at >= kind->weight) at -= (kind++)->weight;
    location_ = fmt::format("drawn:{}: {}", number, kind->name);
    const Program::Checkpoint before = out_.program.checkpoint();
    const size_t inputs = out_.inputs.size(), values = drawn_.size();
    builder_.emplace(out_.program, location_);
    Expected<Drawn> drawn = (this->*kind->draw)();
    if (drawn.ok() && fits(drawn->dims)) {
      drawn_.push_back(*drawn);
      ++out_.nodes[kind->name];
      return;
    }
    out_.program.rollback(before);
    out_.inputs.resize(inputs);
    drawn_.resize(values);
    if (!drawn.ok()) ++out_.refused[std::string(kind->name) + ": " + drawn.status().message()];
  }
}

RandomProgram Grower::finish() {
  rng_ = Rng::stream(seed_, ~uint64_t{0});
  builder_.emplace(out_.program, "drawn: outputs");
  if (drawn_.empty()) drawn_.push_back(data(usual_, random_dims(1)));
  std::vector<Drawn> outputs;
  for (size_t i = 0; i < drawn_.size(); ++i) {
    const Drawn& drawn = drawn_[i];
    const Value& value = out_.program.value(drawn.value);
    const bool is_given = value.kind == ValueKind::input || value.kind == ValueKind::constant;
    const int percent = i + 1 == drawn_.size() ? 100 : is_given ? 6 : out_.program.readers(drawn.value) == 0 ? 75 : 14;
    if (rng_.chance(percent)) outputs.push_back(drawn);
  }
  if (rng_.chance(5)) outputs.push_back(rng_.pick(outputs));
  rng_.shuffle(outputs);
  for (const Drawn& each : outputs) {
    out_.program.add_output({fmt::format("out{}", out_.program.outputs().size()), each.value});
    out_.is_moved.push_back(each.is_moved);
  }
  return std::move(out_);
}

DType Grower::random_dtype() {
  if (rng_.chance(65)) return usual_;
  static const std::vector<DType> common{DType::f32,     DType::f32, DType::i32,  DType::i64,
                                         DType::boolean, DType::f16, DType::bf16, DType::f64};
  if (rng_.chance(60)) return rng_.pick(common);
  const auto dtype = static_cast<DType>(rng_.below(kDTypeCount));
  return dtype == DType::string ? DType::u8 : dtype;
}

ExtentId Grower::random_extent() {
  if (!open_.empty() && rng_.chance(40)) return rng_.pick(open_);
  static const std::vector<int64_t> list{0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 13, 16, 17, 32, 33, 64};
  return out_.extents.constant(rng_.pick(list));
}

ExtentIds Grower::random_dims(size_t rank) {
  ExtentIds out;
  for (size_t d = 0; d < rank; ++d) {
    out.push_back(random_extent());
    if (!fits(out)) out.back() = out_.extents.constant(rng_.between(1, 3));
  }
  rng_.shuffle(out);
  return out;
}

int64_t Grower::most_elements(const ExtentIds& dims) const {
  int64_t count = 1;
  for (const ExtentId id : dims) count *= std::max<int64_t>(out_.extents.most(id), 1);
  return count;
}

bool Grower::is_static(const ExtentIds& dims) const {
  return std::none_of(dims.begin(), dims.end(), [&](ExtentId id) { return out_.extents.is_open(id); });
}

std::vector<int64_t> Grower::type_dims(const ExtentIds& dims) const {
  std::vector<int64_t> out;
  for (const ExtentId id : dims) out.push_back(out_.extents.is_open(id) ? kDynamic : out_.extents.most(id));
  return out;
}

int Grower::input(DrawnInput input) {
  ProgramInput made;
  made.name = fmt::format("in{}", out_.inputs.size());
  made.type = {input.dtype, type_dims(input.dims), {}};
  out_.inputs.push_back(std::move(input));
  return builder().input(std::move(made));
}

Drawn Grower::constant(DType dtype, const ExtentIds& dims, const std::function<Scalar()>& element) {
  Constant made;
  made.type = {dtype, out_.extents.most(dims), {}};
  const int64_t count = count_of(made.type.dims);
  made.data.resize(static_cast<size_t>(storage_bytes(dtype, count)));
  for (int64_t e = 0; e < count; ++e) store_element(made.data.data(), element(), e);
  return {builder().add_constant(std::move(made)), dtype, dims, true};
}

Drawn Grower::data(DType dtype, const ExtentIds& dims) {
  constexpr int64_t kMostConstant = 300;
  Drawn out{-1, dtype, dims, true};
  if (is_static(dims) && most_elements(dims) <= kMostConstant && rng_.chance(15)) {
    out = constant(dtype, dims, [&] { return random_value(rng_, dtype, DataMode::ordinary); });
  } else if (is_static(dims) && rng_.chance(10)) {
    const Expected<int> splat = builder().broadcast(scalar(dtype), type_dims(dims));
    if (splat.ok()) out.value = *splat;
  }
  if (out.value < 0) out.value = input({DrawnInput::Kind::data, dtype, dims});
  drawn_.push_back(out);
  return out;
}

int Grower::scalar(DType dtype) {
  if (!info(dtype).arithmetic || rng_.chance(25)) return input({DrawnInput::Kind::data, dtype, {}});
  return builder().scalar(random_value(rng_, dtype, rng_.chance(60) ? DataMode::small : DataMode::nasty));
}

std::optional<Drawn> Grower::find(const std::function<bool(const Drawn&)>& holds) {
  std::vector<Drawn> found;
  for (const Drawn& drawn : drawn_)
    if (holds(drawn)) found.push_back(drawn);
  if (found.empty()) return std::nullopt;
  return reads_last_ || rng_.chance(60) ? found.back() : rng_.pick(found);
}

Drawn Grower::any(size_t least) {
  if (reads_last_ || !rng_.chance(8))
    if (const auto found = find([&](const Drawn& drawn) { return drawn.rank() >= least; })) return *found;
  return data(random_dtype(), random_dims(std::max<size_t>(least, static_cast<size_t>(rng_.between(1, kMostRank - 1)))));
}

Drawn Grower::like(DType dtype, const ExtentIds& dims) {
  if (rng_.chance(60))
    if (const auto found = find([&](const Drawn& drawn) { return drawn.dtype == dtype && drawn.dims == dims; })) return *found;
  return data(dtype, dims);
}

std::optional<int> Grower::extent_value(ExtentId id) {
  if (!out_.extents.is_open(id)) return builder().integer(out_.extents.most(id));
  for (const Drawn& drawn : drawn_)
    for (size_t d = 0; d < drawn.rank(); ++d)
      if (drawn.dims[d] == id) return builder().extent(drawn.value, static_cast<int64_t>(d));
  return std::nullopt;
}

Expected<int> Grower::shape(const ExtentIds& dims) {
  std::vector<int> extents;
  for (const ExtentId id : dims) {
    const std::optional<int> value = extent_value(id);
    if (!value) return nothing("no value has the extent");
    extents.push_back(*value);
  }
  return builder().stack(extents, DType::i64);
}

Expr Grower::random_function(const std::vector<DType>& extras, DType result) {
  std::vector<ExprInput> inputs;
  for (const DType dtype : extras) inputs.push_back({ExprOp::extra, static_cast<int>(inputs.size()), dtype});
  return random_expr(rng_, inputs, {result}, {static_cast<int>(rng_.between(1, 3)), rng_.chance(30)});
}

int node_count(uint64_t seed) { return static_cast<int>(Rng::stream(seed, 1000).between(2, 12)); }

RandomProgram random_program(uint64_t seed, int nodes, const std::set<int>& without) {
  Grower grower(seed);
  for (int n = 0; n < nodes; ++n)
    if (without.count(n) == 0) grower.add_node(n);
  return grower.finish();
}

std::vector<std::string> node_kinds() { return Grower::kinds(); }

std::string listing(const Program& program) {
  std::string out;
  for (size_t v = 0; v < program.values().size(); ++v) {
    const Value& value = program.values()[v];
    std::string what;
    switch (value.kind) {
      case ValueKind::input:
        what = "input " + program.input(value.index).name;
        break;
      case ValueKind::constant:
        what = "constant";
        break;
      case ValueKind::stack:
        what = "stack(" + list_of(value.parts) + ")";
        break;
      case ValueKind::extent:
        what = fmt::format("extent {} of %{}", value.like_dim, value.like);
        break;
      case ValueKind::compute: {
        const Compute& compute = program.compute(value.index);
        what = fmt::format("{} ({})", compute.location, list_of(compute.arguments));
        if (compute.disposition != ComputeDisposition::interpreted) what += ", no longer interpreted";
        break;
      }
      case ValueKind::result: {
        const ProgramKernel& kernel = program.kernel(value.index);
        what = fmt::format("{} ({}): {}", kernel.location, list_of(kernel.tensors()), print(kernel.op));
        break;
      }
      case ValueKind::zeros:
      case ValueKind::opaque:
      case ValueKind::none:
        what = "none";
        break;
    }
    out += fmt::format("    %{} {} = {}\n", v, type_text(value.type, value.symbols), what);
  }
  for (const ProgramOutput& output : program.outputs()) out += fmt::format("    output {} = %{}\n", output.name, output.value);
  return out;
}

}  // namespace strew::test
