#include "record/record_names.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BLOCK_SIZE = 65536, /* texts and locations are cut from blocks of this size */
    TEXT_MAX = 65535,   /* what a string on the wire can be */
    GENERATION_SHIFT = 56,
};

/* Above all addresses of a program, below the 56 bits that tokens have on the wire. */
#define MADE_UP_TOKEN (UINT64_C(0xff) << 48)

typedef struct block {
    struct block *older;
    size_t used;
    size_t size;
    char bytes[];
} block;

typedef struct text {
    struct text *next; /* with the same hash */
    size_t size;
    char bytes[];
} text;

typedef struct location {
    struct location *next; /* with the same hash */
    uint64_t token;
    const text *name; /* NULL: none */
    const text *function;
    const text *file;
    uint32_t line;
    uint32_t colour;
} location;

typedef struct symbol {
    const text *function;
    const text *image;
} symbol;

typedef struct thread {
    const text *name;
    bool is_given;
    bool is_main;
} thread;

struct sb_record_names {
    block *newest;
    sb_map texts;             /* hash to the first text with it */
    sb_map texts_by_token;    /* address to itself: what may be asked for */
    sb_map strings;           /* raw token to text */
    sb_map locations;         /* raw token to location */
    sb_map tokens;            /* token to location, where it is not the raw one */
    sb_map locations_by_hash; /* of what they hold */
    sb_map symbols;
    sb_map threads;
    uint64_t made_up;
};

sb_record_names *sb_record_names_create(void) {
    return calloc(1, sizeof(sb_record_names));
}

void sb_record_names_free(sb_record_names *names) {
    if (names == NULL)
        return;
    for (block *each = names->newest; each != NULL;) {
        block *older = each->older;
        free(each);
        each = older;
    }
    sb_map_free(&names->texts);
    sb_map_free(&names->texts_by_token);
    sb_map_free(&names->strings);
    sb_map_free(&names->locations);
    sb_map_free(&names->tokens);
    sb_map_free(&names->locations_by_hash);
    sb_map_free(&names->symbols);
    sb_map_free(&names->threads);
    free(names);
}

/* Zeroed memory that lives as long as the names, or NULL. */
static void *take(sb_record_names *names, size_t size) {
    size = (size + 15) & ~(size_t)15;
    block *newest = names->newest;
    if (newest == NULL || newest->size - newest->used < size) {
        const size_t block_size = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        newest = calloc(1, sizeof *newest + block_size);
        if (newest == NULL)
            return NULL;
        newest->older = names->newest;
        newest->size = block_size;
        names->newest = newest;
    }
    void *memory = newest->bytes + newest->used;
    newest->used += size;
    return memory;
}

/* The one copy of a text. NULL without memory. */
static const text *keep(sb_record_names *names, sb_slice slice) {
    if (slice.size > TEXT_MAX)
        slice.size = TEXT_MAX;
    const uint64_t hash =
        sb_hash_text(UINT64_C(0xcbf29ce484222325), slice) | 1;        /* a key is not 0 */
    text *first = (text *)(uintptr_t)sb_map_get(&names->texts, hash); // NOLINT
    for (text *each = first; each != NULL; each = each->next) {
        if (sb_slice_equal((sb_slice){each->bytes, each->size}, slice))
            return each;
    }
    text *kept = take(names, sizeof *kept + slice.size + 1);
    if (kept == NULL || !sb_map_set(&names->texts, hash, (uintptr_t)kept))
        return NULL;
    kept->next = first;
    kept->size = slice.size;
    if (slice.size > 0)
        memcpy(kept->bytes, slice.data, slice.size);
    sb_map_set(&names->texts_by_token, (uintptr_t)kept, (uintptr_t)kept);
    return kept;
}

uint64_t sb_record_keep_text(sb_record_names *names, sb_slice slice) {
    return (uintptr_t)keep(names, slice);
}

static bool same_location(const location *a, const location *b) {
    return a->name == b->name && a->function == b->function && a->file == b->file &&
           a->line == b->line && a->colour == b->colour;
}

static uint64_t hash_location(const location *each) {
    uint64_t hash = sb_hash_number((uintptr_t)each->name + 1);
    hash = sb_hash_number(hash ^ (uintptr_t)each->function);
    hash = sb_hash_number(hash ^ (uintptr_t)each->file);
    return sb_hash_number(hash ^ each->line ^ (uint64_t)each->colour << 32) | 1;
}

