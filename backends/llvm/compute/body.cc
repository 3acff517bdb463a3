// See body.h. A lane loop of constant length and at most kStraight vectors becomes straight-line code. A longer one is a loop over `unroll` vectors,
// followed by one vector of which some lanes are masked (AVX-512), or by at most one vector of half the width, one of a quarter, and so on: there
// is no scalar loop for the tail. Moves of many bytes call memcpy, which knows the fastest copy of the machine.
// Tested by tests/differential (row lengths 1..70 and more) and tests/golden/machine_code_test.cc.
#include "backends/llvm/compute/body.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "backends/lower/lower_numeric.h"
#include "schedules/target.h"
#include "strew/expr_builder.h"

namespace strew::inline v0 {
namespace {
using llvm::Value;

// Most vectors of straight-line code for a lane loop of constant length, and most expression nodes in these vectors together: LLVM's instruction
// selection takes time that grows faster than the block.
constexpr int64_t kStraight = 16;
constexpr int64_t kStraightNodes = 64;
// Moves of fewer bytes are loops, because memcpy's dispatch and string instructions cost more (bench/suite, dus_ cases, on Zen 3, as ratios to
// the hand-written limit: 1.16 with memcpy, 1.03 with a loop at 40 KiB; 1.48 and 1.33 at 8 KiB; a tie at 128 KiB).
constexpr int64_t kMemcpyBytes = 256 << 10;

std::optional<int64_t> constant_of(Value* v) {
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(v)) return c->getSExtValue();
  return std::nullopt;
}

using lowered::Body, lowered::Operand, lowered::RowPart;

/// The values of a graph's results in their storage form. `inputs`: those of its inputs.
std::vector<Value*> compute(Frame& f, const lowered::Graph& graph, llvm::ArrayRef<Value*> inputs, int lanes) {
  std::vector<Value*> values;
  const auto value = [&](int32_t node) { return node < 0 ? nullptr : values[static_cast<size_t>(node)]; };
  for (const lowered::Node& node : graph.nodes) {
    const auto input = static_cast<size_t>(node.input);
    if (node.op == lowered::Primitive::input)
      values.push_back(f.numeric.part(graph.inputs[input].dtype, inputs[input], node.part));
    else
      values.push_back(f.numeric.compute(node, {value(node.args[0]), value(node.args[1]), value(node.args[2])}, lanes));
  }
  std::vector<Value*> results;
  for (const lowered::Graph::Result& result : graph.results)
    results.push_back(result.moved >= 0 ? inputs[static_cast<size_t>(result.moved)]
                                        : f.numeric.whole(result.dtype, value(result.parts[0]), value(result.parts[1])));
  return results;
}

/// What a body reads, at one element or at several of a lane loop.
struct Inputs {
  const Pointers& p;
  int lanes = 1;
  std::vector<bool> splats = {};       ///< per tensor: the same element for all lanes; empty: none is
  llvm::ArrayRef<Value*> locals = {};  ///< row-local values
  Value* current = nullptr;            ///< of result 0, if it is known
  llvm::ArrayRef<Value*> loaded = {};  ///< per tensor: its elements, if they are known; empty: none are
};

Value* load(Frame& f, const Body& body, const lowered::Graph::Input& input, const Inputs& from) {
  const Operand& operand = body.input(input.op, input.index);
  const auto splat = [&](Value* v) { return from.lanes > 1 ? f.e.b.CreateVectorSplat(static_cast<unsigned>(from.lanes), v) : v; };
  switch (operand.kind) {
    case Operand::Kind::constant:
      return f.numeric.literal_storage(operand.value, from.lanes);
    case Operand::Kind::local:
      return splat(from.locals[static_cast<size_t>(operand.number)]);
    case Operand::Kind::tensor:
    case Operand::Kind::table:
      break;
  }
  if (input.op == ExprOp::current && from.current != nullptr) return from.current;
  const int tensor = pointer_of(f.plan, operand);
  const auto t = static_cast<size_t>(tensor);
  if (!from.loaded.empty() && from.loaded[t] != nullptr) return from.loaded[t];
  const bool is_splat = !from.splats.empty() && from.splats[t];
  Value* v = f.load_element(tensor, from.p[t], is_splat ? 1 : from.lanes);
  return is_splat ? splat(v) : v;
}

/// The values of a graph of the body, which is not stored yet: an expression may read the current values of several results.
std::vector<Value*> evaluate(Frame& f, const Body& body, const lowered::Graph& graph, const Inputs& from) {
  std::vector<Value*> inputs;
  for (const lowered::Graph::Input& input : graph.inputs) inputs.push_back(load(f, body, input, from));
  return compute(f, graph, inputs, from.lanes);
}

void store(Frame& f, const Body& body, const Pointers& p, llvm::ArrayRef<Value*> values) {
  for (size_t i = 0; i < values.size(); ++i) f.store_element(body.results[i], p[static_cast<size_t>(body.results[i])], values[i]);
}

/// Emits one lane loop.
class LaneLoopEmitter {
 public:
  LaneLoopEmitter(Frame& frame, const Body& body, const Pointers& p, const Loop& loop)
      : f_(frame), e_(frame.e), body_(body), p_(p), loop_(loop) {}

