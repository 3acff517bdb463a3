// The fast path of bind.h. bind_views() passes once over the views: it compares dtype, rank, dims and strides with the packed
// slots and computes the bytes that each tensor occupies; then it reads symbols and checks constraints, if the kernel
// has any; then it checks for overlap. The bytes of a static tensor were computed by make(); those of an open tensor
// (some extent or stride is known only at the call) are computed on the way, at about a nanosecond per dim. For kernels whose tensors have no
// open extents it is compiled apart. Tested by tests/unit/runtime/call/bind_test.cc; timed by
// bench/overhead (call/...).
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/call/bind.h"
#include "runtime/call/descriptor.h"
#include "runtime/call/extent.h"

namespace strew::inline v0 {

namespace {

constexpr int64_t kMostElements = int64_t{1} << 54;  ///< of 128 bits: their number in bits fits an int64_t

/// Are the `count` numbers equal? Compares two at a time, because a branch per number is slower.
inline bool same(const int64_t* a, const int64_t* b, int count) {
  int i = 0;
  for (; i + 1 < count; i += 2)
    if (((a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1])) != 0) return false;
  return i == count || a[i] == b[i];
}

}  // namespace

/// The bytes [begin, end) that each tensor occupies. These are two arrays, because GCC would compute pairs in vector
/// registers, which is slower.
struct Binder::Bytes {
  std::array<uintptr_t, Call::kFewTensors> begin, end;

  /// Enters the bytes [lo, hi), relative to the data of view i. Returns false if they are not in the address space.
  bool set(uint32_t i, const TensorView& view, int64_t lo, int64_t hi) {
    const auto base = reinterpret_cast<uintptr_t>(view.data);
    const uintptr_t first = base + static_cast<uintptr_t>(lo), last = base + static_cast<uintptr_t>(hi);
    begin[i] = first;
    end[i] = last;
    return base != 0 && first <= base && base <= last;
  }
};

/// A tensor's rule. `rank` dims follow it in memory, and then `rank` strides, except for open tensors that are row-major.
struct Binder::Slot {
  uint8_t dtype, rank, data, bits;
  int8_t may_be;   ///< result with init copy: number of the operand whose buffer it may share; else -1
  bool is_open;    ///< some extent or stride is known only at the call; lo and hi are unused
  bool row_major;  ///< static: a view may leave out its strides; open: the strides must be row-major
  bool is_empty;
  int64_t lo, hi;  ///< bytes touched, relative to the data pointer: [lo, hi)

  const int64_t* dims() const { return reinterpret_cast<const int64_t*>(this + 1); }
  const int64_t* strides() const { return dims() + rank; }
  const Slot* next_static() const { return reinterpret_cast<const Slot*>(dims() + 2 * rank); }
  const Slot* next() const { return reinterpret_cast<const Slot*>(strides() + (is_open && row_major ? 0 : rank)); }

  /// Does view i, of a static tensor, have exactly the dtype, rank, dims and strides of the slot?
  bool fits_static(const TensorView& view, uint32_t i, Bytes& bytes) const {
    const int own_rank = rank;
    if (view.rank != own_rank) return false;
    if (own_rank != 0) {
      if (!view.dims || !same(view.dims, dims(), own_rank)) return false;
      if (view.strides ? !same(view.strides, strides(), own_rank) : !row_major) return false;
    }
    const auto base = reinterpret_cast<uintptr_t>(view.data);
    const uintptr_t begin = base + static_cast<uintptr_t>(lo), end = base + static_cast<uintptr_t>(hi);
    bytes.begin[i] = begin;
    bytes.end[i] = end;
    // The dtype is compared here and not together with the rank: compilers would load both at once, and such a load
    // stalls if the caller has just stored the two one by one (no store forwarding).
    return static_cast<uint8_t>(view.dtype) == dtype && begin <= base && base <= end && (base != 0 || is_empty);
  }

