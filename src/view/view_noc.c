/*
 * The answer for transfers over the network on chip, from the files that the device profiler leaves
 * (noc_trace_dev0_ID1.json, an array of zones and transfers): who moved how much from where to
 * where, for all ops or one.
 *
 * The files are read when they are asked for first, and what is alike is added up: op, core, goal
 * and direction.
 */
#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "view/view_call.h"

enum { FLOWS = 2000, FILES = 20000 };

#define FILE_BYTES (UINT64_C(64) << 20) /* of one file: reading takes some ten times as much */

/* Transfers that are alike. */
typedef struct noc_key {
    uint64_t op;
    int32_t device;
    int32_t from_x; /* the core that asked */
    int32_t from_y;
    int32_t to_x; /* -1: many at once */
    int32_t to_y;
    int32_t is_read;
} noc_key;

typedef struct noc_sum {
    noc_key key;
    uint64_t bytes;
    uint64_t count;
} noc_sum;

struct view_noc {
    sb_intern keys;
    sb_vector sums; /* noc_sum, by index of the keys */
    uint64_t files;
    uint64_t skipped; /* too large, or no arrays */
};

/* ---- reading ---- */

static int32_t number_of(const json_t *event, const char *key) {
    const json_t *number = json_object_get(event, key);
    const json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
    return value >= -1 && value <= INT32_MAX ? (int32_t)value : -1;
}

static void take_transfer(view_noc *noc, const json_t *event) {
    const char *type = json_string_value(json_object_get(event, "type"));
    const int32_t bytes = number_of(event, "num_bytes");
    const json_int_t op = json_integer_value(json_object_get(event, "run_host_id"));
    if (type == NULL || bytes < 0 || op < 0)
        return;
    noc_key key;
    memset(&key, 0, sizeof key);
    key.op = (uint64_t)op;
    key.device = number_of(event, "src_device_id");
    key.from_x = number_of(event, "sx");
    key.from_y = number_of(event, "sy");
    key.to_x = number_of(event, "dx");
    key.to_y = number_of(event, "dy");
    key.is_read = strstr(type, "READ") != NULL;
    const uint32_t place = sb_intern_add(&noc->keys, (sb_slice){(const char *)&key, sizeof key});
    if (place == noc->sums.count)
        ((noc_sum *)sb_vector_push(&noc->sums))->key = key;
    noc_sum *sum = sb_vector_at(&noc->sums, place);
    sum->bytes += (uint64_t)bytes;
    sum->count++;
}

static void read_file(view_noc *noc, const char *path) {
    struct stat status;
    noc->files++;
    const bool fits = stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
                      (uint64_t)status.st_size <= FILE_BYTES;
    json_t *events = fits ? json_load_file(path, 0, NULL) : NULL;
    if (!json_is_array(events))
        noc->skipped++;
    for (size_t i = 0; i < json_array_size(events); i++)
        take_transfer(noc, json_array_get(events, i));
    json_decref(events);
}

static view_noc *read_folder(sb_slice folder) {
    view_noc *noc = sb_alloc_zeroed(1, sizeof *noc);
    sb_arena arena = {0};
    noc->sums = sb_vector_of(sizeof(noc_sum));
    sb_intern_init(&noc->keys);
    DIR *directory = opendir(folder.data);
    if (directory != NULL) {
        for (const struct dirent *entry = readdir(directory); entry != NULL && noc->files < FILES;
             entry = readdir(directory)) {
            const sb_slice name = sb_slice_of(entry->d_name);
            if (sb_slice_starts_with(name, "noc_trace_dev") && sb_slice_ends_with(name, ".json"))
                read_file(noc, sb_arena_format(&arena, "%s/%s", folder.data, entry->d_name).data);
        }
        closedir(directory);
    }
    sb_arena_free(&arena);
    return noc;
}

void view_noc_free(view_noc *noc) {
    if (noc == NULL)
        return;
    sb_vector_free(&noc->sums);
    sb_intern_free(&noc->keys);
    free(noc);
}

/* ---- answering ---- */

/* Of all ops together: key without the op. */
typedef struct noc_totals {
    sb_intern keys;
    sb_vector sums; /* noc_sum */
    uint64_t bytes;
    uint64_t count;
} noc_totals;

static noc_totals add_up(const view_noc *noc, int64_t op) {
    noc_totals totals = {.sums = sb_vector_of(sizeof(noc_sum))};
    sb_intern_init(&totals.keys);
    for (size_t i = 0; i < noc->sums.count; i++) {
        const noc_sum *one = sb_vector_at(&noc->sums, i);
        if (op >= 0 && one->key.op != (uint64_t)op)
            continue;
        noc_key key = one->key;
        key.op = 0;
        const uint32_t place =
            sb_intern_add(&totals.keys, (sb_slice){(const char *)&key, sizeof key});
        if (place == totals.sums.count)
            ((noc_sum *)sb_vector_push(&totals.sums))->key = key;
        noc_sum *sum = sb_vector_at(&totals.sums, place);
        sum->bytes += one->bytes;
        sum->count += one->count;
        totals.bytes += one->bytes;
        totals.count += one->count;
    }
    return totals;
}

static int compare_sums(const void *a, const void *b) {
    const noc_sum *left = a;
    const noc_sum *right = b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return memcmp(&left->key, &right->key, sizeof left->key);
}

/* [device, core that asked, the other end (-1: many), 1 if it read, bytes, transfers] */
static void put_flows(sb_output *output, const sb_vector *sums) {
    if (sums->count > 0)
        qsort(sums->data, sums->count, sizeof(noc_sum), compare_sums);
    for (size_t i = 0; i < sums->count && i < FLOWS; i++) {
        const noc_sum *sum = sb_vector_at(sums, i);
        sb_put_format(output, "%s[%d,%d,%d,%d,%d,%d,%" PRIu64 ",%" PRIu64 "]", i == 0 ? "" : ",",
                      sum->key.device, sum->key.from_x, sum->key.from_y, sum->key.to_x,
                      sum->key.to_y, sum->key.is_read, sum->bytes, sum->count);
    }
}

sb_status view_answer_noc(view_call *call) {
    int64_t op = -1;
    sb_view *view = call->view;
    SB_TRY(view_call_integer(call, "id", 0, INT64_MAX / 4, &op));
    if (view->transfers.size == 0)
        SB_FAIL(&call->error, SB_ERR_NOT_FOUND, "no transfers were recorded with this trace");
    pthread_mutex_lock(&view->derived);
    if (view->noc == NULL)
        view->noc = read_folder(view->transfers);
    noc_totals totals = add_up(view->noc, op);
    sb_put_format(call->body,
                  "{\"files\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"bytes\":%" PRIu64
                  ",\"transfers\":%" PRIu64 ",\"flows\":[",
                  view->noc->files, view->noc->skipped, totals.bytes, totals.count);
    put_flows(call->body, &totals.sums);
    sb_put_format(call->body, "],\"flowCount\":%zu}", totals.sums.count);
    pthread_mutex_unlock(&view->derived);
    sb_intern_free(&totals.keys);
    sb_vector_free(&totals.sums);
    return SB_OK;
}