  void emit(Value* lo, Value* hi) {
    for (const RowLocal* local : body_.locals) locals_.push_back(fold(*local, lo, hi));
    if (body_.once) return e_.when(e_.b.CreateICmpSLT(lo, hi), [&] { elements(lo, 1); });
    if (body_.moves && unit_stride_moves()) return move(lo, hi);
    if (can_vectorise()) return vectors(lo, hi);
    e_.loop(lo, hi, {1, f_.schedule.unroll}, [&](Value* i) { elements(i, 1); });
  }

  /// What result 0 holds after the update of `part`, before which it holds `current`.
  Value* updated(const RowPart& part, Value* current) {
    Pointers at = p_;
    return values_at(graph(), e_.i64(part.first), part.lanes, at, current).front();
  }

 private:
  std::vector<int> tensors() const { return tensors_of(f_.plan, body_); }
  const Term& stride(int tensor) const { return loop_.strides[static_cast<size_t>(tensor)]; }
  const Operand& source(size_t i) const { return body_.updates.empty() ? body_.currents[i] : body_.updates[i]; }

  bool unit_stride_moves() const {
    for (size_t i = 0; i < body_.results.size(); ++i) {
      if (!source(i).is(Operand::Kind::tensor) || f_.packed(body_.results[i])) return false;
      if (!stride(body_.results[i]).is(1) || !stride(source(i).number).is(1)) return false;
    }
    return true;
  }
  bool is_vector_code() const { return lowered::is_vector_code(f_.plan, body_, loop_); }
  bool can_vectorise() const { return is_vector_code() && lanes() > 1; }
  int lanes() const { return lanes_of(f_.plan, body_, f_.schedule.vector_bytes); }

  /// The values of a graph of the body at iterations i, i + 1, …. `current`: of result 0, if it is known.
  std::vector<Value*> values_at(const lowered::Graph& graph, Value* i, int lanes, Pointers& at, Value* current = nullptr) {
    std::vector<bool> splats(p_.size(), false);
    for (int t : tensors()) {
      const auto n = static_cast<size_t>(t);
      splats[n] = stride(t).is(0);
      at[n] = f_.advance(t, p_[n], i, stride(t));
    }
    return evaluate(f_, body_, graph, {at, lanes, std::move(splats), locals_, current});
  }
  /// The body's graph.
  const lowered::Graph& graph() {
    if (!graph_) graph_ = lower_numeric(*body_.graph, f_.numeric.natives());
    return *graph_;
  }
  void elements(Value* i, int lanes) {
    Pointers at = p_;
    const std::vector<Value*> values = values_at(graph(), i, lanes, at);
    store(f_, body_, at, values);
  }

