// Converts TensorProto to Constant. The data lies in exactly one of three places: raw_data (little-endian; types below 8 bits are packed
// from the low bits up, as strew packs them), string_data, or the list that ONNX assigns to the dtype. Such a list holds one packed byte
// per int32 for 4-bit types, one element per int32 for f6, and the bit pattern for 16-bit and 8-bit floats. strew stores an f6 in a byte, so
// f6 in raw_data and in external files, where ONNX packs 4 elements into 3 bytes, is unpacked. Dims and sizes are untrusted: the element count
// is checked against the data before memory is allocated, so a few bytes cannot ask for gigabytes.
//
// External data lies in a file beside the model. Its entries are `location` (a path relative to the model's folder), `offset` (default 0) and
// `length` (default: what dtype and dims need). Entries with other keys (checksum, keys of other runtimes) are ignored.
//
// The path comes from the file, so it is untrusted: absolute paths, paths that leave the model's folder by `..` or through a symbolic link,
// and everything but regular files are refused. Offset and length are checked against the file's size before memory is allocated. Only the
// bytes of this tensor are read, and only when a kernel uses it.
//
// Floats are mapped, so weights take no memory of their own. Integers may become indices and are read: another process can change a mapped
// file, and an index must not change between its check and its use.
//
// Tested by tests/unit/compiler/import/onnx/onnx_tensor_test.cc, tests/unit/compiler/import/onnx/onnx_external_test.cc and
// tests/oracle/onnx_tensor_scatter.py.
#include "compiler/import/onnx/tensor_proto.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>

#include "base/file.h"
#include "base/number.h"
#include "compiler/import/node/node.h"
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

/// Calls `visit(field, list, each)` of the list in which ONNX stores the numbers of `dtype`: `each` bytes of them are the low ones of an entry.
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

namespace fs = std::filesystem;

/// The value of the only entry with this key; nullopt if there is none, an error if there are two.
Expected<std::optional<std::string>> find_entry(const TensorProto& proto, const std::string& key, const std::string& what) {
  std::optional<std::string> found;
  for (const StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() != key) continue;
    if (found) return invalid_argument(what + ": external_data has two entries '" + key + "', expected one");
    found = entry.value();
  }
  return found;
}

Expected<int64_t> number_entry(const TensorProto& proto, const std::string& key, int64_t otherwise, const std::string& what) {
  STREW_ASSIGN(const std::optional<std::string> text, find_entry(proto, key, what));
  if (!text) return otherwise;
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc() && end == text->data() + text->size() && value >= 0) return value;
  return invalid_argument(what + ": external_data's " + key + " is '" + *text + "', expected a number from 0 to 2^63-1");
}

/// The path of the file that `location` names, with symbolic links resolved, or an error that says why it may not be read.
Expected<std::string> resolve(const std::string& location, const std::string& what, const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    return invalid_argument(what + ": external_data's location is '" + location + "', " + why);
  };
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos)
    return refuse("expected the name of a file in the model's folder");
  if (relative.is_absolute()) return refuse("which is absolute, expected a path relative to the model's folder");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) {
    return refuse("which has '..', expected a path inside the model's folder");
  }
  std::error_code error;
  const fs::path folder = fs::canonical(fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path("."), error);
  if (error) return io_error(what + ": the model's folder: " + error.message());
  const fs::path file = fs::canonical(folder / relative, error);
  if (error) return io_error(what + ": external_data's location is '" + location + "': cannot read: " + error.message());
  const auto [rest, _] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  if (rest != folder.end()) return refuse("a symbolic link that leaves the model's folder, expected a path inside it");
  return file.string();
}

