/* data_media.c - /data/media: pictures or sounds of a tag, step by step; /data/blob: one of them.
 *
 * The bytes come from files that anybody may have written. They are served as a picture or a sound
 * only if they begin like one, never as anything that a browser would run. */
#include <stdlib.h>

#include "request.h"
#include "tensor.h"

#define MOST_STEPS 1000

static const char *sniff(bytes b) {
  static const struct {
    const char *begin;
    size_t n;
    const char *type;
  } known[] = {{"\x89PNG\r\n\x1a\n", 8, "image/png"},
               {"\xff\xd8\xff", 3, "image/jpeg"},
               {"GIF8", 4, "image/gif"},
               {"RIFF", 4, "audio/wav"},
               {"fLaC", 4, "audio/flac"},
               {"OggS", 4, "audio/ogg"},
               {"ID3", 3, "audio/mpeg"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (b.n >= known[i].n && memcmp(b.p, known[i].begin, known[i].n) == 0) return known[i].type;
  return "application/octet-stream";
}

/* The samples of a value. Image{height 1, width 2, encoded 4}, Audio{sample_rate 1, length_frames 3,
 * encoded 4}; TensorFlow 2: a tensor of width, height, picture ..., or rows of sound and label. */
typedef struct samples {
  tensor x;
  bytes one;
  size_t n, first, stride;
  int64_t width, height;
} samples;

static bool samples_of(bytes value, series_kind kind, samples *out) {
  memset(out, 0, sizeof *out);
  bytes message = proto_field(value, kind == IMAGES ? 4 : 6);
  bytes box = proto_field(value, 8);
  if (message.n > 0) {
    proto m = proto_of(message);
    while (proto_next(&m)) {
      if (proto_is(&m, 1, 0)) out->height = (int64_t)m.number;
      if (proto_is(&m, 2, 0)) out->width = (int64_t)m.number;
      if (proto_is(&m, 4, 2)) out->one = m.in;
    }
    out->n = 1;
    return !m.wrong;
  }
  if (!tensor_read(box, &out->x) || out->x.string == NULL) {
    tensor_free(&out->x);
    return false;
  }
  out->stride = kind == AUDIO && out->x.rank == 2 && out->x.dim[1] > 0 ? (size_t)out->x.dim[1] : 1;
  out->first = kind == IMAGES ? 2 : 0;
  out->n = out->x.n > out->first ? (out->x.n - out->first) / out->stride : 0;
  if (kind == IMAGES && out->x.n >= 2) {
    out->width = strtoll(out->x.string[0].p, NULL, 10);
    out->height = strtoll(out->x.string[1].p, NULL, 10);
  }
  return true;
}

static bytes sample(const samples *s, size_t i) {
  return s->x.string == NULL ? s->one : s->x.string[s->first + i * s->stride];
}

static bool kind_of(request *q, series_kind *out) {
  const char *kind;
  if (!request_need(q, "kind", &kind)) return false;
  *out = strcmp(kind, "audio") == 0 ? AUDIO : IMAGES;
  if (*out == AUDIO || strcmp(kind, "images") == 0) return true;
  request_fail(q, 400, "kind is images or audio, not '%s'", kind);
  return false;
}

void data_media(request *q) {
  series_kind kind;
  double most;
  place *at;
  size_t n;
  text *t = &q->out;
  if (!kind_of(q, &kind) || !request_number(q, "steps", 100, 1, MOST_STEPS, &most) ||
      !request_places(q, kind, (size_t)most, &at, &n))
    return;
  samples s;
  size_t have = 0;
  if (n > 0) { /* how many samples there are is told by the last */
    tfsdk_tensor *box;
    bytes value = {"", 0};
    tfsdk_status *st = store_read(q->s, &at[n - 1], &box, &value);
    if (st == NULL && samples_of(value, kind, &s)) {
      have = s.n;
      tensor_free(&s.x);
    } else {
      memset(&s, 0, sizeof s);
    }
    tfsdk_tensor_release(box);
    if (st != NULL) {
      request_fail_status(q, st);
      free(at);
      return;
    }
  } else {
    memset(&s, 0, sizeof s);
  }
  json_open(t, '{');
  json_int_at(t, "samples", (int64_t)have);
  json_int_at(t, "width", kind == IMAGES ? s.width : 0);
  json_int_at(t, "height", kind == IMAGES ? s.height : 0);
  json_open_at(t, "steps", '[');
  for (size_t i = 0; i < n; i++) {
    json_open(t, '{');
    json_int_at(t, "step", at[i].step);
    json_number_at(t, "wall", at[i].wall);
    json_close(t, '}');
  }
  json_close(t, ']');
  json_close(t, '}');
  free(at);
}

/* The sample of the value of that step and wall time: a place in the list may move. */
void data_blob(request *q) {
  series_kind kind;
  double step, wall, which;
  run *r;
  series *x;
  if (!kind_of(q, &kind) || !request_number(q, "step", -1, -9e15, 9e15, &step) ||
      !request_number(q, "wall", 0, 0, 1e300, &wall) ||
      !request_number(q, "sample", 0, 0, 1e6, &which) || !request_series(q, kind, &r, &x))
    return;
  place at = {0, 0, NULL, 0, 0};
  for (size_t i = x->n; i > 0 && at.path == NULL; i--)
    if (x->places[i - 1].step == (int64_t)step && (wall == 0 || x->places[i - 1].wall == wall))
      at = x->places[i - 1];
  pthread_mutex_unlock(&q->s->lock);
  if (at.path == NULL) {
    request_fail(q, 404, "there is nothing of step %.0f", step);
    return;
  }
  tfsdk_tensor *box;
  bytes value = {"", 0};
  samples s;
  tfsdk_status *st = store_read(q->s, &at, &box, &value);
  if (st != NULL) {
    request_fail_status(q, st);
  } else if (!samples_of(value, kind, &s)) {
    request_fail(q, 404, "the value of step %.0f is of no kind that is known", step);
  } else {
    if ((size_t)which < s.n) {
      bytes b = sample(&s, (size_t)which);
      text_raw(&q->out, b.p, b.n);
      q->type = sniff(b);
      q->forever = true;
    } else {
      request_fail(q, 404, "there are %zu samples; %.0f is none of them", s.n, which);
    }
    tensor_free(&s.x);
  }
  tfsdk_tensor_release(box);
}
