/* rows.h - what the ResourceScatter... ops share: (resource, indices, updates). */
#ifndef OPS_ARRAY_ROWS_H
#define OPS_ARRAY_ROWS_H

#include "combine.h"

tfsdk_status *array_rows_infer(tfsdk_infer *c);
/* v[indices[k]] = v[indices[k]] OP updates[k], one after another; all indices are checked first. */
tfsdk_status *array_rows_run(tfsdk_run *r, int op);

#endif
