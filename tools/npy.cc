// See npy.h. A .npy file of format 1, 2 or 3 has a magic number, a version, the length of a header, the header (a
// Python dict literal), and the items.
//
// File and tensor are never both in memory. Items that have the layout of the tensor are mapped (floats of a megabyte
// or more) or read directly into the tensor; other items are converted block by block. Writing works the same way.
// Integers are never mapped: they may be indices, and a mapped file can change after an index was checked.
//
// Dtypes that NumPy has are stored as NumPy stores them; bf16 is stored as V2, and the 8-bit floats as |u1 (a reader
// accepts any raw item of the right size: V, u, i). Types below 8 bits have one |i1 or |u1 item per element, with the
// value sign- or zero-extended; a reader ignores the high bits. Strings are stored as <U, or as |S if one of them is
// not UTF-8. A reader swaps big-endian items and converts Fortran order. It compares the header with the size of the
// file before it allocates anything. Tested by tests/unit/tools/npy_test.cc and tests/error/hostile_test.cc.
#include "tools/npy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/file.h"

namespace strew {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxNpyHeader = size_t{1} << 20;
constexpr size_t kBlock = size_t{1} << 20;  ///< bytes of items that are converted at a time, or one item

struct Header {
  char order = '|';  ///< < > | =
  char kind = 0;     ///< b i u f c V U S
  int64_t size = 0;  ///< the number in descr: the bytes of an item; for U its characters
  bool fortran = false;
  std::vector<int64_t> shape;
  size_t data_at = 0;

  int64_t item_bytes() const { return kind == 'U' ? 4 * size : size; }
  std::string descr() const { return std::string(1, order) + kind + std::to_string(size); }
};

/// Reads the dict literal {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& what) : text_(text), what_(what) {}

  Status parse(Header& header) {
    if (!take('{')) return error("a dict");
    bool seen[3] = {};
    while (!take('}')) {
      std::string key;
      STREW_TRY(quoted(key));
      if (!take(':')) return error("':'");
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || seen[which]) return error("the keys descr, fortran_order and shape, once each, not '" + key + "'");
      seen[which] = true;
      STREW_TRY(which == 0 ? descr(header) : which == 1 ? fortran(header) : shape(header));
      if (!take(',') && peek() != '}') return error("',' or '}'");
    }
    if (!seen[0] || !seen[1] || !seen[2]) return error("the keys descr, fortran_order and shape");
    if (peek() != 0) return error("nothing after the dict");
    return {};
  }

 private:
  Status error(const std::string& expected) {
    return invalid_argument(what_ + ": npy header, offset " + std::to_string(at_) + ": expected " + expected);
  }

  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    peek();
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  Status quoted(std::string& out) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return error("a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return error("the end of the string");
    out = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {};
  }

  Status number(int64_t& out) {
    peek();
    const size_t start = at_;
    out = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(out, int64_t{10}, &out) || __builtin_add_overflow(out, int64_t{text_[at_] - '0'}, &out)) {
        return error("a number that fits 63 bits");
      }
    }
    return at_ == start ? error("a number") : Status();
  }

  Status descr(Header& header) {
    if (peek() == '[') return error("a plain item type; structured types are not tensors");
    std::string text;
    STREW_TRY(quoted(text));
    std::string_view rest = text;
    if (!rest.empty() && std::strchr("<>|=", rest.front()) != nullptr) {
      header.order = rest.front() == '=' ? '<' : rest.front();
      rest.remove_prefix(1);
    }
    if (rest == "O") return error("a plain item type; Python objects are refused");
    if (rest.empty() || std::strchr("biufcVUS", rest.front()) == nullptr || rest.size() < 2 || rest.size() > 10 ||
        rest.find_first_not_of("0123456789", 1) != std::string_view::npos) {
      return error("an item type such as '<f4', not '" + text + "'");
    }
    header.kind = rest.front();
    header.size = std::stoll(std::string(rest.substr(1)));
    return {};
  }

  Status fortran(Header& header) {
    header.fortran = word("True");
    return header.fortran || word("False") ? Status() : error("True or False");
  }

  Status shape(Header& header) {
    if (!take('(')) return error("a tuple");
    while (!take(')')) {
      int64_t dim = 0;
      STREW_TRY(number(dim));
      header.shape.push_back(dim);
      if (header.shape.size() > 64) return error("at most 64 dims");
      if (!take(',') && peek() != ')') return error("',' or ')'");
    }
    return {};
  }

  std::string_view text_;
  const std::string& what_;
  size_t at_ = 0;
};

