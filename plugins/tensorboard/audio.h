/* Sound for the audio dashboard: what the two versions of the op share.
 *
 *     16-bit WAV, little-endian; x * 32768 rounded (half away from zero) and cut to -32768..32767
 *
 * Audio{sample_rate 1, num_channels 2, length_frames 3, encoded_audio_string 4, content_type 5}. */
#ifndef TFSDK_TENSORBOARD_AUDIO_H
#define TFSDK_TENSORBOARD_AUDIO_H

#include <math.h>

#include "summary.h"

static inline tfsdk_status *audio_infer(tfsdk_infer *c) {
  int32_t rank = c->in[1].shape.rank;
  TFSDK_REQUIRE(c, rank == -1 || rank == 2 || rank == 3,
                "sound is [batch, frames] or [batch, frames, channels]; the rank is %d", (int)rank);
  return tfsdk_infer_scalar(c);
}

/* The 44 bytes of a WAV file's head (soundfile.sapp.org/doc/WaveFormat), then the samples. */
static inline void audio_wav(pb *b, const float *x, uint64_t frames, uint64_t channels,
                             uint64_t rate) {
  uint64_t bytes = frames * channels * 2;
  pb_raw(b, "RIFF", 4);
  pb_fixed(b, bytes + 36, 4);
  pb_raw(b, "WAVEfmt ", 8);
  pb_fixed(b, 16, 4);
  pb_fixed(b, 1, 2); /* PCM */
  pb_fixed(b, channels, 2);
  pb_fixed(b, rate, 4);
  pb_fixed(b, rate * channels * 2, 4);
  pb_fixed(b, channels * 2, 2);
  pb_fixed(b, 16, 2);
  pb_raw(b, "data", 4);
  pb_fixed(b, bytes, 4);
  char *to = pb_room(b, (size_t)bytes);
  if (to == NULL) return;
  for (uint64_t i = 0; i < frames * channels; i++) {
    float scaled = roundf(x[i] * 32768.0f);
    int16_t sample = (int16_t)(scaled >= 32767.0f    ? 32767
                               : scaled <= -32768.0f ? -32768
                               : scaled != scaled    ? 0
                                                     : (int)scaled);
    to[2 * i] = (char)((uint16_t)sample & 255);
    to[2 * i + 1] = (char)((uint16_t)sample >> 8);
  }
  b->n += (size_t)bytes;
}

static inline tfsdk_status *audio_summary(tfsdk_run *r, double sample_rate) {
  const tfsdk_view *v = &r->in[1];
  int64_t max = tfsdk_attr_int(&r->attr, "max_outputs");
  const char *tag = NULL;
  uint64_t n = 0;
  TFSDK_TRY(summary_scalar(r, 0, "tag", &tag, &n));
  TFSDK_REQUIRE(r, v->rank == 2 || v->rank == 3,
                "sound is [batch, frames] or [batch, frames, channels]; the rank is %d",
                (int)v->rank);
  uint64_t frames = (uint64_t)v->dim[1], channels = v->rank == 3 ? (uint64_t)v->dim[2] : 1;
  TFSDK_REQUIRE(r, sample_rate > 0 && sample_rate < 2147483648.0,
                "the sample rate must be above 0 and below 2^31, not %g", sample_rate);
  TFSDK_REQUIRE(r, channels >= 1 && channels <= 65535, "%llu channels; WAV has 1 to 65535",
                (unsigned long long)channels);
  TFSDK_REQUIRE(r, frames <= (UINT32_MAX - 36) / 2 / channels,
                "%llu frames of %llu channels are too many for WAV", (unsigned long long)frames,
                (unsigned long long)channels);
  long whole = lrint(sample_rate);
  pb b = pb_new(r->host);
  for (int64_t i = 0; i < v->dim[0] && i < max; i++) {
    size_t value = pb_begin(&b, 1), audio, encoded;
    summary_numbered_tag(&b, tag, n, "/audio", i, max);
    audio = pb_begin(&b, 6);
    pb_put_float(&b, 1, (float)sample_rate);
    pb_put_uint(&b, 2, channels);
    pb_put_uint(&b, 3, frames);
    encoded = pb_begin(&b, 4);
    audio_wav(&b, (const float *)v->data + (uint64_t)i * frames * channels, frames, channels,
              whole < 1 ? 1 : (uint64_t)whole);
    pb_end(&b, encoded);
    pb_put_text(&b, 5, "audio/wav");
    pb_end(&b, audio);
    pb_end(&b, value);
  }
  return summary_finish(r, &b);
}

#endif
