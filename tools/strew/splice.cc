// strew splice: the module of FILE with calls of strew in the place of what strew runs of it, for XLA programs with the handler of bindings/jax. What was replaced, and what
// stays XLA's and why, goes to stderr; with --json the whole answer goes to stdout, the text unless -o has a file for it.
//
// Tested by tests/error/splice_cli_test.cc.
#include "strew/splice.h"

#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "base/pending_file.h"
#include "compiler/import/importer.h"
#include "tools/strew/message.h"
#include "tools/strew/options.h"

namespace strew::cli {
namespace {

using Json = nlohmann::ordered_json;

int64_t max_bytes(const Options& options) {
  if (options.import.max_file_bytes > 0) return options.import.max_file_bytes;
  for (const Importer& importer : importers())
    if (importer.ending == ".mlir") return importer.max_bytes;
  return 0;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Json json_of(const Options& options, const Spliced& spliced) {
  Json out = {{"file", options.file}, {"calls", Json::array()}, {"kept", Json::array()}};
  for (const SplicedCall& call : spliced.calls)
    out["calls"].push_back({{"name", call.name}, {"location", call.location}, {"operations", call.operations}});
  for (const KeptOperation& kept : spliced.kept)
    out["kept"].push_back({{"operation", kept.operation}, {"location", kept.location}, {"reason", kept.reason}});
  if (options.output.empty()) out["text"] = spliced.text;
  return out;
}

void tell(const Spliced& spliced) {
  for (const SplicedCall& call : spliced.calls)
    note("replaced: " + call.location + ": " + call.name + ", " + joined(call.operations));
  for (const KeptOperation& kept : spliced.kept) note("kept: " + kept.location + ": " + kept.reason);
  if (spliced.calls.empty()) note("nothing is replaced: the text is the file's");
}

Status write(const Options& options, const Spliced& spliced) {
  if (!options.output.empty() && options.output != "-") {
    STREW_ASSIGN(PendingFile file, PendingFile::create(options.output, spliced.text));
    STREW_TRY(file.commit());
  }
  if (options.json) return print_out(json_of(options, spliced).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  return options.output.empty() || options.output == "-" ? print_out(spliced.text) : Status();
}

}  // namespace

int splice(const Options& options) {
  const Expected<std::string> text = read_file(options.file, max_bytes(options));
  if (!text.ok()) return fail(text.status());
  const Expected<Spliced> spliced = strew::splice(*text, options.file, options.splice);
  if (!spliced.ok()) return fail(spliced.status());
  const Status written = write(options, *spliced);
  if (written.ok() && !options.json) tell(*spliced);
  return fail(written);
}

}  // namespace strew::cli
