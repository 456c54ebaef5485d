/* What of a session, or of define-by-run mode, is kept so that a run can go on later: values of
 * variables, and where random numbers have got to.
 *
 * Random state is text, one fact a line:
 *     tfsdk random 1
 *     salt 123                  what streams without a seed come from
 *     node K0 K1 COUNT NAME     of a session: the stream of a node
 *     stream K0 K1 COUNT        of define-by-run mode: the stream of ops with a seed
 *     scope COUNT PATH          likewise: unseeded ops made in a scope so far */
#include "plan.h"

static const char head_line[] = "tfsdk random 1\n";

/* The handle of a variable that came with an imported graph. */
static const tfsdk__node *handle_of(const tfsdk_graph *g, const char *variable) {
  for (size_t i = 0; i < g->nodes.n; i++) {
    const tfsdk__node *n = g->nodes.data[i];
    if (strcmp(n->op->def.name, TFSDK__OP_VAR_HANDLE) != 0) continue;
    tfsdk_attrs a = tfsdk__attrlist_view(n->attrs);
    const char *name = tfsdk_attr_string(&a, "shared_name");
    if (strcmp(name[0] != 0 ? name : n->name, variable) == 0) return n;
  }
  return NULL;
}

tfsdk_status *tfsdk_session_assign(tfsdk_session *s, const char *variable, tfsdk_tensor *value) {
  tfsdk_status *st = NULL;
  tfsdk_tensor *moved = NULL;
  tfsdk__cell *c = NULL;
  pthread_mutex_lock(&s->lock);
  if (s->closed) st = tfsdk__status_make(TFSDK_FAILED_PRECONDITION, "the session is closed");
  if (st == NULL) {
    pthread_mutex_lock(&s->cells.lock);
    c = tfsdk__map_get(&s->cells.by_name, variable);
    pthread_mutex_unlock(&s->cells.lock);
    const tfsdk_variable *v = tfsdk__map_get(&s->graph->ctx.variable_by_name, variable);
    const tfsdk__node *h = c == NULL && v == NULL ? handle_of(s->graph, variable) : NULL;
    if (h != NULL) {
      tfsdk_attrs a = tfsdk__attrlist_view(h->attrs);
      st = tfsdk__cells_get(s->rt, &s->cells, variable, (int32_t)tfsdk_attr_int(&a, "dtype"),
                            &h->out[0].shape, &c);
    } else if (c == NULL && v == NULL)
      st = tfsdk__status_make(TFSDK_NOT_FOUND, "the session has no variable '%s'", variable);
    else if (c == NULL)
      st = tfsdk__cells_get(s->rt, &s->cells, v->name, v->dtype, &v->shape, &c);
  }
  if (st == NULL) { /* it stays where it was */
    pthread_mutex_lock(&c->lock);
    tfsdk__device *d = c->value != NULL ? tfsdk__tensor_where(c->value) : s->device;
    pthread_mutex_unlock(&c->lock);
    st = tfsdk__tensor_on(value, d, &moved);
  }
  if (st == NULL) st = tfsdk__cell_assign(c, moved);
  tfsdk_tensor_release(moved);
  pthread_mutex_unlock(&s->lock);
  return st;
}

/* ------------------------------------------------------------------------------- random numbers */

static tfsdk_status *hand_out(tfsdk__buf *text, char **out) {
  if (text->failed) {
    tfsdk__buf_deinit(text);
    return tfsdk__status_no_memory();
  }
  *out = text->s;
  return NULL;
}

tfsdk_status *tfsdk_session_random_save(tfsdk_session *s, char **out_text) {
  tfsdk__buf text = {0};
  *out_text = NULL;
  pthread_mutex_lock(&s->lock);
  tfsdk__buf_add(&text, "%ssalt %llu\n", head_line, (unsigned long long)s->salt);
  for (size_t i = 0; !s->closed && i < s->n_streams; i++) {
    const tfsdk__stream_state *r = s->streams[i];
    if (r == NULL) continue;
    tfsdk__buf_add(&text, "node %u %u %llu %s\n", r->key[0], r->key[1],
                   (unsigned long long)r->counter, s->graph->nodes.data[i]->name);
  }
  pthread_mutex_unlock(&s->lock);
  return hand_out(&text, out_text);
}

