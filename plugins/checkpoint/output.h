/* Files that appear whole or not at all: written under another name in the same folder, made
 * durable, renamed, and the folder made durable. */
#ifndef TFSDK_CHECKPOINT_OUTPUT_H
#define TFSDK_CHECKPOINT_OUTPUT_H

#include "file.h"

typedef struct output {
  const tfsdk_host *host;       /* first; NULL: not open */
  const char *path, *temporary; /* in the caller's arena */
  unsigned char *buffer;
  size_t held;
  uint64_t at;            /* bytes written, those held included */
  uint64_t handed, begun; /* handed to the system; and begun to be put on the disk */
  int fd;
} output;

#define OUTPUT_BUFFER ((size_t)256 << 10)
/* Folders on the way are made. `buffer`: OUTPUT_BUFFER bytes that nobody uses before this output is
 * sealed; NULL: one of its own. */
tfsdk_status *output_open(output *o, const tfsdk_host *host, arena *memory, const char *path,
                          void *buffer);
tfsdk_status *output_write(output *o, const void *data, uint64_t n);
/* Hands everything to the system; `durable`: to the disk. */
tfsdk_status *output_flush(output *o, bool durable);
/* Makes it durable and closes it, under the name that it has for now. */
tfsdk_status *output_seal(output *o);
/* Makes it durable under its own name. */
tfsdk_status *output_commit(output *o);
/* Closes; what was not committed goes. One that is not open is allowed. */
void output_close(output *o);
/* A small file at once. */
tfsdk_status *output_text(const tfsdk_host *host, arena *memory, const char *path, const char *text,
                          size_t n);

#endif
