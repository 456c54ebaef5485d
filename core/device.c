/* Devices: names, drivers, memory with limits.
 *
 * "cpu:0" always exists, as bare host memory; its driver (threads, fast kernels) is attached when
 * the first kernel is looked for. Other devices are opened when somebody names them. */
#include "internal.h"
#include <ctype.h>
#include <unistd.h>

static uint64_t machine_memory(void) {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX / 2;
}

/* How many devices of a type the user declared ("cpu*2,tiny"): 0 when the type is not named, -1
 * when nothing was declared at all. */
static long declared(const tfsdk_runtime *rt, const char *type) {
  const char *p = rt->options.devices;
  long n = 0;
  if (p == NULL || *p == 0) return -1;
  while (*p != 0) {
    size_t len = strcspn(p, ",*:");
    if (len == strlen(type) && strncmp(p, type, len) == 0) {
      long count = p[len] == '*' ? strtol(p + len + 1, NULL, 10) : 1;
      long ordinal = p[len] == ':' ? strtol(p + len + 1, NULL, 10) + 1 : 0;
      if (count > n) n = count;
      if (ordinal > n) n = ordinal;
    }
    p += strcspn(p, ",");
    if (*p == ',') p++;
  }
  return n;
}

/* "cpu:1" from "/job:x/device:CPU:1", "gpu" (= cuda:0) and the like. */
static bool parse_name(const char *name, char type[32], uint32_t *ordinal) {
  const char *slash = strrchr(name, '/');
  const char *p = slash ? slash + 1 : name;
  if (strncmp(p, "device:", 7) == 0) p += 7;
  size_t n = strcspn(p, ":");
  if (n == 0 || n >= 32) return false;
  for (size_t i = 0; i < n; i++) type[i] = (char)tolower((unsigned char)p[i]);
  type[n] = 0;
  if (strcmp(type, "gpu") == 0) memcpy(type, "cuda", 5);
  *ordinal = 0;
  if (p[n] == ':') {
    char *end;
    unsigned long v = strtoul(p + n + 1, &end, 10);
    if (end == p + n + 1 || *end != 0 || v > 4096) return false;
    *ordinal = (uint32_t)v;
  }
  return true;
}

static const tfsdk__devtype *driver_of(tfsdk_runtime *rt, const char *type) {
  for (size_t i = 0; i < rt->devtypes.n; i++)
    if (strcmp(rt->devtypes.data[i]->def.type, type) == 0) return rt->devtypes.data[i];
  return NULL;
}

static void describe_bare_host(tfsdk__device *d) {
  d->info.struct_size = sizeof d->info;
  d->info.host_memory = 1;
  d->info.threads = 1;
  d->info.memory_total = machine_memory();
  snprintf(d->info.name, sizeof d->info.name, "host");
}

static tfsdk_status *open_driver(tfsdk__device *d) {
  tfsdk_runtime *rt = d->rt;
  const tfsdk__devtype *t = driver_of(rt, d->type);
  if (t == NULL) return NULL;
  tfsdk_devinfo info = {.struct_size = sizeof info};
  tfsdk_dev *dev;
  TFSDK_TRY(t->def.open(t->plugin->self, &t->plugin->host, d->ordinal, rt->threads, &dev));
  tfsdk_status *s = t->def.info(dev, &info);
  if (s != NULL) {
    if (t->def.close != NULL) t->def.close(dev);
    return s;
  }
  d->dev = dev;
  d->info = info;
  if (strcmp(d->type, "cpu") != 0) d->host_memory = info.host_memory != 0;
  atomic_store(&d->driver, t);
  return NULL;
}

tfsdk_status *tfsdk__device_attach(tfsdk__device *d) {
  tfsdk_status *s = NULL;
  if (d->attached) return NULL;
  pthread_mutex_lock(&d->rt->lock);
  if (!d->attached) {
    s = tfsdk__loader_provide_device(d->rt, d->type);
    if (s == NULL) s = open_driver(d);
    if (s == NULL)
      d->attached = true;
    else if (strcmp(d->type, "cpu") == 0) { /* the plain host always works */
      char line[512];
      snprintf(line, sizeof line, "%s runs without its driver: %s", d->name,
               tfsdk_status_message(s));
      tfsdk_runtime_log(d->rt, TFSDK_LOG_WARNING, line);
      tfsdk_status_release(s);
      s = NULL;
      d->attached = true;
    }
  }
  pthread_mutex_unlock(&d->rt->lock);
  return s;
}

/* How many devices of that type exist. */
static tfsdk_status *count_of(tfsdk_runtime *rt, const char *type, uint32_t *out) {
  long asked = declared(rt, type);
  bool cpu = strcmp(type, "cpu") == 0;
  *out = 0;
  if (cpu) {
    *out = asked > 1 ? (uint32_t)asked : 1;
    return NULL;
  }
  if (asked == 0) return NULL;
  TFSDK_TRY(tfsdk__loader_provide_device(rt, type));
  const tfsdk__devtype *t = driver_of(rt, type);
  if (t == NULL) return NULL;
  TFSDK_TRY(t->def.count(t->plugin->self, out));
  if (asked > 0 && (uint32_t)asked < *out) *out = (uint32_t)asked;
  return NULL;
}

