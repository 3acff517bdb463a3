// The command line as a contract (docs/cli.md): exit statuses, messages of exactly one line, no output after a failure. Drives the built
// program as a subprocess, so that what a user sees is what is tested.
#include "tests/support/cli.h"

#include <nlohmann/json.hpp>

#include "backends/halide/can_build/can_build.h"
#include "base/option_rows.h"
#include "schedules/knobs.h"
#include "schedules/target.h"

namespace strew::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Cli, HelpShowsAnExampleOfEachCommand) {
  EXPECT_THAT(success("--help"), HasSubstr("strew run decode.onnx --input"));
  for (const char* command : {"run", "check", "explain", "compile", "target"}) {
    EXPECT_THAT(success(std::string(command) + " --help"), HasSubstr("Example:\n  strew " + std::string(command))) << command;
  }
}

TEST_F(Cli, HelpListsEveryKnob) {
  const std::string help = success("compile --help");
  for (const Knob& knob : knobs())
    EXPECT_THAT(help, HasSubstr(std::string(knob.name) + " (" + values_of(knob) + "): " + std::string(knob.meaning) + "\n"));
}

TEST_F(Cli, HelpListsEveryVariable) {
  const std::string help = success("--help");
  for (const OptionRow& row : kOptionRows) {
    EXPECT_THAT(help, HasSubstr("  " + std::string(row.variable) + " (" + values_of(row) + "; default: "));
    EXPECT_THAT(help, HasSubstr("): " + std::string(row.meaning) + "\n"));
  }
}

TEST_F(Cli, TargetSaysWhatTheEnvironmentOverrides) {
  EXPECT_THAT(success("target"), HasSubstr("overridden  nothing\n"));
  EXPECT_THAT(success("target", "STREW_TARGET=native-avx2"), HasSubstr("overridden  STREW_TARGET=native-avx2\n"));
  EXPECT_THAT(success("target --target x86-64", "STREW_TARGET=native-avx2"), HasSubstr("overridden  --target x86-64\n"));
  const Outcome o = strew("target", "STREW_TARGET=npu-a5");
  EXPECT_THAT(o.out, HasSubstr("overridden  nothing\n"));
  EXPECT_THAT(o.err, MatchesRegex("warning: environment variable STREW_TARGET: target 'npu-a5': its architecture is npu, .*\n"));
}

TEST_F(Cli, TargetMeasuresTheMachineAndKeepsWhatItFinds) {
  const std::string file = "STREW_COSTS=kept/costs", kept = "costs       measured; ";
  EXPECT_THAT(success("target", file), Not(HasSubstr(kept)));
  EXPECT_THAT(success("target --measure --force", file), AllOf(HasSubstr(kept), HasSubstr("kept in     kept/costs\n")));
  EXPECT_THAT(success("target", file), AllOf(HasSubstr(kept), Not(HasSubstr("kept in"))));
  EXPECT_THAT(success("target --json", file), HasSubstr("\"source\": \"measured\""));
  EXPECT_THAT(success("explain kv.onnx --all", file), HasSubstr("costs       measured on this machine; calls of "));
  EXPECT_THAT(success("explain kv.onnx --all --target znver3", file),
              HasSubstr("costs       nominal ones of znver3; calls of 8 threads\n"));
  write("kept/costs", "strew costs 1 of another machine\n");
  const Outcome broken = strew("target", file);
  EXPECT_THAT(broken.err,
              AllOf(StartsWith("warning: kept/costs: line 1: 'strew costs 1 of another machine', expected 'strew costs 1 of "),
                    HasSubstr("; `strew target --measure` writes it anew\n")));
  EXPECT_THAT(broken.out, HasSubstr("costs       derived; "));
  EXPECT_THAT(failure(1, "target --measure", "STREW_COSTS=off"), HasSubstr("no file to keep costs in"));
  EXPECT_THAT(failure(1, "target --measure --force", "STREW_COSTS=kv.onnx/costs"), HasSubstr("kv.onnx/costs: cannot write: "));
  EXPECT_THAT(failure(2, "target --measure --target znver3"), HasSubstr("--target excludes --measure"));
  EXPECT_THAT(failure(2, "target --force"), HasSubstr("--force requires --measure"));
}

