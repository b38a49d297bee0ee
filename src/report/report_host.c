#include "report/report_host.h"

#include <string.h>

#include "report/report_json.h"

/* What a short message may refer to: the last full one of a program on a device. */
typedef struct known_op {
    const report_op_info *info;
    json_t *json; /* for messages that change parts of it */
} known_op;

void report_host_init(report_host *host) {
    *host = (report_host){0};
    host->ops = sb_vector_of(sizeof(report_op));
    host->first_of_id = sb_vector_of(sizeof(uint32_t));
    host->children = sb_vector_of(sizeof(report_child));
    host->signposts = sb_vector_of(sizeof(report_signpost));
    host->replays = sb_vector_of(sizeof(report_replay));
    host->captures = sb_vector_of(sizeof(report_replay));
    host->known = sb_vector_of(sizeof(known_op));
    sb_intern_init(&host->texts);
    sb_intern_init(&host->op_keys);
    sb_intern_init(&host->op_ids);
    sb_intern_init(&host->child_names);
    sb_intern_init(&host->kernel_sizes);
    sb_intern_init(&host->known_keys);
}

void report_host_free(report_host *host) {
    for (size_t i = 0; i < host->known.count; i++)
        json_decref(((known_op *)sb_vector_at(&host->known, i))->json);
    sb_vector_free(&host->ops);
    sb_vector_free(&host->first_of_id);
    sb_vector_free(&host->children);
    sb_vector_free(&host->signposts);
    sb_vector_free(&host->replays);
    sb_vector_free(&host->captures);
    sb_vector_free(&host->known);
    sb_intern_free(&host->texts);
    sb_intern_free(&host->op_keys);
    sb_intern_free(&host->op_ids);
    sb_intern_free(&host->child_names);
    sb_intern_free(&host->kernel_sizes);
    sb_intern_free(&host->known_keys);
    sb_arena_free(&host->arena);
}

/* ---- ops ---- */

static void link_by_id(report_host *host, uint32_t op, uint64_t id) {
    const uint32_t index = sb_intern_add(&host->op_ids, (sb_slice){(const char *)&id, sizeof id});
    uint32_t *first = index == host->first_of_id.count ? sb_vector_push(&host->first_of_id)
                                                       : sb_vector_at(&host->first_of_id, index);
    report_op_at(host, op)->next_of_id = *first;
    *first = op + 1;
}

/* The op with this id on this device; a later message takes the place of an earlier one. */
static report_op *put_op(report_host *host, uint64_t id, const report_op_info *info) {
    const uint64_t key[] = {id, info->has_device ? (uint64_t)info->device : UINT64_MAX};
    const uint32_t index = sb_intern_add(&host->op_keys, (sb_slice){(const char *)key, sizeof key});
    const bool is_new = index == host->ops.count;
    report_op *op = is_new ? sb_vector_push(&host->ops) : report_op_at(host, index);
    if (is_new) {
        link_by_id(host, index, id);
    } else {
        op->is_repeated = true;
        host->repeated_ops++;
    }
    op = report_op_at(host, index);
    op->id = id;
    op->info = info;
    op->trace = REPORT_NO_TRACE;
    return op;
}

static int64_t captured_trace(const report_host *host, int64_t device) {
    for (size_t i = 0; i < host->captures.count; i++) {
        const report_replay *capture = sb_vector_at(&host->captures, i);
        if (capture->device == device)
            return capture->trace;
    }
    return REPORT_NO_TRACE;
}

static void set_capture(report_host *host, int64_t device, int64_t trace) {
    for (size_t i = 0; i < host->captures.count; i++) {
        report_replay *capture = sb_vector_at(&host->captures, i);
        if (capture->device == device) {
            capture->trace = trace;
            return;
        }
    }
    *(report_replay *)sb_vector_push(&host->captures) = (report_replay){device, trace, 0};
}

/* ---- what stands before the JSON: "name", hash, device, hit, id ---- */

