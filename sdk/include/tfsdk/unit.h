/* tfsdk/unit.h - what one source file of a plugin contributes.
 *
 * The build collects the files of a plugin's folder by their names: file `relu.c` defines
 * `tfsdk_unit_relu`, and the generated plugin main enrolls every unit. There is no central list.
 *
 *   TFSDK_UNIT_OPS(relu, ops);                      // ops with their reference kernels
 *   TFSDK_UNIT_KERNELS(relu, kernels);              // kernels only: a backend's file
 *   TFSDK_UNIT_LAYERS(dense, layers);               // a layer library's file
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
  const tfsdk_layerdef *layers;
  uint32_t n_layers, reserved;
} tfsdk_unit;

#define TFSDK_UNIT_OPS(file, list)                                                                 \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.ops = list, .n_ops = TFSDK_COUNT(list)}
#define TFSDK_UNIT_KERNELS(file, list)                                                             \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.kernels = list, .n_kernels = TFSDK_COUNT(list)}
#define TFSDK_UNIT_READERS(file, list)                                                             \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.readers = list, .n_readers = TFSDK_COUNT(list)}
#define TFSDK_UNIT_WRITERS(file, list)                                                             \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.writers = list, .n_writers = TFSDK_COUNT(list)}
#define TFSDK_UNIT_LAYERS(file, list)                                                              \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.layers = list, .n_layers = TFSDK_COUNT(list)}

/* Ops, and kernels that need a state of their own. */
#define TFSDK_UNIT_BOTH(file, op_list, kernel_list)                                                \
  extern const tfsdk_unit tfsdk_unit_##file;                                                       \
  const tfsdk_unit tfsdk_unit_##file = {.ops = op_list,                                            \
                                        .n_ops = TFSDK_COUNT(op_list),                             \
                                        .kernels = kernel_list,                                    \
                                        .n_kernels = TFSDK_COUNT(kernel_list)}

static inline tfsdk_status *tfsdk_unit_enroll(const tfsdk_unit *u, tfsdk_registrar *r) {
  for (uint32_t i = 0; i < u->n_ops; i++) TFSDK_TRY(r->op(r, &u->ops[i]));
  for (uint32_t i = 0; i < u->n_kernels; i++) TFSDK_TRY(r->kernel(r, &u->kernels[i]));
  for (uint32_t i = 0; i < u->n_readers; i++) TFSDK_TRY(r->reader(r, &u->readers[i]));
  for (uint32_t i = 0; i < u->n_writers; i++) TFSDK_TRY(r->writer(r, &u->writers[i]));
  for (uint32_t i = 0; i < u->n_layers; i++) TFSDK_TRY(r->layer(r, &u->layers[i]));
  return NULL;
}

#ifdef __cplusplus
}
#endif
#endif