void sb_record_define_location(sb_record_names *names, uint64_t raw,
                               const sb_record_location *given) {
    location wanted = {.line = given->line, .colour = given->colour};
    wanted.name = given->name.data == NULL ? NULL : keep(names, given->name);
    wanted.function = keep(names, given->function);
    wanted.file = keep(names, given->file);
    const uint64_t hash = hash_location(&wanted);
    const uint64_t first = sb_map_get(&names->locations_by_hash, hash);
    const location *known = (location *)(uintptr_t)first; // NOLINT
    while (known != NULL && !same_location(known, &wanted))
        known = known->next;
    const bool is_plain = raw >> GENERATION_SHIFT == 0;
    if (known != NULL && (!is_plain || known->token == raw)) {
        sb_map_set(&names->locations, raw, (uintptr_t)known);
        return;
    }
    location *made = take(names, sizeof *made);
    if (made == NULL)
        return;
    *made = wanted;
    made->token = is_plain ? raw : MADE_UP_TOKEN + ++names->made_up;
    made->next = (location *)(uintptr_t)first; // NOLINT
    sb_map_set(&names->locations_by_hash, hash, (uintptr_t)made);
    sb_map_set(&names->locations, raw, (uintptr_t)made);
    sb_map_set(&names->tokens, made->token, (uintptr_t)made);
}

void sb_record_define_string(sb_record_names *names, uint64_t raw, sb_slice slice) {
    sb_map_set(&names->strings, raw, (uintptr_t)keep(names, slice));
}

void sb_record_define_symbol(sb_record_names *names, uint64_t address, sb_slice function,
                             sb_slice image) {
    symbol *made = address == 0 ? NULL : take(names, sizeof *made);
    if (made == NULL)
        return;
    *made = (symbol){keep(names, function), keep(names, image)};
    sb_map_set(&names->symbols, address, (uintptr_t)made);
}

void sb_record_define_thread(sb_record_names *names, uint32_t id, sb_slice name, bool is_given,
                             bool is_main) {
    if (id == 0)
        return;
    thread *known = (thread *)(uintptr_t)sb_map_get(&names->threads, id); // NOLINT
    if (known == NULL) {
        known = take(names, sizeof *known);
        if (known == NULL || !sb_map_set(&names->threads, id, (uintptr_t)known))
            return;
    }
    known->is_main |= is_main;
    if (is_given || !known->is_given)
        known->name = keep(names, name);
    known->is_given |= is_given;
}

uint64_t sb_record_location_token(const sb_record_names *names, uint64_t raw) {
    if (raw >> GENERATION_SHIFT == 0)
        return raw;
    const location *known = (location *)(uintptr_t)sb_map_get(&names->locations, raw); // NOLINT
    return known == NULL ? raw & ((UINT64_C(1) << GENERATION_SHIFT) - 1) : known->token;
}

size_t sb_record_location_count(const sb_record_names *names) {
    return names->tokens.count;
}

uint64_t sb_record_string_token(const sb_record_names *names, uint64_t raw) {
    return raw == 0 ? 0 : sb_map_get(&names->strings, raw);
}

/* ---- answers ---- */

static void send(const sb_wire_handler *handler, const sb_wire_event *event) {
    handler->event(handler->context, event);
}

static sb_slice slice_of(const text *kept) {
    return kept == NULL ? (sb_slice)SB_SLICE("?") : (sb_slice){kept->bytes, kept->size};
}

static void answer_text(sb_record_names *names, uint8_t kind, uint64_t token,
                        const sb_wire_handler *handler) {
    const text *kept = (text *)(uintptr_t)sb_map_get(&names->texts_by_token, token); // NOLINT
    send(handler, &(sb_wire_event){.kind = kind, .token = token, .text = slice_of(kept)});
}

static void answer_thread(const sb_record_names *names, uint64_t id,
                          const sb_wire_handler *handler) {
    const thread *known = (thread *)(uintptr_t)sb_map_get(&names->threads, id); // NOLINT
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)id);
    sb_slice name = sb_slice_of(number);
    if (known != NULL && known->name != NULL && known->name->size > 0)
        name = slice_of(known->name);
    if (known != NULL && known->is_main)
        name = (sb_slice)SB_SLICE("Main thread");
    send(handler, &(sb_wire_event){.kind = SB_WIRE_THREAD_NAME, .token = id, .text = name});
}