typedef struct call {
    sb_slice name;
    sb_slice hash;
    int64_t device;
    sb_slice hit;
    uint64_t id;
} call;

static bool parse_call(sb_slice text, call *out) {
    enum { PARTS = 5 };
    sb_slice parts[PARTS];
    sb_slice rest = text;
    sb_slice_cut(rest, ':', &rest);
    if (rest.size == 0)
        return false;
    for (int i = 0; i < PARTS; i++) {
        if (rest.size == 0)
            return false;
        parts[i] = sb_slice_trim(sb_slice_cut(rest, ',', &rest));
    }
    out->name = parts[0];
    out->hash = parts[1];
    out->hit = parts[3];
    return sb_parse_int64(parts[2], &out->device) && report_parse_number(parts[4], &out->id);
}

static sb_slice hit_text(sb_slice hit) {
    const bool is_hit =
        sb_slice_is(hit, "1") || sb_slice_is(hit, "true") || sb_slice_is(hit, "True");
    return is_hit ? (sb_slice)SB_SLICE("True") : (sb_slice)SB_SLICE("False");
}

static known_op *find_known(report_host *host, int64_t device, sb_slice hash, bool add) {
    sb_output key = sb_output_to_memory();
    sb_put_format(&key, "%lld:%.*s", (long long)device, (int)hash.size, hash.data);
    const uint32_t index = sb_intern_add(&host->known_keys, sb_output_text(&key));
    sb_output_discard(&key);
    if (index < host->known.count)
        return sb_vector_at(&host->known, index);
    known_op *known = sb_vector_push(&host->known);
    return add ? known : NULL;
}

/* ---- messages about ops ---- */

/* What can be told of an op whose description was cut off. */
static void take_cut_op(report_host *host, sb_slice prefix, int64_t time) {
    call cut;
    host->cut_messages++;
    if (!parse_call(prefix, &cut))
        return;
    report_op_info *info = sb_arena_alloc_zeroed(&host->arena, sizeof *info);
    info->has_device = true;
    info->device = cut.device;
    info->is_cut = true;
    info->cell_count = 3;
    info->cells = sb_arena_alloc(&host->arena, info->cell_count * sizeof(report_cell));
    sb_slice name = cut.name;
    if (name.size >= 2 && name.data[0] == '"' && name.data[name.size - 1] == '"')
        name = (sb_slice){name.data + 1, name.size - 2};
    char number[SB_NUMBER_SIZE];
    const sb_slice device = {number, sb_format_int64(cut.device, number)};
    info->cells[0] = (report_cell){REPORT_COLUMN_OP_CODE, report_keep_cell(host, name)};
    info->cells[1] = (report_cell){REPORT_COLUMN_DEVICE, report_keep_cell(host, device)};
    info->cells[2] = (report_cell){REPORT_COLUMN_PROGRAM_HASH, report_keep_cell(host, cut.hash)};
    report_op *op = put_op(host, cut.id, info);
    op->message_time = time;
    op->cache_hit = hit_text(cut.hit);
    op->trace = captured_trace(host, cut.device);
}

static void take_short_op(report_host *host, sb_slice text, int64_t time) {
    call made;
    if (!parse_call(text, &made)) {
        host->bad_messages++;
        return;
    }
    const known_op *known = find_known(host, made.device, made.hash, false);
    if (known == NULL || known->info == NULL) {
        host->unknown_calls++;
        take_cut_op(host, text, time);
        host->cut_messages--;
        return;
    }
    report_op *op = put_op(host, made.id, known->info);
    op->message_time = time;
    op->cache_hit = hit_text(made.hit);
    op->trace = captured_trace(host, made.device);
}

static sb_slice hash_text(const json_t *json, sb_output *text) {
    report_put_python(text, json_object_get(json, "op_hash"));
    return sb_output_text(text);
}

