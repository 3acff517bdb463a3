// See manifest.h. The manifest's objects are checked against the names that they may have, so that a misspelt one is an error.
#include "library/manifest.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "backends/reference/reference.h"
#include "base/file.h"
#include "base/machine.h"
#include "compiler/import/option_text.h"
#include "library/json_lines.h"
#include "library/names.h"
#include "schedules/target.h"
#include "strew/import.h"
#include "strew/partition.h"
#include "strew/text.h"

namespace strew::inline v0 {
namespace {

constexpr int64_t kMostManifestBytes = int64_t{16} << 20;
constexpr size_t kMostKernels = 10000;
/// Per architecture, the target that all its machines run.
struct Baseline {
  std::string_view arch, target;
};
constexpr Baseline kBaselines[] = {{"x86_64", "x86-64"}, {"aarch64", "generic"}};
const Baseline* find_baseline(std::string_view arch) {
  const auto* const found =
      std::find_if(std::begin(kBaselines), std::end(kBaselines), [&](const Baseline& each) { return each.arch == arch; });
  return found == std::end(kBaselines) ? nullptr : found;
}

using Kind = JsonValue::Kind;

/// The values of a family's variables.
using Choice = std::map<std::string, std::string, std::less<>>;

/// A target that a library may have; errors begin with its text.
Expected<Target> library_target(const std::string& text) {
  if (text.starts_with("native"))
    return invalid_argument("'" + text + "' differs from machine to machine, expected the name of a CPU");
  STREW_ASSIGN(Target target, parse_target(text, machine()));
  if (find_baseline(target.arch) == nullptr)
    return unsupported("'" + text + "': no library can have a target of architecture " + target.arch +
                       ", expected a CPU of x86_64 or aarch64");
  return target;
}
/// The targets of one architecture, its baseline among them, by the number of their features.
Status arrange_targets(Manifest& out, std::string arch) {
  std::vector<Target>& targets = out.targets;
  const auto differs = [](std::string_view arch) { return [arch](const Target& target) { return target.arch != arch; }; };
  if (arch.empty()) {
    const bool is_one = !targets.empty() && std::none_of(targets.begin(), targets.end(), differs(targets[0].arch));
    arch = is_one ? targets[0].arch : std::string(machine().cpu->arch);
  }
  const Baseline* const baseline = find_baseline(arch);
  if (baseline == nullptr) return invalid_argument("arch: '" + arch + "', expected x86_64 or aarch64");
  std::copy_if(targets.begin(), targets.end(), std::back_inserter(out.left_out), differs(arch));
  targets.erase(std::remove_if(targets.begin(), targets.end(), differs(arch)), targets.end());
  STREW_ASSIGN(const Target lowest, parse_target(baseline->target, machine()));
  if (std::find(targets.begin(), targets.end(), lowest) == targets.end()) targets.insert(targets.begin(), lowest);
  const auto count = [](const Target& target) { return std::popcount(features_of(target)); };
  // The baseline stays first among targets without features.
  std::stable_sort(targets.begin(), targets.end(), [&](const Target& a, const Target& b) {
    return std::pair(count(a), !(a == lowest)) < std::pair(count(b), !(b == lowest));
  });
  return {};
}

/// The kernels that the programs call, once each.
void add_steps(Manifest& out) {
  std::sort(out.programs.begin(), out.programs.end(),
            [](const ManifestProgram& a, const ManifestProgram& b) { return a.name < b.name; });
  std::map<std::string, size_t> known;
  for (ManifestProgram& program : out.programs) {
    size_t number = 0;
    for (const Step& step : program.steps.steps) {
      program.kernels.push_back(0);
      if (!step.op) continue;
      const auto [found, is_new] = known.try_emplace(print(**step.op), out.kernels.size());
      program.kernels.back() = found->second;
      if (!is_new) continue;
      ManifestKernel kernel(program.name + "/" + std::to_string(number++), program.location, *step.op);
      kernel.is_step = true;
      out.kernels.push_back(std::move(kernel));
    }
  }
}

/// The steps of a file, or of a part of it.
Expected<ProgramSteps> steps_of_part(Program imported, const WholeModel& part, StepOptions how) {
  if (!part.from.empty() || !part.to.empty()) {
    STREW_ASSIGN(imported, cut(std::move(imported), part.from, part.to));
  }
  how.run_known = run_reference;
  return steps_of(imported, how);
}

class Reader {
 public:
  Reader(const std::string& path, const ManifestOptions& options)
      : path_(path), folder_(std::filesystem::path(path).parent_path()), options_(options) {}

