#!/usr/bin/env python3
"""Makes a library of whole model files, as exporters wrote them, and runs its functions from C.

    programs_test.py --strew BUILD/bin/strew

The models are some of tests/models, with the inputs that lie there. A C program, linked with the library and libstrew_rt alone, runs each function on
two threads at once and for two CPUs; every byte of its outputs is compared with what `strew run` computes. Bad arguments and bad manifests are errors with
a message. Run by ctest (`library_programs`) in the .venv, because it needs NumPy. Exit: 0 right, 1 wrong.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import sys

import numpy as np

from commands import Commands

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests/models"
# What each program is made of, and what its manifest says beside the file.
PROGRAMS = {
    "kv_cache_rolling": ("jax", {"in_place": {"arg0": "result0"}}),
    "kv_cache_bf16": ("jax", {}),
    "cross_entropy_grad": ("jax", {}),
    "segment_max_grad": ("jax", {}),
    "paged_cache_write": ("jax", {}),
    "bincount": ("jax", {}),
    "rotary": ("jax", {}),
    "roll": ("jax", {}),
    "pad_then_scatter": ("jax", {}),
    "associative_scan": ("jax", {}),
    "embedding_grad_symbolic": ("jax_export", {"extents": {"arg0.0": 6, "arg1.0": 5, "arg2.0": 5}}),
    "index_copy": ("torch", {}),
    "unsorted_segment_max": ("tflite", {}),
    "grid_by_hand": ("torch", {}),
    "index_pairs": ("torch", {}),
    "opset_20": ("torch", {}),
    "opset_24": ("torch_dynamo", {}),
    "pointpillars_scatter": ("torch_dynamo", {}),
    "scatter_mean": ("torch_dynamo", {}),
    "local_functions": ("onnxscript", {}),
    "scatter_elements_all": ("onnxscript", {}),
    "optimized_rows": ("onnxruntime", {}),
    "unsorted_segment_mean": ("tensorflow", {}),
    "gather_nd_grad": ("tensorflow", {}),
    "jax_kv_cache": ("tflite", {}),
    "tensor_scatter_nd_add": ("tflite", {}),
    "opset_18": ("tf2onnx", {}),
}
MAIN = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "whole.h"

typedef struct { const char* name; int number; int output; size_t bytes; } File;

/* The bytes of a file, or zeros that a program writes to. */
static void* load(const char* program, int number, int is_output, size_t bytes) {
  char path[256];
  void* data = calloc(1, bytes + 1);
  if (is_output) return data;
  snprintf(path, sizeof path, "%s.in.%d", program, number);
  FILE* file = fopen(path, "rb");
  if (file == NULL || fread(data, 1, bytes + 1, file) != bytes) exit(3);
  fclose(file);
  return data;
}
static void save(const char* program, int number, const void* data, size_t bytes) {
  char path[256];
  snprintf(path, sizeof path, "%s.out.%d", program, number);
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, bytes, file) != bytes) exit(3);
  fclose(file);
}
static void check(strew_status status, const char* program) {
  if (status == NULL) return;
  printf("%s: %s\n", program, strew_status_message(status));
  exit(4);
}
static strew_context* context;
/* Does the call fail with these words? */
static void fails(strew_status status, const char* words) {
  if (status == NULL || strstr(strew_status_message(status), words) == NULL) {
    printf("expected \"%s\", got \"%s\"\n", words, status == NULL ? "success" : strew_status_message(status));
    exit(5);
  }
  strew_status_free(status);
}
"""
# The second row of the cache becomes the row.
VIEWS = r"""
#include <array>

#include "whole.hpp"

int main() {
  const auto library = strew::open_library<strew::kernels::whole>();
  if (!library.ok()) return 1;
  std::array<float, 24> cache{};
  const std::array<float, 6> row{1, 2, 3, 4, 5, 6};
  const int32_t at = 5;
  if (!library->kv_cache_rolling({cache.data(), {2, 4, 3}}, {row.data(), {2, 3}}, {&at, {}}).ok()) return 1;
  return cache[3] == 1 && cache[5] == 3 && cache[15] == 4 && cache[0] == 0 && cache[6] == 0 ? 0 : 1;
}
"""


