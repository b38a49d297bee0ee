#include "trace/trace_stacks.h"

#include "trace/trace_bytes.h"

enum { COUNT_SIZE = 8, DEPTH_SIZE = 2, ID_SIZE = 8, FRAME_HEAD = 12, PART_SIZE = 18 };

/* Ids of frames in tables that were joined; what programs have as addresses never begins so. */
#define JOINED_FRAME (UINT64_C(3) << 62)

/* ---- reading ---- */

static const uint8_t *take(sb_slice *rest, size_t size) {
    const uint8_t *bytes = (const uint8_t *)rest->data;
    if (rest->size < size)
        return NULL;
    *rest = sb_slice_after(*rest, size);
    return bytes;
}

uint64_t sb_stack_take_count(sb_slice *rest) {
    const uint8_t *bytes = take(rest, COUNT_SIZE);
    return bytes == NULL ? 0 : load_le64(bytes);
}

bool sb_stack_take(sb_slice *rest, sb_slice *frames) {
    const uint8_t *depth = take(rest, DEPTH_SIZE);
    const size_t size = depth == NULL ? 0 : (size_t)load_le16(depth) * ID_SIZE;
    const uint8_t *bytes = depth == NULL ? NULL : take(rest, size);
    *frames = (sb_slice){(const char *)bytes, size};
    return bytes != NULL;
}

bool sb_stack_take_id(sb_slice *frames, uint64_t *id) {
    const uint8_t *bytes = take(frames, ID_SIZE);
    *id = bytes == NULL ? 0 : load_le64(bytes);
    return bytes != NULL;
}

bool sb_stack_take_frame(sb_slice *rest, sb_stack_frame *frame) {
    const uint8_t *head = take(rest, FRAME_HEAD);
    const size_t size = head == NULL ? 0 : (size_t)head[8] * PART_SIZE;
    const uint8_t *parts = head == NULL ? NULL : take(rest, size);
    if (parts == NULL)
        return false;
    *frame = (sb_stack_frame){
        .id = load_le64(head), .image = load_le24(head + 9), .parts = {(const char *)parts, size}};
    return true;
}

bool sb_stack_take_part(sb_slice *parts, sb_stack_part *part) {
    const uint8_t *bytes = take(parts, PART_SIZE);
    if (bytes == NULL)
        return false;
    *part = (sb_stack_part){.name = load_le24(bytes),
                            .file = load_le24(bytes + 3),
                            .line = load_le32(bytes + 6),
                            .symbol = load_le64(bytes + 10)};
    return true;
}

/* ---- joining ---- */

sb_stack_tables sb_stack_tables_make(void) {
    return (sb_stack_tables){.stacks = sb_output_to_memory(), .frames = sb_output_to_memory()};
}

static void put_number(sb_output *output, uint64_t number, unsigned size) {
    uint8_t bytes[sizeof number];
    store_le(bytes, number, size);
    sb_put(output, (sb_slice){(const char *)bytes, size});
}

/* The tables have room for the first 2^24 texts only. */
static sb_string moved_text(const sb_trace *from, const sb_string *strings, sb_string number) {
    const sb_string most = 0xFFFFFF;
    const bool is_there = number < sb_series_count(&from->strings);
    return is_there && strings[number] <= most ? strings[number] : 0;
}

/* Adds the frames; ids has their numbers afterwards. */
static void add_frames(sb_stack_tables *tables, const sb_trace *from, const sb_string *strings,
                       sb_idmap *ids) {
    sb_slice rest = from->opaque[SB_OPAQUE_CALLSTACK_FRAMES];
    sb_output *to = &tables->frames;
    sb_stack_frame frame;
    sb_stack_part part;
    uint32_t known = 0;
    for (uint64_t left = sb_stack_take_count(&rest);
         left > 0 && tables->frame_count < UINT32_MAX && sb_stack_take_frame(&rest, &frame);
         left--) {
        if (sb_idmap_get(ids, frame.id, &known))
            continue;
        sb_idmap_set(ids, frame.id, (uint32_t)tables->frame_count);
        put_number(to, JOINED_FRAME | tables->frame_count++, 8);
        put_number(to, frame.parts.size / PART_SIZE, 1);
        put_number(to, moved_text(from, strings, frame.image), 3);
        while (sb_stack_take_part(&frame.parts, &part)) {
            put_number(to, moved_text(from, strings, part.name), 3);
            put_number(to, moved_text(from, strings, part.file), 3);
            put_number(to, part.line, 4);
            put_number(to, part.symbol, 8);
        }
    }
}

/* A frame that nobody has explained stays the address that it is. */
static uint64_t moved_frame(const sb_idmap *ids, uint64_t id) {
    uint32_t number = 0;
    return sb_idmap_get(ids, id, &number) ? JOINED_FRAME | number : id & ~JOINED_FRAME;
}

uint64_t sb_stack_tables_add(sb_stack_tables *tables, const sb_trace *from,
                             const sb_string *strings) {
    sb_idmap ids;
    sb_slice rest = from->opaque[SB_OPAQUE_CALLSTACKS];
    sb_slice frames;
    uint64_t added = 0;
    sb_idmap_init(&ids);
    add_frames(tables, from, strings, &ids);
    const uint64_t count = sb_stack_take_count(&rest);
    for (;
         added < count && tables->stack_count + added < UINT32_MAX && sb_stack_take(&rest, &frames);
         added++) {
        uint64_t id = 0;
        put_number(&tables->stacks, frames.size / ID_SIZE, DEPTH_SIZE);
        while (sb_stack_take_id(&frames, &id))
            put_number(&tables->stacks, moved_frame(&ids, id), ID_SIZE);
    }
    sb_idmap_free(&ids);
    tables->stack_count += added;
    return added;
}

static void keep_table(sb_trace *into, sb_opaque section, sb_output *rows, uint64_t count) {
    sb_output table = sb_output_to_memory();
    if (count > 0) {
        put_number(&table, count, COUNT_SIZE);
        sb_put(&table, sb_output_text(rows));
        into->opaque[section] = sb_arena_copy(&into->arena, sb_output_text(&table));
        into->file.opaque_items[section] = count;
    }
    sb_output_discard(&table);
    sb_output_discard(rows);
}

void sb_stack_tables_finish(sb_stack_tables *tables, sb_trace *into) {
    keep_table(into, SB_OPAQUE_CALLSTACKS, &tables->stacks, tables->stack_count);
    keep_table(into, SB_OPAQUE_CALLSTACK_FRAMES, &tables->frames, tables->frame_count);
}
