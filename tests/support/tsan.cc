// ThreadSanitizer's settings for the test programs.
#ifdef __SANITIZE_THREAD__
// What it is not to report: it sees the threads of libraries that were compiled without it, but not their locks.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libHalide.so\nrace:libLLVM\nrace:libMLIR\n"; }
// Children of a fork start threads, which it allows only on request.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif
