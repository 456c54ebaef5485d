/* data_histograms.c - /data/histograms: buckets and percentiles of a tag, step by step. */
#include <stdlib.h>

#include "request.h"
#include "tensor.h"

#define MOST_STEPS 200

typedef struct buckets {
  double *left, *right, *count;
  size_t n;
} buckets;

static bool buckets_make(buckets *b, size_t n) {
  b->left = malloc((3 * n + 1) * sizeof(double));
  if (b->left == NULL) return false;
  b->right = b->left + n;
  b->count = b->right + n;
  b->n = n;
  return true;
}

static double packed(bytes b, size_t i) {
  double x;
  memcpy(&x, b.p + 8 * i, sizeof x);
  return x;
}

/* HistogramProto{min 1, max 2, bucket_limit 6, bucket 7}: empty buckets at both ends go, and the
 * outer edges are the least and the greatest value, as TensorBoard has it. */
static bool from_histogram(bytes message, buckets *out) {
  double least = 0, most = 0;
  proto m = proto_of(message);
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 1)) least = proto_double(&m);
    if (proto_is(&m, 2, 1)) most = proto_double(&m);
  }
  bytes limit = proto_field(message, 6), count = proto_field(message, 7);
  size_t n = count.n / 8, first = 0;
  if (m.wrong || limit.n != count.n || count.n % 8 != 0) return false;
  while (first < n && !(packed(count, first) > 0)) first++;
  while (n > first && !(packed(count, n - 1) > 0)) n--;
  if (!buckets_make(out, n - first)) return false;
  for (size_t i = first; i < n; i++) {
    out->left[i - first] = i == first ? least : packed(limit, i - 1);
    out->right[i - first] = i + 1 == n ? most : packed(limit, i);
    out->count[i - first] = packed(count, i);
  }
  return true;
}

/* Rows of left, right, count, as TensorFlow 2 writes them. */
static bool from_tensor(bytes message, buckets *out) {
  tensor x;
  bool fits = tensor_read(message, &x);
  fits = fits && x.number != NULL && (x.n == 0 || (x.rank == 2 && x.dim[1] == 3)) &&
         buckets_make(out, x.n / 3);
  for (size_t i = 0; fits && i < out->n; i++) {
    out->left[i] = x.number[3 * i];
    out->right[i] = x.number[3 * i + 1];
    out->count[i] = x.number[3 * i + 2];
  }
  tensor_free(&x);
  return fits;
}

/* The value below which so many of all counts lie, between edges on a straight line. */
static double percentile(const buckets *b, double total, double share) {
  double want = share * total, sum = 0;
  for (size_t i = 0; i < b->n; i++) {
    if (b->count[i] > 0 && sum + b->count[i] >= want) {
      double part = (want - sum) / b->count[i];
      return b->left[i] + (part < 0 ? 0 : part) * (b->right[i] - b->left[i]);
    }
    sum += b->count[i];
  }
  return b->n > 0 ? b->right[b->n - 1] : 0;
}

/* Of a normal distribution these lie at whole and half standard deviations. */
static const double shares[] = {0, .0668, .1587, .3085, .5, .6915, .8413, .9332, 1};

static void put_list(text *t, const char *key, const double *x, size_t n) {
  json_open_at(t, key, '[');
  for (size_t i = 0; i < n; i++) json_number(t, x[i]);
  json_close(t, ']');
}

static void put_histogram(text *t, const place *p, const buckets *b) {
  double total = 0;
  for (size_t i = 0; i < b->n; i++) total += b->count[i];
  json_open(t, '{');
  json_int_at(t, "step", p->step);
  json_number_at(t, "wall", p->wall);
  put_list(t, "left", b->left, b->n);
  put_list(t, "right", b->right, b->n);
  put_list(t, "count", b->count, b->n);
  json_open_at(t, "percentiles", '[');
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
    json_number(t, percentile(b, total, shares[i]));
  json_close(t, ']');
  json_close(t, '}');
}

void data_histograms(request *q) {
  double most;
  place *at;
  size_t n;
  text *t = &q->out;
  if (!request_number(q, "steps", 50, 1, MOST_STEPS, &most) ||
      !request_places(q, HISTOGRAMS, (size_t)most, &at, &n))
    return;
  json_open(t, '{');
  put_list(t, "shares", shares, sizeof shares / sizeof *shares);
  json_open_at(t, "steps", '[');
  for (size_t i = 0; i < n && q->status == 200; i++) {
    tfsdk_tensor *box;
    bytes value = {"", 0};
    buckets b = {NULL, NULL, NULL, 0};
    tfsdk_status *s = store_read(q->s, &at[i], &box, &value);
    bytes histogram = proto_field(value, 5), tensor_bytes = proto_field(value, 8);
    if (s != NULL)
      request_fail_status(q, s);
    else if (histogram.n > 0 ? from_histogram(histogram, &b) : from_tensor(tensor_bytes, &b))
      put_histogram(t, &at[i], &b);
    free(b.left);
    tfsdk_tensor_release(box);
  }
  free(at);
  if (q->status != 200) return;
  json_close(t, ']');
  json_close(t, '}');
}
