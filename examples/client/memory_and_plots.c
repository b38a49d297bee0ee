/*
 * Memory and plots in plain C: allocations of two pools, and how much is in use as a plot.
 *
 *     cc -DSTROBE_ENABLE memory.c $(pkg-config --cflags --libs strobe)
 */
#include <stdio.h>
#include <stdlib.h>

#include <strobe/strobe.h>

enum { BLOCKS = 64, ROUNDS = 50 };

static size_t in_use;

static void *take(size_t size, const char *pool) {
    void *block = malloc(size);
    sb_memory_allocated(block, size, pool, 0);
    in_use += size;
    sb_plot_integer("bytes in use", (int64_t)in_use);
    return block;
}

static void give(void *block, size_t size, const char *pool) {
    sb_memory_freed(block, pool, 0);
    in_use -= size;
    sb_plot_integer("bytes in use", (int64_t)in_use);
    free(block);
}

static void round_of(int round) {
    ZoneScopedN("round");
    const char *pool = round % 2 == 0 ? "even rounds" : "odd rounds";
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = take((size_t)(1 + i) * 16, pool);
    for (int i = 0; i < BLOCKS; i++)
        give(blocks[i], (size_t)(1 + i) * 16, pool);
}

int main(void) {
    sb_plot_configure("bytes in use", SB_PLOT_MEMORY, 1, 1, 0);
    for (int round = 0; round < ROUNDS; round++)
        round_of(round);
    printf("%d rounds\n", ROUNDS);
    return 0;
}
