/* opinfo.c - reads an op's record once: what forms its arguments have and where their types come
 * from. */
#include "ops.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const op_names[TL_OP_COUNT] = {
#define TL_OP_NAME_(id, name) name,
    TL_OPS(TL_OP_NAME_)
#undef TL_OP_NAME_
};

static const struct {
  const char *name;
  int32_t kind;
} attr_kinds[] = {{"int", TFSDK_ATTR_INT},
                  {"float", TFSDK_ATTR_FLOAT},
                  {"bool", TFSDK_ATTR_BOOL},
                  {"string", TFSDK_ATTR_STRING},
                  {"dtype", TFSDK_ATTR_DTYPE},
                  {"type", TFSDK_ATTR_DTYPE},
                  {"shape", TFSDK_ATTR_SHAPE},
                  {"tensor", TFSDK_ATTR_TENSOR},
                  {"list(int)", TFSDK_ATTR_LIST_INT},
                  {"list(float)", TFSDK_ATTR_LIST_FLOAT},
                  {"list(bool)", TFSDK_ATTR_LIST_BOOL},
                  {"list(string)", TFSDK_ATTR_LIST_STRING},
                  {"list(dtype)", TFSDK_ATTR_LIST_DTYPE},
                  {"list(type)", TFSDK_ATTR_LIST_DTYPE},
                  {"list(shape)", TFSDK_ATTR_LIST_SHAPE}};

void tl_parse_attr(const tfsdk_attrdef *def, tl_attrinfo *out) {
  const char *brace = strchr(def->type, '{');
  size_t n = brace != NULL ? (size_t)(brace - def->type) : strlen(def->type);
  memset(out, 0, sizeof *out);
  out->name = def->name;
  out->type = def->type;
  for (size_t i = 0; i < sizeof attr_kinds / sizeof attr_kinds[0]; i++)
    if (strlen(attr_kinds[i].name) == n && memcmp(attr_kinds[i].name, def->type, n) == 0)
      out->kind = attr_kinds[i].kind;
  if (out->kind == TFSDK_ATTR_DTYPE && def->dflt != NULL)
    out->dtype_default = tfsdk_dtype_find(def->dflt);
  if ((out->kind == TFSDK_ATTR_DTYPE || out->kind == TFSDK_ATTR_LIST_DTYPE) && brace != NULL) {
    for (const char *p = brace + 1; *p != 0 && *p != '}';) {
      char word[32];
      size_t len = strcspn(p, ",}"), lead = strspn(p, " ");
      if (len - lead < sizeof word && len >= lead) {
        memcpy(word, p + lead, len - lead);
        word[len - lead] = 0;
        out->dtypes |= 1u << (tfsdk_dtype_find(word) & 31);
      }
      p += len;
      if (*p == ',') p++;
    }
    out->dtypes &= ~1u;
  }
}

static int find_attr(const tfsdk_opdef *def, const char *name, size_t n) {
  for (int i = 0; i < def->n_attr; i++)
    if (strlen(def->attr[i].name) == n && memcmp(def->attr[i].name, name, n) == 0) return i;
  return -1;
}

static void parse_arg(const tfsdk_opdef *def, const tfsdk_arg *arg, tl_arginfo *out) {
  const char *type = arg->type, *star = strchr(type, '*');
  size_t n = strcspn(type, "?");
  char fixed[32];
  memset(out, 0, sizeof *out);
  out->name = arg->name;
  out->optional = type[n] == '?';
  out->type_attr = out->count_attr = -1;
  if (strncmp(type, "list:", 5) == 0) {
    out->form = TL_LIST;
    out->type_attr = find_attr(def, type + 5, n - 5);
    return;
  }
  if (star != NULL) {
    out->form = TL_SAME;
    out->count_attr = find_attr(def, type, (size_t)(star - type));
    n -= (size_t)(star + 1 - type);
    type = star + 1;
  }
  out->type_attr = find_attr(def, type, n);
  if (out->type_attr < 0 && n < sizeof fixed) {
    memcpy(fixed, type, n);
    fixed[n] = 0;
    out->dtype = tfsdk_dtype_find(fixed);
  }
}

static const tl_opinfo *push_info(lua_State *L, const tfsdk_opdef *def) {
  size_t n_arg = (size_t)def->n_in + def->n_out;
  size_t bytes = sizeof(tl_opinfo) + n_arg * sizeof(tl_arginfo) + def->n_attr * sizeof(tl_attrinfo);
  tl_opinfo *info = (tl_opinfo *)lua_newuserdatauv(L, bytes, 0);
  info->def = def;
  info->in = (tl_arginfo *)(info + 1);
  info->out = info->in + def->n_in;
  info->attr = (tl_attrinfo *)(info->out + def->n_out);
  for (int i = 0; i < def->n_attr; i++) tl_parse_attr(&def->attr[i], &info->attr[i]);
  for (int i = 0; i < def->n_in; i++) {
    tl_arginfo *a = &info->in[i];
    parse_arg(def, &def->in[i], a);
    if (a->type_attr >= 0) info->attr[a->type_attr].implied = 1;
    if (a->count_attr >= 0) info->attr[a->count_attr].implied = 1;
  }
  for (int i = 0; i < def->n_out; i++) parse_arg(def, &def->out[i], &info->out[i]);
  return info;
}

const tl_opinfo *tl_op_find(lua_State *L, tl_state *st, const char *name) {
  const tfsdk_opdef *def;
  const tl_opinfo *info;
  lua_rawgeti(L, LUA_REGISTRYINDEX, st->ref_ops);
  if (lua_getfield(L, -1, name) == LUA_TUSERDATA) {
    info = (const tl_opinfo *)lua_touserdata(L, -1);
    lua_pop(L, 2);
    return info;
  }
  lua_pop(L, 1);
  tl_check(L, st, tfsdk_op_find(tl_runtime(L, st), name, &def));
  if (def->n_attr > TL_MAX_ATTR)
    tl_fail(L, st, name, "the record has %d attributes; the Lua module can handle %d",
            (int)def->n_attr, TL_MAX_ATTR);
  info = push_info(L, def);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
  return info;
}

const tl_opinfo *tl_op(lua_State *L, tl_state *st, tl_op_id id) {
  if (st->op[id] == NULL) st->op[id] = tl_op_find(L, st, op_names[id]);
  return st->op[id];
}
