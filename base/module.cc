// See module.h. Modules are looked for in one folder only, below libstrew's own. That is found once, while the loader
// loads libstrew, or the program that contains it: an absolute path with every symbolic link resolved. Later would be too late: the loader keeps the
// path as the program gave it, and after a chdir() a relative path leads to another folder, in which an attacker's
// file would be run as part of strew. If the folder cannot be found, opening a module fails; modules are never
// searched for by name.
//
// A module is opened once, under a lock, and stays open: libLLVM is linked NODELETE, so closing it would free
// nothing. RTLD_LOCAL keeps its symbols apart from another LLVM in the process; strew needs only its registration
// function. A module that failed to open is tried again by the next call. Tested by tests/unit/backends/kernel_test.cc and
// tests/error/planted_library_test.cc.
#include "base/module.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>

#include "base/headroom.h"
#include "strew/version.h"

#ifndef STREW_LIBRARIES_FROM_PROGRAMS
#define STREW_LIBRARIES_FROM_PROGRAMS "../lib"
#endif

namespace strew::inline v0 {
namespace {

#define STREW_TEXT_OF(number) #number
#define STREW_TEXT(number) STREW_TEXT_OF(number)
/// The modules' folder within that of libstrew. The version is that of the name libstrew.so.VERSION (CMakeLists.txt).
constexpr const char* kModuleFolder =
    STREW_VERSION_MAJOR == 0 ? "strew-0." STREW_TEXT(STREW_VERSION_MINOR) "/" : "strew-" STREW_TEXT(STREW_VERSION_MAJOR) "/";

/// The folder of libstrew with a slash at its end, or "" if the loader's path leads to no file. The program strew and the tests contain
/// libstrew's objects; the folder for them is that of libraries beside the folder bin in which they are.
std::string find_own_folder() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&find_own_folder), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return "";
  // The loader knows a program by what it was called with, which need not be a path: a shell finds it by PATH.
  const bool is_program = map->l_name[0] == '\0';
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(is_program ? "/proc/self/exe" : map->l_name, nullptr),
                                                        std::free);
  if (!resolved) return "";
  const std::string path = resolved.get();
  std::string folder = path.substr(0, path.rfind('/') + 1);
  if (!is_program) return folder;
  // An installation may keep libraries in another folder than the build tree: lib64, or lib/x86_64-linux-gnu.
  const std::string installed = folder + STREW_LIBRARIES_FROM_PROGRAMS "/";
  const bool is_there = access((installed + kModuleFolder).c_str(), X_OK) == 0;
  const std::unique_ptr<char, void (*)(void*)> libraries(realpath((is_there ? installed : folder + "../lib").c_str(), nullptr),
                                                         std::free);
  return libraries ? std::string(libraries.get()) + "/" : folder;
}

/// Set while libstrew is loaded: the initialisers of a shared library run before dlopen() returns or main() starts.
/// Never destroyed, because threads may open modules while the process ends.
const std::string& own_folder = *new std::string(find_own_folder());

/// The modules' folder with a slash at its end; "" if libstrew's is not known.
const std::string& modules = *new std::string(own_folder.empty() ? own_folder : own_folder + kModuleFolder);

std::atomic<void (*)()> registers_at_exit{nullptr};

}  // namespace

const std::string& module_folder() { return modules; }
void after_modules_open(void (*registers)()) { registers_at_exit.store(registers, std::memory_order_release); }
void register_for_exit_again() {
  if (auto* const registers = registers_at_exit.load(std::memory_order_acquire)) registers();
}

Status check_module_version(const std::string& file, const char* needed_for, uint32_t version) {
  if (version == kModuleVersion) return {};
  return unsupported(std::string(needed_for) + " needs " + modules + file + " of module version " +
                     std::to_string(kModuleVersion) + ", and it has version " + std::to_string(version) +
                     ": install the one that was built with this libstrew");
}

Status find_module(const std::string& file, const char* needed_for) {
  const std::string path = modules + file;
  if (access(path.c_str(), R_OK) == 0) return {};
  return unsupported(std::string(needed_for) + " needs " + path + ", which is not there");
}

Expected<void*> open_module_symbol(const std::string& file, const char* symbol, const char* needed_for) {
  if (own_folder.empty())
    return unsupported(std::string(needed_for) + " needs " + file +
                       " from the folder of libstrew, but libstrew was loaded from a file that has no path");
  const std::string path = modules + file;
  STREW_TRY(check_headroom(needed_for, kModuleBytes, kModuleMappings));
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return unsupported(std::string(needed_for) + " needs " + path +
                       ", which could not be opened: " + (why ? why : "unknown reason"));
  }
  register_for_exit_again();
  void* address = dlsym(handle, symbol);
  if (!address) return internal_error(path + " has no symbol " + symbol + ": it belongs to another version of strew");
  return address;
}

}  // namespace strew::inline v0
