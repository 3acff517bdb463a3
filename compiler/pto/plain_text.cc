// See plain_text.h. A definition is a line of its own; what it defines may use the aliases of the lines above, and is kept without them, so that
// nothing is replaced twice.
#include "compiler/pto/plain_text.h"

#include <algorithm>
#include <map>

#include "compiler/pto/lexer.h"
#include "compiler/pto/parse.h"
#include "compiler/pto/parser.h"

namespace strew::inline v0::pto {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

struct Aliases {
  std::map<std::string, std::string> meanings;
  size_t bytes = 0;  ///< of all meanings
};

class Plain {
 public:
  /// `is_line`: the text begins a line. The meaning of an alias does not, so that it defines none.
  Plain(std::string_view text, Aliases& aliases, bool is_line) : text_(text), aliases_(aliases), is_first_(is_line) {}

  Expected<PlainText> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
        is_first_ = true;
        copy(1);
      } else if (is_blank(c)) {
        copy(1);
      } else {
        STREW_TRY(next(c));
        is_first_ = false;
      }
      if (out_.text.size() > kMaxText)
        return error_at(position(), "with its aliases replaced the text has more than " + std::to_string(kMaxText) +
                                        " bytes, expected at most that");
    }
    return std::move(out_);
  }

 private:
  Position position() const { return {line_, static_cast<int>(at_ - line_begin_) + 1}; }

  void copy(size_t count) {
    out_.text += text_.substr(at_, count);
    at_ += count;
  }
  /// Moves on to `end`; what is passed over becomes blanks, but for line breaks.
  void blank_to(size_t end) {
    for (; at_ < end; ++at_) {
      out_.text += text_[at_] == '\n' ? '\n' : ' ';
      if (text_[at_] != '\n') continue;
      ++line_;
      line_begin_ = at_ + 1;
    }
  }

  Status next(char c) {
    if (c == '"') {
      copy(string_end(at_) - at_);
    } else if (text_.substr(at_, 2) == "//") {
      copy(std::min(text_.find('\n', at_), text_.size()) - at_);
    } else if ((c == '!' || c == '#') && word_end(at_ + 1) > at_ + 1) {
      return alias();
    } else if (is_word(c)) {
      const size_t end = word_end(at_);
      const std::string_view word = text_.substr(at_, end - at_);
      const bool is_name = at_ > 0 && (text_[at_ - 1] == '%' || text_[at_ - 1] == '@');
      if (word == "loc" && !is_name && end < text_.size() && text_[end] == '(')
        blank_to(closing(end));
      else
        copy(end - at_);
    } else {
      copy(1);
    }
    return {};
  }

  /// `!name` or `#name`: a definition at the start of a line, an alias that is known, or a type or attribute as it is (`!pto.ptr`).
  Status alias() {
    const size_t end = word_end(at_ + 1);
    const std::string name(text_.substr(at_, end - at_));
    size_t after = end;
    while (after < text_.size() && is_blank(text_[after])) ++after;
    if (is_first_ && after < text_.size() && text_[after] == '=') return definition(name, after + 1);
    const auto known = aliases_.meanings.find(name);
    if (known == aliases_.meanings.end()) {
      copy(name.size());
      return {};
    }
    const size_t begin = out_.text.size();
    out_.text += known->second;
    at_ = end;
    out_.replaced.push_back({begin, out_.text.size(), static_cast<int>(known->second.size()) - static_cast<int>(name.size())});
    return {};
  }

  Status definition(const std::string& name, size_t begin) {
    size_t end = begin;
    while (end < text_.size() && text_[end] != '\n') end = text_[end] == '"' ? string_end(end) : end + 1;
    STREW_ASSIGN(const PlainText plain, Plain(text_.substr(begin, end - begin), aliases_, false).run());
    std::string meaning = plain.text.substr(0, plain.text.find("//"));
    meaning.erase(0, meaning.find_first_not_of(" \t\r"));
    meaning.erase(meaning.find_last_not_of(" \t\r") + 1);
    aliases_.bytes += meaning.size();
    if (aliases_.bytes > kMaxText)
      return error_at(position(),
                      "the aliases stand for more than " + std::to_string(kMaxText) + " bytes, expected at most that");
    if (!aliases_.meanings.emplace(name, std::move(meaning)).second)
      return error_at(position(), "alias " + name + " is defined twice, expected once");
    blank_to(end);
    return {};
  }

  size_t word_end(size_t from) const {
    while (from < text_.size() && is_word(text_[from])) ++from;
    return from;
  }
  /// Behind the string that begins at `from`; a string ends with its line at the latest.
  size_t string_end(size_t from) const {
    for (size_t i = from + 1; i < text_.size() && text_[i] != '\n'; ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == '"')
        return i + 1;
    }
    return std::min(text_.find('\n', from), text_.size());
  }
  /// Behind the parenthesis that closes the one at `from`, or the end of the text.
  size_t closing(size_t from) const {
    int depth = 0;
    for (size_t i = from; i < text_.size();) {
      if (text_[i] == '"') {
        i = string_end(i);
        continue;
      }
      depth += text_[i] == '(' ? 1 : text_[i] == ')' ? -1 : 0;
      ++i;
      if (depth == 0) return i;
    }
    return text_.size();
  }

  std::string_view text_;
  PlainText out_;
  Aliases& aliases_;
  size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  bool is_first_;  ///< nothing but blanks came before on this line
};

}  // namespace

Expected<PlainText> plain_text(std::string_view text) {
  Aliases aliases;
  return Plain(text, aliases, true).run();
}

}  // namespace strew::inline v0::pto
