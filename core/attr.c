/* Attribute values: copying, comparing, reading from text. */
#include "internal.h"
#include <errno.h>

static const struct {
  const char *name;
  int32_t kind;
} kind_names[] = {
    {"int", TFSDK_ATTR_INT},       {"float", TFSDK_ATTR_FLOAT}, {"bool", TFSDK_ATTR_BOOL},
    {"string", TFSDK_ATTR_STRING}, {"dtype", TFSDK_ATTR_DTYPE}, {"shape", TFSDK_ATTR_SHAPE},
    {"tensor", TFSDK_ATTR_TENSOR},
};
static int32_t list_kind(int32_t kind) {
  switch (kind) {
  case TFSDK_ATTR_INT: return TFSDK_ATTR_LIST_INT;
  case TFSDK_ATTR_FLOAT: return TFSDK_ATTR_LIST_FLOAT;
  case TFSDK_ATTR_STRING: return TFSDK_ATTR_LIST_STRING;
  case TFSDK_ATTR_DTYPE: return TFSDK_ATTR_LIST_DTYPE;
  case TFSDK_ATTR_BOOL: return TFSDK_ATTR_LIST_BOOL;
  case TFSDK_ATTR_SHAPE: return TFSDK_ATTR_LIST_SHAPE;
  default: return TFSDK_ATTR_NONE;
  }
}

static bool is_int_array(int32_t kind) {
  return kind == TFSDK_ATTR_SHAPE || kind == TFSDK_ATTR_LIST_INT || kind == TFSDK_ATTR_LIST_DTYPE ||
         kind == TFSDK_ATTR_LIST_BOOL;
}

static void *copy_bytes(tfsdk_runtime *rt, const void *src, size_t n) {
  void *p = tfsdk__alloc(rt, n ? n : 1);
  if (p != NULL && n > 0) memcpy(p, src, n);
  return p;
}

/* The name is not copied: it is the op record's own. */
tfsdk_status *tfsdk__attr_copy(tfsdk_runtime *rt, const tfsdk_attrval *src, tfsdk_attrval *dst) {
  tfsdk_attrval a = *src;
  void *made = NULL;
  bool owns = true;
  size_t n = src->n == TFSDK_UNKNOWN_RANK ? 0 : src->n;
  if (is_int_array(src->kind))
    a.v.ints = made = copy_bytes(rt, src->v.ints, n * 8);
  else if (src->kind == TFSDK_ATTR_LIST_FLOAT)
    a.v.floats = made = copy_bytes(rt, src->v.floats, n * 8);
  else if (src->kind == TFSDK_ATTR_LIST_SHAPE)
    a.v.shapes = made = copy_bytes(rt, src->v.shapes, n * sizeof *src->v.shapes);
  else if (src->kind == TFSDK_ATTR_STRING)
    a.v.s = made = tfsdk__strdup(rt, src->v.s ? src->v.s : "");
  else if (src->kind == TFSDK_ATTR_TENSOR) {
    tfsdk_tensor *t = NULL; /* on the host: shape rules look at it */
    owns = false;
    if (src->v.tensor != NULL)
      TFSDK_TRY(
          tfsdk__tensor_on((tfsdk_tensor *)(uintptr_t)src->v.tensor, tfsdk__device_host(rt), &t));
    a.v.tensor = t;
  } else if (src->kind == TFSDK_ATTR_LIST_STRING) {
    char **list = tfsdk__zalloc(rt, (n + 1) * sizeof *list);
    bool ok = list != NULL;
    for (size_t i = 0; ok && i < n; i++)
      ok = (list[i] = tfsdk__strdup(rt, src->v.strings[i])) != NULL;
    if (!ok && list != NULL) {
      for (size_t i = 0; i < n; i++) tfsdk__free(rt, list[i]);
      tfsdk__free(rt, list);
      list = NULL;
    }
    made = list;
    a.v.strings = (const char *const *)list;
  } else {
    owns = false;
  }
  if (owns && made == NULL) return TFSDK__NOMEM(rt);
  *dst = a;
  return NULL;
}

