/* monitor.h - what a script does is counted, and written as scalars every second by a thread of its
 * own: the steps never wait for it. */
#ifndef TFSDK_LUA_MONITOR_H
#define TFSDK_LUA_MONITOR_H

#include "module.h"

typedef struct tl_monitor tl_monitor;

/* A session ran. */
void tl_monitor_ran(tl_monitor *m);
/* An element of a dataset came after so many nanoseconds. */
void tl_monitor_waited(tl_monitor *m, int64_t ns);
/* Whether the next run is to be traced: yes once in `trace_secs`. */
int tl_monitor_wants_trace(tl_monitor *m);
/* That run's trace, at an index of the stack, is written beside the scalars; never raises an error. */
void tl_monitor_traced(lua_State *L, tl_state *st, int trace);
/* Begins, and leaves the monitor on the stack; an error if one runs already. */
int tl_monitor_start(lua_State *L, tl_state *st, const char *logdir, double seconds);

#endif
