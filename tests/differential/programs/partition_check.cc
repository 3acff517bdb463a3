// See partition_check.h. What depends on what is found here by a walk of its own from value to value.
#include "tests/differential/programs/partition_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "compiler/program/cut.h"
#include "strew/run_program.h"

namespace strew::test {
namespace {

Tensor copy_of(const Tensor& tensor) {
  Tensor out = make_tensor(tensor.dtype, tensor.dims).value();
  if (tensor.data.size() > 0) std::memcpy(out.data.data(), tensor.data.data(), static_cast<size_t>(tensor.data.size()));
  return out;
}

/// The operation that makes the value: its kind and number. Of other values, none.
std::optional<std::pair<ValueKind, int>> operation_of(const Program& program, int v) {
  const Value& value = program.value(v);
  if (value.kind != ValueKind::result && value.kind != ValueKind::compute) return std::nullopt;
  return std::pair(value.kind, value.index);
}

class Checker {
 public:
  Checker(const Program& program, const RunsProgram& run) : program_(program), run_(run) {}

  std::optional<std::string> check(const std::vector<Tensor>& inputs, Rng& rng, PartitionTally& tally) {
    std::vector<int> roots;
    for (const ProgramOutput& output : program_.outputs()) roots.push_back(output.value);
    for (const int v : cut_needs(program_.parts(), roots, [](int) { return false; }).inside)
      if (const auto operation = operation_of(program_, v)) live_.insert(*operation);
    const int percent = rng.chance(20) ? 0 : static_cast<int>(rng.below(70));
    for (const auto& operation : live_)
      if (rng.chance(percent)) kept_.insert(operation);
    PartitionOptions options;
    options.least_operations = 0;
    options.join = rng.chance(30);
    options.runnable = [&](const Program& program, int v) {
      const auto operation = operation_of(program, v);
      return !operation || !kept_.contains(*operation);
    };
    Expected<std::vector<Part>> parts = partitions(program_, options);
    if (!parts.ok()) return parts.status().message();
    parts_ = std::move(*parts);
    text_ = "\nkept:";
    for (const auto& [kind, number] : kept_) text_ += fmt::format(" {}{}", kind == ValueKind::result ? "k" : "c", number);
    for (const Part& part : parts_)
      text_ += fmt::format("\npart: inputs {}, outputs {}, kernels {}, computes {}", fmt::join(part.inputs, " "),
                           fmt::join(part.outputs, " "), fmt::join(part.kernels, " "), fmt::join(part.computes, " "));
    tally.parts += std::ssize(parts_);
    tally.kept += std::ssize(kept_);
    for (size_t p = 0; p < parts_.size(); ++p)
      for (const int v : parts_[p].outputs)
        if (!maker_.try_emplace(v, p).second) return fmt::format("value {} is an output of two parts", v);
    if (auto wrong = wrong_operations()) return wrong;
    if (auto wrong = wrong_outputs()) return wrong;
    if (auto wrong = too_small(options.join)) return wrong;
    return run_parts(inputs, tally);
  }
  const std::string& parts_text() const { return text_; }

 private:
  /// Operations that are in two parts, in none, or in one although the host keeps them.
  std::optional<std::string> wrong_operations() const {
    std::set<std::pair<ValueKind, int>> found;
    for (const Part& part : parts_) {
      for (const auto& [kind, numbers] :
           {std::pair(ValueKind::result, part.kernels), std::pair(ValueKind::compute, part.computes)})
        for (const int number : numbers)
          if (kept_.contains({kind, number}) || !found.insert({kind, number}).second)
            return fmt::format("{} {} is in two parts, or kept", kind == ValueKind::result ? "kernel" : "compute", number);
    }
    for (const auto& [kind, number] : live_)
      if (!kept_.contains({kind, number}) && !found.contains({kind, number}))
        return fmt::format("{} {} is in no part", kind == ValueKind::result ? "kernel" : "compute", number);
    return std::nullopt;
  }

  bool is_in(const Part& part, std::pair<ValueKind, int> operation) const {
    const std::vector<int>& numbers = operation.first == ValueKind::result ? part.kernels : part.computes;
    return std::binary_search(numbers.begin(), numbers.end(), operation.second);
  }

  /// An output that nothing outside of its part reads.
  std::optional<std::string> wrong_outputs() const {
    std::set<int> read;  // by the program's outputs, lists of scalars and extents
    for (const ProgramOutput& output : program_.outputs()) read.insert(output.value);
    std::map<int, std::set<std::pair<ValueKind, int>>> readers;
    for (size_t v = 0; v < program_.values().size(); ++v) {
      const auto operation = operation_of(program_, static_cast<int>(v));
      if (operation && !live_.contains(*operation)) continue;
      each_needed(program_.parts(), static_cast<int>(v), [&](int source) {
        if (operation) readers[source].insert(*operation);
        if (!operation) read.insert(source);
      });
    }
    for (const Part& part : parts_)
      for (const int v : part.outputs) {
        const auto& all = readers[v];
        const bool is_read = std::any_of(all.begin(), all.end(), [&](const auto& reader) { return !is_in(part, reader); });
        if (!is_read && !read.contains(v)) return fmt::format("value {} is an output that nothing outside of its part reads", v);
      }
    return std::nullopt;
  }

