/* Bytes as PNG. */
#ifndef TFSDK_TENSORBOARD_PNG_IMAGE_H
#define TFSDK_TENSORBOARD_PNG_IMAGE_H

#include "pb.h"

/* Appends the PNG of an image of 8-bit channels (1 grey, 2 with alpha, 3 RGB, 4 RGBA), row by row;
 * false when memory is out. */
bool png_encode(pb *to, const uint8_t *bytes, uint32_t width, uint32_t height, uint32_t channels);

#endif
