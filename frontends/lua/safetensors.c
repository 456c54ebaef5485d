/* safetensors.c - the safetensors format: an 8-byte length, a JSON header, and the tensors' bytes.
 *
 * Format: github.com/huggingface/safetensors. Everything that the header says is checked against
 * the file before it is used: ranges must tile the buffer exactly, sizes must be what shape and
 * type need, and names must be unique.
 */
#include "module.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *name;
  int32_t dtype;
} codes[] = {{"F32", TFSDK_FLOAT32},   {"F64", TFSDK_FLOAT64},  {"F16", TFSDK_FLOAT16},
             {"BF16", TFSDK_BFLOAT16}, {"I8", TFSDK_INT8},      {"I16", TFSDK_INT16},
             {"I32", TFSDK_INT32},     {"I64", TFSDK_INT64},    {"U8", TFSDK_UINT8},
             {"U16", TFSDK_UINT16},    {"U32", TFSDK_UINT32},   {"U64", TFSDK_UINT64},
             {"BOOL", TFSDK_BOOL},     {"C64", TFSDK_COMPLEX64}};

#define MAX_HEADER ((uint64_t)100 << 20) /* as in the reference implementation */

typedef struct entry {
  const char *name;
  int32_t dtype;
  tfsdk_shape shape;
  uint64_t begin, end;
} entry;

static int tree_gc(lua_State *L) {
  cJSON **tree = (cJSON **)lua_touserdata(L, 1);
  cJSON_Delete(*tree);
  *tree = NULL;
  return 0;
}

static int bad(lua_State *L, tl_state *st, const char *path, const char *name, const char *what) {
  if (name != NULL)
    return tl_fail_code(L, st, TFSDK_DATA_LOSS, NULL, "%s: tensor '%s': %s", path, name, what);
  return tl_fail_code(L, st, TFSDK_DATA_LOSS, NULL, "%s: %s", path, what);
}

/* A number of the header that must be a whole one of at most 2^53. */
static int whole(const cJSON *item, uint64_t *out) {
  if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > 9007199254740992.0 ||
      floor(item->valuedouble) != item->valuedouble)
    return 0;
  *out = (uint64_t)item->valuedouble;
  return 1;
}

static void read_entry(lua_State *L, tl_state *st, const char *path, const cJSON *item,
                       uint64_t buffer, entry *out) {
  const cJSON *dtype = cJSON_GetObjectItemCaseSensitive(item, "dtype");
  const cJSON *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
  const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
  int64_t n;
  memset(out, 0, sizeof *out);
  out->name = item->string;
  if (!cJSON_IsObject(item) || !cJSON_IsString(dtype) || !cJSON_IsArray(shape) ||
      !cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2)
    bad(L, st, path, out->name, "its entry needs dtype, shape and data_offsets");
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
    if (strcmp(codes[i].name, dtype->valuestring) == 0) out->dtype = codes[i].dtype;
  if (out->dtype == 0) bad(L, st, path, out->name, "its dtype is not known");
  for (const cJSON *d = shape->child; d != NULL; d = d->next) {
    uint64_t extent = 0;
    if (!whole(d, &extent) || out->shape.rank == TFSDK_MAX_RANK)
      bad(L, st, path, out->name, "its shape cannot be used");
    out->shape.dim[out->shape.rank++] = (int64_t)extent;
  }
  if (!whole(offsets->child, &out->begin) || !whole(offsets->child->next, &out->end))
    bad(L, st, path, out->name, "its data_offsets are no byte numbers");
  n = tfsdk_shape_elements(&out->shape);
  if (out->end < out->begin || out->end > buffer)
    bad(L, st, path, out->name, "its data_offsets lie outside of the file");
  if (n < 0 || (uint64_t)n > buffer ||
      (uint64_t)n * tfsdk_dtype_size(out->dtype) != out->end - out->begin)
    bad(L, st, path, out->name, "its data_offsets do not fit its shape and dtype");
}

