// Failures of LLVM as Status: where LLVM would end the process, because memory has run out or for a "fatal error", the build fails instead.
// Handlers throw an exception through LLVM's frames, and catching() turns it into a Status. Tested by tests/unit/base/headroom_test.cc.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "strew/status.h"

namespace llvm {
class LLVMContext;
}

namespace strew::inline v0 {

/// Installs LLVM's handlers for fatal errors and for exhausted memory; from then on LLVM throws exceptions in both cases. Works once per
/// process. A program that uses the same libLLVM itself gets these handlers, too.
void install_llvm_handlers();

/// An error that LLVM reports while it works on this context, such as inline assembly that has no register, becomes an exception. LLVM's
/// own handler ends the process.
void throw_errors_of(llvm::LLVMContext& context);

/// Returns function(), which returns an Expected<T>; an exception becomes a Status that begins with `what`. LLVM's frames do not run
/// destructors when an exception passes, so objects that they owned are leaked. Objects of ours that such an object refers to must not be
/// destroyed either: see Leaked.
template <class Function>
auto catching(std::string_view what, const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return resource_exhausted(std::string(what) + ": out of memory");
  } catch (const std::exception& error) {
    return internal_error(std::string(what) + ": " + error.what());
  }
}

/// Owns an object that LLVM works on. Its destructor destroys the object, except while an exception passes: then LLVM may have left the object
/// half changed or may still refer to it, so it is leaked.
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

}  // namespace strew::inline v0
