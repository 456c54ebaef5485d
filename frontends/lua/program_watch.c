/* program_watch.c - `tfsdk watch LOGDIR`: the latest scalars of all runs below a folder, while they
 * train. On a terminal a table that renews itself; elsewhere a line for each value. */
#include "program.h"
#include "program_watch.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "usage: tfsdk watch [--once] [--interval SECONDS] [--filter TEXT] LOGDIR\n"
    "\n"
    "  --once              print the table once\n"
    "  --interval SECONDS  how often to look for news; 1\n"
    "  --filter TEXT       only tags with this text in them\n"
    "\n"
    "keys: q ends; j, k, arrows, space and b scroll; r looks at once\n"
    "Where standard output is no terminal each new value is a line: run, step, tag, value.\n";

typedef struct options {
  const char *folder, *filter;
  double interval;
  int once;
} options;

/* -------------------------------------------------------------------------------------- text */

static FILE *screen; /* what is being drawn: standard output, or a page in memory */
static int unicode;
static int columns; /* 0: as many as it takes */

/* Names come from files: nothing in them may steer the terminal. Returns the columns taken. */
static int put_name(const char *text, int most) {
  int n = 0;
  for (const unsigned char *p = (const unsigned char *)text; *p != 0 && (most == 0 || n < most);) {
    int bytes = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 0;
    int whole = bytes > 1 && unicode && !(*p == 0xc2 && p[1] < 0xa0);
    for (int i = 1; whole && i < bytes; i++) whole = (p[i] & 0xc0) == 0x80;
    if (bytes == 1)
      fputc(*p < 0x20 || *p == 0x7f ? '?' : *p, screen);
    else if (whole)
      fwrite(p, 1, (size_t)bytes, screen);
    else
      fputc('?', screen);
    p += whole ? bytes : 1;
    n++;
  }
  return n;
}
static void put_spaces(int n) {
  for (; n > 0; n--) fputc(' ', screen);
}
static int width_of(const char *text) {
  int n = 0;
  for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++)
    n += !unicode || (*p & 0xc0) != 0x80;
  return n;
}

/* The last `n` points as blocks of eight heights; what is not finite is marked. */
static void put_spark(const watch_series *s, int n) {
  static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char *const plain[] = {"_", ".", "-", "=", "+", "*", "%", "#"};
  const char *const *marks = unicode ? blocks : plain;
  int have = (int)s->n_points, cells = have < n ? have : n;
  for (int i = 0; i < cells; i++) {
    /* all points in so many cells: each cell shows its last one */
    double x = (double)s->point[have <= n ? i : (int)((int64_t)(i + 1) * have / cells) - 1];
    double range = s->high - s->low;
    int height = range > 0 ? (int)((x - s->low) / range * 7.999) : 3;
    if (!isfinite(x))
      fputs(unicode ? "×" : "!", screen);
    else
      fputs(marks[height < 0 ? 0 : height > 7 ? 7 : height], screen);
  }
  put_spaces(n - cells);
}

static void ago(double seconds, char *out, size_t n) {
  if (seconds < 0) seconds = 0;
  if (seconds < 120)
    snprintf(out, n, "%.0f s ago", seconds);
  else if (seconds < 7200)
    snprintf(out, n, "%.0f min ago", seconds / 60);
  else if (seconds < 172800)
    snprintf(out, n, "%.0f h ago", seconds / 3600);
  else
    snprintf(out, n, "%.0f days ago", seconds / 86400);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------- table */

/* The tag's rest behind "monitor/WHAT/", or NULL if it is none of those. */
static const char *traced_name(const watch_series *s, const char *what) {
  size_t n = strlen(what);
  return s->count > 0 && strncmp(s->tag, what, n) == 0 ? s->tag + n : NULL;
}
static const char of_time[] = "monitor/op_share/", of_memory[] = "monitor/held_bytes/";

static int is_shown(const watch *w, const watch_series *s) {
  return s->count > 0 && (w->filter != NULL ||
                          (traced_name(s, of_time) == NULL && traced_name(s, of_memory) == NULL));
}

static int tag_width(const watch *w) {
  int n = 8;
  for (size_t i = 0; i < w->n_runs; i++)
    for (size_t k = 0; k < w->runs[i]->n_series; k++) {
      int m = width_of(w->runs[i]->series[k]->tag);
      if (is_shown(w, w->runs[i]->series[k]) && m > n) n = m;
    }
  return n;
}

static void put_series(const watch_series *s, int tags) {
  int spark = columns == 0 ? 40 : columns - tags - 62;
  fputs("  ", screen);
  put_spaces(tags - put_name(s->tag, tags));
  fprintf(screen, "  step %-10lld %12.6g", (long long)s->step,
          isnan(s->value) ? (double)NAN : s->value);
  if (spark >= 8) {
    fputs("  ", screen);
    put_spark(s, spark > 60 ? 60 : spark);
  }
  if (s->low <= s->high && (columns == 0 || columns - tags > 60))
    fprintf(screen, "  %.4g to %.4g", s->low, s->high);
  fputc('\n', screen);
}

static void put_bytes(double n) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (n >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
    n /= 1000;
    unit++;
  }
  fprintf(screen, " %.*f %s", n < 10 && unit > 0 ? 1 : 0, n, units[unit]);
}