  Expected<Manifest> read(const JsonValue& root) {
    STREW_TRY(check_members(root, "the manifest", {"library", "targets", "kernels", "programs", "wisdom", "tvm_ffi"}));
    STREW_ASSIGN(out_.name, name_of(root, "library"));
    STREW_TRY(read_targets(root));
    STREW_TRY(read_wisdom_file(root));
    if (root.find("tvm_ffi") != nullptr) {
      STREW_ASSIGN(const JsonValue* const tvm_ffi, member(root, "tvm_ffi", Kind::boolean));
      out_.tvm_ffi = tvm_ffi->boolean;
    }
    if (root.find("kernels") != nullptr || root.find("programs") == nullptr) {
      STREW_ASSIGN(const JsonValue* const kernels, member(root, "kernels", Kind::list));
      for (const JsonValue& kernel : kernels->items) STREW_TRY(read_kernel(kernel));
      if (out_.kernels.empty()) return error(*kernels, "kernels: the list is empty, expected a kernel");
    }
    std::sort(out_.kernels.begin(), out_.kernels.end(),
              [](const ManifestKernel& a, const ManifestKernel& b) { return a.name < b.name; });
    for (size_t i = 1; i < out_.kernels.size(); ++i)
      if (out_.kernels[i].name == out_.kernels[i - 1].name)
        return invalid_argument(out_.kernels[i].location + ": name: '" + out_.kernels[i].name +
                                "' is the name of two kernels, also at " + out_.kernels[i - 1].location);
    if (root.find("programs") != nullptr) {
      STREW_ASSIGN(const JsonValue* const programs, member(root, "programs", Kind::list));
      for (const JsonValue& program : programs->items) STREW_TRY(read_program(program));
      if (out_.programs.empty()) return error(*programs, "programs: the list is empty, expected a program");
    }
    STREW_TRY(check_generated_names());
    add_steps(out_);
    return std::move(out_);
  }

 private:
  /// The header has more names than the kernels'.
  Status check_generated_names() const {
    std::map<std::string, std::string> taken = {{out_.name, "the registry"},
                                                {out_.name + "_open", "the function that opens the library"},
                                                {out_.name + "_query", "the function that the library exports"},
                                                {"registry", "a function of the library's class in C++"},
                                                {"context", "a function of the library's class in C++"},
                                                {"run", "a function of the library's class in C++"},
                                                {"run_program", "a function of the library's class in C++"}};
    for (const ManifestKernel& kernel : out_.kernels)
      taken.emplace(kernel.name + "_at", "the function by pointers of kernel " + kernel.name);
    for (const ManifestKernel& kernel : out_.kernels)
      if (out_.tvm_ffi && kernel.name[0] == '_')
        return invalid_argument(kernel.location + ": name: '" + kernel.name +
                                "' begins with '_', which TVM-FFI keeps for itself, expected another name or no tvm_ffi");
    const auto check = [&](const auto& named, const char* what) -> Status {
      const auto [found, is_new] = taken.try_emplace(named.name, what + named.name);
      if (is_new) return {};
      return invalid_argument(named.location + ": name: '" + named.name + "' is also the name of " + found->second +
                              " in the header, expected another name");
    };
    for (const ManifestProgram& program : out_.programs)
      taken.emplace(program.name + "_at", "the function by pointers of program " + program.name);
    for (const ManifestKernel& kernel : out_.kernels) STREW_TRY(check(kernel, "kernel "));
    for (const ManifestProgram& program : out_.programs) STREW_TRY(check(program, "program "));
    return {};
  }

