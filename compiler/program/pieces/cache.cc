// See cache.h.
#include "compiler/program/pieces/cache.h"

#include <algorithm>
#include <utility>

#include "base/number.h"
#include "compiler/program/interpret/interpret.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostKernels = 256, kMostMade = 8;

/// Does a reduction begin with values that are no constants?
bool has_computed_initials(const Program& program, const Compute& reduction) {
  for (size_t i = reduction.results.size(); reduction.as<ReduceOp>() != nullptr && i < reduction.arguments.size(); ++i)
    if (program.constant_of(reduction.arguments[i]) == nullptr) return true;
  return false;
}

/// How many elements the interpreter would compute.
int64_t work_of(const Program& program, const Region& region, const std::function<const Tensor&(int)>& tensor) {
  int64_t most = 1;
  for (const int leaf : region.leaves) most = std::max(most, tensor(leaf).elements());
  // Of a broadcast or an iota the result says more.
  for (const int member : region.members) {
    int64_t elements = 1;
    for (const int64_t extent : program.compute(member).results[0].dims) elements *= std::max<int64_t>(extent, 1);
    most = std::max(most, elements);
  }
  return most * static_cast<int64_t>(region.members.size());
}

/// The extents that members take from leaves.
std::vector<int64_t> shapes_of(const Program& program, const Region& region, const std::function<const Tensor&(int)>& tensor) {
  std::vector<int64_t> out;
  for (const int member : region.members) {
    const int shape = shape_of(program.compute(member));
    for (int64_t i = 0; shape >= 0 && i < tensor(shape).elements(); ++i) out.push_back(integer_at(tensor(shape), i));
  }
  return out;
}

size_t kernel_count(const PieceChoice& choice) {
  if (std::holds_alternative<Piece>(choice)) return 1;
  const auto* const assembly = std::get_if<Assembly>(&choice);
  if (assembly == nullptr) return 0;
  return static_cast<size_t>(std::ranges::count_if(
      assembly->writes, [](const Assembly::Write& write) { return std::holds_alternative<Piece>(write.what); }));
}

}  // namespace

std::shared_ptr<const PieceCache::Choice> PieceCache::none() {
  static const auto& none = *new const std::shared_ptr<const Choice>(std::make_shared<const Choice>(NoPiece{}));
  return none;
}

PieceCache::Entry& PieceCache::entry(const Program& program, int last) {
  Entry& found = entries_[last];
  if (found.region == nullptr) {
    found.region = std::make_shared<const Region>(region_of(program, last, apart_));
    found.can_compile = strew::can_compile(program, *found.region);
  }
  return found;
}

std::shared_ptr<const Region> PieceCache::region(const Program& program, int last) {
  const std::lock_guard lock(mutex_);
  return entry(program, last).region;
}

std::shared_ptr<const PieceCache::Choice> PieceCache::find(const Program& program, const Region& region,
                                                           const std::function<const Tensor&(int value)>& tensor,
                                                           int64_t interpreted_elements) {
  const std::lock_guard lock(mutex_);
  Entry& of = entry(program, region.last());
  if (of.region.get() != &region) return nullptr;
  if (!of.can_compile) return none();
  const Compute& last = program.compute(region.last());
  const std::vector<int64_t> shapes = shapes_of(program, region, tensor);
  std::vector<Scalar> initials;
  for (size_t i = last.results.size(); last.as<ReduceOp>() != nullptr && i < last.arguments.size(); ++i) {
    const Tensor& initial = tensor(last.arguments[i]);
    initials.push_back(load_element(initial.dtype, initial.data.data(), 0));
  }
  const auto fits = [&](const Made& made) {
    if (made.initials != initials || made.shapes != shapes) return false;
    for (size_t l = 0; l < region.leaves.size(); ++l)
      if (made.dims[l] != tensor(region.leaves[l]).dims) return false;
    return true;
  };
  const auto found = std::ranges::find_if(of.made, fits);
  if (found != of.made.end()) return found->choice;
  of.done += work_of(program, region, tensor);
  // Ops of other dims share kernels, those with other initial values do not.
  if (of.made.size() >= kMostMade && has_computed_initials(program, last)) return none();
  if (of.done < interpreted_elements || (of.made.empty() && kernels_ >= kMostKernels)) return none();
  Choice made = choose_pieces(program, region, tensor);
  if (const auto* const no = std::get_if<NoPiece>(&made); no != nullptr && no->apart >= 0) {
    apart_.insert(no->apart);
    entries_.erase(region.last());
    return nullptr;
  }
  if (of.made.empty()) kernels_ += kernel_count(made);
  if (of.made.size() >= kMostMade) of.made.erase(of.made.begin());
  std::vector<std::vector<int64_t>> dims;
  for (const int leaf : region.leaves) dims.push_back(tensor(leaf).dims);
  of.made.push_back({std::move(dims), shapes, std::move(initials), std::make_shared<const Choice>(std::move(made))});
  return of.made.back().choice;
}

}  // namespace strew::inline v0