/// `bytes`: a file of `file_bytes`, or its beginning, which must be longer than the longest header.
Expected<Header> parse_header(std::string_view bytes, size_t file_bytes, const std::string& what) {
  if (bytes.size() < 10 || bytes.substr(0, kMagic.size()) != kMagic) {
    if (bytes.starts_with("PK\3\4"))
      return invalid_argument(
          what +
          ": an archive of arrays (.npz), expected one array: 'python3 -c \"import numpy; numpy.save('FILE.npy', "
          "numpy.load('" +
          what + "')['NAME'])\"' makes it");
    return invalid_argument(what + ": not an npy file: the first bytes are not \\x93NUMPY");
  }
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return invalid_argument(what + ": npy format version is " + std::to_string(major) + ", expected 1, 2 or 3");
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) return invalid_argument(what + ": the npy header is cut short");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << 8 * i;
  if (length > file_bytes - 8 - length_bytes) {
    return invalid_argument(what + ": the npy header has " + std::to_string(length) + " bytes, expected at most the file's " +
                            std::to_string(file_bytes));
  }
  if (length > kMaxNpyHeader) {
    return invalid_argument(what + ": the npy header has " + std::to_string(length) + " bytes, expected at most " +
                            std::to_string(kMaxNpyHeader));
  }
  Header header;
  header.data_at = 8 + length_bytes + length;
  STREW_TRY(HeaderParser(bytes.substr(8 + length_bytes, length), what).parse(header));
  return header;
}

char numpy_kind(DType dtype) {
  if (dtype == DType::boolean) return 'b';
  if (dtype == DType::string) return 'U';
  if (is_complex(dtype)) return 'c';
  if (dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64) return 'f';
  if (is_signed_integer(dtype)) return 'i';
  if (is_unsigned_integer(dtype) || bits(dtype) <= 8) return 'u';
  return 'V';  // bf16
}

int64_t item_size(DType dtype) { return dtype == DType::string ? 1 : std::max(1, bits(dtype) / 8); }

std::string descr_of(DType dtype) {
  const int64_t size = item_size(dtype);
  const char kind = numpy_kind(dtype);
  return std::string(1, size == 1 || kind == 'V' ? '|' : '<') + kind + std::to_string(size);
}

/// Does NumPy have the type? Its items must then be of that type; items of other types are raw items of the right size.
bool is_numpy_type(DType dtype) {
  switch (dtype) {
    case STREW_EACH_DTYPE(BOOL):
    case STREW_EACH_DTYPE(INTEGER):
    case DType::f16:
    case STREW_EACH_DTYPE(FLOAT):
    case STREW_EACH_DTYPE(COMPLEX):
      return true;
    case STREW_EACH_DTYPE(PACKED_INTEGER):
    case STREW_EACH_DTYPE(SMALL_FLOAT):
    case DType::bf16:
    case STREW_EACH_DTYPE(STRING):
      break;
  }
  return false;
}

Status check_items(const Header& header, DType dtype, const std::string& what) {
  bool fits = false;
  std::string expected = descr_of(dtype);
  if (dtype == DType::string) {
    fits = header.kind == 'U' || header.kind == 'S';
    expected = "<U or |S";
  } else if (is_numpy_type(dtype)) {
    fits = header.kind == numpy_kind(dtype) && header.size == item_size(dtype);
  } else {
    fits = header.size == item_size(dtype) && (header.kind == 'V' || header.kind == 'u' || header.kind == 'i') &&
           header.order != '>';
    expected += " (raw items of " + std::to_string(item_size(dtype)) + " bytes)";
  }
  if (fits) return {};
  return invalid_argument(what + ": the items are " + header.descr() + ", expected " + expected + " for " +
                          std::string(name(dtype)));
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

/// Appends the code points of UTF-8 text to `out`. Returns false if the text is not UTF-8.
bool to_code_points(std::string_view text, std::vector<uint32_t>& out) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int more = first < 0x80 ? 0 : first >> 5 == 6 ? 1 : first >> 4 == 14 ? 2 : first >> 3 == 30 ? 3 : -1;
    if (more < 0 || i + static_cast<size_t>(more) >= text.size() + (more == 0)) return false;
    uint32_t c = more == 0 ? first : first & (0x3Fu >> more);
    for (int k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<size_t>(k)]);
      if (next >> 6 != 2) return false;
      c = c << 6 | (next & 0x3F);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (c < kSmallest[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
    out.push_back(c);
    i += static_cast<size_t>(more) + 1;
  }
  return true;
}

