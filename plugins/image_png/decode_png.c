/* DecodePng: a PNG picture as a tensor [height, width, channels], by libpng. Any bit depth, palettes and interlacing;
 * depth and channels are changed to what is asked for. */
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

/* As many pixels as TensorFlow takes: a head of a few bytes must not ask for all of the memory. */
#define MOST_PIXELS ((int64_t)1 << 29)

typedef struct decoder {
  tfsdk_run *run;
  const unsigned char *bytes; /* what is left of the file */
  uint64_t left, all;
  int32_t channels; /* asked for; 0: as in the file */
  bool wide;        /* 16 bits */
  png_structp png;
  png_infop info;
  tfsdk_status *status; /* what went wrong outside of libpng */
  char text[128];
} decoder;

static void take(png_structp png, png_bytep to, png_size_t n) {
  decoder *d = (decoder *)png_get_io_ptr(png);
  if (n > d->left) png_error(png, "the data are cut off");
  memcpy(to, d->bytes, n);
  d->bytes += n;
  d->left -= n;
}
static void on_error(png_structp png, png_const_charp text) {
  decoder *d = (decoder *)png_get_error_ptr(png);
  strncpy(d->text, text, sizeof d->text - 1);
  longjmp(png_jmpbuf(png), 1);
}
static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

