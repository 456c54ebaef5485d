/* Files of tensors from C: what is written comes back whatever its type; every allocation that can
 * fail is let fail, and nothing is lost or half there; faults of the caller are told.
 *
 *     checkpoint_api PLUGINS DATA */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tfsdk/tfsdk.h>
#include <unistd.h>

static int bad;
static char folder[] = "/tmp/checkpoint_api.XXXXXX";

#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                              \
      fprintf(stderr, __VA_ARGS__);                                                                \
      fprintf(stderr, "\n");                                                                       \
      bad = 1;                                                                                     \
    }                                                                                              \
  } while (0)

/* NULL, or the text of the error in a buffer of its own. */
static const char *told(tfsdk_status *s) {
  static char text[2000];
  if (s == NULL) return NULL;
  snprintf(text, sizeof text, "%s", tfsdk_status_text(s));
  tfsdk_status_release(s);
  return text;
}

static void refused(const char *what, tfsdk_status *s, const char *word) {
  const char *text = told(s);
  CHECK(text != NULL && strstr(text, word) != NULL, "%s: got '%s', want an error with '%s'", what,
        text != NULL ? text : "no error", word);
}

static char *in_folder(const char *name) {
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

/* --------------------------------------------------------------------------------- every type */

static const int32_t dtypes[] = {
#define DTYPE(id, number, name, bytes, kind) number,
    TFSDK_DTYPES(DTYPE)
#undef DTYPE
};
#define N_TYPES (sizeof dtypes / sizeof dtypes[0])

static size_t make_tensors(tfsdk_runtime *rt, const char **names, tfsdk_tensor **tensors) {
  size_t n = 0;
  int64_t dim[2] = {2, 3};
  unsigned char bytes[6 * 16];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(37 * i + 11);
  for (size_t i = 0; i < N_TYPES; i++) {
    tfsdk_status *s = NULL;
    if (dtypes[i] == TFSDK_RESOURCE) continue;
    if (dtypes[i] == TFSDK_STRING) {
      const char *words[6] = {"one", "", "a\0b", "\xff\xfe", "five", ""};
      size_t lengths[6] = {3, 0, 3, 2, 4, 0};
      s = tfsdk_tensor_create_strings(rt, 2, dim, words, lengths, &tensors[n]);
    } else if (dtypes[i] == TFSDK_BOOL) {
      unsigned char flags[6] = {1, 0, 0, 1, 1, 0};
      s = tfsdk_tensor_create(rt, TFSDK_BOOL, 2, dim, flags, 6, &tensors[n]);
    } else {
      s = tfsdk_tensor_create(rt, dtypes[i], 2, dim, bytes, 6 * tfsdk_dtype_size(dtypes[i]),
                              &tensors[n]);
    }
    CHECK(s == NULL, "%s", told(s));
    names[n++] = tfsdk_dtype_name(dtypes[i]);
  }
  return n;
}

static void release(tfsdk_tensor **list, size_t n) {
  for (size_t i = 0; i < n; i++) tfsdk_tensor_release(list[i]);
}

static tfsdk_status *write_file(tfsdk_runtime *rt, const char *path, const char *writer,
                                const char *const *names, tfsdk_tensor *const *tensors, size_t n) {
  tfsdk_writer *w = NULL;
  tfsdk_status *s = tfsdk_writer_create(rt, path, writer, NULL, 0, &w);
  if (s == NULL) s = tfsdk_writer_append(w, names, tensors, n);
  if (s == NULL) s = tfsdk_writer_flush(w, 1);
  if (s == NULL) s = tfsdk_writer_finish(w);
  tfsdk_writer_release(w);
  return s;
}

static void same(const char *label, const char *name, tfsdk_tensor *a, tfsdk_tensor *b) {
  tfsdk_view x, y;
  tfsdk_status *s = tfsdk_tensor_view(a, &x);
  if (s == NULL) s = tfsdk_tensor_view(b, &y);
  CHECK(s == NULL, "%s", told(s));
  bool equal = x.dtype == y.dtype && x.rank == y.rank && x.byte_size == y.byte_size &&
               memcmp(x.dim, y.dim, x.rank * sizeof *x.dim) == 0 &&
               memcmp(x.data, y.data, x.byte_size) == 0;
  CHECK(equal, "%s: %s differs", label, name);
}

static void round_trips(tfsdk_runtime *rt) {
  static const char *const formats[][2] = {
      {"checkpoint", "model"}, {"safetensors", "all.safetensors"}, {"npz", "all.npz"}};
  const char *names[N_TYPES];
  tfsdk_tensor *tensors[N_TYPES], *back[N_TYPES];
  size_t n = make_tensors(rt, names, tensors);
  for (size_t f = 0; f < 3; f++) {
    const char *few[N_TYPES];
    tfsdk_tensor *some[N_TYPES];
    size_t k = 0;
    for (size_t i = 0; i < n; i++) { /* what a format lacks is refused, by name */
      tfsdk_status *s =
          write_file(rt, in_folder("one.x"), formats[f][0], &names[i], &tensors[i], 1);
      bool lacks =
          (f == 1 && (strcmp(names[i], "string") == 0 || strcmp(names[i], "complex128") == 0)) ||
          (f == 2 && (strcmp(names[i], "string") == 0 || strcmp(names[i], "bfloat16") == 0));
      if (lacks) {
        refused(formats[f][0], s, names[i]);
        CHECK(access(in_folder("one.x.tmp"), F_OK) != 0, "half a file stays");
        continue;
      }
      CHECK(s == NULL, "%s", told(s));
      few[k] = names[i];
      some[k++] = tensors[i];
    }
    const char *path = in_folder(formats[f][1]);
    tfsdk_status *s = write_file(rt, path, formats[f][0], few, some, k);
    CHECK(s == NULL, "%s", told(s));
    for (int map = 0; map < 2; map++) {
      s = tfsdk_file_read(rt, path, formats[f][0], few, k, map, back);
      CHECK(s == NULL, "%s", told(s));
      if (bad) return;
      for (size_t i = 0; i < k; i++) same(formats[f][0], few[i], some[i], back[i]);
      release(back, k);
    }
  }
  release(tensors, n);
}

/* ------------------------------------------------------------------------------------ memory */

static int count(void *user, const tfsdk_file_tensor *t) {
  (void)t;
  ++*(int *)user;
  return 0;
}

typedef struct job {
  const char *path, *reader, *writer;
  const char *const *names;
  tfsdk_tensor *const *tensors;
  size_t n;
} job;

static tfsdk_status *do_job(tfsdk_runtime *rt, const job *j) {
  tfsdk_tensor *out[8] = {NULL};
  char *text = NULL;
  int seen = 0;
  if (j->writer != NULL) {
    tfsdk_saving *saving = NULL;
    tfsdk_status *s = write_file(rt, j->path, j->writer, j->names, j->tensors, j->n);
    if (s == NULL)
      s = tfsdk_saving_start(rt, j->path, j->writer, NULL, 0, j->names, j->tensors, j->n, &saving);
    return s != NULL ? s : tfsdk_saving_wait(saving);
  }
  tfsdk_status *s = tfsdk_file_each(rt, j->path, j->reader, count, &seen);
  if (s == NULL) s = tfsdk_file_metadata(rt, j->path, j->reader, &text);
  free(text);
  for (int map = 0; s == NULL && map < 2; map++) {
    s = tfsdk_file_read(rt, j->path, j->reader, j->names, j->n, map, out);
    if (s == NULL) release(out, j->n);
  }
  return s;
}

/* The 1st, 2nd, ... allocation fails until none does. */
static void fail_allocations(tfsdk_runtime *rt, const job *j) {
  tfsdk_memory_info before, after;
  tfsdk_status *s = do_job(rt, j); /* plugins are there, pools are filled */
  CHECK(s == NULL, "%s: %s", j->path, told(s));
  tfsdk_runtime_memory(rt, "cpu:0", &before);
  uint64_t n = 1;
  for (;; n++) {
    tfsdk_runtime_fail_allocation(rt, n, n % 2);
    s = do_job(rt, j);
    tfsdk_runtime_fail_allocation(rt, 0, 0);
    int32_t code = tfsdk_status_code(s);
    CHECK(s == NULL || code == TFSDK_RESOURCE_EXHAUSTED, "%s, allocation %llu: %s", j->path,
          (unsigned long long)n, tfsdk_status_text(s));
    tfsdk_runtime_memory(rt, "cpu:0", &after);
    CHECK(after.live_tensors == before.live_tensors && after.in_use == before.in_use,
          "%s, allocation %llu: %llu tensors, %llu bytes left behind", j->path,
          (unsigned long long)n, (unsigned long long)(after.live_tensors - before.live_tensors),
          (unsigned long long)(after.in_use - before.in_use));
    tfsdk_status_release(s);
    if (s == NULL || bad || n > 5000) break;
  }
  CHECK(n > 3 && n < 5000, "%s: %llu allocations", j->path, (unsigned long long)n);
  s = do_job(rt, j);
  CHECK(s == NULL, "%s, afterwards: %s", j->path, told(s));
}

static void allocations(tfsdk_runtime *rt, const char *data) {
  static const char *const w[] = {"f32", "i64"};
  static const char *const npz[] = {"w", "b", "order"};
  static const char *const tf[] = {"strings", "partitioned", "conv1/weights"};
  static const char *const h5[] = {"gzip_shuffle", "strings", "chunked"};
  char path[5][512];
  const char *names[N_TYPES];
  tfsdk_tensor *tensors[N_TYPES];
  size_t n = make_tensors(rt, names, tensors);
  snprintf(path[0], sizeof path[0], "%s/torch_files/varied.safetensors", data);
  snprintf(path[1], sizeof path[1], "%s/arrays/compressed.npz", data);
  snprintf(path[2], sizeof path[2], "%s/checkpoints/saver/model.ckpt-7", data);
  snprintf(path[3], sizeof path[3], "%s/keras_files/layouts.h5", data);
  fail_allocations(rt, &(job){path[0], NULL, NULL, w, NULL, 2});
  fail_allocations(rt, &(job){path[1], NULL, NULL, npz, NULL, 3});
  fail_allocations(rt, &(job){path[2], "tf_checkpoint", NULL, tf, NULL, 3});
  fail_allocations(rt, &(job){path[3], NULL, NULL, h5, NULL, 3});
  fail_allocations(rt, &(job){in_folder("model"), "checkpoint", NULL, names, NULL, 3});
  fail_allocations(rt, &(job){in_folder("m.safetensors"), NULL, "safetensors", names, tensors, 3});
  fail_allocations(rt, &(job){in_folder("m.npz"), NULL, "npz", names, tensors, 3});
  fail_allocations(rt, &(job){in_folder("deep/er/m"), NULL, "checkpoint", names, tensors, n});
  release(tensors, n);
}

/* ------------------------------------------------------------------------------- the caller */

static void faults(tfsdk_runtime *rt) {
  const char *names[N_TYPES], *twice[2] = {"a", "a"}, *text[1] = {"__metadata__"};
  const char *broken[1] = {"\xff"};
  tfsdk_tensor *tensors[N_TYPES], *out[2];
  tfsdk_writer *writer = NULL;
  int seen = 0;
  size_t n = make_tensors(rt, names, tensors);
  tfsdk_tensor *pair[2] = {tensors[0], tensors[0]};
  refused("no such reader", tfsdk_file_each(rt, in_folder("x"), "frobnicate", count, &seen),
          "frobnicate");
  refused("no known ending", tfsdk_file_each(rt, in_folder("x.y"), NULL, count, &seen), "x.y");
  refused("a dataset's reader", tfsdk_file_each(rt, in_folder("all.npz"), "csv", count, &seen),
          "csv");
  refused("no such writer", write_file(rt, in_folder("x"), "frobnicate", names, tensors, 1),
          "frobnicate");
  refused("no such tensor", tfsdk_file_read(rt, in_folder("all.npz"), NULL, twice, 1, 0, out),
          "'a'");
  static const char *const formats[] = {"safetensors", "npz", "checkpoint"};
  for (int i = 0; i < 3; i++) {
    refused(formats[i], write_file(rt, in_folder("x"), formats[i], twice, pair, 2), "'a'");
    refused(formats[i], write_file(rt, in_folder("x"), formats[i], broken, tensors, 1), "name");
    CHECK(access(in_folder("x"), F_OK) != 0 && access(in_folder("x.tmp"), F_OK) != 0,
          "%s: a file that was not finished is there", formats[i]);
  }
  refused("a name that is taken", write_file(rt, in_folder("x"), "safetensors", text, tensors, 1),
          "__metadata__");
  tfsdk_attrval odd = {.name = "state", .kind = TFSDK_ATTR_STRING, .v.s = "{\"a\":"};
  refused("no JSON", tfsdk_writer_create(rt, in_folder("x"), "checkpoint", &odd, 1, &writer),
          "state");
  odd.name = "stat";
  refused("no option", tfsdk_writer_create(rt, in_folder("x"), "checkpoint", &odd, 1, &writer),
          "state");
  tfsdk_status *s = tfsdk_writer_create(rt, in_folder("x"), "safetensors", NULL, 0, &writer);
  if (s == NULL) s = tfsdk_writer_append(writer, names, tensors, 1);
  CHECK(s == NULL, "%s", told(s));
  refused("two records", tfsdk_writer_append(writer, names, tensors, 1), "one record");
  refused("after an error", tfsdk_writer_finish(writer), "failed before");
  tfsdk_writer_release(writer);
  CHECK(access(in_folder("x"), F_OK) != 0, "a file that failed is there");
  s = write_file(rt, in_folder("empty.safetensors"), NULL, NULL, NULL, 0);
  if (s == NULL) s = tfsdk_file_each(rt, in_folder("empty.safetensors"), NULL, count, &seen);
  CHECK(s == NULL && seen == 0, "an empty file: %d tensors, %s", seen, told(s));
  release(tensors, n);
}

int main(int argc, char **argv) {
  tfsdk_runtime *rt = NULL;
  tfsdk_memory_info m;
  char command[300];
  if (argc != 3 || mkdtemp(folder) == NULL) return 2;
  tfsdk_runtime_options o = {.struct_size = sizeof o, .plugin_path = argv[1], .threads = 1};
  tfsdk_status *s = tfsdk_runtime_create(&o, &rt);
  if (s != NULL) {
    fprintf(stderr, "%s\n", tfsdk_status_text(s));
    return 2;
  }
  round_trips(rt);
  if (!bad) faults(rt);
  if (!bad) allocations(rt, argv[2]);
  tfsdk_runtime_memory(rt, "cpu:0", &m);
  CHECK(m.live_tensors == 0, "%llu tensors are left", (unsigned long long)m.live_tensors);
  tfsdk_runtime_release(rt);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || bad;
}
