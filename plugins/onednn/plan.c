/* A primitive over slices: made once for the shapes, run by the device's pool. */
#include "onednn.h"

#include <stddef.h>

tfsdk_status *dn_create(const tfsdk_kbuild *b, void **out) {
  const char *why;
  const dn_library *lib = dn_library_get(&why);
  dn_plan *p;
  if (lib == NULL)
    return TFSDK_FAIL(b, UNAVAILABLE, "oneDNN's kernel of %s cannot run: %s", b->op->name, why);
  p = (dn_plan *)b->host->realloc(b->host, NULL, 0, sizeof *p);
  if (p == NULL)
    return TFSDK_FAIL(b, RESOURCE_EXHAUSTED, "no memory for a kernel of %s", b->op->name);
  memset(p, 0, sizeof *p);
  p->host = b->host;
  p->lib = lib;
  p->dtype = b->n_out > 0 && b->out_dtype[0] == TFSDK_BFLOAT16 ? dnnl_bf16 : dnnl_f32;
  *out = p;
  return NULL;
}

static void drop(const dn_library *l, dnnl_memory_t m) {
  if (m != NULL) l->memory_destroy(m);
}

void dn_reset(dn_plan *p) {
  const dn_library *l = p->lib;
  for (int i = 0; i < DN_LANES; i++) {
    dn_lane *lane = &p->lane[i];
    for (int t = 0; t < 2; t++)
      for (int o = 0; o <= DN_OPERANDS; o++) drop(l, lane->memory[t][o]);
    if (lane->stream != NULL) l->stream_destroy(lane->stream);
  }
  for (int t = 0; t < 2; t++)
    if (p->primitive[t] != NULL) l->primitive_destroy(p->primitive[t]);
  if (p->reorder != NULL) l->primitive_destroy(p->reorder);
  drop(l, p->plain_memory);
  drop(l, p->packed_memory);
  if (p->block != NULL) p->host->realloc(p->host, p->block, p->block_bytes, 0);
  dn_drop_descs(p);
  memset(&p->ready, 0, sizeof *p - offsetof(dn_plan, ready));
}

void dn_destroy(void *state) {
  dn_plan *p = (dn_plan *)state;
  const tfsdk_host *host = p->host;
  dn_reset(p);
  host->realloc(host, p, sizeof *p, 0);
}

int dn_ready(const dn_plan *p, const tfsdk_run *r) {
  const tfsdk_view *y = &r->out[0];
  return p->ready && p->out.rank == (int32_t)y->rank &&
         memcmp(p->out.dim, y->dim, (size_t)y->rank * sizeof y->dim[0]) == 0;
}

tfsdk_status *dn_fail(const dn_plan *p, const tfsdk_run *r, const char *what, dnnl_status_t s) {
  const char *text = p->lib->status2str(s);
  if (s == dnnl_out_of_memory)
    return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "oneDNN has no memory for %s of %s: %s", what,
                      r->op->name, text);
  return TFSDK_FAIL(r, INTERNAL, "oneDNN refuses %s of %s: %s", what, r->op->name, text);
}

int64_t dn_unit_length(int64_t total, int64_t most, int64_t least) {
  int64_t length = (total + most - 1) / most;
  if (length < least) length = least;
  if (length > total) length = total > 0 ? total : 1;
  for (int64_t even = length; even <= length + length / 2; even++)
    if (total % even == 0) return even;
  return length;
}

tfsdk_status *dn_make(dn_plan *p, const tfsdk_run *r, dnnl_status_t described,
                      dnnl_primitive_desc_t pd, int tail) {
  const dn_library *l = p->lib;
  tfsdk_status *failed = NULL;
  dnnl_status_t s = described;
  int token;
  if (s != dnnl_success) return dn_fail(p, r, "the description", s);
  token = dn_enter(l);
  s = l->primitive_create(&p->primitive[tail], pd);
  dn_leave(l, token);
  if (s != dnnl_success) failed = dn_fail(p, r, "the primitive", s);
  for (int32_t i = 0; failed == NULL && i < p->n_operands; i++)
    failed =
        dn_keep(p, r, l->primitive_desc_query_md(pd, dnnl_query_exec_arg_md, p->operand[i].arg),
                &p->operand[i].md[tail]);
  if (failed == NULL)
    failed = dn_keep(p, r, l->primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0),
                     &p->scratch_md[tail]);
  l->primitive_desc_destroy(pd);
  return failed;
}

