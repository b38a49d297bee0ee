#include "collector.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct zone_count {
    uint64_t token; /* 0: the name is text */
    char name[256];
    uint64_t count;
} zone_count;

typedef struct location {
    uint64_t token;
    uint64_t name;
    uint64_t function;
    uint64_t file;
    uint32_t line;
} location;

void collector_init(test_collector *collector, void *context,
                    void (*ask)(void *context, const sb_wire_query *query)) {
    *collector = (test_collector){.context = context, .ask = ask};
    collector->lines = sb_vector_of(512);
    collector->zones = sb_vector_of(sizeof(zone_count));
    collector->names = sb_vector_of(sizeof(collector_name));
    collector->locations = sb_vector_of(sizeof(location));
    collector->threads = sb_vector_of(sizeof(collector_thread));
}

void collector_free(test_collector *collector) {
    sb_vector_free(&collector->lines);
    sb_vector_free(&collector->zones);
    sb_vector_free(&collector->names);
    sb_vector_free(&collector->locations);
    sb_vector_free(&collector->threads);
    sb_map_free(&collector->zones_by_hash);
}

static void fault(test_collector *collector, const char *text, uint64_t number) {
    if (collector->fault[0] == '\0')
        snprintf(collector->fault, sizeof collector->fault, "%s (%llu)", text,
                 (unsigned long long)number);
}

static void ask(test_collector *collector, sb_wire_query_kind kind, uint64_t token) {
    const sb_wire_query query = {kind, token, 0};
    collector->questions++;
    collector->ask(collector->context, &query);
}

/* ---- names ---- */

static collector_name *find_name(const test_collector *collector, uint64_t token) {
    for (size_t i = 0; i < collector->names.count; i++) {
        collector_name *name = sb_vector_at(&collector->names, i);
        if (name->token == token)
            return name;
    }
    return NULL;
}

static void want_name(test_collector *collector, sb_wire_query_kind kind, uint64_t token) {
    if (token == 0 || find_name(collector, token) != NULL)
        return;
    collector_name *name = sb_vector_push(&collector->names);
    name->token = token;
    snprintf(name->text, sizeof name->text, "(not answered)");
    ask(collector, kind, token);
}

static const char *name_of(const test_collector *collector, uint64_t token) {
    const collector_name *name = token == 0 ? NULL : find_name(collector, token);
    return name == NULL ? "-" : name->text;
}

static void set_name(test_collector *collector, uint64_t token, sb_slice text) {
    collector_name *name = find_name(collector, token);
    collector->questions--;
    if (name == NULL)
        fault(collector, "an answer that nobody asked for", token);
    else
        snprintf(name->text, sizeof name->text, "%.*s", (int)text.size, text.data);
}

static location *find_location(const test_collector *collector, uint64_t token) {
    for (size_t i = 0; i < collector->locations.count; i++) {
        location *known = sb_vector_at(&collector->locations, i);
        if (known->token == token)
            return known;
    }
    return NULL;
}

static void want_location(test_collector *collector, uint64_t token) {
    if (find_location(collector, token) != NULL)
        return;
    location *wanted = sb_vector_push(&collector->locations);
    wanted->token = token;
    ask(collector, SB_WIRE_ASK_SOURCE_LOCATION, token);
}

static void set_location(test_collector *collector, const sb_wire_event *event) {
    if (collector->locations_answered == collector->locations.count) {
        fault(collector, "a location that nobody asked for", event->token);
        return;
    }
    location *known = sb_vector_at(&collector->locations, collector->locations_answered++);
    collector->questions--;
    known->name = event->token;
    known->function = event->function;
    known->file = event->file;
    known->line = event->line;
    want_name(collector, SB_WIRE_ASK_STRING, event->token);
    want_name(collector, SB_WIRE_ASK_STRING, event->function);
    want_name(collector, SB_WIRE_ASK_STRING, event->file);
}

/* ---- zones ---- */

static collector_thread *thread_of(test_collector *collector, uint32_t id) {
    for (size_t i = 0; i < collector->threads.count; i++) {
        collector_thread *thread = sb_vector_at(&collector->threads, i);
        if (thread->id == id)
            return thread;
    }
    collector_thread *thread = sb_vector_push(&collector->threads);
    thread->id = id;
    want_name(collector, SB_WIRE_ASK_THREAD_NAME, id);
    return thread;
}

