// See json_lines.h. nlohmann's parser does the work; the iterator that it reads through counts lines.
#include "library/json_lines.h"

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace strew::inline v0 {
namespace {

/// Reads a text and counts the lines that were read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, int* lines) : at_(at), lines_(lines) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_++ == '\n') ++*lines_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  int* lines_;
};

constexpr size_t kMostJsonDepth = 16;

/// Builds the tree from the parser's events.
class ValueBuilder {
 public:
  explicit ValueBuilder(const int* lines) : lines_(lines) {}

  // NOLINTBEGIN(readability-identifier-naming): nlohmann's names
  bool null() { return put({}); }
  bool boolean(bool value) {
    JsonValue made = of(JsonValue::Kind::boolean);
    made.boolean = value;
    return put(std::move(made));
  }
  bool number_integer(int64_t value) { return put_number(static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) { return put_number(static_cast<double>(value)); }
  bool number_float(double value, const std::string& /*text*/) { return put_number(value); }
  bool string(std::string& value) {
    JsonValue made = of(JsonValue::Kind::text);
    made.text = std::move(value);
    return put(std::move(made));
  }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(size_t /*count*/) { return open(JsonValue::Kind::object); }
  bool start_array(size_t /*count*/) { return open(JsonValue::Kind::list); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    names_.back() = std::move(name);
    if (open_.back().find(names_.back()) == nullptr) return true;
    return fail("'" + names_.back() + "' is given twice");
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& error) {
    std::string message = error.what();  // "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error …"
    const size_t colon = message.find(": ");
    return fail(colon == std::string::npos ? message : message.substr(colon + 2));
  }
  // NOLINTEND(readability-identifier-naming)

  JsonValue root;
  std::string failure;

 private:
  JsonValue of(JsonValue::Kind kind) const {
    JsonValue made;
    made.kind = kind;
    made.line = *lines_;
    return made;
  }
  bool put_number(double value) {
    JsonValue made = of(JsonValue::Kind::number);
    made.number = value;
    return put(std::move(made));
  }
  bool put(JsonValue value) {
    if (open_.empty())
      root = std::move(value);
    else if (open_.back().kind == JsonValue::Kind::list)
      open_.back().items.push_back(std::move(value));
    else
      add_member(open_.back(), std::move(value));
    return true;
  }
  void add_member(JsonValue& object, JsonValue value) {
    object.names.push_back(std::move(names_.back()));
    object.items.push_back(std::move(value));
  }
  bool open(JsonValue::Kind kind) {
    if (open_.size() >= kMostJsonDepth) return fail("nested deeper than " + std::to_string(kMostJsonDepth) + " levels");
    open_.push_back(of(kind));
    names_.emplace_back();
    return true;
  }
  bool close() {
    JsonValue done = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return put(std::move(done));
  }
  bool fail(std::string what) {
    if (failure.empty()) failure = std::to_string(*lines_) + ": " + std::move(what);
    return false;
  }

  const int* lines_;
  std::vector<JsonValue> open_;
  std::vector<std::string> names_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return &items[i];
  return nullptr;
}

const char* JsonValue::what(Kind kind) {
  constexpr const char* kWhat[] = {"null", "true or false", "a number", "a text", "a list", "an object"};
  return kWhat[static_cast<size_t>(kind)];
}

Expected<JsonValue> parse_json(std::string_view text) {
  int lines = 1;
  ValueBuilder builder(&lines);
  const CountingIterator begin(text.data(), &lines), end(text.data() + text.size(), &lines);
  const bool parsed = nlohmann::json::sax_parse(begin, end, &builder, nlohmann::json::input_format_t::json, /*strict=*/true,
                                                /*ignore_comments=*/true);
  if (!parsed) return invalid_argument(builder.failure.empty() ? "1: not JSON" : builder.failure);
  return std::move(builder.root);
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace strew::inline v0