TEST_F(Cli, ExplainSaysWhatCandidatesCost) {
  const std::string text = success("explain kv.onnx --all --target znver4");
  EXPECT_THAT(text,
              HasSubstr("  costs       nominal ones of znver4; calls of 8 threads\n            + sequential           about "));
  EXPECT_THAT(text, HasSubstr("            * prefetch=0           about "));
  const std::string json = success("explain kv.onnx --target znver4 --json");
  EXPECT_THAT(json,
              AllOf(HasSubstr("\"nanoseconds\": "), HasSubstr("\"lines of the table\": "), HasSubstr("\"knob\": \"prefetch\"")));
}

TEST_F(Cli, BadUsage) {
  EXPECT_THAT(failure(2, "frobnicate"), HasSubstr("command 'frobnicate' is unknown, expected one of: run, check, explain, "
                                                  "extract, splice, compile, library, tune, wisdom, cache, target"));
  EXPECT_THAT(failure(2, "explian kv.onnx"), HasSubstr("; did you mean 'explain'?\n"));
  failure(2, "--frobnicate");
  failure(2, "check");
  failure(2, "check kv.onnx --frobnicate");
  failure(2, "check kv.onnx another.onnx");
  for (const std::string bad : {"0", "-1", "1025", "99999999999", "many", "2,unroll=1"}) {
    EXPECT_EQ(failure(2, "explain kv.onnx --threads=" + bad), "error: --threads: it is '" + bad + "', expected 1..1024\n");
    if (bad.find(',') != std::string::npos) continue;
    EXPECT_EQ(failure(2, "explain kv.onnx --schedule threads=" + bad),
              "error: --schedule: schedule: threads=" + bad + ", expected 1..1024\n");
  }
  EXPECT_THAT(
      failure(2, "check kv.onnx --oob maybe"),
      HasSubstr(
          "--oob: policy is 'maybe', expected one of: undefined, skip_element, skip_window, clamp, wrap, error, fill_element"));
  EXPECT_THAT(failure(2, "check kv.onnx --oob clamp:3"), HasSubstr("--oob: policy clamp takes no value, given '3'"));
  EXPECT_THAT(failure(2, "check kv.onnx --order random"), HasSubstr("--order: it is 'random', expected in_order or relaxed"));
  EXPECT_THAT(failure(2, "check kv.onnx --accumulate f64"), HasSubstr("--accumulate: it is 'f64', expected native or wide"));
  EXPECT_THAT(failure(2, "explain kv.onnx --backend cuda"), HasSubstr("--backend: it is 'cuda', expected one of auto, llvm"));
  EXPECT_THAT(failure(2, "explain kv.onnx --backend gpu"), HasSubstr("auto, llvm, halide, portable, reference, npu-a3, npu-a5"));
  EXPECT_THAT(failure(2, "explain kv.onnx --schedule speed=11"), HasSubstr("--schedule: "));
  EXPECT_THAT(failure(2, "explain kv.onnx --schedule @missing.txt"), HasSubstr("missing.txt: cannot read"));
  EXPECT_THAT(failure(2, "explain kv.onnx --target z80"), HasSubstr("--target: "));
  EXPECT_THAT(failure(2, "compile kv.onnx --emit pdf -o y.s"),
              HasSubstr("--emit: kind is 'pdf', expected op, plan, lowered, ll, asm, obj, halide, pto-as"));
}

TEST_F(Cli, AMisspeltOptionIsNamedWithTheOneThatIsMeant) {
  const auto says = [&](const std::string& arguments, const std::string& message) {
    EXPECT_EQ(failure(2, arguments), "error: " + message + "\n") << arguments;
  };
  says("run kv.onnx --input past.npy --ouput y.npy", "unknown option '--ouput', did you mean '--output'?");
  says("run kv.onnx --ouput=y.npy", "unknown option '--ouput', did you mean '--output'?");
  says("compile kv.onnx --emti obj -o y.s", "unknown option '--emti', did you mean '--emit'?");  // not: --emit is missing
  says("cache prune --limt 3", "unknown option '--limt', did you mean '--limit'?");
  says("check kv.onnx --frobnicate", "unknown option '--frobnicate'; `strew check --help` lists the options");
  says("--frobnicate", "unknown option '--frobnicate'; `strew --help` lists the options");
  says("check kv.onnx another.onnx", "'another.onnx' is one argument too many; `strew check --help` shows what check takes");
  says("check", "FILE: it is missing; `strew check --help` shows an example");
  says("compile kv.onnx -o y.s", "--emit: it is missing; `strew compile --help` shows an example");
  says("compile kv.onnx -o y.s --emit", "--emit: its value is missing; `strew compile --help` says what it takes");
  says("cache prune --limit -5", "--limit: it is '-5', expected 0 or more");
  says("compile kv.onnx --emit op -o y.s --buffers 3", "--buffers: it is '3', expected 1..2");
  says("tune kv.onnx --seed x", "--seed: it is 'x', expected a number");
  says("completion fish", "SHELL: it is 'fish', expected bash or zsh");
}

