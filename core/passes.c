/* The passes by name, and which of them are on. */
#include "plan.h"

static const struct {
  const char *name, *doc;
  uint32_t bit;
} passes[] = {
    {"fold", "values known beforehand are computed once", TFSDK__PASS_FOLD},
    {"simplify", "nodes with a cheaper equivalent are replaced", TFSDK__PASS_SIMPLIFY},
    {"merge", "equal nodes are computed once", TFSDK__PASS_MERGE},
    {"fuse", "element-wise nodes are computed together, tile by tile", TFSDK__PASS_FUSE},
    {"epilogue", "element-wise nodes follow a product or convolution row by row",
     TFSDK__PASS_EPILOGUE},
    {"prologue", "element-wise nodes are computed as the reduction behind them asks for elements",
     TFSDK__PASS_PROLOGUE},
    {"schedule", "variables are updated as early as possible", TFSDK__PASS_SCHEDULE},
    {"arena", "values share one block of memory, by their lifetimes", TFSDK__PASS_ARENA},
};

#define N_PASSES (sizeof passes / sizeof *passes)

const char *tfsdk__pass_name(uint32_t i, const char **out_doc) {
  if (i >= N_PASSES) return NULL;
  *out_doc = passes[i].doc;
  return passes[i].name;
}

static tfsdk_status *unknown(const char *word, size_t n) {
  tfsdk__buf names = {0};
  for (size_t i = 0; i < N_PASSES; i++)
    tfsdk__buf_add(&names, "%s%s", i ? ", " : "", passes[i].name);
  tfsdk_status *s = tfsdk__status_make(
      TFSDK_INVALID_ARGUMENT,
      "'%.*s' is not a pass; passes are left out by \"-name\" or \"none\"; they are: %s", (int)n,
      word, names.s ? names.s : "");
  tfsdk__buf_deinit(&names);
  return s;
}

tfsdk_status *tfsdk__passes_parse(const char *text, uint32_t *out) {
  *out = TFSDK__PASS_ALL;
  for (const char *p = text; p != NULL && *p != 0;) {
    size_t n = strcspn(p, ", ");
    bool off = *p == '-';
    const char *word = p + (*p == '-' || *p == '+');
    size_t len = n - (size_t)(word - p);
    uint32_t bit = 0;
    for (size_t i = 0; i < N_PASSES; i++)
      if (strlen(passes[i].name) == len && strncmp(word, passes[i].name, len) == 0)
        bit = passes[i].bit;
    if (len == 4 && strncmp(word, "none", 4) == 0)
      *out = 0;
    else if (len == 3 && strncmp(word, "all", 3) == 0)
      *out = TFSDK__PASS_ALL;
    else if (n > 0 && bit == 0)
      return unknown(p, n);
    else if (off)
      *out &= ~bit;
    else
      *out |= bit;
    p += n;
    p += strspn(p, ", ");
  }
  return NULL;
}
