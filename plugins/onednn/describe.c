/* Layouts and what primitives are to do, in the words of oneDNN 2 and of oneDNN 3. */
#include "onednn.h"

static tfsdk_status *no_room(const dn_plan *p, const tfsdk_run *r) {
  (void)p;
  return TFSDK_FAIL(r, INTERNAL, "a plan of %s for oneDNN has more than %d layouts", r->op->name,
                    DN_DESCS);
}

#if DNNL_VERSION_MAJOR < 3

/* A layout is a record without anything behind it. */
static tfsdk_status *own(dn_plan *p, const tfsdk_run *r, const dnnl_memory_desc_t *value,
                         dn_desc *out) {
  dnnl_memory_desc_t *copy;
  if (p->n_own == DN_DESCS) return no_room(p, r);
  copy = (dnnl_memory_desc_t *)p->host->realloc(p->host, NULL, 0, sizeof *copy);
  if (copy == NULL)
    return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no memory for a layout of %s", r->op->name);
  *copy = *value;
  *out = p->own[p->n_own++] = copy;
  return NULL;
}

void dn_drop_descs(dn_plan *p) {
  for (int32_t i = 0; i < p->n_own; i++)
    p->host->realloc(p->host, (void *)(uintptr_t)p->own[i], sizeof *p->own[i], 0);
  p->n_own = 0;
}

tfsdk_status *dn_strides(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                         const dnnl_dims_t stride, dn_desc *out) {
  dnnl_memory_desc_t md;
  DN_TRY(p, r, "a layout",
         p->lib->memory_desc_init_by_strides(&md, rank, dim, (dnnl_data_type_t)p->dtype, stride));
  return own(p, r, &md, out);
}

tfsdk_status *dn_layout(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                        dnnl_format_tag_t tag, dn_desc *out) {
  dnnl_memory_desc_t md;
  DN_TRY(p, r, "a layout",
         p->lib->memory_desc_init_by_tag(&md, rank, dim, (dnnl_data_type_t)p->dtype, tag));
  return own(p, r, &md, out);
}

tfsdk_status *dn_keep(dn_plan *p, const tfsdk_run *r, dn_desc lent, dn_desc *out) {
  return own(p, r, lent, out);
}

static dnnl_status_t describe(const dn_library *l, dnnl_status_t s, const void *d,
                              dnnl_primitive_desc_t *out) {
  const int token = dn_enter(l);
  if (s == dnnl_success) s = l->primitive_desc_create(out, d, l->attr, l->engine, NULL);
  dn_leave(l, token);
  return s;
}

dnnl_status_t dn_describe_conv(const dn_library *l, int kind, dn_desc x, dn_desc f, dn_desc y,
                               dn_desc forward_f, const dn_window *w, dnnl_primitive_desc_t *out) {
  const dnnl_alg_kind_t how = dnnl_convolution_direct;
  dnnl_convolution_desc_t d;
  dnnl_status_t s;
  (void)forward_f;
  if (kind == DN_FORWARD)
    s = l->dilated_convolution_forward_desc_init(&d, dnnl_forward_training, how, x, f, NULL, y,
                                                 w->stride, w->dilate, w->before, w->after);
  else if (kind == DN_INPUT)
    s = l->dilated_convolution_backward_data_desc_init(&d, how, x, f, y, w->stride, w->dilate,
                                                       w->before, w->after);
  else
    s = l->dilated_convolution_backward_weights_desc_init(&d, how, x, f, NULL, y, w->stride,
                                                          w->dilate, w->before, w->after);
  return describe(l, s, &d, out);
}

dnnl_status_t dn_describe_pool(const dn_library *l, dnnl_alg_kind_t kind, dn_desc x, dn_desc y,
                               const dn_window *w, dnnl_primitive_desc_t *out) {
  dnnl_pooling_desc_t d;
  const dnnl_status_t s = l->pooling_forward_desc_init(&d, dnnl_forward_inference, kind, x, y,
                                                       w->stride, w->window, w->before, w->after);
  return describe(l, s, &d, out);
}

dnnl_status_t dn_describe_softmax(const dn_library *l, dn_desc x, int axis,
                                  dnnl_primitive_desc_t *out) {
  dnnl_softmax_v2_desc_t d;
  const dnnl_status_t s = l->softmax_v2_forward_desc_init(&d, dnnl_forward_inference,
                                                          dnnl_softmax_accurate, x, x, axis);
  return describe(l, s, &d, out);
}

