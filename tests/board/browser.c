/* browser.c - runs a script inside a page of a headless Chromium.
 *
 *     browser CHROMIUM URL SCRIPT.js [COMMAND]
 *
 * The browser is spoken to through pipes (--remote-debugging-pipe: JSON messages ended by 0), so no
 * WebSocket is needed. The script is the body of an async function; what it returns is printed, what
 * it throws fails the test. It may ask for what a page cannot do itself:
 *
 *     await host({mouse: "mousePressed", x, y, ...})     Input.dispatchMouseEvent
 *     await host({key: "ArrowRight"})                    a key pressed and released
 *     await host({size: [800, 600]})                     the window
 *     await host({screenshot: "x.png"})                  into $SCREENSHOTS, if that is set
 *     await host({run: "word"})                          COMMAND word, and its exit code
 */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int to_browser, from_browser, last_id;
static char *session; /* of the page */
static const char *command;
static pid_t browser;
static char profile[] = "/tmp/board_browser_XXXXXX";

static void end(int code) {
  char clean[128];
  if (browser > 0) {
    kill(browser, SIGKILL);
    waitpid(browser, NULL, 0);
  }
  snprintf(clean, sizeof clean, "rm -rf '%s'", profile);
  if (profile[strlen(profile) - 1] != 'X' && system(clean) != 0) code = code != 0 ? code : 1;
  exit(code);
}

static void fail(const char *what, const char *more) {
  fprintf(stderr, "browser: %s%s%s\n", what, more != NULL ? ": " : "", more != NULL ? more : "");
  end(1);
}

/* ---------------------------------------------------------------------------------- the protocol */

static void send_message(cJSON *m) {
  char *text = cJSON_PrintUnformatted(m);
  size_t n = strlen(text) + 1;
  for (size_t at = 0; at < n;) {
    ssize_t k = write(to_browser, text + at, n - at);
    if (k <= 0) fail("the browser has gone", NULL);
    at += (size_t)k;
  }
  free(text);
  cJSON_Delete(m);
}

static cJSON *next_message(void) {
  static char *buffer;
  static size_t n, cap;
  for (;;) {
    char *zero = n > 0 ? memchr(buffer, 0, n) : NULL;
    if (zero != NULL) {
      cJSON *m = cJSON_Parse(buffer);
      size_t used = (size_t)(zero - buffer) + 1;
      memmove(buffer, buffer + used, n - used);
      n -= used;
      if (m == NULL) fail("the browser sent no JSON", NULL);
      return m;
    }
    if (cap - n < 65536) {
      cap = cap * 2 + 65536;
      buffer = realloc(buffer, cap);
      if (buffer == NULL) fail("no memory", NULL);
    }
    ssize_t k = read(from_browser, buffer + n, cap - n);
    if (k <= 0) fail("the browser has gone", NULL);
    n += (size_t)k;
  }
}

static int start_call(const char *method, cJSON *params) {
  cJSON *m = cJSON_CreateObject();
  cJSON_AddNumberToObject(m, "id", ++last_id);
  cJSON_AddStringToObject(m, "method", method);
  if (session != NULL) cJSON_AddStringToObject(m, "sessionId", session);
  if (params != NULL) cJSON_AddItemToObject(m, "params", params);
  send_message(m);
  return last_id;
}

static void on_event(const cJSON *m);

/* The result of a call; events that come before it are handled. */
static cJSON *finish_call(int id, const char *method) {
  for (;;) {
    cJSON *m = next_message();
    const cJSON *got = cJSON_GetObjectItem(m, "id");
    if (got != NULL && got->valueint == id) {
      const cJSON *error = cJSON_GetObjectItem(m, "error");
      if (error != NULL) {
        char *text = cJSON_PrintUnformatted(error);
        fail(method, text);
      }
      return m;
    }
    on_event(m);
    cJSON_Delete(m);
  }
}
static cJSON *call(const char *method, cJSON *params) {
  return finish_call(start_call(method, params), method);
}

static const char *text_of(const cJSON *m, const char *outer, const char *inner) {
  return cJSON_GetStringValue(
      cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(m, "result"), outer), inner));
}

/* ------------------------------------------------------------------------- what the script asks */

