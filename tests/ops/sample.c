/* Reading sample strings: "T[2,3](0.1,2) ; int32{0,1} ; [T[2] ; T[2]] | keep_dims=true". */
#include "kit.h"

#include <ctype.h>

static void *own(sample *s, size_t n) {
  void *p = s->n_owned < sizeof s->owned / sizeof *s->owned ? calloc(1, n ? n : 1) : NULL;
  if (p != NULL) s->owned[s->n_owned++] = p;
  return p;
}

void sample_free(sample *s) {
  for (uint32_t i = 0; i < s->n_owned; i++) free(s->owned[i]);
  memset(s, 0, sizeof *s);
}

static const tfsdk_attrdef *attr_def(const tfsdk_opdef *op, const char *name) {
  for (uint32_t i = 0; i < op->n_attr; i++)
    if (strcmp(op->attr[i].name, name) == 0) return &op->attr[i];
  return NULL;
}

static const char *skip_blanks(const char *p) {
  while (*p == ' ') p++;
  return p;
}

static bool bad(char *why, size_t n, const char *at, const char *expected) {
  snprintf(why, n, "the sample cannot be read at '%.30s': %s expected", at, expected);
  return false;
}

/* The text between q and end, with \xHH as a byte; returns how many bytes. */
static size_t unescape(char *to, const char *q, const char *end) {
  size_t n = 0;
  while (q < end) {
    char hex[3] = {0};
    if (end - q >= 4 && q[0] == '\\' && q[1] == 'x') {
      memcpy(hex, q + 2, 2);
      to[n++] = (char)strtoul(hex, NULL, 16);
      q += 4;
    } else {
      to[n++] = *q++;
    }
  }
  return n;
}

/* {1,2} or {{1,2},{3,4}} or {"a","b"}: shape from the nesting. */
static bool literal(const char **p, sample *s, input *in, char *why, size_t why_n) {
  int depth = 0;
  int64_t count[TFSDK_MAX_RANK + 1] = {0}, n = 0;
  const char *q = *p;
  in->literal = true;
  in->shape = tfsdk_shape_scalar();
  do {
    q = skip_blanks(q);
    if (*q == '{') {
      if (depth > 0) count[depth]++;
      depth++;
      if (depth > TFSDK_MAX_RANK) return bad(why, why_n, q, "less nesting");
      if (depth > in->shape.rank) in->shape.rank = depth;
      count[depth] = 0;
      q++;
    } else if (*q == '}') {
      in->shape.dim[depth - 1] = count[depth];
      depth--;
      q++;
    } else if (*q == ',') {
      q++;
    } else {
      if (n == 64) return bad(why, why_n, q, "at most 64 values");
      if (*q == '"') {
        const char *end = strchr(q + 1, '"');
        if (end == NULL) return bad(why, why_n, q, "a closing quote");
        char *copy = own(s, (size_t)(end - q));
        if (copy == NULL) return bad(why, why_n, q, "less text");
        in->length[n] = unescape(copy, q + 1, end);
        in->text[n++] = copy;
        q = end + 1;
      } else {
        char *end;
        if (strncmp(q, "true", 4) == 0)
          in->value[n] = 1, end = (char *)(uintptr_t)q + 4;
        else if (strncmp(q, "false", 5) == 0)
          in->value[n] = 0, end = (char *)(uintptr_t)q + 5;
        else
          in->value[n] = strtod(q, &end);
        if (end == q && in->dtype == TFSDK_STRING) { /* a bare word */
          size_t k = strcspn(q, ",}");
          char *copy = own(s, k + 1);
          if (copy == NULL) return bad(why, why_n, q, "less text");
          memcpy(copy, q, k);
          in->text[n] = copy;
          in->length[n] = k;
          end = (char *)(uintptr_t)q + k;
        } else if (end == q) {
          return bad(why, why_n, q, "a number");
        }
        n++;
        q = end;
      }
      count[depth]++;
    }
  } while (depth > 0);
  *p = q;
  return true;
}

