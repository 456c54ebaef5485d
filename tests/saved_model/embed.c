/* A saved model in a C program: load, run, print. The program that the documentation shows.
 *
 *     embed MODEL [OUTPUT]        feeds x = (1, 2, 3)
 */
#include <stdio.h>
#include <stdlib.h>
#include <tfsdk/tfsdk.h>

int main(int argc, char **argv) {
  tfsdk_runtime *rt;
  tfsdk_model *m = NULL;
  tfsdk_tensor *x = NULL, *y = NULL;
  tfsdk_view v;
  float data[3] = {1, 2, 3};
  tfsdk_status *s = tfsdk_runtime_create(NULL, &rt);
  if (!s) s = tfsdk_model_load(rt, argv[1], NULL, &m);
  if (!s) s = tfsdk_tensor_create(rt, TFSDK_FLOAT32, 2, (int64_t[]){1, 3}, data, sizeof data, &x);
  if (!s)
    s = tfsdk_model_run(m, NULL, (const char *[]){"x"}, &x, 1,
                        (const char *[]){argc > 2 ? argv[2] : "y"}, 1, &y);
  if (!s) s = tfsdk_tensor_view(y, &v);
  if (s) fprintf(stderr, "%s\n", tfsdk_status_text(s));
  for (int64_t i = 0; !s && i < v.n_elem; i++) printf("%g\n", (double)((float *)v.data)[i]);
  tfsdk_tensor_release(x);
  tfsdk_tensor_release(y);
  tfsdk_model_release(m);
  tfsdk_runtime_release(rt);
  return s != NULL;
}
