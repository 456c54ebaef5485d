/* What the files of the loader share.
 *
 *   ltdl.c          the one user of libltdl: opens a file, says truly why it could not
 *   elf.c           looks into a file without opening it: is it for this machine, and which build
 * is it loader_stage.c  one plugin from file to live, stage by stage loader_index.c  the index of a
 * folder: reading and writing loader.c        search path, look-ups, the report, the public
 * functions
 *
 * All of it runs under runtime.lock. */
#ifndef TFSDK_CORE_LOADER_H
#define TFSDK_CORE_LOADER_H

#include "internal.h"

/* One file (or built-in manifest) that the loader has come across. It lives as long as the runtime:
 * it is an entry of the load report too. */
enum tfsdk__candidate_state {
  TFSDK__FOUND,    /* in a folder, and no index to trust: must be opened to be known */
  TFSDK__INDEXED,  /* known from the index, not opened */
  TFSDK__DEFERRED, /* could not work when the index was written: tried when nothing else will do */
  TFSDK__LOADING,  /* between the first stage and the last */
  TFSDK__LOADED,
  TFSDK__REFUSED,
  TFSDK__UNAVAILABLE /* in order, but this machine lacks what it needs */
};

typedef struct tfsdk__candidate {
  char *path;       /* absolute; "" for a built-in one */
  const char *file; /* its last part */
  int32_t folder;   /* index in loader.folders, -1 none */
  int32_t state;
  uint64_t dev, ino, size;
  int64_t mtime;                  /* in ns */
  char *name, *version, *summary; /* of the manifest; NULL until known */
  char *detail;                   /* why it stands where it stands; NULL: nothing to say */
  int32_t code;                   /* of the error that `detail` tells */
  bool shadowed;                  /* refused because another file of that name came first */
  uint32_t kinds, n_ops, n_kernels, n_devices, n_readers;
  char *needs_device;                /* the TYPE of a "device:TYPE" need */
  tfsdk_plugin_query_fn *query;      /* built-in */
  tfsdk__plugin *pending;            /* its manifest is read, no more */
  tfsdk__plugin *plugin;             /* live */
  struct tfsdk__candidate *asked_by; /* while loading: whose need it is */
} tfsdk__candidate;

enum tfsdk__fact_kind {
  TFSDK__FACT_OP,
  TFSDK__FACT_KERNEL, /* name: the op; extra: the type of device */
  TFSDK__FACT_DEVICE,
  TFSDK__FACT_READER, /* extra: the extensions */
  TFSDK__FACT_LAYER,
  TFSDK__FACT_WRITER,
  TFSDK__FACT_KINDS
};
extern const char *const tfsdk__fact_word[TFSDK__FACT_KINDS]; /* "op", "kernel", ... */

/* "This file provides that." Texts belong to the index or to the plugin, which stays. */
typedef struct tfsdk__fact {
  const char *name, *extra;
  tfsdk__candidate *from;
  uint32_t kind, next; /* next: index + 1 of the next fact of that kind and name */
} tfsdk__fact;

struct tfsdk__loader {
  tfsdk_runtime *rt;
  bool discovered, examining;
  TFSDK__VEC(char *) folders; /* in the order of the search */
  TFSDK__VEC(tfsdk__candidate *) candidates;
  TFSDK__VEC(tfsdk__fact) indexed;  /* what indexes say */
  TFSDK__VEC(tfsdk__fact) enrolled; /* what plugins without a trusted index entry have enrolled */
  TFSDK__VEC(char *) texts;         /* of the indexes */
  tfsdk__map by_name[TFSDK__FACT_KINDS]; /* name -> index + 1 of the first of `indexed` */
  tfsdk__candidate *loading;             /* innermost */
  const char
      *indexing; /* the folder whose index is being made: searched first, its old index ignored */
};

/* -------------------------------------------------------------------------------------------
 * ltdl.c */

/* Opens the file at an absolute path; all its symbols are resolved at once and stay its own. The
 * error's message is cause and hint. */
tfsdk_status *tfsdk__ltdl_open(const char *path, void **out_handle);
/* A symbol of the file itself (not of a library that it links); NULL if it has none. */
void *tfsdk__ltdl_symbol(void *handle, const char *name);
void tfsdk__ltdl_keep(void *handle); /* never unmapped from here on */
void tfsdk__ltdl_close(void *handle);

/* --------------------------------------------------------------------------------------------
 * elf.c */

/* Whether the file can be opened here at all, without opening it. */
tfsdk_status *tfsdk__elf_check(const char *path);
enum { TFSDK__IDENTITY_SIZE = 160 };
/* Which build the file is: "build-id:<hex>", or "hash:<hex>" of all its bytes if it carries no
 * build id. Copying, installing, stripping and setting of the run path leave a build id alone.
 * False if the file cannot be read. */
bool tfsdk__elf_identity(const char *path, char out[TFSDK__IDENTITY_SIZE]);

/* ------------------------------------------------------------------------------------
 * loader_stage.c */

/* Takes the candidate through the stages up to the manifest. */
tfsdk_status *tfsdk__loader_identify(tfsdk__loader *l, tfsdk__candidate *c);
/* Takes the candidate through all stages. On failure nothing is left behind but the candidate's
 * state and detail. */
tfsdk_status *tfsdk__loader_bring_up(tfsdk__loader *l, tfsdk__candidate *c);
void tfsdk__loader_take_down(tfsdk__plugin *p); /* quiesce and close; frees p, keeps the code */

/* ------------------------------------------------------------------------------------
 * loader_index.c */

/* Reads <folder>/index.txt, if it is there, adding candidates and facts. */
tfsdk_status *tfsdk__loader_index_read(tfsdk__loader *l, int32_t folder, bool *out_exists);

/* ------------------------------------------------------------------------------------------
 * loader.c */

/* Replaces an owned text; the old one stays when memory is out. text NULL: none. */
void tfsdk__loader_set(tfsdk_runtime *rt, char **field, const char *text);
/* The candidate of that file; a new one if need be. */
tfsdk_status *tfsdk__loader_candidate(tfsdk__loader *l, int32_t folder, const char *path,
                                      uint64_t dev, uint64_t ino, tfsdk__candidate **out);
tfsdk__candidate *tfsdk__loader_by_file(tfsdk__loader *l, uint64_t dev, uint64_t ino);
/* The live plugin of that name, or NULL. */
tfsdk__plugin *tfsdk__loader_live(tfsdk__loader *l, const char *name);
/* Loads what a plugin needs: "name" or "device:TYPE". */
tfsdk_status *tfsdk__loader_need(tfsdk__loader *l, const char *need);
/* "refused because another of that name came first". */
void tfsdk__loader_shadow(tfsdk__loader *l, tfsdk__candidate *c, const char *other_path);
/* Finds all folders and files of the search path and opens those that no index vouches for. */
tfsdk_status *tfsdk__loader_ready(tfsdk__loader *l);
void tfsdk__loader_log(tfsdk_runtime *rt, int32_t level, const char *format, ...)
    TFSDK_PRINTF(3, 4);

#endif
