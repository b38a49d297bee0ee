/*
 * Memory for commands: allocation that cannot fail, an arena, a growable vector.
 *
 * A command that runs out of memory has nothing sensible left to do, and on Linux the kernel
 * usually ends it before malloc returns NULL. So these end the process with one sentence and exit
 * status 1 instead of making every caller carry a check that no test reaches. Code that lives in
 * somebody else's process (the instrumentation client) must not use this header.
 *
 * None of it is thread-safe: an arena or a vector has one owner.
 */
#ifndef SB_BASE_MEMORY_H
#define SB_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

#include "base/slice.h"

/* Ends the process with a sentence; for code that asks the system itself. */
_Noreturn void sb_out_of_memory(size_t size);
/* malloc, calloc and realloc that end the process when there is no memory. */
void *sb_alloc(size_t size);
void *sb_alloc_zeroed(size_t count, size_t size);
void *sb_realloc(void *block, size_t count, size_t size);

/*
 * Arena: many small allocations that live and die together. Memory comes in chunks that grow with
 * use and is given back all at once.
 *
 *     sb_arena arena = {0};
 *     sb_slice copy = sb_arena_copy(&arena, text);
 *     sb_arena_free(&arena);
 */
typedef struct sb_arena {
    struct sb_arena_chunk *newest;
    size_t used;     /* bytes handed out from the newest chunk */
    size_t capacity; /* bytes the newest chunk holds */
} sb_arena;

/* Uninitialised memory aligned for any type. */
void *sb_arena_alloc(sb_arena *arena, size_t size);
void *sb_arena_alloc_zeroed(sb_arena *arena, size_t size);
/* A copy of text that lives as long as the arena. */
sb_slice sb_arena_copy(sb_arena *arena, sb_slice text);
/* printf into the arena. The text is followed by a NUL. */
sb_slice sb_arena_format(sb_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
sb_slice sb_arena_vformat(sb_arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
void sb_arena_free(sb_arena *arena);

/*
 * Vector: elements of one size, side by side. Pointers into it are valid until the next push.
 *
 *     sb_vector rows = sb_vector_of(sizeof(row));
 *     row *added = sb_vector_push(&rows);
 *     row *first = sb_vector_at(&rows, 0);
 *     sb_vector_free(&rows);
 */
typedef struct sb_vector {
    char *data;
    size_t count;
    size_t capacity;
    size_t element_size;
} sb_vector;

sb_vector sb_vector_of(size_t element_size);
/* Adds one zeroed element and returns it. */
void *sb_vector_push(sb_vector *vector);
/* The element at index, which must be below count. */
void *sb_vector_at(const sb_vector *vector, size_t index);
/* Forgets the elements and keeps the memory for the next ones. */
void sb_vector_clear(sb_vector *vector);
void sb_vector_free(sb_vector *vector);

#endif
