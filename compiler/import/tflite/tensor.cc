// Types and constants of tensors. A quantized tensor has its storage type, since indexed ops only move elements (a note says so).
// Resources, variants and sparse tensors are refused. Data lies in a buffer of the flatbuffer or at an offset of the same file; data in
// another file is refused. Every number is untrusted: the element count is checked against the available bytes before memory is allocated.
//
// Elements below 8 bits are packed from the low bits up, as strew packs them. A string tensor is an i32 count, count + 1 i32 offsets from
// the buffer's start, and the text. Tested by tests/unit/compiler/import/tflite/tflite_import_test.cc, tests/error/tflite_error_test.cc and
// tests/oracle/litert_models.py.
#include "strew/tensor.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "compiler/import/node/node.h"
#include "compiler/import/tflite/graph.h"

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
  return unsupported("{}: element type is {}{}, expected one of numbers or strings", what, static_cast<int>(type),
                     name.empty() ? "" : " (" + name + ")");
}

int64_t read_i32(std::string_view data, size_t entry) {
  int32_t value;
  std::memcpy(&value, data.data() + 4 * entry, 4);
  return value;
}

Status read_strings(Constant& constant, std::string_view data, int64_t count, const std::string& what) {
  const int64_t size = static_cast<int64_t>(data.size());
  const int64_t stored = size >= 4 ? read_i32(data, 0) : 0;
  if (stored != count) return invalid_argument("{}: the buffer holds {} strings, expected {}", what, stored, count);
  const int64_t head = 4 * (count + 2);
  if (count > 0 && head > size)
    return invalid_argument("{}: the buffer has {} bytes, expected at least {} for the offsets of {} strings", what, size, head,
                            count);
  constant.strings.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = read_i32(data, static_cast<size_t>(i) + 1), to = read_i32(data, static_cast<size_t>(i) + 2);
    if (from < head || to < from || to > size)
      return invalid_argument("{}: string {} lies at bytes {} to {} of the buffer, expected between {} and {}, in order", what, i,
                              from, to, head, size);
    constant.strings.emplace_back(data.substr(static_cast<size_t>(from), static_cast<size_t>(to - from)));
  }
  return {};
}

}  // namespace

Expected<TensorType> tensor_type(const schema::Tensor& tensor, const std::string& what) {
  TensorType type;
  STREW_ASSIGN(type.dtype, element_type(tensor.type(), what));
  if (tensor.sparsity() != nullptr) return unsupported(what + ": it is stored sparse, expected a dense tensor");
  const std::vector<int64_t> extents = list_of(tensor.shape()), open = list_of(tensor.shape_signature());
  STREW_TRY(check_rank(std::max(extents.size(), open.size()), what));
  if (!open.empty() && open.size() != extents.size())
    return invalid_argument("{}: shape_signature has {} entries, expected shape's {}", what, open.size(), extents.size());
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t extent = open.empty() ? extents[d] : open[d];
    if (extent != -1 && extent != extents[d])
      return invalid_argument("{}: shape_signature[{}] is {}, expected -1 or shape's {}", what, d, extent, extents[d]);
    type.dims.push_back(extent == -1 ? kDynamic : extent);
  }
  STREW_TRY(check_extents(type.dims, what));
  return type;
}

Expected<std::string_view> tensor_data(const schema::Model& model, std::string_view file, const schema::Tensor& tensor,
                                       const std::string& what) {
  if (tensor.external_buffer() != 0) {
    return unsupported("{}: its data is external buffer {}, in another file; expected data inside this one", what,
                       tensor.external_buffer());
  }
  const uint32_t count = model.buffers() == nullptr ? 0 : model.buffers()->size();
  if (tensor.buffer() == 0) return std::string_view();
  if (tensor.buffer() >= count) {
    return invalid_argument("{}: buffer is {}, expected less than {}", what, tensor.buffer(), count);
  }
  const schema::Buffer& buffer = *model.buffers()->Get(tensor.buffer());
  if (buffer.data() != nullptr && buffer.data()->size() > 0) {
    return std::string_view(reinterpret_cast<const char*>(buffer.data()->data()), buffer.data()->size());
  }
  if (buffer.offset() <= 1) return std::string_view();
  if (buffer.offset() > file.size() || buffer.size() > file.size() - buffer.offset()) {
    return invalid_argument("{}: buffer {} has offset {} and size {}, expected within the file's {} bytes", what, tensor.buffer(),
                            buffer.offset(), buffer.size(), file.size());
  }
  return file.substr(buffer.offset(), buffer.size());
}

Expected<Constant> to_constant(const schema::Tensor& tensor, std::string_view data, const std::string& what,
                               const std::shared_ptr<const void>& owner) {
  STREW_ASSIGN(const TensorType type, tensor_type(tensor, what));
  Constant out;
  out.type = {type.dtype, list_of(tensor.shape()), {}};
  const auto open = std::find(out.type.dims.begin(), out.type.dims.end(), -1);
  if (open != out.type.dims.end())
    return invalid_argument("{}: dim {} is -1, expected the extent of a constant", what, open - out.type.dims.begin());
  STREW_ASSIGN(const int64_t count, count_elements(out.type.dims, what));
  if (type.dtype == DType::string) {
    STREW_TRY(read_strings(out, data, count, what));
    return out;
  }
  STREW_TRY(read_bytes(out, count, data, storage_bytes(type.dtype, count), what + ": its buffer", owner));
  make_canonical(out, count);
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

/// Copies bytes, because the verifier of flatbuffers does not require that 8-byte elements lie at multiples of 8.
std::vector<int64_t> list_of(const flatbuffers::Vector<int64_t>* list) {
  std::vector<int64_t> out(list == nullptr ? 0 : list->size());
  if (!out.empty()) std::memcpy(out.data(), list->Data(), out.size() * sizeof(int64_t));
  return out;
}

std::vector<int64_t> list_of(const flatbuffers::Vector<int32_t>* list) {
  return list == nullptr ? std::vector<int64_t>() : std::vector<int64_t>(list->begin(), list->end());
}

}  // namespace strew::inline v0::tflite
