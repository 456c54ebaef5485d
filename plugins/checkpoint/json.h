/* JSON read front to back, for headers whose form is known: strict about numbers, text and depth,
 * where a tree would have lost what was written. */
#ifndef TFSDK_CHECKPOINT_JSON_H
#define TFSDK_CHECKPOINT_JSON_H

#include "file.h"

typedef struct json {
  const char *begin, *p, *end;
  const char *wrong; /* what was expected where p is; NULL: all well */
} json;

/* Each returns false, and says what is wrong, unless the text goes on so. */
bool json_accept(json *j, char c); /* no error: just whether it is there */
bool json_expect(json *j, char c, const char *what);
/* A string, its escapes resolved, in the arena; neither NUL nor broken UTF-8 is in it. */
bool json_string(json *j, arena *memory, const char **out);
/* A whole number of 0 or more, without fraction and exponent. */
bool json_whole(json *j, uint64_t *out);
bool json_skip(json *j, int depth); /* any value */
bool json_end(json *j);             /* nothing but space follows */
/* Whether the n bytes are UTF-8 without surrogates and overlong forms. */
bool utf8_valid(const char *text, size_t n);

#endif
