/* Protobuf's text form (protobuf.dev/reference/protobuf/textformat-spec) of the messages that hold graphs, turned into
 * the wire form, so that all else reads one form. */
#include "graph.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { INT, FLOAT, DOUBLE, BOOL, BYTES, ENUM, MESSAGE };

typedef struct field {
  const char *name;
  uint32_t number;
  enum kind kind;
  const struct field *fields; /* of a MESSAGE */
} field;

/* Fields by name: tensorflow/core/framework/{graph,node_def,attr_value,tensor,tensor_shape,function,op_def,versions,
 * types}.proto and protobuf/{meta_graph,saved_model,saver}.proto. A map is a message of key 1 and value 2. Messages
 * that nothing here reads have no fields listed: what stands in them is skipped. */
static const field skipped[] = {{NULL, 0, INT, NULL}};
static const field versions[] = {{"producer", 1, INT, NULL},
                                 {"min_consumer", 2, INT, NULL},
                                 {"bad_consumers", 3, INT, NULL},
                                 {NULL, 0, INT, NULL}};
static const field dim[] = {{"size", 1, INT, NULL}, {"name", 2, BYTES, NULL}, {NULL, 0, INT, NULL}};
static const field shape[] = {
    {"dim", 2, MESSAGE, dim}, {"unknown_rank", 3, BOOL, NULL}, {NULL, 0, INT, NULL}};
static const field tensor[] = {
    {"dtype", 1, ENUM, NULL},         {"tensor_shape", 2, MESSAGE, shape},
    {"version_number", 3, INT, NULL}, {"tensor_content", 4, BYTES, NULL},
    {"float_val", 5, FLOAT, NULL},    {"double_val", 6, DOUBLE, NULL},
    {"int_val", 7, INT, NULL},        {"string_val", 8, BYTES, NULL},
    {"scomplex_val", 9, FLOAT, NULL}, {"int64_val", 10, INT, NULL},
    {"bool_val", 11, BOOL, NULL},     {"dcomplex_val", 12, DOUBLE, NULL},
    {"half_val", 13, INT, NULL},      {"uint32_val", 16, INT, NULL},
    {"uint64_val", 17, INT, NULL},    {NULL, 0, INT, NULL}};
static const field attr_value[];
static const field attr_entry[] = {
    {"key", 1, BYTES, NULL}, {"value", 2, MESSAGE, attr_value}, {NULL, 0, INT, NULL}};
static const field name_attrs[] = {
    {"name", 1, BYTES, NULL}, {"attr", 2, MESSAGE, attr_entry}, {NULL, 0, INT, NULL}};
static const field list_value[] = {{"s", 2, BYTES, NULL},
                                   {"i", 3, INT, NULL},
                                   {"f", 4, FLOAT, NULL},
                                   {"b", 5, BOOL, NULL},
                                   {"type", 6, ENUM, NULL},
                                   {"shape", 7, MESSAGE, shape},
                                   {"tensor", 8, MESSAGE, tensor},
                                   {"func", 9, MESSAGE, name_attrs},
                                   {NULL, 0, INT, NULL}};
static const field attr_value[] = {{"list", 1, MESSAGE, list_value},
                                   {"s", 2, BYTES, NULL},
                                   {"i", 3, INT, NULL},
                                   {"f", 4, FLOAT, NULL},
                                   {"b", 5, BOOL, NULL},
                                   {"type", 6, ENUM, NULL},
                                   {"shape", 7, MESSAGE, shape},
                                   {"tensor", 8, MESSAGE, tensor},
                                   {"placeholder", 9, BYTES, NULL},
                                   {"func", 10, MESSAGE, name_attrs},
                                   {NULL, 0, INT, NULL}};
static const field node_def[] = {{"name", 1, BYTES, NULL},
                                 {"op", 2, BYTES, NULL},
                                 {"input", 3, BYTES, NULL},
                                 {"device", 4, BYTES, NULL},
                                 {"attr", 5, MESSAGE, attr_entry},
                                 {"experimental_debug_info", 6, MESSAGE, skipped},
                                 {"experimental_type", 7, MESSAGE, skipped},
                                 {NULL, 0, INT, NULL}};
