/* Errors: a code, a message, and facts that the host adds on the way up.
 *
 * An error is made where the fact is known and annotated by whoever knows more (op, node, script
 * line). It lives in plain malloc memory, so that making one never depends on a runtime that may be
 * out of memory; when even that fails, a static error stands in, which release leaves alone. */
#include "internal.h"

#define MAX_FACTS 10

struct tfsdk_status {
  int32_t code;
  uint32_t n_facts;
  char *message;
  char *text; /* made on demand */
  struct {
    char key[12];
    char *value;
  } fact[MAX_FACTS];
};

static tfsdk_status no_memory = {TFSDK_RESOURCE_EXHAUSTED,
                                 0,
                                 (char *)"out of memory",
                                 (char *)"RESOURCE_EXHAUSTED: out of memory",
                                 {{{0}, NULL}}};

tfsdk_status *tfsdk__status_no_memory(void) { return &no_memory; }

static char *format_text(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  char *s = n < 0 ? NULL : malloc((size_t)n + 1);
  if (s != NULL) vsnprintf(s, (size_t)n + 1, format, again);
  va_end(again);
  return s;
}

tfsdk_status *tfsdk__status_vmake(int32_t code, const char *format, va_list args) {
  tfsdk_status *s = calloc(1, sizeof *s);
  if (s == NULL) return &no_memory;
  s->code = code == TFSDK_OK ? TFSDK_UNKNOWN : code;
  s->message = format_text(format, args);
  if (s->message == NULL) {
    free(s);
    return &no_memory;
  }
  return s;
}

tfsdk_status *tfsdk__status_make(int32_t code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tfsdk_status *s = tfsdk__status_vmake(code, format, args);
  va_end(args);
  return s;
}

void tfsdk__status_add(tfsdk_status *s, const char *key, const char *format, ...) {
  if (s == NULL || s == &no_memory || s->n_facts == MAX_FACTS || tfsdk_status_get(s, key)) return;
  va_list args;
  va_start(args, format);
  char *value = format_text(format, args);
  va_end(args);
  if (value == NULL) return;
  snprintf(s->fact[s->n_facts].key, sizeof s->fact[0].key, "%s", key);
  s->fact[s->n_facts++].value = value;
  free(s->text);
  s->text = NULL;
}

void tfsdk__status_prefix(tfsdk_status *s, const char *format, ...) {
  if (s == NULL || s == &no_memory) return;
  va_list args;
  va_start(args, format);
  char *prefix = format_text(format, args);
  va_end(args);
  size_t n = prefix ? strlen(prefix) + strlen(s->message) + 3 : 0;
  char *whole = prefix ? malloc(n) : NULL;
  if (whole != NULL) {
    snprintf(whole, n, "%s: %s", prefix, s->message);
    free(s->message);
    s->message = whole;
    free(s->text);
    s->text = NULL;
  }
  free(prefix);
}

int32_t tfsdk_status_code(const tfsdk_status *s) { return s ? s->code : TFSDK_OK; }

const char *tfsdk_status_code_name(int32_t code) {
  switch (code) {
#define CASE(name, number)                                                                         \
  case number: return #name;
    TFSDK_CODES(CASE)
#undef CASE
  }
  return "UNKNOWN";
}

const char *tfsdk_status_message(const tfsdk_status *s) { return s ? s->message : ""; }

const char *tfsdk_status_get(const tfsdk_status *s, const char *key) {
  for (uint32_t i = 0; s != NULL && i < s->n_facts; i++)
    if (strcmp(s->fact[i].key, key) == 0) return s->fact[i].value;
  return NULL;
}

const char *tfsdk_status_text(tfsdk_status *s) {
  if (s == NULL) return "";
  if (s->text != NULL) return s->text;
  const char *op = tfsdk_status_get(s, "op"), *node = tfsdk_status_get(s, "node");
  const char *where = tfsdk_status_get(s, "where");
  tfsdk__buf b = {0};
  tfsdk__buf_add(&b, "%s: ", tfsdk_status_code_name(s->code));
  if (op != NULL) tfsdk__buf_add(&b, "%s", op);
  if (node != NULL) tfsdk__buf_add(&b, "%s'%s'", op ? " " : "", node);
  if (op != NULL || node != NULL) tfsdk__buf_add(&b, ": ");
  tfsdk__buf_add(&b, "%s", s->message);
  if (where != NULL) tfsdk__buf_add(&b, "\n  made at %s", where);
  for (uint32_t i = 0; i < s->n_facts; i++) {
    const char *k = s->fact[i].key;
    if (strcmp(k, "op") == 0 || strcmp(k, "node") == 0 || strcmp(k, "where") == 0) continue;
    tfsdk__buf_add(&b, "\n  %s: %s", k, s->fact[i].value);
  }
  if (b.failed) {
    tfsdk__buf_deinit(&b);
    return s->message;
  }
  s->text = b.s;
  return s->text;
}

void tfsdk_status_release(tfsdk_status *s) {
  if (s == NULL || s == &no_memory) return;
  for (uint32_t i = 0; i < s->n_facts; i++) free(s->fact[i].value);
  free(s->message);
  free(s->text);
  free(s);
}
