/* Reading pickles; see pickle.h. */
#include "pickle.h"

#include <stdlib.h>
#include <string.h>

#define MANY   (1u << 22)            /* values, and numbers of the memo */
#define LARGE  ((uint64_t)256 << 20) /* bytes of a text */
#define WINDOW 65536

typedef struct machine {
  pickle_source *s;
  pickle_value **stack, **memo;
  size_t n, cap, n_memo, cap_memo, n_values;
  size_t *mark, n_marks, cap_marks;
} machine;

static tfsdk_status *bad(machine *m, const char *what) {
  pickle_source *s = m->s;
  return TFSDK_FAIL(s, DATA_LOSS, "%s: the pickle is damaged at its byte %llu: %s", s->path,
                    (unsigned long long)s->at, what);
}

/* ------------------------------------------------------------------------------------------- bytes */

static tfsdk_status *take(machine *m, uint64_t n, const char **out) {
  pickle_source *s = m->s;
  if (s->f == NULL) {
    if (n > (uint64_t)(s->end - s->p)) return bad(m, "it is cut off");
    *out = s->p;
    s->p += n;
    s->at += n;
    return NULL;
  }
  if (n > LARGE) return bad(m, "a text is longer than 256 MB");
  if (s->at < s->window_at || s->at + n > s->window_at + s->window_n) {
    uint64_t left = s->f->bytes > s->at ? s->f->bytes - s->at : 0;
    uint64_t want = n > WINDOW ? n : left < WINDOW ? left : WINDOW;
    if (n > left) return bad(m, "it is cut off");
    s->window = arena_get(s->memory, (size_t)want + 1);
    if (s->window == NULL) return NO_MEMORY(s);
    TFSDK_TRY(file_read(s->f, s->at, s->window, want, "the pickle"));
    s->window_at = s->at;
    s->window_n = (size_t)want;
  }
  *out = s->window + (s->at - s->window_at);
  s->at += n;
  return NULL;
}

static tfsdk_status *number(machine *m, size_t n, uint64_t *out) {
  const char *p = NULL;
  TFSDK_TRY(take(m, n, &p));
  *out = 0;
  for (size_t i = 0; i < n; i++) *out |= (uint64_t)(unsigned char)p[i] << 8 * i;
  return NULL;
}

/* Up to the end of the line, which is not part of it. */
static tfsdk_status *line(machine *m, const char **out, size_t *out_n) {
  char room[512];
  size_t n = 0;
  const char *p = NULL;
  while (true) {
    TFSDK_TRY(take(m, 1, &p));
    if (*p == '\n') break;
    if (n == sizeof room) return bad(m, "a line is too long");
    room[n++] = *p;
  }
  *out = arena_text(m->s->memory, room, n);
  *out_n = n;
  return *out != NULL ? NULL : NO_MEMORY(m->s);
}

/* ------------------------------------------------------------------------------------------- stack */

static tfsdk_status *new_value(machine *m, enum pickle_kind kind, pickle_value **out) {
  if (++m->n_values > MANY) return bad(m, "it holds too many values");
  *out = arena_get(m->s->memory, sizeof **out);
  if (*out == NULL) return NO_MEMORY(m->s);
  (*out)->kind = kind;
  return NULL;
}

static tfsdk_status *push(machine *m, pickle_value *v) {
  pickle_value **stack = arena_grow(m->s->memory, m->stack, m->n, &m->cap, sizeof *stack);
  if (stack == NULL) return NO_MEMORY(m->s);
  m->stack = stack;
  m->stack[m->n++] = v;
  return NULL;
}

static tfsdk_status *push_new(machine *m, enum pickle_kind kind, pickle_value **out) {
  TFSDK_TRY(new_value(m, kind, out));
  return push(m, *out);
}

static tfsdk_status *push_int(machine *m, int64_t x) {
  pickle_value *v = NULL;
  TFSDK_TRY(push_new(m, PICKLE_INT, &v));
  v->number = x;
  return NULL;
}

static tfsdk_status *push_text(machine *m, uint64_t n) {
  pickle_value *v = NULL;
  const char *p = NULL;
  TFSDK_TRY(take(m, n, &p));
  TFSDK_TRY(push_new(m, PICKLE_TEXT, &v));
  v->text = arena_text(m->s->memory, p, (size_t)n);
  v->text_n = (size_t)n;
  return v->text != NULL ? NULL : NO_MEMORY(m->s);
}

