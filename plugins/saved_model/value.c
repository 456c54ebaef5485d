/* Attributes (AttrValue) and tensors (TensorProto). */
#include <math.h>
#include <stdio.h>

#include "graph.h"

#define LARGEST ((uint64_t)1 << 31) /* bytes of a tensor: what a protobuf message can hold */

static tfsdk_status *bad(graph *g, const char *owner, const char *what) {
  return GRAPH_FAIL(g, DATA_LOSS, "the %s of the node '%s' is damaged", what, owner);
}

static int32_t plain_type(uint64_t t) { return (int32_t)(t > 100 && t < 200 ? t - 100 : t); }

/* TensorShapeProto{dim 2*{size 1}, unknown_rank 3}. -1: unknown rank; -2: damaged, or too many. */
static int32_t read_shape(span message, int64_t *dim) {
  wire w = wire_of(message);
  int32_t rank = 0;
  bool unknown = false;
  while (wire_next(&w)) {
    if (wire_is(&w, 3, 0)) unknown = w.number != 0;
    if (!wire_is(&w, 2, 2)) continue;
    int64_t size = 0;
    wire d = wire_of(w.bytes);
    while (wire_next(&d))
      if (wire_is(&d, 1, 0)) size = (int64_t)d.number;
    if (d.wrong || rank == TFSDK_MAX_RANK) return -2;
    dim[rank++] = size;
  }
  return w.wrong ? -2 : unknown ? -1 : rank;
}

/* The field that holds numbers of a type, and how a number of it is written. */
static uint32_t number_field(int32_t dtype) {
  switch (dtype) {
  case TFSDK_FLOAT32: return 5;
  case TFSDK_FLOAT64: return 6;
  case TFSDK_INT32:
  case TFSDK_INT16:
  case TFSDK_UINT16:
  case TFSDK_INT8:
  case TFSDK_UINT8: return 7;
  case TFSDK_STRING: return 8;
  case TFSDK_COMPLEX64: return 9;
  case TFSDK_INT64: return 10;
  case TFSDK_BOOL: return 11;
  case TFSDK_COMPLEX128: return 12;
  case TFSDK_FLOAT16:
  case TFSDK_BFLOAT16: return 13;
  case TFSDK_UINT32: return 16;
  case TFSDK_UINT64: return 17;
  default: return 0;
  }
}

static bool known_type(int32_t dtype) { return number_field(dtype) != 0; }

static tfsdk_status *read_strings(graph *g, const char *owner, tensor_value *t) {
  wire w = wire_of(t->message);
  size_t cap = 0;
  while (wire_next(&w)) {
    if (!wire_is(&w, 8, 2)) continue;
    span *list = arena_grow(&g->memory, t->strings, (size_t)t->n_strings, &cap, sizeof *list);
    if (list == NULL) return NO_MEMORY(g);
    t->strings = list;
    t->strings[t->n_strings++] = w.bytes;
  }
  if (t->n_strings > t->n_elem)
    return GRAPH_FAIL(g, DATA_LOSS, "the tensor of '%s' has %llu strings for %llu elements", owner,
                      (unsigned long long)t->n_strings, (unsigned long long)t->n_elem);
  return NULL;
}

