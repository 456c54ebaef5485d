/* What the files of the conformance runner share. */
#ifndef TESTS_OPS_KIT_H
#define TESTS_OPS_KIT_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/shape.h>
#include <tfsdk/tfsdk.h>

enum { MAX_IN = 32, MAX_ATTR = 24, MAX_OUT = 32 };

/* One input of a sample. */
typedef struct input {
  bool absent, variable, literal;
  int32_t dtype;
  tfsdk_shape shape;
  double lo, hi;
  double value[64]; /* of a literal */
  char *text[64];   /* of a string literal; \xHH stands for a byte */
  size_t length[64];
} input;

/* A parsed sample string (op.h says how they look), for one choice of T. */
typedef struct sample {
  const tfsdk_opdef *op;
  const char *text;
  bool nograd, random_shapes;
  uint32_t n_in, n_attr;
  input in[MAX_IN];
  tfsdk_attrval attr[MAX_ATTR];
  void *owned[96];
  uint32_t n_owned;
} sample;

/* False: the text is malformed; `why` says how. */
bool sample_parse(const tfsdk_opdef *op, const char *text, int32_t T, sample *out, char *why,
                  size_t why_n);
void sample_free(sample *s);
/* Renames each distinct extent of the random inputs: extent `from` becomes `to`. */
void sample_rename(sample *s, int64_t from, int64_t to);
/* The extents that occur in random inputs, each once. */
uint32_t sample_extents(const sample *s, int64_t out[64]);
/* The types that the record allows for T, 0-ended; {0} when T does not occur. */
void sample_types(const tfsdk_opdef *op, const char *text, int32_t out[32]);

/* Random numbers of the tests: splitmix64 (Steele, Lea, Flood 2014), so that failures can be
 * repeated. */
uint64_t random_bits(uint64_t *state);

/* Input tensors of a sample. */
tfsdk_status *make_inputs(tfsdk_runtime *rt, const sample *s, uint64_t seed, tfsdk_tensor **out);
void release_all(tfsdk_tensor **t, uint32_t n);

/* Another device than the CPU to hold the ops to: their inputs are there, and they run there or
 * fall back. Concerns the runtime whose kernels are checked, not the one of the reference kernels.
 */
typedef struct target {
  const char *device, *plugin; /* "tiny:0" and the file that has it; NULL */
  tfsdk_runtime *rt;
} target;
extern target other_device;

/* What running an op gave: outputs, then the new values of the variables. */
typedef struct result {
  tfsdk_tensor *out[MAX_OUT + MAX_IN];
  uint32_t n;
} result;
void result_free(result *r);
/* Random ops draw from a new stream from here on. */
void fresh_seeds(void);
tfsdk_status *run_eager(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, result *out);
/* How a graph is made and run. PLAIN and eager are equal to the bit; so is FUSED, where output 0 goes
 * through further element-wise ops that give it back, and SUPPLIED, where input 0 comes through such;
 * rewriting rules need not keep every bit. */
enum graph_kind { GRAPH_PLAIN, GRAPH_REWRITTEN, GRAPH_FUSED, GRAPH_SUPPLIED };
tfsdk_status *run_graph(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, enum graph_kind kind,
                        result *out);
/* Does a plan let the op's kernel ask for the elements of input 0 (TFSDK_KERNEL_SUPPLIED)? */
bool asks_for_elements(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in);
/* Gradients of sum(dy * y) for the inputs that are floating: out[i] NULL for the others and for
 * none. */
tfsdk_status *grad_eager(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                         const unsigned char *wanted, uint64_t seed, tfsdk_tensor **out);
tfsdk_status *grad_graph(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in,
                         const unsigned char *wanted, uint64_t seed, tfsdk_tensor **out);
/* sum(dy * y) with the same dy, in double. */
tfsdk_status *loss_of(tfsdk_runtime *rt, const sample *s, tfsdk_tensor **in, uint64_t seed,
                      double *out);

/* Compares; writes what differs. tolerance < 0: bit for bit. */
bool same(tfsdk_tensor *want, tfsdk_tensor *got, double tolerance, char *why, size_t why_n);
double tolerance_of(const char *op, int32_t dtype);
bool is_float(int32_t dtype);

/* The checks. Each reports through the functions below. */
typedef struct report {
  const char *op, *text, *only;
  int32_t T;
  uint32_t passed, failed, skipped;
} report;
void pass(report *r);
void skip(report *r, const char *check, const char *why);
void fail(report *r, const char *check, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void fail_status(report *r, const char *check, tfsdk_status *take);
bool wants_check(const report *r, const char *check);

typedef struct runtimes {
  tfsdk_runtime *plain, *reference; /* kernels by priority; reference kernels only */
} runtimes;
void check_record(report *r, const tfsdk_opdef *op);
void check_values(report *r, const runtimes *rts, const sample *s);
void check_shapes(report *r, const runtimes *rts, const tfsdk_opdef *op, const char *text,
                  int32_t T);
void check_gradients(report *r, const runtimes *rts, const sample *s);
void check_memory(report *r, const runtimes *rts, const sample *s);

#endif
