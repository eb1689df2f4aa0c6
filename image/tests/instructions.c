// A QEMU plugin that counts the guest's instructions. It writes the count to a file that another program can read:
// -plugin instructions.so,counts=FILE Declares QEMU's plugin interface, version 1 (docs/devel/tcg-plugins.rst), because
// Debian has no package with its header.
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

int qemu_plugin_version = 1;

// Each thread of the guest has a counter in a separate cache line, so that no addition needs to be atomic.
enum { THREADS = 4096, CACHE_LINE = 64 };
static uint64_t *counts;

static void executed(unsigned thread, void *instructions) { counts[(thread % THREADS) * (CACHE_LINE / sizeof *counts)] += (uintptr_t)instructions; }

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, (void *)qemu_plugin_tb_n_insns(block));
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments) {
  (void)info;
  const char *name = "counts=";
  if (count != 1 || strncmp(arguments[0], name, strlen(name)) != 0) return 1;
  int file = open(arguments[0] + strlen(name), O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, THREADS * CACHE_LINE) != 0) return 1;
  counts = mmap(NULL, THREADS * CACHE_LINE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counts == MAP_FAILED) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
