/* program_watch.h - what `tfsdk watch` knows of the runs below a folder. */
#ifndef TFSDK_LUA_PROGRAM_WATCH_H
#define TFSDK_LUA_PROGRAM_WATCH_H

#include <tfsdk/tfsdk.h>

#define WATCH_POINTS 256 /* of a series: when they are full every second one goes */
#define WATCH_RECENT 64  /* events that the rate of a run is told by */

typedef struct watch_series {
  char *tag;
  int64_t step;            /* of the latest value */
  double value, low, high; /* low > high: no finite value yet */
  uint64_t count, stride;  /* values seen; each stride-th of them is a point */
  uint32_t n_points;
  float point[WATCH_POINTS];
  int fresh; /* came since it was last shown */
} watch_series;

typedef struct watch_run {
  char *name; /* the folder below the log folder; "." for itself */
  watch_series **series;
  size_t n_series;
  int64_t step;     /* the highest */
  double wall_time; /* of the latest event */
  struct {
    int64_t step;
    double wall_time;
  } recent[WATCH_RECENT];
  uint64_t n_recent; /* ever; the last WATCH_RECENT are kept */
} watch_run;

typedef struct watch_file {
  char *path;
  size_t run;
  int64_t offset, size; /* read up to; size when it was read */
  char *fault;          /* damage: it is read no further */
} watch_file;

typedef struct watch {
  tfsdk_runtime *rt;
  const char *folder, *filter; /* filter: part of a tag; NULL: all */
  watch_run **runs;            /* by name */
  size_t n_runs;
  watch_file *files;
  size_t n_files;
  int out_of_memory;
  /* Called for each new value; NULL: nobody wants to know. */
  void (*on_value)(const watch_run *run, const watch_series *series);
} watch;

/* Looks for new files and reads what has come. An error is one of the whole (no plugin); damage of a
 * file stays with the file. */
tfsdk_status *watch_update(watch *w);
/* Steps per second of the latest events; 0 if they do not tell. */
double watch_rate(const watch_run *run);
/* What a monitor wrote last under "monitor/NAME"; NaN: nothing. */
double watch_monitored(const watch_run *run, const char *name);
void watch_close(watch *w);

#endif
