/* request.c - what the handlers of /data/ share. */
#include "request.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void request_fail(request *q, unsigned status, const char *format, ...) {
  char what[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  text_free(&q->out);
  q->status = status;
  q->type = "application/json";
  q->file_name = NULL;
  q->forever = false;
  json_open(&q->out, '{');
  json_text_at(&q->out, "error", what);
  json_close(&q->out, '}');
}

void request_fail_status(request *q, tfsdk_status *s) {
  request_fail(q, tfsdk_status_code(s) == TFSDK_NOT_FOUND ? 404 : 500, "%s", tfsdk_status_text(s));
  tfsdk_status_release(s);
}

bool request_need(request *q, const char *name, const char **out) {
  *out = request_text(q, name);
  if (*out == NULL) request_fail(q, 400, "the parameter '%s' is missing", name);
  return *out != NULL;
}

bool request_number(request *q, const char *name, double absent, double least, double most,
                    double *out) {
  const char *given = request_text(q, name);
  char *end;
  *out = absent;
  if (given == NULL) return true;
  double x = strtod(given, &end);
  if (*given == 0 || *end != 0 || !(x >= least && x <= most)) {
    request_fail(q, 400, "%s must be a number from %g to %g, not '%s'", name, least, most, given);
    return false;
  }
  *out = x;
  return true;
}

bool request_series(request *q, series_kind kind, run **out_run, series **out) {
  const char *name, *tag;
  *out = NULL;
  if (!request_need(q, "run", &name) || !request_need(q, "tag", &tag)) return false;
  pthread_mutex_lock(&q->s->lock);
  *out_run = store_run(q->s, name);
  if (*out_run != NULL) *out = run_series(*out_run, kind, tag);
  if (*out != NULL) return true;
  pthread_mutex_unlock(&q->s->lock);
  if (*out_run == NULL)
    request_fail(q, 404, "there is no run '%s'", name);
  else
    request_fail(q, 404, "the run '%s' has no %s '%s'", name, kind_names[kind], tag);
  return false;
}

bool request_places(request *q, series_kind kind, size_t count, place **out, size_t *out_n) {
  run *r;
  series *x;
  *out = NULL;
  *out_n = 0;
  if (!request_series(q, kind, &r, &x)) return false;
  size_t n = x->n < count ? x->n : count;
  *out = malloc((n + 1) * sizeof **out);
  for (size_t i = 0; *out != NULL && i < n; i++)
    (*out)[i] = x->places[n == x->n ? i : n == 1 ? x->n - 1 : i * (x->n - 1) / (n - 1)];
  pthread_mutex_unlock(&q->s->lock);
  *out_n = n;
  if (*out == NULL) request_fail(q, 500, "no memory");
  return *out != NULL;
}
