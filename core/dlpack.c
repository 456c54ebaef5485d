/* DLPack 1.0 in and out, for host memory. The structures are the public ABI of that version
 * (dmlc/dlpack). */
#include "internal.h"

typedef struct {
  int32_t type, id;
} dl_device;
typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} dl_type;
typedef struct {
  void *data;
  dl_device device;
  int32_t ndim;
  dl_type dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;
typedef struct dl_managed {
  struct {
    uint32_t major, minor;
  } version;
  void *manager_ctx;
  void (*deleter)(struct dl_managed *self);
  uint64_t flags; /* bit 0: read only */
  dl_tensor tensor;
} dl_managed;

enum {
  DL_CPU = 1,
  DL_INT = 0,
  DL_UINT = 1,
  DL_FLOAT = 2,
  DL_BFLOAT = 4,
  DL_COMPLEX = 5,
  DL_BOOL = 6
};

static dl_type type_out(int32_t dtype) {
  dl_type t = {0, (uint8_t)(8 * tfsdk_dtype_size(dtype)), 1};
  switch (tfsdk_dtype_kind(dtype)) {
  case 'f': t.code = dtype == TFSDK_BFLOAT16 ? DL_BFLOAT : DL_FLOAT; break;
  case 'u': t.code = DL_UINT; break;
  case 'b': t.code = DL_BOOL; break;
  case 'c': t.code = DL_COMPLEX; break;
  default: t.code = DL_INT;
  }
  return t;
}

static int32_t type_in(dl_type t) {
#define SAME(id, number, name, bytes, kind)                                                        \
  {                                                                                                \
    dl_type mine = type_out(number);                                                               \
    if (bytes != 0 && kind != 'r' && mine.code == t.code && mine.bits == t.bits && t.lanes == 1)   \
      return number;                                                                               \
  }
  TFSDK_DTYPES(SAME)
#undef SAME
  return 0;
}

static void export_deleter(dl_managed *m) {
  tfsdk_tensor *t = m->manager_ctx;
  free(m);
  tfsdk_tensor_release(t);
}

tfsdk_status *tfsdk_tensor_to_dlpack(tfsdk_tensor *t, void **out_managed) {
  tfsdk_view v;
  *out_managed = NULL;
  TFSDK_REQUIRE(t->rt, t->dtype != TFSDK_STRING && t->cell == NULL,
                "a tensor of type %s cannot be handed out through DLPack",
                tfsdk_dtype_name(t->dtype));
  TFSDK_TRY(tfsdk_tensor_view(t, &v));
  dl_managed *m = calloc(1, sizeof *m + 2 * TFSDK_MAX_RANK * sizeof(int64_t));
  if (m == NULL) return TFSDK__NOMEM(t->rt);
  int64_t *shape = (int64_t *)(void *)(m + 1), *strides = shape + TFSDK_MAX_RANK, step = 1;
  for (int32_t i = v.rank - 1; i >= 0; i--) {
    shape[i] = v.dim[i];
    strides[i] = step;
    step *= v.dim[i] ? v.dim[i] : 1;
  }
  m->version.major = 1;
  m->flags = 1;
  m->manager_ctx = tfsdk_tensor_retain(t);
  m->deleter = export_deleter;
  m->tensor = (dl_tensor){v.data, {DL_CPU, 0}, v.rank, type_out(v.dtype), shape, strides, 0};
  *out_managed = m;
  return NULL;
}

static void import_release(void *user) {
  dl_managed *m = user;
  if (m->deleter != NULL) m->deleter(m);
}

static bool contiguous(const dl_tensor *d) {
  int64_t step = 1;
  for (int32_t i = d->ndim - 1; d->strides != NULL && i >= 0; i--) {
    if (d->shape[i] != 1 && d->strides[i] != step) return false;
    step *= d->shape[i];
  }
  return true;
}

static void copy_strided(const dl_tensor *d, size_t size, int64_t n, char *to) {
  int64_t index[TFSDK_MAX_RANK] = {0};
  const char *base = (const char *)d->data + d->byte_offset;
  for (int64_t k = 0; k < n; k++) {
    int64_t at = 0;
    for (int32_t i = 0; i < d->ndim; i++) at += index[i] * d->strides[i];
    memcpy(to + (size_t)k * size, base + at * (int64_t)size, size);
    for (int32_t i = d->ndim - 1; i >= 0 && ++index[i] == d->shape[i]; i--) index[i] = 0;
  }
}

static tfsdk_status *import(tfsdk_runtime *rt, dl_managed *m, tfsdk_tensor **out, bool *kept) {
  const dl_tensor *d = &m->tensor;
  TFSDK_REQUIRE(rt, m->version.major == 1, "DLPack version %u.%u is not 1.x", m->version.major,
                m->version.minor);
  TFSDK_REQUIRE(rt, d->device.type == DL_CPU,
                "DLPack memory of device type %d is not host memory (1)", d->device.type);
  int32_t dtype = type_in(d->dtype);
  TFSDK_REQUIRE(rt, dtype != 0, "DLPack type code %u with %u bits and %u lanes has no counterpart",
                d->dtype.code, d->dtype.bits, d->dtype.lanes);
  TFSDK_REQUIRE(rt, d->ndim >= 0 && d->ndim <= TFSDK_MAX_RANK, "DLPack rank %d is not in 0..%d",
                d->ndim, TFSDK_MAX_RANK);
  char *data = (char *)d->data + d->byte_offset;
  size_t size = tfsdk_dtype_size(dtype);
  if (contiguous(d) && (uintptr_t)data % (size > 8 ? 8 : size) == 0) {
    *kept = true;
    tfsdk_status *s =
        tfsdk_tensor_import(rt, dtype, (uint32_t)d->ndim, d->shape, data, import_release, m, out);
    if (s != NULL) *kept = false;
    return s;
  }
  TFSDK_TRY(tfsdk__tensor_alloc(tfsdk__device_host(rt), dtype, (uint32_t)d->ndim, d->shape, out));
  if ((*out)->n_elem > 0) {
    if (d->strides == NULL)
      memcpy((*out)->data, data, (*out)->byte_size);
    else
      copy_strided(d, size, (*out)->n_elem, (*out)->data);
  }
  return NULL;
}

tfsdk_status *tfsdk_tensor_from_dlpack(tfsdk_runtime *rt, void *take_managed, tfsdk_tensor **out) {
  bool kept = false;
  *out = NULL;
  tfsdk_status *s = import(rt, take_managed, out, &kept);
  if (!kept) import_release(take_managed);
  return s;
}