static bool parse_input(const char **p, int32_t T, sample *s, char *why, size_t why_n) {
  const char *q = skip_blanks(*p);
  char word[32];
  size_t n = 0;
  if (s->n_in == MAX_IN) return bad(why, why_n, q, "fewer inputs");
  input *in = &s->in[s->n_in];
  memset(in, 0, sizeof *in);
  in->lo = -2;
  in->hi = 2;
  if (*q == '-' && (q[1] == 0 || strchr(" ;|]", q[1]) != NULL)) {
    in->absent = true;
    s->n_in++;
    *p = q + 1;
    return true;
  }
  if (strncmp(q, "var:", 4) == 0) {
    in->variable = true;
    q += 4;
  }
  while (isalnum((unsigned char)q[n]) && n < sizeof word - 1) n++;
  memcpy(word, q, n);
  word[n] = 0;
  in->dtype = strcmp(word, "T") == 0 || attr_def(s->op, word) != NULL ? T : tfsdk_dtype_find(word);
  if (in->dtype == 0) return bad(why, why_n, q, "a type");
  q += n;
  if (*q == '[') {
    in->shape = tfsdk_shape_scalar();
    q++;
    while (*q != ']') {
      char *end;
      if (in->shape.rank == TFSDK_MAX_RANK) return bad(why, why_n, q, "a smaller rank");
      in->shape.dim[in->shape.rank++] = strtoll(q, &end, 10);
      if (end == q) return bad(why, why_n, q, "an extent");
      q = skip_blanks(end);
      if (*q == ',')
        q++;
      else if (*q != ']')
        return bad(why, why_n, q, "',' or ']'");
      q = skip_blanks(q);
    }
    q++;
    if (*q == '(') {
      char *end;
      in->lo = strtod(q + 1, &end);
      if (*end != ',') return bad(why, why_n, q, "(low,high)");
      in->hi = strtod(end + 1, &end);
      if (*end != ')') return bad(why, why_n, q, "(low,high)");
      q = end + 1;
    }
  } else if (*q == '{') {
    if (!literal(&q, s, in, why, why_n)) return false;
  } else if (*q == '(') { /* a scalar */
    char text[1200];
    const char *end = strchr(q, ')');
    if (end == NULL || end - q > 1190) return bad(why, why_n, q, "a value in brackets");
    snprintf(text, sizeof text, "{%.*s}", (int)(end - q - 1), q + 1);
    const char *t = text;
    if (!literal(&t, s, in, why, why_n)) return false;
    in->shape = tfsdk_shape_scalar();
    q = end + 1;
  } else {
    return bad(why, why_n, q, "'[', '{' or '('");
  }
  s->n_in++;
  *p = q;
  return true;
}

static bool parse_inputs(const char *p, int32_t T, sample *s, char *why, size_t why_n) {
  p = skip_blanks(p);
  while (*p != 0 && *p != '|') {
    if (*p == '[') { /* a list: its members one after another */
      p = skip_blanks(p + 1);
      while (*p != ']') {
        if (!parse_input(&p, T, s, why, why_n)) return false;
        p = skip_blanks(p);
        if (*p == ';')
          p = skip_blanks(p + 1);
        else if (*p != ']')
          return bad(why, why_n, p, "';' or ']'");
      }
      p++;
    } else if (!parse_input(&p, T, s, why, why_n)) {
      return false;
    }
    p = skip_blanks(p);
    if (*p == ';')
      p = skip_blanks(p + 1);
    else if (*p != 0 && *p != '|')
      return bad(why, why_n, p, "';', '|' or the end");
  }
  return true;
}

static int32_t dtype_word(const char *w, int32_t T) {
  return strcmp(w, "T") == 0 ? T : tfsdk_dtype_find(w);
}

/* `value` may be written to. */
static bool attr_value(sample *s, const tfsdk_attrdef *def, char *value, int32_t T,
                       tfsdk_attrval *a) {
  const char *type = def->type;
  a->name = def->name;
  if (strncmp(type, "int", 3) == 0)
    *a = tfsdk_a_int(def->name, strtoll(value, NULL, 0));
  else if (strncmp(type, "float", 5) == 0)
    *a = tfsdk_a_float(def->name, strtod(value, NULL));
  else if (strncmp(type, "bool", 4) == 0)
    *a = tfsdk_a_bool(def->name, strcmp(value, "true") == 0);
  else if (strncmp(type, "string", 6) == 0)
    *a = tfsdk_a_string(def->name, value);
  else if (strncmp(type, "dtype", 5) == 0)
    *a = tfsdk_a_dtype(def->name, dtype_word(value, T));
  else if (strncmp(type, "shape", 5) == 0 || strncmp(type, "list(", 5) == 0) {
    int64_t *ints = own(s, 64 * sizeof *ints);
    double *floats = own(s, 64 * sizeof *floats);
    const char **strings = own(s, 64 * sizeof *strings);
    uint32_t n = 0;
    if (!ints || !floats || !strings || *value != '[') return false;
    for (char *p = strtok(value + 1, ",]"); p != NULL && n < 64; p = strtok(NULL, ",]")) {
      while (*p == ' ') p++;
      if (*p == 0) continue;
      strings[n] = p;
      floats[n] = strtod(p, NULL);
      ints[n] = strstr(type, "dtype")    ? dtype_word(p, T)
                : strcmp(p, "true") == 0 ? 1
                                         : strtoll(p, NULL, 0);
      n++;
    }
    if (strncmp(type, "shape", 5) == 0)
      *a = tfsdk_a_shape(def->name, ints, n);
    else if (strstr(type, "float")) {
      *a = tfsdk_a_ints(def->name, ints, n);
      a->kind = TFSDK_ATTR_LIST_FLOAT;
      a->v.floats = floats;
    } else if (strstr(type, "string")) {
      *a = tfsdk_a_ints(def->name, ints, n);
      a->kind = TFSDK_ATTR_LIST_STRING;
      a->v.strings = strings;
    } else {
      *a = tfsdk_a_ints(def->name, ints, n);
      if (strstr(type, "dtype")) a->kind = TFSDK_ATTR_LIST_DTYPE;
      if (strstr(type, "bool")) a->kind = TFSDK_ATTR_LIST_BOOL;
    }
  } else {
    return false; /* a tensor: samples of constants are made elsewhere */
  }
  return true;
}