/* Whose stack of zones it is: the thread's, or that of the fiber it runs. */
static collector_thread *stack_of(test_collector *collector, uint32_t id) {
    collector_thread *thread = thread_of(collector, id);
    const uint64_t fiber = thread->fiber;
    if (fiber == 0)
        return thread;
    const uint32_t key = (uint32_t)(fiber ^ fiber >> 32) | 1U << 31;
    for (size_t i = 0; i < collector->threads.count; i++) {
        collector_thread *stack = sb_vector_at(&collector->threads, i);
        if (stack->id == key)
            return stack;
    }
    collector_thread *stack = sb_vector_push(&collector->threads);
    stack->id = key;
    return stack;
}

static zone_count *count_of(test_collector *collector, uint64_t token, sb_slice text) {
    char name[256] = "";
    if (token == 0)
        snprintf(name, sizeof name, "%.*s", (int)text.size, text.data);
    const uint64_t key = sb_hash(sb_slice_of(name), token) | 1;
    const uint64_t known = sb_map_get(&collector->zones_by_hash, key);
    if (known != 0)
        return sb_vector_at(&collector->zones, known - 1);
    zone_count *added = sb_vector_push(&collector->zones);
    added->token = token;
    memcpy(added->name, name, sizeof name);
    if (!sb_map_set(&collector->zones_by_hash, key, collector->zones.count))
        fault(collector, "no memory for zones", collector->zones.count);
    return added;
}

static void check_time(test_collector *collector, collector_thread *stack, int64_t time) {
    if (time < stack->time)
        fault(collector, "time goes back in thread", stack->id);
    stack->time = time;
}

static void begin(test_collector *collector, uint32_t thread, int64_t time, uint64_t token,
                  sb_slice text) {
    collector_thread *stack = stack_of(collector, thread);
    check_time(collector, stack, time);
    stack->open++;
    stack->zones++;
    collector->zone_count++;
    if (token != 0)
        want_location(collector, token);
    count_of(collector, token, text)->count++;
}

static void end(test_collector *collector, uint32_t thread, int64_t time) {
    collector_thread *stack = stack_of(collector, thread);
    check_time(collector, stack, time);
    if (stack->open == 0)
        fault(collector, "the end of a zone that did not begin, in thread", thread);
    else
        stack->open--;
}

static void take_zones(void *context, uint32_t thread, const sb_wire_zone *zones, size_t count) {
    test_collector *collector = context;
    for (size_t i = 0; i < count; i++) {
        if (zones[i].token == SB_WIRE_END_ZONE)
            end(collector, thread, zones[i].time);
        else
            begin(collector, thread, zones[i].time, zones[i].token, (sb_slice){0});
    }
}

/* ---- everything else ---- */

__attribute__((format(printf, 2, 3))) static void add_line(test_collector *collector,
                                                           const char *format, ...) {
    char *line = sb_vector_push(&collector->lines);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, 512, format, arguments);
    va_end(arguments);
}

/* A line whose name is only known later: kept with a mark that printing replaces. */
static void add_named_line(test_collector *collector, const char *what, sb_wire_query_kind kind,
                           uint64_t token, const char *rest) {
    want_name(collector, kind, token);
    add_line(collector, "%s \x01%llu\x01%s", what, (unsigned long long)token, rest);
}

static void add_zone_line(test_collector *collector, const char *what, const sb_wire_event *event) {
    if (stack_of(collector, event->thread)->open == 0)
        fault(collector, "something for a zone where none is open, in thread", event->thread);
    if (event->kind == SB_WIRE_ZONE_VALUE)
        add_line(collector, "%s %llu", what, (unsigned long long)event->value);
    else if (event->kind == SB_WIRE_ZONE_COLOUR)
        add_line(collector, "%s %06x", what, event->colour);
    else
        add_line(collector, "%s %.*s", what, (int)event->text.size, event->text.data);
}

static void take_message(test_collector *collector, const sb_wire_event *event) {
    thread_of(collector, event->thread);
    if ((event->form & SB_WIRE_LITERAL) != 0) {
        add_named_line(collector, "message", SB_WIRE_ASK_STRING, event->token, "");
    } else {
        add_line(collector, "message %.*s", (int)event->text.size, event->text.data);
        collector->lost_messages +=
            sb_slice_starts_with(event->text, "strobe:") && sb_slice_contains(event->text, "lost");
    }
}

static void take_fiber(test_collector *collector, const sb_wire_event *event) {
    collector_thread *thread = thread_of(collector, event->thread);
    const bool enters = event->kind == SB_WIRE_FIBER_ENTER;
    if (!enters && thread->fiber == 0)
        fault(collector, "a fiber is left that was not entered, in thread", event->thread);
    if (enters)
        add_named_line(collector, "fiber", SB_WIRE_ASK_FIBER_NAME, event->token, "");
    thread = thread_of(collector, event->thread);
    thread->fiber = enters ? event->token : 0;
}