  /// A row-local value that is being emitted.
  struct Fold {
    DType dtype;
    int lanes;
    lowered::Graph value;  ///< of an element
    lowered::Graph folds;  ///< of two values: what they are together
    Scalar initial;
  };

  /// Emits a row-local value, and returns it in its storage form.
  Value* fold(const RowLocal& local, Value* lo, Value* hi) {
    const DType dtype = local.value.result().dtype;
    ExprBuilder builder;
    const int32_t so_far = builder.current(0, dtype), element = builder.update(0, dtype);
    const Expr folds = builder.returns({builder.apply(local.fold, {so_far, element})});
    const Fold fold{dtype, local.lanes, lower_numeric(local.value, f_.numeric.natives()),
                    lower_numeric(folds, f_.numeric.natives()), local.initial};
    const bool in_vectors = local.lanes > 1 && lowered::loads_vectors(f_.plan, body_, local.value, loop_);
    Value* sums = f_.numeric.literal_storage(local.initial, local.lanes);
    Value* rest = lo;
    if (in_vectors) {
      rest = e_.add(lo, e_.b.CreateAnd(e_.b.CreateSub(hi, lo), e_.i64(-local.lanes)));
      sums = whole_vectors(fold, sums, lo, rest);
      const auto first = constant_of(rest), last = constant_of(hi);
      if (first && last) return in_pairs(fold, rest_in_parts(fold, sums, *first, *last));
    }
    return in_pairs(fold, rest_in_memory(fold, sums, lo, rest, hi));
  }
  Value* element_of(const Fold& fold, Value* i, int lanes) {
    Pointers at = p_;
    return values_at(fold.value, i, lanes, at).front();
  }
  Value* folded(const Fold& fold, Value* a, Value* b, int lanes) { return compute(f_, fold.folds, {a, b}, lanes).front(); }

  /// The lanes after the elements [lo, end), of which each lane has as many.
  Value* whole_vectors(const Fold& fold, Value* sums, Value* lo, Value* end) {
    const auto next = [&](Value* so_far, Value* i) { return folded(fold, so_far, element_of(fold, i, fold.lanes), fold.lanes); };
    const auto first = constant_of(lo), last = constant_of(end);
    if (first && last && (*last - *first) / fold.lanes <= kStraight) {
      for (int64_t i = *first; i < *last; i += fold.lanes) sums = next(sums, e_.i64(i));
      return sums;
    }
    llvm::AllocaInst* const slot = e_.slot(f_.numeric.storage_type(fold.dtype, fold.lanes));
    llvm::Type* const type = slot->getAllocatedType();
    e_.b.CreateStore(sums, slot);
    e_.loop(lo, end, {fold.lanes, 1}, [&](Value* i) { e_.b.CreateStore(next(e_.b.CreateLoad(type, slot), i), slot); });
    return e_.b.CreateLoad(type, slot);
  }

  /// The lanes after the elements [i, end), which are fewer than there are lanes: in vectors whose other lanes hold the initial value, with which every
  /// value folded is itself.
  Value* rest_in_parts(const Fold& fold, Value* sums, int64_t i, int64_t end) {
    for (int lane = 0; i < end;) {
      const auto part = static_cast<int>(std::bit_floor(static_cast<uint64_t>(end - i)));
      Value* some = element_of(fold, e_.i64(i), part);
      if (part == 1) {
        Value* const initial = f_.numeric.literal_storage(fold.initial, fold.lanes);
        some = e_.b.CreateInsertElement(initial, some, e_.i64(lane));
      } else {
        llvm::SmallVector<int, 64> widens;
        for (int n = 0; n < fold.lanes; ++n) widens.push_back(n >= lane && n < lane + part ? n - lane : part);
        some = e_.b.CreateShuffleVector(some, f_.numeric.literal_storage(fold.initial, part), widens);
      }
      sums = folded(fold, sums, some, fold.lanes);
      i += part;
      lane += part;
    }
    return sums;
  }

