// Programs in pto-isa C++.
#include "backends/pto/text.h"
namespace strew::pto {
std::string print_cpp(const std::vector<Program>&) { return ""; }
}  // namespace strew::pto
