// Signals: a signal that ends the program leaves no temporary file behind. Tested by tests/error/signal_test.cc.
#pragma once

namespace strew::cli {

/// Installs the handlers. A signal that ends the process first removes the temporary files and then ends the process as
/// usual. SIGXFSZ becomes an error of the write that raised it. SIGBUS in a mapped input, which has become shorter, is
/// exit status 1 with a message that names the file.
void handle_signals();

}  // namespace strew::cli