  /// The same where only the call knows how many elements [i, end) are left of [lo, end): one by one, with the lanes in memory.
  Value* rest_in_memory(const Fold& fold, Value* sums, Value* lo, Value* i, Value* end) {
    llvm::Type *const one = f_.numeric.storage_type(fold.dtype, 1), *const all = f_.numeric.storage_type(fold.dtype, fold.lanes);
    llvm::AllocaInst* const lanes = e_.slot(llvm::ArrayType::get(one, static_cast<uint64_t>(fold.lanes)));
    e_.b.CreateAlignedStore(sums, lanes, llvm::Align(1));
    e_.loop(i, end, {1, 1}, [&](Value* at) {
      Value* const lane = e_.b.CreateAnd(e_.b.CreateSub(at, lo), e_.i64(fold.lanes - 1));
      Value* const place = e_.at(lanes, e_.times(lane, e_.i64(bits(fold.dtype) / 8)));
      Value* const next = element_of(fold, at, 1);
      e_.b.CreateStore(folded(fold, e_.b.CreateLoad(one, place), next, 1), place);
    });
    return e_.b.CreateAlignedLoad(all, lanes, llvm::Align(1));
  }

  /// Lanes are folded in pairs of neighbours until one is left.
  Value* in_pairs(const Fold& fold, Value* sums) {
    for (int lanes = fold.lanes / 2; lanes >= 1; lanes /= 2) {
      Value *even = nullptr, *odd = nullptr;
      if (lanes == 1) {
        even = e_.b.CreateExtractElement(sums, e_.i64(0));
        odd = e_.b.CreateExtractElement(sums, e_.i64(1));
      } else {
        llvm::SmallVector<int, 64> first, second;
        for (int n = 0; n < lanes; ++n) {
          first.push_back(2 * n);
          second.push_back(2 * n + 1);
        }
        even = e_.b.CreateShuffleVector(sums, first);
        odd = e_.b.CreateShuffleVector(sums, second);
      }
      sums = folded(fold, even, odd, lanes);
    }
    return sums;
  }

  void vectors(Value* lo, Value* hi) {
    const int width = lanes();
    const auto first = constant_of(lo), last = constant_of(hi);
    if (first && last) {
      const int64_t vectors = (*last - *first) / width;
      if (vectors <= kStraight && vectors * static_cast<int64_t>(body_.graph->nodes.size()) <= kStraightNodes)
        return straight(*first, *last, width);
    }
    Value* length = e_.b.CreateSub(hi, lo);
    Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
    Value* body_end = e_.add(lo, whole);
    e_.loop(lo, body_end, {width, f_.schedule.unroll}, [&](Value* i) { elements(i, width); });
    if (can_mask()) return masked(body_end, e_.b.CreateSub(hi, body_end), width);
    Value* at = body_end;
    for (int part = width / 2; part >= 1; part /= 2) {
      Value* has = e_.b.CreateICmpNE(e_.b.CreateAnd(length, e_.i64(part)), e_.i64(0));
      e_.when(has, [&] { elements(at, part); });
      at = e_.add(at, e_.b.CreateAnd(length, e_.i64(part)));
    }
  }

  void straight(int64_t i, int64_t end, int width) {
    while (i < end) {
      const auto rest = static_cast<uint64_t>(end - i);
      if (i + width > end && std::popcount(rest) > 1 && can_mask())
        return masked(e_.i64(i), e_.i64(end - i), static_cast<int>(std::bit_ceil(rest)));
      while (i + width > end) width /= 2;
      elements(e_.i64(i), width);
      i += width;
    }
  }

  /// Can the target mask lanes, and has every tensor elements that a mask can have?
  bool can_mask() const {
    constexpr int kLanes = 2;
    const auto has_lanes = [&](int tensor) {
      const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(
          f_.numeric.storage_type(f_.plan.tensors[static_cast<size_t>(tensor)].dtype, kLanes));
      return type != nullptr && type->getNumElements() == kLanes && type->getScalarSizeInBits() <= 64;
    };
    const std::vector<int> list = tensors();
    return has_masks(f_.target) && std::all_of(list.begin(), list.end(), has_lanes);
  }

