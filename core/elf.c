/* Looking into a shared object without opening it.
 *
 * Opening runs constructors, and a library built with a sanitizer that this process lacks ends the
 * process from there. So what can be told from the file's headers is told before: whether it is a
 * shared object for this machine at all, and whether it links a sanitizer's runtime. The headers
 * also hold the build id, which the index knows files by. Offsets come from the file and are
 * believed only as far as reads succeed. */
#include "loader.h"
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#if UINTPTR_MAX == UINT64_MAX
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
typedef Elf64_Dyn elf_dynamic;
#define ELF_CLASS ELFCLASS64
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
typedef Elf32_Dyn elf_dynamic;
#define ELF_CLASS ELFCLASS32
#endif
#define ELF_NOTE_ALIGN(n) (((n) + 3u) & ~3u)
#define MAX_SEGMENTS      64

#if defined(__x86_64__)
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE EM_AARCH64
#elif defined(__riscv)
#define ELF_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define ELF_MACHINE EM_PPC64
#elif defined(__i386__)
#define ELF_MACHINE EM_386
#elif defined(__arm__)
#define ELF_MACHINE EM_ARM
#else
#define ELF_MACHINE EM_NONE /* not checked */
#endif

static const char *machine_name(unsigned machine) {
  switch (machine) {
  case EM_X86_64: return "x86-64";
  case EM_AARCH64: return "aarch64";
  case EM_RISCV: return "RISC-V";
  case EM_PPC64: return "PowerPC 64";
  case EM_386: return "x86 (32 bits)";
  case EM_ARM: return "ARM (32 bits)";
  default: return "another machine";
  }
}

static bool read_at(int fd, uint64_t offset, void *out, size_t n) {
  return offset <= INT64_MAX && pread(fd, out, n, (off_t)offset) == (ssize_t)n;
}

/* The program headers; 0 when the file is no shared object of this machine. */
static size_t segments(int fd, elf_segment *out, elf_header *h) {
  if (!read_at(fd, 0, h, sizeof *h) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
      h->e_ident[EI_CLASS] != ELF_CLASS || h->e_phentsize != sizeof *out)
    return 0;
  size_t n = h->e_phnum < MAX_SEGMENTS ? h->e_phnum : MAX_SEGMENTS;
  return read_at(fd, h->e_phoff, out, n * sizeof *out) ? n : 0;
}

static bool build_id(int fd, char out[TFSDK__IDENTITY_SIZE]) {
  elf_header h;
  elf_segment seg[MAX_SEGMENTS];
  size_t n = segments(fd, seg, &h);
  for (size_t i = 0; i < n; i++) {
    unsigned char note[4096];
    if (seg[i].p_type != PT_NOTE) continue;
    size_t size = seg[i].p_filesz < sizeof note ? (size_t)seg[i].p_filesz : sizeof note, at = 0;
    if (!read_at(fd, seg[i].p_offset, note, size)) continue;
    while (at + 12 <= size) {
      uint32_t head[3]; /* sizes of name and content, type */
      memcpy(head, note + at, sizeof head);
      uint64_t name = at + 12, content = name + ELF_NOTE_ALIGN((uint64_t)head[0]);
      uint64_t end = content + ELF_NOTE_ALIGN((uint64_t)head[1]);
      if (end > size) break;
      if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(note + name, "GNU", 4) == 0 &&
          head[1] >= 8 && head[1] <= 64) {
        int used = snprintf(out, TFSDK__IDENTITY_SIZE, "build-id:");
        for (uint32_t b = 0; b < head[1]; b++)
          used +=
              snprintf(out + used, TFSDK__IDENTITY_SIZE - (size_t)used, "%02x", note[content + b]);
        return true;
      }
      at = (size_t)end;
    }
  }
  return false;
}

bool tfsdk__elf_identity(const char *path, char out[TFSDK__IDENTITY_SIZE]) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = build_id(fd, out);
  if (!ok) {
    unsigned char part[16384];
    uint64_t hash = 0, at = 0;
    ssize_t n;
    while ((n = pread(fd, part, sizeof part, (off_t)at)) > 0) {
      hash = tfsdk__hash(part, (size_t)n, hash);
      at += (uint64_t)n;
    }
    ok = n == 0;
    snprintf(out, TFSDK__IDENTITY_SIZE, "hash:%016llx-%llu", (unsigned long long)hash,
             (unsigned long long)at);
  }
  close(fd);
  return ok;
}