static const field arg_def[] = {{"name", 1, BYTES, NULL},
                                {"description", 2, BYTES, NULL},
                                {"type", 3, ENUM, NULL},
                                {"type_attr", 4, BYTES, NULL},
                                {"number_attr", 5, BYTES, NULL},
                                {"type_list_attr", 6, BYTES, NULL},
                                {"handle_data", 7, MESSAGE, skipped},
                                {"is_ref", 16, BOOL, NULL},
                                {"experimental_full_type", 17, MESSAGE, skipped},
                                {NULL, 0, INT, NULL}};
static const field op_def[] = {{"name", 1, BYTES, NULL},
                               {"input_arg", 2, MESSAGE, arg_def},
                               {"output_arg", 3, MESSAGE, arg_def},
                               {"attr", 4, MESSAGE, skipped},
                               {"summary", 5, BYTES, NULL},
                               {"description", 6, BYTES, NULL},
                               {"deprecation", 8, MESSAGE, skipped},
                               {"is_aggregate", 16, BOOL, NULL},
                               {"is_stateful", 17, BOOL, NULL},
                               {"is_commutative", 18, BOOL, NULL},
                               {"allows_uninitialized_input", 19, BOOL, NULL},
                               {"control_output", 20, BYTES, NULL},
                               {"is_distributed_communication", 21, BOOL, NULL},
                               {NULL, 0, INT, NULL}};
static const field text_entry[] = {
    {"key", 1, BYTES, NULL}, {"value", 2, BYTES, NULL}, {NULL, 0, INT, NULL}};
static const field function_def[] = {{"signature", 1, MESSAGE, op_def},
                                     {"node_def", 3, MESSAGE, node_def},
                                     {"ret", 4, MESSAGE, text_entry},
                                     {"attr", 5, MESSAGE, attr_entry},
                                     {"control_ret", 6, MESSAGE, text_entry},
                                     {"arg_attr", 7, MESSAGE, skipped},
                                     {"resource_arg_unique_id", 8, MESSAGE, skipped},
                                     {NULL, 0, INT, NULL}};
static const field library[] = {{"function", 1, MESSAGE, function_def},
                                {"gradient", 2, MESSAGE, skipped},
                                {"registered_gradients", 3, MESSAGE, skipped},
                                {NULL, 0, INT, NULL}};
static const field graph_def[] = {
    {"node", 1, MESSAGE, node_def},      {"library", 2, MESSAGE, library},
    {"version", 3, INT, NULL},           {"versions", 4, MESSAGE, versions},
    {"debug_info", 5, MESSAGE, skipped}, {NULL, 0, INT, NULL}};
static const field any[] = {
    {"type_url", 1, BYTES, NULL}, {"value", 2, BYTES, NULL}, {NULL, 0, INT, NULL}};
static const field meta_info[] = {{"meta_graph_version", 1, BYTES, NULL},
                                  {"stripped_op_list", 2, MESSAGE, skipped},
                                  {"any_info", 3, MESSAGE, any},
                                  {"tags", 4, BYTES, NULL},
                                  {"tensorflow_version", 5, BYTES, NULL},
                                  {"tensorflow_git_version", 6, BYTES, NULL},
                                  {"stripped_default_attrs", 7, BOOL, NULL},
                                  {"function_aliases", 8, MESSAGE, skipped},
                                  {NULL, 0, INT, NULL}};
static const field tensor_info[] = {{"name", 1, BYTES, NULL},
                                    {"dtype", 2, ENUM, NULL},
                                    {"tensor_shape", 3, MESSAGE, shape},
                                    {"coo_sparse", 4, MESSAGE, skipped},
                                    {"composite_tensor", 5, MESSAGE, skipped},
                                    {NULL, 0, INT, NULL}};
static const field info_entry[] = {
    {"key", 1, BYTES, NULL}, {"value", 2, MESSAGE, tensor_info}, {NULL, 0, INT, NULL}};
static const field signature_def[] = {{"inputs", 1, MESSAGE, info_entry},
                                      {"outputs", 2, MESSAGE, info_entry},
                                      {"method_name", 3, BYTES, NULL},
                                      {"defaults", 4, MESSAGE, skipped},
                                      {NULL, 0, INT, NULL}};