/* Asks for the wanted depth and channels; the rows are those from now on. */
static void set_form(decoder *d) {
  png_structp png = d->png;
  const int color = png_get_color_type(png, d->info), depth = png_get_bit_depth(png, d->info);
  const bool clear = png_get_valid(png, d->info, PNG_INFO_tRNS) != 0;
  bool alpha = (color & PNG_COLOR_MASK_ALPHA) != 0 || clear;
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (color == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (clear) png_set_tRNS_to_alpha(png);
  if (d->wide) {
    png_set_expand_16(png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(png);
#endif
  } else {
    png_set_strip_16(png);
  }
  if ((d->channels == 1 || d->channels == 3) && alpha) png_set_strip_alpha(png);
  if (d->channels == 1 && (color & PNG_COLOR_MASK_COLOR) != 0)
    png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (d->channels >= 3 && (color & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(png);
  if (d->channels == 4 && !alpha) png_set_add_alpha(png, d->wide ? 0xffff : 0xff, PNG_FILLER_AFTER);
}

/* Whether the size in the head can be true: if not, the text says why. Before anything is asked for. */
static bool believable(decoder *d) {
  const png_uint_32 height = png_get_image_height(d->png, d->info),
                    width = png_get_image_width(d->png, d->info);
  const int64_t pixels = (int64_t)height * (int64_t)width;
  if (pixels > MOST_PIXELS) {
    snprintf(d->text, sizeof d->text, "its size is %u x %u; at most %lld pixels are read", height,
             width, (long long)MOST_PIXELS);
    return false;
  }
  /* deflate makes 1032 bytes of one at most, eight pixels may lie in a byte */
  if ((double)pixels / 8 > 1032.0 * (double)d->all) {
    snprintf(d->text, sizeof d->text,
             "its size is said to be %u x %u, but there are only %llu bytes", height, width,
             (unsigned long long)d->all);
    return false;
  }
  return true;
}

/* Everything that libpng may jump out of. Returns false with d->text or d->status set. */
static bool decode(decoder *d) {
  if (setjmp(png_jmpbuf(d->png)) != 0) return false; /* nothing but *d is used after it */
  png_set_read_fn(d->png, d, take);
  png_set_user_limits(d->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* believable tells them better */
  png_read_info(d->png, d->info);
  if (!believable(d)) return false;
  set_form(d);
  const int passes = png_set_interlace_handling(d->png);
  png_read_update_info(d->png, d->info);
  const int64_t dim[3] = {png_get_image_height(d->png, d->info),
                          png_get_image_width(d->png, d->info), png_get_channels(d->png, d->info)};
  const size_t row = png_get_rowbytes(d->png, d->info);
  d->status = d->run->api->alloc_out(d->run, 0, 3, dim);
  if (d->status != NULL) return false;
  for (int pass = 0; pass < passes; pass++)
    for (int64_t y = 0; y < dim[0]; y++)
      png_read_row(d->png, (png_bytep)d->run->out[0].data + (size_t)y * row, NULL);
  png_read_end(d->png, NULL);
  return true;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  decoder d;
  (void)state;
  memset(&d, 0, sizeof d);
  d.run = r;
  d.bytes = (const unsigned char *)tfsdk_view_string(&r->in[0], 0, &d.left);
  d.all = d.left;
  d.channels = (int32_t)tfsdk_attr_int(&r->attr, "channels");
  d.wide = tfsdk_attr_int(&r->attr, "dtype") == TFSDK_UINT16;
  TFSDK_REQUIRE(r, d.left >= 8 && png_sig_cmp(d.bytes, 0, 8) == 0,
                "this is no PNG picture (%llu bytes)", (unsigned long long)d.left);
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
  d.info = d.png != NULL ? png_create_info_struct(d.png) : NULL;
  if (d.info == NULL) {
    png_destroy_read_struct(&d.png, NULL, NULL);
    return TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "out of memory");
  }
  bool done = decode(&d);
  png_destroy_read_struct(&d.png, &d.info, NULL);
  if (done || d.status != NULL) return d.status;
  return TFSDK_FAIL(r, INVALID_ARGUMENT, "the PNG picture cannot be read: %s", d.text);
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  int64_t channels = tfsdk_attr_int(&c->attr, "channels");
  TFSDK_TRY(tfsdk_with_rank(c, 0, 0, &s));
  TFSDK_REQUIRE(c, channels != 2, "'channels' must be 0 (as in the file), 1, 3 or 4, not 2");
  c->out[0].shape = tfsdk_shape_of_rank(3);
  if (channels > 0) c->out[0].shape.dim[2] = channels;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"contents", "string", "scalar: the bytes of the file", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"image", "dtype", "[height, width, channels]", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"channels", "int", "0", "0: as in the file; 1 grey, 3 colours, 4 with alpha", 0, 4},
    {"dtype", "dtype{uint8,uint16}", "uint8", "8 or 16 bits a channel", 0, 0}};
/* 2 x 2 pixels of three channels; \xHH in a sample is a byte. */
#define PICTURE                                                                                    \
  "\\x89\\x50\\x4e\\x47\\x0d\\x0a\\x1a\\x0a\\x00\\x00\\x00\\x0d\\x49\\x48\\x44\\x52"               \
  "\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x02\\x08\\x02\\x00\\x00\\x00\\xfd\\xd4\\x9a"               \
  "\\x73\\x00\\x00\\x00\\x16\\x49\\x44\\x41\\x54\\x78\\xda\\x63\\xe0\\x12\\x91\\x3b"               \
  "\\x91\\x62\\xc4\\xc0\\xc8\\xc4\\xfc\\xff\\xdf\\x5f\\x00\\x15\\xc0\\x04\\x9b\\xc5"               \
  "\\xff\\xd1\\x92\\x00\\x00\\x00\\x00\\x49\\x45\\x4e\\x44\\xae\\x42\\x60\\x82"
static const char *const samples[] = {"string(\"" PICTURE "\")",
                                      "string(\"" PICTURE "\") | channels=1",
                                      "string(\"" PICTURE "\") | channels=4; dtype=uint16", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DecodePng", "a PNG picture as a tensor"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .flags = TFSDK_OP_OWN_OUTPUTS, .infer = infer,
     .doc =
         "Palettes become colours, transparent colours an alpha channel, fewer than 8 bits are "
         "spread to 8. Grey "
         "of colours is 0.299 red + 0.587 green + 0.114 blue.\n\nSource: TensorFlow `DecodePng`; "
         "the format: RFC 2083.",
     .reference = compute, .no_grad_reason = "bytes of a file", .samples = samples}};
TFSDK_UNIT_OPS(decode_png, ops);
