// See start_thread.h. A new thread inherits the mask of the one that starts it, so there is no moment in which a handler could run on it.
#include "base/start_thread.h"

#include <initializer_list>

namespace strew::inline v0 {

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}
SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

int start_thread(pthread_t& thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  const SignalsBlocked blocked;
  return pthread_create(&thread, attributes, body, argument);
}

}  // namespace strew::inline v0