Expected<std::string> string_item(const Header& header, const char* item, const std::string& what) {
  std::string out;
  if (header.kind == 'S') {
    out.assign(item, static_cast<size_t>(header.size));
    out.resize(out.find_last_not_of('\0') + 1);
    return out;
  }
  int64_t length = header.size;
  std::vector<uint32_t> points(static_cast<size_t>(length));
  if (length > 0) std::memcpy(points.data(), item, static_cast<size_t>(4 * length));
  if (header.order == '>') {
    for (uint32_t& c : points) c = __builtin_bswap32(c);
  }
  while (length > 0 && points[static_cast<size_t>(length) - 1] == 0) --length;
  for (int64_t i = 0; i < length; ++i) {
    const uint32_t c = points[static_cast<size_t>(i)];
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
      return invalid_argument(what + ": a string has the code point " + std::to_string(c) + ", expected a Unicode character");
    }
    append_utf8(out, c);
  }
  return out;
}

/// Enumerates the elements of a tensor in the order of the file's items.
class FileOrder {
 public:
  explicit FileOrder(const Header& header) : shape_(header.shape), fortran_(header.fortran), at_(shape_.size(), 0) {
    stride_.assign(shape_.size(), 1);
    for (size_t d = shape_.size(); d-- > 1;) stride_[d - 1] = stride_[d] * shape_[d];
  }
  /// The element of the next item, as its number in C order.
  int64_t next() {
    const int64_t element = element_;
    if (!fortran_) return element_++;
    for (size_t d = 0; d < shape_.size(); ++d) {
      element_ += stride_[d];
      if (++at_[d] < shape_[d]) break;
      element_ -= stride_[d] * shape_[d];
      at_[d] = 0;
    }
    return element;
  }

 private:
  const std::vector<int64_t>& shape_;
  bool fortran_;
  std::vector<int64_t> at_, stride_;
  int64_t element_ = 0;
};

/// Writes element `i` from an item of one byte or more.
void store_item(Tensor& tensor, int64_t i, const char* item, bool swap) {
  std::byte* data = tensor.data.data();
  const int width = bits(tensor.dtype);
  if (width < 8) {
    const int64_t first = i * width;
    for (int b = 0; b < width; ++b) {
      const bool set = static_cast<unsigned char>(*item) >> b & 1;
      if (set) data[(first + b) / 8] |= std::byte(1 << (first + b) % 8);
    }
    return;
  }
  const int64_t size = width / 8;
  if (tensor.dtype == DType::boolean) {
    data[i] = std::byte(*item != 0);
    return;
  }
  std::memcpy(data + i * size, item, static_cast<size_t>(size));
  if (!swap) return;
  const int64_t part = is_complex(tensor.dtype) ? size / 2 : size;
  for (int64_t at = 0; at < size; at += part) std::reverse(data + i * size + at, data + i * size + at + part);
}

/// The source of the items: bytes in memory, or a file.
class Source {
 public:
  virtual ~Source() = default;
  virtual Status read(int64_t offset, std::span<std::byte> to) const = 0;
};

class MemorySource final : public Source {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  Status read(int64_t offset, std::span<std::byte> to) const override {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + offset, to.size());
    return {};
  }

 private:
  std::string_view bytes_;
};

class FileSource final : public Source {
 public:
  explicit FileSource(const InputFile& file) : file_(file) {}
  Status read(int64_t offset, std::span<std::byte> to) const override { return file_.read(offset, to); }

 private:
  const InputFile& file_;
};

/// Are the bytes of the items the bytes of a tensor of `dtype`?
bool is_tensor_layout(const Header& header, DType dtype) {
  const bool swapped = header.order == '>' && header.item_bytes() > 1;
  return !header.fortran && !swapped && bits(dtype) >= 8 && dtype != DType::boolean && dtype != DType::string;
}