typedef struct name_list {
  tfsdk_runtime *rt;
  tfsdk__buf text;
  int (*fn)(void *, const tfsdk_device_report *);
  void *user;
} name_list;

static int add_type_names(void *user, const char *type) {
  name_list *l = user;
  uint32_t n = 0;
  tfsdk_status_release(count_of(l->rt, type, &n));
  for (uint32_t i = 0; i < n; i++)
    tfsdk__buf_add(&l->text, "%s%s:%u", l->text.n ? ", " : "", type, i);
  return 0;
}

static int add_other_type_names(void *user, const char *type) {
  return strcmp(type, "cpu") == 0 ? 0 : add_type_names(user, type);
}

static tfsdk_status *no_such_device(tfsdk_runtime *rt, const char *name) {
  name_list l = {rt, {0}, NULL, NULL};
  add_type_names(&l, "cpu");
  tfsdk__loader_each(rt, "device", add_other_type_names, &l);
  tfsdk_status *s =
      tfsdk__status_make(TFSDK_NOT_FOUND, "there is no device '%s'; the devices are: %s", name,
                         l.text.s ? l.text.s : "none");
  tfsdk__buf_deinit(&l.text);
  return s;
}

static tfsdk_status *device_find(tfsdk_runtime *rt, const char *name, tfsdk__device **out) {
  char type[32];
  uint32_t ordinal, n;
  if (!parse_name(name, type, &ordinal))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "'%s' is not a device name (expected \"type:number\", as \"cpu:0\")",
                              name);
  for (size_t i = 0; i < rt->devices.n; i++) {
    tfsdk__device *d = rt->devices.data[i];
    if (d->ordinal == ordinal && strcmp(d->type, type) == 0) {
      *out = d;
      return NULL;
    }
  }
  TFSDK_TRY(count_of(rt, type, &n));
  if (ordinal >= n) return no_such_device(rt, name);
  if (!TFSDK__GROW(rt, &rt->devices, 1)) return TFSDK__NOMEM(rt);
  tfsdk__device *d = tfsdk__zalloc(rt, sizeof *d);
  if (d == NULL) return TFSDK__NOMEM(rt);
  d->rt = rt;
  d->ordinal = ordinal;
  memcpy(d->type, type, sizeof type);
  snprintf(d->name, sizeof d->name, "%s:%u", type, ordinal);
  if (strcmp(type, "cpu") == 0) {
    d->host_memory = true;
    describe_bare_host(d);
    d->limit = rt->options.memory_limit ? rt->options.memory_limit : machine_memory();
  } else {
    tfsdk_status *s = tfsdk__device_attach(d);
    if (s != NULL) {
      tfsdk__free(rt, d);
      return s;
    }
    d->limit = d->info.memory_total ? d->info.memory_total : UINT64_MAX / 2;
  }
  rt->devices.data[rt->devices.n++] = d;
  *out = d;
  return NULL;
}

tfsdk_status *tfsdk__device_find(tfsdk_runtime *rt, const char *name, tfsdk__device **out) {
  pthread_mutex_lock(&rt->lock);
  tfsdk_status *s = device_find(rt, name, out);
  pthread_mutex_unlock(&rt->lock);
  return s;
}

tfsdk__device *tfsdk__device_host(tfsdk_runtime *rt) { return rt->devices.data[0]; }

tfsdk_status *tfsdk_device_check(tfsdk_runtime *rt, const char *name) {
  tfsdk__device *d;
  return tfsdk__device_find(rt, name, &d);
}

static int report_type(void *user, const char *type) {
  name_list *l = user;
  uint32_t n = 0;
  int stop = 0;
  tfsdk_status *s = count_of(l->rt, type, &n);
  tfsdk_status_release(s);
  for (uint32_t i = 0; i < n && !stop; i++) {
    char name[48];
    tfsdk__device *d;
    tfsdk_device_report r = {0};
    snprintf(name, sizeof name, "%s:%u", type, i);
    s = device_find(l->rt, name, &d);
    if (s == NULL) s = tfsdk__device_attach(d);
    if (s != NULL) {
      tfsdk_status_release(s);
      continue;
    }
    if (d->driver != NULL) tfsdk_status_release(d->driver->def.info(d->dev, &d->info));
    r.name = d->name;
    r.model = d->info.name;
    r.details = d->info.details;
    r.threads = d->info.threads;
    tfsdk_runtime_memory(l->rt, d->name, &r.memory);
    stop = l->fn(l->user, &r);
  }
  return stop;
}

