// Starting threads: every thread that strew starts blocks all signals, so that a program's handlers never run on it. A handler may take its
// time, end the thread's work or call into strew, while the thread holds locks of a linker or works for a call. Signals that a thread's own
// instructions cause are not blocked: a blocked one would end the process without its handler. Tested by
// tests/unit/base/start_thread_test.cc.
#pragma once

#include <pthread.h>

#include <csignal>

namespace strew::inline v0 {

/// While an object of this class lives, this thread blocks all signals but those that its own instructions cause. A thread that it starts
/// meanwhile inherits that.
class SignalsBlocked {
 public:
  SignalsBlocked();
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

/// pthread_create() of a thread that blocks signals. Returns 0 or the number of the error.
int start_thread(pthread_t& thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument);

}  // namespace strew::inline v0
