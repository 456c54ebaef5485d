/* hostile_test.c - `tfsdk board` with damaged files below its folder and with requests of no good will.
 *
 *     hostile_test PROGRAM WRITE.lua [COUNT]
 *
 * COUNT event files are made out of a good one by changing bytes, most of them with right checksums
 * so that the damage lies within the messages. Every answer must be one: JSON with status 200 or an
 * error, never silence. Run it with a PROGRAM under valgrind or a sanitizer to see what lies below. */
#include <arpa/inet.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "client.h"

static uint64_t state = 88172645463325252u; /* xorshift: the same damage each time */
static uint32_t draw(uint32_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 33) % below;
}

/* CRC-32C (RFC 3720 B.4), masked as TFRecord files have it. */
static uint32_t masked_crc(const unsigned char *p, size_t n) {
  uint32_t c = 0xffffffffu;
  for (size_t i = 0; i < n; i++) {
    c ^= p[i];
    for (int k = 0; k < 8; k++) c = (c >> 1) ^ (0x82f63b78u & (0u - (c & 1)));
  }
  c = ~c;
  return ((c >> 15) | (c << 17)) + 0xa282ead8u;
}

typedef struct file {
  unsigned char *p;
  size_t n;
} file;

static file load(const char *path) {
  file f = {NULL, 0};
  FILE *in = fopen(path, "rb");
  if (in == NULL) return f;
  f.p = malloc((size_t)1 << 22);
  if (f.p != NULL) f.n = fread(f.p, 1, (size_t)1 << 22, in);
  fclose(in);
  return f;
}

static void put32(unsigned char *p, uint32_t v) {
  for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> 8 * i);
}

/* One change: a byte, a run of bytes, or lengths that say too much. */
static void change(unsigned char *p, size_t n) {
  static const unsigned char odd[] = {0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x4a};
  if (n == 0) return;
  size_t at = draw((uint32_t)n), most = draw(4) == 0 ? 8 : 1;
  for (size_t i = at; i < n && i < at + most; i++)
    p[i] = draw(2) ? (unsigned char)draw(256) : odd[draw(sizeof odd)];
}

/* Records of the file, some of them changed; checksums are mended when `mend`. */
static void spoil(file f, FILE *out, bool mend) {
  for (size_t at = 0; at + 16 <= f.n;) {
    uint64_t n;
    memcpy(&n, f.p + at, 8);
    if (n > f.n - at - 16) return;
    unsigned char *record = malloc(n + 16);
    if (record == NULL) return;
    memcpy(record, f.p + at, n + 16);
    if (draw(10) == 0 && at > 0)
      for (uint32_t k = draw(2) + 1; k > 0; k--) change(record + 12, n);
    if (mend) put32(record + 12 + n, masked_crc(record + 12, n));
    fwrite(record, 1, n + 16, out);
    free(record);
    at += n + 16;
  }
}

static void make_files(const char *folder, file good, int count) {
  char path[512];
  for (int i = 0; i < count; i++) {
    snprintf(path, sizeof path, "%s/spoilt_%04d", folder, i);
    mkdir(path, 0777);
    strcat(path, "/events.out.tfevents.1.x");
    FILE *out = fopen(path, "wb");
    if (out == NULL) continue;
    if (i % 8 == 0)
      for (int k = 0; k < 2000; k++) fputc((int)draw(256), out);
    else if (i % 8 == 1)
      fwrite(good.p, 1, draw((uint32_t)good.n), out);
    else
      spoil(good, out, i % 8 != 2);
    fclose(out);
  }
}

/* ------------------------------------------------------------------------------------- questions */

static void escape(char *out, size_t cap, const char *text) {
  size_t n = 0;
  for (const unsigned char *p = (const unsigned char *)text; *p != 0 && n + 4 < cap; p++)
    n += (size_t)snprintf(out + n, cap - n, "%%%02X", *p);
  out[n] = 0;
}

static int asked, refused;
static void ask(const board *b, const char *path, bool json) {
  answer a = http(b, "GET", path, NULL);
  asked++;
  refused += a.status != 200;
  check(a.status == 200 || a.status == 403 || a.status == 404 || a.status == 500,
        "%.200s: status %d", path, a.status);
  if (json || a.status != 200) {
    cJSON *m = cJSON_Parse(a.body);
    check(m != NULL, "%.200s: no JSON: %.100s", path, a.body);
    cJSON_Delete(m);
  }
  answer_free(&a);
}

