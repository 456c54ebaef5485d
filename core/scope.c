/* Scopes: names, devices, control dependencies and variable prefixes of a context; and the seeds
 * that hang off them. */
#include "internal.h"
#include <sys/random.h>
#include <time.h>

/* Copies into the scopes' own list, where it lives as long as they do. */
static char *keep(tfsdk_runtime *rt, tfsdk__scopes *s, const char *text) {
  if (!TFSDK__GROW(rt, &s->owned, 1)) return NULL;
  char *copy = tfsdk__strdup(rt, text);
  if (copy != NULL) s->owned.data[s->owned.n++] = copy;
  return copy;
}

static const char *prefix(const tfsdk__scopes *s) {
  return s->name.n ? s->name.data[s->name.n - 1] : "";
}

/* Marks `full`, or full_1, full_2, ... as taken. */
static const char *take_unique(tfsdk_runtime *rt, tfsdk__scopes *s, const char *full) {
  uintptr_t count = (uintptr_t)tfsdk__map_get(&s->used, full);
  char candidate[600];
  if (count == 0) {
    char *name = keep(rt, s, full);
    return name && tfsdk__map_put(rt, &s->used, name, (void *)1) ? name : NULL;
  }
  for (uintptr_t i = count;; i++) {
    snprintf(candidate, sizeof candidate, "%s_%zu", full, (size_t)i);
    if (tfsdk__map_get(&s->used, candidate) != NULL) continue;
    char *name = keep(rt, s, candidate);
    if (name == NULL || !tfsdk__map_put(rt, &s->used, name, (void *)1)) return NULL;
    const char *base = keep(rt, s, full); /* the map's key must outlive the caller's text */
    if (base != NULL) (void)tfsdk__map_put(rt, &s->used, base, (void *)(i + 1));
    return name;
  }
}

const char *tfsdk__scopes_unique(tfsdk_runtime *rt, tfsdk__scopes *s, const char *name) {
  char full[512];
  snprintf(full, sizeof full, "%s%s", prefix(s), name);
  return take_unique(rt, s, full);
}

size_t tfsdk__scopes_next_number(tfsdk_runtime *rt, tfsdk__scopes *s, const char *base) {
  uintptr_t n = (uintptr_t)tfsdk__map_get(&s->used, base) + 1;
  const char *key = n > 1 ? base : keep(rt, s, base);
  return key != NULL && tfsdk__map_put(rt, &s->used, key, (void *)n) ? n : 0;
}

void tfsdk__scopes_deinit(tfsdk_runtime *rt, tfsdk__scopes *s) {
  for (size_t i = 0; i < s->name.n; i++) tfsdk__free(rt, s->name.data[i]);
  for (size_t i = 0; i < s->device.n; i++) tfsdk__free(rt, s->device.data[i]);
  for (size_t i = 0; i < s->var.n; i++) tfsdk__free(rt, s->var.data[i].path);
  for (size_t i = 0; i < s->control.n; i++) tfsdk__free(rt, s->control.data[i].node);
  for (size_t i = 0; i < s->owned.n; i++) tfsdk__free(rt, s->owned.data[i]);
  tfsdk__free(rt, s->name.data);
  tfsdk__free(rt, s->device.data);
  tfsdk__free(rt, s->var.data);
  tfsdk__free(rt, s->control.data);
  tfsdk__free(rt, s->owned.data);
  tfsdk__map_deinit(rt, &s->used);
  tfsdk__map_deinit(rt, &s->random);
  memset(s, 0, sizeof *s);
}

static bool legal(const char *name) {
  for (const char *p = name; *p; p++) {
    bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                  (*p >= '0' && *p <= '9') || *p == '.';
    if (!letter && (p == name || (*p != '_' && *p != '-' && *p != '/'))) return false;
  }
  return strlen(name) < 400;
}