static void take_answer(test_collector *collector, const sb_wire_event *event) {
    if (event->kind == SB_WIRE_SOURCE_LOCATION)
        set_location(collector, event);
    else if (event->kind == SB_WIRE_CALLSTACK_FRAME)
        add_line(collector, "stack frame %.*s", (int)event->text.size, event->text.data);
    else if (event->kind != SB_WIRE_CALLSTACK_FRAME_SIZE)
        set_name(collector, event->token, event->text);
}

static void take_stack(test_collector *collector, const sb_wire_event *event) {
    uint64_t address = 0;
    add_line(collector, "stack");
    if (event->payload.size < sizeof address)
        return;
    memcpy(&address, event->payload.data, sizeof address);
    const sb_wire_query query = {SB_WIRE_ASK_CALLSTACK_FRAME, address, 0};
    collector->ask(collector->context, &query);
}

static void take_plot(test_collector *collector, const sb_wire_event *event) {
    char rest[64];
    if (event->kind == SB_WIRE_PLOT_INT)
        snprintf(rest, sizeof rest, " %lld", (long long)event->value);
    else
        snprintf(rest, sizeof rest, " %g", event->number);
    add_named_line(collector, "plot", SB_WIRE_ASK_PLOT_NAME, event->token, rest);
}

static void take_event(void *context, const sb_wire_event *event) {
    test_collector *collector = context;
    switch ((sb_wire_kind)event->kind) {
    case SB_WIRE_ZONE_BEGIN:
        begin(collector, event->thread, event->time, event->token, event->text);
        break;
    case SB_WIRE_ZONE_END:
        end(collector, event->thread, event->time);
        break;
    case SB_WIRE_ZONE_TEXT:
        add_zone_line(collector, "text", event);
        break;
    case SB_WIRE_ZONE_NAME:
        add_zone_line(collector, "name", event);
        break;
    case SB_WIRE_ZONE_COLOUR:
        add_zone_line(collector, "colour", event);
        break;
    case SB_WIRE_ZONE_VALUE:
        add_zone_line(collector, "value", event);
        break;
    case SB_WIRE_MESSAGE:
        take_message(collector, event);
        break;
    case SB_WIRE_APP_INFO:
        add_line(collector, "app info %.*s", (int)event->text.size, event->text.data);
        break;
    case SB_WIRE_CALLSTACK:
        take_stack(collector, event);
        break;
    case SB_WIRE_FRAME:
        add_named_line(collector, "frame", SB_WIRE_ASK_FRAME_NAME, event->token, "");
        break;
    case SB_WIRE_FRAME_START:
        add_named_line(collector, "frame start", SB_WIRE_ASK_FRAME_NAME, event->token, "");
        break;
    case SB_WIRE_FRAME_END:
        add_named_line(collector, "frame end", SB_WIRE_ASK_FRAME_NAME, event->token, "");
        break;
    case SB_WIRE_FRAME_IMAGE:
        add_line(collector, "image %ux%u %zu", event->width, event->height, event->payload.size);
        break;
    case SB_WIRE_PLOT_INT:
    case SB_WIRE_PLOT_FLOAT:
    case SB_WIRE_PLOT_DOUBLE:
        take_plot(collector, event);
        break;
    case SB_WIRE_PLOT_CONFIG:
        add_named_line(collector, "plot config", SB_WIRE_ASK_PLOT_NAME, event->token, "");
        break;
    case SB_WIRE_MEMORY_ALLOC:
        add_named_line(collector, "alloc", SB_WIRE_ASK_STRING, event->pool, "");
        break;
    case SB_WIRE_MEMORY_FREE:
        add_named_line(collector, "free", SB_WIRE_ASK_STRING, event->pool, "");
        break;
    case SB_WIRE_MEMORY_DISCARD:
        add_named_line(collector, "discard", SB_WIRE_ASK_STRING, event->token, "");
        break;
    case SB_WIRE_LOCK_ANNOUNCE:
        want_location(collector, event->token);
        add_line(collector, "lock announced");
        break;
    case SB_WIRE_LOCK_TERMINATE:
        add_line(collector, "lock terminated");
        break;
    case SB_WIRE_LOCK_WAIT:
    case SB_WIRE_LOCK_OBTAIN:
    case SB_WIRE_LOCK_RELEASE:
    case SB_WIRE_LOCK_MARK:
        add_line(collector, "%s%s", sb_wire_kind_name((sb_wire_kind)event->kind),
                 (event->form & SB_WIRE_SHARED) != 0 ? " shared" : "");
        break;
    case SB_WIRE_LOCK_NAME:
        add_line(collector, "lock name %.*s", (int)event->text.size, event->text.data);
        break;
    case SB_WIRE_DEVICE_CONTEXT:
        add_line(collector, "device %u type %u", event->context, event->type);
        break;
    case SB_WIRE_DEVICE_CONTEXT_NAME:
        add_line(collector, "device name %.*s", (int)event->text.size, event->text.data);
        break;
    case SB_WIRE_DEVICE_BEGIN:
        if ((event->form & SB_WIRE_DYNAMIC) == 0)
            want_location(collector, event->token);
        add_line(collector, "device zone %.*s", (int)event->text.size, event->text.data);
        break;
    case SB_WIRE_DEVICE_END:
    case SB_WIRE_DEVICE_TIME:
    case SB_WIRE_DEVICE_CALIBRATION:
    case SB_WIRE_DEVICE_SYNC:
    case SB_WIRE_SECTION_LEAVE:
    case SB_WIRE_THREAD_GROUP:
        add_line(collector, "%s", sb_wire_kind_name((sb_wire_kind)event->kind));
        break;
    case SB_WIRE_SECTION_ENTER:
    case SB_WIRE_SECTION_SETUP:
        add_line(collector, "%s %.*s", sb_wire_kind_name((sb_wire_kind)event->kind),
                 (int)event->text.size, event->text.data);
        break;
    case SB_WIRE_PARAMETER:
        add_named_line(collector, "parameter", SB_WIRE_ASK_STRING, event->token, "");
        break;
    case SB_WIRE_FIBER_ENTER:
    case SB_WIRE_FIBER_LEAVE:
        take_fiber(collector, event);
        break;
    case SB_WIRE_TERMINATE:
        collector->has_ended = true;
        break;
    case SB_WIRE_ACK:
    case SB_WIRE_KEEP_ALIVE:
        break;
    default:
        take_answer(collector, event);
    }
}

