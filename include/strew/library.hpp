// Kernel libraries in C++: what the header NAME.hpp is made of, which `strew library` writes. A part of libstrew_rt.
//
//   #include "decoder_kernels.hpp"
//   const auto kernels = strew::open_library<strew::kernels::decoder_kernels>();   // once
//   strew::Status status = kernels->append({cache, {4, 3, 1024, 64}}, {places, {4, 3}}, {rows, {4, 3, 1, 64}});
//
// Each kernel is a member function, whose parameters are views with the kernel's dtypes and ranks: another dtype or rank does not compile. A view
// is made from a pointer and extents, from a span or another contiguous range (rank 1), or from anything with the members of std::mdspan.
// docs/libraries.md is the manual. Tested by tests/library.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ranges>
#include <type_traits>
#include <utility>

#include "strew/dtype.h"
#include "strew/library.h"
#include "strew/scalar.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// Are elements of the dtype C++ objects of type T? For dtypes that C++ has no type for, such as bf16, T is any type of their size that is no
/// other dtype's, or an unsigned integer; for those of less than a byte it is a type of one byte, which holds several.
template <DType dtype, class T>
constexpr bool is_element_type() {
  constexpr bool kIsOfCpp = dtype == DType::boolean || (dtype >= DType::i8 && dtype <= DType::u64) || dtype == DType::f32 ||
                            dtype == DType::f64 || dtype == DType::complex64 || dtype == DType::complex128;
  if constexpr (kIsOfCpp) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
      return dtype_of<T>() == dtype;
    else
      return false;
  } else {
    constexpr bool kIsOther = (std::is_arithmetic_v<T> && !std::is_unsigned_v<T>) || std::is_same_v<T, bool>;
    return !kIsOther && sizeof(T) == (dtype == DType::f16 || dtype == DType::bf16 ? 2 : 1);
  }
}

/// A caller's buffer as an argument of a kernel: `is_result` says whether the kernel writes it. It owns nothing. Extents and strides are numbers of
/// elements; without strides the buffer is contiguous and row-major. Extents are checked by the call.
template <DType dtype, size_t rank, bool is_result>
class ArrayView {
 public:
  template <class T>
  static constexpr bool kTakes = is_element_type<dtype, std::remove_const_t<T>>() && (!is_result || !std::is_const_v<T>);

  /// The element at [0, ..., 0], and the extents.
  template <class T>
  requires kTakes<T> ArrayView(T* data, const std::array<int64_t, rank>& dims) : data_(data), dims_(dims) {}
  template <class T>
  requires kTakes<T> ArrayView(T* data, const std::array<int64_t, rank>& dims, const std::array<int64_t, rank>& strides)
      : data_(data), dims_(dims), strides_(strides), has_strides_(true) {}

  /// A std::span, std::vector or array, of a rank 1 argument.
  template <class Range>
  requires(rank == 1 && std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
           kTakes<std::remove_reference_t<std::ranges::range_reference_t<Range>>>)
      ArrayView(Range&& range)  // NOLINT(google-explicit-constructor, bugprone-forwarding-reference-overload): like std::span
      : data_(std::ranges::data(range)), dims_{static_cast<int64_t>(std::ranges::size(range))} {}

  /// A std::mdspan or what has its members data_handle(), extent(d), stride(d) and rank().
  template <class MdSpan>
  requires(requires(const MdSpan& from) {
    from.data_handle();
    from.extent(0);
    from.stride(0);
    requires MdSpan::rank()
    == rank;
    requires kTakes<std::remove_pointer_t<decltype(from.data_handle())>>;
  }) ArrayView(const MdSpan& from)  // NOLINT(google-explicit-constructor): an argument
      : data_(from.data_handle()), has_strides_(true) {
    for (size_t d = 0; d < rank; ++d) {
      dims_[d] = static_cast<int64_t>(from.extent(d));
      strides_[d] = static_cast<int64_t>(from.stride(d));
    }
  }

  /// Points to this view's extents.
  strew_tensor tensor() const {
    strew_tensor out{};
    out.data = const_cast<void*>(data_);
    out.dims = dims_.data();
    out.strides = has_strides_ ? strides_.data() : nullptr;
    out.rank = static_cast<int32_t>(rank);
    out.dtype = static_cast<uint8_t>(dtype);
    out.read_only = is_result ? 0 : 1;
    return out;
  }

 private:
  const void* data_;
  std::array<int64_t, rank> dims_{};
  std::array<int64_t, rank> strides_{};
  bool has_strides_ = false;
};

template <DType dtype, size_t rank>
using ResultView = ArrayView<dtype, rank, true>;
template <DType dtype, size_t rank>
using InputView = ArrayView<dtype, rank, false>;

/// A status of the C interface as C++ has it. Frees `status`.
inline Status taken(strew_status status) {
  if (status == nullptr) return {};
  Status out(static_cast<Code>(strew_status_code(status)), strew_status_message(status));
  strew_status_free(status);
  return out;
}

/// The base of the classes of generated headers: a library in use. Copies share it. Its kernels may be called by several threads at once.
class KernelLibrary {
 public:
  explicit KernelLibrary(strew_context* context) : context_(context, strew_context_free) {}
  /// For the functions of strew/library.h.
  const strew_context* context() const { return context_.get(); }

 protected:
  template <class... Views>
  Status run(uint32_t kernel, const Views&... views) const {
    const strew_tensor tensors[] = {views.tensor()...};
    return taken(strew_context_run(context_.get(), kernel, tensors, sizeof...(views), nullptr));
  }

  template <class... Views>
  Status run_program(uint32_t program, const Views&... views) const {
    const strew_tensor tensors[] = {views.tensor()...};
    return taken(strew_context_run_program(context_.get(), program, tensors, sizeof...(views), nullptr));
  }

 private:
  std::shared_ptr<strew_context> context_;
};

/// strew_context_open() for the library of a generated class. `options` null: the defaults.
template <class Library>
Expected<Library> open_library(const strew_context_options* options = nullptr) {
  strew_context* context = nullptr;
  if (Status status = taken(strew_context_open(Library::registry(), options, &context)); !status.ok()) return status;
  return Library(context);
}

}  // namespace strew::inline v0