void tfsdk__attr_release(tfsdk_runtime *rt, tfsdk_attrval *a) {
  if (is_int_array(a->kind))
    tfsdk__free(rt, (void *)(uintptr_t)a->v.ints);
  else if (a->kind == TFSDK_ATTR_LIST_FLOAT)
    tfsdk__free(rt, (void *)(uintptr_t)a->v.floats);
  else if (a->kind == TFSDK_ATTR_LIST_SHAPE)
    tfsdk__free(rt, (void *)(uintptr_t)a->v.shapes);
  else if (a->kind == TFSDK_ATTR_STRING)
    tfsdk__free(rt, (void *)(uintptr_t)a->v.s);
  else if (a->kind == TFSDK_ATTR_TENSOR)
    tfsdk_tensor_release((tfsdk_tensor *)(uintptr_t)a->v.tensor);
  else if (a->kind == TFSDK_ATTR_LIST_STRING && a->v.strings != NULL) {
    for (uint32_t i = 0; i < a->n; i++) tfsdk__free(rt, (void *)(uintptr_t)a->v.strings[i]);
    tfsdk__free(rt, (void *)(uintptr_t)a->v.strings);
  }
  memset(a, 0, sizeof *a);
}

bool tfsdk__attr_equal(const tfsdk_attrval *a, const tfsdk_attrval *b) {
  if (a->kind != b->kind || a->n != b->n) return false;
  size_t n = a->n == TFSDK_UNKNOWN_RANK ? 0 : a->n;
  if (is_int_array(a->kind)) return n == 0 || memcmp(a->v.ints, b->v.ints, n * 8) == 0;
  switch (a->kind) {
  case TFSDK_ATTR_LIST_FLOAT: return n == 0 || memcmp(a->v.floats, b->v.floats, n * 8) == 0;
  case TFSDK_ATTR_LIST_SHAPE:
    return n == 0 || memcmp(a->v.shapes, b->v.shapes, n * sizeof *a->v.shapes) == 0;
  case TFSDK_ATTR_STRING: return strcmp(a->v.s, b->v.s) == 0;
  case TFSDK_ATTR_TENSOR: return a->v.tensor == b->v.tensor;
  case TFSDK_ATTR_LIST_STRING:
    for (size_t i = 0; i < n; i++)
      if (strcmp(a->v.strings[i], b->v.strings[i]) != 0) return false;
    return true;
  default: return memcmp(&a->v, &b->v, sizeof a->v) == 0;
  }
}

static uint64_t attr_hash(const tfsdk_attrval *a, uint64_t h) {
  size_t n = a->n == TFSDK_UNKNOWN_RANK ? 0 : a->n;
  h = tfsdk__hash(&a->kind, sizeof a->kind, h);
  if (is_int_array(a->kind)) return tfsdk__hash(a->v.ints, n * 8, h + a->n);
  switch (a->kind) {
  case TFSDK_ATTR_LIST_FLOAT: return tfsdk__hash(a->v.floats, n * 8, h + a->n);
  case TFSDK_ATTR_LIST_SHAPE: return tfsdk__hash(a->v.shapes, n * sizeof *a->v.shapes, h + a->n);
  case TFSDK_ATTR_STRING: return tfsdk__hash(a->v.s, strlen(a->v.s), h);
  case TFSDK_ATTR_LIST_STRING:
    for (size_t i = 0; i < n; i++) h = tfsdk__hash(a->v.strings[i], strlen(a->v.strings[i]), h);
    return h;
  default: return tfsdk__hash(&a->v, sizeof a->v, h);
  }
}

void tfsdk__attrlist_release(tfsdk_runtime *rt, tfsdk__attrlist *l) {
  if (l == NULL || atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1) return;
  for (uint32_t i = 0; i < l->n; i++) tfsdk__attr_release(rt, &l->list[i]);
  tfsdk__free(rt, l);
}

/* ------------------------------------------------------------------------------------ from text */

