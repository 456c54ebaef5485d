/* cpuid.c - which processor this is, which of our kernels it runs, and which of OpenBLAS's it
 * should.
 *
 * OpenBLAS reads OPENBLAS_CORETYPE when it is loaded and otherwise guesses from tables that end
 * with its own release date: on a newer processor Debian 12's 0.3.21 falls back to kernels of 2004,
 * a factor of 4.7. The instruction sets that CPUID reports do not age.
 */
#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct identity {
  char vendor[13];
  unsigned family, model;
} identity;

static identity identify(void) {
  identity id;
  unsigned a = 0, b = 0, c = 0, d = 0;
  memset(&id, 0, sizeof id);
  if (!__get_cpuid(0, &a, &b, &c, &d)) return id;
  memcpy(id.vendor, &b, 4);
  memcpy(id.vendor + 4, &d, 4);
  memcpy(id.vendor + 8, &c, 4);
  if (!__get_cpuid(1, &a, &b, &c, &d)) return id;
  id.family = (a >> 8) & 15u;
  id.model = (a >> 4) & 15u;
  if (id.family == 15) id.family += (a >> 20) & 255u;
  if (id.family == 6 || id.family >= 15) id.model |= ((a >> 16) & 15u) << 4;
  return id;
}

/* The compiler's runtime checks the instruction set and that the system saves the wide registers.
 */
static int has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512cd");
}
static int has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int best_isa(void) {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && has_avx2() ? CPU_ISA_AVX512
         : has_avx2()                                    ? CPU_ISA_AVX2
                                                         : CPU_ISA_GENERIC;
}

const char *cpu_openblas_core(const char **why) {
  identity id = identify();
  int amd = strcmp(id.vendor, "AuthenticAMD") == 0 || strcmp(id.vendor, "HygonGenuine") == 0;
  __builtin_cpu_init();
  if (amd && has_avx512() && id.family >= 0x1a) {
    *why = "AVX-512 at full width";
    return "SKYLAKEX";
  }
  if (amd && has_avx2()) {
    *why = has_avx512() ? "AVX-512 at half width gains nothing over AVX2" : "AVX2 and FMA";
    return "ZEN";
  }
  if (has_avx512()) {
    *why = "AVX-512";
    return "SKYLAKEX";
  }
  if (has_avx2()) {
    *why = "AVX2 and FMA";
    return "HASWELL";
  }
  *why = "neither AVX2 nor AVX-512: left to the library";
  return NULL;
}

#else

static int best_isa(void) { return CPU_ISA_GENERIC; }

const char *cpu_openblas_core(const char **why) {
  *why = "left to the library";
  return NULL;
}

#endif

static const char *const isa_names[] = {"generic", "avx2", "avx512"};

/* The variable TFSDK_CPU_ISA asks for less than the processor can, to try or to compare. */
int cpu_isa(void) {
  static int cached = -1;
  int isa = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (isa < 0) {
    const char *asked = getenv("TFSDK_CPU_ISA");
    isa = best_isa();
    for (int i = 0; asked != NULL && i < isa; i++)
      if (strcmp(asked, isa_names[i]) == 0) isa = i;
    __atomic_store_n(&cached, isa, __ATOMIC_RELAXED);
  }
  return isa;
}

const char *cpu_isa_name(void) { return isa_names[cpu_isa()]; }

void cpu_model_name(char *out, size_t cap) {
  char line[512];
  FILE *f = fopen("/proc/cpuinfo", "r");
  snprintf(out, cap, "unknown processor");
  if (f == NULL) return;
  while (fgets(line, sizeof line, f) != NULL) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
    colon += 1 + strspn(colon + 1, " \t");
    colon[strcspn(colon, "\r\n")] = 0;
    snprintf(out, cap, "%s", colon);
    break;
  }
  fclose(f);
}
