// .npy format 1, 2 and 3: magic, version, length of a header that is a Python dict literal, the items.
//
// How a dtype is stored: NumPy's own types as NumPy does; bf16 as V2 and the 8-bit floats as |u1 (any raw item of the size is read:
// V, u, i); types below 8 bits as one |i1 or |u1 item per element, value in the low bits, the rest the type's extension, ignored when
// read; strings as <U (|S when they are not UTF-8). Big-endian items are swapped, Fortran order is converted. The header's claims are
// checked against the size of the file before anything is allocated. Tested by tests/unit/npy_test.cc.
#include "tools/npy.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace strew {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
  char order = '|';  ///< < > | =
  char kind = 0;     ///< b i u f c V U S
  int64_t size = 0;  ///< of descr: bytes, for U characters
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

Expected<Header> parse_header(std::string_view bytes, const std::string& what) {
  if (bytes.size() < 10 || bytes.substr(0, kMagic.size()) != kMagic) {
    return invalid_argument(what + ": not an npy file: the first bytes are not \\x93NUMPY");
  }
  const int major = static_cast<unsigned char>(bytes[6]);
  if (major < 1 || major > 3)
    return invalid_argument(what + ": npy format version is " + std::to_string(major) + ", expected 1, 2 or 3");
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) return invalid_argument(what + ": the npy header is cut short");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= static_cast<size_t>(static_cast<unsigned char>(bytes[8 + i])) << 8 * i;
  if (length > bytes.size() - 8 - length_bytes) {
    return invalid_argument(what + ": the npy header has " + std::to_string(length) + " bytes, expected at most the file's " +
                            std::to_string(bytes.size()));
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

/// True for types NumPy has: their items must be of that very type. The others are raw items of the right size.
bool is_numpy_type(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::f16:
    case DType::f32:
    case DType::f64:
      return true;
    default:
      return (is_integer(dtype) && bits(dtype) >= 8) || is_complex(dtype);
  }
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

/// The code points of UTF-8 text; false when it is not.
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

/// Calls f(element number in C order, item number in the file).
template <class F>
void for_each_item(const Header& header, int64_t count, F f) {
  if (!header.fortran) {
    for (int64_t i = 0; i < count; ++i) f(i, i);
    return;
  }
  const size_t rank = header.shape.size();
  std::vector<int64_t> at(rank, 0), stride(rank, 1);
  for (size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * header.shape[d - 1];
  int64_t item = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(i, item);
    for (size_t d = rank; d-- > 0;) {
      item += stride[d];
      if (++at[d] < header.shape[d]) break;
      item -= stride[d] * header.shape[d];
      at[d] = 0;
    }
  }
}

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

Status read_items(const Header& header, const char* items, int64_t count, Tensor& tensor, const std::string& what) {
  const int64_t item_bytes = header.item_bytes();
  if (tensor.dtype == DType::string) {
    std::vector<std::string> strings(static_cast<size_t>(count));
    Status status;
    for_each_item(header, count, [&](int64_t element, int64_t item) {
      if (!status.ok()) return;
      Expected<std::string> text = string_item(header, items + item * item_bytes, what);
      if (text.ok()) {
        strings[static_cast<size_t>(element)] = std::move(*text);
      } else {
        status = text.status();
      }
    });
    STREW_TRY(std::move(status));
    set_strings(tensor, std::move(strings));
    return {};
  }
  const bool swap = header.order == '>' && item_bytes > 1;
  if (!header.fortran && !swap && bits(tensor.dtype) >= 8 && tensor.dtype != DType::boolean) {
    std::memcpy(tensor.data.data(), items, static_cast<size_t>(count * item_bytes));
    return {};
  }
  for_each_item(header, count,
                [&](int64_t element, int64_t item) { store_item(tensor, element, items + item * item_bytes, swap); });
  return {};
}

/// One byte per element below 8 bits: the value, extended as its type extends.
void append_narrow(std::string& out, const Tensor& tensor, int64_t count) {
  const int width = bits(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    unsigned value = 0;
    for (int b = 0; b < width; ++b) {
      const int64_t at = i * width + b;
      value |= (static_cast<unsigned>(tensor.data.data()[at / 8]) >> at % 8 & 1) << b;
    }
    if (is_signed_integer(tensor.dtype) && (value >> (width - 1) & 1) != 0) value |= 0xFFu << width;
    out += static_cast<char>(value);
  }
}

/// The items of a string tensor and their descr.
std::string string_items(const Tensor& tensor, int64_t count, std::string& descr) {
  std::vector<std::vector<uint32_t>> points(static_cast<size_t>(count));
  bool unicode = true;
  size_t longest = 1, longest_bytes = 1;
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view text = string_at(tensor, i);
    unicode = unicode && to_code_points(text, points[static_cast<size_t>(i)]);
    longest = std::max(longest, points[static_cast<size_t>(i)].size());
    longest_bytes = std::max(longest_bytes, text.size());
  }
  descr = unicode ? "<U" + std::to_string(longest) : "|S" + std::to_string(longest_bytes);
  const size_t item = unicode ? 4 * longest : longest_bytes;
  std::string out(static_cast<size_t>(count) * item, '\0');
  for (int64_t i = 0; i < count; ++i) {
    char* to = out.data() + static_cast<size_t>(i) * item;
    const std::vector<uint32_t>& p = points[static_cast<size_t>(i)];
    const std::string_view text = string_at(tensor, i);
    if (unicode && !p.empty()) std::memcpy(to, p.data(), 4 * p.size());
    if (!unicode && !text.empty()) std::memcpy(to, text.data(), text.size());
  }
  return out;
}

}  // namespace

