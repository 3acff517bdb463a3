// cut_needs() and make_cut(), of which kernel_inputs(), cut_kernel(), cut_part() and cut() are cases: a walk back from what is wanted
// to the values that become inputs, and a program of what lies between. Whatever the walk does not reach is left out, so nothing else in the file
// has to be one that strew can run. Nothing recurses, because a file may contain a chain of any length. Tested by
// tests/unit/compiler/program/program_test.cc, tests/unit/compiler/program/partition_test.cc and tests/error/model_test.cc.
#include "compiler/program/cut.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

namespace strew::inline v0 {
namespace {

bool is_made_by_kernel(const Value& value) { return value.kind == ValueKind::result; }

/// Copies the values of a program that are needed, in an order in which each stands behind those that it is made of.
class Copier {
 public:
  Copier(ProgramParts from, const CutNeeds& needs) : from_(std::move(from)), needs_(needs), made_(from_.values.size(), -1) {
    first_result_.assign(from_.computes.size(), -1);
    first_of_kernel_.assign(from_.kernels.size(), -1);
    out_.set_format(from_.format);
  }

  Program run(const std::vector<ProgramOutput>& outputs) {
    add_inputs();
    for (const int k : needed_kernels()) {
      each_use(from_.kernels[k], [&](int v) { copy_with_sources(v); });
      add_kernel(k);
    }
    for (const ProgramOutput& output : outputs) {
      copy_with_sources(output.value);
      out_.add_output({output.name, made_[output.value]});
    }
    return std::move(out_);
  }