  /// A whole file, with what is said of how it is imported and run.
  Status read_program(const JsonValue& program) {
    STREW_TRY(
        check_members(program, "a program", {"name", "file", "from", "to", "extents", "in_place", "oob", "order", "accumulate"}));
    STREW_ASSIGN(std::string name, name_of(program, "name"));
    STREW_TRY(member(program, "file", Kind::text).status());
    STREW_ASSIGN(const std::string file, text(program, "file"));
    STREW_ASSIGN(const ImportOptions import_how, import_options(program, {}));
    StepOptions how;
    if (program.find("extents") != nullptr) {
      STREW_ASSIGN(const JsonValue* const extents, member(program, "extents", Kind::object));
      for (size_t i = 0; i < extents->names.size(); ++i) {
        STREW_ASSIGN(const int64_t extent, whole_number(extents->items[i], "extents: " + extents->names[i]));
        how.extents[extents->names[i]] = extent;
      }
    }
    if (program.find("in_place") != nullptr) {
      STREW_ASSIGN(const JsonValue* const in_place, member(program, "in_place", Kind::object));
      for (size_t i = 0; i < in_place->names.size(); ++i) {
        if (in_place->items[i].kind != Kind::text)
          return error(in_place->items[i], "in_place: " + in_place->names[i] + ": it is " +
                                               JsonValue::what(in_place->items[i].kind) + ", expected the name of an output");
        how.in_place.emplace_back(in_place->names[i], in_place->items[i].text);
      }
    }
    const std::string path = (folder_ / file).string();
    if (std::find(out_.files.begin(), out_.files.end(), path) == out_.files.end()) out_.files.push_back(path);
    Expected<Program> imported = import_file(path, import_how);
    if (!imported.ok()) return at(*program.find("file"), "file", imported.status());
    STREW_ASSIGN(const std::vector<std::string> from, value_names(program, "from"));
    STREW_ASSIGN(const std::vector<std::string> to, value_names(program, "to"));
    Expected<ProgramSteps> steps = steps_of_part(*std::move(imported), {from, to}, std::move(how));
    if (!steps.ok()) return at(program, "program " + name, steps.status());
    out_.programs.push_back({std::move(name), location(program), *std::move(steps), {}});
    return {};
  }
  /// The names in a list of values; none if there is no such member.
  Expected<std::vector<std::string>> value_names(const JsonValue& program, const char* field) const {
    std::vector<std::string> out;
    if (program.find(field) == nullptr) return out;
    STREW_ASSIGN(const JsonValue* const names, member(program, field, Kind::list));
    for (const JsonValue& each : names->items) {
      if (each.kind != Kind::text)
        return error(each, std::string(field) + ": an item is " + JsonValue::what(each.kind) + ", expected the name of a value");
      out.push_back(each.text);
    }
    if (out.empty()) return error(*names, std::string(field) + ": the list is empty, expected names of values, or no list");
    return out;
  }
  Expected<int64_t> whole_number(const JsonValue& value, const std::string& field) const {
    const auto whole = static_cast<int64_t>(value.number);
    if (value.kind == Kind::number && static_cast<double>(whole) == value.number && whole >= 0) return whole;
    return error(value, field + ": expected an integer that is 0 or more");
  }
  std::string location(const JsonValue& value) const { return path_ + ":" + std::to_string(value.line); }
  Status error(const JsonValue& value, const std::string& what) const { return invalid_argument(location(value) + ": " + what); }
  /// `status` with the place of `value`; ok stays ok.
  Status at(const JsonValue& value, std::string_view field, const Status& status) const {
    return status.with_prefix(location(value) + ": " + std::string(field));
  }