tfsdk_status *tfsdk_ctx_push_name_scope(tfsdk_ctx *c, const char *name) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk__scopes *s = &x->scopes;
  char path[512];
  size_t n = strlen(name);
  if (!legal(name))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "'%s' cannot name a scope: letters, digits, '.', '_', '-' and '/' "
                              "can, beginning with a letter, digit or '.'",
                              name);
  if (!TFSDK__GROW(x->rt, &s->name, 1)) return TFSDK__NOMEM(x->rt);
  if (n == 0)
    path[0] = 0;
  else if (name[n - 1] == '/')
    snprintf(path, sizeof path, "%s", name); /* exact: re-enters that scope */
  else {
    const char *unique = tfsdk__scopes_unique(x->rt, s, name);
    if (unique == NULL) return TFSDK__NOMEM(x->rt);
    if (strlen(unique) > 450)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the scope name '%s' is too long", unique);
    snprintf(path, sizeof path, "%s/", unique);
  }
  char *copy = tfsdk__strdup(x->rt, path);
  if (copy == NULL) return TFSDK__NOMEM(x->rt);
  s->name.data[s->name.n++] = copy;
  return NULL;
}

void tfsdk_ctx_pop_name_scope(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->scopes.name.n > 0) tfsdk__free(x->rt, x->scopes.name.data[--x->scopes.name.n]);
}

const char *tfsdk_ctx_name_scope(tfsdk_ctx *c) { return prefix(&tfsdk__context_of(c)->scopes); }

tfsdk_status *tfsdk_ctx_push_device(tfsdk_ctx *c, const char *device) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk__device *d;
  if (device != NULL && x->kind == TFSDK__CTX_EAGER)
    TFSDK_TRY(tfsdk__device_find(x->rt, device, &d));
  if (!TFSDK__GROW(x->rt, &x->scopes.device, 1)) return TFSDK__NOMEM(x->rt);
  char *copy = device ? tfsdk__strdup(x->rt, device) : NULL;
  if (device != NULL && copy == NULL) return TFSDK__NOMEM(x->rt);
  x->scopes.device.data[x->scopes.device.n++] = copy;
  return NULL;
}

void tfsdk_ctx_pop_device(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->scopes.device.n > 0) tfsdk__free(x->rt, x->scopes.device.data[--x->scopes.device.n]);
}

/* The top of the stack is the union of the present dependencies and the new ones. */
tfsdk_status *tfsdk_ctx_push_control(tfsdk_ctx *c, const tfsdk_val *v, size_t n) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk__scopes *s = &x->scopes;
  if (!TFSDK__GROW(x->rt, &s->control, 1)) return TFSDK__NOMEM(x->rt);
  struct tfsdk__controls *old = s->control.n ? &s->control.data[s->control.n - 1] : NULL;
  size_t kept = old && n > 0 ? old->n : 0, at = 0;
  if (x->kind == TFSDK__CTX_EAGER) n = 0;
  uint32_t *node = tfsdk__alloc(x->rt, (kept + n + 1) * sizeof *node);
  if (node == NULL) return TFSDK__NOMEM(x->rt);
  for (size_t i = 0; i < kept; i++) node[at++] = old->node[i];
  for (size_t i = 0; i < n; i++) {
    uint32_t id = tfsdk__val_node(v[i]);
    bool known = false;
    if (id >= tfsdk__graph_of(c)->nodes.n) {
      tfsdk__free(x->rt, node);
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                "a control dependency is not of this graph");
    }
    for (size_t k = 0; k < at; k++) known = known || node[k] == id;
    if (!known) node[at++] = id;
  }
  s->control.data[s->control.n].node = node;
  s->control.data[s->control.n++].n = at;
  return NULL;
}

void tfsdk_ctx_pop_control(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->scopes.control.n > 0)
    tfsdk__free(x->rt, x->scopes.control.data[--x->scopes.control.n].node);
}