def model_of(name):
    folder = MODELS / PROGRAMS[name][0] / name
    return folder, next(folder.glob("model.*"))


def expected_outputs(check, name, case, arrays):
    """The outputs as `strew run` writes them."""
    _, model = model_of(name)
    inputs = []
    for i, tensor in enumerate(case["inputs"]):
        np.save(check.folder / f"{name}.{i}.npy", arrays[tensor["array"]])
        inputs.append(f"{name}.{i}.npy")
    outputs = [f"{name}.want.{i}.npy" for i in range(len(case["outputs"]))]
    check.run(check.strew, "run", model, *(["--input", *inputs] if inputs else []), "--output", *outputs)
    return [np.load(check.folder / file) for file in outputs]


def function_of(name, inputs, outputs, updated):
    """C that runs the program on the files of its inputs and writes those of its outputs, on two threads."""
    sizes = [array.nbytes for array in inputs] + [array.nbytes for array in outputs]
    places = list(range(len(inputs))) + [len(inputs) + o for o in range(len(outputs)) if o not in updated]
    text = f"static void* work_{name}(void* out) {{\n  void** tensors = (void**)out;\n"
    for place in places:
        text += f"  tensors[{place}] = load(\"{name}\", {place}, {int(place >= len(inputs))}, {sizes[place]});\n"
    text += f"  check({name}_at(context, {', '.join(f'tensors[{place}]' for place in places)}), \"{name}\");\n  return NULL;\n}}\n"
    text += f"static void run_{name}(void) {{\n  void *tensors[{len(sizes)}], *others[{len(sizes)}];\n  pthread_t thread;\n"
    text += f"  pthread_create(&thread, NULL, work_{name}, others);\n  work_{name}(tensors);\n  pthread_join(thread, NULL);\n"
    for o in range(len(outputs)):
        place = updated.get(o, len(inputs) + o)
        text += f"  if (memcmp(tensors[{place}], others[{place}], {sizes[len(inputs) + o]}) != 0) exit(6);\n"
        text += f"  save(\"{name}\", {o}, tensors[{place}], {sizes[len(inputs) + o]});\n"
    return text + "}\n"


def bad_arguments():
    """Calls of kv_cache_rolling, f32[2,4,3] updated by f32[2,3] at i32[], that fail before anything is written."""
    return r"""
static void run_bad_arguments(void) {
  float cache[24] = {1}, row[6] = {2};
  int32_t at = 0;
  const int64_t cache_dims[3] = {2, 4, 3}, row_dims[2] = {2, 3}, column[3] = {12, 1, 4};
  strew_tensor tensors[3] = {{cache, cache_dims, NULL, 3, STREW_F32, 0, {0}}, {row, row_dims, NULL, 2, STREW_F32, 1, {0}},
                             {&at, NULL, NULL, 0, STREW_I32, 1, {0}}};
  const uint32_t program = strew_library_find_program(whole(), "kv_cache_rolling");
  const strew_tensor good[3] = {tensors[0], tensors[1], tensors[2]};
  if (program != WHOLE_kv_cache_rolling || strew_library_find_program(whole(), "none") != STREW_NO_PROGRAM) exit(7);
  if (strew_library_find_program(NULL, "none") != STREW_NO_PROGRAM || strew_library_find_program(whole(), NULL) != STREW_NO_PROGRAM) exit(7);
  fails(strew_context_run_program(NULL, program, tensors, 3, NULL), "context: null");
  fails(strew_context_run_program(context, 1000, tensors, 3, NULL), "program: number 1000");
  fails(strew_context_run_program(context, program, NULL, 3, NULL), "tensors: null");
  fails(strew_context_run_program(context, program, tensors, 2, NULL), "tensors: 2 are given, expected 3");
  tensors[1].dtype = STREW_I32;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg1: dtype is i32, expected f32");
  tensors[1] = good[1], tensors[1].rank = 1;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg1: rank is 1, expected 2");
  tensors[1] = good[1], tensors[1].dims = cache_dims;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg1: dims are [2,4], expected [2,3]");
  tensors[1] = good[1], tensors[1].dims = NULL;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg1: dims: null");
  tensors[1] = good[1], tensors[1].data = NULL;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg1: data: null");
  tensors[1] = good[1], tensors[0].strides = column;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg0: stride 1 is 1, expected 3");
  tensors[0] = good[0], tensors[0].read_only = 1;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg0: it is read-only");
  tensors[0] = good[0], tensors[1].data = cache + 18;
  fails(strew_context_run_program(context, program, tensors, 3, NULL), "arg0: its buffer overlaps that of arg1");
  for (int i = 0; i < 24; ++i)
    if (cache[i] != (i == 0 ? 1 : 0)) exit(8);
}
"""


