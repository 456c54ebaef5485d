/* data_text.c - /data/text: strings of a tag, step by step, with their shape: two axes are a table.
 * /data/pr_curves: rows of true and false positives, true and false negatives, precision, recall. */
#include <stdlib.h>

#include "request.h"
#include "tensor.h"

static void put_strings(text *t, const tensor *x) {
  json_open_at(t, "text", '[');
  for (size_t i = 0; i < x->n; i++) json_string(t, x->string[i].p, x->string[i].n);
  json_close(t, ']');
}

static void put_rows(text *t, const tensor *x) {
  static const char *const rows[] = {"true_positives",  "false_positives", "true_negatives",
                                     "false_negatives", "precision",       "recall"};
  size_t n = (size_t)x->dim[1];
  for (size_t k = 0; k < 6; k++) {
    json_open_at(t, rows[k], '[');
    for (size_t i = 0; i < n; i++) json_number(t, x->number[k * n + i]);
    json_close(t, ']');
  }
}

static void answer(request *q, series_kind kind) {
  double most;
  place *at;
  size_t n;
  text *t = &q->out;
  if (!request_number(q, "steps", 100, 1, 1000, &most) ||
      !request_places(q, kind, (size_t)most, &at, &n))
    return;
  json_open(t, '{');
  json_open_at(t, "steps", '[');
  for (size_t i = 0; i < n && q->status == 200; i++) {
    tfsdk_tensor *box;
    bytes value = {"", 0};
    tensor x;
    tfsdk_status *s = store_read(q->s, &at[i], &box, &value);
    if (s != NULL) {
      request_fail_status(q, s);
    } else if (tensor_read(proto_field(value, 8), &x)) {
      bool curve = kind == CURVES && x.number != NULL && x.rank == 2 && x.dim[0] == 6;
      if (curve || (kind == TEXT && x.string != NULL)) {
        json_open(t, '{');
        json_int_at(t, "step", at[i].step);
        json_number_at(t, "wall", at[i].wall);
        json_open_at(t, "shape", '[');
        for (uint32_t k = 0; k < x.rank; k++) json_int(t, x.dim[k]);
        json_close(t, ']');
        if (curve)
          put_rows(t, &x);
        else
          put_strings(t, &x);
        json_close(t, '}');
      }
      tensor_free(&x);
    }
    tfsdk_tensor_release(box);
  }
  free(at);
  if (q->status != 200) return;
  json_close(t, ']');
  json_close(t, '}');
}

void data_text(request *q) { answer(q, TEXT); }
void data_curves(request *q) { answer(q, CURVES); }