/* A full message that brings some members only: they go over those of the message before. */
static bool take_overlay(report_host *host, sb_slice prefix, json_t *json, int64_t time) {
    call made;
    if (json_object_get(json, "op_hash") != NULL || !parse_call(prefix, &made))
        return false;
    const known_op *known = find_known(host, made.device, made.hash, false);
    if (known == NULL || known->json == NULL)
        return false;
    json_t *merged = json_copy(known->json);
    json_object_update(merged, json);
    report_op *op = put_op(host, made.id, report_make_info(host, merged));
    op->message_time = time;
    op->cache_hit = hit_text(made.hit);
    op->trace = captured_trace(host, made.device);
    json_decref(merged);
    return true;
}

static sb_slice payload_hit(report_host *host, json_t *json) {
    json_t *hit = json_object_get(json, "program_cache_hit");
    if (hit == NULL)
        return (sb_slice){"", 0};
    sb_output text = sb_output_to_memory();
    report_put_python(&text, hit);
    const sb_slice kept = report_keep_cell(host, sb_output_text(&text));
    sb_output_discard(&text);
    return kept;
}

/* The number of an op; host-only ops have bit 31 set and still fit. */
static bool take_id(const json_t *json, uint64_t *id) {
    const json_t *count = json_object_get(json, "global_call_count");
    if (!json_is_integer(count) || json_integer_value(count) < 0)
        return false;
    *id = (uint64_t)json_integer_value(count);
    return true;
}

static void take_full_op(report_host *host, sb_slice prefix, sb_slice body, int64_t time) {
    json_t *json = report_json_load(body);
    uint64_t id = 0;
    if (!json_is_object(json)) {
        take_cut_op(host, prefix, time);
    } else if (!take_overlay(host, prefix, json, time)) {
        if (!take_id(json, &id)) {
            host->bad_messages++;
            json_decref(json);
            return;
        }
        const report_op_info *info = report_make_info(host, json);
        report_op *op = put_op(host, id, info);
        op->message_time = time;
        op->cache_hit = payload_hit(host, json);
        if (json_object_get(json, "op_hash") != NULL && info->has_device) {
            op->trace = captured_trace(host, info->device);
            sb_output hash = sb_output_to_memory();
            known_op *known = find_known(host, info->device, hash_text(json, &hash), true);
            sb_output_discard(&hash);
            known->info = info;
            json_decref(known->json);
            known->json = json_incref(json);
        }
    }
    json_decref(json);
}

/* ---- other messages ---- */

/* "TT_METAL_TRACE_BEGIN: device, trace" and its like. */
static void take_trace_message(report_host *host, sb_slice text, int64_t time) {
    sb_slice rest = text;
    for (size_t at = sb_slice_find(rest, ":"); at != SB_NOT_FOUND; at = sb_slice_find(rest, ":"))
        rest = sb_slice_after(rest, at + 1);
    int64_t device = 0;
    int64_t trace = 0;
    const sb_slice first = sb_slice_cut(rest, ',', &rest);
    if (!sb_parse_int64(first, &device) || !sb_parse_int64(rest, &trace)) {
        host->bad_messages++;
    } else if (sb_slice_contains(text, "BEGIN")) {
        set_capture(host, device, trace);
    } else if (sb_slice_contains(text, "END")) {
        if (captured_trace(host, device) != trace)
            host->bad_messages++;
        set_capture(host, device, REPORT_NO_TRACE);
    } else if (sb_slice_contains(text, "REPLAY")) {
        *(report_replay *)sb_vector_push(&host->replays) = (report_replay){device, trace, time};
    }
}

static sb_slice signpost_body(const report_host *host, sb_slice text) {
    static const char mark[] = "TT_SIGNPOST: ";
    if (!host->old_signposts) {
        const size_t at = sb_slice_find(text, mark);
        return at == SB_NOT_FOUND ? text : sb_slice_after(text, at + strlen(mark));
    }
    sb_slice rest = text;
    for (size_t at = sb_slice_find(rest, ": "); at != SB_NOT_FOUND; at = sb_slice_find(rest, ": "))
        rest = sb_slice_after(rest, at + 2);
    return rest;
}

