/* Definitions: locations, literal texts and call stacks, written into a lane before their use. */
#include "client/client.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

enum { NAME_MAX_BYTES = 4096 }; /* of one text of a location; longer ones are cut */

static sb_slice slice_of(const char *text) {
    return (sb_slice){text, text == NULL ? 0 : strnlen(text, NAME_MAX_BYTES)};
}

static bool is_defined(const client_lane *lane, uint64_t token) {
    return client_set_has(&lane->defined, token);
}

static void mark_defined(client_lane *lane, uint64_t token) {
    client_set_add(&lane->defined, token);
}

uint64_t client_location(client_lane *lane, const sb_source_location *location) {
    const uint64_t token = (uintptr_t)location | lane->front.generation;
    uint64_t *seen = &lane->front.locations[sb_lane_place(token)];
    if (*seen == token)
        return token;
    if (!is_defined(lane, token)) {
        const sb_slice pieces[3] = {slice_of(location->name), slice_of(location->function),
                                    slice_of(location->file)};
        const uint64_t words[3] = {token, sb_record_pair(location->line, location->color),
                                   client_text_sizes(pieces)};
        if (!client_record_payload(lane, SB_RECORD_LOCATION, 0, words, 3, pieces, 3))
            return 0;
        mark_defined(lane, token);
    }
    *seen = token;
    return token;
}

uint64_t client_string(client_lane *lane, const char *literal) {
    if (literal == NULL)
        return 0;
    const uint64_t token = (uintptr_t)literal | lane->front.generation;
    uint64_t *seen = &lane->seen_strings[sb_hash_number(token) % CLIENT_STRINGS_SEEN];
    if (*seen == token)
        return token;
    if (!is_defined(lane, token)) {
        const sb_slice piece = {literal, strnlen(literal, CLIENT_TEXT_MAX)};
        if (!client_record_payload(lane, SB_RECORD_STRING, 0, &token, 1, &piece, 1))
            return 0;
        mark_defined(lane, token);
    }
    *seen = token;
    return token;
}

/* The name of a function by its address, if the dynamic linker knows it. */
static void define_symbol(client_lane *lane, uint64_t address) {
    if (is_defined(lane, address))
        return;
    Dl_info info = {0};
    sb_slice pieces[3] = {{0}};
    if (dladdr((void *)(uintptr_t)address, &info) != 0) { // NOLINT
        pieces[1] = slice_of(info.dli_sname);
        pieces[2] = slice_of(info.dli_fname);
    }
    const uint64_t words[2] = {address, client_text_sizes(pieces)};
    if (client_record_payload(lane, SB_RECORD_SYMBOL, 0, words, 2, pieces, 3))
        mark_defined(lane, address);
}

void client_record_stack(client_lane *lane, int32_t depth) {
    enum { OUR_OWN = 2 }; /* this function and the one it was called from */
    void *addresses[SB_STACK_DEPTH_MAX + OUR_OWN];
    if (depth > SB_STACK_DEPTH_MAX)
        depth = SB_STACK_DEPTH_MAX;
    const bool was_inside = client_is_inside;
    client_is_inside = true; /* unwinding may allocate */
    const int found = backtrace(addresses, depth + OUR_OWN);
    uint64_t frames[SB_STACK_DEPTH_MAX];
    size_t count = 0;
    for (int i = OUR_OWN; i < found; i++) {
        frames[count] = (uintptr_t)addresses[i];
        define_symbol(lane, frames[count++]);
    }
    client_is_inside = was_inside;
    const sb_slice piece = {(const char *)frames, count * sizeof *frames};
    if (count > 0)
        client_record_payload(lane, SB_RECORD_CALLSTACK, 0, NULL, 0, &piece, 1);
}
