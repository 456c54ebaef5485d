/* Damaged graph files at random: no import may crash, hang, or ask for absurd memory, and none may leak.
 *
 *     saved_model_fuzz PLUGINS COUNT SEED FILE...     COUNT damaged copies of each file, in memory
 *
 * Built with -DTFSDK_LIBFUZZER -fsanitize=fuzzer it is a target of libFuzzer; FUZZ_PLUGINS names the folder of plugins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfsdk/tfsdk.h>

static long accepted, refused;

/* Ops run nothing here; importing infers shapes and keeps constants. */
static void try_bytes(tfsdk_runtime *rt, const void *data, size_t n) {
  tfsdk_graph *g = NULL;
  tfsdk_import_options o = {.struct_size = sizeof o, .content = data, .content_bytes = n};
  tfsdk_status *s = tfsdk_graph_create(rt, &g);
  if (s == NULL && n > 0) s = tfsdk_graph_import(g, "fuzz", &o);
  if (s == NULL) {
    accepted++;
  } else {
    refused++;
    if (strlen(tfsdk_status_message(s)) < 10) abort(); /* an error says something */
    tfsdk_status_release(s);
  }
  tfsdk_graph_release(g);
}

static tfsdk_runtime *make_runtime(const char *plugins) {
  tfsdk_runtime_options o = {.struct_size = sizeof o,
                             .plugin_path = plugins,
                             .threads = 1,
                             .memory_limit = (uint64_t)1 << 30,
                             .log_level = TFSDK_LOG_NONE};
  tfsdk_runtime *rt = NULL;
  tfsdk_status *s = tfsdk_runtime_create(&o, &rt);
  if (s == NULL) return rt;
  fprintf(stderr, "%s\n", tfsdk_status_text(s));
  exit(2);
}

#ifdef TFSDK_LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  static tfsdk_runtime *rt;
  if (rt == NULL) rt = make_runtime(getenv("FUZZ_PLUGINS"));
  try_bytes(rt, data, n);
  return 0;
}
#else

static uint64_t state;
static uint32_t draw(uint32_t below) { /* splitmix64, Steele, Lea and Flood 2014 */
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (uint32_t)((z ^ z >> 31) % below);
}

typedef struct bytes {
  unsigned char *b;
  size_t n, cap;
} bytes;

static void mutate(bytes *f) {
  static const char *const words[] = {"99999999999999999999", "-1", "1e9", "\"", "{", "}", "node",
                                      "DT_RESOURCE",          "^",  ":9"};
  static const unsigned char odd[] = {0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a};
  if (f->n == 0) return;
  size_t at = draw((uint32_t)f->n), left = f->n - at, k = 1 + draw(40);
  if (k > left) k = left;
  switch (draw(8)) {
  case 0: f->b[at] ^= (unsigned char)(1u << draw(8)); break;
  case 1: f->b[at] = odd[draw(sizeof odd)]; break;
  case 2: f->b[at] = (unsigned char)(f->b[at] + draw(5) - 2); break;
  case 3: memset(f->b + at, 0xff, k < 10 ? k : 10); break; /* a varint without end */
  case 4: f->n = at; break;
  case 5: /* a piece goes */
    memmove(f->b + at, f->b + at + k, left - k);
    f->n -= k;
    break;
  case 6: /* a piece comes twice */
    if (f->n + k > f->cap) break;
    memmove(f->b + at + k, f->b + at, left);
    f->n += k;
    break;
  default: {
    const char *w = words[draw(sizeof words / sizeof *words)];
    size_t n = strlen(w);
    memcpy(f->b + at, w, n < left ? n : left);
  }
  }
}

static bytes read_whole(const char *path) {
  bytes f = {NULL, 0, 4 << 20};
  FILE *in = fopen(path, "rb");
  if (in == NULL) {
    perror(path);
    exit(2);
  }
  f.b = malloc(f.cap);
  f.n = fread(f.b, 1, f.cap / 2, in);
  fclose(in);
  return f;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  long count = atol(argv[2]);
  state = strtoull(argv[3], NULL, 0);
  tfsdk_runtime *rt = make_runtime(argv[1]);
  for (int i = 4; i < argc; i++) {
    bytes seed = read_whole(argv[i]), f = {malloc(seed.cap), 0, seed.cap};
    for (long k = 0; k <= count; k++) { /* the first one is whole */
      memcpy(f.b, seed.b, seed.n);
      f.n = seed.n;
      for (uint32_t m = k > 0 ? 1 + draw(4) : 0; m > 0; m--) mutate(&f);
      const char *keep = getenv("FUZZ_KEEP"); /* the file that was tried last */
      FILE *out = keep != NULL ? fopen(keep, "wb") : NULL;
      if (out != NULL) {
        fwrite(f.b, 1, f.n, out);
        fclose(out);
      }
      try_bytes(rt, f.b, f.n);
    }
    free(seed.b);
    free(f.b);
  }
  tfsdk_memory_info m;
  tfsdk_runtime_memory(rt, "cpu:0", &m);
  printf("saved_model_fuzz: %ld accepted, %ld refused, %llu tensors left\n", accepted, refused,
         (unsigned long long)m.live_tensors);
  int rc = m.live_tensors != 0 || refused == 0 || accepted == 0;
  tfsdk_runtime_release(rt);
  return rc;
}
#endif
