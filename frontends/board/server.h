/* server.h - the page and its data over HTTP. */
#ifndef TFSDK_BOARD_SERVER_H
#define TFSDK_BOARD_SERVER_H

#include "store.h"

typedef struct server server;

/* What travels with the program: the page, its scripts, the libraries' licences. */
typedef struct page_file {
  const char *name, *type;
  const unsigned char *bytes;
  size_t n;
} page_file;
extern const page_file page_files[];

/* Listens on that address; port 0: any that is free. The error text has `cap` bytes; NULL: it
 * could not be had. */
server *server_start(store *s, const char *host, int port, char *out_error, size_t cap);
int server_port(const server *x);
void server_stop(server *x);

#endif
