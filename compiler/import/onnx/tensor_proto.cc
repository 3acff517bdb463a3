// Converts TensorProto to Constant. The data lies in exactly one of three places: raw_data (little-endian; types below 8 bits are packed
// from the low bits up, as strew packs them), string_data, or the list that ONNX assigns to the dtype. Such a list holds one packed byte
// per int32 for 4-bit types, one element per int32 for f6, and the bit pattern for 16-bit and 8-bit floats. strew stores an f6 in a byte, so
// f6 in raw_data and in external files, where ONNX packs 4 elements into 3 bytes, is unpacked. Dims and sizes are untrusted: the element count
// is checked against the data before memory is allocated, so a few bytes cannot ask for gigabytes.
//
// external_data.cc reads external data. Tested by tests/unit/compiler/import/onnx/onnx_tensor_test.cc and
// tests/oracle/onnx_tensor_scatter.py.
#include "compiler/import/onnx/tensor_proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "base/number.h"
#include "compiler/import/node/tensors.h"
#include "compiler/import/onnx/external_data.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "compiler/import/onnx/wire.h"
#include "strew/tensor.h"

namespace strew::inline v0::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and copied as it is");

/// The TensorProto.DataType number of each DType; 0 of those that ONNX lacks.
struct ElementType {
  int32_t number;
  DType dtype;
};
constexpr ElementType kElementTypes[] = {
#define STREW_ONNX_TYPE(dtype, dlpack, onnx, ...) {onnx, DType::dtype},
    STREW_DTYPE_FORMATS(STREW_ONNX_TYPE)
#undef STREW_ONNX_TYPE
};

/// Calls `visit(field, list, each)` of the list in which ONNX stores the numbers of `dtype`, of which `each` bytes lie in an entry, the low ones.
template <class Visit>
Status visit_list(const TensorProto& p, DType dtype, const Visit& visit) {
  const DType part = part_dtype(dtype);
  const int64_t each = std::max(bits(part) / 8, 1);
  if (part == DType::f32) return visit("float_data", p.float_data(), each);
  if (part == DType::f64) return visit("double_data", p.double_data(), each);
  if (part == DType::i64) return visit("int64_data", p.int64_data(), each);
  if (part == DType::u32 || part == DType::u64) return visit("uint64_data", p.uint64_data(), each);
  return visit("int32_data", p.int32_data(), each);  // all smaller ones
}

constexpr int kF6Bits = 6;
/// Floats of 6 bits: strew keeps each in a byte, and ONNX packs them.
bool is_f6(DType dtype) { return is_float(dtype) && info(dtype).used_bits == kF6Bits; }

/// Bytes that `count` elements take in raw_data and in external files.
int64_t raw_bytes(DType dtype, int64_t count) {
  if (!is_f6(dtype)) return storage_bytes(dtype, count);
  return count / 4 * 3 + (count % 4 * kF6Bits + 7) / 8;
}

/// Unpacks f6 from raw_data's layout, a stream of 6 bits each, low bits first, to a byte each.
void unpack_f6(Constant& constant, int64_t count) {
  const std::span<const std::byte> packed = constant.bytes();
  std::vector<std::byte> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t bit = i * kF6Bits, at = bit / 8;
    const unsigned high = at + 1 < packed.size() ? std::to_integer<unsigned>(packed[at + 1]) : 0;
    const unsigned both = std::to_integer<unsigned>(packed[at]) | high << 8;
    out[i] = std::byte(both >> bit % 8 & 0x3F);
  }
  constant.data = std::move(out);
  constant.mapped = {};
  constant.file = nullptr;
}

int lists_used(const TensorProto& p) {
  return (p.float_data_size() > 0) + (p.int32_data_size() > 0) + (p.string_data_size() > 0) + (p.int64_data_size() > 0) +
         (p.double_data_size() > 0) + (p.uint64_data_size() > 0);
}

constexpr int kMaxExternalEntries = 64;

}  // namespace

int32_t element_number(DType dtype) { return kElementTypes[static_cast<size_t>(dtype)].number; }

Expected<DType> element_type(int32_t data_type, const std::string& what) {
  for (const ElementType& e : kElementTypes) {
    if (e.number == data_type && data_type != 0) return e.dtype;
  }
  return unsupported(what + ": element type is " + std::to_string(data_type) + ", expected a TensorProto.DataType from 1 to 28");
}