  /// Does the view fit a row-major tensor with open extents? Returns false for views without elements too. The elements
  /// are contiguous from the data pointer on, so only their number is computed.
  bool fits_row_major(const TensorView& view, uint32_t i, Bytes& bytes) const {
    const int own_rank = rank;
    if (view.rank != own_rank || static_cast<uint8_t>(view.dtype) != dtype) return false;
    if (own_rank != 0 && view.dims == nullptr) return false;
    const int64_t* const own_dims = dims();
    int64_t elements = 1;
    for (int d = own_rank; d-- > 0;) {
      const int64_t extent = view.dims[d], expected = own_dims[d];
      if (expected >= 0 ? extent != expected : extent < 0) return false;
      if (view.strides != nullptr && view.strides[d] != elements) return false;
      if (__builtin_mul_overflow(elements, extent, &elements)) return false;
    }
    if (elements == 0 || elements > kMostElements) return false;
    return bytes.set(i, view, 0, (elements * bits + 7) / 8);
  }

  /// Does the view fit a tensor with strides, some of which, or some extents, are open? Returns false for views without
  /// elements too.
  [[gnu::noinline]] bool fits_strided(const TensorView& view, uint32_t i, Bytes& bytes) const {
    const int own_rank = rank;
    if (view.rank != own_rank || static_cast<uint8_t>(view.dtype) != dtype) return false;
    if (own_rank != 0 && view.dims == nullptr) return false;
    const int64_t *const own_dims = dims(), *const own_strides = strides();
    int64_t run = 1, least = 0, most = 0;  // elements
    for (int d = own_rank; d-- > 0;) {
      const int64_t extent = view.dims[d], expected = own_dims[d];
      if (expected >= 0 ? extent != expected : extent < 0) return false;
      const int64_t stride = view.strides != nullptr ? view.strides[d] : run;
      if (own_strides[d] != STREW_OPEN && stride != own_strides[d]) return false;
      int64_t reach = 0;
      if (__builtin_mul_overflow(stride, extent - 1, &reach)) return false;
      if (__builtin_add_overflow(reach < 0 ? least : most, reach, reach < 0 ? &least : &most)) return false;
      if (__builtin_mul_overflow(run, extent, &run)) return false;
    }
    if (run == 0 || least < -kMostElements || most > kMostElements) return false;
    return bytes.set(i, view, (least * bits - 7) / 8, ((most + 1) * bits + 7) / 8);
  }
};

/// factor times the product of dyn[symbols[0 .. count)].
struct Binder::Term {
  static constexpr uint32_t kMost = 7;
  int64_t factor;
  uint8_t count;
  std::array<uint8_t, kMost> symbols;

  /// Saturated as by evaluate() of runtime/call/descriptor.h.
  int64_t value(const int64_t* dyn) const {
    int64_t product = factor;
    for (uint32_t i = 0; i < count; ++i)
      if (__builtin_mul_overflow(product, dyn[symbols[i]], &product)) return std::numeric_limits<int64_t>::max();
    return product;
  }
};

/// Four bytes each: a call reads them all.
struct Binder::Symbol {
  uint8_t tensor, dim, is_stride, unused;
};
struct Binder::Constraint {
  uint8_t kind, tensor, dim, other, other_dim;
  std::array<uint8_t, 3> unused;
};

namespace {

/// Do the kernel's tensors and symbols fit the arrays of a Call, and the factors of its terms a packed Term?
bool is_small(const strew_kernel& kernel, uint32_t most_factors) {
  if (kernel.data_count > Call::kFewTensors || kernel.symbol_count > Call::kFewSymbols) return false;
  if (kernel.constraint_count > UINT16_MAX || kernel.cover_count > UINT16_MAX / 2) return false;
  bool fits = true;
  for (size_t i = 0; i < work_terms(kernel); ++i) fits = fits && work_term(kernel, i).count <= most_factors;
  return fits;
}

}  // namespace

/// Appends to the lines what bind_views() reads, in its order.
class Binder::Packer {
 public:
  explicit Packer(const strew_kernel& kernel) : kernel_(kernel), strides_(kernel.tensor_count), extents_(kernel.tensor_count) {}

  /// Computes strides and byte extents of the static tensors. Fails if one is larger than memory can be.
  Status measure_tensors() {
    for (uint32_t i = 0; i < kernel_.tensor_count; ++i) {
      const strew_tensor_rule& rule = kernel_.tensors[i];
      extents_[i].row_major = rule.strides == nullptr;
      if (rule.strides != nullptr) std::copy_n(rule.strides, rule.rank, strides_[i].begin());
      if (rule.is_open != 0) continue;
      if (rule.strides == nullptr && !row_major_strides(rule.dims, rule.rank, strides_[i].data()))
        return invalid_argument(std::string(rule.name) + ": its elements do not fit 63 bits");
      if (!measure(rule.bits, static_cast<int>(rule.rank), rule.dims, strides_[i].data(), extents_[i]))
        return invalid_argument(std::string(rule.name) + ": its byte extent does not fit 63 bits");
    }
    return {};
  }

