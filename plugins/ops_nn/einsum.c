/* Einsum: sums of products named by labels (Einstein's notation),  "ij,jk->ik" is the matrix
 * product.
 *
 * Both ops are one computation on two operands and a target: every label is, by where it occurs,
 * a batch label (all three), free (one operand and the target), contracted (both operands),
 * summed (one operand) or repeated (the target only). The operands are packed to [batch, free,
 * contracted], multiplied as matrices, and the product is placed in the target. EinsumGrad(dy,
 * other) is that computation with the roles of dy and one operand exchanged, the adjoint of
 * Einsum in this operand; so each op's gradient is made of the two. */
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>
#include "gemm.h"
#include "row.h"

/* ------------------------------------------------------------------------------------ equations */

enum { LETTERS = 52, LABELS = LETTERS + TFSDK_MAX_RANK, ELLIPSIS = -1 };

/* One operand or the output: letters 0..51 in order, ELLIPSIS at most once. */
typedef struct term {
  int32_t n, has_ellipsis;
  int8_t item[2 * TFSDK_MAX_RANK];
} term;

typedef struct equation {
  int32_t n_in;
  term in[2], out;
} equation;

static int letter_of(char ch) {
  if (ch >= 'a' && ch <= 'z') return ch - 'a';
  return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 26 : -1;
}

static tfsdk_status *parse_term(const tfsdk_infer *c, const char *whole, const char **at, term *t) {
  memset(t, 0, sizeof *t);
  for (; **at != '\0' && **at != ',' && strncmp(*at, "->", 2) != 0; ++*at) {
    int letter = letter_of(**at), dots = strncmp(*at, "...", 3) == 0;
    if (**at == ' ') continue;
    TFSDK_REQUIRE(c, letter >= 0 || dots, "equation \"%s\": '%c' is no label", whole, **at);
    TFSDK_REQUIRE(c, t->n < (int32_t)sizeof t->item, "equation \"%s\": too many labels", whole);
    TFSDK_REQUIRE(c, !dots || !t->has_ellipsis, "equation \"%s\": two ellipses in one term", whole);
    t->item[t->n++] = (int8_t)(dots ? ELLIPSIS : letter);
    if (dots) {
      t->has_ellipsis = 1;
      *at += 2;
    }
  }
  return NULL;
}

/* Without "->" the output is NumPy's: the ellipsis, then the labels that occur once, in
 * alphabetical order. */
static void implicit_output(equation *e) {
  int times[LETTERS] = {0};
  memset(&e->out, 0, sizeof e->out);
  for (int32_t i = 0; i < e->n_in; i++)
    for (int32_t k = 0; k < e->in[i].n; k++)
      if (e->in[i].item[k] >= 0) times[e->in[i].item[k]]++;
  if (e->in[0].has_ellipsis || e->in[1].has_ellipsis) {
    e->out.has_ellipsis = 1;
    e->out.item[e->out.n++] = ELLIPSIS;
  }
  for (int sorted = 0; sorted < LETTERS; sorted++) { /* 'A'..'Z' stand before 'a'..'z' */
    int letter = (sorted + 26) % LETTERS;
    if (times[letter] == 1 && e->out.n < (int32_t)sizeof e->out.item)
      e->out.item[e->out.n++] = (int8_t)letter;
  }
}

static tfsdk_status *parse(const tfsdk_infer *c, const char *text, equation *e) {
  const char *at = text;
  memset(e, 0, sizeof *e);
  for (;;) {
    TFSDK_REQUIRE(c, e->n_in < 2, "equation \"%s\": more than two operands", text);
    TFSDK_TRY(parse_term(c, text, &at, &e->in[e->n_in++]));
    if (*at != ',') break;
    at++;
  }
  if (*at == '\0') {
    implicit_output(e);
    return NULL;
  }
  at += 2;
  TFSDK_TRY(parse_term(c, text, &at, &e->out));
  TFSDK_REQUIRE(c, *at == '\0', "equation \"%s\": one output is expected behind '->'", text);
  for (int32_t k = 0; k < e->out.n; k++) {
    int found = e->out.item[k] == ELLIPSIS;
    for (int32_t i = 0; i < e->n_in; i++)
      for (int32_t j = 0; j < e->in[i].n; j++) found |= e->in[i].item[j] == e->out.item[k];
    TFSDK_REQUIRE(c, found, "equation \"%s\": an output label is in no input", text);
  }
  return NULL;
}

