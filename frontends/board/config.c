/* config.c - see config.h. ProjectorConfig{model_checkpoint_path, embeddings{tensor_name,
 * metadata_path, tensor_path, ...}} (tensorboard/plugins/projector/projector_config.proto). */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 8

typedef enum token { END, WORD, STRING, OPEN, CLOSE, OTHER, WRONG } token;

typedef struct lexer {
  const char *at;
  char text[4096]; /* of a word or a string */
} lexer;

static token next_string(lexer *l) {
  char quote = *l->at++;
  size_t n = 0;
  for (; *l->at != quote; l->at++) {
    char c = *l->at;
    if (c == 0 || c == '\n' || n + 1 == sizeof l->text) return WRONG;
    if (c == '\\') {
      c = *++l->at;
      if (c == 0) return WRONG;
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
    }
    l->text[n++] = c;
  }
  l->at++;
  l->text[n] = 0;
  return STRING;
}

static token next(lexer *l) {
  for (;;) {
    l->at += strspn(l->at, " \t\r\n,;:");
    if (*l->at != '#') break;
    l->at += strcspn(l->at, "\n");
  }
  char c = *l->at;
  if (c == 0) return END;
  if (c == '"' || c == '\'') return next_string(l);
  if (c == '{' || c == '<' || c == '}' || c == '>') {
    l->at++;
    return c == '{' || c == '<' ? OPEN : CLOSE;
  }
  size_t n = 0;
  while (isalnum((unsigned char)*l->at) || *l->at == '_' || *l->at == '.' || *l->at == '-') {
    if (n + 1 == sizeof l->text) return WRONG;
    l->text[n++] = *l->at++;
  }
  l->text[n] = 0;
  if (n > 0) return WORD;
  l->at++;
  return OTHER;
}

static bool set(char **out, const char *text) {
  free(*out);
  *out = strdup(text);
  return *out != NULL;
}

/* A message's fields up to its end. `e`: the embedding that they belong to; NULL: the whole. */
static bool read_message(lexer *l, config *c, bool embedding_here, int depth) {
  char key[64];
  for (;;) {
    token t = next(l);
    if (t == END || t == CLOSE) return (t == END) == (depth == 0);
    if (t != WORD) return false;
    snprintf(key, sizeof key, "%.63s", l->text);
    t = next(l);
    if (t == OPEN) {
      bool is = depth == 0 && strcmp(key, "embeddings") == 0;
      if (depth == DEPTH) return false;
      if (is) {
        embedding *all = realloc(c->all, (c->n + 1) * sizeof *all);
        if (all == NULL) return false;
        c->all = all;
        memset(&c->all[c->n++], 0, sizeof *all);
      }
      if (!read_message(l, c, is, depth + 1)) return false;
      continue;
    }
    if (t != STRING && t != WORD) return false;
    embedding *e = embedding_here ? &c->all[c->n - 1] : NULL;
    char **to = NULL;
    if (depth == 0 && strcmp(key, "model_checkpoint_path") == 0) to = &c->checkpoint;
    if (e != NULL && strcmp(key, "tensor_name") == 0) to = &e->tensor_name;
    if (e != NULL && strcmp(key, "tensor_path") == 0) to = &e->tensor_path;
    if (e != NULL && strcmp(key, "metadata_path") == 0) to = &e->metadata_path;
    if (to != NULL && !set(to, l->text)) return false;
  }
}

bool config_read(const char *text, config *out) {
  lexer *l = malloc(sizeof *l);
  memset(out, 0, sizeof *out);
  if (l == NULL) return false;
  l->at = text;
  bool fine = read_message(l, out, false, 0);
  free(l);
  return fine;
}

void config_free(config *c) {
  for (size_t i = 0; i < c->n; i++) {
    free(c->all[i].tensor_name);
    free(c->all[i].tensor_path);
    free(c->all[i].metadata_path);
  }
  free(c->all);
  free(c->checkpoint);
  memset(c, 0, sizeof *c);
}

char *config_load(const char *path, size_t most, size_t *out_n) {
  FILE *f = fopen(path, "rb");
  char *p = NULL;
  size_t n = 0;
  if (f == NULL) return NULL;
  for (size_t cap = 1 << 16; cap <= 2 * most + (1 << 16); cap *= 2) {
    char *more = realloc(p, cap + 1);
    if (more == NULL) break;
    p = more;
    n += fread(p + n, 1, cap - n, f);
    if (n < cap) {
      fclose(f);
      p[n] = 0;
      if (out_n != NULL) *out_n = n;
      if (n <= most) return p;
      free(p);
      return NULL;
    }
  }
  fclose(f);
  free(p);
  return NULL;
}
