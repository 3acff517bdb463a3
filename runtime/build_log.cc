// See build_log.h.
#include "runtime/build_log.h"

#include <string>

#include "base/log.h"

namespace strew::inline v0 {
namespace {

/// Why a kernel is interpreted: what the backends that make code answered. Empty: one of them could have built it, but the
/// request named an interpreter.
std::string why_interpreted(const Compiled& kernel) {
  std::string why;
  for (const Candidate& each : kernel.backends) {
    if (each.backend->interprets()) continue;
    if (each.status.ok()) return "";
    why += (why.empty() ? "" : "; ") + each.status.message();
  }
  return why;
}

}  // namespace

void log_built(const BuiltKernel& kernel) {
  if (!logs(LogLevel::compile)) return;
  const Compiled& made = kernel.compiled;
  log(LogLevel::compile, "built " + made.symbol + ": backend " + std::string(made.backend->name()) + ", schedule " +
                             print(made.schedule) + ", " + std::to_string(kernel.compile_nanoseconds / 1000) + " us; op " +
                             made.op_text + (made.learned.from.empty() ? "" : "; wisdom: " + made.learned.from));
  if (!made.backend->interprets()) return;
  const std::string why = why_interpreted(made);
  log(LogLevel::compile, made.symbol + " is interpreted" +
                             (why.empty() ? ", as the request says" : ", because no backend makes code for it: " + why));
}

void log_taken(const BuiltKernel& kernel, const std::string& folder) {
  if (!logs(LogLevel::compile)) return;
  log(LogLevel::compile, "taken " + kernel.compiled.symbol + " from " + folder + ": " +
                             std::to_string(kernel.compile_nanoseconds / 1000) + " us; op " + kernel.compiled.op_text);
}

void log_not_built(const PreparedOp& op, const Status& status) {
  const LogLevel level = status.code() == Code::internal ? LogLevel::error : LogLevel::compile;
  if (logs(level)) log(level, "not built: " + status.message() + "; op " + print(*op.op()));
}

}  // namespace strew::inline v0
