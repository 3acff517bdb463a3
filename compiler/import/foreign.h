// Files of formats that strew does not read, but that people have: TorchScript and other archives of PyTorch, SavedModels, Keras models, HLO text.
// They are recognised by what is in them, whatever their ending, and refused with the command that makes a file that strew reads.
#pragma once

#include <string>
#include <string_view>

#include "strew/status.h"

namespace strew::inline v0 {

/// Fails if the bytes are those of such a file; ok if nothing is known of them. `path` is for the message.
Status refuse_foreign(std::string_view bytes, const std::string& path);

/// The same of a path whose ending names no format: it may be a folder, and no more of a file is read than tells its format.
Status refuse_foreign_path(const std::string& path);

}  // namespace strew::inline v0