  Status check_members(const JsonValue& object, const std::string& what, std::initializer_list<std::string_view> known) const {
    if (object.kind != Kind::object) return error(object, what + " is " + JsonValue::what(object.kind) + ", expected an object");
    for (size_t i = 0; i < object.names.size(); ++i) {
      const std::string& name = object.names[i];
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      std::string list;
      for (const std::string_view each : known) list += (list.empty() ? "" : ", ") + std::string(each);
      return error(object.items[i], what + " has a member '" + name + "', expected one of " + list);
    }
    return {};
  }
  Expected<const JsonValue*> member(const JsonValue& object, std::string_view name, Kind kind) const {
    const JsonValue* const found = object.find(name);
    if (found == nullptr) return error(object, std::string(name) + ": it is missing, expected " + JsonValue::what(kind));
    if (found->kind != kind)
      return error(*found, std::string(name) + ": it is " + JsonValue::what(found->kind) + ", expected " + JsonValue::what(kind));
    return found;
  }
  /// The text of a member; empty if there is none.
  Expected<std::string> text(const JsonValue& object, std::string_view name) const {
    if (object.find(name) == nullptr) return std::string();
    STREW_ASSIGN(const JsonValue* const found, member(object, name, Kind::text));
    if (found->text.empty()) return error(*found, std::string(name) + ": the text is empty");
    return found->text;
  }
  Status check_name(const JsonValue& value, std::string_view field, const std::string& name) const {
    if (!is_identifier(name)) return error(value, std::string(field) + ": '" + name + "' is no identifier of C");
    if (is_reserved(name)) return error(value, std::string(field) + ": '" + name + "' is reserved, expected another name");
    return {};
  }
  Expected<std::string> name_of(const JsonValue& object, std::string_view field) const {
    STREW_ASSIGN(const JsonValue* const found, member(object, field, Kind::text));
    STREW_TRY(check_name(*found, field, found->text));
    return found->text;
  }

  /// Appends the targets of the options, or else those of the manifest.
  Status read_all_targets(const JsonValue& root) {
    const auto keep = [&](Target target) {
      if (std::find(out_.targets.begin(), out_.targets.end(), target) == out_.targets.end())
        out_.targets.push_back(std::move(target));
    };
    for (const std::string& text : options_.targets) {
      Expected<Target> target = library_target(text);
      if (!target.ok()) return target.status().with_prefix("target");
      keep(*std::move(target));
    }
    if (root.find("targets") == nullptr) return {};
    STREW_ASSIGN(const JsonValue* const targets, member(root, "targets", Kind::list));
    for (const JsonValue& each : targets->items) {
      if (each.kind != Kind::text)
        return error(each, std::string("targets: an item is ") + JsonValue::what(each.kind) + ", expected a text");
      Expected<Target> target = library_target(each.text);
      if (!target.ok()) return at(each, "targets", target.status());
      if (options_.targets.empty()) keep(*std::move(target));
    }
    return {};
  }
  Status read_wisdom_file(const JsonValue& root) {
    STREW_ASSIGN(const std::string file, text(root, "wisdom"));
    if (file.empty()) return {};
    const std::string path = (folder_ / file).string();
    out_.files.push_back(path);
    const Expected<std::shared_ptr<const Wisdom>> wisdom = Wisdom::load(path);
    if (!wisdom.ok()) return at(*root.find("wisdom"), "wisdom", wisdom.status());
    out_.wisdom = *wisdom;
    return {};
  }
  Status read_targets(const JsonValue& root) {
    STREW_TRY(read_all_targets(root));
    return arrange_targets(out_, options_.arch);
  }

