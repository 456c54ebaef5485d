/* `tfsdk watch` as a user has it: --once, lines into a pipe, and a terminal of its own (a pty), while event
 * files grow.
 *
 *     watch_test PROGRAM DATA            DATA: tests/tensorboard/data
 *
 * The values looked for are those that TensorFlow and PyTorch wrote: data/events.json. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failed;
static const char *program, *data;
static char folder[] = "/tmp/tfsdk-watch-XXXXXX";

static void check(const char *what, int ok, const char *text) {
  printf("%s: %s\n", ok ? "passed" : "FAILED", what);
  if (ok) return;
  failed = 1;
  printf("--- in:\n%s\n---\n", text);
}

typedef struct child {
  pid_t pid;
  int fd;
  char text[1 << 16];
  size_t n;
} child;

/* Starts the program with a pipe, or a terminal of 24 lines and 100 columns, as its output. */
static void start(child *c, int terminal, const char *const *argv) {
  struct winsize size = {24, 100, 0, 0};
  int ends[2] = {-1, -1};
  memset(c, 0, sizeof *c);
  if (!terminal && pipe(ends) != 0) exit(2);
  c->pid = terminal ? forkpty(&c->fd, NULL, NULL, &size) : fork();
  if (c->pid < 0) exit(2);
  if (c->pid == 0) {
    if (!terminal) {
      dup2(ends[1], 1);
      dup2(ends[1], 2);
      close(ends[0]);
    }
    setenv("LC_ALL", "C.UTF-8", 1);
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  if (terminal) return;
  close(ends[1]);
  c->fd = ends[0];
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Reads until the words are there, the output ends, or a minute has passed. */
static int wait_for(child *c, const char *words) {
  double until = now() + 60;
  while (now() < until) {
    if (words != NULL && strstr(c->text, words) != NULL) return 1;
    struct pollfd p = {c->fd, POLLIN, 0};
    if (poll(&p, 1, 200) <= 0) continue;
    if (c->n > sizeof c->text / 2) { /* what was looked for is found by then */
      memmove(c->text, c->text + c->n / 2, c->n - c->n / 2 + 1);
      c->n -= c->n / 2;
    }
    ssize_t n = read(c->fd, c->text + c->n, sizeof c->text - 1 - c->n);
    if (n <= 0) break;
    c->n += (size_t)n;
    c->text[c->n] = 0;
  }
  return words == NULL || strstr(c->text, words) != NULL;
}

static int end(child *c) {
  int status = 0;
  while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR) {}
  close(c->fd);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Appends the bytes from..to (0: the end) of a recorded event file to a file of the log folder. */
static void append(const char *run, const char *recorded, long from, long to) {
  static char bytes[1 << 16];
  char path[512];
  snprintf(path, sizeof path, "%s/events/%s/events.out.tfevents.1767225600.example", data,
           recorded);
  FILE *in = fopen(path, "rb");
  size_t n = in != NULL ? fread(bytes, 1, sizeof bytes, in) : 0;
  if (in == NULL || n == 0) {
    printf("FAILED: %s cannot be read\n", path);
    exit(1);
  }
  fclose(in);
  snprintf(path, sizeof path, "%s/%s", folder, run);
  mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/events.out.tfevents.1.x", folder, run);
  FILE *out = fopen(path, "ab");
  if (out == NULL) exit(1);
  fwrite(bytes + from, 1, (to != 0 ? (size_t)to : n) - (size_t)from, out);
  fclose(out);
}

static void once(void) {
  child c;
  const char *const argv[] = {program, "watch", "--once", folder, NULL};
  start(&c, 0, argv);
  wait_for(&c, NULL);
  int rc = end(&c);
  check("once: exit code 0", rc == 0, c.text);
  check("once: TensorFlow 2's scalar of step 2 is 1/3",
        strstr(c.text, "two  step 2") != NULL && strstr(c.text, "0.333333") != NULL, c.text);
  check("once: its curve", strstr(c.text, "█▂▁") != NULL, c.text);
  check("once: PyTorch's of step 1 is 0.25", strstr(c.text, "        0.25  ") != NULL, c.text);
  check("once: nothing steers a terminal", strchr(c.text, 27) == NULL, c.text);
  const char *const filtered[] = {program, "watch", "--filter", "nothing", "--once", folder, NULL};
  start(&c, 0, filtered);
  wait_for(&c, NULL);
  rc = end(&c);
  check("once, filtered: no value", rc == 0 && strstr(c.text, "0.333333") == NULL, c.text);
  const char *const missing[] = {program, "watch", "--once", "/nowhere/at/all", NULL};
  start(&c, 0, missing);
  wait_for(&c, NULL);
  rc = end(&c);
  check("once: a folder that is not there", rc == 1 && strstr(c.text, "/nowhere/at/all") != NULL,
        c.text);
  const char *const wrong[] = {program, "watch", "--twice", folder, NULL};
  start(&c, 0, wrong);
  wait_for(&c, NULL);
  rc = end(&c);
  check("a wrong option: exit code 2 and the usage",
        rc == 2 && strstr(c.text, "--twice") != NULL && strstr(c.text, "usage:") != NULL, c.text);
}

/* The first 803 bytes of v2 hold step 0; step 1 begins there, step 2 at 1534 (events.json). */
static void lines(void) {
  child c;
  const char *const argv[] = {program, "watch", "--interval", "0.1", folder, NULL};
  append("slow", "v2", 0, 803);
  start(&c, 0, argv);
  check("lines: step 0", wait_for(&c, "slow\t0\tloss\t1\n"), c.text);
  append("slow", "v2", 803, 1000); /* whole scalar, half of the next record */
  check("lines: step 1", wait_for(&c, "slow\t1\tloss\t0.5\n"), c.text);
  append("slow", "v2", 1000, 0);
  check("lines: step 2", wait_for(&c, "slow\t2\tloss\t0.333333343\n"), c.text);
  append("late", "torch", 0, 0);
  check("lines: a new run", wait_for(&c, "late\t1\tloss\t0.25\n"), c.text);
  kill(c.pid, SIGINT);
  check("lines: SIGINT ends it, exit code 130", end(&c) == 130, c.text);
}

static void terminal(void) {
  child c;
  const char *const argv[] = {program, "watch", "--interval", "0.1", folder, NULL};
  append("grow", "v2", 0, 803);
  start(&c, 1, argv);
  check("terminal: another screen", wait_for(&c, "\033[?1049h"), c.text);
  check("terminal: a run", wait_for(&c, "grow  step 0"), c.text);
  append("grow", "v2", 803, 0);
  check("terminal: it has moved on", wait_for(&c, "grow  step 2"), c.text);
  append("aaa", "torch", 0, 0);
  check("terminal: a new run", wait_for(&c, "aaa  step 1"), c.text);
  if (write(c.fd, "q", 1) != 1) exit(1);
  check("terminal: q gives the screen back", wait_for(&c, "\033[?1049l"), c.text);
  wait_for(&c, NULL);
  check("terminal: exit code 0", end(&c) == 0, c.text);
}

int main(int argc, char **argv) {
  char command[128];
  if (argc != 3 || mkdtemp(folder) == NULL) return 2;
  program = argv[1];
  data = argv[2];
  append("two", "v2", 0, 0);
  append("pytorch", "torch", 0, 0);
  once();
  lines();
  terminal();
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command) != 0 || failed;
}
