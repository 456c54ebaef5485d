/* http_test.c - what `tfsdk board` answers under /data/ is what was written.
 *
 *     http_test PROGRAM WRITE.lua DAMAGED
 *
 * WRITE.lua writes runs by formulas, which are repeated here. DAMAGED is a folder of damaged event
 * files. */
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.h"

#define STEPS 200

/* The loss of run i at each step, as write.lua makes it. */
static void losses(int i, float out[STEPS]) {
  static const double rates[] = {0.1, 0.01, 0.001, 0.03};
  long long state = i * 7919LL + 1;
  double rate = rates[i % 4];
  for (int step = 0; step < STEPS; step++) {
    state = (state * 1103515245LL + 12345) % 2147483648LL;
    double random = (double)state / 2147483648.0;
    out[step] = (float)(2 / (1 + step * rate) + 0.3 * (random - 0.5) / (1 + step / 50.0) + 0.1 * i);
  }
}

static void scalars(const board *b) {
  cJSON *m = get_json(b, "/data/scalars?tag=train/loss&run=trial_01&run=trial_03");
  check(cJSON_GetArraySize(at(m, "runs")) == 2, "two runs are asked for");
  for (int k = 0; k < 2; k++) {
    float want[STEPS];
    const cJSON *r = cJSON_GetArrayItem(at(m, "runs"), k), *value = at(r, "value");
    losses(k == 0 ? 1 : 3, want);
    check(cJSON_GetArraySize(value) == STEPS, "all points: %d", cJSON_GetArraySize(value));
    for (int i = 0; i < STEPS; i++) {
      check((float)item(value, i) == want[i], "run %d, step %d: %.9g, not %.9g", k, i,
            item(value, i), (double)want[i]);
      check(item(at(r, "step"), i) == i, "step %d", i);
      check(item(at(r, "wall"), i) == 1700000000 + 3600 * (k == 0 ? 1 : 3) + i * 0.5, "wall %d", i);
    }
  }
  cJSON_Delete(m);
  m = get_json(b, "/data/scalars?tag=odd&run=kinds");
  const cJSON *v = at(m, "runs.0.value");
  check(isnan(item(v, 0)) && item(v, 1) == HUGE_VAL && item(v, 2) == -HUGE_VAL, "NaN, infinities");
  check((float)item(v, 3) == 1e-40f && item(v, 4) == 0.5, "a denormal number, a half");
  check(item(v, 5) == 0 && signbit(item(v, 5)), "minus zero");
  cJSON_Delete(m);
}

/* The second life begins at step 60: each step is there once, as it was last. */
static void resumed(const board *b) {
  cJSON *m = get_json(b, "/data/scalars?tag=life&run=resumed");
  const cJSON *r = at(m, "runs.0");
  check(num(r, "count") == 120, "120 steps: %g", num(r, "count"));
  for (int i = 0; i < 120; i++)
    check(item(at(r, "step"), i) == i && item(at(r, "value"), i) == (i < 60 ? 1 : 2), "step %d: %g",
          i, item(at(r, "value"), i));
  cJSON_Delete(m);
}

/* Smoothed value i is the mean of the values up to i with weights w^(i-j) (1-w), divided by their sum. */
static void smoothing(const board *b) {
  cJSON *m = get_json(b, "/data/scalars?tag=train/loss&run=trial_00&smooth=0.9");
  float v[STEPS];
  losses(0, v);
  for (int i = 0; i < STEPS; i++) {
    double sum = 0, weights = 0;
    for (int j = 0; j <= i; j++) {
      sum += pow(0.9, i - j) * (double)v[j];
      weights += pow(0.9, i - j);
    }
    double got = item(at(m, "runs.0.smoothed"), i);
    check(fabs(got - sum / weights) < 1e-6, "smoothed %d: %.9g, not %.9g", i, got, sum / weights);
  }
  cJSON_Delete(m);
}