tfsdk_status *tensor_read(graph *g, const char *owner, span message, tensor_value *t) {
  wire w = wire_of(message);
  int32_t rank = 0;
  memset(t, 0, sizeof *t);
  while (wire_next(&w)) {
    if (wire_is(&w, 1, 0)) t->dtype = plain_type(w.number);
    if (wire_is(&w, 2, 2) && (rank = read_shape(w.bytes, t->dim)) < 0)
      return bad(g, owner, "tensor's shape");
    if (wire_is(&w, 4, 2)) t->content = w.bytes;
  }
  if (w.wrong) return bad(g, owner, "tensor");
  t->rank = (uint32_t)rank;
  t->message = message;
  t->field = number_field(t->dtype);
  if (!known_type(t->dtype))
    return GRAPH_FAIL(g, UNIMPLEMENTED, "the tensor of '%s' has the type %d, which is not read",
                      owner, t->dtype);
  uint64_t size = t->dtype == TFSDK_STRING ? 16 : tfsdk_dtype_size(t->dtype);
  t->n_elem = 1;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->dim[i] < 0)
      return GRAPH_FAIL(g, DATA_LOSS, "the tensor of '%s' has the extent %lld", owner,
                        (long long)t->dim[i]);
    if (t->dim[i] > 0 && t->n_elem > LARGEST / size / (uint64_t)t->dim[i])
      return GRAPH_FAIL(g, RESOURCE_EXHAUSTED, "the tensor of '%s' would have more than %llu bytes",
                        owner, (unsigned long long)LARGEST);
    t->n_elem *= (uint64_t)t->dim[i];
  }
  if (t->dtype == TFSDK_STRING) return read_strings(g, owner, t);
  t->bytes = t->n_elem * size;
  if (t->content.n > 0 && t->content.n != t->bytes)
    return GRAPH_FAIL(g, DATA_LOSS,
                      "the tensor of '%s' has %zu bytes; its type and shape ask for %llu", owner,
                      t->content.n, (unsigned long long)t->bytes);
  /* numbers, counted: none more than there are elements */
  uint64_t parts = t->dtype == TFSDK_COMPLEX64 || t->dtype == TFSDK_COMPLEX128 ? 2 : 1, count = 0;
  w = wire_of(message);
  while (wire_next(&w)) {
    if (w.field != t->field) continue;
    if (w.kind != 2) {
      count++;
      continue;
    }
    size_t width = t->field == 5 || t->field == 9 ? 4 : t->field == 6 || t->field == 12 ? 8 : 0;
    if (width > 0 && w.bytes.n % width != 0) return bad(g, owner, "tensor");
    if (width > 0) count += w.bytes.n / width;
    wire p = wire_of(w.bytes);
    for (uint64_t v; width == 0 && p.p < p.end; count++)
      if (!wire_varint(&p, &v)) return bad(g, owner, "tensor");
  }
  if (count > t->n_elem * parts && !(t->n_elem == 0))
    return GRAPH_FAIL(g, DATA_LOSS, "the tensor of '%s' has %llu numbers for %llu elements", owner,
                      (unsigned long long)(count / parts), (unsigned long long)t->n_elem);
  return NULL;
}

/* Number i: of `size` bytes, as it lies in memory. */
static void store(char *to, uint64_t i, size_t size, uint64_t number) {
  memcpy(to + i * size, &number, size); /* little-endian: the low bytes */
}

void tensor_fill(const tensor_value *t, void *to) {
  bool complex = t->dtype == TFSDK_COMPLEX64 || t->dtype == TFSDK_COMPLEX128;
  size_t size = tfsdk_dtype_size(t->dtype) / (complex ? 2 : 1);
  uint64_t n = t->n_elem * (complex ? 2 : 1), i = 0;
  if (t->content.n > 0) {
    memcpy(to, t->content.p, t->bytes);
    return;
  }
  bool fixed = t->field == 5 || t->field == 6 || t->field == 9 || t->field == 12;
  wire w = wire_of(t->message);
  while (wire_next(&w)) {
    if (w.field != t->field) continue;
    if (w.kind != 2) {
      if (i < n) store(to, i++, size, w.number);
      continue;
    }
    wire p = wire_of(w.bytes);
    while (i < n && p.p < p.end) {
      uint64_t v = 0;
      if (fixed) {
        memcpy(&v, p.p, size);
        p.p += size;
      } else if (!wire_varint(&p, &v)) {
        break;
      }
      store(to, i++, size, v);
    }
  }
  if (i == 0) {
    memset(to, 0, t->bytes);
    return;
  }
  uint64_t last = complex && i >= 2 ? i - 2 : i - 1; /* the last value fills the rest */
  for (uint64_t k = 0; i < n; i++, k++)
    memcpy((char *)to + i * size, (char *)to + (last + (complex ? k % 2 : 0)) * size, size);
}

/* ------------------------------------------------------------------------------------- attributes */

typedef struct text {
  graph *g;
  char *p;
  size_t n, cap;
  bool failed;
} text;

