// See build.h. Variants are planned one after another, which is quick and settles what can fail, then compiled on several threads. A symbol
// names the code (docs/architecture.md, "Identity"), so an object of the last output with the same symbol is taken as it is.
#include "library/build.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/modules.h"
#include "backends/pipeline.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/start_thread.h"
#include "library/header.h"
#include "library/json_lines.h"
#include "library/output_folder.h"
#include "library/registry.h"
#include "strew/library.h"
#include "strew/schedule.h"
#include "strew/version.h"

namespace strew::inline v0 {
namespace {

/// One kernel for one target, on its way.
struct Job {
  Compiled kernel;
  std::string object;  ///< SYMBOL.o: the code and the packed descriptor
  std::string
      descriptor;  ///< SYMBOL_kernel.o: the descriptor, for programs that do without libstrew_rt; empty for a kernel of parts
  Status status;
  bool reused = false;
  int64_t nanoseconds = 0;
};

using Objects = std::map<std::string, std::string>;  // by the name of the member
constexpr const char *kCode = ".o", *kDescriptor = "_kernel.o";

/// The objects in the archive of the last run; none if there is no such archive.
Objects last_objects(const LlvmModule& llvm, const std::string& archive) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  Objects objects;
  const Expected<std::string> file = read_file(archive, kMostBytes);
  if (!file.ok()) return objects;
  const Expected<std::vector<ArchiveMember>> members = llvm.read_archive(*file);
  if (!members.ok()) return objects;
  for (const ArchiveMember& member : *members) objects[member.name] = member.bytes;
  return objects;
}

/// Where the schedule is from.
std::string why_of(const Compiled& kernel) { return kernel.learned.schedule ? "wisdom, " + kernel.learned.from : kernel.why; }

Expected<Job> plan(const ManifestKernel& kernel, const Target& target, const std::shared_ptr<const Wisdom>& wisdom) {
  KernelOptions options;
  options.backend = kernel.backend;
  options.schedule = kernel.schedule;
  options.target = target;
  options.wisdom = wisdom;
  const auto in_place = [&](const Status& status) {
    return status.with_prefix(kernel.location + ": kernel " + kernel.name + ", target " + target.cpu);
  };
  Expected<Compiled> planned = plan_kernel(kernel.op, options);
  if (!planned.ok()) return in_place(planned.status());
  if (!planned->scheduled.ok()) return in_place(planned->scheduled);
  if (!planned->chosen.ok()) return in_place(planned->chosen);
  if (planned->backend->is_precompiled())
    return in_place(
        unsupported("backend " + std::string(planned->backend->name()) + " generates no code, expected one that does"));
  if (!planned->backend->interprets()) return Job{*std::move(planned), "", {}};
  std::string why;
  for (const Candidate& each : planned->backends)
    if (!each.status.ok()) why += (why.empty() ? "" : "; ") + each.status.message();
  return in_place(unsupported("no backend makes code for it: " + (why.empty() ? "backend reference interprets" : why)));
}

/// Packs the descriptors of the kernel and of its parts.
void pack_all(Compiled& kernel) {
  std::vector<std::string> parts;
  for (Compiled& part : kernel.parts) {
    pack_all(part);
    parts.push_back(part.symbol);
  }
  kernel.packed = pack(kernel.descriptor, parts);
}

Status compile_objects(const LlvmModule& llvm, Job& job) {
  pack_all(job.kernel);
  STREW_TRY(build(job.kernel));
  job.object = std::move(job.kernel.artifact.object);
  if (!job.kernel.parts.empty()) return {};
  STREW_ASSIGN(job.descriptor, llvm.emit_constant(job.kernel.descriptor, job.kernel.symbol, job.kernel.target));
  return {};
}

void compile_one(const LlvmModule& llvm, Job& job) {
  const auto start = std::chrono::steady_clock::now();
  try {
    job.status = compile_objects(llvm, job);
  } catch (const std::bad_alloc&) {
    job.status = resource_exhausted("out of memory");
  }
  job.nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

/// Compiles the jobs that have no object.
Status compile_all(const LlvmModule& llvm, std::vector<Job>& jobs, const LibraryOptions& options) {
  std::vector<Job*> missing;
  for (Job& job : jobs)
    if (!job.reused) missing.push_back(&job);
  std::atomic<size_t> next{0};
  std::mutex reporting;
  size_t done = jobs.size() - missing.size();
  std::atomic<bool> goes_on{true};
  const auto work = [&] {
    for (size_t i = next++; i < missing.size() && goes_on; i = next++) {
      compile_one(llvm, *missing[i]);
      const std::lock_guard lock(reporting);
      ++done;
      if (options.progress && goes_on && !options.progress(done, jobs.size())) goes_on = false;
    }
  };
  const size_t wanted = std::min<size_t>(missing.size(), static_cast<size_t>(options.jobs > 0 ? options.jobs : machine().cores));
  std::vector<std::thread> helpers;
  try {
    const SignalsBlocked blocked;
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (const std::system_error&) {  // the system gives no more threads
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (goes_on) return {};
  return cancelled("library: ended by the caller after " + std::to_string(done) + " of " + std::to_string(jobs.size()) +
                   " variants");
}

/// Does the code of the kernel call nothing but what every C compiler's output may call?
Status check_freestanding(const LlvmModule& llvm, const std::string& object) {
  constexpr std::string_view kAllowed[] = {"memcpy", "memmove", "memset", "memcmp"};
  STREW_ASSIGN(const std::vector<std::string> symbols, llvm.undefined_symbols(object));
  std::string list;
  for (const std::string& symbol : symbols)
    if (std::find(std::begin(kAllowed), std::end(kAllowed), symbol) == std::end(kAllowed))
      list += (list.empty() ? "" : ", ") + symbol;
  if (list.empty()) return {};
  return unsupported("it calls " + list + ", which a program without libstrew_rt does not have; leave it out, or freestanding");
}

/// The report in the folder has nothing in it that differs from run to run.
std::string report_text(const Manifest& manifest, const LibraryReport& report) {
  std::string text = "{\n  \"library\": " + json_text(manifest.name) + ",\n  \"generator\": " + json_text(generator_version()) +
                     ",\n  \"archive_bytes\": " + std::to_string(report.archive_bytes) + ",\n  \"variants\": [";
  for (size_t i = 0; i < report.variants.size(); ++i) {
    const LibraryVariant& each = report.variants[i];
    text += std::string(i == 0 ? "" : ",") + "\n    {\"kernel\": " + json_text(each.kernel) +
            ", \"target\": " + json_text(each.target) + ", \"symbol\": " + json_text(each.symbol) +
            ", \"backend\": " + json_text(each.backend) + ", \"schedule\": " + json_text(each.schedule) +
            ", \"why\": " + json_text(each.why) + ", \"object_bytes\": " + std::to_string(each.object_bytes) + "}";
  }
  text += "\n  ],\n  \"programs\": [";
  for (size_t i = 0; i < report.programs.size(); ++i) {
    const LibraryProgramReport& each = report.programs[i];
    text += std::string(i == 0 ? "" : ",") + "\n    {\"program\": " + json_text(each.name) +
            ", \"steps\": " + std::to_string(each.steps) + ", \"constant_bytes\": " + std::to_string(each.constant_bytes) +
            ", \"arena_bytes\": " + std::to_string(each.arena_bytes) + "}";
  }
  return text + "\n  ]\n}\n";
}

/// The programs as registry, header and report have them.
struct Programs {
  std::vector<RegistryProgram> registry;
  std::vector<HeaderProgram> header;
  std::vector<LibraryProgramReport> report;
};
Programs programs_of(const Manifest& manifest) {
  Programs out;
  for (const ManifestProgram& program : manifest.programs) {
    int64_t bytes = 0;
    for (const std::string& constant : program.steps.constants) bytes += static_cast<int64_t>(constant.size());
    out.registry.push_back({program.name, &program.steps, {program.kernels.begin(), program.kernels.end()}});
    out.header.push_back({program.name, &program.steps});
    out.report.push_back({program.name, program.steps.steps.size(), bytes, program.steps.arena_bytes});
  }
  return out;
}

/// find_package(NAME) finds strew's runtime and defines NAME::NAME.
std::string cmake_text(const std::string& name) {
  return "# Made by `strew library`: find_package(" + name + ") defines " + name + "::" + name +
         ", the library with the runtime that it needs.\n"
         "include(CMakeFindDependencyMacro)\nfind_dependency(strew COMPONENTS runtime)\n"
         "if(NOT TARGET " +
         name + "::" + name + ")\n  add_library(" + name + "::" + name +
         " STATIC IMPORTED)\n"
         "  set_target_properties(" +
         name + "::" + name + " PROPERTIES\n    IMPORTED_LOCATION ${CMAKE_CURRENT_LIST_DIR}/lib" + name +
         ".a\n"
         "    INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}\n    INTERFACE_LINK_LIBRARIES "
         "\"strew::strew_rt_shared;m\")\nendif()\n";
}
std::string pkg_config_text(const std::string& name) {
  return "prefix=${pcfiledir}\n\nName: " + name + "\nDescription: Kernels made by strew library\nVersion: " + strew_version() +
         "\nRequires: strew_rt\nLibs: -L${prefix} -l" + name + " -lm" + "\nCflags: -I${prefix}\n";
}

}  // namespace

Expected<LibraryReport> build_library(const Manifest& manifest, const std::string& folder, const LibraryOptions& options) {
  STREW_TRY(check_threads(options.jobs));
  STREW_TRY(OutputFolder::check(folder));
  STREW_ASSIGN(const LlvmModule* const llvm, open_llvm_module());
  std::vector<Job> jobs;
  for (const ManifestKernel& kernel : manifest.kernels)
    for (const Target& target : manifest.targets) {
      STREW_ASSIGN(Job job, plan(kernel, target, manifest.wisdom));
      jobs.push_back(std::move(job));
    }
  const std::string archive_name = "lib" + manifest.name + ".a";
  const Objects objects = last_objects(*llvm, folder + "/" + archive_name);
  for (Job& job : jobs) {
    const auto code = objects.find(job.kernel.symbol + kCode), descriptor = objects.find(job.kernel.symbol + kDescriptor);
    const bool has_descriptor = job.kernel.parts.empty();
    job.reused = code != objects.end() && has_descriptor == (descriptor != objects.end());
    if (job.reused) job.object = code->second;
    if (job.reused && has_descriptor) job.descriptor = descriptor->second;
  }
  STREW_TRY(compile_all(*llvm, jobs, options));

  LibraryReport report;
  std::vector<RegistryKernel> registry;
  std::vector<HeaderKernel> header;
  std::vector<ArchiveMember> members;
  std::set<std::string> symbols;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Job& job = jobs[i];
    const ManifestKernel& kernel = manifest.kernels[i / manifest.targets.size()];
    const Target& target = manifest.targets[i % manifest.targets.size()];
    if (job.status.ok() && options.freestanding) job.status = check_freestanding(*llvm, job.object);
    if (!job.status.ok()) return job.status.with_prefix(kernel.location + ": kernel " + kernel.name + ", target " + target.cpu);
    if (i % manifest.targets.size() == 0) {
      registry.push_back({kernel.name, {}});
      header.push_back({kernel.name, &job.kernel, {}, true, kernel.is_step});
    }
    registry.back().variants.push_back(job.kernel.symbol);
    header.back().variants.push_back(target.cpu);
    header.back().variants_agree = header.back().variants_agree && same_arguments(*header.back().baseline, job.kernel);
    report.variants.push_back({kernel.name, print(target), job.kernel.symbol, std::string(job.kernel.backend->name()),
                               print(job.kernel.schedule), why_of(job.kernel), job.object.size(), job.reused, job.nanoseconds});
    if (!symbols.insert(job.kernel.symbol).second) continue;
    members.push_back({job.kernel.symbol + kCode, std::move(job.object)});
    if (!job.descriptor.empty()) members.push_back({job.kernel.symbol + kDescriptor, std::move(job.descriptor)});
  }
  const Programs programs = programs_of(manifest);
  report.programs = programs.report;
  STREW_ASSIGN(const DescriptorImage image, make_registry(manifest.name, registry, programs.registry));
  STREW_ASSIGN(std::string registry_object,
               llvm->emit_registry(image, manifest.name + "_query", STREW_LIBRARY_VERSION, manifest.targets.front()));
  members.push_back({manifest.name + "_registry.o", std::move(registry_object)});
  if (manifest.tvm_ffi) {
    std::vector<std::string> names;
    for (const ManifestKernel& kernel : manifest.kernels)
      if (!kernel.is_step) names.push_back(kernel.name);
    STREW_ASSIGN(std::string functions, llvm->emit_tvm_ffi(names, manifest.name + "_query", manifest.targets.front()));
    members.push_back({manifest.name + "_tvm_ffi.o", std::move(functions)});
  }
  STREW_ASSIGN(const std::string archive, llvm->write_archive(members));
  report.archive_bytes = archive.size();
  report.archive = folder + "/" + archive_name;
  report.header = folder + "/" + manifest.name + ".h";
  STREW_TRY(OutputFolder::replace(folder, {{archive_name, archive},
                                           {manifest.name + ".h", make_header(manifest.name, header, programs.header)},
                                           {manifest.name + ".hpp", make_cpp_header(manifest.name, header, programs.header)},
                                           {manifest.name + "Config.cmake", cmake_text(manifest.name)},
                                           {manifest.name + ".pc", pkg_config_text(manifest.name)},
                                           {OutputFolder::kReport, report_text(manifest, report)}}));
  return report;
}

}  // namespace strew::inline v0