  void put_tensors() {
    for (uint32_t i = 0; i < kernel_.tensor_count; ++i) {
      const strew_tensor_rule& rule = kernel_.tensors[i];
      const Extent& extent = extents_[i];
      put(Slot{rule.dtype, static_cast<uint8_t>(rule.rank), static_cast<uint8_t>(rule.data), rule.bits,
               static_cast<int8_t>(rule.may_be), rule.is_open != 0, extent.row_major, extent.empty, extent.lo, extent.hi});
      for (uint32_t d = 0; d < rule.rank; ++d) put(rule.dims[d]);
      if (rule.is_open != 0 && extent.row_major) continue;
      for (uint32_t d = 0; d < rule.rank; ++d) put(strides_[i][d]);
    }
  }

  void put_symbols() {
    for (uint32_t i = 0; i < kernel_.symbol_count; ++i) {
      const strew_symbol& symbol = kernel_.symbols[i];
      put(Symbol{small(symbol.tensor), small(symbol.dim), small(symbol.is_stride), 0});
    }
    for (uint32_t i = 0; i < kernel_.constraint_count; ++i) {
      const strew_constraint& rule = kernel_.constraints[i];
      put(Constraint{small(rule.kind), small(rule.tensor), small(rule.dim), small(rule.other), small(rule.other_dim), {}});
    }
  }

  /// Returns the offset of the terms.
  uint32_t put_terms() {
    while (bytes_.size() % alignof(Term) != 0) put(std::byte{});
    const auto at = static_cast<uint32_t>(bytes_.size());
    for (size_t i = 0; i < work_terms(kernel_); ++i) put_term(work_term(kernel_, i));
    return at;
  }

  std::unique_ptr<Line[]> lines() const {                                       // NOLINT(modernize-avoid-c-arrays): see lines_
    std::unique_ptr<Line[]> lines(new Line[bytes_.size() / sizeof(Line) + 1]);  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(lines.get(), bytes_.data(), bytes_.size());
    return lines;
  }

  /// The values of the symbols of a kernel whose tensors have no open extent or stride: one that serves many shapes, for calls of one shape.
  std::unique_ptr<int64_t[]> known_symbols() const {                  // NOLINT(modernize-avoid-c-arrays)
    auto values = std::make_unique<int64_t[]>(kernel_.symbol_count);  // NOLINT(modernize-avoid-c-arrays)
    for (uint32_t i = 0; i < kernel_.symbol_count; ++i) {
      const auto [tensor, dim, is_stride] = kernel_.symbols[i];
      values[i] = is_stride != 0 ? strides_[tensor][dim] : kernel_.tensors[tensor].dims[dim];
    }
    return values;
  }

  /// Are every result and its operand static and of one layout?
  bool operands_share() const {
    bool share = kernel_.init_kind == STREW_COPY;
    for (uint32_t r = 0; r < kernel_.result_count && share; ++r) {
      const int32_t operand = kernel_.tensors[r].may_be;
      share = operand >= 0 && kernel_.tensors[r].is_open == 0 && kernel_.tensors[operand].is_open == 0 &&
              same_layout(static_view(r), static_view(static_cast<uint32_t>(operand)));
    }
    return share;
  }

 private:
  static uint8_t small(uint32_t number) { return static_cast<uint8_t>(number); }

  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.resize(bytes_.size() + sizeof(T));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(T), &value, sizeof(T));
  }

  void put_term(const strew_term& term) {
    Term packed{term.factor, small(term.count), {}};
    for (uint32_t i = 0; i < term.count; ++i) packed.symbols[i] = small(kernel_.factors[term.first + i]);
    put(packed);
  }

  TensorView static_view(uint32_t tensor) const {
    const strew_tensor_rule& rule = kernel_.tensors[tensor];
    return {nullptr, static_cast<DType>(rule.dtype), static_cast<int32_t>(rule.rank), rule.dims, strides_[tensor].data()};
  }

  const strew_kernel& kernel_;
  std::vector<StrideBuffer> strides_;
  std::vector<Extent> extents_;
  std::vector<std::byte> bytes_;
};

