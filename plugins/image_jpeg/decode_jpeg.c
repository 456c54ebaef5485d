/* DecodeJpeg: a JPEG picture as a tensor [height, width, channels], by libjpeg. Four inks (CMYK, YCCK) become red, green
 * and blue. */
#include "errors.h"

typedef struct decoder {
  jpeg_faults faults;
  struct jpeg_progress_mgr progress;
  struct jpeg_decompress_struct jpeg;
  tfsdk_run *run;
  const unsigned char *bytes;
  uint64_t n;
  int channels;
  tfsdk_status *status; /* what went wrong outside of libjpeg */
} decoder;

/* Each scan goes over the whole picture: a small file may ask for hours. Programs write some ten. */
static void limit_scans(j_common_ptr c) {
  if (((j_decompress_ptr)c)->input_scan_number <= 500) return;
  strcpy(((jpeg_faults *)c->err)->text, "it has more than 500 scans");
  longjmp(((jpeg_faults *)c->err)->jump, 1);
}

/* Rows of four inks as colours: each is what its ink and the black let through. Adobe's programs store how much is let
 * through, others how much ink there is. */
static void inks_to_colors(const JSAMPLE *ink, JSAMPLE *to, uint32_t width, int channels,
                           bool adobe) {
  for (uint32_t x = 0; x < width; x++, ink += 4, to += channels) {
    int black = adobe ? ink[3] : 255 - ink[3], rgb[3];
    for (int i = 0; i < 3; i++) rgb[i] = (adobe ? ink[i] : 255 - ink[i]) * black / 255;
    if (channels == 1)
      to[0] = (JSAMPLE)((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    else
      for (int i = 0; i < 3; i++) to[i] = (JSAMPLE)rgb[i];
  }
}

/* Whether the size in the head can be true: if not, the text says why. */
static bool believable(decoder *d) {
  const struct jpeg_decompress_struct *j = &d->jpeg;
  const int64_t pixels = (int64_t)j->image_width * (int64_t)j->image_height;
  if (pixels > JPEG_MOST_PIXELS) {
    snprintf(d->faults.text, sizeof d->faults.text,
             "its size is %u x %u; at most %lld pixels are read", j->image_height, j->image_width,
             (long long)JPEG_MOST_PIXELS);
    return false;
  }
  /* A block of 64 pixels takes a bit, or some hundredths of one where arithmetic coding finds nothing new: memory for
   * much more than the bytes can tell is not asked for. */
  if ((double)pixels > 16384.0 * (double)d->n) {
    snprintf(d->faults.text, sizeof d->faults.text,
             "its size is said to be %u x %u, but there are only %llu bytes", j->image_height,
             j->image_width, (unsigned long long)d->n);
    return false;
  }
  return true;
}

/* Everything that libjpeg may jump out of. Returns false with the text or status set. */
static bool decode(decoder *d) {
  struct jpeg_decompress_struct *j = &d->jpeg;
  if (setjmp(d->faults.jump) != 0) return false; /* nothing but *d is used after it */
  jpeg_create_decompress(j);
  d->progress.progress_monitor = limit_scans;
  j->progress = &d->progress;
  jpeg_mem_src(j, d->bytes, (unsigned long)d->n);
  (void)jpeg_read_header(j, TRUE);
  if (!believable(d)) return false;
  const int channels = d->channels != 0 ? d->channels : j->num_components == 1 ? 1 : 3;
  const bool inks = j->jpeg_color_space == JCS_CMYK || j->jpeg_color_space == JCS_YCCK;
  j->out_color_space = inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  j->scale_num = 1;
  j->scale_denom = (unsigned)tfsdk_attr_int(&d->run->attr, "ratio");
  j->do_fancy_upsampling = tfsdk_attr_int(&d->run->attr, "fancy_upscaling") != 0;
  j->dct_method = strcmp(tfsdk_attr_string(&d->run->attr, "dct_method"), "INTEGER_FAST") == 0
                      ? JDCT_IFAST
                      : JDCT_ISLOW;
  (void)jpeg_start_decompress(j);
  const int64_t dim[3] = {j->output_height, j->output_width, channels};
  JSAMPARRAY row_of_inks =
      inks ? j->mem->alloc_sarray((j_common_ptr)j, JPOOL_IMAGE, j->output_width * 4, 1) : NULL;
  d->status = d->run->api->alloc_out(d->run, 0, 3, dim);
  if (d->status != NULL) return false;
  while (j->output_scanline < j->output_height) {
    JSAMPROW row =
        (JSAMPROW)d->run->out[0].data + (size_t)j->output_scanline * (size_t)(dim[1] * channels);
    if (jpeg_read_scanlines(j, inks ? row_of_inks : &row, 1) == 1 && inks)
      inks_to_colors(row_of_inks[0], row, j->output_width, channels, j->saw_Adobe_marker);
  }
  (void)jpeg_finish_decompress(j);
  return true;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  decoder d;
  int64_t ratio = tfsdk_attr_int(&r->attr, "ratio");
  (void)state;
  memset(&d, 0, sizeof d);
  d.run = r;
  d.bytes = (const unsigned char *)tfsdk_view_string(&r->in[0], 0, &d.n);
  d.channels = (int)tfsdk_attr_int(&r->attr, "channels");
  TFSDK_REQUIRE(r, ratio == 1 || ratio == 2 || ratio == 4 || ratio == 8,
                "'ratio' must be 1, 2, 4 or 8, not %lld", (long long)ratio);
  TFSDK_REQUIRE(r, d.n >= 3 && d.bytes[0] == 0xff && d.bytes[1] == 0xd8 && d.bytes[2] == 0xff,
                "this is no JPEG picture (%llu bytes)", (unsigned long long)d.n);
  d.jpeg.err = jpeg_faults_init(&d.faults);
  bool done = decode(&d);
  jpeg_destroy_decompress(&d.jpeg);
  if (d.status != NULL) return d.status;
  if (!done && d.faults.kind)
    return TFSDK_FAIL(r, UNIMPLEMENTED, "JPEG pictures of this kind are not read: %s",
                      d.faults.text);
  TFSDK_REQUIRE(r, done, "the JPEG picture cannot be read: %s", d.faults.text);
  TFSDK_REQUIRE(r, !d.faults.cut || tfsdk_attr_int(&r->attr, "try_recover_truncated") != 0,
                "the JPEG picture is damaged: the data are cut off (try_recover_truncated = true "
                "takes what there is)");
  return NULL;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  int64_t channels = tfsdk_attr_int(&c->attr, "channels");
  TFSDK_TRY(tfsdk_with_rank(c, 0, 0, &s));
  TFSDK_REQUIRE(c, channels != 2, "'channels' must be 0 (as in the file), 1 or 3, not 2");
  c->out[0].shape = tfsdk_shape_of_rank(3);
  if (channels > 0) c->out[0].shape.dim[2] = channels;
  return NULL;
}

static const tfsdk_arg in[] = {
    {"contents", "string", "scalar: the bytes of the file", TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {{"image", "uint8", "[height, width, channels]", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"channels", "int", "0", "0: as in the file; 1 grey, 3 colours", 0, 3},
    {"ratio", "int", "1", "makes the picture smaller by 1, 2, 4 or 8", 1, 8},
    {"fancy_upscaling", "bool", "true", "smooth colours where they have fewer pixels", 0, 0},
    {"try_recover_truncated", "bool", "false",
     "a file that is cut off is no error; the rest is grey", 0, 0},
    {"acceptable_fraction", "float", "1", "TensorFlow's; without a meaning here", 0, 0},
    {"dct_method", "string{,INTEGER_FAST,INTEGER_ACCURATE}", "", "how the cosines are computed", 0,
     0}};
/* 2 x 2 grey pixels; \xHH in a sample is a byte. */
#define PICTURE                                                                                    \
  "\\xff\\xd8\\xff\\xe0\\x00\\x10\\x4a\\x46\\x49\\x46\\x00\\x01\\x01\\x00\\x00\\x01"               \
  "\\x00\\x01\\x00\\x00\\xff\\xdb\\x00\\x43\\x00\\x10\\x0b\\x0c\\x0e\\x0c\\x0a\\x10"               \
  "\\x0e\\x0d\\x0e\\x12\\x11\\x10\\x13\\x18\\x28\\x1a\\x18\\x16\\x16\\x18\\x31\\x23"               \
  "\\x25\\x1d\\x28\\x3a\\x33\\x3d\\x3c\\x39\\x33\\x38\\x37\\x40\\x48\\x5c\\x4e\\x40"               \
  "\\x44\\x57\\x45\\x37\\x38\\x50\\x6d\\x51\\x57\\x5f\\x62\\x67\\x68\\x67\\x3e\\x4d"               \
  "\\x71\\x79\\x70\\x64\\x78\\x5c\\x65\\x67\\x63\\xff\\xc0\\x00\\x0b\\x08\\x00\\x02"               \
  "\\x00\\x02\\x01\\x01\\x11\\x00\\xff\\xc4\\x00\\x14\\x00\\x01\\x00\\x00\\x00\\x00"               \
  "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x04\\xff\\xc4\\x00\\x1b"               \
  "\\x10\\x00\\x02\\x03\\x00\\x03\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"               \
  "\\x00\\x01\\x02\\x03\\x04\\x05\\x00\\x12\\x61\\xff\\xda\\x00\\x08\\x01\\x01\\x00"               \
  "\\x00\\x3f\\x00\\x7e\\x66\\x6d\\x07\\xcb\\xa8\\xef\\x4a\\xb3\\x33\\x42\\x84\\x93"               \
  "\\x12\\x92\\x4f\\x51\\xe7\\x3f\\xff\\xd9"
static const char *const samples[] = {"string(\"" PICTURE "\")",
                                      "string(\"" PICTURE "\") | channels=3; ratio=2", NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("DecodeJpeg", "a JPEG picture as a tensor"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .flags = TFSDK_OP_OWN_OUTPUTS, .infer = infer,
     .doc = "Pictures in four inks (CMYK) become colours. Numbers may differ by 1 between versions "
            "of libjpeg.\n\n"
            "Source: TensorFlow `DecodeJpeg`.",
     .reference = compute, .no_grad_reason = "bytes of a file", .samples = samples}};
TFSDK_UNIT_OPS(decode_jpeg, ops);