/* One line of a text; numbers are read up to the word that ends the line. */
typedef struct line {
  const char *word, *rest; /* `rest` is behind the numbers */
  size_t n_word, n_rest;
  uint64_t number[3];
} line;

static bool read_line(const char **p, uint32_t n_numbers, line *out) {
  const char *end = strchr(*p, '\n'), *q = out->rest;
  if (end == NULL) return false;
  for (uint32_t i = 0; i < n_numbers; i++) {
    uint64_t x = 0;
    const char *begin = q;
    for (; q < end && *q >= '0' && *q <= '9'; q++)
      if (__builtin_mul_overflow(x, 10u, &x) || __builtin_add_overflow(x, (uint64_t)(*q - '0'), &x))
        return false;
    if (q == begin || (q < end && *q != ' ')) return false;
    out->number[i] = x;
    if (q < end) q++;
  }
  out->rest = q;
  out->n_rest = (size_t)(end - q);
  *p = end + 1;
  return true;
}

static bool begin_line(const char *p, line *out) {
  out->word = p;
  out->n_word = strcspn(p, " \n");
  out->rest = p + out->n_word + (p[out->n_word] == ' ');
  return p[out->n_word] == ' ';
}

static bool is(const line *l, const char *word) {
  return l->n_word == strlen(word) && memcmp(l->word, word, l->n_word) == 0;
}

typedef tfsdk_status *apply_fn(void *user, const line *l);

/* Lines of a kind that this version does not know are damage: they would be lost. */
static tfsdk_status *each_line(const char *text, apply_fn *fn, void *user) {
  const char *p = text;
  if (strncmp(p, head_line, strlen(head_line)) != 0)
    return tfsdk__status_make(TFSDK_DATA_LOSS, "the state of random numbers is damaged at byte 0");
  for (p += strlen(head_line); *p != 0;) {
    line l = {0};
    const char *at = p;
    bool ok = begin_line(p, &l);
    uint32_t n = is(&l, "node") || is(&l, "stream") ? 3 : 1;
    ok = ok && (is(&l, "salt") || is(&l, "node") || is(&l, "stream") || is(&l, "scope")) &&
         read_line(&p, n, &l);
    if (!ok)
      return tfsdk__status_make(TFSDK_DATA_LOSS,
                                "the state of random numbers is damaged at byte %lld",
                                (long long)(at - text));
    if (fn != NULL) TFSDK_TRY(fn(user, &l));
  }
  return NULL;
}

static tfsdk_status *restore_node(void *user, const line *l) {
  tfsdk_session *s = user;
  char name[600];
  if (is(l, "salt")) s->salt = l->number[0];
  if (!is(l, "node") || l->n_rest >= sizeof name) return NULL;
  memcpy(name, l->rest, l->n_rest);
  name[l->n_rest] = 0;
  const tfsdk__node *n = tfsdk__map_get(&s->graph->by_name, name);
  tfsdk__stream_state *r;
  if (n == NULL || !(n->op->def.flags & TFSDK_OP_RANDOM)) return NULL;
  TFSDK_TRY(tfsdk__session_stream(s, n, &r));
  r->key[0] = (uint32_t)l->number[0];
  r->key[1] = (uint32_t)l->number[1];
  r->counter = l->number[2];
  return NULL;
}

tfsdk_status *tfsdk_session_random_restore(tfsdk_session *s, const char *text) {
  pthread_mutex_lock(&s->lock);
  tfsdk_status *st =
      s->closed ? tfsdk__status_make(TFSDK_FAILED_PRECONDITION, "the session is closed") : NULL;
  if (st == NULL) st = each_line(text, NULL, NULL); /* all of it is looked at before */
  if (st == NULL) st = each_line(text, restore_node, s);
  pthread_mutex_unlock(&s->lock);
  return st;
}