static void thinning(const board *b) {
  cJSON *whole = get_json(b, "/data/scalars?tag=train/loss&run=trial_02"),
        *few = get_json(b, "/data/scalars?tag=train/loss&run=trial_02&points=40"),
        *part = get_json(b, "/data/scalars?tag=train/loss&run=trial_02&from=100&to=110");
  double least[2] = {HUGE_VAL, HUGE_VAL}, most[2] = {-HUGE_VAL, -HUGE_VAL};
  const cJSON *lists[2] = {at(whole, "runs.0.value"), at(few, "runs.0.value")};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < cJSON_GetArraySize(lists[k]); i++) {
      least[k] = fmin(least[k], item(lists[k], i));
      most[k] = fmax(most[k], item(lists[k], i));
    }
  int n = cJSON_GetArraySize(lists[1]);
  check(n <= 40 && n >= 20, "40 points at most: %d", n);
  check(least[0] == least[1] && most[0] == most[1], "the extremes stay");
  check(num(few, "runs.0.count") == STEPS, "how many there were");
  check(item(at(few, "runs.0.step"), 0) == 0 && item(at(few, "runs.0.step"), n - 1) == STEPS - 1,
        "both ends stay");
  n = cJSON_GetArraySize(at(part, "runs.0.step"));
  check(n == 13 && item(at(part, "runs.0.step"), 0) == 99, "a part, and one more at each side: %d",
        n);
  cJSON_Delete(whole);
  cJSON_Delete(few);
  cJSON_Delete(part);
}

static void csv(const board *b) {
  answer a = http(b, "GET", "/data/scalars.csv?tag=train/loss&run=trial_00", NULL);
  float v[STEPS];
  char *line = a.body;
  losses(0, v);
  check(strcmp(a.type, "text/csv; charset=utf-8") == 0, "type %s", a.type);
  check(strncmp(line, "Wall time,Step,Value\r\n", 22) == 0, "head %.30s", line);
  for (int i = 0; i < STEPS; i++) {
    double wall = 0, value = 0;
    int step = -1;
    line = strchr(line, '\n') + 1;
    check(sscanf(line, "%lf,%d,%lf", &wall, &step, &value) == 3 && step == i &&
              (float)value == v[i] && wall == 1700000000 + i * 0.5,
          "line %d: %.60s", i, line);
  }
  check(strcmp(strchr(line, '\n'), "\n") == 0, "the end");
  answer_free(&a);
  a = http(b, "GET", "/data/scalars.csv?tag=odd", NULL);
  check(strstr(a.body, "Run,Wall time,Step,Value\r\nkinds,") != NULL, "runs named: %.60s", a.body);
  check(strstr(a.body, ",1,NaN\r\n") && strstr(a.body, ",2,Infinity\r\n"), "NaN in CSV: %s",
        a.body);
  answer_free(&a);
}

static void histograms(const board *b) {
  cJSON *m = get_json(b, "/data/histograms?run=kinds&tag=layer1/weights");
  const cJSON *steps = at(m, "steps"), *s;
  check(cJSON_GetArraySize(steps) == 20, "20 steps");
  cJSON_ArrayForEach(s, steps) {
    double sum = 0;
    int n = cJSON_GetArraySize(at(s, "count"));
    for (int i = 0; i < n; i++) {
      sum += item(at(s, "count"), i);
      check(item(at(s, "left"), i) <= item(at(s, "right"), i), "edges");
      check(i == 0 || item(at(s, "left"), i) == item(at(s, "right"), i - 1), "no gaps");
    }
    check(sum == 400, "400 values: %g", sum);
    for (int i = 1; i < 9; i++)
      check(item(at(s, "percentiles"), i) >= item(at(s, "percentiles"), i - 1), "in order");
    check(item(at(s, "percentiles"), 0) == item(at(s, "left"), 0) &&
              item(at(s, "percentiles"), 8) == item(at(s, "right"), n - 1),
          "the first and the last percentile are the ends");
    /* the mean of write.lua's values is step / 100, their spread at most 1 */
    check(fabs(item(at(s, "percentiles"), 4) - num(s, "step") / 100) < 0.25, "the median");
  }
  cJSON_Delete(m);
}