static void decode64(const char *text, FILE *out) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned bits = 0, have = 0;
  for (; *text != 0 && *text != '='; text++) {
    const char *at = strchr(digits, *text);
    if (at == NULL) continue;
    bits = bits << 6 | (unsigned)(at - digits);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    fputc((int)(bits >> have & 255), out);
  }
}

static void screenshot(const char *name) {
  const char *folder = getenv("SCREENSHOTS");
  char path[4096];
  if (folder == NULL) return;
  cJSON *m = call("Page.captureScreenshot", cJSON_Parse("{\"format\":\"png\"}"));
  const char *data =
      cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(m, "result"), "data"));
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  if (f == NULL || data == NULL) fail("cannot write", path);
  decode64(data, f);
  fclose(f);
  cJSON_Delete(m);
}

static void press_key(const char *key) {
  static const char *const types[] = {"keyDown", "keyUp"};
  for (int i = 0; i < 2; i++) {
    cJSON *p = cJSON_CreateObject();
    cJSON_AddStringToObject(p, "type", types[i]);
    cJSON_AddStringToObject(p, "key", key);
    if (strcmp(key, "Enter") == 0) cJSON_AddStringToObject(p, "text", "\r");
    if (strlen(key) == 1) cJSON_AddStringToObject(p, "text", key);
    if (strcmp(key, "Tab") == 0) cJSON_AddNumberToObject(p, "windowsVirtualKeyCode", 9);
    cJSON_Delete(call("Input.dispatchKeyEvent", p));
  }
}

static void set_size(const cJSON *size) {
  cJSON *p = cJSON_CreateObject();
  cJSON_AddNumberToObject(p, "width", cJSON_GetArrayItem(size, 0)->valueint);
  cJSON_AddNumberToObject(p, "height", cJSON_GetArrayItem(size, 1)->valueint);
  cJSON_AddNumberToObject(p, "deviceScaleFactor", 1);
  cJSON_AddBoolToObject(p, "mobile", 0);
  cJSON_Delete(call("Emulation.setDeviceMetricsOverride", p));
}

static int run_command(const char *word) {
  char line[8192];
  if (command == NULL) fail("no COMMAND was given for", word);
  snprintf(line, sizeof line, "%s '%s'", command, word);
  int status = system(line);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* {"id":1,"ask":{...}}: does it, and says so to the script. */
static void on_host_call(const char *payload) {
  cJSON *m = cJSON_Parse(payload), *ask = cJSON_GetObjectItem(m, "ask"), *item;
  int answer = 0;
  char text[128];
  if ((item = cJSON_GetObjectItem(ask, "screenshot")) != NULL) screenshot(item->valuestring);
  if ((item = cJSON_GetObjectItem(ask, "key")) != NULL) press_key(item->valuestring);
  if ((item = cJSON_GetObjectItem(ask, "size")) != NULL) set_size(item);
  if ((item = cJSON_GetObjectItem(ask, "run")) != NULL) answer = run_command(item->valuestring);
  if ((item = cJSON_GetObjectItem(ask, "mouse")) != NULL) {
    cJSON *p = cJSON_Duplicate(ask, 1);
    cJSON_DeleteItemFromObject(p, "mouse");
    cJSON_AddStringToObject(p, "type", item->valuestring);
    if (cJSON_GetObjectItem(p, "button") == NULL) cJSON_AddStringToObject(p, "button", "left");
    cJSON_Delete(call("Input.dispatchMouseEvent", p));
  }
  snprintf(text, sizeof text, "hostAnswers[%d](%d)", cJSON_GetObjectItem(m, "id")->valueint,
           answer);
  cJSON *p = cJSON_CreateObject();
  cJSON_AddStringToObject(p, "expression", text);
  start_call("Runtime.evaluate", p);
  cJSON_Delete(m);
}

static void on_event(const cJSON *m) {
  const char *method = cJSON_GetStringValue(cJSON_GetObjectItem(m, "method"));
  const cJSON *params = cJSON_GetObjectItem(m, "params");
  if (method == NULL) return;
  if (strcmp(method, "Runtime.bindingCalled") == 0)
    on_host_call(cJSON_GetStringValue(cJSON_GetObjectItem(params, "payload")));
  if (strcmp(method, "Runtime.exceptionThrown") == 0) {
    char *text = cJSON_PrintUnformatted(params);
    fail("the page threw", text);
  }
}

/* -------------------------------------------------------------------------------------- the test */

static void start_browser(const char *program) {
  int in[2], out[2];
  char dir[128];
  if (mkdtemp(profile) == NULL || pipe(in) != 0 || pipe(out) != 0) fail("no pipes", NULL);
  snprintf(dir, sizeof dir, "--user-data-dir=%s", profile);
  browser = fork();
  if (browser == 0) {
    int quiet = open("/dev/null", O_WRONLY), a = fcntl(in[0], F_DUPFD, 10),
        b = fcntl(out[1], F_DUPFD, 10);
    dup2(a, 3);
    dup2(b, 4);
    dup2(quiet, 2);
    for (int fd = 5; fd < 64; fd++) close(fd);
    execlp(program, program, "--headless=new", "--no-sandbox", "--disable-gpu",
           "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
           "--remote-debugging-pipe", "--hide-scrollbars", dir, (char *)NULL);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_browser = in[1];
  from_browser = out[0];
}

static void open_page(const char *url) {
  cJSON *p = cJSON_CreateObject();
  cJSON_AddStringToObject(p, "url", "about:blank");
  cJSON *m = call("Target.createTarget", p);
  const char *target =
      cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(m, "result"), "targetId"));
  p = cJSON_CreateObject();
  cJSON_AddStringToObject(p, "targetId", target);
  cJSON_AddBoolToObject(p, "flatten", 1);
  cJSON_Delete(m);
  m = call("Target.attachToTarget", p);
  session = strdup(
      cJSON_GetStringValue(cJSON_GetObjectItem(cJSON_GetObjectItem(m, "result"), "sessionId")));
  cJSON_Delete(m);
  cJSON_Delete(call("Page.enable", NULL));
  cJSON_Delete(call("Runtime.enable", NULL));
  cJSON_Delete(call("Runtime.addBinding", cJSON_Parse("{\"name\":\"hostCall\"}")));
  set_size(cJSON_Parse("[1280, 800]"));
  p = cJSON_CreateObject();
  cJSON_AddStringToObject(p, "url", url);
  cJSON_Delete(call("Page.navigate", p));
}

