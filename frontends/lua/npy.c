/* npy.c - NumPy's .npy files.
 *
 * Format: numpy/lib/format.py. Nothing is allocated by what a header claims before the file is known
 * to hold that much.
 */
#include "module.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *code; /* kind and size */
  int32_t dtype;
} codes[] = {{"f4", TFSDK_FLOAT32},   {"f8", TFSDK_FLOAT64},    {"f2", TFSDK_FLOAT16},
             {"i1", TFSDK_INT8},      {"i2", TFSDK_INT16},      {"i4", TFSDK_INT32},
             {"i8", TFSDK_INT64},     {"u1", TFSDK_UINT8},      {"u2", TFSDK_UINT16},
             {"u4", TFSDK_UINT32},    {"u8", TFSDK_UINT64},     {"b1", TFSDK_BOOL},
             {"c8", TFSDK_COMPLEX64}, {"c16", TFSDK_COMPLEX128}};

typedef struct npy {
  int32_t dtype;
  int swap, fortran;
  size_t string_bytes; /* of an element of '|S5' */
  tfsdk_shape shape;
  const char *data;
  size_t bytes;
} npy;

/* --------------------------------------------------------------------------------------- reading
 * bytes */

/* The whole file as a Lua string on the stack: memory that the collector owns. */
static const char *push_file(lua_State *L, tl_state *st, const char *path, size_t *out_n) {
  luaL_Stream *box;
  luaL_Buffer b;
  /* a Lua file handle closes itself when something raises */
  lua_getglobal(L, "io");
  lua_getfield(L, -1, "open");
  lua_remove(L, -2);
  lua_pushstring(L, path);
  lua_pushliteral(L, "rb");
  lua_call(L, 2, 2);
  box = (luaL_Stream *)luaL_testudata(L, -2, LUA_FILEHANDLE);
  if (box == NULL || box->closef == NULL) { /* io.open's text names the path and the cause */
    const char *why = lua_tostring(L, -1);
    tl_fail_code(L, st, TFSDK_NOT_FOUND, NULL, "%s", why != NULL ? why : path);
    return NULL;
  }
  lua_pop(L, 1);
  luaL_buffinit(L, &b);
  for (;;) {
    char *part = luaL_prepbuffsize(&b, 1 << 16);
    size_t n = fread(part, 1, 1 << 16, box->f);
    luaL_addsize(&b, n);
    if (n == 0) break;
  }
  luaL_pushresult(&b);
  lua_getfield(L, -2, "close");
  lua_pushvalue(L, -3);
  lua_call(L, 1, 0);
  lua_remove(L, -2);
  return lua_tolstring(L, -1, out_n);
}

static int bad(lua_State *L, tl_state *st, const char *path, const char *what) {
  return tl_fail_code(L, st, TFSDK_DATA_LOSS, NULL, "%s: %s", path, what);
}

/* The value of 'key' in the header, which is a Python dictionary: after the colon. */
static const char *find_key(const char *header, const char *key) {
  size_t n = strlen(key);
  for (const char *p = header; (p = strstr(p, key)) != NULL; p += n) {
    char quote = p > header ? p[-1] : 0;
    const char *q = p + n;
    if ((quote != '\'' && quote != '"') || *q != quote) continue;
    q++;
    q += strspn(q, " \t\n");
    if (*q != ':') continue;
    q++;
    return q + strspn(q, " \t\n");
  }
  return NULL;
}

static void read_descr(lua_State *L, tl_state *st, const char *path, const char *descr, npy *out) {
  char text[16];
  size_t n;
  if (*descr != '\'' && *descr != '"') bad(L, st, path, "records are not supported");
  descr++;
  n = strcspn(descr, "'\"");
  if (n >= sizeof text || n < 2) bad(L, st, path, "the header is damaged (descr)");
  memcpy(text, descr, n);
  text[n] = 0;
  out->swap = text[0] == '>' && text[2] != '1';
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    if (strcmp(text + 1, codes[i].code) != 0) continue;
    out->dtype = codes[i].dtype;
    return;
  }
  if (text[1] == 'S') {
    out->dtype = TFSDK_STRING;
    out->string_bytes = strtoul(text + 2, NULL, 10);
    return;
  }
  tl_fail_code(L, st, TFSDK_UNIMPLEMENTED, NULL, "%s: elements of type '%s' cannot be read", path,
               text);
}

