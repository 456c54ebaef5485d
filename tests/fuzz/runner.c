/* Driver without clang: each file as it is, then COUNT damaged copies of it.
 *
 *     fuzz_NAME COUNT SEED FILE|FOLDER...
 *
 * FUZZ_KEEP=FILE keeps the bytes that were tried last. With COUNT 0 files are only tried: found ones, again. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

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

static void overwrite(bytes *f, size_t at, const void *with, size_t n) {
  memcpy(f->b + at, with, n < f->n - at ? n : f->n - at);
}

static void damage(bytes *f) {
  static const uint64_t odd[] = {0,          1,          0x7f,       0x80,       0xff,
                                 0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
                                 1u << 20,   1u << 31,   UINT64_MAX, INT64_MAX,  (uint64_t)1 << 62,
                                 1000000000, 24,         8,          0x0a,       0x12};
  static const char *const words[] = {
      "99999999999999999999",
      "-1",
      "1e9",
      "\"\"",
      "{",
      "}",
      "[[",
      "\\u0000",
      "null",
      "4294967296",
      "0",
      "^",
      ":9",
      "node",
      "\"tensors\":{}",
      "DT_RESOURCE",
      "\"",
  };
  if (f->n == 0) return;
  /* headers and ends say more than the middle */
  uint32_t edge = (uint32_t)(f->n < 200 ? f->n : 200), where = draw(9);
  size_t at = where < 3 ? draw(edge) : where < 5 ? f->n - 1 - draw(edge) : draw((uint32_t)f->n);
  size_t left = f->n - at, k = 1 + draw(40);
  if (k > left) k = left;
  switch (draw(10)) {
  case 0: f->b[at] ^= (unsigned char)(1u << draw(8)); break;
  case 1: f->b[at] = (unsigned char)draw(256); break;
  case 2: f->b[at] = (unsigned char)(f->b[at] + draw(5) - 2); break;
  case 3: overwrite(f, at, &odd[draw(sizeof odd / sizeof *odd)], (size_t)1 << draw(4)); break;
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
  case 7: {
    const char *w = words[draw(sizeof words / sizeof *words)];
    overwrite(f, at, w, strlen(w));
    break;
  }
  case 8: memset(f->b + at, 0xff, k < 10 ? k : 10); break; /* a varint without end */
  default:                                                 /* a digit becomes another one */
    for (size_t i = at; i < f->n; i++)
      if (f->b[i] >= '0' && f->b[i] <= '9') {
        f->b[i] = (unsigned char)('0' + draw(10));
        break;
      }
  }
}

static void try_one(target_place *p, const bytes *f) {
  const char *keep = getenv("FUZZ_KEEP");
  FILE *out = keep != NULL ? fopen(keep, "wb") : NULL;
  if (out != NULL) {
    fwrite(f->b, 1, f->n, out);
    fclose(out);
  }
  target_one(p, f->b, f->n);
}

static int try_file(target_place *p, const char *path, long count) {
  bytes seed = {malloc(4 << 20), 0, 4 << 20}, f = {malloc(4 << 20), 0, 4 << 20};
  FILE *in = fopen(path, "rb");
  if (in == NULL) {
    perror(path);
    return 1;
  }
  seed.n = fread(seed.b, 1, seed.cap / 2, in);
  fclose(in);
  for (long k = 0; k <= count; k++) {
    memcpy(f.b, seed.b, seed.n);
    f.n = seed.n;
    for (uint32_t m = k > 0 ? 1 + draw(4) : 0; m > 0; m--) damage(&f);
    if (k > 0 && draw(2)) target_seal(f.b, f.n);
    try_one(p, &f);
  }
  free(seed.b);
  free(f.b);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s COUNT SEED FILE|FOLDER...\n", argv[0]);
    return 2;
  }
  long count = atol(argv[1]), tried = 0;
  int bad = 0;
  state = strtoull(argv[2], NULL, 0);
  target_place *p = target_open();
  for (int i = 3; i < argc; i++) {
    DIR *d = opendir(argv[i]);
    if (d == NULL) { /* a seed: there is something in it to be read */
      long before = target_accepted;
      bad |= try_file(p, argv[i], 0);
      if (target_accepted == before) {
        fprintf(stderr, "%s is refused without damage\n", argv[i]);
        bad = 1;
      }
      bad |= try_file(p, argv[i], count);
      tried++;
      continue;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) { /* found ones, as they are */
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
      if (e->d_name[0] != '.') bad |= try_file(p, path, 0);
      tried += e->d_name[0] != '.';
    }
    closedir(d);
  }
  unsigned long long left = target_close(p);
  printf("%ld files, %ld accepted, %ld refused, %llu tensors left\n", tried, target_accepted,
         target_refused, left);
  return bad || left != 0 || (count > 0 && target_refused == 0);
}