static void media(const board *b) {
  cJSON *m = get_json(b, "/data/media?kind=images&run=kinds&tag=input/image/0");
  check(num(m, "samples") == 1 && num(m, "width") == 16 && num(m, "height") == 16, "16 x 16");
  check(num(m, "steps.19.step") == 190, "20 steps");
  cJSON_Delete(m);
  answer a = http(b, "GET", "/data/blob?kind=images&run=kinds&tag=input/image/0&step=190", NULL);
  check(strcmp(a.type, "image/png") == 0 && a.n > 60 && memcmp(a.body, "\x89PNG", 4) == 0,
        "a picture: %s", a.type);
  answer_free(&a);
  a = http(b, "GET", "/data/blob?kind=audio&run=kinds&tag=tone/audio&step=1", NULL);
  check(strcmp(a.type, "audio/wav") == 0 && a.n == 44 + 2 * 800, "a sound: %s, %zu", a.type, a.n);
  answer_free(&a);
  m = get_json(b, "/data/text?run=kinds&tag=notes");
  check(strncmp(str(m, "steps.0.text.0"), "## Setup\nTwo layers, **dropout**", 30) == 0, "text");
  cJSON_Delete(m);
  m = get_json(b, "/data/text?run=kinds&tag=table");
  check(num(m, "steps.0.shape.0") == 2 && num(m, "steps.0.shape.1") == 2 &&
            strcmp(str(m, "steps.0.text.3"), "4x3") == 0,
        "a table");
  cJSON_Delete(m);
}

static const cJSON *named(const cJSON *list, const char *key, const char *name) {
  const cJSON *x;
  cJSON_ArrayForEach(x, list) if (strcmp(str(x, key), name) == 0) return x;
  return NULL;
}

static void graph(const board *b) {
  cJSON *m = get_json(b, "/data/graph?run=kinds");
  const cJSON *n = named(at(m, "nodes"), "name", "layer1/MatMul");
  check(strcmp(str(n, "op"), "MatMul") == 0 && strcmp(str(n, "inputs.0"), "x") == 0, "a node");
  check(num(n, "shapes.0.0") == -1 && num(n, "shapes.0.1") == 128, "its shape");
  check(strcmp(str(n, "attributes.T"), "float32") == 0 &&
            strcmp(str(n, "attributes.transpose_b"), "false") == 0,
        "its attributes: %s %s", str(n, "attributes.T"), str(n, "attributes.transpose_b"));
  cJSON_Delete(m);
}

static void hparams(const board *b) {
  cJSON *m = get_json(b, "/data/hparams");
  const cJSON *s = named(at(m, "sessions"), "run", "trial_03");
  float v[STEPS];
  losses(3, v);
  check(cJSON_GetArraySize(at(m, "sessions")) == 5, "five sessions");
  check(num(s, "hparams.rate") == 0.03 && num(s, "hparams.units") == 8 &&
            strcmp(str(s, "hparams.optimizer"), "sgd") == 0,
        "their values");
  check(strcmp(str(s, "status"), "failure") == 0 && num(s, "started") == 1003 &&
            num(s, "ended") == 2003 && strcmp(str(s, "group"), "trial_03") == 0,
        "their ends");
  const cJSON *loss = cJSON_GetObjectItem(at(s, "metrics"), "train/loss");
  check(loss != NULL && (float)loss->valuedouble == v[STEPS - 1], "the latest value of a metric");
  check(strcmp(str(m, "experiments.0.hparam_names.1"), "units") == 0 &&
            strcmp(str(m, "experiments.0.metric_names.0.tag"), "train/accuracy") == 0,
        "the experiment");
  cJSON_Delete(m);
}