static bool parse_attrs(const char *p, int32_t T, sample *s, char *why, size_t why_n) {
  while (*(p = skip_blanks(p)) != 0) {
    size_t n = strcspn(p, ";"), name_n = strcspn(p, "=");
    if (name_n >= n || s->n_attr == MAX_ATTR) return bad(why, why_n, p, "name=value");
    char *text = own(s, n + 1);
    if (text == NULL) return bad(why, why_n, p, "less text");
    memcpy(text, p, n);
    text[name_n] = 0;
    for (size_t e = name_n; e > 0 && text[e - 1] == ' ';) text[--e] = 0;
    char *value = text + name_n + 1;
    while (*value == ' ') value++;
    for (size_t e = strlen(value); e > 0 && value[e - 1] == ' ';) value[--e] = 0;
    const tfsdk_attrdef *def = attr_def(s->op, text);
    if (def == NULL) return bad(why, why_n, p, "an attribute of the op");
    if (!attr_value(s, def, value, T, &s->attr[s->n_attr]))
      return bad(why, why_n, p, "a value of the attribute's type");
    s->n_attr++;
    p += n;
    if (*p == ';') p++;
  }
  return true;
}

bool sample_parse(const tfsdk_opdef *op, const char *text, int32_t T, sample *out, char *why,
                  size_t why_n) {
  memset(out, 0, sizeof *out);
  out->op = op;
  out->text = text;
  if (strncmp(text, "nograd ", 7) == 0) {
    out->nograd = true;
    text += 7;
  }
  const char *bar = strchr(text, '|');
  bool ok = parse_inputs(text, T, out, why, why_n) &&
            (bar == NULL || parse_attrs(bar + 1, T, out, why, why_n));
  if (!ok) sample_free(out);
  return ok;
}

void sample_rename(sample *s, int64_t from, int64_t to) {
  for (uint32_t i = 0; i < s->n_in; i++)
    for (int32_t k = 0; !s->in[i].literal && k < s->in[i].shape.rank; k++)
      if (s->in[i].shape.dim[k] == from) s->in[i].shape.dim[k] = to;
}

uint32_t sample_extents(const sample *s, int64_t out[64]) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < s->n_in; i++)
    for (int32_t k = 0; !s->in[i].literal && k < s->in[i].shape.rank; k++) {
      bool known = false;
      for (uint32_t j = 0; j < n; j++) known = known || out[j] == s->in[i].shape.dim[k];
      if (!known && n < 64) out[n++] = s->in[i].shape.dim[k];
    }
  return n;
}

/* The type attribute that a sample varies: T, or another dtype attribute's own name used as a type.
 */
static const tfsdk_attrdef *varied(const tfsdk_opdef *op, const char *text) {
  for (const char *p = text; *p != 0;) {
    size_t n = 0;
    char word[32];
    while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
    if (n > 0 && n < sizeof word &&
        (p[n] == '[' || p[n] == '{' || p[n] == '(' || (n == 1 && *p == 'T'))) {
      memcpy(word, p, n);
      word[n] = 0;
      const tfsdk_attrdef *def = attr_def(op, word);
      if (def != NULL && strncmp(def->type, "dtype", 5) == 0) return def;
      if (n == 1 && *p == 'T') { /* T stands for the first type that an input has */
        for (uint32_t i = 0; i < op->n_in; i++) {
          const char *star = strchr(op->in[i].type, '*');
          snprintf(word, sizeof word, "%s", star ? star + 1 : op->in[i].type);
          word[strcspn(word, "?")] = 0;
          def = attr_def(op, word);
          if (def != NULL && strncmp(def->type, "dtype", 5) == 0) return def;
        }
        return attr_def(op, "dtype");
      }
    }
    p += n ? n : 1;
  }
  return NULL;
}

void sample_types(const tfsdk_opdef *op, const char *text, int32_t out[32]) {
  const tfsdk_attrdef *def = varied(op, text);
  uint32_t n = 0;
  out[0] = 0;
  if (def == NULL) return;
  const char *set = strchr(def->type, '{');
  if (set == NULL) { /* any type */
    static const int32_t some[] = {TFSDK_FLOAT32,  TFSDK_FLOAT64, TFSDK_FLOAT16,
                                   TFSDK_BFLOAT16, TFSDK_INT32,   TFSDK_INT64,
                                   TFSDK_UINT8,    TFSDK_BOOL,    0};
    memcpy(out, some, sizeof some);
    return;
  }
  char list[512];
  snprintf(list, sizeof list, "%s", set + 1);
  for (char *p = strtok(list, ",} "); p != NULL && n < 31; p = strtok(NULL, ",} "))
    if ((out[n] = tfsdk_dtype_find(p)) != 0) n++;
  out[n] = 0;
}
