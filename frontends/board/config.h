/* config.h - projector_config.pbtxt: which tensors of a checkpoint are embeddings. */
#ifndef TFSDK_BOARD_CONFIG_H
#define TFSDK_BOARD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

typedef struct embedding {
  char *tensor_name, *tensor_path, *metadata_path; /* NULL: not said */
} embedding;

typedef struct config {
  char *checkpoint;
  embedding *all;
  size_t n;
} config;

/* Reads protobuf's text form; what it does not know it passes over. False: it is none. */
bool config_read(const char *text, config *out);
void config_free(config *c);
/* A whole file, ended by 0, if it has at most `most` bytes; NULL if not. */
char *config_load(const char *path, size_t most, size_t *out_n);

#endif
