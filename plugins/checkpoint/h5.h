/* HDF5 files, as far as weights come in them (HDF Group, "HDF5 File Format Specification 3.0"):
 * superblocks 0 to 3, groups of all three kinds, contiguous, compact and chunked data, deflate,
 * shuffle and Fletcher's checksum, strings, attributes.
 *
 * A reader of our own, because files may be hostile: every address and size is checked against the
 * file before it is followed, every walk is bounded, and nothing outside the file is ever opened.
 *
 *   h5.c         bytes, checksums, objects' headers and their messages
 *   h5_type.c    data types, data spaces, attributes
 *   h5_group.c   the objects of a group: trees, heaps
 *   h5_data.c    a dataset's elements: layout, chunks, filters
 *   hdf5.c       the reader
 */
#ifndef TFSDK_CHECKPOINT_H5_H
#define TFSDK_CHECKPOINT_H5_H

#include <tfsdk/shape.h>

#include "file.h"

#define H5_NOWHERE UINT64_MAX

typedef struct h5 {
  const tfsdk_host *host; /* first */
  const char *path;
  file f;
  const unsigned char *image; /* in place of the file: a member of an archive */
  uint64_t bytes, end;        /* end: as the superblock says, at most `bytes` */
  arena *memory;
  uint64_t root;
  uint32_t offset_size, length_size;
  uint64_t budget; /* bytes of metadata that may still be read: walks come to an end */
  uint64_t heap_at;
  struct h5_cursor *heap; /* the global heap that was used last */
} h5;

#define H5_BAD(h, at, ...)    h5_fail(h, TFSDK_DATA_LOSS, at, __VA_ARGS__)
#define H5_UNREAD(h, at, ...) h5_fail(h, TFSDK_UNIMPLEMENTED, at, __VA_ARGS__)
tfsdk_status *h5_fail(h5 *h, int32_t code, uint64_t at, const char *format, ...) TFSDK_PRINTF(4, 5);

/* Reads from a piece of memory; what lies beyond it reads as 0 and sets `cut`. */
typedef struct h5_cursor {
  const unsigned char *p, *end;
  uint64_t at; /* of p in the file */
  bool cut;
} h5_cursor;
uint64_t h5_get(h5_cursor *c, uint32_t width);          /* little-endian, up to 8 bytes */
const unsigned char *h5_skip(h5_cursor *c, uint64_t n); /* the bytes passed over, or NULL */
static inline uint64_t h5_offset(h5 *h, h5_cursor *c) {
  uint64_t x = h5_get(c, h->offset_size);
  return h->offset_size < 8 && x == ((uint64_t)1 << 8 * h->offset_size) - 1 ? H5_NOWHERE : x;
}
static inline uint64_t h5_length(h5 *h, h5_cursor *c) { return h5_get(c, h->length_size); }
/* n bytes of metadata, in the arena. */
tfsdk_status *h5_piece(h5 *h, uint64_t at, uint64_t n, const char *what, h5_cursor *out);
/* The same with a signature of 4 characters, which is passed over. */
tfsdk_status *h5_signed(h5 *h, uint64_t at, uint64_t n, const char *signature, h5_cursor *out);
/* Elements, straight to their place. */
tfsdk_status *h5_data(h5 *h, uint64_t at, void *to, uint64_t n, const char *what);
/* Bob Jenkins' lookup3 of n bytes: the checksum of newer structures. */
uint32_t h5_checksum(const unsigned char *p, size_t n);

typedef struct h5_message {
  uint32_t type, flags;
  h5_cursor body;
} h5_message;
enum {
  H5_SPACE = 1,
  H5_LINK_INFO = 2,
  H5_TYPE = 3,
  H5_OLD_FILL = 4,
  H5_FILL = 5,
  H5_LINK = 6,
  H5_LAYOUT = 8,
  H5_FILTERS = 11,
  H5_ATTRIBUTE = 12,
  H5_CONTINUATION = 16,
  H5_SYMBOLS = 17,
  H5_ATTRIBUTE_INFO = 21
};
typedef struct h5_object {
  uint64_t at;
  h5_message *list;
  size_t n, cap;
} h5_object;

tfsdk_status *h5_open(h5 *h); /* path, host, memory and file or image are set */
tfsdk_status *h5_read_object(h5 *h, uint64_t at, h5_object *out);
const h5_message *h5_find(const h5_object *o, uint32_t type); /* NULL: none */

/* ------------------------------------------------------------------------------------ h5_type.c */

typedef struct h5_type {
  int32_t dtype;             /* 0: none of ours */
  uint32_t size, part;       /* bytes of an element, of a number in it */
  bool big_endian, variable; /* variable: strings of any length */
} h5_type;
tfsdk_status *h5_read_type(h5 *h, h5_cursor *c, h5_type *out, int depth);
typedef struct h5_space {
  uint32_t rank;
  uint64_t dim[32];
  bool null;
} h5_space;
tfsdk_status *h5_read_space(h5 *h, h5_cursor *c, h5_space *out);
/* Strings: text i of `raw` into the arena of `memory`. */
tfsdk_status *h5_text(h5 *h, const h5_type *t, const unsigned char *raw, arena *memory,
                      const char **out, size_t *out_n);

typedef struct h5_attribute {
  const char *name;
  h5_type type;
  h5_space space;
  uint64_t n;
  h5_cursor data;
} h5_attribute;
typedef tfsdk_status *h5_attribute_fn(void *user, h5 *h, const h5_attribute *a);
tfsdk_status *h5_each_attribute(h5 *h, const h5_object *o, h5_attribute_fn *fn, void *user);

/* ----------------------------------------------------------------------------------- h5_group.c */

typedef tfsdk_status *h5_link_fn(void *user, h5 *h, const char *name, uint64_t object);
/* Hard links only. */
tfsdk_status *h5_each_link(h5 *h, const h5_object *o, h5_link_fn *fn, void *user);
/* Every object of a "dense" store: a tree of names over a heap. */
typedef tfsdk_status *h5_dense_fn(void *user, h5 *h, h5_cursor body);
tfsdk_status *h5_each_dense(h5 *h, uint64_t tree, uint64_t heap, uint32_t record_type,
                            uint32_t id_at, h5_dense_fn *fn, void *user);

/* ------------------------------------------------------------------------------------ h5_data.c */

typedef struct h5_dataset {
  const char *name;
  h5_type type;
  h5_space space;
  h5_message layout, filters, fill;
  bool has_filters, has_fill;
  uint64_t bytes; /* of all elements */
  uint64_t plain; /* where they lie in a piece, as in memory; H5_NOWHERE */
} h5_dataset;
/* What can be said without reading: sizes against the file's, what filters there are. */
tfsdk_status *h5_check_dataset(h5 *h, h5_dataset *d);
/* All elements as they are in the file. */
tfsdk_status *h5_read_dataset(h5 *h, h5_dataset *d, unsigned char *to);

#endif
