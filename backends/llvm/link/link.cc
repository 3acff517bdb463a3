// The implementation of backends/link.h: links relocatable objects into this process with ORC's session and JITLink's object layer. LLJIT is
// not used, because objects arrive compiled and its compile layer, with the target that it needs, would only cost time.
//
// Each artifact gets a JITDylib of its own. Symbols that it does not define are looked up in one shared JITDylib, `externals`, which holds the
// math table, rounding functions and the C library's memory functions; nothing else of the process is visible to generated code. LLVM's tasks
// run on the thread that links, so an error that the session reports arrives on that thread and becomes part of its Status instead of being
// printed. Tested by tests/unit/kernel_test.cc.
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#ifdef __SANITIZE_THREAD__
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#endif
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/TaskDispatch.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <math.h>

#include <atomic>
#include <cstring>
#include <mutex>

#include "backends/llvm/codegen/failures.h"
#include "backends/llvm/link/orc.h"
#include "backends/llvm/link/perf_map.h"
#include "base/headroom.h"
#include "base/math/math.h"
#include "base/options.h"

namespace strew::inline v0 {
namespace {

namespace orc = llvm::orc;

std::string text_of(llvm::Error error) { return llvm::toString(std::move(error)); }

/// The errors that the session reported while this thread was linking.
thread_local std::string reported;

class OrcLinker;

class OrcObject final : public LinkedObject {
 public:
  OrcObject(OrcLinker& linker, orc::JITDylib& dylib) : linker_(linker), dylib_(dylib) {}
  ~OrcObject() override;

 private:
  OrcLinker& linker_;
  orc::JITDylib& dylib_;
};

class OrcLinker final : public Linker {
 public:
  static Expected<OrcLinker*> make() {
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) return internal_error("linker: " + text_of(control.takeError()));
    std::unique_ptr<OrcLinker> linker(new OrcLinker(std::move(*control)));
    if (auto error = linker->define_externals()) return internal_error("linker: " + text_of(std::move(error)));
    return linker.release();
  }

  Expected<std::shared_ptr<LinkedObject>> link(const std::vector<std::string>& objects,
                                               const std::vector<std::string>& symbols) override {
    constexpr std::string_view kWhat = "linker";
    STREW_TRY(check_headroom(kWhat, kLinkBytes, kBuildMappings));
    const std::lock_guard lock(mutex_);  // recursive, because remove() locks it too, and runs in here if an object fails to link
    bool finished = false;
    auto linked = catching(kWhat, [&] {
      auto made = link_now(objects, symbols);
      finished = true;
      return made;
    });
    is_broken_ = is_broken_ || !finished;
    return linked;
  }

  /// Did an exception leave LLVM in the midst of linking? Then its locks may still be held: code that was linked before keeps running, but
  /// nothing can be linked or removed any more.
  bool is_broken() const { return is_broken_; }

  void remove(orc::JITDylib& dylib) {
    const std::lock_guard lock(mutex_);
    if (is_broken_) return;
    // A destructor calls this, so an error of unmapping cannot be returned to anybody.
    llvm::consumeError(session_.removeJITDylib(dylib));
  }