tfsdk_status *dn_make_reorder(dn_plan *p, const tfsdk_run *r, const dn_operand *o, int to_packed) {
  const dn_library *l = p->lib;
  const dn_desc from = to_packed ? o->plain : o->md[0], to = to_packed ? o->md[0] : o->plain;
  const int token = dn_enter(l);
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t s = l->reorder_primitive_desc_create(&pd, from, l->engine, to, l->engine, NULL);
  if (s == dnnl_success) s = l->primitive_create(&p->reorder, pd);
  if (s == dnnl_success)
    s = l->memory_create(&p->plain_memory, o->plain, l->engine, DNNL_MEMORY_NONE);
  if (s == dnnl_success)
    s = l->memory_create(&p->packed_memory, o->md[0], l->engine, DNNL_MEMORY_NONE);
  if (pd != NULL) l->primitive_desc_destroy(pd);
  dn_leave(l, token);
  return s == dnnl_success ? NULL : dn_fail(p, r, "the change of layout", s);
}

tfsdk_status *dn_reorder(dn_plan *p, const tfsdk_run *r, char *plain, char *packed, int to_packed) {
  const dn_library *l = p->lib;
  const int token = dn_enter(l);
  dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, to_packed ? p->plain_memory : p->packed_memory},
                             {DNNL_ARG_TO, to_packed ? p->packed_memory : p->plain_memory}};
  dnnl_status_t s = l->memory_set_data_handle(p->plain_memory, plain);
  if (s == dnnl_success) s = l->memory_set_data_handle(p->packed_memory, packed);
  if (s == dnnl_success) s = l->primitive_execute(p->reorder, p->lane[0].stream, 2, args);
  if (s == dnnl_success) s = l->stream_wait(p->lane[0].stream);
  dn_leave(l, token);
  return s == dnnl_success ? NULL : dn_fail(p, r, "a change of layout", s);
}

static dnnl_status_t open_lane(const dn_plan *p, dn_lane *lane) {
  const dn_library *l = p->lib;
  dnnl_status_t s = l->stream_create(&lane->stream, l->engine, dnnl_stream_default_flags);
  for (int t = 0; t <= p->has_tail && s == dnnl_success; t++) {
    for (int32_t o = 0; o < p->n_operands && s == dnnl_success; o++)
      s = l->memory_create(&lane->memory[t][o], p->operand[o].md[t], l->engine, DNNL_MEMORY_NONE);
    if (s == dnnl_success)
      s = l->memory_create(&lane->memory[t][DN_OPERANDS], p->scratch_md[t], l->engine,
                           DNNL_MEMORY_NONE);
  }
  return s;
}

tfsdk_status *dn_finish(dn_plan *p, const tfsdk_run *r) {
  const dn_library *l = p->lib;
  const tfsdk_shape out = tfsdk_shape_of_view(&r->out[0]);
  p->lanes = p->units < DN_LANES ? (int32_t)p->units : DN_LANES;
  for (int t = 0; t <= p->has_tail; t++) {
    const size_t bytes = (l->memory_desc_get_size(p->scratch_md[t]) + 63) / 64 * 64;
    if (bytes > p->scratch) p->scratch = bytes;
  }
  for (int32_t i = 0; i < p->lanes; i++)
    DN_TRY(p, r, "a stream or memory", open_lane(p, &p->lane[i]));
  for (int32_t i = 0; i < p->n_operands; i++) {
    const dn_operand *o = &p->operand[i];
    if (!o->shared || l->memory_desc_equal(o->plain, o->md[0])) continue;
    TFSDK_TRY(dn_make_reorder(p, r, o, 1));
    p->block_bytes = l->memory_desc_get_size(o->md[0]) + 64;
    p->block = p->host->realloc(p->host, NULL, 0, p->block_bytes);
    if (p->block == NULL)
      return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "no %zu bytes for the packed weights of %s",
                        p->block_bytes, r->op->name);
    p->packed = (char *)(((uintptr_t)p->block + 63) & ~(uintptr_t)63);
  }
  p->out = out;
  p->ready = 1;
  return NULL;
}

