// Host stubs.
#include "backends/pto/text.h"
namespace strew::pto {
std::string print_host(const std::vector<Program>&) { return ""; }
}  // namespace strew::pto
