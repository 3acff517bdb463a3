// See region.h. A value comes after the values that it is made of, so visiting values by descending number meets all readers of a value before the value
// itself; the value joins the region if the region holds all of its readers.
//
// A kernel computes each node of its graph for every element of its result. So elementwise operations on smaller tensors, which are broadcast afterwards,
// stay outside: they would be computed again and again.
//
// A value that is put together and that only another such value reads is written where it lies in that one.
#include "compiler/program/pieces/region.h"

#include <algorithm>
#include <functional>
#include <map>

#include "compiler/op/dims.h"
#include "compiler/program/pieces/view.h"

namespace strew::inline v0 {
namespace {

constexpr size_t kMostNodes = 256;
/// Of values that are put together from values that are put together.
constexpr int kMostDepth = 8;

bool is_whole_bytes(DType dtype) { return dtype != DType::string && bits(dtype) >= 8; }

bool counts(const Compute& compute) {
  const auto* iota = compute.as<IotaOp>();
  return iota != nullptr && (iota->takes_shape || is_static(compute.results[0].dims));
}

/// How many of the arguments have the elements that the result is put together from; 0: it is not.
size_t part_count(const Compute& compute) {
  if (compute.as<ConcatenateOp>() != nullptr) return compute.arguments.size();
  return compute.as<UpdateOp>() != nullptr ? 2 : 0;
}

/// Does it read elements where the call says?
bool slices_from(const Compute& compute) { return compute.as<SliceOp>() != nullptr && compute.arguments.size() > 1; }

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

void add_unless_there(std::vector<int>& list, int number) {
  if (std::ranges::find(list, number) == list.end()) list.push_back(number);
}

class Grower {
 public:
  Grower(const Program& program, const std::set<int>& apart) : program_(program), apart_(apart) {}

  /// The region that ends with computes[last].
  Region grow(int last, int depth) {
    region_.value = program_.result_of(last);
    const Compute& compute = program_.compute(last);
    if (const size_t parts = part_count(compute); parts > 0 && is_whole_bytes(compute.results[0].dtype)) {
      put_together(last, parts, depth);
      return std::move(region_);
    }
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
      if (grows && !is_initial && compute.arguments[a] != shape_of(compute)) ++seen.readers;
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

  void put_together(int last, size_t parts, int depth) {
    const Compute& compute = program_.compute(last);
    for (size_t a = 0; a < compute.arguments.size(); ++a) {
      const int argument = compute.arguments[a];
      if (a >= parts) {
        add_unless_there(region_.leaves, argument);
        continue;
      }
      // What is written at a place that only the call knows is one kernel.
      const bool is_placed = a == 1 && compute.arguments.size() > parts && compute.as<UpdateOp>() != nullptr;
      Region part = part_of(argument, is_placed ? kMostDepth : depth);
      region_.members.insert(region_.members.end(), part.members.begin(), part.members.end());
      for (const int leaf : part.leaves) add_unless_there(region_.leaves, leaf);
      region_.parts.push_back(std::move(part));
    }
    std::ranges::sort(region_.members);
    region_.members.push_back(last);
  }
  Region part_of(int v, int depth) const {
    const Value& value = program_.value(v);
    if (joins(v, {1, false})) return Grower(program_, apart_).grow(value.index, depth);
    const bool is_only_reader = value.kind == ValueKind::compute && program_.readers(v) == 1 && !apart_.contains(v);
    if (is_only_reader && depth < kMostDepth && part_count(program_.compute(value.index)) > 0)
      return Grower(program_, apart_).grow(value.index, depth + 1);
    return {v, {}, {v}, {}};
  }

  const Program& program_;
  const std::set<int>& apart_;
  Region region_;
  std::map<int, Seen, std::greater<>> open_;
  size_t nodes_ = 0;
};

}  // namespace

Region region_of(const Program& program, int last, const std::set<int>& apart) { return Grower(program, apart).grow(last, 0); }

bool can_compile(const Program& program, const Region& region) {
  const Compute& last = program.compute(region.last());
  const bool is_known = last.as<MapOp>() != nullptr || last.as<ReduceOp>() != nullptr || moves(last) || counts(last) ||
                        slices_from(last) || !region.parts.empty();
  const auto has_bytes = [&](int value) { return is_whole_bytes(program.value(value).type.dtype); };
  return is_known && std::ranges::all_of(last.results, [](const TensorType& type) { return is_whole_bytes(type.dtype); }) &&
         std::ranges::all_of(region.leaves, has_bytes);
}

}  // namespace strew::inline v0
