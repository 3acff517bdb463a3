// See cpp_expressions.h. A line becomes tokens, tokens become groups of parentheses and brackets, and what stands between two commas of a
// group is one expression. Lines are statements, as ptoas writes them; its helper functions hold no arithmetic.
#include "tests/support/cpp_expressions.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <sstream>

namespace strew::test {
namespace {

struct Token {
  enum Kind { value, cast, op, open, close, comma } kind;
  std::string text;
  int width = 0;  ///< of casts: bits of the integer type, 0 for others
};

int width_of(const std::string& type) {
  for (const int width : {8, 16, 32, 64})
    if (type == "int" + std::to_string(width) + "_t" || type == "uint" + std::to_string(width) + "_t") return width;
  return 0;
}

bool is_variable(const std::string& word) {
  return word.size() > 1 && word[0] == 'v' && std::all_of(word.begin() + 1, word.end(), [](char c) { return std::isdigit(c); });
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '.'; }

/// The tokens of a line. Template arguments belong to the name in front of them; `(type)` is a cast.
std::vector<Token> tokens_of(const std::string& line) {
  std::vector<Token> out;
  size_t at = 0;
  while (at < line.size()) {
    const char c = line[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
    } else if (in_word(c) && !(c == ':' && line[at + 1] == ' ')) {
      std::string word;
      const bool number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      const auto exponent = [&] {
        return number && (word.back() == 'e' || word.back() == 'E') && (line[at] == '-' || line[at] == '+');
      };
      while (at < line.size() && (in_word(line[at]) || (!word.empty() && exponent()))) word += line[at++];
      if (at < line.size() && line[at] == '<' && !is_variable(word) && std::isdigit(static_cast<unsigned char>(word[0])) == 0) {
        for (int depth = 0;; ++at) {
          depth += line[at] == '<' ? 1 : line[at] == '>' ? -1 : 0;
          word += line[at];
          if (depth == 0 || at + 1 == line.size()) break;
        }
        ++at;
      }
      out.push_back({Token::value, word, 0});
    } else if (c == '(' || c == '[' || c == '{') {
      const size_t end = line.find(')', at);
      const std::string inside = end == std::string::npos ? "" : line.substr(at + 1, end - at - 1);
      if (c == '(' && (width_of(inside) > 0 || (!inside.empty() && inside.back() == '*'))) {
        out.push_back({Token::cast, inside, width_of(inside)});
        at = end + 1;
      } else {
        out.push_back({Token::open, std::string(1, c), 0});
        ++at;
      }
    } else if (c == ')' || c == ']' || c == '}') {
      out.push_back({Token::close, std::string(1, c), 0});
      ++at;
    } else if (c == ',' || c == ';') {
      out.push_back({Token::comma, std::string(1, c), 0});
      ++at;
    } else {
      static const std::set<std::string> kTwo = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*="};
      const std::string two = line.substr(at, 2);
      const std::string text = kTwo.contains(two) ? two : std::string(1, c);
      out.push_back({Token::op, text, 0});
      at += text.size();
    }
  }
  return out;
}

bool is_assignment(const Token& t) {
  return t.kind == Token::op && (t.text == "=" || t.text == "+=" || t.text == "-=" || t.text == "*=");
}

/// An operand as an expression sees it: how many casts stand in front of it, and their widths.
struct Item {
  bool is_operator = false;
  std::string op;
  std::vector<int> casts;
};

class Reader {
 public:
  explicit Reader(const std::string& line) : line_(line), tokens_(tokens_of(line)) {}

  std::vector<std::string> run() {
    while (at_ < tokens_.size()) {
      expression(0);
      if (at_ < tokens_.size()) ++at_;  // a comma, or a bracket that nothing opened
    }
    return found_;
  }

 private:
  /// Up to the next comma or closing bracket. `around`: the width of the cast that the expression is all of, 0: none.
  void expression(int around) {
    std::vector<Item> items;
    std::vector<int> casts;
    for (; at_ < tokens_.size(); ++at_) {
      const Token& t = tokens_[at_];
      if (t.kind == Token::comma || t.kind == Token::close) break;
      if (is_assignment(t)) {
        items.clear();  // what stands in front declares a name or names a place
        casts.clear();
      } else if (t.kind == Token::op) {
        items.push_back({true, t.text, {}});
      } else if (t.kind == Token::cast) {
        casts.push_back(t.width);
      } else if (t.kind == Token::open) {
        const bool whole = casts.size() > 0 && t.text == "(";
        group(whole ? casts.back() : 0);
        add(items, casts);
      } else {
        add(items, casts);
      }
    }
    if (!good(items, around)) found_.push_back(line_);
  }

