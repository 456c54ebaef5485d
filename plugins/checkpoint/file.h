/* Files read at any place. Every error names the file. */
#ifndef TFSDK_CHECKPOINT_FILE_H
#define TFSDK_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <tfsdk/unit.h>

typedef struct file {
  const tfsdk_host *host; /* first: TFSDK_FAIL(file, ...) works */
  const char *path;       /* lent */
  uint64_t bytes;         /* its size when it was opened */
  int fd;                 /* -1: not open */
} file;

#define FILE_FAIL(f, code, format, ...) TFSDK_FAIL(f, code, "%s: " format, (f)->path, ##__VA_ARGS__)

/* Leaves nothing behind on error. */
tfsdk_status *file_open(file *f, const tfsdk_host *host, const char *path);
void file_close(file *f); /* one that is not open is allowed */
/* Exactly n bytes from `at` on, or DATA_LOSS: `what` says of what. Asks for no memory. */
tfsdk_status *file_read(file *f, uint64_t at, void *to, uint64_t n, const char *what);
/* DATA_LOSS unless n bytes from `at` on lie in the file: before memory for them is asked for. */
tfsdk_status *file_expect(file *f, uint64_t at, uint64_t n, const char *what);
/* What errno `error` says, with the code that fits. */
tfsdk_status *file_error(const tfsdk_host *host, const char *path, const char *what, int error);

/* Memory through the host; NULL when it is out. */
void *memory_get(const tfsdk_host *host, size_t bytes); /* zeroed */
void memory_give(const tfsdk_host *host, void *block, size_t bytes);
#define NO_MEMORY(c) TFSDK_FAIL(c, RESOURCE_EXHAUSTED, "out of memory")

/* Memory that is given back all at once. */
typedef struct arena {
  const tfsdk_host *host;
  struct arena_block *last;
} arena;
void *arena_get(arena *a, size_t bytes); /* zeroed, for any type; NULL when memory is out */
char *arena_text(arena *a, const char *text, size_t n); /* NUL-ended copy */
char *arena_format(arena *a, const char *format, ...) TFSDK_PRINTF(2, 3);
void arena_release(arena *a);
/* Room for one more element of an array in the arena; the old array stays behind. */
void *arena_grow(arena *a, void *array, size_t n, size_t *cap, size_t size);

#endif