static const field signature_entry[] = {
    {"key", 1, BYTES, NULL}, {"value", 2, MESSAGE, signature_def}, {NULL, 0, INT, NULL}};
static const field saver_def[] = {{"filename_tensor_name", 1, BYTES, NULL},
                                  {"save_tensor_name", 2, BYTES, NULL},
                                  {"restore_op_name", 3, BYTES, NULL},
                                  {"max_to_keep", 4, INT, NULL},
                                  {"sharded", 5, BOOL, NULL},
                                  {"keep_checkpoint_every_n_hours", 6, FLOAT, NULL},
                                  {"version", 7, ENUM, NULL},
                                  {NULL, 0, INT, NULL}};
static const field meta_graph[] = {
    {"meta_info_def", 1, MESSAGE, meta_info},       {"graph_def", 2, MESSAGE, graph_def},
    {"saver_def", 3, MESSAGE, saver_def},           {"collection_def", 4, MESSAGE, skipped},
    {"signature_def", 5, MESSAGE, signature_entry}, {"asset_file_def", 6, MESSAGE, skipped},
    {"object_graph_def", 7, MESSAGE, skipped},      {NULL, 0, INT, NULL}};
static const field saved_model[] = {{"saved_model_schema_version", 1, INT, NULL},
                                    {"meta_graphs", 2, MESSAGE, meta_graph},
                                    {NULL, 0, INT, NULL}};

/* ----------------------------------------------------------------------------------------- words */

typedef struct parser {
  graph *g;
  const char *begin, *p, *end;
  int line, depth;
  char *out; /* in the arena */
  size_t n, cap;
  tfsdk_status *error;
} parser;

#define DEPTH 64

static bool fail(parser *t, const char *what) {
  if (t->error == NULL)
    t->error = GRAPH_FAIL(t->g, DATA_LOSS, "line %d of the text form, byte %zu: %s", t->line,
                          (size_t)(t->p - t->begin), what);
  return false;
}

static void space(parser *t) {
  while (t->p < t->end) {
    if (*t->p == '\n') t->line++;
    if (*t->p == '#')
      while (t->p < t->end && *t->p != '\n') t->p++;
    else if (isspace((unsigned char)*t->p))
      t->p++;
    else
      break;
  }
}

static bool accept(parser *t, char c) {
  space(t);
  if (t->p == t->end || *t->p != c) return false;
  t->p++;
  return true;
}

static span word(parser *t) {
  span s = {NULL, 0};
  space(t);
  s.p = t->p;
  while (t->p < t->end && (isalnum((unsigned char)*t->p) || strchr("_.+-", *t->p) != NULL) &&
         *t->p != '\0')
    t->p++;
  s.n = (size_t)(t->p - s.p);
  return s;
}

/* ---------------------------------------------------------------------------------------- writing */

static bool put(parser *t, const void *bytes, size_t n) {
  if (t->cap - t->n < n) {
    size_t cap = 2 * t->cap + n + 256;
    char *more = arena_get(&t->g->memory, cap);
    if (more == NULL) {
      if (t->error == NULL) t->error = NO_MEMORY(t->g);
      return false;
    }
    if (t->n > 0) memcpy(more, t->out, t->n);
    t->out = more;
    t->cap = cap;
  }
  if (n > 0) memcpy(t->out + t->n, bytes, n);
  t->n += n;
  return true;
}

static size_t varint(uint64_t v, char out[10]) {
  size_t n = 0;
  for (; v >= 128; v >>= 7) out[n++] = (char)(v | 128);
  out[n++] = (char)v;
  return n;
}
static bool put_varint(parser *t, uint64_t v) {
  char c[10];
  return put(t, c, varint(v, c));
}
static bool put_key(parser *t, const field *f, uint32_t kind) {
  return put_varint(t, (uint64_t)f->number << 3 | kind);
}

