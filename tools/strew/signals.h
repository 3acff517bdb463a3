// Signals: what ends the program leaves no temporary file behind.
#pragma once

namespace strew::cli {

/// Signals that end a process first remove the temporary files, then end it as they always do. SIGXFSZ becomes an error of the write that
/// raised it. SIGBUS on a mapped input, which has become shorter, is exit status 1 with a message that names the file.
void handle_signals();

}  // namespace strew::cli
