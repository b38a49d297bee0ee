#include "base/memory.h"

#include <assert.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void sb_out_of_memory(size_t size) {
    fprintf(stderr, "strobe: out of memory (%zu bytes asked for)\n", size);
    exit(1);
}

void *sb_alloc(size_t size) {
    void *block = malloc(size > 0 ? size : 1);
    if (block == NULL)
        sb_out_of_memory(size);
    return block;
}

void *sb_alloc_zeroed(size_t count, size_t size) {
    void *block = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (block == NULL)
        sb_out_of_memory(count * size);
    return block;
}

void *sb_realloc(void *block, size_t count, size_t size) {
    assert(count > 0);
    assert(size > 0);
    if (count > SIZE_MAX / size)
        sb_out_of_memory(SIZE_MAX);
    void *moved = realloc(block, count * size);
    if (moved == NULL)
        sb_out_of_memory(count * size);
    return moved;
}

/* The header is padded to the strictest alignment, so that what follows it is aligned too. */
typedef struct sb_arena_chunk {
    alignas(max_align_t) struct sb_arena_chunk *older;
    alignas(max_align_t) char bytes[];
} sb_arena_chunk;

enum { ARENA_FIRST_CHUNK = 4096, ARENA_LARGEST_CHUNK = 1 << 20 };

static void add_chunk(sb_arena *arena, size_t at_least) {
    size_t capacity = arena->newest == NULL ? ARENA_FIRST_CHUNK : arena->capacity * 2;
    if (capacity > ARENA_LARGEST_CHUNK)
        capacity = ARENA_LARGEST_CHUNK;
    if (capacity < at_least)
        capacity = at_least;
    sb_arena_chunk *chunk = sb_alloc(sizeof *chunk + capacity);
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->used = 0;
    arena->capacity = capacity;
}

static void *take(sb_arena *arena, size_t size) {
    if (arena->newest == NULL || arena->capacity - arena->used < size)
        add_chunk(arena, size);
    void *block = arena->newest->bytes + arena->used;
    arena->used += size;
    return block;
}

void *sb_arena_alloc(sb_arena *arena, size_t size) {
    const size_t step = alignof(max_align_t);
    assert(size <= SIZE_MAX - step);
    const size_t misaligned = arena->used % step;
    if (misaligned != 0 && arena->capacity - arena->used >= step)
        arena->used += step - misaligned;
    else if (misaligned != 0)
        arena->used = arena->capacity;
    return take(arena, size);
}

void *sb_arena_alloc_zeroed(sb_arena *arena, size_t size) {
    return memset(sb_arena_alloc(arena, size), 0, size);
}

sb_slice sb_arena_copy(sb_arena *arena, sb_slice text) {
    if (text.size == 0)
        return (sb_slice){"", 0};
    char *copy = take(arena, text.size);
    memcpy(copy, text.data, text.size);
    return (sb_slice){copy, text.size};
}

sb_slice sb_arena_vformat(sb_arena *arena, const char *format, va_list arguments) {
    char text[256];
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    assert(length >= 0);
    const size_t size = (size_t)length + 1; /* with a NUL, so that it can serve as a C string */
    char *kept = take(arena, size);
    if (size <= sizeof text)
        memcpy(kept, text, size);
    else
        vsnprintf(kept, size, format, again);
    va_end(again);
    return (sb_slice){kept, (size_t)length};
}

sb_slice sb_arena_format(sb_arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const sb_slice text = sb_arena_vformat(arena, format, arguments);
    va_end(arguments);
    return text;
}

void sb_arena_free(sb_arena *arena) {
    sb_arena_chunk *chunk = arena->newest;
    while (chunk != NULL) {
        sb_arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *arena = (sb_arena){0};
}

sb_vector sb_vector_of(size_t element_size) {
    assert(element_size > 0);
    return (sb_vector){.element_size = element_size};
}

void *sb_vector_push(sb_vector *vector) {
    assert(vector->element_size > 0);
    if (vector->count == vector->capacity) {
        vector->capacity = vector->capacity == 0 ? 16 : vector->capacity * 2;
        vector->data = sb_realloc(vector->data, vector->capacity, vector->element_size);
    }
    void *element = vector->data + vector->count * vector->element_size;
    vector->count++;
    return memset(element, 0, vector->element_size);
}

void *sb_vector_at(const sb_vector *vector, size_t index) {
    assert(index < vector->count);
    return vector->data + index * vector->element_size;
}

void sb_vector_clear(sb_vector *vector) {
    vector->count = 0;
}

void sb_vector_free(sb_vector *vector) {
    free(vector->data);
    *vector = (sb_vector){.element_size = vector->element_size};
}
