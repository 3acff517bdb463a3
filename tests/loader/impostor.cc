// Impostor: a library that tests copy under another library's name, where that library must not be looked for. Being loaded is the
// failure: it leaves the file IMPOSTOR_WAS_LOADED in the current folder, and its module function gives nothing.
#include <fcntl.h>
#include <unistd.h>

namespace {

__attribute__((constructor)) void leave_a_trace() { close(open("IMPOSTOR_WAS_LOADED", O_WRONLY | O_CREAT, 0600)); }

}  // namespace

extern "C" [[gnu::visibility("default")]] const void* strew_llvm_module() { return nullptr; }