/* Counts at threshold 0 are all of a class; precision and recall follow from the counts. */
static void curves(const board *b) {
  cJSON *m = get_json(b, "/data/pr_curves?run=kinds&tag=classes/digits");
  const cJSON *s;
  check(cJSON_GetArraySize(at(m, "steps")) == 20, "20 steps");
  cJSON_ArrayForEach(s, at(m, "steps")) {
    check(num(s, "true_positives.0") == 100 && num(s, "false_positives.0") == 100, "at 0");
    for (int i = 0; i < 51; i++) {
      double tp = item(at(s, "true_positives"), i), fp = item(at(s, "false_positives"), i),
             tn = item(at(s, "true_negatives"), i), fn = item(at(s, "false_negatives"), i);
      check(tp + fn == 100 && fp + tn == 100, "sums");
      check(fabs(item(at(s, "precision"), i) - tp / fmax(tp + fp, 1e-7)) < 1e-6, "precision");
      check(fabs(item(at(s, "recall"), i) - tp / fmax(tp + fn, 1e-7)) < 1e-6, "recall");
    }
  }
  cJSON_Delete(m);
}

/* Three groups of 50 points in eight dimensions: two axes hold nearly all, and within a group the
 * points are nearer to each other than to others. */
static void projector(const board *b) {
  cJSON *m = get_json(b, "/data/projector"),
        *p = get_json(b, "/data/projector/points?run=kinds&name=words");
  double center[3][2] = {{0}}, far = 0;
  check(strcmp(str(m, "embeddings.0.name"), "words") == 0, "it is listed");
  check(num(p, "rows") == 150 && num(p, "columns") == 8, "150 points");
  check(num(p, "variance.0") + num(p, "variance.1") > 0.9, "two axes");
  check(num(p, "variance.0") >= num(p, "variance.1"), "the greater one first");
  for (int i = 0; i < 150; i++)
    for (int k = 0; k < 2; k++)
      center[i % 3][k] += item(cJSON_GetArrayItem(at(p, "points"), i), k) / 50;
  for (int i = 0; i < 150; i++)
    far = fmax(far, hypot(item(cJSON_GetArrayItem(at(p, "points"), i), 0) - center[i % 3][0],
                          item(cJSON_GetArrayItem(at(p, "points"), i), 1) - center[i % 3][1]));
  double apart = hypot(center[0][0] - center[1][0], center[0][1] - center[1][1]);
  check(fabs(apart - 3 * sqrt(2)) < 0.3 && far < 1, "groups: %g apart, %g wide", apart, far);
  check(strcmp(str(p, "metadata_columns.1"), "group") == 0 &&
            strcmp(str(p, "metadata.149.0"), "word149") == 0,
        "labels");
  cJSON_Delete(m);
  cJSON_Delete(p);
}

static void profile(const board *b) {
  cJSON *m = get_json(b, "/data/profile?run=kinds&tag=step%20100"),
        *list = get_json(b, "/data/profiles?run=kinds");
  const cJSON *n = named(at(m, "devices.0.nodes"), "name", "layer2/MatMul");
  check(strcmp(str(list, "profiles.0.tag"), "step 100") == 0, "it is listed");
  /* three ops before it: 410, 70 and 70 microseconds; it starts 2 behind that */
  check(num(n, "begin") == 552 && num(n, "took") == 400 && num(n, "outputs.0.bytes") == 32 * 64 * 4,
        "a node: %g %g", num(n, "begin"), num(n, "took"));
  check(num(n, "outputs.0.shape.1") == 64 && strcmp(str(n, "outputs.0.type"), "float32") == 0,
        "its output");
  cJSON_Delete(m);
  cJSON_Delete(list);
}