static tfsdk_status *parse_number(const char *text, int32_t kind, tfsdk_attrval *out) {
  char *end;
  errno = 0;
  if (kind == TFSDK_ATTR_FLOAT)
    out->v.f = strtod(text, &end);
  else
    out->v.i = strtoll(text, &end, 0);
  if (end == text || *end != 0 || (errno == ERANGE && kind == TFSDK_ATTR_INT))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is not %s", text,
                              kind == TFSDK_ATTR_FLOAT ? "a number" : "an integer");
  return NULL;
}

static tfsdk_status *parse_scalar(const char *text, int32_t kind, tfsdk_attrval *out) {
  switch (kind) {
  case TFSDK_ATTR_INT:
  case TFSDK_ATTR_FLOAT: return parse_number(text, kind, out);
  case TFSDK_ATTR_BOOL:
    out->v.i = strcmp(text, "true") == 0;
    if (out->v.i || strcmp(text, "false") == 0) return NULL;
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is neither true nor false", text);
  case TFSDK_ATTR_DTYPE:
    out->v.i = tfsdk_dtype_find(text);
    if (out->v.i != 0) return NULL;
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is not a type", text);
  default: return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' cannot be given as text", text);
  }
}

/* Splits "[a,b]" in place; the members' addresses go to item. */
static tfsdk_status *split_list(char *text, char **item, uint32_t cap, uint32_t *n) {
  size_t len = strlen(text);
  *n = 0;
  if (len < 2 || text[0] != '[' || text[len - 1] != ']')
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is not a list like [1,2]", text);
  text[len - 1] = 0;
  for (char *p = text + 1; *p != 0;) {
    while (*p == ' ') p++;
    size_t k = strcspn(p, ",");
    if (*n == cap)
      return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "a list has more than %u members", cap);
    item[(*n)++] = p;
    bool more = p[k] == ',';
    p[k] = 0;
    for (size_t e = k; e > 0 && p[e - 1] == ' ';) p[--e] = 0;
    p += k + (more ? 1 : 0);
  }
  return NULL;
}

tfsdk_status *tfsdk__attr_parse(tfsdk_runtime *rt, int32_t kind, const char *text,
                                tfsdk_attrval *out) {
  tfsdk_attrval a = {0};
  char copy[512], *item[64];
  int64_t ints[64];
  double floats[64];
  uint32_t n;
  a.kind = kind;
  if (kind == TFSDK_ATTR_STRING) {
    a.v.s = text;
    return tfsdk__attr_copy(rt, &a, out);
  }
  if (kind == TFSDK_ATTR_SHAPE && strcmp(text, "unknown") == 0) {
    a.n = TFSDK_UNKNOWN_RANK;
    return tfsdk__attr_copy(rt, &a, out);
  }
  if (kind < TFSDK_ATTR_SHAPE) {
    TFSDK_TRY(parse_scalar(text, kind, &a));
    *out = a;
    return NULL;
  }
  if (strlen(text) >= sizeof copy)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is too long", text);
  memcpy(copy, text, strlen(text) + 1);
  TFSDK_TRY(split_list(copy, item, 64, &n));
  a.n = n;
  if (kind == TFSDK_ATTR_LIST_STRING) {
    a.v.strings = (const char *const *)item;
    return tfsdk__attr_copy(rt, &a, out);
  }
  int32_t member = kind == TFSDK_ATTR_LIST_FLOAT   ? TFSDK_ATTR_FLOAT
                   : kind == TFSDK_ATTR_LIST_DTYPE ? TFSDK_ATTR_DTYPE
                   : kind == TFSDK_ATTR_LIST_BOOL  ? TFSDK_ATTR_BOOL
                                                   : TFSDK_ATTR_INT;
  if (!is_int_array(kind) && kind != TFSDK_ATTR_LIST_FLOAT && n > 0)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' cannot be given as text", text);
  for (uint32_t i = 0; i < n; i++) {
    tfsdk_attrval m = {0};
    TFSDK_TRY(parse_scalar(item[i], member, &m));
    ints[i] = m.v.i;
    floats[i] = m.v.f;
  }
  if (kind == TFSDK_ATTR_LIST_FLOAT)
    a.v.floats = floats;
  else
    a.v.ints = ints;
  return tfsdk__attr_copy(rt, &a, out);
}

