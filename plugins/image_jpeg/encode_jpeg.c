/* EncodeJpeg: a tensor [height, width, channels] as a JPEG picture, by libjpeg. */
#include "errors.h"
#include <stdlib.h>

typedef struct encoder {
  jpeg_faults faults;
  struct jpeg_compress_struct jpeg;
  const tfsdk_view *image;
  const tfsdk_attrs *attr;
  unsigned char *bytes; /* libjpeg's, given back by free */
  unsigned long n;
} encoder;

static bool encode(encoder *e) {
  struct jpeg_compress_struct *j = &e->jpeg;
  const int64_t *dim = e->image->dim;
  if (setjmp(e->faults.jump) != 0) return false; /* nothing but *e is used after it */
  jpeg_create_compress(j);
  jpeg_mem_dest(j, &e->bytes, &e->n);
  j->image_width = (JDIMENSION)dim[1];
  j->image_height = (JDIMENSION)dim[0];
  j->input_components = (int)dim[2];
  j->in_color_space = dim[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(j);
  jpeg_set_quality(j, (int)tfsdk_attr_int(e->attr, "quality"), TRUE);
  if (tfsdk_attr_int(e->attr, "progressive") != 0) jpeg_simple_progression(j);
  if (tfsdk_attr_int(e->attr, "optimize_size") != 0) j->optimize_coding = TRUE;
  if (tfsdk_attr_int(e->attr, "chroma_downsampling") == 0 && dim[2] == 3)
    j->comp_info[0].h_samp_factor = j->comp_info[0].v_samp_factor = 1;
  jpeg_start_compress(j, TRUE);
  while (j->next_scanline < j->image_height) {
    JSAMPROW row = (JSAMPROW)e->image->data + (size_t)j->next_scanline * (size_t)(dim[1] * dim[2]);
    (void)jpeg_write_scanlines(j, &row, 1);
  }
  jpeg_finish_compress(j);
  return true;
}

static tfsdk_status *compute(void *state, tfsdk_run *r) {
  encoder e;
  tfsdk_status *s = NULL;
  (void)state;
  memset(&e, 0, sizeof e);
  e.image = &r->in[0];
  e.attr = &r->attr;
  TFSDK_REQUIRE(r, e.image->n_elem > 0, "the image has no pixels");
  TFSDK_REQUIRE(r, e.image->dim[0] <= JPEG_MAX_DIMENSION && e.image->dim[1] <= JPEG_MAX_DIMENSION,
                "the image is too large for JPEG: at most %ld rows and columns",
                JPEG_MAX_DIMENSION);
  e.jpeg.err = jpeg_faults_init(&e.faults);
  if (!encode(&e)) s = TFSDK_FAIL(r, INTERNAL, "%s", e.faults.text);
  jpeg_destroy_compress(&e.jpeg);
  if (s == NULL) s = r->api->alloc_strings(r, 0, 0, NULL, e.n);
  if (s == NULL) {
    uint64_t *at = (uint64_t *)r->out[0].data;
    at[0] = 0;
    at[1] = e.n;
    memcpy(at + 2, e.bytes, e.n);
  }
  free(e.bytes);
  return s;
}

static tfsdk_status *infer(tfsdk_infer *c) {
  tfsdk_shape s;
  TFSDK_TRY(tfsdk_with_rank(c, 0, 3, &s));
  TFSDK_REQUIRE(c, s.dim[2] < 0 || s.dim[2] == 1 || s.dim[2] == 3,
                "'image' must have 1 or 3 channels, but its shape is %s", tfsdk_shape_text(&s).s);
  c->out[0].shape = tfsdk_shape_of_rank(0);
  return NULL;
}

static const tfsdk_arg in[] = {{"image", "uint8", "[height, width, channels]: 1 grey, 3 colours",
                                TFSDK_ARG_NONDIFF | TFSDK_ARG_HOST, 0}};
static const tfsdk_arg out[] = {
    {"contents", "string", "scalar: the bytes of the file", TFSDK_ARG_HOST, 0}};
static const tfsdk_attrdef attr[] = {
    {"quality", "int", "95", "0 small, 100 good", 0, 100},
    {"progressive", "bool", "false", "the whole picture first, then its details", 0, 0},
    {"optimize_size", "bool", "false", "smaller, and slower to write", 0, 0},
    {"chroma_downsampling", "bool", "true", "colours with half the pixels", 0, 0}};
static const char *const samples[] = {"uint8[9,8,3]", "uint8[3,2,1] | quality=50",
                                      "uint8[9,8,3] | progressive=true; chroma_downsampling=false",
                                      NULL};
static const tfsdk_opdef ops[] = {
    {TFSDK_OP_HEAD("EncodeJpeg", "a tensor as a JPEG picture"), .in = in, .n_in = TFSDK_COUNT(in),
     .out = out, .n_out = TFSDK_COUNT(out), .attr = attr, .n_attr = TFSDK_COUNT(attr),
     .flags = TFSDK_OP_OWN_OUTPUTS, .infer = infer,
     .doc = "Bytes may differ between versions of libjpeg.\n\nSource: TensorFlow `EncodeJpeg`.",
     .reference = compute, .no_grad_reason = "bytes of a file", .samples = samples}};
TFSDK_UNIT_OPS(encode_jpeg, ops);