static void ask_series(const board *b, const char *kind, const char *run, const char *tag) {
  static const struct {
    const char *kind, *question;
    bool json;
  } all[] = {{"scalars", "/data/scalars?smooth=0.6&points=50&run=%s&tag=%s", true},
             {"scalars", "/data/scalars.csv?run=%s&tag=%s", false},
             {"histograms", "/data/histograms?run=%s&tag=%s", true},
             {"images", "/data/media?kind=images&run=%s&tag=%s", true},
             {"images", "/data/blob?kind=images&step=0&run=%s&tag=%s", false},
             {"audio", "/data/media?kind=audio&run=%s&tag=%s", true},
             {"audio", "/data/blob?kind=audio&step=1&run=%s&tag=%s", false},
             {"text", "/data/text?run=%s&tag=%s", true},
             {"pr_curves", "/data/pr_curves?run=%s&tag=%s", true},
             {"graphs", "/data/graph?run=%s&tag=%s", true},
             {"profiles", "/data/profile?run=%s&tag=%s", true}};
  char path[8192];
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(all[i].kind, kind) != 0) continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path, sizeof path, all[i].question, run, tag);
#pragma GCC diagnostic pop
    ask(b, path, all[i].json);
  }
}

static void ask_everything(const board *b) {
  cJSON *m = get_json(b, "/data/index");
  const cJSON *r, *kind, *t;
  char run[1024], tag[2048], path[4096];
  check(cJSON_GetArraySize(at(m, "faults")) > 0, "damage is told");
  cJSON_ArrayForEach(r, at(m, "runs")) {
    escape(run, sizeof run, str(r, "name"));
    cJSON_ArrayForEach(kind, at(r, "tags")) cJSON_ArrayForEach(t, kind) {
      escape(tag, sizeof tag, t->valuestring);
      ask_series(b, kind->string, run, tag);
    }
    snprintf(path, sizeof path, "/data/profiles?run=%s", run);
    ask(b, path, true);
  }
  cJSON_Delete(m);
  ask(b, "/data/hparams", true);
  ask(b, "/data/projector", true);
}

/* -------------------------------------------------------------------------------------- the wire */

static int dial(const board *b) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)b->port)};
  struct timeval patience = {0, 200000}; /* nothing is owed to what is no request */
  inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0) return fd;
  close(fd);
  return -1;
}

/* Sends bytes as they are; the status of the answer, 0 if the connection was closed without one. */
static int wire(const board *b, const char *bytes, size_t n) {
  char got[4096];
  int status = 0, fd = dial(b);
  size_t sent = 0, have = 0;
  if (fd < 0) return 0;
  while (sent < n) {
    ssize_t k = send(fd, bytes + sent, n - sent, MSG_NOSIGNAL);
    if (k <= 0) break;
    sent += (size_t)k;
  }
  shutdown(fd, SHUT_WR);
  for (ssize_t k; have + 1 < sizeof got && (k = read(fd, got + have, sizeof got - 1 - have)) > 0;)
    have += (size_t)k;
  got[have] = 0;
  sscanf(got, "HTTP/1.%*d %d", &status);
  close(fd);
  return status;
}

static bool alive(const board *b) {
  answer a = http(b, "GET", "/data/index", NULL);
  bool fine = a.status == 200;
  answer_free(&a);
  return fine;
}