/* How fast it goes, what it holds, what it waits for: a monitor knows; else the events tell a rate. */
static void put_rates(const watch_run *run, double rate) {
  double told = watch_monitored(run, "steps_per_second"),
         memory = watch_monitored(run, "memory_bytes"),
         process = watch_monitored(run, "process_bytes"),
         stall = watch_monitored(run, "input_stall_ratio");
  if (told >= 0) rate = told;
  if (rate > 0 || told >= 0) fprintf(screen, "  %.4g steps/s", rate);
  if (memory > 0 || process > 0) {
    fputc(' ', screen);
    put_bytes(memory > 0 ? memory : process);
  }
  if (stall >= 0.2)
    fprintf(screen, "  input-bound: %.0f %% of the time waits for data", 100 * stall);
  else if (stall >= 0.005)
    fprintf(screen, "  %.0f %% waits for data", 100 * stall);
}

/* Those of the latest traced run, the greatest first, as many as the line has room for. */
static void put_traced(const watch_run *run, const char *title, const char *what) {
  int64_t step = -1;
  double below = INFINITY;
  int used = width_of(title);
  size_t shown = 0, after = 0, best;
  for (size_t i = 0; i < run->n_series; i++)
    if (traced_name(run->series[i], what) != NULL && run->series[i]->step > step)
      step = run->series[i]->step;
  for (;; shown++, after = best, below = run->series[best]->value) {
    best = run->n_series;
    for (size_t i = 0; i < run->n_series; i++) {
      const watch_series *s = run->series[i];
      if (traced_name(s, what) == NULL || s->step != step) continue;
      if (!(s->value < below) && !(s->value <= below && i > after)) continue; /* shown already */
      if (best == run->n_series || s->value > run->series[best]->value) best = i;
    }
    if (best == run->n_series) break;
    const char *name = traced_name(run->series[best], what);
    used += width_of(name) + 10;
    if (columns > 0 && used > columns) break;
    fputs(shown == 0 ? title : ", ", screen);
    put_name(name, 0);
    if (what == of_time)
      fprintf(screen, " %.0f %%", 100 * run->series[best]->value);
    else
      put_bytes(run->series[best]->value);
  }
  if (shown > 0) fputc('\n', screen);
}

static void put_table(const watch *w) {
  int tags = tag_width(w);
  size_t shown = 0;
  if (columns > 0 && tags > columns / 3) tags = columns / 3;
  for (size_t i = 0; i < w->n_runs; i++) {
    const watch_run *run = w->runs[i];
    double rate = watch_rate(run);
    char when[40];
    if (run->n_series == 0) continue;
    shown++;
    put_name(run->name, columns > 0 ? columns / 2 : 0);
    ago(now() - run->wall_time, when, sizeof when);
    fprintf(screen, "  step %lld", (long long)run->step);
    put_rates(run, rate);
    fprintf(screen, "  %s\n", when);
    put_traced(run, "  most time: ", of_time);
    put_traced(run, "  most memory: ", of_memory);
    for (size_t k = 0; k < run->n_series; k++)
      if (is_shown(w, run->series[k])) put_series(run->series[k], tags);
  }
  for (size_t i = 0; i < w->n_files; i++) {
    if (w->files[i].fault == NULL) continue;
    fputs("! ", screen);
    put_name(w->files[i].fault, columns > 2 ? columns - 2 : 0);
    fputc('\n', screen);
  }
  if (shown == 0) fprintf(screen, "%zu event files, no scalars yet\n", w->n_files);
  if (w->out_of_memory) fputs("! memory is out: some values are missing\n", screen);
}