TEST_F(Cli, AloneItShowsTheHelp) {
  const Outcome o = strew("");
  EXPECT_EQ(o.exit, 2);
  EXPECT_THAT(o.out, IsEmpty());
  EXPECT_EQ(o.err, success("--help"));
}

// It used to end with SIGILL. sapphirerapids and znver5 each have a feature that the other lacks.
TEST_F(Cli, TargetsOfOtherMachinesAreCompiledButNotRun) {
  const std::string run = "run kv.onnx --input past.npy update.npy indices.npy --output y.npy --target ";
  int refused = 0;
  for (const char* target : {"sapphirerapids", "znver5", "native+avx512fp16", "generic"}) {
    if (machine_can_run(*parse_target(target)).ok()) continue;
    ++refused;
    for (const char* more : {"", " --time", " --verify", " --backend reference"})
      EXPECT_THAT(failure(1, run + target + more), AnyOf(HasSubstr(" lacks "), HasSubstr("its architecture is aarch64")))
          << target;
    success(std::string("explain kv.onnx --target ") + target);
  }
  EXPECT_GE(refused, 2);
  success("compile kv.onnx --emit obj -o y.s --target x86-64-v4");
}

TEST_F(Cli, BadEnvironmentVariablesAreWarnedOfOnce) {
  const std::string run = std::string(" '") + test::built_program("strew") + "' " + kRun;
  const auto with = [&](const std::string& variables) {
    const std::string command = "cd '" + folder_.string() + "' && env " + variables + run + " 2>err.txt";
    EXPECT_EQ(std::system(command.c_str()), 0) << variables;
    return read_file(path("err.txt"), 1 << 16).value();
  };
  EXPECT_EQ(with("STREW_PIN=yes"), "warning: environment variable STREW_PIN: it is 'yes', expected 0 or 1; it counts as 0\n");
  EXPECT_EQ(with("STREW_VERIFY=-3 STREW_PERF_MAP=1x"),
            "warning: environment variable STREW_PERF_MAP: it is '1x', expected 0 or 1; it counts as 0\n"
            "warning: environment variable STREW_VERIFY: it is '-3', expected 0..9223372036854775807; it counts as 0\n");
  EXPECT_THAT(with("STREW_VERIFY=" + std::string(5000, '9')), MatchesRegex("warning: [^\n]{1,200}\n"));
  EXPECT_EQ(with("STREW_PIN= STREW_VERIFY=2 STREW_PERF_MAP=0"), "");
  EXPECT_EQ(with("STREW_VERBOSE=warn STREW_GDB=on"),
            "warning: environment variable STREW_GDB: it is 'on', expected 0 or 1; it counts as 0\n");
  EXPECT_EQ(with("STREW_THREDS=2"),
            "warning: environment: no option of strew has the name 'STREW_THREDS' (did you mean STREW_THREADS?); docs/options.md "
            "lists them\n");
  EXPECT_THAT(with("STREW_VERBOSE=loud"),
              MatchesRegex("warning: environment variable STREW_VERBOSE: it is 'loud', .*; it counts as warn\n"));
  EXPECT_THAT(with("STREW_TARGET=z80"),
              MatchesRegex("warning: environment variable STREW_TARGET: target 'z80': unknown CPU .*; it counts as native\n"));
}

TEST_F(Cli, WrongNumbersOfFiles) {
  EXPECT_THAT(
      failure(2, "run kv.onnx --input past.npy update.npy --output y.npy"),
      HasSubstr("--input: 2 files are given, expected 3: past_cache f32[2,4,3], update f32[2,2,3], write_indices i64[2]"));
  EXPECT_THAT(failure(2, "run kv.onnx --input past.npy update.npy indices.npy --output y.npy z.npy"),
              HasSubstr("--output: 2 files are given, expected 1"));
  EXPECT_THAT(failure(2, "run kv.onnx --input past.npy update.npy indices.npy --output y.pb"), HasSubstr(".npy"));
}

