/* CRC-32C (Castagnoli), as TensorFlow's files and ours carry it. */
#ifndef TFSDK_CHECKPOINT_CRC32C_H
#define TFSDK_CHECKPOINT_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from the checksum of what came before; 0 at the beginning. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* TensorFlow stores checksums rotated and shifted, so that data with checksums in it is no
 * special case: tensorflow/core/lib/hash/crc32c.h. */
static inline uint32_t crc32c_mask(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

#endif
