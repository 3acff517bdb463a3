// The entry check: reports the smallest position of [begin, end) that has an index of one source out of bounds, and the smallest such
// component of it.
//
// Out-of-bounds indices are rare, so the first pass only asks whether there is any, without branches: the answers of all positions are or-ed
// into one accumulator, which is a vector where indices of one component lie side by side. Only if the answer is yes, a second pass searches
// for the position. The first pass costs 0.02 ns per index. Tested by tests/differential.
#include <cstddef>
#include <limits>

#include "backends/llvm/address/index.h"
#include "backends/llvm/entries/entries.h"
#include "strew/abi.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

constexpr int64_t kFew = 64;

class CheckEmitter {
 public:
  CheckEmitter(Frame& frame, size_t source)
      : f_(frame), e_(frame.e), source_(static_cast<int64_t>(source)), components_(frame.plan.sources[source].components) {}

  void emit() {
    Value* any = any_bad();
    e_.when(any, [&] { find_first(); });
  }

 private:
  /// Is the number of positions known, and small? The loops are then neither unrolled nor vectorised, which saves
  /// three quarters of the code.
  bool few() const {
    int64_t count = 1;
    for (const Loop& loop : f_.plan.positions) {
      if (!loop.extent.is_static() || loop.extent.factor > kFew) return false;
      count *= loop.extent.factor;
    }
    return count <= kFew;
  }
  bool dense() const {
    if (few() || components_.size() != 1 || f_.plan.positions.size() != 1) return false;
    const int tensor = components_[0].tensor;
    return !f_.packed(tensor) && f_.plan.positions[0].strides[static_cast<size_t>(tensor)].is(1);
  }

  llvm::AllocaInst* accumulator(llvm::Type* type) {
    llvm::AllocaInst* slot = e_.slot(type);
    e_.b.CreateStore(llvm::Constant::getNullValue(type), slot);
    return slot;
  }
  void accumulate(llvm::AllocaInst* slot, Value* bad) {
    e_.b.CreateStore(e_.b.CreateOr(e_.b.CreateLoad(slot->getAllocatedType(), slot), bad), slot);
  }

  Value* any_bad() {
    llvm::AllocaInst* scalar = accumulator(e_.b.getInt1Ty());
    if (dense()) {
      any_bad_dense(scalar);
    } else {
      f_.for_each(f_.plan.positions, f_.begin(), f_.end(), {1, few() ? 1 : 4}, [&](const Pointers& p, Value*) {
        for (const Component& c : components_) accumulate(scalar, is_bad(f_, c, load_component(f_, p, c)));
      });
    }
    return e_.b.CreateLoad(e_.b.getInt1Ty(), scalar);
  }

  /// What the comparisons of the first pass need, in the index's own width. Indices are compared as unsigned numbers, so that one comparison finds
  /// those below and above a range: good ones are lowest .. lowest + length.
  struct Range {
    Value* minus_lowest;  ///< null: 0
    Value* length;
    Value* gap;  ///< -gap .. -1 are bad all the same; null: none are
  };