/* The labels of a tensor's axes. Axes under the ellipsis are numbered from its right end,
 * LETTERS first. */
static tfsdk_status *bind(const tfsdk_infer *c, const char *text, const term *t, int32_t rank,
                          int32_t *axes) {
  int32_t hidden = rank - (t->n - t->has_ellipsis), at = 0;
  TFSDK_REQUIRE(c, hidden == 0 || (hidden > 0 && t->has_ellipsis),
                "equation \"%s\": a tensor of rank %d meets a term of %d labels", text, (int)rank,
                (int)(t->n - t->has_ellipsis));
  for (int32_t i = 0; i < t->n; i++) {
    if (t->item[i] != ELLIPSIS)
      axes[at++] = t->item[i];
    else
      for (int32_t k = hidden; k-- > 0;) axes[at++] = LETTERS + k;
  }
  return NULL;
}

/* Takes the extents of a tensor's axes into extent[LABELS] (-1 unknown). Letters must agree;
 * under the ellipsis 1 is broadcast. */
static tfsdk_status *take_extents(const tfsdk_infer *c, const char *text, const int32_t *axes,
                                  const tfsdk_shape *s, int64_t *extent, int *seen) {
  for (int32_t i = 0; i < s->rank; i++) {
    int32_t l = axes[i];
    int64_t d = s->dim[i], old = seen[l] ? extent[l] : d;
    int broadcast = l >= LETTERS;
    if (old < 0)
      old = broadcast && d == 1 ? -1 : d;
    else if (broadcast && old == 1)
      old = d;
    else if (d >= 0 && d != old && !(broadcast && d == 1))
      return TFSDK_FAIL(c, INVALID_ARGUMENT,
                        "equation \"%s\": a label has the extents %lld and %lld", text,
                        (long long)old, (long long)d);
    extent[l] = old;
    seen[l] = 1;
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------- computation */

typedef struct labels {
  int32_t n, id[LABELS];
} labels;

typedef struct nest {
  int64_t extent[LABELS];
} nest;

/* A tensor and how far one step along each label goes; labels along which it is broadcast are
 * not present. */
typedef struct side {
  const tfsdk_view *view;
  int64_t step[LABELS];
  int8_t present[LABELS];
} side;

typedef struct odometer {
  int64_t index[LABELS], offset;
} odometer;

static int64_t count(const nest *e, const labels *list) {
  int64_t n = 1;
  for (int32_t i = 0; i < list->n; i++) n *= e->extent[list->id[i]];
  return n;
}

/* The next index of the first n labels. */
static void advance(const nest *e, const side *o, const labels *list, int32_t n, odometer *m) {
  for (int32_t i = n - 1; i >= 0; i--) {
    int32_t l = list->id[i];
    m->offset += o->step[l];
    if (++m->index[i] < e->extent[l]) return;
    m->offset -= m->index[i] * o->step[l];
    m->index[i] = 0;
  }
}

static double add_f(double a, double b) { return a + b; }
static int64_t add_i(int64_t a, int64_t b) { return nn_mul_add_i(a, b, 1); }

#define ACC     double
#define LOAD    nn_load_f
#define STORE   nn_store_f
#define ADD     add_f
#define NAME(x) x##_f
#include "einsum_typed.h"

#define ACC     int64_t
#define LOAD    nn_load_i
#define STORE   nn_store_i
#define ADD     add_i
#define NAME(x) x##_i
#include "einsum_typed.h"

static tfsdk_status *open_side(const tfsdk_infer *c, const char *text, const term *t,
                               const tfsdk_view *v, nest *e, side *o) {
  int32_t axes[TFSDK_MAX_RANK];
  int64_t step = 1;
  memset(o, 0, sizeof *o);
  o->view = v;
  TFSDK_TRY(bind(c, text, t, v->rank, axes));
  for (int32_t i = v->rank - 1; i >= 0; i--) {
    if (v->dim[i] != 1) {
      o->step[axes[i]] += step; /* a repeated label walks the diagonal */
      o->present[axes[i]] = 1;
      e->extent[axes[i]] = v->dim[i];
    }
    step *= v->dim[i];
  }
  return NULL;
}

static void append(labels *to, int32_t l) { to->id[to->n++] = l; }
static void join(labels *to, const labels *more) {
  for (int32_t i = 0; i < more->n; i++) append(to, more->id[i]);
}

/* target = sum of a * b (b may be NULL); terms tell the labels. */
static tfsdk_status *contract(tfsdk_run *r, const char *text, const term *ta, const tfsdk_view *va,
                              const term *tb, const tfsdk_view *vb, const term *tt,
                              const tfsdk_view *vt) {
  tfsdk_infer c = {.host = r->host, .op = r->op};
  nest e;
  side a, b, t;
  labels list_a = {0}, list_b = {0}, list_t = {0}, sum_a = {0}, sum_b = {0}, repeat = {0};
  labels batch = {0}, free_a = {0}, free_b = {0}, inner = {0};
  int floating = nn_is_float(vt->dtype);
  void *work, *gemm_work;
  memset(&b, 0, sizeof b);
  for (int32_t l = 0; l < LABELS; l++) e.extent[l] = 1;
  TFSDK_TRY(open_side(&c, text, ta, va, &e, &a));
  if (vb != NULL) TFSDK_TRY(open_side(&c, text, tb, vb, &e, &b));
  TFSDK_TRY(open_side(&c, text, tt, vt, &e, &t));
  if (vt->n_elem == 0) return NULL;
  for (int32_t l = 0; l < LABELS; l++) {
    int pa = a.present[l], pb = b.present[l], pt = t.present[l];
    if (pa && pb && pt)
      append(&batch, l);
    else if (pa && pt)
      append(&free_a, l);
    else if (pb && pt)
      append(&free_b, l);
    else if (pa && pb)
      append(&inner, l);
    else if (pa)
      append(&sum_a, l);
    else if (pb)
      append(&sum_b, l);
    else if (pt)
      append(&repeat, l);
  }
  join(&list_a, &batch);
  join(&list_b, &batch);
  join(&list_t, &batch);
  join(&list_a, &free_a);
  join(&list_t, &free_a);
  join(&list_a, &inner);
  join(&list_b, &inner);
  join(&list_b, &free_b);
  join(&list_t, &free_b);
  nn_gemm g = {.m = count(&e, &free_a), .n = count(&e, &free_b), .k = count(&e, &inner)};
  int64_t n_a = count(&e, &list_a), n_b = count(&e, &list_b), n_t = count(&e, &list_t);
  int64_t batches = count(&e, &batch), run = n_a > n_b ? n_a : n_b;
  g.a_dtype = g.b_dtype = g.c_dtype = floating ? TFSDK_FLOAT64 : TFSDK_INT64;
  if (vb == NULL) n_b = 0;
  TFSDK_TRY(r->api->workspace(r, (size_t)(n_a + n_b + n_t + run + 1) * sizeof(double), &work));
  double *pack_a = (double *)work, *pack_b = pack_a + n_a, *packed = pack_b + n_b,
         *row = packed + n_t;
  if (floating)
    pack_f(&e, &a, &list_a, &sum_a, row, pack_a);
  else
    pack_i(&e, &a, &list_a, &sum_a, (int64_t *)row, (int64_t *)pack_a);
  if (vb == NULL)
    packed = pack_a;
  else {
    if (floating)
      pack_f(&e, &b, &list_b, &sum_b, row, pack_b);
    else
      pack_i(&e, &b, &list_b, &sum_b, (int64_t *)row, (int64_t *)pack_b);
    TFSDK_TRY(nn_gemm_workspace(r, &g, &gemm_work));
    for (int64_t i = 0; i < batches; i++)
      nn_gemm_run(&g, pack_a, i * g.m * g.k, pack_b, i * g.k * g.n, packed, i * g.m * g.n,
                  gemm_work);
  }
  memset(r->out[0].data, 0, vt->byte_size); /* beside the diagonals of repeated labels */
  if (floating)
    place_f(&e, &t, &list_t, &repeat, packed);
  else
    place_i(&e, &t, &list_t, &repeat, (int64_t *)packed);
  return NULL;
}

/* ------------------------------------------------------------------------------------------ ops */

/* The shape that Einsum gives operands of these shapes. */
static tfsdk_status *forward_shape(tfsdk_infer *c, const char *text, const equation *e,
                                   const tfsdk_shape *const *in, tfsdk_shape *out) {
  int32_t axes[TFSDK_MAX_RANK], hidden = 0, all = 1;
  int64_t extent[LABELS];
  int seen[LABELS] = {0};
  *out = tfsdk_shape_unknown();
  for (int32_t i = 0; i < e->n_in; i++) {
    const tfsdk_shape *s = in[i];
    int32_t more = s->rank - (e->in[i].n - e->in[i].has_ellipsis);
    if (s->rank < 0) {
      all = 0;
      continue;
    }
    TFSDK_TRY(bind(c, text, &e->in[i], s->rank, axes));
    TFSDK_TRY(take_extents(c, text, axes, s, extent, seen));
    if (more > hidden) hidden = more;
  }
  if (!all && e->out.has_ellipsis) return NULL;
  TFSDK_REQUIRE(c, hidden == 0 || e->out.has_ellipsis,
                "equation \"%s\": the output has no ellipsis, but an input has", text);
  int32_t rank = e->out.n - e->out.has_ellipsis + hidden;
  TFSDK_REQUIRE(c, rank <= TFSDK_MAX_RANK,
                "equation \"%s\": the result would have rank %d, but %d is the most", text,
                (int)rank, TFSDK_MAX_RANK);
  *out = tfsdk_shape_of_rank(rank);
  TFSDK_TRY(bind(c, text, &e->out, rank, axes));
  for (int32_t i = 0; i < rank; i++)
    if (seen[axes[i]]) out->dim[i] = extent[axes[i]];
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  const char *text = tfsdk_attr_string(&c->attr, "equation");
  const tfsdk_shape *in[2] = {&c->in[0].shape, c->n_in > 1 ? &c->in[1].shape : NULL};
  equation e;
  TFSDK_TRY(parse(c, text, &e));
  TFSDK_REQUIRE(c, (uint32_t)e.n_in == c->n_in, "equation \"%s\" is for %d operands, not %u", text,
                (int)e.n_in, (unsigned)c->n_in);
  return forward_shape(c, text, &e, in, &c->out[0].shape);
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  const char *text = tfsdk_attr_string(&r->attr, "equation");
  tfsdk_infer c = {.host = r->host, .op = r->op};
  equation e;
  (void)state;
  TFSDK_TRY(parse(&c, text, &e));
  return contract(r, text, &e.in[0], &r->in[0], &e.in[1], e.n_in > 1 ? &r->in[1] : NULL, &e.out,
                  &r->out[0]);
}

static tfsdk_status *infer_grad(tfsdk_infer *c) {
  const char *text = tfsdk_attr_string(&c->attr, "equation");
  int64_t operand = tfsdk_attr_int(&c->attr, "operand");
  int other = (c->in[1].flags & TFSDK_VIEW_ABSENT) == 0;
  equation e;
  TFSDK_TRY(parse(c, text, &e));
  TFSDK_REQUIRE(c, operand < e.n_in && other == (e.n_in == 2),
                "equation \"%s\" does not fit operand %lld", text, (long long)operand);
  const tfsdk_shape *in[2] = {&c->in[2].shape, &c->in[1].shape};
  tfsdk_shape y;
  if (operand == 1) {
    in[0] = &c->in[1].shape;
    in[1] = &c->in[2].shape;
  }
  TFSDK_TRY(forward_shape(c, text, &e, in, &y));
  TFSDK_TRY(tfsdk_merge(c, &c->in[0].shape, &y, "the gradient and the output it is of", &y));
  c->out[0].shape = c->in[2].shape;
  return NULL;
}

static tfsdk_status *compute_grad(void *state, tfsdk_run *r) {
  const char *text = tfsdk_attr_string(&r->attr, "equation");
  int64_t operand = tfsdk_attr_int(&r->attr, "operand");
  tfsdk_infer c = {.host = r->host, .op = r->op};
  equation e;
  (void)state;
  TFSDK_TRY(parse(&c, text, &e));
  return contract(r, text, &e.out, &r->in[0], &e.in[1 - operand], e.n_in > 1 ? &r->in[1] : NULL,
                  &e.in[operand], &r->out[0]);
}

static tfsdk_val emit_adjoint(tfsdk_ctx *c, tfsdk_gradcall *g, int64_t operand, tfsdk_val dy,
                              tfsdk_val other, tfsdk_val like) {
  tfsdk_val in[3] = {dy, other, like};
  tfsdk_attrval attr[2] = {tfsdk_a_string("equation", tfsdk_attr_string(&g->attr, "equation")),
                           tfsdk_a_int("operand", operand)};
  return tfsdk_emit(c, "EinsumGrad", in, 3, attr, 2);
}

static tfsdk_status *grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  for (uint32_t i = 0; i < g->n_in; i++) {
    if (!tfsdk_wants(g, i)) continue;
    tfsdk_val other = g->n_in > 1 ? tfsdk_input(g, 1 - i) : tfsdk_none();
    TFSDK_TRY(tfsdk_set_dx(g, i, emit_adjoint(c, g, i, tfsdk_dy(g, 0), other, tfsdk_input(g, i))));
  }
  return NULL;
}

/* z = A(dy, y) with <v, A(dy, y)> = <F(v, y), dy> for the forward map F: its gradients are F(v,
 * y) and the adjoint of F in y, at (dy, v). */
static tfsdk_status *grad_grad(tfsdk_ctx *c, tfsdk_gradcall *g) {
  int64_t operand = tfsdk_attr_int(&g->attr, "operand");
  tfsdk_val v = tfsdk_dy(g, 0), other = tfsdk_input(g, 1), in[2] = {v, other};
  tfsdk_attrval equation_attr = tfsdk_a_string("equation", tfsdk_attr_string(&g->attr, "equation"));
  if (operand == 1) {
    in[0] = other;
    in[1] = v;
  }
  if (tfsdk_wants(g, 0))
    TFSDK_TRY(
        tfsdk_set_dx(g, 0, tfsdk_emit(c, "Einsum", in, other.id != 0 ? 2 : 1, &equation_attr, 1)));
  if (other.id != 0 && tfsdk_wants(g, 1))
    TFSDK_TRY(tfsdk_set_dx(g, 1, emit_adjoint(c, g, 1 - operand, tfsdk_input(g, 0), v, other)));
  return NULL;
}

#define NN_TYPES                                                                                   \
  "dtype{float16,bfloat16,float32,float64,int8,int16,int32,int64,uint8,uint16,uint32,uint64}"

static const tfsdk_arg in[] = {{"inputs", "N*T", "one or two tensors", 0, 0}};
static const tfsdk_arg out[] = {{"output", "T", "axes as the equation's output says", 0, 0}};
static const tfsdk_attrdef attr[] = {
    {"equation", "string", NULL,
     "\"ij,jk->ik\": a label for each axis of each operand and of the output", 0, 0},
    {"N", "int", NULL, "the number of operands", 1, 2},
    {"T", NN_TYPES, NULL, "the elements' type", 0, 0}};
static const tfsdk_arg in_grad[] = {{"grad", "T", "the gradient of Einsum's output", 0, 0},
                                    {"other", "T?", "the other operand of a product of two", 0, 0},
                                    {"like", "T",
                                     "the operand whose gradient is wanted; only its shape matters",
                                     TFSDK_ARG_SHAPE_ONLY | TFSDK_ARG_NONDIFF, 0}};
static const tfsdk_attrdef attr_grad[] = {
    {"equation", "string", NULL, "that of Einsum", 0, 0},
    {"operand", "int", "0", "the number of the operand whose gradient is wanted", 0, 1},
    {"T", NN_TYPES, NULL, "the elements' type", 0, 0}};

static const char *const samples[] = {"[T[3,4] ; T[4,2]] | equation=ij,jk->ik",
                                      "[T[3,4] ; T[4,2]] | equation=ij,jk->ki",
                                      "[T[2,3,2,2] ; T[2,3]] | equation=...ij,jk->...ik",
                                      "[T[3,1,2] ; T[3,4,2]] | equation=i...,i...->...",
                                      "[T[2,2,3] ; T[3,2]] | equation=iij,jk->ik",
                                      "[T[2,3] ; T[4]] | equation=ij,k->i",
                                      "[T[4,4]] | equation=ii->i",
                                      "[T[4,4]] | equation=ii->",
                                      "[T[3]] | equation=i->ii",
                                      "[T[2,3,4]] | equation=ijk->kji",
                                      "[T[2,0] ; T[0,3]] | equation=ij,jk->ik",
                                      NULL};
static const char *const samples_grad[] = {"T[3,2] ; T[4,2] ; T[3,4] | equation=ij,jk->ik",
                                           "T[4,2] ; T[3,4,2] ; T[3,1,2] | equation=i...,i...->...",
                                           "T[2] ; T[2,3] ; T[4] | equation=ij,k->i ; operand=1",
                                           "T[4] ; - ; T[4,4] | equation=ii->i",
                                           "T[] ; - ; T[3,4] | equation=ij->",
                                           NULL};

static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("Einsum", "sums of products named by labels"),
     .doc = "Each term of the equation names the axes of one operand. Axes with the same label "
            "have the same extent and run together; labels that the output lacks are summed over. "
            "A label twice in one term is a diagonal, in the output a matrix that is zero beside "
            "the diagonal. `...` stands for any further axes, which are broadcast.\n\n"
            "Without `->` the output has the labels that occur once, in alphabetical order, behind "
            "the ellipsis.",
     .in = in, .n_in = 1, .out = out, .n_out = 1, .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .infer = infer, .reference = compute, .grad = grad, .grad_in = 1, .samples = samples},
    {TFSDK_OP_HEAD("EinsumGrad", "the gradient of Einsum with respect to one operand"),
     .doc = "The adjoint of Einsum in operand number `operand`: labels that only this operand has "
            "are repeated, axes along which it was broadcast are summed.",
     .in = in_grad, .n_in = 3, .out = out, .n_out = 1, .attr = attr_grad,
     .n_attr = TFSDK_COUNT(attr_grad), .infer = infer_grad, .reference = compute_grad,
     .grad = grad_grad, .grad_in = 3, .samples = samples_grad}};
TFSDK_UNIT_OPS(einsum, ops);
