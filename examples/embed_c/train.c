/* A C program that builds, trains and runs a model: it fits y = 2 x1 - 3 x2 + 1 by gradient
 * descent. cc train.c $(pkg-config --cflags --libs tfsdk) -o train && ./train */
#include <stdio.h>
#include <tfsdk/tfsdk.h>

#define TRY TFSDK_TRY

static tfsdk_status *variable(tfsdk_ctx *c, const char *name, uint32_t rank, const int64_t *dim,
                              tfsdk_variable **out) {
  tfsdk_varspec spec = {.struct_size = sizeof spec, .dtype = TFSDK_FLOAT32};
  spec.shape.rank = (int32_t)rank;
  for (uint32_t i = 0; i < rank; i++) spec.shape.dim[i] = dim[i];
  return tfsdk_variable_create(c, name, &spec, out);
}

static tfsdk_val descend(tfsdk_ctx *c, tfsdk_variable *v, tfsdk_val gradient) {
  tfsdk_val in[3] = {tfsdk_variable_handle(v), tfsdk_scalar(c, TFSDK_FLOAT32, 0.1), gradient};
  return tfsdk_emit(c, "ResourceApplyGradientDescent", in, 3, NULL, 0);
}

static tfsdk_status *program(tfsdk_runtime *rt) {
  tfsdk_graph *g;
  tfsdk_session *s;
  tfsdk_variable *w, *b;
  TRY(tfsdk_graph_create(rt, &g));
  tfsdk_ctx *c = tfsdk_graph_ctx(g);

  /* the model: y = x w + b, and the mean of the squared errors */
  tfsdk_attrval any_by_2[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32),
                               tfsdk_a_shape("shape", (int64_t[]){-1, 2}, 2)};
  tfsdk_attrval any_by_1[2] = {tfsdk_a_dtype("dtype", TFSDK_FLOAT32),
                               tfsdk_a_shape("shape", (int64_t[]){-1, 1}, 2)};
  tfsdk_val x = tfsdk_emit(c, "Placeholder", NULL, 0, any_by_2, 2);
  tfsdk_val target = tfsdk_emit(c, "Placeholder", NULL, 0, any_by_1, 2);
  tfsdk_val wv, bv;
  TRY(variable(c, "w", 2, (int64_t[]){2, 1}, &w));
  TRY(variable(c, "b", 1, (int64_t[]){1}, &b));
  TRY(tfsdk_variable_value(w, c, &wv));
  TRY(tfsdk_variable_value(b, c, &bv));
  tfsdk_val y = tfsdk_emit2(c, "AddV2", tfsdk_emit2(c, "MatMul", x, wv), bv);
  tfsdk_val loss = tfsdk_emit2(c, "Mean", tfsdk_emit2(c, "SquaredDifference", y, target),
                               tfsdk_int_vector(c, (int64_t[]){0, 1}, 2));
  TRY(tfsdk_ctx_error(c));

  /* its gradients, and one step of descent */
  tfsdk_val handles[2] = {tfsdk_variable_handle(w), tfsdk_variable_handle(b)};
  tfsdk_gradient gradient[2];
  TRY(tfsdk_gradients(g, &loss, 1, handles, 2, NULL, NULL, 0, gradient));
  tfsdk_val steps[3] = {descend(c, w, gradient[0].value), descend(c, b, gradient[1].value), loss};
  TRY(tfsdk_ctx_error(c));

  TRY(tfsdk_session_create(g, NULL, &s));
  tfsdk_val init[2] = {tfsdk_variable_initializer(w), tfsdk_variable_initializer(b)};
  tfsdk_tensor *out[3], *feed[2];
  TRY(tfsdk_session_run(s, init, 2, NULL, NULL, 0, out));

  float xs[16][2], ys[16];
  for (int i = 0; i < 16; i++) {
    xs[i][0] = (float)(i % 4) - 1.5f;
    xs[i][1] = (float)(i / 4) - 1.5f;
    ys[i] = 2 * xs[i][0] - 3 * xs[i][1] + 1;
  }
  TRY(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, (int64_t[]){16, 2}, xs, sizeof xs, &feed[0]));
  TRY(tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, (int64_t[]){16, 1}, ys, sizeof ys, &feed[1]));
  for (int i = 0; i < 200; i++) {
    tfsdk_view view;
    TRY(tfsdk_session_run(s, steps, 3, (tfsdk_val[]){x, target}, feed, 2, out));
    TRY(tfsdk_tensor_view(out[2], &view));
    if (i % 50 == 0 || i == 199) printf("step %3d  loss %.6f\n", i, (double)*(float *)view.data);
    tfsdk_tensor_release(out[2]);
  }

  /* what it has learnt */
  tfsdk_val values[2] = {wv, bv};
  tfsdk_view wr, br;
  TRY(tfsdk_session_run(s, values, 2, NULL, NULL, 0, out));
  TRY(tfsdk_tensor_view(out[0], &wr));
  TRY(tfsdk_tensor_view(out[1], &br));
  printf("y = %.3f x1 + %.3f x2 + %.3f\n", (double)((float *)wr.data)[0],
         (double)((float *)wr.data)[1], (double)*(float *)br.data);

  tfsdk_tensor_release(out[0]);
  tfsdk_tensor_release(out[1]);
  tfsdk_tensor_release(feed[0]);
  tfsdk_tensor_release(feed[1]);
  tfsdk_variable_release(w);
  tfsdk_variable_release(b);
  tfsdk_session_release(s);
  tfsdk_graph_release(g);
  return NULL;
}

int main(void) {
  tfsdk_runtime *rt;
  tfsdk_status *s = tfsdk_runtime_create(NULL, &rt);
  if (s == NULL) {
    s = program(rt);
    tfsdk_runtime_release(rt);
  }
  if (s == NULL) return 0;
  fprintf(stderr, "%s\n", tfsdk_status_text(s));
  tfsdk_status_release(s);
  return 1;
}