static tfsdk_status *parse_allowed(tfsdk_runtime *rt, char *text, tfsdk__attrtype *out) {
  char *item[64], list[512];
  uint32_t n;
  size_t len = strlen(text);
  if (len < 2 || text[len - 1] != '}' || len >= sizeof list)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "the set '%s' does not end with '}'", text);
  snprintf(list, sizeof list, "[%.*s]", (int)len - 2, text + 1);
  TFSDK_TRY(split_list(list, item, 64, &n));
  if (out->kind == TFSDK_ATTR_DTYPE || out->kind == TFSDK_ATTR_LIST_DTYPE) {
    out->dtypes = tfsdk__zalloc(rt, (n + 1) * sizeof *out->dtypes);
    if (out->dtypes == NULL) return TFSDK__NOMEM(rt);
    for (uint32_t i = 0; i < n; i++) {
      out->dtypes[i] = tfsdk_dtype_find(item[i]);
      if (out->dtypes[i] == 0)
        return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "'%s' is not a type", item[i]);
    }
    return NULL;
  }
  if (out->kind != TFSDK_ATTR_STRING && out->kind != TFSDK_ATTR_LIST_STRING)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "a set of allowed values goes with dtype and string only");
  out->strings = tfsdk__zalloc(rt, (n + 1) * sizeof *out->strings);
  if (out->strings == NULL) return TFSDK__NOMEM(rt);
  for (uint32_t i = 0; i < n; i++)
    if ((out->strings[i] = tfsdk__strdup(rt, item[i])) == NULL) return TFSDK__NOMEM(rt);
  return NULL;
}

tfsdk_status *tfsdk__attrtype_parse(tfsdk_runtime *rt, const tfsdk_attrdef *def,
                                    tfsdk__attrtype *out) {
  char text[512];
  bool list;
  memset(out, 0, sizeof *out);
  if (def->name == NULL || def->type == NULL || strlen(def->type) >= sizeof text)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "an attribute lacks its name or type");
  memcpy(text, def->type, strlen(def->type) + 1);
  char *set = strchr(text, '{');
  size_t len = set ? (size_t)(set - text) : strlen(text);
  list = len > 6 && strncmp(text, "list(", 5) == 0 && text[len - 1] == ')';
  for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++) {
    const char *word = list ? text + 5 : text;
    size_t n = list ? len - 6 : len;
    if (strlen(kind_names[i].name) == n && strncmp(word, kind_names[i].name, n) == 0)
      out->kind = list ? list_kind(kind_names[i].kind) : kind_names[i].kind;
  }
  if (out->kind == TFSDK_ATTR_NONE)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' has the unknown type '%s'",
                              def->name, def->type);
  tfsdk_status *s = set ? parse_allowed(rt, set, out) : NULL;
  if (s == NULL && def->dflt != NULL) {
    s = tfsdk__attr_parse(rt, out->kind, def->dflt, &out->dflt);
    out->has_default = s == NULL;
    out->dflt.name = def->name;
  }
  if (s != NULL) {
    tfsdk__status_prefix(s, "attribute '%s'", def->name);
    tfsdk__attrtype_release(rt, out);
  }
  return s;
}

void tfsdk__attrtype_release(tfsdk_runtime *rt, tfsdk__attrtype *t) {
  tfsdk__free(rt, t->dtypes);
  for (char **s = t->strings; s != NULL && *s != NULL; s++) tfsdk__free(rt, *s);
  tfsdk__free(rt, t->strings);
  if (t->has_default) tfsdk__attr_release(rt, &t->dflt);
  memset(t, 0, sizeof *t);
}

/* ------------------------------------------------------------------------ given against defined */

