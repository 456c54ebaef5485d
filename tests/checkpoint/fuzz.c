/* Damaged files at random: no reader may crash, hang, or ask for absurd memory, and none may leak.
 *
 *     checkpoint_fuzz PLUGINS COUNT SEED FILE...      COUNT damaged copies of each file
 *
 * The reader is the one for the file's ending. Copies of TensorFlow's tables and of our own indexes
 * get their checksums set right half of the time: what lies behind the checksum is tried, too. Built
 * with -DTFSDK_LIBFUZZER -fsanitize=fuzzer it is a target of libFuzzer; FUZZ_READER names the
 * reader and FUZZ_PLUGINS the folder. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tfsdk/tfsdk.h>
#include <unistd.h>

#include "../../plugins/checkpoint/crc32c.h"

typedef struct names {
  char **list;
  size_t n;
} names;

static int collect(void *user, const tfsdk_file_tensor *t) {
  names *v = user;
  if (v->n == 4096) return 1;
  v->list = realloc(v->list, (v->n + 1) * sizeof *v->list);
  v->list[v->n++] = strdup(t->name);
  return 0;
}

static long accepted, refused;

static void settle(tfsdk_status *s) {
  if (s == NULL) {
    accepted++;
    return;
  }
  refused++;
  if (strlen(tfsdk_status_message(s)) < 10) abort(); /* an error says something */
  tfsdk_status_release(s);
}

/* All that can be done with a file. */
static void try_file(tfsdk_runtime *rt, const char *path, const char *reader) {
  names v = {NULL, 0};
  char *text = NULL;
  tfsdk_status *s = tfsdk_file_each(rt, path, reader, collect, &v);
  int listed = s == NULL;
  settle(s);
  if (listed) {
    settle(tfsdk_file_metadata(rt, path, reader, &text));
    free(text);
  }
  tfsdk_tensor **out = calloc(v.n + 1, sizeof *out);
  for (int map = 0; listed && map < 2; map++) {
    const char *const *list = (const char *const *)v.list;
    s = tfsdk_file_read(rt, path, reader, list, v.n, map, out);
    if (s == NULL && !map) /* every byte must be there to be read */
      for (size_t i = 0; i < v.n; i++) {
        tfsdk_view view;
        volatile unsigned char sum = 0;
        settle(tfsdk_tensor_view(out[i], &view));
        for (uint64_t k = 0; k < view.byte_size; k += 61)
          sum = (unsigned char)(sum + ((const unsigned char *)view.data)[k]);
      }
    for (size_t i = 0; i < v.n; i++) tfsdk_tensor_release(out[i]);
    settle(s);
  }
  for (size_t i = 0; listed && i < v.n && i < 6;
       i++) { /* alone: one that is damaged hides others */
    tfsdk_tensor *t = NULL;
    settle(tfsdk_file_read(rt, path, reader, (const char *const *)&v.list[i], 1, 0, &t));
    tfsdk_tensor_release(t);
  }
  free(out);
  for (size_t i = 0; i < v.n; i++) free(v.list[i]);
  free(v.list);
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
  char path[64];
  const char *reader = getenv("FUZZ_READER");
  if (rt == NULL) rt = make_runtime(getenv("FUZZ_PLUGINS"));
  int fd = memfd_create("fuzz", 0);
  if (fd < 0 || write(fd, data, n) != (ssize_t)n) abort();
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  try_file(rt, path, reader != NULL ? reader : "safetensors");
  close(fd);
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
  static const uint64_t odd[] = {0,          1,          0x7f,       0x80,       0xff,
                                 0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                 1u << 20,   1u << 31,   UINT64_MAX, INT64_MAX,  (uint64_t)1 << 62,
                                 1000000000, 24,         8};
  static const char *const words[] = {
      "99999999999999999999", "-1",        "1e9", "\"\"", "{", "[[", "0", "\\u0000", "null",
      "\"tensors\":{}",       "4294967296"};
  if (f->n == 0) return;
  /* headers and ends say more than the middle */
  size_t at = draw(3) == 0   ? draw((uint32_t)(f->n < 200 ? f->n : 200))
              : draw(3) == 0 ? f->n - 1 - draw((uint32_t)(f->n < 200 ? f->n : 200))
                             : draw((uint32_t)f->n);
  size_t left = f->n - at, k = 1 + draw(16);
  switch (draw(9)) {
  case 0: f->b[at] ^= (unsigned char)(1u << draw(8)); break;
  case 1: f->b[at] = (unsigned char)draw(256); break;
  case 2: f->b[at] = (unsigned char)(f->b[at] + draw(5) - 2); break;
  case 3: {
    uint64_t x = odd[draw(sizeof odd / sizeof *odd)];
    size_t width = (size_t)1 << draw(4);
    memcpy(f->b + at, &x, left < width ? left : width);
    break;
  }
  case 4: f->n = at; break;
  case 5: /* a piece goes */
    if (k > left) k = left;
    memmove(f->b + at, f->b + at + k, left - k);
    f->n -= k;
    break;
  case 6: /* a piece comes twice */
    if (k > left) k = left;
    if (f->n + k > f->cap) break;
    memmove(f->b + at + k, f->b + at, left);
    f->n += k;
    break;
  case 7: { /* a word over what is there */
    const char *w = words[draw(sizeof words / sizeof *words)];
    size_t n = strlen(w);
    memcpy(f->b + at, w, n < left ? n : left);
    break;
  }
  default: /* a digit becomes another one */
    for (size_t i = at; i < f->n; i++)
      if (f->b[i] >= '0' && f->b[i] <= '9') {
        f->b[i] = (unsigned char)('0' + draw(10));
        break;
      }
  }
}