dnnl_status_t dn_describe_product(const dn_library *l, dn_desc a, dn_desc b, dn_desc c,
                                  dnnl_primitive_desc_t *out) {
  dnnl_matmul_desc_t d;
  return describe(l, l->matmul_desc_init(&d, a, b, NULL, c), &d, out);
}

#else

/* A layout is a handle. */
static tfsdk_status *own(dn_plan *p, const tfsdk_run *r, dnnl_memory_desc_t take, dn_desc *out) {
  if (p->n_own == DN_DESCS) {
    p->lib->memory_desc_destroy(take);
    return no_room(p, r);
  }
  *out = p->own[p->n_own++] = take;
  return NULL;
}

void dn_drop_descs(dn_plan *p) {
  for (int32_t i = 0; i < p->n_own; i++)
    p->lib->memory_desc_destroy((dnnl_memory_desc_t)(uintptr_t)p->own[i]);
  p->n_own = 0;
}

tfsdk_status *dn_strides(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                         const dnnl_dims_t stride, dn_desc *out) {
  dnnl_memory_desc_t md;
  DN_TRY(
      p, r, "a layout",
      p->lib->memory_desc_create_with_strides(&md, rank, dim, (dnnl_data_type_t)p->dtype, stride));
  return own(p, r, md, out);
}

tfsdk_status *dn_layout(dn_plan *p, const tfsdk_run *r, int rank, const dnnl_dims_t dim,
                        dnnl_format_tag_t tag, dn_desc *out) {
  dnnl_memory_desc_t md;
  DN_TRY(p, r, "a layout",
         p->lib->memory_desc_create_with_tag(&md, rank, dim, (dnnl_data_type_t)p->dtype, tag));
  return own(p, r, md, out);
}

tfsdk_status *dn_keep(dn_plan *p, const tfsdk_run *r, dn_desc lent, dn_desc *out) {
  dnnl_memory_desc_t md;
  DN_TRY(p, r, "a layout", p->lib->memory_desc_clone(&md, lent));
  return own(p, r, md, out);
}

/* The gradients of a convolution are described after the forward map that they belong to. */
dnnl_status_t dn_describe_conv(const dn_library *l, int kind, dn_desc x, dn_desc f, dn_desc y,
                               dn_desc forward_f, const dn_window *w, dnnl_primitive_desc_t *out) {
  const dnnl_alg_kind_t how = dnnl_convolution_direct;
  const int token = dn_enter(l);
  dnnl_primitive_desc_t forward = NULL;
  dnnl_status_t s = l->convolution_forward_primitive_desc_create(
      kind == DN_FORWARD ? out : &forward, l->engine, dnnl_forward_training, how, x, forward_f,
      NULL, y, w->stride, w->dilate, w->before, w->after, l->attr);
  if (s == dnnl_success && kind == DN_INPUT)
    s = l->convolution_backward_data_primitive_desc_create(
        out, l->engine, how, x, f, y, w->stride, w->dilate, w->before, w->after, forward, l->attr);
  if (s == dnnl_success && kind == DN_FILTER)
    s = l->convolution_backward_weights_primitive_desc_create(out, l->engine, how, x, f, NULL, y,
                                                              w->stride, w->dilate, w->before,
                                                              w->after, forward, l->attr);
  if (forward != NULL) l->primitive_desc_destroy(forward);
  dn_leave(l, token);
  return s;
}

dnnl_status_t dn_describe_pool(const dn_library *l, dnnl_alg_kind_t kind, dn_desc x, dn_desc y,
                               const dn_window *w, dnnl_primitive_desc_t *out) {
  const int token = dn_enter(l);
  const dnnl_status_t s = l->pooling_forward_primitive_desc_create(
      out, l->engine, dnnl_forward_inference, kind, x, y, w->stride, w->window, w->dilate,
      w->before, w->after, l->attr);
  dn_leave(l, token);
  return s;
}

dnnl_status_t dn_describe_softmax(const dn_library *l, dn_desc x, int axis,
                                  dnnl_primitive_desc_t *out) {
  const int token = dn_enter(l);
  const dnnl_status_t s = l->softmax_forward_primitive_desc_create(
      out, l->engine, dnnl_forward_inference, dnnl_softmax_accurate, x, x, axis, l->attr);
  dn_leave(l, token);
  return s;
}

dnnl_status_t dn_describe_product(const dn_library *l, dn_desc a, dn_desc b, dn_desc c,
                                  dnnl_primitive_desc_t *out) {
  const int token = dn_enter(l);
  const dnnl_status_t s = l->matmul_primitive_desc_create(out, l->engine, a, b, NULL, c, l->attr);
  dn_leave(l, token);
  return s;
}

#endif