  /// i1 per lane: the first `rest` of them, less than `lanes`, hold.
  Value* first_lanes(Value* rest, int lanes) {
    auto& b = e_.b;
    const auto count = static_cast<unsigned>(lanes);
    if (lanes >= 8) {  // as many bits of a mask register
      Value* bits = b.CreateLShr(e_.i64(-1), b.CreateSub(e_.i64(64), rest));
      return b.CreateBitCast(b.CreateTrunc(bits, b.getIntNTy(count)), llvm::FixedVectorType::get(b.getInt1Ty(), count));
    }
    llvm::SmallVector<llvm::Constant*, 8> numbers;
    for (unsigned lane = 0; lane < count; ++lane) numbers.push_back(b.getInt64(lane));
    return b.CreateICmpULT(llvm::ConstantVector::get(numbers), b.CreateVectorSplat(count, rest));
  }

  /// Emits `body` with the first `rest` of `lanes` lanes, if there are any.
  template <class Emit>
  void in_first_lanes(Value* rest, int lanes, const Emit& body) {
    const auto emit = [&] {
      e_.mask = first_lanes(rest, lanes);
      body();
      e_.mask = nullptr;
    };
    if (const auto known = constant_of(rest)) {
      if (*known > 0) emit();
      return;
    }
    e_.when(e_.b.CreateICmpNE(rest, e_.i64(0)), emit);
  }

  /// `rest` iterations from `at` on in one vector; less than `lanes`. A power of two that is known now needs no mask.
  void masked(Value* at, Value* rest, int lanes) {
    const auto known = constant_of(rest);
    if (known && *known > 0 && std::has_single_bit(static_cast<uint64_t>(*known))) return elements(at, static_cast<int>(*known));
    in_first_lanes(rest, lanes, [&] { elements(at, lanes); });
  }

  void move(Value* lo, Value* hi) {
    for (size_t i = 0; i < body_.results.size(); ++i) {
      const int to = body_.results[i];
      const auto t = static_cast<size_t>(to), s = static_cast<size_t>(source(i).number);
      Value* size = e_.i64(f_.element_bytes(to));
      Value* offset = e_.times(lo, size);
      Value* length = e_.times(e_.b.CreateSub(hi, lo), size);
      Value* from = e_.at(p_[s], offset);
      copy(e_.at(p_[t], offset), from, length);
    }
  }

  void copy(Value* to, Value* from, Value* length) {
    const auto known = constant_of(length);
    if (body_.bulk) return memcpy(to, from, length);
    if (f_.entry.nontemporal) return streaming_copy(to, from, length);
    if (known && *known <= kStraight * f_.schedule.vector_bytes) return straight_copy(to, from, *known);
    if (known && *known < kMemcpyBytes) return loop_copy(to, from, length);
    if (known) return memcpy(to, from, length);
    e_.when(
        e_.b.CreateICmpSGE(length, e_.i64(kMemcpyBytes)), [&] { memcpy(to, from, length); },
        [&] { loop_copy(to, from, length); });
  }

  void memcpy(Value* to, Value* from, Value* length) { e_.b.CreateMemCpy(to, llvm::Align(1), from, llvm::Align(1), length); }

  void move_bytes(Value* to, Value* from, Value* offset, int64_t width, bool nontemporal = false) {
    llvm::Type* type = width > 8
                           ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(e_.b.getInt8Ty(), static_cast<unsigned>(width)))
                           : e_.b.getIntNTy(static_cast<unsigned>(8 * width));
    Value* v = e_.load(type, e_.at(from, offset), Access::input);
    e_.store(v, e_.at(to, offset), nontemporal ? static_cast<uint64_t>(width) : 1, nontemporal);
  }

