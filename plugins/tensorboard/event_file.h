/* An event file being written: where it is, and what is not yet in it. One thread at a time. */
#ifndef TFSDK_TENSORBOARD_EVENT_FILE_H
#define TFSDK_TENSORBOARD_EVENT_FILE_H

#include "pb.h"

typedef struct event_file {
  const tfsdk_host *host;
  const char *folder, *suffix; /* lent */
  char path[4096];             /* "" until the file is open */
  int fd;                      /* -1: not open yet */
  pb pending;                  /* framed records; `done` bytes of them are in the file */
  size_t done;
  uint64_t lost; /* events that found no room while writing failed */
  int error;     /* errno of the last attempt to write; 0: it went well */
  const char *doing;
} event_file;

/* The file's first record is pending afterwards; nothing is touched yet. */
void event_file_init(event_file *f, const tfsdk_host *host, const char *folder, const char *suffix);
void event_file_add(event_file *f, const char *event, size_t n);
/* Writes what is pending, making folder and file if need be. What could not be written stays, and
 * is tried again the next time, from the very byte where it ended. */
void event_file_write(event_file *f, bool durable);
/* The last attempt's error, or what was lost; NULL if all is well. */
tfsdk_status *event_file_status(const event_file *f);
void event_file_close(event_file *f); /* sets `error` where closing fails */

/* Event{wall_time 1, step 2, `field`}: `field` 0 makes an event without content. */
void event_put(pb *b, double wall_time, int64_t step, uint32_t field, const void *bytes, size_t n);
double event_now(void); /* seconds since 1970 */

#endif