/// Fills in the members of the fast path.
Status Binder::pack() {
  const strew_kernel& kernel = *kernel_;
  Packer packer(kernel);
  STREW_TRY(packer.measure_tensors());
  if (!is_small(kernel, Term::kMost)) return {};
  packer.put_tensors();
  packer.put_symbols();
  terms_at_ = packer.put_terms();
  lines_ = packer.lines();
  tensors_ = static_cast<uint8_t>(kernel.tensor_count);
  count_ = kernel.tensor_count;
  results_ = static_cast<uint8_t>(kernel.result_count);
  symbols_ = static_cast<uint8_t>(kernel.symbol_count);
  data_ = static_cast<uint8_t>(kernel.data_count);
  constraints_ = static_cast<uint16_t>(kernel.constraint_count);
  covers_ = static_cast<uint16_t>(kernel.cover_count);
  operands_share_ = packer.operands_share();
  makes_result_ = kernel.is_gather == 0 && kernel.init_kind != STREW_IN_PLACE;
  may_overwrite_ = kernel.may_overwrite != 0;
  const std::span tensors(kernel.tensors, kernel.tensor_count);
  uint32_t bound = 0;
  for (const strew_tensor_rule& tensor : tensors) bound |= 1U << tensor.data;
  unbound_ = static_cast<uint16_t>(~bound & ((1U << kernel.data_count) - 1));
  takes_addresses_ = std::all_of(kernel.constraints, kernel.constraints + kernel.constraint_count,
                                 [](const strew_constraint& rule) { return rule.kind == STREW_EQUAL; }) &&
                     std::all_of(kernel.symbols, kernel.symbols + kernel.symbol_count,
                                 [](const strew_symbol& symbol) { return symbol.is_stride == 0; });
  if (constraints_ != 0 || std::any_of(tensors.begin(), tensors.end(), [](const auto& rule) { return rule.is_open != 0; }))
    return {};
  if (symbols_ != 0) known_ = packer.known_symbols();
  Call call;
  call.dyn = known_.get();
  count_packed(call);
  work_ = call;
  is_static_ = true;
  return {};
}

size_t Binder::bytes() const {
  if (lines_ == nullptr) return 0;
  const size_t known = known_ != nullptr ? kernel_->symbol_count * sizeof(int64_t) : 0;
  return ((terms_at_ + work_terms(*kernel_) * sizeof(Term)) / sizeof(Line) + 1) * sizeof(Line) + known;
}

inline const Binder::Slot* Binder::slots() const { return reinterpret_cast<const Slot*>(lines_.get()); }

inline const Binder::Term* Binder::terms() const {
  return reinterpret_cast<const Term*>(reinterpret_cast<const std::byte*>(lines_.get()) + terms_at_);
}

inline void Binder::count_packed(Call& call) const {
  const int64_t* const dyn = call.dyn;
  const Term* const term = terms();
  strew::count_work(
      makes_result_, may_overwrite_, covers_, [&](uint32_t i) { return term[i].value(dyn); }, call);
}

/// Does a result have a byte in common with another tensor?
inline bool Binder::results_overlap(const Bytes& bytes) const {
  const uint32_t count = tensors_, results = results_;
  bool overlap = false;
  for (uint32_t r = 0; r < results; ++r)
    for (uint32_t other = r + 1; other < count; ++other)
      overlap |= bytes.begin[r] < bytes.end[other] && bytes.begin[other] < bytes.end[r];
  return overlap;
}

/// Is every overlap allowed, because the result shares the buffer of its operand? Counts such results in `same_buffers`.
[[gnu::noinline]] bool Binder::may_overlap(const TensorView* tensors, const Bytes& bytes, uint32_t& same_buffers) const {
  const Slot* slot = slots();
  for (uint32_t r = 0; r < results_; ++r, slot = slot->next()) {
    for (uint32_t other = r + 1; other < tensors_; ++other) {
      if (bytes.begin[r] >= bytes.end[other] || bytes.begin[other] >= bytes.end[r]) continue;
      if (static_cast<int>(other) != slot->may_be || tensors[r].data != tensors[other].data) return false;
      if (!operands_share_ && !same_layout(tensors[r], tensors[other])) return false;
      ++same_buffers;
    }
  }
  return true;
}