static int report_other_type(void *user, const char *type) {
  return strcmp(type, "cpu") == 0 ? 0 : report_type(user, type);
}

tfsdk_status *tfsdk_device_each(tfsdk_runtime *rt,
                                int (*fn)(void *user, const tfsdk_device_report *r), void *user) {
  name_list l = {rt, {0}, fn, user};
  pthread_mutex_lock(&rt->lock);
  if (!report_type(&l, "cpu")) tfsdk__loader_each(rt, "device", report_other_type, &l);
  pthread_mutex_unlock(&rt->lock);
  return NULL;
}

void tfsdk__device_deinit_all(tfsdk_runtime *rt) {
  for (size_t i = rt->devices.n; i-- > 0;) {
    tfsdk__device *d = rt->devices.data[i];
    if (d->dev != NULL && d->driver->def.close != NULL) d->driver->def.close(d->dev);
    tfsdk__free(rt, d);
  }
  tfsdk__free(rt, rt->devices.data);
  rt->devices.data = NULL;
  rt->devices.n = rt->devices.cap = 0;
}

/* --------------------------------------------------------------------------------------- memory */

tfsdk_status *tfsdk_runtime_set_memory_limit(tfsdk_runtime *rt, const char *device,
                                             uint64_t bytes) {
  tfsdk__device *d;
  TFSDK_TRY(tfsdk__device_find(rt, device, &d));
  d->limit = bytes;
  return NULL;
}

static tfsdk_status *exhausted(tfsdk__device *d, uint64_t bytes) {
  return tfsdk__status_make(
      TFSDK_RESOURCE_EXHAUSTED,
      "%s cannot give %llu bytes: %llu are in use of a limit of %llu bytes of memory", d->name,
      (unsigned long long)bytes, (unsigned long long)atomic_load(&d->in_use),
      (unsigned long long)d->limit);
}

static bool account(tfsdk__device *d, uint64_t bytes) {
  uint64_t now = atomic_fetch_add_explicit(&d->in_use, bytes, memory_order_relaxed) + bytes;
  if (now > d->limit) {
    atomic_fetch_sub(&d->in_use, bytes);
    return false;
  }
  uint64_t peak = atomic_load_explicit(&d->peak, memory_order_relaxed);
  while (now > peak && !atomic_compare_exchange_weak(&d->peak, &peak, now)) {}
  return true;
}

/* Memory within the device's limit. */
static tfsdk_status *take_memory(tfsdk__device *d, uint64_t bytes, void **out) {
  tfsdk_status *s = NULL;
  if (!account(d, bytes)) return exhausted(d, bytes);
  if (!d->host_memory)
    s = d->driver->def.slab_alloc(d->dev, TFSDK_HEAP_DEVICE, bytes, out);
  else
    *out = tfsdk__alloc(d->rt, bytes);
  if (s == NULL && *out != NULL) return NULL;
  atomic_fetch_sub(&d->in_use, bytes);
  return s != NULL ? s : exhausted(d, bytes);
}

tfsdk_status *tfsdk__buffer_create(tfsdk__device *d, uint64_t bytes, tfsdk__buffer **out) {
  tfsdk_runtime *rt = d->rt;
  tfsdk__buffer *b = tfsdk__zalloc(rt, sizeof *b);
  if (b == NULL) return TFSDK__NOMEM(rt);
  tfsdk_status *s = take_memory(d, bytes, &b->data);
  bool may_help = bytes <= d->limit && rt->options.reclaim != NULL && !tfsdk__thread_is_own;
  if (s != NULL && tfsdk_status_code(s) == TFSDK_RESOURCE_EXHAUSTED && may_help) {
    rt->options.reclaim(rt->options.reclaim_user);
    tfsdk_status_release(s);
    s = take_memory(d, bytes, &b->data);
  }
  if (s != NULL) {
    tfsdk__free(rt, b);
    return s;
  }
  atomic_init(&b->refs, 1);
  b->device = d;
  b->bytes = bytes;
  tfsdk__buffer_changed(b);
  *out = b;
  return NULL;
}

void tfsdk__buffer_changed(tfsdk__buffer *b) {
  tfsdk_runtime *rt = b->device->rt;
  atomic_store_explicit(&b->stamp,
                        atomic_fetch_add_explicit(&rt->next_stamp, 1, memory_order_relaxed) + 1,
                        memory_order_relaxed);
}

void tfsdk__buffer_release(tfsdk__buffer *b) {
  if (b == NULL || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
  tfsdk__device *d = b->device;
  if (b->release != NULL)
    b->release(b->user);
  else {
    if (d->host_memory)
      tfsdk__free(d->rt, b->data);
    else
      d->driver->def.slab_free(d->dev, TFSDK_HEAP_DEVICE, b->data, b->bytes);
    atomic_fetch_sub_explicit(&d->in_use, b->bytes, memory_order_relaxed);
  }
  tfsdk__free(d->rt, b);
}
