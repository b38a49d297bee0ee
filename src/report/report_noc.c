/*
 * Traces of the network on chip: one JSON file per execution, with an object per transfer.
 *
 * How busy links and memories were follows only from simulating the transfers, which is tt-npe's
 * work. What can be read off them is how much was moved, by what kind of transfer, and how fast.
 */
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_model.h"

static const char name_start[] = "noc_trace_dev";
static const char name_end[] = ".json";

static bool is_trace(const char *name) {
    const sb_slice text = sb_slice_of(name);
    return sb_slice_starts_with(text, name_start) && sb_slice_ends_with(text, name_end);
}

/* ---- names: noc_trace_dev<device>[_<op>]_ID<run>[_traceID<trace << 32 | session>].json ---- */

typedef struct noc_name {
    sb_slice device;
    sb_slice op; /* empty: not said */
    uint64_t run;
    bool has_trace;
    uint64_t trace; /* with the session in its lower half */
} noc_name;

/* Cuts what follows the last `mark` off text; false if it is no number. */
static bool cut_number(sb_slice *text, const char *mark, uint64_t *value) {
    const size_t size = strlen(mark);
    for (size_t at = text->size; at >= size; at--) {
        const sb_slice rest = sb_slice_after(*text, at - size);
        if (!sb_slice_starts_with(rest, mark))
            continue;
        if (!report_parse_number(sb_slice_after(rest, size), value))
            return false;
        text->size = at - size;
        return true;
    }
    return false;
}

static bool parse_name(const char *name, noc_name *parsed) {
    sb_slice rest = sb_slice_of(name);
    *parsed = (noc_name){.op = {"", 0}};
    rest = sb_slice_after(sb_slice_first(rest, rest.size - strlen(name_end)), strlen(name_start));
    parsed->has_trace = cut_number(&rest, "_traceID", &parsed->trace);
    if (!cut_number(&rest, "_ID", &parsed->run))
        return false;
    uint64_t device = 0;
    parsed->device = sb_slice_cut(rest, '_', &parsed->op);
    return report_parse_number(parsed->device, &device);
}

/* ---- sums ---- */

typedef enum noc_kind { NOC_READ, NOC_WRITE, NOC_MULTICAST, NOC_FABRIC, NOC_KINDS } noc_kind;

typedef struct noc_sums {
    uint64_t events;
    uint64_t bytes[NOC_KINDS];
    int64_t first;
    int64_t last;
} noc_sums;

static noc_kind kind_of(const char *type) {
    const sb_slice text = sb_slice_of(type);
    if (sb_slice_starts_with(text, "FABRIC_"))
        return NOC_FABRIC;
    if (sb_slice_contains(text, "MULTICAST"))
        return NOC_MULTICAST;
    return sb_slice_starts_with(text, "READ") ? NOC_READ : NOC_WRITE;
}

/* Objects without a type are the edges of zones. */
static void add_event(noc_sums *sums, const json_t *event) {
    const char *type = json_string_value(json_object_get(event, "type"));
    const json_t *time = json_object_get(event, "timestamp");
    const json_int_t bytes = json_integer_value(json_object_get(event, "num_bytes"));
    if (type == NULL || !json_is_integer(time))
        return;
    const int64_t at = json_integer_value(time);
    if (sums->events == 0 || at < sums->first)
        sums->first = at;
    if (sums->events == 0 || at > sums->last)
        sums->last = at;
    sums->events++;
    sums->bytes[kind_of(type)] += bytes > 0 ? (uint64_t)bytes : 0;
}

static bool sum_up(const char *path, noc_sums *sums) {
    *sums = (noc_sums){0};
    json_t *events = json_load_file(path, 0, NULL);
    const bool is_list = json_is_array(events);
    for (size_t i = 0; is_list && i < json_array_size(events); i++)
        add_event(sums, json_array_get(events, i));
    json_decref(events);
    return is_list;
}

/* ---- the files ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static sb_vector list_names(const sb_report *report) {
    sb_vector names = sb_vector_of(sizeof(char *));
    DIR *folder = opendir(report->log_folder);
    const struct dirent *entry = folder == NULL ? NULL : readdir(folder);
    for (; entry != NULL; entry = readdir(folder)) {
        if (!is_trace(entry->d_name))
            continue;
        const size_t size = strlen(entry->d_name) + 1;
        *(char **)sb_vector_push(&names) = memcpy(sb_alloc(size), entry->d_name, size);
    }
    if (folder != NULL)
        closedir(folder);
    if (names.count > 1)
        qsort(names.data, names.count, sizeof(char *), compare_names);
    return names;
}

static void free_names(sb_vector *names) {
    for (size_t i = 0; i < names->count; i++)
        free(*(char **)sb_vector_at(names, i));
    sb_vector_free(names);
}

uint64_t report_count_noc_traces(const sb_report *report) {
    if (report->log_folder == NULL || report->options.no_device)
        return 0;
    sb_vector names = list_names(report);
    const uint64_t count = names.count;
    free_names(&names);
    return count;
}

static void put_name(sb_output *output, const noc_name *name) {
    sb_put(output, name->device);
    sb_put_format(output, ",%" PRIu64 ",", name->run);
    if (name->has_trace)
        sb_put_format(output, "%" PRIu64 ",%" PRIu64, name->trace >> 32, name->trace & UINT32_MAX);
    else
        sb_put_char(output, ',');
    sb_put_char(output, ',');
    sb_put_csv(output, name->op);
}

static void put_sums(sb_output *output, const noc_sums *sums) {
    uint64_t all = 0;
    sb_put_format(output, ",%" PRIu64, sums->events);
    for (int i = 0; i < NOC_KINDS; i++) {
        sb_put_format(output, ",%" PRIu64, sums->bytes[i]);
        all += sums->bytes[i];
    }
    const uint64_t cycles = (uint64_t)sums->last - (uint64_t)sums->first;
    sb_put_format(output, ",%" PRIu64 ",", cycles);
    if (cycles > 0)
        sb_put_format(output, "%.3f", (double)all / (double)cycles);
}

void report_put_noc_stats(sb_report *report, sb_output *output) {
    sb_vector names = list_names(report);
    sb_put_text(output, "DEVICE ID,GLOBAL CALL COUNT,METAL TRACE ID,METAL TRACE REPLAY SESSION ID,"
                        "OP NAME,TRANSFERS,READ [B],WRITE [B],MULTICAST [B],FABRIC [B],"
                        "SPAN [cycles],BYTES PER CYCLE\n");
    for (size_t i = 0; i < names.count; i++) {
        const char *name = *(char **)sb_vector_at(&names, i);
        const char *path = sb_arena_format(&report->arena, "%s/%s", report->log_folder, name).data;
        noc_name parsed;
        noc_sums sums;
        if (parse_name(name, &parsed)) {
            put_name(output, &parsed);
        } else {
            sb_put_text(output, ",,,,");
            sb_put_csv(output, sb_slice_of(name));
        }
        if (sum_up(path, &sums))
            put_sums(output, &sums);
        else
            sb_put_text(output, ",,,,,,,"); /* it cannot be read */
        sb_put_char(output, '\n');
    }
    free_names(&names);
}
