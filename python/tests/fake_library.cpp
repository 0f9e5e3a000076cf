// Stands in for libpyrometer_inject.so: writes each call of the hook ABI as a line of text to
// $PYROMETER_SESSION/<pid>.log. Times are left in so that tests can compare them.
//
// FAKE_ABI is the version it claims; the variable FAKE_CONTROL names a file whose number is what
// pyrometer_hook_control returns.
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "inject/hook_abi.h"

#ifndef FAKE_ABI
#define FAKE_ABI PYROMETER_HOOK_ABI
#endif

namespace {

FILE* log_file = nullptr;
bool inert = false;
uint32_t names = 0;
char* texts[16384];

void forked() {
  if (log_file != nullptr) inert = true;
}

bool live() { return log_file != nullptr && !inert; }

const char* text_of(uint32_t name) { return name != 0 && name <= names ? texts[name] : ""; }

}  // namespace

uint32_t pyrometer_hook_abi() { return FAKE_ABI; }

int pyrometer_hook_attach() {
  const char* session = getenv("PYROMETER_SESSION");
  if (inert) return 4;
  if (session == nullptr) return 1;
  if (log_file != nullptr) return 0;
  char path[4096];
  snprintf(path, sizeof path, "%s/%d.log", session, getpid());
  log_file = fopen(path, "a");
  if (log_file == nullptr) return 3;
  setvbuf(log_file, nullptr, _IOLBF, 0);
  pthread_atfork(nullptr, nullptr, forked);
  fprintf(log_file, "attach\n");
  return 0;
}

int pyrometer_hook_active() { return live(); }

uint32_t pyrometer_hook_name(const char* text, uint32_t length) {
  if (!live() || names + 1 >= sizeof texts / sizeof *texts) return 0;
  for (uint32_t i = 1; i <= names; ++i) {
    if (strlen(texts[i]) == length && memcmp(texts[i], text, length) == 0) return i;
  }
  texts[++names] = strndup(text, length);
  return names;
}

void pyrometer_hook_range(uint32_t kind, uint32_t flags, uint32_t name, uint64_t start,
                          uint64_t end, int64_t a, int64_t b) {
  if (!live()) return;
  fprintf(log_file, "range\t%u\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%ld\n",
          kind, flags, text_of(name), start, end, a, b, syscall(SYS_gettid));
}

void pyrometer_hook_ranges(const pyrometer_hook_range_record* records, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const pyrometer_hook_range_record& r = records[i];
    pyrometer_hook_range(r.kind, r.flags, r.name, r.start, r.end, r.a, r.b);
  }
}

void pyrometer_hook_counter(uint32_t name, uint64_t time, double value) {
  if (!live()) return;
  fprintf(log_file, "counter\t%s\t%" PRIu64 "\t%.17g\n", text_of(name), time, value);
}

void pyrometer_hook_info(uint32_t key, uint32_t value) {
  if (live()) fprintf(log_file, "info\t%s\t%s\n", text_of(key), text_of(value));
}

uint32_t pyrometer_hook_control() {
  const char* path = getenv("FAKE_CONTROL");
  FILE* file = live() && path != nullptr ? fopen(path, "r") : nullptr;
  unsigned bits = 0;
  if (file == nullptr) return 0;
  if (fscanf(file, "%u", &bits) != 1) bits = 0;
  fclose(file);
  return bits;
}

void pyrometer_hook_yield() {
  if (live()) fprintf(log_file, "yield\n");
}

void pyrometer_hook_resume() {
  if (live()) fprintf(log_file, "resume\n");
}

uint8_t* pyrometer_hook_phase_byte() {
  static uint8_t phase = 0;
  return &phase;
}

// Tests of sampling use the library itself (tests/run/sampler_test.py).
const char* pyrometer_hook_sampler_prepare(uint32_t version, const char* folders) {
  if (live()) fprintf(log_file, "prepare\t%#x\t%s\n", version, folders);
  return "the stand-in does not sample";
}

uint32_t pyrometer_hook_sampler_look(char*, uint32_t) { return 0; }

int pyrometer_hook_sampler_start() { return 0; }

void pyrometer_hook_sampler_stop() {}

void pyrometer_hook_retire() {
  if (live()) fprintf(log_file, "retire\n");
  inert = true;
}