static void take_signpost(report_host *host, sb_slice text, int64_t time) {
    sb_slice rest = signpost_body(host, text);
    report_signpost *signpost = sb_vector_push(&host->signposts);
    signpost->has_message = sb_slice_contains(rest, "\n");
    signpost->header = report_keep_cell(host, sb_slice_cut(rest, '\n', &rest));
    signpost->message = report_keep_cell(host, sb_slice_cut(rest, '\n', &rest));
    signpost->time = time;
}

static void take_message(report_host *host, sb_slice text, sb_slice time_text) {
    const bool is_ours = sb_slice_contains(text, "TT_DNN") || sb_slice_contains(text, "TT_METAL");
    const bool is_signpost = sb_slice_contains(text, "TT_SIGNPOST");
    int64_t time = 0;
    if (!is_ours && !is_signpost)
        return;
    if (!sb_parse_int64(time_text, &time)) {
        host->bad_messages++;
        if (!is_ours)
            return;
    }
    if (is_ours && sb_slice_contains(text, "OP")) {
        const size_t at = sb_slice_find(text, " ->\n");
        if (at == SB_NOT_FOUND)
            take_short_op(host, text, time);
        else
            take_full_op(host, sb_slice_first(text, at), sb_slice_after(text, at + 4), time);
    } else if (is_ours && sb_slice_contains(text, "TRACE") &&
               !sb_slice_starts_with(text, "TT_METAL_TRACE_ENQUEUE_PROGRAM")) {
        take_trace_message(host, text, time);
    }
    if (is_signpost)
        take_signpost(host, text, time);
}

/* ---- the file of messages ---- */

static size_t end_of_line(sb_slice text, size_t at) {
    const char *end = at >= text.size ? NULL : memchr(text.data + at, '\n', text.size - at);
    return end == NULL ? text.size : (size_t)(end - text.data);
}

static sb_slice without_return(sb_slice line) {
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    return line;
}

/*
 * A message in backticks that begins at `at`. One that was cut has lost the closing one: then the
 * next message that begins a line ends it. Returns where the next record begins.
 */
static size_t take_quoted(report_host *host, sb_slice text, size_t at) {
    const sb_slice body = sb_slice_after(text, at + 1);
    const size_t close = sb_slice_find(body, "`");
    const bool is_next = close != SB_NOT_FOUND && close > 0 && body.data[close - 1] == '\n' &&
                         sb_slice_starts_with(sb_slice_after(body, close), "`TT_");
    if (close == SB_NOT_FOUND || is_next) {
        const size_t size = is_next ? close - 1 : body.size;
        const sb_slice cut = sb_slice_first(body, size);
        take_message(host, cut, (sb_slice){"0", 1});
        return at + 1 + size + 1;
    }
    const size_t after = at + 1 + close + 1;
    const size_t end = end_of_line(text, after);
    sb_slice rest = without_return((sb_slice){text.data + after, end - after});
    sb_slice_cut(rest, ';', &rest);
    take_message(host, sb_slice_first(body, close), sb_slice_cut(rest, ';', &rest));
    return end + 1;
}

void report_read_messages(report_host *host, sb_slice text) {
    size_t at = sb_slice_starts_with(text, "MessageName") ? end_of_line(text, 0) + 1 : 0;
    while (at < text.size) {
        if (text.data[at] == '`') {
            at = take_quoted(host, text, at);
            continue;
        }
        const size_t end = end_of_line(text, at);
        sb_slice rest = without_return((sb_slice){text.data + at, end - at});
        const sb_slice message = sb_slice_cut(rest, ';', &rest);
        take_message(host, message, sb_slice_cut(rest, ';', &rest));
        at = end + 1;
    }
}