tfsdk_status *tfsdk_ctx_push_variable_scope(tfsdk_ctx *c, const char *name, int32_t reuse,
                                            int32_t absolute) {
  tfsdk__context *x = tfsdk__context_of(c);
  tfsdk__scopes *s = &x->scopes;
  char path[512];
  const char *outer = s->var.n ? s->var.data[s->var.n - 1].path : "";
  int32_t outer_reuse = s->var.n ? s->var.data[s->var.n - 1].reuse : TFSDK_REUSE_NEW;
  if (*name && !legal(name))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' cannot name a variable scope", name);
  int n = absolute || *outer == 0
              ? snprintf(path, sizeof path, "%s", name)
              : snprintf(path, sizeof path, "%s%s%s", outer, *name ? "/" : "", name);
  if (n < 0 || n > 500)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the scope name '%s' is too long", name);
  if (!TFSDK__GROW(x->rt, &s->var, 1)) return TFSDK__NOMEM(x->rt);
  char *copy = tfsdk__strdup(x->rt, path);
  if (copy == NULL) return TFSDK__NOMEM(x->rt);
  /* "only reuse" is inherited and cannot be taken back by an inner scope, as in TensorFlow */
  if (reuse == TFSDK_REUSE_INHERIT ||
      (reuse == TFSDK_REUSE_NEW && outer_reuse != TFSDK_REUSE_NEW && !absolute))
    reuse = outer_reuse;
  s->var.data[s->var.n].path = copy;
  s->var.data[s->var.n++].reuse = reuse;
  return NULL;
}

void tfsdk_ctx_pop_variable_scope(tfsdk_ctx *c) {
  tfsdk__context *x = tfsdk__context_of(c);
  if (x->scopes.var.n > 0) tfsdk__free(x->rt, x->scopes.var.data[--x->scopes.var.n].path);
}

const char *tfsdk_ctx_variable_scope(tfsdk_ctx *c) {
  tfsdk__scopes *s = &tfsdk__context_of(c)->scopes;
  return s->var.n ? s->var.data[s->var.n - 1].path : "";
}

int32_t tfsdk_ctx_reuse(tfsdk_ctx *c) {
  tfsdk__scopes *s = &tfsdk__context_of(c)->scopes;
  return s->var.n ? s->var.data[s->var.n - 1].reuse : TFSDK_REUSE_NEW;
}

/* ---------------------------------------------------------------------------------------- seeds */

static int64_t int_attr(const tfsdk__attrlist *attrs, const char *name) {
  tfsdk_attrs a = tfsdk__attrlist_view(attrs);
  return tfsdk_attr_int(&a, name);
}

tfsdk_status *tfsdk__random_site_of(tfsdk_runtime *rt, tfsdk__scopes *s,
                                    const tfsdk__attrlist *attrs, tfsdk__random_site *out) {
  out->graph_seed = int_attr(attrs, "seed");
  out->op_seed = int_attr(attrs, "seed2");
  out->given = out->graph_seed != 0 || out->op_seed != 0;
  if (out->given) return NULL;
  const char *path = prefix(s);
  uintptr_t stored = (uintptr_t)tfsdk__map_get(&s->random, path), count = stored ? stored - 1 : 0;
  const char *key = stored ? path : keep(rt, s, path);
  if (key == NULL || !tfsdk__map_put(rt, &s->random, key, (void *)(count + 2)))
    return TFSDK__NOMEM(rt);
  out->op_seed = (int64_t)tfsdk__hash(path, strlen(path), count + 1);
  return NULL;
}

#define DEFAULT_GRAPH_SEED 87654321 /* TensorFlow's, for an op seed without a graph seed */

void tfsdk__random_key(const tfsdk__random_site *site, bool has_seed, int64_t seed, uint64_t salt,
                       uint32_t key[2]) {
  int64_t pair[2] = {site->graph_seed ? site->graph_seed
                     : has_seed       ? seed
                                      : DEFAULT_GRAPH_SEED,
                     site->op_seed};
  uint64_t h = tfsdk__hash(pair, sizeof pair, site->given || has_seed ? 0 : salt);
  key[0] = (uint32_t)h;
  key[1] = (uint32_t)(h >> 32);
}

uint64_t tfsdk__random_salt(void) {
  uint64_t salt;
  if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != (ssize_t)sizeof salt) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    salt =
        (uint64_t)t.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)t.tv_sec ^ (uint64_t)(uintptr_t)&salt;
  }
  return salt | 1;
}