Status read_items(const Header& header, const Source& source, int64_t count, Tensor& tensor, const std::string& what) {
  if (is_tensor_layout(header, tensor.dtype)) {
    return source.read(static_cast<int64_t>(header.data_at), {tensor.data.data(), static_cast<size_t>(tensor.data.size())});
  }
  const auto item_bytes = static_cast<size_t>(header.item_bytes());
  const bool swap = header.order == '>' && item_bytes > 1;
  std::vector<std::string> strings(tensor.dtype == DType::string ? static_cast<size_t>(count) : 0);
  const int64_t at_once = std::max<int64_t>(1, static_cast<int64_t>(kBlock / std::max<size_t>(1, item_bytes)));
  std::vector<std::byte> block(static_cast<size_t>(std::min(count, at_once)) * item_bytes);
  FileOrder order(header);
  for (int64_t begin = 0; begin < count; begin += at_once) {
    const int64_t here = std::min(at_once, count - begin);
    STREW_TRY(source.read(static_cast<int64_t>(header.data_at) + begin * static_cast<int64_t>(item_bytes),
                          std::span(block).first(static_cast<size_t>(here) * item_bytes)));
    for (int64_t i = 0; i < here; ++i) {
      const auto* item = reinterpret_cast<const char*>(block.data()) + static_cast<size_t>(i) * item_bytes;
      const int64_t element = order.next();
      if (tensor.dtype == DType::string) {
        STREW_ASSIGN(strings[static_cast<size_t>(element)], string_item(header, item, what));
      } else {
        store_item(tensor, element, item, swap);
      }
    }
  }
  if (tensor.dtype == DType::string) set_strings(tensor, std::move(strings));
  return {};
}

/// The items of the elements [begin, end) of a type below 8 bits: one byte each, with the value sign- or zero-extended.
std::string narrow_items(const Tensor& tensor, int64_t begin, int64_t end) {
  std::string out;
  const int width = bits(tensor.dtype);
  for (int64_t i = begin; i < end; ++i) {
    unsigned value = 0;
    for (int b = 0; b < width; ++b) {
      const int64_t at = i * width + b;
      value |= (static_cast<unsigned>(tensor.data.data()[at / 8]) >> at % 8 & 1) << b;
    }
    if (is_signed_integer(tensor.dtype) && (value >> (width - 1) & 1) != 0) value |= 0xFFu << width;
    out += static_cast<char>(value);
  }
  return out;
}

/// How the strings of a tensor are stored: as `<U` and the characters of the longest string, or, if one is not UTF-8,
/// as `|S` and its bytes.
struct StringItems {
  bool unicode = true;
  size_t longest = 1;
  std::string descr() const { return (unicode ? "<U" : "|S") + std::to_string(longest); }
};

StringItems string_items(const Tensor& tensor, int64_t count) {
  StringItems out;
  size_t longest_bytes = 1;
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view text = string_at(tensor, i);
    std::vector<uint32_t> points;
    out.unicode = out.unicode && to_code_points(text, points);
    out.longest = std::max(out.longest, points.size());
    longest_bytes = std::max(longest_bytes, text.size());
  }
  if (!out.unicode) out.longest = longest_bytes;
  return out;
}

std::string string_item(const StringItems& items, std::string_view text) {
  std::string out(items.unicode ? 4 * items.longest : items.longest, '\0');
  std::vector<uint32_t> points;
  if (items.unicode && to_code_points(text, points)) {
    if (!points.empty()) std::memcpy(out.data(), points.data(), 4 * points.size());
  } else if (!text.empty()) {
    std::memcpy(out.data(), text.data(), text.size());
  }
  return out;
}

/// The part of the file before the items: it ends in a newline, and its length is a multiple of 64 bytes.
std::string header_of(const Tensor& tensor, const std::string& descr) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : tensor.dims) header += std::to_string(d) + ", ";
  if (tensor.dims.size() > 1) header.resize(header.size() - 2);
  if (tensor.dims.size() == 1) header.pop_back();
  header += "), }";

  const bool long_header = header.size() + 1 + 10 + 63 > 65535;
  const size_t before = long_header ? 12 : 10;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += long_header ? '\x02' : '\x01';
  out += '\0';
  for (size_t i = 0; i < before - 8; ++i) out += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return out + header;
}

