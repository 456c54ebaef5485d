/* npy.c - NumPy's .npy files, and .npz archives of them (stored or deflated).
 *
 * Format: numpy/lib/format.py and the .ZIP application note. Nothing is allocated by what a header
 * claims before the file is known to hold that much.
 */
#include "module.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

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

/* -----------------------------------------------------------------------------------------------
 * npz */

static uint32_t u16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32(const unsigned char *p) { return u16(p) | u16(p + 2) << 16; }

/* Inflates a member into a Lua string: on the stack. */
static const char *push_inflated(lua_State *L, tl_state *st, const char *path, const char *from,
                                 size_t n, size_t out_n) {
  luaL_Buffer b;
  z_stream z;
  size_t made = 0;
  int rc = Z_OK;
  memset(&z, 0, sizeof z);
  luaL_buffinit(L, &b);
  if (inflateInit2(&z, -15) != Z_OK) bad(L, st, path, "cannot start zlib");
  z.next_in = (Bytef *)(uintptr_t)from;
  z.avail_in = (uInt)n;
  while (rc == Z_OK && made <= out_n) {
    char chunk[16384];
    z.next_out = (Bytef *)chunk;
    z.avail_out = sizeof chunk;
    rc = inflate(&z, Z_NO_FLUSH);
    if (rc != Z_OK && rc != Z_STREAM_END) break;
    luaL_addlstring(&b, chunk, sizeof chunk - z.avail_out);
    made += sizeof chunk - z.avail_out;
    if (rc == Z_OK && z.avail_out == sizeof chunk && z.avail_in == 0) break;
  }
  inflateEnd(&z);
  luaL_pushresult(&b);
  if (rc != Z_STREAM_END || made != out_n) bad(L, st, path, "a compressed member is damaged");
  return lua_tostring(L, -1);
}

