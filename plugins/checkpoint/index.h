/* The index of a checkpoint, PREFIX.json: which data files there are, which tensor lies where, and
 * the state of the run. It is JSON of this form:
 *
 *     {"crc32c":"89abcdef",                    of all that follows this member
 *      "format":"tfsdk checkpoint","version":1,
 *      "files":[{"name":"model-10.safetensors","bytes":4096}],      beside the index
 *      "tensors":{"w":{"dtype":"float32","shape":[2,3],"file":0,"at":128,"bytes":24,
 *                      "crc32c":"01234567"}},
 *      "state":{"global_step":10, ...}}         what the writer was given
 *
 * Strings lie in the data files as uint8: n + 1 offsets of 64 bits, little-endian, then the bytes.
 * A checkpoint is whole when its index is there: data files are written before it, under names that
 * no index uses. */
#ifndef TFSDK_CHECKPOINT_INDEX_H
#define TFSDK_CHECKPOINT_INDEX_H

#include <cjson/cJSON.h>

#include "file.h"

#define INDEX_FORMAT  "tfsdk checkpoint"
#define INDEX_VERSION 1

/* "run/model-10" for itself and for "run/model-10.json". */
char *index_prefix(arena *memory, const char *path);
/* Reads and checks the index of a prefix; *out is the caller's to delete. */
tfsdk_status *index_read(const tfsdk_host *host, arena *memory, const char *prefix, cJSON **out);
/* Whether `name` can be a data file: beside the index, and nowhere else. */
bool index_file_name(const char *name);

#endif