TEST_F(Cli, SeveralKernelsNeedAName) {
  write("two.strew", std::string(kScatterText) + "\n" + kScatterText + "\n");
  EXPECT_THAT(failure(2, "run two.strew --input past.npy --output y.npy"),
              HasSubstr("the file has 2 kernels, expected one or --kernel with one of: op_1, op_2"));
  EXPECT_THAT(failure(2, "compile two.strew --emit op -o y.s"), HasSubstr("the file has 2 kernels"));
  EXPECT_THAT(failure(2, "explain two.strew --kernel op_3"),
              HasSubstr("--kernel: 'op_3' is not in two.strew, expected one of: op_1, op_2"));
  write_tensor("table.npy", DType::f32, {4}, "");
  write_tensor("at.npy", DType::i32, {2}, std::string("\1\0\0\0\1\0\0\0", 8));
  write_tensor("ones.npy", DType::f32, {2}, std::string("\0\0\x80\x3f\0\0\x80\x3f", 8));
  success("run two.strew --kernel op_2 --backend reference --input table.npy at.npy ones.npy --output y.npy");
  const Tensor y = parse_npy(read_file(path("y.npy"), 1 << 20).value(), DType::f32, "y").value();
  EXPECT_EQ(reinterpret_cast<const float*>(y.data.data())[1], 2.0f);
}

TEST_F(Cli, FilesThatCannotBeRead) {
  EXPECT_EQ(failure(1, "check missing.onnx"), "error: missing.onnx: cannot read: No such file or directory\n");
  EXPECT_THAT(
      failure(1, "check ."),
      HasSubstr("it is a folder, expected a file whose name ends in one of: .onnx, .tflite, .mlir, .mlirbc, .pto, .strew"));
  write("kv.pdf", "x");
  EXPECT_THAT(failure(1, "check kv.pdf"), HasSubstr("kv.pdf: the ending names no known format"));
  std::filesystem::create_directory(path("folder.onnx"));
  EXPECT_THAT(failure(1, "check folder.onnx"), HasSubstr("it is a directory, expected a regular file"));
  EXPECT_THAT(failure(1, "run kv.onnx --input none.npy update.npy indices.npy --output y.npy"),
              HasSubstr("none.npy: cannot read"));
}

TEST_F(Cli, DamagedFiles) {
  const std::string good = tensor_scatter_model().bytes();
  write("bad.onnx", "");
  EXPECT_THAT(failure(1, "check bad.onnx"), HasSubstr("bad.onnx: the model has no graph"));
  write("bad.onnx", "<html>no such page</html>");
  EXPECT_THAT(failure(1, "check bad.onnx"), HasSubstr("bad.onnx: not an ONNX model"));
  write("bad.onnx", good.substr(0, good.size() / 2));
  EXPECT_THAT(failure(1, "run bad.onnx --input past.npy update.npy indices.npy --output y.npy"),
              HasSubstr("truncated or damaged"));
  write("bad.strew", "# nothing\n");
  EXPECT_THAT(failure(1, "check bad.strew"), HasSubstr("bad.strew: the file has no op"));
  write("bad.strew", "\n\nhello world\n");
  EXPECT_THAT(failure(1, "check bad.strew"), HasSubstr("bad.strew:3: "));
  std::string unfit = kScatterText;
  unfit.replace(unfit.find("updates=f32[2]"), 14, "updates=f32[3]");
  write("bad.strew", unfit);
  EXPECT_THAT(failure(1, "check bad.strew"), AllOf(HasSubstr("bad.strew:1: "), HasSubstr("scatter_c")));
}

TEST_F(Cli, NamesFromFilesStayOnTheLine) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].name = "two\nlines\x1b[31m";
  model.nodes[0].op_type = "Soft\tmax";
  write("odd.onnx", model.bytes());
  EXPECT_THAT(failure(1, "check odd.onnx"), HasSubstr("node two\\nlines\\x1b[31m (Soft\\x09max)"));
}

TEST_F(Cli, TensorsThatDoNotFit) {
  write_tensor("wide.npy", DType::f64, {2, 4, 3}, "");
  EXPECT_THAT(failure(1, "run kv.onnx --input wide.npy update.npy indices.npy --output y.npy"),
              HasSubstr("wide.npy: the items are <f8, expected <f4 for f32"));
  EXPECT_THAT(failure(1, "run kv.onnx --backend reference --input update.npy update.npy indices.npy --output y.npy"),
              HasSubstr("input 0 (past_cache): it is f32[2,2,3], expected f32[2,4,3]"));
  write("short.npy", read_file(path("past.npy"), 1 << 20).value().substr(0, 130));
  EXPECT_THAT(failure(1, "run kv.onnx --input short.npy update.npy indices.npy --output y.npy"),
              HasSubstr("short.npy: the file holds 2 bytes"));
  EXPECT_THAT(failure(1, "run kv.onnx --input - update.npy indices.npy --output y.npy"),
              HasSubstr("--input -: input past_cache is not optional"));
}

