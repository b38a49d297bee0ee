#include "device/profiler/profiler_names.h"

#include <stdlib.h>
#include <string.h>

#define ID_COUNT 65536u
/* Not names of zones: hardware counters, transfers, debugging of transfers; 0 is filler. */
static const uint16_t reserved_ids[] = {0, 9090, 12345, 23456};

#define LUI_OPCODE 0x37u
#define VALID 0x80000000u

void profiler_names_init(profiler_names *names) {
    *names = (profiler_names){.zones = sb_vector_of(sizeof(profiler_zone))};
    sb_intern_init(&names->texts);
    names->zone_of_id = sb_alloc_zeroed(ID_COUNT, sizeof *names->zone_of_id);
}

void profiler_names_free(profiler_names *names) {
    sb_arena_free(&names->arena);
    sb_intern_free(&names->texts);
    sb_vector_free(&names->zones);
    free(names->zone_of_id);
}

const profiler_zone *profiler_names_find(const profiler_names *names, uint16_t id) {
    const uint32_t index = names->zone_of_id[id];
    return index == 0 ? NULL : sb_vector_at(&names->zones, index - 1);
}

/* ---- ids ---- */

/* 32-bit FNV-1a, its halves folded. */
static uint16_t hash_of(sb_slice text) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (uint8_t)text.data[i]) * 16777619u;
    return (uint16_t)(hash ^ hash >> 16);
}

static bool is_free(const profiler_names *names, uint16_t id) {
    for (size_t i = 0; i < sizeof reserved_ids / sizeof reserved_ids[0]; i++)
        if (id == reserved_ids[i])
            return false;
    return names->zone_of_id[id] == 0;
}

sb_status profiler_names_add(profiler_names *names, const profiler_zone *zone, uint16_t *id,
                             sb_error *error) {
    sb_output text = sb_output_to_memory();
    sb_put_format(&text, "%.*s,%.*s,%u,KERNEL_PROFILER", (int)zone->name.size, zone->name.data,
                  (int)zone->file.size, zone->file.data, zone->line);
    const uint32_t index = sb_intern_add(&names->texts, sb_output_text(&text));
    uint16_t chosen = hash_of(sb_output_text(&text));
    sb_output_discard(&text);
    if (index < names->zones.count) {
        *id = ((const profiler_zone *)sb_vector_at(&names->zones, index))->id;
        return SB_OK;
    }
    for (uint32_t tried = 0; !is_free(names, chosen); tried++, chosen++)
        if (tried == ID_COUNT)
            SB_FAIL(error, SB_ERR_LIMIT,
                    "more than 65,000 different zones in kernels: their ids are used up");
    profiler_zone *added = sb_vector_push(&names->zones);
    *added = (profiler_zone){.name = sb_arena_copy(&names->arena, zone->name),
                             .file = sb_arena_copy(&names->arena, zone->file),
                             .line = zone->line,
                             .color = zone->color,
                             .id = chosen};
    names->zone_of_id[chosen] = (uint32_t)names->zones.count;
    *id = chosen;
    return SB_OK;
}

/* ---- images ---- */

/* An entry of .debug_strobe_zones: where an id is wanted, which zone's, and how it is written. */
typedef struct zone_entry {
    uint32_t address;
    uint32_t place;
    uint32_t kind; /* 0: into a lui; 1: a word */
} zone_entry;

/* The word at an address as the program sees it; NULL if nothing is loaded there. */
static char *find_word(const device_image *image, uint32_t address) {
    for (size_t i = 0; i < image->elf.segments.count; i++) {
        const device_segment *segment = sb_vector_at(&image->elf.segments, i);
        const uint32_t offset = address - segment->virtual_address;
        if (address >= segment->virtual_address && segment->bytes.size >= 4 &&
            offset <= segment->bytes.size - 4)
            return image->copy + (segment->bytes.data - image->copy) + offset;
    }
    return NULL;
}

static sb_status read_place(sb_slice places, uint32_t offset, profiler_zone *zone,
                            sb_error *error) {
    sb_slice rest = sb_slice_after(places, offset);
    if (rest.size < 8)
        SB_FAIL(error, SB_ERR_FORMAT, "a zone's name lies outside its section");
    memcpy(&zone->line, rest.data, 4);
    memcpy(&zone->color, rest.data + 4, 4);
    rest = sb_slice_after(rest, 8);
    zone->name = sb_slice_cut(rest, '\0', &rest);
    zone->file = sb_slice_cut(rest, '\0', &rest);
    if (sb_slice_contains(zone->name, ","))
        SB_FAIL(error, SB_ERR_USAGE,
                "%.*s:%u: the zone's name \"%.*s\" has a comma, which logs cannot carry",
                (int)zone->file.size, zone->file.data, zone->line, (int)zone->name.size,
                zone->name.data);
    return SB_OK;
}

static sb_status write_id(char *at, const zone_entry *entry, uint16_t id, sb_error *error) {
    uint32_t word;
    memcpy(&word, at, 4);
    const uint32_t upper = VALID | (uint32_t)id << 12;
    if (entry->kind == 0 && (word & 0x7F) != LUI_OPCODE)
        SB_FAIL(error, SB_ERR_FORMAT, "no zone begins at 0x%x, though its list says so",
                entry->address);
    word = entry->kind == 0 ? upper | (word & 0xFFF) : upper;
    memcpy(at, &word, 4);
    return SB_OK;
}

sb_status profiler_names_write(profiler_names *names, device_image *image, sb_error *error) {
    const device_elf *elf = &image->elf;
    for (size_t i = 0; i + sizeof(zone_entry) <= elf->zones.size; i += sizeof(zone_entry)) {
        zone_entry entry;
        profiler_zone zone = {0};
        uint16_t id = 0;
        memcpy(&entry, elf->zones.data + i, sizeof entry);
        /* The linker has dropped the function. */
        if (entry.address == 0)
            continue;
        char *at = find_word(image, entry.address);
        if (at == NULL)
            SB_FAIL(error, SB_ERR_FORMAT, "%s: a zone at 0x%x lies outside the code", image->path,
                    entry.address);
        SB_TRY(read_place(elf->places, entry.place, &zone, error));
        SB_TRY(profiler_names_add(names, &zone, &id, error));
        SB_TRY(write_id(at, &entry, id, error));
    }
    return SB_OK;
}
