// Reads external data of a TensorProto. Its entries are `location` (a path relative to the model's folder), `offset` (default 0) and
// `length` (default: what dtype and dims need). Entries with other keys (checksum, keys of other runtimes) are ignored.
//
// The path comes from the file, so it is untrusted: absolute paths, paths that leave the model's folder by `..` or through a symbolic link,
// and everything but regular files are refused. Offset and length are checked against the file's size before memory is allocated. Only the
// bytes of this tensor are read, and only when a kernel uses it.
//
// Floats are mapped, so weights take no memory of their own. Integers may become indices and are read: another process can change a mapped
// file, and an index must not change between its check and its use. Tested by tests/unit/compiler/import/onnx/onnx_external_test.cc.
#include "compiler/import/onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "strew/tensor.h"

namespace strew::inline v0::onnx {
namespace {

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
    return invalid_argument(fmt::format("{}: the file has {} bytes, expected {} at offset {}", path, file.size(), bytes, offset));
  if (maps) {
    STREW_ASSIGN(std::shared_ptr<const FileMap> map, file.map(offset, bytes));
    constant.mapped = map->bytes();
    constant.file = std::move(map);
    return {};
  }
  constant.data.resize(static_cast<size_t>(bytes));
  return file.read(offset, constant.data);
}

}  // namespace

Status read_external(const TensorProto& proto, int64_t expected, const std::string& what, const std::string& path,
                     Constant& constant) {
  STREW_ASSIGN(const std::optional<std::string> location, find_entry(proto, "location", what));
  if (!location) return invalid_argument(what + ": data_location is EXTERNAL without a location in external_data, expected one");
  STREW_ASSIGN(const int64_t offset, number_entry(proto, "offset", 0, what));
  STREW_ASSIGN(const int64_t length, number_entry(proto, "length", expected, what));
  if (length != expected)
    return invalid_argument(
        fmt::format("{}: external_data's length is {}, expected {}, what its dims and type need", what, length, expected));
  STREW_ASSIGN(const std::string file, resolve(*location, what, path));
  const Status status = load(file, offset, expected, constant);
  return status.with_prefix(what);
}

}  // namespace strew::inline v0::onnx
