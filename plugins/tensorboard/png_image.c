/* PNG by libpng, with the settings TensorFlow uses: default compression, default filters. */
#include "png_image.h"

#include <png.h>
#include <setjmp.h>

static void put(png_structp png, png_bytep bytes, png_size_t n) {
  pb_raw((pb *)png_get_io_ptr(png), bytes, n);
}
static void flush(png_structp png) { (void)png; }
static void on_error(png_structp png, png_const_charp text) {
  (void)text;
  longjmp(png_jmpbuf(png), 1);
}
static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

bool png_encode(pb *to, const uint8_t *bytes, uint32_t width, uint32_t height, uint32_t channels) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                               PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
  png_infop info = png != NULL ? png_create_info_struct(png) : NULL;
  if (info == NULL || channels < 1 || channels > 4) {
    png_destroy_write_struct(&png, NULL);
    return false;
  }
  if (setjmp(png_jmpbuf(png)) != 0) { /* nothing above is changed after this line */
    png_destroy_write_struct(&png, &info);
    return false;
  }
  png_set_write_fn(png, to, put, flush);
  png_set_compression_level(png, -1);
  png_set_compression_mem_level(png, 9);
  png_set_IHDR(png, info, width, height, 8, colors[channels], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (uint32_t y = 0; y < height; y++) png_write_row(png, bytes + (size_t)y * width * channels);
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  return !to->failed;
}