static tfsdk_status *pop(machine *m, pickle_value **out) {
  size_t floor = m->n_marks > 0 ? m->mark[m->n_marks - 1] : 0;
  if (m->n <= floor) return bad(m, "it takes what is not there");
  *out = m->stack[--m->n];
  return NULL;
}

static tfsdk_status *pop_mark(machine *m, size_t *out) {
  if (m->n_marks == 0) return bad(m, "a mark is missing");
  *out = m->mark[--m->n_marks];
  return NULL;
}

static tfsdk_status *add_item(machine *m, pickle_value *list, pickle_value *item) {
  pickle_value **more = arena_grow(m->s->memory, list->item, list->n, &list->cap, sizeof *more);
  if (more == NULL) return NO_MEMORY(m->s);
  list->item = more;
  list->item[list->n++] = item;
  return NULL;
}

/* The values above the mark go into `into`, the value below it (NULL: a new list). */
static tfsdk_status *collect(machine *m, enum pickle_kind kind, bool fresh) {
  size_t from = 0;
  pickle_value *into = NULL;
  TFSDK_TRY(pop_mark(m, &from));
  if (fresh) {
    TFSDK_TRY(new_value(m, kind, &into));
  } else {
    if (from == 0 || m->stack[from - 1]->kind != kind) return bad(m, "items for what holds none");
    into = m->stack[from - 1];
  }
  if (kind == PICKLE_DICT && (m->n - from) % 2 != 0) return bad(m, "a key without a value");
  for (size_t i = from; i < m->n; i++) TFSDK_TRY(add_item(m, into, m->stack[i]));
  m->n = from;
  return fresh ? push(m, into) : NULL;
}

static tfsdk_status *tuple(machine *m, size_t n) {
  pickle_value *v = NULL, *item[3] = {NULL, NULL, NULL};
  for (size_t i = n; i > 0; i--) TFSDK_TRY(pop(m, &item[i - 1]));
  TFSDK_TRY(new_value(m, PICKLE_LIST, &v));
  for (size_t i = 0; i < n; i++) TFSDK_TRY(add_item(m, v, item[i]));
  return push(m, v);
}

/* -------------------------------------------------------------------------------------------- memo */

static tfsdk_status *put(machine *m, uint64_t at) {
  if (m->n == 0) return bad(m, "it takes what is not there");
  if (at >= MANY) return bad(m, "a number of its memo is too large");
  while (m->cap_memo <= at) {
    size_t cap = m->cap_memo ? 2 * m->cap_memo : 256;
    pickle_value **more = arena_get(m->s->memory, cap * sizeof *more);
    if (more == NULL) return NO_MEMORY(m->s);
    if (m->cap_memo > 0) memcpy(more, m->memo, m->cap_memo * sizeof *more);
    m->memo = more;
    m->cap_memo = cap;
  }
  m->memo[at] = m->stack[m->n - 1];
  if (at >= m->n_memo) m->n_memo = (size_t)at + 1;
  return NULL;
}

static tfsdk_status *get(machine *m, uint64_t at) {
  if (at >= m->n_memo || m->memo[at] == NULL) return bad(m, "its memo lacks what it asks for");
  return push(m, m->memo[at]);
}

/* ------------------------------------------------------------------------------------------- names */

static const struct {
  const char *name;
  int32_t dtype;
} storages[] = {{"torch FloatStorage", TFSDK_FLOAT32},
                {"torch DoubleStorage", TFSDK_FLOAT64},
                {"torch HalfStorage", TFSDK_FLOAT16},
                {"torch BFloat16Storage", TFSDK_BFLOAT16},
                {"torch LongStorage", TFSDK_INT64},
                {"torch IntStorage", TFSDK_INT32},
                {"torch ShortStorage", TFSDK_INT16},
                {"torch CharStorage", TFSDK_INT8},
                {"torch ByteStorage", TFSDK_UINT8},
                {"torch BoolStorage", TFSDK_BOOL},
                {"torch ComplexFloatStorage", TFSDK_COMPLEX64},
                {"torch ComplexDoubleStorage", TFSDK_COMPLEX128}};
static const char *const known[] = {"collections OrderedDict",
                                    "torch Size",
                                    "torch device",
                                    "torch._utils _rebuild_tensor",
                                    "torch._utils _rebuild_tensor_v2",
                                    "torch._utils _rebuild_parameter",
                                    "__builtin__ set",
                                    "builtins set"};
enum { ORDERED_DICT, SIZE, DEVICE, TENSOR_1, TENSOR_2, PARAMETER, SET_2, SET_3, KNOWN };

