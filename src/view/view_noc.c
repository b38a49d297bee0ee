/*
 * The answer for transfers over the network on chip: who moved how much from where to where, for
 * all ops or one, at all times or in a range. The files are read when they are asked for first.
 */
#include "view/view_noc.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "view/view_call.h"

enum { FLOWS = 2000, ENDS = 20000, FILES = 20000, EVENTS = 16 << 20 };

#define FILE_BYTES (UINT64_C(64) << 20) /* of one file: reading takes some ten times as much */

/* ---- reading ---- */

static int32_t number_of(const json_t *event, const char *key) {
    const json_t *number = json_object_get(event, key);
    const json_int_t value = json_is_integer(number) ? json_integer_value(number) : -1;
    return value >= -1 && value <= INT32_MAX ? (int32_t)value : -1;
}

static sb_slice text_of(const json_t *event, const char *key) {
    const char *text = json_string_value(json_object_get(event, key));
    return text == NULL ? (sb_slice){"", 0} : sb_slice_of(text);
}

static void take_transfer(view_noc *noc, const json_t *event) {
    const sb_slice type = text_of(event, "type");
    const int32_t bytes = number_of(event, "num_bytes");
    const json_int_t op = json_integer_value(json_object_get(event, "run_host_id"));
    if (type.size == 0 || bytes < 0 || op < 0)
        return;
    noc_key key;
    memset(&key, 0, sizeof key);
    key.op = (uint64_t)op;
    key.device = number_of(event, "src_device_id");
    key.from_x = number_of(event, "sx");
    key.from_y = number_of(event, "sy");
    key.to_x = number_of(event, "dx");
    key.to_y = number_of(event, "dy");
    key.is_read = sb_slice_contains(type, "READ");
    *(noc_event *)sb_vector_push(&noc->events) = (noc_event){
        json_integer_value(json_object_get(event, "timestamp")),
        sb_intern_add(&noc->keys, (sb_slice){(const char *)&key, sizeof key}), (uint32_t)bytes};
}

/* The first kernel of a file, and when it ended. */
static void take_zone(view_noc *noc, noc_file *file, const json_t *event) {
    const sb_slice zone = text_of(event, "zone");
    const sb_slice processor = text_of(event, "proc");
    const int64_t time = json_integer_value(json_object_get(event, "timestamp"));
    const bool begins = sb_slice_is(text_of(event, "zone_phase"), "ZONE_START");
    if (file->zone.size == 0 && begins && sb_slice_ends_with(zone, "-KERNEL")) {
        const json_int_t op = json_integer_value(json_object_get(event, "run_host_id"));
        file->op = op < 0 ? 0 : (uint64_t)op;
        file->device = number_of(event, "src_device_id");
        file->x = number_of(event, "sx");
        file->y = number_of(event, "sy");
        file->processor = sb_arena_copy(&noc->arena, processor);
        file->zone = sb_arena_copy(&noc->arena, zone);
        file->kernel_start = time;
        return;
    }
    const bool is_end = !begins && file->kernel_end == 0 && sb_slice_equal(zone, file->zone) &&
                        sb_slice_equal(processor, file->processor) &&
                        number_of(event, "sx") == file->x && number_of(event, "sy") == file->y;
    if (is_end)
        file->kernel_end = time;
}

static json_t *load_file(const char *path, const char **problem) {
    struct stat status;
    *problem = "it is no JSON array";
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        *problem = "it is no file";
        return NULL;
    }
    if ((uint64_t)status.st_size > FILE_BYTES) {
        *problem = "it is larger than 64 MB";
        return NULL;
    }
    return json_load_file(path, 0, NULL);
}

static void take_events(view_noc *noc, const json_t *events) {
    noc_file file = {.first = noc->events.count, .processor = {"", 0}, .zone = {"", 0}};
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (json_object_get(event, "zone") != NULL)
            take_zone(noc, &file, event);
        else
            take_transfer(noc, event);
    }
    file.end = noc->events.count;
    *(noc_file *)sb_vector_push(&noc->files) = file;
}

