// The text of the values of an op's fields: how it is read and how it is written (docs/op_text.md has the grammar). text_op.cc has the fields.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "compiler/op/limits.h"
#include "compiler/op/message.h"
#include "strew/op.h"
#include "strew/status.h"

namespace strew::inline v0 {

/// A text and a position in it. Messages begin with `subject`, the name of the text. The text may come from a hostile file, so readers do
/// not recurse, every list is bounded, and integers are checked for overflow.
class Cursor {
 public:
  explicit Cursor(std::string_view text, std::string_view subject = "op text") : text_(text), subject_(subject) {}

  bool at_end() {
    at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size());
    return at_ == text_.size();
  }
  bool accept(char c) {
    if (!looks_at(c)) return false;
    ++at_;
    return true;
  }
  bool looks_at(char c) { return !at_end() && text_[at_] == c; }
  Status expect(char c) { return accept(c) ? Status() : fail(std::string{'\'', c, '\''}); }
  std::string_view here() const { return text_.substr(at_, 0); }

  /// A run of letters, digits and underscores, perhaps empty.
  std::string_view word() { return run("_"); }
  /// What parse_scalar() reads: a parenthesised pair, or a run of number and word characters.
  std::string_view scalar() {
    if (!looks_at('(')) return run("_.+-");
    const std::string_view rest = text_.substr(at_, kMostScalar),
                           out = rest.substr(0, std::min(rest.find(')'), rest.size() - 1) + 1);
    at_ += out.size();
    return out;
  }
  template <class Int>
  Status integer(Int& out) {
    const bool none = at_end();
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), out);
    if (none || error != std::errc()) return fail(message("an integer of {} bits", sizeof(Int) * 8));
    at_ += static_cast<size_t>(end - begin);
    return {};
  }

  /// The error about a part of the text, which starts there.
  Status refuse(std::string_view part, std::string_view what) const {
    return invalid_argument(message("{}, offset {}: {}", subject_, part.data() - text_.data(), what));
  }
  /// The error about what stands at the position, or at `part`.
  Status fail(std::string_view expected);
  Status fail(std::string_view part, std::string_view expected) {
    at_ = static_cast<size_t>(part.data() - text_.data());
    return fail(expected);
  }
  Status check_size() const {
    if (text_.size() <= kMaxOpText) return {};
    return refuse(text_, message("the text has {} characters; expected at most {}", text_.size(), kMaxOpText));
  }

 private:
  static constexpr size_t kMostScalar = 512;

  /// Letters, digits and the characters of `more`.
  std::string_view run(std::string_view more) {
    const auto belongs = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || more.find(c) != std::string_view::npos;
    };
    const size_t begin = at_end() ? text_.size() : at_;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::string_view subject_;
  size_t at_ = 0;
};

/// Reads "item,item,…" up to and including `close`; `item` reads and appends one.
template <class Item>
Status read_items(Cursor& c, char close, const Item& item) {
  constexpr int kMost = std::max({kMaxRank, kMaxPairs, kMaxExtras});
  if (c.accept(close)) return {};
  for (int n = 1;; ++n) {
    if (n > kMost) return c.fail(message("at most {} entries", kMost));
    STREW_TRY(item());
    if (c.accept(close)) return {};
    if (!c.accept(',')) return c.fail(message("',' or '{}'", close));
  }
}

Status read(Cursor& c, bool& out);
Status read(Cursor& c, TensorType& out);
Status read(Cursor& c, Scalar& out);        ///< value:dtype
Status read(Cursor& c, Extra& out);         ///< kind:type
Status read(Cursor& c, Lookup& out);        ///< updates(0)=gather(field=value ...)
Status read(Cursor& c, RowReduction& out);  ///< add(8){%0=update(0):f32; return %0}
Status read(Cursor& c, Expr& out);          ///< {%0=current(0):f32; ...; return %0, %1}
Status read(Cursor& c, std::vector<int64_t>& out);
inline Status read(Cursor& c, int64_t& out) { return c.integer(out); }

template <class Enum>
requires std::is_enum_v<Enum> Status read(Cursor& c, Enum& out) {
  constexpr int kCount = enumerators<Enum>();
  const std::string_view word = c.word();
  std::string names;
  for (int i = 0; i < kCount; ++i) {
    out = static_cast<Enum>(i);
    if (name(out) == word) return {};
    names.append(names.empty() ? "" : ", ").append(name(out));
  }
  return c.fail(word, "one of " + names);
}

/// A list in brackets. A list of one tensor or scalar may be written, and is printed, without them.
template <class T>
constexpr bool kStandsAlone = std::is_same_v<T, TensorType> || std::is_same_v<T, Scalar>;
template <class T>
Status read(Cursor& c, std::vector<T>& out) {
  out.clear();
  if (kStandsAlone<T> && !c.looks_at('[')) return read(c, out.emplace_back());
  STREW_TRY(c.expect('['));
  return read_items(c, ']', [&] { return read(c, out.emplace_back()); });
}

/// "open item,item close", without spaces.
template <class List, class Item>
std::string joined(const List& list, std::string_view open, std::string_view close, const Item& item) {
  std::string out(open);
  for (const auto& element : list) out.append(&element == &*list.begin() ? "" : ",").append(item(element));
  return out.append(close);
}

inline std::string text_of(bool value) { return value ? "true" : "false"; }
inline std::string text_of(int64_t value) { return std::to_string(value); }
inline std::string text_of(const TensorType& type) { return print(type); }
inline std::string text_of(const Expr& expr) { return print(expr); }
std::string text_of(const Scalar& scalar);
std::string text_of(const Extra& extra);
std::string text_of(const Lookup& lookup);
std::string text_of(const RowReduction& reduction);
std::string text_of(const std::vector<int64_t>& extents);
template <class Enum>
requires std::is_enum_v<Enum> std::string text_of(Enum value) { return std::string(name(value)); }
template <class T>
std::string text_of(const std::vector<T>& list) {
  if (kStandsAlone<T> && list.size() == 1) return text_of(list[0]);
  return joined(list, "[", "]", [](const T& each) { return text_of(each); });
}

}  // namespace strew::inline v0
