// ONNX Runtime's tensors as strew's: element types, and views of values. Tested by tests/onnxruntime.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bindings/onnxruntime/api.h"

namespace strew::ort {

/// The extents of a tensor whose rank is only known in a call, without memory of their own.
class Dims {
 public:
  static constexpr size_t kMost = 32;
  void assign(const int64_t* first, const int64_t* last) {
    count_ = 0;
    append(first, last);
  }
  void append(const int64_t* first, const int64_t* last) {
    for (; first < last && count_ < kMost; ++first) all_[count_++] = *first;
  }
  const int64_t* data() const { return all_.data(); }
  size_t size() const { return count_; }
  int64_t operator[](size_t d) const { return all_[d]; }

 private:
  std::array<int64_t, kMost> all_;
  size_t count_ = 0;
};

/// strew's element type; none: strew does not take these (strings, which are objects of C++ there).
std::optional<strew_dtype> dtype_of(abi::ElementType type);
/// The element types that strew takes and this release of ONNX Runtime has.
const std::vector<abi::ElementType>& element_types();

/// A view of a value, valid as long as it is. `is_input`: it is not to be written.
abi::Status* view_of(const abi::Value* value, bool is_input, strew_tensor* out);

/// A view of an input of a call, which must be there.
abi::Status* input(const abi::KernelContext* context, size_t number, strew_tensor* out);

int64_t bytes_of(const strew_tensor& tensor);

/// What a graph says of a value: its element type and dims, STREW_OPEN where they are open. No dims: not even the rank is known.
struct ValueType {
  abi::ElementType element = abi::ElementType::undefined;
  std::optional<std::vector<int64_t>> dims;
  std::vector<std::string> symbols;  ///< the names of open dims, else ""; as many as dims
};
/// Fails for what is no tensor.
abi::Status* type_of(const abi::ValueInfo* info, ValueType* out);
/// The number of elements, if all dims are known.
std::optional<int64_t> elements_of(const ValueType& type);

}  // namespace strew::ort