tfsdk_status *tfsdk_eager_random_save(tfsdk_runtime *rt, char **out_text) {
  tfsdk__eager *g = rt->eager;
  tfsdk__buf text = {0};
  *out_text = NULL;
  pthread_mutex_lock(&g->lock);
  const tfsdk__map *scopes = &g->ctx.scopes.random;
  tfsdk__buf_add(&text, "%ssalt %llu\n", head_line, (unsigned long long)g->salt);
  for (size_t i = 0; i < g->streams.n; i++)
    tfsdk__buf_add(&text, "stream %u %u %llu\n", g->streams.data[i]->key[0],
                   g->streams.data[i]->key[1], (unsigned long long)g->streams.data[i]->counter);
  for (size_t i = 0; i < scopes->cap; i++)
    if (scopes->slot[i].key != NULL && (uintptr_t)scopes->slot[i].value > 0)
      tfsdk__buf_add(&text, "scope %llu %s\n",
                     (unsigned long long)((uintptr_t)scopes->slot[i].value - 1),
                     scopes->slot[i].key);
  pthread_mutex_unlock(&g->lock);
  return hand_out(&text, out_text);
}

/* The count of unseeded ops of a scope; the key must live as long as the scopes. */
static tfsdk_status *restore_scope(tfsdk_runtime *rt, const line *l) {
  tfsdk__scopes *s = &rt->eager->ctx.scopes;
  if (!TFSDK__GROW(rt, &s->owned, 1)) return TFSDK__NOMEM(rt);
  char *path = tfsdk__alloc(rt, l->n_rest + 1);
  if (path == NULL) return TFSDK__NOMEM(rt);
  memcpy(path, l->rest, l->n_rest);
  path[l->n_rest] = 0;
  if (tfsdk__map_get(&s->random, path) != NULL) { /* the map has a key of its own */
    bool put = tfsdk__map_put(rt, &s->random, path, (void *)(uintptr_t)(l->number[0] + 1));
    tfsdk__free(rt, path);
    return put ? NULL : TFSDK__NOMEM(rt);
  }
  s->owned.data[s->owned.n++] = path;
  if (!tfsdk__map_put(rt, &s->random, path, (void *)(uintptr_t)(l->number[0] + 1)))
    return TFSDK__NOMEM(rt);
  return NULL;
}

static tfsdk_status *restore_eager(void *user, const line *l) {
  tfsdk_runtime *rt = user;
  tfsdk__eager *g = rt->eager;
  if (is(l, "salt")) g->salt = l->number[0];
  if (is(l, "scope")) return restore_scope(rt, l);
  if (!is(l, "stream")) return NULL;
  tfsdk__stream_state *r = NULL;
  for (size_t i = 0; i < g->streams.n; i++)
    if (g->streams.data[i]->key[0] == l->number[0] && g->streams.data[i]->key[1] == l->number[1])
      r = g->streams.data[i];
  if (r == NULL) {
    if (!TFSDK__GROW(rt, &g->streams, 1)) return TFSDK__NOMEM(rt);
    if ((r = tfsdk__zalloc(rt, sizeof *r)) == NULL) return TFSDK__NOMEM(rt);
    r->key[0] = (uint32_t)l->number[0];
    r->key[1] = (uint32_t)l->number[1];
    g->streams.data[g->streams.n++] = r;
  }
  r->counter = l->number[2];
  return NULL;
}

tfsdk_status *tfsdk_eager_random_restore(tfsdk_runtime *rt, const char *text) {
  tfsdk__eager *g = rt->eager;
  pthread_mutex_lock(&g->lock);
  tfsdk_status *s = each_line(text, NULL, NULL);
  /* Streams that the text does not know have not begun. */
  for (size_t i = 0; s == NULL && i < g->streams.n; i++) g->streams.data[i]->counter = 0;
  const tfsdk__map *scopes = &g->ctx.scopes.random;
  for (size_t i = 0; s == NULL && i < scopes->cap; i++)
    if (scopes->slot[i].key != NULL) scopes->slot[i].value = (void *)(uintptr_t)1;
  if (s == NULL) s = each_line(text, restore_eager, rt);
  pthread_mutex_unlock(&g->lock);
  return s;
}
