/* ops.h - op records as the Lua module reads them, and calling an op with Lua values. */
#ifndef TFSDK_LUA_OPS_H
#define TFSDK_LUA_OPS_H

#include "module.h"

typedef enum tl_form {
  TL_ONE,  /* one tensor */
  TL_SAME, /* "N*T": a list of one type */
  TL_LIST  /* "list:Ts": a list of types */
} tl_form;

typedef struct tl_arginfo {
  const char *name;
  tl_form form;
  int optional;
  int32_t dtype;  /* the fixed type; 0 when an attribute tells it */
  int type_attr;  /* index of the attribute T or Ts; -1 none */
  int count_attr; /* index of the attribute N; -1 none */
} tl_arginfo;

typedef struct tl_attrinfo {
  const char *name;
  const char *type; /* as in the record */
  int32_t kind;     /* TFSDK_ATTR_* */
  uint32_t dtypes;  /* allowed dtypes as bits; 0: all */
  int32_t dtype_default;
  int implied; /* told by the inputs */
} tl_attrinfo;

struct tl_opinfo {
  const tfsdk_opdef *def;
  tl_arginfo *in, *out;
  tl_attrinfo *attr;
};

#define TL_MAX_ATTR 64
#define TL_MAX_FLAT 64 /* inputs and outputs that need no buffer on the heap */

/* Ops that operators, indexing and conversion use. */
#define TL_OPS(X)                                                                                  \
  X(ADD, "AddV2")                                                                                  \
  X(SUB, "Sub")                                                                                    \
  X(MUL, "Mul")                                                                                    \
  X(REALDIV, "RealDiv")                                                                            \
  X(FLOORDIV, "FloorDiv")                                                                          \
  X(FLOORMOD, "FloorMod")                                                                          \
  X(POW, "Pow")                                                                                    \
  X(NEG, "Neg")                                                                                    \
  X(BITAND, "BitwiseAnd")                                                                          \
  X(BITOR, "BitwiseOr")                                                                            \
  X(BITXOR, "BitwiseXor")                                                                          \
  X(INVERT, "Invert")                                                                              \
  X(LEFTSHIFT, "LeftShift")                                                                        \
  X(RIGHTSHIFT, "RightShift")                                                                      \
  X(AND, "LogicalAnd")                                                                             \
  X(OR, "LogicalOr")                                                                               \
  X(NOT, "LogicalNot")                                                                             \
  X(NOTEQUAL, "NotEqual")                                                                          \
  X(CAST, "Cast")                                                                                  \
  X(PACK, "Pack")                                                                                  \
  X(STRIDEDSLICE, "StridedSlice")                                                                  \
  X(CONST, "Const")                                                                                \
  X(IDENTITY, "Identity")

typedef enum tl_op_id {
#define TL_OP_ENUM_(id, name) TL_OP_##id,
  TL_OPS(TL_OP_ENUM_)
#undef TL_OP_ENUM_
      TL_OP_COUNT
} tl_op_id;

/* The record of an op; raises NOT_FOUND naming the nearest. Kept by the registry. */
const tl_opinfo *tl_op_find(lua_State *L, tl_state *st, const char *name);
const tl_opinfo *tl_op(lua_State *L, tl_state *st, tl_op_id id);
/* Calls an op: its inputs lie at stack indices first, first + 1 ... (nil: absent), the table of
 * options at `options` (0: none). `name` is the node's name unless the options have one. Pushes the
 * results and returns their number. */
int tl_invoke(lua_State *L, tl_state *st, const tl_opinfo *op, int first, int options,
              const char *name);
/* tf.raw.Name, or the table of a family of third-party ops ("acme"); 0 and nothing pushed if
 * neither. */
int tl_push_raw_or_family(lua_State *L, tl_state *st, const char *key);
/* Adds a Const node. */
tfsdk_val tl_emit_const(lua_State *L, tl_state *st, tfsdk_graph *g, const tfsdk_tensor *t);
/* While tf.func makes a plan: the node that stands for a define-by-run variable. Pushes it. */
void tl_push_captured(lua_State *L, tl_state *st, int variable, int as_resource);
/* As tl_check_op, for what may have called functions that a script gave as gradients (rules.c): what they
 * raised is raised again. */
void tl_check_gradient(lua_State *L, tl_state *st, tfsdk_status *take_status, const char *op);
/* Tells the graph where the script is. */
void tl_mark_where(lua_State *L, tfsdk_graph *g);
/* Dense form of the IndexedSlices at an index: pushes a tensor or node. */
void tl_push_dense(lua_State *L, tl_state *st, int index);
/* Reads the attribute value at a stack index into `out`; what it points to lies on the stack. */
void tl_read_attr(lua_State *L, tl_state *st, const char *op, const tl_attrinfo *a, int index,
                  tfsdk_attrval *out);
/* The info of attribute definitions that belong to no op: options of readers. */
void tl_parse_attr(const tfsdk_attrdef *def, tl_attrinfo *out);

#endif