/// The number of items. Fails unless the file of `file_bytes` has exactly these items.
Expected<int64_t> count_items(const Header& header, DType dtype, size_t file_bytes, const std::string& what) {
  STREW_TRY(check_items(header, dtype, what));
  const Expected<int64_t> counted = element_count(header.shape);
  if (!counted.ok()) return invalid_argument(what + ": shape: " + counted.status().message());
  const int64_t held = static_cast<int64_t>(file_bytes - header.data_at), item = header.item_bytes();
  if (item > 0 ? *counted > held / item || *counted * item != held : held != 0 || *counted != 0) {
    return invalid_argument(what + ": the file holds " + std::to_string(held) + " bytes of items, expected " +
                            std::to_string(*counted) + " items of " + std::to_string(item) + " bytes");
  }
  return *counted;
}

Expected<Tensor> read_tensor(const Header& header, const Source& source, int64_t count, DType dtype, const std::string& what) {
  Expected<Tensor> tensor = make_tensor(dtype, header.shape);
  if (!tensor.ok()) return tensor.status().with_prefix(what);
  STREW_TRY(read_items(header, source, count, *tensor, what));
  return tensor;
}

}  // namespace

Expected<Tensor> parse_npy(std::string_view bytes, DType dtype, const std::string& what) {
  STREW_ASSIGN(const Header header, parse_header(bytes, bytes.size(), what));
  STREW_ASSIGN(const int64_t count, count_items(header, dtype, bytes.size(), what));
  return read_tensor(header, MemorySource(bytes), count, dtype, what);
}

Expected<Tensor> read_npy(const std::string& path, DType dtype, int64_t max_bytes) {
  STREW_ASSIGN(const InputFile file, InputFile::open(path));
  if (file.size() > max_bytes) {
    return io_error(path + ": the file has " + std::to_string(file.size()) + " bytes, expected at most " +
                    std::to_string(max_bytes) + " (--max-file-bytes)");
  }
  const auto file_bytes = static_cast<size_t>(file.size());
  std::string start(std::min(file_bytes, kMaxNpyHeader + 16), '\0');
  STREW_TRY(file.read(0, std::as_writable_bytes(std::span(start))));
  STREW_ASSIGN(const Header header, parse_header(start, file_bytes, path));
  STREW_ASSIGN(const int64_t count, count_items(header, dtype, file_bytes, path));
  const auto offset = static_cast<int64_t>(header.data_at), held = static_cast<int64_t>(file_bytes) - offset;
  if (!is_tensor_layout(header, dtype) || !can_map(dtype, offset, held))
    return read_tensor(header, FileSource(file), count, dtype, path);
  STREW_ASSIGN(std::shared_ptr<const FileMap> map, file.map(offset, held));
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = header.shape;
  tensor.data = Buffer::share(map->bytes(), map);
  return tensor;
}

Status write_npy(const Tensor& tensor, const std::function<Status(std::string_view)>& write) {
  STREW_ASSIGN(const int64_t count, element_count(tensor.dims));
  if (tensor.dtype == DType::string) {
    const StringItems items = string_items(tensor, count);
    STREW_TRY(write(header_of(tensor, items.descr())));
    std::string block;
    for (int64_t i = 0; i < count; ++i) {
      block += string_item(items, string_at(tensor, i));
      if (block.size() < kBlock && i + 1 < count) continue;
      STREW_TRY(write(block));
      block.clear();
    }
    return {};
  }
  STREW_TRY(write(header_of(tensor, descr_of(tensor.dtype))));
  if (bits(tensor.dtype) >= 8)
    return write({reinterpret_cast<const char*>(tensor.data.data()), static_cast<size_t>(storage_bytes(tensor.dtype, count))});
  for (int64_t begin = 0; begin < count; begin += kBlock)
    STREW_TRY(write(narrow_items(tensor, begin, std::min<int64_t>(count, begin + static_cast<int64_t>(kBlock)))));
  return {};
}

Expected<std::string> format_npy(const Tensor& tensor) {
  std::string out;
  STREW_TRY(write_npy(tensor, [&](std::string_view bytes) {
    out += bytes;
    return Status();
  }));
  return out;
}

}  // namespace strew
