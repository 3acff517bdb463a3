// Types and constants of tensors. A quantized tensor has its storage type, since indexed ops only move elements (a note says so).
// Resources, variants and sparse tensors are refused. Data lies in a buffer of the flatbuffer or at an offset of the same file; data in
// another file is refused. Every number is untrusted: the element count is checked against the available bytes before memory is allocated.
//
// Elements below 8 bits are packed from the low bits up, as strew packs them. A string tensor is an i32 count, count + 1 i32 offsets from
// the buffer's start, and the text. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and
// tests/oracle/litert_models.py.
#include "compiler/import/tflite/tensor.h"

#include <bit>
#include <cstring>

#include "compiler/import/file_constant.h"
#include "compiler/op/limits.h"
#include "strew/tensor.h"

namespace strew::inline v0::tflite {
namespace {

static_assert(std::endian::native == std::endian::little, "buffers are little-endian and copied as they are");

/// The names of column tflite of dtypes.def.
struct Types {
  using enum schema::ElementType;
  static constexpr schema::ElementType none = static_cast<schema::ElementType>(-1);  // NOLINT(readability-identifier-naming)
};
struct ElementTypeRow {
  schema::ElementType type;
  DType dtype;
};
/// Rows of type `none` are of dtypes that TFLite lacks.
constexpr ElementTypeRow kElementTypes[] = {
#define STREW_TFLITE_TYPE(dtype, dlpack, onnx, tflite, ...) {Types::tflite, DType::dtype},
    STREW_DTYPE_FORMATS(STREW_TFLITE_TYPE)
#undef STREW_TFLITE_TYPE
};

Expected<DType> element_type(schema::ElementType type, const std::string& what) {
  for (const ElementTypeRow& row : kElementTypes) {
    if (row.type == type && type != Types::none) return row.dtype;
  }
  const std::string name = schema::EnumNameElementType(type);
  return unsupported(what + ": element type is " + std::to_string(static_cast<int>(type)) +
                     (name.empty() ? "" : " (" + name + ")") + ", expected one of numbers or strings");
}

/// Checks the extents of a tensor; a dim that a signature or an old file leaves open counts as 1.
Status check_dims(const std::vector<int64_t>& dims, const std::string& what) {
  std::vector<int64_t> known;
  for (int64_t d : dims) known.push_back(d == kDynamic ? 1 : d);
  const Expected<int64_t> count = element_count(known);
  return count.ok() ? Status() : invalid_argument(what + ": " + count.status().message());
}

Status check_rank(const flatbuffers::Vector<int32_t>* dims, const std::string& what) {
  if (dims == nullptr || dims->size() <= static_cast<uint32_t>(kMaxRank)) return {};
  return invalid_argument(what + ": rank is " + std::to_string(dims->size()) + ", expected at most " + std::to_string(kMaxRank));
}

int64_t read_i32(std::string_view data, size_t entry) {
  int32_t value;
  std::memcpy(&value, data.data() + 4 * entry, 4);
  return value;
}

Status read_strings(Constant& constant, std::string_view data, int64_t count, const std::string& what) {
  const int64_t size = static_cast<int64_t>(data.size());
  const int64_t stored = size >= 4 ? read_i32(data, 0) : 0;
  if (stored != count) {
    return invalid_argument(what + ": the buffer holds " + std::to_string(stored) + " strings, expected " +
                            std::to_string(count));
  }
  const int64_t head = 4 * (count + 2);
  if (count > 0 && head > size) {
    return invalid_argument(what + ": the buffer has " + std::to_string(size) + " bytes, expected at least " +
                            std::to_string(head) + " for the offsets of " + std::to_string(count) + " strings");
  }
  constant.strings.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = read_i32(data, static_cast<size_t>(i) + 1), to = read_i32(data, static_cast<size_t>(i) + 2);
    if (from < head || to < from || to > size) {
      return invalid_argument(what + ": string " + std::to_string(i) + " lies at bytes " + std::to_string(from) + " to " +
                              std::to_string(to) + " of the buffer, expected between " + std::to_string(head) + " and " +
                              std::to_string(size) + ", in order");
    }
    constant.strings.emplace_back(data.substr(static_cast<size_t>(from), static_cast<size_t>(to - from)));
  }
  return {};
}

/// Makes bytes canonical that files may leave arbitrary: a boolean that is not zero becomes 1, the padding bits of the last byte become 0.
void normalise(Constant& constant, int64_t count) {
  if (constant.type.dtype == DType::boolean) {
    for (std::byte& b : constant.data) b = std::byte(b != std::byte{0});
  }
  const int used = static_cast<int>(count * bits(constant.type.dtype) % 8);
  if (used != 0) constant.data.back() &= std::byte((1 << used) - 1);
}

}  // namespace

