// FpEnvironment: the floating-point environment that kernels compute in (docs/semantics.md section 4): round to
// nearest, keep subnormals, no traps; of targets with host_fp, that of the calling thread. Tested by tests/unit/backends/llvm/compute/rounding_test.cc.
#pragma once

#include <cfenv>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace strew::inline v0 {

/// Sets the default environment for its lifetime and then restores the caller's. Costs a few nanoseconds if the
/// caller's environment is the default already.
class FpEnvironment {
 public:
#if defined(__x86_64__)
  using Word = uint32_t;
#else
  using Word = uint64_t;
#endif
  /// The environment of this thread.
  static Word current() { return get(); }
  /// `keeps_flags`: the caller's sticky exception flags are restored, too, because no float that the caller asked for is computed.
  explicit FpEnvironment(bool needed, bool keeps_flags = false) : keeps_flags_(needed && keeps_flags) {
    if (!needed) return;
    saved_ = get();
    changed_ = (saved_ & kControl) != (kDefault & kControl);
    if (changed_) set(kDefault);
  }
  /// The environment of another thread, as current() gave it there.
  explicit FpEnvironment(Word of_another) {
    saved_ = get();
    changed_ = (saved_ & kControl) != (of_another & kControl);
    if (changed_) set(of_another);
  }
  ~FpEnvironment() {
    if (changed_ || (keeps_flags_ && get() != saved_)) set(saved_);
  }
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

  /// For threads that the library creates: they inherit the environment of their creator, including that of the x87
  /// unit.
  static void set_default() { std::fesetenv(FE_DFL_ENV); }

 private:
#if defined(__x86_64__)
  static constexpr Word kDefault = 0x1f80, kControl = ~Word{0x3f};  // the low six bits are sticky flags
  static Word get() { return _mm_getcsr(); }
  static void set(Word word) { _mm_setcsr(word); }
#else
  static constexpr Word kDefault = 0, kControl = ~Word{0};
  static Word get() {
    Word word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set(Word word) { asm volatile("msr fpcr, %0" : : "r"(word)); }
#endif
  Word saved_ = kDefault;
  bool changed_ = false, keeps_flags_ = false;
};

}  // namespace strew::inline v0
