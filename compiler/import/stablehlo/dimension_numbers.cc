// Grammar: kind '<' [key '=' value {',' key '=' value} [',']] '>', where a value is an integer or '[' integers ']'. Keys come in any order. A key
// that is absent is an empty list or 0: StableHLO omits those when it prints. verify() checks the values. Tested by
// tests/unit/compiler/import/stablehlo/stablehlo_import_test.cc and tests/error/stablehlo_error_test.cc.
#include "compiler/import/stablehlo/dimension_numbers.h"

#include <fmt/format.h>
#include <mlir/IR/BuiltinAttributes.h>

#include <cctype>
#include <charconv>

#include "compiler/op/dimension_lists.h"

namespace strew::inline v0 {
namespace {

struct Key {
  std::string_view name;
  std::vector<int64_t>* list;  ///< the key's value is a list, or
  int64_t* number;
  bool seen = false;
};

class BodyParser {
 public:
  BodyParser(std::string_view text, std::string_view kind, std::vector<Key> keys)
      : text_(text), kind_(kind), keys_(std::move(keys)) {}

  Status run() {
    if (word() != kind_) return fail(fmt::format("expected #stablehlo.{}<...>", kind_));
    if (!take('<')) return fail("expected '<'");
    for (bool more = true; !take('>'); more = take(',')) {
      if (!more) return fail("expected ',' or '>'");
      STREW_TRY(item());
    }
    skip();
    return at_ == text_.size() ? Status() : fail("expected the end");
  }

 private:
  Status item() {
    const std::string_view name = word();
    for (Key& key : keys_) {
      if (key.name != name) continue;
      if (key.seen) return fail(fmt::format("'{}' is given twice", name));
      key.seen = true;
      if (!take('=')) return fail(fmt::format("'{}': expected '='", name));
      return key.list ? list(key) : number(key, *key.number);
    }
    return fail(name.empty() ? "expected a name" : fmt::format("'{}' is unknown, expected {}", name.substr(0, 80), names()));
  }

  Status list(const Key& key) {
    if (!take('[')) return fail(fmt::format("'{}': expected '['", key.name));
    if (take(']')) return {};
    do {
      STREW_TRY(number(key, key.list->emplace_back()));
    } while (take(','));
    return take(']') ? Status() : fail(fmt::format("'{}': expected ',' or ']'", key.name));
  }

  Status number(const Key& key, int64_t& out) {
    skip();
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, out);
    if (error != std::errc()) return fail(fmt::format("'{}': expected an integer of 64 bits", key.name));
    at_ = static_cast<size_t>(stop - text_.data());
    return {};
  }

  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view word() {
    skip();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Status fail(const std::string& what) const {
    const std::string here = at_ < text_.size() ? fmt::format(" at '{}'", text_.substr(at_, 20)) : " at the end";
    return invalid_argument(fmt::format("#stablehlo.{}: {}{}", kind_, what, here));
  }

  std::string names() const {
    std::string all;
    for (const Key& key : keys_) all += (all.empty() ? "" : ", ") + std::string(key.name);
    return all;
  }

  std::string_view text_, kind_;
  std::vector<Key> keys_;
  size_t at_ = 0;
};

/// `field`: the attribute's name. T: Scatter or Gather.
template <class T>
Expected<DimensionNumbers> dims_from(mlir::Attribute attribute, std::string_view field, std::string_view kind) {
  if (!attribute) return invalid_argument(fmt::format("attribute '{}' is missing", field));
  const auto opaque = llvm::dyn_cast<mlir::OpaqueAttr>(attribute);
  if (!opaque || opaque.getDialectNamespace() != "stablehlo")
    return invalid_argument(
        fmt::format("attribute '{}', expected #stablehlo.{}<...> (the old dictionary of tensors is not read)", field, kind));
  DimensionNumbers numbers;
  std::vector<Key> keys;
  for (const DimensionList& each : kDimensionLists) keys.push_back({each.name<T>(), &(numbers.*each.list), nullptr});
  keys.push_back({"index_vector_dim", nullptr, &numbers.index_vector_dim});
  STREW_TRY(BodyParser({opaque.getAttrData().data(), opaque.getAttrData().size()}, kind, std::move(keys)).run());
  return numbers;
}

}  // namespace

Expected<DimensionNumbers> scatter_dims_from(mlir::Attribute attribute) {
  return dims_from<Scatter>(attribute, "scatter_dimension_numbers", "scatter");
}

Expected<DimensionNumbers> gather_dims_from(mlir::Attribute attribute) {
  return dims_from<Gather>(attribute, "dimension_numbers", "gather");
}

}  // namespace strew::inline v0
