/* Reading the index; see index.h. */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "crc32c.h"
#include "json.h"

#define MAX_INDEX ((uint64_t)1 << 30)

static const char beginning[] = "{\"crc32c\":\"";

char *index_prefix(arena *memory, const char *path) {
  size_t n = strlen(path);
  if (n > 5 && strcmp(path + n - 5, ".json") == 0) n -= 5;
  return arena_text(memory, path, n);
}

bool index_file_name(const char *name) {
  return name[0] != 0 && name[0] != '.' && strchr(name, '/') == NULL;
}

/* The checksum is of what follows the member's comma. */
static tfsdk_status *check_sum(file *f, const char *text, size_t n) {
  size_t head = sizeof beginning - 1 + 8 + 2;
  char *end = NULL;
  if (n < head || memcmp(text, beginning, sizeof beginning - 1) != 0 ||
      memcmp(text + head - 2, "\",", 2) != 0)
    return FILE_FAIL(f, DATA_LOSS, "this is no index of a checkpoint: it does not begin with %s",
                     beginning);
  char digits[9] = {0};
  memcpy(digits, text + sizeof beginning - 1, 8);
  uint32_t stored = (uint32_t)strtoul(digits, &end, 16);
  if (end != digits + 8) return FILE_FAIL(f, DATA_LOSS, "the checksum at byte 11 is no number");
  if (crc32c(0, text + head, n - head) != stored)
    return FILE_FAIL(f, DATA_LOSS,
                     "the index is damaged or cut off: bytes %zu to %zu have a wrong checksum",
                     head, n);
  return NULL;
}

static tfsdk_status *check_version(file *f, const cJSON *tree) {
  const cJSON *format = cJSON_GetObjectItemCaseSensitive(tree, "format");
  const cJSON *version = cJSON_GetObjectItemCaseSensitive(tree, "version");
  if (!cJSON_IsString(format) || strcmp(format->valuestring, INDEX_FORMAT) != 0 ||
      !cJSON_IsNumber(version))
    return FILE_FAIL(f, DATA_LOSS, "this is JSON, but no index of a checkpoint");
  if (version->valuedouble > INDEX_VERSION)
    return TFSDK_FAIL(f, INCOMPATIBLE,
                      "%s: the checkpoint is of version %g; this program reads up to %d", f->path,
                      version->valuedouble, INDEX_VERSION);
  return NULL;
}

tfsdk_status *index_read(const tfsdk_host *host, arena *memory, const char *prefix, cJSON **out) {
  file f;
  const char *path = arena_format(memory, "%s.json", prefix), *end = NULL;
  *out = NULL;
  if (path == NULL) return NO_MEMORY(memory);
  TFSDK_TRY(file_open(&f, host, path));
  char *text = NULL;
  tfsdk_status *s = NULL;
  if (f.bytes > MAX_INDEX)
    s = FILE_FAIL(&f, DATA_LOSS, "an index has at most %llu bytes; this file has %llu",
                  (unsigned long long)MAX_INDEX, (unsigned long long)f.bytes);
  else if ((text = arena_get(memory, f.bytes + 1)) == NULL)
    s = NO_MEMORY(memory);
  if (s == NULL) s = file_read(&f, 0, text, f.bytes, "the index");
  if (s == NULL) s = check_sum(&f, text, f.bytes);
  if (s == NULL && (memchr(text, 0, f.bytes) != NULL || !utf8_valid(text, f.bytes)))
    s = FILE_FAIL(&f, DATA_LOSS, "the index is no UTF-8");
  if (s == NULL) {
    *out = cJSON_ParseWithLengthOpts(text, f.bytes + 1, &end, 1);
    if (!cJSON_IsObject(*out))
      s = FILE_FAIL(&f, DATA_LOSS, "the index is no JSON: the fault is at byte %lld",
                    (long long)(end != NULL ? end - text : 0));
    else
      s = check_version(&f, *out);
  }
  if (s != NULL) {
    cJSON_Delete(*out);
    *out = NULL;
  }
  file_close(&f);
  return s;
}
