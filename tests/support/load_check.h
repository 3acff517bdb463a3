// check_loads(): from then on, every object that the loader (backends/loader) links in this process is linked by JITLink, too, and a difference
// between the two fails the link.
#pragma once

namespace strew::test {

void check_loads();

}  // namespace strew::test
