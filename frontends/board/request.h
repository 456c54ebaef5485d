/* request.h - a question under /data/ and its answer. */
#ifndef TFSDK_BOARD_REQUEST_H
#define TFSDK_BOARD_REQUEST_H

#include "store.h"

typedef struct request {
  store *s;
  void *connection;      /* server.c's */
  unsigned status;       /* of HTTP; 200 until something fails */
  const char *type;      /* of the content */
  const char *file_name; /* offered for saving; NULL: it is shown */
  bool forever;          /* the answer never changes */
  text out;
} request;

typedef void handler(request *q);

/* The answer becomes {"error": ...}. */
__attribute__((format(printf, 3, 4))) void request_fail(request *q, unsigned status,
                                                        const char *format, ...);
void request_fail_status(request *q, tfsdk_status *take_status);

/* A parameter of the query; NULL if it is not there. */
const char *request_text(const request *q, const char *name);
/* False: the answer is an error already. */
bool request_need(request *q, const char *name, const char **out);
bool request_number(request *q, const char *name, double absent, double least, double most,
                    double *out);
/* Calls fn for each parameter of that name. */
void request_each(const request *q, const char *name, void (*fn)(void *user, const char *value),
                  void *user);

/* The series of the parameters `run` and `tag`, with the lock held; false: answered, not locked. */
bool request_series(request *q, series_kind kind, run **out_run, series **out);
/* The same, copying at most `count` places evenly, the last among them; no lock is held then. */
bool request_places(request *q, series_kind kind, size_t count, place **out, size_t *out_n);

handler data_index, data_scalars, data_scalars_csv, data_histograms, data_media, data_blob,
    data_text, data_graph, data_hparams, data_curves, data_projector, data_projector_points,
    data_profile, data_profiles;

#endif