static void put(text *t, const char *bytes, size_t n) {
  if (t->failed) return;
  if (t->cap - t->n < n) {
    size_t cap = 2 * t->cap + n + 32;
    char *more = arena_get(&t->g->memory, cap);
    if (more == NULL) {
      t->failed = true;
      return;
    }
    if (t->n > 0) memcpy(more, t->p, t->n);
    t->p = more;
    t->cap = cap;
  }
  if (n > 0) memcpy(t->p + t->n, bytes, n);
  t->n += n;
}

static void put_shape(text *t, int32_t rank, const int64_t *dim) {
  char number[32];
  put(t, "h", 1);
  if (rank < 0) put(t, "?", 1);
  for (int32_t i = 0; i < rank; i++)
    put(t, number,
        (size_t)snprintf(number, sizeof number, "%s%lld", i ? "," : "", (long long)dim[i]));
}

/* One value, whose field is the present one; the numbers of fields are the same in lists. */
static bool put_value(text *t, wire *w, uint64_t number) {
  char out[40];
  int n = 0;
  int64_t dim[TFSDK_MAX_RANK];
  switch (w->field) {
  case 2:
    put(t, "s", 1);
    put(t, w->bytes.p, w->bytes.n);
    return w->kind == 2;
  case 3: n = snprintf(out, sizeof out, "i%lld", (long long)number); break;
  case 4: {
    uint32_t bits = (uint32_t)number;
    float f;
    memcpy(&f, &bits, 4);
    n = snprintf(out, sizeof out, "f%.9g", (double)f);
    break;
  }
  case 5: n = snprintf(out, sizeof out, "b%d", number != 0); break;
  case 6: n = snprintf(out, sizeof out, "t%d", plain_type(number)); break;
  case 7: {
    int32_t rank = read_shape(w->bytes, dim);
    if (rank == -2 || w->kind != 2) return false;
    put_shape(t, rank, dim);
    return true;
  }
  default: return false;
  }
  put(t, out, (size_t)n);
  return true;
}

static void put_item(text *list, const text *item) {
  char head[24];
  put(list, head, (size_t)snprintf(head, sizeof head, "%zu:", item->n));
  put(list, item->p, item->n);
  list->failed |= item->failed;
}

static bool put_list(text *t, span message) {
  wire w = wire_of(message);
  text item = {.g = t->g};
  put(t, "l", 1);
  while (wire_next(&w)) {
    if (w.field == 8 || w.field == 9) return false; /* tensors, functions */
    bool numbers = w.field >= 3 && w.field <= 6;
    if (!numbers || w.kind != 2) {
      item.n = 0;
      if (!put_value(&item, &w, w.number)) return false;
      put_item(t, &item);
      continue;
    }
    wire p = wire_of(w.bytes); /* packed */
    while (p.p < p.end) {
      uint64_t v = 0;
      if (w.field == 4) {
        if (p.end - p.p < 4) return false;
        memcpy(&v, p.p, 4);
        p.p += 4;
      } else if (!wire_varint(&p, &v)) {
        return false;
      }
      item.n = 0;
      if (!put_value(&item, &w, v)) return false;
      put_item(t, &item);
    }
  }
  return !w.wrong;
}

tfsdk_status *attr_text(graph *g, const node *n, const attribute *a, span *out, span *out_tensor) {
  wire w = wire_of(a->value);
  text t = {.g = g};
  bool ok = true;
  out->p = "";
  out->n = 0;
  while (ok && wire_next(&w)) {
    t.n = 0;
    if (w.field == 1 && w.kind == 2) {
      ok = put_list(&t, w.bytes);
    } else if (w.field == 8 && w.kind == 2) {
      *out_tensor = w.bytes;
      out->p = NULL;
      return NULL;
    } else if (w.field == 9 || w.field == 10) {
      return GRAPH_FAIL(
          g, UNIMPLEMENTED,
          "the attribute '%s' of '%s' (%s) is a function%s; control flow of graphs is "
          "not there yet",
          a->name, n->name, n->op, w.field == 9 ? "'s own attribute" : "");
    } else {
      ok = put_value(&t, &w, w.number);
    }
  }
  if (!ok || w.wrong)
    return GRAPH_FAIL(g, DATA_LOSS, "the attribute '%s' of the node '%s' is damaged", a->name,
                      n->name);
  if (t.failed) return NO_MEMORY(g);
  if (t.n > 0) {
    out->p = t.p;
    out->n = t.n;
  }
  return NULL;
}