static const char *kind_word(int32_t kind) {
  for (size_t i = 0; i < sizeof kind_names / sizeof *kind_names; i++)
    if (kind_names[i].kind == kind) return kind_names[i].name;
  return "list";
}

/* A value of another kind that means the same: an int for a float, an empty or int list for a list.
 */
static bool convert(const tfsdk_attrval *given, int32_t kind, double *room, tfsdk_attrval *out) {
  *out = *given;
  if (given->kind == kind) return true;
  out->kind = kind;
  if (kind == TFSDK_ATTR_FLOAT && given->kind == TFSDK_ATTR_INT) {
    out->v.f = (double)given->v.i;
    return true;
  }
  if (kind == TFSDK_ATTR_INT && given->kind == TFSDK_ATTR_FLOAT &&
      given->v.f >= -9007199254740992.0 && given->v.f <= 9007199254740992.0 &&
      given->v.f == (double)(int64_t)given->v.f) {
    out->v.i = (int64_t)given->v.f;
    return true;
  }
  bool given_list = given->kind >= TFSDK_ATTR_LIST_INT || given->kind == TFSDK_ATTR_SHAPE;
  bool want_list = kind >= TFSDK_ATTR_LIST_INT || kind == TFSDK_ATTR_SHAPE;
  if (given_list && want_list && given->n == 0) return true;
  if ((kind == TFSDK_ATTR_SHAPE && given->kind == TFSDK_ATTR_LIST_INT) ||
      (kind == TFSDK_ATTR_LIST_INT && given->kind == TFSDK_ATTR_SHAPE &&
       given->n != TFSDK_UNKNOWN_RANK))
    return true;
  if (kind == TFSDK_ATTR_LIST_FLOAT && given->kind == TFSDK_ATTR_LIST_INT && given->n <= 64) {
    for (uint32_t i = 0; i < given->n; i++) room[i] = (double)given->v.ints[i];
    out->v.floats = room;
    return true;
  }
  return false;
}

static tfsdk_status *check_allowed(const tfsdk_attrdef *def, const tfsdk__attrtype *t,
                                   const tfsdk_attrval *a) {
  if (a->kind == TFSDK_ATTR_STRING && t->strings != NULL) {
    tfsdk__buf b = {0};
    for (char **s = t->strings; *s != NULL; s++) {
      if (strcmp(*s, a->v.s) == 0) {
        tfsdk__buf_deinit(&b);
        return NULL;
      }
      tfsdk__buf_add(&b, "%s%s", b.n ? ", " : "", *s);
    }
    tfsdk_status *st =
        tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' is '%s'; it may be %s",
                           def->name, a->v.s, b.s ? b.s : "");
    tfsdk__buf_deinit(&b);
    return st;
  }
  if (a->kind == TFSDK_ATTR_DTYPE && t->dtypes != NULL) {
    tfsdk__buf b = {0};
    for (int32_t *d = t->dtypes; *d != 0; d++) {
      if (*d == a->v.i) {
        tfsdk__buf_deinit(&b);
        return NULL;
      }
      tfsdk__buf_add(&b, "%s%s", b.n ? ", " : "", tfsdk_dtype_name(*d));
    }
    tfsdk_status *st = tfsdk__status_make(
        TFSDK_INVALID_ARGUMENT, "type %s (attribute '%s') is not among those that exist: %s",
        tfsdk_dtype_name((int32_t)a->v.i), def->name, b.s ? b.s : "");
    tfsdk__buf_deinit(&b);
    return st;
  }
  double x = a->kind == TFSDK_ATTR_INT ? (double)a->v.i : a->kind == TFSDK_ATTR_FLOAT ? a->v.f : 0;
  if ((a->kind == TFSDK_ATTR_INT || a->kind == TFSDK_ATTR_FLOAT) &&
      (def->lo != 0 || def->hi != 0) && !(x >= def->lo && x <= def->hi))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' is %g; it must be in %g..%g",
                              def->name, x, def->lo, def->hi);
  return NULL;
}