static void refusals(const board *b) {
  static const struct {
    const char *path;
    int status;
    const char *part;
  } cases[] = {
      {"/data/scalars", 400, "'tag' is missing"},
      {"/data/scalars?tag=train/loss&run=nobody", 404, "no run 'nobody'"},
      {"/data/scalars?tag=train/loss&points=many", 400, "points must be a number"},
      {"/data/scalars?tag=train/loss&points=1e99", 400, "points must be a number"},
      {"/data/scalars?tag=train/loss&smooth=1", 400, "smooth must be a number"},
      {"/data/scalars?tag=train/loss&smooth=nan", 400, "smooth must be a number"},
      {"/data/scalars?tag=train/loss&x=time", 400, "step, relative or wall"},
      {"/data/histograms?run=kinds&tag=train/loss", 404, "has no histograms 'train/loss'"},
      {"/data/histograms?run=kinds", 400, "'tag' is missing"},
      {"/data/media?kind=movies&run=kinds&tag=x", 400, "images or audio"},
      {"/data/blob?kind=images&run=kinds&tag=input/image/0&step=7", 404, "nothing of step 7"},
      {"/data/blob?kind=images&run=kinds&tag=input/image/0&step=190&sample=3", 404, "1 samples"},
      {"/data/graph?run=trial_00", 404, "has no graph"},
      {"/data/index?since=x", 400, "since must be a number"},
      {"/data/projector/points?run=kinds&name=none", 404, "no embedding 'none'"},
      {"/data/projector/points?run=kinds&name=outside", 403, "not below the log folder"},
      {"/data/nothing", 404, "nothing at '/data/nothing'"},
      {"/../../../../etc/passwd", 404, "nothing at"},
      {"/%2e%2e/%2e%2e/etc/passwd", 404, "nothing at"},
      {"/data/../../etc/passwd", 404, "nothing at"},
      {"/page.c", 404, "nothing at"},
      {"//etc/passwd", 404, "nothing at"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    answer a = http(b, "GET", cases[i].path, NULL);
    check(a.status == cases[i].status && strstr(a.body, cases[i].part) != NULL,
          "%s: %d %s, not %d ... %s", cases[i].path, a.status, a.body, cases[i].status,
          cases[i].part);
    check(strcmp(a.type, "application/json") == 0, "%s: type %s", cases[i].path, a.type);
    answer_free(&a);
  }
  answer a = http(b, "POST", "/data/index", NULL);
  check(a.status == 405, "POST: %d", a.status);
  answer_free(&a);
  a = http(b, "GET", "/data/index", "Host: attacker.example:6006\r\n");
  check(a.status == 403 && strstr(a.body, "localhost only") != NULL, "another host: %d", a.status);
  answer_free(&a);
  a = http(b, "GET", "/data/index", "Host: 127.0.0.1.attacker.example\r\n");
  check(a.status == 403, "a host that begins as ours: %d", a.status);
  answer_free(&a);
  a = http(b, "GET", "/", NULL);
  check(a.status == 200 && strcmp(a.type, "text/html; charset=utf-8") == 0, "the page");
  answer_free(&a);
  a = http(b, "GET", "/dagre-licence.txt", NULL);
  check(a.status == 200 && strstr(a.body, "Chris Pettitt") != NULL, "the licence");
  answer_free(&a);
}

static bool has_run(const board *b, const char *name, double *out_step) {
  cJSON *m = get_json(b, "/data/index");
  const cJSON *r = named(at(m, "runs"), "name", name);
  *out_step = r != NULL ? num(r, "step") : -1;
  cJSON_Delete(m);
  return r != NULL;
}

static bool wait_for(const board *b, const char *name, double step) {
  for (int i = 0; i < 100; i++) {
    double now;
    if (has_run(b, name, &now) && now >= step) return true;
    usleep(50000);
  }
  return false;
}

static bool wait_until_loaded(const board *b) {
  for (int i = 0; i < 200; i++) {
    cJSON *m = get_json(b, "/data/index");
    bool loaded = cJSON_IsTrue(at(m, "loaded"));
    cJSON_Delete(m);
    if (loaded) return true;
    usleep(50000);
  }
  return false;
}

static void remove_folder(const char *folder, const char *name) {
  char line[4096];
  snprintf(line, sizeof line, "rm -rf '%s/%s'", folder, name);
  check(system(line) == 0, "%s", line);
}

/* A file that comes, grows byte by byte, and is damaged behind: what is whole is shown. */
static void news(const board *b, const char *folder) {
  char path[1024];
  glob_t found;
  double step;
  snprintf(path, sizeof path, "%s/trial_00/events.out.*", folder);
  if (glob(path, 0, NULL, &found) != 0) {
    check(false, "no event file");
    return;
  }
  snprintf(path, sizeof path, "%s/late", folder);
  check(mkdir(path, 0777) == 0, "a folder");
  snprintf(path, sizeof path, "%s/late/events.out.tfevents.1.x", folder);
  FILE *in = fopen(found.gl_pathv[0], "rb"), *out = fopen(path, "wb");
  globfree(&found);
  if (in == NULL || out == NULL) {
    check(false, "no copy");
    return;
  }
  for (int c, i = 0; (c = fgetc(in)) != EOF; i++) {
    fputc(c, out);
    if (i == 9000) { /* somewhere within a record */
      fflush(out);
      check(wait_for(b, "late", 1), "half of it is read");
      cJSON *m = get_json(b, "/data/index");
      check(cJSON_GetArraySize(at(m, "faults")) == 0, "half a record is no fault");
      cJSON_Delete(m);
    }
  }
  fflush(out);
  check(wait_for(b, "late", STEPS - 1), "all of it is read");
  fputs("this is no record at all, and long enough to be read as one", out);
  fclose(out);
  fclose(in);
  bool told = false;
  for (int i = 0; i < 60 && !told; i++) {
    cJSON *m = get_json(b, "/data/index");
    told = strcmp(str(m, "faults.0.run"), "late") == 0;
    cJSON_Delete(m);
    usleep(50000);
  }
  check(told, "the damage is told");
  check(has_run(b, "late", &step) && step == STEPS - 1, "what came before it stays");
  remove_folder(folder, "late");
  for (int i = 0; i < 60 && has_run(b, "late", &step); i++) usleep(50000);
  check(!has_run(b, "late", &step), "a run that was removed goes");
}

int main(int argc, char **argv) {
  char folder[] = "/tmp/board_http_XXXXXX", line[4096];
  board b;
  double step;
  if (argc < 4 || mkdtemp(folder) == NULL) return 2;
  snprintf(line, sizeof line, "'%s' run '%s' %s && cp -r '%s' %s/damaged", argv[1], argv[2], folder,
           argv[3], folder);
  if (system(line) != 0) return 1;
  board_start(&b, argv[1], folder);
  check(wait_until_loaded(&b), "the runs are read");
  /* the monitor's steps go to 2000: they are no steps of the run */
  bool there = has_run(&b, "kinds", &step);
  check(there && step == 190, "the run's step: %g", step);
  for (int i = 0; i < 4; i++) {
    snprintf(line, sizeof line, "trial_%02d", i);
    check(wait_for(&b, line, STEPS - 1), "%s", line);
  }
  check(has_run(&b, "damaged/flip", &step), "a damaged one is among them");
  scalars(&b);
  resumed(&b);
  smoothing(&b);
  thinning(&b);
  csv(&b);
  histograms(&b);
  media(&b);
  graph(&b);
  hparams(&b);
  curves(&b);
  projector(&b);
  profile(&b);
  refusals(&b);
  remove_folder(folder, "damaged");
  usleep(400000);
  news(&b, folder);
  check(board_stop(&b, SIGTERM) == 143, "SIGTERM ends it");
  remove_folder(folder, "");
  printf("%s\n", failures == 0 ? "ok" : "FAILED");
  return failures != 0;
}