  /// Does a value depend on what one of two parts makes, if other parts are done as a whole?
  bool depends(std::vector<int> open, size_t a, size_t b) const {
    std::set<int> seen;
    while (!open.empty()) {
      const int v = open.back();
      open.pop_back();
      if (!seen.insert(v).second) continue;
      const auto maker = maker_.find(v);
      if (maker == maker_.end()) {
        each_needed(program_.parts(), v, [&](int source) { open.push_back(source); });
        continue;
      }
      if (maker->second == a || maker->second == b) return true;
      open.insert(open.end(), parts_[maker->second].inputs.begin(), parts_[maker->second].inputs.end());
    }
    return false;
  }

  /// Two parts that could be one.
  std::optional<std::string> too_small(bool join) const {
    for (size_t a = 0; a < parts_.size(); ++a)
      for (size_t b = a + 1; b < parts_.size(); ++b) {
        std::vector<int> inputs = parts_[a].inputs;
        bool is_connected = join;
        for (const int v : parts_[b].inputs) {
          const auto maker = maker_.find(v);
          const bool is_of_a = maker != maker_.end() && maker->second == a;
          is_connected = is_connected || is_of_a;
          if (!is_of_a) inputs.push_back(v);
        }
        if (is_connected && !depends(inputs, a, b)) return fmt::format("parts {} and {} could be one", a, b);
      }
    return std::nullopt;
  }

  /// The value, made of the file's inputs and of what parts have made so far. The host does no operation of a part.
  Expected<Tensor> by_host(int v, const std::vector<Tensor>& inputs) {
    const CutNeeds needs = cut_needs(program_.parts(), {v}, [&](int each) { return maker_.contains(each); });
    for (const int each : needs.inside)
      if (const auto operation = operation_of(program_, each); operation && !kept_.contains(*operation))
        return internal_error(fmt::format("the host needs value {}, which is a part's and no output", each));
    std::vector<Tensor> given;
    for (const int each : needs.inputs) {
      if (maker_.contains(each) && !known_.contains(each))
        return internal_error(fmt::format("value {} is needed before it is made", each));
      given.push_back(copy_of(maker_.contains(each) ? known_.at(each) : inputs[program_.value(each).index]));
    }
    STREW_ASSIGN(std::vector<Tensor> results, run_(make_cut(program_.parts(), needs, {{"value", v}}), given));
    return std::move(results[0]);
  }

  Expected<Tensor> value(int v, const std::vector<Tensor>& inputs) {
    const auto known = known_.find(v);
    if (known != known_.end()) return copy_of(known->second);
    if (maker_.contains(v)) return internal_error(fmt::format("value {} is needed before it is made", v));
    return by_host(v, inputs);
  }

  Status run_part(const Part& part, const std::vector<Tensor>& inputs) {
    std::vector<Tensor> given;
    for (const int v : part.inputs) {
      STREW_ASSIGN(Tensor tensor, value(v, inputs));
      given.push_back(std::move(tensor));
    }
    STREW_ASSIGN(const Program cut, cut_part(program_, part));
    STREW_TRY(cut.verify());
    STREW_ASSIGN(std::vector<Tensor> results, run_(cut, given));
    for (size_t i = 0; i < results.size(); ++i) known_.insert_or_assign(part.outputs[i], std::move(results[i]));
    return {};
  }

  std::optional<std::string> run_parts(const std::vector<Tensor>& inputs, PartitionTally& tally) {
    const Expected<std::vector<Tensor>> want = run_(program_, inputs);
    for (size_t p = 0; p < parts_.size(); ++p) {
      const Status status = run_part(parts_[p], inputs);
      if (!status.ok() && !want.ok() && status.code() != Code::internal) return std::nullopt;
      if (!status.ok()) return fmt::format("part {}: {}", p, status.message());
    }
    for (size_t i = 0; i < program_.outputs().size(); ++i) {
      const Expected<Tensor> got = value(program_.outputs()[i].value, inputs);
      if (!got.ok() && !want.ok() && got.status().code() != Code::internal) return std::nullopt;
      if (!got.ok()) return fmt::format("output {}: {}", i, got.status().message());
      if (!want.ok()) continue;
      const Tensor& all = (*want)[i];
      const auto bytes = [](const Buffer& data) {
        return std::string_view(reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.size()));
      };
      if (got->dims != all.dims || bytes(got->data) != bytes(all.data))
        return fmt::format("output {} has other bits than the whole program gives", i);
    }
    if (!want.ok()) return fmt::format("the whole fails ({}), and its parts do not", want.status().message());
    ++tally.runs;
    return std::nullopt;
  }

  const Program& program_;
  const RunsProgram& run_;
  std::set<std::pair<ValueKind, int>> live_, kept_;
  std::vector<Part> parts_;
  std::map<int, size_t> maker_;  ///< output -> part
  std::map<int, Tensor> known_;
  std::string text_;  ///< what the host keeps, and the parts, for failures
};

}  // namespace

std::optional<std::string> check_partitions(const Program& program, const std::vector<Tensor>& inputs, const RunsProgram& run,
                                            Rng& rng, PartitionTally& tally) {
  Checker checker(program, run);
  const auto wrong = checker.check(inputs, rng, tally);
  return wrong ? *wrong + checker.parts_text() : wrong;
}

}  // namespace strew::test