  /// Copies a constant number of bytes in whole vectors. The last vector overlaps the one before if the length is no multiple; it stores the
  /// same bytes again, since source and destination are disjoint.
  void straight_copy(Value* to, Value* from, int64_t length) {
    int64_t width = f_.schedule.vector_bytes;
    int64_t i = 0;
    while (i < length) {
      while (width > length) width /= 2;
      const int64_t at = std::min(i, length - width);
      move_bytes(to, from, e_.i64(at), width);
      i = at + width;
    }
  }

  void loop_copy(Value* to, Value* from, Value* length) {
    const int64_t width = f_.schedule.vector_bytes;
    Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
    e_.loop(e_.i64(0), whole, {width, f_.schedule.unroll}, [&](Value* i) { move_bytes(to, from, i, width); });
    tail_copy(to, from, whole, length, width);
  }

  void tail_copy(Value* to, Value* from, Value* at, Value* length, int64_t width) {
    if (has_masks(f_.target))
      return in_first_lanes(e_.b.CreateAnd(length, e_.i64(width - 1)), static_cast<int>(width),
                            [&] { move_bytes(to, from, at, width); });
    for (int64_t part = width / 2; part >= 1; part /= 2) {
      Value* piece = e_.b.CreateAnd(length, e_.i64(part));
      e_.when(e_.b.CreateICmpNE(piece, e_.i64(0)), [&] { move_bytes(to, from, at, part); });
      at = e_.add(at, piece);
    }
  }

  /// Copies with non-temporal stores if the destination is aligned to whole vectors, else as usual. The entry ends with a fence (Frame::finish).
  void streaming_copy(Value* to, Value* from, Value* length) {
    const int64_t width = f_.schedule.vector_bytes;
    Value* address = e_.b.CreatePtrToInt(to, e_.b.getInt64Ty());
    Value* aligned = e_.b.CreateICmpEQ(e_.b.CreateAnd(address, e_.i64(width - 1)), e_.i64(0));
    e_.when(
        aligned,
        [&] {
          Value* whole = e_.b.CreateAnd(length, e_.i64(-width));
          e_.loop(e_.i64(0), whole, {width, f_.schedule.unroll}, [&](Value* i) { move_bytes(to, from, i, width, true); });
          tail_copy(to, from, whole, length, width);
        },
        [&] { loop_copy(to, from, length); });
  }

  Frame& f_;
  Emitter& e_;
  const Body& body_;
  const Pointers& p_;
  const Loop& loop_;
  std::optional<lowered::Graph> graph_;
  std::vector<Value*> locals_;
};

}  // namespace

void emit_lane_loop(Frame& frame, const Body& body, const Pointers& p, const Loop* loop, Value* lo, Value* hi) {
  Loop one;
  if (loop == nullptr) {
    one.extent = constant(1);
    one.strides.assign(p.size(), constant(1));
    loop = &one;
  }
  LaneLoopEmitter(frame, body, p, *loop).emit(lo, hi);
}

Value* emit_row_part(Frame& frame, const Body& body, const Pointers& p, const Loop& loop, const RowPart& part, Value* current) {
  return LaneLoopEmitter(frame, body, p, loop).updated(part, current);
}

std::vector<Value*> emit_lanes(Frame& frame, const Body& body, const lowered::Graph& graph, const Pointers& p, const Loop& loop,
                               int lanes, llvm::ArrayRef<Value*> loaded) {
  std::vector<bool> splats;
  for (const Term& stride : loop.strides) splats.push_back(stride.is(0));
  return evaluate(frame, body, graph, {p, lanes, std::move(splats), {}, nullptr, loaded});
}

Value* emit_graph(Frame& frame, const Expr& graph, Value* input, int lanes) {
  return compute(frame, lower_numeric(graph, frame.numeric.natives()), {input}, lanes).front();
}

Value* emit_element(Frame& frame, const Body& body, const Pointers& p, Value* current) {
  const lowered::Graph graph = lower_numeric(*body.graph, frame.numeric.natives());
  const std::vector<Value*> values = evaluate(frame, body, graph, {p, 1, {}, {}, current});
  store(frame, body, p, values);
  return values[0];
}

}  // namespace strew::inline v0
