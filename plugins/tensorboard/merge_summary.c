/* MergeSummary: several summaries as one.
 *
 *     the values of all inputs in order; no tag twice                  (TensorFlow's MergeSummary)
 */
#include <stdlib.h>

#include "summary.h"

typedef struct tag {
  const char *s;
  size_t n;
} tag;

static int by_text(const void *a, const void *b) {
  const tag *x = (const tag *)a, *y = (const tag *)b;
  int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
  return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

/* The tags of a message, into `to` from *n on where it is not NULL; their number is added to *n. */
static bool collect(const char *bytes, size_t size, tag *to, size_t *n) {
  pb_reader m = pb_read(bytes, size);
  while (pb_next(&m)) {
    if (!pb_is(&m, 1, 2)) continue;
    pb_reader value = pb_read(m.bytes, m.n);
    tag t = {"", 0};
    while (pb_next(&value))
      if (pb_is(&value, 1, 2)) t = (tag){value.bytes, value.n};
    if (value.wrong) return false;
    if (to != NULL) to[*n] = t;
    ++*n;
  }
  return !m.wrong;
}

static tfsdk_status *collect_all(tfsdk_run *r, tag *to, size_t *n) {
  *n = 0;
  for (uint32_t i = 0; i < r->n_in; i++)
    for (int64_t k = 0; k < r->in[i].n_elem; k++) {
      uint64_t size;
      const char *bytes = tfsdk_view_string(&r->in[i], k, &size);
      if (!collect(bytes, (size_t)size, to, n))
        return TFSDK_FAIL(r, INVALID_ARGUMENT, "input %u is no serialized Summary", i);
    }
  return NULL;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  size_t n = 0;
  void *room = NULL;
  (void)state;
  TFSDK_TRY(collect_all(r, NULL, &n));
  if (n > 0) TFSDK_TRY(r->api->workspace(r, n * sizeof(tag), &room));
  tag *tags = (tag *)room;
  TFSDK_TRY(collect_all(r, tags, &n));
  if (n > 1) qsort(tags, n, sizeof *tags, by_text);
  for (size_t i = 1; i < n; i++)
    if (by_text(&tags[i - 1], &tags[i]) == 0)
      return TFSDK_FAIL(r, INVALID_ARGUMENT, "two of the summaries have the tag '%.*s'",
                        tags[i].n < 200 ? (int)tags[i].n : 200, tags[i].s);
  /* A message whose field is repeated is the bytes of its parts, one after another. */
  pb b = pb_new(r->host);
  for (uint32_t i = 0; i < r->n_in; i++)
    for (int64_t k = 0; k < r->in[i].n_elem; k++) {
      uint64_t size;
      const char *bytes = tfsdk_view_string(&r->in[i], k, &size);
      pb_raw(&b, bytes, (size_t)size);
    }
  return summary_finish(r, &b);
}

static const tfsdk_arg in[] = {{"inputs", "N*string", "serialized Summary messages", 0, 0}};
static const tfsdk_arg out[] = {{"summary", "string", "a serialized Summary", 0, 0}};
static const tfsdk_attrdef attr[] = {{"N", "int", NULL, "how many", 1, 1e9}};
static const char *const samples[] = {"[string(\"\") ; string(\"\")]", NULL};
static const tfsdk_opdef ops[] = {{
    TFSDK_OP_HEAD("MergeSummary", "several summaries as one"),
    .doc = "A serialized Summary message with the values of all inputs, in order. It is an error "
           "if two values have the same tag: the second would hide the first.",
    .in = in,
    .n_in = TFSDK_COUNT(in),
    .out = out,
    .n_out = TFSDK_COUNT(out),
    .attr = attr,
    .n_attr = TFSDK_COUNT(attr),
    .infer = tfsdk_infer_scalar,
    .reference = compute,
    .no_grad_reason = "the output is a string",
    .samples = samples,
}};
TFSDK_UNIT_OPS(merge_summary, ops);