/* Types by the names of types.proto; a type's number plus 100 is its reference. */
static bool type_number(span s, uint64_t *out) {
  static const struct {
    const char *name;
    uint32_t number;
  } more[] = {{"FLOAT", 1},    {"DOUBLE", 2},      {"INT32", 3},   {"UINT8", 4},
              {"INT16", 5},    {"INT8", 6},        {"STRING", 7},  {"COMPLEX64", 8},
              {"INT64", 9},    {"BOOL", 10},       {"QINT8", 11},  {"QUINT8", 12},
              {"QINT32", 13},  {"BFLOAT16", 14},   {"QINT16", 15}, {"QUINT16", 16},
              {"UINT16", 17},  {"COMPLEX128", 18}, {"HALF", 19},   {"RESOURCE", 20},
              {"VARIANT", 21}, {"UINT32", 22},     {"UINT64", 23}, {"INVALID", 0}};
  bool ref = s.n > 4 && memcmp(s.p + s.n - 4, "_REF", 4) == 0;
  if (ref) s.n -= 4;
  if (s.n < 4 || memcmp(s.p, "DT_", 3) != 0) return false;
  s.p += 3;
  s.n -= 3;
  for (size_t i = 0; i < TFSDK_COUNT(more); i++)
    if (span_is(s, more[i].name)) {
      *out = more[i].number + (ref ? 100u : 0u);
      return true;
    }
  return false;
}

