/* main.c - `tfsdk board LOGDIR`: what training wrote, as a page in the browser. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "server.h"

/* As `tfsdk help` says them. */
enum { DONE = 0, FAILED = 1, USAGE = 2, UNAVAILABLE = 3, BY_SIGINT = 130, BY_SIGTERM = 143 };

static const char usage[] =
    "usage: tfsdk board [--port N] [--host ADDRESS] [--interval SECONDS] LOGDIR\n"
    "\n"
    "  --port N            6006; 0: any that is free\n"
    "  --host ADDRESS      127.0.0.1: this machine alone. 0.0.0.0 lets everybody look who can "
    "reach it\n"
    "  --interval SECONDS  how often to look for news; 1\n"
    "\n"
    "The page's address is printed when it can be opened. Ctrl-C ends.\n";

typedef struct options {
  const char *folder, *host;
  int port;
  double interval;
} options;

static volatile sig_atomic_t stopped;
static void on_signal(int number) { stopped = number; }

static int wrong(const char *format, const char *what) {
  fprintf(stderr, "tfsdk: board: ");
  fprintf(stderr, format, what);
  fprintf(stderr, "\n%s", usage);
  return USAGE;
}

static int read_options(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *value;
    char *end;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      fputs(usage, stdout);
      exit(DONE);
    }
    if (strcmp(word, "--port") == 0 || strcmp(word, "--host") == 0 ||
        strcmp(word, "--interval") == 0) {
      if (++i == argc) return wrong("%s needs a value", word);
      value = argv[i];
      if (word[2] == 'h') o->host = value;
      if (word[2] == 'p') {
        long port = strtol(value, &end, 10);
        if (*value == 0 || *end != 0 || port < 0 || port > 65535)
          return wrong("'%s' is no port: 0 to 65535", value);
        o->port = (int)port;
      }
      if (word[2] == 'i') {
        o->interval = strtod(value, &end);
        if (*value == 0 || *end != 0 || !(o->interval >= 0.05) || o->interval > 3600)
          return wrong("the interval must be 0.05 to 3600 seconds, not '%s'", value);
      }
    } else if (word[0] == '-' && word[1] != 0) {
      return wrong("unknown option '%s'", word);
    } else if (o->folder != NULL) {
      return wrong("one folder only, not '%s' too", word);
    } else {
      o->folder = word;
    }
  }
  return o->folder == NULL ? wrong("the folder is missing%s", "") : DONE;
}

static int serve(store *s, const options *o) {
  char error[256];
  server *x = server_start(s, o->host, o->port, error, sizeof error);
  if (x == NULL) {
    fprintf(stderr, "tfsdk: board: %s\n", error);
    return UNAVAILABLE;
  }
  bool six = strchr(o->host, ':') != NULL;
  printf("http://%s%s%s:%d/\n", six ? "[" : "", o->host, six ? "]" : "", server_port(x));
  fflush(stdout);
  tfsdk_status *st = NULL;
  while (stopped == 0 && st == NULL) {
    st = store_update(s);
    if (st == NULL && stopped == 0) (void)poll(NULL, 0, (int)(o->interval * 1000));
  }
  server_stop(x);
  if (st == NULL) return stopped == SIGTERM ? BY_SIGTERM : BY_SIGINT;
  fprintf(stderr, "tfsdk: board: %s\n", tfsdk_status_text(st));
  tfsdk_status_release(st);
  return UNAVAILABLE;
}

int main(int argc, char **argv) {
  options o = {NULL, "127.0.0.1", 6006, 1};
  struct sigaction action;
  struct stat st;
  int rc = read_options(argc, argv, &o);
  if (rc != DONE) return rc;
  if (stat(o.folder, &st) == 0 && !S_ISDIR(st.st_mode)) {
    fprintf(stderr, "tfsdk: board: '%s' is no folder\n", o.folder);
    return FAILED;
  }
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, NULL);
  store s = {.folder = o.folder, .stop = &stopped};
  pthread_mutex_init(&s.lock, NULL);
  tfsdk_status *status = tfsdk_runtime_create(NULL, &s.rt);
  if (status != NULL) {
    fprintf(stderr, "tfsdk: board: %s\n", tfsdk_status_text(status));
    tfsdk_status_release(status);
    rc = UNAVAILABLE;
  } else {
    rc = serve(&s, &o);
  }
  store_free(&s);
  tfsdk_runtime_release(s.rt);
  pthread_mutex_destroy(&s.lock);
  return rc;
}
