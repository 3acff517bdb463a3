// strew, or the hand-written kernels, as one more peer of bench/peers/peers_bench.py: JSON requests on stdin, one reply each on stdout.
#pragma once

#include <string>

namespace strew::bench {

/// `peer`: strew or hand. Ends with the requests; the exit status.
int serve(const std::string& peer, int threads);

}  // namespace strew::bench
