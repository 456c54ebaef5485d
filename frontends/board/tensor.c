/* tensor.c - reading TensorProto{dtype 1, tensor_shape 2, tensor_content 4, float_val 5,
 * double_val 6, int_val 7, string_val 8, int64_val 10, bool_val 11, half_val 13, uint32_val 16,
 * uint64_val 17} (tensorflow/core/framework/tensor.proto). */
#include "tensor.h"

#include <stdlib.h>
#include <tfsdk/tensor.h>

#define MOST ((size_t)1 << 24) /* elements: nothing that is looked at has more */

static const struct {
  const char *name;
  int size; /* of an element of tensor_content */
} types[] = {{"?", 0},        {"float32", 4}, {"float64", 8}, {"int32", 4},      {"uint8", 1},
             {"int16", 2},    {"int8", 1},    {"string", 0},  {"complex64", 0},  {"int64", 8},
             {"bool", 1},     {"qint8", 0},   {"quint8", 0},  {"qint32", 0},     {"bfloat16", 2},
             {"qint16", 0},   {"quint16", 0}, {"uint16", 2},  {"complex128", 0}, {"float16", 2},
             {"resource", 0}, {"variant", 0}, {"uint32", 4},  {"uint64", 8}};

const char *tensor_type_name(uint64_t dtype) {
  uint64_t plain = dtype > 100 ? dtype - 100 : dtype; /* references have 100 added */
  return plain < sizeof types / sizeof *types ? types[plain].name : "?";
}

static double from_bits(int dtype, uint64_t bits) {
  float f;
  double d;
  uint32_t low = (uint32_t)bits;
  switch (dtype) {
  case 1: memcpy(&f, &low, sizeof f); return (double)f;
  case 2: memcpy(&d, &bits, sizeof d); return d;
  case 3: return (double)(int32_t)low;
  case 5: return (double)(int16_t)low;
  case 6: return (double)(int8_t)low;
  case 9: return (double)(int64_t)bits;
  case 14: return (double)tfsdk_from_bfloat16((uint16_t)bits);
  case 19: return (double)tfsdk_from_half((uint16_t)bits);
  default: return (double)bits;
  }
}

static bool read_shape(bytes message, tensor *out, size_t *out_n) {
  proto m = proto_of(message);
  *out_n = 1;
  while (proto_next(&m)) {
    if (!proto_is(&m, 2, 2)) continue;
    proto d = proto_of(m.in);
    uint64_t extent = 0;
    while (proto_next(&d))
      if (proto_is(&d, 1, 0)) extent = d.number;
    if (out->rank == TENSOR_RANK || extent > MOST || d.wrong) return false;
    out->dim[out->rank++] = (int64_t)extent;
    *out_n *= (size_t)extent;
    if (*out_n > MOST) return false;
  }
  return !m.wrong;
}

/* One value, or several packed ones, of a *_val field. */
static void add_values(tensor *t, size_t *at, const proto *m, uint32_t wire) {
  if (m->wire == wire) {
    if (*at < t->n) t->number[(*at)++] = from_bits(t->dtype, m->number);
    return;
  }
  proto packed = proto_of(m->in);
  while (m->wire == 2 && packed.at != packed.end && *at < t->n) {
    uint64_t v = 0;
    size_t width = wire == 1 ? 8 : 4;
    if (wire == 0) {
      if (!proto_varint(&packed, &v)) return;
    } else {
      if ((size_t)(packed.end - packed.at) < width) return;
      for (size_t i = 0; i < width; i++) v |= (uint64_t)packed.at[i] << 8 * i;
      packed.at += width;
    }
    t->number[(*at)++] = from_bits(t->dtype, v);
  }
}

static bool read_content(tensor *t, bytes content) {
  size_t size = (size_t)types[t->dtype].size;
  if (size == 0 || content.n != t->n * size) return false;
  for (size_t i = 0; i < t->n; i++) {
    uint64_t v = 0;
    for (size_t k = 0; k < size; k++)
      v |= (uint64_t)(unsigned char)content.p[i * size + k] << 8 * k;
    t->number[i] = from_bits(t->dtype, v);
  }
  return true;
}

bool tensor_read(bytes message, tensor *out) {
  size_t n = 1, at = 0;
  bytes content = {NULL, 0};
  memset(out, 0, sizeof *out);
  proto m = proto_of(message);
  while (proto_next(&m)) {
    if (proto_is(&m, 1, 0) && m.number < sizeof types / sizeof *types) out->dtype = (int)m.number;
    if (proto_is(&m, 2, 2) && (out->rank = 0, !read_shape(m.in, out, &n))) return false;
    if (proto_is(&m, 4, 2)) content = m.in;
  }
  if (m.wrong || out->dtype == 0) return false;
  out->n = n;
  if (out->dtype == 7) {
    if ((out->string = calloc(n + 1, sizeof *out->string)) == NULL) return false;
    m = proto_of(message);
    while (proto_next(&m))
      if (proto_is(&m, 8, 2) && at < n) out->string[at++] = m.in;
    for (size_t last = at; at > 0 && last < n; last++) out->string[last] = out->string[at - 1];
    return true;
  }
  if (types[out->dtype].size == 0) return false;
  if ((out->number = calloc(n + 1, sizeof *out->number)) == NULL) return false;
  if (content.n > 0) {
    if (read_content(out, content)) return true;
    tensor_free(out);
    return false;
  }
  m = proto_of(message);
  while (proto_next(&m)) {
    uint32_t f = m.field;
    if (f == 5 || f == 6) add_values(out, &at, &m, f == 5 ? 5 : 1);
    if (f == 7 || f == 10 || f == 11 || f == 13 || f == 16 || f == 17) add_values(out, &at, &m, 0);
  }
  /* The last value stands for all that are not there. */
  for (size_t last = at; at > 0 && last < n; last++) out->number[last] = out->number[at - 1];
  return true;
}

void tensor_free(tensor *t) {
  free(t->number);
  free(t->string);
  t->number = NULL;
  t->string = NULL;
}