/* -------------------------------------------------------------------------------- the terminal */

static volatile sig_atomic_t stopped;
static void on_signal(int number) { stopped = number; }
static void on_resize(int number) { (void)number; }

/* Draws the part of the page from line `top` on that fits, and returns the first line that did:
 * scrolling ends with the page. */
static int draw(const watch *w, int top) {
  struct winsize size;
  int rows = 24, line = 0, lines = 0;
  char *page = NULL;
  size_t n = 0;
  columns = 80;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
    rows = size.ws_row;
    columns = size.ws_col;
  }
  screen = open_memstream(&page, &n);
  if (screen == NULL) return top;
  put_table(w);
  if (fclose(screen) != 0 || page == NULL) {
    free(page);
    return top;
  }
  for (const char *p = page; *p != 0; p++) lines += *p == '\n';
  if (top > lines - (rows - 1)) top = lines - (rows - 1);
  if (top < 0) top = 0;
  screen = stdout;
  fputs("\033[H\033[7m", stdout);
  int used =
      put_name("tfsdk watch ", columns) + put_name(w->folder, columns > 30 ? columns - 30 : 1);
  char text[32];
  snprintf(text, sizeof text, "  %zu run%s  q ends", w->n_runs, w->n_runs == 1 ? "" : "s");
  used += put_name(text, columns > used ? columns - used : 1);
  put_spaces(columns - used);
  fputs("\033[0m", stdout);
  for (const char *p = page; *p != 0 && line < top + rows - 1; line++) {
    const char *end = strchr(p, '\n');
    if (line >= top) {
      fputs("\r\n\033[K", stdout);
      fwrite(p, 1, (size_t)(end - p), stdout);
    }
    p = end + 1;
  }
  fputs("\033[J", stdout);
  fflush(stdout);
  free(page);
  return top;
}

/* What a key does to the first line shown; -1: end. */
static int on_keys(const char *key, ssize_t n, int top) {
  for (ssize_t i = 0; i < n; i++) {
    if (key[i] == 'q' || key[i] == 'Q' || key[i] == 4) return -1;
    if (key[i] == 'j') top++;
    if (key[i] == 'k') top--;
    if (key[i] == ' ') top += 20;
    if (key[i] == 'b') top -= 20;
    if (key[i] == 27 && i + 2 < n && key[i + 1] == '[') {
      char c = key[i + 2];
      top += c == 'B' ? 1 : c == 'A' ? -1 : c == '6' ? 20 : c == '5' ? -20 : 0;
      i += 2;
    }
    if (top < 0) top = 0;
  }
  return top;
}