Status load(const std::string& path, int64_t offset, int64_t bytes, Constant& constant) {
  const bool maps = can_map(constant.type.dtype, offset, bytes);
  if (!maps) STREW_TRY(check_memory(bytes));
  STREW_ASSIGN(const InputFile file, InputFile::open(path));
  if (offset > file.size() || bytes > file.size() - offset)
    return invalid_argument("{}: the file has {} bytes, expected {} at offset {}", path, file.size(), bytes, offset);
  if (maps) {
    STREW_ASSIGN(std::shared_ptr<const FileMap> map, file.map(offset, bytes));
    constant.mapped = map->bytes();
    constant.file = std::move(map);
    return {};
  }
  constant.data.resize(static_cast<size_t>(bytes));
  return file.read(offset, constant.data);
}

/// Gives `constant`, whose type is already set, the `expected` bytes of `proto`, whose data_location is EXTERNAL, from a file in the folder of
/// the model `path`.
Status read_external(const TensorProto& proto, int64_t expected, const std::string& what, const std::string& path,
                     Constant& constant) {
  STREW_ASSIGN(const std::optional<std::string> location, find_entry(proto, "location", what));
  if (!location) return invalid_argument(what + ": data_location is EXTERNAL without a location in external_data, expected one");
  STREW_ASSIGN(const int64_t offset, number_entry(proto, "offset", 0, what));
  STREW_ASSIGN(const int64_t length, number_entry(proto, "length", expected, what));
  if (length != expected)
    return invalid_argument("{}: external_data's length is {}, expected {}, what its dims and type need", what, length, expected);
  STREW_ASSIGN(const std::string file, resolve(*location, what, path));
  const Status status = load(file, offset, expected, constant);
  return status.with_prefix(what);
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

/// Reads dtype and dims into `type` and returns the number of elements.
Expected<int64_t> read_type(const TensorProto& proto, const std::string& what, TensorType& type) {
  STREW_ASSIGN(type.dtype, element_type(proto.data_type(), what));
  if (proto.has_segment()) return unsupported(what + ": the tensor is stored in segments, expected one piece");
  type.dims.assign(proto.dims().begin(), proto.dims().end());
  return count_elements(type.dims, what);
}

Status copy_lists(const TensorProto& proto, int64_t count, const std::string& what, Constant& out) {
  const DType dtype = out.type.dtype;
  const auto check = [&](std::string_view field, int64_t entries, int64_t expected) -> Status {
    if (entries == expected) return {};
    return invalid_argument("{}: {} has {} entries, expected {} for {} elements of {}", what, field, entries, expected, count,
                            dtype);
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
  const DType dtype = out.type.dtype;
  const bool is_packed = external || (raw && lists == 0);
  if (is_packed && dtype == DType::string)
    return invalid_argument("{}: strings are in {}, expected string_data", what, external ? "external data" : "raw_data");
  if (external) {
    STREW_TRY(read_external(proto, raw_bytes(dtype, count), what, path, out));
  } else if (is_packed) {
    STREW_TRY(read_bytes(out, count, *raw, raw_bytes(dtype, count), what + ": raw_data", owner));
  } else {
    STREW_TRY(copy_lists(proto, count, what, out));
  }
  if (is_packed && is_f6(dtype)) unpack_f6(out, count);
  if (is_f6(dtype))
    for (std::byte& b : out.data) b &= std::byte{0x3F};  // the two bits above an f6
  make_canonical(out, count);
  return out;
}

}  // namespace

int32_t element_number(DType dtype) { return kElementTypes[static_cast<size_t>(dtype)].number; }

Expected<DType> element_type(int32_t data_type, const std::string& what) {
  for (const ElementType& e : kElementTypes) {
    if (e.number == data_type && data_type != 0) return e.dtype;
  }
  return unsupported(what + ": element type is " + std::to_string(data_type) + ", expected a TensorProto.DataType from 1 to 28");
}

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
      return invalid_argument("{}: external_data has more than {} entries", what, kMaxExternalEntries);
  }
  TensorProto proto;
  if (reader.damaged() || rest.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(rest.data(), static_cast<int>(rest.size())))
    return invalid_argument("{}: not a TensorProto ({} bytes), expected ONNX's protobuf tensor", what, bytes.size());
  return convert(proto, raw, what, path, owner);
}

}  // namespace strew::inline v0::onnx