def check_programs(check):
    manifest = {"library": "whole", "targets": ["x86-64-v3"], "programs": []}
    text, calls, wanted = MAIN, "", {}
    for name, (_, how) in PROGRAMS.items():
        folder, model = model_of(name)
        manifest["programs"].append({"name": name, "file": os.path.relpath(model, check.folder), **how})
        case = json.loads((folder / "case.json").read_text())
        with np.load(folder / "tensors.npz") as arrays:
            inputs = [arrays[tensor["array"]] for tensor in case["inputs"]]
            wanted[name] = expected_outputs(check, name, case, arrays)
        for i, array in enumerate(inputs):
            (check.folder / f"{name}.in.{i}").write_bytes(array.tobytes())
        text += function_of(name, inputs, wanted[name], {0: 0} if "in_place" in how else {})
        calls += f"  run_{name}();\n"
    (check.folder / "whole.json").write_text(json.dumps(manifest))
    report = json.loads(check.run(check.strew, "library", "whole.json", "-o", "made", "--json").stdout)
    check.that({each["program"] for each in report["programs"]} == set(PROGRAMS), f"the report has other programs: {report['programs']}")
    again = json.loads(check.run(check.strew, "library", "whole.json", "-o", "made", "--json").stdout)
    check.that(all(each["reused"] for each in again["variants"]), "a run without a change compiles something")
    text += bad_arguments() + f"int main(void) {{\n  check(whole_open(NULL, &context), \"open\");\n{calls}  run_bad_arguments();\n"
    (check.folder / "main.c").write_text(text + "  strew_context_free(context);\n  return 0;\n}\n")
    check.run("cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-o", "program", "main.c", "-Imade", f"-I{ROOT}/include", "-Lmade", "-lwhole",
              f"-L{check.build}/lib", f"-Wl,-rpath,{check.build}/lib", "-lstrew_rt", "-lm", "-lpthread")
    needed = set(re.findall(r"NEEDED.*\[(.*?)\]", check.run("readelf", "-d", "program").stdout))
    check.that(all(library.startswith(("libstrew_rt.so", "libm.so", "libc.so")) for library in needed), f"the program needs {needed}")
    for cpu in ["native", "x86-64"]:
        for file in check.folder.glob("*.out.*"):
            file.unlink()
        check.run(check.folder / "program", STREW_TARGET=cpu)
        for name, outputs in wanted.items():
            for o, want in enumerate(outputs):
                file = check.folder / f"{name}.out.{o}"
                check.that(file.exists() and file.read_bytes() == want.tobytes(), f"{cpu}: output {o} of {name} differs")
    (check.folder / "views.cc").write_text(VIEWS)
    check.run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-o", "views", "views.cc", "-Imade", f"-I{ROOT}/include", "-Lmade", "-lwhole",
              f"-L{check.build}/lib", f"-Wl,-rpath,{check.build}/lib", "-lstrew_rt", "-lm")
    check.run(check.folder / "views")


