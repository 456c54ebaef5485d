/* Watched runs: what an observer is told of each step, and that it may end the run. */
#include "support.h"

#include <stdio.h>

typedef struct seen {
  int steps, stop_at, fetched, reads;
  uint64_t plan;
  int64_t last;
  double sum;
  char names[512];
  tfsdk_ctx *ctx;
} seen;

static tfsdk_status *look(void *user, const tfsdk_step_info *info) {
  seen *s = user;
  cr_expect_eq(info->index, (uint32_t)s->steps);
  cr_expect_eq(info->struct_size, sizeof *info);
  cr_expect_eq(info->value_size, sizeof(tfsdk_step_value));
  cr_expect(info->begin >= s->last && info->end >= info->begin);
  cr_expect_str_eq(info->device, "cpu:0");
  s->last = info->end;
  s->plan = info->plan;
  s->reads += strcmp(info->kind, "variable") == 0;
  for (uint32_t i = 0; i < info->n_out; i++) {
    const tfsdk_step_value *v = &info->out[i];
    cr_expect(v->last >= info->index && v->last <= info->n_steps);
    snprintf(s->names + strlen(s->names), sizeof s->names - strlen(s->names), "%s ", v->name);
    if (v->fetched.id == 0) continue;
    cr_expect_eq(v->last, info->n_steps, "%s is fetched and outlives the run", v->name);
    cr_assert_neq(v->tensor, NULL);
    tfsdk_view view;
    OK(tfsdk_tensor_view(v->tensor, &view));
    s->sum += ((const float *)view.data)[0];
    s->fetched++;
  }
  if (++s->steps == s->stop_at) return TFSDK_FAIL(s->ctx, ABORTED, "seen enough");
  return NULL;
}

Test(trace, each_step_is_told_and_may_end_the_run) {
  tfsdk_runtime *rt = new_runtime();
  tfsdk_graph *g = NULL;
  OK(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);
  tfsdk_val x = placeholder(c, TFSDK_FLOAT32, 2, DIMS(2, 2));
  tfsdk_graph_set_name(g, "product");
  tfsdk_val y = tfsdk_emit2(c, "MatMul", x, x);
  tfsdk_graph_set_name(g, "root");
  tfsdk_val z = tfsdk_emit1(c, "Tanh", y);
  OK(tfsdk_ctx_error(c));
  tfsdk_session *s = NULL;
  OK(tfsdk_session_create(g, NULL, &s));
  float data[4] = {1, 0, 0, 1};
  tfsdk_tensor *t, *out[2] = {NULL, NULL}, *plain[2] = {NULL, NULL};
  OK(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, DIMS(2, 2), data, sizeof data, &t));
  tfsdk_val fetch[2] = {y, z};
  seen v = {.ctx = c};
  tfsdk_run_options o = {.struct_size = sizeof o, .step = look, .user = &v};
  OK(tfsdk_session_run_watched(s, fetch, 2, &x, &t, 1, &o, out));
  OK(tfsdk_session_run(s, fetch, 2, &x, &t, 1, plain));
  cr_expect(v.steps > 0 && v.steps <= 2);
  cr_expect_eq(v.fetched, 2);
  cr_expect_float_eq(v.sum, 1 + tanh(1), 1e-6);
  cr_expect(strstr(v.names, "product ") && strstr(v.names, "root "), "%s", v.names);
  for (int i = 0; i < 2; i++) {
    tfsdk_view a, b;
    OK(tfsdk_tensor_view(out[i], &a));
    OK(tfsdk_tensor_view(plain[i], &b));
    cr_expect_eq(memcmp(a.data, b.data, sizeof data), 0);
    tfsdk_tensor_release(out[i]);
    tfsdk_tensor_release(plain[i]);
  }
  seen again = {.ctx = c, .stop_at = 1};
  o.user = &again;
  FAILS(tfsdk_session_run_watched(s, fetch, 2, &x, &t, 1, &o, out), TFSDK_ABORTED, "seen enough");
  cr_expect(out[0] == NULL && out[1] == NULL);
  cr_expect_eq(again.plan, v.plan);
  cr_expect_eq(again.steps, 1);
  OK(tfsdk_session_run_watched(s, fetch, 1, &x, &t, 1, NULL, out)); /* nobody watches */
  tfsdk_tensor_release(out[0]);
  tfsdk_tensor_release(t);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  tfsdk_runtime_release(rt);
}
