// ProgramChecker: runs random programs as import_file() leaves them, with everything that strew does by default, and compares the results with
// those of the operations and kernels of the file one by one: the interpreter, and the reference for kernels. It does the same with parts of them
// (partition_check.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/call/executor/limits.h"
#include "strew/run_program.h"
#include "tests/differential/programs/random_program.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"

namespace strew::test {

/// What was checked.
struct ProgramTally {
  int64_t programs = 0, nodes = 0, kernels = 0, operations = 0;
  int64_t folded = 0;  ///< operations that became part of kernels
  int64_t calls = 0, runs = 0, failures = 0, donated = 0, refusals = 0;
  int64_t bad_indices = 0;  ///< calls that fail because of one index
  int64_t stepped = 0;      ///< runs as a kernel library runs them
  std::map<std::string, int64_t> kinds, refused;
  std::map<std::string, int64_t> notes;  ///< what import did to kernels, without numbers, and how often
  void add(const RandomProgram& drawn);
  void add_finished(const Program& finished);
  std::string write() const;              ///< for merge()
  void merge(const std::string& report);  ///< adds what write() wrote in another process
  std::string text() const;
};

struct ProgramFailure {
  std::string what, way;
  std::string finished;  ///< the listing of what import_file() made of the program; empty: nothing
  bool stopped = false;  ///< a signal was caught, so the process must not continue
};

class ProgramChecker {
 public:
  explicit ProgramChecker(std::string backend);
  /// Calls of the program with data from `seed`, and with other extents where they are open. The result depends on the arguments only.
  std::optional<ProgramFailure> check(const RandomProgram& drawn, uint64_t seed);
  ProgramTally& tally() { return tally_; }
  /// What runs now, for the fault handler.
  std::string describe(int signal, const void* address) const;

 private:
  /// How a run gets its inputs and outputs.
  enum class Buffers : uint8_t {
    owned,     ///< run_program() may keep and overwrite the inputs
    shared,    ///< inputs are read-only
    into,      ///< read-only, and outputs are the caller's
    in_place,  ///< the same, but an output is to lie where an input is
    together   ///< inputs are read-only, and another thread runs the program at the same time
  };
  struct Way {
    std::string backend;
    int threads = 1, most_threads = 1;
    Buffers buffers = Buffers::owned;
    bool compiles = false;  ///< operations around the kernels, from the first on; in an object that all such runs share
    std::string text() const;
  };
  using Results = Expected<std::vector<Tensor>>;
  Way random_way(Rng& rng, size_t number) const;
  Results interpreted(const Program& program, const std::vector<Tensor>& inputs);
  std::optional<std::string> compare_call(const RandomProgram& drawn, const Program& finished, const std::vector<Tensor>& inputs,
                                          bool one_error, Rng& rng);
  std::optional<std::string> run_and_compare(const RandomProgram& drawn, const Program& finished,
                                             const std::vector<Tensor>& inputs, const Results& want, bool one_error,
                                             const Way& way, Rng& rng);
  std::optional<std::string> run_as_steps(const RandomProgram& drawn, const Program& finished, const std::vector<Tensor>& inputs,
                                          const Results& want, bool one_error, Rng& rng);
  bool is_refusal(const Way& way, const Status& status);
  bool is_refusal(const Way& way, const Results& got);
  std::vector<std::unique_ptr<Tensor>> lent(const std::vector<Tensor>& inputs);
  std::optional<std::string> run_into(const RandomProgram& drawn, const Program& finished, const std::vector<Tensor>& inputs,
                                      const Results& want, const Way& way, Rng& rng);

  std::string backend_;
  std::shared_ptr<ExecutionLimits> limits_;
  std::unique_ptr<Runtime> runtime_;
  std::optional<RunnableProgram> runnable_;  ///< the program that is checked
  GuardedPool pool_;
  ProgramTally tally_;
  std::string running_;
};

}  // namespace strew::test