typedef struct job {
  dn_plan *p;
  tfsdk_run *r;
  char *scratch;
} job;

void dn_finish_rows(tfsdk_run *r) {
  const tfsdk_view *y = &r->out[0];
  const int64_t row = y->rank > 0 ? y->dim[y->rank - 1] : 1;
  if (y->n_elem > 0) r->api->finish(r, 0, y->n_elem / row);
}

/* The rows that unit u has computed are told while they are in the cache. */
static void finish_unit(const dn_plan *p, tfsdk_run *r, int64_t u) {
  const int64_t first = u / p->slices * p->product_rows, from = u % p->slices * p->unit_rows;
  const int64_t left = p->product_rows - from;
  if (p->unit_rows > 0)
    r->api->finish(r, first + from, first + from + (left < p->unit_rows ? left : p->unit_rows));
}

static dnnl_status_t run_unit(dn_plan *p, dn_lane *lane, int64_t u, char *scratch) {
  const dn_library *l = p->lib;
  const int t = p->has_tail && u % p->slices == p->slices - 1;
  dnnl_exec_arg_t args[DN_OPERANDS + 1];
  dnnl_status_t s = dnnl_success;
  for (int32_t o = 0; o < p->n_operands && s == dnnl_success; o++) {
    const dn_operand *v = &p->operand[o];
    const int64_t at = p->offset != NULL ? p->offset(p, o, u) : v->shared ? 0 : u * v->step;
    args[o].arg = v->arg;
    args[o].memory = lane->memory[t][o];
    s = l->memory_set_data_handle(lane->memory[t][o], v->base + at);
  }
  args[p->n_operands].arg = DNNL_ARG_SCRATCHPAD;
  args[p->n_operands].memory = lane->memory[t][DN_OPERANDS];
  if (s == dnnl_success && p->scratch > 0)
    s = l->memory_set_data_handle(lane->memory[t][DN_OPERANDS], scratch);
  if (s == dnnl_success)
    s = l->primitive_execute(p->primitive[t], lane->stream, p->n_operands + (p->scratch > 0), args);
  return s == dnnl_success ? l->stream_wait(lane->stream) : s;
}

static void run_lanes(void *user, int64_t begin, int64_t end) {
  const job *j = (const job *)user;
  dn_plan *p = j->p;
  const int token = dn_enter(p->lib);
  for (int64_t i = begin; i < end; i++) {
    dn_lane *lane = &p->lane[i];
    const int64_t first = i * p->units / p->lanes, last = (i + 1) * p->units / p->lanes;
    lane->status = dnnl_success;
    for (int64_t u = first; u < last && lane->status == dnnl_success; u++)
      if ((lane->status = run_unit(p, lane, u, j->scratch + (size_t)i * p->scratch)) ==
          dnnl_success)
        finish_unit(p, j->r, u);
  }
  dn_leave(p->lib, token);
}

tfsdk_status *dn_run(dn_plan *p, tfsdk_run *r, uint64_t stamp) {
  job j = {p, r, NULL};
  void *scratch = NULL;
  for (int32_t i = 0; i < p->n_operands; i++) {
    dn_operand *o = &p->operand[i];
    if (!o->shared || p->packed == NULL) continue;
    if (stamp == 0 || stamp != p->stamp) {
      p->stamp = 0;
      TFSDK_TRY(dn_reorder(p, r, o->base, p->packed, 1));
      p->stamp = stamp;
    }
    o->base = p->packed;
  }
  if (p->scratch > 0) TFSDK_TRY(r->api->workspace(r, p->scratch * (size_t)p->lanes, &scratch));
  j.scratch = (char *)scratch;
  r->api->par_for(r, p->lanes, 1, run_lanes, &j);
  for (int32_t i = 0; i < p->lanes; i++) DN_TRY(p, r, "the run", p->lane[i].status);
  return NULL;
}