 private:
  Expected<std::shared_ptr<LinkedObject>> link_now(const std::vector<std::string>& objects,
                                                   const std::vector<std::string>& symbols) {
    auto dylib = session_.createJITDylib("kernel" + std::to_string(next_.fetch_add(1)));
    if (!dylib) return internal_error("linker: " + text_of(dylib.takeError()));
    const Leaked<std::shared_ptr<OrcObject>> owner(std::make_shared<OrcObject>(*this, *dylib));
    const std::shared_ptr<OrcObject>& linked = *owner;
    dylib->addToLinkOrder(*externals_);

    reported.clear();
    for (const std::string& object : objects) {
      llvm::SmallVector<char, 0> bytes(object.begin(), object.end());
      auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), dylib->getName(), false);
      if (auto error = layer_.add(*dylib, std::move(buffer))) return failed(std::move(error));
    }
    orc::SymbolLookupSet wanted;
    for (const std::string& symbol : symbols) wanted.add(session_.intern(symbol));
    auto found = session_.lookup(orc::makeJITDylibSearchOrder({&*dylib}), std::move(wanted));
    if (!found) return failed(found.takeError());
    for (const std::string& symbol : symbols)
      linked->addresses.push_back((*found)[session_.intern(symbol)].getAddress().toPtr<const void*>());
    return std::shared_ptr<LinkedObject>(linked);
  }

  explicit OrcLinker(std::unique_ptr<orc::ExecutorProcessControl> control) : session_(std::move(control)), layer_(session_) {
    session_.setErrorReporter([](llvm::Error error) { reported += (reported.empty() ? "" : "; ") + text_of(std::move(error)); });
    if (process_options().perf_map) layer_.addPlugin(perf_map_plugin());
  }

  llvm::Error define_externals() {
    externals_ = &session_.createBareJITDylib("externals");
    orc::SymbolMap map;
    const auto add = [&](const char* symbol, const void* address) {
      map[session_.intern(symbol)] = {orc::ExecutorAddr::fromPtr(address),
                                      llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    };
    for (const MathFunction& function : math_functions()) {
      add(function.symbol_f32, function.address_f32());
      add(function.symbol_f64, function.address_f64());
    }
    // Rounding functions, which LLVM calls for targets without rounding instructions: x86-64 has them since SSE4.1.
#define STREW_ADD_ROUNDING(name)                                                       \
  add(#name, reinterpret_cast<const void*>(static_cast<double (*)(double)>(&::name))); \
  add(#name "f", reinterpret_cast<const void*>(static_cast<float (*)(float)>(&::name##f)))
    STREW_ADD_ROUNDING(ceil);
    STREW_ADD_ROUNDING(floor);
    STREW_ADD_ROUNDING(trunc);
    STREW_ADD_ROUNDING(rint);
    STREW_ADD_ROUNDING(nearbyint);
    STREW_ADD_ROUNDING(round);
    STREW_ADD_ROUNDING(roundeven);
#undef STREW_ADD_ROUNDING
    add("memcpy", reinterpret_cast<const void*>(&std::memcpy));
    add("memmove", reinterpret_cast<const void*>(&std::memmove));
    add("memset", reinterpret_cast<const void*>(&std::memset));
#ifdef __SANITIZE_THREAD__
    add("__tsan_memcpy", reinterpret_cast<const void*>(&std::memcpy));
    add("__tsan_memmove", reinterpret_cast<const void*>(&std::memmove));
    add("__tsan_memset", reinterpret_cast<const void*>(&std::memset));
    auto runtime = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
        '\0', [](const orc::SymbolStringPtr& symbol) { return (*symbol).starts_with("__tsan_"); });
    if (!runtime) return runtime.takeError();
    externals_->addGenerator(std::move(*runtime));
#endif
    return externals_->define(orc::absoluteSymbols(std::move(map)));
  }

  static Status failed(llvm::Error error) {
    std::string text = "linker: " + text_of(std::move(error));
    if (!reported.empty()) text += ": " + reported;
    return internal_error(text);
  }

  orc::ExecutionSession session_;
  orc::ObjectLinkingLayer layer_;
  orc::JITDylib* externals_ = nullptr;
  std::atomic<uint64_t> next_{0};
  // Taken before the session's own locks, which stay locked if an exception passes through LLVM's frames.
  std::recursive_mutex mutex_;
  std::atomic<bool> is_broken_{false};
};

OrcObject::~OrcObject() { linker_.remove(dylib_); }

/// The process's linker. When an OrcLinker breaks, the next call makes a new one. Linked objects refer to the OrcLinker that made them, so none
/// is ever destroyed.
class CurrentLinker final : public Linker {
 public:
  Expected<std::shared_ptr<LinkedObject>> link(const std::vector<std::string>& objects,
                                               const std::vector<std::string>& symbols) override {
    STREW_ASSIGN(OrcLinker* const linker, current());
    return linker->link(objects, symbols);
  }

 private:
  Expected<OrcLinker*> current() {
    const std::lock_guard lock(mutex_);
    if (linker_ != nullptr && !linker_->is_broken()) return linker_;
    STREW_TRY(check_headroom("linker", kLinkBytes, kBuildMappings));
    STREW_ASSIGN(linker_, catching("linker", OrcLinker::make));
    return linker_;
  }

  std::mutex mutex_;
  OrcLinker* linker_ = nullptr;
};

}  // namespace

Linker* process_linker() {
  static Linker* const linker = new CurrentLinker;
  return linker;
}

}  // namespace strew::inline v0