def check_manifests(check):
    """Bad programs are one line with the member, the value and what was expected, and no file."""
    _, rolling = model_of("kv_cache_rolling")
    dynamic = MODELS / "torch_dynamo/dynamic_scatter_add/model.onnx"
    good = {"name": "p", "file": str(rolling)}

    def refused(words, *programs, **members):
        manifest = {"library": "bad", "targets": ["x86-64-v3"], "programs": list(programs), **members}
        (check.folder / "bad.json").write_text(json.dumps(manifest))
        done = check.run(check.strew, "library", "bad.json", "-o", "bad", expected=1)
        check.that(words in done.stderr and done.stderr.count("\n") == 1, f"expected {words!r}: {done.stderr}")
        check.that(not (check.folder / "bad").exists(), f"a folder was left: {words}")

    refused("programs: the list is empty")
    refused("a program has a member 'kernel'", {**good, "kernel": "x"})
    refused("file: it is missing", {"name": "p"})
    refused("name: 'a b' is no identifier of C", {**good, "name": "a b"})
    refused("name: 'p' is also the name of program p", good, good)
    refused("name: 'q_at' is also the name of", {**good, "name": "q"}, {**good, "name": "q_at"})
    refused("name: 'run_program' is also the name of", {**good, "name": "run_program"})
    refused("in_place: the program has no input 'arg00', did you mean 'arg0'?", {**good, "in_place": {"arg00": "result0"}})
    refused("in_place: the program has no output 'result'", {**good, "in_place": {"arg0": "result"}})
    refused("in_place: output 'result0' is [2,4,3], expected [2,3], as input 'arg1' is", {**good, "in_place": {"arg1": "result0"}})
    refused("in_place: output 'result0' is of f32, expected i32, as input 'arg2' is", {**good, "in_place": {"arg2": "result0"}})
    refused("in_place: arg0: it is a number, expected the name of an output", {**good, "in_place": {"arg0": 1}})
    refused("extents: no input has an open extent 'batch'", {**good, "extents": {"batch": 1}})
    refused("extents: batch: expected an integer that is 0 or more", {**good, "extents": {"batch": -1}})
    refused("is open, expected the extent of", {"name": "p", "file": str(dynamic)})
    refused("from: it is a text, expected a list", {**good, "from": "arg0"})
    refused("to: the list is empty", {**good, "to": []})
    refused("to: an item is a number", {**good, "to": [1]})
    refused("result9", {**good, "to": ["result9"]})
    refused("x86-64-v9", good, targets=["x86-64-v9"])


def check_parts(check):
    """Of a decoder layer with matrix products, which strew does not run, the look-up of the tokens is a function, and so is the update of one cache by the
    results of a product and of a concatenation."""
    file = os.path.relpath(MODELS / "torch_dynamo/decoder_static/model.onnx", check.folder)
    embedding = {"name": "embedding", "file": file, "to": ["embedding"]}
    update = {"name": "update", "file": file, "from": ["cat_1", "linear_1"], "to": ["index_put"]}
    manifest = {"library": "parts", "targets": ["x86-64-v3"], "programs": [embedding, update]}
    (check.folder / "parts.json").write_text(json.dumps(manifest))
    report = json.loads(check.run(check.strew, "library", "parts.json", "-o", "parts", "--json").stdout)
    check.that([each["program"] for each in report["programs"]] == ["embedding", "update"], f"the parts are {report['programs']}")
    header = (check.folder / "parts/parts.h").read_text()
    check.that("embedding  f32[" in header and "index_put  f32[" in header, "the header does not name the values of the parts")


def check_from_model(check):
    """A manifest of a whole file works as it is; of one with open extents, too, because 1 stands for each."""
    for name, framework in [("kv_cache_rolling", "jax"), ("dynamic_scatter_add", "torch_dynamo")]:
        model = next((MODELS / framework / name).glob("model.*"))
        check.run(check.strew, "library", "--from-model", model, "--whole", "-o", f"{name}.json")
        report = json.loads(check.run(check.strew, "library", f"{name}.json", "-o", f"from_{name}", "--json").stdout)
        check.that([each["program"] for each in report["programs"]] == ["model"], f"{name}: the manifest has {report['programs']}")
    decoder = MODELS / "torch_dynamo/decoder_static/model.onnx"
    text = check.run(check.strew, "library", "--from-model", decoder, "--whole", "--to", "embedding").stdout
    check.that('"to": ["embedding"]' in text and "// embedding = f32[" in text, f"a part of the file: {text}")
    done = check.run(check.strew, "library", "--from-model", decoder, "--whole", "--to", "embeding", expected=1)
    check.that("did you mean 'embedding'?" in done.stderr, f"a value that is not there: {done.stderr}")
    done = check.run(check.strew, "library", "whole.json", "-o", "made", "--whole", expected=2)
    check.that("--whole requires --from-model" in done.stderr, f"--whole without a model: {done.stderr}")


