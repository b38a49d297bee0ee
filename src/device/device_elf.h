/*
 * Executable files of the device's processors: 32-bit little-endian RISC-V ELF. Nothing in a file
 * is believed: every offset and count is checked against its size, once, when it is parsed.
 */
#ifndef SB_DEVICE_DEVICE_ELF_H
#define SB_DEVICE_DEVICE_ELF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

/* Bytes to be loaded, which lie in the file. */
typedef struct device_segment {
    uint32_t address; /* where they are loaded: the physical address */
    sb_slice bytes;
    uint32_t memory_size; /* what they and the zeros behind them take where they run */
    uint32_t virtual_address;
} device_segment;

typedef struct device_elf {
    uint32_t entry;
    sb_vector segments; /* device_segment */
    sb_slice symbols;   /* the symbol table, in whole entries; empty if there is none */
    sb_slice names;     /* what it calls them */
    sb_slice zones;     /* places where ids of zones are wanted, see kernel_profiler.h */
    sb_slice places;    /* what the zones are called */
} device_elf;

/* file must outlive elf. On failure there is nothing to free. */
sb_status device_elf_parse(sb_slice file, device_elf *elf, sb_error *error);
void device_elf_free(device_elf *elf);
/* The value of a symbol, or false. */
bool device_elf_find(const device_elf *elf, const char *name, uint32_t *value);
/* The function that holds address, and how far into it that is; empty if there is none. */
sb_slice device_elf_function_at(const device_elf *elf, uint32_t address, uint32_t *offset);

#endif
