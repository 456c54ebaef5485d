/* HDF5: data types, data spaces, strings, attributes; see h5.h. */
#include <string.h>

#include "h5.h"

/* ---------------------------------------------------------------------------------------- types */

static int32_t int_type(uint32_t size, bool sign) {
  switch (size) {
  case 1: return sign ? TFSDK_INT8 : TFSDK_UINT8;
  case 2: return sign ? TFSDK_INT16 : TFSDK_UINT16;
  case 4: return sign ? TFSDK_INT32 : TFSDK_UINT32;
  case 8: return sign ? TFSDK_INT64 : TFSDK_UINT64;
  default: return 0;
  }
}

static int32_t float_type(uint32_t size, uint32_t sign, uint32_t exponent_at, uint32_t exponent,
                          uint32_t mantissa_at, uint32_t mantissa) {
  static const struct {
    int32_t dtype;
    uint32_t size, sign, exponent_at, exponent, mantissa;
  } known[] = {{TFSDK_FLOAT32, 4, 31, 23, 8, 23},
               {TFSDK_FLOAT64, 8, 63, 52, 11, 52},
               {TFSDK_FLOAT16, 2, 15, 10, 5, 10},
               {TFSDK_BFLOAT16, 2, 15, 7, 8, 7}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (size == known[i].size && sign == known[i].sign && exponent_at == known[i].exponent_at &&
        exponent == known[i].exponent && mantissa == known[i].mantissa && mantissa_at == 0)
      return known[i].dtype;
  return 0;
}

/* h5py writes complex numbers as a compound of two floats. */
static tfsdk_status *read_compound(h5 *h, h5_cursor *c, uint32_t version, uint32_t members,
                                   h5_type *out, int depth) {
  h5_type part[2];
  uint64_t at[2] = {0, 0};
  if (members != 2) return NULL;
  for (uint32_t i = 0; i < 2; i++) {
    uint64_t name = 0;
    while (!c->cut && h5_get(c, 1) != 0) name++;
    if (version < 3) (void)h5_skip(c, (8 - (name + 1) % 8) % 8);
    uint32_t width = version < 3 ? 4 : 1;
    while (version >= 3 && width < 4 && out->size >= (uint64_t)1 << 8 * width) width++;
    at[i] = h5_get(c, width);
    if (version == 1) (void)h5_skip(c, 1 + 3 + 4 + 4 + 16);
    TFSDK_TRY(h5_read_type(h, c, &part[i], depth + 1));
  }
  bool pair = part[0].dtype == part[1].dtype && part[0].big_endian == part[1].big_endian &&
              at[0] == 0 && at[1] == part[0].size && out->size == 2 * part[0].size;
  if (!pair) return NULL;
  out->part = part[0].size;
  out->big_endian = part[0].big_endian;
  if (part[0].dtype == TFSDK_FLOAT32) out->dtype = TFSDK_COMPLEX64;
  if (part[0].dtype == TFSDK_FLOAT64) out->dtype = TFSDK_COMPLEX128;
  return NULL;
}

tfsdk_status *h5_read_type(h5 *h, h5_cursor *c, h5_type *out, int depth) {
  uint64_t at = c->at;
  memset(out, 0, sizeof *out);
  uint32_t head = (uint32_t)h5_get(c, 1), kind = head & 15, version = head >> 4;
  uint32_t bits = (uint32_t)h5_get(c, 3);
  out->size = out->part = (uint32_t)h5_get(c, 4);
  if (c->cut || version < 1 || version > 4) return H5_BAD(h, at, "a data type is damaged");
  if (out->size == 0) return H5_BAD(h, at, "a data type has no size");
  if (depth > 4) return H5_UNREAD(h, at, "a data type is nested too deep");
  switch (kind) {
  case 0: { /* whole numbers */
    uint64_t offset = h5_get(c, 2), precision = h5_get(c, 2);
    out->big_endian = (bits & 1) != 0;
    if (offset == 0 && precision == 8u * out->size)
      out->dtype = int_type(out->size, (bits & 8) != 0);
    break;
  }
  case 1: { /* floating */
    uint64_t offset = h5_get(c, 2), precision = h5_get(c, 2);
    uint32_t exponent_at = (uint32_t)h5_get(c, 1), exponent = (uint32_t)h5_get(c, 1);
    uint32_t mantissa_at = (uint32_t)h5_get(c, 1), mantissa = (uint32_t)h5_get(c, 1);
    (void)h5_skip(c, 4);
    out->big_endian = (bits & 1) != 0;
    if (offset == 0 && precision == 8u * out->size && (bits & 64) == 0)
      out->dtype =
          float_type(out->size, bits >> 8 & 255, exponent_at, exponent, mantissa_at, mantissa);
    break;
  }
  case 3: out->dtype = TFSDK_STRING; break; /* of fixed size */
  case 6: TFSDK_TRY(read_compound(h, c, version, bits & 0xffff, out, depth)); break;
  case 8: { /* an enumeration of two bytes: h5py's booleans */
    h5_type base;
    TFSDK_TRY(h5_read_type(h, c, &base, depth + 1));
    if ((bits & 0xffff) == 2 && base.size == 1 && out->size == 1) out->dtype = TFSDK_BOOL;
    break;
  }
  case 9: /* of variable size: strings are ours */
    out->variable = (bits & 15) == 1;
    if (out->variable && out->size == 4 + h->offset_size + 4) out->dtype = TFSDK_STRING;
    break;
  default: break;
  }
  if (c->cut) return H5_BAD(h, at, "a data type is cut off");
  return NULL;
}

/* --------------------------------------------------------------------------------------- spaces */

tfsdk_status *h5_read_space(h5 *h, h5_cursor *c, h5_space *out) {
  uint64_t at = c->at;
  memset(out, 0, sizeof *out);
  uint32_t version = (uint32_t)h5_get(c, 1);
  out->rank = (uint32_t)h5_get(c, 1);
  uint32_t flags = (uint32_t)h5_get(c, 1), kind = (uint32_t)h5_get(c, 1);
  if (version == 1) {
    (void)h5_skip(c, 4);
    kind = out->rank > 0;
  } else if (version != 2) {
    return H5_UNREAD(h, at, "version %u of data spaces", version);
  }
  out->null = kind == 2;
  if (out->rank > 32) return H5_BAD(h, at, "a data space has %u axes", out->rank);
  for (uint32_t i = 0; i < out->rank; i++) out->dim[i] = h5_length(h, c);
  if (flags & 1) (void)h5_skip(c, (uint64_t)out->rank * h->length_size);
  return c->cut ? H5_BAD(h, at, "a data space is cut off") : NULL;
}

/* -------------------------------------------------------------------------------------- strings */

/* Object `index` of the global heap at `at`. */
static tfsdk_status *global_object(h5 *h, uint64_t at, uint64_t index, h5_cursor *out) {
  if (h->heap_at != at) {
    h5_cursor head;
    h5_cursor *all = arena_get(h->memory, sizeof *all);
    if (all == NULL) return NO_MEMORY(h);
    TFSDK_TRY(h5_signed(h, at, 8 + (uint64_t)h->length_size, "GCOL", &head));
    (void)h5_skip(&head, 4);
    uint64_t size = h5_length(h, &head);
    TFSDK_TRY(h5_piece(h, at, size, "a global heap", all));
    h->heap = all;
    h->heap_at = at;
  }
  h5_cursor c = *h->heap;
  (void)h5_skip(&c, 8 + (uint64_t)h->length_size);
  while (!c.cut && c.p < c.end) {
    if (h->budget < 64) return H5_BAD(h, at, "the file's strings are too many");
    h->budget -= 16; /* a walk costs, too */
    uint64_t id = h5_get(&c, 2);
    (void)h5_skip(&c, 6);
    uint64_t size = h5_length(h, &c);
    if (id == 0) break; /* free space */
    const unsigned char *p = h5_skip(&c, size);
    if (p == NULL) break;
    if (id == index) {
      *out = (h5_cursor){p, p + size, c.at - size, false};
      return NULL;
    }
    (void)h5_skip(&c, (8 - size % 8) % 8);
  }
  return H5_BAD(h, at, "the global heap has no object %llu", (unsigned long long)index);
}

tfsdk_status *h5_text(h5 *h, const h5_type *t, const unsigned char *raw, arena *memory,
                      const char **out, size_t *out_n) {
  if (!t->variable) {
    *out_n = strnlen((const char *)raw, t->size);
    *out = arena_text(memory, (const char *)raw, *out_n);
    return *out != NULL ? NULL : NO_MEMORY(h);
  }
  h5_cursor c = {raw, raw + t->size, 0, false}, object = {raw, raw, 0, false};
  uint64_t n = h5_get(&c, 4), at = h5_offset(h, &c), index = h5_get(&c, 4);
  if (n > 0) TFSDK_TRY(global_object(h, at, index, &object));
  if (n > (uint64_t)(object.end - object.p))
    return H5_BAD(h, object.at, "a string is longer than its place");
  *out_n = strnlen((const char *)object.p, n);
  *out = arena_text(memory, (const char *)object.p, *out_n);
  return *out != NULL ? NULL : NO_MEMORY(h);
}

/* ----------------------------------------------------------------------------------- attributes */

typedef struct visit {
  h5_attribute_fn *fn;
  void *user;
} visit;

static tfsdk_status *part(h5 *h, h5_cursor *c, uint64_t n, bool padded, h5_cursor *out) {
  out->at = c->at;
  out->cut = false;
  out->p = h5_skip(c, n);
  if (out->p == NULL) return H5_BAD(h, out->at, "an attribute is cut off");
  out->end = out->p + n;
  if (padded) (void)h5_skip(c, (8 - n % 8) % 8);
  return NULL;
}

static tfsdk_status *read_attribute(void *user, h5 *h, h5_cursor c) {
  const visit *v = user;
  h5_attribute a;
  h5_cursor name, type, space;
  uint64_t at = c.at;
  memset(&a, 0, sizeof a);
  uint32_t version = (uint32_t)h5_get(&c, 1), flags = (uint32_t)h5_get(&c, 1);
  uint64_t name_n = h5_get(&c, 2), type_n = h5_get(&c, 2), space_n = h5_get(&c, 2);
  if (version < 1 || version > 3) return H5_UNREAD(h, at, "version %u of attributes", version);
  if (version > 1 && (flags & 3) != 0) return NULL; /* its type is kept elsewhere */
  if (version == 3) (void)h5_skip(&c, 1);
  TFSDK_TRY(part(h, &c, name_n, version == 1, &name));
  TFSDK_TRY(part(h, &c, type_n, version == 1, &type));
  TFSDK_TRY(part(h, &c, space_n, version == 1, &space));
  a.name = arena_text(h->memory, (const char *)name.p, strnlen((const char *)name.p, name_n));
  if (a.name == NULL) return NO_MEMORY(h);
  TFSDK_TRY(h5_read_type(h, &type, &a.type, 0));
  TFSDK_TRY(h5_read_space(h, &space, &a.space));
  a.n = a.space.null ? 0 : 1;
  for (uint32_t i = 0; i < a.space.rank; i++)
    if (__builtin_mul_overflow(a.n, a.space.dim[i], &a.n))
      return H5_BAD(h, at, "an attribute is too large");
  uint64_t bytes;
  if (__builtin_mul_overflow(a.n, a.type.size, &bytes) || bytes > (uint64_t)(c.end - c.p))
    return H5_BAD(h, c.at, "the attribute '%.60s' is larger than its place", a.name);
  a.data = c;
  return v->fn(v->user, h, &a);
}

tfsdk_status *h5_each_attribute(h5 *h, const h5_object *o, h5_attribute_fn *fn, void *user) {
  visit v = {fn, user};
  for (size_t i = 0; i < o->n; i++)
    if (o->list[i].type == H5_ATTRIBUTE && (o->list[i].flags & 2) == 0)
      TFSDK_TRY(read_attribute(&v, h, o->list[i].body));
  const h5_message *info = h5_find(o, H5_ATTRIBUTE_INFO);
  if (info == NULL) return NULL;
  h5_cursor c = info->body; /* many attributes lie outside of the header */
  (void)h5_skip(&c, 1);
  uint32_t flags = (uint32_t)h5_get(&c, 1);
  if (flags & 1) (void)h5_skip(&c, 2);
  uint64_t heap = h5_offset(h, &c), tree = h5_offset(h, &c);
  if (c.cut) return H5_BAD(h, c.at, "an attribute message is cut off");
  if (heap == H5_NOWHERE) return NULL;
  return h5_each_dense(h, tree, heap, 8, 0, read_attribute, &v);
}