static int by_begin(const void *a, const void *b) {
  const entry *x = (const entry *)a, *y = (const entry *)b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static void check_metadata(lua_State *L, tl_state *st, const char *path, const cJSON *meta) {
  if (!cJSON_IsObject(meta)) bad(L, st, path, NULL, "__metadata__ is no table of strings");
  lua_newtable(L);
  for (const cJSON *m = meta->child; m != NULL; m = m->next) {
    if (!cJSON_IsString(m)) bad(L, st, path, NULL, "__metadata__ is no table of strings");
    lua_pushstring(L, m->valuestring);
    lua_setfield(L, -2, m->string);
  }
}

/* tf.read_safetensors(path): a table of tensors by name, and the metadata (or nil). */
static int read_safetensors(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *file, *data;
  size_t n = 0, count = 0, size;
  uint64_t header = 0, buffer, at = 0;
  cJSON **tree;
  entry *list;
  int metadata = 0, result;
  lua_settop(L, 1);
  file = tl_push_file(L, st, path, &n); /* 2 */
  if (n < 8) return bad(L, st, path, NULL, "this is no safetensors file");
  for (int i = 7; i >= 0; i--) header = header << 8 | (unsigned char)file[i];
  if (header > n - 8 || header > MAX_HEADER)
    return bad(L, st, path, NULL, "the header is longer than the file");
  buffer = n - 8 - header;
  data = file + 8 + header;
  tree = (cJSON **)lua_newuserdatauv(L, sizeof *tree, 0); /* 3 */
  *tree = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, tree_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_pushlstring(L, file + 8, (size_t)header); /* 4: NUL-ended */
  if (lua_rawlen(L, 4) != strlen(lua_tostring(L, 4)))
    return bad(L, st, path, NULL, "the header is no JSON");
  *tree = cJSON_ParseWithOpts(lua_tostring(L, 4), NULL, 1);
  if (!cJSON_IsObject(*tree)) return bad(L, st, path, NULL, "the header is no JSON");
  size = (size_t)cJSON_GetArraySize(*tree);
  list = (entry *)lua_newuserdatauv(L, (size + 1) * sizeof *list, 0); /* 5 */
  lua_newtable(L);                                                    /* 6 */
  result = lua_gettop(L);
  for (const cJSON *item = (*tree)->child; item != NULL; item = item->next) {
    if (strcmp(item->string, "__metadata__") == 0) {
      if (metadata != 0) return bad(L, st, path, NULL, "__metadata__ is there twice");
      check_metadata(L, st, path, item);
      metadata = lua_gettop(L);
      continue;
    }
    read_entry(L, st, path, item, buffer, &list[count++]);
  }
  qsort(list, count, sizeof *list, by_name);
  for (size_t i = 1; i < count; i++)
    if (strcmp(list[i].name, list[i - 1].name) == 0)
      return bad(L, st, path, list[i].name, "it is there twice");
  qsort(list, count, sizeof *list, by_begin);
  for (size_t i = 0; i < count; i++) {
    if (list[i].begin != at)
      return bad(L, st, path, list[i].name,
                 list[i].begin < at ? "its bytes overlap with another tensor's"
                                    : "there is a hole before its bytes");
    at = list[i].end;
  }
  if (at != buffer) return bad(L, st, path, NULL, "there are bytes behind the last tensor");
  for (size_t i = 0; i < count; i++) {
    const entry *e = &list[i];
    tfsdk_tensor *t = NULL;
    tl_tensor *box = tl_push_box(L, st);
    tl_check(L, st,
             tfsdk_tensor_create(tl_runtime(L, st), e->dtype, (uint32_t)e->shape.rank, e->shape.dim,
                                 data + e->begin, (size_t)(e->end - e->begin), &t));
    tl_fill_box(L, st, box, t);
    lua_setfield(L, result, e->name);
  }
  lua_pushvalue(L, result);
  if (metadata != 0)
    lua_pushvalue(L, metadata);
  else
    lua_pushnil(L);
  return 2;
}

static void add_json_string(luaL_Buffer *b, const char *s) {
  luaL_addchar(b, '"');
  for (; *s != 0; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\') luaL_addchar(b, '\\');
    if (c < 32) {
      char code[8];
      snprintf(code, sizeof code, "\\u%04x", c);
      luaL_addstring(b, code);
    } else {
      luaL_addchar(b, *s);
    }
  }
  luaL_addchar(b, '"');
}

/* private.write_safetensors(path, names, tensors, metadata keys, metadata values) */
static int write_safetensors(lua_State *L) {
  tl_state *st = tl_get(L);
  const char *path = luaL_checkstring(L, 1), *bytes;
  lua_Integer n, m;
  size_t at = 0, total;
  luaL_Buffer b;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  lua_settop(L, 5);
  n = (lua_Integer)lua_rawlen(L, 2);
  m = lua_istable(L, 4) ? (lua_Integer)lua_rawlen(L, 4) : 0;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '{');
  for (lua_Integer i = 1; i <= m; i++) {
    const char *key, *value;
    lua_rawgeti(L, 4, i);
    key = lua_tostring(L, -1);
    lua_rawgeti(L, 5, i);
    value = lua_tostring(L, -1);
    lua_pop(L, 2);
    luaL_addstring(&b, i == 1 ? "\"__metadata__\":{" : ",");
    add_json_string(&b, key);
    luaL_addchar(&b, ':');
    add_json_string(&b, value);
    if (i == m) luaL_addstring(&b, n > 0 ? "}," : "}");
  }
  for (lua_Integer i = 1; i <= n; i++) {
    char text[64];
    const char *name, *code = NULL;
    tfsdk_tensor *t;
    size_t size;
    lua_rawgeti(L, 2, i);
    name = lua_tostring(L, -1);
    lua_rawgeti(L, 3, i);
    t = tl_check_tensor(L, st, lua_gettop(L));
    lua_pop(L, 2);
    for (size_t c = 0; c < sizeof codes / sizeof codes[0]; c++)
      if (codes[c].dtype == tfsdk_tensor_dtype(t)) code = codes[c].name;
    if (code == NULL)
      return tl_fail(L, st, "tf.write_safetensors", "'%s' is of type %s, which the format lacks",
                     name, tfsdk_dtype_name(tfsdk_tensor_dtype(t)));
    size = (size_t)tfsdk_tensor_elements(t) * tfsdk_dtype_size(tfsdk_tensor_dtype(t));
    if (i > 1) luaL_addchar(&b, ',');
    add_json_string(&b, name);
    luaL_addstring(&b, ":{\"dtype\":\"");
    luaL_addstring(&b, code);
    luaL_addstring(&b, "\",\"shape\":[");
    for (int32_t k = 0; k < tfsdk_tensor_rank(t); k++) {
      snprintf(text, sizeof text, "%s%lld", k > 0 ? "," : "", (long long)tfsdk_tensor_dims(t)[k]);
      luaL_addstring(&b, text);
    }
    snprintf(text, sizeof text, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
             (unsigned long long)(at + size));
    luaL_addstring(&b, text);
    at += size;
  }
  luaL_addchar(&b, '}');
  luaL_pushresult(&b);
  while (lua_rawlen(L, -1) % 8 != 0) { /* data begins at a multiple of 8 */
    lua_pushliteral(L, " ");
    lua_concat(L, 2);
  }
  luaL_buffinit(L, &b);
  for (int i = 0; i < 8; i++) luaL_addchar(&b, (char)(lua_rawlen(L, 6) >> (8 * i) & 255));
  lua_pushvalue(L, 6);
  luaL_addvalue(&b);
  for (lua_Integer i = 1; i <= n; i++) {
    tfsdk_view v;
    lua_rawgeti(L, 3, i);
    tl_check(L, st, tfsdk_tensor_view(tl_check_tensor(L, st, lua_gettop(L)), &v));
    lua_pop(L, 1);
    luaL_addlstring(&b, (const char *)v.data, (size_t)v.n_elem * tfsdk_dtype_size(v.dtype));
  }
  luaL_pushresult(&b);
  bytes = lua_tolstring(L, -1, &total);
  tl_write_file(L, st, path, bytes, total);
  return 0;
}

void tl_open_safetensors(lua_State *L, tl_state *st) {
  static const luaL_Reg functions[] = {{"read_safetensors", read_safetensors}, {NULL, NULL}};
  static const luaL_Reg hidden[] = {{"write_safetensors", write_safetensors}, {NULL, NULL}};
  tl_add_public(L, st, functions);
  tl_add_private(L, st, hidden);
}
