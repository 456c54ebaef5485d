/* keep.h - packed matrices that are kept from one product to the next.
 *
 * A product packs its right side first, which for few rows costs as much as a tenth to a third of
 * it. Weights that stay, in inference or over the steps of an unrolled network, are packed once:
 * the second time that a product meets the same content (its view's stamp) in the same layout, what
 * it packs is kept. Content that is met once only, as the weights of a training step, costs a
 * look-up and no memory.
 *
 * At most CPU_KEEP_BYTES for each device, or TFSDK_CPU_KEEP_MB; the longest unused goes first. Any
 * thread. What is kept does not change results: a packed matrix is a copy.
 */
#ifndef TFSDK_CPU_KEEP_H
#define TFSDK_CPU_KEEP_H

#include "gemm.h"

#define CPU_KEEP_BYTES (64 << 20)

typedef struct cpu_keep cpu_keep;

/* NULL: no memory. */
cpu_keep *cpu_keep_create(const tfsdk_host *host);
void cpu_keep_destroy(cpu_keep *k);

/* The packed right side of g: NULL when it is not kept. Otherwise it stays until cpu_keep_end; when
 * *must_fill, this caller fills it, and nobody else gets it before. `right`: it is filled. */
void *cpu_keep_begin(cpu_keep *k, const cpu_gemm *g, size_t bytes, int *must_fill);
void cpu_keep_end(cpu_keep *k, void *packed, int right);

#endif
