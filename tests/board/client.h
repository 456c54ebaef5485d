/* client.h - starts `tfsdk board` and asks it over HTTP. */
#ifndef TFSDK_TESTS_BOARD_CLIENT_H
#define TFSDK_TESTS_BOARD_CLIENT_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct board {
  pid_t pid;
  int port;
  char url[128];
} board;

typedef struct answer {
  int status;
  char type[128];
  char *body; /* ended by 0 */
  size_t n;
} answer;

/* Exits with a message when it cannot be started. */
void board_start(board *b, const char *program, const char *folder);
/* Ends it by a signal; its exit code. */
int board_stop(board *b, int signal);
/* `head`: more lines of the request's head, each ended by \r\n; may be NULL. */
answer http(const board *b, const char *method, const char *path, const char *head);
void answer_free(answer *a);

extern int failures;
void check(bool fine, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The parsed body of GET path, whose status must be 200. */
cJSON *get_json(const board *b, const char *path);
cJSON *at(const cJSON *m, const char *path); /* "runs.0.name"; NULL if it is not there */
double num(const cJSON *m, const char *path);
const char *str(const cJSON *m, const char *path); /* "" if it is not there */
/* Element i of a list of numbers; names of what is not finite become what they say. */
double item(const cJSON *list, int i);

#endif