static void answer_location(sb_record_names *names, uint64_t token,
                            const sb_wire_handler *handler) {
    const location *known = (location *)(uintptr_t)sb_map_get(&names->tokens, token); // NOLINT
    const uint64_t unknown = sb_record_keep_text(names, (sb_slice)SB_SLICE("?"));
    sb_wire_event event = {.kind = SB_WIRE_SOURCE_LOCATION, .function = unknown, .file = unknown};
    if (known != NULL) {
        event.token = (uintptr_t)known->name;
        event.function = known->function == NULL ? unknown : (uintptr_t)known->function;
        event.file = known->file == NULL ? unknown : (uintptr_t)known->file;
        event.line = known->line;
        event.colour = known->colour;
    }
    send(handler, &event);
}

static void answer_frame(const sb_record_names *names, uint64_t address,
                         const sb_wire_handler *handler) {
    const symbol *known = (symbol *)(uintptr_t)sb_map_get(&names->symbols, address); // NOLINT
    char number[24];
    snprintf(number, sizeof number, "0x%llx", (unsigned long long)address);
    sb_slice function = sb_slice_of(number);
    sb_slice image = SB_SLICE("[unknown]");
    if (known != NULL) {
        image = slice_of(known->image);
        if (known->function != NULL && known->function->size > 0)
            function = slice_of(known->function);
    }
    send(handler,
         &(sb_wire_event){
             .kind = SB_WIRE_CALLSTACK_FRAME_SIZE, .token = address, .type = 1, .text = image});
    send(handler, &(sb_wire_event){.kind = SB_WIRE_CALLSTACK_FRAME,
                                   .text = function,
                                   .file_text = SB_SLICE("[unknown]")});
}

static void answer_external(uint64_t id, const sb_wire_handler *handler) {
    const sb_slice unknown = SB_SLICE("?");
    send(handler,
         &(sb_wire_event){.kind = SB_WIRE_EXTERNAL_THREAD_NAME, .token = id, .text = unknown});
    send(handler, &(sb_wire_event){.kind = SB_WIRE_EXTERNAL_NAME, .token = id, .text = unknown});
}

bool sb_record_answer(sb_record_names *names, const sb_wire_query *query,
                      const sb_wire_handler *handler) {
    const uint64_t token = query->token;
    switch (query->kind) {
    case SB_WIRE_ASK_STRING:
        answer_text(names, SB_WIRE_STRING, token, handler);
        return true;
    case SB_WIRE_ASK_PLOT_NAME:
        answer_text(names, SB_WIRE_PLOT_NAME, token, handler);
        return true;
    case SB_WIRE_ASK_FRAME_NAME:
        answer_text(names, SB_WIRE_FRAME_NAME, token, handler);
        return true;
    case SB_WIRE_ASK_FIBER_NAME:
        answer_text(names, SB_WIRE_FIBER_NAME, token, handler);
        return true;
    case SB_WIRE_ASK_THREAD_NAME:
        answer_thread(names, token, handler);
        return true;
    case SB_WIRE_ASK_SOURCE_LOCATION:
        answer_location(names, token, handler);
        return true;
    case SB_WIRE_ASK_CALLSTACK_FRAME:
        answer_frame(names, token, handler);
        return true;
    case SB_WIRE_ASK_SYMBOL:
        send(handler, &(sb_wire_event){
                          .kind = SB_WIRE_SYMBOL, .token = token, .text = SB_SLICE("[unknown]")});
        return true;
    case SB_WIRE_ASK_SYMBOL_CODE:
        send(handler, &(sb_wire_event){.kind = SB_WIRE_NO_SYMBOL_CODE});
        return true;
    case SB_WIRE_ASK_SOURCE_CODE:
        send(handler, &(sb_wire_event){.kind = SB_WIRE_NO_SOURCE_CODE, .id = (uint32_t)token});
        return true;
    case SB_WIRE_ASK_DATA_TRANSFER:
    case SB_WIRE_ASK_DATA_TRANSFER_PART:
        send(handler, &(sb_wire_event){.kind = SB_WIRE_ACK});
        return true;
    case SB_WIRE_ASK_EXTERNAL_NAME:
        answer_external(token, handler);
        return true;
    case SB_WIRE_ASK_TERMINATE:
    case SB_WIRE_ASK_PARAMETER:
    case SB_WIRE_ASK_DISCONNECT:
    case SB_WIRE_QUERY_KINDS:
        break;
    }
    return false;
}