/* The name of the first library in the list of needed ones that starts with `prefix`. */
static bool needed_library(int fd, const elf_segment *seg, size_t n_seg, const char *prefix,
                           char out[64]) {
  for (size_t i = 0; i < n_seg; i++) {
    elf_dynamic dyn[512];
    if (seg[i].p_type != PT_DYNAMIC) continue;
    size_t size = seg[i].p_filesz < sizeof dyn ? (size_t)seg[i].p_filesz : sizeof dyn;
    size_t n = size / sizeof *dyn;
    uint64_t names = 0;
    if (!read_at(fd, seg[i].p_offset, dyn, n * sizeof *dyn)) return false;
    for (size_t d = 0; d < n && dyn[d].d_tag != DT_NULL; d++)
      if (dyn[d].d_tag == DT_STRTAB) names = dyn[d].d_un.d_ptr;
    for (size_t k = 0; k < n_seg; k++) /* an address: where in the file is it? */
      if (seg[k].p_type == PT_LOAD && names >= seg[k].p_vaddr &&
          names - seg[k].p_vaddr < seg[k].p_filesz) {
        names = names - seg[k].p_vaddr + seg[k].p_offset;
        break;
      }
    for (size_t d = 0; d < n && dyn[d].d_tag != DT_NULL; d++) {
      if (dyn[d].d_tag != DT_NEEDED) continue;
      memset(out, 0, 64);
      if (pread(fd, out, 63, (off_t)(names + dyn[d].d_un.d_val)) <= 0) continue;
      if (strncmp(out, prefix, strlen(prefix)) == 0) return true;
    }
  }
  return false;
}

static tfsdk_status *check(int fd, uint64_t file_size) {
  unsigned char ident[EI_NIDENT] = {0};
  elf_header h;
  elf_segment seg[MAX_SEGMENTS];
  char library[64];
  static const struct {
    const char *library, *symbol, *name;
  } sanitizer[] = {{"libasan.so", "__asan_init", "AddressSanitizer"},
                   {"libtsan.so", "__tsan_init", "ThreadSanitizer"}};
  if (!read_at(fd, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "not a shared object (it has no ELF header); build it with -shared");
  if (ident[EI_CLASS] != ELF_CLASS)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "built for %d bits, this program has %d; build it for this machine",
                              ident[EI_CLASS] == ELFCLASS64 ? 64 : 32, (int)sizeof(void *) * 8);
  if (!read_at(fd, 0, &h, sizeof h))
    return tfsdk__status_make(TFSDK_DATA_LOSS,
                              "the file is damaged (it ends within its header); build or copy it "
                              "again");
  if (ELF_MACHINE != EM_NONE && h.e_machine != ELF_MACHINE)
    return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                              "built for %s, this machine is %s; build it for this machine",
                              machine_name(h.e_machine), machine_name(ELF_MACHINE));
  if (h.e_type != ET_DYN)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "not a shared object (%s); build it with -shared",
                              h.e_type == ET_REL ? "it is an object file that was not linked"
                                                 : "it is of another ELF type");
  size_t n = segments(fd, seg, &h);
  for (size_t i = 0; i < n; i++) /* mapping what is not there ends the process */
    if (seg[i].p_type == PT_LOAD &&
        (seg[i].p_offset > file_size || seg[i].p_filesz > file_size - seg[i].p_offset))
      return tfsdk__status_make(
          TFSDK_DATA_LOSS,
          "the file is damaged (%llu bytes are there, its headers tell of more); "
          "build or copy it again",
          (unsigned long long)file_size);
  for (size_t i = 0; i < sizeof sanitizer / sizeof *sanitizer; i++)
    if (dlsym(RTLD_DEFAULT, sanitizer[i].symbol) == NULL &&
        needed_library(fd, seg, n, sanitizer[i].library, library))
      return tfsdk__status_make(TFSDK_INCOMPATIBLE,
                                "built with %s (it links %s), which this program is not; build "
                                "both in the same way",
                                sanitizer[i].name, library);
  return NULL;
}

tfsdk_status *tfsdk__elf_check(const char *path) {
  struct stat st;
  size_t n = strlen(path);
  if (stat(path, &st) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return tfsdk__status_make(TFSDK_NOT_FOUND, "there is no such file; check the path");
    return tfsdk__status_make(TFSDK_PERMISSION_DENIED, "the file cannot be reached (%s)",
                              strerror(errno));
  }
  if (S_ISDIR(st.st_mode))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "this is a folder; name the plugin's file, or put the folder on the "
                              "plugin path");
  if (!S_ISREG(st.st_mode))
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT, "this is not a regular file");
  if (n > 3 && strcmp(path + n - 3, ".la") == 0)
    return tfsdk__status_make(TFSDK_INVALID_ARGUMENT,
                              "this is a libtool archive; name the shared object (.so) itself");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return tfsdk__status_make(TFSDK_PERMISSION_DENIED, "the file cannot be read (%s)",
                              strerror(errno));
  tfsdk_status *s = check(fd, (uint64_t)st.st_size);
  close(fd);
  return s;
}
