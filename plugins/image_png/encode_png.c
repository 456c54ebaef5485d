/* EncodePng: a tensor [height, width, channels] as a PNG picture, by libpng. */
#include <png.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

typedef struct encoder {
  const tfsdk_view *image;
  const tfsdk_host *host;
  int compression;
  char *bytes;
  size_t n, cap;
  png_structp png;
  png_infop info;
} encoder;

static void put(png_structp png, png_bytep bytes, png_size_t n) {
  encoder *e = (encoder *)png_get_io_ptr(png);
  if (n > e->cap - e->n) {
    size_t cap = e->cap + e->cap / 2 + n + 4096;
    char *p = (char *)e->host->realloc(e->host, e->bytes, e->cap, cap);
    if (p == NULL) png_error(png, "out of memory");
    e->bytes = p;
    e->cap = cap;
  }
  memcpy(e->bytes + e->n, bytes, n);
  e->n += n;
}
static void flush(png_structp png) { (void)png; }
static void on_error(png_structp png, png_const_charp text) {
  (void)text;
  longjmp(png_jmpbuf(png), 1);
}
static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

static bool encode(encoder *e) {
  static const int colors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                               PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  const int64_t *dim = e->image->dim;
  const bool wide = e->image->dtype == TFSDK_UINT16;
  const size_t row = (size_t)(dim[1] * dim[2]) * (wide ? 2 : 1);
  if (setjmp(png_jmpbuf(e->png)) != 0) return false; /* nothing but *e is used after it */
  png_set_write_fn(e->png, e, put, flush);
  png_set_compression_level(e->png, e->compression);
  png_set_IHDR(e->png, e->info, (png_uint_32)dim[1], (png_uint_32)dim[0], wide ? 16 : 8,
               colors[dim[2]], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  png_write_info(e->png, e->info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (wide) png_set_swap(e->png);
#endif
  for (int64_t y = 0; y < dim[0]; y++)
    png_write_row(e->png, (png_const_bytep)e->image->data + (size_t)y * row);
  png_write_end(e->png, NULL);
  return true;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  encoder e;
  tfsdk_status *s;
  (void)state;
  memset(&e, 0, sizeof e);
  e.image = &r->in[0];
  e.host = r->host;
  e.compression = (int)tfsdk_attr_int(&r->attr, "compression");
  TFSDK_REQUIRE(r, e.image->n_elem > 0, "the image has no pixels");
  TFSDK_REQUIRE(r, e.image->dim[0] <= 1000000 && e.image->dim[1] <= 1000000,
                "the image is too large for PNG: at most 1000000 rows and columns");
  e.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &e, on_error, on_warning);
  e.info = e.png != NULL ? png_create_info_struct(e.png) : NULL;
  bool done = e.info != NULL && encode(&e);
  png_destroy_write_struct(&e.png, &e.info);
  s = done ? r->api->alloc_strings(r, 0, 0, NULL, e.n)
           : TFSDK_FAIL(r, RESOURCE_EXHAUSTED, "out of memory");
  if (s == NULL) {
    uint64_t *at = (uint64_t *)r->out[0].data;
    at[0] = 0;
    at[1] = e.n;
    memcpy(at + 2, e.bytes, e.n);
  }
  if (e.bytes != NULL) (void)e.host->realloc(e.host, e.bytes, e.cap, 0);
  return s;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 3, &s));
  TFSDK_REQUIRE(c, s.dim[2] < 0 || (s.dim[2] >= 1 && s.dim[2] <= 4),
                "'image' must have 1 to 4 channels, but its shape is %s", tfsdk_shape_text(&s).s);
  c->out[0].shape = tfsdk_shape_of_rank(0);
  return NULL;
}

static const tfsdk_arg in[] = {
    {"image", "T", "[height, width, channels]: 1 grey, 2 with alpha, 3 colours, 4 with alpha",
     TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"contents", "string", "scalar: the bytes of the file", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"compression", "int", "-1", "zlib's level, 0..9; -1: its default", -1, 9},
    {"T", "dtype{uint8,uint16}", "uint8", "type of the image", 0, 0}};
static const char *const samples[] = {"T[5,4,3]", "uint8[3,2,1] | compression=9", "uint8[2,2,4]",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("EncodePng", "a tensor as a PNG picture"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .flags = TFSDK_OP_OWN_OUTPUTS, .infer = infer,
     .doc = "Without interlacing, filters chosen by libpng. DecodePng gives the tensor back.\n\n"
            "Source: TensorFlow `EncodePng`.",
     .reference = compute, .no_grad_reason = "bytes of a file", .samples = samples}};
TFSDK_UNIT_OPS(encode_png, ops);
