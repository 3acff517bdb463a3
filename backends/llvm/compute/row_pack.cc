// See row_pack.h. Rows are held in lanes of floats: such loads and stores are whole instructions at either half of a register, and change no bit. A
// gather's row that the policy fills is loaded from a constant row instead, as from a sink (address/window.cc). Updates that a scatter drops are
// branched over. Tested by tests/differential and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/row_pack.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "backends/llvm/address/index.h"

namespace strew::inline v0 {
using llvm::Value;

namespace {

constexpr int64_t kFillAlign = 32;

int64_t row_bytes_of(const Frame& f) { return f.plan.window.back().extent.factor * f.element_bytes(f.indexed()); }

/// The bytes of a vector that holds several rows. LLVM stores halves of 16 bytes one by one rather than joins them.
int64_t vector_bytes_of(const Frame& f) {
  constexpr int64_t kJoined = 16, kParted = 32;
  return std::min<int64_t>(f.plan.gather ? kJoined : kParted, f.schedule.vector_bytes);
}

/// The fill value as often as a row has elements, as a constant of the object; null if the value has no constant.
llvm::GlobalVariable* fill_row(Frame& f) {
  auto* value = llvm::dyn_cast<llvm::Constant>(f.numeric.literal_storage(f.plan.primary().fill, 1));
  if (value == nullptr) return nullptr;
  const std::vector<llvm::Constant*> elements(static_cast<size_t>(f.plan.window.back().extent.factor), value);
  auto* row = llvm::ConstantArray::get(llvm::ArrayType::get(value->getType(), elements.size()), elements);
  auto* global = new llvm::GlobalVariable(*f.e.function.getParent(), row->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, row, "fill_row");
  global->setAlignment(llvm::Align(kFillAlign));
  return global;
}

}  // namespace

RowPack::RowPack(Frame& frame)
    : f_(frame),
      row_bytes_(row_bytes_of(frame)),
      together_(static_cast<int>(std::max<int64_t>(1, vector_bytes_of(frame) / row_bytes_))) {
  if (frame.kernel.fill) fill_ = fill_row(frame);
}

void RowPack::apply(llvm::function_ref<Pointers(int)> at) { f_.plan.gather ? gather(at) : scatter(at); }

void RowPack::gather(llvm::function_ref<Pointers(int)> at) {
  const auto operand = static_cast<size_t>(f_.plan.operand(0));
  Value* to = at(0)[static_cast<size_t>(f_.plan.result(0))];
  std::vector<Value*> rows;
  for (int k = 0; k < lowered::kPackedRows; ++k) {
    const Pointers p = at(k);
    const Placement placement = place(f_, 0, p);
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
  for (int k = 0; k < lowered::kPackedRows; ++k) {
    if (k % together_ == 0) vector = f_.e.load(type_of(together_), f_.e.at(from, f_.e.i64(k * row_bytes_)), Access::input);
    const Pointers p = at(k);
    const Placement placement = place(f_, 0, p);
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