Expected<TensorType> tensor_type(const schema::Tensor& tensor, const std::string& what) {
  TensorType type;
  STREW_ASSIGN(type.dtype, element_type(tensor.type(), what));
  if (tensor.sparsity() != nullptr) return unsupported(what + ": it is stored sparse, expected a dense tensor");
  const flatbuffers::Vector<int32_t>*shape = tensor.shape(), *signature = tensor.shape_signature();
  STREW_TRY(check_rank(shape, what));
  STREW_TRY(check_rank(signature, what));
  const uint32_t rank = shape == nullptr ? 0 : shape->size();
  const bool has_signature = signature != nullptr && signature->size() > 0;
  if (has_signature && signature->size() != rank) {
    return invalid_argument(what + ": shape_signature has " + std::to_string(signature->size()) + " entries, expected shape's " +
                            std::to_string(rank));
  }
  for (uint32_t d = 0; d < rank; ++d) {
    const int32_t extent = shape->Get(d), open = has_signature ? signature->Get(d) : extent;
    if (open != -1 && open != extent) {
      return invalid_argument(what + ": shape_signature[" + std::to_string(d) + "] is " + std::to_string(open) +
                              ", expected -1 or shape's " + std::to_string(extent));
    }
    type.dims.push_back(open == -1 ? kDynamic : open);
  }
  STREW_TRY(check_dims(type.dims, what));
  return type;
}

Expected<std::string_view> tensor_data(const schema::Model& model, std::string_view file, const schema::Tensor& tensor,
                                       const std::string& what) {
  if (tensor.external_buffer() != 0) {
    return unsupported(what + ": its data is external buffer " + std::to_string(tensor.external_buffer()) +
                       ", in another file; expected data inside this one");
  }
  const uint32_t count = model.buffers() == nullptr ? 0 : model.buffers()->size();
  if (tensor.buffer() == 0) return std::string_view();
  if (tensor.buffer() >= count) {
    return invalid_argument(what + ": buffer is " + std::to_string(tensor.buffer()) + ", expected less than " +
                            std::to_string(count));
  }
  const schema::Buffer& buffer = *model.buffers()->Get(tensor.buffer());
  if (buffer.data() != nullptr && buffer.data()->size() > 0) {
    return std::string_view(reinterpret_cast<const char*>(buffer.data()->data()), buffer.data()->size());
  }
  if (buffer.offset() <= 1) return std::string_view();
  if (buffer.offset() > file.size() || buffer.size() > file.size() - buffer.offset()) {
    return invalid_argument(what + ": buffer " + std::to_string(tensor.buffer()) + " has offset " +
                            std::to_string(buffer.offset()) + " and size " + std::to_string(buffer.size()) +
                            ", expected within the file's " + std::to_string(file.size()) + " bytes");
  }
  return file.substr(buffer.offset(), buffer.size());
}

Expected<Constant> to_constant(const schema::Tensor& tensor, std::string_view data, const std::string& what,
                               const std::shared_ptr<const void>& owner) {
  STREW_ASSIGN(const TensorType type, tensor_type(tensor, what));
  Constant out;
  out.type.dtype = type.dtype;
  for (uint32_t d = 0; d < static_cast<uint32_t>(type.rank()); ++d) {
    if (tensor.shape()->Get(d) == -1) {
      return invalid_argument(what + ": dim " + std::to_string(d) + " is -1, expected the extent of a constant");
    }
    out.type.dims.push_back(tensor.shape()->Get(d));
  }
  const Expected<int64_t> counted = element_count(out.type.dims);
  if (!counted.ok()) return invalid_argument(what + ": " + counted.status().message());
  if (type.dtype == DType::string) {
    STREW_TRY(read_strings(out, data, *counted, what));
    return out;
  }
  const int64_t expected = storage_bytes(type.dtype, *counted);
  if (static_cast<uint64_t>(expected) != data.size()) {
    return invalid_argument(what + ": its buffer has " + std::to_string(data.size()) + " bytes, expected " +
                            std::to_string(expected) + " for " + std::to_string(*counted) + " elements of " +
                            std::string(name(type.dtype)));
  }
  set_bytes(out, std::as_bytes(std::span(data)), owner);
  normalise(out, *counted);
  return out;
}

bool is_quantized(const schema::Tensor& tensor) {
  const schema::Quantization* q = tensor.quantization();
  return q != nullptr && q->scale() != nullptr && q->scale()->size() > 0;
}

std::vector<float> scales_of(const schema::Quantization& quantization) {
  const flatbuffers::Vector<float>* list = quantization.scale();
  return list == nullptr ? std::vector<float>() : std::vector<float>(list->begin(), list->end());
}

}  // namespace strew::inline v0::tflite
