#include "wire/wire_greeting.h"

#include <string.h>

#include "wire/wire_tables.h"

/* ---- announcement ---- */

enum {
    ANNOUNCEMENT_VERSION = 3,
    ANNOUNCED_NAME_MAX = 63,
    PROCESS_AT = 8,
    ACTIVE_AT = 16,
    NAME_AT = 20,
};

size_t sb_wire_announcement_encode(const sb_wire_announcement *announcement,
                                   uint8_t bytes[SB_WIRE_ANNOUNCEMENT_MAX]) {
    const size_t name_size = strnlen(announcement->program, ANNOUNCED_NAME_MAX);
    memset(bytes, 0, SB_WIRE_ANNOUNCEMENT_MAX);
    wire_store(bytes, ANNOUNCEMENT_VERSION, 2);
    wire_store(bytes + 2, announcement->port, 2);
    wire_store(bytes + 4, announcement->protocol, 4);
    wire_store(bytes + PROCESS_AT, announcement->process_id, 8);
    wire_store(bytes + ACTIVE_AT, (uint32_t)announcement->active_seconds, 4);
    memcpy(bytes + NAME_AT, announcement->program, name_size);
    return NAME_AT + name_size + 1;
}

/* Where the fields of each version stand; a width of 0: it has no such field. */
typedef struct announcement_layout {
    uint8_t port_at;
    uint8_t port_width;
    uint8_t protocol_at;
    uint8_t process_at;
    uint8_t process_width;
    uint8_t active_at;
    uint8_t name_at;
} announcement_layout;

bool sb_wire_announcement_decode(sb_slice datagram, sb_wire_announcement *announcement) {
    static const announcement_layout layouts[] = {
        {.protocol_at = 4, .active_at = 8, .name_at = 12},
        {.protocol_at = 4, .port_at = 8, .port_width = 4, .active_at = 12, .name_at = 16},
        {.port_at = 2, .port_width = 2, .protocol_at = 4, .active_at = 8, .name_at = 12},
        {2, 2, 4, PROCESS_AT, 8, ACTIVE_AT, NAME_AT},
    };
    uint8_t bytes[SB_WIRE_ANNOUNCEMENT_MAX] = {0};
    if (datagram.size < 2 || datagram.size > sizeof bytes)
        return false;
    memcpy(bytes, datagram.data, datagram.size);
    const uint64_t version = wire_load(bytes, 2);
    if (version > ANNOUNCEMENT_VERSION || datagram.size <= layouts[version].name_at)
        return false;
    const announcement_layout *layout = &layouts[version];
    const uint64_t port = wire_load(bytes + layout->port_at, layout->port_width);
    *announcement = (sb_wire_announcement){
        .port = layout->port_width == 0 ? SB_WIRE_PORT : (uint16_t)port,
        .protocol = (uint32_t)wire_load(bytes + layout->protocol_at, 4),
        .process_id = wire_load(bytes + layout->process_at, layout->process_width),
        .active_seconds = (int32_t)(uint32_t)wire_load(bytes + layout->active_at, 4),
    };
    const size_t room = sizeof bytes - layout->name_at;
    const size_t name_max = room < ANNOUNCED_NAME_MAX ? room : ANNOUNCED_NAME_MAX;
    memcpy(announcement->program, bytes + layout->name_at, name_max);
    return true;
}

/* ---- hello ---- */

static const char hello_letters[] = {'T', 'r', 'a', 'c', 'y', 'P', 'r', 'f'};

void sb_wire_hello_encode(uint32_t number, uint8_t bytes[SB_WIRE_HELLO_SIZE]) {
    memcpy(bytes, hello_letters, sizeof hello_letters);
    wire_store(bytes + sizeof hello_letters, number, 4);
}

bool sb_wire_hello_decode(const uint8_t bytes[SB_WIRE_HELLO_SIZE], uint32_t *number) {
    *number = (uint32_t)wire_load(bytes + sizeof hello_letters, 4);
    return memcmp(bytes, hello_letters, sizeof hello_letters) == 0;
}

/* ---- welcome ---- */

enum { DELAY_AT = 24, DELAY_SIZE = 8, PROGRAM_SIZE = 64, HOST_SIZE = 1024 };

/* Offsets behind the delay, as if there was none. */
enum {
    RESOLUTION_AT = 24,
    EPOCH_AT = 32,
    EXECUTABLE_AT = 40,
    PID_AT = 48,
    SAMPLING_AT = 56,
    FLAGS_AT = 64,
    ARCHITECTURE_AT = 65,
    MANUFACTURER_AT = 66,
    CPU_ID_AT = 78,
    PROGRAM_AT = 82,
    HOST_AT = 146,
    WELCOME_SIZE = 1170,
};

size_t sb_wire_welcome_size(const sb_wire_protocol *protocol) {
    return WELCOME_SIZE + (protocol->has_delay ? DELAY_SIZE : 0);
}

