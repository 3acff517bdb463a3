// See row_pack.h. On Zen 4 with a table in the first-level cache, a position takes 0.45 to 0.9 of the time of one at a time (rows of 4 to 32 bytes;
// gathers and scatters), most of it because positions share the loop's own instructions. Wider vectors gained nothing. Where lines come from main
// memory, eight stores in a row waited up to 1.1 times as long as one per position, so nothing is packed where the schedule prefetches; nor are rows
// of 32 bytes scattered so.
//
// Rows are held in lanes of floats: such loads and stores are whole instructions at either half of a register, and change no bit. A gather's row
// that the policy fills is loaded from a constant row instead, as a sink slot does (address/sink_slot.h). Updates that a scatter drops are branched
// over. Tested by tests/differential and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/row_pack.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "backends/llvm/address/index.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {

constexpr int64_t kLeastBytes = 4, kMostBytes = 32, kMostScattered = 16;

int64_t row_bytes_of(const Frame& f) { return f.plan.window.back().extent.factor * f.element_bytes(f.indexed()); }

/// The bytes of a vector that holds several rows. LLVM stores halves of 16 bytes one by one rather than joins them.
int64_t vector_bytes_of(const Frame& f) {
  constexpr int64_t kJoined = 16, kParted = 32;
  return std::min<int64_t>(f.plan.gather ? kJoined : kParted, f.schedule.vector_bytes);
}

/// The tensor that is read or written in the order of the positions.
int ordered(const Plan& plan) { return plan.gather ? plan.result(0) : plan.update(0); }

bool fills(const Plan& plan) { return is_fill(plan.primary().oob); }

/// Does every position either move the whole row or, in a scatter, none of it, without a loop or a division?
bool is_whole(const Plan& plan) {
  const auto has_room = [&](const Component& c) {
    const bool known = c.dim.is_static() && c.window.is_static() && c.dim.factor >= c.window.factor;
    return plan.primary().oob == OobPolicy::clamp ? known : c.window.is(1);
  };
  if (plan.primary().oob == OobPolicy::wrap || plan.window.back().move().is_bounded) return false;
  return plan.primary().oob == OobPolicy::undefined || plan.primary().oob == OobPolicy::error ||
         std::ranges::all_of(plan.primary().components, has_room);
}

/// The fill value as often as a row has elements, as a constant of the object; null if the value has no constant.
llvm::GlobalVariable* fill_row(Frame& f) {
  auto* value = llvm::dyn_cast<llvm::Constant>(f.numeric.literal_storage(f.plan.primary().fill, 1));
  if (value == nullptr) return nullptr;
  const std::vector<llvm::Constant*> elements(static_cast<size_t>(f.plan.window.back().extent.factor), value);
  auto* row = llvm::ConstantArray::get(llvm::ArrayType::get(value->getType(), elements.size()), elements);
  auto* global = new llvm::GlobalVariable(*f.e.function.getParent(), row->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, row, "fill_row");
  global->setAlignment(llvm::Align(kMostBytes));
  return global;
}

}  // namespace

bool RowPack::pays(const Frame& f) {
  const Plan& plan = f.plan;
  if (f.target.arch != "x86_64" || f.schedule.prefetch > 0 || f.schedule.nontemporal) return false;
  if (!plan.pure_move || plan.pairs != 1 || plan.window.size() != 1 || plan.positions.empty() || f.packed(f.indexed()))
    return false;
  const Loop& run = plan.window.back();
  const auto tensor = static_cast<size_t>(ordered(plan)), table = static_cast<size_t>(f.indexed());
  if (!run.extent.is_static() || !run.strides[tensor].is(1) || !run.strides[table].is(1) || !is_whole(plan)) return false;
  if (fills(plan) && plan.tensors[table].dtype == DType::string) return false;
  const int64_t bytes = row_bytes_of(f);
  return bytes >= kLeastBytes && bytes <= (plan.gather ? kMostBytes : kMostScattered) && bytes <= f.schedule.vector_bytes &&
         std::has_single_bit(static_cast<uint64_t>(bytes)) && plan.positions.back().strides[tensor].is(run.extent.factor);
}

