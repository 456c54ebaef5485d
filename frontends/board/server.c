/* server.c - answers by libmicrohttpd on a thread of its own.
 *
 * Nothing is looked up in the file system by what a request says: the page's files are in the
 * program, and /data/ takes names of runs and tags that the store knows. Whoever listens on the
 * loopback address alone answers only to names of it: a page from elsewhere that has its own name
 * resolve to 127.0.0.1 gets nothing. */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "request.h"

struct server {
  store *s;
  struct MHD_Daemon *daemon;
  int port;
  bool loopback;
};

static const struct {
  const char *path;
  handler *answer;
} routes[] = {{"/data/index", data_index},
              {"/data/scalars", data_scalars},
              {"/data/scalars.csv", data_scalars_csv},
              {"/data/histograms", data_histograms},
              {"/data/media", data_media},
              {"/data/blob", data_blob},
              {"/data/text", data_text},
              {"/data/graph", data_graph},
              {"/data/hparams", data_hparams},
              {"/data/pr_curves", data_curves},
              {"/data/projector", data_projector},
              {"/data/projector/points", data_projector_points},
              {"/data/profiles", data_profiles},
              {"/data/profile", data_profile}};

const char *request_text(const request *q, const char *name) {
  return MHD_lookup_connection_value(q->connection, MHD_GET_ARGUMENT_KIND, name);
}

typedef struct each {
  const char *name;
  void (*fn)(void *user, const char *value);
  void *user;
} each;

static enum MHD_Result visit(void *user, enum MHD_ValueKind kind, const char *key,
                             const char *value) {
  const each *e = (const each *)user;
  (void)kind;
  if (value != NULL && strcmp(key, e->name) == 0) e->fn(e->user, value);
  return MHD_YES;
}

void request_each(const request *q, const char *name, void (*fn)(void *user, const char *value),
                  void *user) {
  each e = {name, fn, user};
  MHD_get_connection_values(q->connection, MHD_GET_ARGUMENT_KIND, visit, &e);
}

/* --------------------------------------------------------------------------------------- answers */

static enum MHD_Result respond(struct MHD_Connection *c, unsigned status, struct MHD_Response *r,
                               const char *type, bool forever) {
  if (r == NULL) return MHD_NO;
  MHD_add_response_header(r, "Content-Type", type);
  MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
  MHD_add_response_header(r, "Content-Security-Policy",
                          "default-src 'self'; img-src 'self' data:; style-src 'self' "
                          "'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'");
  MHD_add_response_header(r, "Cache-Control", forever ? "private, max-age=86400" : "no-cache");
  enum MHD_Result done = MHD_queue_response(c, status, r);
  MHD_destroy_response(r);
  return done;
}

static enum MHD_Result send_data(struct MHD_Connection *c, request *q) {
  if (q->out.failed) request_fail(q, 500, "no memory for the answer");
  struct MHD_Response *r =
      MHD_create_response_from_buffer(q->out.n, q->out.p, MHD_RESPMEM_MUST_FREE);
  if (r == NULL) {
    text_free(&q->out);
    return MHD_NO;
  }
  if (q->file_name != NULL) {
    char value[128];
    snprintf(value, sizeof value, "attachment; filename=\"%s\"", q->file_name);
    MHD_add_response_header(r, "Content-Disposition", value);
  }
  return respond(c, q->status, r, q->type, q->forever);
}

/* The name in "name:port", "[::1]:port" or alone. */
static bool is_loopback_name(const char *host) {
  size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
  return (n == 9 && strncasecmp(host, "localhost", 9) == 0) ||
         (n == 5 && strncmp(host, "[::1]", 5) == 0) ||
         (n >= 7 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= n);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_n, void **state) {
  static int begun;
  const server *x = (const server *)user;
  request q = {.s = x->s, .connection = c, .status = 200, .type = "application/json"};
  (void)version;
  (void)upload;
  if (*state == NULL) { /* the head alone: the answer comes with the rest */
    *state = &begun;
    return MHD_YES;
  }
  *upload_n = 0;
  const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
    request_fail(&q, 405, "only GET and HEAD are answered, not %.20s", method);
    return send_data(c, &q);
  }
  if (x->loopback && host != NULL && !is_loopback_name(host)) {
    request_fail(&q, 403, "this board answers to localhost only, not to '%.200s'", host);
    return send_data(c, &q);
  }
  for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
    if (strcmp(url, routes[i].path) != 0) continue;
    routes[i].answer(&q);
    return send_data(c, &q);
  }
  const char *name = strcmp(url, "/") == 0 ? "index.html" : url + 1;
  for (const page_file *f = page_files; f->name != NULL; f++)
    if (strcmp(name, f->name) == 0)
      return respond(c, 200,
                     MHD_create_response_from_buffer(f->n, (void *)(uintptr_t)f->bytes,
                                                     MHD_RESPMEM_PERSISTENT),
                     f->type, false);
  request_fail(&q, 404, "there is nothing at '%.200s'", url);
  return send_data(c, &q);
}

/* ------------------------------------------------------------------------------------- listening */

static bool is_loopback(const struct sockaddr *a) {
  if (a->sa_family == AF_INET) {
    const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a;
    return ntohl(in->sin_addr.s_addr) >> 24 == 127;
  }
  const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)a;
  return a->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
}

static int open_socket(const struct addrinfo *at, int *out_port) {
  int one = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_storage bound;
  socklen_t n = sizeof bound;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, 64) != 0 ||
      getsockname(fd, (struct sockaddr *)&bound, &n) != 0) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  *out_port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&bound)->sin6_port
                                                : ((struct sockaddr_in *)(void *)&bound)->sin_port);
  return fd;
}

server *server_start(store *s, const char *host, int port, char *out_error, size_t cap) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *at = NULL;
  char service[16];
  snprintf(service, sizeof service, "%d", port);
  int error = getaddrinfo(host, service, &hints, &at);
  if (error != 0) {
    snprintf(out_error, cap, "the address '%s' is not known: %s", host, gai_strerror(error));
    return NULL;
  }
  server *x = calloc(1, sizeof *x);
  int fd = x != NULL ? open_socket(at, &x->port) : -1;
  if (fd < 0) {
    snprintf(out_error, cap, "cannot listen on %s port %d: %s%s", host, port, strerror(errno),
             errno == EADDRINUSE ? "; choose another one with --port" : "");
  } else {
    x->s = s;
    x->loopback = is_loopback(at->ai_addr);
    x->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL, NULL, answer, x,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)512 << 10,
        MHD_OPTION_CONNECTION_LIMIT, 200u, MHD_OPTION_CONNECTION_TIMEOUT, 120u, MHD_OPTION_END);
    if (x->daemon == NULL) {
      snprintf(out_error, cap, "the server cannot be started");
      close(fd);
    }
  }
  freeaddrinfo(at);
  if (x != NULL && x->daemon != NULL) return x;
  free(x);
  return NULL;
}

int server_port(const server *x) { return x->port; }

void server_stop(server *x) {
  if (x == NULL) return;
  MHD_stop_daemon(x->daemon);
  free(x);
}