static tfsdk_status *push_name(machine *m, const char *module, const char *name) {
  pickle_value *v;
  const char *full = arena_format(m->s->memory, "%s %s", module, name);
  if (full == NULL) return NO_MEMORY(m->s);
  bool ok = false;
  for (size_t i = 0; i < TFSDK_COUNT(storages); i++) ok = ok || strcmp(storages[i].name, full) == 0;
  for (size_t i = 0; i < KNOWN; i++) ok = ok || strcmp(known[i], full) == 0;
  if (!ok)
    return TFSDK_FAIL(
        m->s, PERMISSION_DENIED,
        "%s: the pickle names '%.60s' of '%.60s', which would be code to run; tensors, "
        "numbers, texts, lists and dicts are what is read",
        m->s->path, name, module);
  TFSDK_TRY(push_new(m, PICKLE_NAME, &v));
  v->text = full;
  return NULL;
}

static tfsdk_status *integers(machine *m, const pickle_value *v, int64_t *out, uint32_t *n) {
  if (v->kind != PICKLE_LIST || v->n > TFSDK_MAX_RANK)
    return bad(m, "a size or stride of a tensor is no list of up to 12 numbers");
  for (size_t i = 0; i < v->n; i++) {
    if (v->item[i]->kind != PICKLE_INT) return bad(m, "an extent of a tensor is no whole number");
    out[i] = v->item[i]->number;
  }
  *n = (uint32_t)v->n;
  return NULL;
}

/* (storage, offset, size, stride, ...): every element must lie in the storage. */
static tfsdk_status *rebuild(machine *m, const pickle_value *args, pickle_value **out) {
  uint32_t rank = 0, strides = 0;
  if (args->n < 4 || args->item[0]->kind != PICKLE_STORAGE || args->item[1]->kind != PICKLE_INT)
    return bad(m, "a tensor is not made of storage, offset, size and stride");
  TFSDK_TRY(new_value(m, PICKLE_TENSOR, out));
  pickle_value *t = *out;
  t->storage = args->item[0];
  t->number = args->item[1]->number;
  TFSDK_TRY(integers(m, args->item[2], t->shape.dim, &rank));
  TFSDK_TRY(integers(m, args->item[3], t->stride, &strides));
  if (rank != strides) return bad(m, "a tensor has another number of strides than of axes");
  t->shape.rank = (int32_t)rank;
  uint64_t last = (uint64_t)t->number;
  bool empty = false, ok = t->number >= 0;
  for (uint32_t i = 0; i < rank; i++) {
    uint64_t step;
    if (t->shape.dim[i] < 0 || t->stride[i] < 0) return bad(m, "an extent or stride is negative");
    empty = empty || t->shape.dim[i] == 0;
    if (t->shape.dim[i] == 0) continue;
    ok = ok &&
         !__builtin_mul_overflow((uint64_t)t->shape.dim[i] - 1, (uint64_t)t->stride[i], &step) &&
         !__builtin_add_overflow(last, step, &last);
  }
  if (!empty && (!ok || last >= (uint64_t)t->storage->number))
    return TFSDK_FAIL(
        m->s, DATA_LOSS, "%s: a tensor of shape %s leads out of its storage '%s' of %lld elements",
        m->s->path, tfsdk_shape_text(&t->shape).s, t->storage->text, (long long)t->storage->number);
  return NULL;
}

static tfsdk_status *reduce(machine *m) {
  pickle_value *args = NULL, *name = NULL, *v = NULL;
  TFSDK_TRY(pop(m, &args));
  TFSDK_TRY(pop(m, &name));
  size_t which = 0;
  if (name->kind != PICKLE_NAME || args->kind != PICKLE_LIST)
    return bad(m, "it calls what is no function");
  while (which < KNOWN && strcmp(known[which], name->text) != 0) which++;
  switch (which) {
  case ORDERED_DICT:
    TFSDK_TRY(new_value(m, PICKLE_DICT, &v));
    for (size_t i = 0; args->n > 0 && i < args->item[0]->n; i++) {
      const pickle_value *pair = args->item[0]->item[i];
      if (args->item[0]->kind != PICKLE_LIST || pair->kind != PICKLE_LIST || pair->n != 2)
        return bad(m, "an OrderedDict is not made of pairs");
      TFSDK_TRY(add_item(m, v, pair->item[0]));
      TFSDK_TRY(add_item(m, v, pair->item[1]));
    }
    break;
  case TENSOR_1:
  case TENSOR_2: TFSDK_TRY(rebuild(m, args, &v)); break;
  case PARAMETER:
  case SIZE:
  case DEVICE:
  case SET_2:
  case SET_3:
    if (args->n == 0) return bad(m, "a call lacks its arguments");
    v = args->item[0];
    break;
  default: return bad(m, "it calls a storage's class");
  }
  return push(m, v);
}

