// Options: the parsed command line, checked as far as possible without reading the file. Tested by
// tests/error/cli_test.cc.
#pragma once

#include <string>
#include <vector>

#include "backends/pto/program.h"
#include "strew/import.h"
#include "strew/runtime.h"
#include "strew/splice.h"

namespace strew::cli {

/// What `strew tune` is asked.
struct TuneOptions {
  std::vector<std::string> files;
  std::string mode = "measure", budget, dims, indices, temperature, report, timings;
  uint64_t seed = 1;
  double budget_seconds = 0;  ///< of `budget`; 0: not given
  bool isolate = false;
};

/// What `strew wisdom` is asked, and the --wisdom of other commands.
struct WisdomOptions {
  std::string file;                ///< --wisdom: a file, "off", or empty: the process's
  std::string action;              ///< "list", "merge", …
  std::vector<std::string> files;  ///< that it reads
  std::string older_than;          ///< prune: a date
  std::string machine;             ///< prune, export: "here", or a text that the machine's name contains
};

/// What `strew cache` is asked. The folder of --cache is in options_of_process_runtimes().
struct CacheOptions {
  std::string action;  ///< "stats", "list", …
  int64_t limit = -1;  ///< prune: bytes; negative: not given
};

struct Options {
  std::string command;  ///< "run", "check", …
  std::string file;
  std::vector<std::string> inputs, outputs;
  std::string kernel_name;             ///< --kernel
  std::vector<std::string> libraries;  ///< --library
  std::string emit;
  std::string output;                 ///< compile -o, library -o
  std::string from_model;             ///< library --from-model
  bool whole = false;                 ///< library --whole, compile --whole
  std::vector<std::string> from, to;  ///< library --from, --to; compile --from, --to
  std::vector<std::string> extents;   ///< compile --extents: NAME=EXTENT
  std::vector<std::string> in_place;  ///< compile --in-place: INPUT=OUTPUT
  int jobs = 0;                       ///< library --jobs
  std::string arch;                   ///< library --arch
  std::vector<std::string> targets;   ///< library --target
  std::string depfile;                ///< library --depfile
  bool freestanding = false;          ///< library --freestanding
  bool time = false, verify = false, json = false, verbose = false;
  bool trust_indices = false;  ///< --trust-indices: `run` leaves policy `undefined` unchecked
  ImportOptions import;
  KernelOptions kernel;
  std::string target;           ///< the text of `kernel.target`: --target, or the command's default
  std::string schedule;         ///< the text of `kernel.schedule`: --schedule, or what its file has
  pto::ProgramOptions program;  ///< --blocks, --tile-rows, --buffers, --sync
  bool schedule_given = false, target_given = false;
  bool measure = false, force = false;  ///< target
  bool all = false;                     ///< explain --all
  bool data = false;                    ///< extract --data
  SpliceOptions splice;                 ///< splice --fused, --numerics
  TuneOptions tune;
  WisdomOptions wisdom;
  CacheOptions cache;
};

/// Fills `options`. Returns -1 if the command shall run, otherwise the exit status: help, or a usage error that was
/// reported.
int parse_command_line(int argc, char** argv, Options& options);

// The commands, one file each. They return the exit status.
int run(const Options& options);
int check(const Options& options);
int explain(const Options& options);
int extract(const Options& options);
int splice(const Options& options);
int compile(const Options& options);
int target(const Options& options);
int library(const Options& options);
int tune(const Options& options);
int wisdom(const Options& options);
int cache(const Options& options);

}  // namespace strew::cli
