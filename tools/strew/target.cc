// strew target: prints the machine for which kernels are compiled. Tested by tests/error/cli_test.cc.
#include "strew/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "strew/options.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"

namespace strew::cli {
namespace {

/// STREW_TARGET, if `target`, which is what `native` stands for, is the one it names. It is not where this machine cannot run that.
std::string overridden_by_environment(const Target& target) {
  const std::string& wanted = process_options().target;
  const Expected<Target> named = parse_target(wanted);
  return wanted != "native" && named.ok() && print(*named) == print(target) ? "STREW_TARGET=" + wanted : "";
}

}  // namespace

int target(const Options& options) {
  const Target& t = *options.kernel.target;
  const std::string overridden = options.target_given ? "--target " + options.target : overridden_by_environment(t);
  if (options.json) {
    const nlohmann::ordered_json json = {{"target", print(t)},
                                         {"arch", t.arch},
                                         {"cpu", t.cpu},
                                         {"features", t.features},
                                         {"vector_bytes", t.vector_bytes},
                                         {"f16c", t.f16c},
                                         {"cores", t.cores},
                                         {"l1d_bytes", t.l1d_bytes},
                                         {"l2_bytes", t.l2_bytes},
                                         {"l3_bytes", t.l3_bytes},
                                         {"overridden", overridden}};
    return fail(print_out(json.dump(2) + "\n"));
  }
  return fail(
      print_out(fmt::format("target      {}\n"
                            "arch        {}\n"
                            "cpu         {}\n"
                            "features    {}\n"
                            "vectors     {} bytes, f16 conversion in hardware: {}\n"
                            "cores       {} usable by this process\n"
                            "caches      L1d {} KiB, L2 {} KiB, L3 {} KiB\n"
                            "overridden  {}\n",
                            print(t), t.arch, t.cpu, fmt::join(t.features, " "), t.vector_bytes, t.f16c ? "yes" : "no", t.cores,
                            t.l1d_bytes >> 10, t.l2_bytes >> 10, t.l3_bytes >> 10, overridden.empty() ? "nothing" : overridden)));
}

}  // namespace strew::cli