namespace {

/// Reads dtype and dims into `type` and returns the number of elements.
Expected<int64_t> read_type(const TensorProto& proto, const std::string& what, TensorType& type) {
  STREW_ASSIGN(type.dtype, element_type(proto.data_type(), what));
  if (proto.has_segment()) return unsupported(what + ": the tensor is stored in segments, expected one piece");
  type.dims.assign(proto.dims().begin(), proto.dims().end());
  return count_elements(type.dims, what);
}

Status copy_raw(std::string_view raw, int64_t count, const std::string& what, const std::shared_ptr<const void>& owner,
                Constant& out) {
  const DType dtype = out.type.dtype;
  if (dtype == DType::string) return invalid_argument(what + ": strings are in raw_data, expected string_data");
  STREW_TRY(read_bytes(out, count, raw, raw_bytes(dtype, count), what + ": raw_data", owner));
  if (is_f6(dtype)) unpack_f6(out, count);
  return {};
}

Status copy_lists(const TensorProto& proto, int64_t count, const std::string& what, Constant& out) {
  const DType dtype = out.type.dtype;
  const auto check = [&](std::string_view field, int64_t entries, int64_t expected) -> Status {
    if (entries == expected) return {};
    return invalid_argument(fmt::format("{}: {} has {} entries, expected {} for {} elements of {}", what, field, entries,
                                        expected, count, name(dtype)));
  };
  if (dtype == DType::string) {
    out.strings.assign(proto.string_data().begin(), proto.string_data().end());
    return check("string_data", proto.string_data_size(), count);
  }
  return visit_list(proto, dtype, [&](std::string_view field, const auto& list, int64_t each) -> Status {
    STREW_TRY(check(field, list.size(), storage_bytes(dtype, count) / each));
    out.data.resize(static_cast<size_t>(list.size() * each));
    for (int i = 0; i < list.size(); ++i) {
      const auto entry = list.Get(i);
      std::memcpy(out.data.data() + i * each, &entry, static_cast<size_t>(each));
    }
    return {};
  });
}

Status copy_external(const TensorProto& proto, int64_t count, const std::string& what, const std::string& path, Constant& out) {
  const DType dtype = out.type.dtype;
  if (dtype == DType::string) return invalid_argument(what + ": strings are in external data, expected string_data");
  STREW_TRY(read_external(proto, raw_bytes(dtype, count), what, path, out));
  if (is_f6(dtype)) unpack_f6(out, count);
  return {};
}

/// `raw`: the contents of raw_data, if the field is present; `proto` may have been parsed without it.
Expected<Constant> convert(const TensorProto& proto, std::optional<std::string_view> raw, const std::string& what,
                           const std::string& path, const std::shared_ptr<const void>& owner) {
  Constant out;
  STREW_ASSIGN(const int64_t count, read_type(proto, what, out.type));
  const bool external = proto.data_location() == TensorProto::EXTERNAL;
  const int lists = lists_used(proto);
  if (lists + (raw && !raw->empty()) + external > 1) {
    return invalid_argument(what + ": more than one data field is filled, expected one");
  }
  if (external) {
    STREW_TRY(copy_external(proto, count, what, path, out));
  } else if (raw && lists == 0) {
    STREW_TRY(copy_raw(*raw, count, what, owner, out));
  } else {
    STREW_TRY(copy_lists(proto, count, what, out));
  }
  if (is_f6(out.type.dtype))
    for (std::byte& b : out.data) b &= std::byte{0x3F};  // the two bits above an f6
  make_canonical(out, count);
  return out;
}

}  // namespace

Expected<Constant> to_constant(const TensorProto& proto, const std::string& what, const std::string& path) {
  std::optional<std::string_view> raw;
  if (proto.has_raw_data()) raw = proto.raw_data();
  return convert(proto, raw, what, path, nullptr);
}

Expected<Constant> parse_tensor(std::string_view bytes, const std::string& what, const std::string& path,
                                const std::shared_ptr<const void>& owner) {
  std::string rest;
  std::optional<std::string_view> raw;
  int entries = 0;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_message(9)) {
      raw = field.bytes;
    } else {
      rest += field.whole;
    }
    if (field.is_message(13) && ++entries > kMaxExternalEntries)
      return invalid_argument(fmt::format("{}: external_data has more than {} entries", what, kMaxExternalEntries));
  }
  TensorProto proto;
  if (reader.damaged() || rest.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(rest.data(), static_cast<int>(rest.size())))
    return invalid_argument(fmt::format("{}: not a TensorProto ({} bytes), expected ONNX's protobuf tensor", what, bytes.size()));
  return convert(proto, raw, what, path, owner);
}

Expected<Constant> parse_tensor(std::string_view bytes, const std::string& what, const std::string& path) {
  return parse_tensor(bytes, what, path, nullptr);
}

}  // namespace strew::inline v0::onnx
