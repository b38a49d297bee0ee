/*
 * A program as device_program.c makes it and device_launch.c runs it.
 */
#ifndef SB_DEVICE_DEVICE_PROGRAM_H
#define SB_DEVICE_DEVICE_PROGRAM_H

#include "device/device_gpu.h"
#include "device/device_mesh.h"

typedef struct program_args {
    uint32_t *words;
    size_t count;
} program_args;

typedef struct program_kernel {
    const char *name;
    const char *path;   /* a source or an ELF file, or NULL */
    const char *source; /* text, or NULL */
    const char *include;
    bool is_elf;
    sb_processor processor;
    sb_core_range cores;
    sb_define *defines;
    size_t define_count;
    device_image image; /* once it is built */
    program_args args[DEVICE_MAX_CORES];
    uint32_t stack_bytes;
} program_kernel;

typedef struct program_circular {
    sb_core_range cores;
    uint32_t id;
    sb_circular config;
} program_circular;

typedef struct program_semaphore {
    sb_core_range cores;
    uint32_t id;
    uint32_t initial;
} program_semaphore;

struct sb_program {
    sb_device *device;
    sb_program *next;     /* of the device's programs */
    sb_arena arena;       /* texts of kernels */
    uint32_t id;          /* 0: assigned at each launch */
    sb_vector kernels;    /* program_kernel */
    sb_vector circulars;  /* program_circular */
    sb_vector semaphores; /* program_semaphore */
    gpu_program *gpu;     /* NULL: the device is no GPU. Else there is nothing in the others */
};

static inline bool range_has(sb_core_range range, sb_core core) {
    return core.x >= range.first.x && core.x <= range.last.x && core.y >= range.first.y &&
           core.y <= range.last.y;
}

static inline bool ranges_meet(sb_core_range a, sb_core_range b) {
    return a.first.x <= b.last.x && b.first.x <= a.last.x && a.first.y <= b.last.y &&
           b.first.y <= a.last.y;
}

/* The kernel of a processor on a core, or NULL. */
program_kernel *program_kernel_at(const sb_program *program, sb_core core, uint32_t processor);
sb_kernel_size program_kernel_sizes(const program_kernel *kernel);

#endif
