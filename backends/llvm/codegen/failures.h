// Failures of LLVM as Status: where LLVM would end the process (no memory, "fatal error"), the build fails instead.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/status.h"

namespace strew {

/// A fatal error that LLVM reported.
struct LlvmFatalError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Installs LLVM's handlers for fatal errors and for memory that runs out; from then on both are exceptions. Once per process; a program that
/// uses the same libLLVM itself shares them.
void install_llvm_handlers();

/// function(), which returns an Expected<T>; what it throws becomes its Status. LLVM has no cleanups: what its frames held is leaked, and so
/// must be whatever of ours such an object could reach (Leaked).
template <class Function>
auto catching(std::string_view what, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return unsupported(std::string(what) + ": out of memory");
  } catch (const LlvmFatalError& error) {
    return internal_error(std::string(what) + ": LLVM: " + error.what());
  } catch (const std::exception& error) {
    return internal_error(std::string(what) + ": " + error.what());
  }
}

/// An object that is destroyed as usual, but left alone when an exception passes: LLVM may have been changing it.
template <class T>
class Leaked {
 public:
  template <class... Arguments>
  explicit Leaked(Arguments&&... arguments) : object_(new T(std::forward<Arguments>(arguments)...)) {}
  ~Leaked() {
    if (std::uncaught_exceptions() == outer_) delete object_;
  }
  Leaked(const Leaked&) = delete;
  Leaked& operator=(const Leaked&) = delete;
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
  const int outer_ = std::uncaught_exceptions();
};

}  // namespace strew
