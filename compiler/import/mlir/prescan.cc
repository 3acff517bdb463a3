// MLIR's parser recurses once per bracket and has no limit of its own: attributes nested 8000 deep, or modules nested 4000 deep, overflow
// an 8 MB stack. So prescan counts brackets first, outside strings and comments. Each kind of bracket has its own counter, which never goes
// below zero: the '>' of '->' and '>=' is no bracket, and surplus closing brackets must not hide opening ones of another kind. The length of
// affine maps is bounded, because the parser recurses in them without brackets (a chain of minus signs), and so is the number of operators
// in other affine expressions (`affine.load %t[%i + 1]`).
//
// The number of elements of a vector type is bounded because operations of the vector dialect make lists of as many types.
//
// The length of names is bounded because the parser splits a shape one extent at a time and scans the rest of "x1x1x1..." again for each
// extent: a rank of 100,000 took two minutes.
//
// `array<index: 0>` ends the process inside the parser, which takes every element type that is no integer for a float. The type may also be
// written as an alias (`!t = index`), so an alias is refused there too. Tested by tests/error/stablehlo_error_test.cc.
#include "compiler/import/mlir/prescan.h"

#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <array>

#include "compiler/import/mlir/bytecode.h"
#include "compiler/op/message.h"

namespace strew::inline v0 {
namespace {

bool is_word_char(char c) { return llvm::isAlnum(c) || c == '_'; }

class Prescan {
 public:
  Prescan(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Expected<Prescanned> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (c == '"') {
        STREW_TRY(skip_string());
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (llvm::isAlpha(c) || c == '_') {
        STREW_TRY(skip_word());
      } else {
        STREW_TRY(bracket(c));
        ++at_;
      }
    }
    return std::move(found_);
  }

 private:
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Status fail(const std::string& what) const { return invalid_argument("{}:{}: {}", path_, line_, what); }

  Status skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\n') return fail("string is not closed on its line, expected '\"'");
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    return {};
  }

  Status skip_word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.size() > kMaxNameLength)
      return fail(fmt::format("a name of {} characters, expected at most {}", word.size(), kMaxNameLength));
    if (is_dialect(begin)) note_operation(word, begin);
    if (word == "array" && (begin == 0 || text_[begin - 1] != '.')) return check_array();
    if (word == "vector" && text_[std::min(token(at_), text_.size() - 1)] == '<') return check_vector();
    if (word == "mod" || word == "floordiv" || word == "ceildiv") return count_operator();
    return word == "affine_map" || word == "affine_set" ? check_affine(word) : Status();
  }

  void note_operation(std::string_view dialect, size_t begin) {
    if (found_.dialects.size() < kMaxDialects) found_.dialects.emplace(dialect);
    for (const std::string_view form : {"tensor.gather", "tensor.scatter", "tensor.from_elements", "vector.contract"})
      if (text_.substr(begin).starts_with(form) && !is_word_char(peek(begin + form.size() - at_)))
        found_.own_forms.push_back(begin);
  }

  /// May the word from `begin` on be a dialect's name? A dot and a word follow, and it is no part of the name of a value, a symbol, a type, an
  /// attribute or a block.
  bool is_dialect(size_t begin) const {
    static constexpr std::string_view kNames = "%@!#^.$-";
    const bool has_start = begin == 0 || kNames.find(text_[begin - 1]) == std::string_view::npos;
    return has_start && peek(0) == '.' && llvm::isAlpha(peek(1));
  }

  /// The text from here to the end of the map: the '>' that closes the first '<'.
  Status check_affine(std::string_view word) const {
    int depth = 0;
    for (size_t at = at_; at < text_.size() && at - at_ <= kMaxNameLength; ++at) {
      const char c = text_[at], before = text_[at - 1], after = at + 1 < text_.size() ? text_[at + 1] : '\0';
      if (c == '<' && after != '=') ++depth;
      if (c == '>' && before != '-' && after != '=' && --depth <= 0) return {};
    }
    return fail(fmt::format("'{}' does not end within {} characters", word, kMaxNameLength));
  }

  /// The place of the next token from `at` on.
  size_t token(size_t at) const { return text_.size() - without_blanks(llvm::StringRef(text_).substr(at)).size(); }

  /// Refuses an element type of `array<` that is index or an alias.
  Status check_array() const {
    const size_t open = token(at_);
    if (open >= text_.size() || text_[open] != '<') return {};
    const std::string_view type = text_.substr(token(open + 1));
    const bool is_index = type.starts_with("index") && (type.size() == 5 || !llvm::isAlnum(type[5]));
    if (!is_index && !type.starts_with('!')) return {};
    return fail(fmt::format("an 'array' with elements of {}, expected integers or floats", is_index ? "index" : "an alias"));
  }

  /// Refuses a vector of more than kMaxVectorElements. Scalable extents, "[4]", count as others.
  Status check_vector() const {
    uint64_t elements = 1, extent = 0;
    for (size_t at = token(token(at_) + 1); at < text_.size(); at = token(at + 1)) {
      const char c = text_[at];
      if (c == 'x') {
        elements *= std::max<uint64_t>(extent, 1);
        extent = 0;
      } else if (llvm::isDigit(c)) {
        extent = std::min(extent * 10 + static_cast<uint64_t>(c - '0'), kMaxVectorElements + 1);
      } else if (c != '[' && c != ']') {
        return {};
      }
      if (elements > kMaxVectorElements) return fail(fmt::format("a vector of more than {} elements", kMaxVectorElements));
    }
    return {};
  }

  Status count_operator() {
    if (++operators_ <= kMaxOperators) return {};
    return fail(fmt::format("an expression of more than {} operators", kMaxOperators));
  }

  Status bracket(char c) {
    static constexpr std::string_view kOpen = "([{<", kClose = ")]}>";
    static constexpr std::string_view kSeparators = ",=[{<";  // expressions do not go on behind them, but in round brackets
    if (kSeparators.find(c) != std::string_view::npos) operators_ = 0;
    if (c == '\0') return fail("the file holds a zero byte, expected MLIR text");
    if ((c == '-' && peek(1) == '>') || ((c == '<' || c == '>') && peek(1) == '=')) {
      ++at_;  // an arrow or a comparison
    } else if (c == '+' || c == '-' || c == '*') {
      return count_operator();
    } else if (const size_t kind = kOpen.find(c); kind != std::string_view::npos) {
      ++open_[kind];
      if (open_[0] + open_[1] + open_[2] + open_[3] > kMaxBracketDepth)
        return fail(fmt::format("brackets are nested more than {} deep", kMaxBracketDepth));
    } else if (const size_t closed = kClose.find(c); closed != std::string_view::npos && open_[closed] > 0) {
      --open_[closed];
    }
    return {};
  }

  std::string_view text_;
  const std::string& path_;
  Prescanned found_;
  size_t at_ = 0;
  int line_ = 1;
  int operators_ = 0;  ///< since the last separator
  std::array<int, 4> open_{};
};

}  // namespace

llvm::StringRef without_blanks(llvm::StringRef text) {
  for (;;) {
    text = text.ltrim();
    if (!text.starts_with("//")) return text;
    text = text.drop_until([](char c) { return c == '\n'; });
  }
}

Expected<Prescanned> prescan_mlir(std::string_view text, const std::string& path) {
  if (text.size() > kMaxTextBytes)
    return invalid_argument("{}:1: the file has {} bytes, expected at most {}", path, text.size(), kMaxTextBytes);
  if (is_bytecode(text)) return refuse_bytecode(text, path);
  return Prescan(text, path).run();
}

}  // namespace strew::inline v0