TEST_F(Cli, IndicesOutOfBoundsExitWith3) {
  for (const char* backend : {"reference", "auto"}) {
    const std::string run =
        std::string("run kv.onnx --backend ") + backend + " --input past.npy update.npy far.npy --output y.npy";
    write_indices("far.npy", {0, 3});
    EXPECT_EQ(failure(3, run),
              "error: kv.onnx: node scatter (TensorScatter): index out of bounds: update position [1] (linear 1), component 0: "
              "value 3, "
              "expected 0 <= v <= 2\n");
    write_indices("far.npy", {-1, 0});
    EXPECT_THAT(failure(3, run), HasSubstr("update position [0] (linear 0), component 0: value -1, expected 0 <= v <= 2"));
  }
}

TEST_F(Cli, CircularRefusesNegativeIndicesToo) {
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].attributes = {onnx_string("mode", "circular")};
  write("ring.onnx", model.bytes());
  const std::string run = "run ring.onnx --backend reference --input past.npy update.npy far.npy --output y.npy";
  write_indices("far.npy", {0, -1});
  EXPECT_EQ(failure(3, run),
            "error: ring.onnx: node scatter (TensorScatter): index out of bounds: update position [1] (linear 1), component 0: "
            "value -1, "
            "expected 0 <= v\n");
  write_indices("far.npy", {0, 7});
  success(run);
}

TEST_F(Cli, AFailureLeavesAnOldOutputAlone) {
  write("old.npy", "precious");
  write_indices("far.npy", {0, 9});
  failure(3, "run kv.onnx --backend reference --input past.npy update.npy far.npy --output old.npy");
  EXPECT_EQ(read_file(path("old.npy"), 100).value(), "precious");
  EXPECT_THAT(failure(1, "run kv.onnx --backend reference --input past.npy update.npy indices.npy --output no/such/y.npy"),
              HasSubstr("no/such/y.npy: cannot write: No such file or directory"));
}

TEST_F(Cli, OneOutputThatFailsLeavesNone) {
  OnnxModel model = tensor_scatter_model();
  model.outputs.push_back(model.outputs[0]);
  write("pair.onnx", model.bytes());
  failure(1, "run pair.onnx --backend reference --input past.npy update.npy indices.npy --output y.npy no/such/z.npy");
  success("run pair.onnx --backend reference --input past.npy update.npy indices.npy --output y.npy z.npy");
  EXPECT_TRUE(exists("y.npy"));
  EXPECT_TRUE(exists("z.npy"));
}

TEST_F(Cli, BackendsThatAreNotThere) {
  if (!has_halide()) {
    EXPECT_THAT(failure(1, "run kv.onnx --backend halide --input past.npy update.npy indices.npy --output y.npy"),
                HasSubstr("backend halide: not part of this build"));
    EXPECT_THAT(failure(1, "explain kv.onnx --backend halide"), HasSubstr("backend halide: not part of this build"));
  }
  EXPECT_THAT(failure(1, "compile kv.onnx --emit obj --backend reference -o y.s"),
              HasSubstr("interprets the op and has no object code"));
  EXPECT_THAT(failure(1, "compile kv.onnx --emit asm --target npu-a3 -o y.s"), HasSubstr("npu-a3"));
}

