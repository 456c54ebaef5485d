/* program_show.c - `tfsdk ops`, `plugins`, `devices` and `plugin index`. */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>

static int report(tfsdk_status *s, int code) {
  if (s == NULL) return PROGRAM_DONE;
  fprintf(stderr, "tfsdk: %s\n", tfsdk_status_text(s));
  tfsdk_status_release(s);
  return code;
}

static int print_name(void *user, const char *name) {
  (void)user;
  printf("%s\n", name);
  return 0;
}

static void print_args(const char *title, const tfsdk_arg *list, int n) {
  if (n == 0) return;
  printf("\n%s\n", title);
  for (int i = 0; i < n; i++)
    printf("  %-20s %-14s %s\n", list[i].name, list[i].type,
           list[i].doc != NULL ? list[i].doc : "");
}

static int print_kernel(void *user, const char *device, const char *label, const char *plugin,
                        int32_t priority, const char *dtypes) {
  (void)user;
  printf("  %-8s %4d  %-16s %-16s %s\n", device, (int)priority, label != NULL ? label : "", plugin,
         dtypes != NULL ? dtypes : "");
  return 0;
}

static void print_op(tfsdk_runtime *rt, const tfsdk_opdef *d) {
  printf("%s: %s\n", d->name, d->summary != NULL ? d->summary : "");
  printf("from plugin %s\n", tfsdk_op_plugin(rt, d->name));
  print_args("inputs", d->in, d->n_in);
  if (d->n_attr > 0) printf("\nattributes\n");
  for (int i = 0; i < d->n_attr; i++)
    printf("  %-20s %-14s %s%s%s%s\n", d->attr[i].name, d->attr[i].type,
           d->attr[i].doc != NULL ? d->attr[i].doc : "", d->attr[i].dflt != NULL ? " [" : "",
           d->attr[i].dflt != NULL ? d->attr[i].dflt : "", d->attr[i].dflt != NULL ? "]" : "");
  print_args("outputs", d->out, d->n_out);
  if (d->doc != NULL) printf("\n%s\n", d->doc);
  if (d->no_grad_reason != NULL) printf("\nno gradient: %s\n", d->no_grad_reason);
  printf("\nkernels (device, priority, label, plugin, types)\n");
  report(tfsdk_kernel_each(rt, d->name, print_kernel, NULL), PROGRAM_SCRIPT_ERROR);
}

int program_ops(lua_State *L, const char *name) {
  tfsdk_runtime *rt;
  const tfsdk_opdef *def;
  int rc = program_need_runtime(L, &rt);
  if (rc != PROGRAM_DONE) return rc;
  if (name == NULL) {
    tfsdk_op_each(rt, print_name, NULL);
    return PROGRAM_DONE;
  }
  rc = report(tfsdk_op_find(rt, name, &def), PROGRAM_UNAVAILABLE);
  if (rc == PROGRAM_DONE) print_op(rt, def);
  return rc;
}

static int print_plugin(void *user, const tfsdk_plugin_report *r) {
  int why = *(const int *)user;
  printf("%-16s %-10s %-12s %s\n", r->name != NULL ? r->name : "?",
         r->version != NULL ? r->version : "", r->state, r->path);
  if (!why) return 0;
  if (r->summary != NULL && r->summary[0] != 0) printf("    %s\n", r->summary);
  if (r->detail != NULL && r->detail[0] != 0) printf("    %s\n", r->detail);
  printf("    %u ops, %u kernels, %u devices, %u readers\n", r->n_ops, r->n_kernels, r->n_devices,
         r->n_readers);
  return 0;
}

int program_plugins(lua_State *L, int why) {
  tfsdk_runtime *rt;
  int rc = program_need_runtime(L, &rt);
  if (rc != PROGRAM_DONE) return rc;
  if (why) tfsdk_plugin_load_all(rt);
  tfsdk_plugin_each(rt, print_plugin, &why);
  return PROGRAM_DONE;
}

static int print_device(void *user, const tfsdk_device_report *r) {
  double gigabyte = 1024.0 * 1024.0 * 1024.0;
  (void)user;
  printf("%s\n", r->name);
  if (r->model != NULL && r->model[0] != 0) printf("    model    %s\n", r->model);
  if (r->details != NULL && r->details[0] != 0) printf("    details  %s\n", r->details);
  if (r->threads > 0) printf("    threads  %u\n", r->threads);
  printf("    memory   limit %.2f GB, in use %.2f GB, cached %.2f GB, peak %.2f GB\n",
         (double)r->memory.limit / gigabyte, (double)r->memory.in_use / gigabyte,
         (double)r->memory.cached / gigabyte, (double)r->memory.peak / gigabyte);
  return 0;
}

int program_devices(lua_State *L) {
  tfsdk_runtime *rt;
  int rc = program_need_runtime(L, &rt);
  if (rc != PROGRAM_DONE) return rc;
  return report(tfsdk_device_each(rt, print_device, NULL), PROGRAM_UNAVAILABLE);
}

int program_index(lua_State *L, const char *folder) {
  tfsdk_runtime *rt;
  int rc = program_need_runtime(L, &rt);
  if (rc != PROGRAM_DONE) return rc;
  return report(tfsdk_plugin_index(rt, folder), PROGRAM_UNAVAILABLE);
}