static void read_file(view_noc *noc, const char *path) {
    const char *problem = "there is no room for more transfers";
    json_t *events = noc->events.count < EVENTS ? load_file(path, &problem) : NULL;
    noc->found++;
    if (json_is_array(events)) {
        take_events(noc, events);
    } else {
        noc->skipped++;
        sb_log(SB_LOG_WARNING, "%s: its transfers are not shown: %s", path, problem);
    }
    json_decref(events);
}

static view_noc *read_folder(sb_slice folder) {
    view_noc *noc = sb_alloc_zeroed(1, sizeof *noc);
    noc->events = sb_vector_of(sizeof(noc_event));
    noc->files = sb_vector_of(sizeof(noc_file));
    noc->rates = sb_vector_of(sizeof(noc_rate));
    sb_intern_init(&noc->keys);
    DIR *directory = opendir(folder.data);
    if (directory == NULL)
        return noc;
    for (const struct dirent *entry = readdir(directory); entry != NULL && noc->found < FILES;
         entry = readdir(directory)) {
        const sb_slice name = sb_slice_of(entry->d_name);
        if (sb_slice_starts_with(name, "noc_trace_dev") && sb_slice_ends_with(name, ".json"))
            read_file(noc, sb_arena_format(&noc->arena, "%s/%s", folder.data, entry->d_name).data);
    }
    closedir(directory);
    return noc;
}

void view_noc_free(view_noc *noc) {
    if (noc == NULL)
        return;
    sb_vector_free(&noc->events);
    sb_vector_free(&noc->files);
    sb_vector_free(&noc->rates);
    sb_intern_free(&noc->keys);
    sb_arena_free(&noc->arena);
    free(noc);
}

/* ---- adding up ---- */

typedef struct noc_sum {
    noc_key key; /* without the op; of a core, without its goal */
    uint64_t bytes;
    uint64_t count;
} noc_sum;

/* What is alike among the transfers that were asked for. */
typedef struct noc_sums {
    sb_intern keys;
    sb_vector sums; /* noc_sum */
} noc_sums;

static noc_sums make_sums(void) {
    noc_sums sums = {.sums = sb_vector_of(sizeof(noc_sum))};
    sb_intern_init(&sums.keys);
    return sums;
}

static void free_sums(noc_sums *sums) {
    sb_intern_free(&sums->keys);
    sb_vector_free(&sums->sums);
}

static void add_to(noc_sums *sums, const noc_key *key, uint64_t bytes, uint64_t count) {
    const uint32_t place = sb_intern_add(&sums->keys, (sb_slice){(const char *)key, sizeof *key});
    if (place == sums->sums.count)
        ((noc_sum *)sb_vector_push(&sums->sums))->key = *key;
    noc_sum *sum = sb_vector_at(&sums->sums, place);
    sum->bytes += bytes;
    sum->count += count;
}

typedef struct noc_question {
    int64_t op; /* -1: all */
    sb_range range;
    bool has_range;
    uint64_t bytes; /* of what was found, as the rest */
    uint64_t count;
    uint64_t unplaced; /* transfers of which nobody knows when they were */
    noc_sums flows;
} noc_question;

/* Where a range is asked for and nobody knows when it was, a transfer is left out, and counted. */
static bool is_wanted(noc_question *question, const view_noc *noc, const noc_file *file,
                      const noc_event *event) {
    if (!question->has_range)
        return true;
    if (!file->is_placed) {
        question->unplaced++;
        return false;
    }
    const double ns = view_noc_time(noc, file, event);
    return ns >= (double)question->range.from && ns < (double)question->range.to;
}

static void add_up_file(noc_question *question, const view_noc *noc, const noc_file *file) {
    for (size_t i = file->first; i < file->end; i++) {
        const noc_event *event = sb_vector_at(&noc->events, i);
        noc_key key;
        memcpy(&key, sb_intern_text(&noc->keys, event->key).data, sizeof key);
        const bool is_of_op = question->op < 0 || key.op == (uint64_t)question->op;
        if (!is_of_op || !is_wanted(question, noc, file, event))
            continue;
        key.op = 0;
        add_to(&question->flows, &key, event->bytes, 1);
        question->bytes += event->bytes;
        question->count++;
    }
}