TEST_F(Cli, NpuPrograms) {
  EXPECT_THAT(failure(2, "compile kv.onnx --emit pto-ir -o y.s"), HasSubstr("expected --target npu-a3 or npu-a5"));
  EXPECT_THAT(failure(2, "compile kv.onnx --emit pto-ir --target npu-a5 --sync never -o y.s"),
              HasSubstr("--sync: it is 'never', expected flags, addresses or tool"));
  EXPECT_THAT(failure(1, "compile kv.onnx --emit pto-cpp --gather-to l1 --target npu-a5 -o y.s"), HasSubstr("gather-to l1: "));
  EXPECT_FALSE(exists("y.s.json"));
  failure(1, "compile kv.onnx --emit pto-ir --target npu-a5 -o no/such/y.s");
  for (const char* kind : {"pto-ir", "pto-ir-generic", "pto-cpp", "pto-host", "pto-as"}) {
    success("compile kv.onnx --emit " + std::string(kind) + " --target npu-a3 -o k.pto");
    EXPECT_TRUE(exists("k.pto")) << kind;
    const auto json = nlohmann::json::parse(read_file(path("k.pto.json"), 1 << 20).value());
    EXPECT_EQ(json["target"], "npu-a3") << kind;
    EXPECT_GE(json["blocks"].get<int>(), 1) << kind;
    std::string roles;
    for (const auto& arg : json["args"]) roles += arg["role"].get<std::string>() + " ";
    EXPECT_EQ(roles, "result operand indices updates scratch ") << kind;
    EXPECT_FALSE(json["requires"].empty()) << kind;
    std::filesystem::remove(path("k.pto"));
    std::filesystem::remove(path("k.pto.json"));
  }
  EXPECT_THAT(success("explain kv.onnx --target npu-a5"), HasSubstr("cores share destinations"));
  EXPECT_THAT(success("explain kv.onnx --target npu-a5"), AllOf(HasSubstr("  rewrites "), HasSubstr("  plan\n    ")));
  const auto stages = nlohmann::json::parse(success("explain kv.onnx --target npu-a5 --json"));
  EXPECT_EQ(stages["kernels"][0]["plan"].get<std::string>(), success("compile kv.onnx --emit plan --target npu-a5 -o -"));
  EXPECT_THAT(success("compile kv.onnx --emit op --target npu-a5 -o -"), StartsWith("strew1."));
  EXPECT_THAT(success("compile kv.onnx --emit pto-ir --target npu-a5 -o -"), StartsWith("module attributes {pto.target_arch"));
}

TEST_F(Cli, EveryExampleHasProgramsForBothChips) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_folder() / "examples")) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".onnx" && ending != ".mlir" && ending != ".tflite" && ending != ".pto" && ending != ".strew") continue;
    ++files;
    for (const char* chip : {"npu-a3", "npu-a5"})
      EXPECT_THAT(success("compile " + entry.path().string() + " --emit pto-ir --target " + chip + " -o -"),
                  StartsWith("module attributes {pto.target_arch"));
  }
  EXPECT_GE(files, 4);
}

TEST_F(Cli, OverridesThatDoNotSuitTheOp) {
  EXPECT_THAT(failure(1, "check kv.onnx --oob fill_element:1"), HasSubstr("kv.onnx: node scatter (TensorScatter): "));
  EXPECT_THAT(failure(1, "check kv.onnx --accumulate wide"), HasSubstr("accumulate"));
  EXPECT_THAT(success("check kv.onnx --oob skip_window"), HasSubstr("oob=skip_window"));
}

TEST_F(Cli, RunWritesTheResult) {
  write_tensor("update.npy", DType::f32, {2, 2, 3}, std::string(48, '\x11'));
  success(kRun);
  const Tensor y = parse_npy(read_file(path("y.npy"), 1 << 20).value(), DType::f32, "y").value();
  EXPECT_EQ(y.dims, (std::vector<int64_t>{2, 4, 3}));
  for (int64_t row = 0; row < 8; ++row) {
    const bool written = row == 1 || row == 2 || row == 6 || row == 7;
    for (int64_t b = 0; b < 12; ++b) EXPECT_EQ(y.data.data()[row * 12 + b], std::byte(written ? 0x11 : 0)) << row;
  }
}

TEST_F(Cli, AMissingOptionalInputIsADash) {
  write_tensor("update.npy", DType::f32, {2, 2, 3}, std::string(48, '\x11'));
  success("run kv.onnx --backend reference --input past.npy update.npy - --output y.npy");
  const Tensor y = parse_npy(read_file(path("y.npy"), 1 << 20).value(), DType::f32, "y").value();
  EXPECT_EQ(y.data.data()[0], std::byte{0x11});
  OnnxModel model = tensor_scatter_model();
  model.inputs.pop_back();
  model.nodes[0].inputs.pop_back();
  write("two.onnx", model.bytes());
  success("run two.onnx --backend reference --input past.npy update.npy --output z.npy");
  EXPECT_EQ(read_file(path("z.npy"), 1 << 20).value(), read_file(path("y.npy"), 1 << 20).value());
  success("run two.onnx --backend reference --input past.npy update.npy - --output z.npy");
}

