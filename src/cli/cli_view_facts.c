/*
 * What the viewer tells of a report besides its rows: report.json beside it has how well the clocks
 * agree, what the profiler itself costs, and how complete the rows are.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_view.h"

static void add_fact(cli_view_inputs *inputs, const char *name, sb_slice text) {
    if (text.size > 0)
        *(sb_view_fact *)sb_vector_push(&inputs->facts) = (sb_view_fact){name, text.data};
}

static double number_at(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

static void add_clock(cli_view_inputs *inputs, const json_t *device) {
    sb_arena *arena = &inputs->arena;
    const sb_slice name =
        sb_arena_format(arena, "Clock of device %.0f", number_at(device, "device"));
    const sb_slice text =
        sb_arena_format(arena, "%.3f MHz from %.0f samples, off by %.1f ns, %.1f at most",
                        number_at(device, "mhz"), number_at(device, "samples"),
                        number_at(device, "residual_ns"), number_at(device, "residual_max_ns"));
    add_fact(inputs, name.data, text);
}

static void add_clocks(cli_view_inputs *inputs, const json_t *about) {
    enum { DEVICES = 64 };
    const json_t *sync = json_object_get(json_object_get(about, "clocks"), "sync");
    for (size_t i = 0; i < json_array_size(sync) && i < DEVICES; i++)
        add_clock(inputs, json_array_get(sync, i));
}

/* "49 ns on BRISC, 51 ns on NCRISC": the numbers of an object that are not 0, with their keys. */
static sb_slice list_numbers(sb_arena *arena, json_t *object, const char *unit) {
    enum { LONGEST = 500 };
    sb_slice list = {"", 0};
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value) {
        if (json_number_value(value) != 0 && list.size < LONGEST)
            list = sb_arena_format(arena, "%.*s%s%.0f%s%s", (int)list.size, list.data,
                                   list.size > 0 ? ", " : "", json_number_value(value), unit, key);
    }
    return list;
}

static void add_costs(cli_view_inputs *inputs, const json_t *about) {
    const json_t *costs = json_object_get(json_object_get(about, "overhead"), "costs");
    add_fact(inputs, "Cost of a zone",
             list_numbers(&inputs->arena, json_object_get(costs, "zone_ns"), " ns on "));
    const double push = number_at(costs, "push_in_op_to_op_gap_ns");
    if (push > 0)
        add_fact(inputs, "Cost of moving them",
                 sb_arena_format(&inputs->arena, "%.0f ns of each gap between ops", push));
}

void cli_view_read_facts(cli_view_inputs *inputs, const char *ops_path) {
    json_error_t reason;
    const char *slash = strrchr(ops_path, '/');
    const char *path = sb_arena_format(&inputs->arena, "%.*sreport.json",
                                       slash == NULL ? 0 : (int)(slash - ops_path + 1), ops_path)
                           .data;
    /* Reports that others made have none. */
    if (access(path, F_OK) != 0)
        return;
    json_t *about = json_load_file(path, 0, &reason);
    if (!json_is_object(about)) {
        cli_view_tell_flaw(inputs, "%s: line %d: %s", path, about == NULL ? reason.line : 1,
                           about == NULL ? reason.text : "not an object");
    } else {
        add_clocks(inputs, about);
        add_costs(inputs, about);
        add_fact(inputs, "Rows",
                 list_numbers(&inputs->arena, json_object_get(about, "completeness"), " "));
    }
    json_decref(about);
}