/// Reads the symbols, which follow the slots, and checks the constraints.
inline bool Binder::read_symbols(const Slot* end, const TensorView* tensors, int64_t* dyn) const {
  const uint32_t symbols = symbols_;
  const auto* const symbol = reinterpret_cast<const Symbol*>(end);
  for (uint32_t i = 0; i < symbols; ++i) {
    const TensorView& view = tensors[symbol[i].tensor];
    const int64_t* const numbers = symbol[i].is_stride != 0 ? view.strides : view.dims;
    if (numbers == nullptr) return false;  // the view leaves out its strides
    dyn[i] = numbers[symbol[i].dim];
  }
  const auto* const constraint = reinterpret_cast<const Constraint*>(symbol + symbols);
  for (uint32_t i = 0; i < constraints_; ++i) {
    const Constraint& rule = constraint[i];
    // Nearly all constraints are equalities. They are compared here, because the compiler does not inline holds().
    const bool is_met = rule.kind == STREW_EQUAL ? tensors[rule.tensor].dims[rule.dim] == tensors[rule.other].dims[rule.other_dim]
                                                 : holds(rule, tensors);
    if (!is_met) return false;
  }
  return true;
}

template <bool kIsStatic>
bool Binder::bind_views(const TensorView* tensors, Call& call) const {
  Bytes bytes;  // NOLINT: the loop fills what is read
  // A local copy of the pointer, because the compiler assumes that a store through it may change any member of `call`.
  void** const data = call.few_data.data();
  const uint32_t count = tensors_;
  bool is_read_only = false;
  for (uint32_t r = 0; r < results_; ++r) is_read_only |= tensors[r].read_only;
  if (is_read_only) return false;
  const Slot* slot = slots();
  for (uint32_t i = 0; i < count; ++i) {
    const TensorView& view = tensors[i];
    const bool fits = kIsStatic || !slot->is_open ? slot->fits_static(view, i, bytes)
                      : slot->row_major           ? slot->fits_row_major(view, i, bytes)
                                                  : slot->fits_strided(view, i, bytes);
    if (!fits) return false;
    data[slot->data] = view.data;
    slot = kIsStatic ? slot->next_static() : slot->next();
  }
  for (uint32_t places = unbound_; places != 0; places &= places - 1) data[__builtin_ctz(places)] = nullptr;
  if constexpr (!kIsStatic)
    if (!read_symbols(slot, tensors, call.few_dyn.data())) return false;
  uint32_t same_buffers = 0;
  if (results_overlap(bytes) && !may_overlap(tensors, bytes, same_buffers)) return false;
  call.data = data;
  call.dyn = kIsStatic ? known_.get() : call.few_dyn.data();
  call.result_is_operand = same_buffers == results_;
  if constexpr (kIsStatic)
    static_cast<WorkCounts&>(call) = work_;
  else
    count_packed(call);
  return true;
}
template bool Binder::bind_views<true>(const TensorView* tensors, Call& call) const;
template bool Binder::bind_views<false>(const TensorView* tensors, Call& call) const;

bool Binder::bind_addresses(void* const* data, const int64_t* dyn, Call& call) const {
  uint32_t missing = 0;
  for (uint32_t i = 0; i < data_; ++i) missing |= static_cast<uint32_t>(data[i] == nullptr) << i;
  int64_t negative = 0;
  for (uint32_t i = 0; i < symbols_; ++i) negative |= dyn[i];
  if (missing != unbound_ || negative < 0) return false;
  call.data = const_cast<void**>(data);
  call.dyn = dyn;
  call.result_is_operand = false;
  if (is_static_)
    static_cast<WorkCounts&>(call) = work_;
  else
    count_packed(call);
  if (call.init == 0) return true;
  // The results are made from operands: the only calls that need no more are those in which all of them are the operands.
  if (!operands_share_) return false;
  const Slot* slot = slots();
  for (uint32_t r = 0; r < results_; ++r, slot = slot->next()) {
    const Slot* operand = slots();
    for (int i = 0; i < slot->may_be; ++i) operand = operand->next();
    if (data[slot->data] != data[operand->data]) return false;
  }
  call.result_is_operand = true;
  return true;
}

}  // namespace strew::inline v0
