// violated(): the failure of an input that breaks a rule which has a label. The message says what is wrong and what was expected; the label
// comes last, in brackets, because a reader needs it only to look the rule up: "updates[0] is f32[5]; expected dims [4], from indices i64[4]
// and update_window_dims [] [scatter_c4]". verify(), the importers and the checks of a call share it, so a message has the same form wherever the rule is
// checked. docs/op_text.md lists the labels. Tested by tests/unit/compiler/op/verify_scatter_test.cc and
// tests/unit/runtime/call/bind_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

/// invalid_argument with the text "MESSAGE [LABEL]".
inline Status violated(std::string_view label, std::string message) {
  return invalid_argument(message.append(" [").append(label).append("]"));
}

}  // namespace strew::inline v0