RowPack::RowPack(Frame& frame)
    : f_(frame),
      row_bytes_(row_bytes_of(frame)),
      together_(static_cast<int>(std::max<int64_t>(1, vector_bytes_of(frame) / row_bytes_))) {
  if (frame.plan.gather && fills(frame.plan)) fill_ = fill_row(frame);
}

void RowPack::apply(llvm::function_ref<Pointers(int)> at) { f_.plan.gather ? gather(at) : scatter(at); }

void RowPack::gather(llvm::function_ref<Pointers(int)> at) {
  const auto operand = static_cast<size_t>(f_.plan.operand(0));
  Value* to = at(0)[static_cast<size_t>(f_.plan.result(0))];
  std::vector<Value*> rows;
  for (int k = 0; k < kRows; ++k) {
    const Pointers p = at(k);
    const Placement placement = place(f_, f_.plan.primary(), p);
    Value* from = moved(f_, p, placement)[operand];
    if (fill_ != nullptr) from = f_.e.b.CreateSelect(placement.inside, from, fill_);
    rows.push_back(f_.e.load(type_of(1), from, Access::input));
  }
  const auto each = static_cast<size_t>(together_);
  for (size_t k = 0; k < rows.size(); k += each) {
    Value* vector = join(llvm::ArrayRef(rows).slice(k, each));
    f_.e.store(vector, f_.e.at(to, f_.e.i64(static_cast<int64_t>(k) * row_bytes_)));
  }
}

void RowPack::scatter(llvm::function_ref<Pointers(int)> at) {
  const auto result = static_cast<size_t>(f_.plan.result(0));
  Value* from = at(0)[static_cast<size_t>(f_.plan.update(0))];
  Value* vector = nullptr;
  for (int k = 0; k < kRows; ++k) {
    if (k % together_ == 0) vector = f_.e.load(type_of(together_), f_.e.at(from, f_.e.i64(k * row_bytes_)), Access::input);
    const Pointers p = at(k);
    const Placement placement = place(f_, f_.plan.primary(), p);
    Value* to = moved(f_, p, placement)[result];
    f_.e.when_likely(
        placement.inside, [&] { f_.e.store(part(vector, k % together_), to); }, [] {});
  }
}

/// A float of 4 or 8 bytes, or a vector of them.
llvm::Type* RowPack::type_of(int rows) const {
  llvm::Type* lane = row_bytes_ == 4 ? f_.e.b.getFloatTy() : f_.e.b.getDoubleTy();
  const int64_t lanes = rows * row_bytes_ / (row_bytes_ == 4 ? 4 : 8);
  return lanes == 1 ? lane : llvm::FixedVectorType::get(lane, static_cast<unsigned>(lanes));
}

/// The rows one after the other in a vector.
Value* RowPack::join(llvm::ArrayRef<Value*> rows) {
  if (rows.size() == 1) return rows[0];
  Value* vector = llvm::PoisonValue::get(type_of(static_cast<int>(rows.size())));
  for (size_t k = 0; k < rows.size(); ++k) vector = f_.e.b.CreateInsertElement(vector, rows[k], k);
  return vector;
}

/// Row k of a vector.
Value* RowPack::part(Value* vector, int k) {
  if (together_ == 1) return vector;
  const auto* const row = llvm::dyn_cast<llvm::FixedVectorType>(type_of(1));
  if (row == nullptr) return f_.e.b.CreateExtractElement(vector, static_cast<uint64_t>(k));
  std::vector<int> lanes(row->getNumElements());
  std::iota(lanes.begin(), lanes.end(), k * static_cast<int>(lanes.size()));
  return f_.e.b.CreateShuffleVector(vector, lanes);
}

}  // namespace strew::inline v0
