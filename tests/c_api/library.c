/* Building kernel libraries. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "areas.h"

static void write_file(const char* path, const char* text) {
  FILE* const file = fopen(path, "w");
  CHECK(file != NULL);
  if (file == NULL) return;
  fputs(text, file);
  fclose(file);
}

typedef struct {
  size_t calls, all, stop_at;
} Watcher;
static int32_t watch(void* context, size_t done, size_t all) {
  Watcher* const watcher = context;
  ++watcher->calls;
  watcher->all = all;
  CHECK(done >= 1 && done <= all);
  return watcher->stop_at != 0 && watcher->calls >= watcher->stop_at;
}

static void test_build(const char* manifest, const char* folder) {
  static const char* const kTargets[] = {"x86-64-v2", "x86-64-v3"};
  strew_library_options options = STREW_LIBRARY_OPTIONS_INIT;
  Watcher watcher = {0, 0, 1};
  strew_text* report = NULL;
  char path[4200];
  options.targets = kTargets;
  options.target_count = 2;
  options.jobs = 1;
  options.progress = watch;
  options.context = &watcher;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_CANCELLED, "after 1 of 3 variants");
  CHECK(watcher.calls == 1 && report == NULL && access(folder, F_OK) != 0);
  watcher = (Watcher){0, 0, 0};
  if (!OK(strew_library_build(manifest, folder, &options, &report))) return;
  CHECK(watcher.calls == 3 && watcher.all == 3); /* the architecture's baseline is always there */
  CHECK(strstr(strew_text_chars(report), "\"kernel\": \"add_rows\"") != NULL && strstr(strew_text_chars(report), "x86-64-v3") != NULL);
  strew_text_free(report);
  snprintf(path, sizeof path, "%s/libc_api_kernels.a", folder);
  CHECK(access(path, R_OK) == 0);
  snprintf(path, sizeof path, "%s/c_api_kernels.h", folder);
  CHECK(access(path, R_OK) == 0);
  watcher = (Watcher){0, 0, 0};
  OK(strew_library_build(manifest, folder, &options, NULL)); /* the report may be left out, and nothing has to be compiled */
  CHECK(watcher.calls == 0);
}

static void test_bad_builds(const char* manifest, const char* folder, const char* bad) {
  static const char* const kUnknown[] = {"z80"};
  static const char* const kNull[] = {NULL};
  strew_library_options options = STREW_LIBRARY_OPTIONS_INIT;
  const strew_library_options good = STREW_LIBRARY_OPTIONS_INIT;
  strew_text* report = NULL;
  FAILS(strew_library_build(NULL, folder, NULL, &report), STREW_CODE_INVALID_ARGUMENT, "manifest: null");
  FAILS(strew_library_build(manifest, NULL, NULL, &report), STREW_CODE_INVALID_ARGUMENT, "folder: null");
  FAILS(strew_library_build("no_such.json", folder, NULL, &report), STREW_CODE_IO, "no_such.json");
  options.size = 3;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "options.size: 3");
  options = good;
  options.jobs = -1;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "-1");
  options = good;
  options.target_count = 1;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "options.targets: null");
  options.targets = kNull;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "options.targets[0]: null");
  options.targets = kUnknown;
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "z80");
  options = good;
  options.arch = "mips";
  FAILS(strew_library_build(manifest, folder, &options, &report), STREW_CODE_INVALID_ARGUMENT, "mips");
  write_file(bad, "{\n  \"library\": \"x\",\n  \"kernels\": [{\"name\": \"a\"}]\n}\n");
  FAILS(strew_library_build(bad, folder, NULL, &report), STREW_CODE_INVALID_ARGUMENT, "bad.json:3: ");
  CHECK(report == NULL);
}

static void test_manifest(const char* examples, const char* folder) {
  strew_text* text = NULL;
  char model[4200], manifest[4200];
  snprintf(model, sizeof model, "%s/tflite_cache/append.tflite", examples);
  snprintf(manifest, sizeof manifest, "%s/model.json", folder);
  if (OK(strew_library_manifest(model, NULL, &text))) {
    CHECK(strstr(strew_text_chars(text), "\"kernels\"") != NULL && strstr(strew_text_chars(text), "append.tflite") != NULL);
    strew_text_free(text);
  }
  if (OK(strew_library_manifest(model, manifest, &text))) strew_text_free(text);
  text = NULL;
  FAILS(strew_library_manifest(NULL, NULL, &text), STREW_CODE_INVALID_ARGUMENT, "model: null");
  FAILS(strew_library_manifest(model, NULL, NULL), STREW_CODE_INVALID_ARGUMENT, "out: null");
  FAILS(strew_library_manifest("no_such.onnx", NULL, &text), STREW_CODE_IO, "no_such.onnx");
  CHECK(text == NULL);
}

void test_library(const char* examples) {
  char folder[] = "c_api_library_XXXXXX", manifest[64], bad[64], out[64], command[128];
  char text[1024];
  CHECK(mkdtemp(folder) != NULL);
  snprintf(manifest, sizeof manifest, "%s/manifest.json", folder);
  snprintf(bad, sizeof bad, "%s/bad.json", folder);
  snprintf(out, sizeof out, "%s/out", folder);
  snprintf(text, sizeof text, "{\"library\": \"c_api_kernels\", \"targets\": [\"x86-64-v3\"], \"kernels\": [{\"name\": \"add_rows\", \"op\": \"%s\"}]}\n",
           kRows);
  write_file(manifest, text);
  test_build(manifest, out);
  test_bad_builds(manifest, out, bad);
  test_manifest(examples, folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK(system(command) == 0);
}