/* ("storage", class, key, device, elements) */
static tfsdk_status *storage(machine *m) {
  pickle_value *id = NULL, *v = NULL;
  TFSDK_TRY(pop(m, &id));
  if (id->kind != PICKLE_LIST || id->n < 5 || id->item[0]->kind != PICKLE_TEXT ||
      strcmp(id->item[0]->text, "storage") != 0 || id->item[1]->kind != PICKLE_NAME ||
      id->item[2]->kind != PICKLE_TEXT || id->item[4]->kind != PICKLE_INT ||
      id->item[4]->number < 0)
    return bad(m, "what stands for a storage is none");
  TFSDK_TRY(push_new(m, PICKLE_STORAGE, &v));
  for (size_t i = 0; i < TFSDK_COUNT(storages); i++)
    if (strcmp(storages[i].name, id->item[1]->text) == 0) v->dtype = storages[i].dtype;
  if (v->dtype == 0) return bad(m, "a storage is of no class of storages");
  v->text = id->item[2]->text;
  v->number = id->item[4]->number;
  return NULL;
}

/* ----------------------------------------------------------------------------------------- opcodes */

static tfsdk_status *long_number(machine *m, uint64_t n) {
  const char *p = NULL;
  uint64_t x = 0;
  TFSDK_TRY(take(m, n, &p));
  if (n > 8) { /* no number of a tensor is so large; legacy files begin with one such */
    return push_int(m, INT64_MAX);
  }
  for (size_t i = 0; i < n; i++) x |= (uint64_t)(unsigned char)p[i] << 8 * i;
  if (n > 0 && n < 8 && (p[n - 1] & 0x80)) x |= UINT64_MAX << 8 * n;
  return push_int(m, (int64_t)x);
}

static tfsdk_status *text_number(machine *m, bool real) {
  const char *p = NULL;
  size_t n;
  pickle_value *v = NULL;
  TFSDK_TRY(line(m, &p, &n));
  if (real) {
    TFSDK_TRY(push_new(m, PICKLE_FLOAT, &v));
    v->real = strtod(p, NULL);
    return NULL;
  }
  if (strcmp(p, "00") == 0 || strcmp(p, "01") == 0) {
    TFSDK_TRY(push_new(m, PICKLE_BOOL, &v));
    v->number = p[1] == '1';
    return NULL;
  }
  return push_int(m, strtoll(p, NULL, 10));
}

static tfsdk_status *set_item(machine *m) {
  pickle_value *value = NULL, *key = NULL;
  TFSDK_TRY(pop(m, &value));
  TFSDK_TRY(pop(m, &key));
  if (m->n == 0 || m->stack[m->n - 1]->kind != PICKLE_DICT) return bad(m, "an item for no dict");
  TFSDK_TRY(add_item(m, m->stack[m->n - 1], key));
  return add_item(m, m->stack[m->n - 1], value);
}