static int varint(const unsigned char *b, size_t n, size_t *at, uint64_t *out) {
  *out = 0;
  for (unsigned shift = 0; shift < 64 && *at < n; shift += 7) {
    *out |= (uint64_t)(b[*at] & 127) << shift;
    if (b[(*at)++] < 128) return 1;
  }
  return 0;
}

static void seal(bytes *f, uint64_t at, uint64_t n) {
  if (at > f->n || n > f->n - at || f->n - at - n < 5) return;
  uint32_t crc = crc32c_mask(crc32c(0, f->b + at, n + 1));
  memcpy(f->b + at + n + 1, &crc, 4);
}

/* Right checksums of a table: of its blocks, the first of them being the data of small ones. */
static void seal_table(bytes *f) {
  uint64_t h[4];
  if (f->n < 48) return;
  size_t at = f->n - 48;
  for (int i = 0; i < 4; i++)
    if (!varint(f->b, f->n - 8, &at, &h[i])) return;
  if (h[2] > f->n || h[3] > f->n - h[2]) return;
  size_t p = h[2]; /* the index block's first entry: shared, own, value lengths, key, handle */
  uint64_t shared, own, value, from, n;
  if (varint(f->b, f->n, &p, &shared) && varint(f->b, f->n, &p, &own) &&
      varint(f->b, f->n, &p, &value) && own < f->n - p) {
    p += own;
    if (varint(f->b, f->n, &p, &from) && varint(f->b, f->n, &p, &n)) seal(f, from, n);
  }
  seal(f, h[2], h[3]);
}

static void seal_index(bytes *f) {
  char digits[9];
  if (f->n < 21 || memcmp(f->b, "{\"crc32c\":\"", 11) != 0) return;
  snprintf(digits, sizeof digits, "%08x", crc32c(0, f->b + 21, f->n - 21));
  memcpy(f->b + 11, digits, 8);
  memcpy(f->b + 19, "\",", 2);
}

static int ends(const char *path, const char *ending) {
  size_t n = strlen(path), k = strlen(ending);
  return n >= k && strcmp(path + n - k, ending) == 0;
}

static bytes read_whole(const char *path) {
  bytes f = {NULL, 0, 0};
  FILE *in = fopen(path, "rb");
  if (in == NULL) {
    perror(path);
    exit(2);
  }
  f.cap = 4 << 20;
  f.b = malloc(f.cap);
  f.n = fread(f.b, 1, f.cap / 2, in);
  fclose(in);
  return f;
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/checkpoint_fuzz.XXXXXX", command[4096], path[256];
  if (argc < 5 || mkdtemp(folder) == NULL) return 2;
  long count = atol(argv[2]);
  state = strtoull(argv[3], NULL, 0);
  tfsdk_runtime *rt = make_runtime(argv[1]);
  for (int i = 4; i < argc; i++) {
    bytes seed = read_whole(argv[i]), f = {malloc(seed.cap), 0, seed.cap};
    int index = ends(argv[i], ".index"), json = ends(argv[i], ".json");
    const char *reader = json ? "checkpoint" : NULL;
    const char *slash = strrchr(argv[i], '/'), *base = slash != NULL ? slash + 1 : argv[i];
    /* the data files lie beside an index */
    if (index || json) {
      snprintf(command, sizeof command, "cp '%.*s'/* '%s'", (int)(base - argv[i] - 1), argv[i],
               folder);
      if (system(command) != 0) return 2;
    }
    snprintf(path, sizeof path, "%s/%s", folder, base);
    long before = accepted;
    for (long k = 0; k <= count; k++) { /* the first one is whole */
      memcpy(f.b, seed.b, seed.n);
      f.n = seed.n;
      for (uint32_t m = k > 0 ? 1 + draw(4) : 0; m > 0; m--) mutate(&f);
      if ((index || ends(argv[i], ".ckpt")) && draw(2)) seal_table(&f);
      if (json && draw(2)) seal_index(&f);
      unlink(path);
      FILE *out = fopen(path, "wb");
      if (out == NULL || fwrite(f.b, 1, f.n, out) != f.n || fclose(out) != 0) return 2;
      if (getenv("FUZZ_KEEP") != NULL) fprintf(stderr, "%s %ld\n", base, k);
      try_file(rt, path, reader);
      if (k == 0 && accepted == before) {
        fprintf(stderr, "%s is refused without damage\n", argv[i]);
        return 1;
      }
    }
    free(seed.b);
    free(f.b);
  }
  tfsdk_memory_info m;
  tfsdk_runtime_memory(rt, "cpu:0", &m);
  printf("checkpoint_fuzz: %ld accepted, %ld refused, %llu tensors left\n", accepted, refused,
         (unsigned long long)m.live_tensors);
  int rc = m.live_tensors != 0 || refused == 0;
  tfsdk_runtime_release(rt);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || rc;
}
#endif