static tfsdk_status *unknown_attr(const char *name, const tfsdk_attrdef *defs, uint32_t n) {
  const char *best = NULL;
  int distance = 1000;
  for (uint32_t i = 0; i < n; i++) {
    int d = tfsdk__distance(name, defs[i].name);
    if (d < distance) {
      distance = d;
      best = defs[i].name;
    }
  }
  return best ? tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                                   "there is no attribute '%s'; the nearest is '%s'", name, best)
              : tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "there is no attribute '%s'", name);
}

/* list[i] is set where known beforehand (told by inputs): kind != NONE. */
tfsdk_status *tfsdk__attrlist_fill(tfsdk_runtime *rt, const tfsdk_attrdef *defs,
                                   const tfsdk__attrtype *types, uint32_t n_defs,
                                   const tfsdk_attrval *told, const tfsdk_attrval *given,
                                   size_t n_given, tfsdk__attrlist **out) {
  tfsdk__attrlist *l = tfsdk__zalloc(rt, sizeof *l + n_defs * sizeof l->list[0]);
  tfsdk_status *s = NULL;
  if (l == NULL) return TFSDK__NOMEM(rt);
  atomic_init(&l->refs, 1);
  l->n = n_defs;
  for (size_t k = 0; s == NULL && k < n_given; k++) {
    uint32_t i = 0;
    double room[64];
    tfsdk_attrval a;
    while (i < n_defs && strcmp(defs[i].name, given[k].name) != 0) i++;
    if (i == n_defs)
      s = unknown_attr(given[k].name, defs, n_defs);
    else if (l->list[i].kind != TFSDK_ATTR_NONE)
      s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' is given twice", defs[i].name);
    else if (!convert(&given[k], types[i].kind, room, &a))
      s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' must be of type %s, not %s",
                             defs[i].name, defs[i].type, kind_word(given[k].kind));
    else
      s = tfsdk__attr_copy(rt, &a, &l->list[i]);
  }
  for (uint32_t i = 0; s == NULL && i < n_defs; i++) {
    tfsdk_attrval *a = &l->list[i];
    if (told != NULL && told[i].kind != TFSDK_ATTR_NONE) {
      if (a->kind == TFSDK_ATTR_NONE)
        s = tfsdk__attr_copy(rt, &told[i], a);
      else if (!tfsdk__attr_equal(a, &told[i]))
        s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                               "attribute '%s' does not agree with the inputs", defs[i].name);
    } else if (a->kind == TFSDK_ATTR_NONE) {
      if (types[i].has_default)
        s = tfsdk__attr_copy(rt, &types[i].dflt, a);
      else
        s = tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "attribute '%s' (%s) must be given",
                               defs[i].name, defs[i].type);
    }
    if (s == NULL) {
      a->name = defs[i].name;
      s = check_allowed(&defs[i], &types[i], a);
      l->hash = attr_hash(a, l->hash);
    }
  }
  if (s != NULL) {
    tfsdk__attrlist_release(rt, l);
    return s;
  }
  *out = l;
  return NULL;
}

tfsdk_status *tfsdk__attrlist_resolve(tfsdk_runtime *rt, const char *what,
                                      const tfsdk_attrdef *defs, uint32_t n_defs,
                                      const tfsdk_attrval *given, size_t n_given,
                                      tfsdk__attrlist **out) {
  tfsdk__attrtype *types = tfsdk__zalloc(rt, (n_defs + 1) * sizeof *types);
  tfsdk_status *s = types ? NULL : TFSDK__NOMEM(rt);
  for (uint32_t i = 0; s == NULL && i < n_defs; i++)
    s = tfsdk__attrtype_parse(rt, &defs[i], &types[i]);
  if (s == NULL) s = tfsdk__attrlist_fill(rt, defs, types, n_defs, NULL, given, n_given, out);
  for (uint32_t i = 0; types != NULL && i < n_defs; i++) tfsdk__attrtype_release(rt, &types[i]);
  tfsdk__free(rt, types);
  tfsdk__status_prefix(s, "%s", what);
  return s;
}