static uint64_t double_bits(double value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void sb_wire_welcome_encode(const sb_wire_protocol *protocol, const sb_wire_welcome *welcome,
                            uint8_t bytes[SB_WIRE_WELCOME_MAX]) {
    memset(bytes, 0, SB_WIRE_WELCOME_MAX);
    wire_store(bytes, double_bits(welcome->timer_multiplier), 8);
    wire_store(bytes + 8, (uint64_t)welcome->init_begin, 8);
    wire_store(bytes + 16, (uint64_t)welcome->init_end, 8);
    uint8_t *p = bytes;
    if (protocol->has_delay) {
        wire_store(bytes + DELAY_AT, welcome->delay, 8);
        p += DELAY_SIZE;
    }
    wire_store(p + RESOLUTION_AT, welcome->resolution, 8);
    wire_store(p + EPOCH_AT, welcome->epoch, 8);
    wire_store(p + EXECUTABLE_AT, welcome->executable_time, 8);
    wire_store(p + PID_AT, welcome->process_id, 8);
    wire_store(p + SAMPLING_AT, (uint64_t)welcome->sampling_period, 8);
    p[FLAGS_AT] = welcome->flags;
    p[ARCHITECTURE_AT] = welcome->cpu_architecture;
    memcpy(p + MANUFACTURER_AT, welcome->cpu_manufacturer, sizeof welcome->cpu_manufacturer);
    wire_store(p + CPU_ID_AT, welcome->cpu_id, 4);
    memcpy(p + PROGRAM_AT, welcome->program, strnlen(welcome->program, PROGRAM_SIZE - 1));
    memcpy(p + HOST_AT, welcome->host, strnlen(welcome->host, HOST_SIZE - 1));
}

void sb_wire_welcome_decode(const sb_wire_protocol *protocol, const uint8_t *bytes,
                            sb_wire_welcome *welcome) {
    *welcome = (sb_wire_welcome){0};
    const uint64_t multiplier = wire_load(bytes, 8);
    memcpy(&welcome->timer_multiplier, &multiplier, sizeof multiplier);
    welcome->init_begin = (int64_t)wire_load(bytes + 8, 8);
    welcome->init_end = (int64_t)wire_load(bytes + 16, 8);
    const uint8_t *p = bytes;
    if (protocol->has_delay) {
        welcome->delay = wire_load(bytes + DELAY_AT, 8);
        p += DELAY_SIZE;
    }
    welcome->resolution = wire_load(p + RESOLUTION_AT, 8);
    welcome->epoch = wire_load(p + EPOCH_AT, 8);
    welcome->executable_time = wire_load(p + EXECUTABLE_AT, 8);
    welcome->process_id = wire_load(p + PID_AT, 8);
    welcome->sampling_period = (int64_t)wire_load(p + SAMPLING_AT, 8);
    welcome->flags = p[FLAGS_AT];
    welcome->cpu_architecture = p[ARCHITECTURE_AT];
    memcpy(welcome->cpu_manufacturer, p + MANUFACTURER_AT, sizeof welcome->cpu_manufacturer);
    welcome->cpu_id = (uint32_t)wire_load(p + CPU_ID_AT, 4);
    memcpy(welcome->program, p + PROGRAM_AT, PROGRAM_SIZE);
    memcpy(welcome->host, p + HOST_AT, HOST_SIZE);
}

void sb_wire_on_demand_encode(const sb_wire_on_demand *on_demand,
                              uint8_t bytes[SB_WIRE_ON_DEMAND_SIZE]) {
    wire_store(bytes, on_demand->frames, 8);
    wire_store(bytes + 8, on_demand->time, 8);
}

void sb_wire_on_demand_decode(const uint8_t bytes[SB_WIRE_ON_DEMAND_SIZE],
                              sb_wire_on_demand *on_demand) {
    on_demand->frames = wire_load(bytes, 8);
    on_demand->time = wire_load(bytes + 8, 8);
}

/* ---- queries ---- */

/* The byte of each kind: in the order of today, and in that before protocol 66. */
static const uint8_t query_bytes[SB_WIRE_QUERY_KINDS][2] = {
    [SB_WIRE_ASK_TERMINATE] = {0, 0},        [SB_WIRE_ASK_STRING] = {1, 1},
    [SB_WIRE_ASK_THREAD_NAME] = {2, 2},      [SB_WIRE_ASK_SOURCE_LOCATION] = {3, 3},
    [SB_WIRE_ASK_PLOT_NAME] = {4, 4},        [SB_WIRE_ASK_FRAME_NAME] = {5, 5},
    [SB_WIRE_ASK_PARAMETER] = {6, 6},        [SB_WIRE_ASK_FIBER_NAME] = {7, 7},
    [SB_WIRE_ASK_EXTERNAL_NAME] = {8, 10},   [SB_WIRE_ASK_DISCONNECT] = {9, 8},
    [SB_WIRE_ASK_CALLSTACK_FRAME] = {10, 9}, [SB_WIRE_ASK_SYMBOL] = {11, 11},
    [SB_WIRE_ASK_SYMBOL_CODE] = {12, 12},    [SB_WIRE_ASK_SOURCE_CODE] = {13, 13},
    [SB_WIRE_ASK_DATA_TRANSFER] = {14, 14},  [SB_WIRE_ASK_DATA_TRANSFER_PART] = {15, 15},
};

void sb_wire_query_encode(const sb_wire_protocol *protocol, const sb_wire_query *query,
                          uint8_t bytes[SB_WIRE_QUERY_SIZE]) {
    bytes[0] = query_bytes[query->kind][protocol->old_query_order ? 1 : 0];
    wire_store(bytes + 1, query->token, 8);
    wire_store(bytes + 9, query->extra, 4);
}

bool sb_wire_query_decode(const sb_wire_protocol *protocol, const uint8_t bytes[SB_WIRE_QUERY_SIZE],
                          sb_wire_query *query) {
    for (unsigned kind = 0; kind < SB_WIRE_QUERY_KINDS; kind++) {
        if (query_bytes[kind][protocol->old_query_order ? 1 : 0] != bytes[0])
            continue;
        *query = (sb_wire_query){(sb_wire_query_kind)kind, wire_load(bytes + 1, 8),
                                 (uint32_t)wire_load(bytes + 9, 4)};
        return true;
    }
    return false;
}