sb_wire_handler collector_handler(test_collector *collector) {
    return (sb_wire_handler){collector, take_zones, take_event};
}

/* ---- printing ---- */

static const char *zone_name(const test_collector *collector, const zone_count *zone) {
    if (zone->token == 0)
        return zone->name;
    const location *known = find_location(collector, zone->token);
    if (known == NULL)
        return "(no location)";
    return name_of(collector, known->name != 0 ? known->name : known->function);
}

uint64_t collector_zones_named(const test_collector *collector, const char *name) {
    uint64_t count = 0;
    for (size_t i = 0; i < collector->zones.count; i++) {
        const zone_count *zone = sb_vector_at(&collector->zones, i);
        if (strcmp(zone_name(collector, zone), name) == 0)
            count += zone->count;
    }
    return count;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(a, b);
}

static void fill_name(const test_collector *collector, char *line) {
    char *mark = strchr(line, '\x01');
    char *end = mark == NULL ? NULL : strchr(mark + 1, '\x01');
    if (end == NULL)
        return;
    char filled[512];
    snprintf(filled, sizeof filled, "%.*s%s%s", (int)(mark - line), line,
             name_of(collector, strtoull(mark + 1, NULL, 10)), end + 1);
    memcpy(line, filled, sizeof filled);
}

void collector_print(test_collector *collector, sb_output *output) {
    for (size_t i = 0; i < collector->zones.count; i++) {
        const zone_count *zone = sb_vector_at(&collector->zones, i);
        for (uint64_t k = 0; k < zone->count; k++)
            add_line(collector, "zone %s", zone_name(collector, zone));
    }
    for (size_t i = 0; i < collector->lines.count; i++)
        fill_name(collector, sb_vector_at(&collector->lines, i));
    if (collector->lines.count > 0)
        qsort(collector->lines.data, collector->lines.count, 512, compare_lines);
    for (size_t i = 0; i < collector->lines.count;) {
        const char *line = sb_vector_at(&collector->lines, i);
        size_t same = 0;
        for (; i < collector->lines.count && strcmp(line, sb_vector_at(&collector->lines, i)) == 0;
             i++)
            same++;
        sb_put_format(output, "%s", line);
        if (same > 1)
            sb_put_format(output, " x%zu", same);
        sb_put_char(output, '\n');
    }
}