Expected<Tensor> parse_npy(std::string_view bytes, DType dtype, const std::string& what) {
  STREW_ASSIGN(const Header header, parse_header(bytes, what));
  STREW_TRY(check_items(header, dtype, what));
  const Expected<int64_t> counted = element_count(header.shape);
  if (!counted.ok()) return invalid_argument(what + ": shape: " + counted.status().message());
  const int64_t held = static_cast<int64_t>(bytes.size() - header.data_at), item = header.item_bytes();
  if (item > 0 ? *counted > held / item || *counted * item != held : held != 0 || *counted != 0) {
    return invalid_argument(what + ": the file holds " + std::to_string(held) + " bytes of items, expected " +
                            std::to_string(*counted) + " items of " + std::to_string(item) + " bytes");
  }
  Expected<Tensor> tensor = make_tensor(dtype, header.shape);
  if (!tensor.ok()) return Status(tensor.status().code(), what + ": " + tensor.status().message());
  STREW_TRY(read_items(header, bytes.data() + header.data_at, *counted, *tensor, what));
  return tensor;
}

Expected<std::string> format_npy(const Tensor& tensor) {
  STREW_ASSIGN(const int64_t count, element_count(tensor.dims));
  std::string descr = descr_of(tensor.dtype), items;
  if (tensor.dtype == DType::string) {
    items = string_items(tensor, count, descr);
  } else if (bits(tensor.dtype) < 8) {
    append_narrow(items, tensor, count);
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t d : tensor.dims) header += std::to_string(d) + ", ";
  if (tensor.dims.size() > 1) header.resize(header.size() - 2);
  if (tensor.dims.size() == 1) header.pop_back();
  header += "), }";

  // The items start at a multiple of 64 bytes; the header ends in a newline.
  const bool long_header = header.size() + 1 + 10 + 63 > 65535;
  const size_t before = long_header ? 12 : 10;
  header.append((64 - (before + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string out(kMagic);
  out += long_header ? '\x02' : '\x01';
  out += '\0';
  for (size_t i = 0; i < before - 8; ++i) out += static_cast<char>(header.size() >> 8 * i & 0xFF);
  out += header;
  if (tensor.dtype == DType::string || bits(tensor.dtype) < 8) {
    out += items;
  } else {
    out.append(reinterpret_cast<const char*>(tensor.data.data()), static_cast<size_t>(storage_bytes(tensor.dtype, count)));
  }
  return out;
}

}  // namespace strew