static void read_header(lua_State *L, tl_state *st, const char *path, const char *file, size_t n,
                        npy *out) {
  size_t at, length;
  const unsigned char *u = (const unsigned char *)file;
  const char *header, *p;
  memset(out, 0, sizeof *out);
  if (n < 10 || memcmp(file, "\x93NUMPY", 6) != 0) bad(L, st, path, "this is no .npy file");
  if (u[6] == 1) {
    length = (size_t)u[8] | (size_t)u[9] << 8;
    at = 10;
  } else if ((u[6] == 2 || u[6] == 3) && n >= 12) {
    length = (size_t)u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16 | (size_t)u[11] << 24;
    at = 12;
  } else {
    bad(L, st, path, "unknown version of the .npy format");
    return;
  }
  if (length > n - at) bad(L, st, path, "the file ends inside its header");
  lua_pushlstring(L, file + at, length); /* NUL-ended */
  header = lua_tostring(L, -1);
  p = find_key(header, "descr");
  if (p == NULL) bad(L, st, path, "the header has no 'descr'");
  read_descr(L, st, path, p, out);
  p = find_key(header, "fortran_order");
  if (p == NULL) bad(L, st, path, "the header has no 'fortran_order'");
  out->fortran = strncmp(p, "True", 4) == 0;
  p = find_key(header, "shape");
  if (p == NULL || *p != '(') {
    bad(L, st, path, "the header has no 'shape'");
    return;
  }
  for (p++;;) {
    char *end;
    long long extent;
    p += strspn(p, " ,\t\n");
    if (*p == ')') break;
    extent = strtoll(p, &end, 10);
    if (end == p || extent < 0) bad(L, st, path, "the header is damaged (shape)");
    if (out->shape.rank == TFSDK_MAX_RANK) bad(L, st, path, "the rank is above 12");
    out->shape.dim[out->shape.rank++] = extent;
    p = *end == 'L' ? end + 1 : end;
  }
  lua_pop(L, 1);
  out->data = file + at + length;
  out->bytes = n - at - length;
}

static void copy_swapped(char *to, const char *from, size_t size, int swap) {
  if (!swap) {
    memcpy(to, from, size);
    return;
  }
  for (size_t i = 0; i < size; i++) to[i] = from[size - 1 - i];
}

