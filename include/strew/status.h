// Status and Expected: what every function of strew that can fail returns.
//
// A Status is one pointer wide; success is the null pointer, so returning it costs nothing on the hot path. A failure
// has a code, which says whose fault it was, and one sentence that names the field, its value and what was expected.
// The library never prints, aborts or exits, and no exception leaves it: a function returns one of these. Reading the
// value of an Expected without a value is a bug of the caller; a program that is compiled without NDEBUG then prints
// the message and aborts. Tested by tests/unit/base/status_test.cc.
#pragma once

#include <cstdint>
#ifndef NDEBUG
#include <cstdio>
#include <cstdlib>
#endif
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace strew::inline v0 {

/// Whose fault a failure is. The command line maps these to exit statuses (docs/cli.md).
enum class Code : uint8_t {
  ok = 0,
  invalid_argument,    ///< the caller's input is wrong: a file, a descriptor, a buffer
  unsupported,         ///< legal, but this backend, dtype or build cannot do it; the message gives the reason
  out_of_bounds,       ///< an index failed under policy `error`; nothing was written
  io,                  ///< a file could not be read or written
  internal,            ///< a bug in strew
  cancelled,           ///< the caller gave up what it had asked for
  deadline_exceeded,   ///< there was no answer in the time that the caller allowed
  resource_exhausted,  ///< the system refused memory; nothing of it is remembered, so the same request may succeed later
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : rep_(new Rep{code, std::move(message)}) {}
  Status(const Status& other) : rep_(other.rep_ ? new Rep(*other.rep_) : nullptr) {}
  Status(Status&&) noexcept = default;
  Status& operator=(const Status& other) {
    rep_.reset(other.rep_ ? new Rep(*other.rep_) : nullptr);
    return *this;
  }
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return rep_ == nullptr; }
  explicit operator bool() const { return ok(); }
  Code code() const { return rep_ ? rep_->code : Code::ok; }
  const std::string& message() const {
    static const std::string& empty = *new const std::string;  // never destroyed: threads may ask while the process exits
    return rep_ ? rep_->message : empty;
  }
  /// The same failure with "PREFIX: " before its message, such as the name of a file; of a success, success.
  Status with_prefix(std::string_view prefix) const {
    return ok() ? Status() : Status(code(), std::string(prefix) + ": " + message());
  }

 private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::unique_ptr<Rep> rep_;
};

inline Status invalid_argument(std::string message) { return {Code::invalid_argument, std::move(message)}; }
inline Status unsupported(std::string message) { return {Code::unsupported, std::move(message)}; }
inline Status out_of_bounds(std::string message) { return {Code::out_of_bounds, std::move(message)}; }
inline Status io_error(std::string message) { return {Code::io, std::move(message)}; }
inline Status internal_error(std::string message) { return {Code::internal, std::move(message)}; }
inline Status cancelled(std::string message) { return {Code::cancelled, std::move(message)}; }
inline Status deadline_exceeded(std::string message) { return {Code::deadline_exceeded, std::move(message)}; }
inline Status resource_exhausted(std::string message) { return {Code::resource_exhausted, std::move(message)}; }

/// A value, or the Status that says why there is none.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}         // NOLINT(google-explicit-constructor): return value;
  Expected(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor): return status;
    if (status_.ok()) status_ = internal_error("Expected built from an ok Status");
  }

  /// From an Expected of a type that converts to T: an Expected<Op> from the Expected<Scatter> of a builder.
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U, T>)
      Expected(Expected<U> other) {  // NOLINT(google-explicit-constructor): as the value itself converts
    if (other.ok())
      value_.emplace(*std::move(other));
    else
      status_ = other.status();
  }

  bool ok() const { return value_.has_value(); }
  /// ok(). Expected<bool> does not have it, because `if (expected)` would look like a test of the value.
  explicit operator bool() const requires(!std::is_same_v<T, bool>) { return ok(); }
  const Status& status() const { return status_; }
  T& value() & { return *checked(); }
  const T& value() const& { return *checked(); }
  T&& value() && { return std::move(*checked()); }
  T& operator*() & { return *checked(); }
  const T& operator*() const& { return *checked(); }
  T&& operator*() && { return std::move(*checked()); }
  T* operator->() { return &*checked(); }
  const T* operator->() const { return &*checked(); }
  T value_or(T other) const& { return ok() ? *value_ : std::move(other); }
  T value_or(T other) && { return ok() ? std::move(*value_) : std::move(other); }

 private:
  std::optional<T>& checked() {
    std::as_const(*this).checked();
    return value_;
  }
  const std::optional<T>& checked() const {
#ifndef NDEBUG
    if (!value_) {
      std::fprintf(stderr, "strew: the value of an Expected was read that has none: %s\n", status_.message().c_str());
      std::abort();
    }
#endif
    return value_;
  }

  std::optional<T> value_;
  Status status_;
};

// STREW_TRY(expr): returns from the function with the Status `expr` if it is a failure. STREW_ASSIGN(decl, expr):
// returns the failure of the Expected `expr`; otherwise initialises the declaration `decl` with its value.
#define STREW_CONCAT_(a, b) a##b
#define STREW_CONCAT(a, b) STREW_CONCAT_(a, b)
#define STREW_TRY(expr)                                                                    \
  do {                                                                                     \
    if (::strew::Status strew_status_ = (expr); !strew_status_.ok()) return strew_status_; \
  } while (0)
#define STREW_ASSIGN(decl, expr) STREW_ASSIGN_(STREW_CONCAT(strew_expected_, __LINE__), decl, expr)
#define STREW_ASSIGN_(tmp, decl, expr) \
  auto tmp = (expr);                   \
  if (!tmp.ok()) return tmp.status();  \
  decl = std::move(tmp).value()

}  // namespace strew::inline v0