  /// One kernel, or, with "for", a family: one for each combination of values.
  Status read_kernel(const JsonValue& kernel) {
    STREW_TRY(check_members(kernel, "a kernel",
                            {"name", "op", "file", "kernel", "oob", "order", "accumulate", "backend", "schedule", "for"}));
    std::vector<Choice> choices(1);
    if (kernel.find("for") != nullptr) {
      STREW_ASSIGN(const JsonValue* const variables, member(kernel, "for", Kind::object));
      for (size_t i = 0; i < variables->names.size(); ++i) STREW_TRY(multiply(choices, variables->names[i], variables->items[i]));
    }
    for (const Choice& choice : choices) STREW_TRY(add_kernel(kernel, choice));
    return {};
  }
  Status multiply(std::vector<Choice>& choices, const std::string& variable, const JsonValue& values) const {
    if (!is_identifier(variable)) return error(values, "for: '" + variable + "' is no identifier");
    if (values.kind != Kind::list || values.items.empty())
      return error(values, "for: " + variable + ": expected a list of values");
    if (choices.size() * values.items.size() > kMostKernels)
      return error(values, "for: there are more than " + std::to_string(kMostKernels) + " combinations");
    std::vector<Choice> all;
    for (const Choice& choice : choices) {
      for (const JsonValue& value : values.items) {
        if (value.kind != Kind::text && value.kind != Kind::number)
          return error(value,
                       "for: " + variable + ": a value is " + JsonValue::what(value.kind) + ", expected a text or a number");
        const auto whole = static_cast<int64_t>(value.number);
        if (value.kind == Kind::number && static_cast<double>(whole) != value.number)
          return error(value, "for: " + variable + ": a number is no integer");
        Choice one = choice;
        one[variable] = value.kind == Kind::text ? value.text : std::to_string(whole);
        all.push_back(std::move(one));
      }
    }
    choices = std::move(all);
    return {};
  }
  /// `text` with {variable} replaced. Braces around anything else, such as the strides of a type, stay.
  static std::string filled(std::string text, const Choice& choice) {
    for (const auto& [variable, value] : choice) {
      const std::string hole = "{" + variable + "}";
      for (size_t found = text.find(hole); found != std::string::npos; found = text.find(hole, found + value.size()))
        text.replace(found, hole.size(), value);
    }
    return text;
  }

  Expected<Op> op_of(const JsonValue& kernel, const Choice& choice) {
    const bool has_op = kernel.find("op") != nullptr;
    if (has_op == (kernel.find("file") != nullptr)) return error(kernel, "op, file: expected one of them");
    if (has_op) {
      for (const char* const other : {"kernel", "oob", "order", "accumulate"})
        if (const JsonValue* const value = kernel.find(other))
          return error(*value, std::string(other) + ": it belongs to file; op says it itself");
      STREW_ASSIGN(const std::string op_text, text(kernel, "op"));
      Expected<Op> op = parse_op(filled(op_text, choice));
      if (!op.ok()) return at(*kernel.find("op"), "op", op.status());
      return op;
    }
    STREW_ASSIGN(const std::string file, text(kernel, "file"));
    STREW_ASSIGN(const std::string wanted, text(kernel, "kernel"));
    STREW_ASSIGN(const ImportOptions options, import_options(kernel, choice));
    const std::string path = (folder_ / filled(file, choice)).string();
    if (std::find(out_.files.begin(), out_.files.end(), path) == out_.files.end()) out_.files.push_back(path);
    const Expected<Program> imported = import_file(path, options);
    if (!imported.ok()) return at(*kernel.find("file"), "file", imported.status());
    std::string names;
    const ProgramKernel* found = nullptr;
    for (const ProgramKernel& each : imported->kernels()) {
      names += (names.empty() ? "" : ", ") + each.name;
      if (each.name == filled(wanted, choice) || (wanted.empty() && imported->kernels().size() == 1)) found = &each;
    }
    if (found == nullptr)
      return error(kernel, "kernel: '" + filled(wanted, choice) + "', expected one of the kernels of the file: " + names);
    return *found->op;
  }
  Expected<ImportOptions> import_options(const JsonValue& kernel, const Choice& choice) const {
    ImportOptions options;
    constexpr std::pair<const char*, Status (*)(std::string_view, ImportOptions&)> kTexts[] = {
        {"oob", set_oob}, {"order", set_order}, {"accumulate", set_accumulate}};
    for (const auto& [field, set] : kTexts) {
      STREW_ASSIGN(const std::string value, text(kernel, field));
      if (value.empty()) continue;
      if (const Status status = set(filled(value, choice), options); !status.ok())
        return status.with_prefix(location(*kernel.find(field)));
    }
    return options;
  }