  /// Arguments and subscripts belong to the value in front of them.
  static void add(std::vector<Item>& items, std::vector<int>& casts) {
    if (items.empty() || items.back().is_operator) items.push_back({false, "", casts});
    casts.clear();
  }

  void group(int around) {
    ++at_;
    while (at_ < tokens_.size() && tokens_[at_].kind != Token::close) {
      expression(around);
      if (at_ < tokens_.size() && tokens_[at_].kind == Token::comma) ++at_;
    }
  }

  static std::string operators(const std::vector<Item>& items) {
    std::string out;
    for (const Item& item : items)
      if (item.is_operator) out += (out.empty() ? "" : " ") + item.op;
    return out;
  }

  static bool is_comparison(const std::string& op) {
    return op == "<" || op == ">" || op == "<=" || op == ">=" || op == "==" || op == "!=";
  }

  static bool good(const std::vector<Item>& items, int around) {
    std::vector<std::string> ops;
    size_t most_casts = 0;
    for (const Item& item : items) {
      if (item.is_operator) ops.push_back(item.op);
      most_casts = std::max(most_casts, item.casts.size());
    }
    if (ops.empty()) return true;
    if (items.front().is_operator) return ops.size() == 1 && (ops[0] == "-" || ops[0] == "*" || ops[0] == "&" || ops[0] == "!");
    if (std::find(ops.begin(), ops.end(), "?") != ops.end()) return good_conditional(items, ops);
    // (A) (B) x + (B) y: the first cast may have been one of the sum.
    if (most_casts > 1) {
      for (size_t i = 1; i < items.size(); ++i)
        if (items[i].casts.size() > 1) return false;
      const std::vector<int>& first = items.front().casts;
      if (first.size() != 2 || first[0] != first[1] || around == 0 || around > first[1] || ops.size() != 1) return false;
      return ops[0] == "+" || ops[0] == "-" || ops[0] == "*" || ops[0] == "&" || ops[0] == "|" || ops[0] == "^";
    }
    if (ops.size() == 1) return !is_comparison(ops[0]) || good_comparison(items);
    return good_sum(ops);
  }

  /// (uint8_t) a < b: the truth value as a number, of which nothing here is one. Wider casts are those of the values compared.
  static bool good_comparison(const std::vector<Item>& items) {
    const std::vector<int>&left = items.front().casts, &right = items.back().casts;
    return left.size() == right.size() || (left.empty() ? right : left).front() > 8;
  }

  static bool good_conditional(const std::vector<Item>& items, const std::vector<std::string>& ops) {
    // Division that rounds up, for which ptoas has no operator.
    if (operators(items) == "% != && < == < ? + :") {
      return std::all_of(items.begin(), items.end(), [](const Item& item) { return item.casts.empty(); });
    }
    if (ops.size() != 3 || !is_comparison(ops[0]) || ops[1] != "?" || ops[2] != ":" || items.size() != 7) return false;
    return items[0].casts.size() == items[2].casts.size() && items[4].casts.empty() && items[6].casts.empty();
  }

  static bool good_sum(const std::vector<std::string>& ops) {
    int products = 0, divisions = 0;
    for (const std::string& op : ops) {
      if (op == "+") {
        products = divisions = 0;
        continue;
      }
      if (op != "*" && op != "/" && op != "%") return false;
      ++products;
      divisions += op == "*" ? 0 : 1;
      if (divisions > 0 && products > 1) return false;
    }
    return true;
  }

  const std::string& line_;
  std::vector<Token> tokens_;
  std::vector<std::string> found_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::string> ambiguous_expressions(const std::string& cpp) {
  std::vector<std::string> out;
  const size_t kernel = cpp.find("extern \"C\" __global__");
  std::istringstream lines(kernel == std::string::npos ? cpp : cpp.substr(kernel));
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == '#' || line.compare(first, 2, "//") == 0) continue;
    if (line.compare(first, 6, "extern") == 0) continue;  // a declaration, whose * and & are types
    for (std::string& found : Reader(line).run()) out.push_back(std::move(found));
  }
  return out;
}

}  // namespace strew::test