static bool put_escape(parser *t) {
  static const char from[] = "ntrabfv\\'\"?", to[] = "\n\t\r\a\b\f\v\\'\"?";
  if (t->p == t->end) return fail(t, "a string does not end");
  const char *at = memchr(from, *t->p, sizeof from - 1);
  if (at != NULL) {
    t->p++;
    return put(t, &to[at - from], 1);
  }
  unsigned v = 0;
  int n = 0;
  bool hex = *t->p == 'x' || *t->p == 'X';
  if (hex) t->p++;
  for (; n < (hex ? 2 : 3) && t->p < t->end; n++, t->p++) {
    unsigned char c = (unsigned char)*t->p;
    if (hex ? !isxdigit(c) : c < '0' || c > '7') break;
    v = v * (hex ? 16 : 8) + (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
  }
  if (n == 0) return fail(t, "an escape in a string is unknown");
  char c = (char)v;
  return put(t, &c, 1);
}

/* One or more quoted strings, joined. They are written behind, then moved behind their length. */
static bool put_string(parser *t, const field *f) {
  size_t start = t->n;
  do {
    char quote = 0;
    space(t);
    if (t->p < t->end && (*t->p == '"' || *t->p == '\'')) quote = *t->p++;
    if (quote == 0) return fail(t, "a string is expected");
    while (true) {
      if (t->p == t->end || *t->p == '\n') return fail(t, "a string does not end");
      if (*t->p == quote) break;
      if (*t->p == '\\') {
        t->p++;
        if (!put_escape(t)) return false;
      } else if (!put(t, t->p++, 1)) {
        return false;
      }
    }
    t->p++;
    space(t);
  } while (t->p < t->end && (*t->p == '"' || *t->p == '\''));
  char head[20];
  size_t n = t->n - start, k = varint((uint64_t)f->number << 3 | 2, head);
  k += varint(n, head + k);
  if (!put(t, head, k)) return false;
  memmove(t->out + start + k, t->out + start, n);
  memcpy(t->out + start, head, k);
  return true;
}

static bool put_scalar(parser *t, const field *f) {
  char text[80];
  char *stop = text;
  if (f->kind == BYTES) return put_string(t, f);
  span s = word(t);
  if (s.n == 0 || s.n >= sizeof text) return fail(t, "a value is expected");
  memcpy(text, s.p, s.n);
  text[s.n] = 0;
  if (f->kind == FLOAT || f->kind == DOUBLE) {
    double d = strtod(text, &stop);
    if (*stop != 0 && !(*stop == 'f' && stop[1] == 0)) return fail(t, "a number is expected");
    float single = (float)d;
    return f->kind == FLOAT ? put_key(t, f, 5) && put(t, &single, 4)
                            : put_key(t, f, 1) && put(t, &d, 8);
  }
  uint64_t v = 0;
  if (f->kind == BOOL) {
    if (!strcmp(text, "true") || !strcmp(text, "True") || !strcmp(text, "t") || !strcmp(text, "1"))
      v = 1;
    else if (strcmp(text, "false") && strcmp(text, "False") && strcmp(text, "f") &&
             strcmp(text, "0"))
      return fail(t, "true or false is expected");
  } else if (f->kind != ENUM || !type_number(s, &v)) {
    v = text[0] == '-' ? (uint64_t)strtoll(text, &stop, 0) : strtoull(text, &stop, 0);
    if (stop == text || *stop != 0) {
      if (f->kind != ENUM) return fail(t, "a whole number is expected");
      return f->fields == NULL && strncmp(text, "DT_", 3) == 0
                 ? fail(t, "this type is unknown")
                 : put_key(t, f, 0) && put_varint(t, 0); /* another enum, which nobody reads */
    }
  }
  return put_key(t, f, 0) && put_varint(t, v);
}

/* ---------------------------------------------------------------------------------------- parsing */

static bool message(parser *t, const field *fields, char close);

/* What stands in a message that nobody reads: balanced, strings intact. */
static bool skip_value(parser *t) {
  int depth = 0;
  field text = {"", 1, BYTES, NULL};
  do {
    size_t n = t->n;
    space(t);
    if (t->p == t->end) return depth == 0 ? true : fail(t, "the text ends inside a message");
    char c = *t->p;
    if (c == '"' || c == '\'') {
      if (!put_string(t, &text)) return false;
      t->n = n;
      continue;
    }
    t->p++;
    if (c == '{' || c == '<' || c == '[') depth++;
    if (c == '}' || c == '>' || c == ']') depth--;
  } while (depth > 0);
  return true;
}

static bool put_message(parser *t, const field *f) {
  char close = accept(t, '{') ? '}' : accept(t, '<') ? '>' : 0;
  if (close == 0) return fail(t, "'{' is expected");
  if (f->fields == skipped) {
    t->p--;
    return skip_value(t);
  }
  if (++t->depth > DEPTH) return fail(t, "messages are nested too deep");
  size_t start = t->n;
  if (!message(t, f->fields, close)) return false;
  t->depth--;
  char head[20];
  size_t n = t->n - start, k = varint((uint64_t)f->number << 3 | 2, head);
  k += varint(n, head + k);
  if (!put(t, head, k)) return false;
  memmove(t->out + start + k, t->out + start, n);
  memcpy(t->out + start, head, k);
  return true;
}

static bool message(parser *t, const field *fields, char close) {
  while (true) {
    space(t);
    if (t->p == t->end) return close == 0 ? true : fail(t, "the text ends inside a message");
    if (close != 0 && *t->p == close) {
      t->p++;
      return true;
    }
    if (*t->p == ';' || *t->p == ',') {
      t->p++;
      continue;
    }
    span name = word(t);
    if (name.n == 0) return fail(t, "the name of a field is expected");
    const field *f = fields;
    while (f->name != NULL && !span_is(name, f->name)) f++;
    if (f->name == NULL) {
      char text[100];
      snprintf(text, sizeof text, "there is no field '%.*s' here", (int)(name.n < 60 ? name.n : 60),
               name.p);
      return fail(t, text);
    }
    bool colon = accept(t, ':');
    if (f->kind != MESSAGE && !colon) return fail(t, "':' is expected");
    if (!accept(t, '[')) {
      if (f->kind == MESSAGE ? !put_message(t, f) : !put_scalar(t, f)) return false;
      continue;
    }
    if (accept(t, ']')) continue;
    do {
      if (f->kind == MESSAGE ? !put_message(t, f) : !put_scalar(t, f)) return false;
    } while (accept(t, ','));
    if (!accept(t, ']')) return fail(t, "']' is expected");
  }
}

tfsdk_status *text_to_wire(graph *g, span text, enum message kind, span *out) {
  parser t = {.g = g, .begin = text.p, .p = text.p, .end = text.p + text.n, .line = 1};
  if (message(&t,
              kind == MESSAGE_SAVED  ? saved_model
              : kind == MESSAGE_META ? meta_graph
                                     : graph_def,
              0)) {
    out->p = t.out != NULL ? t.out : "";
    out->n = t.n;
  }
  return t.error;
}