static char *load(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) fail("cannot read", path);
  char *text = calloc(1, 1 << 20);
  if (text == NULL || fread(text, 1, (1 << 20) - 1, f) == 0) fail("cannot read", path);
  fclose(f);
  return text;
}

static const char before[] =
    "(async () => {\n"
    "globalThis.hostAnswers ||= {};\n"
    "let hostNext = 0;\n"
    "const host = ask => new Promise(done => { const id = ++hostNext; hostAnswers[id] = done;"
    " hostCall(JSON.stringify({id, ask})); });\n"
    "await new Promise(done => document.readyState === 'complete' ? done() :"
    " addEventListener('load', done));\n";

int main(int argc, char **argv) {
  if (argc < 4) fail("usage: browser CHROMIUM URL SCRIPT.js [COMMAND]", NULL);
  command = argc > 4 ? argv[4] : NULL;
  signal(SIGPIPE, SIG_IGN);
  alarm(240);
  start_browser(argv[1]);
  open_page(argv[2]);
  char *body = load(argv[3]), *whole = malloc(strlen(before) + strlen(body) + 16);
  if (whole == NULL) fail("no memory", NULL);
  sprintf(whole, "%s%s\n})()", before, body);
  cJSON *p = cJSON_CreateObject();
  cJSON_AddStringToObject(p, "expression", whole);
  cJSON_AddBoolToObject(p, "awaitPromise", 1);
  cJSON_AddBoolToObject(p, "returnByValue", 1);
  usleep(300000); /* the navigation has begun: evaluate in the new page */
  cJSON *m = call("Runtime.evaluate", p);
  const cJSON *thrown = cJSON_GetObjectItem(cJSON_GetObjectItem(m, "result"), "exceptionDetails");
  if (thrown != NULL) {
    const char *what = cJSON_GetStringValue(
        cJSON_GetObjectItem(cJSON_GetObjectItem(thrown, "exception"), "description"));
    fail("FAILED", what != NULL ? what : "?");
  }
  const char *said = text_of(m, "result", "value");
  printf("%s\n", said != NULL ? said : "done");
  end(0);
}