ROLLING = r"""
#include "rolling_kernels.h"

int main(void) {
  strew_context* context = NULL;
  float cache[24] = {0}, row[6] = {1, 2, 3, 4, 5, 6};
  int32_t at = 1;
  if (rolling_kernels_open(NULL, &context) != NULL || rolling_at(context, cache, row, &at) != NULL) return 1;
  strew_context_free(context);
  return cache[3] == 1 && cache[5] == 3 && cache[15] == 4 && cache[0] == 0 && cache[6] == 0 ? 0 : 1;
}
"""


def check_compile(check):
    """`strew compile --whole` makes the same library without a manifest; a mistake is one line, and no folder is written."""
    _, rolling = model_of("kv_cache_rolling")
    shutil.copy(rolling, check.folder / "rolling.mlir")
    check.run(check.strew, "compile", "rolling.mlir", "--whole", "--in-place", "arg0=result0", "--target", "x86-64", "-o", "rolling")
    (check.folder / "rolling.c").write_text(ROLLING)
    check.run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-o", "rolling_main", "rolling.c", "-Irolling", f"-I{ROOT}/include", "-Lrolling",
              "-lrolling_kernels", f"-L{check.build}/lib", f"-Wl,-rpath,{check.build}/lib", "-lstrew_rt", "-lm")
    check.run(check.folder / "rolling_main")
    open_file = MODELS / "torch_dynamo/dynamic_scatter_add/model.onnx"
    report = json.loads(check.run(check.strew, "compile", open_file, "--whole", "--extents", "s14=6,s86=5,s78=5", "--json", "-o", "open").stdout)
    check.that([each["program"] for each in report["programs"]] == ["model"], f"a file with open extents: {report}")
    decoder = MODELS / "torch_dynamo/decoder_static/model.onnx"
    check.run(check.strew, "compile", decoder, "--whole", "--to", "embedding", "-o", "embedding")
    check.that("embedding  f32[" in (check.folder / "embedding/model_kernels.h").read_text(), "the header does not name the part's output")
    for expected, words, *arguments in [
            (2, "--emit: it is 'obj', expected none with --whole", "--whole", "--emit", "obj"),
            (2, "--schedule: it is 'unroll=1', expected none with --whole", "--whole", "--schedule", "unroll=1"),
            (2, "--extents: it is 'n', expected NAME=EXTENT", "--whole", "--extents", "n"),
            (2, "--extents: it is 'n=-1', expected NAME=EXTENT", "--whole", "--extents", "n=-1"),
            (2, "--in-place: it is 'arg0', expected INPUT=OUTPUT", "--whole", "--in-place", "arg0"),
            (2, "--from requires --whole", "--from", "arg0"),
            (1, "in_place: the program has no input 'arg00', did you mean 'arg0'?", "--whole", "--in-place", "arg00=result0"),
            (1, "extents: no input has an open extent 'n'", "--whole", "--extents", "n=1"),
            (1, "--target: 'native' differs from machine to machine", "--whole", "--target", "native")]:
        done = check.run(check.strew, "compile", "rolling.mlir", *arguments, "-o", "bad", expected=expected)
        check.that(words in done.stderr and done.stderr.count("\n") == 1, f"expected {words!r}: {done.stderr}")
        check.that(not (check.folder / "bad").exists(), f"a folder was left: {words}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strew", type=pathlib.Path, required=True)
    build = parser.parse_args().strew.resolve().parents[1]
    folder = build / "library_programs_test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    check = Commands(build, folder)
    check_programs(check)
    check_manifests(check)
    check_from_model(check)
    check_parts(check)
    check_compile(check)
    shutil.rmtree(folder)  # elf.py looks at every program of the build tree
    print("failed" if check.failures else f"{len(PROGRAMS)} whole files run as functions of a library")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
