/* Sorted tables of LevelDB's form (github.com/google/leveldb, doc/table_format.md), which hold the
 * index of TensorFlow's checkpoints: blocks of key and value, an index block, a footer. Everything
 * is checked before it is believed. */
#ifndef TFSDK_CHECKPOINT_TABLE_H
#define TFSDK_CHECKPOINT_TABLE_H

#include "file.h"

typedef struct table_entry {
  const char *key, *value; /* lent for the call */
  size_t key_n, value_n;
  uint64_t at; /* of the value in the file, for messages */
} table_entry;

typedef tfsdk_status *table_fn(void *user, const table_entry *e);
/* Visits all entries in order. */
tfsdk_status *table_each(file *f, table_fn *fn, void *user);

/* A varint of at most 64 bits; false when it is cut off or too long. */
bool read_varint(const char **p, const char *end, uint64_t *out);
static inline uint32_t read_u32(const void *at) {
  const unsigned char *p = (const unsigned char *)at;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t read_u64(const void *at) {
  return read_u32(at) | (uint64_t)read_u32((const char *)at + 4) << 32;
}

#endif