  Status add_kernel(const JsonValue& kernel, const Choice& choice) {
    STREW_ASSIGN(const JsonValue* const name, member(kernel, "name", Kind::text));
    const std::string full_name = filled(name->text, choice);
    STREW_TRY(check_name(*name, "name", full_name));
    STREW_ASSIGN(Op op, op_of(kernel, choice));
    Expected<VerifiedOp> verified = VerifiedOp::of(std::move(op));
    if (!verified.ok()) return at(kernel, "kernel " + full_name, verified.status());
    ManifestKernel made(full_name, location(kernel), *std::move(verified));
    STREW_ASSIGN(const std::string backend, text(kernel, "backend"));
    if (!backend.empty()) {
      const Expected<BackendChoice> choice_of = parse_backend(filled(backend, choice));
      if (!choice_of.ok()) return choice_of.status().with_prefix(location(*kernel.find("backend")));
      made.backend = *choice_of;
    }
    STREW_ASSIGN(const std::string schedule, text(kernel, "schedule"));
    if (!schedule.empty()) {
      const Expected<ScheduleText> knobs = parse_schedule_text(filled(schedule, choice));
      if (!knobs.ok()) return at(*kernel.find("schedule"), "schedule", knobs.status());
      if (knobs->threads != 0)
        return error(*kernel.find("schedule"),
                     "schedule: threads belong to the program that runs the kernel, not to the library");
      made.schedule = knobs->knobs;
    }
    if (out_.kernels.size() >= kMostKernels)
      return error(kernel, "there are more than " + std::to_string(kMostKernels) + " kernels");
    out_.kernels.push_back(std::move(made));
    return {};
  }