static void wires(const board *b) {
  static const char *const lines[] = {
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST /data/index HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: "
      "chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
      "GET /data/scalars?tag=%&run=%zz&x=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /data/scalars?tag=%ff%fe%80&points=1e308 HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /data/histograms?run=.&tag=%s%n%n%n%n HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /%2e%2e%2f%2e%2e%2fetc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /..\\..\\etc\\passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /data/projector/points?run=../../..&name=/etc/passwd HTTP/1.1\r\nHost: "
      "localhost\r\n\r\n",
      "GET http://localhost/data/index HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET\r\n\r\n",
      "\r\n\r\n\r\n",
      "HEAD /data/index HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: \r\n\r\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    wire(b, lines[i], strlen(lines[i]));
    check(alive(b), "it lives after %.60s", lines[i]);
  }
  enum { BIG = 4 << 20 };
  char *big = malloc(BIG);
  if (big == NULL) return;
  memset(big, 'a', BIG);
  memcpy(big, "GET /", 5);
  int status = wire(b, big, BIG);
  check(status == 0 || status >= 400, "a line of 4 MB is refused: %d", status);
  size_t n = (size_t)snprintf(big, BIG, "GET / HTTP/1.1\r\nHost: localhost\r\n");
  while (n < BIG - 64) n += (size_t)snprintf(big + n, BIG - n, "X-%zu: y\r\n", n);
  n += (size_t)snprintf(big + n, BIG - n, "\r\n");
  status = wire(b, big, n);
  check(status == 0 || status >= 400, "heads of 4 MB are refused: %d", status);
  n = (size_t)snprintf(big, BIG, "GET /data/scalars?tag=train/loss");
  for (int i = 0; i < 8000; i++) n += (size_t)snprintf(big + n, BIG - n, "&run=trial_00");
  n += (size_t)snprintf(big + n, BIG - n, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  wire(b, big, n);
  check(alive(b), "it lives after a question for one run 8,000 times");
  for (int i = 0; i < 20; i++) {
    for (size_t k = 0; k < 2000; k++) big[k] = (char)draw(256);
    wire(b, big, 2000);
  }
  check(alive(b), "it lives after random bytes");
  free(big);
}

/* Who connects and says nothing keeps nobody else out, and goes without a trace. */
static void crowd(const board *b) {
  enum { MANY = 150, TOO_MANY = 250 };
  static int fds[TOO_MANY];
  for (int i = 0; i < MANY; i++) fds[i] = dial(b);
  check(alive(b), "it answers beside %d silent connections", MANY);
  for (int i = MANY; i < TOO_MANY; i++) fds[i] = dial(b);
  for (int i = 0; i < TOO_MANY; i++)
    if (fds[i] >= 0) close(fds[i]);
  bool back = false;
  for (int i = 0; i < 40 && !back; i++) {
    back = alive(b);
    if (!back) usleep(50000);
  }
  check(back, "it answers after %d connections", TOO_MANY);
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/board_hostile_XXXXXX", line[4096];
  int count = argc > 3 ? atoi(argv[3]) : 60;
  glob_t found;
  board b;
  if (argc < 3 || mkdtemp(folder) == NULL) return 2;
  snprintf(line, sizeof line, "'%s' run '%s' %s", getenv("TFSDK") ? getenv("TFSDK") : argv[1],
           argv[2], folder);
  if (system(line) != 0) return 1;
  snprintf(line, sizeof line, "%s/kinds/events.out.*", folder);
  if (glob(line, 0, NULL, &found) != 0) return 1;
  file good = load(found.gl_pathv[0]);
  globfree(&found);
  make_files(folder, good, count);
  /* links that go in circles, twice in each folder: 2 to the power of the depth ways */
  snprintf(line, sizeof line, "%s/circle_a", folder);
  check(symlink(folder, line) == 0, "a link");
  snprintf(line, sizeof line, "%s/circle_b", folder);
  check(symlink(folder, line) == 0, "a link");
  board_start(&b, argv[1], folder);
  bool loaded = false;
  for (int i = 0; i < 1200 && !loaded; i++) {
    cJSON *m = get_json(&b, "/data/index");
    loaded = cJSON_IsTrue(at(m, "loaded"));
    cJSON_Delete(m);
    usleep(50000);
  }
  check(loaded, "all files are read");
  ask_everything(&b);
  wires(&b);
  crowd(&b);
  int code = board_stop(&b, SIGTERM);
  check(code == 143, "SIGTERM ends it as ever: %d", code);
  free(good.p);
  snprintf(line, sizeof line, "rm -rf '%s'", folder);
  check(system(line) == 0, "%s", line);
  printf("%d questions, %d refused; %s\n", asked, refused, failures == 0 ? "ok" : "FAILED");
  return failures != 0;
}
