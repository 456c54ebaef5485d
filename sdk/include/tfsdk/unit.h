/* tfsdk/unit.h - what one source file of a plugin contributes.
 *
 * The build collects the files of a plugin's folder by their names: file `relu.c` defines
 * `tfsdk_unit_relu`, and the generated plugin main enrolls every unit. There is no central list.
 *
 *   TFSDK_UNIT_OPS(relu, ops);                      // ops with their reference kernels
 *   TFSDK_UNIT_KERNELS(relu, kernels);              // kernels only: a backend's file
 */
#ifndef TFSDK_UNIT_H
#define TFSDK_UNIT_H

#include <tfsdk/emit.h>
#include <tfsdk/kernel.h>
#include <tfsdk/io.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tfsdk_unit {
  const tfsdk_opdef *ops;
  const tfsdk_kerneldef *kernels;
  const tfsdk_readerdef *readers;
  const tfsdk_writerdef *writers;
  uint32_t n_ops, n_kernels, n_readers, n_writers;
} tfsdk_unit;

#define TFSDK_UNIT_OPS(file, ops)                                                                  \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {ops, NULL, NULL, NULL, TFSDK_COUNT(ops), 0, 0, 0}
#define TFSDK_UNIT_KERNELS(file, kernels)                                                          \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {NULL, kernels, NULL, NULL, 0, TFSDK_COUNT(kernels), 0, 0}
#define TFSDK_UNIT_READERS(file, readers)                                                          \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {NULL, NULL, readers, NULL, 0, 0, TFSDK_COUNT(readers), 0}

/* Ops, and kernels that need a state of their own. */
#define TFSDK_UNIT_BOTH(file, ops, kernels)                                                        \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {                                                           \
      ops, kernels, NULL, NULL, TFSDK_COUNT(ops), TFSDK_COUNT(kernels), 0, 0}

static inline tfsdk_status *tfsdk_unit_enroll(const tfsdk_unit *u, tfsdk_registrar *r) {
  for (uint32_t i = 0; i < u->n_ops; i++) TFSDK_TRY(r->op(r, &u->ops[i]));
  for (uint32_t i = 0; i < u->n_kernels; i++) TFSDK_TRY(r->kernel(r, &u->kernels[i]));
  for (uint32_t i = 0; i < u->n_readers; i++) TFSDK_TRY(r->reader(r, &u->readers[i]));
  for (uint32_t i = 0; i < u->n_writers; i++) TFSDK_TRY(r->writer(r, &u->writers[i]));
  return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