TEST_F(Cli, TimeAndVerifyReport) {
  EXPECT_THAT(success(std::string(kRun) + " --time --verify"),
              AllOf(HasSubstr("compiled in"), HasSubstr("of memcpy of the same"), HasSubstr("verified")));
  const auto json = nlohmann::json::parse(success(std::string(kRun) + " --time --json"));
  EXPECT_GT(json["kernels"][0]["call"]["ns"].get<double>(), 0);
  EXPECT_EQ(json["kernels"][0]["in_place"]["bytes"], 2 * 48 + 16);
  EXPECT_EQ(json["kernels"][0]["backend"], "reference");
  EXPECT_EQ(json["outputs"][0]["file"], "y.npy");
}

TEST_F(Cli, VerboseSaysWhatIsBuiltAndCopied) {
  const Outcome o = strew("run kv.onnx --input past.npy update.npy indices.npy --output y.npy --verbose");
  EXPECT_EQ(o.exit, 0);
  EXPECT_THAT(o.err,
              AllOf(HasSubstr("strew: cache: miss: op "), HasSubstr("strew: compile: built strew_"),
                    MatchesRegex(".*strew: dispatch: strew_[0-9a-f]+: the whole operand was copied to the result, 96 bytes.*")));
  const Outcome environment = strew("run kv.onnx --input past.npy update.npy indices.npy --output y.npy", "STREW_VERBOSE=cache");
  EXPECT_THAT(environment.err, MatchesRegex("strew: cache: miss: op [^\n]*\n"));
  const Outcome timed = strew(std::string(kRun) + " --verbose --time");
  EXPECT_THAT(timed.err, AllOf(HasSubstr("strew: compile: built strew_"), Not(HasSubstr("dispatch"))));
}

