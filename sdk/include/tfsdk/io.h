/* tfsdk/io.h - readers and writers of data files.
 *
 * A reader hands out records one after another; a record is one tensor for each component ("image",
 * "label"). It is pulled by one caller at a time, often the core's prefetch thread. The core
 * batches, shuffles, repeats and prefetches; a reader only reads. Corrupt data is DATA_LOSS with
 * file and byte offset; the end of the data is no error.
 */
#ifndef TFSDK_IO_H
#define TFSDK_IO_H

#include <tfsdk/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfsdk_component {
  char name[64];
  tfsdk_typed_shape type; /* of one record: no batch axis; extents that vary are -1 */
} tfsdk_component;

/* Readers of graphs. Records are strings but where said: `kind` tells what one is.
 *
 *   node       name, op, device; inputs: "node" "node:1" "node:output argument:1" "^node" (control),
 *              nodes that came before; attrs: names and values by turns, a value as a letter and
 *              text: s TEXT, i INTEGER, f NUMBER, b 0 or 1, t DTYPE's number, h EXTENTS ("2,-1"; "?"
 *              of unknown rank), l LIST: each value as its length, ':' and the value; T: the
 *              record's tensor: dtype, shape (int64), bytes (uint8) or strings. "" is no value
 *   signature  name, op: its method; inputs and attrs (here: outputs): keys and names of values
 *   variable   name: of its handle's node; device, op: the file, and its reader, with its value;
 *              inputs: the tensor's name there, and "" or the slice that it is
 *   need       name, op, device: what the writer says that a program must have: "format" VERSION,
 *              "version" VERSION, "op" NAME PLUGIN
 */

/* Receives the components of one record. */
typedef struct tfsdk_record {
  const tfsdk_host *host;
  uint32_t struct_size, n; /* n components */
  /* Gives component i memory for that shape (`bytes` of text for a string component, else 0) and
   * lends it for filling. Each component must be given memory exactly once per record. */
  tfsdk_status *(*alloc)(struct tfsdk_record *r, uint32_t i, uint32_t rank, const int64_t *dim,
                         uint64_t bytes, tfsdk_view *out);
} tfsdk_record;

struct tfsdk_readerdef {
  uint32_t struct_size;
  uint16_t n_option, attr_size;
  const char *name;       /* "csv" */
  const char *extensions; /* ".csv .csv.gz": which files are meant when no reader is named */
  const char *doc;
  const tfsdk_attrdef *option;
  /* Opens a file. `options` holds every option of the record, defaults filled in. */
  tfsdk_status *(*open)(void *self, const tfsdk_host *host, const char *path,
                        const tfsdk_attrs *options, void **out_reader);
  /* The components. `cap` entries are there; writes the number that exist. */
  tfsdk_status *(*components)(void *reader, tfsdk_component *out, uint32_t cap, uint32_t *out_n);
  /* The next record; *out_end = 1 and no record at the end, again and again. */
  tfsdk_status *(*next)(void *reader, tfsdk_record *r, int32_t *out_end);
  /* The number of records if it is known, else -1. NULL: unknown. */
  int64_t (*count)(void *reader);
  /* The position as text that `restore` understands, for resuming. out_n is the text's size. */
  tfsdk_status *(*save)(void *reader, char *out, size_t cap, size_t *out_n);
  tfsdk_status *(*restore)(void *reader, const char *text, size_t n);
  void (*close)(void *reader);
};

struct tfsdk_writerdef {
  uint32_t struct_size;
  uint16_t n_option, attr_size;
  const char *name, *extensions, *doc;
  const tfsdk_attrdef *option;
  tfsdk_status *(*open)(void *self, const tfsdk_host *host, const char *path,
                        const tfsdk_attrs *options, void **out_writer);
  /* Appends one record: n named tensors. */
  tfsdk_status *(*append)(void *writer, const char *const *names, const tfsdk_view *values,
                          uint32_t n);
  /* After a durable flush a crash loses nothing that was appended before it. */
  tfsdk_status *(*flush)(void *writer, int32_t durable);
  /* Finishes the file. On error the file that was there before is untouched. */
  tfsdk_status *(*finish)(void *writer);
  void (*close)(void *writer); /* releases; drops what was not finished */
};

#ifdef __cplusplus
}
#endif
#endif