/* Pushes the tensor of a file's bytes. */
static void push_npy(lua_State *L, tl_state *st, const char *path, const char *file, size_t n) {
  npy h;
  int64_t elements;
  size_t size;
  tl_tensor *box;
  tfsdk_tensor *t = NULL;
  void *data;
  read_header(L, st, path, file, n, &h);
  elements = tfsdk_shape_elements(&h.shape);
  size = h.dtype == TFSDK_STRING ? h.string_bytes : tfsdk_dtype_size(h.dtype);
  if (elements < 0 || (size > 0 && (uint64_t)elements > h.bytes / size)) {
    bad(L, st, path, "the file is shorter than its header says");
    return;
  }
  box = tl_push_box(L, st);
  if (h.dtype == TFSDK_STRING) {
    const char **strings =
        (const char **)lua_newuserdatauv(L, (size_t)(elements + 1) * sizeof *strings, 0);
    size_t *lengths = (size_t *)lua_newuserdatauv(L, (size_t)(elements + 1) * sizeof *lengths, 0);
    for (int64_t i = 0; i < elements; i++) {
      strings[i] = h.data + (size_t)i * size;
      lengths[i] = size;
      while (lengths[i] > 0 && strings[i][lengths[i] - 1] == 0) lengths[i]--;
    }
    tl_check(L, st,
             tfsdk_tensor_create_strings(tl_runtime(L, st), (uint32_t)h.shape.rank, h.shape.dim,
                                         strings, lengths, &t));
    tl_fill_box(L, st, box, t);
    lua_pop(L, 2);
    return;
  }
  tl_check(L, st,
           tfsdk_tensor_create_empty(tl_runtime(L, st), h.dtype, (uint32_t)h.shape.rank,
                                     h.shape.dim, &data, &t));
  tl_fill_box(L, st, box, t);
  if (!h.fortran || h.shape.rank < 2) {
    if (!h.swap) {
      if (elements > 0) memcpy(data, h.data, (size_t)elements * size);
      return;
    }
    for (int64_t i = 0; i < elements; i++)
      copy_swapped((char *)data + (size_t)i * size, h.data + (size_t)i * size, size, 1);
    return;
  }
  for (int64_t i = 0; i < elements; i++) { /* the first axis varies fastest in the file */
    int64_t rest = i, to = 0, stride = 1;
    int64_t index[TFSDK_MAX_RANK];
    for (int32_t a = 0; a < h.shape.rank; a++) {
      index[a] = rest % h.shape.dim[a];
      rest /= h.shape.dim[a];
    }
    for (int32_t a = h.shape.rank - 1; a >= 0; a--) {
      to += index[a] * stride;
      stride *= h.shape.dim[a];
    }
    copy_swapped((char *)data + (size_t)to * size, h.data + (size_t)i * size, size, h.swap);
  }
}

static int read_npy(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *file;
  size_t n = 0;
  file = push_file(L, st, path, &n);
  push_npy(L, st, path, file, n);
  return 1;
}

/* -------------------------------------------------------------------------------------------
 * writing */

/* Pushes the .npy bytes of the tensor at an index. */
static void push_npy_bytes(lua_State *L, tl_state *st, int at) {
  tfsdk_view v;
  luaL_Buffer b;
  char header[512];
  const char *code = NULL;
  size_t n, size;
  tl_check(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, at), &v));
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
    if (codes[i].dtype == v.dtype) code = codes[i].code;
  if (code == NULL) {
    tl_fail(L, st, "write", "a tensor of type %s cannot be written as .npy",
            tfsdk_dtype_name(v.dtype));
    return;
  }
  size = tfsdk_dtype_size(v.dtype);
  n = (size_t)snprintf(header, sizeof header,
                       "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                       size == 1 ? '|' : '<', code);
  for (int i = 0; i < v.rank; i++)
    n += (size_t)snprintf(header + n, sizeof header - n, "%lld%s", (long long)v.dim[i],
                          i + 1 < v.rank ? ", "
                          : v.rank == 1  ? ","
                                         : "");
  n += (size_t)snprintf(header + n, sizeof header - n, "), }");
  while ((n + 11) % 64 != 0) header[n++] = ' ';
  header[n++] = '\n';
  luaL_buffinit(L, &b);
  luaL_addlstring(&b, "\x93NUMPY\1\0", 8);
  luaL_addchar(&b, (char)(n & 255));
  luaL_addchar(&b, (char)(n >> 8));
  luaL_addlstring(&b, header, n);
  luaL_addlstring(&b, (const char *)v.data, (size_t)v.n_elem * size);
  luaL_pushresult(&b);
}

const char *tl_push_file(lua_State *L, tl_state *st, const char *path, size_t *out_n) {
  return push_file(L, st, path, out_n);
}

/* tf.write_npy(path, tensor) */
static int write_npy(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *bytes;
  size_t n;
  push_npy_bytes(L, st, 2);
  bytes = lua_tolstring(L, -1, &n);
  tl_write_file(L, st, "write", path, bytes, n);
  return 0;
}

void tl_open_npy(lua_State *L, tl_state *st) {
  static const luaL_Reg functions[] = {
      {"read_npy", read_npy}, {"write_npy", write_npy}, {NULL, NULL}};
  tl_add_public(L, st, functions);
}
