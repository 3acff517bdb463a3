// See region.h. A value comes after the values that it is made of, so visiting values by descending number meets all readers of a value before the value
// itself; the value joins the region if the region holds all of its readers.
//
// A kernel computes each node of its graph for every element of its result. So elementwise operations on smaller tensors, which are broadcast afterwards,
// stay outside: they would be computed again and again.
#include "compiler/program/pieces/region.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/op/dims.h"
#include "compiler/program/pieces/view.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostNodes = 256;

bool is_whole_bytes(DType dtype) { return dtype != DType::string && bits(dtype) >= 8; }

bool counts(const Compute& compute) {
  const auto* iota = compute.as<IotaOp>();
  return iota != nullptr && !iota->takes_shape && is_static(compute.results[0].dims);
}

/// May more elements be read of the result than the argument has?
bool repeats(const Program& program, const Compute& compute) {
  if (compute.as<BroadcastOp>() == nullptr) return false;
  const Value& from = program.value(compute.arguments[0]);
  if (!is_static(from.type.dims) || !is_static(compute.results[0].dims)) return true;
  return View::of(from.type.dims).elements() != View::of(compute.results[0].dims).elements();
}

struct Seen {
  int readers = 0;
  bool is_repeated = false;  ///< behind a broadcast
};

class Grower {
 public:
  Grower(const Program& program, const std::set<int>& apart) : program_(program), apart_(apart) {}

  Region grow(int last) {
    add(last, false);
    while (!open_.empty()) {
      const auto [value, seen] = *open_.begin();
      open_.erase(open_.begin());
      if (joins(value, seen))
        add(program_.value(value).index, seen.is_repeated);
      else
        region_.leaves.push_back(value);
    }
    std::reverse(region_.members.begin(), region_.members.end());
    return std::move(region_);
  }

 private:
  void add(int number, bool is_repeated) {
    const Compute& compute = program_.compute(number);
    region_.members.push_back(number);
    if (const auto* map = compute.as<MapOp>(); map != nullptr) nodes_ += map->function.nodes.size();
    const bool grows = compute.as<MapOp>() != nullptr || compute.as<ReduceOp>() != nullptr || moves(compute);
    for (size_t a = 0; a < compute.arguments.size(); ++a) {
      const bool is_initial = compute.as<ReduceOp>() != nullptr && a >= compute.results.size();
      Seen& seen = open_[compute.arguments[a]];
      if (grows && !is_initial) ++seen.readers;
      seen.is_repeated = seen.is_repeated || is_repeated || repeats(program_, compute);
    }
  }

  /// What has rank 0 is computed once, and read by all elements.
  bool joins(int v, const Seen& seen) const {
    const Value& value = program_.value(v);
    if (value.kind != ValueKind::compute || value.type.dims.empty() || program_.readers(v) != seen.readers) return false;
    const Compute& compute = program_.compute(value.index);
    if (apart_.contains(v) || compute.results.size() != 1 || !is_whole_bytes(value.type.dtype)) return false;
    if (moves(compute) || counts(compute)) return true;
    const auto* map = compute.as<MapOp>();
    return map != nullptr && !seen.is_repeated && nodes_ + map->function.nodes.size() <= kMostNodes;
  }

  const Program& program_;
  const std::set<int>& apart_;
  Region region_;
  std::map<int, Seen, std::greater<>> open_;
  size_t nodes_ = 0;
};

}  // namespace

Region region_of(const Program& program, int last, const std::set<int>& apart) { return Grower(program, apart).grow(last); }

bool can_compile(const Program& program, const Region& region) {
  const Compute& last = program.compute(region.last());
  const bool is_known = last.as<MapOp>() != nullptr || last.as<ReduceOp>() != nullptr || moves(last) || counts(last);
  const auto has_bytes = [&](int value) { return is_whole_bytes(program.value(value).type.dtype); };
  return is_known && std::ranges::all_of(last.results, [](const TensorType& type) { return is_whole_bytes(type.dtype); }) &&
         std::ranges::all_of(region.leaves, has_bytes);
}

}  // namespace strew::inline v0
