// strew library: makes a kernel library of a manifest, or prints a manifest for a model file. Tested by tests/library.
#include "tools/strew/library.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "base/pending_file.h"
#include "library/build.h"
#include "strew/text.h"
#include "tools/strew/message.h"

namespace strew::cli {
namespace {

/// A line that counts the compiled variants, on a terminal only.
bool show_progress(size_t done, size_t all) {
  if (isatty(STDERR_FILENO) == 0) return true;
  constexpr size_t kWidth = 40;
  const size_t filled = all == 0 ? kWidth : done * kWidth / all;
  fmt::print(stderr, "\r[{}{}] {} of {}{}", std::string(filled, '#'), std::string(kWidth - filled, ' '), done, all,
             done == all ? "\n" : "");
  std::fflush(stderr);
  return true;
}

/// A line per kernel: what was made of it for which targets.
std::string as_text(const LibraryReport& report, const Manifest& manifest) {
  std::string text;
  for (const Target& target : manifest.left_out)
    text += fmt::format("{}: left out, because the library is for {}; --arch {} makes one of it\n", print(target),
                        manifest.targets.front().arch, target.arch);
  std::string last;
  size_t reused = 0;
  int64_t nanoseconds = 0;
  for (const LibraryVariant& each : report.variants) {
    if (each.kernel != last) text += each.kernel + "\n";
    last = each.kernel;
    text += fmt::format("  {:<24} {:<7} {:>6} bytes  {}  {}\n", each.target, each.backend, each.object_bytes,
                        each.reused ? "as before" : fmt::format("{:.1f} ms", static_cast<double>(each.nanoseconds) / 1e6),
                        each.schedule);
    reused += each.reused ? 1 : 0;
    nanoseconds += each.nanoseconds;
  }
  for (const LibraryProgramReport& each : report.programs)
    text += fmt::format("{}\n  program of {} steps, {} bytes of constants, {} bytes of memory per run\n", each.name, each.steps,
                        each.constant_bytes, each.arena_bytes);
  return text + fmt::format("{}: {} variants, {} as before, {} bytes, {:.0f} ms of compilation\n", report.archive,
                            report.variants.size(), reused, report.archive_bytes, static_cast<double>(nanoseconds) / 1e6);
}

/// A rule of Make: the archive depends on the manifest and on the files that it names.
Status write_depfile(const Options& options, const Manifest& manifest, const LibraryReport& report) {
  const auto escaped = [](const std::string& path) {
    std::string out;
    for (const char c : path) {
      if (c == ' ' || c == '#' || c == '\\') out += '\\';
      if (c == '$') out += '$';
      out += c;
    }
    return out;
  };
  std::string rule = escaped(report.archive) + ": " + escaped(options.file);
  for (const std::string& file : manifest.files) rule += " \\\n  " + escaped(file);
  STREW_ASSIGN(PendingFile file, PendingFile::create(options.depfile, rule + "\n"));
  return file.commit();
}

/// Writes the manifest of a model to the file of -o, or prints it.
int write_manifest(const Options& options) {
  const bool is_printed = options.output.empty() || options.output == "-";
  const WholeModel part{options.from, options.to};
  const Expected<std::string> text =
      manifest_of_model(options.from_model, is_printed ? std::string() : options.output, options.whole ? &part : nullptr);
  if (!text.ok()) return fail(text.status());
  if (is_printed) return fail(print_out(*text));
  Expected<PendingFile> file = PendingFile::create(options.output, *text);
  return fail(file.ok() ? file->commit() : file.status());
}

}  // namespace

int write_library(const Options& options, const Manifest& manifest) {
  LibraryOptions wanted;
  wanted.jobs = options.jobs;
  wanted.freestanding = options.freestanding;
  wanted.progress = show_progress;
  const Expected<LibraryReport> report = build_library(manifest, options.output, wanted);
  if (!report.ok()) return fail(report.status());
  if (!options.depfile.empty())
    if (const Status status = write_depfile(options, manifest, *report); !status.ok()) return fail(status);
  return fail(print_out(options.json ? report_json(*report, manifest) : as_text(*report, manifest)));
}

int library(const Options& options) {
  if (!options.from_model.empty()) {
    if (!options.file.empty())
      return usage_error("MANIFEST: it is '" + options.file +
                         "', expected none with --from-model, which writes a manifest; -o FILE says where to");
    return write_manifest(options);
  }
  if (options.file.empty())
    return usage_error("MANIFEST: it is missing, expected the file that lists the kernels, or --from-model FILE");
  if (options.output.empty()) return usage_error("-o: it is missing, expected the folder to write");
  const Expected<Manifest> manifest = read_manifest(options.file, {options.arch, options.targets});
  return manifest.ok() ? write_library(options, *manifest) : fail(manifest.status());
}

}  // namespace strew::cli