 private:
  /// In ascending order, so that kernels keep theirs.
  std::vector<int> needed_kernels() const {
    std::vector<int> out;
    for (const int v : needs_.inside)
      if (is_made_by_kernel(from_.values[v])) out.push_back(from_.values[v].index);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void renumber(int& v) const { v = v < 0 ? -1 : made_[v]; }
  void describe(int v) {
    const auto edited = out_.edit_value(made_[v]);
    edited->type = from_.values[v].type;
    if (!from_.values[v].name.empty()) edited->name = from_.values[v].name;
    edited->symbols = from_.values[v].symbols;
  }

  /// In ascending order. Two values may be the same input of the file.
  void add_inputs() {
    std::map<int, int> first;  // input of the file -> value
    for (const int v : needs_.inputs) {
      Value& value = from_.values[v];
      const bool is_of_file = value.kind == ValueKind::input;
      if (!is_of_file) value.like = -1;
      const auto known = is_of_file ? first.find(value.index) : first.end();
      if (known != first.end()) {
        Value same = out_.value(known->second);
        same.like = -1;
        made_[v] = out_.add_value(std::move(same));
      } else {
        made_[v] =
            out_.add_input(is_of_file ? from_.inputs[value.index] : ProgramInput{value_name(value, v), value.type, false, false});
        if (is_of_file) first[value.index] = made_[v];
      }
      describe(v);
    }
    for (const int v : needs_.inputs) {  // an input may be as large as one that comes later
      if (from_.values[v].like < 0) continue;
      int like = from_.values[v].like;
      copy_with_sources(like);
      renumber(like);
      const auto edited = out_.edit_value(made_[v]);
      edited->like = like;
      edited->like_dim = from_.values[v].like_dim;
    }
  }

  void copy_with_sources(int first) {
    std::vector<int> open{first};
    while (!open.empty()) {
      const int v = open.back();
      const size_t depth = open.size();
      if (made_[v] < 0)
        each_needed(from_, v, [&](int source) {
          if (made_[source] < 0) open.push_back(source);
        });
      if (open.size() != depth) continue;
      open.pop_back();
      if (made_[v] < 0) copy(v);
    }
  }

  void add_kernel(int number) {
    if (first_of_kernel_[number] >= 0) return;
    ProgramKernel kernel = std::move(from_.kernels[number]);
    each_use(kernel, [&](int& v) { renumber(v); });
    from_.kernels[number].arguments = {};  // what it reads is known
    first_of_kernel_[number] = out_.add_kernel(std::move(kernel));
  }

  /// What the value is made of is copied already.
  void copy(int v) {
    Value value = from_.values[v];
    if (value.kind == ValueKind::constant) {
      made_[v] = out_.add_constant(std::move(from_.constants[value.index]));
    } else if (value.kind == ValueKind::compute) {
      made_[v] = first_of(value.index) + value.result;
    } else if (is_made_by_kernel(value)) {
      add_kernel(value.index);
      made_[v] = first_of_kernel_[value.index] + value.result;
    } else {
      for (int& part : value.parts) renumber(part);
      renumber(value.like);
      made_[v] = out_.add_value(value);
    }
    describe(v);
  }

  int first_of(int number) {
    int& first = first_result_[number];
    if (first >= 0) return first;
    Compute compute = from_.computes[number];
    for (int& argument : compute.arguments) renumber(argument);
    return first = out_.add_compute(std::move(compute));
  }

  ProgramParts from_;
  const CutNeeds& needs_;
  Program out_;
  std::vector<int> made_;  ///< per value: the copy; -1: it has none so far
  std::vector<int> first_result_, first_of_kernel_;
};

/// What a kernel needs if it runs alone.
CutNeeds needs_of_kernel(const ProgramParts& program, int kernel, std::span<const std::string> named) {
  std::vector<int> from;
  each_use(program.kernels[kernel], [&](int v) { from.push_back(v); });
  return cut_needs(program, std::move(from), [&](int v) {
    const Value& value = program.values[v];
    return value.kind == ValueKind::result || value.kind == ValueKind::opaque ||
           (!value.name.empty() && std::find(named.begin(), named.end(), value.name) != named.end());
  });
}

/// The results of a kernel as outputs. Of several values that are the same result, the last is what the operations that were merged into the kernel
/// made of it.
std::vector<ProgramOutput> results_of(ProgramParts& program, int kernel) {
  std::vector<ProgramOutput> out;
  for (size_t v = 0; v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    if (value.kind != ValueKind::result || value.index != kernel) continue;
    const auto result = static_cast<size_t>(value.result);
    if (out.size() <= result) out.resize(result + 1, {"", -1});
    if (out[result].value < 0 || !value.name.empty()) out[result] = {value.name, static_cast<int>(v)};
  }
  for (size_t result = 0; result < out.size(); ++result) {
    if (!out[result].name.empty()) continue;
    out[result].name = program.kernels[kernel].name + (result == 0 ? "" : "_" + std::to_string(result));
    program.values[out[result].value].name = out[result].name;
  }
  return out;
}

}  // namespace

CutNeeds cut_needs(const ProgramParts& program, std::vector<int> from, const std::function<bool(int)>& stops) {
  CutNeeds out;
  std::unordered_set<int> seen;  // not as large as the program: a program may be cut into thousands of parts
  std::vector<int> open = std::move(from);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (!seen.insert(v).second) continue;
    const bool is_of_file = program.values[v].kind == ValueKind::input, is_input = is_of_file || stops(v);
    (is_input ? out.inputs : out.inside).push_back(v);
    if (is_input && !is_of_file) continue;
    each_needed(program, v, [&](int source) { open.push_back(source); });
  }
  std::sort(out.inputs.begin(), out.inputs.end());
  std::sort(out.inside.begin(), out.inside.end());
  return out;
}

Program make_cut(ProgramParts from, const CutNeeds& needs, const std::vector<ProgramOutput>& outputs) {
  return Copier(std::move(from), needs).run(outputs);
}

std::vector<int> kernel_inputs(const Program& program, int kernel, std::span<const std::string> named) {
  return needs_of_kernel(program.parts(), kernel, named).inputs;
}

Program cut_kernel(Program program, int kernel, std::span<const std::string> named) {
  CutNeeds needs = needs_of_kernel(program.parts(), kernel, named);
  ProgramParts from = std::move(program).parts();
  const std::vector<ProgramOutput> outputs = results_of(from, kernel);
  for (const ProgramOutput& output : outputs) needs.inside.push_back(output.value);
  return make_cut(std::move(from), needs, outputs);
}

}  // namespace strew::inline v0
