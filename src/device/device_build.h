/*
 * Building kernels and firmware at run time, with a cache.
 *
 * Sources of the device side are part of this library (device_source_files) and laid out in the
 * cache folder ($STROBE_CACHE, $XDG_CACHE_HOME/strobe or ~/.cache/strobe). What was built is found
 * again by the content of all that it was made from: compiler, flags, sources, and the files they
 * include. The compiler is riscv64-unknown-elf-gcc, or $STROBE_RISCV_CC.
 */
#ifndef SB_DEVICE_DEVICE_BUILD_H
#define SB_DEVICE_DEVICE_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include <strobe/device.h>

#include "base/base.h"

/* A file of the device side that the library carries. */
typedef struct device_source_file {
    const char *name;
    const unsigned char *bytes;
    size_t size;
} device_source_file;

extern const device_source_file device_source_files[];
extern const size_t device_source_file_count;

/* What is built into kernels and firmware for the profiler. */
typedef struct device_instrument {
    bool is_on;
    bool adds_up;             /* sums of time in zones */
    bool accumulates;         /* short runs are pushed together */
    bool drops;               /* markers that find no room are not recorded */
    bool records_steps;       /* what firmware does to start kernels and to wait for them */
    bool counts_instructions; /* performance counters */
    bool records_noc;         /* transfers */
    bool records_noc_steps;   /* and words, semaphores and waiting */
} device_instrument;

typedef struct device_job {
    const char *name;    /* for messages */
    const char *path;    /* the source, or NULL */
    sb_slice source;     /* the source if path is NULL */
    const char *include; /* a folder, or NULL */
    uint32_t processor;
    bool is_firmware;
    device_instrument instrument; /* if it is on, the kernel may use the room others leave */
    const sb_define *defines;
    size_t define_count;
    char *elf_path; /* out, to be freed */
} device_job;

/*
 * Builds all jobs, several at a time. What the compiler says goes to standard error as it is. On
 * failure elf_path of some jobs is set all the same.
 */
sb_status device_build(device_job *jobs, size_t count, sb_error *error);

/* The folder of the device side's sources, laid out; valid until the thread ends. */
sb_status device_source_folder(const char **folder, sb_error *error);

#endif
