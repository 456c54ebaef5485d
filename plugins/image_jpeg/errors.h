/* libjpeg's errors: it jumps out of the call, the text is kept. What a picture may be that is read or written. */
#ifndef IMAGE_JPEG_ERRORS_H
#define IMAGE_JPEG_ERRORS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <tfsdk/shape.h>
#include <tfsdk/unit.h>

#include <jerror.h>
#include <jpeglib.h>

/* As many pixels as TensorFlow takes: a head of a few bytes must not ask for all of the memory. */
#define JPEG_MOST_PIXELS ((int64_t)1 << 29)

typedef struct jpeg_faults {
  struct jpeg_error_mgr manager; /* first: libjpeg hands out a pointer to it */
  jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
  bool cut;  /* the data ended too early */
  bool kind; /* the picture is whole, but of a kind that libjpeg does not read */
} jpeg_faults;

static inline void jpeg_fault_exit(j_common_ptr c) {
  jpeg_faults *f = (jpeg_faults *)c->err;
  c->err->format_message(c, f->text);
  switch (c->err->msg_code) {
  case JERR_ARITH_NOTIMPL:
  case JERR_BAD_PRECISION:
  case JERR_CCIR601_NOTIMPL:
  case JERR_CONVERSION_NOTIMPL:
  case JERR_FRACT_SAMPLE_NOTIMPL:
  case JERR_NOTIMPL:
  case JERR_NOT_COMPILED:
  case JERR_SOF_UNSUPPORTED: f->kind = true; break;
  default: break;
  }
  longjmp(f->jump, 1);
}
static inline void jpeg_fault_message(j_common_ptr c, int level) {
  if (level < 0 && c->err->msg_code == JWRN_JPEG_EOF) ((jpeg_faults *)c->err)->cut = true;
}
static inline void jpeg_fault_silent(j_common_ptr c) { (void)c; }

static inline struct jpeg_error_mgr *jpeg_faults_init(jpeg_faults *f) {
  memset(f, 0, sizeof *f);
  jpeg_std_error(&f->manager);
  f->manager.error_exit = jpeg_fault_exit;
  f->manager.emit_message = jpeg_fault_message;
  f->manager.output_message = jpeg_fault_silent;
  return &f->manager;
}

#endif
