// What ThreadSanitizer is not to report: it sees the threads of libraries that were compiled without it, but not their locks.
#ifdef __SANITIZE_THREAD__
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libHalide.so\nrace:libLLVM\nrace:libMLIR\n"; }
#endif
