/* client.c - see client.h. */
#include "client.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int failures;

void check(bool fine, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!fine) {
    failures++;
    printf("FAILED: ");
    vprintf(format, args);
    printf("\n");
  }
  va_end(args);
}

static void die(const char *what) {
  fprintf(stderr, "board test: %s\n", what);
  exit(1);
}

void board_start(board *b, const char *program, const char *folder) {
  int out[2];
  size_t n = 0;
  if (pipe(out) != 0) die("no pipe");
  b->pid = fork();
  if (b->pid == 0) {
    dup2(out[1], 1);
    close(out[0]);
    close(out[1]);
    execl(program, program, "board", "--port", "0", "--interval", "0.1", folder, (char *)NULL);
    _exit(127);
  }
  close(out[1]);
  while (n + 1 < sizeof b->url && read(out[0], b->url + n, 1) == 1 && b->url[n] != '\n') n++;
  b->url[n] = 0;
  close(out[0]);
  if (sscanf(b->url, "http://127.0.0.1:%d/", &b->port) != 1) die("it told no address");
}

int board_stop(board *b, int number) {
  int status = 0;
  kill(b->pid, number);
  waitpid(b->pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

answer http(const board *b, const char *method, const char *path, const char *head) {
  answer a = {0, "", NULL, 0};
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)b->port)};
  char *request = NULL, *end;
  size_t n = 0, cap = 0, sent = 0, size = 0;
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  FILE *f = open_memstream(&request, &size);
  if (f == NULL) die("no memory");
  fprintf(f, "%s %s HTTP/1.1\r\n%sConnection: close\r\n\r\n", method, path,
          head != NULL ? head : "Host: localhost\r\n");
  fclose(f);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) die("cannot connect");
  while (sent < size) {
    ssize_t k = write(fd, request + sent, size - sent);
    if (k <= 0) break;
    sent += (size_t)k;
  }
  free(request);
  for (ssize_t k = 1; k > 0; n += k > 0 ? (size_t)k : 0) {
    if (cap - n < 65536 && (a.body = realloc(a.body, (cap = 2 * cap + 131072) + 1)) == NULL)
      die("no memory");
    k = read(fd, a.body + n, cap - n);
  }
  close(fd);
  a.body[n] = 0;
  sscanf(a.body, "HTTP/1.%*d %d", &a.status);
  char *type = strcasestr(a.body, "\r\nContent-Type: ");
  if (type != NULL) sscanf(type + 16, "%127[^\r]", a.type);
  end = strstr(a.body, "\r\n\r\n");
  if (end != NULL) {
    a.n = n - (size_t)(end + 4 - a.body);
    memmove(a.body, end + 4, a.n + 1);
  }
  return a;
}

void answer_free(answer *a) { free(a->body); }

cJSON *get_json(const board *b, const char *path) {
  answer a = http(b, "GET", path, NULL);
  cJSON *m = cJSON_Parse(a.body);
  check(a.status == 200 && m != NULL, "%s: status %d, %.200s", path, a.status, a.body);
  answer_free(&a);
  return m;
}

cJSON *at(const cJSON *m, const char *path) {
  char part[256];
  const cJSON *here = m;
  while (here != NULL && *path != 0) {
    size_t n = strcspn(path, ".");
    snprintf(part, sizeof part, "%.*s", (int)n, path);
    here = cJSON_IsArray(here) ? cJSON_GetArrayItem(here, atoi(part))
                               : cJSON_GetObjectItemCaseSensitive(here, part);
    path += n + (path[n] == '.');
  }
  return (cJSON *)(uintptr_t)here;
}

double num(const cJSON *m, const char *path) {
  const cJSON *x = at(m, path);
  return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}

const char *str(const cJSON *m, const char *path) {
  const char *s = cJSON_GetStringValue(at(m, path));
  return s != NULL ? s : "";
}

double item(const cJSON *list, int i) {
  const cJSON *x = cJSON_GetArrayItem(list, i);
  if (cJSON_IsString(x)) return strtod(x->valuestring, NULL);
  return cJSON_IsNumber(x) ? x->valuedouble : NAN;
}
