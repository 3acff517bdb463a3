// Prints the version of the library it runs with; exit status 1 where that is not the headers'.
#include "strew/version.h"

#include <cstdio>
#include <string>

#include "strew/compiled_kernel.h"

int main() {
  const strew_kernel none{};
  const auto refused = strew::CompiledKernel::make(none);
  std::printf("%s\n", strew_version());
  const std::string headers =
      std::to_string(STREW_VERSION_MAJOR) + "." + std::to_string(STREW_VERSION_MINOR) + "." + std::to_string(STREW_VERSION_PATCH);
  return headers == strew_version() && !refused.ok() ? 0 : 1;
}