static tfsdk_status *step(machine *m, unsigned char op, bool *done) {
  pickle_value *v = NULL, *w = NULL;
  uint64_t x = 0;
  const char *p = NULL, *q = NULL;
  size_t n = 0;
  switch (op) {
  case 0x80: return take(m, 1, &p);    /* PROTO */
  case 0x95: return take(m, 8, &p);    /* FRAME */
  case '.': *done = true; return NULL; /* STOP */
  case '(': {                          /* MARK */
    size_t *mark = arena_grow(m->s->memory, m->mark, m->n_marks, &m->cap_marks, sizeof *mark);
    if (mark == NULL) return NO_MEMORY(m->s);
    m->mark = mark;
    m->mark[m->n_marks++] = m->n;
    return NULL;
  }
  case '0': return pop(m, &v); /* POP */
  case '1':
    TFSDK_TRY(pop_mark(m, &n));
    m->n = n;
    return NULL; /* POP_MARK */
  case '2':      /* DUP */
    TFSDK_TRY(pop(m, &v));
    TFSDK_TRY(push(m, v));
    return push(m, v);
  case 'N': return push_new(m, PICKLE_NONE, &v);
  case 0x88:
  case 0x89:
    TFSDK_TRY(push_new(m, PICKLE_BOOL, &v));
    v->number = op == 0x88;
    return NULL;
  case 'J': TFSDK_TRY(number(m, 4, &x)); return push_int(m, (int32_t)(uint32_t)x);
  case 'K': TFSDK_TRY(number(m, 1, &x)); return push_int(m, (int64_t)x);
  case 'M': TFSDK_TRY(number(m, 2, &x)); return push_int(m, (int64_t)x);
  case 0x8a: TFSDK_TRY(number(m, 1, &x)); return long_number(m, x);
  case 0x8b: TFSDK_TRY(number(m, 4, &x)); return long_number(m, x);
  case 'I':
  case 'L': return text_number(m, false);
  case 'F': return text_number(m, true);
  case 'G': { /* big-endian */
    TFSDK_TRY(take(m, 8, &p));
    x = 0;
    for (int i = 0; i < 8; i++) x = x << 8 | (unsigned char)p[i];
    TFSDK_TRY(push_new(m, PICKLE_FLOAT, &v));
    memcpy(&v->real, &x, sizeof v->real);
    return NULL;
  }
  case 'X':
  case 'T':
  case 'B': TFSDK_TRY(number(m, 4, &x)); return push_text(m, x);
  case 0x8c:
  case 'U':
  case 'C': TFSDK_TRY(number(m, 1, &x)); return push_text(m, x);
  case 0x8d:
  case 0x8e: TFSDK_TRY(number(m, 8, &x)); return push_text(m, x);
  case ']':
  case ')':
  case 0x8f: return push_new(m, PICKLE_LIST, &v);
  case '}': return push_new(m, PICKLE_DICT, &v);
  case 'a':
    TFSDK_TRY(pop(m, &v));
    if (m->n == 0 || m->stack[m->n - 1]->kind != PICKLE_LIST) return bad(m, "an item for no list");
    return add_item(m, m->stack[m->n - 1], v);
  case 'e':
  case 0x90: return collect(m, PICKLE_LIST, false);
  case 'l':
  case 't': return collect(m, PICKLE_LIST, true);
  case 'd': return collect(m, PICKLE_DICT, true);
  case 'u': return collect(m, PICKLE_DICT, false);
  case 's': return set_item(m);
  case 0x85:
  case 0x86:
  case 0x87: return tuple(m, op - 0x84u);
  case 'c':
    TFSDK_TRY(line(m, &p, &n));
    TFSDK_TRY(line(m, &q, &n));
    return push_name(m, p, q);
  case 0x93:
    TFSDK_TRY(pop(m, &v));
    TFSDK_TRY(pop(m, &w));
    if (v->kind != PICKLE_TEXT || w->kind != PICKLE_TEXT) return bad(m, "a name is no text");
    return push_name(m, w->text, v->text);
  case 'R': return reduce(m);
  case 'b': return pop(m, &v); /* BUILD: attributes of a dict, which are not read */
  case 'Q': return storage(m);
  case 'q': TFSDK_TRY(number(m, 1, &x)); return put(m, x);
  case 'r': TFSDK_TRY(number(m, 4, &x)); return put(m, x);
  case 0x94: return put(m, m->n_memo);
  case 'h': TFSDK_TRY(number(m, 1, &x)); return get(m, x);
  case 'j': TFSDK_TRY(number(m, 4, &x)); return get(m, x);
  case 'p':
  case 'g':
    TFSDK_TRY(line(m, &p, &n));
    x = strtoull(p, NULL, 10);
    return op == 'p' ? put(m, x) : get(m, x);
  default:
    return TFSDK_FAIL(m->s, UNIMPLEMENTED,
                      "%s: the pickle does at its byte %llu what is not read (opcode 0x%02x)",
                      m->s->path, (unsigned long long)m->s->at, op);
  }
}

tfsdk_status *pickle_read(pickle_source *s, pickle_value **out) {
  machine m = {.s = s};
  bool done = false;
  while (!done) {
    const char *op = "";
    TFSDK_TRY(take(&m, 1, &op));
    TFSDK_TRY(step(&m, (unsigned char)*op, &done));
  }
  m.n_marks = 0;
  return pop(&m, out);
}

const pickle_value *pickle_get(const pickle_value *dict, const char *key) {
  for (size_t i = 0; dict->kind == PICKLE_DICT && i + 1 < dict->n; i += 2)
    if (dict->item[i]->kind == PICKLE_TEXT && strcmp(dict->item[i]->text, key) == 0)
      return dict->item[i + 1];
  return NULL;
}