  const std::string path_;
  const std::filesystem::path folder_;
  const ManifestOptions& options_;
  Manifest out_;
};

/// The name of a kernel of a file as an identifier.
std::string identifier_of(std::string_view name) {
  std::string out;
  for (const char c : name) out += is_identifier(std::string("_") + c) ? c : '_';
  return is_identifier(out) && !is_reserved(out) ? out : "kernel_" + out;
}

/// What a model's function is called, and the library that has it or the model's kernels.
std::string stem_of(const std::string& path) { return identifier_of(std::filesystem::path(path).stem().string()); }
std::string library_of(const std::string& stem) { return stem + "_kernels"; }

/// How a manifest names a model: relative to the manifest's folder, or, if it is printed, by its absolute path. Links to folders are followed,
/// because ".." after one leads elsewhere; a link that is the model itself keeps its name, which has the ending.
Expected<std::string> name_in_manifest(const std::filesystem::path& model, const std::filesystem::path& manifest) {
  const auto folder_of = [](const std::filesystem::path& file, std::error_code& error) {
    return std::filesystem::canonical(file.has_parent_path() ? file.parent_path() : ".", error);
  };
  std::error_code error;
  const std::filesystem::path from = folder_of(model, error);
  if (error) return io_error(model.string() + ": its folder cannot be read: " + error.message());
  if (manifest.empty()) return (from / model.filename()).string();
  const std::filesystem::path to = folder_of(manifest, error);
  if (error) return io_error(manifest.string() + ": its folder cannot be read: " + error.message());
  return (from / model.filename()).lexically_relative(to).string();
}

/// The list with the one program. Extents that are open get a comment and 1, because somebody has to say what they are.
std::string program_text(const Program& imported, const std::string& name, const std::string& model, const WholeModel& whole) {
  const auto names = [](const char* field, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + json_text(value);
    return list.empty() ? list : ", \"" + std::string(field) + "\": [" + list + "]";
  };
  std::string extents, types;
  for (const std::string& extent : open_extents(imported)) extents += (extents.empty() ? "" : ", ") + json_text(extent) + ": 1";
  for (const Value& value : imported.values())
    if (value.kind == ValueKind::input)
      types += "\n    // " + imported.input(value.index).name + ": " + type_text(value.type, value.symbols);
  for (const ProgramOutput& output : imported.outputs())
    types += "\n    // " + output.name + " = " + type_text(imported.type(output.value), imported.value(output.value).symbols);
  return "  \"programs\": [" + types + "\n    {\"name\": " + json_text(name) + ", \"file\": " + json_text(model) +
         names("from", whole.from) + names("to", whole.to) + (extents.empty() ? "" : ", \"extents\": {" + extents + "}") +
         "}\n  ]\n}\n";
}

}  // namespace

Expected<Manifest> read_manifest(const std::string& path, const ManifestOptions& options) {
  STREW_ASSIGN(const std::string text, read_file(path, kMostManifestBytes));
  const Expected<JsonValue> root = parse_json(text);
  if (!root.ok()) return Status(root.status().code(), path + ":" + root.status().message());
  return Reader(path, options).read(*root);
}

Expected<Manifest> manifest_of_program(const std::string& path, const WholeModel& part, const ImportOptions& import,
                                       const StepOptions& how, const std::string& target) {
  Manifest out;
  const std::string stem = stem_of(path);
  out.name = library_of(stem);
  Expected<Target> parsed = library_target(target);
  if (!parsed.ok()) return parsed.status().with_prefix("--target");
  out.targets.push_back(*std::move(parsed));
  STREW_TRY(arrange_targets(out, ""));
  STREW_ASSIGN(Program imported, import_file(path, import));
  Expected<ProgramSteps> steps = steps_of_part(std::move(imported), part, how);
  if (!steps.ok()) return steps.status().message().starts_with(path) ? steps.status() : steps.status().with_prefix(path);
  out.files.push_back(path);
  out.programs.push_back({stem, path, *std::move(steps), {}});
  add_steps(out);
  return out;
}

Expected<std::string> manifest_of_model(const std::string& path, const std::string& manifest, const WholeModel* whole) {
  STREW_ASSIGN(Program imported, import_file(path, {}));
  if (imported.kernels().empty())
    return invalid_argument(path + ": the file has no scatter or gather, so a library of it has no kernel");
  const std::string stem = stem_of(path);
  std::string out = "{\n  \"library\": " + json_text(library_of(stem)) +
                    ",\n  \"targets\": [\"x86-64-v2\", \"x86-64-v3\", \"x86-64-v4\", \"armv8.2-a\", \"armv8.2-a+sve\"],\n";
  STREW_ASSIGN(const std::string model, name_in_manifest(path, manifest));
  if (whole != nullptr) {
    if (!whole->from.empty() || !whole->to.empty()) {
      Expected<Program> part = cut(std::move(imported), whole->from, whole->to);
      if (!part.ok()) return part.status().with_prefix(path);
      imported = *std::move(part);
    }
    return out + program_text(imported, stem, model, *whole);
  }
  out += "  \"kernels\": [";
  std::map<std::string, int> used;
  for (size_t i = 0; i < imported.kernels().size(); ++i) {
    const ProgramKernel& kernel = imported.kernel(i);
    std::string name = identifier_of(kernel.name);
    if (const int before = used[name]++; before > 0) name += "_" + std::to_string(before + 1);
    out += std::string(i == 0 ? "" : ",") + "\n    // " + print(*kernel.op) + "\n    {\"name\": " + json_text(name) +
           ", \"file\": " + json_text(model) + ", \"kernel\": " + json_text(kernel.name) + "}";
  }
  return out + "\n  ]\n}\n";
}

}  // namespace strew::inline v0
