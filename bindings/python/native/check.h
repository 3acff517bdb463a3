// How the functions that nanobind binds turn statuses, texts and dims of the C interface into those of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings/python/native/errors.h"
#include "strew/strew_rt.h"

namespace strew::python {

/// Throws the exception of a failure.
inline void check(strew_status status) {
  if (status == nullptr) return;
  raise(status);
  throw nanobind::python_error();
}

/// The text, which it frees.
inline std::string take_text(strew_text* text) {
  const std::unique_ptr<strew_text, void (*)(strew_text*)> owned(text, strew_text_free);
  return {strew_text_chars(text), strew_text_length(text)};
}

/// The text under a key; nothing for None, and if there is no such key.
inline std::optional<std::string> text_in(const nanobind::dict& dict, const char* key) {
  if (!dict.contains(key)) return std::nullopt;
  const nanobind::object value = dict[key];
  if (value.is_none()) return std::nullopt;
  return nanobind::cast<std::string>(value);
}

/// Extents as a tuple; an open one is None.
inline nanobind::tuple dims_of(const int64_t* dims, int32_t rank) {
  nanobind::list list;
  for (int32_t d = 0; d < rank; ++d) {
    if (dims[d] == STREW_OPEN)
      list.append(nanobind::none());
    else
      list.append(dims[d]);
  }
  return nanobind::tuple(list);
}

inline const char* or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

}  // namespace strew::python