/* tf.read_npz(path): a table of tensors by name. */
static int read_npz(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *file;
  const unsigned char *u;
  size_t n = 0, end, at;
  uint32_t count;
  file = push_file(L, st, path, &n);
  u = (const unsigned char *)file;
  if (n < 22) return bad(L, st, path, "this is no .npz file");
  for (end = n - 22; memcmp(u + end, "PK\5\6", 4) != 0; end--)
    if (end == 0 || n - end > 65600) return bad(L, st, path, "this is no .npz file");
  count = u16(u + end + 10);
  at = u32(u + end + 16);
  lua_newtable(L);
  for (uint32_t i = 0; i < count; i++) {
    size_t packed, plain, name_n, local, data;
    uint32_t method;
    const char *name;
    if (at > n || n - at < 46 || memcmp(u + at, "PK\1\2", 4) != 0)
      return bad(L, st, path, "the archive's directory is damaged");
    method = u16(u + at + 10);
    packed = u32(u + at + 20);
    plain = u32(u + at + 24);
    name_n = u16(u + at + 28);
    local = u32(u + at + 42);
    if (n - at - 46 < name_n || local > n || n - local < 30)
      return bad(L, st, path, "the archive's directory is damaged");
    name = file + at + 46;
    data = local + 30 + u16(u + local + 26) + u16(u + local + 28);
    if (packed == 0xffffffffu || plain == 0xffffffffu)
      return bad(L, st, path, "members above 4 GB are not supported");
    if (data > n || packed > n - data) return bad(L, st, path, "a member is cut off");
    lua_pushlstring(L, name,
                    name_n > 4 && memcmp(name + name_n - 4, ".npy", 4) == 0 ? name_n - 4 : name_n);
    if (method == 0) {
      push_npy(L, st, path, file + data, packed);
    } else if (method == 8) {
      const char *text = push_inflated(L, st, path, file + data, packed, plain);
      push_npy(L, st, path, text, plain);
      lua_remove(L, -2);
    } else {
      return bad(L, st, path, "a member uses a method of compression other than deflate");
    }
    lua_rawset(L, -3);
    at += 46 + name_n + u16(u + at + 30) + u16(u + at + 32);
  }
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

/* Writes beside the file and renames, so that a failure leaves what was there. */
void tl_write_file(lua_State *L, tl_state *st, const char *path, const char *bytes, size_t n) {
  FILE *f;
  int ok;
  lua_pushfstring(L, "%s.tmp", path);
  f = fopen(lua_tostring(L, -1), "wb");
  if (f == NULL) {
    tl_fail_code(L, st, TFSDK_NOT_FOUND, NULL, "%s: the file cannot be written: %s", path,
                 strerror(errno));
    return;
  }
  ok = fwrite(bytes, 1, n, f) == n;
  ok = fclose(f) == 0 && ok;
  ok = ok && rename(lua_tostring(L, -1), path) == 0;
  if (!ok) {
    int cause = errno;
    remove(lua_tostring(L, -1));
    tl_fail_code(L, st, TFSDK_RESOURCE_EXHAUSTED, NULL, "%s: writing failed: %s", path,
                 strerror(cause));
  }
  lua_pop(L, 1);
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
  tl_write_file(L, st, path, bytes, n);
  return 0;
}

static void add_u16(luaL_Buffer *b, uint32_t x) {
  luaL_addchar(b, (char)(x & 255));
  luaL_addchar(b, (char)(x >> 8 & 255));
}
static void add_u32(luaL_Buffer *b, uint32_t x) {
  add_u16(b, x & 0xffff);
  add_u16(b, x >> 16);
}

/* The fields that a member's local header and its directory entry share. */
static void add_member_fields(luaL_Buffer *b, uint32_t crc, uint32_t n, uint32_t name_n) {
  add_u16(b, 20);
  add_u16(b, 0x800);     /* names are UTF-8 */
  add_u16(b, 0);         /* stored */
  add_u32(b, 33u << 16); /* 1980-01-01: files with the same content are the same bytes */
  add_u32(b, crc);
  add_u32(b, n);
  add_u32(b, n);
  add_u16(b, name_n);
  add_u16(b, 0);
}

/* private.write_npz(path, names, tensors) */
static int write_npz(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1);
  lua_Integer count;
  luaL_Buffer b;
  size_t total = 0, n;
  const char *bytes;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 3);
  count = (lua_Integer)lua_rawlen(L, 2);
  lua_newtable(L); /* 4: members' bytes */
  lua_newtable(L); /* 5: members' names */
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 3, i);
    push_npy_bytes(L, st, lua_gettop(L));
    lua_rawseti(L, 4, i);
    lua_pop(L, 1);
    lua_rawgeti(L, 2, i);
    lua_pushfstring(L, "%s.npy", lua_tostring(L, -1));
    lua_rawseti(L, 5, i);
    lua_pop(L, 1);
  }
  luaL_buffinit(L, &b);
  for (int pass = 0; pass < 2; pass++) {
    size_t offset = 0, directory = total;
    for (lua_Integer i = 1; i <= count; i++) {
      const char *name, *data;
      size_t name_n, data_n;
      uint32_t crc;
      lua_rawgeti(L, 5, i);
      name = lua_tolstring(L, -1, &name_n);
      lua_rawgeti(L, 4, i);
      data = lua_tolstring(L, -1, &data_n);
      lua_pop(L, 2); /* the tables hold the strings; the buffer needs the top of the stack */
      if (data_n > 0x7fffffffu || offset > 0x7fffffffu)
        return tl_fail(L, st, "write", "an .npz file of more than 2 GB cannot be written");
      crc = (uint32_t)crc32(0, (const Bytef *)data, (uInt)data_n);
      if (pass == 0) {
        luaL_addlstring(&b, "PK\3\4", 4);
        add_member_fields(&b, crc, (uint32_t)data_n, (uint32_t)name_n);
        luaL_addlstring(&b, name, name_n);
        luaL_addlstring(&b, data, data_n);
        total += 30 + name_n + data_n;
        offset = total;
      } else {
        luaL_addlstring(&b, "PK\1\2", 4);
        add_u16(&b, 20);
        add_member_fields(&b, crc, (uint32_t)data_n, (uint32_t)name_n);
        add_u16(&b, 0); /* comment */
        add_u16(&b, 0); /* disk */
        add_u16(&b, 0);
        add_u32(&b, 0);
        add_u32(&b, (uint32_t)offset);
        luaL_addlstring(&b, name, name_n);
        offset += 30 + name_n + data_n;
        total += 46 + name_n;
      }
    }
    if (pass == 0) continue;
    luaL_addlstring(&b, "PK\5\6\0\0\0\0", 8);
    add_u16(&b, (uint32_t)count);
    add_u16(&b, (uint32_t)count);
    add_u32(&b, (uint32_t)(total - directory));
    add_u32(&b, (uint32_t)directory);
    add_u16(&b, 0);
  }
  luaL_pushresult(&b);
  bytes = lua_tolstring(L, -1, &n);
  tl_write_file(L, st, path, bytes, n);
  return 0;
}

void tl_open_npy(lua_State *L, tl_state *st) {
  static const luaL_Reg functions[] = {
      {"read_npy", read_npy}, {"read_npz", read_npz}, {"write_npy", write_npy}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"write_npz", write_npz}, {NULL, NULL}};
  tl_add_public(L, st, functions);
  tl_add_private(L, st, hidden);
}
