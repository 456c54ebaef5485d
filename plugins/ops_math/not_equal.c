/* NotEqual: true where x and y differ, element by element with broadcasting. NaN equals nothing.
 * Strings are compared byte by byte. With incompatible_shape_error = false, shapes that do not
 * broadcast give the scalar true. */
#include <tfsdk/elementwise.h>

/* The rule of broadcasting as a question, for whole shapes. */
static int compatible(const tfsdk_shape *a, const tfsdk_shape *b) {
  for (int32_t i = 1; i <= a->rank && i <= b->rank; i++) {
    int64_t x = a->dim[a->rank - i], y = b->dim[b->rank - i];
    if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1) return 0;
  }
  return 1;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const tfsdk_shape *x = &c->in[0].shape, *y = &c->in[1].shape;
  if (!tfsdk_attr_int(&c->attr, "incompatible_shape_error")) {
    if (!tfsdk_shape_whole(x) || !tfsdk_shape_whole(y)) return NULL; /* either is possible */
    if (!compatible(x, y)) return tfsdk_infer_scalar(c);
  }
  return tfsdk_ew_infer2(c);
}

TFSDK_COMPARE(compute_plain, TFSDK_EW_ANY, a != b)

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  tfsdk_shape x = tfsdk_shape_of_view(&r->in[0]), y = tfsdk_shape_of_view(&r->in[1]);
  uint8_t *z = (uint8_t *)r->out[0].data;
  tfsdk_walk w;
  if (!compatible(&x, &y)) {
    z[0] = 1;
    return NULL;
  }
  if (r->in[0].dtype != TFSDK_STRING) return compute_plain(state, r);
  for (tfsdk_walk_begin(&w, r->in, 2, &r->out[0]); w.rows > 0; tfsdk_walk_next(&w))
    for (int64_t i = 0; i < w.n; i++) {
      uint64_t n, m;
      const char *a = tfsdk_view_string(&r->in[0], w.at[0] + i * w.step[0], &n);
      const char *b = tfsdk_view_string(&r->in[1], w.at[1] + i * w.step[1], &m);
      int same = n == m && memcmp(a, b, n) == 0;
      z[w.out + i] = (uint8_t)(!same);
    }
  return NULL;
}

static const tfsdk_attrdef attr[] = {
    {"T",
     "dtype{float32,float64,float16,bfloat16,int8,int16,int32,int64,uint8,uint16,uint32,uint64,"
     "bool,"
     "string}",
     NULL, "element type", 0, 0},
    {"incompatible_shape_error", "bool", "true",
     "false: shapes that do not broadcast give the scalar true instead of an error", 0, 0},
};
static const char *const samples[] = {"T[2,3] ; T[2,3]", "T[2,1,3] ; T[4,1]",
                                      "T[2,3] ; T[4] | incompatible_shape_error=false", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("NotEqual", "true where x and y differ"), .in = tfsdk_ew_xy, .n_in = 2,
     .out = tfsdk_ew_z_bool, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr), .infer = infer,
     .flags = TFSDK_OP_ELEMENTWISE | TFSDK_OP_COMMUTATIVE,
     .doc = "z is true where x and y differ, false elsewhere. NaN differs from everything, itself "
            "included. Strings "
            "are compared byte by byte.",
     .reference = compute, .no_grad_reason = "the output is bool", .samples = samples},
};
TFSDK_UNIT_OPS(not_equal, ops);