TEST_F(Cli, CheckAndExplain) {
  EXPECT_THAT(success("check kv.onnx"), AllOf(HasSubstr("kv.onnx: onnx, 1 kernel"), HasSubstr("scatter: strew1.scatter(")));
  EXPECT_EQ(nlohmann::json::parse(success("check add.strew --json"))["kernels"][0]["name"], "op_1");
  const std::string text = success("explain kv.onnx --all --threads 1");
  for (const char* part : {"rewrites", "plan", "backends", "strategies", "schedule", "(heuristic)", "target"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, HasSubstr("guarantees  bits fixed: yes; writes outside updates: none"));
  EXPECT_THAT(text, HasSubstr("scratch 0 B; threads 1; checks every index first: yes\n"));
  const auto json = nlohmann::json::parse(success("explain kv.onnx --json"));
  EXPECT_EQ(json["kernels"][0]["guarantees"]["bits_fixed"], "yes");
  EXPECT_EQ(json["kernels"][0]["backends"].back()["name"], "reference");
}

TEST_F(Cli, ExplainedTextIsAnOpAgain) {
  const auto json = nlohmann::json::parse(success("explain kv.onnx --json"));
  write("again.strew", json["kernels"][0]["op"].get<std::string>());
  success(kRun);
  success("run again.strew --backend reference --input past.npy indices.npy update.npy --output z.npy");
  EXPECT_EQ(read_file(path("z.npy"), 1 << 20).value(), read_file(path("y.npy"), 1 << 20).value());
}

TEST_F(Cli, ExplainAndCompileShowOneStage) {
  EXPECT_EQ(success("explain kv.onnx --emit plan"), success("compile kv.onnx --emit plan -o -"));
  EXPECT_EQ(success("explain kv.onnx --emit op"), success("compile kv.onnx --emit op -o -"));
  EXPECT_THAT(success("explain kv.onnx --emit lowered"), AllOf(StartsWith("lowered kernel\n"), HasSubstr("entry range: ")));
  EXPECT_THAT(success("compile kv.onnx --emit lowered:none -o - --target x86-64-v3"), HasSubstr("window after window"));
  EXPECT_THAT(failure(2, "explain kv.onnx --emit asm"),
              HasSubstr("--emit: stage is 'asm', expected op, plan, lowered, lowered:none"));
  EXPECT_THAT(failure(2, "compile kv.onnx --emit lowered:panels -o -"), HasSubstr("--emit: kind is 'lowered:panels'"));
  EXPECT_THAT(failure(1, "compile kv.onnx --emit lowered --target npu-a5 -o -"), HasSubstr("--emit lowered: programs for NPUs"));
}

TEST_F(Cli, CompileWritesTextAndObjects) {
  success("compile kv.onnx --emit op -o y.s");
  EXPECT_THAT(read_file(path("y.s"), 1 << 20).value(), StartsWith("strew1.scatter("));
  EXPECT_THAT(success("compile kv.onnx --emit plan -o -"), StartsWith("plan scatter"));
  success("compile kv.onnx --emit obj -o y.o");
  EXPECT_THAT(read_file(path("y.o"), 1 << 24).value(), StartsWith("\x7f"
                                                                  "ELF"));
  for (const std::string backend : {"llvm", "halide"}) {
    if (backend == "halide" && !has_halide()) continue;
    const auto json = nlohmann::json::parse(success("compile kv.onnx --emit obj --json -o y.o --backend " + backend));
    EXPECT_THAT(json["kernel"].get<std::string>(), MatchesRegex("strew_[0-9a-f]+"));
    EXPECT_EQ(json["bytes"], read_file(path("y.o"), 1 << 24).value().size());
  }
  success("compile kv.onnx --emit ll -o y.ll");
  EXPECT_THAT(read_file(path("y.ll"), 1 << 24).value(), HasSubstr("define"));
}

TEST_F(Cli, ObjectsAreTheSameInEveryProcess) {
  write("open.strew",
        "strew1.scatter(operand=bf16[?,16] indices=i32[?] updates=bf16[?,16] update_window_dims=[1] inserted_window_dims=[0] "
        "scatter_dims_to_operand_dims=[0] index_vector_dim=1 combiner=add accumulate=wide)");
  success("compile open.strew --emit obj -o first.o");
  for (int i = 0; i < 4; ++i) {
    success("compile open.strew --emit obj -o again.o");
    EXPECT_EQ(read("again.o"), read("first.o"));
  }
  success("compile open.strew --emit obj -o again.o --target x86-64-v3");  // the default
  EXPECT_EQ(read("again.o"), read("first.o"));
  EXPECT_THAT(success("--version"), MatchesRegex("strew [0-9.]+, LLVM [0-9.]+, build [0-9a-f]+\n"));
}

TEST_F(Cli, TargetNamesTheMachine) {
  EXPECT_THAT(success("target"), AllOf(HasSubstr("cores"), HasSubstr("overridden  nothing")));
  EXPECT_EQ(nlohmann::json::parse(success("target --target x86-64-v3 --json"))["overridden"], "--target x86-64-v3");
}

TEST_F(Cli, AFullDiskIsAnError) {
  const int status = std::system(
      ("'" + test::built_program("strew") + "' check '" + path("kv.onnx") + "' >/dev/full 2>'" + path("err.txt") + "'").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(read_file(path("err.txt"), 1000).value(), "error: stdout: cannot write\n");
  for (const char* help : {"--help", "run --help", "compile --help"}) {
    const Outcome o = strew(std::string(help) + " >/dev/full");
    EXPECT_EQ(o.exit, 1) << help;
    EXPECT_EQ(o.err, "error: stdout: cannot write\n") << help;
  }
}

TEST_F(Cli, HelpNamesEveryFormat) {
  const std::string text = success("run --help");
  for (const char* ending : {".onnx", ".tflite", ".mlir", ".pto", ".strew"}) EXPECT_THAT(text, HasSubstr(ending));
}

TEST_F(Cli, LongWordsAreCutInMessages) {
  const std::string word(4000, 'z');
  EXPECT_THAT(failure(2, "check kv.onnx --" + word), AllOf(HasSubstr("zzz... ("), HasSubstr(" characters) ...zzz")));
  EXPECT_THAT(failure(2, "check kv.onnx --order '" + word + " " + word + "'"),
              HasSubstr("zzz... (7923 characters) ...zzzzzzzzzzzzzzzzzzz', expected in_order or relaxed"));
  write("long.strew", "strew1.scatter(" + word + ")");
  EXPECT_LT(failure(1, "check long.strew").size(), 1000u);
  OnnxModel model = tensor_scatter_model();
  model.nodes[0].op_type = word;
  write("long.onnx", model.bytes());
  EXPECT_LT(failure(1, "check long.onnx").size(), 1000u);
  const std::string name = std::string(200, 'n') + ".onnx";
  EXPECT_THAT(failure(1, "check " + name), HasSubstr(name + ": cannot read")) << "the user's own file names stay whole";
}

}  // namespace
}  // namespace strew::testing