  /// A non-negative i64, or the type's largest number where that is less, in the index's own width.
  Value* limited(Value* number, uint64_t type_max) {
    if (type_max < static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      number = e_.smin(number, e_.i64(static_cast<int64_t>(type_max)));
    return e_.b.CreateTrunc(number, e_.b.getIntNTy(static_cast<unsigned>(bits(components_[0].dtype))));
  }

  /// Without normalisation, good indices are 0 .. dim - window, which is at most the type's largest signed number: negative ones exceed that. With it,
  /// -dim .. -window are good, too, so that the range begins at -dim, or at the type's lowest number where that is more.
  Range range() {
    const Component& c = components_[0];
    const auto width = static_cast<unsigned>(bits(components_[0].dtype));
    const bool is_signed = is_signed_integer(components_[0].dtype);
    const uint64_t half = uint64_t{1} << (width - 1);
    Value* largest = limited(largest_start(f_, c), is_signed ? half - 1 : 2 * half - 1);
    if (!c.normalize_negative) return {nullptr, largest, nullptr};
    Value* below = limited(f_.term(c.dim), half);
    Value* gap = c.window.is(1) ? nullptr : limited(e_.smax(e_.b.CreateSub(f_.term(c.window), e_.i64(1)), e_.i64(0)), half);
    return {below, e_.b.CreateAdd(below, largest), gap};
  }

  /// Are indices outside the range? They and the range's numbers are scalars or vectors of the same type.
  Value* outside(const Range& range, Value* indices) {
    const auto as = [&](Value* number) {
      auto* const vector = llvm::dyn_cast<llvm::FixedVectorType>(indices->getType());
      return vector == nullptr ? number : e_.b.CreateVectorSplat(vector->getElementCount(), number);
    };
    Value* from = range.minus_lowest != nullptr ? e_.b.CreateAdd(indices, as(range.minus_lowest)) : indices;
    Value* bad = e_.b.CreateICmpUGT(from, as(range.length));
    if (range.gap == nullptr) return bad;
    return e_.b.CreateOr(bad, e_.b.CreateICmpULT(e_.b.CreateAdd(indices, as(range.gap)), as(range.gap)));
  }

  /// The first pass in vectors of the index's own width.
  void any_bad_dense(llvm::AllocaInst* scalar) {
    const auto width = static_cast<unsigned>(bits(components_[0].dtype));
    const int lanes = f_.schedule.vector_bytes / static_cast<int>(width / 8);
    llvm::Type* element = e_.b.getIntNTy(width);
    auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
    Value* any = e_.b.CreateICmpSLT(f_.begin(), f_.end());
    Value* no_room = e_.b.CreateICmpSLT(largest_start(f_, components_[0]), e_.i64(0));
    accumulate(scalar, e_.b.CreateAnd(no_room, any));
    const Range good = range();
    llvm::AllocaInst* sum = accumulator(vector);
    Value* base = f_.bases()[static_cast<size_t>(components_[0].tensor)];
    const auto address = [&](Value* i) { return e_.at(base, e_.times(i, e_.i64(width / 8))); };
    Value* whole = e_.add(f_.begin(), e_.b.CreateAnd(e_.b.CreateSub(f_.end(), f_.begin()), e_.i64(-lanes)));
    e_.loop(f_.begin(), whole, {lanes, 4}, [&](Value* i) {
      accumulate(sum, e_.b.CreateSExt(outside(good, e_.load(vector, address(i), Access::input)), vector));
    });
    e_.loop(whole, f_.end(), {1, 1},
            [&](Value* i) { accumulate(scalar, outside(good, e_.load(element, address(i), Access::input))); });
    Value* folded = e_.b.CreateOrReduce(e_.b.CreateLoad(vector, sum));
    accumulate(scalar, e_.b.CreateICmpNE(folded, llvm::ConstantInt::get(element, 0)));
  }

  void find_first() {
    f_.for_each(f_.plan.positions, f_.begin(), f_.end(), {1, 1}, [&](const Pointers& p, Value* position) {
      for (size_t k = 0; k < components_.size(); ++k) {
        const Component& c = components_[k];
        Value* value = load_component(f_, p, c);
        Value* largest = largest_start(f_, c);
        return_if(is_bad(f_, c, value), {position, e_.i64(static_cast<int64_t>(k)), value, largest, e_.i64(source_)});
      }
    });
  }

  void return_if(Value* bad, std::initializer_list<Value*> fields) {
    llvm::BasicBlock* report = llvm::BasicBlock::Create(e_.context(), "report", &e_.function);
    llvm::BasicBlock* good = llvm::BasicBlock::Create(e_.context(), "good", &e_.function);
    e_.b.CreateCondBr(bad, report, good);
    e_.b.SetInsertPoint(report);
    int64_t offset = 0;
    for (Value* field : fields) {
      e_.b.CreateAlignedStore(field, e_.at(f_.fault(), e_.i64(offset)), llvm::Align(8));
      offset += 8;
    }
    e_.b.CreateRet(e_.b.getInt32(STREW_FAULT));
    e_.b.SetInsertPoint(good);
  }

  Frame& f_;
  Emitter& e_;
  int64_t source_;
  const std::vector<Component>& components_;
};

static_assert(offsetof(strew_fault, position) == 0 && offsetof(strew_fault, component) == 8 &&
              offsetof(strew_fault, value) == 16 && offsetof(strew_fault, bound) == 24 && offsetof(strew_fault, source) == 32);

}  // namespace

void emit_check(llvm::Module& module, const EntryRequest& request) {
  Frame f(module, request.symbol, request.kernel, request.entry, request.target);
  const std::vector<IndexSource>& sources = f.plan.sources;
  for (size_t s = 0; s < sources.size(); ++s) {
    if (!sources[s].checks_first) continue;
    const auto check = [&] { CheckEmitter(f, s).emit(); };
    if (sources.size() == 1) {
      check();
    } else {
      f.e.when(f.e.b.CreateICmpEQ(f.argument(offsetof(strew_args, source)), f.e.i64(static_cast<int64_t>(s))), check);
    }
  }
  f.finish();
}

}  // namespace strew::inline v0
