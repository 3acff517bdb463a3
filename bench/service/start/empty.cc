// An empty program, for bench/service/disk.cc. Compiled twice: alone, and linked to libstrew, of which it then names one function.
#include <cstdio>
#include <string_view>

#include "bench/service/start/resident.h"

#ifdef STREW_LINKED
#include "strew/runtime.h"
#endif

int main(int argc, char**) {
#ifdef STREW_LINKED
  if (argc > 100) strew::Runtime::process().clear();  // never
#endif
  return argc > 1 ? strew::bench::print_resident() : 0;
}