static tfsdk_status *follow_on_terminal(watch *w, const options *o) {
  struct termios before, raw;
  int keys = tcgetattr(STDIN_FILENO, &before) == 0, top = 0;
  tfsdk_status *s = NULL;
  struct pollfd in = {STDIN_FILENO, POLLIN, 0};
  if (keys) {
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  fputs("\033[?1049h\033[?25l\033[2J", stdout);
  while (stopped == 0 && top >= 0) {
    if ((s = watch_update(w)) != NULL) break;
    double until = now() + o->interval;
    do { /* keys are answered at once, files looked at when it is time */
      top = draw(w, top);
      double left = until - now();
      if (left <= 0 || stopped != 0) break;
      if (poll(&in, keys ? 1 : 0, (int)(left * 1000) + 1) <= 0) continue;
      char key[32];
      ssize_t n = read(STDIN_FILENO, key, sizeof key);
      if (n <= 0) keys = 0; /* nobody types any more */
      if (n > 0 && memchr(key, 'r', (size_t)n) != NULL) until = 0;
      top = on_keys(key, n, top);
    } while (top >= 0 && until > now());
  }
  fputs("\033[?25h\033[?1049l", stdout);
  fflush(stdout);
  if (tcgetattr(STDIN_FILENO, &raw) == 0) tcsetattr(STDIN_FILENO, TCSANOW, &before);
  return s;
}

/* ------------------------------------------------------------------------------------- lines */

static void print_line(const watch_run *run, const watch_series *s) {
  put_name(run->name, 0);
  printf("\t%lld\t", (long long)s->step);
  put_name(s->tag, 0);
  printf("\t%.9g\n", isnan(s->value) ? (double)NAN : s->value); /* its sign says nothing */
}

/* What is there already is told by its latest values; from then on every value is a line. */
static tfsdk_status *follow_as_lines(watch *w, const options *o) {
  TFSDK_TRY(watch_update(w));
  for (size_t i = 0; i < w->n_runs; i++)
    for (size_t k = 0; k < w->runs[i]->n_series; k++)
      if (w->runs[i]->series[k]->count > 0) print_line(w->runs[i], w->runs[i]->series[k]);
  w->on_value = print_line;
  while (stopped == 0 && fflush(stdout) == 0) {
    (void)poll(NULL, 0, (int)(o->interval * 1000));
    TFSDK_TRY(watch_update(w));
  }
  return NULL;
}

/* ----------------------------------------------------------------------------------- the command */

static int wrong(const char *format, const char *what) {
  fprintf(stderr, "tfsdk: watch: ");
  fprintf(stderr, format, what);
  fprintf(stderr, "\n%s", usage);
  return PROGRAM_USAGE;
}

static int read_options(int argc, char **argv, options *o) {
  for (int i = 2; i < argc; i++) {
    const char *word = argv[i];
    char *end;
    if (strcmp(word, "--once") == 0) {
      o->once = 1;
    } else if (strcmp(word, "--interval") == 0 || strcmp(word, "--filter") == 0) {
      if (++i == argc) return wrong("%s needs a value", word);
      if (word[2] == 'f') {
        o->filter = argv[i];
        continue;
      }
      o->interval = strtod(argv[i], &end);
      if (*argv[i] == 0 || *end != 0 || !(o->interval >= 0.05) || o->interval > 3600)
        return wrong("the interval must be 0.05 to 3600 seconds, not '%s'", argv[i]);
    } else if (word[0] == '-' && word[1] != 0) {
      return wrong("unknown option '%s'", word);
    } else if (o->folder != NULL) {
      return wrong("one folder only, not '%s' too", word);
    } else {
      o->folder = word;
    }
  }
  return o->folder == NULL ? wrong("the folder is missing%s", "") : PROGRAM_DONE;
}

static int has_unicode(void) {
  const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *v = getenv(names[i]);
    if (v != NULL && v[0] != 0) return strstr(v, "UTF-8") != NULL || strstr(v, "utf8") != NULL;
  }
  return 0;
}

int program_watch(int argc, char **argv) {
  options o = {NULL, NULL, 1, 0};
  struct sigaction action;
  struct stat st;
  watch w;
  int rc = read_options(argc, argv, &o);
  if (rc != PROGRAM_DONE) return rc;
  if (o.once && (stat(o.folder, &st) != 0 || !S_ISDIR(st.st_mode))) {
    fprintf(stderr, "tfsdk: watch: '%s' is no folder\n", o.folder);
    return PROGRAM_SCRIPT_ERROR;
  }
  memset(&w, 0, sizeof w);
  w.folder = o.folder;
  w.filter = o.filter;
  unicode = has_unicode();
  screen = stdout;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_resize;
  sigaction(SIGWINCH, &action, NULL);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  tfsdk_status *s = tfsdk_runtime_create(NULL, &w.rt);
  if (s == NULL && o.once) {
    s = watch_update(&w);
    if (s == NULL) put_table(&w);
  } else if (s == NULL) {
    s = isatty(STDOUT_FILENO) ? follow_on_terminal(&w, &o) : follow_as_lines(&w, &o);
  }
  if (s != NULL) fprintf(stderr, "tfsdk: watch: %s\n", tfsdk_status_text(s));
  rc = s == NULL ? PROGRAM_DONE : PROGRAM_UNAVAILABLE;
  if (stopped != 0) rc = stopped == SIGTERM ? PROGRAM_SIGTERM : PROGRAM_SIGINT;
  tfsdk_status_release(s);
  watch_close(&w);
  tfsdk_runtime_release(w.rt);
  return rc;
}