static void add_up(noc_question *question, const view_noc *noc) {
    for (size_t i = 0; i < noc->files.count; i++)
        add_up_file(question, noc, sb_vector_at(&noc->files, i));
}

/* Bytes at both ends of each transfer. */
static noc_sums add_up_ends(const noc_sums *flows) {
    noc_sums ends = make_sums();
    for (size_t i = 0; i < flows->sums.count; i++) {
        const noc_sum *flow = sb_vector_at(&flows->sums, i);
        noc_key end;
        memset(&end, 0, sizeof end);
        end.device = flow->key.device;
        end.from_x = flow->key.from_x;
        end.from_y = flow->key.from_y;
        add_to(&ends, &end, flow->bytes, flow->count);
        end.from_x = flow->key.to_x;
        end.from_y = flow->key.to_y;
        if (flow->key.to_x >= 0)
            add_to(&ends, &end, flow->bytes, flow->count);
    }
    return ends;
}

/* ---- answering ---- */

static int compare_sums(const void *a, const void *b) {
    const noc_sum *left = a;
    const noc_sum *right = b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return memcmp(&left->key, &right->key, sizeof left->key);
}

/* [device, core that asked, the other end (-1: many), 1 if it read, bytes, transfers] */
static void put_flows(sb_output *output, const noc_sums *flows) {
    const sb_vector *sums = &flows->sums;
    if (sums->count > 0)
        qsort(sums->data, sums->count, sizeof(noc_sum), compare_sums);
    for (size_t i = 0; i < sums->count && i < FLOWS; i++) {
        const noc_sum *sum = sb_vector_at(sums, i);
        sb_put_format(output, "%s[%d,%d,%d,%d,%d,%d,%" PRIu64 ",%" PRIu64 "]", i == 0 ? "" : ",",
                      sum->key.device, sum->key.from_x, sum->key.from_y, sum->key.to_x,
                      sum->key.to_y, sum->key.is_read, sum->bytes, sum->count);
    }
}

/* [device, core, bytes] */
static void put_ends(sb_output *output, const noc_sums *flows) {
    noc_sums ends = add_up_ends(flows);
    for (size_t i = 0; i < ends.sums.count && i < ENDS; i++) {
        const noc_sum *end = sb_vector_at(&ends.sums, i);
        sb_put_format(output, "%s[%d,%d,%d,%" PRIu64 "]", i == 0 ? "" : ",", end->key.device,
                      end->key.from_x, end->key.from_y, end->bytes);
    }
    free_sums(&ends);
}

static void put_answer(sb_output *output, const view_noc *noc, const noc_question *question) {
    sb_put_format(output,
                  "{\"files\":%" PRIu64 ",\"skipped\":%" PRIu64 ",\"bytes\":%" PRIu64
                  ",\"transfers\":%" PRIu64 ",\"unplaced\":%" PRIu64 ",\"ends\":[",
                  noc->found, noc->skipped, question->bytes, question->count, question->unplaced);
    put_ends(output, &question->flows);
    sb_put_text(output, "],\"flows\":[");
    put_flows(output, &question->flows);
    sb_put_format(output, "],\"flowCount\":%zu}", question->flows.sums.count);
}

sb_status view_answer_noc(view_call *call) {
    sb_view *view = call->view;
    noc_question question = {.op = -1};
    SB_TRY(view_call_integer(call, "id", 0, INT64_MAX / 4, &question.op));
    SB_TRY(view_call_range(call, &question.range));
    question.has_range =
        view_call_text(call, "from").size > 0 || view_call_text(call, "to").size > 0;
    if (view->transfers.size == 0)
        SB_FAIL(&call->error, SB_ERR_NOT_FOUND, "no transfers were recorded with this trace");
    question.flows = make_sums();
    pthread_mutex_lock(&view->derived);
    if (view->noc == NULL) {
        view->noc = read_folder(view->transfers);
        view_noc_place(view->noc, view);
    }
    add_up(&question, view->noc);
    put_answer(call->body, view->noc, &question);
    pthread_mutex_unlock(&view->derived);
    free_sums(&question.flows);
    return SB_OK;
}
