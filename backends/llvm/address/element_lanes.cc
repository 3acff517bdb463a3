// See element_lanes.h. Offsets are extracted from vector registers: storing the vector and loading its lanes took twice the time.
// Tested by tests/differential and tests/golden/machine_code_test.cc.
#include "backends/llvm/address/element_lanes.h"

#include "backends/llvm/address/window.h"

namespace strew::inline v0 {
using llvm::Value;
using lowered::kIndexLanes;

namespace {

llvm::FixedVectorType* wide_lanes(Frame& f) { return llvm::FixedVectorType::get(f.e.b.getInt64Ty(), kIndexLanes); }
Value* splat(Frame& f, Value* scalar) { return f.e.b.CreateVectorSplat(kIndexLanes, scalar); }

}  // namespace

ElementLanes::ElementLanes(Frame& frame, const Pointers& p) : f_(frame), offsets_(nullptr) {
  const int tensor = f_.indexed();
  const auto at = static_cast<size_t>(tensor);
  const Placement placement = place_lanes(f_, p);
  offsets_ = llvm::Constant::getNullValue(wide_lanes(f_));
  for (size_t k = 0; k < placement.components.size(); ++k) {
    Value* start = f_.e.b.CreateSExt(placement.components[k].start, wide_lanes(f_));
    const int64_t bytes = placement.source.components[k].strides[at].factor * f_.element_bytes(tensor);
    offsets_ = f_.e.b.CreateAdd(offsets_, f_.e.b.CreateMul(start, splat(f_, f_.e.i64(bytes))));
  }
  if (!f_.entry.walk.sinks || placement.inside == nullptr) return;
  Value* const elements = f_.e.b.CreateGEP(f_.e.b.getInt8Ty(), p[at], offsets_);  // not in bounds where the policy drops
  addresses_ = f_.e.b.CreateSelect(placement.inside, elements, sinks_of_lanes(f_, kIndexLanes));
}

Pointers ElementLanes::moved(Pointers p, int lane) const {
  Value*& element = p[static_cast<size_t>(f_.indexed())];
  Value* const place = f_.e.b.CreateExtractElement(addresses_ != nullptr ? addresses_ : offsets_, static_cast<uint64_t>(lane));
  element = addresses_ != nullptr ? place : f_.e.at(element, place);
  return p;
}

}  // namespace strew::inline v0
